"""Servers of files that bench/run measures: how they are built and started."""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile

from harness import BenchError, Others, pinned, run_child
from server_peers import FILES, Servers
from tls import TlsNginx, free_port

SMALL, LARGE = "20k.bin", "100m.bin"
SIZES = {SMALL: 20 << 10, LARGE: 100 * 1000 * 1000}
STARTED = re.compile(r"(\d+)/?$")  # the port at the end of the first line

# key, title, its command; CERT and KEY follow with TLS
FOLDER_PEERS = [
    ("eddy", "eddy serve", ["{eddy_program}", "serve", "{folder}", "--port", "0"]),
    ("nginx", "nginx", None),
    ("nginx-cache", "nginx, open_file_cache", None),
    ("go", "Go http.FileServer", ["{peers}/server_go", "folder", "{folder}"]),
    ("aiohttp-server", "aiohttp, uvloop", ["{python}", "{src}/server_python.py", "folder", "{folder}"]),
]


class FolderNginx(TlsNginx):
    """nginx that sends the files of a folder, with its cache of open files and without."""

    def __init__(self, cpu, files):
        super().__init__(cpu, 0)
        self.files = files

    def config(self, port, status_port):
        text = super().config(port, status_port).replace("worker_connections 4096", f"worker_connections {2 * FILES}")
        return text.replace("sendfile off", "sendfile on").replace("text/plain", "application/octet-stream")

    def servers(self):
        self.files_make()
        self.ports = {(key, secure): free_port() for key in ("nginx", "nginx-cache") for secure in (False, True)}
        return "".join(self.server(key, secure) for key, secure in self.ports)

    def server(self, key, secure):
        tls = f"""
            ssl_certificate {self.cert};
            ssl_certificate_key {self.key};
            ssl_protocols TLSv1.3;
            ssl_conf_command Ciphersuites TLS_AES_256_GCM_SHA384;
        """
        return f"""server {{
            listen 127.0.0.1:{self.ports[key, secure]}{" ssl" if secure else ""} backlog=4096;
            root {self.files};
            tcp_nopush on;
            {"open_file_cache max=100;" if key == "nginx-cache" else ""}
            {tls if secure else ""}
        }}
        """

    def worker(self):
        """The process that answers: the only child of the one that was started."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return int(file.read().split()[0])


class FolderServers(Servers):
    """Builds the servers of files, and measures one at a time."""

    def build(self, entries):
        tools, wanted = self.tools, {entry[0] for entry in entries}
        missing = tools.build_all(wanted, [
            ("eddy", tools.build_eddy, "eddy", "cmd/eddy"),
            ("nginx", tools.need_nginx),
            ("nginx-cache", tools.need_nginx),
            ("go", tools.build_go, "server_go"),
            ("aiohttp-server", tools.need_python, "aiohttp", "uvloop"),
        ])
        tools.attempt(missing, "load", tools.build_c, "server_load.c", "server_load", ["-lssl", "-lcrypto"])
        self.missing = missing
        return [] if "load" in missing else [entry for entry in entries if entry[0] not in missing]

    @contextlib.contextmanager
    def running(self, server_cpu, client_cpu):
        folder = tempfile.mkdtemp(prefix="eddy-bench-files-")
        try:
            os.chmod(folder, 0o755)
            for name, size in SIZES.items():
                block = os.urandom(1 << 20)
                with open(os.path.join(folder, name), "wb") as file:
                    for at in range(0, size, len(block)):
                        file.write(block[: size - at])
                # A folder sends no Last-Modified in the second of a change, and answers must have one length.
                os.utime(os.path.join(folder, name), (0, 0))
            self.files = folder
            with super().running(server_cpu, client_cpu):  # for the limit of descriptors
                with FolderNginx(server_cpu, folder) as self.nginx:
                    yield
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def run_load(self, port, pid, name, connections, count, secure):
        argv = [os.path.join(self.tools.places["peers"], "server_load")]
        argv += ["--volume"] if name == LARGE else []
        argv += ["--tls", self.nginx.cert] if secure else []
        argv += [str(port), str(pid), str(connections), str(count), f"/{name}"]
        with Others() as others:
            result = run_child(argv, self.client_cpu)
        self.others.append(others.percent)
        result["us"] = result["server_cpu_ns"] / result["ops"] / 1000
        return result

    def measure_file(self, entry, name, connections, count, secure):
        """A run of a server; the result is the client's, with the CPU time for each request or MiB."""
        key, _, command = entry
        if command is None:
            self.versions[key] = self.nginx.version()
            port = self.nginx.ports[key, secure]
            return self.run_load(port, self.nginx.worker(), name, connections, count, secure)
        places = {**self.tools.places, "folder": self.files}
        argv = [part.format(**places) for part in command]
        if secure:
            files = [self.nginx.cert, self.nginx.key]
            argv += ["--cert", files[0], "--key", files[1]] if key == "eddy" else files
        server = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                  env={**os.environ, **self.env}, preexec_fn=pinned(self.server_cpu))
        try:
            found = STARTED.search(server.stdout.readline().strip())
            if not found:
                raise BenchError(f"{key}: no port")
            return self.run_load(found[1], server.pid, name, connections, count, secure)
        finally:
            server.kill()
            server.communicate()
