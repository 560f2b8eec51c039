#!/usr/bin/env python3
"""Files that other programs, an editor or a crash leave as output or errors file of `eddy batch`: no
line is lost, and each command reports what it did.
"""
import collections
import contextlib
import csv
import gzip
import io
import json
import os
import re
import threading

import batch_files
import e2e
from batch_api import Api, ids_of, request, requests
from e2e import check, claim, equal


def answer(number, status=200, **more):
    """A line as OpenAI writes it, with its line feed."""
    return json.dumps({"id": f"batch_req_{number}x", "custom_id": f"r{number}",
                       "response": {"status_code": status, "request_id": "q", "body": {"n": number}},
                       "error": None, **more}) + "\n"


def failure(number, error="bad", **more):
    return json.dumps({"custom_id": f"r{number}", "response": None, "error": error, **more}) + "\n"


def text_of(path):
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


def silent(connection, _):
    """A server that reads requests and answers none."""
    while connection.recv(65536):
        pass


class Files:
    """The files of a run of three requests, r0 to r2."""

    def __init__(self, eddy, out=None, errors=None, content=requests(3)):
        self.eddy = eddy
        self.api = Api(eddy)
        self.input = eddy.file("in.jsonl", content)
        self.out, self.errors = eddy.file("out.jsonl", out), eddy.file("out.errors.jsonl", errors)
        self.rejected = self.out + ".rejected"

    def run(self, command, *args, **options):
        source = "-" if "stdin" in options else self.input
        url = options.pop("url", self.api.url)
        return self.eddy.run(command, source, "-o", self.out, "--base-url", url, "--progress", "off",
                             "--max-attempts", "1", *args, **options)


@claim
def failures_in_the_output_move_to_the_errors_and_are_sent_again(eddy):
    strange = answer(8) + failure(9, {"error": {"message": "m", "code": 400}})
    lines = answer(0) + failure(1) + strange + answer(2, 0)
    files = Files(eddy, lines)
    # No request is answered.
    result = files.run("batch", "--deadline", "50ms", url=eddy.serve(silent).url)
    equal(result.code, 75, result)
    equal(text_of(files.out).decode(), answer(0) + strange)
    equal(text_of(files.errors).decode(), failure(1) + answer(2, 0))
    check("moved 2 failures, whose ids" in result.err and "1 answer with an id that" in result.err and
          "1 failure with an id that" in result.err, result)
    result = files.run("batch")
    equal((result.code, sorted(files.api.ids())), (0, ["r1", "r2"]), result)
    check(text_of(files.out).decode().startswith(answer(0) + strange), result)
    check(not os.path.exists(files.errors) and not os.path.exists(files.rejected), result)


@claim
def failures_in_the_output_move_after_the_run_if_the_input_is_a_pipe(eddy):
    lines = failure(1) + answer(0) + failure(9)
    files = Files(eddy, lines, failure(7))
    result = files.run("batch", stdin=requests(3).encode())
    equal((result.code, sorted(files.api.ids())), (0, ["r1", "r2"]), result)
    check(text_of(files.out).decode().startswith(answer(0) + failure(9)), text_of(files.out))
    equal(sorted(ids_of(files.out)), ["r0", "r1", "r2", "r9"])
    equal(text_of(files.errors).decode(), failure(7))
    check("moved 1 failure, whose ids" in result.err, result)


@claim
def answers_that_repeat_an_id_stay(eddy):
    lines = answer(0) + answer(1) + answer(0, more=1) + answer(2)
    files = Files(eddy, lines)
    result = files.run("batch")
    equal((result.code, files.api.calls, text_of(files.out).decode()), (0, [], lines), result)
    check("1 answer has the id of an earlier line: kept" in result.err, result)


@claim
def answers_in_the_errors_file_move_to_the_output_and_are_not_sent(eddy):
    files = Files(eddy, answer(0), answer(1) + failure(2) + answer(9))
    for _ in range(2):
        result = files.run("batch")
        equal((result.code, files.api.ids(), text_of(files.errors).decode()), (0, ["r2"], answer(9)), result)
        check("1 line is a success: kept" in result.err and f"answers in {files.out}: 3\n" in result.err, result)
        check(text_of(files.out).decode().startswith(answer(0) + answer(1)), result)


@claim
def refused_run_moves_no_failure(eddy):
    lines = answer(0) + failure(1)
    files = Files(eddy, lines, content=requests(3) + request(1))
    result = files.run("batch")
    equal((result.code, text_of(files.out).decode()), (3, lines), result)


@claim
def failure_of_a_line_that_is_a_request_now_is_of_the_input(eddy):
    bad = failure("x", {"code": "invalid_request_line", "message": "m"}).replace("rx", "line-2")
    for stdin in (None, requests(3).encode()):
        files = Files(eddy, answer(0) + bad, bad)
        result = files.run("batch", **({"stdin": stdin} if stdin else {}))
        equal((result.code, sorted(ids_of(files.out))), (0, ["r0", "r1", "r2"]), result)
        check("kept" not in result.err and not os.path.exists(files.errors), result)
        os.remove(files.out)


@claim
def retry_that_sends_none_of_its_failures_ends_with_1(eddy):
    files = Files(eddy, answer(0), failure(7) + failure(8))
    result = files.run("retry")
    equal((result.code, files.api.calls, text_of(files.errors).decode()), (1, [], failure(7) + failure(8)), result)
    check("nothing was sent" in result.err and "none of the ids of 2 failures" in result.err, result)
    files = Files(eddy, answer(0) + failure(7), "")
    result = files.run("retry")
    equal((result.code, files.api.calls), (1, []), result)
    files = Files(eddy, answer(0), '{"custom_id": "r1"}\n' + failure(0))
    result = files.run("retry")
    equal((result.code, files.api.calls), (1, []), result)
    equal(text_of(files.errors + ".rejected"), b'{"custom_id": "r1"}\n', result)
    files = Files(eddy, answer(0) + failure(0), failure(0))
    result = files.run("retry")
    equal((result.code, files.api.calls), (1, []), result)
    check("all failed requests have an answer" in result.err and "have no answer: eddy batch sends them" in result.err,
          result)
    files = Files(eddy, answer(0) + failure(1) + answer(2, None), "")
    result = files.run("retry")
    equal((result.code, sorted(files.api.ids())), (0, ["r1", "r2"]), result)


@claim
def messages_about_changed_requests_agree_with_the_output(eddy):
    files = Files(eddy)
    equal(files.run("batch").code, 0)
    changed = request(0, body={"id": "r0", "new": 1}) + request(1) + request(2) + request(3)
    files.input = eddy.file("in.jsonl", changed)
    result = files.run("batch", "--on-changed", "send")
    equal((result.code, sorted(files.api.ids())), (0, ["r0", "r0", "r1", "r2", "r3"]), result)
    check("out.jsonl has 2 answers, whose requests are not sent again\n" in result.err and
          "out.jsonl has 1 answer, whose request has changed, and is sent again" in result.err and
          "removed 1 answer to requests that have changed since" in result.err and
          f"answers in {files.out}: 4\n" in result.err, result)
    equal(len(ids_of(files.out)), 4)
    files.input = eddy.file("in.jsonl", requests(1))
    result = files.run("batch", "--on-changed", "send", "--summary", "json", stdin=requests(1).encode())
    summary = json.loads(result.err.splitlines()[-1])
    equal((result.code, summary["request_counts"], len(ids_of(files.out))),
          (0, {"total": 1, "completed": 1, "failed": 0}, 4), result)
    check("out.jsonl has 4 answers, whose requests are not sent again, unless they have changed" in result.err, result)


@claim
def old_answers_stay_until_a_run_that_replaces_them_has_ended(eddy):
    files = Files(eddy)
    equal(files.run("batch").code, 0)
    old = text_of(files.out)
    # A run was killed after it had the new answer of r1, and another program had answers too.
    changed = request(0) + request(1, body={"id": "r1", "new": 1}) + request(2)
    fresh = eddy.file("fresh.jsonl")
    equal(eddy.run("batch", eddy.file("new.jsonl", changed), "-o", fresh, "--base-url", files.api.url).code, 0)
    line = [line for line in text_of(fresh).splitlines(True) if b'"r1"' in line][0]
    theirs = answer(1, more=1).encode() + answer(7).encode()
    files.out = eddy.file("out.jsonl", old + theirs + line)
    files.input = eddy.file("in.jsonl", changed)
    del files.api.calls[:]
    for args in ((), ("--on-changed", "send")):
        before = text_of(files.out)
        result = files.run("batch", *args)
        equal((result.code, files.api.calls), (0, []), result)
        equal(text_of(files.out) == before, not args, result)
    left = [line for line in old.splitlines(True) if b'"r1"' not in line]
    equal(text_of(files.out), b"".join(left) + theirs + line)
    check("removed 1 answer to" in result.err, result)


@claim
def output_that_is_cut_during_the_run_ends_it_and_later_answers_are_rescued(eddy):
    for errors, size in ((False, 0), (False, 500), (True, 0)):
        gate = threading.Event()
        files = Files(eddy, "", "", requests(40))
        files.api.answer = lambda call: ((gate.wait() if call.number >= 10 else 0),
                                         (400 if errors else 200, {}, {"pad": "x" * 100}))[1]
        cut = files.errors if errors else files.out
        child = eddy.start("batch", files.input, "-o", files.out, "--base-url", files.api.url, "-c", "4")
        e2e.wait_until(lambda: text_of(cut).count(b"\n") == 10 and len(files.api.calls) >= 14, "answers")
        copy = text_of(cut)
        os.truncate(cut, size)
        gate.set()
        _, err = child.communicate(timeout=e2e.LIMIT_S)
        err = err.decode()
        equal((child.returncode, text_of(cut)), (4, copy[:size]), err)
        rescued = text_of(cut + ".rescued")
        equal(rescued.count(b"\n"), len(files.api.calls) - 10, err)
        check(len(files.api.calls) < 40, err)
        check(f"had {len(copy)} bytes and now has {size}: another program has cut it; "
              f"{len(files.api.calls) - 10} lines that came after that are in {cut}.rescued" in err, err)
        # The files are put together again: no request is sent twice, unless it failed.
        with open(cut, "wb") as file:
            file.write(copy + rescued)
        os.remove(cut + ".rescued")
        files.api.answer = lambda call: (200, {}, {})
        result = files.run("batch")
        equal((result.code, len(files.api.calls)), (0, 40 + (len((copy + rescued).splitlines()) if errors else 0)), result)
        equal(sorted(ids_of(files.out)), sorted(f"r{i}" for i in range(40)))
        os.remove(files.out)


@claim
def output_that_is_cut_after_the_last_answer_is_reported(eddy):
    files = Files(eddy, content=requests(2))
    gate = threading.Event()
    files.api.answer = lambda call: ((gate.wait() if call.id == "r1" else 0), (400, {}, {}))[1]
    files.out = eddy.file("out.jsonl", answer(7) + answer(8))
    child = eddy.start("batch", files.input, "-o", files.out, "--base-url", files.api.url)
    e2e.wait_until(lambda: b"r0" in text_of(files.errors), "the first failure")
    os.truncate(files.out, len(answer(7)))
    gate.set()
    _, err = child.communicate(timeout=e2e.LIMIT_S)
    equal((child.returncode, text_of(files.out).decode()), (4, answer(7)), err)
    check(f"had {2 * len(answer(7))} bytes and now has {len(answer(7))}: another program has cut it; put" in err.decode(), err)


def during(eddy, files, change, number=10):
    """Change a file while a run has that many answers and waits for more; returns its exit code and stderr."""
    gate = threading.Event()
    files.api.answer = lambda call: ((gate.wait() if call.number >= number else 0), (200, {}, {}))[1]
    child = eddy.start("batch", files.input, "-o", files.out, "--base-url", files.api.url, "-c", "4")
    e2e.wait_until(lambda: text_of(files.out).count(b"\n") == number and len(files.api.calls) >= number + 4, "answers")
    change()
    gate.set()
    _, err = child.communicate(timeout=e2e.LIMIT_S)
    return child.returncode, err.decode()


@claim
def line_that_another_program_leaves_unfinished_is_not_joined_to_an_answer(eddy):
    files = Files(eddy, "", "", requests(40))

    def append():
        with open(files.out, "a") as file:
            file.write('{"torn')
    code, err = during(eddy, files, append)
    equal((code, text_of(files.out).count(b"\n")), (0, 41), err)
    result = files.run("batch")
    equal((result.code, len(files.api.calls), text_of(files.out + ".rejected")), (0, 40, b'{"torn\n'), result)


@claim
def summary_does_not_count_answers_in_a_file_that_is_gone(eddy):
    for change, word in ((os.remove, "removed or replaced"), (lambda out: os.rename(out, out + ".1"), "moved")):
        files = Files(eddy, "", "", requests(40))
        code, err = during(eddy, files, lambda: change(files.out))
        equal(code, 4, err)
        check(f"{files.out} was {word}: see above\n" in err and "answers in" not in err, err)


@claim
def input_that_is_cut_during_the_run_is_reported(eddy):
    content = "".join(request(i, body={"pad": "x" * 5000}) for i in range(100))
    whole = content[:content.index("\n", 200000) + 1]
    for size in (len(whole), len(whole) + 9, 0):
        files = Files(eddy, "", "", content)
        code, err = during(eddy, files, lambda: os.truncate(files.input, size), 4)
        check(f"ended early: it had {len(content)} bytes when it was checked, and has " in err, size, err)
        check(code == 3 and "to resume: " in err and len(files.api.calls) < 100, size, code, err)
        with open(files.input, "w") as file:
            file.write(content)
        files.api.answer = lambda call: (200, {}, {})
        result = files.run("batch")
        equal((result.code, len(ids_of(files.out)), len(files.api.calls)), (0, 100, 100), size, result)
        os.remove(files.out)
        files.api.calls.clear()


@claim
def output_of_fetch_that_is_cut_ends_the_run(eddy):
    gate = threading.Event()
    api = Api(eddy, lambda call: ((gate.wait() if call.number >= 5 else 0), (200, {}, {}))[1])
    out = eddy.file("out.jsonl")
    urls = eddy.file("urls", "".join(f"{api.url}/{i}\n" for i in range(30)))
    child = eddy.start("fetch", "-i", urls, "-o", out, "-c", "2")
    e2e.wait_until(lambda: text_of(out).count(b"\n") == 5 and len(api.calls) >= 7, "results")
    os.truncate(out, 0)
    gate.set()
    _, err = child.communicate(timeout=e2e.LIMIT_S)
    equal((child.returncode, text_of(out)), (4, b""), err)
    check(b"another program has cut it" in err and text_of(out + ".rescued").count(b"\n") >= 1, err)
    check(len(api.calls) < 30, err)


# ---- files of other programs ---------------------------------------------------------------------

class Expected:
    """The place of each line of the two files."""

    def __init__(self, out, errors):
        self.out, self.errors = batch_files.lines_of(out), batch_files.lines_of(errors)
        kinds = {kind for _, kind, _ in self.out}
        head = out.lstrip(b"\0")
        ours = head.startswith(b'{"id":"batch_req_') or len(out) - len(head) >= 512
        self.is_refused = "bad" in kinds and not kinds & {"ok", "failed"} and not ours
        both = self.out + self.errors
        self.answered = {name for _, kind, name in both if kind == "ok"} & set(batch_files.IDS)
        self.brought = self.answered - {name for _, kind, name in self.out if kind == "ok"}
        self.failed = {name for _, kind, name in both if kind == "failed"} & set(batch_files.IDS) - self.answered
        self.moved = self.count(self.out, "failed", known=True)
        self.strange = self.count(both, "failed", known=False)
        self.bad = [text for text, kind, _ in self.out if kind == "bad"]
        self.bad_errors = [text for text, kind, _ in self.errors if kind == "bad"]

    @staticmethod
    def count(lines, wanted, known):
        return sum(kind == wanted and (name in batch_files.IDS) == known for _, kind, name in lines)

    @staticmethod
    def left(lines, removed=("failed",)):
        """The lines that stay when all requests have answers; those with ids of requests of the kinds do not."""
        return b"".join(text + b"\n" for text, kind, name in lines
                        if kind != "bad" and (kind not in removed or name not in batch_files.IDS))


def run_check(files, expected, command, result, out, errors):
    """The files, the requests and the messages after `eddy batch` or `eddy retry`."""
    if expected.is_refused:
        equal((result.code, text_of(files.out), text_of(files.errors), files.api.calls), (2, out, errors, []), result)
        check("the file has no answer, but other contents" in result.err, result)
        return
    sent = expected.failed if command == "retry" else set(batch_files.IDS) - expected.answered
    unanswered = set(batch_files.IDS) - expected.answered
    reasons = (expected.strange or expected.bad or expected.bad_errors or unanswered) and not sent and command == "retry"
    equal((result.code, sorted(files.api.ids())), (1 if reasons else 0, sorted(sent)), result)
    left = expected.left(expected.out)
    check(text_of(files.out).startswith(left), text_of(files.out), left)
    equal({name for _, _, name in batch_files.lines_of(text_of(files.out)[len(left):])}, sent | expected.brought)
    stay = expected.left(expected.errors, ("failed", "ok"))
    equal(text_of(files.errors).strip(b"\n"), stay.strip(b"\n"), result)
    equal(text_of(files.rejected), b"".join(text + b"\n" for text in expected.bad), result)
    equal(text_of(files.errors + ".rejected"), b"".join(text + b"\n" for text in expected.bad_errors), result)
    torn = [name for name, data in (("out", out), ("errors", errors))
            if data and batch_files.lines_of(data)[-1][1] == "bad" and not data.endswith(b"\n")]
    equal(result.err.count("moved an incomplete last line"), len(torn), result)
    for bad, name in ((expected.bad, "out"), (expected.bad_errors, "errors")):
        count = len(bad) - (name in torn)
        check(not count or re.search(f"moved {count} lines? that (is|are) not (an answer|answers)", result.err), result)
    check(not expected.moved or f"moved {expected.moved} failure" in result.err, result)
    equal(sum(int(n) for n in re.findall(r"(\d+) failures? with an id", result.err)), expected.strange, result)
    if not sent and command == "retry":
        check("nothing was sent" in result.err, result)


def unpacked(data):
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def sort_check(files, out):
    lines = batch_files.lines_of(unpacked(out).removeprefix(batch_files.MARK))
    texts = [text.removesuffix(b"\r") for text, kind, _ in lines if kind != "blank"]
    bad = sum(kind == "bad" for _, kind, _ in lines)
    strange = Expected.count(lines, "ok", False) + Expected.count(lines, "failed", False)
    path = files.eddy.file("sorted")
    if texts and bad + strange == len(texts):
        result = files.eddy.run("sort", files.out, "--by", files.input)
        e2e.one_line(result, 3, "none of the ids is in" if strange else "none of its lines is an answer")
        equal((result.out, text_of(files.out)), ("", out), result)
        return
    result = files.eddy.run("sort", files.out, "--by", files.input, "-o", path)
    equal((result.code, collections.Counter(text_of(path).split(b"\n")[:-1]), text_of(files.out)),
          (0, collections.Counter(texts), out), result.err)
    check(not bad or f"{bad} line{'s are not answers' if bad > 1 else ' is not an answer'}" in result.err, result)
    check(not strange or f"{strange} line{'s have ids' if strange > 1 else ' has an id'}" in result.err, result)


def report_check(files, expected, out, errors):
    page = files.eddy.file("page.html")
    result = files.eddy.run("report", files.out, "-o", page)
    kinds = [kind for _, kind, _ in batch_files.lines_of(unpacked(out)) + expected.errors]
    torn = sum(1 for data in (unpacked(out), errors)
               if data and batch_files.lines_of(data)[-1][1] == "bad" and not data.endswith(b"\n"))
    bad, answers = kinds.count("bad") - torn, kinds.count("ok") + kinds.count("failed")
    equal((result.code, text_of(files.out), text_of(files.errors)), (3 if bad and not answers else 0, out, errors), result)
    if result.code:
        check("none of its lines is an answer" in result.err, result)
        return
    text = text_of(page).decode()
    check(not bad or f"Lines that are not answers, and do not count: {bad}." in text, text)
    check(not torn or "A last line was not complete" in text, text)
    os.remove(page)


def select_check(files, out, errors):
    lines = batch_files.lines_of(unpacked(out).removeprefix(batch_files.MARK)) + batch_files.lines_of(errors)
    answers = [(kind, name) for _, kind, name in lines if kind in ("ok", "failed")]
    bad = sum(kind == "bad" for _, kind, _ in lines)
    result = files.eddy.run("select", files.out, "--by", files.input, "--select", "body=")
    known = [(kind, name) for kind, name in answers if name in batch_files.IDS]
    equal((result.code, text_of(files.out), text_of(files.errors)), (3 if (bad or answers) and not known else 0, out, errors), result)
    if result.code:
        equal(result.out, "")
        return
    rows = list(csv.reader(io.StringIO(result.out, newline=""), strict=True))[1:]
    places = {name: "answered" if ("ok", name) in known else "failed" if ("failed", name) in known else "not answered"
              for name in batch_files.IDS}
    equal([(row[0], "answered" if not row[2] else row[2] if row[2] == "not answered" else "failed")
           for row in rows[:len(places)]], list(places.items()), result)
    equal(len(rows), len(places) + len(answers) - len(known), result)
    check(not bad or f"{bad} line{'s are not answers' if bad > 1 else ' is not an answer'}" in result.err, result)


def run_checks(files, expected, out, errors):
    """The checks of a file, each by a command of its own; `batch` and `retry` change the files."""
    def changes(command):
        run_check(files, expected, command, files.run(command), out, errors)

    def counts():
        result = files.eddy.run("check", files.input, "-o", files.out)
        found = re.search(r"answered +(\d+)", result.out)
        equal((result.code, int(found[1]) if found else 0, text_of(files.out)), (0, len(expected.answered), out), result)

    return {"batch": lambda: changes("batch"), "retry": lambda: changes("retry"), "sort": lambda: sort_check(files, out),
            "select": lambda: select_check(files, out, errors), "report": lambda: report_check(files, expected, out, errors),
            "check": counts}


def files_check(eddy, group):
    """All files: each second one by three of the commands, the others by the other three; with EDDY_TEST_FULL=1 by all."""
    is_full = os.environ.get("EDDY_TEST_FULL") == "1"
    for number, (name, out, errors) in enumerate(batch_files.FILES[group]):
        expected = Expected(out, errors)
        for place, command in enumerate(("batch", "retry", "sort", "select", "report", "check")):
            if not is_full and (place + number) % 2:
                continue
            files = Files(eddy, out, errors, batch_files.requests())
            try:
                run_checks(files, expected, out, errors)[command]()
            except AssertionError as error:
                raise AssertionError(f"{group}: {name}: {command}: {error}") from error
            for path in (files.out, files.errors):
                with contextlib.suppress(FileNotFoundError):
                    os.remove(path + ".rejected")


for files_group in batch_files.FILES:
    def files_case(eddy, group=files_group):
        files_check(eddy, group)
    files_case.__name__ = f"no_line_of_files_of_{files_group}_is_lost"
    claim(files_case)

e2e.main()
