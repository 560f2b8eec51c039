#!/usr/bin/env python3
"""test_http_peers - eddy's client beside servers of others: nginx, Go, Node, Python, and squid between them.

    test_http_peers.py PEER_CALLS [WORD]

100 MB go up and down with equal digests, and the client's peak of memory is that of 1 MB; events continue
after streams that end and that break; an upgraded connection carries bytes both ways, with TLS too.  Answers
without a request are counted beside Go's client.  What is not installed skips its cases by name
(tools/install-deps interop).
"""
import contextlib
import hashlib
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

import e2e
from e2e import check, claim, equal

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = {"little": 1_000_003, "much": 100_000_007}
# A peak of 100 MB may exceed one of 1 MB by this, and no peak exceeds the other.
MORE_KIB_MAX = 1024
KIB_MAX = 16 << 10
SANITIZE = os.environ.get("EDDY_TEST_SANITIZE", "none")
EVENTS = "".join(f"tick {i} line {i}\n" for i in range(40))
lock = threading.Lock()
built = tempfile.TemporaryDirectory(prefix="eddy-e2e-")


def digest_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def files_of(eddy):
    """A folder with the files of each size; returns its path, and the digests by name."""
    folder, digests = eddy.file("files"), {}
    os.mkdir(folder)
    for name, size in SIZES.items():
        data = random.Random(size).randbytes(size)
        digests[name] = hashlib.sha256(data).hexdigest()
        with open(os.path.join(folder, name), "wb") as out:
            out.write(data)
    return folder, digests


def certificate(eddy):
    cert, key = eddy.file("cert.pem"), eddy.file("key.pem")
    subprocess.run([e2e.program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-keyout", key, "-out", cert, "-days", "30", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return cert, key


def background(eddy, *args, **options):
    child = subprocess.Popen(args, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    eddy.stack.callback(eddy.end, child)
    return child


# ---- the servers: each function returns a URL -----------------------------------------------------


def said_url(eddy, *args):
    child = background(eddy, *args, stdout=subprocess.PIPE)
    first = child.stdout.readline().decode()
    check(first.startswith("listening on http"), args, repr(first))
    return first.split()[2]


def python(eddy, folder, *files):
    return said_url(eddy, sys.executable, "-B", os.path.join(HERE, "peers", "http_server.py"), folder, *files)


def node(eddy, folder, *files):
    return said_url(eddy, e2e.program("node", "nodejs"), os.path.join(HERE, "peers", "http_server.js"), folder, *files)


def go_program(name):
    """Returns the path of a program in Go, which is built once."""
    compiler, path = e2e.program("go"), os.path.join(built.name, name)
    with lock:
        if not os.path.exists(path):
            done = subprocess.run([compiler, "build", "-o", path, "."], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, cwd=os.path.join(HERE, "peers", name),
                                  env={**os.environ, "GOFLAGS": "-buildvcs=false", "GOTOOLCHAIN": "local"})
            equal(done.returncode, 0, done.stdout.decode())
    return path


def go(eddy, folder, *files):
    return said_url(eddy, go_program("http_server_go"), folder, *files)


def nghttpd(eddy, folder, *files):
    port = e2e.free_port()
    tls = files[::-1] if files else ("--no-tls",)
    address = e2e.start_server(eddy, port, e2e.program("nghttpd"), "-d", folder, "--echo-upload", *([] if files else tls),
                               str(port), *(tls if files else ()))
    return f"http{'s' if files else ''}://{address}"


def nginx(eddy, folder, *files):
    port, own = e2e.free_port(), eddy.file("nginx")
    os.mkdir(own)
    tls = f"ssl_certificate {files[0]}; ssl_certificate_key {files[1]};" if files else ""
    config = eddy.file("nginx.conf", f"""
daemon off; master_process off; pid {own}/nginx.pid; error_log {own}/error.log;
events {{ }}
http {{ access_log off; client_body_temp_path {own}/b; proxy_temp_path {own}/p; client_max_body_size 0;
fastcgi_temp_path {own}/f; uwsgi_temp_path {own}/u; scgi_temp_path {own}/s; {tls}
server {{ listen 127.0.0.1:{port} {'ssl http2' if files else ''}; root {folder}; dav_methods PUT; }} }}
""")
    address = e2e.start_server(eddy, port, e2e.program("nginx"), "-c", config, "-p", own)
    return f"http{'s' if files else ''}://{address}"


# ---- the client -------------------------------------------------------------------------------


def call(eddy, *args):
    """Returns the output's lines, without the last one, and the peak in KiB, which that line has."""
    # Freed memory that a sanitizer holds back would look like growth.
    options = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=0",
                                     "thread_local_quarantine_size_kb=0")))
    result = eddy.run(*args, env={**os.environ, "ASAN_OPTIONS": options})
    equal((result.code, result.err), (0, ""), args)
    *lines, peak = result.out.splitlines()
    return lines, int(peak)


def check_peaks(eddy, name, peaks):
    with lock:
        print(f"# {name}: {peaks['little']} KiB with 1 MB, {peaks['much']} KiB with 100 MB", flush=True)
    if "thread" in SANITIZE:
        return  # it keeps a history, which grows
    check(peaks["much"] <= peaks["little"] + MORE_KIB_MAX, name, peaks)
    if SANITIZE == "none":
        check(peaks["much"] <= KIB_MAX, name, peaks)


def check_both_ways(eddy, name, folder, digests, url, *options):
    """Files of each size go down, and up with and without a stated length."""
    peaks = {"get": {}, "put": {}, "put chunked": {}}
    for size, digest in digests.items():
        saved = eddy.file("saved")
        lines, peaks["get"][size] = call(eddy, *options, "get", f"{url}/{size}", saved)
        equal((lines, digest_of(saved)), ([digest], digest), name, size)
        for way in ("put", "put chunked"):
            put, *chunked = way.split(" ")
            lines, peaks[way][size] = call(eddy, *options, put, f"{url}/sent", os.path.join(folder, size), *chunked)
            equal(len(lines), 1, lines)
            status, _, body = lines[0].partition(" ")
            if int(status) in (201, 204):  # nginx saves the body
                body = digest_of(os.path.join(folder, "sent"))
                os.remove(os.path.join(folder, "sent"))
            equal(body, digest, name, way, size)
    for way, of_way in peaks.items():
        check_peaks(eddy, f"{name} {way}", of_way)


def check_bodies(eddy, serve, *, tls):
    folder, digests = files_of(eddy)
    files = certificate(eddy) if tls else ()
    url = serve(eddy, folder, *files)
    check_both_ways(eddy, serve.__name__ + (" with TLS" if tls else ""), folder, digests, url,
                    *(("--ca", files[0], "--by", "h1") if tls else ()))


def check_events(eddy, serve, *, tls):
    files = certificate(eddy) if tls else ()
    url = serve(eddy, eddy.folder, *files)
    lines, _ = call(eddy, *(("--ca", files[0]) if tls else ()), "events", url + "/events")
    equal("\n".join(lines) + "\n", EVENTS + "4 connections\n", serve.__name__)


def check_upgrade(eddy, serve, *, tls):
    files = certificate(eddy) if tls else ()
    url = serve(eddy, eddy.folder, *files)
    for size in (0, 1, 5_000_000):
        lines, _ = call(eddy, *(("--ca", files[0]) if tls else ()), "upgrade", url + "/echo", str(size))
        equal(lines, [f"echo {size}"], serve.__name__)


@claim
def bodies_are_whole_both_ways_with_nginx(eddy):
    check_bodies(eddy, nginx, tls=False)


@claim
def bodies_are_whole_both_ways_with_nginx_and_tls(eddy):
    check_bodies(eddy, nginx, tls=True)


@claim
def bodies_are_whole_both_ways_with_go(eddy):
    check_bodies(eddy, go, tls=False)


@claim
def bodies_are_whole_both_ways_with_node(eddy):
    check_bodies(eddy, node, tls=False)


@claim
def bodies_are_whole_both_ways_with_python(eddy):
    check_bodies(eddy, python, tls=False)


@claim
def bodies_are_whole_both_ways_with_go_and_tls(eddy):
    check_bodies(eddy, go, tls=True)


@claim
def bodies_are_whole_both_ways_with_node_and_tls(eddy):
    check_bodies(eddy, node, tls=True)


@claim
def bodies_are_whole_both_ways_with_python_and_tls(eddy):
    check_bodies(eddy, python, tls=True)


@claim
def bodies_are_whole_both_ways_through_squid(eddy):
    proxy = "http://" + e2e.squid(eddy)
    folder, digests = files_of(eddy)
    check_both_ways(eddy, "squid and nginx", folder, digests, nginx(eddy, folder), "--proxy", proxy)


@claim
def bodies_are_whole_both_ways_through_a_tunnel_of_squid(eddy):
    proxy, files = "http://" + e2e.squid(eddy), certificate(eddy)
    folder, digests = files_of(eddy)
    check_both_ways(eddy, "squid and nginx with TLS", folder, digests, nginx(eddy, folder, *files),
                    "--proxy", proxy, "--ca", files[0], "--by", "h1")


@claim
def events_continue_by_their_id_with_python(eddy):
    check_events(eddy, python, tls=False)


@claim
def events_continue_by_their_id_with_python_and_tls(eddy):
    check_events(eddy, python, tls=True)


@claim
def events_continue_by_their_id_with_node(eddy):
    check_events(eddy, node, tls=False)


@claim
def events_continue_by_their_id_with_node_and_tls(eddy):
    check_events(eddy, node, tls=True)


@claim
def events_continue_by_their_id_with_go(eddy):
    check_events(eddy, go, tls=False)


@claim
def upgraded_connection_carries_bytes_both_ways_with_python(eddy):
    check_upgrade(eddy, python, tls=False)


@claim
def upgraded_connection_carries_bytes_both_ways_with_python_and_tls(eddy):
    check_upgrade(eddy, python, tls=True)


@claim
def upgraded_connection_carries_bytes_both_ways_with_node(eddy):
    check_upgrade(eddy, node, tls=False)


@claim
def upgraded_connection_carries_bytes_both_ways_with_node_and_tls(eddy):
    check_upgrade(eddy, node, tls=True)


@claim
def upgraded_connection_carries_bytes_both_ways_with_go(eddy):
    check_upgrade(eddy, go, tls=False)


@claim
def upgraded_connection_carries_bytes_both_ways_with_go_and_tls(eddy):
    check_upgrade(eddy, go, tls=True)


# ---- HTTP/2 ---------------------------------------------------------------------------------------


# Above a window of 256 KiB; Node refuses requests if streams that were reset keep 10 MB of its memory.
FEW = {"few": 1000, "some": 300_000}


def check_http_2(eddy, serve, *, tls):
    """1,000 requests share two connections, and after cancels in the middle of a body the rest is right."""
    folder, _ = files_of(eddy)
    files = certificate(eddy) if tls else ()
    options = (*(("--ca", files[0]) if tls else ()), "--by", "h2" if tls else "h2c")
    url = serve(eddy, folder, *files)
    for name, size in FEW.items():
        with open(os.path.join(folder, name), "wb") as out:
            out.write(b"x" * size)
    result = eddy.run(*options, "many", url + "/few", "1000")
    equal((result.code, result.err), (0, ""), serve.__name__)
    words = result.out.split()
    equal(words[:6], ["1000", "of", "200", "by", "20,", "1000000"], result.out)
    check(int(words[7]) <= 2, serve.__name__, result.out)
    result = eddy.run(*options, "cancel", url + "/some", "1000")
    equal((result.code, result.err), (0, ""), serve.__name__)
    check(result.out.startswith(f"1 of 200 by 20, {FEW['some']} bytes, "), serve.__name__, result.out)
    with lock:
        print(f"# {serve.__name__}: 1,000 requests by {words[7]} connections, 1,000 cancels by "
              f"{result.out.split()[-2]}", flush=True)


def check_bodies_by_http_2(eddy, serve):
    folder, digests = files_of(eddy)
    files = certificate(eddy)
    check_both_ways(eddy, serve.__name__ + " by HTTP/2", folder, digests, serve(eddy, folder, *files),
                    "--ca", files[0], "--by", "h2")


@claim
def bodies_are_whole_both_ways_by_http_2_with_nginx(eddy):
    check_bodies_by_http_2(eddy, nginx)


@claim
def bodies_are_whole_both_ways_by_http_2_with_go(eddy):
    check_bodies_by_http_2(eddy, go)


@claim
def bodies_are_whole_both_ways_by_http_2_with_node(eddy):
    check_bodies_by_http_2(eddy, node)


@claim
def requests_share_connections_of_http_2_with_nghttpd(eddy):
    check_http_2(eddy, nghttpd, tls=False)


@claim
def requests_share_connections_of_http_2_with_nghttpd_and_tls(eddy):
    check_http_2(eddy, nghttpd, tls=True)


@claim
def requests_share_connections_of_http_2_with_nginx(eddy):
    check_http_2(eddy, nginx, tls=True)


@claim
def requests_share_connections_of_http_2_with_go(eddy):
    check_http_2(eddy, go, tls=True)


@claim
def requests_share_connections_of_http_2_with_node(eddy):
    check_http_2(eddy, node, tls=True)


JUDGE_PORTS = 57


def free_ports(count):
    """The first of so many ports in a row that are free, below those that the kernel gives to others."""
    while True:
        first = random.randrange(10000, 32000)
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(first, first + count):
                stack.enter_context(socket.create_server(("127.0.0.1", port)))
            return first


def check_with_h2specd(eddy, *, tls):
    """The judge is built from a checkout of h2spec 2.2.1 (go build ./cmd/h2specd); each case has a port."""
    judge = shutil.which("h2specd") or os.path.expanduser("~/go/bin/h2specd")
    if not os.path.exists(judge):
        raise e2e.Skip("h2specd is not installed")
    cert, key = certificate(eddy)
    files = ["-t", "-c", cert, "-k", key] if tls else []
    command = f"{eddy.path} --ca {cert} --by {'h2' if tls else 'h2c'} many"
    done = subprocess.run([judge, "-S", "-f", str(free_ports(JUDGE_PORTS)), "-e", command, *files], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    text = done.stdout.decode()
    check("57 tests, 57 passed, 0 skipped, 0 failed" in text, text[-3000:])


@claim
def events_and_upgrades_work_with_a_server_that_offers_http_2(eddy):
    """Events come by HTTP/2, and a request that offers another protocol goes by HTTP/1."""
    files = certificate(eddy)
    options, url = ("--ca", files[0], "--by", "h2"), go(eddy, eddy.folder, *files)
    lines, _ = call(eddy, *options, "events", url + "/events")
    equal("\n".join(lines) + "\n", EVENTS + "4 connections\n")
    lines, _ = call(eddy, *options, "upgrade", url + "/echo", "5000")
    equal(lines, ["echo 5000"])


@claim
def h2specd_passes_without_tls(eddy):
    check_with_h2specd(eddy, tls=False)


@claim
def h2specd_passes_with_tls(eddy):
    check_with_h2specd(eddy, tls=True)


# ---- answers that no request has asked for --------------------------------------------------------

STRAY = e2e.ok(b"stray")
REQUESTS = 200
# What comes without a request: with the answer before, after it but before the next request is sent, or when
# the next request is on its way.
EARLY = {"an answer": STRAY, "a part of an answer": STRAY[:20], "a byte": b"H", "a line end": b"\r\n",
         "two answers": 2 * STRAY, "a 100": b"HTTP/1.1 100 Continue\r\n\r\n"}


class Talker:
    """A server that answers each request with its path, and says more."""

    def __init__(self, eddy, more, when):
        self.more, self.when, self.last = more, when, None
        self.url = eddy.serve(self.answer).url
        self.control = [eddy.serve(self.say_more).url] if when == "after" else []

    def answer(self, connection, _):
        self.last, is_first = connection, True
        while head := e2e.read_head(connection):
            early = self.more if self.when == "late" and not is_first else b""
            later = self.more if self.when == "with" else b""
            connection.sendall(early + e2e.ok(head.split()[1][1:]) + later)
            is_first = False

    def say_more(self, connection, _):
        """A request between two others: when it is answered, the bytes are in the client's kernel."""
        while e2e.read_head(connection):
            with contextlib.suppress(OSError):  # a client may have closed it already
                self.last.sendall(self.more)
            connection.sendall(e2e.ok(b"0"))


def count_strays(eddy, what, more, when):
    """Count the answers that eddy and Go give to the wrong request."""
    for name, args in ("eddy", (eddy.path, "stray")), ("Go", (go_program("http_stray_go"),)):
        server = Talker(eddy, more, when)
        done = subprocess.run([*args, server.url, str(REQUESTS), *server.control], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, check=True, timeout=1500)
        counts = [int(word) for word in done.stdout.split()]
        equal(sum(counts), REQUESTS)
        with lock:
            print(f"# {what} {when}: {name} {counts[0]} right, {counts[1]} wrong, {counts[2]} failed", flush=True)
        # Of those on their way, no client can know; eddy uses no such connection again.
        expected = [REQUESTS // 2, REQUESTS // 2, 0] if when == "late" else [REQUESTS, 0, 0]
        if name == "eddy":
            equal(counts, expected, what, when)


@claim
def bytes_with_an_answer_are_no_answer_to_the_next_request(eddy):
    for what, more in EARLY.items():
        count_strays(eddy, what, more, "with")


@claim
def bytes_before_the_next_request_are_no_answer_to_it(eddy):
    for what, more in EARLY.items():
        count_strays(eddy, what, more, "after")


@claim
def bytes_when_the_next_request_is_on_its_way_are_counted_beside_go(eddy):
    count_strays(eddy, "an answer", STRAY, "late")


e2e.main()
