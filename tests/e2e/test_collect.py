"""test_collect - `eddy collect`: the outputs of several runs become one, in the order of the requests, and
what is missing, failed, doubled or foreign is named.

EDDY_TEST_FULL=1: a fault at each call that changes a file, instead of at some, and a million ids.
"""
import fcntl
import glob
import gzip
import json
import os
import random
import resource
import signal
import subprocess

import e2e
from batch_api import Api, ids_of, request, requests
from e2e import check, claim, equal
from inputs import compressed

FULL = os.environ.get("EDDY_TEST_FULL") == "1"
STEP = 1 if FULL else 4  # from one fault to the next, in calls
# The library is loaded before that of AddressSanitizer.
LOADED = {"LD_PRELOAD": os.environ.get("EDDY_KILL_AT", ""),
          "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}


def answer(custom_id, status=200, size=0, **more):
    """A line of an output."""
    return json.dumps({"id": "batch_req_1", "custom_id": custom_id, "error": None, **more, "response": {
        "status_code": status, "request_id": "q", "body": {"of": custom_id, "pad": "x" * size}}}) + "\n"


def failure(custom_id, code="request_timeout", **more):
    return json.dumps({"custom_id": custom_id, "response": None, "error": {"code": code, "message": "after 9 s"}, **more}) + "\n"


# What files have that are to be replaced.
OLD, OLD_ERRORS = answer("old"), failure("old")


def shards_of(lines, count):
    """The numbers of the lines of each shard."""
    size, at, shards = sum(map(len, lines)), 0, [[] for _ in range(count)]
    for number, line in enumerate(lines):
        shards[next(i for i in range(count) if i * size // count <= at < (i + 1) * size // count)].append(number)
        at += len(line)
    return shards


def split(eddy, count, shards, without=()):
    """The files of requests and of shards, each shuffled, and all answers in order."""
    dice = random.Random(count)
    lines = [request(i) for i in range(count)]
    answers = [answer(f"r{i}", size=dice.randrange(90)) for i in range(count)]
    for index, numbers in enumerate(shards_of(lines, shards)):
        numbers = [number for number in numbers if number not in without]
        dice.shuffle(numbers)
        eddy.file(f"out.{index}.jsonl", "".join(answers[number] for number in numbers))
    return eddy.file("in.jsonl", "".join(lines)), "".join(line for i, line in enumerate(answers) if i not in without)


def outs(eddy):
    return sorted(glob.glob(eddy.file("out.*.jsonl")))


def content_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def collect(eddy, *args, **options):
    """Collect the outputs into all.jsonl."""
    return eddy.run("collect", *outs(eddy), "--by", eddy.file("in.jsonl"), "-o", eddy.file("all.jsonl"), *args, **options)


# ---- what is complete ----------------------------------------------------------------------------

@claim
def outputs_become_one_in_the_order_of_the_requests(eddy):
    path, wanted = split(eddy, 300, 7)
    to = eddy.file("all.jsonl")
    said = "eddy collect: complete: all 300 requests have an answer\n"
    for args in (outs(eddy), outs(eddy) + ["--shards", "7"], [eddy.file("out.%i.jsonl"), "--shards", "7"]):
        result = eddy.run("collect", *args, "--by", path, "-o", to)
        equal((result.code, result.out, result.err), (0, "", said), args)
        check(content_of(to) == wanted, "wrong order", args)
        os.remove(to)
    result = eddy.run("collect", *outs(eddy), "--by", path)
    equal((result.code, result.out == wanted, result.err), (0, True, said), result)
    equal(len(os.listdir(eddy.folder)), 8)


@claim
def runs_of_shards_become_one_output(eddy):
    """Whole programs: eddy batch, one for each shard."""
    if "--shard" not in eddy.run("batch", "--help").out:
        raise e2e.Skip("this program has no shards")
    api = Api(eddy, lambda call: (404, {}, {}) if call.id == "r9" else (200, {}, {"is": call.id}))
    path = eddy.file("in.jsonl", requests(40))
    batch = ["batch", path, "-o", eddy.file("out.%i.jsonl"), "--base-url", api.url, "--progress", "off", "--shard"]
    for index in range(5):
        equal(eddy.run(*batch, f"{index}/5", "--limit", "6").code in (0, 1), True)
    result = collect(eddy)
    equal(result.code, 1, result)
    commands = [line.split() for line in result.err.splitlines() if line.startswith("  eddy batch ")]
    check(len(commands) == 5 and "10 of 40 requests have no answer, 1 failed" in result.err, result)
    for command in commands:
        equal(command[1:2] + command[-2:], ["batch", "-o", eddy.file("out.%i.jsonl")], result)
        eddy.run(*command[1:], "--base-url", api.url, "--progress", "off")
    result = collect(eddy, "--accept-failed")
    equal((result.code, result.err), (0, "eddy collect: complete: 39 of 40 requests have an answer, and the failures of 1 are "
                                         f"accepted\nthe failures are in {eddy.file('all.errors.jsonl')}\n"), result)
    equal(ids_of(eddy.file("all.jsonl")), [f"r{i}" for i in range(40) if i != 9])
    equal(ids_of(eddy.file("all.errors.jsonl")), ["r9"])
    equal(sorted(call.id for call in api.calls if call.id != "r9"), sorted(f"r{i}" for i in range(40) if i != 9))


@claim
def compressed_files_and_pipes_are_read_and_written(eddy):
    path, wanted = split(eddy, 60, 3)
    names = outs(eddy)
    with open(names[0], "rb") as file:
        packed = eddy.file("out.0.jsonl.gz", gzip.compress(file.read()))
    with open(names[1], "rb") as file:
        pipe = file.read()
    with open(path, "rb") as file:
        by = eddy.file("in.jsonl.gz", gzip.compress(file.read()))
    to = eddy.file("all.jsonl.gz")
    result = eddy.run("collect", packed, "-", names[2], "--by", by, "-o", to, stdin=pipe)
    equal(result.code, 0, result)
    with gzip.open(to, "rt") as file:
        equal(file.read(), wanted)
    with open(path, "rb") as file:
        result = eddy.run("collect", *names, "--by", "-", stdin=file.read())
    equal((result.code, result.out), (0, wanted), result.err)
    eddy.file("out.1.jsonl", "")
    os.remove(to)  # it has answers that the outputs do not have now
    eddy.file("out.0.errors.jsonl.gz", gzip.compress(failure("r21").encode()))
    result = eddy.run("collect", packed, *names[1:], "--by", by, "-o", to)
    equal(result.code, 1, result)
    with gzip.open(eddy.file("all.errors.jsonl.gz"), "rt") as file:
        equal(file.read(), failure("r21"))
    try:
        eddy.file("out.1.jsonl", compressed("zstd", pipe))
    except FileNotFoundError:
        return
    equal(eddy.run("collect", *names, "--by", path).out, wanted)
    e2e.one_line(eddy.run("collect", eddy.file("torn.gz", gzip.compress(pipe)[:-9]), "--by", path), 3, "torn.gz: the compressed data")


@claim
def rows_of_csv_and_of_bundles_are_collected(eddy):
    api = Api(eddy, lambda call: (200, {}, {"data": [{"index": i, "of": text} for i, text in enumerate(
        call.body["input"] if isinstance(call.body["input"], list) else [call.body["input"]])]}))
    rows = [f"k{i},text {i}\n" for i in range(10)]
    for index in range(2):
        part = eddy.file(f"part.{index}.csv", "key,text\n" + "".join(rows[index * 5:index * 5 + 5]))
        result = eddy.run("batch", part, "-o", eddy.file(f"out.{index}.jsonl"), "--url", api.url + "/v1/embeddings", "--body",
                          '{"input":"{{text}}"}', "--id-column", "key", "--rows-per-request", "3")
        equal(result.code, 0, result)
    check(any(isinstance(call.body["input"], list) for call in api.calls), "no bundle")
    path = eddy.file("all.csv", "key,text\n" + "".join(rows))
    result = eddy.run("collect", *outs(eddy), "--by", path, "--id-column", "key")
    equal([json.loads(line)["custom_id"] for line in result.out.splitlines()], [f"k{i}" for i in range(10)], result.err)
    equal(result.code, 0, result)
    e2e.one_line(eddy.run("collect", *outs(eddy), "--by", path, "--shards", "2"), 2, "--shards", "is CSV")
    result = eddy.run("collect", *outs(eddy)[1:], "--by", path, "--id-column", "key")
    check(result.code == 1 and "no answer: rows 2-6 of " in result.err and "such as k0, k1," in result.err, result)
    check("--shards" not in eddy.run("collect", *outs(eddy)[1:], eddy.file("none.jsonl", ""), "--by", path, "--id-column", "key").err)
    result = eddy.run("collect", *outs(eddy), "--by", path)
    check(result.code == 3 and "give --id-column NAME" in result.err, result)


@claim
def lines_without_ids_have_their_numbers(eddy):
    path = eddy.file("in.jsonl", '{"url":"/a","body":{}}\n\n{"custom_id":"x","url":"/a","body":{}}\n{oops\n')
    out = eddy.file("out.jsonl", answer("x") + answer("line-1"))
    eddy.file("out.errors.jsonl", failure("line-4", "bad_line"))
    result = eddy.run("collect", out, "--by", path, "-o", eddy.file("all.jsonl"))
    check(result.code == 1 and "0 of" not in result.err and "1 of 3 requests failed" in result.err, result)
    equal(ids_of(eddy.file("all.jsonl")), ["line-1", "x"])
    equal(ids_of(eddy.file("all.errors.jsonl")), ["line-4"])


# ---- what is not complete ------------------------------------------------------------------------

@claim
def missing_requests_are_named_with_their_shards_and_commands(eddy):
    without = {17, 18, 19, 40, 88}
    path, wanted = split(eddy, 100, 8, without)
    shards = [i for i, numbers in enumerate(shards_of([request(i) for i in range(100)], 8)) if without & set(numbers)]
    result = collect(eddy)
    equal((result.code, content_of(eddy.file("all.jsonl")) == wanted), (1, True), result)
    lines = result.err.splitlines()
    equal(lines[0], "eddy collect: not complete: 5 of 100 requests have no answer: run the command of eddy batch again")
    equal(lines[1], f"no answer: lines 18-20, 41, 89 of {path}, such as r17, r18, r19, r40, r88")
    equal(lines[2], f"3 of 8 shards lack answers: {', '.join(map(str, shards))}")
    equal(lines[4:], [f"  eddy batch {path} --shard {i}/8 -o {eddy.file('out.%i.jsonl')}" for i in shards])
    name = eddy.file("out.%i.jsonl")
    equal(eddy.run("collect", name, "--shards", "8", "--by", path).err, result.err)
    equal(eddy.run("collect", *outs(eddy), "--shards", "8", "--by", path).err, result.err)
    # A last shard that is absent: the names do not give the number of all.
    os.remove(eddy.file("out.7.jsonl"))
    os.remove(eddy.file("all.jsonl"))  # it has the answers of that shard
    result = collect(eddy)
    check("give --shards N" in result.err and "  eddy batch " not in result.err, result)
    result = eddy.run("collect", name, "--shards", "8", "--by", path)
    check(f"files that do not exist: {eddy.file('out.7.jsonl')}\n" in result.err and f"{len({*shards, 7})} of 8 shards lack" in result.err, result)
    check(f"--shard 7/8 -o {name}\n" in result.err, result)
    result = collect(eddy, "--shards", "9")
    check("--shards 9: a file of shard " in result.err and "eddy batch " not in result.err.split("again\n")[1], result)


@claim
def names_of_few_of_many_that_are_missing(eddy):
    lines = [request(i) for i in range(400)]
    path = eddy.file("in.jsonl", "".join(lines))
    for index, numbers in enumerate(shards_of(lines, 40)):
        eddy.file(f"out.{index}.jsonl", "".join(answer(f"r{i}") for i in numbers if i % 2))
    result = collect(eddy)
    check(" 200 of 400 requests have no answer" in result.err and " 15, 17, 19 and 190 more ranges of " in result.err, result)
    check(" such as r0, r2, r4, r6, r8, r10, r12, r14, r16, r18, ...\n" in result.err, result)
    check("40 of 40 shards lack answers: 0-39\n" in result.err and "these for the first 10 shards, and likewise for the others:" in result.err, result)
    equal(result.err.count("  eddy batch "), 10)
    with open(path, "rb") as file:
        result = eddy.run("collect", *outs(eddy), "--by", "-", stdin=file.read())
    check(result.code == 1 and "more ranges of -\n" in result.err and "shard" not in result.err, result)


@claim
def failures_go_to_the_errors_file_unless_another_run_has_an_answer(eddy):
    eddy.file("in.jsonl", requests(8))
    eddy.file("out.0.jsonl", answer("r1") + answer("r0", 404))
    eddy.file("out.0.errors.jsonl", failure("r3") + failure("r2", "dns_error") + failure("r4"))
    eddy.file("out.1.jsonl", answer("r7") + answer("r4") + answer("r5") + answer("r6"))
    eddy.file("out.1.errors.jsonl", failure("r2"))
    wanted = answer("r0", 404) + failure("r2") + failure("r3")
    for names in (outs(eddy), [name for name in outs(eddy) if "errors" not in name]):
        result = eddy.run("collect", *names, "--by", eddy.file("in.jsonl"), "-o", eddy.file("all.jsonl"))
        equal(result.code, 1, result)
        check("not complete: 3 of 8 requests failed, 1 of them for good: run" in result.err and "failed: 3 requests, such as r0, r2, r3\n" in result.err, result)
        check(f"the failures are in {eddy.file('all.errors.jsonl')}\n" in result.err and "several" not in result.err, result)
        equal(ids_of(eddy.file("all.jsonl")), ["r1", "r4", "r5", "r6", "r7"])
        equal(content_of(eddy.file("all.errors.jsonl")), wanted)
    result = collect(eddy, "--errors", eddy.file("other"))
    equal(content_of(eddy.file("other")), wanted)
    result = eddy.run("collect", *outs(eddy), "--by", eddy.file("in.jsonl"))
    check(result.code == 1 and "left out; --errors FILE keeps them" in result.err, result)
    # All are answered: the errors file of the last time is removed.
    eddy.file("out.2.jsonl", answer("r0") + answer("r2") + answer("r3"))
    equal(collect(eddy).code, 0)
    check(not os.path.exists(eddy.file("all.errors.jsonl")), "an old errors file is left")


@claim
def failures_for_good_are_to_be_corrected_or_accepted(eddy):
    path, _ = split(eddy, 40, 4, {3, 4, 38})
    bad = lambda i: answer(f"r{i}", x_meta={"final": True}).replace('"status_code": 200', '"status_code": 400').replace(
        '"of"', '"message"')
    eddy.file("out.0.errors.jsonl", bad(3) + bad(4))
    eddy.file("out.3.errors.jsonl", bad(38))
    result = collect(eddy)
    lines = result.err.splitlines()
    equal((result.code, lines[0]), (1, "eddy collect: not complete: 3 of 40 requests failed for good: correct them, or accept "
                                       "them by --accept-failed"), result)
    equal(lines[1:], ["failed: 3 requests, such as r3, r4, r38", "3 failed: HTTP 400, such as r3: r3",
                      f"the failures are in {eddy.file('all.errors.jsonl')}"])
    said = eddy.run("report", eddy.file("all.jsonl"), "--by", path, "--check")
    equal((said.code, said.err.splitlines()[0].replace("report", "collect")), (1, lines[0]))
    # A run helps only for the shard that has another failure.
    eddy.file("out.3.errors.jsonl", bad(38).replace("true", "false").replace("400", "503"))
    lines = collect(eddy).err.splitlines()
    equal(lines[0], "eddy collect: not complete: 3 of 40 requests failed, 2 of them for good: run the command of eddy batch again")
    equal([line for line in lines if "shard" in line],
          ["1 of 4 shards lacks answers: 3", f"  eddy batch {path} --shard 3/4 -o {eddy.file('out.%i.jsonl')}"])


@claim
def accepted_failures_are_complete_as_in_a_run(eddy):
    eddy.file("in.jsonl", requests(3))
    eddy.file("out.0.jsonl", answer("r1"))
    eddy.file("out.0.errors.jsonl", failure("r0", x_meta={"final": True}) + answer("r2", 404))
    equal(collect(eddy).code, 1)
    result = collect(eddy, "--accept-failed")
    check(result.code == 0 and "and the failures of 2 are accepted" in result.err, result)
    equal(ids_of(eddy.file("all.errors.jsonl")), ["r0", "r2"])
    result = collect(eddy, "--accept-failed-ids", eddy.file("ids", "r0\n"))
    check(result.code == 1 and "failed: 1 request: r2\n" in result.err, result)
    eddy.file("out.0.errors.jsonl", failure("r0", x_meta={"final": False}) + answer("r2", 404))
    check("failed: 1 request: r0\n" in collect(eddy, "--accept-failed").err)
    # As in a run: without any answer, the command is likely to be wrong.
    eddy.file("out.0.jsonl", answer("r1", 404))
    os.remove(eddy.file("all.jsonl"))
    equal(collect(eddy, "--accept-failed").code, 1)
    e2e.one_line(collect(eddy, "--accept-failed-ids", eddy.file("none")), 2, "--accept-failed-ids", "none")


@claim
def answers_are_judged_by_the_conditions_of_the_runs(eddy):
    eddy.file("in.jsonl", requests(2))
    eddy.file("out.0.jsonl", answer("r0", size=3) + answer("r1"))
    equal(collect(eddy).code, 0)
    result = collect(eddy, "--ok", 'json("/pad") == ""')
    check(result.code == 1 and "failed: 1 request: r0\n" in result.err, result)
    result = collect(eddy, "--schema", eddy.file("s", '{"type":"object","properties":{"pad":{"maxLength":2}}}'))
    check(result.code == 1 and "failed: 1 request: r0\n" in result.err, result)
    e2e.one_line(collect(eddy, "--ok", "x y"), 2, "--ok")


@claim
def doubled_ids_have_the_last_answer_of_the_last_file(eddy):
    eddy.file("in.jsonl", requests(4))
    eddy.file("out.0.jsonl", answer("r0") + answer("r1", size=1) + answer("r1", size=2) + answer("r2"))
    eddy.file("out.1.jsonl", answer("r0") + answer("r3", size=1) + answer("r2", 404))
    result = collect(eddy)
    equal(result.code, 1, result)
    equal(result.err.splitlines()[0], "eddy collect: not exact: all 4 requests have an answer, but 2 ids have several answers")
    check("2 ids have several answers, such as r1, r0; 1 answer is equal to the one before it; the last one" in result.err, result)
    equal(content_of(eddy.file("all.jsonl")), answer("r0") + answer("r1", size=2) + answer("r2") + answer("r3", size=1))
    eddy.file("out.2.jsonl", answer("r3", size=5) + answer("r1"))
    collect(eddy)
    equal(content_of(eddy.file("all.jsonl")), answer("r0") + answer("r1") + answer("r2") + answer("r3", size=5))
    result = eddy.run("collect", *reversed(outs(eddy)), "--by", eddy.file("in.jsonl"))
    equal(result.out, answer("r0") + answer("r1", size=2) + answer("r2") + answer("r3", size=1))


@claim
def foreign_and_repeated_ids_are_named_and_left_out(eddy):
    path = eddy.file("in.jsonl", requests(3) + request(1))
    eddy.file("out.0.jsonl", answer("r0") + answer("zz") + answer("r1") + failure("y\u001b"))
    eddy.file("out.1.jsonl", answer("r2"))
    result = collect(eddy)
    equal((result.code, ids_of(eddy.file("all.jsonl"))), (1, ["r0", "r1", "r2"]), result)
    check(f"2 lines have an id that {path} does not have, such as zz, y?; left out\n" in result.err, result)
    check(f"1 line of {path} has the id of an earlier one: 4; ids must differ" in result.err, result)
    equal(result.err.splitlines()[0], "eddy collect: not exact: all 3 requests have an answer, but 2 lines have other ids, "
                                      "1 request has the id of an earlier one")
    equal(ids_of(eddy.file("all.jsonl")), ["r0", "r1", "r2"])


@claim
def id_that_is_that_of_a_line_without_one_is_repeated(eddy):
    bare = '{"url":"/a","body":{}}\n'
    path = eddy.file("in.jsonl", bare + request("x").replace("rx", "line-4") + bare + bare + request("y").replace("ry", "line-1"))
    out = eddy.file("out.jsonl", answer("line-4") + answer("line-3") + answer("line-1"))
    result = eddy.run("collect", out, "--by", path)
    equal((result.code, result.out), (1, answer("line-1") + answer("line-4") + answer("line-3")), result)
    equal(result.err.splitlines(), ["eddy collect: not exact: all 3 requests have an answer, but 2 requests have ids of earlier ones",
                                    f"2 lines of {path} have the id of an earlier one: 4-5; ids must differ, "
                                    "and an id has one answer"])


@claim
def shards_are_not_mentioned_if_nothing_lacks_or_the_places_of_lines_are_not_known(eddy):
    path = eddy.file("in.jsonl", requests(40))
    with open(path, "rb") as file:
        content = file.read()
    packed = eddy.file("in.gz", gzip.compress(content))
    size = len(content)
    for index, numbers in enumerate(shards_of([request(i) for i in range(40)], 4)):
        eddy.file(f"out.{index}.jsonl", "".join(
            answer(f"r{i}", x_meta={"shard": f"{index}/4 of {size} bytes"}) for i in numbers))
    said = "eddy collect: complete: all 40 requests have an answer\n"
    for by in (path, packed, "-"):
        result = eddy.run("collect", *outs(eddy), "--by", by, stdin=content if by == "-" else None)
        equal((result.code, result.err), (0, said), by)
    os.remove(outs(eddy)[2])
    check("1 of 4 shards lacks answers: 2\n" in collect(eddy).err)
    for by in (packed, "-"):
        result = eddy.run("collect", *outs(eddy), "--by", by, stdin=content if by == "-" else None)
        equal((result.code, len(result.err.splitlines())), (1, 2), result)
        check("no answer: lines" in result.err and "shard" not in result.err and "(null)" not in result.err, result)


@claim
def part_of_a_line_is_not_an_answer(eddy):
    eddy.file("in.jsonl", requests(3))
    eddy.file("out.0.jsonl", answer("r0") + "rubbish\n\n" + answer("r1")[:30])
    eddy.file("out.1.jsonl", answer("r2")[:-1])  # whole, but for its line feed
    result = collect(eddy)
    equal((result.code, ids_of(eddy.file("all.jsonl"))), (1, ["r0", "r2"]), result)
    check(f"files that end with a part of a line, which is left out: {eddy.file('out.0.jsonl')} (30 bytes)\n" in result.err, result)
    check(f"1 line is not an answer, and is left out: line 2 of {eddy.file('out.0.jsonl')}\n" in result.err, result)
    equal(content_of(eddy.file("all.jsonl"))[-1], "\n")


@claim
def file_to_which_a_run_writes_is_named(eddy):
    eddy.file("in.jsonl", requests(2))
    eddy.file("out.0.jsonl", answer("r0"))
    path = eddy.file("out.1.jsonl", "")
    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        result = collect(eddy)
        check(result.code == 1 and f"files to which a run still writes; collect again after its end: {path}\n" in result.err, result)
    check("a run still" not in collect(eddy).err)


@claim
def shards_to_which_runs_write_have_no_command(eddy):
    path, _ = split(eddy, 40, 4, {3, 4, 38})
    eddy.file("out.0.errors.jsonl", failure("r3"))
    eddy.file("out.3.errors.jsonl", "")
    held = [open(eddy.file(f"out.{name}.jsonl"), "rb") for name in ("0", "0.errors", "3", "3.errors")]
    try:
        for file in held[:2]:
            fcntl.flock(file, fcntl.LOCK_EX)
        lines = collect(eddy).err.splitlines()
        check(lines[0].startswith("eddy collect: a run is active: "), lines)
        check(any(line.endswith(f"again after its end: {held[0].name}") for line in lines), lines)
        equal([line for line in lines if "shard" in line][:2],
              ["2 of 4 shards lack answers: 0, 3", "runs still write to the outputs of shards 0"])
        equal([line for line in lines if "eddy batch" in line],
              [f"  eddy batch {path} --shard 3/4 -o {eddy.file('out.%i.jsonl')}"])
        for file in held[2:]:
            fcntl.flock(file, fcntl.LOCK_EX)
        said = collect(eddy).err
        check("outputs of shards 0, 3\n" in said and "eddy batch" not in said and "run, " not in said, said)
    finally:
        for file in held:
            file.close()


@claim
def number_of_shards_that_the_lines_contradict_is_reported(eddy):
    path = eddy.file("in.jsonl", requests(4))
    size = os.path.getsize(path)
    for i in range(2):
        meta = {"x_meta": {"shard": f"{i}/2 of {size} bytes"}}
        eddy.file(f"out.{i}.jsonl", answer(f"r{2 * i}", **meta) + answer(f"r{2 * i + 1}", **meta))
    said = "--shards 3: the runs had --shard I/2; give --shards 2\n"
    result = eddy.run("collect", eddy.file("out.%i.jsonl"), "--shards", "3", "--by", path)
    check(result.code == 0 and result.err.endswith(said), result)
    result = eddy.run("collect", eddy.file("out.%i.jsonl"), "--shards", "2", "--by", path)
    check(result.code == 0 and "--shard" not in result.err, result)


@claim
def file_that_is_named_twice_is_read_once(eddy):
    eddy.file("in.jsonl", requests(2))
    path = eddy.file("out.0.jsonl", answer("r0") + answer("r1"))
    os.link(path, eddy.file("out.1.jsonl"))
    os.symlink("out.0.jsonl", eddy.file("out.2.jsonl"))
    result = eddy.run("collect", path, path, eddy.file("out.1.jsonl"), eddy.file("out.2.jsonl"), "--by", eddy.file("in.jsonl"))
    equal((result.code, result.out), (0, answer("r0") + answer("r1")), result)
    check(f"files that are named twice, and read once: {path}, {eddy.file('out.1.jsonl')}, {eddy.file('out.2.jsonl')}\n" in result.err, result)


@claim
def files_that_do_not_belong_together_replace_nothing(eddy):
    path, _ = split(eddy, 10, 2)
    to = eddy.file("all.jsonl", OLD)
    errors = eddy.file("all.errors.jsonl", OLD_ERRORS)
    first = outs(eddy)[0]
    for args, code, words in (
            ([], 2, ["name the outputs"]), (["--by", path], 2, ["name the outputs"]), ([first], 2, ["--by IN is missing"]),
            ([first, path, "--by", path], 2, ["in.jsonl: this is the file of requests"]),
            ([first, to, "--by", path], 2, ["all.jsonl: this file is also that of -o ALL"]),
            ([first, errors, "--by", path], 2, ["all.errors.jsonl: this is the errors file of ALL"]),
            ([first, "--by", path, "--errors", to], 2, ["--errors", "also the file of -o"]),
            ([first, "--by", path, "--errors", "-"], 2, ["--errors -"]),
            ([first, "--by", path, "--errors", path], 2, ["--errors", "is the file of requests"]),
            ([first, "--by", path, "--shards", "0"], 2, ["--shards 0"]),
            ([first, "--by", path, "--memory", "1k"], 2, ["--memory 1k"]),
            ([first, "--by", path, "--id-column", "x"], 2, ["--id-column is for CSV"]),
            ([eddy.file("out.%i.jsonl"), "--by", path], 2, ["%i is the number of a shard: give --shards N"]),
            (["-", "--by", "-"], 2, ["read only once"]),
            ([first, "--by", eddy.file("in.gz", gzip.compress(requests(10).encode())), "--shards", "2"], 2, ["--shards", "is compressed"]),
            ([first, eddy.file("none.*.jsonl"), "--by", path], 3, ["none.*.jsonl: No such file", "no file has a name"]),
            ([eddy.file("none.%i.jsonl"), "--shards", "3", "--by", path], 3, ["none of these files exists"]),
            ([first, "--by", eddy.file("none")], 3, ["No such file"]),
            ([first, eddy.folder, "--by", path], 3, ["Is a directory"]),
            ([first, "--by", eddy.file("empty", "")], 3, ["has no request"]),
            ([eddy.file("notes", "call Bob\n"), "--by", path], 3, ["none of its lines is an answer"]),
            ([eddy.file("zz", answer("zz")), "--by", path], 3, ["none of the ids is in "])):
        result = eddy.run("collect", *args, "-o", to)
        check(result.code == code and all(word in result.err for word in words), args, result)
        equal((content_of(to), content_of(errors)), (OLD, OLD_ERRORS), args)
    e2e.one_line(eddy.run("collect", first, "--by", path, "-o", eddy.file("all.csv")), 2, "name it .jsonl")
    e2e.one_line(eddy.run("collect", first, "--by", path, "-o", path), 2, "this is the file of requests")
    e2e.one_line(eddy.run("collect", first, "--by", path, "-o", eddy.folder), 2, "not a regular file")
    with open(to, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        e2e.one_line(eddy.run("collect", first, "--by", path, "-o", to), 6, "another eddy is writing")
    with open(errors, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        e2e.one_line(eddy.run("collect", first, "--by", path, "-o", to), 6, "--errors", "another eddy is writing")
    equal(content_of(to), OLD)
    equal(glob.glob(eddy.file("*.new-*")), [])


@claim
def files_that_hold_more_than_the_outputs_are_not_replaced(eddy):
    path, wanted = split(eddy, 10, 2)
    for name, text, words in (
            ("all.jsonl", answer("r1") + answer("old"), None), ("all.jsonl", answer("r1") + answer("r9"), "has 1 answer that"),
            ("all.jsonl", "call Bob\n", "lines that are not answers"), ("all.errors.jsonl", "call Bob\n", "that are not failures"),
            ("all.errors.jsonl", failure("r1"), None)):
        eddy.file("all.jsonl", "")
        eddy.file("all.errors.jsonl", "")
        to = eddy.file(name, text)
        result = eddy.run("collect", outs(eddy)[0], "--by", path, "-o", eddy.file("all.jsonl"))
        if words:
            e2e.one_line(result, 2, f"{to}: this file has", words, "would be replaced")
            equal(content_of(to), text)
        else:
            equal(result.code, 1, name, text, result)
            check(wanted.startswith(content_of(eddy.file("all.jsonl"))), result)
    eddy.file("all.jsonl", answer("r9"))
    equal(collect(eddy).code, 0)
    equal(content_of(eddy.file("all.jsonl")), wanted)


@claim
def rows_that_skip_empty_leaves_out_are_not_missing(eddy):
    path = eddy.file("in.csv", "custom_id,text\na,x\nb,\nc, \nd,y\n")
    eddy.file("out.0.jsonl", answer("a") + answer("c"))
    eddy.file("out.1.jsonl", answer("d"))
    args = ["--by", path, "--skip-empty", "--body", '{"t":"{{text}}"}', "--url", "http://h/"]
    result = eddy.run("collect", *outs(eddy), *args)
    equal((result.code, result.out), (0, answer("a") + answer("c") + answer("d")), result)
    result = eddy.run("collect", *outs(eddy), "--by", path)
    check(result.code == 1 and "no answer: row 3 of " in result.err, result)


@claim
def table_without_rows_is_complete(eddy):
    skip = ["--skip-empty", "--body", '{"t":"{{text}}"}', "--url", "http://h/"]
    for content, args, words in (("custom_id,text\n", [], "the file of requests has no rows"),
                                 ("custom_id,text\na, \n", skip, "all requests are empty")):
        args = ["--by", eddy.file("in.csv", content), "-o", eddy.file("all.jsonl", OLD), *args]
        eddy.file("out.0.jsonl", "")
        result = eddy.run("collect", *outs(eddy), *args)
        equal((result.code, result.err, content_of(eddy.file("all.jsonl"))), (0, f"eddy collect: complete: {words}\n", ""), result)
        # Answers of another file replace nothing.
        eddy.file("all.jsonl", OLD)
        eddy.file("out.0.jsonl", answer("b"))
        result = eddy.run("collect", *outs(eddy), *args)
        equal((result.code, content_of(eddy.file("all.jsonl"))), (3, OLD), result)


# ---- ends of the command -------------------------------------------------------------------------

@claim
def end_by_a_signal_leaves_all_files_as_they_were(eddy):
    path, _ = split(eddy, 10, 2)
    to, errors = eddy.file("all.jsonl", OLD), eddy.file("all.errors.jsonl", OLD_ERRORS)
    for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        child = eddy.start("collect", "-", *outs(eddy), "--by", path, "-o", to, stdin=subprocess.PIPE)
        e2e.wait_until(lambda: len(glob.glob(eddy.file("*.new-*"))) == 2, "the new files")
        child.send_signal(signo)
        equal(child.wait(e2e.SOON), -signo if signo == signal.SIGKILL else 128 + signo)
        equal((content_of(to), content_of(errors)), (OLD, OLD_ERRORS))
        if signo != signal.SIGKILL:
            equal(glob.glob(eddy.file("*.new-*")), [])


@claim
def kill_or_failure_at_each_change_leaves_whole_files(eddy):
    if not LOADED["LD_PRELOAD"]:
        raise e2e.Skip("EDDY_KILL_AT names no library")
    path, wanted = split(eddy, 1200, 2, {3})
    eddy.file("out.1.errors.jsonl", failure("r3"))
    to, errors = eddy.file("all.jsonl"), eddy.file("all.errors.jsonl")
    ends = set()
    for first, how in enumerate(({"KILL_HOW": "before"}, {"KILL_HOW": "after"}, {"KILL_HOW": "torn"}, {"KILL_ERRNO": "28"})):
        for at in range(1 + first % STEP, 100, STEP):
            eddy.file("all.jsonl", OLD)
            eddy.file("all.errors.jsonl", OLD_ERRORS)
            result = collect(eddy, "--memory", "300k", env={**os.environ, **LOADED, "KILL_AT": str(at), **how})
            got = content_of(to), content_of(errors)
            check(got[0] in (OLD, wanted) and got[1] in (OLD_ERRORS, failure("r3")), how, at, result)
            ends.add(tuple(text in (OLD, OLD_ERRORS) for text in got))
            if result.code == 1:  # it came to its end
                equal(got, (wanted, failure("r3")), how, at)
                break
            check(result.code in (4, -9), how, at, result)
            if result.code == 4:
                check("No space" in result.err and glob.glob(eddy.file("*.new-*")) == [], at, result)
            for name in glob.glob(eddy.file("*.new-*")):
                os.remove(name)
        else:
            raise AssertionError("no run came to its end")
    equal(ends, {(True, True), (False, True), (False, False)})


@claim
def full_disk_and_closed_pipe_end_cleanly(eddy):
    path, wanted = split(eddy, 300, 2)
    to, errors = eddy.file("all.jsonl", OLD), eddy.file("all.errors.jsonl", OLD_ERRORS)
    with open("/dev/full", "wb") as full:
        result = eddy.run("collect", *outs(eddy), "--by", path, stdout=full)
    check(result.code == 4 and "No space" in result.err, result)
    result = collect(eddy, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)))
    check(result.code == 4 and "all.jsonl: " in result.err, result)
    equal((content_of(to), content_of(errors), glob.glob(eddy.file("*.new-*"))), (OLD, OLD_ERRORS, []))
    result = eddy.run("collect", *outs(eddy), "--by", path, env={**os.environ, "TMPDIR": "/nowhere"})
    equal((result.code, result.out), (0, wanted), result)
    reader, writer = os.pipe()
    os.close(reader)
    eddy.file("out.1.jsonl", "")
    try:
        result = eddy.run("collect", *outs(eddy), "--by", path, stdout=writer)
        check(result.code == 1 and "requests have no answer" in result.err, result)
    finally:
        os.close(writer)


@claim
def lines_larger_than_the_memory_use_a_temporary_file(eddy):
    dice = random.Random(5)
    count = 4000
    eddy.file("in.jsonl", requests(count))
    lines = [answer(f"r{i}", size=400000 if i % 1000 == 7 else dice.randrange(1000)) for i in range(count)]
    order = list(range(count))
    dice.shuffle(order)
    for index in range(3):
        eddy.file(f"out.{index}.jsonl", "".join(failure(f"r{i}") for i in order[::50]) +
                  "".join(lines[i] for i in order[index::3]))
    result = collect(eddy, "--memory", "300k")
    equal(result.code, 0, result)
    check(content_of(eddy.file("all.jsonl")) == "".join(lines), "wrong lines")
    result = eddy.run("collect", *outs(eddy), "--by", eddy.file("in.jsonl"), "--memory", "300k",
                      env={**os.environ, "TMPDIR": "/nowhere"})
    check(result.code == 4 and "/nowhere" in result.err and result.out == "", result)


@claim
def thousands_of_files_are_read_with_few_descriptors(eddy):
    count = 4200
    path = eddy.file("in.jsonl", requests(count))
    lines = [answer(f"r{i}") for i in range(count)]
    for i, line in enumerate(lines):
        eddy.file(f"out.{i}.jsonl", line)
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
    for args in ([eddy.file("out.%i.jsonl"), "--shards", str(count)], outs(eddy)):
        result = eddy.run("collect", *args, "--by", path, preexec_fn=limit)
        check(result.code == 0 and result.out == "".join(lines), args[:2], result.err)


@claim
def memory_is_that_of_the_option_and_of_the_ids(eddy):
    if "thread" in os.environ.get("EDDY_TEST_SANITIZE", ""):
        raise e2e.Skip("ThreadSanitizer keeps a history of its own, which grows")
    count, size = (1000000, 200) if FULL else (50000, 400)
    environment = {**os.environ, "TMPDIR": eddy.folder, "ASAN_OPTIONS": ":".join(filter(None, [
        os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=0:thread_local_quarantine_size_kb=0"]))}

    def peak_of(ids):
        """The peak of resident memory, in bytes."""
        dice = random.Random(1)
        with open(eddy.file("in.jsonl"), "w", encoding="ascii") as file:
            file.writelines(f'{{"custom_id":"request-{i}","url":"/a","body":{{}}}}\n' for i in range(ids))
        order = list(range(ids))
        dice.shuffle(order)
        for index in range(4):
            with open(eddy.file(f"out.{index}.jsonl"), "w", encoding="ascii") as file:
                file.writelines(answer(f"request-{i}", size=size) for i in order[index::4])
        child = eddy.start("collect", *outs(eddy), "--by", eddy.file("in.jsonl"), "-o", eddy.file("all.jsonl"), "--memory", "1M",
                           env=environment, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        equal(child.returncode, 0)
        return usage.ru_maxrss * 1024

    # Twice the ids while their array grows, and less than a tenth of the lines.
    grown = peak_of(count) - peak_of(10)
    check(grown < 45 * count + (6 << 20), f"{grown >> 20} MiB for {count} ids")


if __name__ == "__main__":
    e2e.main()
