"""HTTP servers that bench/run measures: how they are built, started and loaded."""

import contextlib
import json
import os
import resource
import subprocess

from harness import BenchError, Others, pinned, run_child
from tls import TlsNginx, free_port

PATH_OF_ROUTES = "/api/r%03d/42"
ROUTES = 1000
FILES = 12_000  # descriptors of a process: 10,000 connections, and others
BODY = '{"message":"Hello, World!"}'

# key, title, its share of the requests of a row (the slow ones answer fewer), its command
SERVER_PEERS = [
    ("eddy", "eddy", 1.0, ["{eddy}/server_eddy"]),
    ("nginx", "nginx", 1.0, None),
    ("h2o", "libh2o", 1.0, ["{peers}/server_h2o"]),
    ("axum", "axum", 1.0, ["{peers}/server_axum"]),
    ("go", "Go net/http", 0.5, ["{peers}/server_go"]),
    ("node", "Node http", 0.25, ["node", "{src}/server_node.js"]),
    ("aiohttp-server", "aiohttp, uvloop", 0.15, ["{python}", "{src}/server_python.py"]),
]


class ServerNginx(TlsNginx):
    """nginx whose configuration has the answers; one more port for each way to answer."""

    def config(self, port, status_port):
        text = super().config(port, status_port)
        return text.replace("worker_connections 4096", f"worker_connections {2 * FILES}")

    def servers(self):
        self.files_make()
        self.ports = {name: free_port() for name in ("plain", "unknown", "route", "routes", "tls")}

        def server(name, locations, more=""):
            lines = f"listen 127.0.0.1:{self.ports[name]}{' ssl' if more else ''} backlog=4096;\n{more}{locations}"
            return f"server {{\ndefault_type application/json;\n{lines}\n}}\n"

        answer = f"return 200 '{BODY}';"
        root = f"location = / {{ {answer} }}"
        known = "".join(f"location /api/r{i:03}/ {{ {answer} }}\n" for i in range(ROUTES))
        search = "sub_filter 'y' 'z'; sub_filter_types application/json;"
        return "".join([
            server("plain", root),
            server("unknown", f"location = / {{ {search} {answer} }}"),
            server("route", f"location /api/r000/ {{ {answer} }}"),
            server("routes", known),
            server("tls", root, f"""
                ssl_certificate {self.cert};
                ssl_certificate_key {self.key};
                ssl_protocols TLSv1.3;
                ssl_conf_command Ciphersuites TLS_AES_256_GCM_SHA384;
            """),
        ])

    def worker(self):
        """The process that answers: the only child of the one that was started."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return int(file.read().split()[0])

    def port_of(self, way, secure):
        if secure:
            return self.ports["tls"] if way == "respond" else None
        return self.ports.get({"respond": "plain", "known": "plain"}.get(way, way))


class Servers:
    """Builds the servers, and measures one at a time."""

    nginx_class = ServerNginx

    def __init__(self, options, tools):
        self.options, self.tools = options, tools
        self.env = {"GOMAXPROCS": "1", "GOGC": options.gogc}
        self.missing, self.versions, self.others = {}, {}, []

    def build(self, entries):
        tools, wanted = self.tools, {entry[0] for entry in entries}
        missing = tools.build_all(wanted, [
            ("eddy", tools.build_eddy, "server_eddy"),
            ("nginx", tools.need_nginx),
            ("h2o", tools.build_c, "peers/server_h2o.c", "server_h2o",
             ["-lh2o-evloop", "-lssl", "-lcrypto"]),
            ("axum", tools.build_rust, "server_axum", "axum"),
            ("go", tools.build_go, "server_go"),
            ("node", tools.need_program, "node"),
            ("aiohttp-server", tools.need_python, "aiohttp", "uvloop"),
        ])
        tools.attempt(missing, "load", tools.build_c, "server_load.c", "server_load",
                      ["-lssl", "-lcrypto"])
        self.missing = missing
        return [] if "load" in missing else [entry for entry in entries if entry[0] not in missing]

    @contextlib.contextmanager
    def running(self, server_cpu, client_cpu):
        """nginx for the time of a `with`: it has the certificate, too."""
        self.server_cpu, self.client_cpu = server_cpu, client_cpu
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, FILES)), hard))
        with self.nginx_class(server_cpu, 0) as self.nginx:
            yield

    def load(self, port, pid, connections, count, way, secure, more):
        """Load a server; returns what the client says."""
        path = PATH_OF_ROUTES if way not in ("respond", "known", "unknown", "json") else "/"
        argv = [os.path.join(self.tools.places["peers"], "server_load"), *more]
        argv += ["--routes", str(ROUTES)] if way == "routes" else []
        argv += ["--tls", self.nginx.cert] if secure else []
        argv += [str(port), str(pid), str(connections), str(count), path]
        with Others() as others:
            result = run_child(argv, self.client_cpu)
        self.others.append(others.percent)
        result["us"] = result["server_cpu_ns"] / result["ops"] / 1000
        return result

    def measure_nginx(self, connections, count, way, secure, more):
        port = self.nginx.port_of(way, secure)
        if not port:
            return None
        served = self.nginx.status()[1]
        result = self.load(port, self.nginx.worker(), connections, count, way, secure, more)
        if self.nginx.status()[1] - served != result["all"]:
            raise BenchError(f"nginx answered other than {result['all']} requests")
        self.versions["nginx"] = self.nginx.version()
        return result

    def measure(self, entry, connections, count, way, secure=False, more=()):
        """A run of a server that prints its port, and at its end how many requests it answered.

        Returns None if the server has no such way to answer.
        """
        key, _, _, command = entry
        if key == "nginx":
            return self.measure_nginx(connections, count, way, secure, more)
        if way in WITHOUT.get(key, ()):
            return None
        argv = [*self.tools.command(command), way]
        argv += [self.nginx.cert, self.nginx.key] if secure else []
        server = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, **self.env}, preexec_fn=pinned(self.server_cpu))
        try:
            port = server.stdout.readline().strip()
            if not port.isdigit():
                server.kill()
                raise BenchError(f"{key}: no port: {server.communicate()[1].strip()[-300:]}")
            result = self.load(port, server.pid, connections, count, way, secure, more)
            server.terminate()
            said = json.loads(server.communicate(timeout=30)[0])
        except (ValueError, subprocess.TimeoutExpired) as error:
            raise BenchError(f"{key} did not end as it should") from error
        finally:
            server.kill()
            server.communicate()
        if said["ops"] != result["all"]:
            raise BenchError(f"{key} answered {said['ops']} of {result['all']} requests")
        self.versions[key] = said["peer"]
        return result


# Ways that a server does not have, or only with code of others.
EDDY_ONLY = ("id", "log", "layers")
WITHOUT = {
    "h2o": ("json", *EDDY_ONLY),
    "axum": EDDY_ONLY,
    "go": EDDY_ONLY,
    "node": ("route", "routes", *EDDY_ONLY),
    "aiohttp-server": EDDY_ONLY,
}
