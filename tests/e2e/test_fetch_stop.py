"""test_fetch_stop - ends that come early: Ctrl-C, SIGTERM, kill -9, readers
that stall.  At once, whole lines, and nothing finished is lost.
"""
import fcntl
import json
import os
import signal
import subprocess
import threading
import time

import e2e
from batch_api import Api
from e2e import check, claim, equal



def stop(child, signo):
    """Send a signal; return (exit code, seconds until the end, stdout, stderr)."""
    begin = time.monotonic()
    child.send_signal(signo)
    out, err = child.communicate(timeout=e2e.LIMIT_S)
    return child.returncode, time.monotonic() - begin, out, err.decode()


def whole(data):
    check(data == b"" or data.endswith(b"\n"), "torn:", data[-100:])
    return [json.loads(line) for line in data.splitlines()]


def some_fast_some_slow(eddy):
    """A run of which 10 URLs have finished and 4 hang; 86 more wait."""
    mock = eddy.mock()
    urls = eddy.file("urls", f"{mock}/bytes/1\n" * 10 + f"{mock}/delay/60\n" * 90)
    path = eddy.file("out")
    child = eddy.start("fetch", "-i", urls, "-c", "4", "-o", path, "--summary", "json")

    def finished():
        if not os.path.exists(path):
            return 0
        with open(path, "rb") as file:
            return file.read().count(b"\n")

    e2e.wait_until(lambda: finished() == 10, "ten lines")
    time.sleep(0.1)  # the four have begun when the lines are written, or soon
    return child, path


@claim
def ctrl_c_ends_at_once_with_whole_lines(eddy):
    child, path = some_fast_some_slow(eddy)
    code, seconds, _, err = stop(child, signal.SIGINT)
    equal(code, 130, err)
    check(seconds < e2e.SOON, seconds)
    with open(path, "rb") as file:
        lines = whole(file.read())
    equal(sorted(line["index"] for line in lines), list(range(10)))
    summary = json.loads(err)
    equal((summary["ok"], summary["failed"], summary["cancelled"], summary["stopped"]),
          (10, 0, 4, "signal"))
    # Read ahead, but not begun; the rest of the input was perhaps not read.
    check(0 < summary["not_started"] <= 86, summary)


@claim
def sigterm_does_the_same_with_its_own_exit_code(eddy):
    child, _ = some_fast_some_slow(eddy)
    code, seconds, _, err = stop(child, signal.SIGTERM)
    equal(code, 143, err)
    check(seconds < e2e.SOON, seconds)
    equal(json.loads(err)["cancelled"], 4)


@claim
def a_terminal_that_closes_ends_the_run_as_sigterm_does(eddy):
    child, path = some_fast_some_slow(eddy)
    for _ in range(3):
        child.send_signal(signal.SIGHUP)
    code, _, _, err = stop(child, signal.SIGHUP)
    equal(code, 129, err)
    with open(path, "rb") as file:
        equal(sorted(line["index"] for line in whole(file.read())), list(range(10)))
    summary = json.loads(err)
    equal((summary["ok"], summary["cancelled"], summary["stopped"]), (10, 4, "signal"))


@claim
def a_run_under_nohup_goes_on_when_the_terminal_closes(eddy):
    mock = eddy.mock()
    child = eddy.start("fetch", "--summary", "json", *[f"{mock}/delay/0.5"] * 4,
                       preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    e2e.wait_until(lambda: e2e.catches(child, signal.SIGINT), "the run")
    child.send_signal(signal.SIGHUP)
    out, err = child.communicate(timeout=e2e.LIMIT_S)
    equal((child.returncode, len(whole(out))), (0, 4), err)


@claim
def ctrl_c_ends_a_back_off_at_once(eddy):
    def answer(connection, _):
        e2e.read_head(connection)
        connection.sendall(b"HTTP/1.1 503 Busy\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n")
        e2e.until_closed(connection)

    server = eddy.serve(answer)
    child = eddy.start("fetch", server.url, "--summary", "json")
    e2e.wait_until(lambda: server.count == 1, "a connection")
    time.sleep(0.3)
    code, seconds, out, err = stop(child, signal.SIGINT)
    equal((code, out), (130, b""), err)
    check(seconds < e2e.SOON, seconds)
    equal(json.loads(err)["cancelled"], 1)


@claim
def ctrl_c_ends_a_wait_for_input_at_once(eddy):
    mock = eddy.mock()
    child = eddy.start("fetch", "-i", "-", "--summary", "json", stdin=subprocess.PIPE)
    child.stdin.write(f"{mock}/bytes/1\n".encode())
    child.stdin.flush()
    first = child.stdout.readline()
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    equal(child.wait(e2e.LIMIT_S), 130)
    check(time.monotonic() - begin < e2e.SOON)
    equal(json.loads(first)["status"], 200)
    equal(json.loads(child.stderr.read())["input_read"], False)


@claim
def ctrl_c_ends_connecting_at_once(eddy):
    port = e2e.deaf_port(eddy)
    before = e2e.connecting_to(port)
    child = eddy.start("fetch", "--connect-timeout", "60s", "--summary", "json",
                       f"http://127.0.0.1:{port}/")
    e2e.wait_until(lambda: e2e.connecting_to(port) > before, "a connect")
    code, seconds, _, err = stop(child, signal.SIGINT)
    equal(code, 130, err)
    check(seconds < e2e.SOON, seconds)
    equal(json.loads(err)["cancelled"], 1)


@claim
def ctrl_c_ends_a_run_whose_reader_has_stalled(eddy):
    mock = eddy.mock()
    child = eddy.start("fetch", "-c", "8", *[mock + "/bytes/1"] * 3000)
    # Nobody reads standard output: the pipe fills, and everything waits for it.  A write does
    # not begin on one of its 16 pages and end on the next, so that a page may have room left.
    e2e.wait_until(lambda: e2e.held_in(child.stdout) > 50000, "a full pipe")
    time.sleep(0.5)
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    equal(child.wait(e2e.LIMIT_S), 130)
    seconds = time.monotonic() - begin
    check(seconds < e2e.SOON, seconds)
    data = child.stdout.read()
    # The reader comes back to whole lines, the last one perhaps excepted.
    whole(data[:data.rindex(b"\n") + 1])
    err = child.stderr.read().decode()
    check("could not be written" in err, err)


@claim
def ctrl_c_ends_a_run_whose_stderr_has_stalled(eddy):
    mock = eddy.mock()
    reader, writer = os.pipe()
    flags = fcntl.fcntl(writer, fcntl.F_GETFL)
    fcntl.fcntl(writer, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    try:
        while True:
            os.write(writer, b"x" * 65536)
    except BlockingIOError:
        pass
    fcntl.fcntl(writer, fcntl.F_SETFL, flags)
    child = eddy.start("fetch", mock + "/delay/60", "--progress", "bar", stderr=writer)
    e2e.wait_until(lambda: e2e.catches(child, signal.SIGINT), "its handlers")
    time.sleep(0.5)
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    equal(child.wait(e2e.LIMIT_S), 130)
    seconds = time.monotonic() - begin
    os.close(reader)
    os.close(writer)
    check(seconds < e2e.SOON, seconds)


@claim
def slow_reader_gets_all_lines(eddy):
    mock = eddy.mock()
    child = eddy.start("fetch", "-c", "8", *[mock + "/bytes/1"] * 1500)
    time.sleep(1)
    out, err = child.communicate(timeout=e2e.LIMIT_S)
    equal(child.returncode, 0, err)
    equal(sorted(line["index"] for line in whole(out)), list(range(1500)))


@claim
def long_lines_reach_a_pipe_whole(eddy):
    mock = eddy.mock()
    result = eddy.fetch("--body", "-c", "8", *[mock + "/bytes/300000"] * 12)
    equal(result.code, 0, result.err)
    equal([len(line["body"]) for line in result.lines()], [300000] * 12)


@claim
def kill_leaves_whole_lines_but_for_the_last(eddy):
    mock = eddy.mock()
    for i in range(5):
        path = eddy.file(f"out{i}")
        urls = eddy.file("urls", f"{mock}/bytes/{i}\n" * 100000)
        child = eddy.start("fetch", "-i", urls, "-o", path)
        e2e.wait_until(lambda: os.path.exists(path) and os.path.getsize(path) > 20000, "lines")
        child.kill()
        child.wait()
        with open(path, "rb") as file:
            data = file.read()
        check(len(whole(data[:data.rindex(b"\n") + 1])) > 50)


@claim
def second_ctrl_c_does_not_hang_either(eddy):
    child, _ = some_fast_some_slow(eddy)
    child.send_signal(signal.SIGINT)
    child.send_signal(signal.SIGINT)
    begin = time.monotonic()
    code = child.wait(e2e.LIMIT_S)
    check(code in (130, -signal.SIGINT), code)
    check(time.monotonic() - begin < e2e.SOON)


@claim
def values_of_headers_are_not_in_the_process_list(eddy):
    go = threading.Event()
    api = Api(eddy, lambda call: (go.wait(e2e.LIMIT_S), (200, {}, {}))[1])
    child = eddy.start("fetch", api.url + "/x", "-H", "Authorization: Bearer abc")
    e2e.wait_until(lambda: api.calls, "a request")
    with open(f"/proc/{child.pid}/cmdline", encoding="utf-8") as file:
        check("abc" not in file.read())
    go.set()
    child.communicate(timeout=e2e.LIMIT_S)
    equal((child.returncode, api.calls[0].headers["authorization"]), (0, "Bearer abc"))


if __name__ == "__main__":
    e2e.main()
