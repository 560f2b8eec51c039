#!/usr/bin/env python3
"""test_batch_summary - the file of `eddy batch --summary-file`: it is always whole, belongs to the last
run that began, and has the end of the run, whatever ended it.
"""
import json
import os
import re
import shutil
import signal
import threading

import e2e
from batch_api import Api, request, requests
from e2e import check, claim, equal


def summary_of(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Files:
    def __init__(self, eddy, content=requests(4)):
        self.eddy = eddy
        self.input = eddy.file("in.jsonl", content)
        self.out, self.summary = eddy.file("out.jsonl"), eddy.file("summary.json")

    def words(self, url, *more):
        return [self.input, "-o", self.out, "--base-url", url, "--max-attempts", "1", "--summary-file",
                self.summary, *more]

    def run(self, url, *more, command="batch"):
        return self.eddy.run(command, *self.words(url, *more))

    def end(self):
        """What a scheduler reads."""
        summary = summary_of(self.summary)
        equal(summary["object"], "batch", summary)
        return summary["status"], summary["x_eddy"]["exit_code"]


@claim
def file_has_the_summary_beside_that_on_stderr(eddy):
    failing = ["r3"]
    api = Api(eddy, lambda call: (400 if call.id in failing else 200, {}, {}))
    files = Files(eddy)
    result = files.run(api.url)
    equal((result.code, files.end()), (1, ("completed", 1)), result)
    equal(summary_of(files.summary)["request_counts"], {"total": 4, "completed": 3, "failed": 1}, result)
    check("answers in " in result.err, result)
    failing.clear()
    result = files.run(api.url, "--summary", "json", command="retry")
    equal((result.code, files.end()), (0, ("completed", 0)), result)
    printed, written = json.loads(result.err.splitlines()[-1]), summary_of(files.summary)
    equal((printed["id"], printed["x_eddy"]["exit_code"]), (written["id"], 0), result)
    equal([name for name in os.listdir(os.path.dirname(files.summary)) if ".new-" in name], [], result)


@claim
def manual_page_lists_the_members_and_the_reasons_of_the_end(eddy):
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    with open(os.path.join(root, "docs/man/eddy-batch.1"), encoding="utf-8") as file:
        manual = file.read().split('\n.\\" The members')[1].split("\n.PP\n")[0]
    tags = re.findall(r"^\.TP\n\.BR? (.*)", manual, re.M)
    listed = [name for tag in tags for name in re.findall(r"\w+", tag)]
    files = Files(eddy)
    equal(files.run(Api(eddy).url).code, 0)
    equal(sorted(listed), sorted(summary_of(files.summary)["x_eddy"]))
    with open(os.path.join(root, "cmd/eddy/common/stats.c"), encoding="utf-8") as file:
        stops = re.findall(r'\[ED_STOP_\w+\] = "(\w+)"', file.read())
    ended = re.split(r"\.B stopped\n", manual)[1].split(".TP")[0]
    equal(sorted(re.findall(r"^\.BR? (\w+)", ended, re.M)), sorted(stops))


@claim
def each_stop_is_in_the_file(eddy):
    api = Api(eddy, lambda call: (400, {}, {}))
    table = [(["--max-errors", "1"], 5, "failed"), (["--deadline", "1ms", "--rpm", "1"], 75, "expired"),
             (["--limit", "0"], 2, "failed"), (["--limit", "1"], 1, "cancelled")]
    for words, code, status in table:
        files = Files(eddy)
        result = files.run(api.url, *words)
        equal((result.code, files.end()), (code, (status, code)), result)


@claim
def earlier_summary_is_replaced_at_the_start(eddy):
    hold, held = threading.Event(), threading.Event()

    def answer(call):
        if call.id == "r4":
            held.set()
            hold.wait(e2e.LIMIT_S)
        return 200, {}, {}
    api = Api(eddy, answer)
    files = Files(eddy)
    equal(files.run(api.url).code, 0)
    first = summary_of(files.summary)
    equal(files.end(), ("completed", 0), first)
    with open(files.input, "a", encoding="utf-8") as file:
        file.write(request(4))
    for signo, end in ((signal.SIGKILL, ("in_progress", None)), (signal.SIGINT, ("cancelled", 130))):
        held.clear()
        child = eddy.start("batch", *files.words(api.url))
        e2e.wait_until(held.is_set, "the request")
        equal(files.end(), ("in_progress", None))
        check(summary_of(files.summary)["id"] != first["id"], first)
        busy = files.run(api.url)
        equal((busy.code, files.end()), (6, ("in_progress", None)), busy)
        child.send_signal(signo)
        if signo == signal.SIGINT:
            check(any(b"waiting up to 30s" in line for line in child.stderr), "the message")
            hold.set()
        child.communicate(timeout=e2e.LIMIT_S)
        equal(files.end(), end)
    equal(files.run(api.url).code, 0)
    equal(files.end(), ("completed", 0))


@claim
def faults_before_the_first_request_are_in_the_file(eddy):
    api = Api(eddy)
    table = [(requests(1) * 2, [], 3), ("", [], 3), (requests(1), ["--api-key-file", "/none"], 2),
             (requests(1), ["--bogus", "-H", "X-Key: secret", "--proxy", "http://u:secret@h"], 2),
             (requests(1), ["--errors", "/none/e"], 4)]
    for content, words, code in table:
        files = Files(eddy, content)
        result = files.run(api.url, *words)
        equal((result.code, files.end(), api.calls), (code, ("failed", code), []), result)
        with open(files.summary, encoding="utf-8") as file:
            check("secret" not in file.read(), result)


@claim
def help_leaves_the_file(eddy):
    files = Files(eddy)
    equal(files.run("http://h", "--help").code, 0)
    check(not os.path.exists(files.summary), "no file")


@claim
def files_that_are_not_summaries_are_refused_and_kept(eddy):
    api = Api(eddy)
    files = Files(eddy)
    equal(eddy.run("batch", files.input, "-o", files.out, "--base-url", api.url).code, 0)
    before = len(api.calls)
    note = eddy.file("note", "{}\n")
    for path in (files.input, files.out, note):
        with open(path, "rb") as file:
            content = file.read()
        result = eddy.run("batch", files.input, "-o", files.out, "--base-url", api.url, "--summary-file", path)
        check(result.code == 2 and "is not a summary of eddy batch" in result.err, result)
        with open(path, "rb") as file:
            equal(file.read(), content, result)
    pipe = eddy.file("pipe")
    os.mkfifo(pipe)
    for path, said in ((pipe, "not a regular file"), (os.path.dirname(note), "not a regular file"), ("-", "name a file"),
                       ("", "is empty"), ("s.json.gz", "not compressed")):
        result = eddy.run("batch", files.input, "-o", files.out, "--base-url", api.url, "--summary-file", path)
        check(result.code == 2 and said in result.err, result)
    new = eddy.file("new")
    for option in ("-o", "--errors", "--log"):
        words = ["-o", eddy.file("other")] if option != "-o" else []
        result = eddy.run("batch", files.input, *words, option, new, "--base-url", api.url, "--summary-file", new)
        check(result.code == 2 and f"{option} and --summary-file are the same file" in result.err, result)
        check(not os.path.exists(new), "nothing is written", option)
    equal(len(api.calls), before)


@claim
def empty_file_of_the_run_does_not_become_its_summary(eddy):
    empty = eddy.file("empty", "")
    rows = eddy.file("in.jsonl", requests(1))
    out = eddy.file("out.jsonl")
    for args, words in (([empty, "-o", out], "this is the input"), ([rows, "-o", out, "--log", empty], "--log and --summary-file are"),
                        ([rows, "-o", out, "--accept-failed-ids", empty], "is read by --accept-failed-ids;"),
                        ([rows, "-o", out, "-H", "@" + empty], "is read by --header;")):
        result = eddy.run("batch", *args, "--base-url", "http://h", "--summary-file", empty)
        check(result.code == 2 and words in result.err, args, result)
        equal(os.path.getsize(empty), 0, args)
    result = eddy.run("batch", rows, "-o", out, "--base-url", "http://h", "--summary-file", out + ".rejected")
    check(result.code == 2 and "lines that are not answers are moved to this file" in result.err, result)
    equal(sorted(os.listdir(eddy.folder)), ["empty", "in.jsonl"], "nothing is made")


@claim
def file_that_cannot_be_written_is_reported(eddy):
    folder = eddy.file("folder")
    api = Api(eddy, lambda call: (shutil.rmtree(folder, ignore_errors=True), (200, {}, {}))[1])
    files = Files(eddy, requests(1))
    files.summary = os.path.join(folder, "summary.json")
    result = files.run(api.url)
    check(result.code == 4 and not api.calls and f"--summary-file {files.summary}: No such" in result.err, result)
    os.mkdir(folder)
    result = files.run(api.url)
    equal((result.code, len(api.calls)), (4, 1), result)
    check(f"--summary-file {files.summary}: No such" in result.err and "answers in " in result.err, result)


@claim
def file_that_took_the_name_during_the_run_is_kept(eddy):
    files = Files(eddy, requests(1))

    def answer(call):
        os.remove(files.summary)
        eddy.file(os.path.basename(files.summary), "mine\n")
        return 200, {}, {}
    result = files.run(Api(eddy, answer).url)
    check(result.code == 4 and "another file has this name now, and is kept" in result.err, result)
    with open(files.summary, encoding="utf-8") as file:
        equal(file.read(), "mine\n", result)


@claim
def reader_never_sees_a_part(eddy):
    api = Api(eddy)
    files = Files(eddy)
    over = threading.Event()
    seen, wrong = [], []

    def read():
        while not over.is_set():
            try:
                seen.append(files.end()[0])
            except FileNotFoundError:
                continue
            except (ValueError, AssertionError) as fault:
                wrong.append(fault)
    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(5):
        equal(files.run(api.url).code, 0)
        e2e.wait_until(lambda: seen and seen[-1] == "completed", "the end")
    over.set()
    reader.join()
    equal(wrong, [])


e2e.main()
