#!/usr/bin/env python3
"""test_server_peers - eddy's server, a router with all middleware, beside clients of others: wrk, curl, Python's
http.client, and requests of PyPI.

    test_server_peers.py MIDDLEWARE_SERVER [WORD]

The server's metrics and its access log count each request of a case.  A client that is not installed skips
its cases by name (tools/install-deps interop, peers/python_packages fetch).
"""
import hashlib
import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys

import e2e
from e2e import check, claim, equal
from server_peers import Site, program, run

HERE = os.path.dirname(os.path.abspath(__file__))
CONNECTIONS = 1000
BODY = random.Random(7).randbytes(3_000_001)
LARGE_BYTES = 10 << 20
TOO_LARGE = b"x" * (8 << 20) + b"y"

HELLO, ECHO, PUT, LARGE = "GET /hello", "POST /echo", "PUT /echo", "GET /large"


# ---- wrk -----------------------------------------------------------------------------------------

@claim
def thousand_connections_of_wrk_get_answers_only_and_all_are_counted(eddy):
    wrk, site = program("wrk"), Site(eddy)
    said = run(wrk, "-c", str(CONNECTIONS), "-t", "2", "-d", "3s", "--timeout", "250s", site.url + "/hello").decode()
    check("Socket errors" not in said and "Non-2xx" not in said, said)
    complete = int(re.search(r"(\d+) requests in", said)[1])
    e2e.wait_until(lambda: site.in_flight() == 0, "the requests in flight")
    counted = site.requests()
    # wrk closes its connections at the end, each of which may have a request on its way.
    check(complete <= sum(counted.values()) <= complete + CONNECTIONS, said, counted)
    equal({route for route, _ in counted}, {HELLO})
    print(f"# wrk: {complete} answers with {CONNECTIONS} connections, 0 errors, {sum(counted.values())} counted", flush=True)
    equal(len(site.stop()), sum(counted.values()))


# ---- curl ----------------------------------------------------------------------------------------

class Curl:
    """Calls of curl, and the requests that they make."""

    def __init__(self, eddy, *options):
        self.path, self.site, self.expected, self.options = program("curl"), Site(eddy), {}, options

    def __call__(self, route, status, *args, path="/hello", stdin=None, requests=1):
        """The head and the body of the answer."""
        key = route, f"{status // 100}xx"
        self.expected[key] = self.expected.get(key, 0) + requests
        out = run(self.path, "-sS", "-i", "--max-time", "250", *self.options, *args, self.site.url + path, stdin=stdin)
        while out.startswith((b"HTTP/1.1 100 ", b"HTTP/2 100 ")):
            out = out.partition(b"\r\n\r\n")[2]
        head, _, body = out.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        equal(int(lines[0].split()[1]), status, args, path)
        return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}, body

    def check_counts(self):
        self.site.check_counts(self.expected)


@claim
def curl_uses_a_connection_again_and_gets_the_headers_of_middleware(eddy):
    curl = Curl(eddy)
    urls = [curl.site.url + "/hello"] * 4
    out = run(curl.path, "-sS", "-w", "%{num_connects}\n", *urls).decode()
    equal(out, "hello\n1\n" + "hello\n0\n" * 3)
    out = run(curl.path, "-sS", "-H", "Connection: close", "-w", "%{num_connects}\n", *urls).decode()
    equal(out, "hello\n1\n" * 4)
    curl.expected[HELLO, "2xx"] = 8
    headers, body = curl(HELLO, 200, "-H", "X-Request-Id: abc-7", "-H", "Origin: https://a.example")
    equal((body, headers["x-request-id"], headers["access-control-allow-origin"]), (b"hello\n", "abc-7", "*"))
    headers, _ = curl("", 204, "-X", "OPTIONS", "-H", "Origin: https://a.example",
                      "-H", "Access-Control-Request-Method: GET")
    check("GET" in headers["access-control-allow-methods"], headers)
    curl.check_counts()


@claim
def curl_with_http_1_0_gets_whole_answers_without_chunks(eddy):
    curl = Curl(eddy)
    headers, body = curl(HELLO, 200, "--http1.0")
    equal((body, headers["content-length"], "transfer-encoding" in headers), (b"hello\n", "6", False))
    headers, body = curl(LARGE, 200, "--http1.0", path="/large")
    equal((len(body), headers["connection"], "transfer-encoding" in headers), (LARGE_BYTES, "close", False))
    headers, body = curl(ECHO, 200, "--http1.0", "--data-binary", "@-", path="/echo", stdin=BODY)
    equal(body, BODY)
    headers, body = curl(LARGE, 200, path="/large")
    equal((len(body), headers["transfer-encoding"]), (LARGE_BYTES, "chunked"))
    curl.check_counts()


@claim
def curl_gets_the_headers_of_get_for_head(eddy):
    curl = Curl(eddy)
    varies = ("date", "x-request-id")
    for path, route in ("/hello", HELLO), ("/large", LARGE), ("/items/7", "GET /items/{id}"):
        wanted, _ = curl(route, 200, path=path)
        headers, body = curl(route, 200, "-I", path=path)
        equal(body, b"")
        equal({n: v for n, v in headers.items() if n not in varies},
              {n: v for n, v in wanted.items() if n not in varies}, path)
    curl.check_counts()


@claim
def curl_waits_for_100_and_sends_no_body_after_a_refusal(eddy):
    curl = Curl(eddy)
    # curl gives up before its own wait is over if no 100 comes.
    wait = ("-H", "Expect: 100-continue", "--expect100-timeout", "280", "-w", "%{size_upload}")
    _, body = curl(ECHO, 200, *wait, "--data-binary", "@-", path="/echo", stdin=BODY)
    equal(body, BODY + str(len(BODY)).encode())
    headers, body = curl(ECHO, 413, *wait, "--data-binary", "@-", path="/echo", stdin=TOO_LARGE)
    equal((headers["content-type"], body[-1:]), ("application/problem+json", b"0"))
    _, body = curl("", 404, *wait, "--data-binary", "@-", path="/nothing", stdin=BODY)
    equal(body[-2:], b"}0")
    _, body = curl("", 405, *wait, "--data-binary", "@-", stdin=BODY)
    equal(body[-2:], b"}0")
    curl.check_counts()


@claim
def curl_uploads_in_chunks_and_with_a_length(eddy):
    curl = Curl(eddy)
    for size in (0, 1, 65536, len(BODY)):
        for args in ("-T", "-"), ("-T", "-", "-H", "Transfer-Encoding: chunked"):
            _, body = curl(PUT, 200, *args, path="/echo", stdin=BODY[:size])
            equal(hashlib.sha256(body).digest(), hashlib.sha256(BODY[:size]).digest(), size, args)
        file = eddy.file("body", BODY[:size])
        _, body = curl(PUT, 200, "-T", file, path="/echo")
        equal(body, BODY[:size])
    # The length is not given: the limit is found in the body, and curl gets the answer while it sends.
    headers, _ = curl(PUT, 413, "-T", "-", "-H", "Expect:", path="/echo", stdin=TOO_LARGE * 2)
    equal(headers["connection"], "close")
    curl.check_counts()


@claim
def curl_gets_the_work_of_all_middleware_by_http_2(eddy):
    curl = Curl(eddy, "--http2-prior-knowledge")
    headers, body = curl(HELLO, 200, "-H", "X-Request-Id: abc-7", "-H", "Origin: https://a.example")
    equal((body, headers["x-request-id"], headers["access-control-allow-origin"]), (b"hello\n", "abc-7", "*"))
    headers, _ = curl("", 204, "-X", "OPTIONS", "-H", "Origin: https://a.example",
                      "-H", "Access-Control-Request-Method: GET")
    check("GET" in headers["access-control-allow-methods"], headers)
    headers, body = curl(LARGE, 200, path="/large")
    equal((len(body), "transfer-encoding" in headers), (LARGE_BYTES, False))
    headers, body = curl(LARGE, 200, "-I", path="/large")
    equal(body, b"")
    for size in (0, 1, 65536, len(BODY)):
        file = eddy.file("body", BODY[:size])
        for source in "-", file:
            _, body = curl(PUT, 200, "-T", source, path="/echo", stdin=BODY[:size])
            equal(hashlib.sha256(body).digest(), hashlib.sha256(BODY[:size]).digest(), size, source)
    curl.check_counts()


def check_problems(curl):
    headers, body = curl("", 404, path="/nothing")
    equal((headers["content-type"], json.loads(body)["status"]), ("application/problem+json", 404))
    headers, body = curl("", 405, "-X", "DELETE")
    equal((headers["allow"], json.loads(body)["status"]), ("GET, HEAD, OPTIONS", 405))
    headers, body = curl("POST /items", 422, "-H", "Content-Type: application/json", "-d", '{"id":0}', path="/items")
    equal(json.loads(body)["detail"][0]["loc"], ["body", "id"])
    if not curl.options:  # curl 7.88 may lose an early answer by HTTP/2 without TLS: see test_serve_clients.py
        curl("POST /items", 415, "-d", '{"id":1}', path="/items")
    headers, body = curl("POST /items", 400, "-H", "Content-Type: application/json", "-d", '{"id":', path="/items")
    headers, body = curl("POST /items", 201, "-H", "Content-Type: application/json", "-d", '{"id":3}', path="/items")
    equal(json.loads(body), {"id": 3})
    headers, body = curl("GET /items/{id}", 422, path="/items/x")
    headers, body = curl("GET /readyz", 200, path="/readyz")
    curl("", 400, "--path-as-is", path="/items/../hello")
    # The server refuses these before it calls the router.
    uncounted = dict(curl.expected)
    if not curl.options:  # HTTP/2 resets the first, and has no limit of a line
        curl("", 400, path="/%zz")
        curl("", 431, "-H", "X-Long: " + "x" * 9000)
        curl("", 414, path="/" + "x" * 9000)
    curl.expected = uncounted
    curl.check_counts()


@claim
def curl_gets_problem_documents(eddy):
    check_problems(Curl(eddy))


@claim
def curl_gets_problem_documents_by_http_2(eddy):
    check_problems(Curl(eddy, "--http2-prior-knowledge"))


# ---- Python --------------------------------------------------------------------------------------

@claim
def http_client_keeps_a_connection_through_answers_of_all_kinds(eddy):
    site = Site(eddy)
    connection = http.client.HTTPConnection("127.0.0.1", site.port)
    connection.connect()
    own = connection.sock

    def ask(method, path, status, body=None, headers={}, **named):
        connection.request(method, path, body, headers, **named)
        response = connection.getresponse()
        data = response.read()
        equal(response.status, status, method, path)
        return response, data

    for _ in range(3):
        equal(ask("GET", "/hello", 200)[1], b"hello\n")
        response, data = ask("HEAD", "/hello", 200)
        equal((data, response.getheader("Content-Length")), (b"", "6"))
        equal(ask("POST", "/echo", 200, BODY)[1], BODY)
        equal(ask("POST", "/echo", 200, iter([BODY[:5], BODY[5:]]), encode_chunked=True)[1], BODY)
        equal(len(ask("GET", "/large", 200)[1]), LARGE_BYTES)
        ask("POST", "/items", 422, '{"id":0}', {"Content-Type": "application/json"})
        ask("POST", "/items", 400, '{"id"', {"Content-Type": "application/json"})
        ask("GET", "/nothing", 404)
        check(connection.sock is own, "another connection")
    # It sends its whole body before it reads: the answer must not be lost.
    response, data = ask("POST", "/echo", 413, TOO_LARGE)
    equal(response.getheader("Connection"), "close")
    site.check_counts({(HELLO, "2xx"): 6, (ECHO, "2xx"): 6, (LARGE, "2xx"): 3, ("POST /items", "4xx"): 6,
                       ("", "4xx"): 3, (ECHO, "4xx"): 1})


@claim
def requests_in_one_write_are_answered_in_order(eddy):
    site = Site(eddy)
    with socket.create_connection(("127.0.0.1", site.port)) as connection:
        connection.sendall(b"".join(b"GET /items/%d HTTP/1.1\r\nHost: a\r\n\r\n" % i for i in range(1, 501)) +
                           b"GET /hello HTTP/1.0\r\n\r\n")
        out = b""
        while piece := connection.recv(1 << 16):
            out += piece
    equal([int(i) for i in re.findall(rb'\{"id":(\d+)\}', out)], list(range(1, 501)))
    check(out.endswith(b"\r\n\r\nhello\n"), out[-100:])
    site.check_counts({("GET /items/{id}", "2xx"): 500, (HELLO, "2xx"): 1})


REQUESTS = r"""
import concurrent.futures, sys, requests
url = sys.argv[1]
body = bytes(range(256)) * 4000
with requests.Session() as session:
    for _ in range(20):
        assert session.get(url + "/hello").text == "hello\n"
        assert session.head(url + "/hello").headers["Content-Length"] == "6"
        assert session.post(url + "/items", json={"id": 5, "name": "\u00e9"}).json() == {"id": 5, "name": "\u00e9"}
        assert session.post(url + "/items", json={"id": 0}).status_code == 422
        assert session.post(url + "/echo", data=body).content == body
        assert session.put(url + "/echo", data=iter([body, b"", body])).content == 2 * body
        assert session.options(url + "/hello").headers["Allow"] == "GET, HEAD, OPTIONS"
        with session.get(url + "/large", stream=True) as response:
            assert sum(map(len, response.iter_content(10000))) == 10 << 20
def one(i):
    return requests.get(url + f"/items/{i}").json()["id"]
with concurrent.futures.ThreadPoolExecutor(20) as pool:
    assert list(pool.map(one, range(1, 401))) == list(range(1, 401))
with requests.get(url + "/large", stream=True) as response:
    next(response.iter_content(10))  # and go away
print(requests.__version__)
"""


@claim
def requests_of_pypi_gets_all_answers_and_each_is_counted(eddy):
    packages = subprocess.run([os.path.join(HERE, "peers", "python_packages")], stdout=subprocess.PIPE)
    if packages.returncode != 0:
        raise e2e.Skip("needs the packages of tests/e2e/peers/python_packages fetch")
    site = Site(eddy)
    version = run(packages.stdout.decode().strip(), "-c", REQUESTS, site.url).decode().strip()
    print(f"# requests {version}", flush=True)
    e2e.wait_until(lambda: site.in_flight() == 0, "the requests in flight")
    counted = site.requests()
    # The client that went away may have got a status before.
    equal(counted.pop((LARGE, "2xx"), 0) + counted.pop((LARGE, "canceled"), 0), 21)
    equal(dict(counted), {(HELLO, "2xx"): 40, ("", "2xx"): 20, ("POST /items", "2xx"): 20, ("POST /items", "4xx"): 20, (ECHO, "2xx"): 20,
                          (PUT, "2xx"): 20, ("GET /items/{id}", "2xx"): 400})


e2e.main()
