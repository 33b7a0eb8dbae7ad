#!/usr/bin/env python3
"""Tiles over HTTP beside their peers: cold ones beside a Mapnik process on every processor, warm ones beside nginx with
the same bytes as files.

Usage: Benchmarks/overhttp.py [--billow bin/billow] [--observations 200000] [--tiles 400] [--rounds 3] [--seconds 5]
    [--folder Benchmarks/.build/overhttp]

Needs wrk and nginx (`Scripts/setup bench`), ogr2ogr (Debian's gdal-bin) and Mapnik in Benchmarks/.build/venv, where
`Benchmarks/run http` puts it. Clients run on the same processors as the servers.

- **Cold**: so many tiles of each zoom from 5 to 9, mixed, by 16 connections. Another hundredth of opacity each time
  gives the pixels other colours, so no picture is painted already. Mapnik draws the same hexagons in the same style
  from a shapefile with an index, and encodes `png8`; its processes take tiles from one list. Zoom 4 is left out: Billow
  draws parents there.
- **Warm**: the newest frames of a timeline under addresses with a version, 20 tiles of each, so that no client keeps
  one; wrk goes through them in turn. The same with `If-None-Match`,
  which 304 answers. wrk can't measure HEAD, because it waits for a body.
"""
import argparse
import http.client
import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

from harness import HOST, heading, quantile, row, ticks, tile, wait_ready, write_world

PORT, NGINX_PORT = 18484, 18485
ZOOMS = range(5, 10)
STYLE = "skypath"

# Goes through its part of a list in turns. `%P` in a path is the number of the turn, from the given one on. A line may
# have a tab and the tag of what the client has.
WRK = """
local paths, tags, at, step, turn = {}, {}, 0, 1, %d
for line in io.lines("%s") do
  local path, tag = line:match("([^\t]*)\t?(.*)")
  paths[#paths + 1] = path
  tags[#paths] = tag ~= "" and { ["If-None-Match"] = tag } or nil
end
local threads = 0
function setup(thread) thread:set("first", threads) threads = threads + 1 end
function init() step = %d at = first + 1 - step end
function request()
  at = at + step
  if at > #paths then at = (at - 1) %% step + 1 turn = turn + 1 end
  return wrk.format("GET", (paths[at]:gsub("%%%%P", turn)), tags[at])
end
function response(status)
  if status ~= 200 and status ~= 204 and status ~= 304 then io.stderr:write("status " .. status .. "\\n") end
end
function done(summary, latency)
  io.write(string.format("RESULT %%d %%f %%f %%f\\n", summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
"""


def wrk(port, paths, folder, connections, seconds, turn=0):
    """The number of answers, answers a second, and the median and p99 in ms. A path may be followed by a tab and the
    tag of what the client has."""
    threads = min(2, connections)
    (folder / "paths.txt").write_text("\n".join(paths) + "\n")
    (folder / "turns.lua").write_text(WRK % (turn, folder / "paths.txt", threads))
    out = subprocess.run(
        ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "-s", str(folder / "turns.lua"),
         f"http://{HOST}:{port}"], capture_output=True, text=True, check=True)
    if "status" in out.stderr:
        sys.exit(out.stderr[:500])
    requests, duration, median, p99 = out.stdout.split("RESULT")[1].split()
    return int(requests), int(requests) / float(duration), float(median), float(p99)


def answer_of(port, path):
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    connection.request("GET", path)
    return connection.getresponse()


def tag(port, path):
    """The entity tag of an answer."""
    return answer_of(port, path).getheader("ETag")


def get(path):
    answer = answer_of(PORT, path)
    body = answer.read()
    if answer.status not in (200, 204):
        sys.exit(f"{answer.status} {path}: {body[:200]}")
    return body


def places(hubs, count):
    """Tiles of each zoom around hubs: more where there is more data."""
    source, found = random.Random(3), []
    for zoom in ZOOMS:
        tiles = {}
        while len(tiles) < count:
            x, y = source.choice(hubs)
            tiles[(zoom, *tile(zoom, x + source.gauss(0, 8), max(-80, min(80, y + source.gauss(0, 6)))))] = True
            if zoom == 5 and len(tiles) >= 250:
                break
        found += tiles
    source.shuffle(found)
    return found


# MARK: Mapnik

MAPNIK = """
import json, sys, time
sys.path.insert(0, %r)
from compare import make_map, mapnik_tile, style_xml
drawn = make_map(%r, style_xml(json.load(open(%r))))
tiles = json.load(open(%r))
number, of = int(sys.argv[1]), int(sys.argv[2])
mapnik_tile(drawn, *tiles[0])
print("ready", flush=True)
sys.stdin.readline()
start = time.process_time()
for tile in tiles[number::of]: mapnik_tile(drawn, *tile)
print(time.process_time() - start, flush=True)
"""


def mapnik_rate(python, script, folder, tiles):
    """Tiles a second by a process on every processor, and processor milliseconds a tile."""
    count = os.cpu_count() or 1
    processes = [
        subprocess.Popen([python, "-c", script, str(number), str(count)], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True, cwd=folder) for number in range(count)]
    for process in processes:
        if process.stdout.readline() != "ready\n":
            sys.exit("Mapnik did not start")
    start = time.perf_counter()
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    used = sum(float(process.stdout.readline()) for process in processes)
    took = time.perf_counter() - start
    for process in processes:
        process.wait()
    return len(tiles) / took, 1000 * used / len(tiles)


def mapnik_script(options, folder, tiles):
    lines, shapes = folder / "hexagons.geojsonl", folder / "hexagons.shp"
    subprocess.run([options.billow, "export", "hexagons", "--hours", "6", "--database", str(folder / "world.sqlite"),
                    "-o", str(lines)], check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["ogr2ogr", "-f", "ESRI Shapefile", "-select", "severity", "-t_srs", "EPSG:3857",
                    "-lco", "ENCODING=UTF-8", str(shapes), "GeoJSONSeq:" + str(lines)], check=True,
                   stderr=subprocess.DEVNULL)
    root = subprocess.run([options.python, "-c", "import mapnik, os; print(os.path.dirname(mapnik.__file__))"],
                          check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run([f"{root}/bin/shapeindex", str(shapes)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env={**os.environ, "LD_LIBRARY_PATH": f"{root}/lib"})
    (folder / "tiles.json").write_text(json.dumps(tiles))
    here = Path(__file__).resolve().parent
    return MAPNIK % (str(here), str(shapes), str(here.parent / "Styles" / f"{STYLE}.json"), str(folder / "tiles.json"))


# MARK: Parts


def cold(options, folder, hubs, process):
    tiles = places(hubs, options.tiles)
    script = mapnik_script(options, folder, tiles)
    print(f"{len(tiles)} cold tiles of zooms 5 to 9, 16 connections; a Mapnik process on each of {os.cpu_count()} "
          "processors:\n")
    heading("round", "Billow/s", "median ms", "p99 ms", "processor ms a tile", "Mapnik/s", "processor ms a tile",
            "ratio")
    for number in range(1, options.rounds + 1):
        paths = [f"/tiles/hexagons/latest/{z}/{x}/{y}.png?hours=6&opacity=0.%P" for z, x, y in tiles]
        before = ticks(process)
        count, rate, median, p99 = wrk(PORT, paths, folder, 16, options.seconds, turn=20 + 25 * (number - 1))
        if count > 25 * len(tiles):
            sys.exit("pictures of this round were asked for twice: --seconds must be less, or --tiles more")
        used = 1000 * (ticks(process) - before) / count
        theirs, theirs_used = mapnik_rate(options.python, script, folder, tiles)
        row(number, f"{rate:,.0f}", f"{median:.2f}", f"{p99:.1f}", f"{used:.2f}", f"{theirs:,.0f}",
            f"{theirs_used:.2f}", f"{rate / theirs:.1f}")


def warm(options, folder):
    manifest = json.loads(get("/timeline.json?intervals=24"))
    frames = next([frame["tiles"] for frame in layer["frames"]] for layer in manifest["layers"]
                  if layer["id"] == "hexagons")
    www = folder / "www"
    ours, theirs = [], []
    for number, frame in enumerate(frames):
        for x, y in [(x, y) for x in range(14, 19) for y in range(22, 26)]:
            address = frame.replace("{z}", "6").replace("{x}", str(x)).replace("{y}", str(y))
            file = www / f"{number}-{x}-{y}.png"
            file.parent.mkdir(exist_ok=True)
            ours.append("/" + address.split("/", 3)[3])
            theirs.append("/" + file.name)
            file.write_bytes(get(ours[-1]))
    (folder / "nginx.conf").write_text(
        f"worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/error.log; daemon off; user root;"
        f"events {{ worker_connections 2048; }} http {{ access_log off; sendfile on; tcp_nopush on; "
        f"keepalive_requests 1000000; open_file_cache max=1000; types {{ image/png png; }} "
        f"server {{ listen {HOST}:{NGINX_PORT}; root {www}; add_header Cache-Control 'public, max-age=31536000'; }} }}")
    nginx = subprocess.Popen(["nginx", "-c", str(folder / "nginx.conf")], stderr=subprocess.DEVNULL)
    try:
        time.sleep(1)
        size = sum(file.stat().st_size for file in www.iterdir()) // len(ours)
        print(f"\n{len(ours)} warm tiles in turn, mean {size} bytes, {options.seconds} s each, the median of "
              f"{options.rounds} rounds:\n")
        beside_nginx(options, folder, ours, theirs)
        print("\nThe same by clients that have them:\n")
        beside_nginx(options, folder, *([f"{path}\t{tag(port, path)}" for path in paths]
                                        for port, paths in ((PORT, ours), (NGINX_PORT, theirs))))
    finally:
        nginx.terminate()
        nginx.wait()


def beside_nginx(options, folder, ours, theirs):
    """Prints a table of requests for both lists of paths, in turns."""
    heading("connections", "Billow/s", "p99 ms", "nginx/s", "p99 ms", "ratio")
    for connections in (1, 16, 64, 256):
        mine, other = [], []
        for _ in range(options.rounds):
            mine.append(wrk(PORT, ours, folder, connections, options.seconds))
            other.append(wrk(NGINX_PORT, theirs, folder, connections, options.seconds))
        rate, their_rate = (quantile([rate for _, rate, *_ in found], 0.5) for found in (mine, other))
        row(connections, f"{rate:,.0f}", f"{quantile([p for *_, p in mine], .5):.1f}", f"{their_rate:,.0f}",
            f"{quantile([p for *_, p in other], .5):.1f}", f"{rate / their_rate:.2f}")


def main():
    parser = argparse.ArgumentParser(prog="overhttp.py", description=__doc__.split("\n")[0])
    parser.add_argument("--billow", default="bin/billow")
    parser.add_argument("--python", default="Benchmarks/.build/venv/bin/python", help="a Python that has mapnik")
    parser.add_argument("--observations", type=int, default=200_000)
    parser.add_argument("--tiles", type=int, default=400)
    parser.add_argument("--rounds", type=int, choices=range(1, 4), default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--folder", default="Benchmarks/.build/overhttp")
    options = parser.parse_args()
    options.python = str(Path(options.python).absolute())
    for tool in ("wrk", "nginx", "ogr2ogr"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is missing: Scripts/setup bench")
    folder = Path(options.folder).absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hubs = write_world(folder / "world.csv", options.observations)
    database = str(folder / "world.sqlite")
    subprocess.run([options.billow, "import", "--database", database, str(folder / "world.csv")], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(folder / "serve.log", "w") as log:
        server = subprocess.Popen(
            [options.billow, "serve", "--database", database, "--port", str(PORT)], stdout=log, stderr=log)
    try:
        wait_ready(PORT)
        cold(options, folder, hubs, server.pid)
        warm(options, folder)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
