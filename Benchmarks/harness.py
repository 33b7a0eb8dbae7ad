"""What the benchmarks of the command share: a world of observations, processes measured whole, tables."""
import http.client
import math
import os
import random
import socket
import subprocess
import sys
import time
from dataclasses import dataclass

HOST = "127.0.0.1"
HUBS = [(-87.9, 41.9), (-84.4, 33.6), (-97.0, 32.9), (-73.8, 40.6), (-0.4, 51.5), (8.6, 50.0), (2.5, 49.0),
        (55.4, 25.3), (103.9, 1.4), (139.8, 35.6), (116.6, 40.1), (151.2, -33.9), (-46.5, -23.4), (-118.4, 33.9)]
FLIGHTS = 4_000


def observations(count, seconds, day=0, now=None):
    """So many observations, rounded down to whole thousands of flights, of so many seconds before now: along 4,000
    straight flights, thick around hubs. Tuples of id, longitude, latitude, altitude in feet, severity, Unix seconds.
    The seed is fixed: the same cells every time. An earlier day has other flights, so many days before."""
    source = random.Random(11 + day)
    now = (now or int(time.time()) // 60 * 60 - 60) - day * 86_400
    prefix = f"{day}-" if day else ""
    each = count // FLIGHTS
    for flight in range(FLIGHTS):
        (x0, y0), (x1, y1) = source.sample(HUBS, 2)
        x0, y0, x1, y1 = (value + source.gauss(0, 4) for value in (x0, y0, x1, y1))
        level = source.randrange(28, 42) * 1000
        severity = 0
        for step in range(each):
            share = (step + source.random()) / each
            if source.random() < 0.05:
                severity = source.choice([0, 0, 0, 0, 1, 1, 2, 3, 4])
            yield (f"{prefix}{flight}-{step}", x0 + (x1 - x0) * share, y0 + (y1 - y0) * share, level, severity,
                   now - source.randrange(seconds))


def write_world(path, count, seconds=7_000, day=0, now=None):
    """Writes them as CSV, and gives the hubs."""
    with open(path, "w") as file:
        file.write("id,lon,lat,altitude,severity,observedAt\n")
        for identifier, longitude, latitude, altitude, severity, observed in observations(count, seconds, day, now):
            file.write(f"{identifier},{longitude:.4f},{latitude:.4f},{altitude},{severity},{observed}\n")
    return HUBS


def write_lines(path, count, seconds=7_000):
    """Writes them as GeoJSON, a feature a line."""
    with open(path, "w") as file:
        for identifier, longitude, latitude, altitude, severity, observed in observations(count, seconds):
            when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(observed))
            file.write(f'{{"type":"Feature","id":"{identifier}","geometry":{{"type":"Point","coordinates":'
                       f'[{longitude:.4f},{latitude:.4f}]}},"properties":{{"altitude":{altitude},'
                       f'"severity":{severity},"observedAt":"{when}"}}}}\n')


def tile(zoom, longitude, latitude):
    """The tile of a place: x and y."""
    side = 1 << zoom
    y = (1 - math.asinh(math.tan(math.radians(latitude))) / math.pi) / 2
    return int((longitude + 180) / 360 * side) % side, min(max(int(y * side), 0), side - 1)


# MARK: Requests


class Client:
    """One connection that is kept."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection(HOST, port, timeout=60)

    def milliseconds(self, path):
        """The time of an answer, and its length; the benchmark ends where it is neither 200 nor 204."""
        start = time.perf_counter()
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        took = (time.perf_counter() - start) * 1000
        if answer.status not in (200, 204):
            sys.exit(f"{answer.status} {path}: {body[:200]}")
        return took, len(body)


def wait_ready(port, process=None, log=None, seconds=60, pause=0.1):
    """Waits until a server has its data; at most so many seconds. The benchmark ends where its process has ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process and process.poll() is not None:
            sys.exit(f"the server ended: {log.read_text()[-1500:] if log else process.returncode}")
        try:
            connection = http.client.HTTPConnection(HOST, port, timeout=5)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(pause)
    sys.exit("the server did not become ready")


def free_ports(count):
    """Ports of this machine that nothing listened on a moment ago."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind((HOST, 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


# MARK: Processes


@dataclass
class Run:
    """A whole process: seconds by the clock on the wall, seconds of a processor, the largest memory in MB."""
    wall: float
    processor: float
    memory: float


def measured(command, cwd=None, output=subprocess.DEVNULL):
    """Runs a command to its end; the benchmark ends where it fails."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, stdout=output, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {process.returncode}\n{said.decode(errors='replace')[-2000:]}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def ticks(process):
    """The seconds of a processor that a process has used."""
    with open(f"/proc/{process}/stat") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


# MARK: Tables


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def middle(runs):
    """The run whose time by the wall is the median."""
    return sorted(runs, key=lambda run: run.wall)[len(runs) // 2]


def heading(*names):
    print("| " + " | ".join(names) + " |\n|" + " --- |" * len(names), flush=True)


def row(*values):
    print("| " + " | ".join(str(value) for value in values) + " |", flush=True)
