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
from pmtiles.tile import Compression, deserialize_directory, tileid_to_zxy


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


def verify(source, header, size):
    """Checks what `pmtiles verify` checks: the directories and the header agree with each other and with the file.

    Source: PMTiles version 3, sections 3 and 4; https://github.com/protomaps/go-pmtiles, pmtiles/verify.go
    """
    sections = [(header[f"{name}_offset"], header[f"{name}_length"])
                for name in ("root", "metadata", "leaf_directory", "tile_data")]
    assert 127 + header["root_length"] <= 16384, header["root_length"]
    assert all(offset >= 127 and offset + length <= size for offset, length in sections), (sections, size)
    filled = sorted(section for section in sections if section[1] > 0)
    assert all(a[0] + a[1] <= b[0] for a, b in zip(filled, filled[1:])), f"sections overlap: {sections}"

    def entries(offset, length, depth=0):
        assert depth < 4
        for entry in deserialize_directory(source(offset, length)):
            if entry.run_length > 0:
                yield entry
                continue
            assert entry.offset + entry.length <= header["leaf_directory_length"], entry
            leaves = list(entries(header["leaf_directory_offset"] + entry.offset, entry.length, depth + 1))
            assert leaves and leaves[0].tile_id == entry.tile_id, entry
            yield from leaves

    found = list(entries(header["root_offset"], header["root_length"]))
    assert all(a.tile_id + a.run_length <= b.tile_id for a, b in zip(found, found[1:])), "entries aren't sorted"
    end, contents = 0, set()
    for entry in found:
        assert entry.length > 0 and entry.offset + entry.length <= header["tile_data_length"], entry
        # Of a clustered archive a tile lies right behind the one before, or where an equal one lies already.
        assert entry.offset == end or entry.offset in contents, (entry, end)
        end = max(end, entry.offset + entry.length)
        contents.add(entry.offset)
    assert end == header["tile_data_length"], (end, header["tile_data_length"])
    assert header["addressed_tiles_count"] == sum(entry.run_length for entry in found)
    assert header["tile_entries_count"] == len(found) and header["tile_contents_count"] == len(contents)
    zooms = [tileid_to_zxy(entry.tile_id)[0] for entry in (found[0], found[-1])] if found else []
    assert not zooms or zooms == [header["min_zoom"], header["max_zoom"]], (zooms, header)
    west, south, east, north = (header[name] / 1e7 for name in ("min_lon_e7", "min_lat_e7", "max_lon_e7", "max_lat_e7"))
    assert -180 <= west <= east <= 180 and -90 <= south <= north <= 90, (west, south, east, north)
    assert west <= header["center_lon_e7"] / 1e7 <= east and south <= header["center_lat_e7"] / 1e7 <= north
    assert header["min_zoom"] <= header["center_zoom"] <= header["max_zoom"], header


def pmtiles(path):
    with open(path, "rb") as file:
        source = MmapSource(file)
        reader = Reader(source)
        header = reader.header()
        assert header["clustered"] and header["internal_compression"] == Compression.GZIP
        tiles = {}
        for place, data in all_tiles(source):
            assert data == reader.get(*place), place
            tiles["/".join(map(str, place))] = digest(data)
        assert header["addressed_tiles_count"] == len(tiles)
        size = 16384 + header["metadata_length"] + header["leaf_directory_length"] + header["tile_data_length"]
        file.seek(0, 2)
        assert file.tell() == size, (file.tell(), size)
        verify(source, header, size)
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
