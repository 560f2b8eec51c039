"""The rows of TLS: requests, handshakes and bulk beside OpenSSL alone; memory of idle connections."""

import json
import os
import socket
import subprocess
import sys
import threading

from harness import BenchError, Nginx, median, pinned, run_child

CONNECTIONS = 64
WIDTH = 16  # handshakes under way at once
IDLE = 10_000
BULK_BYTES = 1 << 30
IDLE_SECONDS = 300

CLIENTS = [
    ("floor", "OpenSSL, epoll loop"),
    ("eddy", "eddy"),
    ("curl", "libcurl multi_socket"),
    ("go", "Go"),
]

# title, kind, its argument, operations per run, aim: what eddy's figure is compared with, and
# how many times as much it may be.
ROWS = [
    ("request, 1 KB, plain", "requests", "http 1k", 60_000, None),
    ("request, 1 KB, TLS", "requests", "https 1k", 60_000, ("floor", 1.2)),
    ("request, 20 KB, plain", "requests", "http 20k", 30_000, None),
    ("request, 20 KB, TLS", "requests", "https 20k", 30_000, ("floor", 1.2)),
    ("handshake, full", "handshakes", "full", 3_000, ("floor", 1.05)),
    ("handshake, resumed", "handshakes", "resumed", 3_000, ("floor", 1.05)),
    ("bulk, 1 MB", "bulk", "bulk", 1, ("best", 1.05)),
    ("idle connection, KiB", "idle", "serve", IDLE, None),
    ("idle connection, HTTP server, KiB", "idle", "serve-http", IDLE, None),
]
IDLE_KIB_MAX = 24
IDLE_RUNS = 1  # memory hardly differs from run to run


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def say(text):
    print(text, file=sys.stderr, flush=True)


class TlsNginx(Nginx):
    """nginx that also serves files of 128 bytes, 1 and 20 KB and a big one, plain and with TLS 1.3."""

    def __init__(self, cpu, bulk_bytes):
        super().__init__(cpu)
        self.bulk_bytes = bulk_bytes

    def files_make(self):
        folder = os.path.join(self.folder, "files")
        if os.path.exists(folder):
            return
        os.mkdir(folder)
        os.chmod(self.folder, 0o755)
        sizes = {"128": 128, "1k": 1 << 10, "20k": 20 << 10, "bulk": self.bulk_bytes}
        for name, size in sizes.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.truncate(size)
        self.cert, self.key = (os.path.join(self.folder, name) for name in ("cert", "key"))
        command = (
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "
            f"/CN=bench -addext subjectAltName=IP:127.0.0.1,DNS:*.bench.test -out {self.cert} -keyout {self.key}"
        )
        try:
            subprocess.run(command.split(), check=True, stderr=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as error:
            raise BenchError("openssl cannot make a certificate") from error

    def address(self, scheme):
        return f"{scheme}://127.0.0.1:{self.ports[scheme]}/"

    def servers(self):
        self.files_make()
        self.ports = {"http": free_port(), "https": free_port()}
        return f"""
        open_file_cache max=10;
        server {{
                listen 127.0.0.1:{self.ports["http"]};
                listen 127.0.0.1:{self.ports["https"]} ssl;
                root {self.folder}/files;
                ssl_certificate {self.cert};
                ssl_certificate_key {self.key};
                ssl_protocols TLSv1.3;
                ssl_conf_command Ciphersuites TLS_AES_256_GCM_SHA384;
                location = /reused {{ return 200 "$ssl_session_reused"; }}
        }}"""


class TlsBench:
    """CPU time per operation beside a level-triggered epoll loop on OpenSSL."""

    title = "TLS"
    part = "tls"
    clients = CLIENTS
    all_rows = ROWS

    def __init__(self, options, tools):
        self.options = options
        self.tools = tools
        only = options.only.split(",") if options.only else None
        self.entries = [c for c in self.clients if not only or c[0] in only]
        self.rows = [r for r in self.all_rows if not options.row or options.row in r[0]]
        self.figures = {}  # row's title: client's key: those of its runs
        self.versions = {}
        self.missing = {}
        self.failures = []

    def build(self):
        tools, libraries = self.tools, ["-lssl", "-lcrypto"]
        wanted = {"floor", *(key for key, _ in self.entries)}
        builds = [
            ("floor", tools.build_c, "http_floor.c", "http_floor", libraries),
            ("floor", tools.build_c, "tls_floor.c", "tls_floor", libraries),
            ("eddy", tools.build_eddy, "http_eddy"),
            ("eddy", tools.build_eddy, "tls_eddy"),
            ("curl", tools.build_c, "peers/http_curl.c", "http_curl", ["-lcurl"]),
            ("go", tools.build_go, "http_go"),
            ("go", tools.build_go, "tls_go"),
        ]
        self.missing = tools.build_all(wanted, builds)
        self.entries = [c for c in self.entries if c[0] not in self.missing]

    def program(self, key, kind):
        place = self.tools.places["eddy" if key == "eddy" else "peers"]
        return os.path.join(place, f"{kind}_{key}")

    def count(self, base):
        return max(CONNECTIONS, int(base * self.options.scale))

    # A run of each kind.  It returns the figure of one operation, or None if the client has
    # no such row.

    def requests(self, nginx, key, arg, base):
        scheme, name = arg.split()
        count = self.count(base)
        url = nginx.address(scheme) + name
        argv = [self.program(key, "http"), url, str(count), str(CONNECTIONS)]
        return self.cpu_us(self.checked(nginx, argv, count, CONNECTIONS), count)

    def handshakes(self, nginx, key, arg, base):
        if key == "curl":
            return None
        count = self.count(base)
        argv = [self.program(key, "tls"), arg, str(nginx.ports["https"]), str(count), str(WIDTH)]
        result = self.checked(nginx, argv, count, count)
        low, high = (0, 0) if arg == "full" else (count - WIDTH, count)
        if not low <= result["resumed"] <= high:
            raise BenchError(f"{key}: {result['resumed']} of {count} handshakes were resumed")
        return self.cpu_us(result, count)

    def bulk(self, nginx, key, arg, _):
        argv, ok = [self.program(key, "http"), nginx.address("https") + arg, "1", "1"], 1
        if key == "eddy":
            ok = nginx.bulk_bytes
            argv = [self.program(key, "tls"), "bulk", nginx.address("https") + arg, str(ok)]
        return self.cpu_us(self.checked(nginx, argv, 1, 1, ok), nginx.bulk_bytes / 1e6)

    def checked(self, nginx, argv, served, accepted, ok=None):
        """Run a client; believed only if the server saw what the client says."""
        accepts, requests = nginx.status()
        result = run_child(argv, self.client_cpu, self.env)
        accepts_after, requests_after = nginx.status()
        seen = requests_after - requests, accepts_after - accepts, result["ok"]
        if seen != (served, accepted, ok or served):
            raise BenchError(
                f"{os.path.basename(argv[0])}: {seen} requests, connections and answers "
                f"instead of {(served, accepted, ok or served)}"
            )
        self.version = result["client"]
        return result

    @staticmethod
    def cpu_us(result, operations):
        return result["cpu_ns"] / operations / 1000

    def idle(self, nginx, key, arg, base):
        """Memory of a server; its companion opens connections and sends a request on each."""
        if key not in ("floor", "eddy") or (key == "floor" and arg != "serve"):
            return None
        count = self.count(base)
        argv = [self.program(key, "tls"), arg, str(count), nginx.cert, nginx.key]
        server = subprocess.Popen(
            argv, stdout=subprocess.PIPE, text=True, preexec_fn=pinned(self.client_cpu)
        )
        limit = threading.Timer(IDLE_SECONDS, server.kill)
        limit.start()
        companion = None
        try:
            port = server.stdout.readline().strip()
            companion = subprocess.Popen(
                [self.program("floor", "tls"), "hold", port, str(count)],
                env={**os.environ, **self.env},
                preexec_fn=pinned(self.server_cpu),
            )
            line = server.stdout.readline()
        finally:
            limit.cancel()
            for process in (server, companion):
                if process:
                    process.kill()
                    process.wait()
            server.stdout.close()
        result = json.loads(line or "{}")
        if result.get("ok") != count:
            raise BenchError(f"{key}: not all of {count} connections were answered")
        self.version = result["client"]
        return result["kib"] / count

    def run(self, server_cpu, client_cpu):
        self.server_cpu, self.client_cpu = server_cpu, client_cpu
        self.build()
        with TlsNginx(server_cpu, max(1, int(BULK_BYTES * self.options.scale))) as nginx:
            self.env = self.environment(nginx)
            for row in self.rows:
                self.measure(nginx, row)

    def environment(self, nginx):
        return {
            "GOMAXPROCS": "1",
            "GOGC": self.options.gogc,
            "SSL_CERT_FILE": nginx.cert,
            "SSL_CERT_DIR": os.path.join(nginx.folder, "none"),
        }

    def measure(self, nginx, row):
        """All runs of one row, the clients in turn."""
        title, kind, arg, base, _ = row
        figures = self.figures[title] = {}
        runs = min(self.options.runs, IDLE_RUNS) if kind == "idle" else self.options.runs
        for _ in range(runs):
            for key, _ in self.entries:
                try:
                    figure = getattr(self, kind)(nginx, key, arg, base)
                except BenchError as error:
                    self.failures.append(f"{title}: {error}")
                    say(f"FAILED {title}: {error}")
                    continue
                if figure is not None:
                    figures.setdefault(key, []).append(figure)
                    names = self.versions.setdefault(key, [])
                    if self.version not in names:
                        names.append(self.version)
        shown = (f"{key} {median(runs):.1f} (least {min(runs):.1f})" for key, runs in figures.items())
        say(f"{self.part} {title}: " + ", ".join(shown))

    def table(self):
        names = " | ".join(f"{title} ({'; '.join(self.versions.get(key, ['-']))})"
                           for key, title in self.entries)
        lines = [
            f"| CPU us per operation | {names} | eddy beside the loop | aim |",
            "|---|" + "--:|" * len(self.entries) + "--:|---|",
        ]
        for title, kind, *_, aim in self.rows:
            middle = {key: median(runs) for key, runs in self.figures[title].items()}
            cells = (f"{middle[key]:,.1f}" if key in middle else "-" for key, _ in self.entries)
            ratio = ""
            if "eddy" in middle and "floor" in middle:
                ratio = f"{middle['eddy'] / middle['floor']:.2f} x"
            lines.append(
                f"| {title} | " + " | ".join(cells)
                + f" | {ratio} | {self.standing(middle, kind, aim)} |"
            )
        return lines

    @staticmethod
    def standing(middle, kind, aim):
        """Whether eddy's figure is what we want it to be."""
        ours = middle.get("eddy")
        others = {key: figure for key, figure in middle.items() if key != "eddy"}
        if kind == "idle" and ours:
            return f"{IDLE_KIB_MAX} KiB: {'met' if ours <= IDLE_KIB_MAX else 'missed'}"
        if not aim or not ours or not others:
            return ""
        whose, times = aim
        other = min(others.values()) if whose == "best" else others.get("floor")
        if not other:
            return ""
        word = "met" if ours <= other * times else "missed"
        return f"{times:.2f} x {'the loop' if whose == 'floor' else 'the best'}: {word}"

    def notes(self):
        return [
            "TLS 1.3, AES-256-GCM, X25519, a certificate of P-256 that every client verifies; nginx "
            "and client on one core each. CPU time is user and system of the whole client process, "
            "all threads, from before the trusted certificates are read. The loop is OpenSSL on each "
            "socket (SSL_set_fd(), read_ahead).",
            f"request: {CONNECTIONS} connections, kept alive. handshake: connect, handshake, a "
            "request of a byte, the end of the connection; "
            f"{WIDTH} at once. Whether a session was resumed is what nginx says; each session was "
            f"used once. bulk: one response of {int(BULK_BYTES * self.options.scale / 1e6):,} MB.",
            f"idle connection: resident memory and page tables of a server with "
            f"{self.count(IDLE):,} connections after one request each, less that before the "
            "first, per connection; without the kernel's socket; of a single run.",
        ]
