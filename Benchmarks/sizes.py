#!/usr/bin/env python3
"""What each thing costs by the number of live observations, over HTTP.

Usage: Benchmarks/sizes.py [--billow bin/billow] [--sizes 10000,100000,1000000,10000000]
    [--folder Benchmarks/.build/sizes]

Each size has a database of its own, with observations of the last two hours along 4,000 flights. The server has no
sources. A client on one connection asks, one after the other:

- **tile**: pictures of zooms 4 to 9 around hubs, each with colours of its own, so each is painted; median and p99;
- **first picture**: the first tile after a filter that no request had before, so the plane of cells is made anew;
- **polygons**: all turbulence polygons of the world as GeoJSON, with a filter that is new too;
- **delta**: `/changes` of all hexagons after one observation was sent; median of ten;
- **page**: 1,000 observations, another page each time; median;
- **start**: from the start of the process to the first `200` of `/readyz`; **RSS** is read at rest afterwards, and
  **largest** at the end.
"""
import argparse
import http.client
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from harness import HOST, HUBS, heading, measured, quantile, row, tile, wait_ready, write_world

PORT = 18491


class Connection:
    def __init__(self):
        self.connection = http.client.HTTPConnection(HOST, PORT, timeout=600)

    def ask(self, path, body=None, headers=None):
        """The time of an answer in ms, and its bytes."""
        start = time.perf_counter()
        self.connection.request("POST" if body else "GET", path, body=body, headers=headers or {})
        answer = self.connection.getresponse()
        found = answer.read()
        took = (time.perf_counter() - start) * 1000
        if answer.status not in (200, 204):
            sys.exit(f"{answer.status} {path}: {found[:300]}")
        return took, found


def memory(process, name):
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    return 0


def measure(options, folder, size):
    write_world(folder / "world.csv", size)
    database = folder / "world.sqlite"
    took = measured([options.billow, "import", folder / "world.csv", "--database", database])
    key = subprocess.run([options.billow, "keys", "create", "--scope", "ingest", "--database", database], check=True,
                         capture_output=True, text=True).stdout.strip()
    bytes_each = sum(path.stat().st_size for path in folder.glob("world.sqlite*")) / size
    log = folder / "log"
    start = time.perf_counter()
    with open(log, "w") as file:
        server = subprocess.Popen([options.billow, "serve", "--port", str(PORT), "--database", database], stdout=file,
                                  stderr=file)
    try:
        wait_ready(PORT, server, log, seconds=600, pause=0.01)
        started = time.perf_counter() - start
        time.sleep(5)
        rest = memory(server.pid, "VmRSS")
        client = Connection()
        planes = [client.ask(f"/tiles/hexagons/latest/6/33/22.png?minAltitude={level}000")[0] for level in (3, 5, 7)]
        places = sorted({(zoom, *tile(zoom, x + across * 4, y)) for zoom in range(4, 10) for x, y in HUBS
                         for across in range(4)})
        for opacity in ("0.61", "0.62"):
            tiles = [client.ask(f"/tiles/hexagons/latest/{z}/{x}/{y}.png?opacity={opacity}")[0] for z, x, y in places]
        polygons = client.ask("/export/polygons.geojson?minAltitude=9000")[0]
        changes = []
        cursor = json.loads(client.ask("/changes/hexagons")[1])["cursor"]
        for number in range(10):
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 120))
            sent = json.dumps([{"id": f"delta-{number}", "lon": 10 + number, "lat": 50, "altitude": 34000,
                                "severity": 2, "observedAt": now}])
            client.ask("/observations", sent, {"X-API-Key": key, "Content-Type": "application/json"})
            took_change, found = client.ask(f"/changes/hexagons?since={cursor}")
            cursor = json.loads(found)["cursor"]
            changes.append(took_change)
        path, pages = "/collections/observations/items?limit=1000", []
        for _ in range(20):
            took_page, found = client.ask(path)
            pages.append(took_page)
            following = [link["href"] for link in json.loads(found)["links"] if link["rel"] == "next"]
            if not following:
                break
            path = following[0].split(f":{PORT}", 1)[-1]
        largest = memory(server.pid, "VmHWM")
    finally:
        server.terminate()
        server.wait()
    row(f"{size:,}", f"{quantile(tiles, .5):.2f}", f"{quantile(tiles, .99):.1f}", f"{quantile(planes, .5):.0f}",
        f"{polygons:.0f}", f"{quantile(changes, .5):.1f}", f"{quantile(pages, .5):.1f}", f"{started:.1f}",
        f"{rest:.0f}", f"{largest:.0f}", f"{took.wall:.1f}", f"{bytes_each:.0f}")
    for path in folder.glob("world.*"):
        path.unlink()


def main():
    parser = argparse.ArgumentParser(prog="sizes.py", description=__doc__.split("\n")[0])
    parser.add_argument("--billow", default="bin/billow", type=os.path.abspath)
    parser.add_argument("--sizes", default="10000,100000,1000000,10000000")
    parser.add_argument("--folder", default="Benchmarks/.build/sizes")
    options = parser.parse_args()
    folder = Path(options.folder).absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    print(f"load before: {os.getloadavg()[0]:.1f}\n")
    heading("live observations", "tile, median ms", "p99", "first picture ms", "polygons ms", "delta ms", "page ms",
            "start s", "RSS MB", "largest MB", "import s", "bytes of file each")
    for size in options.sizes.split(","):
        measure(options, folder, int(size))
    print(f"\nload after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
