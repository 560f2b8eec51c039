"""test_fetch - what `eddy fetch` does when all goes well, and when servers
ask for patience: lines, bodies, input, retries, timeouts, deadlines, limits.
"""
import base64
import json
import os
import resource
import subprocess
import threading
import time

import e2e
from e2e import check, claim, equal


@claim
def fifty_slow_urls_take_as_long_as_their_rounds(eddy):
    mock = eddy.mock()
    urls = eddy.file("urls", f"{mock}/delay/0.2\n" * 50)
    result = eddy.fetch("-i", urls, "-c", "8", "--timeout", "20s")
    equal(result.code, 0, result)
    equal([line["index"] for line in result.lines()], list(range(50)))
    check(all(line["status"] == 200 and line["error"] is None for line in result.lines()))
    # Seven rounds of 0.2 s; one after the other it would be ten seconds.
    check(1.4 <= result.seconds < 10, result.seconds)


@claim
def line_has_these_members_in_this_order(eddy):
    mock = eddy.mock()
    result = eddy.fetch(mock + "/bytes/5")
    line = json.loads(result.out)
    equal(list(line), ["index", "url", "status", "bytes", "ms", "attempts", "error"])
    equal((line["index"], line["url"], line["status"], line["bytes"], line["attempts"],
           line["error"]), (0, mock + "/bytes/5", 200, 5, 1, None))
    check(isinstance(line["ms"], float) and 0 < line["ms"] < 5000, line)


@claim
def n_requests_the_only_url_so_often(eddy):
    mock = eddy.mock()
    result = eddy.fetch("-n", "250", "-c", "7", "--summary", "json", mock + "/bytes/5")
    equal(result.code, 0, result)
    lines = result.lines()
    equal(sorted(line["index"] for line in lines), list(range(250)))
    equal({(line["url"], line["status"]) for line in lines}, {(mock + "/bytes/5", 200)})
    summary = json.loads(result.err.splitlines()[-1])
    check(0 < summary["ms"]["p50"] <= summary["ms"]["p99"], summary)
    result = eddy.fetch("-n", "20", "-o", "/dev/null", mock + "/bytes/5")
    equal((result.code, result.out), (0, ""), result)


@claim
def duration_requests_the_only_url_and_requests_in_flight_finish(eddy):
    mock = eddy.mock()
    result = eddy.fetch("--duration", "300ms", "-c", "2", mock + "/delay/0.2")
    equal(result.code, 0, result)
    lines = result.lines()
    check(2 <= len(lines), lines)
    check(all(line["status"] == 200 for line in lines), lines)
    # A deadline ends the run, though the duration has not passed.
    result = eddy.fetch("--duration", "1h", "--deadline", "300ms", "-c", "2", mock + "/delay/0.01")
    equal(result.code, 1, result)


@claim
def n_and_duration_need_exactly_one_url(eddy):
    urls = eddy.file("urls", "http://127.0.0.1:1/\n")
    for args, reason in [
            (["-n", "0", "http://h/"], "-n"),
            (["-n", "2", "http://h/", "http://h/"], "-n needs exactly one URL"),
            (["-n", "2", "-i", urls], "-n needs exactly one URL"),
            (["--duration", "1s", "-i", urls, "http://h/"], "--duration needs exactly one URL"),
            (["-n", "2", "--duration", "1s", "http://h/"], "exclude each other"),
            (["-n", "2", "--save", "d", "http://h/"], "-n and --save exclude each other"),
            (["--requests", "2", "http://h/"], "-n")]:
        result = eddy.fetch(*args)
        equal(result.code, 2, result)
        check(reason in result.err, result)


@claim
def body_is_text_or_base64(eddy):
    bodies = ["{\"a\": \"é\u20ac\"}\n".encode(), b"", b"\xff\x00\xfe", b"tab\t\"quoted\" \x01"]

    def answer(connection, _):
        while head := e2e.read_head(connection):
            connection.sendall(e2e.ok(bodies[int(head.split()[1][1:])]))

    server = eddy.serve(answer)
    result = eddy.fetch("--body", *(f"{server.url}/{i}" for i in range(4)))
    got = [line["body"] for line in result.lines()]
    equal(got, [bodies[0].decode(), "", {"_base64": "/wD+"}, bodies[3].decode()])
    equal([line["bytes"] for line in result.lines()], [len(body) for body in bodies])


@claim
def body_without_a_response_is_null(eddy):
    result = eddy.fetch("--body", "--attempts", "1", f"http://127.0.0.1:{e2e.free_port()}/")
    equal(result.lines()[0]["body"], None)


@claim
def chunked_bodies_are_counted_without_their_frames(eddy):
    mock = eddy.mock()
    line = eddy.fetch("--body", mock + "/stream/3").lines()[0]
    equal(line["body"], '{"line":0}\n{"line":1}\n{"line":2}\n')
    equal(line["bytes"], 33)


@claim
def save_writes_each_body_to_a_file(eddy):
    mock = eddy.mock()
    folder = eddy.file("bodies")
    result = eddy.fetch("--save", folder, mock + "/bytes/100000", mock + "/status/404",
                        mock + "/close", "--attempts", "1")
    equal(result.code, 1, result)
    # Those that failed leave no file, not even a part.
    equal(sorted(os.listdir(folder)), [".eddy-saved.jsonl", "100000"])
    with open(os.path.join(folder, "100000"), "rb") as file:
        equal(len(file.read()), 100000)
    equal(sorted((line["status"] or 0, line["file"]) for line in result.lines()),
          [(0, None), (200, "100000"), (404, None)])
    check("body" not in result.lines()[0])


@claim
def save_keeps_the_body_of_the_last_attempt_only(eddy):
    mock = eddy.mock()
    folder = eddy.file("bodies")
    result = eddy.fetch("--save", folder, "--backoff", "1ms", mock + "/flaky/2?token=s")
    equal(result.code, 0, result)
    name = result.lines()[0]["file"]
    equal(sorted(os.listdir(folder)), [".eddy-saved.jsonl", name])
    with open(os.path.join(folder, name), "rb") as file:
        equal(file.read(), b"after 2 failures\n")


@claim
def save_refuses_a_folder_with_something_in_it(eddy):
    mock = eddy.mock()
    os.mkdir(eddy.file("bodies"))
    eddy.file("bodies/1", "precious")
    e2e.one_line(eddy.fetch("--save", eddy.file("bodies"), mock + "/bytes/1"), 2, "--save",
                 "name a new one (--remote-name keeps its files, --force replaces those of the same names)")
    with open(eddy.file("bodies/1"), "rb") as file:
        equal(file.read(), b"precious")
    equal(eddy.fetch("--save", eddy.file("bodies"), "--force", mock + "/bytes/1").code, 0)
    with open(eddy.file("bodies/1"), "rb") as file:
        equal(file.read(), b"a")


@claim
def urls_come_from_arguments_and_a_file(eddy):
    mock = eddy.mock()
    urls = eddy.file("urls", f"\ufeff{mock}/bytes/2\r\n\n# a comment\n  {mock}/bytes/3 \n"
                             f"{mock}/bytes/4")
    result = eddy.fetch(mock + "/bytes/1", "-i", urls)
    equal(result.code, 0, result)
    equal([line["bytes"] for line in result.lines()], [1, 2, 3, 4])
    equal([line["url"] for line in result.lines()], [f"{mock}/bytes/{n}" for n in (1, 2, 3, 4)])


@claim
def empty_input_is_not_a_failure_and_is_reported(eddy):
    result = eddy.fetch("-i", "-", stdin=b"# nothing\n\n")
    equal((result.code, result.out), (0, ""), result)
    check("0 done" in result.err, result)
    check("-i -: the input has no URL" in result.err, result)
    result = eddy.fetch(eddy.mock() + "/bytes/1", "-i", eddy.file("urls", ""))
    check(result.code == 0 and "has no URL" not in result.err, result)


@claim
def results_of_a_slow_producer_come_before_its_next_line(eddy):
    mock = eddy.mock()
    child = eddy.start("fetch", "-i", "-", stdin=subprocess.PIPE)
    for i in range(3):
        child.stdin.write(f"{mock}/bytes/{i}\n".encode())
        child.stdin.flush()
        equal(json.loads(child.stdout.readline())["index"], i)
    # A URL in two halves is one URL.
    child.stdin.write(f"{mock}/by".encode())
    child.stdin.flush()
    time.sleep(0.05)
    child.stdin.write(b"tes/7")
    child.stdin.close()
    equal(json.loads(child.stdout.readline())["bytes"], 7)
    equal(child.wait(e2e.LIMIT_S), 0)


@claim
def producer_that_pauses_holds_up_nothing_in_flight(eddy):
    mock = eddy.mock()
    child = eddy.start("fetch", "-i", "-", "--timeout", "3s", "--attempts", "1",
                       stdin=subprocess.PIPE)
    child.stdin.write(f"{mock}/delay/30\n{mock}/delay/0.1\n".encode())
    child.stdin.flush()
    lines = [json.loads(child.stdout.readline()) for _ in range(2)]
    equal([line["index"] for line in lines], [1, 0])
    equal(lines[1]["error"]["code"], "request_timeout")
    child.stdin.close()
    equal(child.wait(e2e.LIMIT_S), 1)


@claim
def method_headers_and_data_are_sent(eddy):
    mock = eddy.mock()
    result = eddy.fetch("--body", "--method", "PUT", "--header", "X-One: 1", "--header",
                        "x-two:two words ", "--data", "{\"n\": 1}", mock + "/echo?q=1")
    echo = json.loads(result.lines()[0]["body"])
    equal((echo["method"], echo["target"], echo["body"]), ("PUT", "/echo?q=1", "{\"n\": 1}"))
    headers = {name.lower(): value for name, value in echo["headers"].items()}
    equal((headers["x-one"], headers["x-two"], headers["content-length"]), ("1", "two words", "8"))
    equal(headers["host"], mock[len("http://"):])
    check(headers["user-agent"].startswith("eddy/"), headers)


@claim
def short_options_are_those_of_curl(eddy):
    mock = eddy.mock()
    result = eddy.fetch("--body", "-XPUT", "-H", "X-One: 1", "-dn=1", mock + "/echo", "-o", "-")
    echo = json.loads(result.lines()[0]["body"])
    equal((echo["method"], echo["body"], echo["headers"]["X-One"]), ("PUT", "n=1", "1"))
    equal(json.loads(eddy.fetch("--body", "-d", "x", mock + "/echo").lines()[0]["body"])["method"],
          "POST")


@claim
def data_makes_it_a_post_and_comes_from_a_file_or_standard_input(eddy):
    mock = eddy.mock()
    data = bytes(range(256)) * 300
    for args, stdin in ((["--data", "@" + eddy.file("data", data)], None),
                        (["--data", "@-"], data)):
        result = eddy.fetch("--body", *args, mock + "/echo", stdin=stdin)
        echo = json.loads(result.lines()[0]["body"])
        equal(echo["method"], "POST")
        equal(base64.b64decode(echo["body"]["_base64"]), data)


@claim
def failures_are_tried_again_until_they_succeed(eddy):
    mock = eddy.mock()
    result = eddy.fetch("--backoff", "10ms", mock + "/flaky/2?token=a", "--summary", "json")
    equal(result.code, 0, result)
    line = result.lines()[0]
    equal((line["status"], line["attempts"], line["error"]), (200, 3, None))
    summary = json.loads(result.err)
    equal((summary["retries"], summary["retried"]), (2, {"503": 2}))


@claim
def attempts_bound_the_retries(eddy):
    mock = eddy.mock()
    result = eddy.fetch("--backoff", "1ms", "--attempts", "2", mock + "/flaky/2?token=a")
    equal(result.code, 1, result)
    line = result.lines()[0]
    equal((line["status"], line["attempts"], line["error"]), (503, 2, None))


@claim
def posts_too_are_tried_again_after_503(eddy):
    mock = eddy.mock()
    result = eddy.fetch("--backoff", "1ms", "--data", "x", mock + "/flaky/1?token=a")
    equal((result.code, result.lines()[0]["attempts"]), (0, 2), result)


@claim
def statuses_that_will_not_change_are_not_tried_again(eddy):
    mock = eddy.mock()
    statuses = [400, 401, 403, 404, 413, 422]
    result = eddy.fetch(*(f"{mock}/status/{status}" for status in statuses))
    equal(result.code, 1)
    equal([(line["status"], line["attempts"], line["error"]) for line in result.lines()],
          [(status, 1, None) for status in statuses])


@claim
def post_that_is_answered_with_a_failure_is_repeated_and_the_help_says_so(eddy):
    for status in (408, 429, 500):
        for attempts in ("3", "1"):
            url = f"{eddy.mock()}/status/{status}"
            line = eddy.fetch("-d", "x", "--backoff", "1ms", "--attempts", attempts, url).lines()[0]
            equal((line["status"], line["attempts"]), (status, int(attempts)))
    text = " ".join(eddy.run("fetch", "--help").out.split())
    check("and 505) are retried for every method" in text, text)
    check("With --attempts 1 a POST is sent once" in text, text)


@claim
def retry_after_is_waited_for(eddy):
    mock = eddy.mock()
    result = eddy.fetch("--backoff", "1ms", mock + "/flaky/1?token=a&retry_after=0.5")
    equal((result.code, result.lines()[0]["attempts"]), (0, 2), result)
    check(0.5 <= result.seconds < e2e.SOON, result.seconds)


@claim
def retry_after_as_a_date_counts_from_the_server_s_own_clock(eddy):
    def answer(connection, number):
        e2e.read_head(connection)
        if number == 0:
            # A server whose clock is years behind.
            connection.sendall(b"HTTP/1.1 429 Slow\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                               b"Retry-After: Sun, 06 Nov 1994 08:49:38 GMT\r\n"
                               b"Connection: close\r\nContent-Length: 0\r\n\r\n")
        else:
            connection.sendall(e2e.ok())
            e2e.until_closed(connection)

    result = eddy.fetch("--backoff", "1ms", eddy.serve(answer).url)
    equal((result.code, result.lines()[0]["attempts"]), (0, 2), result)
    check(1.0 <= result.seconds < e2e.SOON, result.seconds)


@claim
def retry_after_of_hours_ends_the_attempts(eddy):
    mock = eddy.mock()
    result = eddy.fetch(mock + "/status/503?retry_after=7200")
    equal((result.code, result.lines()[0]["attempts"]), (1, 1), result)
    check(result.seconds < e2e.SOON, result.seconds)
    check("1 not retried: " in result.err, result)


@claim
def limit_of_the_server_is_kept_by_waiting(eddy):
    mock = eddy.mock("--rate-limit", "10/s")
    urls = eddy.file("urls", f"{mock}/bytes/1\n" * 24)
    result = eddy.fetch("-i", urls, "--backoff", "1ms", "--attempts", "9")
    equal(result.code, 0, result)
    check(max(line["attempts"] for line in result.lines()) > 1)


@claim
def no_retry_is_made_that_cannot_end_before_the_deadline(eddy):
    mock = eddy.mock()
    result = eddy.fetch("--deadline", "50s", mock + "/flaky/1?token=a&retry_after=60")
    line = result.lines()[0]
    equal((result.code, line["status"], line["attempts"], line["error"]), (1, 503, 1, None))
    check(result.seconds < e2e.SOON, result.seconds)
    check("1 not retried: " in result.err, result)


@claim
def deadline_ends_the_run_and_each_url_that_was_read_has_a_line(eddy):
    mock = eddy.mock()
    urls = eddy.file("urls", f"{mock}/bytes/1\n" + f"{mock}/delay/30\n" * 5)
    result = eddy.fetch("-i", urls, "-c", "2", "--deadline", "3s", "--summary", "json")
    equal(result.code, 1, result)
    lines = result.lines()
    equal([line["index"] for line in lines], list(range(6)))
    equal(lines[0]["status"], 200)
    equal({line["error"]["code"] for line in lines[1:]}, {"deadline_exceeded"})
    # Two were at it, the others had not begun.
    equal(sum(line["attempts"] for line in lines), 3)
    check(3 <= result.seconds < e2e.SOON, result.seconds)
    equal(json.loads(result.err)["stopped"], "deadline")


@claim
def each_attempt_ends_at_its_timeout(eddy):
    mock = eddy.mock()
    result = eddy.fetch("--timeout", "500ms", "--attempts", "1", *[mock + "/delay/60"] * 20)
    equal(result.code, 1, result)
    for line in result.lines():
        equal((line["status"], line["error"]["code"], line["attempts"]),
              (None, "request_timeout", 1))
        check(500 <= line["ms"] < e2e.SOON * 1000, line)
    check(result.seconds < e2e.SOON, result.seconds)


@claim
def timeout_covers_the_body(eddy):
    mock = eddy.mock()
    result = eddy.fetch("--timeout", "2s", "--attempts", "1", mock + "/slow-body/60")
    line = result.lines()[0]
    equal((line["status"], line["error"]["code"]), (200, "request_timeout"))
    check(2000 <= line["ms"] < e2e.SOON * 1000, line)


@claim
def timeout_counts_no_waiting_for_a_connection(eddy):
    mock = eddy.mock()
    result = eddy.fetch("--timeout", "2s", "--attempts", "1", "--per-host", "1", "-c", "5",
                        *[mock + "/delay/0.6"] * 5)
    equal(result.code, 0, result)
    check(3 <= result.seconds < e2e.SOON, result.seconds)


@claim
def timeouts_are_tried_again(eddy):
    def answer(connection, number):
        e2e.read_head(connection)
        if number > 0:
            connection.sendall(e2e.ok())
        e2e.until_closed(connection)

    result = eddy.fetch("--timeout", "2s", "--backoff", "1ms", eddy.serve(answer).url)
    equal((result.code, result.lines()[0]["attempts"]), (0, 2), result)


@claim
def post_that_may_have_arrived_is_not_sent_again(eddy):
    def answer(connection, _):
        e2e.read_head(connection)  # and closes

    server = eddy.serve(answer)
    result = eddy.fetch("--data", "x", "--backoff", "1ms", server.url)
    line = result.lines()[0]
    equal((line["error"]["code"], line["attempts"], server.count), ("connection_reset", 1, 1))
    result = eddy.fetch("--backoff", "1ms", "--attempts", "4", server.url)
    line = result.lines()[0]
    equal((line["error"]["code"], line["attempts"], server.count), ("connection_reset", 4, 5))


@claim
def no_more_requests_are_under_way_than_allowed(eddy):
    now, most, wanted, changed = [0], [0], [0], threading.Condition()

    def answer(connection, _):
        while e2e.read_head(connection):
            with changed:
                now[0] += 1
                most[0] = max(most[0], now[0])
                changed.notify_all()
                # As many as are allowed come, whoever is slow; any more would come now.
                changed.wait_for(lambda: most[0] >= wanted[0], e2e.SOON)
            time.sleep(0.03)
            with changed:
                now[0] -= 1
            connection.sendall(e2e.ok())

    server = eddy.serve(answer)
    for args, limit in ((["-c", "3"], 3), (["-c", "10", "--per-host", "2"], 2)):
        most[0] = server.count = 0
        wanted[0] = limit
        result = eddy.fetch(*args, *[server.url] * 20)
        equal(result.code, 0, result)
        equal(most[0], limit, args)
        # Connections are kept and used again.
        check(server.count <= limit, server.count, "connections", args)


@claim
def one_host_s_limit_is_not_another_s(eddy):
    both = threading.Barrier(2)

    def answer(connection, _):
        e2e.read_head(connection)
        both.wait(e2e.SOON)  # for the other's request
        connection.sendall(e2e.ok())
        e2e.until_closed(connection)

    one, two = eddy.serve(answer), eddy.serve(answer)
    result = eddy.fetch("--per-host", "1", "-c", "2", "--attempts", "1", one.url, two.url)
    equal(result.code, 0, result)


@claim
def summary_counts_the_written_lines(eddy):
    mock = eddy.mock()
    args = [mock + "/bytes/10", mock + "/status/404", mock + "/close", "--attempts", "1"]
    text = eddy.fetch(*args).err
    check("3 done" in text and "1 ok, 2 failed" in text, text)
    check("status 200: 1, 404: 1" in text and "connection_reset: 1" in text, text)
    check("p50" in text and "p99" in text and "max" in text, text)
    summary = json.loads(eddy.fetch(*args, "--summary", "json").err)
    equal((summary["done"], summary["ok"], summary["failed"]), (3, 1, 2))
    equal((summary["statuses"], summary["errors"]),
          ({"200": 1, "404": 1}, {"connection_reset": 1}))
    equal((summary["stopped"], summary["cancelled"], summary["not_started"]), (None, 0, 0))
    check(summary["ms"]["max"] >= summary["ms"]["p50"] > 0, summary)


@claim
def latency_counts_only_requests_that_were_sent(eddy):
    mock = eddy.mock()
    args = [f"http://127.0.0.1:{e2e.free_port()}/", "--attempts", "1"]
    text = eddy.fetch(*args).err
    check("1 failed" in text and "latency" not in text, text)
    equal(json.loads(eddy.fetch(*args, "--summary", "json").err)["ms"]["p50"], None)
    summary = json.loads(eddy.fetch(*args, mock + "/delay/0.2", "--summary", "json").err)
    check(summary["ms"]["p50"] > 150, summary)
    summary = json.loads(eddy.fetch(mock + "/delay/60", "--timeout", "200ms", "--attempts", "1",
                                    "--summary", "json").err)
    check(summary["ms"]["p50"] > 150, summary)


@claim
def documented_commands_fetch_the_rest_and_the_failures_again(eddy):
    here = os.path.dirname(os.path.abspath(__file__))
    mock = eddy.mock()
    good, failed, rest = (f"{mock}/status/{status}" for status in (200, 404, 204))
    eddy.file("urls.txt", f"{good}\n{failed}\n{rest}\n")
    refused = f"http://127.0.0.1:{e2e.free_port()}/"
    eddy.fetch(good, failed, refused, "--attempts", "1", "-o", eddy.file("results.jsonl"))
    for name in ("README.md", "docs/man/eddy-fetch.1"):
        with open(os.path.join(here, "..", "..", name), encoding="utf-8") as text:
            lines = [line.strip().replace("\\-", "-") for line in text if "done.txt" in line]
        equal(len(lines), 2, name, lines)
        script = "\n".join(lines).split("| eddy fetch", maxsplit=1)[0]
        again = subprocess.run(["sh", "-c", script], cwd=eddy.folder, stdout=subprocess.PIPE, check=True)
        equal(again.stdout.decode().split(), [failed, rest], name)


@claim
def a_redirect_is_a_failure(eddy):
    def answer(connection, number):
        e2e.read_head(connection)
        connection.sendall(b"HTTP/1.1 %d x\r\nLocation: /y?token=1\r\nContent-Length: 0\r\n\r\n" % statuses[number])

    statuses = [299, 300, 301, 302, 303, 304, 307, 308]
    server = eddy.serve(answer)
    result = eddy.fetch("-c", "1", "--summary", "json", *[server.url.replace("//", "//user:pw@") + "/x"] * len(statuses))
    summary = json.loads(result.err)
    equal((result.code, summary["ok"], summary["failed"]), (1, 1, 7), result)
    equal([line["status"] for line in result.lines()], statuses)
    # Where it leads is in the line, without what may be a secret.
    equal([line.get("redirect") for line in result.lines()], [None] + [server.url + "/y"] * 7)


@claim
def bar_is_drawn_and_taken_away(eddy):
    mock = eddy.mock()
    result = eddy.fetch("--progress", "bar", mock + "/delay/3", "-o", eddy.file("out"))
    drawn, _, after = result.err.rpartition("\r\033[K")
    check("\r[" in drawn and "0 done" in drawn and "inflight 1" in drawn, result)
    check("\r" not in after and after.startswith("1 done"), result)
    check("\r" not in eddy.fetch("--progress", "auto", mock + "/delay/0.5").err)


@claim
def concurrency_is_held_below_the_limit_of_open_files(eddy):
    mock = eddy.mock()

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))

    result = eddy.fetch("-c", "500", *[mock + "/delay/0.1"] * 200, preexec_fn=limit)
    equal(result.code, 0, result)
    check("-c 500 reduced to 36" in result.err, result)


@claim
def soft_limit_of_open_files_is_raised(eddy):
    mock = eddy.mock()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < 400:
        raise e2e.Skip("the hard limit is too low")

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (32, hard))

    result = eddy.fetch("-c", "200", *[mock + "/delay/0.3"] * 200, preexec_fn=limit)
    equal(result.code, 0, result)
    check("held" not in result.err and result.seconds < e2e.SOON, result)


@claim
def output_file_gets_the_bytes_of_standard_output(eddy):
    mock = eddy.mock()
    path = eddy.file("out.jsonl")
    result = eddy.fetch("-o", path, mock + "/bytes/1", mock + "/bytes/2")
    equal((result.code, result.out), (0, ""), result)
    with open(path, encoding="utf-8") as file:
        equal(sorted(json.loads(line)["bytes"] for line in file), [1, 2])


if __name__ == "__main__":
    e2e.main()
