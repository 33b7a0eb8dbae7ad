"""Judges values of fields by ecCodes' own reading of GRIB2 (grib_get, grib_get_data) and PROJ.

Standard input: {"files": [path, …], "questions": [question, …]}. A question is
{"file": place in files, "parameter": number, "metres": [level, …], "longitude": …, "latitude": …}.
Writes the value of the nearest point of the grid for each question: of several levels the largest, null where the grid
has none there, and "outside" beyond the grid. Without "metres" it is the value of the whole column's message."""

import json
import subprocess
import sys

from pyproj import Proj

KEYS = [
    "parameterNumber", "typeOfFirstFixedSurface:l", "level", "gridType", "Nx", "Ny", "DxInMetres", "DyInMetres",
    "iScansNegatively", "jScansPositively", "Latin1InDegrees", "Latin2InDegrees", "LaDInDegrees", "LoVInDegrees",
    "latitudeOfFirstGridPointInDegrees", "longitudeOfFirstGridPointInDegrees", "shapeOfTheEarth"]
RADIUS = 6_371_229
MISSING = "-99999"


def run(*arguments):
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout


class Message:
    """A message's grid, and its values in the message's order."""

    def __init__(self, keys, lines):
        assert keys["gridType"] == "lambert" and keys["shapeOfTheEarth"] == "6", keys
        assert (keys["iScansNegatively"], keys["jScansPositively"]) == ("0", "1"), keys
        self.columns, self.rows = int(keys["Nx"]), int(keys["Ny"])
        self.step = float(keys["DxInMetres"]), float(keys["DyInMetres"])
        self.projection = Proj(
            proj="lcc", R=RADIUS, lat_1=float(keys["Latin1InDegrees"]), lat_2=float(keys["Latin2InDegrees"]),
            lat_0=float(keys["LaDInDegrees"]), lon_0=float(keys["LoVInDegrees"]))
        self.first = self.projection(
            float(keys["longitudeOfFirstGridPointInDegrees"]), float(keys["latitudeOfFirstGridPointInDegrees"]))
        self.points = [line.split() for line in lines]
        assert len(self.points) == self.columns * self.rows, len(self.points)

    def value(self, longitude, latitude):
        place = self.projection(longitude, latitude)
        x, y = ((place[axis] - self.first[axis]) / self.step[axis] for axis in (0, 1))
        if not (-0.5 <= x <= self.columns - 0.5 and -0.5 <= y <= self.rows - 0.5):
            return "outside"
        column, row = min(max(round(x), 0), self.columns - 1), min(max(round(y), 0), self.rows - 1)
        point = self.points[row * self.columns + column]
        # ecCodes itself says where its points are: the one that was found is the one that was looked for.
        found = self.projection(float(point[1]), float(point[0]))
        assert all(abs(found[axis] - place[axis]) <= 0.501 * self.step[axis] for axis in (0, 1)), (point, place)
        return None if point[2] == MISSING else float(point[2])


def messages(path):
    """The messages of a file by parameter and level."""
    heads = run("grib_get", "-F", "%.12g", "-p", ",".join(KEYS), path)
    headers = [dict(zip(KEYS, line.split())) for line in heads.splitlines()]
    found, bodies = {}, []
    for line in run("grib_get_data", "-m", MISSING, "-L", "%.6f %.6f", "-F", "%.9e", path).splitlines():
        if line.startswith("Lat"):
            bodies.append([])
        else:
            bodies[-1].append(line)
    assert len(bodies) == len(headers), (len(bodies), len(headers))
    for keys, lines in zip(headers, bodies):
        level = int(keys["level"]) if keys["typeOfFirstFixedSurface:l"] == "102" else None
        found[int(keys["parameterNumber"]), level] = Message(keys, lines)
    return found


question = json.load(sys.stdin)
files = [messages(path) for path in question["files"]]


def answer(item):
    levels = item.get("metres") or [None]
    values = [
        files[item["file"]][item["parameter"], level].value(item["longitude"], item["latitude"]) for level in levels]
    if "outside" in values:
        return "outside"
    return max((value for value in values if value is not None), default=None)


json.dump([answer(item) for item in question["questions"]], sys.stdout)
