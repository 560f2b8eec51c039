"""serve_files - `eddy serve` with a folder, a relay that records and breaks its connections, and files with their digests."""
import atexit
import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import urllib.parse

import e2e
import memory
from e2e import check, equal

MIB = 1 << 20
DATE = 784111777  # Sun, 06 Nov 1994 08:49:37 GMT
lock = threading.Lock()
made = {}


def digest_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(MIB):
            digest.update(piece)
    return digest.hexdigest()


def random_file(mib):
    """A file that several cases share, and its digest."""
    with lock:
        if not made:
            folder = tempfile.mkdtemp(prefix="eddy-e2e-files-")
            atexit.register(shutil.rmtree, folder, True)
            made["folder"] = folder
        if mib not in made:
            path = os.path.join(made["folder"], f"{mib}.bin")
            with open(path, "wb") as file:
                for _ in range(mib):
                    file.write(os.urandom(MIB))
            os.utime(path, (DATE, DATE))
            made[mib] = path, digest_of(path)
        return made[mib]


def folder(eddy, **sizes):
    """A folder with random files NAME.bin of these MiB.  Returns its path, and their digests by name."""
    path, digests = eddy.file("www"), {}
    os.mkdir(path)
    for name, mib in sizes.items():
        file, digests[name] = random_file(mib)
        os.link(file, os.path.join(path, name + ".bin"))
    return path, digests


def certificate(eddy):
    """A certificate for 127.0.0.1; returns its file and its key's."""
    cert, key = eddy.file("cert.pem"), eddy.file("key.pem")
    subprocess.run([e2e.program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-keyout", key, "-out", cert, "-days", "30", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return cert, key


def serve(eddy, path, *args, measured=False):
    """Start `eddy serve`; returns it and its URL.  'measured': its memory will be."""
    args = (path, "--port", "0", *args)
    child = (memory.start(eddy, *args, command="serve") if measured else
             eddy.start("serve", *args, stderr=subprocess.DEVNULL))
    words = child.stdout.readline().decode().split()
    equal(words[:2], ["listening", "on"])
    return child, words[2]


def log_lines(path):
    """The lines of an access log."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Relay:
    """A server before another one: .url, .requests (their heads).  It breaks each of the first 'breaks' connections when
    'after' bytes of answers have passed, and calls 'at_break' first."""

    def __init__(self, eddy, url, breaks=0, after=0, at_break=lambda: None):
        self.to, self.breaks, self.after = urllib.parse.urlsplit(url), breaks, after
        self.at_break, self.requests, self.broken = at_break, [], 0
        self.url = eddy.serve(self.pass_on).url

    def pass_on(self, client, number):
        with socket.create_connection((self.to.hostname, self.to.port)) as server:
            thread = threading.Thread(target=self.pass_requests, args=(client, server), daemon=True)
            thread.start()
            left = self.after if number < self.breaks else None
            try:
                while piece := server.recv(1 << 16):
                    if left is not None and len(piece) >= left:
                        self.broken += 1
                        self.at_break()
                        client.sendall(piece[:left])
                        return
                    client.sendall(piece)
                    left = left and left - len(piece)
            finally:
                for each in client, server:
                    with contextlib.suppress(OSError):
                        each.shutdown(socket.SHUT_RDWR)
                thread.join()

    def pass_requests(self, client, server):
        """Requests have no bodies."""
        head = b""
        try:
            while piece := client.recv(1 << 16):
                head += piece
                *heads, head = head.split(b"\r\n\r\n")
                self.requests += [each.decode("latin-1") for each in heads]
                server.sendall(piece)
            server.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def fields(self, name):
        """The values that the requests have of a header."""
        return [value for head in self.requests for value in re.findall(rf"(?im)^{name}: *(.*?)\r?$", head)]


def run(*command, code=0):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=e2e.LIMIT_S)
    check(done.returncode == code, command, done.returncode, done.stdout[-1000:], done.stderr[-1000:])
    return done.stdout


def curl(*args, code=0):
    return run(e2e.program("curl"), "-sS", "--noproxy", "*", *args, code=code)


def parts(head, body):
    """The ranges of a body of multipart/byteranges, each with its bytes."""
    boundary = re.search(r"(?i)content-type: multipart/byteranges; boundary=(\S+)", head)[1].encode()
    found = []
    for part in body.split(b"\r\n--" + boundary)[1:-1]:
        head, data = part.split(b"\r\n\r\n", 1)
        found.append((re.search(rb"(?i)content-range: (.*?)(\r|$)", head)[1].decode(), data))
    return found
