#!/usr/bin/env python3
"""Cold hexagon tiles: Billow against Mapnik, side by side in one run.

Both draw the same tiles of the same hexagons in the same style, taking turns zoom by zoom on one processor, one thread
each. What counts is the thread's own processor time: on a shared machine the wall tells of the neighbours. The first
rounds warm both (page cache, outlines, sprites) and are not counted; how fast the very first was stands below the
table.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import mapnik

ZOOMS = range(4, 10)
EDGE = 20037508.342789244


def style_xml(style):
    """Billow's style file as Mapnik rules: a fill, and for a border a line of one pixel around it."""
    rules = []
    for value, name in enumerate(["smooth", "light", "light-moderate", "moderate", "moderate-severe"]):
        paint = style["severities"][name]
        line = ""
        if "border" in paint:
            line = '<LineSymbolizer stroke="%s" stroke-opacity="%s" stroke-width="1"/>' % (
                paint["border"]["colour"], paint["border"]["opacity"])
        rules.append('<Rule><Filter>[severity]=%d</Filter><PolygonSymbolizer fill="%s" fill-opacity="%s"/>%s</Rule>' % (
            value, paint["fill"], paint["opacity"], line))
    return "".join(rules)


def make_map(path, rules):
    """A map of one shapefile; its layer holds the file and its index open, as a tile server would."""
    drawn = mapnik.Map(256, 256)
    mapnik.load_map_from_string(
        drawn,
        '<Map srs="epsg:3857"><Style name="hexagons">%s</Style><Layer name="hexagons" srs="epsg:3857">'
        '<StyleName>hexagons</StyleName><Datasource><Parameter name="type">shape</Parameter>'
        '<Parameter name="file">%s</Parameter></Datasource></Layer></Map>' % (rules, path))
    return drawn


def mapnik_tile(drawn, z, x, y):
    size = 2 * EDGE / (1 << z)
    drawn.zoom_to_box(mapnik.Box2d(-EDGE + x * size, EDGE - (y + 1) * size, -EDGE + (x + 1) * size, EDGE - y * size))
    image = mapnik.Image(256, 256)
    mapnik.render(drawn, image)
    return image.to_string("png8")


def mapnik_round(drawn, tiles):
    """[[thread ns, wall ns, bytes], …]"""
    found = []
    for tile in tiles:
        wall, thread = time.monotonic_ns(), time.thread_time_ns()
        png = mapnik_tile(drawn, *tile)
        found.append([time.thread_time_ns() - thread, time.monotonic_ns() - wall, len(png)])
    return found


class Billow:
    """The worker process; it only runs while it is asked."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("the Billow worker has ended")
        return json.loads(answer)


class Times:
    def __init__(self, samples):
        self.thread = sorted(s[0] for s in samples)
        self.mean = sum(self.thread) / len(samples)
        self.wall = sum(s[1] for s in samples) / len(samples)
        self.median = self.thread[len(samples) // 2]
        self.p99 = self.thread[min(len(samples) * 99 // 100, len(samples) - 1)]
        self.bytes = sum(s[2] for s in samples) / len(samples)


def row(title, ours, theirs):
    print("| %-10s | %7.0f | %7.1f | %6.1f | %6.1f | %6.3f %6.3f | %7.2f %7.2f | %6.0f | %6.0f | %5.2f |" % (
        title, 1e9 / ours.mean, 1e9 / theirs.mean, theirs.mean / ours.mean, theirs.wall / ours.wall,
        ours.median / 1e6, ours.p99 / 1e6, theirs.median / 1e6, theirs.p99 / 1e6, ours.bytes, theirs.bytes,
        ours.bytes / theirs.bytes), flush=True)


def difference(png, other):
    """Mean difference of the two pictures' opacities, 0 to 255."""
    a, b = (mapnik.Image.from_string(data).to_string() for data in (png, other))
    return sum(abs(x - y) for x, y in zip(a[3::4], b[3::4])) / (len(a) / 4)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--styles", required=True)
    parser.add_argument("--worker", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--warm-up", type=int, default=5, help="rounds before those")
    parser.add_argument("--pictures", help="folder for one tile of each zoom by each, to look at")
    options = parser.parse_args()

    with open(os.path.join(options.styles, "skypath.json")) as file:
        rules = style_xml(json.load(file))
    hexagons = make_map(os.path.join(options.data, "hexagons.shp"), rules)
    parents = make_map(os.path.join(options.data, "parents.shp"), rules)
    with open(os.path.join(options.data, "tiles.txt")) as file:
        tiles = [tuple(map(int, line.split())) for line in file]
    billow = Billow([options.worker, options.styles, "worker"])

    ours = {z: [] for z in ZOOMS}
    theirs = {z: [] for z in ZOOMS}
    children = []
    first = ([], [])
    prepared = 0
    for turn in range(options.warm_up + options.rounds):
        for z in ZOOMS:
            of_zoom = [tile for tile in tiles if tile[0] == z]
            mine = billow.ask("draw %d" % z)
            prepared += billow.ask("prepare 1")[0]
            # At zoom 4 Billow draws parents of resolution 4; Mapnik gets the same parents.
            other = mapnik_round(parents if z == 4 else hexagons, of_zoom)
            if turn == 0:
                first[0].extend(mine)
                first[1].extend(other)
            if turn >= options.warm_up:
                ours[z] += mine
                theirs[z] += other
        own_size = mapnik_round(hexagons, [tile for tile in tiles if tile[0] == 4])
        if turn >= options.warm_up:
            children += own_size

    print("Mapnik %s, %d tiles a zoom, %d rounds; times of one thread on its processor"
          % (mapnik.version_string(), len(tiles) // len(ZOOMS), options.rounds))
    print("| zoom       | Billow/s | Mapnik/s | ratio | by wall | Billow ms median p99 | Mapnik ms median p99 |"
          " bytes | Mapnik's | share |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for z in ZOOMS:
        row(str(z), Times(ours[z]), Times(theirs[z]))
    every = Times(sum(ours.values(), []))
    row("4–9", every, Times(sum(theirs.values(), [])))
    # A frame's plane is made once, whoever looks; a view is about 24 tiles.
    plane = Times([[ns, ns, 0] for ns in billow.ask("plane 20")])
    view = Times([[s[0] + plane.median / 24, s[1] + plane.median / 24, s[2]] for s in sum(ours.values(), [])])
    row("4–9, view", view, Times(sum(theirs.values(), [])))
    row("4, cells", Times(ours[4]), Times(children))
    row("4–9, cells", every, Times(sum((theirs[z] for z in ZOOMS if z > 4), children)))

    print("\nA frame's plane: %.2f ms, made once for all its tiles; `view` shares one among 24 tiles. At zoom 4"
          "\nBillow draws parents of resolution 4 and Mapnik the same parents; in the rows `cells` Mapnik draws the"
          "\nresolution-5 cells there."
          % (plane.median / 1e6))
    print("The first picture of every tile, its outlines made: Billow %.0f/s, p99 %.1f ms; Mapnik %.0f/s."
          % (1e9 / Times(first[0]).mean, Times(first[0]).p99 / 1e6, 1e9 / Times(first[1]).mean))
    print("Sprites, made between pictures and not in these times: %.0f ms for all tiles." % (prepared / 1e6))
    if options.pictures:
        os.makedirs(options.pictures, exist_ok=True)
        print("\nmean difference of opacity, of 255:", end="")
        for z in ZOOMS:
            billow.ask("save %d %s" % (z, options.pictures))
            of_zoom = [tile for tile in tiles if tile[0] == z]
            total = 0
            for tile in of_zoom:
                png = mapnik_tile(parents if z == 4 else hexagons, *tile)
                name = os.path.join(options.pictures, "%d-%d-%d" % tile)
                with open(name + ".mapnik.png", "wb") as file:
                    file.write(png)
                with open(name + ".png", "rb") as file:
                    total += difference(file.read(), png)
            print(" z%d %.1f" % (z, total / len(of_zoom)), end="")
        print()


if __name__ == "__main__":
    main()
