#!/usr/bin/env python3
"""Import of observations: GeoJSON lines and CSV, into a new file and into one that has as many already, and beside a
running server whose tiles are timed meanwhile.

Usage: Benchmarks/importing.py [--billow bin/billow] [--observations 1000000] [--folder Benchmarks/.build/import]

An import ends when its last commit is durable. `beside` imports into the file that a server serves.
"""
import argparse
import shutil
import subprocess
import threading
import time
from pathlib import Path

from harness import HUBS, Client, heading, measured, quantile, row, tile, wait_ready, write_world, write_lines

PORT = 18483


class Tiles(threading.Thread):
    """A client that asks for a tile every 20 ms, another one each time, until it is stopped."""

    def __init__(self):
        super().__init__(daemon=True)
        self.stopped, self.times = threading.Event(), []

    def run(self):
        client, number = Client(PORT), 0
        while not self.stopped.is_set():
            x, y = tile(6, *HUBS[number % len(HUBS)])
            took, _ = client.milliseconds(f"/tiles/hexagons/latest/6/{x}/{y}.png?opacity=0.{number + 10}")
            self.times.append(took)
            number += 1
            time.sleep(0.02)


def main():
    parser = argparse.ArgumentParser(prog="importing.py", description=__doc__.split("\n")[0])
    parser.add_argument("--billow", default="bin/billow")
    parser.add_argument("--observations", type=int, default=1_000_000)
    parser.add_argument("--folder", default="Benchmarks/.build/import")
    options = parser.parse_args()
    folder = Path(options.folder).absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_world(folder / "world.csv", options.observations)
    write_lines(folder / "world.geojsonl", options.observations)

    def import_into(name, file):
        return measured([options.billow, "import", "--database", str(folder / name), "--source", file.split(".")[1],
                         str(folder / file)])

    heading("file", "into", "seconds", "of a processor", "MB of memory", "rows/s")
    for database, into, file in (("lines.sqlite", "a new file", "world.geojsonl"),
                                 ("csv.sqlite", "a new file", "world.csv"),
                                 ("lines.sqlite", "one with as many", "world.csv")):
        took = import_into(database, file)
        row(file, into, f"{took.wall:.1f}", f"{took.processor:.1f}", f"{took.memory:.0f}",
            f"{options.observations / took.wall:,.0f}")
    with open(folder / "serve.log", "w") as log:
        server = subprocess.Popen([options.billow, "serve", "--port", str(PORT), "--database",
                                   str(folder / "csv.sqlite")], stdout=log, stderr=log)
    try:
        wait_ready(PORT)
        tiles = Tiles()
        tiles.start()
        took = import_into("csv.sqlite", "world.geojsonl")
        tiles.stopped.set()
        tiles.join()
        row("world.geojsonl", "beside a server", f"{took.wall:.1f}", f"{took.processor:.1f}", f"{took.memory:.0f}",
            f"{options.observations / took.wall:,.0f}")
        print(f"\n{len(tiles.times)} cold tiles of the server meanwhile: median {quantile(tiles.times, .5):.1f} ms, "
              f"p99 {quantile(tiles.times, .99):.1f} ms, largest {max(tiles.times):.1f} ms")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
