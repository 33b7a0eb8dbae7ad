#!/usr/bin/env python3
"""Tiles over HTTP: cold tiles of 1,000,000 live observations at every zoom, composed against single layers, one client
against two, and a warm tile against nginx with the same bytes as a file.

Usage: Benchmarks/serving.py [--billow bin/billow] [--observations 1000000] [--seconds 10] [
    --folder Benchmarks/.build/http,
]

Needs wrk and nginx (`Scripts/setup bench`). The world is made from a fixed seed: the same cells every time, observed in
the two hours before now. Prints tables as Benchmarks/README.md has them.
"""
import argparse
import concurrent.futures
import http.client
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from harness import HOST, Client, quantile, tile, wait_ready, write_world

PORT, NGINX_PORT = 18480, 18481


def wrk(port, path, seconds):
    out = subprocess.run(["wrk", "-t2", "-c64", f"-d{seconds}s", "--latency", f"http://{HOST}:{port}{path}"],
                         capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in out:
        sys.exit(out)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), re.search(r"99%\s+(\S+)", out)[1]


def cold(hubs, layers, style=""):
    print("| zoom | tiles | median ms | p99 ms | largest ms | mean bytes |\n| --- | --- | --- | --- | --- | --- |")
    client, all_times = Client(PORT), []
    for zoom in range(23):
        random.seed(zoom)
        places = {tile(zoom, x + random.gauss(0, 6), max(-80, min(80, y + random.gauss(0, 6))))
                  for _ in range(8) for x, y in hubs}
        found = [client.milliseconds(f"/tiles/{layers}/latest/{zoom}/{x}/{y}.png?opacity=0.{zoom + 11}{style}")
                 for x, y in sorted(places)]
        times = [took for took, _ in found]
        all_times += times
        print(f"| {zoom} | {len(times)} | {quantile(times, .5):.2f} | {quantile(times, .99):.2f} | {max(times):.2f} | "
              f"{sum(size for _, size in found) // len(found)} |", flush=True)
    print(f"| all | {len(all_times)} | {quantile(all_times, .5):.2f} | {quantile(all_times, .99):.2f} | "
          f"{max(all_times):.2f} | |", flush=True)


def rate(hubs, layers, clients, opacity, rounds=3):
    """Cold tiles a second, zooms 5 to 8: another opacity is another picture."""
    random.seed(3)
    paths = [(zoom, *tile(zoom, x + random.gauss(0, 4), y + random.gauss(0, 4)))
             for _ in range(12) for x, y in hubs for zoom in (5, 6, 7, 8)]
    random.shuffle(paths)

    def work(part):
        client = Client(PORT)
        for zoom, x, y in part:
            client.milliseconds(f"/tiles/{layers}/latest/{zoom}/{x}/{y}.png?opacity={opacity}")

    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        list(pool.map(work, [paths[number::clients] for number in range(clients)]))
    return len(set(paths)) / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(prog="serving.py", description=__doc__.split("\n")[0])
    parser.add_argument("--billow", default="bin/billow")
    parser.add_argument("--observations", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--folder", default="Benchmarks/.build/http")
    options = parser.parse_args()
    for tool in ("wrk", "nginx"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is missing: Scripts/setup bench")
    folder = Path(options.folder).absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hubs = write_world(folder / "world.csv", options.observations)
    database = str(folder / "world.sqlite")
    start = time.perf_counter()
    subprocess.run([options.billow, "import", "--database", database, str(folder / "world.csv")], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(f"import of {options.observations} observations: {time.perf_counter() - start:.1f} s", flush=True)
    with open(folder / "serve.log", "w") as log:
        server = subprocess.Popen(
            [options.billow, "serve", "--database", database, "--port", str(PORT)], stdout=log, stderr=log)
    nginx = None
    try:
        start = time.perf_counter()
        wait_ready(PORT)
        print(f"ready after {time.perf_counter() - start:.1f} s\n")
        print("Cold tiles of hexagons, one client, another place or look each, the first of every place included:")
        cold(hubs, "hexagons")
        print("\nThe same again, other looks: outlines of all cells are known")
        cold(hubs, "hexagons", "1")
        single, two = rate(hubs, "hexagons", 1, 0.71), rate(hubs, "hexagons", 2, 0.72)
        composed = rate(hubs, "turbulence,hazards,traffic", 1, 0.73)
        print(f"\ncold tiles/s, zooms 5–8: one client {single:.0f}, two {two:.0f} ({two / single:.2f} ×), "
              f"composed of three layers {composed:.0f} ({composed / single:.2f} of single)")
        x, y = tile(6, -87.9, 41.9)
        path = f"/tiles/hexagons/latest/6/{x}/{y}.png"
        connection = http.client.HTTPConnection(HOST, PORT)
        connection.request("GET", path)
        picture = connection.getresponse().read()
        (folder / "www").mkdir()
        (folder / "www/tile.png").write_bytes(picture)
        (folder / "nginx.conf").write_text(
            f"worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/error.log; daemon off; user root;"
            f"events {{ worker_connections 1024; }} http {{ access_log off; sendfile on; tcp_nopush on; "
            f"keepalive_requests 1000000; open_file_cache max=10; types {{ image/png png; }} "
            f"server {{ listen {HOST}:{NGINX_PORT}; root {folder}/www; }} }}")
        nginx = subprocess.Popen(["nginx", "-c", str(folder / "nginx.conf")], stderr=subprocess.DEVNULL)
        time.sleep(1)
        print(f"\nA warm tile of {len(picture)} bytes, wrk with 64 connections, in turns:")
        print("| round | Billow/s | p99 | nginx/s | p99 | ratio |\n| --- | --- | --- | --- | --- | --- |")
        for round_number in range(1, 4):
            ours, ours99 = wrk(PORT, path, options.seconds)
            theirs, theirs99 = wrk(NGINX_PORT, "/tile.png", options.seconds)
            print(
                f"| {round_number} | {ours:.0f} | {ours99} | {theirs:.0f} | {theirs99} | {ours / theirs:.2f} |",
                flush=True,
            )
    finally:
        server.terminate()
        if nginx:
            nginx.terminate()
        server.wait()


if __name__ == "__main__":
    main()
