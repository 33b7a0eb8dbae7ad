#!/usr/bin/env python3
"""Turbulence fields by a built command: decoding, a whole nowcast to visible tiles, an animation's cold tiles, memory.

Usage: Benchmarks/fields.py [--billow bin/billow] [--every 1] [--days 2] [--only level,nowcast,days,switch]
                            [--folder Benchmarks/.build/fields]

Grids and values are those of `billow simulate --guidance`, in NOAA's packings; the files are made before anything is
measured. `--every 40` takes a small grid, to try the script by a debug build. On two idle processors everything takes
some eight minutes. Printed, a line each:

- level: milliseconds of a processor for a level of a file, by `billow import`: split, checked, decoded, packed, stored.
  Beside it, those of ecCodes' own decoding of the same messages;
- nowcast: seconds from the start of a server to the tile that shows a nowcast of 51 levels with its column, of them of
  a processor, and the slowest of the cached tiles that another client asks for meanwhile;
- days: a server with `--days` days of nowcasts, every 15 minutes, and three runs of forecasts, all at the default
  levels and lead times. Seconds for 24 frames of 24 tiles each that were never drawn, over two connections, after its
  start. The valid times repeat the values of four files. Storing them takes some four minutes;
- profile, contours: of these fields, milliseconds of a first request and of later ones;
- memory: resident MB of a server without any data, and of that one: started, after the tiles, profiles and contours;
- switch: milliseconds for the 24 tiles of a frame of these fields and of 200,000 observations as hexagons, in turns,
  over two connections: never drawn, and again. It needs `days` before it;
- load: how busy the machine was.
"""
import argparse
import datetime
import http.client
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import grib
from harness import HOST, quantile, tile, write_world

# The server's port; the look-alike has the next one.
PORT = int(os.environ.get("BENCHMARK_PORT", 18482))
UPSTREAM_PORT = PORT + 1
ROOT = "/pub/data/nccf/com/"
DEADLINE_SECONDS = 1_800
FRAMES, ZOOM = 24, 5
# Six by four tiles at zoom 5 hold the contiguous United States.
CORNER = (-130, 52)


class Connection:
    def __init__(self, port=PORT):
        self.connection = http.client.HTTPConnection(HOST, port, timeout=600)

    def get(self, path, statuses=(200,)):
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status not in statuses:
            raise RuntimeError(f"{answer.status} {path}: {body[:200]}")
        return body if answer.status == 200 else b""

    def json(self, path, statuses=(200,)):
        body = self.get(path, statuses)
        return json.loads(body) if body else None


def wait(what, found, seconds=0.02):
    """What a function finds, once it finds anything."""
    end = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < end:
        try:
            result = found()
            if result:
                return result
        except OSError:
            pass
        time.sleep(seconds)
    sys.exit(f"not in time: {what}")


class Process:
    """The command with some arguments, until the end of a block."""

    def __init__(self, *arguments, port=PORT):
        self.arguments, self.port = [str(argument) for argument in arguments], port

    def __enter__(self):
        self.start = time.perf_counter()
        self.process = subprocess.Popen(self.arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        path = "/readyz" if self.port == PORT else ROOT
        wait("an answer", lambda: Connection(self.port).get(path, (200, 503)) is not None)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)

    @property
    def megabytes(self):
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024

    @property
    def processor_seconds(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def simulator(options, extent):
    every = ["--guidance-every", options.every] if options.every > 1 else []
    return Process(
        options.billow, "simulate", "--port", UPSTREAM_PORT, "--flights", 1, "--guidance", extent,
        "--guidance-requests", 0, *every, port=UPSTREAM_PORT)


def newest(upstream, product):
    """The paths of the newest two files in the look-alike's directories; the second is whole."""
    paths = [f"{ROOT}{product}/prod/"]
    while not all(path.endswith(".grib2") for path in paths):
        found = []
        for path in paths:
            names = re.findall(r'href="([^"?/][^"]*)"', upstream.get(path).decode())
            found += [path + name for name in names if not name.endswith(".idx")]
        paths = sorted(found)[:-3:-1]
    return paths


def settings(folder, text):
    path = folder / "settings.yaml"
    path.write_text(
        "sources:\n  - { id: noaa, kind: noaa-gtg, update: PT2S, simulated: true, "
        f'baseURL: "http://{HOST}:{UPSTREAM_PORT}", {text} }}\n')
    return path


def level(options, folder):
    """Import takes the combined EDR of each level; of a nowcast that is all there is."""
    for product, extent in (("gtgn", "whole"), ("dafs", "levels")):
        with simulator(options, extent):
            upstream = Connection(UPSTREAM_PORT)
            path = newest(upstream, product)[1]
            parts = [operational(message) for message in messages(upstream.get(path))]
        file = folder / path.rsplit("/", 1)[1]
        file.write_bytes(b"".join(parts))
        count = len(parts)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([options.billow, "import", file, "--database", folder / f"{product}.sqlite"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        grib.decode(bytes(parts[0]))
        alone = sum(grib.milliseconds(bytes(message), 1)[0] for message in parts)
        size = (folder / f"{product}.sqlite").stat().st_size
        print(f"level: {product}, {count} messages of {file.stat().st_size // count:,} bytes: "
              f"{seconds / count * 1e3:.0f} ms of a processor each, of ecCodes alone {alone / count:.0f}; "
              f"{size // count:,} bytes stored", flush=True)


class Watcher(threading.Thread):
    """Asks for a cached tile again and again."""

    path = "/tiles/hexagons/latest/4/3/5.png"

    def __init__(self):
        super().__init__(daemon=True)
        self.times, self.ended = [], threading.Event()

    def run(self):
        connection = Connection()
        connection.get(self.path)
        while not self.ended.wait(0.01):
            start = time.perf_counter()
            connection.get(self.path)
            self.times.append((time.perf_counter() - start) * 1e3)


def nowcast(options, folder):
    x, y = tile(ZOOM, -98, 39)
    with simulator(options, "whole"):
        upstream = Connection(UPSTREAM_PORT)
        for path in newest(upstream, "gtgn"):
            upstream.get(path)
        file = settings(folder, "products: [gtgn], levels: [all]")
        with Process(
                options.billow, "serve", "--port", PORT, "--database", folder / "nowcast.sqlite", "--config",
                file) as server:
            watcher, client = Watcher(), Connection()
            watcher.start()
            place = "/collections/gtg/position?coords=POINT(-98%2039)"
            wait("all levels", lambda: len((client.json(place, (200, 404)) or {"features": []})["features"]) == 52)
            client.get(f"/tiles/gtg/latest/{ZOOM}/{x}/{y}.png")
            took, processor = time.perf_counter() - server.start, server.processor_seconds
            watcher.ended.set()
            watcher.join()
            print(f"nowcast: 51 levels visible after {took:.1f} s, {processor:.1f} s of processors; meanwhile "
                  f"{len(watcher.times)} cached tiles: median {quantile(watcher.times, .5):.1f} ms, "
                  f"99 % {quantile(watcher.times, .99):.1f} ms, longest {max(watcher.times):.1f} ms; "
                  f"resident {server.megabytes:.0f} MB", flush=True)


def frames(client, layer="gtg", end="%2B18h"):
    layer = client.json(f"/timeline.json?layers={layer}&start=-2h&end={end}&intervals=60")["layers"][0]
    return [re.sub(r"^https?://[^/]+", "", frame["tiles"]) for frame in layer["frames"]]


def empty_megabytes(options, folder):
    """Of a server without any data."""
    with Process(options.billow, "serve", "--port", PORT, "--database", folder / "empty.sqlite") as server:
        time.sleep(2)
        return server.megabytes


def tiles(template):
    """The paths of the 24 tiles of a frame."""
    left, top = tile(ZOOM, *CORNER)
    return [template.replace("{z}", str(ZOOM)).replace("{x}", str(left + x)).replace("{y}", str(top + y))
            for y in range(4) for x in range(6)]


def cold_tiles(server, shown):
    """Asks for the tiles of some frames over two connections; how long that took, in words."""
    before, start = server.processor_seconds, time.perf_counter()
    times = ask_all([path for template in shown for path in tiles(template)])
    took = time.perf_counter() - start
    return (f"{len(shown)} frames of 24 cold tiles in {took:.2f} s, "
            f"{server.processor_seconds - before:.2f} s of processors; a tile: median {quantile(times, .5):.1f} ms, "
            f"99 % {quantile(times, .99):.1f} ms, longest {max(times):.1f} ms")


def ask_all(paths):
    """The milliseconds of each answer, over two connections."""
    times = []

    def ask(part):
        connection = Connection()
        for path in part:
            start = time.perf_counter()
            connection.get(path)
            times.append((time.perf_counter() - start) * 1e3)

    threads = [threading.Thread(target=ask, args=(paths[number::2],)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(times) != len(paths):
        sys.exit("a tile failed")
    return times


def messages(file):
    """The GRIB2 messages of a file, by their lengths."""
    while file:
        length = int.from_bytes(file[8:16], "big")
        yield bytearray(file[:length])
        file = file[length:]


def operational(message):
    """The message without the simulator's mark, which only a simulated database takes (section 1, octet 20)."""
    message[35] = 0
    return message


def retimed(message, run, lead):
    """A message of another run and lead time in hours: sections 1 and 4 have them (WMO FM 92 GRIB, edition 2)."""
    moment = datetime.datetime.fromtimestamp(run, datetime.timezone.utc)
    message[28:30] = moment.year.to_bytes(2, "big")
    message[30:35] = bytes([moment.month, moment.day, moment.hour, moment.minute, moment.second])
    place = 16
    while message[place + 4] != 4:
        place += int.from_bytes(message[place:place + 4], "big")
    message[place + 18:place + 22] = lead.to_bytes(4, "big")
    return message


FILES_AT_ONCE = 12
DEFAULT_LEADS = (1, 2, 3, 6, 9, 12, 15, 18)
ROUTE = "route=KJFK+KLAX&speed=450&level=35{n}"


def store_days(options, folder, database):
    with simulator(options, "levels"):
        upstream = Connection(UPSTREAM_PORT)
        path = newest(upstream, "dafs")[1]
        lead = int(re.search(r"f(\d+)\.grib2$", path)[1])
        paths = [path.replace(f"f{lead:03}", f"f{other:03}") for other in range(max(0, lead - 3), lead + 1)]
        kinds = [[operational(message) for message in messages(upstream.get(path))] for path in paths]
    now = int(time.time())
    quarter, hour = now - now % 900, now - now % 3600
    fields = [("gtgn", quarter - 900 * number, 0) for number in range(96 * options.days)]
    fields += [("gtg", hour - 3600 * run, lead) for run in (1, 2, 3) for lead in DEFAULT_LEADS]
    for start in range(0, len(fields), FILES_AT_ONCE):
        files = []
        for number, (product, run, lead) in enumerate(fields[start:start + FILES_AT_ONCE], start):
            files.append(folder / f"{product}.{run}.{lead}.grib2")
            files[-1].write_bytes(b"".join(retimed(message, run, lead) for message in kinds[number % len(kinds)]))
        subprocess.run([options.billow, "import", *files, "--database", database], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for file in files:
            file.unlink()
    return len(fields)


def asked(server, client, path, times=20):
    """Milliseconds of a first request and of later ones, in words."""
    took, used = [], []
    for number in range(times + 1):
        start, before = time.perf_counter(), server.processor_seconds
        # Each has an address of its own: no whole response is cached.
        client.get(path.replace("{n}", str(100 + number)))
        took.append((time.perf_counter() - start) * 1e3)
        used.append((server.processor_seconds - before) * 1e3)
    return (f"first {took[0]:.0f} ms, {used[0]:.0f} of processors; later median {quantile(took[1:], .5):.0f} ms, "
            f"{sum(used[1:]) / times:.0f} of processors")


def days(options, folder):
    database = folder / "days.sqlite"
    rest = empty_megabytes(options, folder)
    count = store_days(options, folder, database)
    size = sum(path.stat().st_size for path in folder.glob(f"{database.name}*")) / 1e6
    with Process(options.billow, "serve", "--port", PORT, "--database", database) as server:
        client = Connection()
        shown = wait("the frames", lambda: frames(client))
        time.sleep(2)
        memory = [("started", server.megabytes)]
        print(f"days: {count} fields, {size:.0f} MB; {cold_tiles(server, shown[:FRAMES])}", flush=True)
        memory.append(("after the tiles", server.megabytes))
        print(f"profile: KJFK to KLAX, JSON: {asked(server, client, f'/profiles.json?{ROUTE}')}")
        print(f"profile: KBOS to KSFO, picture: "
              f"{asked(server, client, '/profiles.png?route=KBOS+KSFO&speed=450&level=37{n}')}", flush=True)
        memory.append(("after profiles", server.megabytes))
        path = "/collections/gtg/items?shape=contours&limit={n}"
        for words, query in (("column", ""), ("FL300 to FL360", "&minAltitude=30000&maxAltitude=36000")):
            print(f"contours: {words}: {asked(server, client, path + query, 5)}", flush=True)
        memory.append(("after contours", server.megabytes))
        words = ", ".join(f"{words} {megabytes:.0f}" for words, megabytes in memory)
        print(f"memory: resident MB without data {rest:.0f}; {words}", flush=True)


def switch(options, folder):
    database, world = folder / "days.sqlite", folder / "world.csv"
    write_world(world, 200_000)
    subprocess.run([options.billow, "import", world, "--database", database], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with Process(options.billow, "serve", "--port", PORT, "--database", database) as server:
        client = Connection()
        wait("the fields", lambda: frames(client))
        wait("the hexagons", lambda: client.json("/collections/hexagons/items?limit=1", (200, 404))["features"])
        # The server makes outlines after its start.
        time.sleep(20)
        shown = {layer: frames(client, layer, end)[:FRAMES] for layer, end in (("gtg", "%2B18h"), ("hexagons", "now"))}
        for words in ("never drawn", "again"):
            times, used = {layer: [] for layer in shown}, dict.fromkeys(shown, 0.0)
            for number in range(FRAMES):
                for layer, templates in shown.items():
                    before, start = server.processor_seconds, time.perf_counter()
                    ask_all(tiles(templates[number % len(templates)]))
                    times[layer].append((time.perf_counter() - start) * 1e3)
                    used[layer] += (server.processor_seconds - before) * 1e3 / FRAMES
            print(f"switch: 24 tiles of a frame, {words}: " + "; ".join(
                f"{layer} median {quantile(times[layer], .5):.0f} ms, longest {max(times[layer]):.0f}, "
                f"{used[layer]:.0f} of processors" for layer in shown), flush=True)


def main():
    parser = argparse.ArgumentParser(prog="fields.py", description=__doc__.split("\n")[0])
    parser.add_argument("--billow", default="bin/billow")
    parser.add_argument("--every", type=int, default=1, help="every so many-th point of the grid")
    parser.add_argument("--days", type=int, default=2, help="days of nowcasts")
    parser.add_argument("--only", default="level,nowcast,days,switch", help="names of parts, with commas")
    parser.add_argument("--folder", default="Benchmarks/.build/fields")
    options = parser.parse_args()
    folder = Path(options.folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    parts = {"level": level, "nowcast": nowcast, "days": days, "switch": switch}
    before, start = os.getloadavg()[0], time.monotonic()
    for name in options.only.split(","):
        parts[name](options, folder)
    print(f"load: {before:.1f} at the start, {os.getloadavg()[0]:.1f} at the end of {time.monotonic() - start:.0f} s, "
          f"{os.cpu_count()} processors")


if __name__ == "__main__":
    main()
