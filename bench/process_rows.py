"""The part of bench/run about child processes: how fast they start, and how late timers are meanwhile."""

import json
import os
import subprocess

from harness import BenchError, Others, median

COUNT = 1000
PROCESS_PEERS = [
    ("spawn", "posix_spawn in a loop", ["{peers}/process_spawn"], [None]),
    ("eddy", "eddy", ["{eddy}/process_eddy"], [1, 8]),
    ("go", "Go os/exec", ["{peers}/process_go"], [1, 8]),
    ("asyncio", "asyncio", ["/usr/bin/python3", "{src}/process_asyncio.py"], [1, 8]),
]


class ProcessBench:
    """Starts per second, CPU time of the parent per start, and the lag of its timers."""

    title = "Child processes"

    def __init__(self, options, tools):
        self.options, self.tools = options, tools
        only = options.only.split(",") if options.only else None
        self.entries = [peer for peer in PROCESS_PEERS if not only or peer[0] in only]
        self.missing, self.failures, self.runs, self.versions = {}, [], {}, {}

    def measure(self, command, tasks):
        count = max(10, int(COUNT * self.options.scale))
        argv = self.tools.command(command) + [str(count)] + ([str(tasks)] if tasks else [])
        ran = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
        if ran.returncode:
            raise BenchError(f"{os.path.basename(argv[0])}: {ran.stderr.strip() or ran.returncode}")
        return json.loads(ran.stdout)

    def run(self, _server_cpu, _client_cpu):
        self.missing = self.tools.build_all({peer[0] for peer in self.entries}, [
            ("spawn", self.tools.build_c, "peers/process_spawn.c", "process_spawn"),
            ("eddy", self.tools.build_eddy, "process_eddy"),
            ("go", self.tools.build_go, "process_go"),
        ])
        for _ in range(self.options.runs):
            for key, title, command, at_once in self.entries:
                for tasks in at_once if key not in self.missing else []:
                    try:
                        with Others() as others:
                            result = self.measure(command, tasks)
                    except (BenchError, subprocess.TimeoutExpired) as error:
                        self.failures.append(f"process: {error}")
                        continue
                    self.versions[key] = result["peer"]
                    self.runs.setdefault((title, tasks), []).append({**result, "others": others.percent})

    def table(self):
        lines = ["| | at once | starts per second | CPU of the parent per start | lag, p99 | longest | other work |",
                 "|---|--:|--:|--:|--:|--:|--:|"]
        for (title, tasks), results in self.runs.items():
            rate = median([1e9 * r["ops"] / r["wall_ns"] for r in results])
            cpu = median([r["cpu_ns"] / r["ops"] / 1000 for r in results])
            p99, longest = (f"{median([r[name] for r in results]) / 1e6:.2f} ms" if tasks else "-"
                            for name in ("lag_p99_ns", "lag_max_ns"))
            lines.append(f"| {title} | {tasks or 1} | {rate:,.0f} | {cpu:,.0f} us | {p99} | {longest} | "
                         f"{median([r['others'] for r in results]):.0f} % |")
        return lines

    def notes(self):
        return [
            "/bin/true, on all processors. Beside it 1,000 tasks wake every 100 ms, except for "
            "posix_spawn; the lag is how late they wake. Rates and lags count only if other work took about 0 % of "
            "the processors.",
            *(f"{key}: {version}" for key, version in self.versions.items()),
        ]
