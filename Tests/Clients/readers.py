"""Reads from a server with OWSLib, GDAL, geopandas and PMTiles' own package, as analysts do.

Usage: Tests/Clients/readers.py URL

Only what no test of the repository does already: `Scripts/check-clients` prints where the others are. Runs in the
environment of Tests/Clients/requirements.txt, with Debian's GDAL programs in PATH.
"""
import json
import math
import sqlite3
import subprocess
import sys
import urllib.parse
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import geopandas
from owslib.ogcapi.features import Features
from PIL import Image
from shapely import is_valid_reason

from common import Findings, between, busiest, features, get, get_json, instant, middle, tile

# A query hides the ending of a file, and layers of styles are no features: pyogrio warns of both.
warnings.filterwarnings("ignore", module="pyogrio")
findings = Findings("readers")
# The computed field has as many cells as a small country has people: a box of it is read.
FIELD = "gtg"


def field_box(base, time):
    """A box around a place where the field is rough; smooth air has no features."""
    longitude, latitude = middle(features(base, f"{FIELD}/items?limit=1&time={time}")[0])
    return ",".join(f"{each:.3f}" for each in (longitude - 1.5, latitude - 1.5, longitude + 1.5, latitude + 1.5))


def run(*arguments, cwd=None):
    """What a program prints. Anything it complains of is an error."""
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, cwd=cwd)
    if done.returncode != 0 or "ERROR" in done.stderr:
        raise RuntimeError(f"{' '.join(arguments)}: {done.returncode} {done.stderr[:400]}")
    return done.stdout


def close(count, wanted):
    """Whether two readings have the same number, but for reports that came between them."""
    return wanted > 0 and abs(count - wanted) <= 2 + wanted // 200


def ids(found):
    return {feature["id"] for feature in found}


# MARK: OWSLib


def owslib(base, time, iso):
    # OWSLib sends no Accept, so the server's own address gives it the viewer's page: docs/http/features.md.
    server = Features(f"{base}/ogc")
    names = server.feature_collections()
    wanted = [each["id"] for each in get_json(f"{base}/collections")["collections"]]
    findings.check(sorted(names) == sorted(wanted), "OWSLib Features: the collections are there", len(names))
    findings.check(server.api()["openapi"].startswith("3."), "OWSLib Features: the API is read")
    findings.check(any(name.endswith("/core") for name in server.conformance()["conformsTo"]),
                   "OWSLib Features: it conforms")
    for name in names:
        described, schema = server.collection(name), server.collection_schema(name)
        queryables = server.collection_queryables(name)
        findings.check(described["id"] == name and schema["properties"] and set(queryables["properties"]),
                       f"OWSLib Features {name}: description, schema and queryables are read")
        page = server.collection_items(name, limit=3, bbox=[-130, 20, -60, 55])
        for feature in page["features"]:
            one = server.collection_item(name, feature["id"])
            if one["id"] != feature["id"]:
                findings.check(False, f"OWSLib Features {name}: a feature by its id", f"{feature['id']} {one['id']}")
    page = server.collection_items("hexagons", limit=10_000, datetime_=iso)
    wanted = features(base, f"hexagons/items?limit=10000&datetime={iso}")
    findings.check(0 < len(page["features"]) == min(len(wanted), 10_000),
                   "OWSLib Features hexagons: those of an instant", len(page["features"]))
    found, parameters = [], {"limit": 500}
    for _ in range(100):
        page = server.collection_items("hexagons", **parameters)
        found += page["features"]
        following = [link["href"] for link in page["links"] if link["rel"] == "next"]
        if not following:
            break
        # The next page has the time of the first one among its parameters.
        parameters = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(following[0]).query))
        parameters["datetime_"] = parameters.pop("datetime", None)
    findings.check(len(found) == len(ids(found)) > 500, "OWSLib Features hexagons: pages have each feature once",
                   f"{len(found)} of {len(ids(found))}")


# MARK: geopandas


def frames(base, time):
    for entry in get_json(f"{base}/collections")["collections"]:
        name = entry["id"]
        query = f"?bbox={field_box(base, time)}&time={time}" if name == FIELD else f"?time={time}"
        if name in ("observations", "traffic", "tracks"):
            query = ""
        for ending in ("geojson", "gpkg"):
            layer = name if ending == "gpkg" else None
            frame = geopandas.read_file(f"{base}/export/{name}.{ending}{query}", layer=layer)
            if not findings.check(len(frame), f"geopandas {name}.{ending}: there are features", len(frame)):
                continue
            wrong = frame[~frame.geometry.is_valid]
            findings.check(wrong.empty and not frame.geometry.is_empty.any(),
                           f"geopandas {name}.{ending}: every geometry is valid",
                           f"{len(wrong)} of {len(frame)} are not"
                           + "".join(f"; {frame.get('id', frame.index)[at]} {is_valid_reason(shape)}"
                                     for at, shape in list(wrong.geometry.items())[:2]))
            west, south, east, north = frame.total_bounds
            findings.check(frame.crs is not None and frame.crs.to_epsg() in (4326, None) and -180 <= west <= east <= 180
                           and -90 <= south <= north <= 90, f"geopandas {name}.{ending}: it lies on the earth",
                           [round(float(edge), 2) for edge in frame.total_bounds])
        counted = get(f"{base}/export/{name}.geojson{query}").count(b'"type":"Feature"')
        findings.check(close(len(frame), counted), f"geopandas {name}: every feature is there",
                       f"{len(frame)} of {counted}")


# MARK: GDAL


def vector_tiles(base, time, cells, folder):
    """A vector tile by its address, where it lies."""
    zoom = 6
    x, y = busiest(cells, zoom)
    within = {each["id"]: middle(each) for each in cells if tile(*middle(each), zoom) == (x, y)}
    address = f"MVT:/vsicurl/{base}/tiles/hexagons/{time}/{zoom}/{x}/{y}.mvt"
    out = run("ogr2ogr", "-f", "GeoJSON", "-t_srs", "EPSG:4326", "/vsistdout/", address, "hexagons", "-oo", "CLIP=NO")
    read = {each["properties"]["id"]: each for each in json.loads(out)["features"]}
    lacks = within.keys() - read.keys()
    findings.check(not lacks, "ogr2ogr MVT by address: every cell of the tile is there",
                   f"{len(within)}, {len(lacks)} are lacking; {len(read)} with those at its edges")
    apart = 0
    for name, place in within.items() - {(name, within[name]) for name in lacks}:
        geometry = read[name]["geometry"]
        ring = geometry["coordinates"][0] if geometry["type"] == "Polygon" else geometry["coordinates"][0][0]
        west, east = min(p[0] for p in ring), max(p[0] for p in ring)
        south, north = min(p[1] for p in ring), max(p[1] for p in ring)
        apart += not (west <= place[0] <= east and south <= place[1] <= north)
    findings.check(apart == 0, "ogr2ogr MVT by address: the cells lie where they should", f"{apart} do not")
    return x, y, len(within)


def packs(base, time, x, y, cells, folder):
    """Packs as GDAL opens them: pictures pixel by pixel, vectors by their number."""
    zoom = 6

    def latitude(line):
        return math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * line / 2 ** zoom))))

    # GDAL cuts the picture at the bounds, between pixels where they aren't those of a tile.
    west, east = (column * 360 / 2 ** zoom - 180 for column in (x, x + 1))
    query = f"?bbox={west!r},{latitude(y + 1)!r},{east!r},{latitude(y)!r}&time={time}&minzoom=4&maxzoom=6"
    (folder / "pictures.mbtiles").write_bytes(get(f"{base}/export/hexagons.mbtiles{query}"))
    info = run("gdalinfo", str(folder / "pictures.mbtiles"))
    findings.check("3857" in info and "attribution" in info, "gdalinfo MBTiles: system and attribution are read")
    merc = 2 * 20037508.342789244 / 2 ** zoom
    west, north = x * merc - 20037508.342789244, 20037508.342789244 - y * merc
    run("gdal_translate", "-q", "-of", "PNG", "-projwin", f"{west}", f"{north}", f"{west + merc}", f"{north - merc}",
        "-outsize", "256", "256", str(folder / "pictures.mbtiles"), str(folder / "tile.png"))
    (folder / "own.png").write_bytes(get(f"{base}/tiles/hexagons/{time}/{zoom}/{x}/{y}.png"))
    same, of = same_pixels(folder / "tile.png", folder / "own.png")
    findings.check(same == of, "gdal_translate MBTiles: the pixels of Billow's tile", f"{same} of {of}")
    (folder / "vectors.mbtiles").write_bytes(get(f"{base}/export/hexagons.mbtiles{query}&tiles=mvt"))
    info = run("ogrinfo", "-ro", "-so", str(folder / "vectors.mbtiles"), "hexagons", "-oo", "ZOOM_LEVEL=6")
    count = int(info.split("Feature Count: ")[1].split()[0])
    findings.check(count >= cells > 0 and "severity" in info, "ogrinfo MBTiles of vectors: every cell is there",
                   f"{count}, {cells} with their middles in the tile")


def same_pixels(one, other):
    a, b = (Image.open(path).convert("RGBA").tobytes() for path in (one, other))
    pairs = [(a[at:at + 4], b[at:at + 4]) for at in range(0, len(a), 4)]
    return sum(p == q or p[3] == q[3] == 0 for p, q in pairs), len(pairs)


def parts(base, time):
    """Files that GDAL reads in parts, without a download."""
    wanted = get(f"{base}/export/hexagons.geojson?time={time}").count(b'"type":"Feature"')
    for ending in ("gpkg", "geojson", "geojsonl", "geojsons", "csv"):
        # GDAL knows CSV by its ending alone, which the query hides.
        driver = "CSV:" if ending == "csv" else ""
        info = run("ogrinfo", "-ro", "-so", "-al", f"{driver}/vsicurl/{base}/export/hexagons.{ending}?time={time}")
        count = int(info.split("Feature Count: ")[1].split()[0])
        findings.check(close(count, wanted), f"ogrinfo /vsicurl/ {ending} with a query: every row is there",
                       f"{count} of {wanted}")


def ogcapi(base, folder):
    """GDAL's driver for OGC API Maps and Tiles."""
    listed = run("gdalinfo", f"OGCAPI:{base}/ogc", cwd=folder)
    findings.check("hexagons" in listed, "gdalinfo OGCAPI: the collections are listed")
    # Its tiles are left out: Debian's GDAL 3.6 reads a draft of tile matrix sets, not OGC 17-083r4.
    info = run("gdalinfo", f"OGCAPI:{base}/ogc/collections/hexagons", "-oo", "API=MAP", cwd=folder)
    findings.check("Size is" in info and "Band 4" in info, "gdalinfo OGCAPI, MAP: the collection is a picture")


def counts(base):
    """OGC API Features by ogrinfo: every collection with the server's features, while data arrives."""
    for name in ["hexagons", "hazards", "pireps", "polygons", "forecast", "advisories", "tracks", "traffic"]:
        def read():
            out = run("ogr2ogr", "-f", "GeoJSONSeq", "/vsistdout/", f"OAPIF:{base}/ogc", name)
            return {row.get("id") or row["properties"]["id"] for row in map(json.loads, out.splitlines())}
        fields = run("ogrinfo", "-so", f"OAPIF:{base}/ogc", name)
        lacking = [field for field in get_json(f"{base}/collections/{name}/schema")["properties"]
                   if field != "geometry" and f"\n{field}: " not in fields]
        findings.check(not lacking, f"ogrinfo OAPIF {name}: it has every field of the schema", lacking)
        count, lacks, more = between(lambda: ids(features(base, f"{name}/items?limit=10000")), read)
        findings.check(count and not lacks and not more, f"ogr2ogr OAPIF {name}: every feature is there",
                       f"{count}; {len(lacks)} are lacking, {len(more)} too many")


# MARK: PMTiles


def pmtiles(base, time, folder):
    """The programs of the package on PyPI. It has no `verify`: Tests/Oracles/packs.py has the rules of the Go one."""
    file = folder / "hexagons.pmtiles"
    file.write_bytes(get(f"{base}/export/hexagons.pmtiles?time={time}&maxzoom=4"))
    programs = Path(sys.executable).parent
    said = run(str(programs / "pmtiles-show"), str(file))
    findings.check("'addressed_tiles_count': 341" in said,
                   "pmtiles-show: a header of 341 tiles")
    run(str(programs / "pmtiles-convert"), str(file), str(folder / "converted.mbtiles"))
    (folder / "own.mbtiles").write_bytes(get(f"{base}/export/hexagons.mbtiles?time={time}&maxzoom=4"))
    tiles = [read_tiles(folder / name) for name in ("converted.mbtiles", "own.mbtiles")]
    findings.check(tiles[0] == tiles[1] and len(tiles[0]) == 341,
                   "pmtiles-convert: the tiles of Billow's own MBTiles", f"{len(tiles[0])} and {len(tiles[1])}")


def read_tiles(path):
    """The tiles of an MBTiles file by their places."""
    query = "SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles"
    return {place: data for *place, data in sqlite3.connect(path).execute(query) for place in [tuple(place)]}


def main():
    base = sys.argv[1].rstrip("/")
    time, iso = instant(base, 3)
    cells = features(base, f"hexagons/items?limit=10000&time={time}")
    with TemporaryDirectory() as folder:
        folder = Path(folder)
        findings.part("OWSLib", owslib, base, time, iso)
        findings.part("ogr2ogr OAPIF", counts, base)
        place = []
        findings.part("ogr2ogr MVT", lambda: place.extend(vector_tiles(base, time, cells, folder)))
        if place:
            findings.part("GDAL MBTiles", packs, base, time, *place, folder)
        findings.part("ogrinfo /vsicurl/", parts, base, time)
        findings.part("GDAL OGCAPI", ogcapi, base, folder)
        findings.part("pmtiles", pmtiles, base, time, folder)
        findings.part("geopandas", frames, base, time)
    findings.end()


if len(sys.argv) != 2:
    sys.exit("usage: Tests/Clients/readers.py URL")
main()
