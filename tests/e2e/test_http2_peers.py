"""test_http2_peers - clients of other projects speak HTTP/2 with a server of eddy: h2spec, curl, nghttp and
h2load.  A client that is not installed is skipped by name.

The program under test is http2_server.
"""
import hashlib
import os
import re
import signal
import subprocess

import e2e
from e2e import check, claim, equal
from http2_started import KINDS, Started, curl, need, run

LARGE_BYTES = 20_000_000
# The preface of the case is not valid: on a port that HTTP/1 shares, HTTP/1 answers.
SHARED_FAILS = "Sends invalid connection preface"


class Served(Started):
    """A server of one kind, and its file."""

    def __init__(self, eddy, kind):
        self.content = os.urandom(LARGE_BYTES)
        self.file = eddy.file("content", self.content)
        super().__init__(eddy, kind, self.file)


def h2spec(eddy, kind):
    spec, server = need("h2spec"), Served(eddy, kind)
    code, out, _ = run(spec, "-S", "-h", "127.0.0.1", "-p", str(server.port), "-o", "5",
                       *(["-t", "-k"] if kind == "tls" else []))
    text = out.decode()
    found = re.search(r"(\d+) tests, (\d+) passed, (\d+) skipped, (\d+) failed", text)
    check(found, text[-500:])
    failed = 1 if kind == "shared" else 0
    equal([int(number) for number in found.groups()], [146, 146 - failed, 0, failed], text[-2000:])
    if failed:
        check(SHARED_FAILS in text.split("Failures:")[1], text[-2000:])
    equal(code, 1 if failed else 0)
    equal(server.stop()["open"], 0)


@claim
def h2spec_passes_without_tls(eddy):
    h2spec(eddy, "only")


@claim
def h2spec_passes_with_tls(eddy):
    h2spec(eddy, "tls")


@claim
def h2spec_passes_on_a_shared_port_but_for_the_preface(eddy):
    h2spec(eddy, "shared")


@claim
def curl_gets_and_posts_large_bodies(eddy):
    for kind in KINDS:
        server = Served(eddy, kind)
        way = "--http2" if kind == "tls" else "--http2-prior-knowledge"
        digest = hashlib.sha256(server.content).hexdigest()
        code, out, err = curl(way, "--write-out", "%{http_version}", server.url + "/")
        equal((code, out, err), (0, b"hello\n2", ""))
        code, out, err = curl(way, server.url + "/file")
        equal((code, hashlib.sha256(out).hexdigest(), err), (0, digest, ""))
        code, out, err = curl(way, "--data-binary", "@" + server.file, server.url + "/echo")
        equal((code, hashlib.sha256(out).hexdigest(), err), (0, digest, ""))
        code, out, err = curl(way, "--head", server.url + "/file")
        check(f"content-length: {LARGE_BYTES}".encode() in out, out)
        code, out, err = curl(way, "--include", server.url + "/parts")
        text = out.decode()
        check(text.startswith("HTTP/2 103"), text)
        check("part\npart\npart\n" in text and "x-sum: 3" in text, text)
        equal(server.stop()["resets"], 0)


@claim
def curl_that_leaves_an_endless_answer_resets_it(eddy):
    server = Served(eddy, "shared")
    code, out, _ = curl("--http2-prior-knowledge", "--max-time", "0.5", server.url + "/events")
    equal(code, 28)
    check(out.startswith(b"data: x\n\n"), out[:100])
    code, out, _ = curl("--http2-prior-knowledge", server.url + "/")
    equal((code, out), (0, b"hello\n"))
    counters = server.stop()
    equal((counters["resets"], counters["open"]), (1, 0))


@claim
def curl_speaks_http1_on_the_same_ports(eddy):
    for kind in ("shared", "tls"):
        server = Served(eddy, kind)
        code, out, err = curl("--http1.1", "--write-out", "%{http_version}", server.url + "/")
        equal((code, out, err), (0, b"hello\n1.1", ""))
        server.stop()


@claim
def nghttp_reads_hints_and_trailers(eddy):
    client, server = need("nghttp"), Served(eddy, "shared")
    code, out, err = run(client, "-v", server.url + "/parts")
    text = re.sub(r"\x1b\[[0-9;]*m", "", out.decode())
    equal(code, 0, err)
    for part in (":status: 103", ":status: 200", "x-sum: 3"):
        check(part in text, part, text[-2000:])
    server.stop()


@claim
def h2load_gets_all_answers(eddy):
    client = need("h2load")
    for kind in KINDS:
        server = Served(eddy, kind)
        code, out, err = run(client, "-n", "5000", "-c", "4", "-m", "32", server.url + "/")
        equal(code, 0, err)
        check(b"5000 succeeded, 0 failed, 0 errored" in out, out)
        code, out, err = run(client, "-n", "40", "-c", "2", "-m", "10", server.url + "/file")
        check(b"40 succeeded, 0 failed, 0 errored" in out, out)
        counters = server.stop()
        equal((counters["streams"], counters["resets"], counters["open"]), (5040, 0, 0))


@claim
def a_stop_lets_a_request_finish(eddy):
    server = Served(eddy, "shared")
    with subprocess.Popen([need("curl"), "--silent", "--no-buffer", "--http2-prior-knowledge", "-X", "POST", "-T", ".",
                           server.url + "/echo"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as client:
        client.stdin.write(b"first\n")
        client.stdin.flush()
        equal(client.stdout.readline(), b"first\n")
        server.child.send_signal(signal.SIGTERM)
        client.stdin.write(b"last\n")
        client.stdin.close()
        equal(client.stdout.read(), b"last\n")
    equal(client.returncode, 0)
    out, _ = server.child.communicate(timeout=e2e.LIMIT_S)
    check(b"open=0 streams=1 resets=0" in out, out)


e2e.main()
