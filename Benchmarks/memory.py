#!/usr/bin/env python3
"""Resident memory of a server with 1,000,000 live observations under an hour of mixed load.

Usage: Benchmarks/memory.py [--billow bin/billow] [--observations 1000000] [--minutes 60] [--clients 3] [--rest 0.2]
    [--folder …]

The observations lie in the eight hours before now, so that every history shows another picture; as many as grow too old
come in every minute, sent to `POST /observations`. Meanwhile clients look as people and programs do: views of the
newest picture at all zooms, timelines of 20 frames, other filters, vector tiles, maps, GeoJSON of regions, polygons,
deltas of the whole world, and archived instants. Printed: a line every five minutes with the smallest, median and
largest resident size in MB, and answers a second; any status that isn't 200, 204 or 304 ends it. `VmHWM`, at the end,
is the largest that the kernel saw, from the start of the process on.
"""
import argparse
import gzip
import http.client
import json
import random
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from harness import HOST, quantile, tile, wait_ready, write_world
from serving import PORT

LIVE_SECONDS = 8 * 3600


class Load(threading.Thread):
    """One client, one request after the other, with a rest between views."""

    def __init__(self, hubs, seed, stop, rest=0.2):
        super().__init__(daemon=True)
        self.hubs, self.random, self.stop, self.rest = hubs, random.Random(seed), stop, rest
        self.connection = http.client.HTTPConnection(HOST, PORT, timeout=120)
        self.answers, self.failure, self.cursor = 0, None, None

    def get(self, path):
        self.connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status not in (200, 204, 304):
            raise RuntimeError(f"{answer.status} {path}: {body[:200]}")
        self.answers += 1
        return gzip.decompress(body) if answer.getheader("Content-Encoding") == "gzip" else body

    def tiles(self, zoom):
        """The 6 × 4 tiles of a window."""
        longitude, latitude = self.random.choice(self.hubs)
        x, y = tile(zoom, longitude + self.random.gauss(0, 3), latitude + self.random.gauss(0, 3))
        side = 1 << zoom
        return {((x + column) % side, min(max(y + row, 0), side - 1)) for column in range(6) for row in range(4)}

    def view(self, query=""):
        zoom = self.random.choice([2, 3, 4, 4, 5, 5, 6, 6, 7, 8, 10])
        for x, y in self.tiles(zoom):
            self.get(f"/tiles/hexagons/latest/{zoom}/{x}/{y}.png{query}")

    def timeline(self):
        body = self.get("/timeline.json?layers=hexagons&intervals=20")
        zoom = self.random.choice([3, 4, 5, 6])
        places = self.tiles(zoom)
        for frame in json.loads(body)["layers"][0]["frames"]:
            for x, y in places:
                path = frame["tiles"].replace("{z}", str(zoom)).replace("{x}", str(x)).replace("{y}", str(y))
                self.get(path[path.index("/", 8):] if path.startswith("http") else path)

    def filtered(self):
        low = self.random.choice([200, 250, 300, 350])
        self.view(f"?hours={self.random.choice(['0.5', '1', '4'])}&altitudeMin={low}&altitudeMax={low + 60}")

    def vector(self):
        zoom = self.random.choice([2, 4, 6])
        for x, y in self.tiles(zoom):
            self.get(f"/tiles/hexagons/latest/{zoom}/{x}/{y}.mvt")

    def map(self):
        longitude, latitude = self.random.choice(self.hubs)
        west, south = max(-170, longitude - 20), max(-70, latitude - 12)
        self.get(
            f"/maps/hexagons.png?bbox={west:.1f},{south:.1f},{west + 30:.1f},{south + 18:.1f}&width=1000&height=600"
        )

    def region(self):
        longitude, latitude = self.random.choice(self.hubs)
        west, south = max(-170, longitude - 8), max(-70, latitude - 6)
        self.get(f"/collections/hexagons/items?bbox={west:.1f},{south:.1f},{west + 16:.1f},{south + 12:.1f}&limit=5000")

    def polygons(self):
        self.get(f"/collections/polygons/items?hours={self.random.choice(['0.5', '1', '2', '4', '6'])}")

    def delta(self):
        since = f"?since={self.cursor}" if self.cursor else ""
        body = self.get(f"/changes/hexagons{since}")
        self.cursor = json.loads(body)["cursor"]

    def archived(self):
        ago = self.random.randrange(9 * 3600, 30 * 3600) // 60 * 60
        time_text = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() - ago))
        zoom = 4
        for x, y in self.tiles(zoom):
            self.get(f"/tiles/hexagons/{time_text}/{zoom}/{x}/{y}.png")

    def run(self):
        kinds = [self.view] * 8 + [self.timeline] * 2 + [self.filtered] * 2 + [self.vector, self.map, self.region] * 2
        kinds += [self.polygons, self.delta, self.archived]
        try:
            while not self.stop.is_set():
                self.random.choice(kinds)()
                self.stop.wait(self.rest)
        except Exception as error:
            self.failure = error


class Reports(threading.Thread):
    """What comes in: as much as grows too old."""

    def __init__(self, hubs, per_second, key, stop):
        super().__init__(daemon=True)
        self.hubs, self.per_second, self.key, self.stop, self.failure, self.sent = hubs, per_second, key, stop, None, 0

    def run(self):
        source = random.Random(5)
        connection = http.client.HTTPConnection(HOST, PORT, timeout=60)
        try:
            while not self.stop.wait(60):
                now = int(time.time())
                reports = []
                for _ in range(min(int(self.per_second * 60), 10_000)):
                    (x0, y0), (x1, y1) = source.sample(self.hubs, 2)
                    share = source.random()
                    reports.append({
                        "id": f"m{self.sent}", "lon": round(x0 + (x1 - x0) * share + source.gauss(0, 2), 4),
                        "lat": round(y0 + (y1 - y0) * share + source.gauss(0, 2), 4),
                        "altitude": source.randrange(28, 42) * 1000, "severity": source.choice([
                            0, 0, 0, 0, 1, 1, 2, 3, 4,
                        ]),
                        "observedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - source.randrange(60)))})
                    self.sent += 1
                connection.request("POST", "/observations", json.dumps(reports), {
                    "Content-Type": "application/json", "X-API-Key": self.key})
                answer = connection.getresponse()
                body = answer.read()
                if answer.status != 200:
                    raise RuntimeError(f"{answer.status} /observations: {body[:300]}")
        except Exception as error:
            self.failure = error


def resident(process, name="VmRSS"):
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    return 0


def main():
    parser = argparse.ArgumentParser(prog="memory.py", description=__doc__.split("\n")[0])
    parser.add_argument("--billow", default="bin/billow")
    parser.add_argument("--observations", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--clients", type=int, default=3)
    parser.add_argument("--rest", type=float, default=0.2, help="seconds between two views of a client")
    parser.add_argument("--folder", default="Benchmarks/.build/memory")
    options = parser.parse_args()
    folder = Path(options.folder).absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hubs = write_world(folder / "world.csv", options.observations, LIVE_SECONDS)
    database = str(folder / "world.sqlite")
    subprocess.run([options.billow, "import", "--database", database, str(folder / "world.csv")], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    key = subprocess.run(
        [options.billow, "keys", "create", "--database", database, "--name", "memory", "--scope", "ingest"],
        check=True, capture_output=True, text=True).stdout.split()
    key = next(word for word in key if len(word) > 30)
    with open(folder / "serve.log", "w") as log:
        server = subprocess.Popen(
            [options.billow, "serve", "--database", database, "--port", str(PORT)], stdout=log, stderr=log)
    stop = threading.Event()
    try:
        wait_ready(PORT)
        time.sleep(20)
        print(f"{options.observations} observations, at rest after 20 s: {resident(server.pid):.0f} MB, "
              f"largest while it started {resident(server.pid, 'VmHWM'):.0f} MB\n")
        print("| minutes | smallest MB | median | largest | answers/s |\n| --- | --- | --- | --- | --- |", flush=True)
        loads = [Load(hubs, seed, stop, options.rest) for seed in range(options.clients)]
        reports = Reports(hubs, options.observations / LIVE_SECONDS, key, stop)
        for thread in [*loads, reports]:
            thread.start()
        start, sizes, counted, everything = time.time(), [], 0, []
        step = min(300, options.minutes * 60)
        end = step
        while time.time() - start < options.minutes * 60:
            time.sleep(1)
            sizes.append(resident(server.pid))
            failed = [thread.failure for thread in [*loads, reports] if thread.failure]
            if failed:
                sys.exit(f"after {time.time() - start:.0f} s: {failed[0]}")
            if time.time() - start >= end:
                answers = sum(load.answers for load in loads)
                print(f"| {end / 60:.0f} | {min(sizes):.0f} | {quantile(sizes, .5):.0f} | {max(sizes):.0f} | "
                      f"{(answers - counted) / step:.0f} |", flush=True)
                everything += sizes
                counted, sizes, end = answers, [], end + step
        print(f"\n{reports.sent} observations came in; median {quantile(everything, .5):.0f} MB, 99 of 100 looks at "
              f"most {quantile(everything, .99):.0f}, largest {max(everything):.0f}; "
              f"VmHWM {resident(server.pid, 'VmHWM'):.0f} MB")
    finally:
        stop.set()
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
