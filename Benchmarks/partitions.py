#!/usr/bin/env python3
"""One table of observations beside partitions by day, in PostgreSQL: the figures of decision 0043.

Usage: Benchmarks/partitions.py [--rows 2000000] [--days 10] [--ids 10000] [--body 1000] [--short]

Needs PostgreSQL 14 or later (`Scripts/setup test`), and no Billow. It makes a cluster of its own with fsync on, in a
temporary folder. Columns, checks and indexes are read from Sources/BillowPostgreSQL/PostgreSQLSchema.swift. Of the
partitioned table, the unique index of ids is one for each day, because PostgreSQL demands the partition's key in it.

Both tables get the same rows, a day after the other. The last day comes as Billow writes it: a `COPY` and a commit for
each body. Then ids are looked up, one after another and in arrays as Billow does; an hour is read; the first day is
removed, by `DELETE` and `VACUUM` or by `DROP`. Reads are the median of five runs. Autovacuum is off.

At last it shows what goes wrong with partitions: what `DROP` takes that retention leaves, an id that is there twice,
and a reader whose snapshot lacks rows. `--short` has 40,000 rows, for a look at the program itself.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

from fleet import ROOT, Database
from harness import HOST, heading, row

# Midnight, UTC. A row's key begins with its second, and has a tag of 30 bits.
START, DAY = 1_790_000_000 // 86_400 * 86_400, 86_400
LAYOUTS = ["one table", "partitions"]
# No step may take longer than this.
LONGEST = 1_800


def schema(name):
    text = (ROOT / "Sources/BillowPostgreSQL/PostgreSQLSchema.swift").read_text()
    found = re.search(rf'static let {name} = """\n(.*?)"""', text, re.DOTALL)
    if not found:
        sys.exit(f"PostgreSQLSchema.swift has no {name}")
    return [each.strip() for each in found[1].split(";") if each.strip()]


class Layout:
    """A schema of the cluster with the table, whole or in partitions."""

    def __init__(self, name, database, options):
        self.name, self.address, self.options = name, database.address, options
        self.schema = name.replace(" ", "_")
        table, *indexes = schema("observations")
        source = next(each for each in schema("sources") if each.startswith("CREATE TABLE source "))
        unique = [each for each in indexes if each.startswith("CREATE UNIQUE INDEX")]
        statements = [f"CREATE SCHEMA {self.schema}", f"SET search_path = {self.schema}", source,
                      "INSERT INTO source (number, name, mergeRule, ruleChanged, sum) VALUES (1, 'a', 0, 0, 0)"]
        if name == "partitions":
            statements.append(table + " PARTITION BY RANGE (key)")
            for day in range(options.days):
                statements.append(f"CREATE TABLE day{day} PARTITION OF observation FOR VALUES "
                                  f"FROM ({key(day)}) TO ({key(day + 1)})")
                statements += [each.replace("INDEX observation", f"INDEX day{day}").replace(
                    "ON observation ", f"ON day{day} ") for each in unique]
            statements += [each for each in indexes if each not in unique]
        else:
            statements += [table, *indexes]
        self.run("; ".join(statements))

    def run(self, sql):
        """Executes SQL, and gives the lines of its answer."""
        environment = dict(os.environ, PGOPTIONS=f"-c search_path={self.schema}")
        done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", self.address], input=sql, env=environment,
                              capture_output=True, text=True, timeout=LONGEST)
        if done.returncode:
            sys.exit(f"{self.name}: {sql[:300]}\n{done.stderr}")
        return done.stdout.split("\n")[:-1]

    def measured(self, sql):
        """The seconds of all statements, as psql measures them, and the megabytes of the write-ahead log."""
        before = self.run("SELECT pg_current_wal_insert_lsn()")[0]
        lines = self.run(f"\\timing on\n{sql}")
        took = sum(float(each.split()[1]) for each in lines if each.startswith("Time: ")) / 1000
        written = float(self.run(f"SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '{before}')")[0])
        return took, written / 1e6

    def inner(self, sql):
        """The milliseconds inside the server, the median of five runs."""
        times = []
        for _ in range(5):
            lines = self.run(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT TEXT) {sql}")
            times.append(float(next(each.split()[2] for each in lines if each.startswith("Execution Time"))))
        return statistics.median(times)


def key(day, second=0):
    return (START + day * DAY + second) << 30


def rows(day, options):
    """The rows of a day as lines for COPY: flights with an id each, all open."""
    count = options.rows // options.days
    for number in range(count):
        second = number * DAY // count
        # Distinct within a second, and spread as tags are.
        tag = number * 2_654_435_761 % (1 << 30)
        fields = [key(day, second) | tag, 0x85283473fffffff + number % 50_000 * 0x1000000,
                  day * 1_000 + second // 60 + 1, "\\N", 0, 33_000, 33_000, number % 5, "\\N", 30, 1, 0, 0, 0, 0, 0,
                  identifier(day, number), "B77W"]
        yield "\t".join(map(str, fields)) + "\n"


def identifier(day, number):
    return f"{day}-{number % 4_000}-{number // 4_000}"


COLUMNS = ("key, cell, since, until, reporter, altitudeMin, altitudeMax, severity, edr, category, source, kind, "
           "imported, transient, idTaken, sum, externalId, aircraft")


def copies(lines, size):
    """COPY statements of so many lines each, every one a transaction."""
    for first in range(0, len(lines), size):
        yield f"COPY observation ({COLUMNS}) FROM STDIN;\n" + "".join(lines[first:first + size]) + "\\.\n"


def main():
    parser = argparse.ArgumentParser(prog="partitions.py", description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--days", type=int, default=10)
    parser.add_argument("--ids", type=int, default=10_000)
    parser.add_argument("--body", type=int, default=1_000)
    parser.add_argument("--short", action="store_true")
    options = parser.parse_args()
    if options.short:
        options.rows, options.days, options.ids = 40_000, 4, 500
    if options.days < 3 or options.rows // options.days < options.ids:
        sys.exit("--days must be 3 or more, and a day must have at least --ids rows")
    folder = Path(tempfile.mkdtemp(prefix="billow-partitions-"))
    folder.chmod(0o755)
    database = Database(folder / "postgresql", SimpleNamespace(database=HOST, is_real=False))
    try:
        measure(options, database)
    finally:
        database.stop("fast")
        shutil.rmtree(folder)


def measure(options, database):
    first = Layout("one table", database, options)
    for setting in ["autovacuum = off", "max_wal_size = '8GB'"]:
        first.run(f"ALTER SYSTEM SET {setting}")
    first.run("SELECT pg_reload_conf()")
    layouts = [first, Layout("partitions", database, options)]
    figures = {}

    def note(what, layout, text):
        figures.setdefault(what, {})[layout.name] = text

    day_rows = options.rows // options.days
    last = options.days - 1
    for layout in layouts:
        for day in range(last):
            layout.run("".join(copies(list(rows(day, options)), 100_000)))
        layout.run("VACUUM ANALYZE observation")
        layout.run("CHECKPOINT")
        lines = list(rows(last, options))
        took, written = layout.measured("".join(copies(lines, options.body)))
        note(f"ingest a day of {day_rows:,} rows, {options.body:,} in a commit", layout,
             f"{took:.1f} s, {written:.0f} MB of WAL")
        layout.run("VACUUM ANALYZE observation")
        size = int(layout.run(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND "
            f"relnamespace = '{layout.schema}'::regnamespace")[0])
        note("size of all rows", layout, f"{size / 1e6:.0f} MB")
    for layout in layouts:
        lookups(layout, options, note)
        hour = (f"SELECT {COLUMNS} FROM observation WHERE key >= {key(1, 3_600)} AND key < {key(1, 7_200)} "
                "AND until IS NULL")
        note(f"read an hour, {day_rows // 24:,} rows", layout, f"{layout.inner(hour):.1f} ms")
    problems(*layouts)
    for layout in layouts:
        layout.run("CHECKPOINT")
        if layout.name == "partitions":
            took, written = layout.measured("DROP TABLE day0")
            text = f"`DROP` {took:.2f} s, {written:.2f} MB of WAL"
        else:
            took, written = layout.measured(f"DELETE FROM observation WHERE key < {key(1)}")
            vacuum, more = layout.measured("VACUUM observation")
            text = f"`DELETE` {took:.2f} s, `VACUUM` {vacuum:.2f} s, {written + more:.0f} MB of WAL"
        note(f"remove a day of {day_rows:,} rows", layout, text)
    version = first.run("SHOW server_version")[0]
    print(f"\nPostgreSQL {version}, {options.rows:,} rows over {options.days} days, load {os.getloadavg()[0]:.0f}\n")
    heading("operation", *LAYOUTS)
    for what, of in figures.items():
        row(what, *(of[name] for name in LAYOUTS))


def lookups(layout, options, note):
    step = max(1, options.rows // options.days // options.ids)
    wanted = [identifier(each % (options.days - 1), each * step) for each in range(options.ids)]
    array = "ARRAY[" + ",".join(f"'{each}'" for each in wanted) + "]"
    one = f"""DO $$ DECLARE wanted TEXT; found BIGINT; BEGIN
        FOREACH wanted IN ARRAY {array} LOOP
            SELECT key INTO STRICT found FROM observation
            WHERE externalId = wanted AND source = 1 AND reporter = 0 AND until IS NULL;
        END LOOP; END $$"""
    many = f"""DO $$ DECLARE wanted TEXT[] := {array}; first INTEGER; found BIGINT; total BIGINT := 0; BEGIN
        FOR first IN 1..array_length(wanted, 1) BY {options.body} LOOP
            SELECT count(key) INTO found FROM observation
            WHERE externalId = ANY (wanted[first:first + {options.body - 1}]) AND until IS NULL;
            total := total + found;
        END LOOP;
        IF total <> {options.ids} THEN RAISE 'found %', total; END IF; END $$"""
    for what, sql in [(f"look up {options.ids:,} ids, one after another", one),
                      (f"look up {options.ids:,} ids, {options.body:,} in an array", many)]:
        took = statistics.median(layout.measured(sql)[0] for _ in range(5))
        note(what, layout, f"{took:.2f} s")


def problems(whole, parts):
    """What a day that is dropped would break, each tried. Nothing of it stays."""
    print("What partitions by day break, as tried:")
    # An import of the past has rows in the day that goes; retention leaves them.
    parts.run("UPDATE observation SET imported = 1 WHERE key = (SELECT min(key) FROM observation)")
    kept = parts.run(f"SELECT count(*) FROM observation WHERE key < {key(1)} AND imported = 1")[0]
    print(f"- imports: {kept} row of an import lies in the first day; `DROP` takes it, and retention must leave it.")
    parts.run("UPDATE observation SET imported = 0 WHERE key = (SELECT min(key) FROM observation)")
    others = COLUMNS.removeprefix("key, ")
    again = (f"INSERT INTO observation ({COLUMNS}) SELECT {key(2, 1)} | 1, {others} FROM observation "
             "WHERE externalId = '0-1-0'")
    for layout in (whole, parts):
        answer = layout.run(f"""BEGIN;
            DO $$ BEGIN {again}; EXCEPTION WHEN unique_violation THEN NULL; END $$;
            SELECT count(*) FROM observation WHERE externalId = '0-1-0' AND until IS NULL; ROLLBACK""")
        print(f"- ids: an id that came again on another day is there {answer[0]} times in {layout.name}.")
    # A reader that began before the drop waits for it, or it for the reader.
    seen = []

    def read():
        seen.append(parts.run(f"""BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
            SELECT count(*) FROM source; SELECT pg_sleep(1.5);
            SELECT count(*) FROM observation WHERE key < {key(1)}; COMMIT"""))
    before = parts.run(f"SELECT count(*) FROM observation WHERE key < {key(1)}")[0]
    reader = threading.Thread(target=read)
    reader.start()
    time.sleep(0.5)
    # What DROP makes of the table for readers, but can be undone.
    parts.run("ALTER TABLE observation DETACH PARTITION day0")
    reader.join()
    after = seen[0][-1]
    print(f"- readers: a REPEATABLE READ transaction from before saw {after} of {before} rows after the day went.")
    parts.run(f"ALTER TABLE observation ATTACH PARTITION day0 FOR VALUES FROM ({key(0)}) TO ({key(1)})")


if __name__ == "__main__":
    main()
