#!/usr/bin/env python3
"""Counts the allocations of an answer, and compares them with those that are committed.

Usage: Benchmarks/allocations.py [--billow bin/billow] [--build release|tests] [--write]
    [--counts Benchmarks/allocations.json]

A served answer may not allocate more than 10 % and two allocations above its number in `allocations.json`. A change
that needs more says why, and commits the new numbers (`--write`), as does one that needs fewer. Every number is the
least of three means, each of many answers on one connection, of a server without sources.

The build of the tests specialises less across modules than the release, and has numbers of its own. `make check`
compares these. Figures in documents are those of the release. Exit status 0, or 1 with a line `error: …`, which the
failures at the end of continuous integration have too.

Needs a C compiler: that of the Swift toolchain, or `cc`. Linux with glibc only, because it preloads `allocations.c`.
"""
import argparse
import http.client
import json
import mmap
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import HOST, HUBS, observations, tile

ROOT = Path(__file__).resolve().parent.parent
DEADLINE = 300
# Rises of this share and this number are no failure: the number of cells differs by the minute.
SHARE, FEW = 0.10, 2
ROUNDS = 3


def fail(message):
    sys.exit(f"error: {message}")


class Server:
    """A server whose allocations are counted."""

    def __init__(self, billow, database, folder):
        self.folder = folder
        library, self.file = folder / "allocations.so", folder / "allocations"
        compiler = shutil.which("clang") or shutil.which("cc") or fail("there is no C compiler")
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, ROOT / "Benchmarks" / "allocations.c"],
                       check=True)
        self.file.write_bytes(bytes(8))
        port = folder / "port"
        environment = dict(os.environ, LD_PRELOAD=str(library), ALLOCATION_COUNTER=str(self.file),
                           BILLOW_SERVER_PORT_FILE=str(port))
        self.process = subprocess.Popen(
            [billow, "serve", "--database", database, "--port", "0"], cwd=ROOT, env=environment,
            stdout=subprocess.DEVNULL, stderr=open(folder / "log", "w"))
        deadline = time.monotonic() + DEADLINE
        while not (port.exists() and port.read_text().strip()):
            self.check(deadline)
        self.connection = http.client.HTTPConnection(HOST, int(port.read_text()), timeout=60)
        while self.status("/readyz") != 200:
            self.check(deadline)
        with open(self.file, "r+b") as file:
            self.counter = mmap.mmap(file.fileno(), 8)

    def check(self, deadline):
        if self.process.poll() is not None or time.monotonic() > deadline:
            fail(f"the server did not become ready: {(self.folder / 'log').read_text()[-1500:]}")
        time.sleep(0.1)

    def status(self, path, headers=None):
        self.connection.request("GET", path, headers=headers or {})
        answer = self.connection.getresponse()
        answer.read()
        return answer.status

    def get(self, path):
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        return answer.headers, answer.read()

    @property
    def count(self):
        return struct.unpack("<Q", self.counter[:])[0]

    def settle(self):
        """Waits until a second passes with few allocations, at most a minute."""
        for _ in range(60):
            before = self.count
            time.sleep(1)
            if self.count - before < 2_000:
                return

    def mean(self, paths, statuses, headers=None):
        """The allocations of an answer."""
        self.settle()
        before = self.count
        for path in paths:
            found = self.status(path, headers)
            if found not in statuses:
                fail(f"{found} {path}")
        return (self.count - before) / len(paths)

    def least(self, rounds, statuses=(200,), headers=None):
        """The least mean of several rounds: what the server does meanwhile, such as each minute's work, only adds."""
        return round(min(self.mean(paths, statuses, headers) for paths in rounds), 1)


def measure(server):
    found = {}
    places = [(zoom, *tile(zoom, x + across * 3, y + down * 2)) for zoom in (6, 7, 8) for x, y in HUBS
              for across, down in ((0, 0), (1, 0), (0, 1))]
    places = sorted(set(places))
    cold = [f"/tiles/hexagons/latest/{z}/{x}/{y}.png" for z, x, y in places]
    server.mean(cold, (200,))

    # Other colours: each picture is painted.
    def painted(opacity):
        return [f"{path}?opacity={opacity}" for path in cold]

    # The sprites of the places are made between the first ones.
    for opacity in ("0.7", "0.71", "0.72"):
        server.mean(painted(opacity), (200,))
    found["a painted tile"] = server.least([painted(opacity) for opacity in ("0.73", "0.74", "0.75")])
    known = painted("0.73")
    found["a tile that is known"] = server.least([known * 5] * ROUNDS)
    one = [[known[0]] * 500] * ROUNDS
    found["the same by one address"] = server.least(one)
    headers, _ = server.get(known[0])
    found["a tile that the client has (304)"] = server.least(one, (304,), {"If-None-Match": headers["ETag"]})
    found["an empty tile"] = server.least([["/tiles/hexagons/latest/9/1/500.png"] * 500] * ROUNDS)
    vector = [path.replace(".png", ".mvt") for path in cold]
    found["a vector tile"] = server.least(
        [[f"{path}?minAltitude={altitude}" for path in vector] for altitude in (1_000, 2_000, 3_000)], (200, 204))
    page = "/collections/observations/items?limit="
    found["a page of 1,000 features"] = server.least(
        [[f"{page}{1_015 - number}" for number in range(first, first + 10)] for first in (0, 10, 20)])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--billow", default="bin/billow", type=os.path.abspath)
    parser.add_argument("--counts", default=ROOT / "Benchmarks" / "allocations.json", type=Path)
    parser.add_argument("--build", default="release", choices=("release", "tests"), help="how it was built")
    parser.add_argument("--write", action="store_true", help="commit these numbers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="billow-allocations-") as name:
        folder = Path(name)
        with open(folder / "world.csv", "w") as file:
            file.write("id,lon,lat,altitude,severity,observedAt\n")
            for each in observations(100_000, 7_000):
                file.write("{},{:.4f},{:.4f},{},{},{}\n".format(*each))
        database = folder / "world.sqlite"
        subprocess.run([options.billow, "import", folder / "world.csv", "--database", database], check=True, cwd=ROOT,
                       stderr=subprocess.DEVNULL)
        server = Server(options.billow, database, folder)
        try:
            found = measure(server)
        finally:
            server.process.terminate()
            server.process.wait()
    builds = json.loads(options.counts.read_text()) if options.counts.exists() else {}
    committed = builds.get(options.build, {})
    print("| answer | allocations | committed |\n| --- | --- | --- |")
    for name, number in found.items():
        print(f"| {name} | {number:,.1f} | {committed.get(name, 'none')} |")
    if options.write:
        options.counts.write_text(json.dumps(builds | {options.build: found}, indent=4) + "\n")
        return
    worse = [f"{name} ({number:,.1f} instead of {committed.get(name, 'none')})" for name, number in found.items()
             if number > committed.get(name, 0) * (1 + SHARE) + FEW]
    if worse:
        fail(f"more allocations than are committed: {', '.join(worse)}")


if __name__ == "__main__":
    main()
