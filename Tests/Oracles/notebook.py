"""Runs the code of a notebook: reads {"base": address, "notebook": path, "picture": path} from standard input, and
writes the number of hexagons that it read, the sum of its table, and the colours of its picture as JSON."""

import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
question = json.load(sys.stdin)
os.environ["BILLOW"], os.environ["PICTURE"] = question["base"], question["picture"]
with open(question["notebook"]) as file:
    cells = json.load(file)["cells"]
names = {}
for cell in cells:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), names)
picture = matplotlib.image.imread(question["picture"])
colours = {tuple(int(round(part * 255)) for part in place[:3]) for row in picture[::4, ::4] for place in row}
json.dump(
    {
        "hexagons": len(names["hexagons"]),
        "counted": int(names["by_level"].to_numpy().sum()),
        "colours": len(colours),
    },
    sys.stdout,
)
