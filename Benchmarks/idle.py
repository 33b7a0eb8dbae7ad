#!/usr/bin/env python3
"""What a server costs when no client asks: a processor's share of `serve` with a world, and of `serve --demo`.

Usage: Benchmarks/idle.py [--billow bin/billow] [--observations 200000] [--seconds 60] [--settle 60]
    [--folder Benchmarks/.build/idle]

Each server runs by itself: it starts, settles, and is then watched for so many seconds. The share is its user and
system time from /proc by the clock on the wall; of the demo it includes the simulated upstreams, which run inside.
"""
import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from harness import heading, row, ticks, wait_ready, write_world

PORT = 18482


def watch(command, settle, seconds, log):
    server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_ready(PORT)
        time.sleep(settle)
        before, start = ticks(server.pid), time.monotonic()
        time.sleep(seconds)
        used, passed = ticks(server.pid) - before, time.monotonic() - start
        with open(f"/proc/{server.pid}/statm") as file:
            resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        return 100 * used / passed, resident
    finally:
        server.terminate()
        server.wait()


def main():
    parser = argparse.ArgumentParser(prog="idle.py", description=__doc__.split("\n")[0])
    parser.add_argument("--billow", default="bin/billow")
    parser.add_argument("--observations", type=int, default=200_000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--settle", type=int, default=60)
    parser.add_argument("--folder", default="Benchmarks/.build/idle")
    options = parser.parse_args()
    if options.seconds < 1:
        sys.exit(f"--seconds is {options.seconds}; it must be at least 1")
    folder = Path(options.folder).absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_world(folder / "world.csv", options.observations)
    database = str(folder / "world.sqlite")
    subprocess.run([options.billow, "import", "--database", database, str(folder / "world.csv")], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    heading("server", "% of a processor", "MB resident")
    with open(folder / "serve.log", "w") as log:
        serve = [options.billow, "serve", "--port", str(PORT), "--database"]
        for name, command in ((f"`serve`, {options.observations:,} observations", [*serve, database]),
                              ("`serve --demo`", [*serve, str(folder / "demo.sqlite"), "--demo"])):
            share, resident = watch(command, options.settle, options.seconds, log)
            row(name, f"{share:.1f}", f"{resident:.0f}")


if __name__ == "__main__":
    main()
