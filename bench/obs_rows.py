"""The parts of bench/run without peers: metrics, logs, and files that are slow to read."""

import os
import re
import subprocess

from harness import BenchError, median

# key, what one operation is, operations per run
COSTS = [
    ("counter", "add to a counter", 100_000_000),
    ("histogram", "observe a value in a histogram of 11 buckets", 30_000_000),
    ("series", "look up a series by two labels, and add to it", 10_000_000),
    ("line", "write a line of the log with three values", 1_000_000),
]
# key, what keeps the loop busy, operations per run
LAGS = [
    ("slow-pipe", "lines of the log to a pipe that is read at 1 MB/s", 1_000_000),
    ("slow-files", "8 files read at the same time, each read waits about 20 ms", 4_000),
]


class ObsBench:
    """Nanoseconds per operation, and how long the turns of the loop are meanwhile."""

    title = "Metrics, logs and slow files"

    def __init__(self, options, tools):
        self.options, self.tools = options, tools
        self.entries = ["eddy"] if not options.only or "eddy" in options.only.split(",") else []
        self.missing, self.failures, self.costs, self.lags = {}, [], {}, {}

    def output(self, key, count, cpu):
        program = os.path.join(self.tools.places["eddy"], "obs_eddy")
        count = max(1000, int(count * self.options.scale))
        ran = subprocess.run(["taskset", "-c", str(cpu), program, key, str(count)],
                             capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise BenchError(f"obs_eddy {key}: {ran.stderr.strip() or ran.returncode}")
        return ran.stdout

    def run(self, _server_cpu, client_cpu):
        self.tools.attempt(self.missing, "eddy", self.tools.build_eddy, "obs_eddy")
        if self.missing:
            return
        for _ in range(self.options.runs):
            for key, _, count in COSTS:
                out = self.output(key, count, client_cpu)
                self.costs.setdefault(key, []).append(float(re.search(r"([\d.]+) ns", out)[1]))
        for key, _, count in LAGS:
            self.lags[key] = self.output(key, count, client_cpu).strip()

    def table(self):
        lines = ["| operation | ns of CPU |", "|---|--:|"]
        for key, title, _ in COSTS:
            if key in self.costs:
                lines.append(f"| {title} | {median(self.costs[key]):.1f} |")
        return lines

    def notes(self):
        return [f"{title}: {self.lags[key].split(': ', 1)[1]}"
                for key, title, _ in LAGS if key in self.lags]
