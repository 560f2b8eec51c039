"""test_torture - what takes long: the main job at its real size.

With EDDY_TEST_QUICK in the environment the sizes are a tenth.
"""
import json
import os
import resource
import signal
import subprocess
import time

import e2e
from e2e import alone, check, claim, equal
from memory import growth

SCALE = 1 if os.environ.get("EDDY_TEST_QUICK") else 10


@alone
@claim
def fifty_requests_of_a_second_eight_at_a_time_take_seven(eddy):
    mock = eddy.mock()
    urls = eddy.file("urls", f"{mock}/delay/1\n" * 50)
    result = eddy.fetch("-i", urls, "-c", "8", "--timeout", "20s")
    equal(result.code, 0, result)
    equal([line["status"] for line in result.lines()], [200] * 50)
    check(7 <= result.seconds < e2e.SOON, result.seconds)


@alone
@claim
def each_of_fifty_that_hang_ends_at_two_and_a_half_seconds(eddy):
    mock = eddy.mock()
    result = eddy.fetch("--timeout", "2.5s", "--attempts", "1", *[mock + "/delay/60"] * 50)
    equal(result.code, 1, result)
    for line in result.lines():
        equal(line["error"]["code"], "request_timeout")
        check(2500 <= line["ms"] < e2e.SOON * 1000, line)
    check(result.seconds < e2e.SOON, result.seconds)


@claim
def million_urls_need_no_more_memory_than_a_thousand(eddy):
    begin, end = growth(eddy, "ftp://127.0.0.1/some/path", 1000, 100000 * SCALE)
    check(end < begin + 1, f"{begin:.1f} MiB grew to {end:.1f}")


@claim
def hundred_thousand_requests_leave_nothing_open(eddy):
    begin, end = growth(eddy, eddy.mock() + "/bytes/100", 2000, 10000 * SCALE)
    check(end < begin + 1, f"{begin:.1f} MiB grew to {end:.1f}")


@claim
def server_of_many_moods_gets_an_answer_for_every_url(eddy):
    mock = eddy.mock("--latency", "3ms", "--latency-p99", "60ms", "--error-rate", "0.1")
    routes = ["/bytes/10", "/stream/20", "/flaky/1?token=%d", "/close", "/status/429",
              "/slow-body/0.05", "/delay/0.01", "/echo", "/status/404", "/bytes/100000"]
    count = 300 * SCALE
    urls = eddy.file("urls", "".join(
        mock + routes[i % len(routes)].replace("%d", str(i)) + "\n" for i in range(count)))
    result = eddy.fetch("-i", urls, "-c", "64", "--backoff", "5ms", "--timeout", "20s",
                        "--attempts", "4", "--summary", "json")
    equal(result.code, 1, result)
    lines = result.lines()
    equal([line["index"] for line in lines], list(range(count)))
    for line in lines:
        route = line["url"][len(mock):]
        if route == "/close":
            check(line["error"] is None and line["status"] >= 500 or
                  line["error"]["code"] == "connection_reset", line)
        else:
            equal(line["error"], None, line)
    summary = json.loads(result.err)
    equal((summary["done"], summary["stopped"]), (count, None))


@claim
def signals_at_any_moment_leave_whole_lines(eddy):
    mock = eddy.mock("--latency", "2ms")
    urls = eddy.file("urls", f"{mock}/bytes/10\n" * 100000)
    for i in range(4 * SCALE):
        path = eddy.file("out")
        child = eddy.start("fetch", "-i", urls, "-o", path, "--force", "-c", str(1 + i * 7),
                           stderr=subprocess.PIPE)
        time.sleep(0.1 + 0.013 * i)
        begin = time.monotonic()
        child.send_signal(signal.SIGINT)
        err = child.communicate(timeout=e2e.LIMIT_S)[1]
        check(child.returncode in (130, -signal.SIGINT), child.returncode, err)
        check(time.monotonic() - begin < e2e.SOON)
        if not os.path.exists(path):
            continue
        with open(path, "rb") as file:
            data = file.read()
        check(data == b"" or data.endswith(b"\n"), data[-100:])
        for line in data.splitlines():
            json.loads(line)


@alone
@claim
def servers_that_stall_at_any_byte_end_at_the_timeout(eddy):
    whole = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

    def answer(connection, _):
        head = e2e.read_head(connection)
        if head:
            connection.sendall(whole[:int(head.split()[1][1:])])
            e2e.until_closed(connection)

    server = eddy.serve(answer)
    result = eddy.fetch("--attempts", "1", "-c", "100", "--timeout", "3s",
                        *(f"{server.url}/{n}" for n in range(len(whole) + 1)))
    lines = result.lines()
    equal(lines[-1]["status"], 200)
    for line in lines[:-1]:
        equal(line["error"]["code"], "request_timeout", line)
        check(3000 <= line["ms"] < e2e.SOON * 1000, line)
    check(result.seconds < e2e.SOON, result.seconds)


@alone
@claim
def ten_thousand_requests_wait_at_a_time(eddy):
    """As many as the limit of open files lets through, on both sides."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    count = min(1000 * SCALE, 20000 if hard == resource.RLIM_INFINITY else hard - 100)
    if count < 500:
        raise e2e.Skip("the hard limit of open files is too low")
    mock = eddy.mock()
    urls = eddy.file("urls", f"{mock}/delay/3\n" * count)
    result = eddy.fetch("-i", urls, "-c", str(count), "--connect-timeout", "60s")
    equal(result.code, 0, result)
    equal(sum(line["status"] == 200 for line in result.lines()), count)
    check(result.seconds < 100, result.seconds)


if __name__ == "__main__":
    e2e.main()
