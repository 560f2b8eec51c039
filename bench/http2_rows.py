"""The part of bench/run about HTTP/2: CPU time per request of servers, which h2load loads."""

import os
import re
import shutil
import subprocess
import tempfile
import time

from harness import BenchError, Others, median, pinned, read_line, verdict
from server_peers import BODY, ServerNginx, Servers
from server_rows import ServerBench
from tls import free_port

REQUESTS = 400_000
CONNECTIONS, STREAMS = 16, 32
WARM_SHARE = 10  # a tenth of the requests go before, and do not count
NGHTTPD_MOST = 0.85
# The fields that nghttpd sends for a file, beside Date, Content-Length and Server.
FIELDS = {"Cache-Control": "max-age=3600", "Last-Modified": "Sun, 29 Nov 2026 12:00:00 GMT"}
COUNTED = re.compile(r"^requests: .* (\d+) succeeded, 0 failed, 0 errored", re.MULTILINE)

# title, with TLS
ROWS = [
    (f"h2c, {CONNECTIONS} connections x {STREAMS} streams", False),
    (f"TLS, {CONNECTIONS} connections x {STREAMS} streams", True),
]

# key, title, its share of the requests of a row (the slow ones answer fewer), its command
HTTP2_PEERS = [
    ("eddy", "eddy", 1.0, ["{eddy}/server_eddy"]),
    ("nghttpd", "nghttpd", 1.0, None),
    ("nginx", "nginx", 0.5, None),
    ("go", "Go net/http", 0.25, ["{peers}/http2_go"]),
    ("node", "Node http2", 0.1, ["node", "{src}/server_node.js"]),
]


def need_program(tools, program):
    tools.need_program(shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin") or program)


def cpu_ns(pid):
    """The CPU time of a process, all threads, by the kernel's count (clock_getcpuclockid(3))."""
    return time.clock_gettime_ns((~pid << 3) | 2)


class Http2Nginx(ServerNginx):
    """nginx that answers by HTTP/2 on both ports, with the fields of nghttpd."""

    def servers(self):
        fields = "".join(f"add_header {name} '{value}';\n" for name, value in FIELDS.items())
        text = super().servers().replace("backlog=4096;", "http2 backlog=4096;")
        return text.replace("default_type", f"{fields}default_type")


class Http2Servers(Servers):
    """Builds the servers, and loads one at a time with h2load."""

    nginx_class = Http2Nginx

    def build(self, entries):
        tools, wanted = self.tools, {entry[0] for entry in entries}
        missing = tools.build_all(wanted, [
            ("eddy", tools.build_eddy, "server_eddy"),
            ("nghttpd", need_program, tools, "nghttpd"),
            ("nginx", tools.need_nginx),
            ("go", tools.build_go, "http2_go"),
            ("node", tools.need_program, "node"),
        ])
        tools.attempt(missing, "load", need_program, tools, "h2load")
        self.missing = missing
        return [] if "load" in missing else [entry for entry in entries if entry[0] not in missing]

    def h2load(self, count, url):
        argv = ["h2load", "-c", str(CONNECTIONS), "-m", str(STREAMS), "-n", str(count), url]
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
                              preexec_fn=pinned(self.client_cpu), check=False)
        found = COUNTED.search(done.stdout)
        if done.returncode != 0 or not found or int(found[1]) != count:
            raise BenchError(f"h2load had other than {count} answers: {done.stdout.strip()[-200:]}")
        if "Application protocol: h2" not in done.stdout:
            raise BenchError("the server does not speak HTTP/2")

    def load(self, port, pid, connections, count, way, secure, more):
        url = f"{'https' if secure else 'http'}://127.0.0.1:{port}/{more[0] if more else ''}"
        warm = max(connections, count // WARM_SHARE)
        with Others() as others:
            self.h2load(warm, url)
            before = cpu_ns(pid)
            self.h2load(count, url)
            used = cpu_ns(pid) - before
        self.others.append(others.percent)
        return {"ops": count, "all": warm + count, "us": used / count / 1000}

    def measure_nghttpd(self, connections, count, secure):
        """A run of nghttpd, which does not say its port, and answers with a file."""
        folder, port = tempfile.mkdtemp(prefix="eddy-bench-"), free_port()
        with open(os.path.join(folder, "answer.json"), "w") as file:
            file.write(BODY)
        argv = ["nghttpd", "-d", folder, str(port)] + ([self.nginx.key, self.nginx.cert] if secure else ["--no-tls"])
        server = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  preexec_fn=pinned(self.server_cpu))
        try:
            self.wait_for(port, server)
            result = self.load(port, server.pid, connections, count, "fields", secure, ["answer.json"])
        finally:
            server.kill()
            server.wait()
            shutil.rmtree(folder, ignore_errors=True)
        self.versions["nghttpd"] = read_line(["nghttpd", "--version"])
        return result

    @staticmethod
    def wait_for(port, server):
        """Until something listens there."""
        wanted = f":{port:04X}"
        for _ in range(500):
            for table in ("/proc/net/tcp", "/proc/net/tcp6"):
                with open(table) as file:
                    fields = [line.split() for line in file]
                if any(local.endswith(wanted) and state == "0A" for _, local, _, state, *_ in fields):
                    return
            if server.poll() is not None:
                break
            time.sleep(0.01)
        raise BenchError("nghttpd does not start")

    def measure(self, entry, connections, count, way, secure=False, more=()):
        if entry[0] == "nghttpd":
            return self.measure_nghttpd(connections, count, secure)
        if entry[0] == "nginx":
            return self.measure_nginx(connections, count, "respond", secure, more)
        return super().measure(entry, connections, count, way, secure, more)


class Http2Bench(ServerBench):
    """CPU time per request of servers of HTTP/2."""

    title = "HTTP/2 server"
    topic = "http2"
    measured, other, most = "server's", "nghttpd", NGHTTPD_MOST
    peers = HTTP2_PEERS
    all_rows = ROWS
    servers_class = Http2Servers

    def run_row(self, run, title, secure):
        def measure(entry):
            count = int(REQUESTS * entry[2] * self.options.scale * (0.6 if secure else 1))
            return self.servers.measure(entry, CONNECTIONS, max(CONNECTIONS * STREAMS, count), "fields", secure)["us"]
        self.measure_entries(run, title, measure)

    def heading(self, key, title):
        return f"{title} ({self.servers.versions.get(key, '-')})"

    def table(self):
        entries, other = self.entries, self.other
        lines = [f"| {self.measured} CPU us/request | " + " | ".join(self.heading(key, title) for key, title, *_ in entries)
                 + f" | eddy beside {other}, aim {self.most} | |",
                 "|---|" + "--:|" * len(entries) + "--:|---|"]
        for title, *_ in self.rows:
            costs = {key: self.cost(title, key) for key, *_ in entries}
            ours, theirs = costs.get("eddy"), costs.get(other)
            cells = " | ".join(f"{cost:.2f}" if cost else "-" for cost in costs.values())
            word = verdict(ours, theirs) if ours and theirs else ""
            lines.append(f"| {title} | {cells} | {self.ratio_cell(title, other, self.most)} | {word} |")
        return lines

    def notes(self):
        others = median(self.servers.others or [0])
        return [
            f"h2load keeps {STREAMS} requests at once on each of {CONNECTIONS} connections; server and client on one core "
            f"each. The answer is {len(BODY)} bytes of JSON with the fields that nghttpd sends for a file: Server, Date, "
            "Cache-Control, Last-Modified, Content-Type, Content-Length. nghttpd reads its file for each answer. Go and "
            "Node have all of them but Server.",
            "CPU time of the server, all threads, by the kernel's count, after a tenth of the work that does not count; "
            "the handshakes are in it. h2load and the servers that count, count the same number of requests, all "
            "answered with 200. The ratio is the median of those of runs with the same number. TLS 1.3, a certificate "
            "of P-256.",
            f"Other work took {others:.0f} % of the processors. Go: GOMAXPROCS=1, GOGC={self.options.gogc}.",
        ]
