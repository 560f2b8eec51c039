"""test_mock - `eddy mock`: each route, its bounds, the moods, and its end."""
import http.client
import json
import signal
import socket
import time

import e2e
from e2e import check, claim, equal


def address(url):
    host, _, port = url[len("http://"):].rpartition(":")
    return host.strip("[]"), int(port)


def ask(url, target, method="GET", body=None, headers=()):
    """One request on a connection of its own; returns (status, headers, body)."""
    connection = http.client.HTTPConnection(*address(url), timeout=e2e.LIMIT_S)
    try:
        connection.request(method, target, body, dict(headers))
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


@claim
def root_explains_the_routes(eddy):
    url = eddy.mock()
    status, _, body = ask(url, "/")
    equal(status, 200)
    for route in (b"/delay/", b"/status/", b"/bytes/", b"/stream/", b"/echo", b"/flaky/",
                  b"/close", b"/slow-body/"):
        check(route in body, route)
    equal(ask(url, "/nothing")[0], 404)


@claim
def delay_answers_after_that_time(eddy):
    url = eddy.mock()
    for seconds in (0, 0.25):
        begin = time.monotonic()
        status, _, body = ask(url, f"/delay/{seconds}")
        took = time.monotonic() - begin
        equal((status, json.loads(body)["delay_ms"]), (200, int(seconds * 1000)))
        check(seconds <= took < e2e.SOON, took)


@claim
def status_answers_with_that_status(eddy):
    url = eddy.mock()
    for status in (200, 201, 204, 304, 404, 429, 500, 503, 599):
        got, headers, body = ask(url, f"/status/{status}")
        equal(got, status)
        equal(body, b"" if status in (204, 304) else b"status %d\n" % status)
        check("Retry-After" not in headers)
    equal(ask(url, "/status/503?retry_after=1.5")[1]["Retry-After"], "1.5")


@claim
def bytes_has_that_many(eddy):
    url = eddy.mock()
    for n in (0, 1, 16384, 16385, 3000000):
        status, headers, body = ask(url, f"/bytes/{n}")
        equal((status, len(body), headers["Content-Length"]), (200, n, str(n)))


@claim
def stream_is_chunked(eddy):
    url = eddy.mock()
    status, headers, body = ask(url, "/stream/100")
    equal((status, headers["Transfer-Encoding"]), (200, "chunked"))
    equal([json.loads(line)["line"] for line in body.splitlines()], list(range(100)))
    equal(ask(url, "/stream/0")[2], b"")


@claim
def echo_gives_the_request_as_json(eddy):
    url = eddy.mock()
    body = json.loads(ask(url, "/echo?a=1&b", "PATCH", "h\u00e9llo\n".encode(),
                          {"X-A": "1"})[2])
    equal((body["method"], body["target"], body["body"]), ("PATCH", "/echo?a=1&b", "h\u00e9llo\n"))
    equal(body["headers"]["X-A"], "1")
    equal(json.loads(ask(url, "/echo", "POST", b"\xff\x00")[2])["body"], {"_base64": "/wA="})
    with socket.create_connection(address(url)) as connection:
        connection.sendall(b"GET /echo HTTP/1.1\r\nHost: h\r\nX-Two: a\r\nx-two: b\r\n"
                           b"Connection: close\r\n\r\n")
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    headers = json.loads(answer.split(b"\r\n\r\n", 1)[1])["headers"]
    equal(headers["X-Two"], "a, b")
    check("x-two" not in headers)


@claim
def flaky_fails_so_often_for_each_token(eddy):
    url = eddy.mock()
    for token in ("one", "two"):
        got = [ask(url, f"/flaky/2?token={token}")[0] for _ in range(4)]
        equal(got, [503, 503, 200, 200])
    equal([ask(url, "/flaky/1")[0] for _ in range(2)], [503, 200])
    equal(ask(url, "/flaky/1?x=1&token=three&retry_after=7")[1]["Retry-After"], "7")


@claim
def flaky_keeps_its_token_until_a_late_body_has_come(eddy):
    url = eddy.mock()
    for method in (b"GET", b"POST"):
        got = []
        for _ in range(3):
            with socket.create_connection(address(url), timeout=e2e.LIMIT_S) as connection:
                connection.sendall(method + b" /flaky/2?token=" + method + b" HTTP/1.1\r\n"
                                   b"Host: x\r\nContent-Length: 5\r\n\r\nhe")
                head = connection.recv(12)
                connection.sendall(b"llo")
            got.append(head)
        equal(got, [b"HTTP/1.1 503"] * 2 + [b"HTTP/1.1 200"])
    equal(eddy.child.poll(), None)


@claim
def close_drops_the_connection(eddy):
    url = eddy.mock()
    with socket.create_connection(address(url), timeout=e2e.LIMIT_S) as connection:
        connection.sendall(b"GET /close HTTP/1.1\r\nHost: x\r\n\r\n")
        try:
            equal(connection.recv(100), b"")
        except ConnectionResetError:
            pass
    equal(ask(url, "/bytes/1")[0], 200)


@claim
def slow_body_sends_its_head_at_once_and_dribbles(eddy):
    url = eddy.mock()
    begin = time.monotonic()
    with socket.create_connection(address(url), timeout=e2e.LIMIT_S) as connection:
        connection.sendall(b"GET /slow-body/3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        data, pieces = b"", 0
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536)
        head = time.monotonic() - begin
        while piece := connection.recv(65536):
            data += piece
            pieces += 1
    took = time.monotonic() - begin
    check(head < 3, head)
    check(3 <= took < e2e.SOON, took)
    check(pieces >= 5, pieces)
    equal(len(data.split(b"\r\n\r\n", 1)[1]), 100)


@claim
def numbers_out_of_bounds_are_400_with_the_bound(eddy):
    url = eddy.mock()
    for target in ("/delay/x", "/delay/-1", "/delay/3601", "/delay/", "/delay/1e3", "/delay/inf",
                   "/status/99", "/status/600", "/status/20x", "/status/", "/bytes/-1",
                   "/bytes/1073741825", "/bytes/99999999999999999999", "/bytes/", "/stream/1000001",
                   "/stream/0x10", "/flaky/1001", "/flaky/", "/slow-body/9999999",
                   "/status/200?retry_after=soon", "/flaky/1?token=" + "t" * 129):
        status, _, body = ask(url, target)
        equal(status, 400, target)
        check(len(body) > 10, target)


@claim
def connections_are_kept(eddy):
    url = eddy.mock()
    connection = http.client.HTTPConnection(*address(url), timeout=e2e.LIMIT_S)
    local = None
    for target in ("/bytes/10", "/stream/5", "/status/404", "/status/204", "/echo"):
        connection.request("GET", target)
        connection.getresponse().read()
        check(connection.sock is not None, target)
        local = local or connection.sock.getsockname()
        equal(connection.sock.getsockname(), local)
    connection.close()


@claim
def head_has_no_body(eddy):
    url = eddy.mock()
    status, headers, body = ask(url, "/bytes/10", "HEAD")
    equal((status, headers["Content-Length"], body), (200, "10", b""))


@claim
def latency_delays_each_answer(eddy):
    url = eddy.mock("--latency", "200ms")
    begin = time.monotonic()
    ask(url, "/bytes/1")
    check(0.2 <= time.monotonic() - begin < e2e.SOON)
    url = eddy.mock("--latency", "1ms", "--latency-p99", "20ms")
    begin = time.monotonic()
    for _ in range(20):
        ask(url, "/bytes/1")
    check(time.monotonic() - begin < e2e.SOON)


@claim
def error_rate_fails_that_part(eddy):
    url = eddy.mock("--error-rate", "1")
    equal({ask(url, "/bytes/1")[0] for _ in range(30)}, {500, 503})
    equal(ask(url, "/")[0], 200)
    url = eddy.mock("--error-rate", "0.5")
    failed = sum(ask(url, "/bytes/1")[0] >= 500 for _ in range(100))
    check(15 < failed < 85, failed)


@claim
def rate_limit_answers_429_with_retry_after(eddy):
    url = eddy.mock("--rate-limit", "2/s")
    request = b"GET /bytes/1 HTTP/1.1\r\nHost: x\r\n"
    with socket.create_connection(address(url), timeout=e2e.LIMIT_S) as connection:
        # At one stroke, so that a slow machine gives the server no time for more.
        connection.sendall((request + b"\r\n") * 19 + request + b"Connection: close\r\n\r\n")
        heads = b"".join(iter(lambda: connection.recv(65536), b"")).split(b"HTTP/1.1 ")[1:]
    equal([head[:3] for head in heads[:2]], [b"200", b"200"])
    equal((len(heads), heads[-1][:3]), (20, b"429"))
    check(b"\r\nRetry-After: 1\r\n" in heads[-1], heads[-1])
    url = eddy.mock("--rate-limit", "1/m")
    equal([ask(url, "/bytes/1")[0] for _ in range(2)], [200, 429])


@claim
def many_wait_at_a_time(eddy):
    url = eddy.mock()
    connections = [socket.create_connection(address(url), timeout=e2e.LIMIT_S) for _ in range(200)]
    begin = time.monotonic()
    for connection in connections:
        connection.sendall(b"GET /delay/0.5 HTTP/1.1\r\nHost: x\r\n\r\n")
    for connection in connections:
        check(connection.recv(100).startswith(b"HTTP/1.1 200"))
        connection.close()
    check(time.monotonic() - begin < e2e.SOON)


@claim
def wrong_command_lines_are_refused(eddy):
    for args, words in [
            (["--listen", "8080"], ["--listen", "HOST:PORT"]),
            (["--listen", "127.0.0.1:"], ["--listen", "HOST:PORT"]),
            (["--listen", "127.0.0.1:x"], ["--listen", "port x is not within 0 to 65535"]),
            (["--listen", "127.0.0.1:65536"], ["--listen", "port 65536 is not within 0 to 65535"]),
            (["--listen", "localhost:0"], ["--listen", "address", "127.0.0.1"]),
            (["--latency", "5"], ["--latency", "unit"]),
            (["--latency-p99", "5s"], ["--latency-p99", "--latency"]),
            (["--latency", "2s", "--latency-p99", "1s"], ["--latency-p99"]),
            (["--latency", "2h"], ["1h"]),
            (["--error-rate", "1.5"], ["--error-rate"]),
            (["--error-rate", "x"], ["--error-rate"]),
            (["--rate-limit", "10"], ["--rate-limit", "10/s"]),
            (["--rate-limit", "0/s"], ["--rate-limit"]),
            (["8080"], ["8080", "--listen HOST:PORT"]),
            (["--port", "8080"], ["did you mean --listen?"]),
            (["-latency", "1s"], ["did you mean --latency?"]),
            (["--nope"], ["--nope"])]:
        e2e.one_line(eddy.run("mock", *args), 2, *words)


@claim
def port_in_use_is_said(eddy):
    url = eddy.mock()
    e2e.one_line(eddy.run("mock", "--listen", "127.0.0.1:" + url.rsplit(":", 1)[1]), 1,
                 "--listen", "in use", "another port")


@claim
def ipv6_is_listened_on(eddy):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        raise e2e.Skip("there is no IPv6")
    url = eddy.mock("--listen", "[::1]:0")
    check(url.startswith("http://[::1]:"), url)
    equal(eddy.fetch(url + "/bytes/3").lines()[0]["bytes"], 3)


@claim
def signals_end_it_with_their_exit_codes(eddy):
    for signo, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        url = eddy.mock()
        with socket.create_connection(address(url)) as connection:
            connection.sendall(b"GET /delay/60 HTTP/1.1\r\nHost: x\r\n\r\n")
            time.sleep(0.1)
            begin = time.monotonic()
            eddy.child.send_signal(signo)
            equal(eddy.child.wait(e2e.LIMIT_S), code)
            check(time.monotonic() - begin < e2e.SOON)
        equal(eddy.child.stderr.read(), b"")


if __name__ == "__main__":
    e2e.main()
