"""test_select - `eddy select`: a CSV file comes back with columns of answers, each row once and in its order."""
import csv
import fcntl
import glob
import gzip
import io
import json
import os
import random
import resource
import signal
import subprocess

import e2e
from batch_api import Api
from e2e import check, claim, equal
from inputs import compressed, opened_to_write

TEXT = "/choices/0/message/content"


def chat(content, **more):
    return {"choices": [{"message": {"content": content}}], "usage": {"total_tokens": 7}, **more}


def answer(custom_id, content="x", **more):
    """A line of an output."""
    return json.dumps({"custom_id": custom_id, "error": None, **more, "response": {
        "status_code": 200, "request_id": "q", "body": content if isinstance(content, dict) else chat(content)}}) + "\n"


def failure(custom_id, code="request_timeout"):
    return json.dumps({"custom_id": custom_id, "response": None, "error": {"code": code, "message": "after 9 s"}}) + "\n"


def rows_of(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def odd_cells(count):
    """Texts with all that CSV has to quote, and other scripts."""
    letters = random.Random(3)
    return ["", " ", ",", '"', "\n", "\r\n", 'a "b", c', "=1+1", "007", "1e5", "null", "\u4e2d\u00e9\U0001f600", "x" * 70000] + \
        ["".join(letters.choices('ab ,"\n\r\t;\\{}', k=letters.randrange(30))) for _ in range(count)]


@claim
def csv_comes_back_in_its_order_with_the_answers(eddy):
    texts = odd_cells(300)
    api = Api(eddy, lambda call: (200, {}, chat(call.body["text"][::-1])))
    file = io.StringIO(newline="")
    csv.writer(file).writerows([["key", "text", "n"], *([f"k{i}", text, i] for i, text in enumerate(texts))])
    path, out, table = eddy.file("in.csv", file.getvalue()), eddy.file("out.jsonl"), eddy.file("table.csv")
    equal(eddy.run("batch", path, "-o", out, "--url", api.url + "/v1/chat/completions", "--id-column", "key",
                   "--body", '{"text":"{{text}}"}').code, 0)
    result = eddy.run("select", out, "--by", path, "--id-column", "key", "--keep", "*", "--select", f"answer={TEXT}",
                      "--select", "/usage/total_tokens", "-o", table)
    equal((result.code, result.out), (0, ""), result)
    check(f"table.csv: {len(texts)} rows: {len(texts)} answered, 0 failed, 0 not answered" in result.err, result)
    with open(table, newline="", encoding="utf-8") as got:
        rows = list(csv.reader(got, strict=True))
    equal(rows[0], ["key", "text", "n", "answer", "total_tokens", "error"])
    for i, text in enumerate(texts):
        equal(rows[i + 1], [f"k{i}", text, str(i), text[::-1], "7", ""])
    equal(len(rows), len(texts) + 1)


@claim
def output_of_a_shard_is_named_if_rows_are_not_answered(eddy):
    path = eddy.file("in.jsonl", "".join(json.dumps({"custom_id": name}) + "\n" for name in "abcd"))
    meta = {"x_meta": {"shard": "1/4 of 4096 bytes"}}
    out = eddy.file("out.jsonl", answer("b", **meta))
    said = "eddy select: the output is of shard 1/4 of 4,096 bytes of requests: eddy collect joins the outputs of all shards\n"
    result = eddy.run("select", out, "--by", path, "--select", f"answer={TEXT}")
    check(result.code == 0 and said in result.err, result)
    check("shard" not in eddy.run("select", out, "--select", f"answer={TEXT}").err)
    eddy.file("out.jsonl", answer("b", **meta) + answer("c", x_meta={"shard": "2/4 of 4096 bytes"}))
    result = eddy.run("select", out, "--by", path, "--select", f"answer={TEXT}")
    check("2 not answered" in result.err and "shard" not in result.err, result)


@claim
def rows_that_failed_or_have_no_answer_say_so(eddy):
    path = eddy.file("in.csv", "custom_id,text\na,1\nb,2\nc,3\nd,4\ne,5\n")
    out = eddy.file("out.jsonl", answer("d", "yes") + answer("a", chat(None)))
    refused = json.dumps({"custom_id": "b", "error": None, "response": {
        "status_code": 404, "body": {"error": {"message": 'no model "m"'}, "choices": []}}, "x_meta": {"attempts": 3}}) + "\n"
    eddy.file("out.errors.jsonl", refused + failure("c") + failure("d"))
    result = eddy.run("select", out, "--by", path, "--select", TEXT, "--select", "line:/x_meta/attempts")
    equal((result.code, rows_of(result.out)), (0, [
        ["custom_id", "content", "attempts", "error"], ["a", "", "", ""], ["b", "", "3", 'HTTP 404: no model "m"'],
        ["c", "", "", "request_timeout: after 9 s"], ["d", "yes", "", ""], ["e", "", "", "not answered"]]), result)
    check("5 rows: 2 answered, 2 failed, 1 not answered" in result.err, result)
    check("column attempts: 2 of 2 answers have no such value" in result.err and "column content" not in result.err, result)
    result = eddy.run("select", out, "--by", path, "--errors", eddy.file("none"), "--select", TEXT)
    check(result.code == 3 and "none" in result.err, result)
    result = eddy.run("select", out, "--by", path, "--errors", eddy.file("empty", ""), "--select", TEXT)
    check("2 answered, 0 failed, 3 not answered" in result.err, result)


@claim
def line_that_a_run_moves_is_not_missed(eddy):
    """The pipe lets the run act between the two reads: its other end opens when `eddy select` opens it."""
    path = eddy.file("in.csv", "custom_id\na\nb\n")
    for kind in ("answered", "failed", "failed first"):
        errors, out, pipe = (eddy.file(f"{kind}.{end}") for end in ("errors.jsonl", "jsonl", "pipe"))
        moved = out if kind == "answered" else errors
        for name in (errors, out):
            with open(name, "w", encoding="utf-8") as file:
                file.write(answer("a") if name == out else failure("a"))
        if kind == "failed first":
            os.remove(errors)
        os.mkfifo(pipe)
        if kind == "failed first":  # the errors file appears beside an output that is a pipe
            os.rename(out, out + ".old")
            os.rename(pipe, out)
            pipe = out
        args = [out, "--errors", pipe] if kind == "answered" else [pipe] if pipe == out else [pipe, "--errors", errors]
        child = eddy.start("select", *args, "--by", path, "--select", TEXT, stdout=subprocess.PIPE)
        with opened_to_write(pipe) as file:
            with open(moved, "a", encoding="utf-8") as end:
                end.write(answer("b") if kind == "answered" else failure("b"))
            file.write("" if kind == "answered" else answer("a"))
        text = child.communicate(timeout=e2e.SOON)[0]
        text = text.decode() if isinstance(text, bytes) else text
        equal(rows_of(text)[1:], [["a", "x", ""], ["b", "x", ""] if kind == "answered" else ["b", "", "request_timeout: after 9 s"]], kind)


@claim
def json_lines_keep_their_types_and_members(eddy):
    path = eddy.file("in.jsonl", '{"custom_id":"a","text":"x","n":1.50,"body":{"m":[1, 2]}}\n\n{"custom_id":"b"}\nhttp://h/\n')
    out = eddy.file("out.jsonl", answer("line-4", {"v": -0.10e1, "w": None, "x": {"y": "\u00e9"}}) + answer("a", {"v": "1"}))
    args = ["--by", path, "--keep", "n", "--keep", "model=/body/m", "--select", "/v", "--select", "/x", "--select", "b="]
    table = eddy.file("t.jsonl")
    equal(eddy.run("select", out, *args, "-o", table).code, 0)
    with open(table, encoding="utf-8") as file:
        lines = file.read().splitlines()
    equal(lines, ['{"custom_id":"a","n":1.50,"model":[1,2],"v":"1","x":null,"b":{"v":"1"},"error":null}',
                  '{"custom_id":"b","n":null,"model":null,"v":null,"x":null,"b":null,"error":"not answered"}',
                  '{"custom_id":"line-4","n":null,"model":null,"v":-1.0,"x":{"y":"\\u00e9"},'
                  '"b":{"v":-1.0,"w":null,"x":{"y":"\\u00e9"}},"error":null}'])
    equal(eddy.run("select", out, *args, "--to", "csv").out.splitlines()[1],
          'a,1.50,"[1,2]",1,,"{""v"":""1""}",')
    equal(eddy.run("select", out, *args, "--to", "json").out.splitlines(), lines)


@claim
def value_in_the_json_of_an_answer_is_a_column(eddy):
    out = eddy.file("out.jsonl", answer("a", '{"label": "good", "score": 0.10}') + answer("b", "Sure! Here it is"))
    result = eddy.run("select", out, "--select", TEXT + "#/label", "--select", f"s={TEXT}#/score")
    equal(rows_of(result.out), [["custom_id", "label", "s", "error"], ["a", "good", "0.10", ""], ["b", "", "", ""]], result)
    check("column label: 1 of 2 answers" in result.err, result)


@claim
def without_requests_the_order_is_that_of_the_answers(eddy):
    out = eddy.file("out.jsonl", answer("b", "old") + answer("a") + failure("z") + answer("b", "new") + "no answer\n")
    eddy.file("out.errors.jsonl", failure("c") + failure("a") + failure("c", "dns_error"))
    result = eddy.run("select", out, "--select", TEXT)
    equal(rows_of(result.out)[1:], [["b", "new", ""], ["a", "x", ""], ["z", "", "request_timeout: after 9 s"],
                                    ["c", "", "dns_error: after 9 s"]], result)
    for words in ("1 answer that a later one", "1 line is not an answer", "4 rows: 2 answered, 2 failed, 0 not answered"):
        check(words in result.err, words, result)


@claim
def lines_without_a_request_are_at_the_end_and_counted(eddy):
    path = eddy.file("in.csv", "custom_id,text\na,one\n")
    out = eddy.file("out.jsonl", answer("x", "1") + answer("a", "2") + '{"custom_id":"torn","resp')
    result = eddy.run("select", out, "--by", path, "--keep", "text", "--select", TEXT)
    equal((result.code, result.out), (0, "custom_id,text,content,error\na,one,2,\nx,,1,\n"), result)
    check("1 line has an id that " in result.err and "1 line is not an answer" in result.err, result)
    check("2 rows: 2 answered" in result.err, result)


@claim
def files_that_do_not_belong_together_replace_nothing(eddy):
    rows = eddy.file("rows.csv", "key,text\na,one\nb,two\n")
    out, to = eddy.file("out.jsonl", answer("b") + answer("a")), eddy.file("t.csv", "old\n")
    for args, words in (([rows, "--by", out], "none of its lines is an answer"), ([out, "--by", rows], "give --id-column NAME")):
        result = eddy.run("select", *args, "--select", TEXT, "-o", to)
        check(result.code == 3 and words in result.err, args, result)
        with open(to, encoding="utf-8") as file:
            equal(file.read(), "old\n", args)
    result = eddy.run("select", eddy.file("none.jsonl", ""), "--by", rows, "--id-column", "key", "--select", TEXT)
    equal((result.code, result.out), (0, "key,content,error\na,,not answered\nb,,not answered\n"), result)


@claim
def inputs_may_be_compressed_and_bytes_are_kept(eddy):
    rows = b'custom_id,text\na,caf\xe9\nb,"q""\xff\n"\n'
    wanted = b'custom_id,text,content,error\na,caf\xe9,x,\nb,"q""\xff\n",x,\n'
    out = (answer("b") + answer("a")).encode()
    to = eddy.file("t.csv")

    def check_table(*args, **options):
        result = eddy.run("select", *args, "--keep", "*", "--select", TEXT, "-o", to, **options)
        with open(to, "rb") as file:
            equal((result.code, file.read()), (0, wanted), args, result)

    for kind in ("plain", "gzip", "zstd"):
        path = eddy.file("in.csv" + {"plain": "", "gzip": ".gz", "zstd": ".zst"}[kind], compressed(kind, rows))
        answers = eddy.file("answers-" + kind, compressed(kind, out))
        check_table(answers, "--by", path)
    check_table("-", "--by", path, stdin=gzip.compress(out))
    check_table(answers, "--by", "-", "--format", "csv", stdin=rows)


@claim
def table_is_compressed_as_its_name_asks(eddy):
    out = eddy.file("out.jsonl.gz", gzip.compress("".join(answer(f"k{i}", str(i) * 50) for i in range(3000)).encode()))
    eddy.file("out.errors.jsonl.gz", gzip.compress(failure("z").encode()))
    for name in ("t.csv", "t.jsonl"):
        plain = eddy.run("select", out, "--select", TEXT, "-o", eddy.file(name))
        check(plain.code == 0 and "3,001 rows: 3,000 answered, 1 failed" in plain.err, plain)
        with open(eddy.file(name), "rb") as file:
            wanted = file.read()
        equal(wanted[:1], b"{" if name == "t.jsonl" else b"c", name)
        for end, unpack in ((".gz", ["gzip", "-dc"]), (".zst", ["zstd", "-dcq"])):
            equal(eddy.run("select", out, "--select", TEXT, "-o", eddy.file(name + end)).code, 0)
            check(os.path.getsize(eddy.file(name + end)) < len(wanted) / 5, name, end)
            equal(subprocess.run([*unpack, eddy.file(name + end)], capture_output=True, check=True).stdout, wanted, name, end)
    empty = eddy.file("empty.csv.gz")
    equal(eddy.run("sort", eddy.file("none", ""), "--by", eddy.file("in.csv", "custom_id\n"), "-o", empty).code, 0)
    with gzip.open(empty) as file:
        equal(file.read(), b"")


@claim
def sorted_answers_are_compressed_as_their_name_asks(eddy):
    text = "".join(answer(f"k{i}", "y" * 400) for i in range(300))
    path = eddy.file("in.jsonl", "".join(f'{{"custom_id":"k{i}"}}\n' for i in reversed(range(300))))
    wanted = "".join(answer(f"k{i}", "y" * 400) for i in reversed(range(300))).encode()
    out = eddy.file("out.jsonl.gz", gzip.compress(text.encode()))
    for to in (eddy.file("sorted.jsonl.gz"), out):
        equal(eddy.run("sort", out, "--by", path, "-o", to).code, 0)
        with gzip.open(to) as file:
            equal(file.read(), wanted, to)
    plain = eddy.file("out.jsonl", gzip.compress(text.encode()))
    e2e.one_line(eddy.run("sort", plain, "--by", path, "-o", plain), 2, "this file is compressed, and the sorted one is not")
    with gzip.open(plain) as file:
        equal(file.read(), text.encode())


@claim
def table_larger_than_the_memory_uses_a_temporary_file(eddy):
    ids = list(range(3000))
    path = eddy.file("in.csv", "custom_id,text\n" + "".join(f'k{i},"{"t" * (i % 900)}\n"\n' for i in ids))
    random.Random(1).shuffle(ids)
    out = eddy.file("out.jsonl", "".join(answer(f"k{i}", "y" * (i * 7 % 1000)) for i in ids))
    wanted = "custom_id,text,content,error\n" + "".join(
        f'k{i},"{"t" * (i % 900)}\n",{"y" * (i * 7 % 1000) or chr(34) * 2},\n' for i in range(3000))
    for memory in ("300k", "64M"):
        result = eddy.run("select", out, "--by", path, "--keep", "text", "--select", TEXT, "--memory", memory)
        check((result.code, result.out) == (0, wanted), memory, result.err, len(result.out))
    result = eddy.run("select", out, "--by", path, "--select", "/none")
    check("column none: 3,000 of 3,000 answers have no such value" in result.err and "3,000 rows: 3,000 answered" in result.err, result)
    result = eddy.run("select", out, "--by", path, "--keep", "text", "--select", TEXT, "--memory", "300k",
                      env={**os.environ, "TMPDIR": "/nowhere"})
    check(result.code == 4 and "/nowhere" in result.err and result.out == "", result)


@claim
def answers_are_judged_by_the_conditions_of_the_run(eddy):
    out = eddy.file("out.jsonl", answer("a", chat("x", done=True)) + answer("b", chat("y", done=False)) + json.dumps(
        {"custom_id": "c", "response": {"status_code": 404, "body": {"done": True}}, "error": None}) + "\n")
    result = eddy.run("select", out, "--select", "/done")
    equal([row[0::2] for row in rows_of(result.out)[1:]], [["a", ""], ["b", ""], ["c", "HTTP 404: {\"done\": true}"]], result)
    result = eddy.run("select", out, "--select", "/done", "--ok", 'json("/done") == true')
    equal(rows_of(result.out)[1:], [["a", "true", ""], ["b", "", 'answer_not_ok: {"choices": [{"message": {"content": "y"}}], '
                                                             '"usage": {"total_tokens": 7}, "done": false}'], ["c", "true", ""]])


@claim
def a_mistake_is_named_before_anything_is_written(eddy):
    path = eddy.file("in.csv", "custom_id,text,error\na,one,no\n")
    lines = eddy.file("in.jsonl", '{"custom_id":"a"}\n')
    out, to = eddy.file("out.jsonl", answer("a")), eddy.file("t.csv")
    errors = eddy.file("out.errors.jsonl", "")
    select = ["--select", TEXT]
    for args, words in (([], "name the file of answers"), ([out], "--select PTR is missing"),
                        ([out, path, *select], "did you mean --select"),
                        ([out, "--select", "choices[0]"], "not a JSON Pointer"),
                        ([out, "--select", ""], "the whole body, which needs a name"),
                        ([out, "--keep", "text", *select], "--keep needs the file of requests"),
                        ([out, "--id-column", "text", *select], "--id-column text needs the file of requests: give --by IN too"),
                        ([out, "--by", lines, "--id-column", "text", *select], "--id-column is for CSV"),
                        ([out, "--by", lines, "--keep", "*", *select], "keeps all columns of CSV"),
                        ([out, "--by", path, "--keep", "*", *select], "two columns are named error"),
                        ([out, "--by", path, "--keep", "tixt", *select], 'no column "tixt", which --keep names'),
                        ([out, *select, "--select", "content=/x"], "two columns are named content"),
                        ([out, *select, "--memory", "1k"], "--memory 1k"),
                        ([out, *select, "--to", "xlsx"], "--to xlsx"),
                        (["-", *select], "name the file of requests"),
                        (["/dev/stdin", *select], "a pipe has no order of its own"),
                        ([out, "--errors", "/dev/stdin", *select], "a pipe has no order of its own"),
                        (["-", "--by", "-", *select], "both standard input")):
        e2e.one_line(eddy.run("select", *args, "-o", to, stdin=b""), 2, words)
        check(not os.path.exists(to), args)
    for end in (".parquet", ".xlsx.gz", ".tsv", ".feather"):
        e2e.one_line(eddy.run("select", out, *select, "-o", to + end), 2, "the table is CSV or JSON lines")
        check(not os.path.exists(to + end), end)
    equal(eddy.run("select", out, *select, "-o", to + ".tsv", "--to", "csv").code, 0)
    for name in (out, path, errors):
        with open(name, "rb") as file:
            before = file.read()
        e2e.one_line(eddy.run("select", out, "--by", path, *select, "-o", name), 2, "this file is read for the table")
        with open(name, "rb") as file:
            equal(file.read(), before, name)
    schema = eddy.file("schema.json", "{}")
    for args in (["select", out, *select, "--schema", schema, "-o", schema], ["report", out, "--schema", schema, "-o", schema],
                 ["report", out, "--accept-failed-ids", errors, "--errors", schema, "-o", errors]):
        e2e.one_line(eddy.run(*args), 2, "this ")
        equal((os.path.getsize(schema), os.path.getsize(errors)), (2, 0), args)
    result = eddy.run("select", out, "--by", path, "--keep", "*", "--keep", "old=error", *select)
    equal((result.code, result.out), (0, "custom_id,text,old,content,error\na,one,no,x,\n"), result)


@claim
def a_table_that_is_not_complete_replaces_nothing(eddy):
    out = eddy.file("out.jsonl", "".join(answer(f"k{i}", "y" * 999) for i in range(200)))
    to = eddy.file("t.csv", "old\n")
    path = eddy.file("in.csv", "custom_id\nk1\n")
    for signo in (signal.SIGINT, signal.SIGTERM):
        child = eddy.start("select", "-", "--by", path, "--select", TEXT, "-o", to, stdin=subprocess.PIPE)
        e2e.wait_until(lambda: glob.glob(to + ".new-*"), "the new file")
        child.send_signal(signo)
        equal(child.wait(e2e.SOON), 128 + signo)
    with open(to, encoding="utf-8") as file:
        equal(file.read(), "old\n")
        fcntl.flock(file, fcntl.LOCK_EX)
        e2e.one_line(eddy.run("select", out, "--select", TEXT, "-o", to), 6, "another eddy is writing")
    with open("/dev/full", "wb") as full:
        result = eddy.run("select", out, "--select", TEXT, stdout=full)
    check(result.code == 4 and "No space" in result.err, result)
    for more in (["-o", to], ["-o", to + ".gz"], ["-o", to, "--memory", "300k"]):
        result = eddy.run("select", out, "--select", TEXT, *more, "--to", "csv",
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900)))
        check(result.code == 4 and "File too large" in result.err, more, result)
    reader, writer = os.pipe()
    os.close(reader)
    try:
        equal(eddy.run("select", out, "--select", TEXT, stdout=writer).code, 0)
    finally:
        os.close(writer)
    equal(sorted(os.listdir(eddy.folder)), ["in.csv", "out.jsonl", "t.csv"])


e2e.main()
