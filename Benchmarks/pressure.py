#!/usr/bin/env python3
"""Resident memory under requests that are made to fill it.

Usage: Benchmarks/pressure.py [--billow bin/billow] [--observations 200000] [--minutes 10] [--clients 32] [--budget 304]
    [--port 18480] [--folder …]

Half of the clients read what they get; the others read nothing and hold their sockets for half a minute. They ask for
animations, pages and exports of polygons and hexagons, changes, filters of many sources, changes with ever other
parameters, long timelines, tracks of all time, large maps and profiles. Printed: resident size in MB at rest, the
largest and the last; latencies of /healthz and of a tile that is cold. Exit status 1 where the largest is above twice
the resting size plus the budgets (--budget, MB: caches 48, answers 128, the frames of one animation 64, and 64 for
sprites, the response microcache and running jobs), or the last is above the resting size plus the caches and a quarter.
"""
import argparse
import http.client
import random
import socket
import sys
import threading
import time
from pathlib import Path

from saturation import ago, request, start
from harness import HOST, quantile, tile


def resident(pid, field="VmRSS"):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(field))


def path(source):
    number = source.randrange(10**6)
    names = ",".join(f"s{number}x{index}" for index in range(32))
    return source.choice([
        f"/animations/hexagons.png?start=-1h&end=now&intervals=16&width=1024&height=1024&opacity=0.{number}",
        f"/animations/hexagons.png?start=-1h&end=now&intervals=4&width=500&height=500&opacity=0.{number}",
        f"/collections/polygons/items?hours=6&smooth=3&tolerance=0.{number:06d}",
        "/collections/polygons/items?hours=6&mode=atLeast", "/export/polygons.geojson?hours=6",
        "/export/hexagons.geojson?hours=6", "/export/observations.geojson", "/export/observations.csv",
        "/collections/hexagons/items?hours=6&limit=10000", "/changes/hexagons?hours=6",
        f"/changes/pireps?bbox=-{number % 90},-{number % 60},{number % 170},{1 + number % 80}&source={names}",
        f"/tiles/pireps/latest/3/1/1.png?source={names}", f"/tiles/pireps/latest/3/1/1.png?source={names}",
        f"/timeline.json?start=-6d&intervals=500&source=a{number}",
        "/collections/tracks/items?datetime=../..&limit=10000",
        f"/maps/hexagons,polygons.png?width=4096&height=4096&opacity=0.{number}&hours=6",
        f"/maps/forecast.png?width=1&height={1 + number % 300}&scale=2",
        f"/profiles.png?route=KJFK%20EGLL&width-pixels=4096&height-pixels={200 + number % 1800}",
        f"/tiles/hexagons/{ago(number % 6000)}/3/2/3.png?hours=6",
    ])


class Client(threading.Thread):
    def __init__(self, port, seed, reads, end):
        super().__init__(daemon=True)
        self.port, self.random, self.reads, self.end, self.counts = port, random.Random(seed), reads, end, {}

    def run(self):
        while time.time() < self.end:
            try:
                status = self.read() if self.reads else self.hold()
            except (OSError, http.client.HTTPException) as error:
                status = type(error).__name__
            self.counts[status] = self.counts.get(status, 0) + 1
            if status != 200:
                time.sleep(0.05)

    def ask(self):
        if self.random.random() < 0.15:
            return request("query", self.random)
        return "GET", path(self.random), None

    def read(self):
        connection = http.client.HTTPConnection(HOST, self.port, timeout=120)
        method, where, body = self.ask()
        connection.request(method, where, body, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        while answer.read(1 << 16):
            pass
        connection.close()
        return answer.status

    def hold(self):
        """Never reads."""
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect((HOST, self.port))
            connection.sendall(f"GET {path(self.random)} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            time.sleep(min(30, max(0, self.end - time.time())))
        return "held"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--billow", default="bin/billow")
    parser.add_argument("--observations", type=int, default=200_000)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--budget", type=float, default=304)
    parser.add_argument("--port", type=int, default=18480)
    parser.add_argument("--folder", type=Path, default=Path("Benchmarks/.build/pressure"))
    given = parser.parse_args()
    server, _, hubs = start(given.billow, given.folder, given.observations, given.port)
    try:
        # What every server has after its first minute: outlines, polygons of the first snapshot, a view of the world.
        connection = http.client.HTTPConnection(HOST, given.port, timeout=60)
        for zoom in range(3, 7):
            for hub in hubs:
                x, y = tile(zoom, *hub)
                connection.request("GET", f"/tiles/hexagons/latest/{zoom}/{x}/{y}.png")
                connection.getresponse().read()
        time.sleep(15)
        resting = resident(server.pid)
        print(f"resting {resting:.0f} MB", flush=True)
        end = time.time() + given.minutes * 60
        clients = [Client(given.port, seed, seed % 2 == 0, end) for seed in range(given.clients)]
        for client in clients:
            client.start()
        health, cold, sizes = [], [], []
        source, said = random.Random(3), time.time()
        while time.time() < end:
            for times, where in ((health, "/healthz"), (cold, None)):
                if where is None:
                    x, y = tile(5, *source.choice(hubs))
                    where = f"/tiles/hexagons/latest/5/{x}/{y}.png?opacity=0.{source.randrange(10**6)}"
                began = time.perf_counter()
                connection.request("GET", where)
                answer = connection.getresponse()
                answer.read()
                times.append((time.perf_counter() - began) * 1000)
                if answer.status not in (200, 503):
                    sys.exit(f"{answer.status} {where}")
            sizes.append(resident(server.pid))
            if time.time() - said > 30:
                said = time.time()
                print(f"{end - said:.0f} s left: now {sizes[-1]:.0f} MB, largest {max(sizes):.0f} MB", flush=True)
            time.sleep(0.2)
        for client in clients:
            client.join(180)
        counts = {}
        for client in clients:
            for status, count in client.counts.items():
                counts[status] = counts.get(status, 0) + count
        time.sleep(60)
        last = resident(server.pid)
        largest = max(sizes + [resident(server.pid, "VmHWM")])
        print(f"answers {dict(sorted(counts.items(), key=str))}")
        for name, times in (("healthz", health), ("cold tile", cold)):
            print(f"{name} ms: p50 {quantile(times, .5):.1f}, p99 {quantile(times, .99):.1f}, max {max(times):.1f}")
        allowed = 2 * resting + given.budget
        print(
            f"resting {resting:.0f} MB, largest {largest:.0f} MB (allowed {allowed:.0f}), a minute after {last:.0f} MB"
        )
        sys.exit(0 if largest <= allowed and last <= 1.25 * (resting + 48) else 1)
    finally:
        server.terminate()
        server.wait(30)


if __name__ == "__main__":
    main()
