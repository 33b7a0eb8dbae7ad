#!/usr/bin/python3
"""Cold hexagon tiles: Billow against MapServer 8 (MapScript), the way compare.py does it against Mapnik.

Usage: Benchmarks/run mapserver [--rounds N]. Runs in Debian's own Python, which has MapScript (`Scripts/setup bench`).
Both draw the same tiles of the same hexagons in the same style, one thread each, taking turns; times are the thread's
own processor time. MapServer draws into a quantised palette PNG (AGG/PNG, QUANTIZE_FORCE) from a shapefile with a .qix
index.
"""
import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import mapscript

ZOOMS = range(4, 10)
EDGE = 20037508.342789244
NAMES = ["smooth", "light", "light-moderate", "moderate", "moderate-severe"]


def rgb(text):
    return " ".join(str(int(text[at:at + 2], 16)) for at in (1, 3, 5))


def make_map(path, style):
    classes = []
    for value, name in enumerate(NAMES):
        paint = style["severities"][name]
        border = ""
        if "border" in paint:
            colour, opacity = rgb(paint["border"]["colour"]), round(paint["border"]["opacity"] * 100)
            border = f"STYLE OUTLINECOLOR {colour} WIDTH 1 OPACITY {opacity} END"
        fill = f'STYLE COLOR {rgb(paint["fill"])} OPACITY {round(paint["opacity"] * 100)} END'
        classes.append(f'CLASS EXPRESSION "{value}" {fill} {border} END')
    return mapscript.fromstring(f"""
        MAP
            NAME "hexagons" SIZE 256 256 UNITS METERS EXTENT {-EDGE} {-EDGE} {EDGE} {EDGE}
            OUTPUTFORMAT NAME "palette" DRIVER "AGG/PNG" MIMETYPE "image/png" IMAGEMODE RGBA TRANSPARENT ON EXTENSION
            "png"
                FORMATOPTION "QUANTIZE_FORCE=ON" FORMATOPTION "QUANTIZE_COLORS=256" END
            IMAGETYPE "palette"
            LAYER NAME "hexagons" TYPE POLYGON STATUS DEFAULT DATA "{path}" CLASSITEM "severity" PROCESSING
            "CLOSE_CONNECTION=DEFER"
                {" ".join(classes)}
            END
        END""")


def tile(drawn, z, x, y):
    size = 2 * EDGE / (1 << z)
    # MapServer's extents go through the middles of the outer pixels.
    half = size / 512
    drawn.setExtent(
        -EDGE + x * size + half, EDGE - (y + 1) * size + half, -EDGE + (x + 1) * size - half, EDGE - y * size - half,
    )
    return drawn.draw().getBytes()


def round_of(drawn, tiles):
    found = []
    for place in tiles:
        start = time.thread_time_ns()
        png = tile(drawn, *place)
        found.append((time.thread_time_ns() - start, len(png)))
    return found


def main():
    parser = argparse.ArgumentParser(prog="mapserver.py", description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--styles", required=True)
    parser.add_argument("--worker", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pictures", help="folder for one tile of each zoom, to look at")
    options = parser.parse_args()
    data = Path(options.data)
    style = json.loads(Path(options.styles, "skypath.json").read_text())
    for name in ("hexagons", "parents"):
        if not (data / f"{name}.qix").exists():
            subprocess.run(["shptree", str(data / f"{name}.shp")], check=True, stdout=subprocess.DEVNULL)
    maps = {name: make_map(str(data / f"{name}.shp"), style) for name in ("hexagons", "parents")}
    tiles = [tuple(map(int, line.split())) for line in (data / "tiles.txt").read_text().splitlines()]
    billow = subprocess.Popen(
        [options.worker, options.styles, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )

    def ask(line):
        billow.stdin.write(line + "\n")
        billow.stdin.flush()
        answer = billow.stdout.readline()
        return json.loads(answer) if answer else sys.exit("the Billow worker has ended")

    ours, theirs = {z: [] for z in ZOOMS}, {z: [] for z in ZOOMS}
    for turn in range(options.rounds + 1):
        for z in ZOOMS:
            mine = ask(f"draw {z}")
            # At zoom 4 both draw the same parents.
            other = round_of(maps["parents" if z == 4 else "hexagons"], [place for place in tiles if place[0] == z])
            if turn:
                ours[z] += [(sample[0], sample[2]) for sample in mine]
                theirs[z] += other
    if options.pictures:
        for z in ZOOMS:
            place = next(place for place in tiles if place[0] == z)
            Path(options.pictures, f"{z}.mapserver.png").write_bytes(
                tile(maps["parents" if z == 4 else "hexagons"], *place)
            )
    version = mapscript.msGetVersion().split()[2]
    print(f"MapServer {version}, {len(tiles) // len(ZOOMS)} tiles a zoom, {options.rounds} rounds; "
          "times of one thread on its processor")
    print("| zoom | Billow/s | MapServer/s | ratio | bytes | MapServer's |\n| --- | --- | --- | --- | --- | --- |")
    mean = lambda samples, at: sum(sample[at] for sample in samples) / len(samples)
    for title, a, b in [(str(z), ours[z], theirs[z]) for z in ZOOMS] + [
        ("4–9", sum(ours.values(), []), sum(theirs.values(), []))
    ]:
        print(f"| {title} | {1e9 / mean(a, 0):.0f} | {1e9 / mean(b, 0):.1f} | {mean(b, 0) / mean(a, 0):.1f} | "
              f"{mean(a, 1):.0f} | {mean(b, 1):.0f} |")


if __name__ == "__main__":
    main()
