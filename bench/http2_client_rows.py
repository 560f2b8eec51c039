"""The part of bench/run about HTTP/2: CPU time per request of clients, which ask nghttpd or eddy's server."""

import json
import os
import subprocess

from harness import BenchError, Others, median, pinned, read_line, verdict
from http2_rows import CONNECTIONS, COUNTED, STREAMS, WARM_SHARE, Http2Bench, Http2Servers, need_program
from server_peers import BODY

REQUESTS = 300_000
H2LOAD_MOST = 1.25

# title, the server, with TLS
ROWS = [
    (f"h2c, nghttpd, {CONNECTIONS} connections x {STREAMS} streams", "nghttpd", False),
    (f"h2c, eddy's server, {CONNECTIONS} connections x {STREAMS} streams", "eddy", False),
    (f"TLS, nghttpd, {CONNECTIONS} connections x {STREAMS} streams", "nghttpd", True),
]

# key, title, its share of the requests of a row (the slow ones send fewer), its command before the numbers
HTTP2_CLIENTS = [
    ("eddy", "eddy", 1.0, ["{eddy}/http2_eddy"]),
    ("h2load", "h2load", 1.0, None),
    ("go", "Go net/http", 0.25, ["{peers}/http2_client_go"]),
    ("httpx", "httpx", 0.02, ["{python}", "{src}/http2_httpx.py"]),
]


class Http2Clients(Http2Servers):
    """Builds the clients, and has one at a time load a server."""

    def build(self, entries):
        tools, wanted = self.tools, {entry[0] for entry in entries}
        missing = tools.build_all(wanted, [
            ("eddy", tools.build_eddy, "http2_eddy"),
            ("h2load", need_program, tools, "h2load"),
            ("go", tools.build_go, "http2_client_go"),
            ("httpx", tools.need_python, "httpx", "h2"),
        ])
        tools.attempt(missing, "server", tools.build_eddy, "server_eddy")
        tools.attempt(missing, "server", need_program, tools, "nghttpd")
        self.missing = missing
        return [] if "server" in missing else [entry for entry in entries if entry[0] not in missing]

    def cpu_ns(self, command, count, url):
        """The CPU time of a client's process that gets 'count' answers."""
        numbers = [str(count), str(CONNECTIONS), str(STREAMS)]
        argv = (self.tools.command(command) + [url, *numbers] if command else
                ["h2load", "-n", numbers[0], "-c", numbers[1], "-m", numbers[2], url])
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, **self.env}, preexec_fn=pinned(self.client_cpu)) as child:
            text = child.stdout.read()
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        found = COUNTED.search(text)
        ok = int(found[1]) if found else json.loads(text.strip().splitlines()[-1])["ok"] if not status else 0
        if status or ok != count:
            raise BenchError(f"{argv[0]} had other than {count} answers: {text.strip()[-200:]}")
        return (used.ru_utime + used.ru_stime) * 1e9

    def load(self, port, pid, connections, count, way, secure, more):
        url = f"{'https' if secure else 'http'}://127.0.0.1:{port}/{more[0] if more else ''}"
        less = max(connections, count // WARM_SHARE)
        with Others() as others:
            start = self.cpu_ns(self.client[3], less, url)
            used = self.cpu_ns(self.client[3], count, url) - start
        self.others.append(others.percent)
        return {"ops": count, "all": less + count, "us": used / (count - less) / 1000}

    def measure_client(self, client, server, count, secure):
        self.client = client
        entry = (server, server, 1.0, ["{eddy}/server_eddy"])
        result = self.measure(entry, CONNECTIONS * STREAMS, count, "fields", secure)
        if client[0] == "h2load":
            self.versions["h2load"] = read_line(["h2load", "--version"])
        return result


class Http2ClientBench(Http2Bench):
    """CPU time per request of clients of HTTP/2."""

    title = "HTTP/2 client"
    topic = "http2 client"
    measured, other, most = "client's", "h2load", H2LOAD_MOST
    peers = HTTP2_CLIENTS
    all_rows = ROWS
    servers_class = Http2Clients

    def run_row(self, run, title, server, secure):
        def measure(entry):
            count = int(REQUESTS * entry[2] * self.options.scale * (0.6 if secure else 1))
            return self.servers.measure_client(entry, server, max(20 * CONNECTIONS * STREAMS, count), secure)["us"]
        self.measure_entries(run, title, measure)

    def heading(self, _, title):
        return title

    def notes(self):
        others = median(self.servers.others or [0])
        return [
            f"Each client keeps {STREAMS} requests at once on each of {CONNECTIONS} connections; server and client on one "
            f"core each. The answer has {len(BODY)} bytes, and is read. h2load has one request, which it sends again and "
            "again; the others are calls of a client as a program makes them.",
            "CPU time of the client's process, user and system: a run with a tenth of the requests is subtracted, and "
            "with it the start. All requests were answered with 200. The ratio is the median of those of runs with the "
            "same number. Certificates are not checked.",
            f"Other work took {others:.0f} % of the processors. Go: GOMAXPROCS=1, GOGC={self.options.gogc}.",
        ]
