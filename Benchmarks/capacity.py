#!/usr/bin/env python3
"""Unit costs for docs/operating/capacity.md: what an observation costs in PostgreSQL, in memory and on its way.

Usage: Benchmarks/capacity.py [--billow bin/billow] [--observations 1000000] [--seconds 30] [--rate 1157]

Needs PostgreSQL (`Scripts/setup test`). It makes a cluster of its own with fsync on, and imports into it. Then one
server takes a body of so many observations each second, as a day of 100 million brings them. A second one follows.
At last eight clients send as fast as they can. Processor times are user and system times from /proc.
"""
import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

from fleet import Database, ask
from harness import HOST, free_ports, heading, measured, quantile, row, ticks, wait_ready, write_world


def resident(process):
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


def children(parent):
    found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True).stdout.split()
    return [int(each) for each in found]


class PostgresTime:
    """The processor seconds of a cluster, also of its processes that have ended: they count for their parent."""

    def __init__(self, database):
        self.parent = int((database.data / "postmaster.pid").read_text().split()[0])

    def seconds(self):
        with open(f"/proc/{self.parent}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        ended = sum(int(each) for each in fields[13:15]) / 100
        return ticks(self.parent) + ended + sum(ticks(each) for each in children(self.parent))


def body(source, number, count):
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1))
    return json.dumps([
        {"id": f"{number}-{each}", "lon": round(source.uniform(-180, 180), 4), "lat": round(source.uniform(-60, 70), 4),
         "altitude": 33000, "severity": each % 5, "observedAt": now, "source": "capacity"} for each in range(count)])


def main():
    parser = argparse.ArgumentParser(prog="capacity.py", description=__doc__.split("\n")[0])
    parser.add_argument("--billow", default="bin/billow")
    parser.add_argument("--observations", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--rate", type=int, default=1_157)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="billow-capacity-"))
    folder.chmod(0o755)
    database = Database(folder / "postgresql", SimpleNamespace(database=HOST, is_real=False))
    servers = []
    try:
        measure(options, folder, database, servers)
    finally:
        for server in servers:
            server.terminate()
        for server in servers:
            server.wait()
        database.stop("fast")
        shutil.rmtree(folder)


def size(database, what):
    return int(subprocess.run(["psql", "-At", database.address, "-c", f"SELECT {what}"], check=True,
                              capture_output=True, text=True).stdout)


def measure(options, folder, database, servers):
    billow = options.billow
    write_world(folder / "world.csv", options.observations)
    empty = size(database, "pg_database_size('postgres')")
    clock = PostgresTime(database)
    before = clock.seconds()
    took = measured([billow, "import", "--database", database.address, str(folder / "world.csv")])
    server_time = clock.seconds() - before
    heading("what", "figure")
    count = options.observations
    row(f"import of {count:,} observations", f"{took.wall:.1f} s; processors: {took.processor:.1f} s of Billow, "
        f"{server_time:.1f} s of PostgreSQL")
    grown = size(database, "pg_database_size(current_database())") - empty
    row("the database, bytes an observation", f"{grown / count:.0f}")
    key = subprocess.run([billow, "keys", "create", "--scope", "ingest", "--database", database.address], check=True,
                         capture_output=True, text=True).stdout.strip()
    ports = free_ports(2)
    with open(folder / "serve.log", "w") as log:
        for port in ports:
            servers.append(subprocess.Popen([billow, "serve", "--port", str(port), "--database", database.address],
                                            stdout=log, stderr=log))
            wait_ready(port)
    time.sleep(30)
    row(f"resident with {count:,} live observations", ", ".join(f"{resident(each.pid):.0f} MB" for each in servers))
    source = random.Random(1)
    idle = [ticks(each.pid) for each in servers] + [clock.seconds()]
    time.sleep(10)
    idle = [now - then for now, then in zip([ticks(each.pid) for each in servers] + [clock.seconds()], idle)]
    row("at rest, % of a processor: server, follower, PostgreSQL", ", ".join(f"{10 * each:.1f}" for each in idle))
    before = [ticks(each.pid) for each in servers] + [clock.seconds()]
    start, shown, answered = time.monotonic(), [], []
    for second in range(options.seconds):
        text = body(source, second, options.rate)
        sent = time.monotonic()
        answer = ask((HOST, ports[0]), "/observations", text, key)
        if answer.status != 200:
            sys.exit(f"{answer.status}: {answer.body[:300]}")
        answered.append(time.monotonic() - sent)
        while ask((HOST, ports[1]), "/status").json["version"] < answer.json["version"]:
            time.sleep(0.02)
        shown.append(time.monotonic() - sent)
        time.sleep(max(0, start + second + 1 - time.monotonic()))
    passed = time.monotonic() - start
    used = [now - then for now, then in zip([ticks(each.pid) for each in servers] + [clock.seconds()], before)]
    row(f"{options.rate * options.seconds / passed:,.0f} observations a second, % of a processor: server, follower, "
        "PostgreSQL", ", ".join(f"{100 * each / passed:.0f}" for each in used))
    row("acknowledged after, shown by the follower after (median, p99)",
        f"{quantile(answered, .5):.2f}, {quantile(answered, .99):.2f} s; "
        f"{quantile(shown, .5):.2f}, {quantile(shown, .99):.2f} s")
    accepted, end = [], time.monotonic() + 10

    def send(number):
        mine, turn = random.Random(number), 0
        while time.monotonic() < end:
            turn += 1
            answer = ask((HOST, ports[number % 2]), "/observations", body(mine, f"{number}-{turn}", 1_000), key)
            accepted.append(1_000 if answer.status == 200 else 0)
    start = time.monotonic()
    threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    row("most observations a second: 8 clients, bodies of 1,000", f"{sum(accepted) / (time.monotonic() - start):,.0f}")


if __name__ == "__main__":
    main()
