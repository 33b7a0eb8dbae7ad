"""Reads packs with readers that Billow's writers don't share code with: PyPI's `pmtiles`, Python's sqlite3 and zipfile.

The question names files by their paths: {"files": ["a.mbtiles", "b.pmtiles", "c.zip"]}. The answer has for each its
metadata, its zooms, and of each tile z/x/y with the SHA-256 of its bytes (decompressed); for an archive its names.
"""

import gzip
import hashlib
import json
import sqlite3
import sys
import zipfile

from pmtiles.reader import MmapSource, Reader, all_tiles
from pmtiles.tile import Compression


def digest(data):
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return hashlib.sha256(data).hexdigest()


def mbtiles(path):
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    metadata = dict(base.execute("SELECT name, value FROM metadata"))
    tiles = {}
    for z, x, row, data in base.execute("SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles"):
        tiles[f"{z}/{x}/{2 ** z - 1 - row}"] = digest(data)
    contents = base.execute("SELECT count(*) FROM images").fetchone()[0]
    zooms = [int(metadata["minzoom"]), int(metadata["maxzoom"])]
    return {"metadata": metadata, "tiles": tiles, "contents": contents, "zooms": zooms, "names": []}


def pmtiles(path):
    with open(path, "rb") as file:
        source = MmapSource(file)
        reader = Reader(source)
        header = reader.header()
        assert header["clustered"] and header["internal_compression"] == Compression.GZIP
        tiles = {}
        end = 0
        for place, data in all_tiles(source):
            assert data == reader.get(*place), place
            tiles["/".join(map(str, place))] = digest(data)
        # Of a clustered archive a tile lies right behind the one before, or where an equal one lies already.
        assert header["addressed_tiles_count"] == len(tiles)
        assert header["tile_entries_count"] <= len(tiles)
        size = 16384 + header["metadata_length"] + header["leaf_directory_length"] + header["tile_data_length"]
        file.seek(0, 2)
        assert file.tell() == size, (file.tell(), size)
        metadata = {name: value if isinstance(value, str) else json.dumps(value)
                    for name, value in reader.metadata().items()}
        return {"metadata": metadata, "tiles": tiles, "contents": header["tile_contents_count"],
                "zooms": [header["min_zoom"], header["max_zoom"]], "names": []}


def archive(path):
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        names = file.namelist()
        manifest = next(name for name in names if name.endswith("manifest.json"))
        metadata = {"manifest": file.read(manifest).decode()}
        return {"metadata": metadata, "tiles": {}, "contents": 0, "zooms": [], "names": names}


READERS = {"mbtiles": mbtiles, "pmtiles": pmtiles, "zip": archive}
files = json.load(sys.stdin)["files"]
json.dump([READERS[path.rsplit(".", 1)[1]](path) for path in files], sys.stdout)
