"""Judges projections by PROJ: reads {"proj": definition, "places": [[longitude, latitude], …], "plane": [[x, y], …]}
from standard input and writes {"plane": where the places lie in metres, "places": what lies at the points of the
plane}."""

import json
import sys

from pyproj import Proj

question = json.load(sys.stdin)
projection = Proj(question["proj"])
json.dump(
    {
        "plane": [projection(longitude, latitude) for longitude, latitude in question["places"]],
        "places": [projection(x, y, inverse=True) for x, y in question["plane"]],
    },
    sys.stdout,
)
