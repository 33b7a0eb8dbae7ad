#!/usr/bin/env python3
"""Files of observations: `billow export` as GeoJSON, GeoJSON lines and CSV beside ogr2ogr from a GeoPackage, and beside
an earlier build where one is given; in turns.

Usage: Benchmarks/export.py [--billow bin/billow] [--observations 1000000] [--rounds 3]
    [--earlier BINARY --earlier-folder FOLDER] [--folder Benchmarks/.build/export]

Needs ogr2ogr (Debian's gdal-bin). The files lie in memory (/dev/shm) where there is room, so that no disk decides. The
earlier build imports the same world into a file of its own; its folder is where its Styles and Public are.
"""
import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from harness import heading, measured, middle, row, write_world

FORMATS = {"geojson": "GeoJSON", "geojsonl": "GeoJSONSeq", "csv": "CSV"}


def lines(path):
    """Features of a file: every one has its word `Feature` once, every CSV row its line."""
    # In lines: what a parent process held once counts as memory of each process that it starts.
    with open(path, "rb") as file:
        if path.endswith(".csv"):
            return sum(1 for _ in file) - 1
        return sum(line.count(b'"Feature"') for line in file)


def main():
    parser = argparse.ArgumentParser(prog="export.py", description=__doc__.split("\n")[0])
    parser.add_argument("--billow", default="bin/billow")
    parser.add_argument("--observations", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--earlier")
    parser.add_argument("--earlier-folder", default=".")
    parser.add_argument("--folder", default="Benchmarks/.build/export")
    options = parser.parse_args()
    if not shutil.which("ogr2ogr"):
        sys.exit("ogr2ogr is missing: apt-get install gdal-bin")
    folder = Path(options.folder).absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files = Path("/dev/shm") if shutil.disk_usage("/dev/shm").free > 4 << 30 else folder
    files = files / f"billow-export-{os.getpid()}"
    files.mkdir()
    try:
        run(options, folder, files)
    finally:
        shutil.rmtree(files)


def run(options, folder, files):
    write_world(folder / "world.csv", options.observations)
    builds = {"Billow": (str(Path(options.billow).absolute()), None)}
    if options.earlier:
        builds["earlier"] = (str(Path(options.earlier).absolute()), options.earlier_folder)
    for name, (binary, cwd) in builds.items():
        took = measured([binary, "import", "--database", str(folder / f"{name}.sqlite"), str(folder / "world.csv")],
                        cwd=cwd)
        print(f"{name} imported {options.observations} rows of CSV in {took.wall:.1f} s, {took.memory:.0f} MB",
              flush=True)
    # What ogr2ogr reads is what Billow wrote: the same features and properties.
    first = str(files / "first.geojsonl")
    measured([builds["Billow"][0], "export", "observations", "--hours", "6", "--database",
              str(folder / "Billow.sqlite"), "-o", first])
    package = str(folder / "world.gpkg")
    measured(["ogr2ogr", "-f", "GPKG", package, "GeoJSONSeq:" + first, "-nln", "observations"])
    os.remove(first)
    print()
    heading("format", "who", "seconds", "of a processor", "MB of memory", "MB of file", "features", "ogr2ogr ÷ it")
    for format, driver in FORMATS.items():
        output = str(files / f"out.{format}")
        runs = {name: [] for name in [*builds, "ogr2ogr"]}
        counts, sizes = {}, {}
        for _ in range(options.rounds):
            for name in runs:
                if os.path.exists(output):
                    os.remove(output)
                if name == "ogr2ogr":
                    extra = ["-lco", "GEOMETRY=AS_XY"] if format == "csv" else []
                    took = measured(["ogr2ogr", "-f", driver, output, package, *extra])
                else:
                    binary, cwd = builds[name]
                    took = measured([binary, "export", "observations", "--hours", "6", "--format", format, "--database",
                                     str(folder / f"{name}.sqlite"), "-o", output], cwd=cwd)
                runs[name].append(took)
                counts[name], sizes[name] = lines(output), os.path.getsize(output) / 1e6
        reference = middle(runs["ogr2ogr"]).wall
        for name, all_runs in runs.items():
            took = middle(all_runs)
            row(format, name, f"{took.wall:.2f}", f"{took.processor:.2f}", f"{took.memory:.0f}", f"{sizes[name]:.0f}",
                counts[name], f"{reference / took.wall:.1f}")


if __name__ == "__main__":
    main()
