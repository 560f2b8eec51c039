"""The rows of HTTP clients by the size of the answer, plain and with TLS."""

import os

from harness import median
from tls import CONNECTIONS, TlsBench

PYTHON = ["{python}", "{src}/http_python.py"]

# key, title, its share of a row's requests (the slow ones send fewer), how it is started
SIZE_CLIENTS = [
    ("floor", "epoll loop", 1.0, ["{peers}/http_floor"]),
    ("eddy", "eddy", 1.0, ["{eddy}/http_eddy"]),
    ("curl", "libcurl multi_socket", 0.7, ["{peers}/http_curl"]),
    ("go", "Go", 0.7, ["{peers}/http_go"]),
    ("hyper", "hyper", 1.0, ["{peers}/http_hyper"]),
    ("undici", "undici", 0.25, ["node", "{src}/http_node.js"]),
    ("aiohttp-uvloop", "aiohttp, uvloop", 0.15, [*PYTHON, "aiohttp", "uvloop"]),
    ("httpx-split", "httpx, uvloop", 0.05, [*PYTHON, "httpx-split", "uvloop"]),
]

# title, kind, its argument, requests per run, how many times the loop's cost is the aim.
SIZE_ROWS = [
    ("128 B, plain", "requests", "http 128", 60_000, ("floor", 1.15)),
    ("128 B, TLS", "requests", "https 128", 40_000, ("floor", 1.2)),
    ("1 KB, plain", "requests", "http 1k", 60_000, ("floor", 1.15)),
    ("1 KB, TLS", "requests", "https 1k", 40_000, ("floor", 1.2)),
    ("20 KB, plain", "requests", "http 20k", 40_000, ("floor", 1.15)),
    ("20 KB, TLS", "requests", "https 20k", 20_000, ("floor", 1.2)),
]


class HttpSizesBench(TlsBench):
    """CPU time per request beside the loops and the clients of other languages."""

    title = "HTTP client, by the size of the answer"
    part = "http"
    clients = [(key, title) for key, title, *_ in SIZE_CLIENTS]
    all_rows = SIZE_ROWS
    programs = {key: (share, command) for key, _, share, command in SIZE_CLIENTS}

    def build(self):
        tools, libraries = self.tools, ["-lssl", "-lcrypto"]
        builds = [
            ("floor", tools.build_c, "http_floor.c", "http_floor", libraries),
            ("eddy", tools.build_eddy, "http_eddy"),
            ("curl", tools.build_c, "peers/http_curl.c", "http_curl", ["-lcurl"]),
            ("go", tools.build_go, "http_go"),
            ("hyper", tools.build_rust, "http_hyper", "hyper"),
            ("undici", tools.need_undici),
            ("aiohttp-uvloop", tools.need_python, "aiohttp", "uvloop"),
            ("httpx-split", tools.need_python, "httpx", "uvloop"),
        ]
        self.missing = tools.build_all({key for key, _ in self.entries}, builds)
        self.entries = [c for c in self.entries if c[0] not in self.missing]

    def environment(self, nginx):
        return {
            **super().environment(nginx),
            "NODE_PATH": self.tools.places.get("node_modules", ""),
        }

    def requests(self, nginx, key, arg, base):
        scheme, name = arg.split()
        share, command = self.programs[key]
        count = self.count(base * share)
        argv = [*self.tools.command(command), nginx.address(scheme) + name]
        argv += [str(count), str(CONNECTIONS)]
        return self.cpu_us(self.checked(nginx, argv, count, CONNECTIONS), count)

    def table(self):
        """The table of TLS, and how many times the other clients' costs eddy's cost is."""
        head, line, *rows = super().table()
        others = [key for key, _ in self.entries if key not in ("floor", "eddy")]
        lines = [f"{head} eddy beside {', '.join(others)} |", f"{line}---|"]
        for row, (title, *_) in zip(rows, self.rows):
            middle = {key: median(runs) for key, runs in self.figures[title].items()}
            ours = middle.get("eddy")
            ratios = (f"{ours / middle[key]:.2f}" if ours and key in middle else "-" for key in others)
            lines.append(f"{row} {', '.join(ratios)} |")
        return lines

    def notes(self):
        return [
            f"{CONNECTIONS} connections, kept alive; nginx and client on one core each. CPU time is "
            "user and system of the whole client process, all threads, from before the first "
            "connect. In every run client and server counted as many answers as were asked for, all "
            f"with status 200 and a body of the same length, and {CONNECTIONS} connections.",
            "TLS 1.3, AES-256-GCM, a certificate that every client verifies, by OpenSSL in all but "
            "Go. The clients and the files are described in bench/README.md.",
        ]
