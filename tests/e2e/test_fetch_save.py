"""test_fetch_save - `eddy fetch --save`: names of files, files of others, and runs that are continued.

EDDY_TEST_FULL=1: a fault at each call that changes a file, instead of at some.
"""
import errno
import json
import os
import signal
import subprocess

import e2e
from e2e import check, claim, equal

# The library is loaded before that of AddressSanitizer.
LOADED = {"LD_PRELOAD": os.environ.get("EDDY_KILL_AT", ""),
          "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
STEP = 1 if os.environ.get("EDDY_TEST_FULL") else 4  # from one fault to the next, in calls


class Saves:
    """A server, whose bodies differ with each request, a list of its URLs, and a folder."""

    def __init__(self, eddy, paths, status=lambda path, number: 200, name="run", head=b""):
        def answer(connection, _):
            words = e2e.read_head(connection).split()
            if not words:
                return  # the program was killed
            target = words[1].decode()
            self.paths.append(target)
            body = self.body(target, len(self.paths))
            connection.sendall(b"HTTP/1.1 %d X\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n" %
                               (status(target, len(self.paths)), head, len(body)) + body)

        self.eddy = eddy
        self.paths = []
        self.server = eddy.serve(answer)
        self.out = eddy.file(f"{name}.jsonl")
        self.folder = eddy.file(f"{name}.files")
        self.list(paths, name)

    @staticmethod
    def body(target, number):
        return f"{target} {number} ".encode() * 1000 + b"\xff"

    def list(self, paths, name="run"):
        self.input = self.eddy.file(f"{name}.txt", "".join(self.server.url + path + "\n" for path in paths))

    def args(self, *args):
        return ["fetch", "-i", self.input, "-o", self.out, "--save", self.folder, "--progress", "off", "--backoff", "1ms", *args]

    def run(self, *args, **options):
        self.paths.clear()
        return self.eddy.run(*self.args(*args), **options)

    def files(self):
        found = {}
        for name in os.listdir(self.folder) if os.path.isdir(self.folder) else []:
            with open(os.path.join(self.folder, name), "rb") as file:
                found[name] = file.read()
        return found

    def lines(self):
        with open(self.out, "rb") as file:
            data = file.read()
        return [json.loads(line) for line in data[:data.rfind(b"\n") + 1].splitlines()]


@claim
def file_is_named_by_the_end_of_its_url(eddy):
    paths = ["/a/photo.jpg", "/data.tar.gz?x=1#y", "/", "/a/b/", "/page", "/caf%C3%A9%20au%20lait.txt", "/..%2f..%2fup",
             "/%2e%2e", "/other/photo.jpg", "/con.txt", "/" + "n" * 300 + ".txt", "/bad%ff%41"]
    saves = Saves(eddy, paths, head=b"Content-Type: text/html\r\n")
    result = saves.run("-c", "1")
    equal(result.code, 0, result)
    files, names = saves.files(), {line["url"][len(saves.server.url):]: line["file"] for line in saves.lines()}
    equal((len(files), set(names.values())), (len(paths), set(files)))
    equal([names[path] for path in paths[:6] if path != "/a/b/"],
          ["photo.jpg", "data.tar.gz", "index.html", "page.html", "caf\u00e9 au lait.txt"], names)
    for path, start, end in (("/..%2f..%2fup", "_._.._up-", ""), ("/%2e%2e", "__-", ""), ("/other/photo.jpg", "photo-", ".jpg"),
                             ("/con.txt", "_con-", ".txt"), ("/" + "n" * 300 + ".txt", "n" * 200, ".txt"),
                             ("/a/b/", "index-", ".html"), ("/bad%ff%41", "bad_A-", ".html")):
        check(names[path].startswith(start) and names[path].endswith(end), path, names[path])
    for path, name in names.items():
        check(files[name].startswith(path.split("#")[0].encode() + b" "), path, name)
        check(len(name.encode()) <= 255 and "/" not in name, name)


@claim
def the_same_command_fetches_only_urls_without_a_file(eddy):
    bad = {"/b": 404}
    saves = Saves(eddy, ["/a", "/b", "/c", "/a"], lambda path, number: bad.get(path, 200))
    result = saves.run()
    equal((result.code, sorted(saves.paths)), (1, ["/a", "/a", "/b", "/c"]), result)
    first = saves.files()
    equal((len(first), [line["file"] for line in saves.lines() if line["status"] == 404]), (3, [None]))
    result = saves.run()
    equal((result.code, saves.paths), (1, ["/b"]), result)
    check("has 3 saved files, which are not fetched again" in result.err, result)
    # A file that is gone or has another size is fetched again; so is a new URL.
    bad.clear()
    gone = next(line["file"] for line in saves.lines() if line["url"].endswith("/c"))
    os.remove(os.path.join(saves.folder, gone))
    saves.list(["/a", "/b", "/c", "/a", "/d"])
    result = saves.run()
    equal((result.code, sorted(saves.paths)), (0, ["/b", "/c", "/d"]), result)
    result = saves.run()
    equal((result.code, saves.paths, "no URL" in result.err), (0, [], False), result)
    files = saves.files()
    for name, data in first.items():
        check(name == gone or files[name] == data, name, "was replaced")


@claim
def saved_file_of_a_url_with_a_password_is_not_fetched_again(eddy):
    saves = Saves(eddy, ["/a@b"])
    url = saves.server.url.replace("http://", "http://user:secret@") + "/c"
    with open(saves.input, "a", encoding="ascii") as file:
        file.write(url + "\n")
    equal(saves.run().code, 0)
    equal(sorted(saves.paths), ["/a@b", "/c"])
    equal(saves.run().code, 0)
    equal(saves.paths, [])
    equal(len(saves.files()), 2)
    with open(saves.out, encoding="utf-8") as file:
        check("secret" not in file.read())


@claim
def last_line_that_is_cut_is_fetched_again_and_other_files_are_refused(eddy):
    saves = Saves(eddy, ["/a", "/b"])
    equal(saves.run("-c", "1").code, 0)
    with open(saves.out, "rb") as file:
        data = file.read()
    for cut, sent, message in ((1, [], ""), (20, ["/b"], "cut off an incomplete last line")):
        eddy.file("run.jsonl", data[:-cut])
        result = saves.run()
        equal((result.code, saves.paths, len(saves.lines())), (0, sent, 2), result)
        check(message in result.err, result)
    for other in (b"notes\n", data + b"call Bob\n", data + b"call Bob", b'{"custom_id":"a"}\n'):
        eddy.file("run.jsonl", other)
        result = saves.run()
        with open(saves.out, "rb") as file:
            equal((result.code, saves.paths, file.read()), (2, [], other), result)


@claim
def files_of_others_are_not_replaced_without_force(eddy):
    saves = Saves(eddy, ["/a"])
    os.mkdir(saves.folder)
    theirs = eddy.file("run.files/a", b"theirs")
    result = saves.run()
    equal((result.code, saves.paths, saves.files()), (2, [], {"a": b"theirs"}), result)
    check("not empty" in result.err, result)
    for _ in range(3):
        result = saves.run("--force")
        equal((result.code, saves.paths, list(saves.files())), (0, ["/a"], ["a"]), result)
    check(saves.files()["a"] != b"theirs", theirs)
    # Bodies of one run never replace each other.
    saves.list(["/a", "/x/a", "/y/a"])
    equal((saves.run("--force").code, len(saves.files())), (0, 3))


# ---- kills and full disks ------------------------------------------------------------------------

def whole(saves):
    """Each line has its file, and each file with a name is whole."""
    files = saves.files()
    for line in saves.lines() if os.path.exists(saves.out) else []:
        check(line["file"] in files and len(files[line["file"]]) == line["bytes"], line, sorted(files))
    for name, data in files.items():
        words = data[:-1].split()
        check(name.startswith(".eddy-") or (data.endswith(b"\xff") and len(words) == 2000 and len(set(words)) == 2), name)


def each_call(eddy, first, kind, **how):
    """Run with a fault at each STEPth call that changes a file, one after the other, to the last one."""
    for at in range(1 + first % STEP, 200, STEP):
        saves = Saves(eddy, ["/a", "/b", "/c"], name=f"{kind}-{at}")
        child = eddy.start(*saves.args("-c", "1"), stdout=subprocess.DEVNULL,
                           env={**os.environ, **LOADED, "KILL_AT": str(at), **how})
        _, err = child.communicate(timeout=e2e.LIMIT_S)
        whole(saves)
        if child.returncode == 0:
            return
        yield at, saves, child.returncode, err
        result = saves.run()
        equal((result.code, sorted(saves.files())), (0, ["a", "b", "c"]), at, how, result, sorted(saves.files()))
        whole(saves)
        equal(sorted(line["file"] for line in saves.lines()), ["a", "b", "c"], at, how)
    raise AssertionError("no run came to its end")


@claim
def files_of_the_run_may_not_be_in_the_folder(eddy):
    saves = Saves(eddy, ["/a"])
    os.mkdir(saves.folder)
    saves.out = os.path.join(saves.folder, "a")
    for more in ([], ["--force"]):
        result = saves.run(*more)
        check(result.code == 2 and "-o " + saves.out in result.err and "folder of --save" in result.err, result)
    equal(saves.files(), {})
    saves.out = eddy.file("out.jsonl")
    os.rename(saves.input, os.path.join(saves.folder, "a"))
    saves.input = os.path.join(saves.folder, "a")
    result = saves.run("--force")
    check(result.code == 2 and "-i " + saves.input in result.err, result)
    equal((saves.files(), saves.paths), ({"a": saves.server.url.encode() + b"/a\n"}, []))


@claim
def kill_at_each_step_leaves_no_line_without_its_file(eddy):
    for first, how in enumerate(("before", "torn", "after")):
        faults = 0
        for at, _, code, err in each_call(eddy, first, how, KILL_HOW=how):
            equal(code, -signal.SIGKILL, at, err)
            faults += 1
        check(faults >= 18 // STEP, how, faults)


@claim
def call_that_fails_ends_the_run_with_status_4(eddy):
    faults = 0
    for at, _, code, err in each_call(eddy, 3, "full", KILL_ERRNO=str(int(errno.ENOSPC)), KILL_FOREVER="1"):
        check(code == 4, at, code, err)
        faults += 1
    check(faults >= 10 // STEP, faults)


if __name__ == "__main__":
    e2e.main()
