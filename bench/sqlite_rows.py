"""The part of bench/run about SQLite: inserts and reads beside SQLite's own interface and aiosqlite."""

import os
import tempfile

from harness import ROOT, BenchError, median, run_child, verdict

SQLITE_PEERS = [
    ("sqlite", "SQLite's C interface", ["{peers}/sqlite_c"]),
    ("eddy", "eddy", ["{eddy}/sqlite_eddy"]),
    ("aiosqlite", "aiosqlite", ["{python}", "{src}/sqlite_aiosqlite.py"]),
]
# name of the row, what it is, operations per run
ROWS = [
    ("commits", "insert, a transaction each", {"aiosqlite": 2_000}, 5_000),
    ("inserts", "insert, in one transaction", {"aiosqlite": 10_000}, 50_000),
    ("many", "insert, many rows in one call", {"aiosqlite": 100_000}, 200_000),
    ("reads", "read of a row by its key", {"aiosqlite": 5_000}, 50_000),
]


class SqliteBench:
    """Microseconds of CPU and of wall time per operation."""

    title = "SQLite"

    def __init__(self, options, tools):
        self.options, self.tools = options, tools
        only = options.only.split(",") if options.only else None
        self.entries = [peer for peer in SQLITE_PEERS if not only or peer[0] in only]
        self.missing, self.failures, self.runs, self.versions = {}, [], {}, {}

    def measure(self, entry, row, cpu):
        key, _, command = entry
        name, _, fewer, count = row
        count = max(10, int(fewer.get(key, count) * self.options.scale))
        # Not in /tmp, which may be in memory and have no syncs to wait for.
        with tempfile.TemporaryDirectory(prefix="sqlite-", dir=self.options.build) as folder:
            result = run_child(self.tools.command(command) + [os.path.join(folder, "db"), name, str(count)], cpu)
        self.versions[key] = result["peer"]
        self.runs.setdefault((name, key), []).append(result)

    def run(self, _server_cpu, client_cpu):
        self.missing = self.tools.build_all({peer[0] for peer in self.entries}, [
            ("sqlite", self.tools.build_c, "peers/sqlite_c.c", "sqlite_c", ["-lsqlite3"]),
            ("eddy", self.tools.build_eddy, "sqlite_eddy"),
            ("aiosqlite", self.tools.need_python, "aiosqlite"),
        ])
        os.makedirs(os.path.join(ROOT, self.options.build), exist_ok=True)
        for row in ROWS:
            for _ in range(self.options.runs):
                for entry in self.entries:
                    if entry[0] in self.missing:
                        continue
                    try:
                        self.measure(entry, row, client_cpu)
                    except BenchError as error:
                        self.failures.append(f"sqlite: {error}")

    def figure(self, name, key, what):
        runs = self.runs.get((name, key), [])
        return median([r[what] / r["ops"] / 1000 for r in runs]) if runs else None

    def table(self):
        keys = [(key, title) for key, title, _ in self.entries if key in self.versions]
        lines = ["| CPU (wall), us | " + " | ".join(title for _, title in keys) + " | eddy beside aiosqlite |",
                 "|---|" + "--:|" * len(keys) + "---|"]
        for name, title, _, _ in ROWS:
            figures = {key: (self.figure(name, key, "cpu_ns"), self.figure(name, key, "wall_ns"))
                       for key, _ in keys}
            cells = [f"{cpu:.2f} ({wall:.2f})" if cpu is not None else "-" for cpu, wall in figures.values()]
            ours, theirs = figures.get("eddy", (None,))[0], figures.get("aiosqlite", (None,))[0]
            beside = verdict(ours, theirs) if ours is not None and theirs is not None else ""
            lines.append(f"| {title} | {' | '.join(cells)} | {beside} |")
        return lines

    def notes(self):
        return [
            "A task or thread on one processor, WAL, synchronous = FULL. Each call of eddy and aiosqlite goes to "
            "another thread and back; SQLite's interface is called on the thread itself. CPU time is that of the "
            "whole process.",
            *(f"{key}: {version}" for key, version in self.versions.items()),
        ]
