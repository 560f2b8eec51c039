"""test_fetch_faults - bad input, bad servers, bad outputs: each gives one
clear line, and what was finished is kept.
"""
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import threading
import time

import e2e
from e2e import check, claim, equal


def codes(result):
    return [line["error"]["code"] if line["error"] else line["status"]
            for line in result.lines()]


def against(eddy, answer, *args):
    """Fetch one URL from a server that answers so; return its line."""
    server = eddy.serve(answer)
    result = eddy.fetch("--attempts", "1", "--timeout", "20s", *args, server.url + "/x")
    lines = result.lines()
    equal((result.code, len(lines)), (1, 1), result)
    check(lines[0]["error"]["message"], lines)
    return lines[0]


def says(data, then_close=True):
    def answer(connection, _):
        e2e.read_head(connection)
        connection.sendall(data)
        if not then_close:
            e2e.until_closed(connection)
    return answer


@claim
def urls_that_are_none_fail_in_their_own_lines(eddy):
    mock = eddy.mock()
    bad = ["nonsense", "http://", "ftp://127.0.0.1/", "http://127.0.0.1:99999/", "//127.0.0.1/",
           "http://a b/", "http://[::1/"]
    urls = eddy.file("urls", "\n".join(bad + [mock + "/bytes/1"]) + "\n")
    result = eddy.fetch("-i", urls)
    equal(result.code, 1, result)
    equal(codes(result)[-1], 200)
    for url, line in zip(bad, result.lines()):
        equal((line["url"], line["status"], line["attempts"]), (url, None, 0))
        check(line["error"]["code"] in ("invalid_request_line", "dns_error"), line)


@claim
def nothing_before_the_at_of_a_refused_url_is_printed(eddy):
    cases = {
        "http://u:sec/ret@127.0.0.1:1/": "http://***@127.0.0.1:1/",
        "http://u:se c?r#et@127.0.0.1:1/": "http://***@127.0.0.1:1/",
        "u:secret@127.0.0.1": "***@127.0.0.1",
        "ftp://u:secret@127.0.0.1/": "ftp://***@127.0.0.1/",
        "http://u%3a:secret@127.0.0.1/": "http://***@127.0.0.1/",
    }
    result = eddy.fetch(*cases)
    equal([line["url"] for line in result.lines()], list(cases.values()))
    equal({line["error"]["code"] for line in result.lines()}, {"invalid_request_line"})
    check("%2F" in result.lines()[0]["error"]["message"], result)
    late = eddy.fetch("--deadline", "1ms", "-i", eddy.file("urls", "\n".join(list(cases) * 200)))
    for shown in (result, late, eddy.run("http://u:secret@h"), eddy.fetch("-i", "http://u:secret@h")):
        for part in ("sec", "se c", "r#et"):
            check(part not in shown.out and part not in shown.err, part, shown)
    line = eddy.fetch("--attempts", "1", f"http://u:p@127.0.0.1:{e2e.free_port()}/").lines()[0]
    check(line["url"].startswith("http://u:***@127.0.0.1:"), line)


@claim
def lines_that_are_too_long_or_hold_a_nul_are_refused_alone(eddy):
    mock = eddy.mock()
    good = f"{mock}/bytes/1\n".encode()
    urls = eddy.file("urls", b"http://127.0.0.1/" + b"x" * 70000 + b"\n" + good +
                     b"http://127.0.0.1/\0\n" + good + b"\xff\xfe\n" + good)
    result = eddy.fetch("-i", urls)
    equal(codes(result), ["invalid_request_line", 200, "invalid_request_line", 200,
                          "invalid_request_line", 200], result)
    check("64 KiB" in result.lines()[0]["error"]["message"], result)
    check("NUL" in result.lines()[2]["error"]["message"], result)


@claim
def unknown_host_is_a_dns_error(eddy):
    result = eddy.fetch("--attempts", "1", "http://no-such-host.invalid/")
    equal((result.code, codes(result)), (1, ["dns_error"]), result)


@claim
def refused_port_is_a_connect_error_and_tried_again(eddy):
    result = eddy.fetch("--backoff", "1ms", f"http://127.0.0.1:{e2e.free_port()}/")
    equal((result.code, codes(result)), (1, ["connect_error"]), result)
    equal(result.lines()[0]["attempts"], 3)


@claim
def unreachable_address_is_a_connect_error(eddy):
    # The system refuses to connect to a group of machines; nothing is sent.
    result = eddy.fetch("--attempts", "1", "--connect-timeout", "60s", "http://224.0.0.1/")
    equal((result.code, codes(result)), (1, ["connect_error"]), result)
    check(result.seconds < e2e.SOON, result.seconds)


@claim
def connect_without_an_answer_ends_at_its_timeout(eddy):
    result = eddy.fetch("--attempts", "1", "--connect-timeout", "500ms",
                        f"http://127.0.0.1:{e2e.deaf_port(eddy)}/")
    equal((result.code, codes(result)), (1, ["connect_error"]), result)
    check(0.5 <= result.seconds < e2e.SOON, result.seconds)


@claim
def post_that_could_not_connect_in_time_is_tried_again(eddy):
    # Nothing was sent, whichever limit ended the attempt.
    url = f"http://127.0.0.1:{e2e.deaf_port(eddy)}/"
    for limit, code in ("--connect-timeout", "connect_error"), ("--timeout", "request_timeout"):
        result = eddy.fetch("--method", "POST", "--data", "x", "--attempts", "2", "--backoff", "1ms",
                            limit, "300ms", url)
        equal((result.code, codes(result)), (1, [code]), result)
        equal(result.lines()[0]["attempts"], 2, result)


@claim
def post_that_was_sent_is_not_tried_again(eddy):
    def answer(connection, _):
        e2e.read_head(connection)
        e2e.until_closed(connection)
    server = eddy.serve(answer)
    result = eddy.fetch("--method", "POST", "--data", "x", "--backoff", "1ms", "--timeout", "500ms",
                        server.url)
    equal((result.code, codes(result)), (1, ["request_timeout"]), result)
    equal(result.lines()[0]["attempts"], 1, result)


@claim
def post_with_an_idempotency_key_is_tried_again(eddy):
    def answer(connection, number):
        e2e.read_head(connection)
        if number > 0:
            connection.sendall(e2e.ok())
    for headers, attempts in ((["-H", "idempotency-key: 1"], 2),
                              (["-H", "X-Idempotency-Key: 1"], 2), (["-H", "Idempotency: 1"], 1)):
        server = eddy.serve(answer)
        result = eddy.fetch("--data", "x", "--backoff", "1ms", "--attempts", "2", *headers, server.url)
        equal(codes(result), [200] if attempts == 2 else ["connection_reset"], result)
        equal(result.lines()[0]["attempts"], attempts, result)


@claim
def garbage_in_retry_after_does_not_end_the_attempts(eddy):
    garbage = ["1.2.3", "9999..9999", "99999999999999999999.0.0", "soon", "-1", "", "nan",
               "Sun, 06 Nov 1994"]

    seen = set()

    def answer(connection, _):
        path = e2e.read_head(connection).split()[1]
        if path not in seen:
            seen.add(path)
            value = garbage[int(path[1:])].encode()
            connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n"
                               b"Retry-After: " + value + b"\r\n\r\n")
        else:
            connection.sendall(e2e.ok(headers=b"Connection: close\r\n"))
    server = eddy.serve(answer)
    result = eddy.fetch("-c", "1", "--backoff", "1ms", *[f"{server.url}/{i}" for i in range(8)])
    equal((result.code, codes(result)), (0, [200] * 8), result)
    equal([line["attempts"] for line in result.lines()], [2] * 8, result)


@claim
def url_that_waits_for_its_next_attempt_has_no_slot(eddy):
    def answer(connection, _):
        path = e2e.read_head(connection).split()[1]
        status = b"503 Busy\r\nRetry-After: 1" if path == b"/busy" else b"200 OK"
        connection.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    server = eddy.serve(answer)
    result = eddy.fetch("-c", "1", "--attempts", "2", server.url + "/busy",
                        *[f"{server.url}/{i}" for i in range(20)])
    lines = [json.loads(line) for line in result.out.splitlines()]
    equal([line["status"] for line in lines], [200] * 20 + [503], result)


@claim
def credentials_that_cannot_be_sent_fail_in_their_own_lines(eddy):
    server = eddy.serve(says(e2e.ok()))
    host = server.url.removeprefix("http://")
    result = eddy.fetch(f"http://us%3Aer:secret@{host}/", f"http://us%0Aer:secret@{host}/")
    equal((result.code, codes(result)), (1, ["invalid_request_line"] * 2), result)
    for line in result.lines():
        equal(line["attempts"], 0, line)
        check("%3A" in line["error"]["message"], line)
        check("secret" not in json.dumps(line), line)


@claim
def garbage_is_an_invalid_response(eddy):
    for data, reason in (
            (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "the version is not HTTP/1.1 or another HTTP/1"),
            (b"\0\1\2\3" * 100, "the version is not HTTP/1.1 or another HTTP/1"),
            (b"HTTP/1.1 abc\r\n\r\n", "the status is not three digits from 100 to 999"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
             "Content-Length is given twice"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n",
             "a chunk's size is not a plain hexadecimal number")):
        for args in ([], ["--body"]):
            equal(against(eddy, says(data), *args)["error"],
                  {"code": "invalid_response",
                   "message": "the peer's message is not valid HTTP: " + reason}, data)


@claim
def endless_header_is_too_large(eddy):
    def answer(connection, _):
        e2e.read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            connection.sendall(b"X-Again: and again\r\n" * 100)

    equal(against(eddy, answer)["error"]["code"], "response_too_large")

    def one_line(connection, _):
        e2e.read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        while True:
            connection.sendall(b"y" * 4096)

    equal(against(eddy, one_line)["error"]["code"], "response_too_large")


@claim
def body_of_an_absurd_length_is_too_large(eddy):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000\r\n\r\nbegin"
    equal(against(eddy, says(head, False))["error"]["code"], "response_too_large")
    equal(against(eddy, says(head, False), "--body")["error"]["code"], "response_too_large")


@claim
def endless_body_is_too_large_to_keep(eddy):
    def answer(connection, _):
        e2e.read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunk = b"40000\r\n" + b"z" * 0x40000 + b"\r\n"
        while True:
            connection.sendall(chunk)

    line = against(eddy, answer, "--body")
    equal((line["error"]["code"], line["body"]), ("response_too_large", None))


@claim
def server_that_hangs_up_before_a_response_is_a_reset(eddy):
    equal(against(eddy, says(b""))["error"]["code"], "connection_reset")

    def reset(connection, _):
        e2e.read_head(connection)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    equal(against(eddy, reset)["error"]["code"], "connection_reset")


@claim
def body_that_breaks_off_is_truncated(eddy):
    line = against(eddy, says(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"))
    equal((line["error"]["code"], line["status"], line["bytes"]), ("stream_truncated", 200, 5))
    line = against(eddy, says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n123"))
    equal((line["error"]["code"], line["status"]), ("stream_truncated", 200))


@claim
def server_that_says_nothing_ends_at_the_timeout(eddy):
    line = against(eddy, says(b"", False), "--timeout", "400ms")
    equal(line["error"]["code"], "request_timeout")
    check(400 <= line["ms"] < 20000, line)


@claim
def message_of_a_timeout_names_the_limit_and_its_value(eddy):
    silent, part = says(b"", False), says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123", False)
    cases = [
        (silent, ["--timeout", "0.4s"], None, "request_timeout",
         "no complete response within --timeout 0.4s"),
        (silent, ["--read-timeout", "400ms"], None, "request_timeout",
         "no byte sent or received for --read-timeout 400ms"),
        (part, ["--read-timeout", "0.4s"], 200, "request_timeout",
         "no byte sent or received for --read-timeout 0.4s"),
        (part, ["--timeout", "19s", "--deadline", "400ms"], 200, "deadline_exceeded",
         "--deadline 400ms passed before the response was complete"),
    ]
    for answer, args, status, code, message in cases:
        line = against(eddy, answer, *args)
        equal((line["status"], line["error"]), (status, {"code": code, "message": message}))
        # --deadline runs from before the attempt.
        check(("--deadline" in args or 400 <= line["ms"]) and line["ms"] < e2e.SOON * 1000, line)
    line = eddy.fetch("--attempts", "1", "--connect-timeout", "0.4s", "--read-timeout", "200ms",
                      f"http://127.0.0.1:{e2e.deaf_port(eddy)}/").lines()[0]
    equal(line["error"], {"code": "connect_error",
                          "message": "no connection within --connect-timeout 0.4s"})


@claim
def slow_body_passes_the_read_timeout(eddy):
    def answer(connection, _):
        e2e.read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n")
        for _ in range(12):
            time.sleep(0.3)
            connection.sendall(b"x")

    line = eddy.fetch("--read-timeout", "3s", eddy.serve(answer).url).lines()[0]
    equal((line["status"], line["bytes"], line["error"]), (200, 12, None), line)
    check(line["ms"] >= 3600, line)


@claim
def read_timeout_ends_an_upload_that_stops_and_none_that_moves(eddy):
    released = threading.Event()
    eddy.stack.callback(released.set)

    def reads_slowly(connection, _):
        end = time.monotonic() + 4
        while time.monotonic() < end:
            time.sleep(0.2)
            connection.recv(1 << 20)
        connection.sendall(b"HTTP/1.1 413 Enough\r\nContent-Length: 0\r\n\r\n")
        e2e.until_closed(connection)

    def reads_nothing(_connection, _number):
        released.wait(e2e.LIMIT_S)

    args = ["-d", "@" + eddy.file("body", b"b" * (40 << 20)), "--attempts", "1", "--timeout", "20s"]
    line = eddy.fetch(*args, "--read-timeout", "2500ms", eddy.serve(reads_slowly).url).lines()[0]
    equal((line["status"], line["error"]), (413, None), line)
    line = eddy.fetch(*args, "--read-timeout", "400ms", eddy.serve(reads_nothing).url).lines()[0]
    equal(line["error"], {"code": "request_timeout",
                          "message": "no byte sent or received for --read-timeout 400ms"})


@claim
def response_cut_at_any_byte_gives_a_line_and_hangs_nothing(eddy):
    whole = (b"HTTP/1.1 200 OK\r\nServer: x\r\nTransfer-Encoding: chunked\r\n\r\n"
             b"4\r\nabcd\r\n3;ext=1\r\nefg\r\n0\r\nX-Trailer: y\r\n\r\n")

    def answer(connection, _):
        head = e2e.read_head(connection)
        if head:
            connection.sendall(whole[:int(head.split()[1][1:])])

    server = eddy.serve(answer)
    result = eddy.fetch("--attempts", "1", "-c", "20", "--timeout", "20s",
                        *(f"{server.url}/{n}" for n in range(len(whole) + 1)))
    got = codes(result)
    equal(len(got), len(whole) + 1)
    end = whole.index(b"\r\n\r\n") + 4
    equal(got[-1], 200)
    check(set(got[:end]) <= {"connection_reset", "invalid_response"}, got[:end])
    check(set(got[end:-1]) == {"stream_truncated"}, got[end:])


USAGE = [
    (["--no-such-option"], ["--no-such-option"]),
    (["-x"], ["-x"]),
    (["-c", "0"], ["-c"]),
    (["-c", "70000"], ["-c", "65536"]),
    (["-c", "many"], ["-c", "many"]),
    (["-c"], ["-c", "value"]),
    (["--timeout"], ["--timeout", "value"]),
    (["--force=yes"], ["--force"]),
    (["--timeout", "5"], ["--timeout", "unit"]),
    (["--timeout", "0s"], ["--timeout", "above 0"]),
    (["--timeout", "-1s"], ["--timeout"]),
    (["--deadline", "soon"], ["--deadline", "soon"]),
    (["--attempts", "0"], ["--attempts"]),
    (["--per-host", "x"], ["--per-host"]),
    (["--backoff", "1"], ["--backoff", "unit"]),
    (["--header", "no colon"], ["--header", "NAME: VALUE"]),
    (["--header", ": empty name"], ["--header"]),
    (["--header", "Bad Name: x"], ["--header"]),
    (["--header", "X: a\r\nY: b"], ["--header", "control"]),
    (["--header", "Content-Length: 5"], ["--header", "Content-Length"]),
    (["--header", "transfer-encoding: chunked"], ["--header"]),
    (["--method", "GE T"], ["--method"]),
    (["--method", ""], ["--method"]),
    (["--method", "CONNECT"], ["--method"]),
    (["--data", "@/no/such/file"], ["--data", "/no/such/file"]),
    (["--progress", "loud"], ["--progress", "plain"]),
    (["--summary", "xml"], ["--summary", "json"]),
    (["--body", "--save", "/tmp"], ["--body", "--save"]),
    (["-i", "/no/such/file"], ["-i", "/no/such/file", "No such file"]),
    (["-i", "/"], ["-i", "directory"]),
    (["-i", "-", "--data", "@-"], ["standard input"]),
    # Mistyped, of another program, or with one dash.
    (["--timeot", "5s"], ["unknown option --timeot", "did you mean --timeout?"]),
    (["--per_host", "5"], ["did you mean --per-host?"]),
    (["--output", "x"], ["did you mean -o?"]),
    (["--concurency", "5"], ["did you mean -c?"]),
    (["--retries", "5"], ["did you mean --attempts?"]),
    (["--rate", "100"], ["unknown option --rate", "did you mean -c", "limits the rate"]),
    (["--max-rate", "100/s"], ["did you mean -c", "limits the rate"]),
    (["--rps", "100"], ["did you mean -c", "limits the rate"]),
    (["-rate", "100"], ["unknown option -rate", "did you mean -c"]),
    (["--he"], ["--header or --help"]),
    (["-t", "5s"], ["unknown option -t", "did you mean --timeout?"]),
    (["-I"], ["unknown option -I", "did you mean -X HEAD?"]),
    (["-kO"], ["unknown option -O", "did you mean --save . --remote-name?"]),
    (["-m", "5"], ["did you mean --timeout?"]),
    (["-s"], ["did you mean --progress off?"]),
    (["-z", "5s"], ["did you mean --duration?"]),
    (["--z", "5s"], ["unknown option --z"]),
    (["-b"], ["--backoff or --body"]),
    (["--force", "-qx"], ["unknown option -q"]),
    (["-timeout", "5s"], ["unknown option -timeout", "--timeout"]),
    (["-deadline", "5s"], ["unknown option -deadline", "--deadline"]),
    (["-header", "A: b"], ["did you mean --header?"]),
    (["--nonsense"], ["unknown option --nonsense (see"]),
    (["--key", "k"], ["--key k", "--cert"]),
    (["--insecure", "--cacert", "c"], ["--insecure and --cacert"]),
    (["--cacert", "/no/such/file"], ["/no/such/file"]),
    # Values that are missing or wrong.
    (["-c", "8x"], ["-c 8x", "1 to 65536", 'without "x"']),
    (["-c=8"], ["-c 8, without ="]),
    (["-o=out"], ["-o out, without ="]),
    (["-o", "--force"], ["-o needs a value", "--force is an option"]),
    (["--timeout", "--attempts", "3"], ["--timeout needs a value"]),
    (["--data", "-i"], ["--data needs a value"]),
    (["--timeout", ""], ["--timeout: an empty value"]),
    (["--timeout", "1m30s"], ["in one", "90s"]),
    (["--read-timeout", "0s"], ["--read-timeout", "above 0"]),
    (["--speed-time", "3"], ["unknown option --speed-time", "--read-timeout"]),
    (["-X", "post"], ["POST"]),
    (["-H", "no colon"], ["NAME: VALUE"]),
    (["-d", "@/no/such/file"], ["/no/such/file"]),
    (["--save", "-"], ["--save -", "folder", "--body"]),
    (["-i", "http://127.0.0.1/"], ["-i http://127.0.0.1/", "without -i"]),
    (["-"], ["-i -"]),
    ([__file__], ["a file, not a URL", "-i " + __file__]),
]


@claim
def wrong_command_lines_are_refused_before_anything_is_sent(eddy):
    server = eddy.serve(says(e2e.ok()))
    for args, words in USAGE:
        e2e.one_line(eddy.fetch(server.url, *args), 2, *words)
    e2e.one_line(eddy.fetch(), 2, "-i")
    e2e.one_line(eddy.run(), 2, "fetch", "mock")
    e2e.one_line(eddy.run("frobnicate"), 2, "unknown command frobnicate", "there are batch")
    e2e.one_line(eddy.run("fecth"), 2, "unknown command fecth", "did you mean fetch?")
    e2e.one_line(eddy.run("--hepl"), 2, "did you mean --help?")
    e2e.one_line(eddy.run("-c", "8", "fetch"), 2, "unknown option -c", "command first")
    e2e.one_line(eddy.run(server.url), 2, "did you mean eddy fetch " + server.url)
    e2e.one_line(eddy.run("help", "mokc"), 2, "did you mean mock?")
    equal(server.count, 0)


@claim
def parts_of_a_url_that_are_wrong_are_named(eddy):
    result = eddy.fetch("http://127.0.0.1:99999/", "127.0.0.1/", "http://127.0.0.1/a b",
                        "http://:80/", "http://256.1.1.1/", "http://h%41/")
    equal(result.code, 1, result)
    words = ["port 99999 is not within 1 to 65535", "begin it with http://", "write %20", "no host",
             "256.1.1.1 is not an IPv4 address", "http://HOST[:PORT][/PATH]"]
    equal(len(result.lines()), len(words))
    for line, word in zip(result.lines(), words):
        equal(line["error"]["code"], "invalid_request_line")
        check(word in line["error"]["message"], line)


@claim
def help_and_version_are_everywhere(eddy):
    for args in (["--help"], ["fetch", "--help"], ["mock", "--help"]):
        result = eddy.run(*args)
        equal((result.code, result.err), (0, ""), result)
        check(result.out.startswith("Usage: eddy"), result)
        # `eddy help fetch` is the same.
        for same in (["help", *args[:-1]], [*args[:-1], "-h"]):
            equal(eddy.run(*same).out, result.out)
    for args in (["--version"], ["fetch", "--version"], ["mock", "--version"]):
        result = eddy.run(*args)
        equal(result.code, 0, result)
        check(result.out.startswith("eddy "), result)
    text = eddy.run("fetch", "--help").out
    for option in ("-i", "-c", "--per-host", "--timeout", "--connect-timeout", "--read-timeout",
                   "--deadline", "--attempts", "--backoff", "--header", "--method", "--data", "-H,", "-X,", "-d,",
                   "-o", "--force",
                   "--body", "--save", "--progress", "--summary"):
        check(f"  {option} " in text or f" {option} " in text, option, "is not in --help")


@claim
def output_file_that_holds_something_is_refused_and_left_alone(eddy):
    mock = eddy.mock()
    path = eddy.file("out", "precious\n")
    e2e.one_line(eddy.fetch("-o", path, mock + "/bytes/1"), 2,
                 f"-o {path}: the file is not empty; name a new one (--force discards its contents)")
    with open(path, encoding="utf-8") as file:
        equal(file.read(), "precious\n")
    equal(eddy.fetch("-o", path, "--force", mock + "/bytes/1").code, 0)
    with open(path, encoding="utf-8") as file:
        equal([json.loads(line)["bytes"] for line in file], [1])
    equal(eddy.fetch("-o", eddy.file("empty", ""), mock + "/bytes/1").code, 0)


@claim
def two_runs_do_not_mix_their_lines_in_one_file(eddy):
    mock = eddy.mock()
    path = eddy.file("out")
    child = eddy.start("fetch", "-o", path, mock + "/bytes/1", mock + "/delay/60")
    e2e.wait_until(lambda: os.path.exists(path) and os.path.getsize(path) > 0, "a line")
    e2e.one_line(eddy.fetch("-o", path, "--force", mock + "/bytes/1"), 6, "another eddy")
    child.send_signal(signal.SIGINT)
    equal(child.wait(e2e.LIMIT_S), 130)


@claim
def output_in_a_folder_that_is_not_there_is_an_output_failure(eddy):
    e2e.one_line(eddy.fetch("-o", "/no/such/folder/out", "http://127.0.0.1:9/"), 4, "-o",
                 "No such file")


@claim
def full_disk_is_said_once_and_ends_the_run(eddy):
    if not os.path.exists("/dev/full"):
        raise e2e.Skip("there is no /dev/full")
    mock = eddy.mock()
    urls = eddy.file("urls", f"{mock}/bytes/1\n" * 20 + f"{mock}/delay/30\n" * 100)
    result = eddy.fetch("-i", urls, "-c", "10", "-o", "/dev/full")
    equal(result.code, 4, result)
    equal(result.err.count("No space left"), 1, result)
    check(result.seconds < e2e.SOON, result.seconds)
    with open("/dev/full", "wb") as full:
        result = eddy.fetch("-i", urls, "-c", "10", stdout=full)
    equal(result.code, 4, result)
    check("standard output" in result.err, result)


@claim
def lines_written_before_the_disk_was_full_stay_whole(eddy):
    mock = eddy.mock()
    path = eddy.file("out")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    result = eddy.fetch("-o", path, "-c", "4", *[mock + "/bytes/1"] * 100, preexec_fn=limit)
    equal(result.code, 4, result)
    with open(path, "rb") as file:
        data = file.read()
    check(1500 < len(data) <= 2000, len(data))
    check(data.endswith(b"\n"), data[-50:])
    for line in data.splitlines():
        equal(json.loads(line)["status"], 200)
    check(f"the {len(data.splitlines())} results" in result.err, result)


def kept_whole(path, result):
    """The lines of a file whose disk was full; as many as the message says."""
    with open(path, "rb") as file:
        data = file.read()
    check(data.endswith(b"\n"), data[-50:])
    for line in data.splitlines():
        equal(json.loads(line)["status"], 200)
    equal(result.code, 4, result)
    check(f"the {len(data.splitlines())} results written so far are kept" in result.err, result)
    return data


@claim
def limit_of_the_size_of_files_cuts_no_line_and_kills_no_process(eddy):
    mock = eddy.mock()

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    path = eddy.file("out")
    for mode in ("wb", "ab"):
        with open(path, mode) as out:
            result = eddy.fetch("-c", "4", *[mock + "/bytes/1"] * 100, stdout=out,
                                preexec_fn=limit)
        data = kept_whole(path, result)
        check(1500 < len(data) <= 2000, len(data))
        os.remove(path)
    result = eddy.fetch("-o", path, "-c", "4", *[mock + "/bytes/1"] * 100, preexec_fn=limit)
    kept_whole(path, result)


@claim
def disk_that_is_full_keeps_whole_lines(eddy):
    folder = eddy.file("disk")
    os.mkdir(folder)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "none", folder],
                      stderr=subprocess.DEVNULL).returncode != 0:
        raise e2e.Skip("no file system can be mounted")
    eddy.stack.callback(subprocess.run, ["umount", folder])
    mock = eddy.mock()
    path = os.path.join(folder, "out")
    urls = eddy.file("urls", f"{mock}/bytes/1\n" * 1000)
    check(len(kept_whole(path, eddy.fetch("-i", urls, "-o", path))) > 20000)
    os.remove(path)
    with open(path, "wb") as out:
        result = eddy.fetch("-i", urls, stdout=out)
    check(len(kept_whole(path, result)) > 20000)


@claim
def output_file_that_was_removed_or_replaced_is_said_and_fails(eddy):
    server = eddy.serve(says(e2e.ok(), False))
    path = eddy.file("out")
    for then in (os.remove, lambda _: os.replace(eddy.file("new", "of another\n"), path)):
        child = eddy.start("fetch", "-i", "-", "-o", path, stdin=subprocess.PIPE)
        child.stdin.write(f"{server.url}/\n".encode())
        child.stdin.flush()
        e2e.wait_until(lambda: os.path.exists(path) and os.path.getsize(path) > 0, "a line")
        then(path)
        _, err = child.communicate(timeout=e2e.LIMIT_S)
        equal(child.returncode, 4, err)
        check(b"removed or replaced during the run, and its 1 results are lost" in err, err)
    with open(path, encoding="utf-8") as file:
        equal(file.read(), "of another\n")


@claim
def full_folder_of_save_is_an_output_failure(eddy):
    mock = eddy.mock()

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    folder = eddy.file("bodies")
    result = eddy.fetch("--save", folder, "-c", "1", mock + "/bytes/100", mock + "/bytes/100000",
                        mock + "/bytes/100", preexec_fn=limit)
    equal(result.code, 4, result)
    check("--save" in result.err, result)
    equal(sorted(os.listdir(folder)), [".eddy-saved.jsonl", "100"])


@claim
def standard_output_that_is_closed_is_an_output_failure(eddy):
    mock = eddy.mock()
    result = eddy.fetch(mock + "/bytes/1", stdout=None, preexec_fn=lambda: os.close(1))
    equal(result.code, 4, result)
    check("standard output" in result.err, result)


@claim
def reader_that_goes_away_ends_the_run_quietly(eddy):
    mock = eddy.mock()
    urls = eddy.file("urls", f"{mock}/delay/0.01\n" * 100000)
    begin = time.monotonic()
    child = eddy.start("fetch", "-i", urls, "-c", "8")
    for _ in range(3):
        json.loads(child.stdout.readline())
    child.stdout.close()
    equal(child.wait(e2e.LIMIT_S), 0)
    check(time.monotonic() - begin < e2e.SOON)
    err = child.stderr.read().decode()
    check("rror" not in err and "ipe" not in err, err)
    check("the reader of the output has gone" in err, err)


@claim
def sigpipe_does_not_end_the_mock_either(eddy):
    url = eddy.mock()
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1]))) as connection:
            connection.sendall(b"GET /bytes/50000000 HTTP/1.1\r\nHost: x\r\n\r\n")
            connection.recv(100)
    equal(eddy.fetch(url + "/bytes/1").code, 0)


@claim
def run_that_cannot_begin_took_no_time(eddy):
    def no_room():
        """Leave a single descriptor: for what the loader opens, but not for a loop."""
        for fd in range(3, 39):
            os.dup2(0, fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
    result = eddy.fetch("--summary", "json", "http://127.0.0.1/", preexec_fn=no_room, close_fds=False)
    equal((result.code, result.out), (1, ""), result)
    check("open files" in result.err, result)
    summary = json.loads(result.err.splitlines()[-1])
    check(summary["wall_s"] < 20, summary)


@claim
def list_of_urls_is_not_a_place_for_the_results(eddy):
    mock = eddy.mock()
    urls = eddy.file("urls", f"{mock}/bytes/1\n" * 3)
    e2e.one_line(eddy.fetch("-i", urls, "-o", urls, "--force"), 2, "same file")
    with open(urls, "ab") as both:
        e2e.one_line(eddy.fetch("-i", urls, stdout=both), 2, "same file")
    header = eddy.file("header", "A: b\n")
    for args in (["-H", "@" + header], ["--data", "@" + header], ["--cacert", header], ["--cert", header, "--key", header]):
        e2e.one_line(eddy.fetch("-i", urls, *args, "-o", header, "--force"), 2, f"this file is read by {args[0]}".replace("-H", "--header"))
        equal(os.path.getsize(header), 5, args)
    with open(urls, encoding="utf-8") as kept:
        equal(kept.read(), f"{mock}/bytes/1\n" * 3)


@claim
def command_that_is_refused_leaves_the_former_results(eddy):
    kept = eddy.file("kept", "of an earlier run\n")
    e2e.one_line(eddy.fetch("-o", kept, "--force", "-i", eddy.file("none")), 2, "none")
    with open(kept, encoding="utf-8") as lines:
        equal(lines.read(), "of an earlier run\n")


@claim
def in_debug_mode_a_fetch_leaves_nothing(eddy):
    mock = eddy.mock()
    env = dict(os.environ, EDDY_DEBUG="1")
    result = eddy.fetch(f"{mock}/bytes/1", f"{mock}/status/503", env=env)
    text = result.err
    check(" turns of the loop: half within " in text, "no lag in", text)
    check("left when the run ended" not in text, "something is left:", text)


if __name__ == "__main__":
    e2e.main()
