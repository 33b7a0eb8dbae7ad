#!/usr/bin/env python3
"""Features beside their peers, and the OGC services beside the plain tile: all over HTTP, in turns.

Usage: Benchmarks/features.py [--billow bin/billow] [--observations 200000] [--rounds 3] [--seconds 2]
    [--package 1000000] [--parts pages,pictures,package] [--folder Benchmarks/.build/features]

Needs wrk, PostGIS and ogr2ogr (`Scripts/setup bench`). pygeoapi and tipg are in Benchmarks/.build/peers, where
`Benchmarks/run features` puts them. Clients run on the same processors as the servers.

- **pages**: pages of 1,000 observations. `in order` goes through the collection as a client does, from another feature
  on each time; `in a box` asks for another box each time. So no server has a page already. The peers read the same
  features, with the same properties, from one PostGIS; each has two processes. Before the times, all three must give
  the same ids for a box that has fewer than a page.
- **pictures**: the tile of 256 px by its own address and by WMTS, and of 512 px by its own address and by GetMap of
  WMS. Cold, another hundredth of opacity gives each picture colours of its own; all places were drawn before by another
  opacity. Both ways take turns, place by place, on one connection; then 16 connections.
- **package**: `billow export` of so many observations as a GeoPackage, into memory where there is room.
"""
import argparse
import concurrent.futures
import csv
import http.client
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

from harness import HOST, HUBS, Client, heading, measured, quantile, row, tile, wait_ready, write_world
from overhttp import wrk

PORT, POSTGRES_PORT, PYGEOAPI_PORT, TIPG_PORT = 18486, 18487, 18488, 18489
EDGE = 20037508.342789244
PAGE = 1_000
PROCESSES = 2


# MARK: Servers


def started(command, log, **settings):
    with open(log, "w") as file:
        return subprocess.Popen([str(part) for part in command], stdout=file, stderr=file, **settings)


def wait_for(url, process, log):
    for _ in range(300):
        try:
            with urlopen(url, timeout=30) as answer:
                return answer.read()
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.2)
    sys.exit(f"no answer of {url}: {Path(log).read_text()[-1500:]}")


class PostGIS:
    """A cluster of its own. The server refuses to be run by root, so root runs it as `postgres`."""

    def __init__(self):
        self.programs = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        self.folder = Path(tempfile.mkdtemp(prefix="billow-postgis-"))
        self.before = []
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
            self.before = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        self.run("initdb", "-D", self.folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.run("pg_ctl", "-D", self.folder / "data", "-l", self.folder / "log", "-w", "start", "-o",
                 f"-p {POSTGRES_PORT} -h {HOST} -k {self.folder} -c shared_buffers=512MB -c work_mem=64MB "
                 "-c fsync=off -c max_connections=50")
        self.sql("postgres", "CREATE DATABASE world")
        self.sql("world", "CREATE EXTENSION postgis")

    def run(self, program, *arguments):
        subprocess.run([*self.before, str(self.programs / program), *map(str, arguments)], check=True,
                       stdout=subprocess.DEVNULL, cwd="/")

    def sql(self, database, *statements):
        for statement in statements:
            self.run("psql", "-q", "-h", HOST, "-p", POSTGRES_PORT, "-U", "postgres", "-d", database, "-v",
                     "ON_ERROR_STOP=1", "-c", statement)

    def load(self, lines):
        """Takes in the features that Billow wrote: the same ids, properties and places."""
        subprocess.run(
            ["ogr2ogr", "-f", "PostgreSQL", f"PG:host={HOST} port={POSTGRES_PORT} user=postgres dbname=world",
             f"GeoJSONSeq:{lines}", "-nln", "observations", "-lco", "GEOMETRY_NAME=geom", "-lco", "FID=number",
             "-lco", "LAUNDER=NO", "--config", "PG_USE_COPY", "YES"], check=True, stderr=subprocess.DEVNULL)
        self.sql("world", "CREATE UNIQUE INDEX ON observations (id)", "VACUUM ANALYZE observations")

    def end(self):
        try:
            self.run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


PYGEOAPI = f"""
server:
  bind: {{host: {HOST}, port: {PYGEOAPI_PORT}}}
  url: http://{HOST}:{PYGEOAPI_PORT}
  mimetype: application/json; charset=UTF-8
  encoding: utf-8
  languages: [en-US]
  limits: {{default_items: 10, max_items: 10000}}
  map: {{url: "http://{HOST}/", attribution: none}}
logging: {{level: ERROR}}
metadata:
  identification:
    title: world
    description: world
    keywords: [world]
    keywords_type: theme
    terms_of_service: none
    url: http://{HOST}
  license: {{name: none, url: "http://{HOST}"}}
  provider: {{name: none, url: "http://{HOST}"}}
  contact: {{name: none}}
resources:
  observations:
    type: collection
    title: observations
    description: observations
    keywords: [world]
    links: []
    extents: {{spatial: {{bbox: [-180, -90, 180, 90], crs: "http://www.opengis.net/def/crs/OGC/1.3/CRS84"}}}}
    providers:
      - type: feature
        name: PostgreSQL
        data: {{host: {HOST}, port: {POSTGRES_PORT}, dbname: world, user: postgres, password: none,
                search_path: [public]}}
        id_field: id
        table: observations
        geom_field: geom
"""


def pygeoapi(folder, venv):
    (folder / "pygeoapi.yml").write_text(PYGEOAPI)
    environment = {**os.environ, "PYGEOAPI_CONFIG": str(folder / "pygeoapi.yml"),
                   "PYGEOAPI_OPENAPI": str(folder / "openapi.yml")}
    with open(folder / "openapi.yml", "w") as file:
        subprocess.run([str(venv / "bin/pygeoapi"), "openapi", "generate", str(folder / "pygeoapi.yml")], stdout=file,
                       stderr=subprocess.DEVNULL, env=environment, check=True)
    process = started([venv / "bin/gunicorn", "-w", PROCESSES, "-k", "gthread", "--threads", 8, "--keep-alive", 60,
                       "-b", f"{HOST}:{PYGEOAPI_PORT}", "pygeoapi.flask_app:APP"], folder / "pygeoapi.log",
                      env=environment)
    return process, f"http://{HOST}:{PYGEOAPI_PORT}/collections/observations/items?f=json&", folder / "pygeoapi.log"


def tipg(folder, venv):
    environment = {**os.environ, "DATABASE_URL": f"postgresql://postgres@{HOST}:{POSTGRES_PORT}/world",
                   "TIPG_DB_SCHEMAS": '["public"]', "TIPG_CATALOG_TTL": "3600"}
    process = started([venv / "bin/uvicorn", "--workers", PROCESSES, "--host", HOST, "--port", TIPG_PORT,
                       "--log-level", "warning", "--no-access-log", "tipg.main:app"], folder / "tipg.log",
                      env=environment, cwd=folder)
    return process, f"http://{HOST}:{TIPG_PORT}/collections/public.observations/items?f=geojson&", folder / "tipg.log"


# MARK: Pages


def boxes(lines, count):
    """Corners of boxes of 24° × 16° that have several pages. `%P`, the number of the turn, moves a box a little."""
    source, seen = random.Random(5), {}
    with open(lines) as file:
        for number, line in enumerate(csv.reader(file)):
            if number % 10 == 1:
                place = int(float(line[1]) // 2), int(float(line[2]) // 2)
                seen[place] = seen.get(place, 0) + 10
    found = []
    while len(found) < count:
        x, y = source.choice(HUBS)
        west, south = round(x + source.gauss(0, 8) - 12, 2), round(y + source.gauss(0, 6) - 8, 2)
        inside = sum(seen.get((column, line), 0) for column in range(math.ceil(west / 2), int((west + 24) // 2))
                     for line in range(math.ceil(south / 2), int((south + 16) // 2)))
        if -178 < west < 153 and -85 < south < 68 and inside >= 2 * PAGE:
            found.append(f"bbox={west:.2f}%P,{south:.2f},{west + 24:.2f},{south + 16:.2f}")
    return found


def page_of(url):
    with urlopen(url, timeout=60) as answer:
        body = answer.read()
    return json.loads(body)["features"], len(body)


def identifier(feature):
    return feature["properties"].get("id") or feature["id"]


def pages(options, folder, database):
    lines = folder / "observations.geojsonl"
    measured([options.billow, "export", "observations", "--hours", "6", "--database", database, "-o", str(lines)])
    base, processes = PostGIS(), []
    try:
        base.load(lines)
        billow = started([options.billow, "serve", "--database", database, "--port", PORT], folder / "serve.log")
        processes.append(billow)
        wait_ready(PORT)
        servers = {"Billow": (PORT, f"http://{HOST}:{PORT}/collections/observations/items?")}
        for name, start, port in [("pygeoapi", pygeoapi, PYGEOAPI_PORT), ("tipg", tipg, TIPG_PORT)]:
            process, url, log = start(folder, options.peers / name)
            processes.append(process)
            wait_for(f"{url}limit=1", process, log)
            servers[name] = port, url
        same(servers)
        compare_pages(options, boxes(folder / "world.csv", 1_000), servers)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
        base.end()


def same(servers):
    """Every server must give the same features of a small box, and whole pages of a large one."""
    found, sizes = {}, {}
    for name, (_, url) in servers.items():
        # A process of a peer loads much with its first request.
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(page_of, [f"{url}limit=10"] * 24))
        small, _ = page_of(f"{url}limit={PAGE}&bbox=-45.5,-20.5,-44.9,-19.9")
        found[name] = {identifier(feature) for feature in small}
        large, sizes[name] = page_of(f"{url}limit={PAGE}&bbox=-100,30,-80,45")
        if len(large) != PAGE:
            sys.exit(f"{name}: a page of {len(large)} features")
    if len({frozenset(each) for each in found.values()}) != 1 or not 0 < len(found["Billow"]) < PAGE:
        sys.exit(f"different features: { {name: len(each) for name, each in found.items()} }")
    print(f"All give the same {len(found['Billow'])} features of a small box. A page has "
          + ", ".join(f"{size / 1000:.0f} kB ({name})" for name, size in sizes.items()) + ".\n", flush=True)


NEXT = re.compile(rb"/collections/observations/items\?[^\"]*after=[^\"]*")


class Reader:
    """A client with one connection. `pages` takes a function that gives the body of a path, and gives it paths."""

    def __init__(self, port, pages):
        self.connection, self.times = http.client.HTTPConnection(HOST, port, timeout=60), []
        self.paths = pages(self.body)
        self.path = next(self.paths)

    def body(self, path):
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            sys.exit(f"{answer.status} {path}: {body[:200]}")
        return body

    def read(self, until):
        """Reads pages until then. The last one is read to its end, so that slow pages count like fast ones."""
        while time.perf_counter() < until:
            start = time.perf_counter()
            received = self.body(self.path)
            self.times.append((time.perf_counter() - start) * 1000)
            self.path = self.paths.send(received)


def in_order(name, path, first):
    """The pages of a collection, one after the other, from the feature of a number on. Billow names the next page in
    its links; the others count features."""
    def pages(body):
        number = first
        while name != "Billow":
            yield f"{path}limit={PAGE}&offset={number}"
            number += PAGE
        following = NEXT.search(body(f"{path}limit={first}"))
        while True:
            address = following[0].decode() if following else f"{path}limit={PAGE}"
            following = NEXT.search((yield re.sub(r"limit=\d+", f"limit={PAGE}", address)))
    return pages


def in_boxes(places, path, first):
    """Pages of boxes. The number is part of a degree, so that no box is asked for twice."""
    def pages(_):
        for number, place in enumerate(places[first % len(places):] + places[:first % len(places)]):
            yield f"{path}limit={PAGE}&{place.replace('%P', f'{first:06d}{number}')}"
    return pages


def read(port, readers, seconds):
    """Pages a second, and the median and p99 in ms, of some clients side by side."""
    readers = [Reader(port, pages) for pages in readers]
    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(len(readers)) as pool:
        list(pool.map(lambda reader: reader.read(start + seconds), readers))
    took = time.perf_counter() - start
    times = [each for reader in readers for each in reader.times]
    return len(times) / took, quantile(times, 0.5), quantile(times, 0.99)


def compare_pages(options, places, servers):
    heading("pages", "connections", "round",
            *(f"{name} {what}" for name in servers for what in ("per s", "median", "p99")),
            *(f"{name}: {what}" for name in list(servers)[1:] for what in ("rate ÷", "median ×")))
    for kind in ("in order", "in a box"):
        for connections in (1, 16):
            rounds = []
            for number in range(1, options.rounds + 1):
                found = []
                for name, (port, url) in servers.items():
                    path = "/" + url.split("/", 3)[3]
                    firsts = [17 + 53 * client + 7 * number + connections for client in range(connections)]
                    readers = [in_order(name, path, first) if kind == "in order" else in_boxes(places, path, first)
                               for first in firsts]
                    found.append(read(port, readers, options.seconds))
                rounds.append(found)
                print_pages(kind, connections, number, found)
            if options.rounds > 1:
                print_pages(kind, connections, "median", [
                    tuple(quantile([found[at][part] for found in rounds], 0.5) for part in range(3))
                    for at in range(len(servers))])


def print_pages(kind, connections, number, found):
    rate, median, _ = found[0]
    row(kind, connections, number, *(f"{value:,.1f}" for each in found for value in each),
        *(f"{value:.1f}" for each in found[1:] for value in (rate / each[0], each[1] / median)))


# MARK: Pictures

# Each kind of picture has a style of its own, and each run its hundredths of opacity: so no picture is painted already.
TURNS_A_RUN = 8
PICTURE_SECONDS = 1


def pictures(options, folder, database):
    server = started([options.billow, "serve", "--database", database, "--port", PORT], folder / "pictures.log")
    try:
        wait_ready(PORT)
        source, places = random.Random(7), {}
        while len(places) < 1_000:
            (x, y), zoom = source.choice(HUBS), source.choice((6, 7, 8, 9))
            places[(zoom, *tile(zoom, x + source.gauss(0, 6), max(-80, min(80, y + source.gauss(0, 5)))))] = True
        places = list(places)
        client = Client(PORT)
        kinds = [("WMTS 256", "skypath", "", "", wmts), ("WMS 512, a tile", "skypath-web", "", "&size=512", wms),
                 ("the same by DPI 192", "day", "@2x", "", wms_fine),
                 ("WMS 512, between tiles", "night", "", "&size=512", wms_between)]
        heading("picture", "state", "connections", "median ms", "p99", "tile's median ms", "p99", "median ÷ tile's",
                "per s", "tile's", "rate ÷ tile's")
        for name, style, scale, size, address in kinds:
            ours = [address(style, *place) for place in places]
            theirs = [plain(style, *place, scale) + size for place in places]
            # Every place is drawn once both ways, so that outlines and sprites are there.
            for path in ours + theirs:
                client.milliseconds(path.replace("%P", "99"))
            for state in ("cold", "warm"):
                compare_pictures(options, folder, client, (name, state), ours, theirs)
    finally:
        server.terminate()
        server.wait()


def plain(style, z, x, y, scale):
    return f"/tiles/hexagons/latest/{z}/{x}/{y}{scale}.png?style={style}&opacity=0.%P"


def wmts(style, z, x, y):
    return (f"/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=hexagons&STYLE={style}&FORMAT=image/png"
            f"&TILEMATRIXSET=WebMercatorQuad&TILEMATRIX={z}&TILEROW={y}&TILECOL={x}&opacity=0.%P")


def wms(style, z, x, y, more="", shift=0.0):
    side = 2 * EDGE / 2 ** z
    west, north = (x + shift) * side - EDGE, EDGE - (y + shift) * side
    return (f"/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetMap&LAYERS=hexagons&STYLES={style}&CRS=EPSG:3857"
            "&FORMAT=image/png&TRANSPARENT=TRUE&WIDTH=512&HEIGHT=512"
            f"&BBOX={west!r},{north - side!r},{west + side!r},{north!r}{more}&opacity=0.%P")


def wms_fine(style, z, x, y):
    return wms(style, z, x, y, "&DPI=192")


def wms_between(style, z, x, y):
    return wms(style, z, x, y, shift=0.37)


def compare_pictures(options, folder, client, words, ours, theirs):
    """One connection, both ways in turns, place by place; then 16, one way after the other."""
    warm, mine, other = words[1] == "warm", [], []
    for number, (one, another) in enumerate(list(zip(ours, theirs))[:400]):
        # Cold, two addresses of one picture have two opacities: neither finds the other's bytes.
        order = [(mine, one, "97"), (other, another, "97" if warm else "98")]
        for times, path, opacity in order if number % 2 else reversed(order):
            path = path.replace("%P", opacity)
            if warm:
                client.milliseconds(path)
            times.append(client.milliseconds(path)[0])
    row(*words, 1, *(f"{quantile(times, share):.2f}" for times in (mine, other) for share in (0.5, 0.99)),
        f"{quantile(mine, 0.5) / quantile(other, 0.5):.2f}", "", "", "")
    rounds = []
    for number in range(min(2, options.rounds)):
        found = {}
        for at, paths in ((0, ours), (1, theirs)) if number % 2 else ((1, theirs), (0, ours)):
            if warm:
                paths = [path.replace("%P", "97") for path in paths[:40]]
            first = 20 + TURNS_A_RUN * (2 * number + at)
            found[at] = wrk(PORT, paths, folder, 16, PICTURE_SECONDS, turn=first)
            if not warm and found[at][0] > TURNS_A_RUN * len(paths):
                sys.exit("pictures of this run were asked for twice: it needs more places")
        rounds.append(found)
    (_, rate, median, p99), (_, tiles, tile_median, tile_p99) = (
        [quantile([found[at][part] for found in rounds], 0.5) for part in range(4)] for at in (0, 1))
    row(*words, 16, f"{median:.2f}", f"{p99:.2f}", f"{tile_median:.2f}", f"{tile_p99:.2f}",
        f"{median / tile_median:.2f}", f"{rate:,.0f}", f"{tiles:,.0f}", f"{rate / tiles:.2f}")


# MARK: Package


def package(options, folder):
    write_world(folder / "large.csv", options.package)
    database = str(folder / "large.sqlite")
    took = measured([options.billow, "import", "--database", database, str(folder / "large.csv")])
    print(f"\n{options.package} observations, imported in {took.wall:.1f} s; as a GeoPackage:\n")
    heading("round", "seconds", "of a processor", "MB of memory", "MB of file", "features")
    files = Path("/dev/shm") if shutil.disk_usage("/dev/shm").free > 2 << 30 else folder
    with tempfile.TemporaryDirectory(dir=files) as place:
        for number in range(1, min(2, options.rounds) + 1):
            file = Path(place, f"{number}.gpkg")
            took = measured([options.billow, "export", "observations", "--hours", "6", "--database", database, "-o",
                             str(file)])
            said = subprocess.run(["ogrinfo", "-ro", "-so", str(file), "observations"], check=True,
                                  capture_output=True, text=True).stdout
            count = said.split("Feature Count: ")[1].split()[0]
            row(number, f"{took.wall:.2f}", f"{took.processor:.2f}", f"{took.memory:.0f}",
                f"{file.stat().st_size / 1e6:.0f}", count)
            file.unlink()


def main():
    parser = argparse.ArgumentParser(prog="features.py", description=__doc__.split("\n")[0])
    parser.add_argument("--billow", default="bin/billow")
    parser.add_argument("--peers", default="Benchmarks/.build/peers", help="environments that have pygeoapi and tipg")
    parser.add_argument("--observations", type=int, default=200_000)
    parser.add_argument("--package", type=int, default=1_000_000)
    parser.add_argument("--parts", default="pages,pictures,package")
    parser.add_argument("--rounds", type=int, choices=range(1, 5), default=3)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--folder", default="Benchmarks/.build/features")
    options = parser.parse_args()
    for tool in ("wrk", "ogr2ogr"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is missing: Scripts/setup bench")
    options.billow, options.peers = str(Path(options.billow).absolute()), Path(options.peers).absolute()
    folder = Path(options.folder).absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    print(f"load before: {os.getloadavg()[0]:.1f}; {os.cpu_count()} processors; "
          + subprocess.run([options.billow, "--version"], capture_output=True, text=True).stdout.strip() + "\n")
    parts = options.parts.split(",")
    if {"pages", "pictures"} & set(parts):
        write_world(folder / "world.csv", options.observations)
        database = str(folder / "world.sqlite")
        measured([options.billow, "import", "--database", database, str(folder / "world.csv")])
    if "pages" in parts:
        pages(options, folder, database)
        print()
    if "pictures" in parts:
        pictures(options, folder, database)
    if "package" in parts:
        package(options, folder)
    print(f"\nload after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
