"""The part of bench/run about sockets and files: eddy beside the kernel's calls and the peers."""

import json
import os
import resource
import subprocess
import tempfile

from harness import BenchError, Others, median, pinned, run_child

POLLER_PEERS = [
    ("kernel", "bare loop", ["{peers}/poller_floor"]),
    ("eddy", "eddy", ["{eddy}/core_eddy"]),
    ("libuv", "libuv", ["{peers}/core_uv"]),
    ("go", "Go", ["{peers}/core_go"]),
    ("tokio", "tokio", ["{peers}/core_tokio"]),
    ("uvloop", "asyncio, uvloop", ["{python}", "{src}/core_asyncio.py", "uvloop"]),
]
LIBRARIES = ("libuv", "go", "tokio", "uvloop")
# The row's title, its name in the programs, and the operations for a number of tasks.
ROWS = [
    ("512-byte echo", "echo", {1: 20_000, 64: 100_000, 1000: 100_000}),
    ("read 4 KiB, cached", "file-read", {1: 300_000, 64: 300_000}),
    ("write 4 KiB", "file-write", {1: 40_000, 64: 60_000}),
    ("write 4 KiB, fsync", "file-sync", {1: 2_000, 64: 8_000}),
    ("open, read 4 KiB, close", "file-open", {1: 40_000, 64: 60_000}),
]
# Peers that need a thread for a cached read do fewer of them.
SLOWER = {"libuv": 10, "tokio": 10, "uvloop": 30}


class PollerBench:
    """Microseconds of CPU and of wall time per operation."""

    title = "Sockets and files"

    def __init__(self, options, tools):
        self.options, self.tools = options, tools
        only = options.only.split(",") if options.only else None
        self.entries = [peer for peer in POLLER_PEERS if not only or peer[0] in only]
        self.missing, self.failures, self.runs, self.versions, self.others = {}, [], {}, {}, []

    def echo(self, argv, connections, messages, cpus):
        """A server on one processor, loaded by a client on the other; the kernel counts the server's CPU time."""
        name = os.path.basename(argv[-2])
        server = subprocess.Popen([*argv, str(connections)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "GOMAXPROCS": "1"}, preexec_fn=pinned(cpus[0]))
        try:
            port = server.stdout.readline().strip()
            if not port.isdigit():
                server.kill()
                raise BenchError(f"{name}: no port: {server.communicate()[1].strip()}")
            load = os.path.join(self.tools.places["peers"], "server_load")
            result = run_child([load, port, str(server.pid), str(connections), str(messages)], cpus[1])
            said = json.loads(server.communicate(timeout=30)[0])
        except (ValueError, subprocess.TimeoutExpired) as error:
            raise BenchError(f"{name} did not end as it should") from error
        finally:
            server.kill()
            server.communicate()
        if said["ops"] != result["all"]:
            raise BenchError(f"{name} echoed {said['ops']} of {result['all']} messages")
        return {**result, "cpu_ns": result["server_cpu_ns"], "peer": said["peer"]}

    def measure(self, entry, row, tasks, cpus):
        key, _, command = entry
        _, name, counts = row
        argv = [*self.tools.command(command), name]
        count = counts[tasks] // (SLOWER.get(key, 1) if name == "file-read" else 1)
        count = max(300, int(count * self.options.scale))
        if name == "echo":
            return self.echo(argv, tasks, count, cpus)
        # Not in /tmp, which may be in memory. On all processors, because threads do most of the calls.
        with tempfile.TemporaryDirectory(prefix="poller-", dir=self.tools.build) as folder:
            result = run_child([*argv, str(count), str(tasks)], None, cwd=folder)
        if result["ops"] != count:
            raise BenchError(f"{key}: {result['ops']} of {count} operations")
        return result

    def build(self):
        self.missing = self.tools.build_all({peer[0] for peer in self.entries}, [
            ("kernel", self.tools.build_c, "poller_floor.c", "poller_floor"),
            ("eddy", self.tools.build_eddy, "core_eddy"),
            ("libuv", self.tools.build_c, "peers/core_uv.c", "core_uv", ["-luv", "-pthread"]),
            ("go", self.tools.build_go, "core_go"),
            ("tokio", self.tools.build_rust, "core_tokio"),
            ("uvloop", self.tools.need_python, "uvloop"),
        ])
        self.tools.attempt(self.missing, "load", self.tools.build_c, "server_load.c", "server_load",
                           ["-lssl", "-lcrypto"])

    def run(self, *cpus):
        self.build()
        if "load" in self.missing:
            return
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        for row in ROWS:
            title, _, counts = row
            for tasks in counts:
                if self.options.row and self.options.row not in f"{title}, {tasks}":
                    continue
                for run in range(self.options.runs):
                    self.run_row(row, tasks, run, cpus)

    def run_row(self, row, tasks, run, cpus):
        """A run of each peer, in turn."""
        title, name = row[:2]
        for entry in self.entries:
            key = entry[0]
            if key in self.missing:
                continue
            try:
                with Others() as others:
                    result = self.measure(entry, row, tasks, cpus)
            except BenchError as error:
                self.failures.append(f"{title}, {tasks}: {error}")
                continue
            self.versions[key] = result["peer"]
            self.others.append(others.percent)
            figures = tuple(result[what] / result["ops"] / 1000 for what in ("cpu_ns", "wall_ns"))
            self.runs.setdefault((name, tasks), {}).setdefault(key, {})[run] = figures

    @staticmethod
    def ratio(found, key, other, what):
        """The median of the ratios of neighbouring runs."""
        ours, theirs = found.get(key, {}), found.get(other, {})
        both = [ours[run][what] / theirs[run][what] for run in ours if run in theirs]
        return median(both) if both else None

    def ratios(self, found, key, other):
        both = [self.ratio(found, key, other, what) for what in (0, 1)]
        return f"{both[0]:.2f} ({both[1]:.2f})" if None not in both else "-"

    def best(self, found):
        """The library with the least CPU time, and eddy beside it."""
        costs = {key: median([figures[0] for figures in found[key].values()]) for key in LIBRARIES if key in found}
        if not costs or "eddy" not in found:
            return "-"
        best = min(costs, key=costs.get)
        return f"{self.ratios(found, 'eddy', best)} {dict((e[0], e[1]) for e in self.entries)[best]}"

    @staticmethod
    def text(runs):
        cpu, wall = (median([figures[what] for figures in runs.values()]) for what in (0, 1))
        return f"{cpu:.2f} ({wall:.2f})"

    def table(self):
        """The rows, with the peers that have figures there."""
        rows = [(row, tasks) for row in ROWS for tasks in row[2] if (row[1], tasks) in self.runs]
        keys = [entry[:2] for entry in self.entries
                if any(entry[0] in self.runs[row[1], tasks] for row, tasks in rows)]
        lines = ["| CPU (wall), us | tasks | " + " | ".join(title for _, title in keys)
                 + " | eddy beside the loop | beside the best library |",
                 "|---|--:|" + "--:|" * len(keys) + "--:|---|"]
        for (title, name, *_), tasks in rows:
            found = self.runs[name, tasks]
            cells = [self.text(found[key]) if key in found else "-" for key, _ in keys]
            lines.append(f"| {title} | {tasks} | {' | '.join(cells)} | {self.ratios(found, 'eddy', 'kernel')} | "
                         f"{self.best(found)} |")
        return lines if rows else []

    def notes(self):
        return [
            "CPU time of the whole process, and wall time, for one operation. A ratio is the median of those of "
            "neighbouring runs, CPU time (wall time).",
            "Echo: a connection for each task; the server is measured, on a processor of its own. Files: on all "
            "processors; the bare loop is a single thread that blocks.",
            f"Other work took {median(self.others or [0]):.0f} % of the processors; above 5 %, wall time means nothing.",
            *(f"{key}: {version}" for key, version in self.versions.items() if key != "kernel"),
        ]
