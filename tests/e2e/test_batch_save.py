"""test_batch_save - `eddy batch --save`: answers that are not JSON become files, which their lines name.

EDDY_TEST_FULL=1: a fault at each call that changes a file, instead of at some.
"""
import errno
import json
import os
import signal
import subprocess
import threading

import e2e
from batch_api import Api, lines_of, request, requests
from e2e import check, claim, equal

MP3 = b"ID3\x04" + bytes(range(256)) * 40
MIME = {"Content-Type": "audio/mpeg"}
STEP = 1 if os.environ.get("EDDY_TEST_FULL") else 4  # from one fault to the next, in calls


class Saves:
    """A run, its output and its folder."""

    def __init__(self, eddy, answer, content, name="run"):
        self.eddy = eddy
        self.api = Api(eddy, answer)
        self.out = eddy.file(f"{name}.jsonl")
        self.folder = eddy.file(f"{name}.files")
        self.path = eddy.file(f"{name}.in.jsonl", content)

    def args(self, *args):
        return ["batch", self.path, "-o", self.out, "--base-url", self.api.url, "--progress", "off", "--ramp", "0s",
                "--retry-base", "1ms", "--save", self.folder, *args]

    def run(self, *args, **options):
        return self.eddy.run(*self.args(*args), **options)

    def files(self):
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        found = {}
        for name in names:
            with open(os.path.join(self.folder, name), "rb") as file:
                found[name] = file.read()
        return found

    def lines(self):
        return {line["custom_id"]: line["response"]["body"] for line in lines_of(self.out)}


def named(name):
    return json.dumps({"custom_id": name, "url": "/v1/audio/speech", "body": {"id": name}}) + "\n"


@claim
def answers_that_are_not_json_are_files_and_others_stay_in_their_lines(eddy):
    png = b"\x89PNG\r\n\x1a\n" + bytes(100)
    answers = [(200, MIME, MP3), (200, {"Content-Type": "image/png"}, png), (200, {}, {"n": 1}), (200, {}, b"[1]"),
               (200, {"Content-Type": "text/plain"}, b"plain"), (200, {}, b""), (400, MIME, b"\xff\xfe")]
    saves = Saves(eddy, lambda call: answers[int(call.id[1:])], requests(7))
    for _ in range(2):
        result = saves.run("--accept-failed")
        equal(result.code, 0, result)
        equal(saves.files(), {"r0.mp3": MP3, "r1.png": png, "r4.txt": b"plain"})
        equal(saves.lines(), {"r0": {"_file": "r0.mp3", "bytes": len(MP3), "type": "audio/mpeg"},
                              "r1": {"_file": "r1.png", "bytes": len(png), "type": "image/png"},
                              "r2": {"n": 1}, "r3": {"_json": [1]},
                              "r4": {"_file": "r4.txt", "bytes": 5, "type": "text/plain"}, "r5": {}})
        equal(len(saves.api.calls), 7)
    result = eddy.run("batch", saves.path, "-o", saves.out, "--base-url", saves.api.url, "--accept-failed")
    equal((result.code, len(saves.api.calls)), (0, 7), result)


@claim
def names_come_from_the_ids_and_stay_in_the_folder(eddy):
    ids = ["plain", "a/b", "a_b", "../../up", ".hidden", "-rf", "con", "gr\u00fc\u00df", "x" * 512, "x" * 511 + "y",
           "song.mp3", "song", "C:\\d"]
    saves = Saves(eddy, lambda call: (200, MIME, MP3 + call.id.encode()), "".join(named(name) for name in ids))
    result = saves.run()
    equal((result.code, len(saves.lines())), (0, len(ids)), result)
    files, lines = saves.files(), saves.lines()
    equal(len(files), len(ids), sorted(files))
    for name in ids:
        equal(files[lines[name]["_file"]], MP3 + name.encode(), name)
        check(lines[name]["_file"].endswith(".mp3"), lines[name])
    equal({lines[name]["_file"] for name in ("plain", "a_b", "gr\u00fc\u00df")}, {"plain.mp3", "a_b.mp3", "gr\u00fc\u00df.mp3"})
    check(all(len(name.encode()) <= 255 and name[0] not in ".-" and not set(name) & set('/\\:\0') for name in files), files)
    equal(sorted(os.listdir(os.path.dirname(saves.folder))), ["run.files", "run.in.jsonl", "run.jsonl"])


@claim
def files_of_others_and_links_are_not_replaced(eddy):
    saves = Saves(eddy, lambda call: (200, MIME, MP3), requests(2))
    victim = eddy.file("victim", b"theirs")
    os.mkdir(saves.folder)
    with open(os.path.join(saves.folder, "r0.mp3"), "wb") as file:
        file.write(b"theirs")
    os.symlink(victim, os.path.join(saves.folder, "r1.mp3"))
    with open(os.path.join(saves.folder, ".eddy-notes.part"), "wb") as file:
        file.write(b"theirs")
    result = saves.run()
    equal(result.code, 0, result)
    files, lines = saves.files(), saves.lines()
    equal([files[name] for name in ("r0.mp3", "r1.mp3", ".eddy-notes.part")], [b"theirs"] * 3)
    for name in ("r0", "r1"):
        check(lines[name]["_file"].startswith(f"{name}-") and files[lines[name]["_file"]] == MP3, lines)
    # Without the output, the files are not known, and are not replaced either.
    os.remove(saves.out)
    result = saves.run()
    after = saves.files()
    equal((result.code, {name: after[name] for name in files}, len(after)), (0, files, len(files) + 2), result)
    names = {body["_file"] for body in saves.lines().values()}
    equal((len(names), names & set(files), names <= set(after)), (2, set(), True), names)


def tagged(name, ahead):
    """A name with a later tag."""
    stem, tag = name[:-4].rsplit("-", 1)
    return f"{stem}-{int(tag, 16) + ahead:016x}.mp3"


@claim
def run_ends_with_4_when_all_names_of_a_file_are_used(eddy):
    saves = Saves(eddy, lambda call: (200, MIME, MP3), requests(1))
    os.mkdir(saves.folder)
    theirs = eddy.file("run.files/r0.mp3", b"theirs")
    equal(saves.run().code, 0)
    first = saves.lines()["r0"]["_file"]
    names = ["r0.mp3", *(tagged(first, ahead) for ahead in range(99))]
    for name in names[2:99]:
        eddy.file("run.files/" + name, b"theirs")
    os.remove(saves.out)
    equal((saves.run().code, saves.lines()["r0"]["_file"]), (0, names[99]))
    files = saves.files()
    os.remove(saves.out)
    result = saves.run()
    equal((result.code, saves.files(), lines_of(saves.out)), (4, files, []), result)
    check("cannot save r0-" in result.err and "name another folder" in result.err, result)
    os.remove(theirs)
    equal((saves.run().code, saves.lines()["r0"]["_file"]), (0, "r0.mp3"))


@claim
def changed_request_gets_a_file_of_its_own(eddy):
    saves = Saves(eddy, lambda call: (200, MIME, b"\xff" + call.raw), request(0))
    equal(saves.run().code, 0)
    first = saves.lines()["r0"]["_file"]
    for text in ("two", "three"):
        saves.path = eddy.file("changed.jsonl", request(0, body={"id": "r0", "text": text}))
        result = saves.run("--on-changed", "send")
        equal(result.code, 0, result)
        name = saves.lines()["r0"]["_file"]
        check(name != first and text.encode() in saves.files()[name], name, saves.files())
    equal(len(saves.files()), 3)


@claim
def prompts_that_change_to_and_fro_get_a_file_each_time(eddy):
    saves = Saves(eddy, lambda call: (200, MIME, b"\xff" + call.raw), requests(2))
    texts = ["one", "two"] * 3
    for count, text in enumerate(texts, 1):
        saves.path = eddy.file("run.in.jsonl", "".join(request(i, body={"id": f"r{i}", "text": text}) for i in range(2)))
        result = saves.run("--on-changed", "send")
        equal((result.code, len(saves.lines()), len(saves.files())), (0, 2, 2 * count), result)
        for name, body in saves.lines().items():
            check(text.encode() in saves.files()[body["_file"]], name, body)
        check(("the files of 2 removed answers stay, such as r" in result.err) == (count > 1), result)


def block_of(*words):
    """The commands of docs/batch.md that have all of the words."""
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "batch.md"), encoding="utf-8") as file:
        blocks = file.read().split("```sh\n")[1:]
    return next(block.split("```")[0] for block in blocks if all(word in block.split("```")[0] for word in words))


@claim
def files_that_are_missing_are_said_and_their_requests_are_not_sent(eddy):
    answers = [(200, MIME, MP3), (200, MIME, MP3), (200, {}, {"n": 1}), (200, {}, {"_file": "r9.mp3", "bytes": "7"})]
    saves = Saves(eddy, lambda call: answers[int(call.id[1:])], requests(4))
    result = saves.run()
    check(result.code == 0 and "not in" not in result.err, result)
    os.remove(os.path.join(saves.folder, "r0.mp3"))
    result = saves.run("--summary", "json")
    check(result.code == 0 and f"the file of an answer is not in {saves.folder}, or has another size: r0.mp3" in result.err, result)
    equal(json.loads(result.err.splitlines()[-1])["x_eddy"]["saved"]["missing"], 1)
    eddy.file("run.files/r1.mp3", MP3[1:])
    result = saves.run()
    check(result.code == 0 and "the files of 2 answers are not in" in result.err and "such as r" in result.err, result)
    # A folder that does not exist has none of them; it is made. Without --save, nothing looks for files.
    saves.folder = eddy.file("other.files")
    result = saves.run()
    check(result.code == 0 and "the files of 2 answers are not in" in result.err and os.listdir(saves.folder) == [], result)
    result = eddy.run("batch", saves.path, "-o", saves.out, "--base-url", saves.api.url)
    check(result.code == 0 and "not in" not in result.err, result)
    equal(len(saves.api.calls), 4)
    # The commands of the guide find the lines and take them out; then these requests are sent again.
    for block in (block_of("redo.txt", "@tsv"), block_of("kept.jsonl", "grep -vFf")):
        commands = [line for line in block.splitlines() if not line.startswith(("echo ", "eddy "))]
        script = "\n".join(commands).replace("answers.jsonl", "run.jsonl").replace("pics/", "other.files/")
        subprocess.run(script, shell=True, cwd=os.path.dirname(saves.out), check=True)
    # r3 too, because the server's own JSON has a _file.
    equal((saves.run().code, sorted(call.id for call in saves.api.calls[4:])), (0, ["r0", "r1", "r3"]))
    check(saves.files() == {"r0.mp3": MP3, "r1.mp3": MP3}, sorted(saves.files()))


@claim
def summary_counts_files_by_kind_and_answers_without_one(eddy):
    html = {"Content-Type": "text/html; charset=utf-8"}
    answers = [(200, MIME, MP3), (200, MIME, MP3), (200, html, b"<p>busy"), (200, MIME, b""), (200, {}, {"n": 1}), (200, {}, b"[1]"),
               (200, {"Content-Type": "x/y"}, b"\xff"), (400, html, b"<p>no")]
    saves = Saves(eddy, lambda call: answers[int(call.id[1:])], requests(8))
    result = saves.run("-c", "1", "--max-attempts", "1")
    check(f"\nfiles saved in {saves.folder}: 4 (.mp3: 2, .html: 1, .bin: 1); answers without a file: 1 empty, 2 JSON\n" in result.err, result)
    os.remove(saves.out)
    saves.folder = eddy.file("again.files")
    result = saves.run("-c", "1", "--max-attempts", "1", "--summary", "json")
    equal(json.loads(result.err.splitlines()[-1])["x_eddy"]["saved"],
          {"files": 4, "kinds": {".mp3": 2, ".html": 1, ".bin": 1}, "json": 2, "empty": 1, "missing": 0, "old": 0}, result)
    # Conditions refuse the page and the empty answer. On an output that exists, they judge nothing, and the run says so.
    rule = ["--ok", 'status == 200 and "audio/" in header(Content-Type) and header(Content-Length) != "0"']
    os.remove(saves.out)
    saves.folder = eddy.file("third.files")
    result = saves.run("--max-attempts", "1", *rule)
    equal((result.code, sorted(saves.files())), (1, ["r0.mp3", "r1.mp3"]), result)
    check("not judged again" not in result.err, result)
    result = saves.run("--max-attempts", "1", *rule)
    check(f"--ok has header(), and lines do not keep headers: the 2 answers of {saves.out} are not judged again" in result.err, result)


@claim
def second_run_in_a_folder_is_refused(eddy):
    started, release = threading.Event(), threading.Event()

    def answer(call):
        started.set()
        release.wait()
        return 200, MIME, MP3

    saves = Saves(eddy, answer, requests(1))
    child = eddy.start(*saves.args())
    check(started.wait(e2e.LIMIT_S), "no request came")
    other = eddy.run("batch", saves.path, "-o", eddy.file("other.jsonl"), "--base-url", saves.api.url, "--save", saves.folder)
    equal(other.code, 6, other)
    check("another run saves to this folder" in other.err, other)
    release.set()
    child.communicate(timeout=e2e.LIMIT_S)
    equal((child.returncode, list(saves.files())), (0, ["r0.mp3"]))


@claim
def mistakes_in_the_option_are_refused(eddy):
    saves = Saves(eddy, lambda call: (200, MIME, MP3), requests(1))
    for args, code, words in ((["--save", "-", "-o", saves.out], 2, "name a folder"),
                              (["--save", "", "-o", saves.out], 2, "name a folder"),
                              (["--save", saves.folder], 2, "--save needs -o"),
                              (["--save", saves.path, "-o", saves.out], 4, "Not a directory")):
        result = eddy.run("batch", saves.path, "--base-url", saves.api.url, *args)
        equal((result.code, len(saves.api.calls)), (code, 0), result)
        check(words in result.err, words, result)


# ---- kills and full disks ------------------------------------------------------------------------

# The library is loaded before that of AddressSanitizer.
LOADED = {"LD_PRELOAD": os.environ.get("EDDY_KILL_AT", ""),
          "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}


def content(call):
    """Answers of the same request differ, as those of a model do."""
    return f"{call.id} {call.number} ".encode() * 2000 + b"\xff"


def whole(saves):
    """Each line has its file, and each file with a name is whole. Returns the lines."""
    files, lines = saves.files(), {}
    with open(saves.out, "rb") as file:
        data = file.read()
    for line in data[:data.rfind(b"\n") + 1].splitlines():
        line = json.loads(line)
        body = line["response"]["body"]
        check(body["_file"] in files, line, sorted(files))
        equal(len(files[body["_file"]]), body["bytes"], line)
        lines[line["custom_id"]] = body["_file"]
    for name, data in files.items():
        if not name.startswith(".eddy-"):
            words = data[:-1].split()
            check(data.endswith(b"\xff") and len(words) == 4000 and len(set(words)) == 2, name, "is not whole")
    return lines


def finish(saves, *facts):
    """Complete the run: each id has a line and a file, and nothing else is in the folder."""
    result = saves.run()
    equal(result.code, 0, result, *facts)
    lines = whole(saves)
    equal(sorted(lines), ["r0", "r1", "r2"], *facts)
    equal(sorted(saves.files()), sorted(f"r{i}.mp3" for i in range(3)), *facts)
    equal(sorted(lines.values()), sorted(saves.files()), *facts)


def each_call(eddy, first, **how):
    """Run with a fault at each STEPth call that changes a file, one after the other, to the last one."""
    for at in range(1 + first % STEP, 200, STEP):
        saves = Saves(eddy, lambda call: (200, MIME, content(call)), requests(3), f"run-{at}")
        child = eddy.start(*saves.args("-c", "1"), stdout=subprocess.DEVNULL, env={**os.environ, **LOADED, "KILL_AT": str(at), **how})
        _, err = child.communicate(timeout=e2e.LIMIT_S)
        if child.returncode == 0 and len(whole(saves)) == 3 and at > 20:
            return at
        yield at, saves, child.returncode, err
    raise AssertionError("no run came to its end")


@claim
def kill_at_each_step_leaves_no_line_without_its_file_and_no_part_of_a_file(eddy):
    for first, how in enumerate(("before", "torn", "after")):
        kills = 0
        for at, saves, code, err in each_call(eddy, first, KILL_HOW=how):
            if code != -signal.SIGKILL:
                continue
            kills += 1
            if os.path.exists(saves.out):
                whole(saves)
            finish(saves, how, at)
            for path in (saves.out, saves.path, *(os.path.join(saves.folder, name) for name in saves.files())):
                os.remove(path)
        check(kills > 15 // STEP, how, kills)


@claim
def kill_at_each_step_leaves_no_second_file_under_a_later_name(eddy):
    """The first names are used by files of others."""
    for first, how in enumerate(("before", "after")):
        kills = 0
        for at in range(1 + first % STEP, 100, STEP):
            saves = Saves(eddy, lambda call: (200, MIME, content(call)), requests(1), f"{how}-{at}")
            equal(saves.run().code, 0)
            os.rename(os.path.join(saves.folder, "r0.mp3"), os.path.join(saves.folder, "theirs"))
            eddy.file(f"{how}-{at}.files/r0.mp3", b"theirs")
            os.remove(saves.out)
            equal(saves.run().code, 0)
            os.remove(saves.out)
            before = saves.files()
            child = eddy.start(*saves.args(), stdout=subprocess.DEVNULL,
                               env={**os.environ, **LOADED, "KILL_AT": str(at), "KILL_HOW": how})
            _, err = child.communicate(timeout=e2e.LIMIT_S)
            if child.returncode == 0:
                break
            equal(child.returncode, -signal.SIGKILL, at, err)
            kills += 1
            result = saves.run()
            equal(result.code, 0, how, at, result)
            name, files = saves.lines()["r0"]["_file"], saves.files()
            equal({other: data for other, data in files.items() if other != name}, before, how, at)
        check(kills > 5 // STEP, how, kills)


@claim
def call_that_fails_ends_the_run_with_status_4_and_the_next_one_completes_it(eddy):
    for first, error in enumerate((errno.ENOSPC, errno.EIO)):
        failed = 0
        for at, saves, code, err in each_call(eddy, first, KILL_ERRNO=str(int(error)), KILL_FOREVER="1"):
            if code == 0:
                continue
            failed += 1
            check(code == 4, at, code, err)
            if os.path.exists(saves.out):
                whole(saves)
            finish(saves, error, at, err)
            for path in (saves.out, saves.path, *(os.path.join(saves.folder, name) for name in saves.files())):
                os.remove(path)
        check(failed > 10 // STEP, failed)


if __name__ == "__main__":
    e2e.main()
