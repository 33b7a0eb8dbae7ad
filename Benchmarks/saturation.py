#!/usr/bin/env python3
"""Whether cheap answers stay quick while every class of work is saturated.

Usage: Benchmarks/saturation.py [--billow bin/billow] [--observations 200000] [--seconds 20] [--clients 64] [--port
    18480] [--folder …]

So many clients send requests of one class after the other, and then of all classes at once. Meanwhile /healthz, /readyz
and a cached tile are asked for, and an observation is sent in every second. Printed for each class: answers by status,
latencies in milliseconds, and the seconds from the answer to `POST /observations` until /status has the new version.
Exit status 1 where /healthz or the cached tile needed more than --limit milliseconds (50) at the 99th percentile, or a
publication more than 2 s.
"""
import argparse
import http.client
import json
import multiprocessing
import random
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from harness import HOST, quantile, tile, wait_ready, write_world

ALERT = json.dumps({
    "position": [-40, 50], "altitude": 36000, "track": 90, "speed": 450, "distance": 2000, "angle": 360,
    "minAltitude": 0, "maxAltitude": 60000, "hours": 6})


def ago(seconds):
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() - seconds))


def query(source):
    """A heavy request of the query class: method, path, body."""
    number = source.randrange(1_000_000)
    return source.choice([
        ("POST", "/alerts", ALERT),
        ("GET", f"/profiles.png?route=KJFK%20EGLL&width-pixels=4096&height-pixels={200 + number % 1800}", None),
        ("GET", f"/collections/polygons/items?hours=6&smooth=3&tolerance=0.{number:06d}", None),
        ("GET", "/collections/hexagons/items?limit=10000&hours=6", None),
        ("GET", f"/changes/hexagons?hours=6&minAltitude={number % 30 * 1000}", None),
        ("GET", "/export/hexagons.geojson?hours=6", None),
        ("GET", "/export/polygons.geojson?hours=6", None),
        ("GET", f"/timeline.json?start=-6d&intervals=500&source=a{number}", None),
    ])


def request(kind, source):
    if kind == "all":
        kind = source.choice(["tile", "map", "animation", "query"])
    if kind == "tile":
        zoom = source.choice([3, 4, 5, 6])
        x, y = source.randrange(1 << zoom), source.randrange(1 << zoom)
        tile = f"/tiles/hexagons/{ago(source.randrange(300))}/{zoom}/{x}/{y}.png"
        return "GET", f"{tile}?hours=6&opacity=0.{source.randrange(10**6)}", None
    if kind == "map":
        shape = f"width=4096&height=2048&opacity=0.{source.randrange(10**6)}&hours=6"
        return "GET", f"/maps/hexagons,polygons.png?{shape}", None
    if kind == "animation":
        return "GET", (f"/animations/hexagons.png?start=-1h&end=now&intervals=16&width=1024&height=1024"
                       f"&opacity=0.{source.randrange(10**6)}"), None
    return query(source)


def load(port, kind, clients, seed, end, counts):
    """One process of clients; puts the number of answers by status."""
    found, lock = {}, threading.Lock()

    def run(number):
        source = random.Random(seed * 1000 + number)
        connection = None
        while time.time() < end:
            method, path, body = request(kind, source)
            try:
                connection = connection or http.client.HTTPConnection(
                    HOST, port, timeout=max(1, end + 30 - time.time()),
                )
                connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
                answer = connection.getresponse()
                while answer.read(1 << 16):
                    pass
                status = answer.status
            except OSError as error:
                connection, status = None, type(error).__name__
            except http.client.HTTPException as error:
                connection, status = None, type(error).__name__
            with lock:
                found[status] = found.get(status, 0) + 1
            if status == 503:
                time.sleep(0.05)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.1, end + 60 - time.time()))
    counts.put(found)


class Watch:
    """Asks for what is cheap, one after the other."""

    def __init__(self, port, key, cached):
        self.port, self.key, self.cached = port, key, cached
        self.times = {"healthz": [], "readyz": [], "tile": [], "publication": []}

    def ask(self, connection, name, path):
        start = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            sys.exit(f"{answer.status} {path}")
        self.times[name].append((time.perf_counter() - start) * 1000)

    def look(self, end):
        connection = http.client.HTTPConnection(HOST, self.port, timeout=60)
        while time.time() < end:
            self.ask(connection, "healthz", "/healthz")
            self.ask(connection, "readyz", "/readyz")
            self.ask(connection, "tile", self.cached)
            time.sleep(0.02)

    def publish(self, end):
        connection = http.client.HTTPConnection(HOST, self.port, timeout=60)
        number = 0
        while time.time() < end:
            number += 1
            report = [{"id": f"w{time.time()}", "lon": 3.0, "lat": 47.0, "altitude": 33000, "severity": 2,
                       "observedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1))}]
            connection.request("POST", "/observations", json.dumps(report),
                               {"Content-Type": "application/json", "X-API-Key": self.key})
            answer = connection.getresponse()
            body = json.loads(answer.read())
            if answer.status != 200:
                sys.exit(f"{answer.status} POST /observations: {body}")
            start = time.perf_counter()
            while True:
                connection.request("GET", "/status")
                if json.loads(connection.getresponse().read())["version"] >= body["version"]:
                    break
                time.sleep(0.01)
            self.times["publication"].append(time.perf_counter() - start)
            time.sleep(1)


def start(billow, folder, observations, port):
    """A server of a fresh database; gives the process, a key that may send in, and the hubs."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hubs = write_world(folder / "world.csv", observations)
    database = folder / "x.sqlite"
    subprocess.run([billow, "import", "--database", database, folder / "world.csv"], check=True, capture_output=True)
    made = subprocess.run([
        billow, "keys", "create", "--database", database, "--name", "load", "--scope", "ingest,read",
    ],
                          check=True, capture_output=True, text=True).stdout
    key = next(word for word in made.split() if word.startswith("bk_") or "." in word and len(word) > 30)
    log = open(folder / "log", "w")
    server = subprocess.Popen([billow, "serve", "--database", database, "--port", str(port)], stdout=log, stderr=log)
    wait_ready(port)
    return server, key, hubs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--billow", default="bin/billow")
    parser.add_argument("--observations", type=int, default=200_000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--port", type=int, default=18480)
    parser.add_argument("--limit", type=float, default=50)
    parser.add_argument("--folder", type=Path, default=Path("Benchmarks/.build/saturation"))
    given = parser.parse_args()
    server, key, hubs = start(given.billow, given.folder, given.observations, given.port)
    failed = False
    try:
        x, y = tile(5, *hubs[4])
        cached = f"/tiles/hexagons/latest/5/{x}/{y}.png"
        print("| class | answers | healthz ms p50 / p99 / max | readyz | cached tile | publication s max |")
        print("| --- | --- | --- | --- | --- | --- |", flush=True)
        for kind in ["none", "tile", "map", "animation", "query", "all"]:
            end = time.time() + given.seconds
            counts, processes = multiprocessing.Queue(), []
            if kind != "none":
                each = max(1, given.clients // 4)
                for seed in range(4):
                    process = multiprocessing.Process(target=load, args=(given.port, kind, each, seed, end, counts))
                    process.start()
                    processes.append(process)
            watch = Watch(given.port, key, cached)
            time.sleep(1 if processes else 0)
            threads = [
                threading.Thread(target=watch.look, args=(end,)), threading.Thread(target=watch.publish, args=(end,)),
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            answers = {}
            for _ in processes:
                for status, count in counts.get(timeout=120).items():
                    answers[status] = answers.get(status, 0) + count
            for process in processes:
                process.join()

            def line(name):
                values = watch.times[name]
                return f"{quantile(values, .5):.1f} / {quantile(values, .99):.1f} / {max(values):.1f}"
            print(f"| {kind} | {dict(sorted(answers.items(), key=str))} | {line('healthz')} | {line('readyz')} | "
                  f"{line('tile')} | {max(watch.times['publication']):.2f} |", flush=True)
            late = [name for name in ("healthz", "tile") if quantile(watch.times[name], .99) > given.limit]
            failed = failed or bool(late) or max(watch.times["publication"]) > 2
    finally:
        server.terminate()
        server.wait(30)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
