#!/usr/bin/env python3
"""Three servers on one PostgreSQL database behind nginx: what they serve, and what they answer while parts fail.

Usage: Benchmarks/fleet.py [--billow bin/billow] [--short] [--part throughput|faults] [--flights 300] [--seconds 5]
    [--hold 15] [--folder FOLDER]

Needs PostgreSQL 14 or later, nginx (`Scripts/setup test`) and, for the throughput, wrk (`Scripts/setup bench`). It
makes a database cluster of its own in a temporary folder, with fsync on. nginx runs Examples/fleet/nginx.conf; only
addresses, ports and the cache's folder are replaced.

Run as root, each server is in a network namespace of its own: one link leads to the clients and one to the database,
which is cut and restored. Without root nothing is cut, and the output says so.

- **Throughput** with 1, 2 and 3 servers: cold pictures, each drawn for the first time, and pictures that nginx has.
- **Faults**: the server that syncs is killed, another one is killed, the database is restarted and killed, the database
  is cut off from the server that syncs and from another one, and a server is suspended. All the while clients compare
  pictures, features and manifests of the servers, and pictures with features. Others send observations through nginx
  and to each server; a batch that is not acknowledged is sent again.

A wrong answer is one with status 200 that differs from another server's for the same versions. At the end each
acknowledged observation must be in the log once, the versions of no server went back, and `billow check` finds nothing.
The exit status is 1 otherwise. `--short` makes fewer faults, for `make test`.
"""
import argparse
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter, defaultdict
from pathlib import Path

from harness import HOST, HUBS, free_ports, heading, row, tile
from soak import bounds, differences, outline

ROOT = Path(__file__).resolve().parent.parent
SERVERS = 3
# In the namespaces of this run; without them only those of the loopback matter.
CLIENTS, DATABASE = "10.213.0", "10.213.1"
NGINX_PORT, DATABASE_PORT, SIMULATOR_PORT, *SERVER_PORTS = free_ports(3 + SERVERS)
SETTINGS = """
retention: PT12H
staleAfter: PT30S
server: {{ trustedProxies: [{proxy}] }}
sources:
  - {{ id: sky, kind: skypath, baseURL: "http://{simulator}", apiKey: demo, api: v4, update: PT1S, simulated: true,
      allowsPlainHTTP: true, query: {{ types: [turbulence, nowcast], history: 6 }} }}
  - {{ id: awc, kind: aviationweather, baseURL: "http://{simulator}", simulated: true }}
"""


def run(*command, **more):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def until(what, condition, seconds=120):
    """Waits, and gives the time that it took."""
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        if condition():
            return time.monotonic() - start
        time.sleep(0.02)
    raise TimeoutError(f"{what}: not within {seconds} s")


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


def ask(address, path, body=None, key=None, method=None, timeout=60):
    """An answer; its status is 0 where there is none."""
    host, port = address
    connection = http.client.HTTPConnection(host, port, timeout=timeout)
    headers = ({"X-API-Key": key} if key else {}) | ({"Content-Type": "application/json"} if body else {})
    # Links of all servers have one host, so that manifests can be compared.
    headers["Host"] = "fleet.example"
    try:
        connection.request(method or ("POST" if body else "GET"), path, body, headers)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())
    except (OSError, http.client.HTTPException) as error:
        return Answer(0, {}, str(error).encode())
    finally:
        connection.close()


# MARK: Parts


class Network:
    """Links to each server that can be cut; `is_real` is false where they can't be made."""

    def __init__(self):
        self.is_real = os.environ.get("FLEET_NETWORK") == "made"
        if self.is_real:
            run("ip", "link", "set", "lo", "up")
            for name, address in (("clients", CLIENTS), ("database", DATABASE)):
                run("ip", "link", "add", "name", name, "type", "bridge")
                run("ip", "address", "add", f"{address}.1/24", "dev", name)
                run("ip", "link", "set", "dev", name, "up")
            for number in range(SERVERS):
                self.add(number)

    @staticmethod
    def enter():
        """Begins this program again in namespaces of its own, which vanish with it."""
        if os.geteuid() or os.environ.get("FLEET_NETWORK") or not shutil.which("ip"):
            return
        # Names of namespaces lie in /run/netns, which is this run's own.
        probe = ["unshare", "--net", "--mount", "sh", "-c",
                 "mkdir -p /run/netns && mount -t tmpfs none /run/netns && ip netns add inner"
                 " && ip link add name bridge0 type bridge"
                 " && ip link add name outer0 type veth peer name inner0 netns inner"]
        if subprocess.run(probe, capture_output=True).returncode == 0:
            inside = "mount -t tmpfs none /run/netns && exec \"$@\""
            os.execvpe("unshare", ["unshare", "--net", "--mount", "sh", "-c", inside, "fleet", sys.executable,
                                   *sys.argv], os.environ | {"FLEET_NETWORK": "made"})

    def add(self, number):
        name = f"server{number}"
        run("ip", "netns", "add", name)
        run("ip", "-n", name, "link", "set", "lo", "up")
        for bridge, address, short in (("clients", CLIENTS, "client"), ("database", DATABASE, "data")):
            run("ip", "link", "add", "name", f"{short}{number}", "type", "veth", "peer", "name", short, "netns", name)
            run("ip", "link", "set", "dev", f"{short}{number}", "master", bridge, "up")
            run("ip", "-n", name, "address", "add", f"{address}.{10 + number}/24", "dev", short)
            run("ip", "-n", name, "link", "set", "dev", short, "up")

    def within(self, number):
        return ["ip", "netns", "exec", f"server{number}"] if self.is_real else []

    def server(self, number):
        return (f"{CLIENTS}.{10 + number}" if self.is_real else HOST, SERVER_PORTS[number])

    @property
    def here(self):
        """This end of the links to the clients."""
        return f"{CLIENTS}.1" if self.is_real else HOST

    @property
    def database(self):
        return f"{DATABASE}.1" if self.is_real else HOST

    def cut(self, number, is_cut):
        """Packets between a server and the database vanish, without an answer to either side."""
        run("ip", "link", "set", "dev", f"data{number}", "down" if is_cut else "up")


class Database:
    """A cluster of PostgreSQL in a folder."""

    def __init__(self, folder, network):
        versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: int(each.parent.name))
        if not versions:
            sys.exit("PostgreSQL is missing: Scripts/setup test")
        self.programs, self.folder, self.data = versions[-1], folder, folder / "data"
        self.address = f"postgres://billow@{network.database}:{DATABASE_PORT}/postgres"
        self.prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []
        folder.mkdir()
        if self.prefix:
            shutil.chown(folder, "postgres", "postgres")
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "billow", "-E", "UTF8", "--locale=C",
                 "--data-checksums")
        if network.is_real:
            with open(self.data / "pg_hba.conf", "a") as file:
                file.write(f"host all all {DATABASE}.0/24 trust\n")
        self.options = (f"-c listen_addresses={network.database} -p {DATABASE_PORT} -k {folder} "
                        "-c max_connections=200 -c shared_buffers=128MB")
        self.start()

    def run(self, program, *arguments):
        run(*self.prefix, self.programs / program, *arguments, cwd=self.folder)

    def start(self):
        self.run("pg_ctl", "-D", self.data, "-l", self.folder / "log", "-o", self.options, "-w", "start")

    def stop(self, mode):
        """`immediate` is a crash: the next start recovers from the log of writes."""
        self.run("pg_ctl", "-D", self.data, "-m", mode, "-w", "stop")


class Fleet:
    def __init__(self, options, folder):
        self.options, self.folder, self.network = options, folder, Network()
        self.processes, self.children = {}, []
        self.database = Database(folder / "postgresql", self.network)
        self.nginx = None
        billow = options.billow
        self.spawn("simulator", [billow, "simulate", "--host", "0.0.0.0" if self.network.is_real else HOST, "--port",
                                 str(SIMULATOR_PORT), "--flights", str(options.flights), "--guidance", "none"])
        until("the simulator", lambda: ask((HOST, SIMULATOR_PORT), "/_simulator/fault?name=none",
                                           method="POST").status == 200)
        (folder / "billow.yaml").write_text(SETTINGS.format(
            simulator=f"{self.network.here}:{SIMULATOR_PORT}", proxy=self.network.here))
        self.key = run(billow, "keys", "create", "--scope", "ingest,admin", "--database",
                       self.database.address).strip()

    def spawn(self, name, command, within=()):
        log = open(self.folder / f"{name}.log", "ab")
        process = subprocess.Popen([*within, *map(str, command)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   cwd=ROOT)
        self.children.append(process)
        return process

    def server(self, number):
        """Starts a server."""
        host, port = self.network.server(number)
        self.processes[number] = self.spawn(
            f"server{number}", [self.options.billow, "serve", "--host", host, "--port", port, "--database",
                                self.database.address, "--config", self.folder / "billow.yaml"],
            self.network.within(number))

    def ask(self, number, path, *more, **named):
        return ask(self.network.server(number), path, *more, **named)

    def status(self, number):
        """Without a key, because a server without its database waits before it says that it can't read keys."""
        answer = self.ask(number, "/status", timeout=10)
        return answer.json if answer.status == 200 else None

    def is_ready(self, number):
        if self.processes[number].poll() is not None:
            sys.exit(f"server {number} ended: {self.folder}/server{number}.log")
        return self.ask(number, "/readyz", timeout=10).status == 200

    def is_leading(self, number):
        status = self.status(number)
        return bool(status and status["fleet"]["syncs"])

    def balance(self, count):
        """nginx over so many servers, with the configuration of the example."""
        if self.nginx:
            self.nginx.terminate()
            self.nginx.wait()
        text = (ROOT / "Examples/fleet/nginx.conf").read_text()
        text, upstreams = re.subn(
            r"( *)server server:8080(.*;)",
            lambda found: "\n".join("{}server {}:{}{}".format(found[1], *self.network.server(number), found[2])
                                    for number in range(count)), text)
        text, caches = re.subn("/var/cache/nginx", str(self.folder / "cache"), text)
        text, listeners = re.subn("listen 80;", f"listen {HOST}:{NGINX_PORT};", text)
        assert (upstreams, caches, listeners) == (3, 1, 1), "Examples/fleet/nginx.conf has another form"
        user = "user root;" if os.geteuid() == 0 else ""
        (self.folder / "nginx.conf").write_text(
            f"daemon off; {user} pid {self.folder}/nginx.pid; error_log {self.folder}/nginx.log; worker_processes 2;\n"
            f"events {{ worker_connections 2048; }}\nhttp {{ access_log off; keepalive_requests 1000000;\n"
            + "".join(f"{name}_temp_path {self.folder}/{name};\n"
                      for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")) + text + "}\n")
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        self.nginx = self.spawn("nginx", ["nginx", "-c", self.folder / "nginx.conf"])
        until("nginx", lambda: ask((HOST, NGINX_PORT), "/healthz").status == 200)

    def end(self):
        for process in reversed(self.children):
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in self.children:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        try:
            self.database.stop("fast")
        except SystemExit:
            pass  # It is down already.


def stamp(offset):
    """An instant so many seconds from now."""
    return time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime(time.time() + offset))


def path_of(address, zoom, place):
    """The path of a tile."""
    x, y = tile(zoom, *place)
    address = address.replace("{z}", str(zoom)).replace("{x}", str(x)).replace("{y}", str(y))
    return address[address.index("/", 8):], (zoom, x, y)


# MARK: Throughput


def throughput(fleet):
    from overhttp import wrk  # Only here, because a short run needs no wrk.
    options = fleet.options
    print(f"\n{os.cpu_count()} processors, which the clients (wrk, 32 connections), nginx, PostgreSQL, the simulator "
          f"and all servers share. {options.seconds} s each, through nginx:\n")
    heading("servers", "cold pictures/s", "median ms", "p99 ms", "pictures of nginx's cache/s", "median ms", "p99 ms",
            "servers drew", "MB resident each")
    for count in range(1, SERVERS + 1):
        fleet.server(count - 1)
        until("a server", lambda: fleet.is_ready(count - 1))
        until("data", lambda: fleet.status(count - 1)["liveObservations"] > 1_000)
        fleet.balance(count)
        time.sleep(3)
        # Pictures of one opacity are other pictures than those of another. Frames of the last hour may still change.
        span = f"&start={stamp(-6 * 3600)}&end={stamp(-3600)}&intervals=31"
        paths = []
        for opacity in range(100 * count, 100 * count + 30):
            manifest = fleet.ask(0, f"/timeline.json?layers=hexagons{span}&opacity=0.{opacity}").json
            paths += ["/" + frame["tiles"].split("/", 3)[3].replace("{z}", "6").replace("{x}", str(x))
                      .replace("{y}", str(y)) for frame in manifest["layers"][0]["frames"]
                      for x in range(14, 22) for y in range(22, 28)]
        random.Random(count).shuffle(paths)
        before = [drawn(fleet, number) for number in range(count)]
        number_of, rate, median, p99 = wrk(NGINX_PORT, paths, fleet.folder, 32, options.seconds)
        if number_of > len(paths):
            sys.exit("pictures were asked for twice: --seconds must be less")
        shares = [drawn(fleet, number) - before[number] for number in range(count)]
        wrk(NGINX_PORT, paths[:400], fleet.folder, 32, 1)
        _, warm, warm_median, warm99 = wrk(NGINX_PORT, paths[:400], fleet.folder, 32, options.seconds)
        memory = [next(int(line.split()[1]) // 1024 for line in open(f"/proc/{process.pid}/status")
                       if line.startswith("VmRSS")) for process in fleet.processes.values()]
        row(count, f"{rate:,.0f}", f"{median:.1f}", f"{p99:.1f}", f"{warm:,.0f}", f"{warm_median:.1f}",
            f"{warm99:.1f}", " + ".join(f"{share:,.0f}" for share in shares), ", ".join(map(str, memory)))


def drawn(fleet, number):
    """The pictures that a server has drawn."""
    text = fleet.ask(number, "/metrics", key=fleet.key).body.decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
               if line.startswith("billow_render_duration_seconds_count"))


# MARK: Faults


class Faults:
    def __init__(self, fleet):
        self.fleet, self.lock, self.has_ended = fleet, threading.Lock(), False
        self.counts, self.wrong, self.failures = Counter(), [], []
        self.sent, self.acknowledged = 0, set()
        self.phase, self.statuses, self.events = "start", defaultdict(Counter), []
        # Servers that are killed or suspended now.
        self.away = set()
        self.versions = {}

    def count(self, name, number=1):
        with self.lock:
            self.counts[name] += number

    def say_wrong(self, text):
        with self.lock:
            self.counts["wrong"] += 1
            if len(self.wrong) < 20:
                self.wrong.append(f"{self.phase}: {text}")

    # MARK: The checker

    def manifest(self, number):
        process = self.fleet.processes[number].pid
        before = self.versions.get(process, 0)
        answer = self.fleet.ask(number, "/timeline.json?layers=hexagons,turbulence,hazards&start=-PT1H&intervals=7")
        if answer.status != 200:
            return None
        found = answer.json
        with self.lock:
            if found["version"] < before:
                self.counts["versions back"] += 1
            self.versions[process] = max(found["version"], self.versions.get(process, 0))
        return {(layer["id"], frame["time"], frame["v"]): frame["tiles"]
                for layer in found["layers"] for frame in layer["frames"]}

    def check(self, source, _):
        """Compares two servers. Answers that are no answers count, and are not wrong."""
        one, other = source.sample([each for each in range(SERVERS) if each not in self.away] or [0, 1], 2)
        first, second = self.manifest(one), self.manifest(other)
        if not first or not second:
            self.count("manifest missing")
            return time.sleep(0.1)
        common = first.keys() & second.keys()
        self.count("manifests compared")
        self.count("addresses compared", len(common))
        for frame in common:
            if first[frame] != second[frame]:
                self.say_wrong(f"servers {one} and {other}: {first[frame]} and {second[frame]}")
        place = [value + source.gauss(0, 4) for value in source.choice(HUBS)]
        for _ in range(3):
            self.pictures(one, other, source.choice(sorted(first)), first, place, source.choice([3, 5, 6]))
        if common:
            layer, instant, version = source.choice(sorted(common))
            self.features(one, other, instant, version, first, source)

    def pictures(self, one, other, frame, addresses, place, zoom):
        path, _ = path_of(addresses[frame], zoom, place)
        answers = [self.fleet.ask(number, path) for number in (one, other)]
        if [each.status for each in answers] == [200, 200]:
            self.count("pictures compared")
            if answers[0].body != answers[1].body:
                self.say_wrong(f"servers {one} and {other} draw differently: {path}")
        else:
            self.count(f"picture not compared: {sorted(each.status for each in answers)}")

    def features(self, one, other, instant, version, addresses, source):
        """Features have no version, so the frame must have had this one before and after."""
        zoom = 6
        frame = ("hexagons", instant, version)
        if frame not in addresses:
            return
        some = self.fleet.ask(one, f"/collections/hexagons/items?time={instant}&limit=200")
        if some.status != 200 or not some.json["features"]:
            return self.count("features not compared: none")
        # Where there is something to compare.
        place = outline(source.choice(some.json["features"])["geometry"])[0]
        path, (_, x, y) = path_of(addresses[frame], zoom, (place[0], max(-80, min(80, place[1]))))
        west, north, east, south = bounds(zoom, x, y)
        items = (f"/collections/hexagons/items?time={instant}&limit=10000"
                 f"&bbox={west:.6f},{south:.6f},{east:.6f},{north:.6f}")
        answers = [self.fleet.ask(number, items) for number in (one, other)]
        drawn = self.fleet.ask(one, path)
        after = [self.manifest(number) or {} for number in (one, other)]
        if [each.status for each in answers] != [200, 200] or drawn.status != 200:
            return self.count("features not compared: no answer")
        if any(frame not in each for each in after):
            return self.count("features not compared: the frame changed")
        found = [sorted((each["id"], json.dumps(each["properties"], sort_keys=True))
                        for each in answer.json["features"]) for answer in answers]
        self.count("features compared", len(found[0]))
        if found[0] != found[1]:
            self.say_wrong(f"servers {one} and {other} have other features: {items}")
        difference, seen = differences(drawn.body, answers[0].json["features"], zoom, x, y)
        self.count("hexagons compared with a picture", seen)
        if difference:
            self.say_wrong(f"server {one}, {path}: {difference}")

    # MARK: Observations

    def send(self, source, target):
        """Sends a batch until it is acknowledged, to nginx or to a server."""
        with self.lock:
            numbers = range(self.sent, self.sent + 10)
            self.sent += 10
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1))
        batch = json.dumps([
            {"id": f"n{number}", "lon": source.uniform(-180, 180), "lat": source.uniform(-60, 60), "altitude": 33000,
             "severity": number % 5, "observedAt": now, "source": "fleet"} for number in numbers])
        while not self.has_ended:
            address = (HOST, NGINX_PORT) if target is None else self.fleet.network.server(target)
            answer = ask(address, "/observations", batch, self.fleet.key)
            if target is None:
                with self.lock:
                    self.statuses[self.phase][f"ingest {answer.status or 'no answer'}"] += 1
            if answer.status == 200:
                with self.lock:
                    self.acknowledged.update(numbers)
                return
            if answer.status not in (0, 500, 502, 503, 504):
                return self.say_wrong(f"ingest: {answer.status} {answer.body[:200]}")
            time.sleep(0.2)

    def view(self, source, _):
        """A client of nginx: pictures of a manifest."""
        answer = ask((HOST, NGINX_PORT), "/timeline.json?layers=hexagons&start=-PT1H&intervals=4")
        statuses = [answer.status]
        if answer.status == 200:
            frame = source.choice(answer.json["layers"][0]["frames"])
            for _ in range(4):
                path, _ = path_of(frame["tiles"], 5, [value + source.gauss(0, 6) for value in source.choice(HUBS)])
                statuses.append(ask((HOST, NGINX_PORT), path).status)
        with self.lock:
            for status in statuses:
                self.statuses[self.phase][f"view {status or 'no answer'}"] += 1

    def loop(self, body, pause, *arguments):
        source = random.Random(str((pause, arguments)))
        while not self.has_ended:
            try:
                body(source, *arguments)
            except Exception as error:  # A checker that ends unseen would find nothing.
                line = traceback.extract_tb(error.__traceback__)[-1]
                with self.lock:
                    self.failures.append(
                        f"{self.phase}: {type(error).__name__}: {error} ({line.filename}:{line.lineno})")
                return
            time.sleep(pause)

    # MARK: What fails

    def leader(self):
        return next((number for number in range(SERVERS) if number not in self.away and self.fleet.is_leading(number)),
                    None)

    def begin(self, phase):
        self.phase = phase
        return time.monotonic()

    def note(self, phase, **figures):
        self.events.append((phase, figures))
        print(f"| {phase} | " + "; ".join(f"{name.replace('_', ' ')}: {value:.2f} s" if isinstance(value, float) else
                                        f"{name.replace('_', ' ')}: {value}" for name, value in figures.items()) + " |",
              flush=True)

    def version(self, number):
        status = self.fleet.status(number)
        return status["version"] if status else 0

    def new_data(self, numbers, since=0.0):
        """The seconds until each of these servers shows a version that it hasn't now."""
        before = max(self.version(number) for number in numbers)
        return until("new data", lambda: all(self.version(number) > before for number in numbers)) + since

    def handover(self, phase, number):
        """Waits for another leader, and for its data."""
        start = time.monotonic()
        until("another leader", lambda: any(self.fleet.is_leading(each) for each in range(SERVERS) if each != number))
        taken = time.monotonic() - start
        others = [each for each in range(SERVERS) if each != number]
        return taken, self.new_data(others, since=taken)

    def kill(self, phase, number, leads):
        self.begin(phase)
        self.away.add(number)
        process = self.fleet.processes[number]
        process.kill()
        process.wait()
        figures = {}
        if leads:
            figures["hand_over"], figures["new_data_of_the_next"] = self.handover(phase, number)
        time.sleep(self.fleet.options.hold / 3)
        start = time.monotonic()
        self.fleet.server(number)
        until("the server", lambda: self.fleet.is_ready(number))
        figures["ready_after_its_start"] = time.monotonic() - start
        self.away.discard(number)
        self.note(phase, **figures)

    def restart_database(self, phase, mode):
        start = self.begin(phase)
        self.fleet.database.stop(mode)
        time.sleep(self.fleet.options.hold / 5)
        is_drawn = all(self.fleet.ask(number, "/tiles/hexagons/latest/4/4/6.png").status == 200
                       for number in range(SERVERS))
        self.fleet.database.start()
        down = time.monotonic() - start
        leads = until("a leader", lambda: self.leader() is not None)
        self.note(phase, away=down, pictures_meanwhile="from all" if is_drawn else "not from all",
                  a_leader_after=leads, new_data_everywhere=self.new_data(range(SERVERS), since=leads))

    def cut(self, phase, number, leads):
        start = self.begin(phase)
        self.fleet.network.cut(number, True)
        figures = {}
        if leads:
            until("the end of its sync", lambda: (self.fleet.status(number) or {"fleet": {"syncs": True}})["fleet"]
                  ["syncs"] is False)
            figures["stops_its_sync"] = time.monotonic() - start
            figures["hand_over"], figures["new_data_of_the_next"] = self.handover(phase, number)
            for name in ("hand_over", "new_data_of_the_next"):
                figures[name] += figures["stops_its_sync"]
        time.sleep(self.fleet.options.hold)
        drawn = self.fleet.ask(number, "/tiles/hexagons/latest/4/4/6.png").status
        figures["its_pictures"] = drawn
        sent = self.fleet.ask(number, "/observations", json.dumps([
            {"id": "cut", "lon": 1, "lat": 1, "altitude": 33000, "severity": 1, "source": "fleet-cut",
             "observedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}]), self.fleet.key)
        figures["its_ingest"] = sent.status
        if sent.status == 200:
            self.say_wrong("a server without its database acknowledged an observation")
        self.fleet.network.cut(number, False)
        behind = max(self.version(each) for each in range(SERVERS) if each != number)
        figures["current_again"] = until("the server", lambda: self.version(number) >= behind)
        self.note(phase, **figures)

    def suspend(self, phase, number):
        """The former leader wakes up and must not write."""
        self.begin(phase)
        self.away.add(number)
        process = self.fleet.processes[number]
        process.send_signal(signal.SIGSTOP)
        taken, new = self.handover(phase, number)
        process.send_signal(signal.SIGCONT)
        until("one leader", lambda: sum(self.fleet.is_leading(each) for each in range(SERVERS)) == 1)
        is_former = self.fleet.is_leading(number)
        self.away.discard(number)
        self.note(phase, hand_over=taken, new_data_of_the_next=new,
                  the_former_leader="leads again" if is_former else "doesn't sync")

    def handed_over(self, phase, number):
        """SIGTERM gives the lease back."""
        self.begin(phase)
        self.away.add(number)
        process = self.fleet.processes[number]
        process.terminate()
        taken, new = self.handover(phase, number)
        status = process.wait(60)
        if status:
            self.failures.append(f"a stopped server ended with {status}")
        self.fleet.server(number)
        until("the server", lambda: self.fleet.is_ready(number))
        self.away.discard(number)
        self.note(phase, hand_over=taken, new_data_of_the_next=new)

    # MARK: The run

    def run(self):
        fleet, options = self.fleet, self.fleet.options
        for number in range(SERVERS):
            if number not in fleet.processes:
                fleet.server(number)
        for number in range(SERVERS):
            until("a server", lambda: fleet.is_ready(number))
            until("data", lambda: fleet.status(number)["liveObservations"] > 1_000)
        until("a leader", lambda: self.leader() is not None)
        fleet.balance(SERVERS)
        work = [(self.check, 0.05, 1), (self.check, 0.05, 2), (self.view, 0.1, 1)]
        work += [(self.send, 0.2, target) for target in (None, None, *range(SERVERS))]
        threads = [threading.Thread(target=self.loop, args=each, daemon=True) for each in work]
        print("\n| what fails | what was measured |\n| --- | --- |")
        start = self.begin("nothing")
        for thread in threads:
            thread.start()
        try:
            self.faults(options.short)
        except TimeoutError as error:
            self.failures.append(f"{self.phase}: {error}")
        self.phase = "nothing, at the end"
        time.sleep(1 if options.short else 5)
        self.has_ended = True
        for thread in threads:
            thread.join(120)
        took = time.monotonic() - start
        self.compare_logs()
        return self.report(took)

    def faults(self, is_short):
        hold = self.fleet.options.hold
        time.sleep(hold / 3)
        self.note("nothing", leaders=sum(self.fleet.is_leading(each) for each in range(SERVERS)))
        # nginx finds the only server that takes it, also in the second round of the three.
        for _ in range(4):
            answer = ask((HOST, NGINX_PORT), "/admin/sources/awc/refresh", key=self.fleet.key, method="POST")
            if answer.status not in (202, 429):
                self.failures.append(f"a refresh through nginx: {answer.status} {answer.body[:200]}")
        self.kill("SIGKILL of the server that syncs", self.leader(), leads=True)
        if not is_short:
            self.kill("SIGKILL of another server", next(
                each for each in range(SERVERS) if each != self.leader()), leads=False)
            self.restart_database("restart of the database", "fast")
        self.restart_database("crash of the database", "immediate")
        if self.fleet.network.is_real:
            self.cut("the database cut off from the server that syncs", self.leader(), leads=True)
            if not is_short:
                self.cut("the database cut off from another server", next(
                    each for each in range(SERVERS) if each != self.leader()), leads=False)
        else:
            print("| the network cut | not tried: it needs root, iproute2 and network namespaces |")
        if not is_short:
            self.suspend("the server that syncs suspended", self.leader())
            self.handed_over("SIGTERM of the server that syncs", self.leader())

    def exported(self, number):
        lines = self.fleet.ask(number, "/export/observations.csv?source=fleet").body.decode().splitlines()
        place = lines[0].split(",").index("id")
        return sorted(int(line.split(",")[place].removeprefix("n")) for line in lines[1:])

    def compare_logs(self):
        """Each observation is in the log once, whatever server tells."""
        exports = []

        def agree():
            exports[:] = [self.exported(number) for number in range(SERVERS)]
            return all(each == exports[0] for each in exports) and self.acknowledged <= set(exports[0])
        # A server shows what another one took a moment later.
        try:
            until("the same observations from all", agree, 60)
        except TimeoutError:
            self.failures.append(f"the servers export other observations: {[len(each) for each in exports]}")
        self.stored = exports[0]
        for number in range(SERVERS):
            self.fleet.processes[number].terminate()
        for number in range(SERVERS):
            if status := self.fleet.processes[number].wait(60):
                self.failures.append(f"server {number} ended with {status}")
        checked = subprocess.run([self.fleet.options.billow, "check", "--database", self.fleet.database.address],
                                 capture_output=True, text=True)
        self.check_said = checked.stderr.strip().splitlines()[-1] if checked.stderr.strip() else ""
        if checked.returncode:
            self.failures.append(f"billow check: {checked.returncode} {checked.stdout}{checked.stderr}")

    def report(self, took):
        lost = self.acknowledged - set(self.stored)
        twice = len(self.stored) - len(set(self.stored))
        print("\n| meanwhile | answers to clients of nginx |\n| --- | --- |")
        for phase, statuses in self.statuses.items():
            print(f"| {phase} | {', '.join(f'{name}: {count}' for name, count in sorted(statuses.items()))} |")
        print(f"\nin {took:.0f} s: " + ", ".join(f"{name}: {count:,}" for name, count in sorted(self.counts.items())))
        print(f"observations: {len(self.acknowledged):,} acknowledged, {len(lost)} lost, {twice} twice")
        print(f"wrong answers: {self.counts['wrong']}; versions that went back: {self.counts['versions back']}")
        print(f"billow check: {self.check_said}")
        if self.counts["versions back"]:
            self.failures.append("a version went back")
        if lost or twice:
            self.failures.append(f"{len(lost)} observations are lost, {twice} are there twice")
        for name in ("pictures compared", "features compared", "hexagons compared with a picture",
                     "addresses compared"):
            if not self.counts[name]:
                self.failures.append(f"none of the {name}")
        for text in self.wrong + self.failures:
            print(f"PROBLEM: {text}")
        return 1 if self.wrong or self.failures else 0


def main():
    parser = argparse.ArgumentParser(prog="fleet.py", description=__doc__.split("\n")[0])
    parser.add_argument("--billow", default="bin/billow")
    parser.add_argument("--short", action="store_true", help="fewer faults and no throughput, for make test")
    parser.add_argument("--part", choices=["throughput", "faults"])
    parser.add_argument("--flights", type=int, default=300)
    parser.add_argument("--seconds", type=int, default=5, help="of each measurement of the throughput")
    parser.add_argument("--hold", type=float, help="seconds for which a link stays cut (15; 5 with --short)")
    parser.add_argument("--folder", help="a new folder for data and logs, which stays")
    options = parser.parse_args()
    options.hold = options.hold or (3 if options.short else 15)
    options.billow = str(Path(options.billow).absolute())
    for tool in ["nginx"] + ([] if options.short or options.part == "faults" else ["wrk"]):
        if not shutil.which(tool):
            sys.exit(f"{tool} is missing: Scripts/setup {'test' if tool == 'nginx' else 'bench'}")
    Network.enter()
    # Not in TMPDIR, which the database's user may not enter.
    folder = Path(options.folder or tempfile.mkdtemp(prefix="billow-fleet-", dir="/tmp")).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    # The database's user reaches its folder below this one.
    folder.chmod(0o755)
    fleet, status = None, 1
    try:
        fleet = Fleet(options, folder)
        print(f"network: {'a namespace for each server' if fleet.network.is_real else 'loopback only, not cut'}; "
              f"{options.flights} flights")
        if not options.short and options.part != "faults":
            throughput(fleet)
        status = 0 if options.part == "throughput" else Faults(fleet).run()
    finally:
        if fleet:
            fleet.end()
        if status:
            print(f"logs: {folder}")
        elif not options.folder:
            shutil.rmtree(folder)
    sys.exit(status)


if __name__ == "__main__":
    main()
