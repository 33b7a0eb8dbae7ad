"""Reads GeoPackages with GDAL's programs and Python's sqlite3, none of which shares code with Billow's writer.

The question names files by their paths: {"package": "a.gpkg", "csv": "a.csv", "geojson": "a.geojson"}, of which the
last two may be missing. Every feature, as `ogr2ogr` reads it, is compared with its row of CSV and its geometry in
GeoJSON. The spatial index is compared with the envelopes of the geometries over a grid of boxes. The answer has what
`ogrinfo` says of the layer, how many features there are, the types of the columns, and the style's categories with
their colours.
"""

import csv
import json
import sqlite3
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from shapely.geometry import shape


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
    # GeoJSON has no times: GDAL writes them as texts, and says so.
    said = [line for line in done.stderr.splitlines() if "does not natively support DateTime" not in line]
    assert done.returncode == 0 and said == [], (arguments, said)
    return done.stdout


def envelope(blob):
    """West, east, south and north by the header, or of a point the point."""
    assert blob[:2] == b"GP" and blob[2] == 0 and blob[3] & 1, blob[:8]
    assert struct.unpack_from("<i", blob, 4)[0] == 4326
    if blob[3] >> 1 & 7 == 0:
        order, kind, longitude, latitude = struct.unpack_from("<BIdd", blob, 8)
        assert (order, kind) == (1, 1), (order, kind)
        return longitude, longitude, latitude, latitude
    return struct.unpack_from("<dddd", blob, 8)


def index(base, table):
    """Compares the index with the envelopes, and says how many of its nodes SQLite finds wrong."""
    name = f"rtree_{table}_geom"
    assert base.execute("SELECT rtreecheck(?)", (name,)).fetchone() == ("ok",), \
        base.execute("SELECT rtreecheck(?)", (name,)).fetchone()
    boxes = [(key, envelope(blob)) for key, blob in base.execute(f'SELECT fid, geom FROM "{table}"')]
    found = 0
    for west in range(-180, 180, 20):
        for south in range(-90, 90, 20):
            # Away from where single precision rounds.
            w, e, s, n = west + 0.013, west + 20.013, south + 0.017, south + 20.017
            hit = {row[0] for row in base.execute(
                f'SELECT id FROM "{name}" WHERE maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ?', (w, e, s, n))}
            surely = {key for key, box in boxes if box[1] >= w and box[0] <= e and box[3] >= s and box[2] <= n}
            margin = 1e-4
            perhaps = {key for key, box in boxes if box[1] >= w - margin and box[0] <= e + margin
                       and box[3] >= s - margin and box[2] <= n + margin}
            assert surely <= hit <= perhaps, (west, south, surely - hit, hit - perhaps)
            found += len(hit)
    return {"features": len(boxes), "found": found}


def colours(base, table):
    row = base.execute("SELECT styleQML FROM layer_styles WHERE f_table_name = ? AND f_geometry_column = 'geom' "
                       "AND useAsDefault = 1", (table,)).fetchone()
    if row is None:
        return {}
    tree = ElementTree.fromstring(row[0].split(">", 1)[1])
    renderer = tree.find("renderer-v2")
    symbols = {}
    for symbol in renderer.find("symbols"):
        options = {option.get("name"): option.get("value") for option in symbol.iter("Option") if option.get("name")}
        former = {prop.get("k"): prop.get("v") for prop in symbol.iter("prop")}
        assert options == former
        symbols[symbol.get("name")] = options.get("color", options.get("line_color"))
    categories = renderer.find("categories")
    if categories is None:
        return {"": symbols["0"]}
    assert renderer.get("attr") == "severity"
    return {category.get("value"): symbols[category.get("symbol")] for category in categories}


def same(text, value, kind):
    """Whether a cell of CSV says what a property of a type does."""
    if text == "":
        return value in (None, "")
    if kind == "INTEGER":
        return int(text) == value
    if kind == "REAL":
        return float(text) == value
    if kind == "DATETIME":
        return value == text
    if kind == "BOOLEAN":
        return value is (text == "true")
    # GDAL writes a text that is JSON as JSON.
    if isinstance(value, list):
        return json.loads(text) == value
    # A text that a spreadsheet would compute is marked in CSV.
    return value in (text, text[1:] if text[:1] == "'" else text)


def compare(features, types, question):
    csv.field_size_limit(1 << 30)
    with open(question["csv"], newline="") as file:
        rows = list(csv.DictReader(file))
    with open(question["geojson"]) as file:
        others = json.load(file)["features"]
    assert len(rows) == len(features) == len(others), (len(rows), len(features), len(others))
    for row, feature, other in zip(rows, features, others):
        for name, text in row.items():
            if name in types:
                assert same(text, feature["properties"].get(name), types[name]), (name, text, feature["properties"])
            else:
                assert name in ("longitude", "latitude", "geometry"), name
        assert set(types) - {"fid", "geom"} == set(row) - {"longitude", "latitude", "geometry"}, (types, row)
        own = shape(feature["geometry"])
        if types["geom"] == "POINT" and "longitude" in row:
            assert (own.x, own.y) == (float(row["longitude"]), float(row["latitude"])), (own, row)
        else:
            its = shape(other["geometry"])
            assert own.is_valid and own.hausdorff_distance(its) < 1e-6, (own, its)
            assert abs(own.area - its.area) < 1e-6 * max(1, its.area), (own.area, its.area)


def read(question):
    path = question["package"]
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert base.execute("PRAGMA foreign_key_check").fetchall() == []
    assert base.execute("PRAGMA application_id").fetchone()[0] == 0x47504B47
    (table, title), = base.execute("SELECT table_name, identifier FROM gpkg_contents WHERE data_type = 'features'")
    types = {row[1]: row[2] for row in base.execute(f'PRAGMA table_info("{table}")')}
    if "csv" in question:
        lines = run("ogr2ogr", "-f", "GeoJSONSeq", "/vsistdout/", path, table, "-lco", "RS=NO",
                    "-lco", "COORDINATE_PRECISION=7").splitlines()
        compare([json.loads(line) for line in lines], types, question)
    summaries = dict(base.execute("SELECT column_name, description FROM gpkg_data_columns WHERE table_name = ?",
                                  (table,)))
    extent = base.execute("SELECT min_x, min_y, max_x, max_y FROM gpkg_contents WHERE table_name = ?",
                          (table,)).fetchone()
    answer = {"table": table, "title": title, "info": run("ogrinfo", "-ro", "-so", path, table), "types": types,
              "summaries": summaries, "extent": list(extent), "colours": colours(base, table)}
    return answer | index(base, table)


json.dump(read(json.load(sys.stdin)), sys.stdout)
