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
import json
import os
import random
import shutil
import signal
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
MORE_KIB_MAX = 2048
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


def said_url(eddy, *args, **options):
    child = background(eddy, *args, stdout=subprocess.PIPE, **options)
    first = child.stdout.readline().decode()
    if not first.startswith("listening") and child.wait() == 77:
        raise e2e.Skip(first.strip())
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


def go_without_tls(eddy, folder):
    """By HTTP/2, with 10 streams at once."""
    return said_url(eddy, go_program("http_server_go"), folder, env={**os.environ, "H2C": "1"})


def node_without_tls(eddy, folder, **settings):
    return said_url(eddy, e2e.program("node", "nodejs"), os.path.join(HERE, "peers", "http_server.js"), folder,
                    env={**os.environ, "H2C": json.dumps(settings)})


def haproxy(eddy, folder, *files, tune="", started=None):
    """Before a server in Go by HTTP/1."""
    program, port, back = e2e.program("haproxy"), e2e.free_port(), go(eddy, folder).partition("//")[2]
    bind = "proto h2"
    if files:
        both = eddy.file("both.pem", b"".join(open(path, "rb").read() for path in files))
        bind = f"ssl crt {both} alpn h2,http/1.1"
    config = eddy.file("haproxy.cfg", f"""
global
    {tune}
defaults
    mode http
    timeout connect 1m
    timeout client 1m
    timeout server 1m
frontend front
    bind 127.0.0.1:{port} {bind}
    default_backend back
backend back
    server one {back}
""")
    way = "-db" if started is None else "-W"
    address = e2e.start_server(eddy, port, program, way, "-f", config, started=started)
    return f"http{'s' if files else ''}://{address}"


def nghttpd(eddy, folder, *files):
    port = e2e.free_port()
    tls = files[::-1] if files else ("--no-tls",)
    address = e2e.start_server(eddy, port, e2e.program("nghttpd"), "-d", folder, "--echo-upload",
                               "--trailer", "x-sum: 3", *([] if files else tls),
                               str(port), *(tls if files else ()))
    return f"http{'s' if files else ''}://{address}"


def nginx(eddy, folder, *files, by_http_2=None, tune="", started=None):
    """With TLS by HTTP/2 unless said otherwise; 'started': a list that gets the process, which has workers."""
    port, own = e2e.free_port(), eddy.file("nginx")
    os.mkdir(own)
    tls = f"ssl_certificate {files[0]}; ssl_certificate_key {files[1]};" if files else ""
    by_http_2 = files if by_http_2 is None else by_http_2
    listen = ("ssl " if files else "") + ("http2" if by_http_2 else "")
    user = "user root;" if os.getuid() == 0 else ""  # who can read the folder
    processes = "master_process off;" if started is None else f"worker_processes 1; {user}"
    config = eddy.file("nginx.conf", f"""
daemon off; {processes} pid {own}/nginx.pid; error_log {own}/error.log;
events {{ }}
http {{ access_log off; client_body_temp_path {own}/b; proxy_temp_path {own}/p; client_max_body_size 0;
fastcgi_temp_path {own}/f; uwsgi_temp_path {own}/u; scgi_temp_path {own}/s; {tls} {tune}
server {{ listen 127.0.0.1:{port} {listen}; root {folder}; dav_methods PUT;
location = /expect {{ add_trailer x-sum 3; dav_methods PUT; return 200 "none"; }}
location = /parts {{ add_trailer x-sum 3; try_files /few =404; }} }} }}
""")
    address = e2e.start_server(eddy, port, e2e.program("nginx"), "-c", config, "-p", own, started=started)
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
    """1,000 requests share two connections, and answers beside others that are cancelled are whole."""
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
    cancels, runs = (5000, 20) if os.environ.get("EDDY_TEST_FULL") else (1000, 1)
    whole = cancels // 50 + 1
    for _ in range(runs):
        result = eddy.run(*options, "cancel", url + "/some", str(cancels))
        equal((result.code, result.err), (0, ""), serve.__name__)
        check(result.out.startswith(f"{whole} of 200 by 20, {whole * FEW['some']} bytes, "), serve.__name__, result.out)
    with lock:
        print(f"# {serve.__name__}: 1,000 requests by {words[7]} connections, {cancels * runs:,} cancels, "
              f"{cancels:,} of them by {result.out.split()[-2]}", flush=True)


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


# ---- the parts of HTTP/2, and what the servers of others do ---------------------------------------


HOUR_MS = "3600000"
# The answers to a body with a trailer, and to a request for hints, pieces and a trailer.
PARTS = ["20 200 3 3 none", "20 200 partpartpart 3"]


def by(files):
    return ("--ca", files[0], "--by", "h2") if files else ("--by", "h2c")


def check_parts(eddy, url, files, expected=None, expect_ms=HOUR_MS):
    result = eddy.run(*by(files), "parts", url, expect_ms)
    equal((result.code, result.err), (0, ""))
    equal(result.out.splitlines(), expected or PARTS)


def little_files(eddy):
    folder = eddy.file("files")
    os.mkdir(folder)
    for name, size in FEW.items():
        with open(os.path.join(folder, name), "wb") as out:
            out.write(b"x" * size)
    return folder


def check_many(eddy, url, files, count, connections):
    """All requests are answered, by a number of connections in this range."""
    result = eddy.run(*by(files), "many", url, str(count))
    equal((result.code, result.err), (0, ""))
    words = result.out.split()
    equal(words[:5], [str(count), "of", "200", "by", "20,"], result.out)
    check(int(words[7]) in connections, result.out)


@claim
def trailers_hints_and_100_continue_work_with_go(eddy):
    files = certificate(eddy)
    check_parts(eddy, go(eddy, eddy.folder, *files), files)
    check_parts(eddy, go_without_tls(eddy, eddy.folder), ())


@claim
def trailers_hints_and_100_continue_work_with_node(eddy):
    files = certificate(eddy)
    check_parts(eddy, node(eddy, eddy.folder, *files), files)
    check_parts(eddy, node_without_tls(eddy, eddy.folder), ())


@claim
def trailers_of_requests_and_100_continue_work_through_haproxy(eddy):
    """Its version 2.6 ends some responses after a 103 too early, without their trailers."""
    files = certificate(eddy)
    result = eddy.run(*by(files), "parts", haproxy(eddy, eddy.folder, *files), HOUR_MS)
    equal((result.code, result.err), (0, ""))
    sent, got = result.out.splitlines()
    equal((sent, got[:11]), (PARTS[0], PARTS[1][:11]))


@claim
def trailers_work_with_nginx_which_sends_no_100(eddy):
    folder, files = little_files(eddy), certificate(eddy)
    with open(os.path.join(folder, "few"), "wb") as out:
        out.write(b"partpartpart")
    expected = ["20 200 none 3", PARTS[1]]
    check_parts(eddy, nginx(eddy, folder, *files), files, expected, "10")


@claim
def trailers_and_100_continue_work_with_nghttpd(eddy):
    folder = little_files(eddy)
    with open(os.path.join(folder, "parts"), "wb") as out:
        out.write(b"partpartpart")
    check_parts(eddy, nghttpd(eddy, folder), (), ["20 200 abc 3", PARTS[1]])


@claim
def bodies_are_whole_both_ways_by_http_2_without_tls(eddy):
    folder, digests = files_of(eddy)
    for serve in (lambda *args: nginx(*args, by_http_2=True)), go_without_tls, node_without_tls, haproxy:
        check_both_ways(eddy, "HTTP/2 without TLS", folder, digests, serve(eddy, folder), "--by", "h2c")


@claim
def bodies_are_whole_both_ways_by_http_2_with_nghttpd(eddy):
    """It sends an upload back, which the client keeps: a large one is above its limit."""
    (folder, digests), files = files_of(eddy), certificate(eddy)
    for options, url in ((), nghttpd(eddy, folder)), (("--ca", files[0]), nghttpd(eddy, folder, *files)):
        for size, digest in digests.items():
            saved = eddy.file("saved")
            call(eddy, *options, "--by", "h2" if options else "h2c", "get", f"{url}/{size}", saved)
            equal(digest_of(saved), digest)
        done = subprocess.run([eddy.path, *options, "--by", "h2" if options else "h2c", "put", url + "/",
                               os.path.join(folder, "little")], stdout=subprocess.PIPE, check=True)
        equal(hashlib.sha256(done.stdout[4:].rpartition(b"\n")[0].rpartition(b"\n")[0]).hexdigest(), digests["little"])


@claim
def bodies_are_whole_both_ways_by_http_2_with_haproxy(eddy):
    check_bodies_by_http_2(eddy, haproxy)


@claim
def requests_share_connections_of_http_2_without_tls(eddy):
    folder = little_files(eddy)
    for serve in go_without_tls, node_without_tls:
        check_many(eddy, serve(eddy, folder) + "/few", (), 1000, range(1, 101))
    check_many(eddy, nginx(eddy, folder, by_http_2=True) + "/few", (), 1000, (1, 2))


@claim
def requests_share_connections_of_http_2_with_haproxy(eddy):
    """Not after cancels: its version 2.6 may then send nothing until a frame comes (docs/design/http2_peers.md)."""
    files, folder = certificate(eddy), little_files(eddy)
    check_many(eddy, haproxy(eddy, folder, *files) + "/few", files, 1000, (1, 2))


@claim
def every_request_is_answered_though_the_server_ends_connections(eddy):
    """Node does so at one request in 300, nginx after 100, and Go here at each: many at once would be refused twice there."""
    files, folder = certificate(eddy), little_files(eddy)
    more = range(2, 1001)
    check_many(eddy, go(eddy, folder, *files) + "/last", files, 3, (2, 3))
    check_many(eddy, node(eddy, folder, *files) + "/last", files, 1000, more)
    check_many(eddy, nginx(eddy, folder, *files, tune="keepalive_requests 100;") + "/few", files, 1000, range(10, 1001))


@claim
def server_with_narrow_limits_answers_every_request(eddy):
    files, folder = certificate(eddy), little_files(eddy)
    check_many(eddy, nginx(eddy, folder, *files, tune="http2_max_concurrent_streams 1;") + "/few", files, 1000, range(1, 1001))
    tune = "tune.h2.max-concurrent-streams 5\ntune.h2.initial-window-size 100"
    check_many(eddy, haproxy(eddy, folder, *files, tune=tune) + "/few", files, 300, range(1, 301))
    settings = {"maxConcurrentStreams": 3, "initialWindowSize": 1, "headerTableSize": 0, "maxFrameSize": 16777215}
    url = node_without_tls(eddy, folder, **settings)
    check_many(eddy, url + "/few", (), 300, range(1, 301))
    check_parts(eddy, url, ())


def workers(master):
    with open(f"/proc/{master.pid}/task/{master.pid}/children", encoding="ascii") as file:
        return set(file.read().split())


def stop_with_workers(master):
    master.terminate()
    master.wait(e2e.LIMIT_S)


def check_reload(eddy, serve, signo):
    """While requests run, the server starts another process, and the old one ends when its connections do."""
    files, folder, started = certificate(eddy), little_files(eddy), []
    url, end = serve(eddy, folder, *files, started=started), eddy.file("end")
    master, = started
    eddy.stack.callback(stop_with_workers, master)
    running = eddy.start(*by(files), "until", url + "/few", end)
    equal(running.stdout.readline(), b"begun\n")
    for _ in range(2):
        old = workers(master)
        master.send_signal(signo)
        e2e.wait_until(lambda old=old: (now := workers(master)) and not now & old, "the old worker to end")
    with open(end, "wb"):
        pass
    out, err = running.communicate(timeout=e2e.LIMIT_S)
    equal((running.returncode, err), (0, b""))
    words = out.decode().split()
    equal(words[1:5], ["of", "200", "by", "20,"], out)
    check(int(words[7]) >= 2, out)


@claim
def nginx_that_reloads_its_configuration_loses_no_request(eddy):
    check_reload(eddy, nginx, signal.SIGHUP)


@claim
def haproxy_that_reloads_its_configuration_loses_no_request(eddy):
    check_reload(eddy, haproxy, signal.SIGUSR2)


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
