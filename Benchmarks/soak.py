#!/usr/bin/env python3
"""A server under mixed clients for an hour, while its upstreams fail in turn.

Usage: Benchmarks/soak.py [--billow bin/billow] [--minutes 60] [--short] [--flights 300] [--speed 10]
    [--clients 8] [--port PORT] [--seed 1] [--no-fill]

The simulator has the demo's flights at ten times their speed, and is asked every second. The clients move maps, play
timelines, read features, exports, alerts and events, and send observations in. Every 20 s the upstreams get a fault
for 10 s.

Memory holds 6.5 to 7.5 hours, and whole hours leave it. An import fills them before the start, as densely as later data
comes, so that as many observations leave memory as enter it. `--no-fill`, and `--short`, leave this out.

Printed at the end: latencies by kind of request, answers by status, memory with its slope after a third of the time,
descriptors, sampled tiles that differ from the features of their frame, and observations that were acknowledged and
are not in the log. Exit status 1 where a tile differs, an observation is lost, an answer has a 5xx other than 503,
descriptors grow, or memory grows by more than a hundredth in an hour and 400 bytes for each observation that came to
the rows in memory (for runs from 30 minutes on).

`--short` takes a minute with fewer flights and clients, for `make test`. Ports are free ones unless `--port` names one.
"""
import argparse
import http.client
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter, defaultdict
from pathlib import Path

from harness import HOST, HUBS, free_ports, quantile, tile, wait_ready

FAULTS = ["unauthorized", "session-revoked", "rate-limited", "server-error", "unavailable", "truncated-body",
          "cut-json", "slow-body", "html-page", "empty-body", "connection-reset", "half-gone", "wrong-types",
          "delta-refused"]
UPSTREAMS = ["skypath", "aviationweather", "opensky"]
SETTINGS = """
retention: PT6H
sources:
  - {{ id: sky, kind: skypath, baseURL: "http://{host}:{port}", apiKey: demo, api: v4, update: PT1S, simulated: true,
      query: {{ types: [turbulence, nowcast], history: 6 }} }}
  - {{ id: awc, kind: aviationweather, baseURL: "http://{host}:{port}", simulated: true }}
  - {{ id: traffic, kind: opensky, baseURL: "http://{host}:{port}", update: PT5S, simulated: true }}
"""


def picture(data):
    """Width, height and a function from a pixel to its RGBA, of a PNG with a palette or transparent pixels alone."""
    place, palette, alpha, packed = 8, b"", b"", b""
    while place < len(data):
        size, kind = struct.unpack(">I4s", data[place:place + 8])
        body = data[place + 8:place + 8 + size]
        place += size + 12
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
        palette, alpha = (body if kind == b"PLTE" else palette), (body if kind == b"tRNS" else alpha)
        packed += body if kind == b"IDAT" else b""
    if colour not in (3, 6) or colour == 6 and depth != 8:
        raise ValueError(f"PNG of colour type {colour}")
    raw, row = zlib.decompress(packed), (width * depth * (4 if colour == 6 else 1) + 7) // 8
    step, rows, before = (4 if colour == 6 else 1), [], bytearray(row)
    for number in range(height):
        line, mode = bytearray(raw[number * (row + 1) + 1:(number + 1) * (row + 1)]), raw[number * (row + 1)]
        for index in range(row if mode else 0):
            left, up = (line[index - step] if index >= step else 0), before[index]
            corner = before[index - step] if index >= step else 0
            guess = left + up - corner
            nearest = min((left, up, corner), key=lambda each: abs(guess - each))
            line[index] = (line[index] + (0, left, up, (left + up) // 2, nearest)[mode]) & 255
        rows.append(line)
        before = line

    def pixel(x, y):
        if colour == 6:
            return tuple(rows[y][4 * x:4 * x + 4])
        bits = x * depth
        index = rows[y][bits // 8] >> (8 - depth - bits % 8) & ((1 << depth) - 1)
        return (*palette[3 * index:3 * index + 3], alpha[index] if index < len(alpha) else 255)

    return width, height, pixel


LIVE_SECONDS = 27_000  # Memory holds the last 6.5 hours, from the full hour before. Whole hours leave it.
BACKFILL_SECONDS = 21_600  # The simulator's reports go back six hours.
SENT_EACH_SECOND = 20


class Soak:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.times, self.statuses, self.problems = defaultdict(list), Counter(), []
        self.lock, self.end = threading.Lock(), 0.0
        self.checked = self.skipped = self.hexagons = self.events = self.faults = 0
        self.sent, self.acknowledged = 0, set()
        self.samples = []
        self.unanswered = 0

    # MARK: Processes

    def start(self):
        billow = self.options.billow
        self.simulator_log = open(self.folder / "simulator.log", "wb")
        port = self.options.upstream
        self.simulator = subprocess.Popen(
            [billow, "simulate", "--port", str(port), "--flights", str(self.options.flights), "--speed",
             str(self.options.speed), "--guidance", "none"],
            stderr=self.simulator_log)
        self.wait_for_simulator()
        (self.folder / "billow.yaml").write_text(SETTINGS.format(host=HOST, port=port))
        database = self.folder / "soak.sqlite"
        self.key = subprocess.run(
            [billow, "keys", "create", "--scope", "ingest,admin", "--database", database],
            check=True, capture_output=True, text=True).stdout.strip()
        if self.options.fill:
            self.fill(database)
        self.log = open(self.folder / "billow.log", "wb")
        self.server = subprocess.Popen(
            [billow, "serve", "--port", str(self.options.port), "--database", database, "--config",
             self.folder / "billow.yaml"], stderr=self.log)
        wait_ready(self.options.port)

    def fill(self, database):
        """Imports observations of the hours in memory: as many as clients send, and before the simulator's first
        report as many as it reports."""
        source, now, file = random.Random(self.options.seed), int(time.time()), self.folder / "fill.csv"
        reported = self.options.flights * self.options.speed / 60
        early = LIVE_SECONDS - BACKFILL_SECONDS
        ages = [source.randrange(1, LIVE_SECONDS) for _ in range(SENT_EACH_SECOND * LIVE_SECONDS)]
        ages += [BACKFILL_SECONDS + source.randrange(early) for _ in range(int(reported * early))]
        with open(file, "w") as rows:
            rows.write("id,lon,lat,altitude,severity,observedAt\n")
            for number, age in enumerate(sorted(ages, reverse=True)):
                instant = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - age))
                place = f"{source.uniform(-180, 180):.4f},{source.uniform(-60, 60):.4f}"
                rows.write(f"f{number},{place},33000,{number % 5},{instant}\n")
        subprocess.run(
            [self.options.billow, "import", "--simulated", "--database", database, "--source", "fill", file],
            check=True, capture_output=True)
        file.unlink()

    def wait_for_simulator(self):
        for _ in range(600):
            try:
                return self.simulate("name=none")
            except OSError:
                time.sleep(0.1)
        sys.exit("the simulator did not come up")

    def stop(self):
        for process in (self.server, self.simulator):
            if process.poll() is None:
                process.terminate()
        status = self.server.wait(60)
        self.simulator.wait(60)
        if status != 0:
            self.note(f"the server ended with {status}")

    def note(self, problem):
        with self.lock:
            if len(self.problems) < 50:
                self.problems.append(problem)

    # MARK: Requests

    def ask(self, connection, kind, path, body=None, method=None):
        """An answer's status, headers and body."""
        headers = {"X-API-Key": self.key} if kind == "ingest" else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        start = time.perf_counter()
        connection.request(method or ("GET" if body is None else "POST"), path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        took = (time.perf_counter() - start) * 1000
        with self.lock:
            self.times[kind].append(took)
            self.statuses[f"{kind} {answer.status}"] += 1
        if answer.status >= 500 and answer.status != 503:
            self.note(f"{answer.status} {path}: {content[:200]}")
        return answer.status, answer.headers, content

    def connection(self):
        return http.client.HTTPConnection(HOST, self.options.port, timeout=120)

    def loop(self, body, pause):
        """Repeats a client's turn, on a new connection after each failure."""
        connection = self.connection()
        while time.time() < self.end:
            try:
                body(connection)
            except Exception as error:  # A client that ends unseen would find nothing.
                self.note(f"{type(error).__name__}: {error}")
                connection.close()
                connection = self.connection()
            time.sleep(pause)
        connection.close()

    def map(self, source):
        """A map is moved: the tiles of a screen."""
        def turn(connection):
            zoom, layer = source.randrange(3, 8), source.choice(["hexagons", "turbulence", "hazards", "traffic"])
            x, y = tile(zoom, *(place + source.gauss(0, 5) for place in source.choice(HUBS)))
            form = source.choice(["png", "png", "png", "mvt"])
            for column in range(4):
                for row in range(3):
                    place = f"{(x + column) % (1 << zoom)}/{min(y + row, (1 << zoom) - 1)}"
                    self.ask(connection, f"tile {form}", f"/tiles/{layer}/latest/{zoom}/{place}.{form}")
        return turn

    def player(self, source):
        def turn(connection):
            status, _, body = self.ask(connection, "timeline", "/timeline.json?layers=hexagons&start=-1h&intervals=13")
            if status != 200:
                return
            layer = json.loads(body)["layers"][0]
            x, y = tile(5, *source.choice(HUBS))
            for frame in layer["frames"]:
                address = frame["tiles"].replace("{z}", "5").replace("{x}", str(x)).replace("{y}", str(y))
                self.ask(connection, "frame", self.path(address))
        return turn

    @staticmethod
    def path(address):
        address = address.replace("{r}", "").replace("{ratio}", "")
        return address[address.index("/", 8):] if address.startswith("http") else address

    def reader(self, source):
        def turn(connection):
            longitude, latitude = source.choice(HUBS)
            box = f"{longitude - 5},{latitude - 5},{longitude + 5},{latitude + 5}"
            alert = json.dumps({"position": [longitude, latitude], "altitude": 36000, "track": 90, "speed": 450})
            kind, path, body = source.choice([
                ("items", f"/collections/hexagons/items?bbox={box}&limit=1000", None),
                ("items", f"/collections/pireps/items?bbox={box}&hours=6", None),
                ("items", f"/collections/traffic/items?bbox={box}", None),
                ("status", "/status", None),
                ("corridor", "/collections/hexagons/corridor?route=KJFK%20EGLL&width=100", None),
                ("profile", "/profiles.png?route=KJFK%20EGLL", None),
                ("export", "/export/hexagons.csv", None),
                ("map", "/maps/hexagons,hazards.png?bbox=-30,30,30,70&width=800", None),
                ("alerts", "/alerts", alert),
            ])
            self.ask(connection, kind, path, body)
        return turn

    def sender(self, source):
        def turn(connection):
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1))
            with self.lock:
                numbers = range(self.sent, self.sent + SENT_EACH_SECOND)
                self.sent += SENT_EACH_SECOND
            batch = [{"id": f"n{number}", "lon": source.uniform(-180, 180), "lat": source.uniform(-60, 60),
                      "altitude": 33000, "severity": number % 5, "observedAt": now, "source": "soak"}
                     for number in numbers]
            status, _, _ = self.ask(connection, "ingest", "/observations", json.dumps(batch))
            if status == 200:
                with self.lock:
                    self.acknowledged.update(numbers)
        return turn

    def listen(self):
        """Reads events, as pages do."""
        def turn(connection):
            connection.request("GET", "/events")
            answer = connection.getresponse()
            while time.time() < self.end:
                if answer.fp.readline().startswith(b"event:"):
                    self.events += 1
            connection.close()
        return turn

    # MARK: Faults and checks

    def disturb(self):
        """A fault for ten seconds of every twenty. Afterwards a source that stopped is started again."""
        source = random.Random(self.options.seed)
        while time.time() < self.end:
            self.simulate(f"name={source.choice(FAULTS)}&upstream={source.choice(UPSTREAMS)}")
            self.faults += 1
            time.sleep(min(10, max(0, self.end - time.time())))
            self.simulate("name=none")
            connection = self.connection()
            for name in ("sky", "awc", "traffic"):
                connection.request("POST", f"/admin/sources/{name}/start", headers={"X-API-Key": self.key})
                connection.getresponse().read()
            connection.close()
            time.sleep(min(10, max(0, self.end - time.time())))

    def simulate(self, query):
        connection = http.client.HTTPConnection(HOST, self.options.upstream, timeout=60)
        connection.request("POST", f"/_simulator/fault?{query}")
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            self.note(f"the simulator refused {query}: {content[:200]}")

    def verify(self, source):
        """Compares the tile of a frame with the features of that frame: each hexagon's middle has its colour, and
        nothing is drawn where there is none."""
        def frame(connection, instant=None):
            _, _, body = self.ask(connection, "timeline", "/timeline.json?layers=hexagons&start=-30m&intervals=7")
            frames = json.loads(body)["layers"][0]["frames"]
            return next((each for each in frames if each["time"] == instant), None) if instant else frames[
                source.randrange(len(frames))]

        def turn(connection):
            before = frame(connection)
            zoom = 6
            x, y = tile(zoom, *(place + source.gauss(0, 4) for place in source.choice(HUBS)))
            address = before["tiles"].replace("{z}", str(zoom)).replace("{x}", str(x)).replace("{y}", str(y))
            status, _, drawn = self.ask(connection, "frame", self.path(address))
            west, north, east, south = bounds(zoom, x, y)
            status2, _, body = self.ask(
                connection, "items", f"/collections/hexagons/items?time={before['time']}&limit=10000"
                f"&bbox={west:.6f},{south:.6f},{east:.6f},{north:.6f}")
            after = frame(connection, before["time"])
            if (status, status2) != (200, 200) or after is None or after["tiles"] != before["tiles"]:
                self.skipped += 1
                return
            features = json.loads(body)["features"]
            self.compare(drawn, features, zoom, x, y, address)
            self.checked += 1
        return turn

    def compare(self, drawn, features, zoom, x, y, address):
        difference, seen = differences(drawn, features, zoom, x, y)
        self.hexagons += seen
        if difference:
            self.note(f"{address}: {difference}")

    def sample(self):
        started = time.time()
        connection = self.connection()
        while time.time() < self.end:
            folder = Path(f"/proc/{self.server.pid}")
            try:
                lines = (folder / "status").read_text().split("\n")
                memory = next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))
                descriptors = len(os.listdir(folder / "fd"))
            except OSError:
                return self.note("the server is gone")
            try:
                connection.request("GET", "/metrics", headers={"X-API-Key": self.key})
                lines = connection.getresponse().read().decode().split("\n")
            except (OSError, http.client.HTTPException):
                # Memory must go on being watched on a machine that is too busy to answer in time.
                self.unanswered += 1
                connection = self.connection()
                continue
            live = next((float(line.split()[1]) for line in lines if line.startswith("billow_live_observations ")), 0)
            self.samples.append((time.time() - started, memory, descriptors, live))
            time.sleep(2)

    # MARK: The run

    def run(self):
        self.start()
        self.end = time.time() + self.options.minutes * 60
        seed = self.options.seed
        clients = [(self.map, 0.2), (self.map, 0.2), (self.player, 1), (self.reader, 0.1), (self.reader, 0.1)]
        threads = [threading.Thread(target=work) for work in (self.disturb, self.sample)]
        threads += [threading.Thread(target=self.loop, args=(self.listen(), 1)) for _ in range(4)]
        threads += [threading.Thread(target=self.loop, args=(self.sender(random.Random(seed)), 1))]
        threads += [threading.Thread(target=self.loop, args=(self.verify(random.Random(seed)), 1))]
        for number in range(self.options.clients):
            make, pause = clients[number % len(clients)]
            threads.append(threading.Thread(target=self.loop, args=(make(random.Random(seed + number)), pause)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(self.options.minutes * 60 + 300)
        stored = self.stored()
        self.stop()
        return self.report(stored)

    def stored(self):
        connection = self.connection()
        connection.request("GET", "/export/observations.csv?source=soak")
        lines = connection.getresponse().read().decode().splitlines()
        place = lines[0].split(",").index("id")
        return [int(line.split(",")[place].removeprefix("n")) for line in lines[1:]]

    def report(self, stored):
        lost, twice = self.acknowledged - set(stored), len(stored) - len(set(stored))
        print("| request | number | p50 ms | p99 ms | max ms |\n| --- | --- | --- | --- | --- |")
        for kind, times in sorted(self.times.items()):
            print(f"| {kind} | {len(times)} | {quantile(times, 0.5):.1f} | {quantile(times, 0.99):.1f} "
                  f"| {max(times):.0f} |")
        print(f"\nanswers: {dict(sorted(self.statuses.items()))}")
        settled = self.samples[len(self.samples) // 3:]
        slope, filling = (slope_of([(each[0], each[axis]) for each in settled]) * 3600 for axis in (1, 3))
        mean = sum(each[1] for each in settled) / len(settled)
        descriptors = [each[2] for each in settled]
        print(f"memory: {mean:.0f} MB, at most {max(each[1] for each in self.samples):.0f} MB, "
              f"{slope / mean * 100:+.2f} % an hour; observations in memory: {settled[0][3]:.0f} to "
              f"{settled[-1][3]:.0f}")
        print(f"descriptors: {min(descriptors)} to {max(descriptors)}; samples without an answer: {self.unanswered}")
        print(f"tiles compared with features: {self.checked} with {self.hexagons} hexagons; "
              f"frames that changed meanwhile: {self.skipped}; faults: {self.faults}")
        print(f"observations: {len(self.acknowledged)} acknowledged, {len(lost)} lost, {twice} twice; "
              f"events: {self.events}")
        if lost or twice:
            self.note(f"{len(lost)} observations are lost, {twice} are there twice")
        if not self.checked:
            self.note("no tile was compared")
        first, last = descriptors[:len(descriptors) // 3], descriptors[-len(descriptors) // 3:]
        if max(last) > max(first) + 16:
            self.note(f"descriptors grow from {max(first)} to {max(last)}")
        if self.options.minutes >= 30 and slope > mean / 100 + max(0, filling) * 400 / 1e6:
            self.note(f"memory grows by {slope:.1f} MB an hour")
        for problem in self.problems:
            print(f"PROBLEM: {problem}")
        return 1 if self.problems else 0


def outline(geometry):
    """The outer ring of a polygon, or of the first part of one that the antimeridian cuts."""
    parts = geometry["coordinates"]
    return parts[0][0] if geometry["type"] == "MultiPolygon" else parts[0]


def differences(drawn, features, zoom, x, y):
    """How a tile of hexagons differs from the features of its frame, or None; and the number of hexagons compared."""
    width, height, pixel = picture(drawn)
    seen, colours = 0, {}
    for feature in features:
        ring = outline(feature["geometry"])[:-1]
        middle = [sum(place[axis] for place in ring) / len(ring) for axis in (0, 1)]
        column, row = (int(value) for value in project(zoom, x, y, *middle))
        if not (2 <= column < width - 2 and 2 <= row < height - 2):
            continue
        seen += 1
        colour = pixel(column, row)
        severity = feature["properties"]["severity"]
        if colour[3] == 0 and severity > 0:
            return f"nothing is drawn at {middle} of severity {severity}", seen
        known = colours.setdefault(severity, colour)
        if sum(abs(one - other) for one, other in zip(known, colour)) > 16:
            return f"severity {severity} is {colour} at {middle} and {known} elsewhere", seen
    if not features and any(pixel(i, j)[3] for i in range(0, width, 8) for j in range(0, height, 8)):
        return "something is drawn where no feature is", seen
    return None, seen


def bounds(zoom, x, y):
    import math
    side = 1 << zoom
    north, south = (math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * row / side)))) for row in (y, y + 1))
    return x / side * 360 - 180, north, (x + 1) / side * 360 - 180, south


def project(zoom, x, y, longitude, latitude):
    """Pixels in a tile of 256."""
    import math
    side = 1 << zoom
    row = (1 - math.asinh(math.tan(math.radians(latitude))) / math.pi) / 2 * side
    return ((longitude + 180) / 360 * side - x) * 256, (row - y) * 256


def slope_of(samples):
    """Megabytes a second, by least squares."""
    count = len(samples)
    time_mean, mean = (sum(each[axis] for each in samples) / count for axis in (0, 1))
    spread = sum((each[0] - time_mean) ** 2 for each in samples)
    return sum((each[0] - time_mean) * (each[1] - mean) for each in samples) / spread if spread else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--billow", default="bin/billow")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--short", action="store_true", help="a minute with fewer flights and clients")
    parser.add_argument("--flights", type=int)
    parser.add_argument("--speed", type=int, default=10, help="how many times as fast the simulated world moves")
    parser.add_argument("--clients", type=int)
    parser.add_argument("--port", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-fill", dest="fill", action="store_false", help="begin with an empty database")
    options = parser.parse_args()
    options.minutes = 1 if options.short else options.minutes
    options.fill = options.fill and not options.short
    options.flights = options.flights or (60 if options.short else 300)
    free, options.upstream = free_ports(2)
    options.port = options.port or free
    options.clients = options.clients or (4 if options.short else 8)
    folder = Path(tempfile.mkdtemp(prefix="billow-soak-"))
    soak = Soak(options, folder)
    try:
        status = soak.run()
    finally:
        for name in ("server", "simulator"):
            process = getattr(soak, name, None)
            if process and process.poll() is None:
                process.kill()
    if status:
        print(f"logs: {folder}")
    else:
        shutil.rmtree(folder)
    sys.exit(status)


if __name__ == "__main__":
    main()
