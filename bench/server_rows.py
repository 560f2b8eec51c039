"""The part of bench/run about HTTP servers: CPU time per request, beside nginx and Go."""

import json
import os
import subprocess

from harness import BODY, BenchError, Nginx, Others, median, pinned, run_child, verdict
from tls import free_port

CONNECTIONS = 64
REQUESTS = 200_000
PIECES_MOST = 1.1  # times respond

SERVER_PEERS = [
    ("eddy", "eddy", ["{eddy}/server_eddy"]),
    ("nginx", "nginx", None),
    ("go", "Go net/http", ["{peers}/server_go"]),
]
# The row's title, its name in the programs, and nginx's location.
ROWS = [
    ("respond", "respond", "/"),
    ("begin, write, end, known length", "known", "/"),
    ("begin, write, end, unknown length", "unknown", "/unknown"),
]


class ServerNginx(Nginx):
    """nginx that answers on a port of its own, also a body whose length it does not know."""

    def servers(self):
        self.port = free_port()
        body = BODY.replace("\n", "\\n")
        return f"""
        server {{
                listen 127.0.0.1:{self.port};
                location = / {{ return 200 "{body}"; }}
                location = /unknown {{
                        sub_filter "y" "z";
                        sub_filter_types text/plain;
                        return 200 "{body}";
                }}
        }}"""

    def worker(self):
        """The process that answers: the only child of the one that was started."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return file.read().split()[0]


class ServerBench:
    """CPU time per request of HTTP servers."""

    title = "HTTP server"

    def __init__(self, options, tools):
        self.options, self.tools = options, tools
        only = options.only.split(",") if options.only else None
        self.entries = [peer for peer in SERVER_PEERS if not only or peer[0] in only]
        self.rows = [row for row in ROWS if not options.row or options.row in row[0]]
        self.env = {"GOMAXPROCS": "1", "GOGC": options.gogc}
        self.missing, self.failures, self.versions, self.others = {}, [], {}, []
        self.runs = {}  # (row's title, key): us per request, by number of the run

    def load(self, port, pid, path):
        """Load a server; returns the CPU time of one of its requests, in us, and how many requests there were."""
        count = max(CONNECTIONS, int(REQUESTS * self.options.scale))
        program = os.path.join(self.tools.places["peers"], "server_load")
        argv = [program, str(port), str(pid), str(CONNECTIONS), str(count), path]
        with Others() as others:
            result = run_child(argv, self.client_cpu)
        self.others.append(others.percent)
        return result["server_cpu_ns"] / result["ops"] / 1000, result["all"]

    def measure_nginx(self, nginx, path):
        served = nginx.status()[1]
        cost, count = self.load(nginx.port, nginx.worker(), path)
        if nginx.status()[1] - served != count:
            raise BenchError(f"nginx answered other than {count} requests")
        self.versions["nginx"] = nginx.version()
        return cost

    def measure(self, entry, name):
        """A run of a server that prints its port, and at its end how many requests it answered."""
        key, _, command = entry
        argv = [*self.tools.command(command), name]
        server = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, **self.env}, preexec_fn=pinned(self.server_cpu))
        try:
            port = server.stdout.readline().strip()
            if not port.isdigit():
                server.kill()
                raise BenchError(f"{key}: no port: {server.communicate()[1].strip()}")
            cost, count = self.load(port, server.pid, "/")
            server.terminate()
            said = json.loads(server.communicate(timeout=30)[0])
        except (ValueError, subprocess.TimeoutExpired) as error:
            raise BenchError(f"{key} did not end as it should") from error
        finally:
            server.kill()
            server.communicate()
        if said["ops"] != count:
            raise BenchError(f"{key} answered {said['ops']} of {count} requests")
        self.versions[key] = said["peer"]
        return cost

    def run(self, *cpus):
        self.server_cpu, self.client_cpu = cpus
        self.missing = self.tools.build_all({entry[0] for entry in self.entries}, [
            ("eddy", self.tools.build_eddy, "server_eddy"),
            ("nginx", self.tools.need_nginx),
            ("go", self.tools.build_go, "server_go"),
        ])
        self.tools.attempt(self.missing, "load", self.tools.build_c, "server_load.c", "server_load")
        if "load" in self.missing:
            return
        self.entries = [entry for entry in self.entries if entry[0] not in self.missing]
        if not any(entry[0] == "nginx" for entry in self.entries):
            self.run_rows(None)
            return
        with ServerNginx(self.server_cpu) as nginx:
            self.run_rows(nginx)

    def run_rows(self, nginx):
        """All runs: the rows in turn, and in each the servers."""
        for run in range(self.options.runs):
            for title, name, path in self.rows:
                for entry in self.entries:
                    key = entry[0]
                    try:
                        if key == "nginx":
                            cost = self.measure_nginx(nginx, path)
                        else:
                            cost = self.measure(entry, name)
                    except BenchError as error:
                        self.failures.append(f"{title}: {error}")
                        continue
                    self.runs.setdefault((title, key), {})[run] = cost

    def cost(self, title, key):
        """The median of a server in a row, or None."""
        runs = self.runs.get((title, key))
        return median(runs.values()) if runs else None

    def beside_respond(self, title):
        """The median of the ratios of eddy's neighbouring runs."""
        first, runs = self.runs.get((ROWS[0][0], "eddy"), {}), self.runs.get((title, "eddy"), {})
        both = [runs[run] / first[run] for run in runs if run in first]
        return median(both) if both and title != ROWS[0][0] else None

    def table(self):
        lines = ["| server's CPU us/request | " + " | ".join(
                     f"{title} ({self.versions.get(key, '-')})" for key, title, _ in self.entries)
                 + " | eddy beside its respond | aim | eddy beside the best |",
                 "|---|" + "--:|" * len(self.entries) + "--:|---|---|"]
        for title, *_ in self.rows:
            costs = {key: self.cost(title, key) for key, *_ in self.entries}
            ratio, ours = self.beside_respond(title), costs.get("eddy")
            others = [cost for key, cost in costs.items() if key != "eddy" and cost]
            aim = f"{PIECES_MOST} x: {'met' if ratio <= PIECES_MOST else 'missed'}" if ratio else ""
            beside = f"{ours / min(others):.2f} x: {verdict(ours, min(others))}" if ours and others else ""
            cells = " | ".join(f"{cost:.2f}" if cost else "-" for cost in costs.values())
            lines.append(f"| {title} | {cells} | {f'{ratio:.2f}' if ratio else ''} | {aim} | {beside} |")
        return lines

    def notes(self):
        return [
            f"{CONNECTIONS} connections, kept alive, {len(BODY)} bytes of body; server and client on one core each. "
            "CPU time of the server, all threads, by the kernel's count, while it answers the last ten of each eleven "
            "requests. Client and server counted the same number of requests, all answered with 200.",
            "The ratio to respond is the median of those of neighbouring runs. Unknown length: chunked; nginx does "
            "this for a body that it searches (sub_filter); Go, if the handler asks for chunks.",
            f"Other work took {median(self.others or [0]):.0f} % of the processors.",
            f"Go: GOMAXPROCS=1, GOGC={self.options.gogc}.",
        ]
