"""test_mock - `eddy mock`: each route, its bounds, the API, the moods, and its end."""
import base64
import collections
import concurrent.futures
import email.utils
import http.client
import itertools
import json
import os
import select
import signal
import socket
import struct
import time

import e2e
from e2e import check, claim, equal, wait_until


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
                  b"/close", b"/slow-body/", b"/v1/embeddings", b"/v1/chat/completions",
                  b"/v1/models"):
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
    for status in (200, 201, 204, 205, 304, 404, 429, 500, 503, 599):
        got, headers, body = ask(url, f"/status/{status}")
        equal(got, status)
        equal(body, b"" if status in (204, 205, 304) else b"status %d\n" % status)
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
def a_body_above_the_limit_of_the_help_is_refused(eddy):
    check("above 16 MiB is answered by 413" in eddy.run("mock", "--help").out)
    url = eddy.mock()
    equal(ask(url, "/echo", "POST", headers={"Content-Length": str((16 << 20) + 1)})[0], 413)
    equal(len(json.loads(ask(url, "/echo", "POST", b"a" * 1000)[2])["body"]), 1000)


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
        connection.sendall(b"GET /delay/2 HTTP/1.1\r\nHost: x\r\n\r\n")
    for connection in connections:
        check(connection.recv(100).startswith(b"HTTP/1.1 200"))
        connection.close()
    check(time.monotonic() - begin < e2e.SOON)


def api(url, path, body=None, key="", headers=(), method=None):
    """A request to the API; returns (status, headers, parsed body)."""
    headers = dict(headers)
    if key:
        headers["Authorization"] = "Bearer " + key
    data = None if body is None else json.dumps(body)
    status, got, answer = ask(url, path, method or ("GET" if body is None else "POST"), data,
                              headers)
    return status, got, json.loads(answer)


def error_of(answer, status, code, kind="invalid_request_error"):
    """An error body of the API."""
    got, headers, body = answer
    equal((got, list(body)), (status, ["error"]), body)
    equal(sorted(body["error"]), ["code", "message", "param", "type"])
    equal((body["error"]["code"], body["error"]["type"]), (code, kind))
    check(len(body["error"]["message"]) > 10, body)
    check(headers["x-request-id"].startswith("req_"))
    return body["error"]


EMBED = {"model": "m", "input": "hello"}
CHAT = {"model": "m", "messages": [{"role": "user", "content": "hello there"}]}


@claim
def embeddings_have_the_form_of_openai(eddy):
    url = eddy.mock()
    status, headers, one = api(url, "/v1/embeddings", EMBED)
    equal((status, one["object"], one["model"]), (200, "list", "m"))
    equal(one["usage"], {"prompt_tokens": 2, "total_tokens": 2})
    equal([(d["object"], d["index"], len(d["embedding"])) for d in one["data"]],
          [("embedding", 0, 8)])
    check("x-ratelimit-limit-requests" not in headers)
    two = api(url, "/v1/embeddings", {"model": "m", "input": ["x", "hello"]})[2]
    equal(two["data"][1]["embedding"], one["data"][0]["embedding"])
    packed = api(url, "/v1/embeddings", {**EMBED, "encoding_format": "base64"})[2]
    floats = struct.unpack("<8f", base64.b64decode(packed["data"][0]["embedding"]))
    check(all(abs(a - b) < 1e-7 for a, b in zip(floats, one["data"][0]["embedding"])), floats)
    lists = api(url, "/v1/embeddings", {"model": "m", "input": [[1, 2], [3]], "dimensions": 3})[2]
    equal((len(lists["data"]), len(lists["data"][1]["embedding"])), (2, 3))
    url = eddy.mock("--dimensions", "1536")
    equal(len(api(url, "/v1/embeddings", EMBED)[2]["data"][0]["embedding"]), 1536)


@claim
def chat_completions_have_the_form_of_openai(eddy):
    url = eddy.mock()
    status, _, answer = api(url, "/v1/chat/completions", {**CHAT, "n": 2, "max_tokens": 5})
    equal((status, answer["object"], answer["model"]), (200, "chat.completion", "m"))
    equal([(c["index"], c["finish_reason"], c["message"]["role"],
            len(c["message"]["content"].split())) for c in answer["choices"]],
          [(0, "length", "assistant", 5), (1, "length", "assistant", 5)])
    equal([answer["usage"][name] for name in ("prompt_tokens", "completion_tokens",
                                              "total_tokens")], [3, 10, 13])
    again = api(url, "/v1/chat/completions", CHAT)[2]
    equal(again["choices"][0]["finish_reason"], "stop")
    check(again["choices"][0]["message"]["content"].startswith(
        answer["choices"][0]["message"]["content"]))
    check(again["id"] != answer["id"])
    url = eddy.mock("--completion-tokens", "200")
    equal(api(url, "/v1/chat/completions", CHAT)[2]["usage"]["completion_tokens"], 200)


@claim
def stream_of_events_adds_up_to_the_answer(eddy):
    url = eddy.mock("--token-latency", "1ms")
    whole = api(url, "/v1/chat/completions", {**CHAT, "n": 3})[2]
    status, headers, body = ask(url, "/v1/chat/completions", "POST", json.dumps(
        {**CHAT, "n": 3, "stream": True, "stream_options": {"include_usage": True}}))
    equal((status, headers["Content-Type"]), (200, "text/event-stream; charset=utf-8"))
    check(body.endswith(b"\n\ndata: [DONE]\n\n"))
    events = body.decode().split("\n\n")[:-2]
    check(all(event.startswith("data: ") for event in events))
    chunks = [json.loads(event[6:]) for event in events]
    equal({chunk["object"] for chunk in chunks}, {"chat.completion.chunk"})
    equal(len({chunk["id"] for chunk in chunks}), 1)
    equal((chunks[-1]["choices"], chunks[-1]["usage"]), ([], whole["usage"]))
    text, ends = ["", "", ""], {}
    for chunk in chunks[:-1]:
        equal(chunk["usage"], None)
        choice = chunk["choices"][0]
        text[choice["index"]] += choice["delta"].get("content", "")
        if choice["finish_reason"]:
            ends[choice["index"]] = choice["finish_reason"]
    equal(chunks[0]["choices"][0]["delta"]["role"], "assistant")
    equal(text, [choice["message"]["content"] for choice in whole["choices"]])
    equal(ends, {0: "stop", 1: "stop", 2: "stop"})
    body = ask(url, "/v1/chat/completions", "POST", json.dumps({**CHAT, "stream": True}))[2]
    check(b"usage" not in body)


@claim
def models_are_listed_and_others_are_unknown(eddy):
    url = eddy.mock()
    names = [model["id"] for model in api(url, "/v1/models")[2]["data"]]
    equal(names, ["mock-chat", "mock-embedding"])
    equal(api(url, "/v1/models/org%2Fa%20b")[2]["id"], "org/a b")
    url = eddy.mock("--model", "one", "--model", "org/two")
    equal([model["id"] for model in api(url, "/v1/models")[2]["data"]], ["one", "org/two"])
    equal(api(url, "/v1/models/org/two")[2]["object"], "model")
    error_of(api(url, "/v1/models/three"), 404, "model_not_found")
    error_of(api(url, "/v1/models/" + "x" * 300), 404, "model_not_found")
    error_of(api(url, "/v1/embeddings", EMBED), 404, "model_not_found")
    equal(api(url, "/v1/embeddings", {**EMBED, "model": "one"})[0], 200)


@claim
def wrong_requests_get_the_errors_of_openai(eddy):
    url = eddy.mock()
    for path, body, param, code in (
            ("/v1/embeddings", {"model": "m"}, "input", "missing_required_parameter"),
            ("/v1/embeddings", {"input": "x"}, "model", "missing_required_parameter"),
            ("/v1/embeddings", {"model": "m", "input": ""}, "input", "invalid_type"),
            ("/v1/chat/completions", {"model": "m"}, "messages", "missing_required_parameter"),
            ("/v1/chat/completions", [], None, None)):
        equal(error_of(api(url, path, body), 400, code)["param"], param)
    for body in (b"", b"{", b"\xff", b"[" * 100000):
        status, headers, answer = ask(url, "/v1/embeddings", "POST", body)
        error_of((status, headers, json.loads(answer)), 400, None)
    error_of(api(url, "/v1/nothing", {}), 404, None)
    equal(api(url, "/v1/embeddings")[1]["Allow"], "POST")
    error_of(api(url, "/v1/embeddings"), 405, "method_not_supported")
    error_of(api(url, "/v1/models", {}), 405, "method_not_supported")
    equal(len({ask(url, path)[1]["x-request-id"] for path in ("/", "/nothing", "/bytes/1")}), 3)


@claim
def other_keys_are_refused(eddy):
    url = eddy.mock("--api-key", "first", "--api-key", "second")
    for path in ("/v1/models", "/v1/nothing"):
        error_of(api(url, path), 401, None)
        error_of(api(url, path, key="third"), 401, "invalid_api_key")
        error_of(api(url, path, key="firs"), 401, "invalid_api_key")
    long = "s" * 5000
    check(long[:100] not in api(url, "/v1/models", key=long)[2]["error"]["message"])
    equal([api(url, "/v1/models", key=key)[0] for key in ("first", "second")], [200, 200])
    equal(api(url, "/v1/models", headers={"api-key": "second"})[0], 200)
    equal(ask(url, "/bytes/1")[0], 401)
    equal(ask(url, "/")[0], 200)


@claim
def keys_have_their_own_limits(eddy):
    url = eddy.mock("--api-key", "a,rpm=1", "--api-key", "b,quota=2,rpm=100", "--api-key", "c,d", "--rpm", "50")
    limits = {key: api(url, "/v1/models", key=key)[1]["x-ratelimit-limit-requests"] for key in ("a", "b", "c,d")}
    equal(limits, {"a": "1", "b": "100", "c,d": "50"})
    error_of(api(url, "/v1/models", key="a"), 429, "rate_limit_exceeded", "requests")
    equal(api(url, "/v1/models", key="b")[0], 200)
    error_of(api(url, "/v1/models", key="b"), 429, "insufficient_quota", "insufficient_quota")
    error_of(api(url, "/v1/models", key="a,rpm=1"), 401, "invalid_api_key")


@claim
def tokens_are_granted_and_end(eddy):
    url = eddy.mock("--token-life", "300s", "--api-key", "fixed", "--quota", "3")
    status, headers, body = ask(url, "/oauth/token", "POST")
    grant = json.loads(body)
    equal((status, headers["Cache-Control"], grant["token_type"], grant["expires_in"]), (200, "no-store", "Bearer", 300))
    lines = ask(url, "/oauth/token?form=lines", "POST")[2].decode().split("\n")
    equal(lines[1:], ["300.000", ""])
    jwt = ask(url, "/oauth/token?form=jwt")[2].decode().strip()
    claims = jwt.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    check(250 < claims["exp"] - time.time() <= 300, claims)
    opaque = ask(url, "/oauth/token?form=opaque")[2].decode().strip()
    # They are one client, whose quota they share.
    equal([api(url, "/v1/models", key=key)[0] for key in (grant["access_token"], lines[0], jwt, opaque)],
          [200, 200, 200, 429])
    equal(api(url, "/v1/models", key="fixed")[0], 200)
    for key in ("other", opaque[:-1], opaque + "0", opaque[:-1] + ("0" if opaque[-1] != "0" else "1"), "mock_", "a.b.c"):
        error_of(api(url, "/v1/models", key=key), 401, "invalid_api_key")
    error_of(api(url, "/v1/models"), 401, None)
    equal(ask(url, "/oauth/token?form=x")[0], 400)
    url = eddy.mock("--token-life", "50ms")
    token = ask(url, "/oauth/token?form=opaque")[2].decode().strip()
    wait_until(lambda: api(url, "/v1/models", key=token)[0] == 401, "the end of the token")
    error_of(api(url, "/v1/models", key=token), 401, "token_expired")
    equal(ask(eddy.mock(), "/oauth/token")[0], 404)


@claim
def requests_per_minute_are_limited_for_each_key(eddy):
    url = eddy.mock("--rpm", "2", "--tpm", "1000", "--retry-after", "ms")
    for left in ("1", "0"):
        status, headers, _ = api(url, "/v1/embeddings", EMBED, "a")
        equal((status, headers["x-ratelimit-limit-requests"],
               headers["x-ratelimit-remaining-requests"]), (200, "2", left))
        equal(headers["x-ratelimit-limit-tokens"], "1000")
        check(headers["x-ratelimit-reset-requests"].endswith("s"))
    answer = api(url, "/v1/embeddings", EMBED, "a")
    error_of(answer, 429, "rate_limit_exceeded", "requests")
    wait = int(answer[1]["retry-after-ms"])
    check(0 < wait <= 30000, wait)
    equal(int(answer[1]["Retry-After"]), (wait + 999) // 1000)
    equal(answer[1]["x-ratelimit-remaining-requests"], "0")
    equal(api(url, "/v1/embeddings", EMBED, "b")[0], 200)
    # The headers are on errors too.
    equal(api(url, "/v1/embeddings", {}, "c")[1]["x-ratelimit-remaining-requests"], "1")


@claim
def tokens_per_minute_are_limited_for_each_key(eddy):
    url = eddy.mock("--tpm", "100")
    big = {"model": "m", "input": "x" * 360}
    status, headers, _ = api(url, "/v1/embeddings", big, "a")
    left = int(headers["x-ratelimit-remaining-tokens"])
    check(status == 200 and 10 <= left <= 11, status, left)
    answer = api(url, "/v1/embeddings", big, "a")
    error_of(answer, 429, "rate_limit_exceeded", "tokens")
    check(0 < int(answer[1]["Retry-After"]) <= 48, answer[1]["Retry-After"])
    equal(api(url, "/v1/embeddings", big, "b")[0], 200)
    # A request that never fits is not worth a retry.
    answer = api(url, "/v1/chat/completions", {**CHAT, "max_tokens": 98}, "c")
    error_of(answer, 429, "rate_limit_exceeded", "tokens")
    check("Retry-After" not in answer[1] and "too large" in answer[2]["error"]["message"])
    equal(api(url, "/v1/chat/completions", {**CHAT, "max_tokens": 97}, "c")[0], 200)


@claim
def quota_ends_the_answers_of_a_key(eddy):
    for args in ((), ("--vendor", "openai")):
        url = eddy.mock("--quota", "2", *args)
        equal([api(url, "/v1/models", key="a")[0] for _ in range(2)], [200, 200])
        answer = api(url, "/v1/models", key="a")
        error_of(answer, 429, "insufficient_quota", "insufficient_quota")
        check("Retry-After" not in answer[1])
        equal(api(url, "/v1/models", key="b")[0], 200)
        eddy.child.terminate()
        eddy.child.wait()


@claim
def retry_after_has_the_form_asked_for(eddy):
    def refused(form):
        url = eddy.mock("--rate-limit", "1/m", "--retry-after", form)
        ask(url, "/bytes/1")
        status, headers, _ = ask(url, "/bytes/1")
        equal(status, 429)
        return headers
    check(1 <= int(refused("seconds")["Retry-After"]) <= 60)
    check("Retry-After" not in refused("none"))
    headers = refused("date")
    wait = email.utils.parsedate_to_datetime(headers["Retry-After"]) - \
        email.utils.parsedate_to_datetime(headers["Date"])
    check(0 < wait.total_seconds() <= 61, wait)


@claim
def waves_refuse_all_and_end(eddy):
    begin = time.monotonic()
    url = eddy.mock("--wave", "1s:500ms:7s")
    seen, first = set(), None
    while len(seen) < 3 and time.monotonic() - begin < e2e.LIMIT_S:
        status, headers, _ = ask(url, "/bytes/1")
        if status == 429:
            first = first or time.monotonic() - begin
            equal(headers["Retry-After"], "7")
            seen.add("refused")
        else:
            seen.add("after" if "refused" in seen else "before")
        time.sleep(0.02)
        if "refused" in seen and "before" not in seen:
            seen.add("before")  # the machine was too slow for the time before
    equal(seen, {"before", "refused", "after"})
    check(first >= 1, first)


@claim
def capacity_limits_the_requests_served_at_a_time(eddy):
    url = eddy.mock("--capacity", "2")
    held = [socket.create_connection(address(url), timeout=e2e.LIMIT_S) for _ in range(2)]
    for connection in held:
        connection.sendall(b"GET /slow-body/60 HTTP/1.1\r\nHost: x\r\n\r\n")
        check(connection.recv(100).startswith(b"HTTP/1.1 200"))
    error_of(api(url, "/v1/models"), 429, "rate_limit_exceeded", "requests")
    equal(ask(url, "/")[0], 200)
    for connection in held:
        # A reset shows the server at once that the client is gone.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    wait_until(lambda: api(url, "/v1/models")[0] == 200, "room")
    begin = time.monotonic()
    url = eddy.mock("--capacity", "0,5@2s", "--capacity-status", "503")
    while (answer := api(url, "/v1/models"))[0] != 200:
        error_of(answer, 503, "service_unavailable", "server_error")
        time.sleep(0.05)
    check(2 <= time.monotonic() - begin < e2e.SOON)


@claim
def seed_repeats_the_errors(eddy):
    def statuses(seed):
        url = eddy.mock("--errors", "50%", "--seed", seed, "--latency", "exp:100us")
        return [ask(url, "/bytes/1")[0] for _ in range(40)]
    first = statuses("7")
    equal(first, statuses("7"))
    check(first != statuses("8"))
    equal(set(first), {200, 500, 503})
    url = eddy.mock("--errors", "100%")
    status, headers, body = api(url, "/v1/models")
    error_of((status, headers, body), status,
             {500: None, 503: "service_unavailable"}[status], "server_error")


@claim
def truncated_bodies_end_early(eddy):
    url = eddy.mock("--truncate", "100%", "--seed", "1")

    def outcome(path, body):
        try:
            data = ask(url, path, "POST" if body else "GET", body and json.dumps(body))[2]
        except http.client.IncompleteRead as short:
            data = short.partial
            kind = "dropped"
        except (http.client.RemoteDisconnected, ConnectionResetError):
            return "nothing", b""
        else:
            kind = "ended"
        check(b"[DONE]" not in data)
        return kind, data
    equal({outcome("/v1/embeddings", EMBED)[0] for _ in range(10)}, {"dropped"})
    equal({outcome("/bytes/1000", None)[0] for _ in range(10)}, {"dropped"})
    equal(outcome("/status/204", None)[0], "nothing")
    # A stream may also end as if it were whole.
    equal({outcome("/v1/chat/completions", {**CHAT, "stream": True})[0] for _ in range(30)},
          {"dropped", "ended"})
    equal(outcome("/stream/100", None)[0], "dropped")
    equal(ask(url, "/")[0], 200)


@claim
def stalled_bodies_halt_and_are_dropped(eddy):
    url = eddy.mock("--stall", "100%:500ms")
    for path in ("/bytes/1000", "/status/204"):
        begin = time.monotonic()
        try:
            ask(url, path)
            check(False, "not dropped")
        except (http.client.IncompleteRead, http.client.RemoteDisconnected,
                ConnectionResetError):
            pass
        check(0.5 <= time.monotonic() - begin < e2e.SOON)
    url = eddy.mock("--stall", "1")
    with socket.create_connection(address(url), timeout=1) as connection:
        connection.sendall(b"GET /bytes/1000 HTTP/1.1\r\nHost: x\r\n\r\n")
        try:
            while connection.recv(65536):
                pass
            check(False, "not halted")
        except socket.timeout:
            pass


@claim
def latency_has_the_distribution_asked_for(eddy):
    url = eddy.mock("--latency", "uniform:150ms:200ms")
    for path in ("/bytes/1", "/v1/models"):
        begin = time.monotonic()
        ask(url, path)
        check(0.15 <= time.monotonic() - begin < e2e.SOON)
    for text in ("lognormal:1ms:0.5", "exp:1ms", "pareto:1ms:2"):
        equal(ask(eddy.mock("--latency", text), "/bytes/1")[0], 200)


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
            (["--latency", "uniform:2s:1s"], ["--latency", "uniform:MIN:MAX"]),
            (["--latency", "gauss:2s:1s"], ["--latency", "lognormal"]),
            (["--token-latency", ""], ["--token-latency", "empty"]),
            (["--latency", "exp:1s", "--latency-p99", "5s"], ["--latency-p99", "distribution"]),
            (["--errors", "5"], ["--errors", "5%"]),
            (["--truncate", "x"], ["--truncate", "5%"]),
            (["--stall", "5%:1"], ["--stall", "unit"]),
            (["--stall", "5%;1s"], ["--stall", "5%:30s"]),
            (["--seed", "x"], ["--seed", "number"]),
            (["--rpm", "0"], ["--rpm", "from 1"]),
            (["--tpm", "1k"], ["--tpm", "k"]),
            (["--quota", "-1"], ["--quota", "from 1"]),
            (["--threads", "257"], ["--threads", "256"]),
            (["--threads", "two"], ["--threads", "256"]),
            (["--wave", "30s"], ["--wave", "PERIOD:LENGTH"]),
            (["--capacity", "x"], ["--capacity", "8@0s,2@10s"]),
            (["--capacity-status", "500"], ["--capacity-status", "429 or 503"]),
            (["--retry-after", "1s"], ["--retry-after", "seconds, ms, date or none"]),
            (["--api-key", ""], ["--api-key", "empty"]), (["--api-key", ",rpm=3"], ["--api-key", "empty"]),
            (["--api-key", "a,rpm=0"], ["--api-key", "KEY,rpm=60"]), (["--api-key", "a,rpm=1,x=2"], ["--api-key"]),
            (["--api-key", "a,quota=1.5"], ["--api-key"]), (["--token-life", "0s"], ["--token-life"]),
            (["--dimensions", "4097"], ["--dimensions", "4096"]),
            (["--key", "sk-1"], ["--key", "--cert", "--api-key"]),
            (["8080"], ["8080", "--listen HOST:PORT"]),
            (["--port", "8080"], ["did you mean --listen?"]),
            (["-latency", "1s"], ["did you mean --latency?"]),
            (["--nope"], ["--nope"])]:
        e2e.one_line(eddy.run("mock", *args), 2, *words)


@claim
def port_in_use_is_said(eddy):
    for threads in ("1", "2"):  # of the mock that has the port, and of the one that does not get it
        url = eddy.mock("--threads", threads)
        for more in ("1", "2"):
            e2e.one_line(eddy.run("mock", "--listen", "127.0.0.1:" + url.rsplit(":", 1)[1], "--threads", more), 1,
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


def answers_at_once(url, target, requests, connections):
    """Requests over several connections at the same time; returns the count of each status."""
    counts = collections.Counter()
    left = itertools.count()

    def client():
        connection = http.client.HTTPConnection(*address(url), timeout=e2e.LIMIT_S)
        while next(left) < requests:
            connection.request("GET", target)
            response = connection.getresponse()
            response.read()
            counts[response.status] += 1
        connection.close()

    with concurrent.futures.ThreadPoolExecutor(connections) as pool:
        for future in [pool.submit(client) for _ in range(connections)]:
            future.result()
    return dict(counts)


def listening(port):
    """The number of sockets that listen on a TCP port of 127.0.0.1."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table][1:]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows)


@claim
def threads_share_the_port_and_the_limits(eddy):
    url = eddy.mock("--threads", "2", "--quota", "300")
    wait_until(lambda: listening(address(url)[1]) == 2, "two listeners")
    equal(answers_at_once(url, "/status/204", 500, 20), {204: 300, 429: 200})
    url = eddy.mock("--threads", "3")
    wait_until(lambda: listening(address(url)[1]) == 3, "three listeners")
    equal(answers_at_once(url, "/flaky/100?token=t", 250, 20), {503: 100, 200: 150})


@claim
def threads_count_the_capacity_together(eddy):
    url = eddy.mock("--threads", "2", "--capacity", "3")
    wait_until(lambda: listening(address(url)[1]) == 2, "two listeners")
    held = [socket.create_connection(address(url)) for _ in range(20)]
    for connection in held:
        connection.sendall(b"GET /delay/60 HTTP/1.1\r\nHost: x\r\n\r\n")
    wait_until(lambda: len(select.select(held, [], [], 0)[0]) >= 17, "17 refusals")
    time.sleep(0.1)
    equal(len(select.select(held, [], [], 0)[0]), 17)
    for connection in held:
        connection.close()
    # A place is held until its answer is due, so clients that leave a short delay show that places are given back.
    url = eddy.mock("--threads", "2", "--capacity", "3")
    wait_until(lambda: listening(address(url)[1]) == 2, "two listeners")
    held = [socket.create_connection(address(url)) for _ in range(20)]
    for connection in held:
        connection.sendall(b"GET /delay/2 HTTP/1.1\r\nHost: x\r\n\r\n")
    wait_until(lambda: len(select.select(held, [], [], 0)[0]) >= 17, "17 refusals")
    for connection in held:
        connection.close()
    wait_until(lambda: ask(url, "/delay/0")[0] == 200, "a place")


@claim
def a_thread_for_each_processor(eddy):
    url = eddy.mock("--threads", "0")
    cpus = min(len(os.sched_getaffinity(0)), 256)
    wait_until(lambda: listening(address(url)[1]) == cpus, "a listener for each processor")


@claim
def a_seed_repeats_the_choices_on_any_number_of_threads(eddy):
    def statuses(*options):
        url = eddy.mock("--seed", "7", "--errors", "50%", *options)
        return [ask(url, "/status/200")[0] for _ in range(30)]

    first = statuses()
    check(len(set(first)) > 1)
    equal(statuses("--threads", "4"), first)


@claim
def threads_serve_https_with_one_certificate(eddy):
    url = eddy.mock("--threads", "2", "--tls")
    certificate = eddy.child.stdout.readline().decode().split()[1]
    wait_until(lambda: listening(int(url.rpartition(":")[2])) == 2, "two listeners")
    result = eddy.fetch("--cacert", certificate, *[url + "/status/200"] * 20)
    equal([line["status"] for line in result.lines()], [200] * 20)
    eddy.child.send_signal(signal.SIGTERM)
    equal(eddy.child.wait(e2e.LIMIT_S), 143)
    check(not os.path.exists(certificate))


@claim
def http1_turns_http2_off(eddy):
    for args, chosen in (((), "h2"), (("--http1",), "http/1.1")):
        url = eddy.mock("--tls", *args)
        equal(e2e.alpn_of(url, eddy.child.stdout.readline().decode().split()[1]), chosen)


@claim
def a_terminal_that_closes_ends_it_and_removes_its_certificate(eddy):
    for threads in ("1", "2"):
        url = eddy.mock("--threads", threads, "--tls")
        certificate = eddy.child.stdout.readline().decode().split()[1]
        equal(eddy.fetch("--cacert", certificate, url + "/status/200").code, 0)
        for _ in range(3):
            eddy.child.send_signal(signal.SIGHUP)
        equal((eddy.child.wait(e2e.LIMIT_S), eddy.child.stderr.read()), (129, b""))
        check(not os.path.exists(os.path.dirname(certificate)), certificate)


@claim
def it_serves_on_under_nohup(eddy):
    url = eddy.mock(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    equal(ask(url, "/status/200")[0], 200)
    eddy.child.send_signal(signal.SIGHUP)
    equal(ask(url, "/status/200")[0], 200)
    eddy.child.send_signal(signal.SIGTERM)
    equal(eddy.child.wait(e2e.LIMIT_S), 143)


@claim
def an_address_in_use_ends_all_threads(eddy):
    taken = socket.create_server(("127.0.0.1", 0))
    result = eddy.run("mock", "--threads", "4", "--listen",
                      f"127.0.0.1:{taken.getsockname()[1]}")
    e2e.one_line(result, 1, "Address already in use")
    taken.close()
    one_line = eddy.run("mock", "--threads", "4", "--listen", "localhost:0")
    e2e.one_line(one_line, 2, "not an address")


@claim
def signals_end_it_with_their_exit_codes(eddy):
    for signo, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        for threads in ("1", "3"):
            url = eddy.mock("--threads", threads)
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
