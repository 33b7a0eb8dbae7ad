"""Judges polygons by GEOS: reads {"sets": {name: MultiPolygon coordinates}, "apart": [[name, …], …]} from standard
input and writes what is wrong as a JSON list of sentences. Sets named together in "apart" must not overlap."""

import json
import sys

from shapely import is_valid_reason, unary_union
from shapely.geometry import LinearRing, MultiPolygon, Polygon

wrong = []
question = json.load(sys.stdin)
areas = {}
for name, polygons in question["sets"].items():
    for rings in polygons:
        for number, ring in enumerate(rings):
            if ring[0] != ring[-1] or len(ring) < 4:
                wrong.append(f"{name}: a ring of {len(ring)} positions is open or too short")
            elif not LinearRing(ring).is_simple:
                wrong.append(f"{name}: a ring of {len(ring)} positions crosses itself")
            elif LinearRing(ring).is_ccw != (number == 0):
                wrong.append(f"{name}: ring {number} is wound the wrong way")
    if wrong:
        continue
    areas[name] = MultiPolygon([Polygon(rings[0], rings[1:]) for rings in polygons])
    if not areas[name].is_valid:
        wrong.append(f"{name}: {is_valid_reason(areas[name])}")
if not wrong:
    for names in question.get("apart", []):
        parts = [areas[name] for name in names]
        total = sum(part.area for part in parts)
        if abs(unary_union(parts).area - total) > 1e-9 * total:
            wrong.append(f"{names} overlap")
json.dump(wrong, sys.stdout)
