"""Asks a server as OWSLib's client of OGC API EDR does: reads {"base": address} from standard input and writes what is
wrong as a JSON list of sentences. The collection `hexagons` must have a disk of cells
of severity 3 around 5° E 50° N, and nothing beyond 8° E."""

import json
import math
import sys

from geographiclib.geodesic import Geodesic
from owslib.ogcapi.edr import EnvironmentalDataRetrieval

wrong = []
question = json.load(sys.stdin)
base = question["base"]
edr = EnvironmentalDataRetrieval(f"{base}/ogc")


def check(holds, sentence):
    if not holds:
        wrong.append(sentence)


classes = edr.conformance()["conformsTo"]
for name in ["core", "collections", "json", "geojson", "covjson", "queries"]:
    check(f"http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/{name}" in classes, f"{name} is not claimed")
check({"hexagons", "gtg", "hazards"} <= set(edr.data()), f"collections with data: {edr.data()}")

for collection in edr.collections()["collections"]:
    name = collection["id"]
    for query, described in collection["data_queries"].items():
        link = described["link"]
        check(link["href"] == f"{base}/collections/{name}/{query}", f"{name}: {link['href']}")
        check(link["variables"]["query_type"] == query, f"{name} {query}: {link['variables']}")
        check(set(link["variables"]["output_formats"]) <= set(collection["output_formats"]), f"{name} {query}: formats")
    has_extent = name not in ("observations", "pireps", "traffic", "tracks")
    check(("position" in collection["data_queries"]) == has_extent, f"{name}: position")
    for parameter in collection["parameter_names"].values():
        check(parameter["type"] == "Parameter" and parameter["observedProperty"]["label"], f"{name}: {parameter}")

cells = {feature["id"]: feature for feature in edr.collection_items("hexagons", limit=1000)["features"]}
check(len(cells) > 10, f"{len(cells)} cells")


def ring(feature):
    return feature["geometry"]["coordinates"][0]


def farthest(feature, place):
    return max(Geodesic.WGS84.Inverse(place[1], place[0], y, x)["s12"] for x, y in ring(feature))


def nearest_corner(feature, place):
    return min(Geodesic.WGS84.Inverse(place[1], place[0], y, x)["s12"] for x, y in ring(feature))


# A cell with a corner within the distance is given, and one of which every corner is far outside isn't.
place, within = (5.1, 50.05), 8
found = edr.query_data("hexagons", "radius", coords=f"POINT({place[0]} {place[1]})", within=within)
got = {feature["id"] for feature in found["features"]}
metres = within * 1852
check(0 < len(got) < len(cells), f"radius: {len(got)} of {len(cells)}")
for name, cell in cells.items():
    if nearest_corner(cell, place) < metres * 0.999:
        check(name in got, f"radius lacks {name}")
    if nearest_corner(cell, place) > metres + 12_000:
        check(name not in got, f"radius has {name}")

# The cell around a place, and none elsewhere.
name, cell = min(cells.items())
middle = [sum(corner[axis] for corner in ring(cell)[1:]) / (len(ring(cell)) - 1) for axis in (0, 1)]
found = edr.query_data("hexagons", "position", coords=f"POINT({middle[0]} {middle[1]})")["features"]
check([feature["id"] for feature in found] == [name], f"position: {found}")
check(not edr.query_data("hexagons", "position", coords="POINT(-150 -40)")["features"], "position: elsewhere")

found = edr.query_data("hexagons", "cube", bbox=[4.9, 49.9, 5.1, 50.1], z="35000/36000")
check(0 < len(found["features"]) < len(cells), f"cube: {len(found['features'])}")
check(not edr.query_data("hexagons", "cube", bbox=[4.9, 49.9, 5.1, 50.1], z="10000")["features"], "cube: other level")
found = edr.query_data("hexagons", "area", coords="POLYGON((4.9 49.9,5.1 49.9,5.1 50.1,4.9 50.1,4.9 49.9))")
check(0 < len(found["features"]) < len(cells), f"area: {len(found['features'])}")
found = edr.query_data("hexagons", "corridor", coords="LINESTRING(4 50,6 50)", width=10, width_units="NM")
check(0 < len(found["features"]) < len(cells), f"corridor: {len(found['features'])}")

# In the order of the flight, each cell touched by the line.
found = edr.query_data("hexagons", "trajectory", coords="LINESTRING(8 50,2 50.001)")["features"]
along = [feature["properties"]["distanceAlong"] for feature in found]
check(len(found) >= 3 and along == sorted(along), f"trajectory: {along}")
for feature in found:
    latitudes = [y for _, y in ring(feature)]
    # A geodesic of 6° of longitude rises some 0.05° above the parallel.
    check(min(latitudes) < 50.07 and max(latitudes) > 49.99, f"trajectory: {latitudes}")

locations = edr.query_data("hexagons", "locations")["features"]
check(len(locations) > 100 and all(place["geometry"]["type"] == "Point" for place in locations), "locations")
check(edr.query_data("hexagons", "locations/KJFK")["features"] == [], "something around KJFK")
only = edr.query_data("hexagons", "cube", bbox=[4.9, 49.9, 5.1, 50.1], parameter_names=["severity"])["features"]
check(all(list(feature["properties"]) == ["severity"] for feature in only), "parameter-name")

for query, arguments in [
    ("radius", {"coords": "POINT(5 50)", "within": -1}), ("radius", {"coords": "POINT(5)", "within": 10}),
    ("cube", {"bbox": [1, 2, 3]}), ("trajectory", {"coords": "LINESTRING(5 50)"}),
    ("locations/NOWHERE", {}), ("position", {"coords": "POINT(5)"}),
]:
    try:
        edr.query_data("hexagons", query, **arguments)
        wrong.append(f"{query} {arguments} is answered")
    except RuntimeError as error:
        problem = json.loads(str(error))
        check(problem["status"] in (400, 404) and problem.get("parameter"), f"{query}: {problem}")

json.dump(wrong, sys.stdout)
