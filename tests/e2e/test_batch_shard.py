"""test_batch_shard - `eddy batch --shard`: processes side by side at the parts of one file, of which each
line is in one part; what they refuse, and what they say.
"""
import gzip
import json
import os
import signal
import subprocess
import threading

import e2e
from batch_api import Api, ids_of, lines_of, request, requests
from e2e import check, claim, equal

QUIET = ("--progress", "off", "--ramp", "0s")
SLURM = {"ID": "12", "MIN": "10", "MAX": "16", "STEP": "2", "COUNT": "4"}


def shard(eddy, path, which, *more, **options):
    return eddy.run("batch", path, "--shard", which, "-o", eddy.file("out.%i.jsonl"), *QUIET, *more, **options)


def environment(**variables):
    names = ("SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX")
    return {**{name: value for name, value in os.environ.items() if name not in names}, **variables}


def slurm(**changes):
    return environment(**{f"SLURM_ARRAY_TASK_{name}": value for name, value in {**SLURM, **changes}.items()
                          if value is not None})


def union_of(eddy, count):
    return [custom_id for i in range(count) for custom_id in ids_of(eddy.file(f"out.{i}.jsonl"))]


@claim
def shards_that_are_killed_and_begin_again_have_each_id_once(eddy):
    count, children, killed, lock = 7, {}, set(), threading.Lock()
    seen = [0] * count

    def answer(call):
        i = int(call.headers["x-shard"])
        with lock:
            seen[i] += 1
            kills = i % 2 == 0 and seen[i] == 5 + 3 * i and i not in killed
            if kills:
                killed.add(i)
        if kills:
            started.wait()
            children[i].kill()
            children[i].wait()
        return 200, {}, {}

    api = Api(eddy, answer)
    path, started = eddy.file("in.jsonl", requests(500)), threading.Event()
    words = {i: ("batch", path, "--shard", f"{i}/{count}", "-o", eddy.file("out.%i.jsonl"), "--base-url", api.url,
                 "-c", "4", "-H", f"X-Shard: {i}", *QUIET) for i in range(count)}
    for i in range(count):
        children[i] = eddy.start(*words[i], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started.set()
    codes = {i: child.wait(timeout=e2e.LIMIT_S) for i, child in children.items()}
    equal(codes, {i: -9 if i % 2 == 0 else 0 for i in range(count)})
    for i in sorted(killed):
        result = eddy.run(*words[i])
        equal(result.code, 0, result)
    equal(sorted(union_of(eddy, count)), sorted(f"r{i}" for i in range(500)))
    # Only what was in flight when a shard was killed is sent twice.
    check(len(api.calls) <= 500 + 4 * len(killed), len(api.calls))


def hostile():
    """Files whose lines have ids r0, r1 ..., and odd ends, sizes and blanks."""
    lines = [request(i).encode() for i in range(90)]
    long = json.dumps({"custom_id": "r90", "url": "/v1/echo", "body": {"id": "r90", "x": "y" * 300000}}).encode()
    return {
        "no final line feed": b"".join(lines)[:-1],
        "crlf and a mark": b"\xef\xbb\xbf" + b"".join(line.replace(b"\n", b"\r\n") for line in lines),
        "blank lines": b"\n\r\n" * 40 + b"\n\n".join(lines) + b"\n" * 300,
        "a long line": b"".join(lines[:3]) + long + b"\n" + b"".join(lines[3:]),
        "a long line at the end": b"".join(lines) + long,
        "fewer lines than shards": b"".join(lines[:3]),
    }


@claim
def all_shards_together_have_each_line_of_odd_files_once(eddy):
    api = Api(eddy)
    for name, data in hostile().items():
        for count in (1, 7):
            path = eddy.file("in.jsonl", data)
            for i in range(count):
                with open(eddy.file(f"out.{i}.jsonl"), "wb"):
                    pass
                result = shard(eddy, path, f"{i}/{count}", "--base-url", api.url, "--ordered")
                equal(result.code, 0, name, i, result)
            expected = [json.loads(line)["custom_id"] for line in data.decode("utf-8-sig").split("\n") if line.strip()]
            equal(union_of(eddy, count), expected, name, count)
            for i in range(count):
                os.unlink(eddy.file(f"out.{i}.jsonl"))


@claim
def sixty_four_shards_have_each_line_once_and_some_have_none(eddy):
    api = Api(eddy)
    path = eddy.file("in.jsonl", hostile()["a long line"])
    empty = 0
    for i in range(64):
        result = shard(eddy, path, f"{i}/64", "--base-url", api.url)
        equal(result.code, 0, result)
        if not ids_of(eddy.file(f"out.{i}.jsonl")):
            check(f"shard {i}/64 has no request" in result.err, result)
            check(os.path.exists(eddy.file(f"out.{i}.jsonl")), i)
            if empty == 0:
                result = eddy.run("check", path, "--shard", f"{i}/64")
                check(result.code == 0 and f"shard {i}/64 has no request" in result.err, result)
            empty += 1
    check(empty > 30, empty)
    equal(sorted(union_of(eddy, 64)), sorted(f"r{i}" for i in range(91)))


@claim
def if_the_size_is_a_multiple_shards_are_those_of_split(eddy):
    api, count = Api(eddy), 5
    data = requests(123)
    data += " " * (-len(data) % count)  # a last line without a request
    path = eddy.file("in.jsonl", data)
    for i in range(count):
        part = subprocess.run(["split", "-n", f"l/{i + 1}/{count}", path], stdout=subprocess.PIPE, check=True).stdout
        result = shard(eddy, path, f"{i}/{count}", "--base-url", api.url, "--ordered")
        equal(result.code, 0, result)
        equal(ids_of(eddy.file(f"out.{i}.jsonl")),
              [json.loads(line)["custom_id"] for line in part.splitlines() if line.strip()])


@claim
def each_shard_has_its_own_errors_file_and_is_retried_alone(eddy):
    bad = {"r3", "r50"}
    api = Api(eddy, lambda call: (400 if call.id in bad else 200, {}, {}))
    path = eddy.file("in.jsonl", requests(60))
    for i in range(3):
        result = shard(eddy, path, f"{i}/3", "--base-url", api.url)
        equal(result.code, 0 if i == 1 else 1, result)
    equal(ids_of(eddy.file("out.0.errors.jsonl")), ["r3"])
    equal(ids_of(eddy.file("out.2.errors.jsonl")), ["r50"])
    check(not os.path.exists(eddy.file("out.1.errors.jsonl")))
    bad.clear()
    sent = len(api.calls)
    for i in (0, 2):
        result = eddy.run("retry", path, "--shard", f"{i}/3", "-o", eddy.file("out.%i.jsonl"), "--base-url", api.url,
                          *QUIET)
        equal(result.code, 0, result)
    equal(len(api.calls), sent + 2)
    equal(sorted(union_of(eddy, 3)), sorted(f"r{i}" for i in range(60)))


@claim
def an_input_whose_size_has_changed_is_refused_by_each_shard(eddy):
    api = Api(eddy)
    path = eddy.file("in.jsonl", requests(60))
    for i in range(3):
        equal(shard(eddy, path, f"{i}/3", "--base-url", api.url).code, 0)
    before = [open(eddy.file(f"out.{i}.jsonl"), "rb").read() for i in range(3)]
    sent = len(api.calls)
    for which in ("0/3", "1/3", "2/3"):
        eddy.file("in.jsonl", requests(70))
        result = shard(eddy, path, which, "--base-url", api.url)
        equal(result.code, 3, result)
        check("has answers of shard" in result.err and f"nothing was sent: put {path} back" in result.err, result)
    eddy.file("in.jsonl", requests(60))
    for which in ("0/2", "1/4"):  # another number of shards
        result = shard(eddy, path, which, "--base-url", api.url)
        equal(result.code, 3, result)
        check(f"nothing was sent: give --shard {which[0]}/3 for this output" in result.err and "back" not in result.err, result)
    for i in range(3):
        equal(shard(eddy, path, f"{i}/3", "--base-url", api.url).code, 0)
    equal(len(api.calls), sent)
    equal([open(eddy.file(f"out.{i}.jsonl"), "rb").read() for i in range(3)], before)


@claim
def answers_without_a_shard_are_known_by_their_ids(eddy):
    api = Api(eddy)
    path = eddy.file("in.jsonl", requests(60))
    equal(shard(eddy, path, "1/3", "--base-url", api.url, "--no-meta").code, 0)
    check("shard" not in open(eddy.file("out.1.jsonl")).read())
    equal(shard(eddy, path, "1/3", "--base-url", api.url).code, 0)
    sent = len(api.calls)
    result = shard(eddy, path, "1/4", "--base-url", api.url)
    equal((result.code, len(api.calls)), (3, sent), result)
    check("answers to ids that shard 1/4" in result.err, result)


def run_command(text, begin):
    """Run the command that a message ends with."""
    subprocess.run(text[text.index(begin):].splitlines()[0].replace(" (see eddy batch --help)", ""), shell=True, check=True)


@claim
def lines_without_an_id_are_refused_with_their_number(eddy):
    lines = [*requests(40).splitlines(), '{"url":"/v1/echo","body":{}}', *request(40).splitlines(), "https://h/x?a&b",
             "", ' { "custom_id" : null, "url":"/","body":{"n":12345678901234567890}}', '{"body":{"t":"\\"custom_id\\":\\"x\\""},"url":"/"}',
             '{"custom_id":5,"url":"/"}', '\t{"url":"/","body":{"custom_id":null}}', "{}", '{"url":"/","body":{"n":1.00000000000000000001}}',
             '{"url":"/","body":{"m":{"custom_id": "inner"}}}', '{"custom_id":"","url":"/"}', "{bad", "# h", '{"custom_id"\t:"x","url":"/"}',
             "https://h/crlf\r"]
    path = eddy.file("in put.jsonl", "\n".join(lines) + "\n")
    result = shard(eddy, path, "2/3", "--base-url", "http://127.0.0.1:1")
    equal((result.code, os.path.exists(eddy.file("out.2.jsonl"))), (3, False), result)
    eddy.file("out.2.jsonl", "")  # an output that was there before stays
    equal(shard(eddy, path, "2/3", "--base-url", "http://127.0.0.1:1").code, 3)
    check(os.path.exists(eddy.file("out.2.jsonl")))
    check("line 41 has no custom_id, and others lack it too" in result.err and "python3" in result.err, result)
    # The command in the message makes ids where they are not, in another file.
    run_command(result.err, "python3 ")
    with open(path, encoding="utf-8", newline="\n") as file:
        equal(file.read().split("\n"), [*lines, ""])
    with open(eddy.file("in put.ids.jsonl"), encoding="utf-8", newline="\n") as file:
        made = file.read().split("\n")
    # These stay as they are, and others get an id before what they have.
    kept = [*range(40), 41, 43, 46, 52, 53, 54]
    equal([made[i] for i in kept], [lines[i] for i in kept])
    equal([made[i] for i in (40, 45, 49, 50)],
          [f'{{"custom_id": "line-{i + 1}", ' + lines[i][1:] for i in (40, 45, 49, 50)])
    equal([json.loads(made[i]) for i in (42, 44, 47, 48, 51, 55)], [
        {"custom_id": "line-43", "url": "https://h/x?a&b"}, {"custom_id": "line-45", "url": "/", "body": {"n": 12345678901234567890}},
        {"custom_id": "line-48", "url": "/", "body": {"custom_id": None}}, {"custom_id": "line-49"},
        {"custom_id": "line-52", "url": "/"}, {"custom_id": "line-56", "url": "https://h/crlf"}])
    equal(shard(eddy, path, "0/12", "--base-url", Api(eddy).url).code, 0)


@claim
def a_line_that_cannot_be_sent_has_its_number_in_the_whole_file(eddy):
    api = Api(eddy)
    lines = requests(60).splitlines(keepends=True)
    right = lines[50]
    lines[50] = "x" * (len(right) - 1) + "\n"
    path = eddy.file("in.jsonl", "".join(lines))
    result = shard(eddy, path, "2/3", "--base-url", api.url)
    equal(result.code, 1, result)
    equal(ids_of(eddy.file("out.2.errors.jsonl")), ["line-51"])
    lines[50] = right  # of the same size, so that the shards stay
    eddy.file("in.jsonl", "".join(lines))
    result = shard(eddy, path, "2/3", "--base-url", api.url)
    equal(result.code, 0, result)
    check(not os.path.exists(eddy.file("out.2.errors.jsonl")))
    equal(ids_of(eddy.file("out.2.jsonl"))[-1], "r50")


@claim
def commands_that_make_another_input_leave_the_input(eddy):
    content = requests(4)
    for name, data, code, begin, made in (
            ("in.jsonl.gz", gzip.compress(content.encode()), 3, "gzip -dc", "in.plain.jsonl"),
            ("requests.jsonl", gzip.compress(content.encode()), 3, "gzip -dc", "requests.plain.jsonl"),
            ("requests.csv", b"a,b\n1,2\n3,4\n", 2, "python3 -c", "requests.lines.jsonl")):
        path = eddy.file(name, data)
        result = eddy.run("batch", path, "--shard", "0/1", "-o", eddy.file("out.%i.jsonl"), "--base-url", "http://127.0.0.1:1")
        equal(result.code, code, result)
        run_command(result.err, begin)
        with open(path, "rb") as file:
            equal(file.read(), data)
        with open(eddy.file(made), encoding="utf-8") as file:
            lines = file.read()
        equal(lines == content or [json.loads(line)["custom_id"] for line in lines.splitlines()] == ["r1", "r2"], True)


@claim
def a_shard_without_a_request_is_judged_as_the_whole_file(eddy):
    api, bad = Api(eddy), '{"custom_id":"bad"' + " " * 60 + "\n"
    good = requests(9).splitlines(keepends=True)
    file = eddy.file("in.jsonl", "".join(good[:5]) + bad + "".join(good[5:]))
    codes = [shard(eddy, file, f"{i}/20", "--base-url", api.url).code for i in range(20)]
    equal(sorted(codes), [0] * 19 + [1])
    failed = [path for i in range(20) if os.path.exists(path := eddy.file(f"out.{i}.errors.jsonl"))]
    equal([ids_of(path) for path in failed], [["line-6"]])
    equal(sorted(union_of(eddy, 20)), [f"r{i}" for i in range(9)])
    result = eddy.run("collect", eddy.file("out.%i.jsonl"), "--shards", "20", "--by", file, "-o", eddy.file("all.jsonl"))
    check(result.code == 1 and "1 of 10 requests failed" in result.err, result)
    api.calls.clear()
    for content, words in ((bad * 9, "has no line that can be sent"), ("[\n" + "".join(good).replace("\n", ",\n") + "]", "can be sent"),
                           (good[0].replace("/v1/echo", "/v1/echo?x=1") * 9, "give --base-url"), (" \n" * 99, "has no request")):
        for i in (0, 2, 5):
            base = [] if "give" in words else ["--base-url", api.url]
            result = eddy.run("batch", eddy.file("wrong.jsonl", content), "--shard", f"{i}/6", "-o",
                              eddy.file("wrong.%i.jsonl"), *QUIET, *base)
            check(result.code == 3 and words in result.err, content[:50], i, result)
    equal(api.calls, [])


@claim
def rows_of_a_shard_share_requests_and_are_continued(eddy):
    def answer(call):
        texts = call.body["input"] if isinstance(call.body["input"], list) else [call.body["input"]]
        return 200, {}, {"object": "list", "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1},
                         "data": [{"object": "embedding", "index": i, "embedding": [len(text)]} for i, text in enumerate(texts)]}

    api = Api(eddy, answer)
    lines = [json.dumps({"custom_id": f"r{i}", "url": "/v1/embeddings", "body": {"model": "m", "input": f"text {i}"}}) for i in range(40)]
    path = eddy.file("in.jsonl", "\n".join(lines))
    more = ("--base-url", api.url, "--rows-per-request", "5", "-c", "1")
    equal(shard(eddy, path, "1/3", *more, "--limit", "5").code, 0)
    equal(len(ids_of(eddy.file("out.1.jsonl"))), 5)
    for i in range(3):
        equal(shard(eddy, path, f"{i}/3", *more).code, 0)
    equal(sorted(each for i in range(3) for each in ids_of(eddy.file(f"out.{i}.jsonl"))), sorted(f"r{i}" for i in range(40)))
    check(len(api.calls) < 20, len(api.calls))


@claim
def a_failure_of_another_shard_is_kept_and_named_so(eddy):
    path = eddy.file("in.jsonl", requests(40))
    out, errors = eddy.file("out.%i.jsonl"), eddy.file("out.0.errors.jsonl")
    failure = {"custom_id": "r39", "response": {"status_code": 404, "body": {}}, "error": None}
    eddy.file("out.0.errors.jsonl", json.dumps(failure) + "\n")
    result = eddy.run("batch", path, "--shard", "0/2", "-o", out, "--base-url", Api(eddy).url)
    check(f"1 failure with an id that this shard of {path} does not have: kept" in result.err, result)
    equal(ids_of(errors), ["r39"])


@claim
def the_command_for_a_table_takes_the_ids_of_its_column(eddy):
    # With the byte order mark and the lines of Excel.
    path = eddy.file("rows.csv", "\ufeffit's,text\r\nk1,a\r\n,b\r\nk3,c\r\n")
    result = eddy.run("batch", path, "--shard", "0/1", "-o", eddy.file("out.%i.jsonl"), "--id-column", "it's",
                      "--base-url", "http://127.0.0.1:1")
    equal(result.code, 2, result)
    check("without --id-column" in result.err, result)
    run_command(result.err, "python3 -c")
    equal([line["custom_id"] for line in lines_of(eddy.file("rows.lines.jsonl"))], ["k1", "r2", "k3"])


@claim
def inputs_and_names_that_shards_cannot_have_are_refused(eddy):
    path = eddy.file("in.jsonl", requests(20))
    out = eddy.file("out.%i.jsonl")
    packed = eddy.file("in.gz", gzip.compress(requests(20).encode()))
    table = eddy.file("in.csv", "custom_id,a\n1,2\n")
    fifo = eddy.file("fifo")
    os.mkfifo(fifo)
    writer = os.open(fifo, os.O_RDWR)
    for code, words, said in (
            (3, (packed, "-o", out), "gzip -dc"),
            (3, (fifo, "-o", out), "regular file"),
            (2, (table, "-o", out, "--url", "http://h/{{a}}"), "csv.DictReader"),
            (2, ("-", "-o", out), "needs a file"),
            (2, (path,), "-o out.%i.jsonl"),
            (2, (path, "-o", "-"), "-o out.%i.jsonl"),
            (2, (path, "-o", eddy.file("out.jsonl")), "must have %i"),
            (2, (path, "-o", out, "--errors", eddy.file("e.jsonl")), "--errors"),
            (2, (path, "-o", out, "--log", eddy.file("log")), "--log"),
            (2, (path, "-o", out, "--save", eddy.file("save")), "so that each shard has its own ("),
            (2, (path, "-o", out, "--summary-file", eddy.file("sum")), "--summary-file"),
            (2, (path, "-o", out, "--rpm", "3"), "less than one request"),
            (2, (path, "-o", out, "--tpm", "3"), "less than one token"),
            (2, (path, "-o", out, "--max-cost", "0.000003", "--price", "1/1"), "--max-cost"),
            (2, (path, "-o", out, "--shard", "2/4"), "--shard")):
        result = eddy.run("batch", *words, "--shard", "1/4", "--base-url", "http://127.0.0.1:1", *QUIET)
        equal(result.code, code, words, result)
        check(said in result.err, said, result)
    os.close(writer)
    for value in ("4/4", "1", "-1/4", "1/100001", "1/0", "i/n", "autox", "", "1/4 "):
        result = shard(eddy, path, value)
        equal(result.code, 2, value, result)
        check("write i/n" in result.err, value, result)
    result = shard(eddy, eddy.file("empty", ""), "1/4", "--base-url", "http://127.0.0.1:1")
    equal(result.code, 3, result)


@claim
def auto_takes_the_variables_of_slurm_and_kubernetes(eddy):
    path, api = eddy.file("in.jsonl", requests(4)), Api(eddy)
    for which, env, index in (
            ("auto", slurm(), "1/4"), ("auto", slurm(ID="16"), "3/4"), ("auto", slurm(ID="10"), "0/4"),
            ("auto", slurm(ID="3", MIN="0", MAX="7", STEP=None, COUNT="8"), "3/8"),
            ("auto/64", slurm(ID="7", MIN="3", MAX="7", STEP="1", COUNT="2"), "7/64"),
            ("auto/64", environment(JOB_COMPLETION_INDEX="63"), "63/64"),
            ("auto", slurm(COUNT="3"), None),            # holes
            ("auto", slurm(ID="3", MIN="3", MAX="3", STEP="1", COUNT="1"), None),  # one that is submitted again
            ("auto/8", slurm(ID="3", MIN="3", MAX="3", STEP="1", COUNT="1"), "3/8"),
            ("auto", slurm(ID="3", MIN="3", MAX="3", STEP="1", COUNT="1"), None),  # one task again
            ("auto", slurm(ID="11"), None),
            ("auto", slurm(ID="18"), None),
            ("auto", slurm(MIN=None), None),
            ("auto", slurm(MAX="9999999999"), None),
            ("auto/64", slurm(MIN="1", MAX="64", ID="1", STEP="1"), None),  # not from 0
            ("auto/64", environment(JOB_COMPLETION_INDEX="64"), None),
            ("auto/64", environment(JOB_COMPLETION_INDEX="x"), None),
            ("auto/64", slurm(ID="7", MAX="4294967296"), None),
            ("auto/64", environment(JOB_COMPLETION_INDEX="1000000000"), None),
            ("auto/0", environment(JOB_COMPLETION_INDEX="0"), None),
            ("auto", environment(JOB_COMPLETION_INDEX="3"), None),
            ("auto", {**slurm(), "JOB_COMPLETION_INDEX": "3"}, None),
            ("auto", environment(), None)):
        result = eddy.run("check", path, "--shard", which, "-o", eddy.file("none.%i"), env=env)
        if index is None:
            equal(result.code, 2, which, result)
            check("write --shard" in result.err or "write auto/N" in result.err or "i/n" in result.err or
                  "not a number" in result.err, result)
            check("below 1,000,000,000" in result.err or not any(len(value) > 9 and value.isdigit() and name.startswith(
                ("SLURM_ARRAY_TASK_", "JOB_COMPLETION_")) for name, value in env.items()), result)
            continue
        result = shard(eddy, path, which, "--base-url", api.url, "--rpm", "600000", env=env)
        check(f"shard {index} has its part" in result.err, which, result)


@claim
def the_command_to_resume_has_the_shard_and_not_auto(eddy):
    bad = {"r1"}
    api = Api(eddy, lambda call: (400 if call.id in bad else 200, {}, {}))
    path = eddy.file("in.jsonl", requests(3))
    for option in (("--shard", "auto"), ("--shard=auto",), ("--sha", "auto")):
        result = eddy.run("batch", path, *option, "-o", eddy.file("out.%i.jsonl"), "--base-url", api.url, *QUIET,
                          "--summary-file", eddy.file("sum.%i"), env=slurm(ID="1", MIN="0", MAX="2", STEP="1", COUNT="3"))
        equal(result.code, 1, result)
        command = result.err[result.err.index("to retry: ") + len("to retry: "):].splitlines()[0]
        check("auto" not in command and "1/3" in command, command)
        summary = json.load(open(eddy.file("sum.1")))
        equal(summary["x_eddy"]["retry_command"], command)
        equal(summary["x_eddy"]["shard"]["index"], 1)
        equal(summary["x_eddy"]["shard"]["count"], 3)
        equal(summary["x_eddy"]["shard"]["input_bytes"], os.path.getsize(path))
    bad.clear()
    words = command.split()
    result = eddy.run(*words[1:], env=environment())
    equal(result.code, 0, result)
    equal(ids_of(eddy.file("out.1.jsonl")), ["r1"])


@claim
def limits_are_divided_and_a_shard_that_begins_again_waits(eddy):
    bad = {f"r{i}" for i in range(100)}
    api = Api(eddy, lambda call: (400 if call.id in bad else 200, {}, {}))
    path = eddy.file("in.jsonl", requests(30))
    result = shard(eddy, path, "1/3", "--base-url", api.url, "--rpm", "60001", "--tpm", "30M", "--max-cost", "0.9",
                   "--price", "1/1", "--max-errors", "100")
    equal(result.code, 1, result)
    check("--rpm 20000, --tpm 10000000, --max-cost 0.3" in result.err, result)
    check("exists" not in result.err, result)
    check("shard 1/3 of " in result.err, result)
    bad.clear()
    result = shard(eddy, path, "1/3", "--base-url", api.url, "--rpm", "60001", "--burst", "50ms", "--progress", "json")
    equal(result.code, 0, result)
    check("out.1.jsonl exists: no request is sent for 108ms" in result.err, result)
    result = shard(eddy, path, "1/3", "--base-url", api.url, "--tpm", "60001")
    check("no request is sent" not in result.err, "nothing is left", result)


@claim
def max_cost_holds_for_all_runs_of_a_shard(eddy):
    usage = {"usage": {"prompt_tokens": 1000, "completion_tokens": 1000, "total_tokens": 2000}}  # 0.003
    children, started = [], threading.Event()

    def answer(call):
        if call.number == 4:
            started.wait()
            children[0].kill()
            children[0].wait()
        return 200, {}, usage

    for more in ((), ("--no-meta",)):
        children.clear()
        started.clear()
        api = Api(eddy, answer)
        path = eddy.file("in.jsonl", requests(80))
        words = ["batch", path, "--shard", "0/2", "-o", eddy.file("out.%i.jsonl"), "--base-url", api.url, "-c", "1",
                 "--price", "1/2", "--max-cost", "0.06", *QUIET, *more]
        children.append(eddy.start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        started.set()
        equal(children[0].wait(timeout=e2e.LIMIT_S), -9)
        before = len(ids_of(eddy.file("out.0.jsonl")))
        check(before in (3, 4), before)  # the last line may not have been written
        sent = len(api.calls)
        result = eddy.run(*words)
        equal((result.code, len(api.calls) - sent), (5, 10 - before), result)
        check("with those of earlier runs of the shard, cost 0.03, which reaches --max-cost" in result.err, result)
        sent = len(api.calls)
        result = eddy.run(*words)  # what is spent is spent
        equal(result.code, 5, result)
        equal(len(api.calls), sent, result)
        result = eddy.run(*words[:-2 - len(more)], "--max-cost", "9", *QUIET, *more)
        equal(result.code, 0, result)
        equal(eddy.run(*words).code, 0)  # nothing is left to pay for
        os.remove(eddy.file("out.0.jsonl"))
    # Failures have cost something too.
    eddy.file("out.1.errors.jsonl", json.dumps({
        "custom_id": "r70", "response": {"status_code": 400, "body": {}}, "error": None,
        "x_meta": {"input_tokens": 10000, "output_tokens": 10000}}) + "\n")
    sent = len(api.calls)
    result = eddy.run(*words[:3], "1/2", *words[4:])
    equal((result.code, len(api.calls)), (5, sent), result)


@claim
def check_examines_one_shard(eddy):
    lines = requests(60).splitlines(keepends=True)
    lines[50] = lines[50].replace("/v1/echo", "")
    path = eddy.file("in.jsonl", "".join(lines))
    api = Api(eddy)
    equal(shard(eddy, path, "0/3", "--base-url", api.url).code, 0)
    counts = {}
    for i in range(3):
        result = eddy.run("check", path, "--shard", f"{i}/3", "-o", eddy.file("out.%i.jsonl"), "--base-url", api.url,
                          "--rpm", "90")
        equal(result.code, 1 if i == 2 else 0, result)
        counts[i] = {words[0]: words[1] for words in map(str.split, result.out.splitlines()) if len(words) > 1}
        check(i != 2 or "line 51: " in result.out, result)
    equal(sum(int(count["requests"]) for count in counts.values()), 59)
    equal(counts[0]["answered"], counts[0]["requests"])
    check("time" in counts[1], counts)
    eddy.file("in.jsonl", "".join(lines[:-1]))
    result = eddy.run("check", path, "--shard", "0/3", "-o", eddy.file("out.%i.jsonl"))
    equal(result.code, 3, result)
    check("has answers of shard 0/3" in result.err, result)
    result = eddy.run("check", eddy.file("in2.jsonl", '{"url":"http://h/","body":{}}\n'), "--shard", "0/1", "-o",
                      eddy.file("no.%i"))
    equal(result.code, 3, result)
    check("no custom_id" in result.out, result)


@claim
def names_have_the_number_of_the_shard(eddy):
    api = Api(eddy)
    path = eddy.file("in.jsonl", requests(9))
    result = shard(eddy, path, "2/3", "--base-url", api.url, "--errors", eddy.file("e%i.%i"), "--log", eddy.file("log%i"))
    equal(result.code, 0, result)
    check(os.path.exists(eddy.file("log2")))
    equal(lines_of(eddy.file("out.2.jsonl"))[0]["x_meta"]["shard"], f"2/3 of {os.path.getsize(path)} bytes")
    check("input_line" not in lines_of(eddy.file("out.2.jsonl"))[0]["x_meta"])


@claim
def names_with_a_number_are_refused_without_shard(eddy):
    api = Api(eddy)
    path = eddy.file("in.jsonl", requests(9))
    plain = ("-o", eddy.file("plain.jsonl"))
    for words in (("-o", eddy.file("out.%i")), (*plain, "--errors", eddy.file("e.%i")),
                  (*plain, "--save", eddy.file("save.%i")), (*plain, "--log", eddy.file("log.%i")),
                  (*plain, "--summary-file", eddy.file("sum.%i"))):
        result = eddy.run("batch", path, *words, "--base-url", api.url, *QUIET)
        equal(result.code, 2, words, result)
        check(f"{words[-2]} {words[-1]}: %i is the number of the shard, and --shard is not given" in result.err, result)
        check(not os.path.exists(words[-1]), words)
    result = eddy.run("check", path, "-o", eddy.file("out.%i"), "--base-url", api.url)
    equal(result.code, 2, result)
    check("--shard is not given" in result.err, result)
    equal(api.calls, [])
    # A file of an older run continues.
    with open(eddy.file("out.%i"), "w"):
        pass
    equal(eddy.run("batch", path, "-o", eddy.file("out.%i"), "--base-url", api.url, *QUIET).code, 0)
    equal(len(ids_of(eddy.file("out.%i"))), 9)


@claim
def the_summary_file_of_a_refused_command_has_the_number_or_is_not_written(eddy):
    path, name = eddy.file("in.jsonl", requests(9)), eddy.file("sum.%i")
    for words, made in ((("--shard", "2/3", "-o", eddy.file("out")), True), (("--shard", "2/3", "--rpm", "x"), True),
                        (("--shard", "auto"), False), (("-o", eddy.file("out.%i")), False)):
        result = eddy.run("batch", path, "--summary-file", name, *words, "--base-url", "http://127.0.0.1:1", *QUIET,
                          env=environment())
        equal(result.code, 2, words, result)
        check(not os.path.exists(name), words)
        equal(os.path.exists(eddy.file("sum.2")), made, words)
        if made:
            equal(json.loads(open(eddy.file("sum.2")).read())["status"], "failed", words)
            os.remove(eddy.file("sum.2"))
    # A name that all shards would share is refused, and not written.
    result = eddy.run("batch", path, "--summary-file", eddy.file("sum"), "--shard", "2/3", "-o", eddy.file("out.%i"), *QUIET)
    equal(result.code, 2, result)
    check(not os.path.exists(eddy.file("sum")))
    # The name is filled in before a later option is refused.
    result = eddy.run("batch", path, "--summary-file", name, "--shard", "2/3", "-o", eddy.file("out.%i"), "--id-column", "x",
                      *QUIET)
    equal(result.code, 2, result)
    check(os.path.exists(eddy.file("sum.2")) and not os.path.exists(name))


@claim
def report_counts_the_requests_of_one_shard(eddy):
    api = Api(eddy, lambda call: (400 if call.id == "r59" else 200, {}, {}))
    path = eddy.file("in.jsonl", requests(60) + "\n" * 3000)
    for i in range(3):
        equal(shard(eddy, path, f"{i}/3", "--base-url", api.url).code, 1 if i == 1 else 0)

    def report(i, *more):
        return eddy.run("report", eddy.file(f"out.{i}.jsonl"), "--by", path, "-o", eddy.file("page"), "--check", *more)

    sizes = [len(ids_of(eddy.file(f"out.{i}.jsonl"))) for i in range(3)]
    check(sizes[2] == 0 < sizes[1] < sizes[0], sizes)
    result = report(0, "--shard", "0/3")
    equal(result.code, 0, result)
    check(f"shard 0/3: complete: all {sizes[0]} requests have an answer" in result.err, result)
    result = report(1, "--shard", "1/3")
    equal(result.code, 1, result)
    check(f"shard 1/3: not complete: 1 of {sizes[1] + 1} requests failed" in result.err, result)
    result = report(2, "--shard", "2/3")
    equal(result.code, 0, result)
    check("shard 2/3: complete: it has no request" in result.err, result)
    result = report(0)
    equal(result.code, 1, result)
    check("the output is of shard 0/3 of " in result.err, result)
    for by, code in ((eddy.file("in.gz", gzip.compress(b"{}")), 3), ("-", 2), (eddy.file("x.csv", "a"), 2)):
        result = eddy.run("report", eddy.file("out.0.jsonl"), "--by", by, "--shard", "0/3", "-o", eddy.file("page"))
        equal(result.code, code, result)


@claim
def progress_names_the_shard(eddy):
    go = threading.Event()

    def answer(call):
        go.wait()
        return 200, {}, {}

    path = eddy.file("in.jsonl", requests(9))
    for kind, said in (("json", '"shard":"1/3"'), ("plain", "| shard 1/3")):
        go.clear()
        api = Api(eddy, answer)
        child = eddy.start("batch", path, "--shard", "1/3", "-o", eddy.file(f"{kind}.%i"), "--base-url", api.url,
                           "--progress", kind, stdout=subprocess.DEVNULL)
        e2e.wait_until(lambda: api.calls, "a request")
        child.send_signal(signal.SIGUSR1)
        line = child.stderr.readline().decode()
        check(said in line, kind, line)
        go.set()
        equal(child.wait(timeout=e2e.LIMIT_S), 0)


@claim
def an_id_in_two_shards_is_found_by_check_of_the_whole_file(eddy):
    path = eddy.file("in.jsonl", requests(20) + request(3))
    result = eddy.run("check", path)
    equal(result.code, 3, result)
    check('"r3" was used by line 4' in result.out, result)
    equal(eddy.run("check", path, "--shard", "1/2").code, 0)


if __name__ == "__main__":
    e2e.main()
