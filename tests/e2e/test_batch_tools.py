"""test_batch_tools - `eddy check`, `eddy retry` and `eddy sort`: a file of requests is judged before
it is sent, what failed is sent again, and answers get the order of their requests.
"""
import csv
import fcntl
import glob
import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess

import e2e
from batch_api import Api, ids_of, lines_of, request, requests
from e2e import check, claim, equal
from inputs import compressed, fed


def answer(custom_id, size=0):
    """A line of an output."""
    return json.dumps({"id": "batch_req_1", "custom_id": custom_id, "error": None,
                       "response": {"status_code": 200, "request_id": "q",
                                    "body": {"pad": "x" * size}}}) + "\n"


def rows_of(result):
    """The counts of a report, by name."""
    lines = result.out.split("\n\n")[-1].splitlines()
    return {line[:16].strip(): line[16:] for line in lines if line[0] != " "}


# ---- check ---------------------------------------------------------------------------------------

@claim
def check_counts_kinds_tokens_cost_and_time(eddy):
    content = "".join(request(i, body={"id": f"r{i}", "model": "m" if i % 4 else "n",
                                       "max_tokens": 1000}) for i in range(100))
    path = eddy.file("in.jsonl", content)
    result = eddy.run("check", path, "--rpm", "10", "--tpm", "50k", "--price", "1/10", "-c", "10",
                      "--latency", "2s", "--base-url", "http://h")
    equal((result.code, result.err), (0, ""), result)
    rows = rows_of(result)
    equal((rows["requests"], rows["kinds"]), ("100", "75 POST /v1/echo m"), result)
    check("25 POST /v1/echo n\n" in result.out, result)
    check("100,000 of output" in rows["tokens"], result)
    check(rows["cost"].startswith("about 1.00") and "most" not in rows["cost"], result)
    equal(rows["time"], "at least 10m00s, because of --rpm")
    check(f"{len(content.encode())} of input" in rows["bytes"].replace(",", ""), result)


@claim
def check_counts_output_only_of_requests_for_text(eddy):
    lines = [{"url": "/v1/embeddings", "body": {"input": "\u4e2d" * 4000}}] * 2 + \
        [{"url": "/v1/chat/completions", "body": {"messages": [], **more}} for more in ({}, {"max_tokens": 900})]
    content = [json.dumps(line, ensure_ascii=False) + "\n" for line in lines]
    result = eddy.run("check", eddy.file("in.jsonl", "".join(content[:2])))
    check("about 12,008 of input\n" in result.out and "max_tokens" not in result.out, result)
    path = eddy.file("in.jsonl", "".join(content))
    result = eddy.run("check", path)
    check(" 1 request has no max_tokens: its output is not counted\n" in result.out, result)
    equal((result.code, "over --tpm" in rows_of(result)), (0, False), result)
    result = eddy.run("check", path, "--tpm", "800")
    equal((result.code, rows_of(result)["over --tpm"]), (1, "3"), result)
    check("line 4: the request may need 909 tokens" in result.out and "more than --tpm 800: raise" in result.out, result)


@claim
def check_lists_the_first_bad_lines_and_counts_the_rest(eddy):
    path = eddy.file("in.jsonl", requests(3) + "{oops\n" * 30 +
                     '{"custom_id":"x\\u001b","method":5,"url":"/v1/echo","body":{}}\n')
    result = eddy.run("check", path)
    equal(result.code, 1, result)
    equal(result.out.count("line is not JSON"), 20, result)
    check(result.out.startswith("line 4: ") and "and 11 more bad lines\n" in result.out, result)
    equal((rows_of(result)["requests"], rows_of(result)["bad lines"]), ("3", "31"), result)
    result = eddy.run("check", "-", stdin=path.encode() + b'\n{"custom_id":"x\\u001b"}\n/a\n')
    check(result.code == 1 and 'custom_id "x?"' in result.out and "\x1b" not in result.out, result)


@claim
def check_refuses_repeated_ids_and_a_file_without_requests(eddy):
    path = eddy.file("in.jsonl.gz", gzip.compress((requests(3) + request(1)).encode()))
    result = eddy.run("check", path)
    equal((result.code, rows_of(result)["repeated ids"]), (3, "1"), result)
    check(result.out.startswith('line 4: custom_id "r1" was used by line 2; ids must differ\n'), result)
    for content in (b"", b"\n# nothing\n", b"{oops\n"):
        result = eddy.run("check", "-", stdin=content)
        check(result.code == 3 and "the input has no request" in result.err, result)


@claim
def check_compares_with_the_output_and_leaves_it_alone(eddy):
    path = eddy.file("in.jsonl", requests(10))
    out = eddy.file("out.jsonl")
    result = eddy.run("check", path, "-o", out)
    equal((result.code, rows_of(result)["to send"]), (0, "10"), result)
    check(not os.path.exists(out), result)
    api = Api(eddy)
    equal(eddy.run("batch", path, "-o", out, "--base-url", api.url, "--limit", "4").code, 0)
    with open(out, "ab") as file:
        file.write(b"damaged\n{torn")
    with open(out, "rb") as file:
        before = file.read()
        fcntl.flock(file, fcntl.LOCK_EX)  # as a run that writes to it
        result = eddy.run("check", path, "-o", out)
    rows = rows_of(result)
    equal((result.code, rows["answered"], rows["to send"]), (0, "4 of them", "6"), result)
    check(rows["damaged"].startswith("1 "), result)
    with open(out, "rb") as file:
        equal(file.read(), before)
    answered = ids_of(eddy.file("copy", before[:before.index(b"damaged")]))
    changed = "".join(request(i, **({"body": {"id": "other"}} if f"r{i}" == answered[0] else {}))
                      for i in range(10))
    result = eddy.run("check", "-", "-o", out, stdin=changed.encode())
    equal((result.code, rows_of(result)["changed"]), (3, "1"), result)
    check(f'custom_id "{answered[0]}" has an answer' in result.out, result)
    equal(len(api.calls), 4)


@claim
def check_reads_csv_with_its_template(eddy):
    path = eddy.file("in.csv", "custom_id,text\na,one\nb,two,three\n")
    e2e.one_line(eddy.run("check", path), 2, "--url", "--body")
    result = eddy.run("check", path, "--url", "http://h/x", "--body", '{"model":"m","i":"{{text}}"}')
    equal((result.code, rows_of(result)["kinds"]), (1, "1 POST http://h/x m"), result)


@claim
def the_ids_of_csv_are_in_the_column_that_is_named(eddy):
    api = Api(eddy)
    path, out = eddy.file("in.csv", "key,text\na,one\nb,two\na,three\n"), eddy.file("out.jsonl")
    body = ["--url", api.url + "/x", "--body", '{"id":"{{key}}","i":"{{text}}"}']
    result = eddy.run("check", path, *body)
    equal((result.code, result.err.count("\n")), (0, 1), result)
    check("no column custom_id" in result.err and "--id-column NAME" in result.err, result)
    result = eddy.run("check", path, *body, "--id-column", "key")
    equal((result.code, result.err, rows_of(result)["repeated ids"]), (3, "", "1"), result)
    for command, args in (("check", [path, *body]), ("batch", [path, *body]),
                          ("sort", [eddy.file("none", ""), "--by", path])):
        e2e.one_line(eddy.run(command, *args, "--id-column", "Key"), 3, "in.csv: row 1: no column",
                     '"Key", which --id-column names', '"key", "text"')
    path = eddy.file("in.csv", "key,text\nb,two\na,one\n")
    result = eddy.run("batch", path, "-o", out, *body, "--id-column", "key", "-c", "1", "--progress", "off")
    equal((result.code, sorted(ids_of(out)), result.err.count("custom_id")), (0, ["a", "b"], 0), result)
    result = eddy.run("sort", out, "--by", path, "--id-column", "key", "-o", out)
    equal((result.code, result.err, ids_of(out)), (0, "", ["b", "a"]), result)
    result = eddy.run("retry", path, "-o", out, *body, "--id-column", "key")
    check(result.code == 0 and "nothing was sent: all requests have an answer" in result.err, result)


@claim
def messages_about_csv_have_numbers_of_rows_and_the_column_of_the_id(eddy):
    content = 'key,text\na,"one\n\nline"\nb,two\na,three\nc,four,five\nb,"%s"\n' % ("x" * 50)
    path, out = eddy.file("in.csv", content), eddy.file("out.jsonl")
    args = ["--url", Api(eddy).url + "/x", "--body", '{"id":"{{key}}","i":"{{text}}"}', "--id-column",
            "key"]
    result = eddy.run("check", path, *args)
    equal((result.code, result.out.splitlines()[:3]),
          (3, ['row 4: key "a" was used by row 2; ids must differ',
               'row 5: key "c": the row has 3 columns, and the first row has 2: put fields with commas in double quotes',
               'row 6: key "b" was used by row 3; ids must differ']), result)
    check(", the largest row is row 6 with 55 bytes\n" in result.out, result)
    result = eddy.run("batch", path, "-o", out, *args)
    said = 'key "%s" was used by an earlier row, which eddy check names; ids must differ'
    equal((result.code, [line.split("in.csv: ")[-1] for line in result.err.splitlines()]),
          (3, [f"row 4: {said % 'a'}", f"row 6: {said % 'b'}", "eddy batch: nothing was sent"]), result)
    result = eddy.run("batch", "-", "--format", "csv", "-o", out, *args, stdin=content.encode())
    check(result.code == 1, result)
    said = [line["error"]["message"] for line in lines_of(eddy.file("out.errors.jsonl"))]
    check('key "a" was used by an earlier row; ids must differ' in said, said)
    result = eddy.run("check", path, "-o", out, *args[:2], "--body", '{"j":"{{text}}"}', *args[4:])
    check('row 2: key "a" has an answer, but' in result.out, result)
    result = eddy.run("batch", eddy.file("b.csv", "key,text\na\n"), *args)
    check(result.code == 3 and "b.csv: row 2: the row has 1 column" in result.err and
          "b.csv has no row that can be sent" in result.err, result)


@claim
def output_of_json_lines_is_not_named_as_a_table(eddy):
    api = Api(eddy)
    path, out = eddy.file("in.jsonl", requests(1)), eddy.file("out.csv")
    for end in ("", ".parquet", ".tsv", ".xlsx"):
        e2e.one_line(eddy.run("batch", path, "-o", out + end, "--base-url", api.url), 2, "the output is JSON lines: name")
        e2e.one_line(eddy.run("sort", path, "--by", path, "-o", out + end), 2, "the output is JSON lines: name it .jsonl")
        check(not os.path.exists(out + end), end)
    equal(api.calls, [])
    eddy.file("out.csv", "")
    equal(eddy.run("batch", path, "-o", out, "--base-url", api.url).code, 0)
    equal(ids_of(out), ["r0"])


@claim
def a_column_of_the_body_that_csv_lacks_is_reported_once(eddy):
    body = ["--url", "http://127.0.0.1:1/", "--body", '{"i":"{{text}}"}']
    for content, words in (("custom_id,txt\na,b\n", 'no column "text", which --body has'),
                           ("custom_id;text\na;b\nc;d\n", 'separated by ";"')):
        path = eddy.file("in.csv", content)
        for command in ("check", "batch"):
            e2e.one_line(eddy.run(command, path, *body), 3, "row 1: ", words)


@claim
def a_table_with_another_separator_is_refused_with_the_command_that_converts_it(eddy):
    body = ["--url", "http://h/", "--body", '{"i":"{{text}}"}']
    rows = [["custom_id", "text"], ["a", 'x,"y"\nz'], ["b", "1;2"]]
    for name, separator in (("in.tsv", "\t"), ("semicolons.csv", ";"), ("tabs.csv", "\t")):
        path, new = eddy.file(name), eddy.file("new.csv")
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=separator, lineterminator="\n").writerows(rows)
        result = eddy.run("check", path, *body)
        equal((result.code, result.err.count("separate them by commas")), (3, 1), result)
        command = re.search(r"python3 -c '[^']*' <IN >NEW.csv", result.out + result.err)
        check(command, result)
        subprocess.run(command.group().replace("<IN >NEW.csv", f"<{path} >{new}"), shell=True, check=True)
        result = eddy.run("check", new, *body)
        check(result.code == 0 and "requests        2" in result.out and '"x,\\"y\\"\\nz"' in result.out, name, result)
    with open(new, "rb") as file:
        for name in ("IN.CSV", "in.Csv.Gz"):
            file.seek(0)
            data = file.read()
            equal(eddy.run("check", eddy.file(name, data if name == "IN.CSV" else gzip.compress(data)), *body).code, 0, name)


# ---- retry ---------------------------------------------------------------------------------------

@claim
def retry_sends_only_failed_requests(eddy):
    failing = {"r1", "r4"}
    api = Api(eddy, lambda call: (400, {}, {"error": {}}) if call.id in failing else (200, {}, {}))
    path = eddy.file("in.jsonl", requests(6) + "{oops\n" + request(7))
    out, errors = eddy.file("out.jsonl"), eddy.file("out.errors.jsonl")
    common = [path, "-o", out, "--base-url", api.url, "--progress", "off"]
    equal(eddy.run("batch", *common, "--limit", "7").code, 1)  # r7 is not sent
    equal(sorted(ids_of(errors)), ["line-7", "r1", "r4"])
    del api.calls[:]
    failing.remove("r1")
    result = eddy.run("retry", *common)
    equal((result.code, sorted(api.ids())), (1, ["r1", "r4"]), result)
    check("eddy retry" in result.err, result)  # the command to repeat
    equal(sorted(ids_of(errors)), ["line-7", "r4"])
    equal(sorted(ids_of(out)), ["r0", "r1", "r2", "r3", "r5"])
    failing.clear()
    with open(path, "w", encoding="ascii") as file:
        file.write(requests(7) + request(7))  # the bad line is mended
    equal(eddy.run("retry", *common).code, 0)
    equal(sorted(ids_of(out)), ["r0", "r1", "r2", "r3", "r4", "r5", "r6"])
    check(not os.path.exists(errors), "the error of the bad line is gone")
    del api.calls[:]
    equal(eddy.run("batch", *common).code, 0)
    equal(sorted(api.ids()), ["r7"])


@claim
def error_of_a_line_that_was_corrected_is_removed(eddy):
    api = Api(eddy, lambda call: (200, {}, {}))
    path, out, errors = eddy.file("in.jsonl"), eddy.file("out.jsonl"), eddy.file("out.errors.jsonl")
    for content, left in ((requests(2) + "{oops\n{more\n", ["line-3", "line-4"]),
                          (requests(3) + "{more\n", ["line-4"])):
        with open(path, "w", encoding="ascii") as file:
            file.write(content)
        equal(eddy.run("batch", path, "-o", out, "--base-url", api.url).code, 1)
        equal(sorted(ids_of(errors)), left)


@claim
def retry_without_failures_sends_nothing(eddy):
    api = Api(eddy)
    path = eddy.file("in.jsonl", requests(3))
    out = eddy.file("out.jsonl")
    equal(eddy.run("batch", path, "-o", out, "--base-url", api.url, "--limit", "1").code, 0)
    result = eddy.run("retry", path, "-o", out, "--base-url", api.url)
    equal((result.code, len(api.calls)), (1, 1), result)
    check("does not exist" in result.err and "another --errors FILE" in result.err, result)
    check("2 requests of " in result.err and "have no answer: eddy batch sends them" in result.err, result)
    result = eddy.run("retry", "-", "-o", out, "--base-url", api.url, stdin=requests(3).encode())
    check(result.code == 0 and "does not exist" in result.err, result)
    check(not os.path.exists(eddy.file("out.errors.jsonl")), "the empty file is left")
    e2e.one_line(eddy.run("retry", path), 2, "-o OUT is missing")
    # A misspelled name.
    e2e.one_line(eddy.run("retry", path, "-o", out + "x", "--base-url", api.url), 2, "there is neither this file nor")
    check(not os.path.exists(out + "x"))
    check("eddy retry IN -o OUT" in eddy.run("retry", "--help").out)


@claim
def summary_of_a_retry_counts_the_requests_of_the_input(eddy):
    failing = {"r1"}
    api = Api(eddy, lambda call: (400 if call.id in failing else 200, {}, {}))
    common = [eddy.file("in.jsonl", requests(6)), "-o", eddy.file("out.jsonl"), "--base-url", api.url]
    equal(eddy.run("batch", *common, "--limit", "2").code, 1)
    failing.clear()
    result = eddy.run("retry", *common)
    check(result.code == 0 and re.search("answers in .*: 2 of 6\nneither an answer nor an error: 4 requests, "
                                         "which eddy batch sends\n", result.err), result)
    result = eddy.run("batch", *common, "--summary", "json")
    equal(json.loads(result.err.splitlines()[-1])["request_counts"], {"total": 6, "completed": 6, "failed": 0})


@claim
def answers_of_another_input_do_not_count(eddy):
    api = Api(eddy, lambda call: (400 if call.id == "r2" else 200, {}, {}))
    out = eddy.file("out.jsonl", answer("other") + answer("r0"))
    path = eddy.file("in.jsonl", requests(4))
    result = eddy.run("batch", path, "-o", out, "--base-url", api.url, "--limit", "1")
    check(re.search("answers in .*: 2 of 4\n", result.err), result)
    result = eddy.run("batch", path, "-o", out, "--base-url", api.url, "--summary", "json")
    equal(json.loads(result.err.splitlines()[-1])["request_counts"], {"total": 4, "completed": 3, "failed": 1})


@claim
def line_that_is_appended_during_the_run_counts(eddy):
    # The reader cannot be at the end when the first answer comes.
    path = eddy.file("in.jsonl", "".join(request(i, metadata={"pad": "x" * 4096}) for i in range(400)))

    def grow(call):
        if call.number == 0:
            with open(path, "a", encoding="ascii") as file:
                file.write(request("more"))
        return (400 if call.number == 1 else 200, {}, {})
    api = Api(eddy, grow)
    result = eddy.run("batch", path, "-o", eddy.file("out.jsonl"), "--base-url", api.url, "-c", "1")
    check(re.search("answers in .*: 400 of 401; failures in .*: 1\n", result.err), result)


# ---- sort ----------------------------------------------------------------------------------------

def shuffled(eddy, count, size=0):
    """Requests, a shuffled output with strange lines in it, and the sorted lines."""
    dice = random.Random(count)
    ids = [f"r{i}" if i % 3 else f"line-{i + 1}" for i in range(count)]
    path = eddy.file("in.jsonl", "".join(
        json.dumps({**({"custom_id": i} if i[0] == "r" else {}), "url": "/a", "body": {}}) + "\n"
        for i in ids))
    lines = [answer(i, dice.randrange(size + 1)) for i in ids]
    strange = [answer(f"zz{i}") for i in (3, 1, 2)] + ["not an answer\n", answer("line-0"),
                                                       answer(f"line-{count + 1}"), answer("zz3"),
                                                       answer("line-3")]
    mixed = list(lines)
    dice.shuffle(mixed)
    at = sorted((dice.randrange(count) for _ in strange), reverse=True)
    for line, place in zip(reversed(strange), at):
        mixed.insert(place, line)
    return path, eddy.file("out.jsonl", "".join(mixed)), "".join(lines + strange).encode()


def content_of(path):
    with open(path, "rb") as file:
        return file.read()


@claim
def sort_gives_the_order_of_the_requests(eddy):
    path, out, wanted = shuffled(eddy, 2000, 50)
    sorted_path = eddy.file("sorted.jsonl")
    result = eddy.run("sort", out, "--by", path, "-o", sorted_path)
    equal((result.code, result.out), (0, ""), result)
    check(content_of(sorted_path) == wanted, "wrong order")
    check("7 lines have ids" in result.err and "1 line is not an answer" in result.err, result)
    with open(path, "rb") as file:
        packed = eddy.file("in.gz", gzip.compress(file.read()))
    result = eddy.run("sort", "-", "--by", packed, stdin=content_of(out))
    check(result.code == 0 and result.raw == wanted, "wrong order from a pipe")


@claim
def sort_by_csv_and_of_errors_knows_ids_and_lines(eddy):
    path = eddy.file("in.csv", 'custom_id,text\nb,"two\nlines"\n,x\na,y\n')
    wanted = [answer(i) for i in ("b", "line-3", "a")]
    out = eddy.file("out.jsonl", "".join(reversed(wanted)) + "\n")
    result = eddy.run("sort", out, "--by", path, "-o", "-")
    equal((result.code, result.out, result.err), (0, "".join(wanted), ""), result)


@claim
def sort_of_more_than_the_memory_uses_a_temporary_file(eddy):
    path, out, wanted = shuffled(eddy, 20000, 1000)
    for memory in ("300k", "1M"):
        sorted_path = eddy.file(f"sorted-{memory}.jsonl")
        result = eddy.run("sort", out, "--by", path, "-o", sorted_path, "--memory", memory)
        check(result.code == 0 and content_of(sorted_path) == wanted, memory, result)
    result = eddy.run("sort", out, "--by", path, "--memory", "300k", env={**os.environ,
                                                                      "TMPDIR": "/nowhere"})
    check(result.code == 4 and "/nowhere" in result.err and result.out == "", result)
    equal(sorted(os.listdir(eddy.folder)),
          ["in.jsonl", "out.jsonl", "sorted-1M.jsonl", "sorted-300k.jsonl"])


@claim
def sort_keeps_lines_that_are_larger_than_its_memory(eddy):
    path = eddy.file("in.jsonl", requests(9))
    lines = [answer(f"r{i}", 400000 if i % 3 == 1 else i) for i in range(9)]
    out = eddy.file("out.jsonl", "".join(reversed(lines)))
    result = eddy.run("sort", out, "--by", path, "--memory", "300k")
    check(result.code == 0 and result.out == "".join(lines), result.err)


@claim
def sort_in_place_keeps_the_mode_and_the_link(eddy):
    path, out, wanted = shuffled(eddy, 100)
    os.chmod(out, 0o640)
    link = eddy.file("link.jsonl")
    os.symlink("out.jsonl", link)
    equal(eddy.run("sort", link, "--by", path, "-o", link).code, 0)
    check(content_of(out) == wanted and os.path.islink(link), "not sorted in place")
    equal(os.stat(out).st_mode & 0o777, 0o640)
    equal(len(os.listdir(eddy.folder)), 3)


@claim
def sort_of_a_file_that_a_run_writes_to_is_refused(eddy):
    path, out, _ = shuffled(eddy, 10)
    before = content_of(out)
    with open(out, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        e2e.one_line(eddy.run("sort", out, "--by", path, "-o", out), 6, "another eddy is writing")
    equal(content_of(out), before)
    e2e.one_line(eddy.run("sort", out, "--by", path, "-o", path), 2, "file of requests")
    e2e.one_line(eddy.run("sort", out, "--by", path, "-o", eddy.folder), 2, "not a regular file")
    e2e.one_line(eddy.run("sort", out), 2, "--by IN is missing")
    e2e.one_line(eddy.run("sort", out, "--by", path, "--memory", "1k"), 2, "--memory 1k")
    e2e.one_line(eddy.run("sort", out, "--by", eddy.file("none")), 3, "No such file")


@claim
def an_input_has_the_same_requests_in_each_form_and_from_each_place(eddy):
    if not shutil.which("zstd"):
        raise e2e.Skip("there is no zstd")
    mock = eddy.mock()
    letters = random.Random(1)
    count = 300  # more than 64 KiB, also when they are compressed
    text = "".join(json.dumps({"custom_id": f"r{i}", "url": f"/echo?{i}", "body": {
        "text": "".join(letters.choices("abcdefgh", k=1000))}}) + "\n" for i in range(count)).encode()
    for kind in ("plain", "gzip", "zstd"):
        data = compressed(kind, text)
        check(len(data) > 90000, kind, len(data))
        for way in ("file", "pipe", "fifo"):
            out = eddy.file(f"{kind}-{way}.jsonl")
            result = fed(eddy, way, data, lambda path, stdin, out=out: eddy.run(
                "batch", path, "-o", out, "--base-url", mock, stdin=stdin))
            equal((result.code, sorted(ids_of(out))), (0, sorted(f"r{i}" for i in range(count))), kind, way, result)
            result = fed(eddy, way, data, lambda path, stdin: eddy.run("check", path, stdin=stdin))
            check(result.code == 0 and re.search(rf"^requests +{count}$", result.out, re.M), kind, way, result)


@claim
def sort_of_files_that_do_not_belong_together_replaces_nothing(eddy):
    rows = eddy.file("rows.csv", "key,text\na,one\nb,two\n")
    out = eddy.file("out.jsonl", answer("b") + answer("a"))
    to = eddy.file("sorted.jsonl", "old\n")
    for args, words in (([rows, "--by", out], ["rows.csv: none of its lines is an answer", "-o of eddy batch"]),
                        ([out, "--by", rows], ["none of the ids is in ", "rows.csv; give --id-column NAME"]),
                        ([out, "--by", eddy.file("in.jsonl", requests(3))], ["none of the ids is in "])):
        result = eddy.run("sort", *args, "-o", to)
        check(result.code == 3 and all(word in result.err for word in words), args, result)
        equal(content_of(to), b"old\n", args)
        equal(eddy.run("sort", *args).out, "", args)
    equal(eddy.run("sort", out, "--by", rows, "--id-column", "key").out, answer("a") + answer("b"))
    equal(eddy.run("sort", eddy.file("none", ""), "--by", rows).code, 0)


@claim
def sort_that_ends_by_a_signal_leaves_all_files_as_they_were(eddy):
    path, out, _ = shuffled(eddy, 10)
    before = content_of(out)
    for signo in (signal.SIGINT, signal.SIGTERM):
        child = eddy.start("sort", "-", "--by", path, "-o", out, stdin=subprocess.PIPE)
        e2e.wait_until(lambda: glob.glob(out + ".new-*"), "the new file")
        child.send_signal(signo)
        equal(child.wait(e2e.SOON), 128 + signo)
        equal((sorted(os.listdir(eddy.folder)), content_of(out)), (["in.jsonl", "out.jsonl"], before))


@claim
def sort_into_a_full_disk_or_a_closed_pipe_ends_cleanly(eddy):
    path, out, _ = shuffled(eddy, 2000, 100)
    with open("/dev/full", "wb") as full:
        result = eddy.run("sort", out, "--by", path, stdout=full)
    check(result.code == 4 and "No space" in result.err, result)
    reader, writer = os.pipe()
    os.close(reader)
    try:
        equal(eddy.run("sort", out, "--by", path, stdout=writer).code, 0)
    finally:
        os.close(writer)


@claim
def sorted_output_is_a_checkpoint_as_before(eddy):
    api = Api(eddy)
    path = eddy.file("in.jsonl", requests(50))
    out = eddy.file("out.jsonl")
    equal(eddy.run("batch", path, "-o", out, "--base-url", api.url, "--limit", "30", "-c", "8").code, 0)
    equal(eddy.run("sort", out, "--by", path, "-o", out).code, 0)
    equal(eddy.run("batch", path, "-o", out, "--base-url", api.url).code, 0)
    equal((len(api.calls), len(lines_of(out))), (50, 50))
    equal(eddy.run("sort", out, "--by", path, "-o", out).code, 0)
    equal(ids_of(out), [f"r{i}" for i in range(50)])


e2e.main()
