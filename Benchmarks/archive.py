#!/usr/bin/env python3
"""Measures pictures of the archive, over HTTP and cold: each is of another instant, by a server that has only just
started.

Usage: Benchmarks/archive.py BILLOW [BILLOW…] [--observations 10000000] [--days 7] [--pictures 40] [--rounds 2]
           [--merge] [--folder Benchmarks/.build/archive]

Every binary imports the same observations, along flights from fixed seeds, into a database of its own, once for all
runs. Each day is a file, and the oldest comes first, as an archive grows. Then they take turns with the same instants.
With --merge they are computed values, of which the newest replaces the ones before, as SkyPath's do. Printed for each:
what an import and the packing after it took, and of pictures the median, the 90th percentile and the longest by the
clock, and processor time.
"""
import argparse
import os
import random
import sqlite3
import statistics
import subprocess
import time
import urllib.request
from pathlib import Path

from harness import write_world

PORT = 18_490


def processor_seconds(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, billow, database):
        self.process = subprocess.Popen(
            [billow, "serve", "--port", str(PORT), "--database", database], cwd=Path(__file__).parent.parent,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{PORT}/readyz").read()
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"{billow} doesn't start")

    def rested(self):
        """Waits until it does next to nothing; gives the seconds of a processor that it had taken by then."""
        before = processor_seconds(self.process)
        while True:
            time.sleep(2)
            now = processor_seconds(self.process)
            if now - before < 0.1:
                return now
            before = now

    def stop(self):
        self.process.terminate()
        self.process.wait()


def pictures(server, seed, count, newest, days):
    """Milliseconds of each, and of a processor for one in the middle."""
    random.seed(seed)
    times, before = [], processor_seconds(server.process)
    for _ in range(count):
        instant = time.gmtime(newest - random.uniform(0.5, days - 0.5) * 86_400)
        zoom = random.choice([3, 4, 5, 6])
        x, y = random.randrange(1 << zoom), random.randrange((1 << zoom) // 4, int((1 << zoom) * 0.45) + 1)
        path = f"/tiles/hexagons/{time.strftime('%Y%m%dT%H%M%SZ', instant)}/{zoom}/{x}/{y}.png"
        start = time.perf_counter()
        urllib.request.urlopen(f"http://127.0.0.1:{PORT}{path}").read()
        times.append((time.perf_counter() - start) * 1_000)
    return times, (processor_seconds(server.process) - before) * 1_000 / count


def packed(database):
    """How many parts are packed, and their bytes; nothing for a binary that knows none."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        try:
            return connection.execute("SELECT count(*), sum(length(packed)) FROM packedPart").fetchone()
        except sqlite3.OperationalError:
            return 0, None


def mixed(word):
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % (1 << 64)
    word = (word ^ word >> 27) * 0x94D049BB133111EB % (1 << 64)
    return word ^ word >> 31


def row_sum(*values):
    """The sum of a row, as RowSum.swift describes it, of integers, texts and nulls."""
    null = 0x8A5CD789635D2DFF
    state = 0
    for column, value in enumerate(values):
        if value is None:
            value = null
        elif isinstance(value, str):
            data = value.encode()
            whole = len(data) // 8 * 8
            value = len(data) + null
            for start in range(0, whole, 8):
                value = mixed((value ^ int.from_bytes(data[start:start + 8], "little")) % (1 << 64))
            value = mixed((value ^ int.from_bytes(data[whole:], "little")) % (1 << 64))
        state += value * (mixed((column + 1) * 0x9E3779B97F4A7C15 % (1 << 64)) | 1)
    top = mixed(state % (1 << 64)) >> 40
    return top - (1 << 24) if top >= 1 << 23 else top


def imports(billows, databases, options, newest):
    """Imports day by day into every database that is missing; gives each one's seconds by day."""
    missing = [(billow, database) for billow, database in zip(billows, databases) if not os.path.exists(database)]
    seconds = {database: [] for _, database in missing}
    day_file = options.folder / "day.csv"
    for day in range(options.days - 1, -1, -1) if missing else []:
        write_world(day_file, options.observations // options.days, seconds=86_400, day=day, now=newest)
        for billow, database in missing:
            start = time.perf_counter()
            subprocess.run([billow, "import", "--database", database, str(day_file)], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=Path(__file__).parent.parent)
            seconds[database].append(time.perf_counter() - start)
            print(f"{day} days ago: {seconds[database][-1]:.1f} s, {os.path.getsize(database)} bytes", flush=True)
    day_file.unlink(missing_ok=True)
    return seconds


def prepare(billow, database, merge, imported):
    if merge:
        with sqlite3.connect(database) as connection:
            connection.create_function("row_sum", -1, row_sum, deterministic=True)
            connection.execute("""
                UPDATE source SET mergeRule = 1,
                    sum = row_sum(number, name, 1, simulated, fetchedAt, completeSince, ruleChanged)""")
    server = Server(billow, database)
    start = time.perf_counter()
    parts, seconds = -1, 0.0
    while packed(database)[0] != parts:
        parts, seconds = packed(database)[0], time.perf_counter() - start
        time.sleep(2)
    taken = server.rested()
    server.stop()
    count, size = packed(database)
    print(f"{billow}: imported in {sum(imported):.0f} s, a day in {min(imported):.1f} to {max(imported):.1f} s; "
          f"{count} parts packed in {seconds:.0f} s, {size or 0} bytes; "
          f"the server took {taken:.1f} s of a processor until then; "
          f"file {os.path.getsize(database)} bytes", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("billow", nargs="+", type=os.path.abspath)
    parser.add_argument("--observations", type=int, default=10_000_000)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--pictures", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--merge", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / ".build/archive")
    options = parser.parse_args()
    folder = options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    options.folder = folder
    name = f"{options.observations}-{options.days}-{int(options.merge)}"
    # The newest instant of the databases, which later runs need too.
    instant = folder / f"{name}.txt"
    if not instant.exists():
        instant.write_text(str(int(time.time()) // 60 * 60))
    newest = int(instant.read_text())
    databases = [str(folder / f"{name}-{number}.sqlite") for number in range(len(options.billow))]
    seconds = imports(options.billow, databases, options, newest)
    for billow, database in zip(options.billow, databases):
        if database in seconds:
            prepare(billow, database, options.merge, seconds[database])
    found = {billow: ([], []) for billow in options.billow}
    for seed in range(options.rounds):
        for billow, database in zip(options.billow, databases):
            server = Server(billow, database)
            server.rested()
            times, processor = pictures(server, seed, options.pictures, newest, options.days)
            server.stop()
            found[billow][0].extend(times)
            found[billow][1].append(processor)
    for billow, (times, processor) in found.items():
        ordered = sorted(times)
        print(f"{billow}: median {statistics.median(ordered):.1f} ms, p90 {ordered[int(len(ordered) * .9)]:.1f}, "
              f"longest {ordered[-1]:.1f}; {statistics.mean(processor):.1f} ms of a processor")


if __name__ == "__main__":
    main()
