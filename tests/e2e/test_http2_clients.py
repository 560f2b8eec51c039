#!/usr/bin/env python3
"""test_http2_clients - the table of docs/design/http2_peers.md, clients of others with a server of eddy: curl, nghttp, h2load,
Go, Node, undici, h2 of Python and Chromium, with TLS and without.

    test_http2_clients.py HTTP2_SERVER [WORD]

Each client gets and posts, takes and gives a large file with equal digests, reads and sends trailers, reads 103 and 100, and
cancels in the middle of a body. When the server stops, the request in progress ends well, and the next goes to another server.
The table names what a client cannot do. EDDY_TEST_FULL: all files have 100 MB; otherwise those of slow
clients have 5.

What is not installed skips its cases by name (tools/install-deps interop).
"""
import functools
import hashlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading

import e2e
from e2e import check, claim, equal
from http2_started import Started, curl, need, run

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "docs"))
import browser  # pylint: disable=wrong-import-position

LARGE_BYTES = 100_000_007
LESS_BYTES = LARGE_BYTES if os.environ.get("EDDY_TEST_FULL") else 5_000_003
HINT = "103 </style.css>; rel=preload"
WHOLE = {"get": "hello\n", "post": "3 3", "continued": True, "hints": HINT, "parts": "part\npart\npart\n", "trailer": "3",
         "cancelled": True, "after": "hello\n"}
# Neither fetch() of a browser nor undici shows interim responses, or sends trailers.
IN_PART = {**WHOLE, "post": "3 none", "continued": None, "hints": None, "trailer": None}
PLAIN_AND_TLS = "shared", "tls"
shared = tempfile.TemporaryDirectory(prefix="eddy-e2e-")
lock = threading.Lock()


@functools.lru_cache(None)
def random_file(size):
    """The path of a file, which all cases share, and its digest."""
    data, path = random.Random(size).randbytes(size), os.path.join(shared.name, str(size))
    with open(path, "wb") as out:
        out.write(data)
    return path, hashlib.sha256(data).hexdigest()


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def large_file(size):
    with lock:
        return random_file(size)


class Switch:
    """A server that passes connections on to another one, which can be changed; .url."""

    def __init__(self, eddy, to):
        self.to = to
        own = eddy.serve(self.pass_on)
        self.url = f"{to.url.partition(':')[0]}://127.0.0.1:{own.port}"

    def pass_on(self, connection, _):
        with socket.create_connection(("127.0.0.1", self.to.port)) as other:
            back = threading.Thread(target=self.copy, args=(other, connection), daemon=True)
            back.start()
            self.copy(connection, other)
            back.join()

    @staticmethod
    def copy(source, sink):
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


# ---- the clients: each function returns the words of a command ---------------------------------


@functools.lru_cache(None)
def build_go(compiler):
    path = os.path.join(shared.name, "http2_client_go")
    done = subprocess.run([compiler, "build", "-o", path, "."], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          cwd=os.path.join(HERE, "peers", "http2_client_go"), check=False,
                          env={**os.environ, "GOFLAGS": "-buildvcs=false", "GOTOOLCHAIN": "local"})
    equal(done.returncode, 0, done.stdout.decode())
    return path


def go():
    compiler = e2e.program("go")
    with lock:
        return [build_go(compiler)]


def node():
    return [e2e.program("node", "nodejs"), os.path.join(HERE, "peers", "http2_client.js")]


def undici():
    done = subprocess.run([os.path.join(HERE, "peers", "node_packages")], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise e2e.Skip("the package undici was not fetched (tests/e2e/peers/node_packages fetch)")
    return [*node(), "--undici", done.stdout.decode().strip() + "/undici"]


def python_h2():
    for python in sys.executable, "/usr/bin/python3":
        if subprocess.run([python, "-c", "import h2"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return [python, "-B", os.path.join(HERE, "peers", "http2_client.py")]
    raise e2e.Skip("the Python library h2 is not installed (tools/install-deps interop)")


def checked(done):
    if done.returncode == 77:
        raise e2e.Skip(done.stdout.decode().strip())
    equal(done.returncode, 0, done)
    return done.stdout.decode()


# ---- all parts ---------------------------------------------------------------------------------


def check_all(eddy, client, kind, size, expected):
    words, (file, digest) = client(), large_file(size)
    server = Started(eddy, kind, file)
    out = checked(subprocess.run([*words, "all", server.url, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 timeout=e2e.LIMIT_S, check=False))
    results = json.loads(out.splitlines()[-1])
    for name, value in {**expected, "down": digest, "up": digest}.items():
        if value is not None:
            equal(results.get(name), value, name, results)
    counters = server.stop()
    equal((counters["streams"], counters["resets"], counters["refused"], counters["open"]), (7, 1, 0, 0))


def is_pending(child, number):
    """Whether a process has not yet read a signal that it reads as data."""
    with open(f"/proc/{child.pid}/status", encoding="utf-8") as file:
        pending = next(line for line in file if line.startswith("ShdPnd:"))
    return bool(int(pending.split()[1], 16) >> (number - 1) & 1)


def check_drain(eddy, client, kind):
    """The request that runs when the server stops ends well; the next one is sent to another server."""
    words, go_file = client(), eddy.file("go")
    first, second = (Started(eddy, kind, "", GO=go_file) for _ in range(2))
    switch = Switch(eddy, first)
    child = subprocess.Popen([*words, "drain", switch.url], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
    eddy.stack.callback(eddy.end, child)
    line = child.stdout.readline()
    if line != b"first\n":
        checked(subprocess.CompletedProcess([], child.wait(e2e.LIMIT_S), line))
    switch.to = second
    first.child.terminate()
    e2e.wait_until(lambda: not is_pending(first.child, signal.SIGTERM), "the server has the signal")
    with open(go_file, "wb"):
        pass
    equal((child.stdout.read(), child.wait(e2e.LIMIT_S)), (b"last\nhello\n", 0))
    equal({**first.end(), "refused": 0}, {"open": 0, "streams": 1, "resets": 0, "refused": 0})
    equal(second.stop()["streams"], 1)


def add(client, kind, size=LARGE_BYTES, expected=None):
    """The claims of a client that is a program with the calls of http2_client.py."""
    name = client.__name__ + ("_with_tls" if kind == "tls" else "_without_tls")

    def all_parts(eddy):
        check_all(eddy, client, kind, size, expected or WHOLE)

    def drain(eddy):
        check_drain(eddy, client, kind)

    all_parts.__name__ = f"all_parts_of_the_protocol_work_for_{name}"
    drain.__name__ = f"server_that_stops_loses_no_request_of_{name}"
    claim(all_parts)
    # A GOAWAY makes undici fail the requests that run, and h2 of Python refuse all further frames.
    if client in (go, node):
        claim(drain)


for way in PLAIN_AND_TLS:
    add(go, way)
    add(node, way, LESS_BYTES if way == "tls" else LARGE_BYTES)
    add(python_h2, way, LESS_BYTES)
add(undici, "tls", LESS_BYTES, IN_PART)


# ---- curl, nghttp and h2load -------------------------------------------------------------------


def curl_way(kind):
    return "--http2" if kind == "tls" else "--http2-prior-knowledge"


@claim
def curl_takes_and_gives_a_large_file(eddy):
    file, digest = large_file(LARGE_BYTES)
    for kind in PLAIN_AND_TLS:
        server = Started(eddy, kind, file)
        for words in ([server.url + "/file"], ["--data-binary", "@" + file, server.url + "/echo"]):
            code, out, err = curl(curl_way(kind), *words)
            equal((code, hashlib.sha256(out).hexdigest(), err), (0, digest, ""), kind, words)
        equal(server.stop()["resets"], 0)


@claim
def server_that_stops_loses_no_request_of_curl(eddy):
    program = need("curl")

    def words(kind):
        # check_drain() adds "drain" and the URL.
        script = f'exec "$0" -sNk {curl_way(kind)} "$2/paced" --next -sNk {curl_way(kind)} "$2/"'
        return lambda: ["sh", "-c", script, program]

    for kind in PLAIN_AND_TLS:
        check_drain(eddy, words(kind), kind)
        os.remove(eddy.file("go"))


@claim
def nghttp_takes_and_gives_a_large_file(eddy):
    client = need("nghttp")
    for kind in PLAIN_AND_TLS:
        file, digest = large_file(LESS_BYTES if kind == "tls" else LARGE_BYTES)
        server = Started(eddy, kind, file)
        for words in ([server.url + "/file"], ["-d", file, server.url + "/echo"]):
            code, out, err = run(client, "-w", "20", "-W", "24", *words)
            equal((code, hashlib.sha256(out).hexdigest()), (0, digest), kind, words, err)
        equal(server.stop()["resets"], 0)


@claim
def nghttp_sends_trailers_after_100_continue(eddy):
    client, file = need("nghttp"), eddy.file("three", b"abc")
    for kind in PLAIN_AND_TLS:
        server = Started(eddy, kind, file)
        code, out, err = run(client, "-v", "--expect-continue", "--trailer", "x-sum: 3", "-d", file, server.url + "/sent")
        text = re.sub(r"\x1b\[[0-9;]*m", "", out.decode())
        equal(code, 0, err)
        check(":status: 100" in text and "3 3" in text, text)
        server.stop()


@claim
def h2load_posts_and_gets_large_files(eddy):
    client, (file, _) = need("h2load"), large_file(LESS_BYTES)
    body = eddy.file("body", b"x" * 1000)
    for kind in PLAIN_AND_TLS:
        server = Started(eddy, kind, file)
        _, out, _ = run(client, "-n", "1000", "-c", "2", "-m", "32", "-d", body, server.url + "/sent")
        check(b"1000 succeeded, 0 failed, 0 errored" in out, out)
        _, out, _ = run(client, "-n", "1", "-w", "20", "-W", "24", server.url + "/file")
        check(b"1 succeeded, 0 failed, 0 errored" in out, out)
        server.stop()


# ---- Chromium ------------------------------------------------------------------------------------

PAGE_ALL = """(async () => {
  const text = async (...words) => (await fetch(...words)).text();
  const hex = async (bytes) => [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))]
    .map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const results = {get: await text('/'), post: await text('/sent', {method: 'POST', body: 'abc'})};
  const file = await (await fetch('/file')).arrayBuffer();
  results.down = await hex(file);
  results.saved = await text('/save', {method: 'POST', body: file});
  results.parts = await text('/parts');
  const abort = new AbortController();
  const events = (await fetch('/events', {signal: abort.signal})).body.getReader();
  await events.read();
  abort.abort();
  results.cancelled = await events.read().then(() => false, () => true);
  results.after = await text('/');
  results.version = [...new Set(performance.getEntriesByType('resource').map((entry) => entry.nextHopProtocol))].join();
  return JSON.stringify(results);
})()"""

PAGE_PACED = """(async () => {
  const response = await fetch('/paced');
  window.reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  return (await reader.read()).value;
})()"""

PAGE_REST = """(async () => {
  let all = '';
  for (let piece; !(piece = await reader.read()).done;) all += piece.value;
  return all + await (await fetch('/')).text();
})()"""


def open_tab(eddy, url):
    if not browser.find():
        raise e2e.Skip("Chromium is not installed (tools/install-deps interop)")
    tab = browser.Tab(eddy.folder, url.partition("//")[2])
    eddy.stack.callback(tab.close)
    tab.call("Security.setIgnoreCertificateErrors", ignore=True)
    tab.call("Page.navigate", url=url + "/")
    e2e.wait_until(lambda: tab.value("document.readyState") == "complete" and tab.value("location.href") == url + "/",
                   "the page")
    return tab


@claim
def all_parts_of_the_protocol_work_for_chromium(eddy):
    file, digest = large_file(LARGE_BYTES)
    # A browser reads no answer before it has sent the request, so /echo would wait for ever.
    server = Started(eddy, "tls", file, SAVE=eddy.file("saved"))
    results = json.loads(open_tab(eddy, server.url).value(PAGE_ALL))
    for name, value in {**IN_PART, "down": digest, "saved": "saved\n", "version": "h2"}.items():
        if value is not None:
            equal(results.get(name), value, name, results)
    equal(digest_of(eddy.file("saved")), digest)
    counters = server.stop()
    equal((counters["resets"], counters["refused"], counters["open"]), (1, 0, 0))


@claim
def server_that_stops_loses_no_request_of_chromium(eddy):
    go_file = eddy.file("go")
    first, second = (Started(eddy, "tls", "", GO=go_file) for _ in range(2))
    switch = Switch(eddy, first)
    tab = open_tab(eddy, switch.url)
    equal(tab.value(PAGE_PACED), "first\n")
    switch.to = second
    first.child.terminate()
    e2e.wait_until(lambda: not is_pending(first.child, signal.SIGTERM), "the server has the signal")
    with open(go_file, "wb"):
        pass
    equal(tab.value(PAGE_REST), "last\nhello\n")
    equal(first.end()["resets"], 0)
    equal(second.stop()["streams"], 1)


e2e.main()
