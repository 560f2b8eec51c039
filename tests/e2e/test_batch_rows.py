"""test_batch_rows - `eddy batch --rows-per-request`: several rows in a request, and one line for each.

EDDY_TEST_FULL=1: the output is cut at each byte, instead of at some.
"""
import gzip
import json
import os

import e2e
from batch_api import Api, ids_of, lines_of
from e2e import check, claim, equal

BODY = '{"model":"m","input":"{{text}}"}'


def vector(text):
    return [len(text), sum(text.encode())]


def answer(call):
    """As /v1/embeddings: the items in the opposite order, and 3 tokens and 1 more for each row."""
    texts = call.body["input"] if isinstance(call.body["input"], list) else [call.body["input"]]
    data = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(texts)]
    tokens = 3 + len(texts)
    return 200, {}, {"object": "list", "data": data[::-1], "model": "m",
                     "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


def csv(count, begin=0):
    return "custom_id,text\n" + "".join(f"r{i},text {i}\n" for i in range(begin, count))


def sizes(api):
    """The number of rows of each request."""
    return [len(call.body["input"]) if isinstance(call.body["input"], list) else 1 for call in api.calls]


def refuses(is_bad, status=400):
    """An answer that refuses a request with a bad text."""
    def judge(call):
        texts = call.body["input"] if isinstance(call.body["input"], list) else [call.body["input"]]
        bad = any(is_bad(text) for text in texts)
        return (status, {}, {"error": {"message": "too long"}}) if bad else answer(call)
    return judge


def run(eddy, url, text, *options, rows=10, name="in.csv", out="out.jsonl", command="batch"):
    return eddy.run(command, eddy.file(name, text), "-o", eddy.file(out), "--url", url + "/v1/embeddings", "--body", BODY,
                    "--rows-per-request", str(rows), "-c", "1", "--retry-base", "1ms", "--progress", "off", *options)


def outcome(eddy, out="out"):
    return lines_of(eddy.file(f"{out}.jsonl")), lines_of(eddy.file(f"{out}.errors.jsonl"))


def check_answers(lines, numbers):
    """Each row has one line, with its own vector at index 0."""
    equal([line["custom_id"] for line in lines], [f"r{i}" for i in numbers])
    for i, line in zip(numbers, lines):
        equal(line["response"]["body"]["data"],
              [{"object": "embedding", "index": 0, "embedding": vector(f"text {i}")}])
        equal(line["x_meta"]["input_line"], i + 2)


@claim
def rows_share_a_request_and_each_has_a_line_as_if_alone(eddy):
    api = Api(eddy, answer)
    result = run(eddy, api.url, csv(25), "--summary", "json")
    equal(result.code, 0, result)
    equal(sizes(api), [10, 10, 5])
    equal(api.calls[2].body, {"model": "m", "input": [f"text {i}" for i in range(20, 25)]})
    lines = outcome(eddy)[0]
    check_answers(lines, range(25))
    usages = [line["response"]["body"]["usage"]["total_tokens"] for line in lines]
    equal((usages[:4], usages[9], sum(usages)), ([2, 2, 2, 1], 1, 13 + 13 + 8))
    equal([line["x_meta"]["rows"] for line in lines], [10] * 20 + [5] * 5)
    summary = json.loads(result.err.splitlines()[-1])
    equal((summary["request_counts"]["completed"], summary["usage"]["input_tokens"]), (25, 34), summary)
    # The requests are those of a run without the option.
    equal(run(eddy, api.url, csv(25), rows=1).code, 0)
    equal(run(eddy, api.url, csv(26), rows=1).code, 0)
    equal(sizes(api), [10, 10, 5, 1])
    check("rows" not in outcome(eddy)[0][25]["x_meta"], outcome(eddy)[0][25])


@claim
def one_bad_row_does_not_fail_the_others(eddy):
    for bad, status, most in ((0, 400, 8), (17, 413, 16), (31, 422, 16)):
        api = Api(eddy, refuses(lambda text, bad=bad: text == f"text {bad}", status))
        result = run(eddy, api.url, csv(32), "--idempotency-header", "Idempotency-Key", rows=32, out=f"{bad}.jsonl")
        equal(result.code, 1, result)
        answers, errors = outcome(eddy, bad)
        check_answers(answers, [i for i in range(32) if i != bad])
        equal([(line["custom_id"], line["response"]["status_code"], line["x_meta"].get("rows")) for line in errors],
              [(f"r{bad}", status, None)])
        check(len(api.calls) <= most, sizes(api))
        # Different rows, different keys.
        keys = [call.headers["idempotency-key"] for call in api.calls]
        equal(len(set(keys)), len(keys), keys)


@claim
def mistake_in_all_rows_stops_the_run_early(eddy):
    api = Api(eddy, refuses(lambda text: True))
    result = run(eddy, api.url, csv(1000), rows=100)
    equal(result.code, 5, result)
    check("requests failed with 400, and none succeeded: too long" in result.err, result)
    check(len(api.calls) < 40, sizes(api))
    api = Api(eddy, refuses(lambda text: True, 404))
    result = run(eddy, api.url, csv(1000), rows=100, out="b.jsonl")
    equal((result.code, sizes(api)), (5, [100]), result)
    equal(len(outcome(eddy, "b")[1]), 100)


@claim
def condition_that_no_row_meets_stops_the_run_after_a_request(eddy):
    api = Api(eddy, answer)
    result = run(eddy, api.url, csv(1000), "--ok", 'json("/model") == "n"', rows=100)
    equal((result.code, sizes(api)), (5, [100]), result)
    check("100 requests got an answer that is not accepted, and none succeeded: --ok" in result.err, result)
    check_answers(outcome(eddy)[1], range(100))


@claim
def condition_is_for_the_whole_answer_and_in_later_runs_for_the_line_of_a_row(eddy):
    api = Api(eddy, answer)
    for number, (condition, again) in enumerate((("json('/data/0/embedding/0') != null", []),
                                                 ("json('/data/3/index') != null", [4, 4]))):
        out = f"out{number}.jsonl"
        result = run(eddy, api.url, csv(8), "--ok", condition, rows=4, out=out)
        equal(result.code, 0, result)
        api.calls.clear()
        result = run(eddy, api.url, csv(8), "--ok", condition, rows=4, out=out)
        equal((result.code, sizes(api)), (0, again), condition, result)


@claim
def answer_that_has_not_each_row_once_fails_all(eddy):
    cases = {
        "fewer": (lambda data: data[1:], '"data" has 3 items for 4 rows'),
        "more": (lambda data: data + data[:1], '"data" has 5 items for 4 rows'),
        "double": (lambda data: data[:3] + data[:1], 'item 4 of "data" has the "index" 3, which an earlier item has too'),
        "beyond": (lambda data: data[:3] + [{"index": 4}], 'item 4 of "data" has the "index" 4, but there are fewer rows (indexes begin at 0)'),
        "missing": (lambda data: data[:3] + [{"embedding": [1]}], 'item 4 of "data" has no "index"'),
        "none": (lambda data: None, 'the answer has no list "data"'),
    }
    for name, (change, fault) in cases.items():
        def changed(call, change=change):
            status, more, body = answer(call)
            return status, more, {**body, "data": change(body["data"])} if isinstance(call.body["input"], list) else body
        api = Api(eddy, changed)
        result = run(eddy, api.url, csv(4), out=f"{name}.jsonl")
        equal((result.code, sizes(api)), (1, [4]), result)
        answers, errors = outcome(eddy, name)
        equal((answers, [line["custom_id"] for line in errors]), ([], [f"r{i}" for i in range(4)]))
        for line in errors:
            equal((line["response"], line["error"]),
                  (None, {"code": "answer_not_rows", "message": fault + ": give --rows-per-request 1"}))
            equal(line["x_meta"]["final"], False, line)  # another option helps
        check(f"answer_not_rows" in result.err and fault in result.err, result)
        # A failure stays one, whatever the condition; the same rows succeed alone.
        result = run(eddy, api.url, csv(4), "--ok", "status in (200, 0)", rows=1, out=f"{name}.jsonl")
        equal((result.code, sizes(api)), (0, [4, 1, 1, 1, 1]), result)
        check_answers(outcome(eddy, name)[0], range(4))
        equal(outcome(eddy, name)[1], [])


@claim
def answers_to_failed_conditions_are_split_too(eddy):
    api = Api(eddy, answer)
    result = run(eddy, api.url, csv(4), "--ok", 'json("/model") == "n"', "--max-attempts", "1")
    equal(result.code, 1, result)
    check_answers(outcome(eddy)[1], range(4))
    equal({line["error"]["code"] for line in outcome(eddy)[1]}, {"answer_not_ok"})
    result = run(eddy, api.url, csv(4))
    equal((result.code, sizes(api)), (0, [4, 4]), result)
    check_answers(outcome(eddy)[0], range(4))
    # An error with the status of success has nothing to split.
    api = Api(eddy, lambda call: (200, {}, {"error": {"message": "busy"}}))
    result = run(eddy, api.url, csv(4), "--max-attempts", "2", out="busy.jsonl")
    equal((result.code, sizes(api)), (1, [4, 4]), result)
    equal([(line["response"], line["error"]["code"]) for line in outcome(eddy, "busy")[1]],
          [(None, "answer_has_error")] * 4)


@claim
def failures_and_refusals_repeat_the_whole_request(eddy):
    def judge(call):
        statuses = {0: (500, {}, {}), 1: (429, {"Retry-After": "0"}, {}), 3: (413, {"Retry-After": "0"}, {})}
        return statuses.get(call.number) or answer(call)
    api = Api(eddy, judge)
    result = run(eddy, api.url, csv(8), rows=4)
    equal((result.code, sizes(api)), (0, [4, 4, 4, 4, 4]), result)
    check_answers(sorted(outcome(eddy)[0], key=lambda line: line["custom_id"]), range(8))
    api = Api(eddy, lambda call: (500, {}, {}) if call.number < 4 else answer(call))
    result = run(eddy, api.url, csv(8), "--max-attempts", "2", "--max-errors", "9", rows=4, out="b.jsonl")
    equal((result.code, sizes(api)), (1, [4] * 4), result)
    equal(sorted(ids_of(eddy.file("b.errors.jsonl"))), [f"r{i}" for i in range(8)])
    result = run(eddy, api.url, csv(9), rows=8, out="b.jsonl", command="retry")
    equal((result.code, sizes(api)[4:]), (0, [8]), result)
    check_answers(outcome(eddy, "b")[0], range(8))


@claim
def failures_count_as_rows(eddy):
    api = Api(eddy, lambda call: (404, {}, {}))
    result = run(eddy, api.url, csv(100), "--max-errors", "7", rows=5)
    equal((result.code, sizes(api), len(outcome(eddy)[1])), (5, [5, 5], 10), result)
    check("10 failed" in result.err, result)


@claim
def limit_counts_rows_and_the_rest_follows(eddy):
    api = Api(eddy, answer)
    result = run(eddy, api.url, csv(25), "--limit", "12")
    equal((result.code, sizes(api)), (0, [10, 2]), result)
    check("13 " in result.err, result)
    result = run(eddy, api.url, csv(25), rows=5)
    equal((result.code, sizes(api)[2:]), (0, [5, 5, 3]), result)
    check_answers(outcome(eddy)[0], range(25))


@claim
def order_is_kept_with_bad_rows_and_bad_lines(eddy):
    api = Api(eddy, refuses(lambda text: text in ("text 3", "text 15")))
    text = csv(10) + "r-bad,too,many\n" + csv(30, begin=10).split("\n", 1)[1]
    result = eddy.run("batch", eddy.file("in.csv", text), "--url", api.url + "/v1/embeddings", "--body", BODY,
                      "--rows-per-request", "8", "--ordered", "-c", "8", "--progress", "off")
    equal(result.code, 1, result)
    lines = [json.loads(line) for line in result.out.splitlines()]
    equal([line["custom_id"] for line in lines], [f"r{i}" for i in range(10)] + ["r-bad"] + [f"r{i}" for i in range(10, 30)])
    equal([line["custom_id"] for line in lines if line["error"] or line["response"]["status_code"] != 200],
          ["r3", "r-bad", "r15"])


@claim
def other_rows_go_alone_or_together_with_their_kind(eddy):
    api = Api(eddy, lambda call: answer(call) if isinstance(call.body["input"], (str, list)) else (400, {}, {}))

    def line(i, text, model="m"):
        return json.dumps({"custom_id": f"r{i}", "url": "/v1/embeddings", "body": {"model": model, "input": text}}) + "\n"
    text = (line(0, "a") + line(1, "b") + line(2, "c", "n") + line(3, "d", "n") + line(4, ["e", "f"]) + line(5, "g") +
            "{bad\n" + line(6, "h") + line(7, "i"))
    for name, stdin in (("in.jsonl", None), ("in.jsonl.gz", None), ("-", text.encode())):
        api.calls.clear()
        path = "-" if stdin else eddy.file(name, gzip.compress(text.encode()) if name.endswith("gz") else text)
        out = eddy.file("out.jsonl")
        result = eddy.run("batch", path, "-o", out, "--base-url", api.url, "--rows-per-request", "5", "-c", "1",
                          "--progress", "off", stdin=stdin)
        equal(result.code, 1, result)
        equal([call.body["input"] for call in api.calls], [["a", "b"], ["c", "d"], ["e", "f"], "g", ["h", "i"]])
        equal([call.body["model"] for call in api.calls], ["m", "n", "m", "m", "m"])
        equal(ids_of(out), [f"r{i}" for i in range(8)])
        equal(len(lines_of(out)[4]["response"]["body"]["data"]), 2)
        equal(ids_of(eddy.file("out.errors.jsonl")), ["line-7"])
        os.remove(out)
        os.remove(eddy.file("out.errors.jsonl"))


@claim
def objects_with_a_template_are_rows_too(eddy):
    api = Api(eddy, answer)
    text = "".join(json.dumps({"custom_id": f"r{i}", "text": f"text {i}"}) + "\n" for i in range(5))
    result = run(eddy, api.url, text, name="in.jsonl", rows=3)
    equal((result.code, sizes(api)), (0, [3, 2]), result)
    equal(ids_of(eddy.file("out.jsonl")), [f"r{i}" for i in range(5)])


@claim
def cut_output_is_completed_without_a_loss_or_a_double(eddy):
    api = Api(eddy, answer)
    equal(run(eddy, api.url, csv(6), rows=6).code, 0)
    with open(eddy.file("out.jsonl"), "rb") as file:
        whole = file.read()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    cuts = {at for end in ends for at in (end - 1, end, end + 1, end + 50)} & set(range(1, len(whole)))
    if os.environ.get("EDDY_TEST_FULL"):
        cuts = range(1, len(whole))
    for cut in sorted(cuts):
        if cut < ends[0]:  # without a whole line, it is not an output
            continue
        path = eddy.file("out.jsonl", whole[:cut])
        api.calls.clear()
        result = run(eddy, api.url, csv(6), rows=4)
        equal(result.code, 0, cut, result)
        check_answers(sorted(lines_of(path), key=lambda line: line["custom_id"]), range(6))
        # The end of the last line may be only its line feed.
        equal(sum(sizes(api)), 6 - whole[:cut + 1].count(b"\n"), cut)
        check(max(sizes(api), default=0) <= 4, sizes(api))


@claim
def full_disk_in_the_middle_of_a_request_is_resumed(eddy):
    api = Api(eddy, answer)
    path, out = eddy.file("in.csv", csv(100)), eddy.file("out.jsonl")
    command = (f"ulimit -f 20; exec '{eddy.path}' batch '{path}' -o '{out}' --url {api.url}/v1/embeddings "
               f"--body '{BODY}' --rows-per-request 30 -c 1 --progress off")
    child = eddy.start("-c", command, executable="/bin/bash")
    _, err = child.communicate(timeout=e2e.LIMIT_S)
    equal(child.returncode, 4, err)
    done = len(ids_of(out))
    check(0 < done < 100 and done % 30 > 0, done)
    api.calls.clear()
    result = run(eddy, api.url, csv(100), rows=30)
    equal((result.code, sum(sizes(api))), (0, 100 - done), result)
    check_answers(sorted(lines_of(out), key=lambda line: int(line["custom_id"][1:])), range(100))


@claim
def killed_run_is_completed(eddy):
    held = []

    def judge(call):
        if call.number == 1:
            held[0].kill()
        return answer(call)
    api = Api(eddy, judge)
    path, out = eddy.file("in.csv", csv(12)), eddy.file("out.jsonl")
    held.append(eddy.start("batch", path, "-o", out, "--url", api.url + "/v1/embeddings", "--body", BODY,
                           "--rows-per-request", "4", "-c", "1", "--progress", "off"))
    held[0].communicate(timeout=e2e.LIMIT_S)
    equal(ids_of(out), [f"r{i}" for i in range(4)])
    result = run(eddy, api.url, csv(12), rows=100)
    equal((result.code, sizes(api)), (0, [4, 4, 8]), result)
    check_answers(outcome(eddy)[0], range(12))


@claim
def estimate_above_tpm_is_divided(eddy):
    api = Api(eddy, answer)
    text = "custom_id,text\n" + "".join(f"r{i},{'x' * 400}\n" for i in range(8))
    result = run(eddy, api.url, text, "--tpm", "300", "--burst", "60s", "--max-throttle-wait", "1ms", "--limit", "2")
    equal((result.code, sizes(api)), (0, [2]), result)
    # Eight rows need more than 300 tokens.
    result = run(eddy, api.url, text, "--tpm", "500", "--burst", "60s", rows=8, out="b.jsonl")
    equal((result.code, sizes(api)[1:]), (0, [4, 4]), result)


@claim
def changed_row_is_refused_or_sent_again(eddy):
    api = Api(eddy, answer)
    equal(run(eddy, api.url, csv(6)).code, 0)
    text = csv(6).replace("text 4", "changed 4")
    result = run(eddy, api.url, text)
    equal(result.code, 3, result)
    check('custom_id "r4" has an answer, but its request has changed' in result.err, result)
    result = run(eddy, api.url, text, "--on-changed", "send")
    equal((result.code, sizes(api), api.calls[1].body["input"]), (0, [6, 1], "changed 4"), result)
    equal(sorted(ids_of(eddy.file("out.jsonl"))), [f"r{i}" for i in range(6)])


@claim
def check_counts_the_requests(eddy):
    path = eddy.file("in.csv", csv(25))
    options = ["--url", "http://h/v1/embeddings", "--body", BODY, "--rows-per-request"]
    result = eddy.run("check", path, *options, "10", "--rpm", "1")
    equal(result.code, 0, result)
    check("requests        25\n" in result.out and "sent as         3 requests\n" in result.out and
          "at least 3m00s, because of --rpm" in result.out, result)
    texts = json.dumps([f"text {i}" for i in range(10)], separators=(",", ":"))
    check(f'\n                {{"model":"m","input":{texts}}}\n' in result.out, result)
    # Bad lines and others end a request; a row alone may be the first.
    path = eddy.file("in.jsonl", "".join(line + "\n" for line in (
        '{"input":["a"],"model":"m"}', '{"input":"b"}', '{"input":"c"}', '{"url"', '{"input":"d"}', '{"input":["e"]}',
        '{"input":"f"}')))
    result = eddy.run("check", path, "--url", "http://h/v1/embeddings", "--rows-per-request", "9")
    check("sent as         5 requests\nalone           2 of them" in result.out and
          '\n                {"input":["a"],"model":"m"}\n' in result.out, result)
    path = eddy.file("in.csv", csv(25))
    result = eddy.run("check", path, *options, "1")
    check("sent as" not in result.out, result)


@claim
def wrong_values_and_bodies_are_refused_with_the_remedy(eddy):
    for command in ("batch", "check"):
        for value in ("0", "2049", "x", "-1", "1.5", ""):
            result = eddy.run(command, eddy.file("in.csv", csv(2)), "--rows-per-request", value)
            equal(result.code, 2, result)
            check(f"--rows-per-request {value}: give a number from 1 to 2048" in result.err, result)
        result = eddy.run(command, eddy.file("in.csv", csv(2)), "--url", "http://127.0.0.1:1/", "--body",
                          '{"texts":"{{text}}"}', "--rows-per-request", "2")
        equal(result.code, 3, result)
        check('row 2: the body has no text "input", which --rows-per-request needs' in result.err, result)


if __name__ == "__main__":
    e2e.main()
