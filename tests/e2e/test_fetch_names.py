"""test_fetch_names - `eddy fetch --save --remote-name`: names that servers give, folders with other files, and a second run.

EDDY_TEST_FULL=1: a kill at each call that changes a file, instead of at some.
"""
import json
import os
import signal
import stat
import subprocess
import threading

import e2e
from e2e import check, claim, equal

LOADED = {"LD_PRELOAD": os.environ.get("EDDY_KILL_AT", ""),
          "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
STEP = 1 if os.environ.get("EDDY_TEST_FULL") else 7  # from one kill to the next, in calls
RECORD = ".eddy-saved.jsonl"
MIB = 1 << 20


class Site:
    """A server with a head for each path, and a folder for its bodies."""

    def __init__(self, eddy, heads, name="run"):
        def answer(connection, _):
            head = e2e.read_head(connection)
            if not head:
                return
            path = head.split()[1].decode()
            with self.lock:
                self.asked.append(path)
            self.reply(connection, path, head.lower())

        self.eddy, self.heads, self.asked, self.lock = eddy, heads, [], threading.Lock()
        self.server = eddy.serve(answer)
        self.folder = eddy.file(f"{name}.files")

    def reply(self, connection, path, _):
        body = self.body(path)
        connection.sendall(b"HTTP/1.1 200 X\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n%s" %
                           (self.heads.get(path, b""), len(body), body))

    @staticmethod
    def body(path):
        return path.encode() * 1000

    def args(self, *args, paths=None):
        urls = [self.server.url + path for path in (paths or self.heads)]
        return ["fetch", *urls, "--save", self.folder, "--progress", "off", "--backoff", "1ms", *args]

    def run(self, *args, paths=None):
        self.asked.clear()
        return self.eddy.run(*self.args(*args, paths=paths))

    def files(self):
        """Files and their contents, without the record."""
        found = {}
        for name in sorted(os.listdir(self.folder)):
            path = os.path.join(self.folder, name)
            if name != RECORD and os.path.isfile(path):
                with open(path, "rb") as file:
                    found[name] = file.read()
        return found

    def names(self, result):
        """Names by path, from the lines."""
        return {line["url"][len(self.server.url):]: line["file"] for line in map(json.loads, result.out.splitlines())}

    def whole(self, result):
        """Each line has its file, and no file has another body."""
        names, files = self.names(result), self.files()
        for path, name in names.items():
            equal(files[name] == self.body(path), True, path, name)
        return names


def disposed(value):
    return b"Content-Disposition: " + value + b"\r\n"


@claim
def file_has_the_name_that_the_server_gives(eddy):
    site = Site(eddy, {
        "/get?id=1": disposed(b'attachment; filename="report 1.csv"') + b"Content-Type: text/html\r\n",
        "/get?id=2": disposed(b"attachment; filename*=UTF-8''caf%C3%A9.txt; filename=cafe.txt"),
        "/get?id=3": disposed(b"inline; filename=table") + b"Content-Type: text/csv\r\n",
        "/a/plain.txt": b"Content-Type: text/html\r\n",
        "/page": disposed(b"attachment") + b"Content-Type: text/html\r\n",
        "/a/": b"Content-Type: text/html\r\n",
    })
    result = site.run("--remote-name", "-c", "1")
    equal((result.code, list(site.whole(result).values())),
          (0, ["report 1.csv", "caf\u00e9.txt", "table.csv", "plain.txt", "page.html", "index.html"]), result)
    # Without the option, the server does not choose names.
    site.folder += "2"
    equal(site.names(site.run("-c", "1"))["/a/plain.txt"], "plain.txt")
    check("report 1.csv" not in site.files())


HOSTILE = [b'"../../up.txt"', b'"/etc/up"', b'"..\\\\up"', b'".."', b'"."', b'".bashrc"', b'"%s"' % RECORD.encode(), b'""', b'"a\x01b"',
           b'"a\x7fb"', b'"a\x1b[2Jb"', b"a/b", b'"a\x80b"', b'"' + b"n" * 10000 + b'"', b"n" * 10000, b'"unclosed', b"a; filename=b", b'"\xe2\x80\xaegpj.exe"']
STARRED = [b"UTF-8''..%2f..%2fup", b"UTF-8''a%00b", b"UTF-8''%0d%0aX:%20y", b"UTF-8''%2e%2e", b"UTF-16''a", b"UTF-8''%ff", b"UTF-8''" + b"%41" * 3000]


@claim
def name_of_a_hostile_server_is_not_used(eddy):
    heads = {f"/{i}/h{i}.txt": disposed(b"attachment; filename=" + value) for i, value in enumerate(HOSTILE)}
    heads.update({f"/{i}/s{i}.txt": disposed(b"attachment; filename*=" + value) for i, value in enumerate(STARRED)})
    heads["/x/x.txt"] = disposed(b"a" * 10000 + b"; filename=y")
    heads["/nul"] = disposed(b'attachment; filename="a\0b"')
    site = Site(eddy, heads)
    above = eddy.file("above")
    os.mkdir(above)
    site.folder = os.path.join(above, "files")
    result = site.run("--remote-name", "--attempts", "1")
    names = {path: name for path, name in site.names(result).items() if name}
    for path, name in names.items():
        equal(site.files()[name] == site.body(path), True, path)
        check(name == path.rsplit("/", maxsplit=1)[1] or path == "/x/x.txt", path, name)
    # A NUL or a control character in a head is not HTTP, and has no file.
    check(len(names) >= len(heads) - 4 and "/nul" not in names, names, result)
    equal((sorted(os.listdir(above)), sorted(site.files())), (["files"], sorted(names.values())))


@claim
def message_counts_one_name_that_is_used(eddy):
    site = Site(eddy, {"/1": disposed(b'attachment; filename="mine.txt"')})
    os.mkdir(site.folder)
    eddy.file("run.files/mine.txt", b"mine")
    result = site.run("--remote-name")
    check(result.code == 0 and "the name of 1 file was taken, so" in result.err, result)


@claim
def name_that_is_used_is_never_replaced(eddy):
    names = {"/1": b"Data.txt", "/2": b"data.txt", "/3": b"Data.txt", "/4": b"folder", "/5": b"link", "/6": b"mine.txt", "/7": b"gone", "/8": b"Data.txt"}
    site = Site(eddy, {path: disposed(b'attachment; filename="%s"' % name) for path, name in names.items()})
    os.mkdir(site.folder)
    os.mkdir(os.path.join(site.folder, "folder"))
    outside = eddy.file("outside", b"theirs")
    eddy.file("run.files/mine.txt", b"mine")
    os.symlink(outside, os.path.join(site.folder, "link"))
    os.symlink(eddy.file("nothing"), os.path.join(site.folder, "gone"))
    for more in ([], ["--force"]):
        result = site.run("--remote-name", *more)
        got = site.whole(result)
        equal((result.code, len(set(got.values()))), (0, len(names)), result)
        for path in ("/4", "/5", "/7", *(["/6"] if not more else [])):
            stem, dot, end = names[path].decode().partition(".")
            check(got[path].startswith(stem + "-") and got[path].endswith(dot + end), got)
        check("names of" in result.err and "were taken" in result.err, result)
        with open(outside, "rb") as file:
            equal((file.read(), os.path.exists(eddy.file("nothing"))), (b"theirs", False))
        if not more:
            equal((site.files()["mine.txt"], got["/2"], sum(name == "Data.txt" for name in got.values())), (b"mine", "data.txt", 1))


@claim
def files_of_the_run_may_be_in_the_folder_unless_it_is_forced(eddy):
    site = Site(eddy, {"/1": disposed(b"attachment; filename=urls.txt"), "/2": disposed(b"attachment; filename=out.jsonl")})
    os.mkdir(site.folder)
    urls = "".join(f"{site.server.url}{path}\n" for path in site.heads)
    args = ["fetch", "-i", eddy.file("run.files/urls.txt", urls), "-o", eddy.file("run.files/out.jsonl"), "--save", site.folder]
    equal((eddy.run(*args).code, eddy.run(*args, "--remote-name", "--force").code, site.asked), (2, 2, []))
    for asked in (["/1", "/2"], []):
        site.asked.clear()
        result = eddy.run(*args, "--remote-name")
        equal((result.code, sorted(site.asked)), (0, asked), result)
        files = site.files()
        equal((files["urls.txt"], len(files), len(files["out.jsonl"].splitlines())), (urls.encode(), 4, 2), files.keys())
        for line in map(json.loads, files["out.jsonl"].splitlines()):
            equal(files[line["file"]] == site.body(line["url"][-2:]), True, line)


@claim
def bodies_of_one_run_with_one_name_all_stay(eddy):
    site = Site(eddy, {f"/{i}": disposed(b"attachment; filename=same.bin") for i in range(40)})
    for _ in range(3):
        result = site.run("--remote-name", "--force", "-c", "40")
        equal((result.code, len(set(site.whole(result).values()))), (0, 40), result)


@claim
def second_run_skips_files_that_are_there(eddy):
    for more in ([], ["--remote-name"]):
        site = Site(eddy, {"/a?x": disposed(b"attachment; filename=one.txt"), "/b": b"", "/c": b""}, f"skip-{len(more)}")
        site.server.url = site.server.url.replace("//", "//user:secret@")
        equal(site.run(*more).code, 0)
        first = site.files()
        with open(os.path.join(site.folder, RECORD), "rb") as file:
            data = file.read()
            equal((stat.S_IMODE(os.fstat(file.fileno()).st_mode), len(data.splitlines()), b"secret" in data), (0o600, 3, False))
        result = site.run(*more)
        equal((result.code, site.asked, result.out), (0, [], ""), result)
        check("has 3 saved files, which are not fetched again" in result.err, result)
        # A file that is gone or has another size is fetched again; another command adds its files.
        os.remove(os.path.join(site.folder, "b"))
        with open(os.path.join(site.folder, "c"), "ab") as file:
            file.write(b"more")
        result = site.run(*more, paths=["/a?x", "/b", "/c", "/d"])
        equal((result.code, sorted(site.asked)), (0, ["/b", "/c", "/d"]), result)
        result = site.run(*more, paths=["/d", "/a?x"])
        equal((result.code, site.asked), (0, []), result)
        # The record is not the only proof: lines of -o count, if they are given.
        out = eddy.file(f"skip-{len(more)}.jsonl")
        result = site.run(*more, "-o", out, paths=["/e"])
        equal((result.code, site.asked), (0, ["/e"]) if more else (2, []), result)
        result = site.run(*more, "--force", paths=["/b"])
        equal((result.code, site.asked), (0, ["/b"]), result)
        files = site.files()
        for name, data in first.items():
            check(name == "c" or files[name] == data, name, "was replaced")


@claim
def record_that_is_torn_or_not_eddys_is_not_trusted(eddy):
    site = Site(eddy, {"/a": b"", "/b": b""})
    equal(site.run("-c", "1").code, 0)
    path = os.path.join(site.folder, RECORD)
    with open(path, "rb") as file:
        data = file.read()
    for cut, asked in ((1, []), (20, ["/b"]), (len(data) - 5, ["/a", "/b"])):
        with open(path, "wb") as file:
            file.write(data[:-cut])
        result = site.run("-c", "1")
        equal((result.code, sorted(site.asked)), (0, asked), result)
        site.folder = eddy.file(f"run{cut}.files")
        path = os.path.join(site.folder, RECORD)
        equal(site.run("-c", "1").code, 0)
        with open(path, "rb") as file:
            data = file.read()
    for other in (b"notes\n", data + b"call Bob\n", b"x"):
        with open(path, "wb") as file:
            file.write(other)
        result = site.run("--remote-name")
        with open(path, "rb") as file:
            equal((result.code, site.asked, file.read()), (2, [], other), result)
        check(RECORD in result.err and "new folder" in result.err, result)
    for line in (b'{"index":0,"url":"%s/z","status":200,"bytes":1,"error":null,"file":"../outside"}\n' % site.server.url.encode(),
                 b'{"index":0,"url":"%s/z","status":200,"bytes":1,"error":null,"file":".."}\n' % site.server.url.encode()):
        eddy.file("outside", b"1")
        with open(path, "wb") as file:
            file.write(line)
        result = site.run("--remote-name", paths=["/z"])
        equal((result.code, site.asked), (0, ["/z"]), result)
    os.remove(path)
    os.symlink(eddy.file("victim"), path)
    result = site.run("--remote-name")
    equal((result.code, site.asked, os.path.exists(eddy.file("victim"))), (4, [], False), result)
    os.remove(path)
    os.mkfifo(path)
    result = site.run("--remote-name")
    equal((result.code, site.asked, stat.S_ISFIFO(os.stat(path).st_mode)), (4, [], True), result)
    # A run that saves nothing leaves no record.
    site.folder = eddy.file("nothing.files")
    result = eddy.run("fetch", f"http://127.0.0.1:{e2e.deaf_port(eddy)}/", "--save", site.folder, "--attempts", "1", "--timeout", "1ms")
    equal((result.code, os.listdir(site.folder)), (1, []), result)


class Cut(Site):
    """A server that sends only the beginning of a large body, and waits; and the rest if a client asks for that."""

    DATA = os.urandom(3 * MIB)
    CUT = MIB + 5000

    def __init__(self, *args):
        super().__init__(*args)
        self.continued = []

    def reply(self, connection, path, head):
        start = b"HTTP/1.1 %s X\r\nConnection: close\r\nETag: \"one\"\r\nContent-Length: %d\r\n%s\r\n"
        data = self.DATA
        if path.startswith("/small"):
            connection.sendall(start % (b"200", 5, b"") + b"small")
        elif b"range: bytes=" in head:
            first = int(head.split(b"range: bytes=")[1].split(b"-")[0])
            self.continued.append(first)
            more = b"Content-Range: bytes %d-%d/%d\r\n" % (first, len(data) - 1, len(data)) + disposed(b"a; filename=other.bin")
            connection.sendall(start % (b"206", len(data) - first, more) + data[first:])
        else:
            connection.sendall(start % (b"200", len(data), self.heads[path]) + data[:self.CUT])
            e2e.until_closed(connection)

    @classmethod
    def body(cls, _):
        return cls.DATA

    def parts(self):
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        return sorted(name for name in names if name.startswith(".eddy-") and name != RECORD)

    def is_noted(self):
        left = self.parts()
        if len(left) != 2 or os.path.getsize(os.path.join(self.folder, left[1])) != self.CUT:
            return False
        with open(os.path.join(self.folder, left[0]), "rb") as file:
            return file.read().endswith(b"}\n")

    def stop(self, signo):
        child = self.eddy.start(*self.args("--remote-name"))
        e2e.wait_until(self.is_noted, "the part and its note")
        child.send_signal(signo)
        child.communicate(timeout=e2e.LIMIT_S)


@claim
def large_body_is_continued_under_the_name_of_its_first_response(eddy):
    site = Cut(eddy, {"/get?f=1": disposed(b"a; filename=big") + b"Content-Type: application/zip\r\n"})
    for signo in (signal.SIGKILL, signal.SIGTERM):
        site.stop(signo)
        result = site.run("--remote-name")
        equal((result.code, site.whole(result), site.continued), (0, {"/get?f=1": "big.zip"}, [site.CUT - 1]), result)
        equal(sorted(os.listdir(site.folder)), [RECORD, "big.zip"])
        equal((site.run("--remote-name").code, site.asked), (0, []))
        site.folder += "2"
        site.continued.clear()


@claim
def part_of_another_command_stays_in_the_folder(eddy):
    site = Cut(eddy, {"/big": b""})
    site.stop(signal.SIGKILL)
    parts = site.parts()
    for args in ((), ("--force",)):
        result = site.run("--remote-name", *args, paths=["/small"])
        equal((result.code, site.parts()), (0, parts), result)
    line = b'{"custom_id":"a","method":"GET","url":"%s/small"}\n' % site.server.url.encode()
    result = eddy.run("batch", eddy.file("in.jsonl", line), "-o", eddy.file("out.jsonl"), "--save", site.folder)
    equal((result.code, "a.bin" in site.files(), site.parts()), (0, True, parts), result)
    result = site.run("--remote-name")
    equal((result.code, site.whole(result), site.continued, site.parts()), (0, {"/big": "big"}, [site.CUT - 1], []), result)


@claim
def part_of_another_user_is_not_continued(eddy):
    if os.geteuid() != 0:
        return  # cannot make one
    site = Cut(eddy, {"/big": b""})
    site.stop(signal.SIGKILL)
    os.chown(os.path.join(site.folder, site.parts()[1]), 65534, -1)
    site.CUT = len(site.DATA)  # from now on the server sends all of it
    result = site.run("--remote-name")
    equal((result.code, site.whole(result), site.continued, site.parts()), (0, {"/big": "big"}, [], []), result)
    equal(os.stat(os.path.join(site.folder, "big")).st_uid, 0)


@claim
def part_of_a_command_is_not_continued_if_it_is_forced(eddy):
    site = Cut(eddy, {"/big": b""})
    site.stop(signal.SIGKILL)
    site.CUT = len(site.DATA)  # from now on the server sends all of it
    result = site.run("--remote-name", "--force")
    equal((result.code, site.whole(result), site.continued, site.parts()), (0, {"/big": "big"}, [], []), result)


@claim
def kill_at_each_step_loses_no_file_and_makes_none_twice(eddy):
    faults = 0
    for first, how in enumerate(("before", "torn", "after")):
        for at in range(1 + first, 200, STEP):
            site = Site(eddy, {f"/{i}": disposed(b"attachment; filename=f%d" % i) for i in range(3)}, f"{how}-{at}")
            child = eddy.start(*site.args("--remote-name", "-c", "1"), stdout=subprocess.DEVNULL,
                               env={**os.environ, **LOADED, "KILL_AT": str(at), "KILL_HOW": how})
            _, err = child.communicate(timeout=e2e.LIMIT_S)
            if child.returncode == 0:
                break
            equal(child.returncode, -signal.SIGKILL, how, at, err)
            for name, data in site.files().items():
                check(name.startswith(".eddy-") or data == site.body("/" + name[1:]), how, at, name)
            result = site.run("--remote-name")
            equal((result.code, site.files()), (0, {f"f{i}": site.body(f"/{i}") for i in range(3)}), how, at, result)
            equal((site.run("--remote-name").code, site.asked), (0, []), how, at)
            faults += 1
        check(at > 15, how, at)
    check(faults >= 45 // STEP, faults)


@claim
def two_runs_to_one_folder_exclude_each_other(eddy):
    class Held(Site):
        def reply(self, connection, path, head):
            e2e.until_closed(connection)

    site = Held(eddy, {"/a": b""})
    child = eddy.start(*site.args("--remote-name"))
    e2e.wait_until(lambda: site.asked, "the request of the first run")
    result = eddy.run(*site.args("--remote-name"))
    equal((result.code, "another run saves to this folder" in result.err), (6, True), result)
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=e2e.LIMIT_S)


@claim
def mistaken_options_get_a_hint(eddy):
    for args, code, words in ((["http://a.example/x", "--remote-name"], 2, ["--remote-name needs --save DIR"]),
                              (["-n", "https://user:secret@a.example/x"], 2, ["number of requests", "--netrc"]),
                              (["-n", "x", "http://a.example"], 2, ["give a number"]),
                              (["--remote-header-name", "http://a.example"], 2, ["--remote-name"]),
                              (["--output-dir", "x", "http://a.example"], 2, ["--save"]),
                              (["--continue", "http://a.example"], 2, ["the same command continues"])):
        result = eddy.run("fetch", *args)
        equal((result.code, [word for word in words if word not in result.err]), (code, []), result)
        check("secret" not in result.err, result)


if __name__ == "__main__":
    e2e.main()
