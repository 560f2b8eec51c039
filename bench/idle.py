"""Memory of idle HTTP connections: a server's, and those in a client's pool."""

import contextlib
import os
import resource
import socket
import ssl
import subprocess
import time

from harness import BenchError, Nginx, pinned
from tls import TlsNginx, say

IDLE = 5_000
IDLE_SECONDS = 3  # after the last answer; eddy releases memory after a second
WAIT_SECONDS = 300
SPARE_FILES = 200
REQUEST = b"GET /reused HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
# The kernel's objects for a socket that epoll watches.
SLABS = ("TCP", "sock_inode_cache", "filp", "dentry", "eventpoll_epi")

PEERS = [("eddy", "eddy"), ("nginx", "nginx"), ("go", "Go net/http")]

# title, side, with TLS, KiB at most
ROWS = [
    ("server, plain", "server", False, 6),
    ("server, TLS", "server", True, 16),
    ("client's pool, plain", "client", False, 6),
    ("client's pool, TLS", "client", True, 16),
    ("client's pool after all at once, plain", "burst", False, None),
    ("client's pool after all at once, TLS", "burst", True, None),
]


class IdleNginx(TlsNginx):
    """nginx that takes as many connections as the process may have files."""

    def config(self, port, status_port):
        text = super().config(port, status_port)
        return text.replace("worker_connections 4096", f"worker_connections {2 * IDLE}")

    def worker(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return int(file.read().split()[0])


def memory_kib(pid):
    """Resident memory and page tables of a process."""
    with open(f"/proc/{pid}/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    return sum(int(fields[name].split()[0]) for name in ("VmRSS", "VmPTE"))


def kernel_bytes():
    """Memory of the kernel's objects for sockets, of the whole machine; None if not allowed."""
    try:
        with open("/proc/slabinfo") as file:
            rows = [line.split() for line in file]
    except OSError:
        return None
    return sum(int(row[1]) * int(row[3]) for row in rows if row[0] in SLABS)


class Holder:
    """A companion that opens connections, and sends a request on each."""

    def __init__(self, port, cert):
        self.address = ("127.0.0.1", port)
        self.tls = ssl.create_default_context(cafile=cert) if cert else None
        self.open = []

    def add(self):
        one = socket.create_connection(self.address, 30)
        if self.tls:
            one = self.tls.wrap_socket(one, server_hostname="127.0.0.1")
        self.open.append(one)
        one.sendall(REQUEST)
        if not one.recv(4096).startswith(b"HTTP/1.1 200"):
            raise BenchError("a request was not answered with 200")

    def close(self):
        for one in self.open:
            one.close()


class IdleBench:
    """Memory per idle connection."""

    title = "Idle connections"

    def __init__(self, options, tools):
        self.options = options
        self.tools = tools
        self.entries = [p for p in PEERS if not options.only or p[0] in options.only.split(",")]
        self.rows = [r for r in ROWS if not options.row or options.row in r[0]]
        self.count = max(10, int(IDLE * options.scale))
        self.figures = {}  # row's title: peer's key: KiB
        self.kernel = []  # KiB for a socket
        self.missing = {}
        self.failures = []

    def build(self):
        self.missing = self.tools.build_all({"eddy", *(key for key, _ in self.entries)}, [
            ("eddy", self.tools.build_eddy, "idle_eddy"),
            ("go", self.tools.build_go, "idle_go"),
        ])
        self.entries = [e for e in self.entries if e[0] not in self.missing]
        if "eddy" in self.missing:
            raise BenchError("every row needs idle_eddy")

    def allow_files(self):
        wanted = self.count + SPARE_FILES
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < wanted:
            raise BenchError(f"{wanted} descriptors are needed (ulimit -n)")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))

    def start(self, key, *args):
        place = self.tools.places["eddy" if key == "eddy" else "peers"]
        return subprocess.Popen(
            [os.path.join(place, f"idle_{key}"), *args],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.env,
            preexec_fn=pinned(self.client_cpu),
        )

    @contextlib.contextmanager
    def started(self, key, *args):
        process = self.start(key, *args)
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()

    def server(self, nginx, key, secure):
        """KiB of a server for each connection; a companion in Python holds the other ends."""
        files = (nginx.cert, nginx.key) if secure else ()
        with contextlib.ExitStack() as stack:
            if key == "nginx":
                nginx = stack.enter_context(IdleNginx(self.server_cpu, 0))
                pid, port = nginx.worker(), nginx.ports["https" if secure else "http"]
            else:
                process = stack.enter_context(self.started(key, "serve", str(self.count), *files))
                pid, port = process.pid, int(process.stdout.readline())
            holder = Holder(port, nginx.cert if secure else None)
            stack.callback(holder.close)
            holder.add()
            before, kernel = memory_kib(pid), kernel_bytes()
            for _ in range(self.count):
                holder.add()
            time.sleep(IDLE_SECONDS)
            if kernel is not None and not secure:
                self.kernel.append((kernel_bytes() - kernel) / 1024 / (2 * self.count))
            return (memory_kib(pid) - before) / self.count

    def client(self, nginx, key, secure):
        """KiB of a client for each connection, opened one after another, each to its own origin."""
        return self.asked(nginx, key, secure, "serve", "visit")

    def burst(self, nginx, key, secure):
        """The same for one origin; its server answers when all requests are there."""
        return self.asked(nginx, key, secure, "together", "hold")

    def asked(self, nginx, key, secure, serves, asks):
        if key == "nginx":
            return None
        files = (nginx.cert, nginx.key) if secure else ()
        with self.started("eddy", serves, str(self.count), *files) as server:
            port = server.stdout.readline().strip()
            scheme = "https" if secure else "http"
            with self.started(key, asks, scheme, port, str(self.count)) as client:
                if client.stdout.readline().strip() != "warm":
                    raise BenchError(f"{key}: the first request failed")
                before = memory_kib(client.pid)
                client.stdin.write("go\n")
                client.stdin.flush()
                if client.stdout.readline().strip() != "idle":
                    raise BenchError(f"{key}: a request failed")
                time.sleep(IDLE_SECONDS)
                return (memory_kib(client.pid) - before) / self.count

    def run(self, server_cpu, client_cpu):
        self.server_cpu, self.client_cpu = server_cpu, client_cpu
        self.build()
        self.allow_files()
        with IdleNginx(server_cpu, 0) as nginx:
            self.env = {**os.environ, "SSL_CERT_FILE": nginx.cert}
            for title, side, secure, _ in self.rows:
                figures = self.figures[title] = {}
                for key, _ in self.entries:
                    try:
                        figure = getattr(self, side)(nginx, key, secure)
                    except (OSError, ValueError, BenchError) as error:
                        self.failures.append(f"idle {title}: {key}: {error}")
                        continue
                    if figure is not None:
                        figures[key] = figure
                say(f"idle {title}: " + ", ".join(f"{k} {v:.1f}" for k, v in figures.items()))

    def table(self):
        lines = [
            "| KiB per idle connection | " + " | ".join(title for _, title in self.entries) + " | aim |",
            "|---|" + "--:|" * len(self.entries) + "---|",
        ]
        for title, _, _, most in self.rows:
            figures = self.figures[title]
            cells = " | ".join(f"{figures[k]:.1f}" if k in figures else "-" for k, _ in self.entries)
            word = ""
            if "eddy" in figures and most:
                word = f"{most} KiB: {'met' if figures['eddy'] <= most else 'missed'}"
            lines.append(f"| {title} | {cells} | {word} |")
        return lines

    def notes(self):
        kernel = f"{sum(self.kernel) / len(self.kernel):.1f} KiB" if self.kernel else "not measured"
        return [
            f"Growth of resident memory and page tables from one connection to {self.count:,} more, after "
            f"one request on each and {IDLE_SECONDS} s, of a single run. TLS is 1.3. A client opens one after "
            "another, each to its own host; after all at once also stacks and buffers of the requests count. "
            "Go gives freed memory back each second.",
            f"The kernel's objects for a socket ({', '.join(SLABS)}), not in the table: {kernel}, for all.",
            f"{Nginx.version()}.",
        ]
