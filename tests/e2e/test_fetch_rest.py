"""test_fetch_rest - `eddy fetch --save`: a body that is cut is continued by a request for the rest, and never by another body.

EDDY_TEST_FULL=1: a kill at each call that changes a file, instead of at some.
"""
import errno
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import threading

import e2e
from e2e import check, claim, equal

LOADED = {"LD_PRELOAD": os.environ.get("EDDY_KILL_AT", ""),
          "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
MIB = 1 << 20
STEP = 1 if os.environ.get("EDDY_TEST_FULL") else 9  # from one kill to the next, in calls


def noise(bytes_, seed=1):
    return random.Random(seed).randbytes(bytes_)


class Reply:
    """A response: its head, its body, and after how many bytes of it the connection is closed."""

    def __init__(self, status, headers, body, cut=None, chunked=False, length=None):
        self.status, self.body, self.cut, self.chunked = status, body, cut, chunked
        self.headers = [f"{name}: {value}" for name, value in headers]
        if chunked:
            self.headers.append("Transfer-Encoding: chunked")
        else:
            self.headers.append(f"Content-Length: {len(body) if length is None else length}")

    def send(self, connection):
        body = self.body if self.cut is None else self.body[:self.cut]
        head = "\r\n".join([f"HTTP/1.1 {self.status} X", *self.headers, "Connection: close", "", ""]).encode()
        if self.chunked:
            body = b"".join(b"%x\r\n%s\r\n" % (len(body[at:at + 10000]), body[at:at + 10000]) for at in range(0, len(body), 10000))
            body += b"" if self.cut is not None else b"0\r\n\r\n"
        connection.sendall(head + body)


class Origin:
    """A server whose answer(path, headers, number) returns a Reply; 'number' counts the requests of the path."""

    def __init__(self, eddy, answer):
        self.asked = {}
        self.lock = threading.Lock()

        def serve(connection, _):
            head = e2e.read_head(connection).decode()
            if not head:
                return
            lines = head.partition("\r\n\r\n")[0].split("\r\n")
            path = lines[0].split()[1]
            headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:])}
            with self.lock:
                number = len(self.asked.setdefault(path, []))
                self.asked[path].append(headers)
            reply = answer(path, headers, number)
            reply.send(connection)
            connection.shutdown(socket.SHUT_WR)

        self.server = eddy.serve(serve)

    def ranges(self, path):
        """The ranges that were asked for."""
        return [headers.get("range") for headers in self.asked.get(path, [])]


def first_of(headers):
    return int(headers["range"][len("bytes="):-1])


def part(data, headers, more=(), **options):
    """An honest answer to a request for the rest."""
    first = first_of(headers)
    return Reply(206, [("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}"), *more], data[first:], **options)


class Fetch:
    def __init__(self, eddy, answer, paths, name="run"):
        self.eddy, self.paths = eddy, paths
        self.origin = Origin(eddy, answer)
        self.out, self.folder = eddy.file(f"{name}.jsonl"), eddy.file(f"{name}.files")
        self.url = self.origin.server.url

    def args(self, *args):
        return ["fetch", *(self.url + path for path in self.paths), "-o", self.out, "--save", self.folder, "--progress", "off",
                "--backoff", "1ms", *args]

    def run(self, *args, **options):
        return self.eddy.run(*self.args(*args), **options)

    def lines(self):
        with open(self.out, "rb") as file:
            return [json.loads(line) for line in file]

    def saved(self, path):
        """The body of the last line of a path."""
        line = [line for line in self.lines() if line["url"].endswith(path)][-1]
        with open(os.path.join(self.folder, line["file"]), "rb") as file:
            data = file.read()
        equal(len(data), line["bytes"], line)
        return data

    def left(self):
        return sorted(name for name in os.listdir(self.folder) if name.startswith(".eddy-"))


TAG = [("ETag", '"one"')]
SIZE = 50000
CUTS = [0, 1, 2, 3, 100, 16383, 16384, 16385, 32767, 32768, 32769, SIZE - 2, SIZE - 1]


@claim
def body_that_is_cut_is_continued_from_every_class_of_bytes(eddy):
    data = noise(SIZE)
    for chunked, cuts in ((False, CUTS), (True, [*CUTS, SIZE])):
        def answer(path, headers, number):
            if number == 0:
                return Reply(200, TAG, data, cut=int(path.split("/")[2]), chunked=chunked)
            if "range" not in headers:
                return Reply(200, TAG, data)
            equal((headers["if-range"], headers["accept-encoding"]), ('"one"', "identity"))
            return part(data, headers, TAG, chunked=chunked)

        paths = [f"/cut/{cut}" for cut in cuts]
        fetch = Fetch(eddy, answer, paths, f"chunked-{chunked}")
        result = fetch.run("--attempts", "2", "-H", "Accept-Encoding: gzip")
        equal((result.code, fetch.left()), (0, []), result)
        for cut, path in zip(cuts, paths):
            equal(fetch.saved(path) == data, True, path)
            equal(fetch.origin.ranges(path), [None, f"bytes={cut - 1}-" if cut > 1 else None], path)
        equal({line["status"] for line in fetch.lines()}, {200, 206})


@claim
def body_is_continued_as_often_as_it_is_cut(eddy):
    data = noise(SIZE)

    def answer(path, headers, number):
        if number == 3:
            return Reply(503, [], b"busy")
        if "range" not in headers:
            return Reply(200, TAG, data, cut=5000)
        if number == 2:  # fewer bytes than there are
            first = first_of(headers)
            return Reply(206, [("Content-Range", f"bytes {first}-{first + 99}/{SIZE}"), *TAG], data[first:first + 100])
        return part(data, headers, TAG, cut=20000 if number < 5 else None)

    fetch = Fetch(eddy, answer, ["/a"])
    result = fetch.run("--attempts", "9")
    equal((result.code, fetch.left(), fetch.saved("/a") == data), (0, [], True), result)
    equal(fetch.origin.ranges("/a"), [None, "bytes=4999-", "bytes=24998-", "bytes=25097-", "bytes=25097-", "bytes=45096-"], result)


OTHER = [("ETag", '"two"')]
FIRST = 19999


def lies(data, other):
    """Answers to a request for the rest that do not continue the body."""
    rest, size = other[FIRST:], len(other)
    fits = ("Content-Range", f"bytes {FIRST}-{size - 1}/{size}")
    return {
        "whole": Reply(200, OTHER, other),
        "changed": Reply(206, [fits, *OTHER], rest),
        "no-tag": Reply(206, [fits], rest),
        "weak": Reply(206, [fits, ("ETag", 'W/"one"')], rest),
        "two-tags": Reply(206, [fits, *TAG, *OTHER], rest),
        "no-range": Reply(206, TAG, rest),
        "two-ranges": Reply(206, [fits, fits, *TAG], rest),
        "start-before": Reply(206, [("Content-Range", f"bytes {FIRST - 1}-{size - 1}/{size}"), *TAG], other[FIRST - 1:]),
        "start-after": Reply(206, [("Content-Range", f"bytes {FIRST + 1}-{size - 1}/{size}"), *TAG], other[FIRST + 1:]),
        "from-zero": Reply(206, [("Content-Range", f"bytes 0-{size - 1}/{size}"), *TAG], other),
        "longer": Reply(206, [("Content-Range", f"bytes {FIRST}-{size}/{size + 1}"), *TAG], rest + b"x"),
        "shorter": Reply(206, [("Content-Range", f"bytes {FIRST}-{size - 2}/{size - 1}"), *TAG], rest[:-1]),
        "end-is-total": Reply(206, [("Content-Range", f"bytes {FIRST}-{size}/{size}"), *TAG], rest + b"x"),
        "reversed": Reply(206, [("Content-Range", f"bytes {FIRST}-{FIRST - 1}/{size}"), *TAG], b""),
        "length": Reply(206, [fits, *TAG], rest + b"x"),
        "chunks": Reply(206, [fits, *TAG], rest + b"x", chunked=True),
        "huge": Reply(206, [("Content-Range", f"bytes {FIRST}-18446744073709551616/18446744073709551617"), *TAG], rest),
        "unit": Reply(206, [("Content-Range", f"lines {FIRST}-{size - 1}/{size}"), *TAG], rest),
        "text": Reply(206, [("Content-Range", f"bytes {FIRST}-{size - 1}/{size} "[:-2] + "x"), *TAG], rest),
        "signs": Reply(206, [("Content-Range", f"bytes +{FIRST}-{size - 1}/{size}"), *TAG], rest),
        "unsatisfied": Reply(206, [("Content-Range", f"bytes */{size}"), *TAG], rest),
        "coded": Reply(206, [fits, *TAG, ("Content-Encoding", "gzip")], rest),
        "multipart": Reply(206, [*TAG, ("Content-Type", "multipart/byteranges; boundary=B")],
                           b"--B\r\nContent-Range: bytes %d-%d/%d\r\n\r\n%s\r\n--B--\r\n" % (FIRST, size - 1, size, rest)),
        "multipart-too": Reply(206, [fits, *TAG, ("Content-Type", "Multipart/Byteranges; boundary=B")], rest),
        "416": Reply(416, [("Content-Range", f"bytes */{FIRST + 1}")], b"no"),
    }


@claim
def other_body_is_never_joined(eddy):
    """The server has another body of the same size, and each lie about it."""
    data, other = noise(SIZE), noise(SIZE, 2)
    names = list(lies(data, other))

    def answer(path, headers, number):
        if number == 0:
            return Reply(200, TAG, data, cut=FIRST + 1)
        if "range" in headers:
            equal(headers["range"], f"bytes={FIRST}-")
            return lies(data, other)[path[1:]]
        return Reply(200, OTHER, other)

    for more in ([], ["--compressed"]):
        fetch = Fetch(eddy, answer, ["/" + name for name in names], f"lies-{len(more)}")
        result = fetch.run("--attempts", "2", *more)
        equal((result.code, fetch.left()), (0, []), result)
        for name in names:
            equal(fetch.saved("/" + name) == other, True, name)
            equal(fetch.origin.ranges("/" + name), [None, f"bytes={FIRST}-"] + ([] if name == "whole" else [None]), name)
    # After a lie, the body is not continued any more.
    fetch = Fetch(eddy, lambda path, headers, number: lies(data, other)["no-range"] if "range" in headers else
                  Reply(200, TAG, data, cut=FIRST + 1 if number < 4 else None), ["/a"])
    result = fetch.run("--attempts", "9")
    equal((result.code, fetch.saved("/a") == data, fetch.origin.ranges("/a")), (0, True, [None, f"bytes={FIRST}-", None, None, None]), result)


@claim
def unknown_length_is_continued_only_if_the_end_becomes_known(eddy):
    data = noise(SIZE)

    def answer(path, headers, number):
        if "range" not in headers:
            return Reply(200, TAG, data, cut=FIRST + 1 if number == 0 else None, chunked=path == "/chunked")
        first = first_of(headers)
        return Reply(206, [("Content-Range", f"bytes {first}-{SIZE - 1}/*"), *TAG], data[first:])

    fetch = Fetch(eddy, answer, ["/chunked", "/length"])
    result = fetch.run("--attempts", "2")
    equal((result.code, fetch.saved("/chunked") == data, fetch.saved("/length") == data), (0, True, True), result)
    equal([len(fetch.origin.ranges(path)) for path in fetch.paths], [3, 2])


DAY = "Fri, 27 Nov 2026 10:00:00 GMT"


@claim
def only_strong_validators_are_used(eddy):
    data = noise(SIZE)
    heads = {
        "none": [], "weak": [("ETag", 'W/"one"')], "bare": [("ETag", "one")], "open": [("ETag", '"one')], "two": TAG + OTHER,
        "weak-and-date": [("ETag", 'W/"one"'), ("Last-Modified", DAY), ("Date", "Sat, 28 Nov 2026 10:00:00 GMT")],
        "long": [("ETag", '"' + "x" * 200 + '"')], "coded": TAG + [("Content-Encoding", "x-unknown")],
        "refused": TAG + [("Accept-Ranges", "none")],
        "young": [("Last-Modified", DAY), ("Date", "Fri, 27 Nov 2026 10:00:59 GMT")],
        "no-date": [("Last-Modified", DAY)], "no-clock": [("Last-Modified", "yesterday"), ("Date", DAY)],
        "variant": [("Last-Modified", DAY), ("Date", "Fri, 27 Nov 2026 10:01:00 GMT"), ("Vary", "Accept-Language")],
        "date": [("Last-Modified", DAY), ("Date", "Fri, 27 Nov 2026 10:01:00 GMT")],
        "tag": TAG + [("Accept-Ranges", "bytes"), ("Vary", "Accept-Language")], "empty": [("ETag", '""')],
    }
    used = {"date": DAY, "tag": '"one"', "empty": '""'}

    def answer(path, headers, number):
        head = heads[path[1:]]
        if number == 0 or "range" not in headers:
            return Reply(200, head, data, cut=FIRST + 1 if number == 0 else None)
        return part(data, headers, head)

    fetch = Fetch(eddy, answer, ["/" + name for name in heads])
    result = fetch.run("--attempts", "2")
    equal((result.code, fetch.left()), (0, []), result)
    for name in heads:
        equal(fetch.origin.asked["/" + name][1].get("if-range"), used.get(name), name)
        equal((fetch.saved("/" + name) == data, len(fetch.origin.asked["/" + name])), (True, 2), name)


@claim
def date_continues_only_the_body_with_that_date(eddy):
    data, other = noise(SIZE), noise(SIZE, 2)
    head = [("Last-Modified", DAY), ("Date", "Sat, 28 Nov 2026 10:00:00 GMT")]
    heads = {"/same": head, "/left-out": [], "/later": [("Last-Modified", "Sat, 28 Nov 2026 10:00:00 GMT")], "/tag": head + TAG}

    def answer(path, headers, number):
        if number == 0:
            return Reply(200, head, data, cut=FIRST + 1)
        new = data if path in ("/same", "/left-out") else other
        return part(new, headers, heads[path]) if "range" in headers else Reply(200, head, new)

    fetch = Fetch(eddy, answer, list(heads))
    result = fetch.run("--attempts", "2")
    equal((result.code, [len(fetch.origin.ranges(path)) for path in heads]), (0, [2, 2, 3, 3]), result)
    for path in heads:
        equal(fetch.saved(path) == (data if path in ("/same", "/left-out") else other), True, path)


@claim
def requests_of_other_kinds_are_sent_whole(eddy):
    data = noise(SIZE)

    def answer(path, headers, number):
        return Reply(200, TAG, data, cut=FIRST + 1 if number == 0 else None)

    for number, (more, asked) in enumerate(((["-X", "PUT", "-d", "x"], None), (["-H", "Range: bytes=5-"], "bytes=5-"),
                                            (["-H", 'If-Match: "one"'], None))):
        fetch = Fetch(eddy, answer, ["/a"], f"other-{number}")
        result = fetch.run(*more)
        equal((result.code, fetch.origin.ranges("/a"), fetch.saved("/a") == data), (0, [asked] * 2, True), result)
    # A part that was not asked for is not a body.
    fetch = Fetch(eddy, lambda path, headers, number: Reply(206, [("Content-Range", f"bytes 0-9/{SIZE}"), *TAG], data[:10]), ["/a"])
    result = fetch.run("--attempts", "1")
    line = fetch.lines()[0]
    equal((result.code, line["error"]["code"], line["file"], os.listdir(fetch.folder)), (1, "invalid_response", None, []), line)
    check("206" in line["error"]["message"], line)


# ---- runs that are stopped -----------------------------------------------------------------------

BIG = 3 * MIB
CUT = MIB + 12345


class Stopped(Fetch):
    """The first response stays open after CUT bytes, until the program has gone."""

    closes = False

    def __init__(self, eddy, name="run", head=TAG, paths=("/a.bin",)):
        self.data, self.head, self.opened = noise(BIG), list(head), threading.Event()
        super().__init__(eddy, self.answer, list(paths), name)

    def answer(self, path, headers, number):
        if "range" in headers:
            same = headers["if-range"] in [value for _, value in self.head]
            return part(self.data, headers, self.head) if same else Reply(200, self.head, self.data)
        reply = Reply(200, [*self.head, ("Content-Type", "application/x-thing")], self.data, cut=CUT)
        if number > 0:
            reply.cut = None
            return reply
        whole = reply.send

        def send(connection):
            whole(connection)
            if not self.closes:
                e2e.until_closed(connection)
        reply.send = send
        return reply

    def part_bytes(self):
        parts = [name for name in self.left() if name.endswith(".part")] if os.path.isdir(self.folder) else []
        return os.path.getsize(os.path.join(self.folder, parts[0])) if parts else 0

    def is_noted(self):
        """The note is created and written after the part has grown: a kill between the calls would leave it empty."""
        names = self.left()
        return len(names) == 2 and self.note().endswith(b"}\n")

    def stop(self, signo=signal.SIGKILL, *args):
        child = self.eddy.start(*self.args(*args))
        e2e.wait_until(lambda: self.part_bytes() == CUT and self.is_noted(), "the part and its note")
        child.send_signal(signo)
        child.communicate(timeout=e2e.LIMIT_S)
        equal(([name[-5:] for name in self.left()], self.part_bytes()), ([".note", ".part"], CUT))

    def note(self, change=None):
        path = os.path.join(self.folder, self.left()[0])
        with open(path, "rb") as file:
            data = file.read()
        if change:
            with open(path, "wb") as file:
                file.write(change(data))
        return data

    def finish(self, ranges, *args):
        result = self.run(*args)
        equal((result.code, self.origin.ranges("/a.bin"), self.left()), (0, ranges, []), result)
        equal((self.saved("/a.bin") == self.data, os.listdir(self.folder)), (True, ["a.bin"]))
        return result


CONTINUED = [None, f"bytes={CUT - 1}-"]


@claim
def next_run_continues_after_a_kill_a_signal_and_a_failure(eddy):
    for signo in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        fetch = Stopped(eddy, f"signal-{signo}")
        fetch.stop(signo)
        fetch.finish(CONTINUED)
        equal((fetch.lines()[-1]["status"], fetch.run().code, len(fetch.origin.ranges("/a.bin"))), (206, 0, 2))
    # The result of all attempts is a failure: the part is kept for the next run, too.
    fetch = Stopped(eddy, "failed")
    fetch.closes = True
    result = fetch.run("--attempts", "1")
    equal((result.code, fetch.lines()[0]["error"]["code"], [name[-5:] for name in fetch.left()]),
          (1, "stream_truncated", [".note", ".part"]), result)
    fetch.finish(CONTINUED)


@claim
def part_that_may_be_of_another_body_is_not_continued(eddy):
    def again(name, change, ranges=(None, None), args=(), head=TAG):
        fetch = Stopped(eddy, name, head)
        fetch.stop()
        change(fetch, os.path.join(fetch.folder, fetch.left()[1]))
        fetch.finish(list(ranges), *args)

    def grow(fetch, path):
        with open(path, "ab") as file:
            file.write(noise(BIG))

    def link(fetch, path):
        os.link(path, fetch.eddy.file("elsewhere"))

    def replace(fetch, path):
        os.remove(path)
        os.symlink(fetch.eddy.file("theirs", noise(CUT)), path)

    def renew(fetch, path):
        fetch.data, fetch.head = noise(BIG, 2), OTHER

    def rewrite(old, new):
        def change(fetch, path):
            check(old in fetch.note(lambda data: data.replace(old, new, 1)), fetch.note())
        return change

    again("torn", lambda fetch, path: fetch.note(lambda data: data[:-3]))
    again("empty", lambda fetch, path: fetch.note(lambda data: b""))
    again("long", lambda fetch, path: fetch.note(lambda data: data + b" " * 5000))
    again("url", rewrite(b"/a.bin", b"/b.bin"))
    with open("/proc/sys/kernel/random/boot_id", "rb") as file:
        again("boot", rewrite(file.read().strip(), b"00000000-0000-0000-0000-000000000000"))
    again("grown", grow)
    again("linked", link)
    again("force", lambda fetch, path: None, args=["--force"])
    again("changed", renew, CONTINUED)
    equal(os.path.getsize(eddy.file("elsewhere")), CUT)
    fetch = Stopped(eddy, "symlink")
    fetch.stop()
    replace(fetch, os.path.join(fetch.folder, fetch.left()[1]))
    result = fetch.run()
    with open(eddy.file("theirs"), "rb") as file:
        equal((result.code, file.read()), (0 if result.code == 0 else 4, noise(CUT)), result)


@claim
def password_is_not_in_the_note_and_the_name_of_the_type_stays(eddy):
    fetch = Stopped(eddy, paths=["/a"])
    fetch.url = fetch.url.replace("//", "//user:secret@")
    fetch.head = [*TAG, ("Content-Type", "image/png")]
    fetch.stop()
    note = fetch.note()
    check(b"secret" not in note and b"user" not in note and b"/a" in note, note)
    fetch.head = TAG  # the rest has no type
    result = fetch.run()
    equal((result.code, os.listdir(fetch.folder), fetch.origin.ranges("/a")), (0, ["a.png"], CONTINUED), result)


@claim
def small_part_is_not_kept(eddy):
    fetch = Fetch(eddy, lambda path, headers, number: Reply(200, TAG, noise(SIZE), cut=FIRST), ["/a"])
    result = fetch.run("--attempts", "1")
    equal((result.code, fetch.left()), (1, []), result)
    # The part of a URL that is not asked for any more goes when a run is complete.
    fetch = Stopped(eddy, "gone")
    fetch.stop()
    fetch.origin = Origin(eddy, lambda path, headers, number: Reply(200, TAG, b"other"))
    fetch.url = fetch.origin.server.url
    equal((fetch.run().code, os.listdir(fetch.folder)), (0, ["a.bin"]))


@claim
def kill_at_any_call_leaves_a_part_that_is_continued(eddy):
    data = noise(2 * MIB)
    continued = 0
    for how in ("before", "torn", "after"):
        for at in range(1, 200, STEP):
            def answer(path, headers, number):
                return part(data, headers, TAG) if "range" in headers else Reply(200, TAG, data)

            fetch = Fetch(eddy, answer, ["/a"], f"{how}-{at}")
            child = eddy.start(*fetch.args(), env={**os.environ, **LOADED, "KILL_AT": str(at), "KILL_HOW": how})
            _, err = child.communicate(timeout=e2e.LIMIT_S)
            if child.returncode == 0:
                break
            equal(child.returncode, -signal.SIGKILL, how, at, err)
            result = fetch.run()
            equal((result.code, os.listdir(fetch.folder), fetch.saved("/a") == data), (0, ["a"], True), how, at, result)
            continued += fetch.origin.ranges("/a")[-1] not in (None, [])
            shutil.rmtree(fetch.folder)
        check(at > 60, how, at)
    check(continued > 15, continued)


@claim
def full_disk_keeps_the_part(eddy):
    data = noise(2 * MIB)

    def answer(path, headers, number):
        return part(data, headers, TAG) if "range" in headers else Reply(200, TAG, data)

    fetch = Fetch(eddy, answer, ["/a"])
    result = fetch.run(env={**os.environ, **LOADED, "KILL_AT": "100", "KILL_ERRNO": str(int(errno.ENOSPC))})
    equal((result.code, [name[-5:] for name in fetch.left()]), (4, [".note", ".part"]), result)
    result = fetch.run()
    equal((result.code, os.listdir(fetch.folder), fetch.saved("/a") == data), (0, ["a"], True), result)
    check(fetch.origin.ranges("/a")[0] is None and fetch.origin.ranges("/a")[1], fetch.origin.ranges("/a"))


@claim
def nginx_continues_a_file_and_sends_a_changed_one_whole(eddy):
    nginx = shutil.which("nginx") or (os.path.exists("/usr/sbin/nginx") and "/usr/sbin/nginx")
    if not nginx:
        raise e2e.Skip("no nginx")
    port, root = e2e.free_port(), os.path.dirname(eddy.file("here", ""))
    os.chmod(root, 0o755)
    os.mkdir(eddy.file("www"), 0o755)
    data = noise(BIG)
    eddy.file("www/a.bin", data)
    config = eddy.file("nginx.conf", f"""
daemon off; master_process off; pid {root}/nginx.pid; error_log {root}/error.log;
events {{ }}
http {{
    log_format asked '$status $http_range'; access_log {root}/access.log asked;
    client_body_temp_path {root}; proxy_temp_path {root}; fastcgi_temp_path {root}; uwsgi_temp_path {root}; scgi_temp_path {root};
    server {{ listen 127.0.0.1:{port}; root {root}/www; limit_rate_after 2m; limit_rate 1; }}
}}
""")
    child = subprocess.Popen([nginx, "-c", config, "-p", root], stderr=subprocess.DEVNULL)
    eddy.stack.callback(eddy.end, child)
    e2e.wait_until(lambda: answers(port), "nginx")
    for name, change in (("same", False), ("changed", True)):
        out, folder = eddy.file(f"{name}.jsonl"), eddy.file(f"{name}.files")
        args = ["fetch", f"http://127.0.0.1:{port}/a.bin", "-o", out, "--save", folder, "--progress", "off"]
        run = eddy.start(*args)
        e2e.wait_until(lambda: size_of(folder) >= MIB + MIB // 2, "the part")
        run.kill()
        run.wait()
        first = size_of(folder) - 1
        if change:
            data = noise(MIB, 3)
            eddy.file("www/a.bin", data)
            os.utime(eddy.file("www/a.bin"), (1, 1))
        result = eddy.run(*args)
        with open(os.path.join(folder, "a.bin"), "rb") as file:
            equal((result.code, file.read() == data, os.listdir(folder)), (0, True, ["a.bin"]), result)
        with open(os.path.join(root, "access.log"), encoding="ascii") as file:
            equal(file.read().splitlines()[-1], f"{200 if change else 206} bytes={first}-", result)


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def size_of(folder):
    """The bytes of the part, if it has a note."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return os.path.getsize(os.path.join(folder, names[1])) if len(names) == 2 else 0


if __name__ == "__main__":
    e2e.main()
