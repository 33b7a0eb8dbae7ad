#!/usr/bin/env python3
"""Measures how long the sync of a release binary takes from an upstream's last byte to the picture.

Usage: Benchmarks/sync.py BILLOW [--observations N] [--delta N] [--aircraft N] [--rounds N]

An upstream on loopback answers as SkyPath's v4 call and OpenSky's `states/all` do, from a fixed seed. A `billow serve`
with a database of its own (`synchronous = FULL`, as always) asks it. Printed, as JSON lines:

- whole: seconds from the start of the process to the moment when all observations are served, and of them from the
  upstream's last byte; resident memory then;
- delta: seconds from the last byte of a delta to the tile that shows it;
- traffic: seconds from the last byte of a global snapshot to the tile that shows an aircraft of it.
"""
import argparse
import http.client
import http.server
import json
import os
import random
import subprocess
import tempfile
import threading
import time
from pathlib import Path

PENTAGONS = {4, 14, 24, 38, 49, 58, 63, 72, 83, 97, 107, 117}
BASE_CELLS = [number for number in range(122) if number not in PENTAGONS]
LOOK_SECONDS = 0.005
DEADLINE_SECONDS = 120
ALTITUDES = 10


def cell(number):
    """An H3 cell of resolution 5: base cell and digits in turn."""
    base, rest = BASE_CELLS[number % len(BASE_CELLS)], number // len(BASE_CELLS)
    index = 1 << 59 | 5 << 52 | base << 45
    for resolution in range(1, 16):
        digit = 7
        if resolution <= 5:
            digit, rest = rest % 7, rest // 7
        index |= digit << 3 * (15 - resolution)
    return f"{index:x}"


class Upstream(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    whole = b""
    deltas = []
    snapshots = []
    sent = {}

    def log_message(self, *_):
        pass

    def answer(self, body, name):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Simulated", "true")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        if name:
            Upstream.sent[name] = time.monotonic()

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "skypath_tick" not in request:
            return self.answer(Upstream.whole, "whole")
        if Upstream.deltas:
            return self.answer(Upstream.deltas.pop(0), "delta")
        self.answer(json.dumps({"skypath_tick": request["skypath_tick"], "turbulence": []}).encode(), None)

    def do_GET(self):
        if Upstream.snapshots:
            return self.answer(Upstream.snapshots.pop(0)(), "traffic")
        self.answer(json.dumps({"time": int(time.time()), "states": None}).encode(), None)


def record(place, altitude, severity, observed, tick):
    return {"hex_id": cell(place), "skypath_alt": 20 + altitude, "sev": severity, "ts": observed, "tick": tick}


def whole(count, chance):
    now, tick = int(time.time()), int(time.time()) // 60
    rows = [
        record(
            number // ALTITUDES, number % ALTITUDES, chance.choice([0, 0, 0, 1, 2, 3]),
            now - chance.randrange(60, 6000), tick,
        )
        for number in range(count)
    ]
    return json.dumps({"skypath_tick": tick, "turbulence": rows}, separators=(",", ":")).encode()


def delta(count, chance, places, altitude):
    """All at a level of its own, so that a tile of that level is empty before it."""
    now, tick = int(time.time()), int(time.time()) // 60
    rows = [
        record(place, altitude, 4, now - chance.randrange(1, 30), tick) for place in chance.sample(range(places), count)
    ]
    return json.dumps({"skypath_tick": tick, "turbulence": rows}, separators=(",", ":")).encode()


def snapshot(count, chance):
    now = int(time.time())
    rows = [
        [f"{0x400000 + number:06x}", f"TEST{number % 9999:04d}", "Nowhere", now - chance.randrange(10), now,
         round(chance.uniform(-180, 180), 4), round(chance.uniform(-70, 70), 4), 10668.0, False, 230.5, 90.0, 0.0, None,
         10800.0, "1000", False, 0, 4]
        for number in range(count)
    ]
    return json.dumps({"time": now, "states": rows}, separators=(",", ":")).encode()


class Server:
    def __init__(self, billow, folder, sources):
        settings = Path(folder) / "settings.yaml"
        settings.write_text(sources)
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [
                billow, "serve", "--port", "0", "--database", str(Path(folder) / "sync.sqlite"), "--config",
                str(settings),
            ],
            stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if "Billow is at http://127.0.0.1:" in line:
                self.port = int(line.split("http://127.0.0.1:")[1].split("/")[0])
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)

    def get(self, path):
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        return answer.headers.get("ETag"), answer.read()

    def when(self, happened):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            if happened():
                return time.monotonic()
            time.sleep(LOOK_SECONDS)
        raise SystemExit("not within the time")

    def processor(self):
        """Seconds of processor time so far: on a busy machine, what counts."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return round(int(line.split()[1]) / 1024)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("billow")
    parser.add_argument("--observations", type=int, default=1_000_000)
    parser.add_argument("--delta", type=int, default=10_000)
    parser.add_argument("--aircraft", type=int, default=12_000)
    parser.add_argument("--rounds", type=int, default=5)
    order = parser.parse_args()
    chance = random.Random(7)
    upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{upstream.server_address[1]}"

    Upstream.whole = whole(order.observations, chance)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(
            order.billow, folder,
            f"sources:\n  - {{ id: s, kind: skypath, baseURL: \"{address}\", apiKey: k, api: v4, update: PT3S, "
            "simulated: true }\n")
        server.when(lambda: json.loads(server.get("/status")[1])["liveObservations"] >= order.observations)
        served = server.when(lambda: server.get("/tiles/hexagons/latest/2/1/1.png")[0])
        print(json.dumps({
            "whole": order.observations, "seconds": round(served - server.began, 2),
            "afterLastByte": round(served - Upstream.sent["whole"], 2), "bodyMB": round(len(Upstream.whole) / 1e6),
            "processorSeconds": round(server.processor(), 2), "residentMB": server.resident()}), flush=True)
        Upstream.whole = b""
        server.when(lambda: "lastSuccess" in json.loads(server.get("/status")[1])["sources"][0])
        for number in range(order.rounds):
            altitude = ALTITUDES + number
            feet = (20 + altitude) * 1_000
            path = f"/tiles/hexagons/latest/0/0/0.png?minAltitude={feet}&maxAltitude={feet + 1_000}"
            before = server.get(path)[0]
            Upstream.sent.pop("delta", None)
            spent = server.processor()
            Upstream.deltas.append(delta(order.delta, chance, order.observations // ALTITUDES, altitude))
            seen = server.when(lambda: server.get(path)[0] != before)
            print(json.dumps({
                "delta": order.delta, "secondsAfterLastByte": round(seen - Upstream.sent["delta"], 3),
                "processorSeconds": round(server.processor() - spent, 2), "residentMB": server.resident()}), flush=True)
            time.sleep(1)
        server.stop()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(
            order.billow, folder,
            f"sources:\n  - {{ id: o, kind: opensky, baseURL: \"{address}\", update: PT2S, simulated: true }}\n")
        path = "/tiles/traffic/latest/0/0/0.png"
        for _ in range(order.rounds):
            before = server.get(path)[0]
            Upstream.sent.pop("traffic", None)
            spent = server.processor()
            Upstream.snapshots.append(lambda: snapshot(order.aircraft, chance))
            server.when(lambda: "traffic" in Upstream.sent)
            seen = server.when(lambda: server.get(path)[0] != before)
            print(json.dumps({
                "traffic": order.aircraft, "secondsAfterLastByte": round(seen - Upstream.sent["traffic"], 3),
                "processorSeconds": round(server.processor() - spent, 2)}), flush=True)
            time.sleep(1)
        server.stop()


if __name__ == "__main__":
    main()
