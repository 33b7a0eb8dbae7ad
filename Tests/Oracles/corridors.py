"""Judges corridors by GeographicLib and GEOS: reads a list of {"name", "route", "ring", "area", "half"} (degrees and
metres) from standard input and writes, for each, {"name", "worst": the largest difference in metres between half the
width and the distance from the ring's edge to the route, "valid": what GEOS says of the area}."""

import json
import math
import sys

import numpy
from geographiclib.geodesic import Geodesic
from shapely import is_valid_reason
from shapely.geometry import LineString, MultiPolygon, Point, Polygon

EARTH = Geodesic.WGS84


def vector(latitude, longitude):
    a, o = math.radians(latitude), math.radians(longitude)
    return math.cos(a) * math.cos(o), math.cos(a) * math.sin(o), math.sin(a)


def points_along(route):
    for (lon0, lat0), (lon1, lat1) in zip(route, route[1:]):
        line = EARTH.InverseLine(lat0, lon0, lat1, lon1)
        count = min(max(2, int(line.s13 / 10_000) + 1), 800)
        for number in range(count + 1):
            point = line.Position(line.s13 * number / count)
            yield point["lat2"], point["lon2"]


def distance(latitude, longitude, points, vectors):
    # In the azimuthal equidistant projection around the place itself distances from it are exact.
    nearest = int(numpy.argmax(vectors @ numpy.array(vector(latitude, longitude))))
    flat = []
    for point in points[max(0, nearest - 2):nearest + 3]:
        way = EARTH.Inverse(latitude, longitude, *point)
        bearing = math.radians(way["azi1"])
        flat.append((way["s12"] * math.sin(bearing), way["s12"] * math.cos(bearing)))
    return LineString(flat).distance(Point(0, 0))


answers = []
for corridor in json.load(sys.stdin):
    points = list(points_along(corridor["route"]))
    vectors = numpy.array([vector(*point) for point in points])
    ring = corridor["ring"]
    unrolled = [tuple(ring[0])]
    worst = 0.0
    for (lon0, lat0), (lon1, lat1) in zip(ring, ring[1:]):
        step = lon1 - lon0
        step -= round(step / 360) * 360
        unrolled.append((unrolled[-1][0] + step, lat1))
        for share in (0, 0.5):
            off = distance(lat0 + (lat1 - lat0) * share, lon0 + step * share, points, vectors) - corridor["half"]
            worst = max(worst, abs(off))
    valid = is_valid_reason(MultiPolygon([Polygon(rings[0], rings[1:]) for rings in corridor["area"]]))
    answers.append({"name": corridor["name"], "worst": worst, "valid": valid})
json.dump(answers, sys.stdout)
