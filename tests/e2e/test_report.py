"""test_report - `eddy report`: the page of known files, during a run, and of hostile ones."""
import collections
import datetime
import gzip
import html
import html.parser
import json
import math
import os
import random
import re
import shutil
import subprocess

import e2e
from batch_api import Api
from e2e import check, claim, equal
from inputs import compressed, opened_to_write

START_MS = 1790000000000
VOID = {"meta", "br", "line", "circle", "rect", "polyline"}
EVIL = '<script>alert("1")</script>&\'<img src=x onerror=alert(2)>\u202e\u0000]]>-->'


class Page(html.parser.HTMLParser):
    """Checks that elements are closed in order; keeps texts, marks and all attributes."""

    def __init__(self, text):
        super().__init__()
        self.open, self.marks, self.plots, self.attributes = [], {}, [], []
        self.texts, self.tags = [], []
        self.tables, self.tiles = {}, {}
        check(text.startswith("<!DOCTYPE html>\n"), text[:100])
        self.feed(text)
        self.close()
        equal(self.open, [])

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        names = [name for name, _ in attrs]
        equal(len(names), len(set(names)), tag, attrs)
        attrs = dict(attrs)
        if tag not in VOID or not self.open or tag in ("rect",):
            self.open.append((tag, attrs))
        if tag == "svg":
            self.plots.append(attrs["aria-label"])
            self.marks[attrs["aria-label"]] = 0
        if "mark" in attrs.get("class", "").split():
            self.marks[self.plots[-1]] += 1
        if tag == "table":
            self.tables[attrs["id"]] = []
        if tag == "tr":
            self.rows().append([])
        if tag in ("td", "th"):
            self.rows()[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if self.open and self.open[-1][0] == tag:
            self.open.pop()

    def handle_endtag(self, tag):
        check(self.open and self.open[-1][0] == tag, "closes", tag, "inside", self.open[-3:])
        self.open.pop()

    def handle_data(self, data):
        if not self.open:
            return
        self.texts.append(data)
        inside = [tag for tag, _ in self.open]
        if "td" in inside or "th" in inside:
            self.rows()[-1][-1] += data
        if inside[-1] == "dt":
            self.tile = data
            self.tiles[data] = ""
        if inside[-1] == "dd":
            self.tiles[self.tile] += data

    def rows(self):
        return self.tables[list(self.tables)[-1]]


def page_of(text):
    """Read a page, which must not refer to anything outside it."""
    page = Page(text)
    for name, value in page.attributes:
        check(name not in ("href", "src", "srcset", "action", "data", "poster", "xlink:href"), name)
        check(not name.startswith("on"), name)
        if name != "aria-label":
            check("//" not in (value or ""), name, value)
    for tag in ("script", "img", "link", "iframe", "object", "base", "form"):
        check(tag not in page.tags, tag)
    style = re.search(r"<style>(.*?)</style>", text, re.S).group(1)
    check("url(" not in style and "@import" not in style)
    check("default-src 'none'" in text)
    return page


def meta(number, at_ms, total_ms, attempts=1, endpoint="http://127.0.0.1:8000", tokens=None):
    values = {"input_line": number, "attempts": attempts, "endpoint": endpoint,
              "completed_at_ms": at_ms, "t_queue_ms": 0.5, "t_first_ms": round(total_ms / 3, 1),
              "t_total_ms": round(total_ms, 1)}
    if tokens:
        values.update(input_tokens=tokens[0], output_tokens=tokens[1])
    return values


def answer(number, at_ms, total_ms, **more):
    return {"id": f"batch_req_{number}", "custom_id": f"id-{number}",
            "response": {"status_code": 200, "request_id": "r", "body": {"n": number}},
            "error": None, "x_meta": meta(number, at_ms, total_ms, **more)}


def refused(number, at_ms, status, message, **more):
    return {"id": f"batch_req_{number}", "custom_id": f"id-{number}",
            "response": {"status_code": status, "request_id": "r",
                         "body": {"error": {"message": message}}},
            "error": None, "x_meta": meta(number, at_ms, 80, **more)}


def failure(number, at_ms, code, message, **more):
    return {"id": f"batch_req_{number}", "custom_id": f"id-{number}", "response": None,
            "error": {"code": code, "message": message}, "x_meta": meta(number, at_ms, 5000, **more)}


def lines(values):
    return "".join(json.dumps(value) + "\n" for value in values)


def run_files(eddy, count=3000, seconds=600):
    """The files of a run that has waves, a pause, and failures."""
    dice = random.Random(7)
    answers, errors, log = [], [], []
    for number in range(count):
        at = number / count * seconds
        if at > seconds * 0.55:
            at += seconds / 12
        at_ms = START_MS + int(at * 1000)
        slow = 3 if seconds * 0.3 < at < seconds * 0.45 else 1
        total = 300 * slow * math.exp(dice.gauss(0, 0.5))
        endpoint = f"http://10.0.0.{number % 3 + 1}:8000"
        kind = dice.random()
        if kind < 0.01:
            errors.append(failure(number, at_ms, "request_timeout",
                                  "the limit of --timeout passed", attempts=6, endpoint=endpoint))
        elif kind < 0.03:
            errors.append(refused(number, at_ms, 400, "max_tokens is too large",
                                  endpoint=endpoint))
        elif kind < 0.035:
            errors.append(refused(number, at_ms, 503, "overloaded", attempts=6,
                                  endpoint=endpoint))
        else:
            answers.append(answer(number, at_ms, total, endpoint=endpoint,
                                  attempts=1 + (dice.random() < 0.05),
                                  tokens=(dice.randrange(200, 900), dice.randrange(20, 300))))
        if slow == 3 and dice.random() < 0.3:
            when = datetime.datetime.fromtimestamp(at_ms / 1000, datetime.timezone.utc)
            log.append({"time": when.strftime("%Y-%m-%dT%H:%M:%S.250Z"),
                        "level": "info", "message": "attempt", "custom_id": f"id-{number}",
                        "attempt": 1, "status": 429, "ms": 3.1, "cause": ""})
    return (eddy.file("out.jsonl", lines(answers)), eddy.file("out.errors.jsonl", lines(errors)),
            eddy.file("log.jsonl", lines(log)), answers, errors, log)


def report(eddy, *args, code=0):
    result = eddy.run("report", *args)
    equal(result.code, code, result)
    return result


@claim
def the_page_has_all_totals_tables_and_plots(eddy):
    out, _, log, answers, errors, refusals = run_files(eddy)
    result = report(eddy, out, "--log", log, "--price", "0.15/0.60", "--title", "Run <7>")
    sizes = collections.Counter((line["error"] or {}).get("code") or f"HTTP {line['response']['status_code']}"
                                for line in errors).most_common()
    printed = result.err.splitlines()
    equal(result.out, "")
    check(printed[0].startswith(f"eddy report: {len(answers):,} answers, {len(errors)} failed; give --by IN"), result)
    equal([line.split(", such as id-")[0] for line in printed[1:-1]], [f"{count} failed: {cause}" for cause, count in sizes])
    equal(printed[-1], f"the page: {out}.html")
    equal(sorted(os.listdir(eddy.folder)),
          ["log.jsonl", "out.errors.jsonl", "out.jsonl", "out.jsonl.html"])
    with open(out + ".html", encoding="utf-8") as file:
        page = page_of(file.read())
    equal(page.plots,
          ["Answers per second over time", "Latency over time",
           "Histogram of latencies on a log scale", "Failed requests by cause",
           "Refused attempts over time", "Tokens per second over time", "Tokens up to each time",
           "Cost up to each time"])
    for plot, marks in page.marks.items():
        check(marks >= (1 if "Cost" in plot else 2), plot, marks)
    check("Run <7>" in page.texts)
    equal(page.tiles["Requests"], "3,000")
    equal(page.tiles["Failed"], str(len(errors)))
    equal(page.tiles["Refusals"], str(len(refusals)))
    tokens = [sum(line["x_meta"][key] for line in answers)
              for key in ("input_tokens", "output_tokens")]
    equal(page.tiles["Input tokens"], f"{tokens[0]:,}")
    equal(page.tiles["Output tokens"], f"{tokens[1]:,}")
    equal(float(page.tiles["Cost"]), round((tokens[0] * .15 + tokens[1] * .6) / 1e6, 4))
    equal(sum(int(row[1].replace(",", "")) for row in page.tables["endpoints"][1:]), 3000)
    slowest = sorted(answers + errors, key=lambda line: -line["x_meta"]["t_total_ms"])[:10]
    equal(sorted(line["x_meta"]["t_total_ms"] for line in slowest)[0] / 1000,
          float(page.tables["slowest"][10][1].split(" ")[0]))
    first = {}  # of each cause
    for line in sorted(errors, key=lambda line: line["x_meta"]["completed_at_ms"]):
        first.setdefault((line["error"] or {}).get("code") or line["response"]["status_code"], line["custom_id"])
    check(len(errors) > 10 > len(first) > 1, first)
    equal([row[0] for row in page.tables["errors"][1:]], [str(count) for _, count in sizes])
    equal(sorted(row[3] for row in page.tables["errors"][1:]), sorted(first.values()))


@claim
def the_report_begins_with_missing_answers(eddy):
    rows = [{"custom_id": f"id-{n}", "method": "POST", "url": "/", "body": {}} for n in range(1, 5)]
    table = eddy.file("in.csv", "name,text\n" + "".join(f"id-{n},x\n" for n in range(1, 5)))
    packed = eddy.file("in.jsonl.gz", gzip.compress(lines(rows).encode()))
    failures = eddy.file("out.errors.jsonl", lines([refused(3, START_MS, 400, "bad")]))
    end = ": run the command of eddy batch again"
    for_good = " for good: correct them, or accept them by --accept-failed"
    for numbers, said in (([1, 2], f"not complete: 1 of 4 requests has no answer, 1 failed for good{end}"),
                          ([1, 2, 4], f"not complete: 1 of 4 requests failed{for_good}"),
                          ([1, 2, 3, 4], "complete: all 4 requests have an answer")):
        out = eddy.file("out.jsonl", lines(answer(n, START_MS + n, 10) for n in numbers))
        for by in ([eddy.file("in.jsonl", lines(rows))], [packed], [table, "--id-column", "name"]):
            result = report(eddy, out, "--by", *by)
            equal(result.err.splitlines()[0], f"eddy report: {said}")
            with open(out + ".html", encoding="utf-8") as file:
                texts = [text for text in page_of(file.read()).texts if text.strip()]
            equal(texts[2:4], ["out.jsonl", said])
    equal(failures, eddy.file("out.errors.jsonl"))
    # A line that is not a request has its error under its number.
    bad = eddy.file("bad.jsonl", lines(rows[:1]) + "{not json\n")
    eddy.file("out.errors.jsonl", lines([{**failure(2, START_MS, "invalid_request_line", "m"), "custom_id": "line-2"}]))
    out = eddy.file("out.jsonl", lines([answer(1, START_MS, 10), answer(9, START_MS, 10)]))
    result = report(eddy, out, "--by", bad)
    equal(result.err.splitlines()[:2], [f"eddy report: not complete: 1 of 2 requests failed{end}",
                                        f"1 line has an id that {bad} does not have"])
    equal(eddy.run("report", out, "--by", eddy.file("none")).code, 3)


@claim
def failures_count_if_their_requests_have_no_answer(eddy):
    """An active run has not yet removed old failures; a file of failures may be that of several inputs."""
    rows = eddy.file("in.jsonl", lines({"custom_id": f"id-{n}", "url": "/", "body": {}} for n in range(1, 5)))
    out = eddy.file("out.jsonl", lines([refused(1, START_MS, 500, "old"), answer(1, START_MS, 10), answer(2, START_MS, 10),
                                        refused(4, START_MS, 400, "now"), answer(9, START_MS, 10)]))
    errors = [refused(2, START_MS, 429, "slow"), failure(3, START_MS, "dns_error", "a"), refused(7, START_MS, 404, "b"),
              failure(3, START_MS + 1, "request_timeout", "c")]
    eddy.file("out.errors.jsonl", lines(errors))
    result = report(eddy, out, "--by", rows)
    equal(result.err.splitlines()[:4], [
        "eddy report: not complete: 2 of 4 requests failed, 1 of them for good: run the command of eddy batch again",
        f"2 lines have an id that {rows} does not have", "1 failed: request_timeout, such as id-3: c",
        "1 failed: HTTP 400, such as id-4: now"], result)
    page = page_of(report(eddy, out, "--by", rows, "-o", "-").out)
    equal((page.tiles["Requests"], page.tiles["OK"][0], page.tiles["Failed"][0]), ("4", "2", "2"))
    check("have an answer or a later failure, or are left out: 3." in "".join(page.texts), page.texts)
    equal(len(page.tables["errors"]), 3)
    equal(page_of(report(eddy, out, "-o", "-").out).tiles["Requests"], "9")
    # The failures are read twice, so they cannot come from a pipe.
    result = eddy.run("report", out, "--by", rows, "--errors", "/dev/stdin", "-o", "-", stdin=lines(errors).encode())
    e2e.one_line(result, 3, "a pipe cannot be read twice")


@claim
def an_answer_is_not_missed_whose_failure_a_run_removes(eddy):
    """A run adds the answer first, and then removes the failure: the failures are opened before the answers."""
    rows = eddy.file("in.jsonl", lines({"custom_id": f"id-{n}", "url": "/", "body": {}} for n in (1, 2)))
    out, errors = eddy.file("out"), eddy.file("errors")
    os.mkfifo(out)
    os.mkfifo(errors)
    child = eddy.start("report", out, "--by", rows, "--errors", errors, "-o", "/dev/null")
    with opened_to_write(errors), opened_to_write(out) as file:
        file.write(lines([answer(1, START_MS, 10), answer(2, START_MS, 10)]))
    text = child.communicate(timeout=e2e.SOON)[1].decode()
    check("complete: all 2 requests have an answer" in text, text)


@claim
def ids_of_another_column_are_refused(eddy):
    table = eddy.file("in.csv", "name,text\nid-1,x\n")
    out = eddy.file("out.jsonl", lines([answer(1, START_MS, 10)]))
    result = eddy.run("report", out, "--by", table, "-o", "-")
    check(result.code == 3 and "none of the ids is in" in result.err and "give --id-column NAME" in result.err, result)
    equal(result.out, "")
    equal(report(eddy, out, "--by", table, "--id-column", "name", "-o", "-").code, 0)
    # A run that has not written a line yet has a page.
    equal(report(eddy, eddy.file("none.jsonl", ""), "--by", table, "-o", "-").code, 0)


@claim
def the_shard_of_an_output_is_that_of_all_its_answers(eddy):
    rows = lines({"custom_id": f"id-{n}", "url": "/", "body": {}} for n in range(1, 9))
    path, size = eddy.file("in.jsonl", rows), len(rows)  # each shard of four has two lines

    def marked(number, shard):
        line = answer(number, START_MS, 10)
        return {**line, "x_meta": {**line["x_meta"], "shard": f"{shard} of {size} bytes"}}

    out = eddy.file("out.jsonl", lines([marked(3, "1/4")]))
    whole = f"the output is of shard 1/4 of {size} bytes of requests"
    said = report(eddy, out, "--by", path).err.splitlines()
    equal(said[1:2], [f"{whole}: add --shard 1/4 to count only its requests"], said)
    os.rename(out, eddy.file("out.1.jsonl", ""))
    report(eddy, eddy.file("out.%i.jsonl"), "--by", path, "--shard", "1/4", "-o", eddy.file("page.%i.html"))
    check(os.path.exists(eddy.file("page.1.html")))
    os.rename(eddy.file("out.1.jsonl"), out)
    said = report(eddy, out, "--by", path, "--shard", "1/4").err
    check("shard 1/4: not complete: 1 of 2 requests has no answer" in said and whole not in said, said)
    # Another shard, also of another number that has the same lines.
    e2e.one_line(report(eddy, out, "--by", path, "--shard", "2/4", code=3), 3,
                 "out.jsonl: the output is of shard 1/4, not of 2/4: give --shard 1/4")
    said = report(eddy, out, "--by", path, "--shard", "0/2").err.splitlines()
    equal(said[1], f"{whole}, not of shard 0/2", said)
    # An output of all shards, and one without marks, is of none.
    for last in (marked(6, "2/4"), answer(6, START_MS, 10)):
        out = eddy.file("out.jsonl", lines([marked(3, "1/4"), last]))
        said = report(eddy, out, "--by", path).err
        check("not complete: 6 of 8" in said and "shard" not in said, said)
        said = report(eddy, out, "--by", path, "--shard", "1/4").err.splitlines()
        equal(said[1], f"1 line has an id that shard 1/4 of {path} does not have", said)
        e2e.one_line(report(eddy, out, "--by", path, "--shard", "0/4", code=3), 3, f"none of the ids is in shard 0/4 of {path}")


@claim
def the_status_shows_whether_all_is_complete(eddy):
    rows = eddy.file("in.jsonl", lines({"custom_id": f"id-{n}", "url": "/", "body": {}} for n in range(1, 3)))
    out = eddy.file("out.jsonl", lines([answer(1, START_MS, 10)]))
    check_it = ["--by", rows, "--check"]
    report(eddy, out, "--by", rows)
    report(eddy, out, *check_it, code=1)
    eddy.file("out.errors.jsonl", lines([{**refused(2, START_MS, 400, "m"), "x_meta": {"final": True}}]))
    report(eddy, out, *check_it, code=1)
    report(eddy, out, *check_it, "--accept-failed")
    check(os.path.exists(out + ".html"))
    report(eddy, eddy.file("both.jsonl", lines([answer(n, START_MS, 10) for n in (1, 2)])), *check_it)
    e2e.one_line(eddy.run("report", out, "--check"), 2, "--check needs --by IN")


@claim
def table_without_rows_is_complete(eddy):
    empty = ["--skip-empty", "--body", '{"t":"{{text}}"}', "--url", "/"]
    for text in ("", lines([answer(1, START_MS, 10)])):  # none, and those of another day
        out = eddy.file("out.jsonl", text)
        for content, args, words in (("custom_id,text\n", (), "the file of requests has no rows"),
                                     ("custom_id,text\r\n,\r\n", (), "the file of requests has no rows"),
                                     ("custom_id,text\na, \n", empty, "all requests are empty")):
            result = report(eddy, out, "--by", eddy.file("in.csv", content), "--check", *args)
            equal(result.err.splitlines()[0], "eddy report: complete: " + words, result)
        # An empty file is no table, as in a run, and most likely a mistake.
        result = eddy.run("report", out, "--by", eddy.file("in.csv", ""), "--check")
        equal(result.code, 3 if text else 1, result)


@claim
def requests_that_are_left_out_are_not_missing(eddy):
    url = eddy.mock("--latency", "1ms")
    table = eddy.file("in.csv", "key,text,note\n" + "".join(f"k{n},{'t' if n % 4 else ' '},n\n" for n in range(20)))
    out, body = eddy.file("out.jsonl"), eddy.file("body.json", '{"model":"m","input":"{{text}}"}')
    same = ["--id-column", "key", "--skip-empty", "--body", "@" + body, "--url", "/v1/embeddings"]
    result = eddy.run("batch", table, "-o", out, "--base-url", url, *same)
    check(result.code == 0 and "15 ok" in result.err, result)
    result = report(eddy, out, "--by", table, *same, "--check")
    equal(result.err.splitlines()[:2], ["eddy report: complete: all 15 requests have an answer",
                                        "5 requests are empty, and are left out"], result)
    check("not complete: 5 of 20" in report(eddy, out, "--by", table, "--id-column", "key").err)
    result = eddy.run("select", out, "--by", table, *same, "--select", "t=/usage/total_tokens")
    equal([line for line in result.out.splitlines() if ",skipped: empty" in line], [f"k{n},,skipped: empty" for n in range(0, 20, 4)])
    check("20 rows: 15 answered, 0 failed, 0 not answered, 5 empty" in result.err, result)
    for args, words in ((["--skip-empty", "--by", table], "give also --body, --url and -H as the run had them"), (["--skip-empty"], "--skip-empty needs"),
                        (["--skip-empty", "--by", table, "--body", "{"], "--body"),
                        (["--skip-empty", "--by", table, "--body", "@" + out + "x"], "--body @"),
                        (["--skip-empty", "--by", table, "--url", "x{{text}}"], "--url")):
        e2e.one_line(eddy.run("report", out, *args), 2, words)
        e2e.one_line(eddy.run("select", out, "--select", "/usage", *args), 2, words)


@claim
def refusals_of_the_log_are_those_of_the_vendors(eddy):
    answers = iter([(503, {"Retry-After": "0"}, {}), (503, {}, {}), (402, {"Retry-After": "0"}, {})])
    api = Api(eddy, lambda call: next(answers, (200, {}, {})))
    requests = eddy.file("in.jsonl", lines([{"custom_id": "c", "url": "/v1/x", "body": {}}]))
    out, log = eddy.file("out.jsonl"), eddy.file("log.jsonl")
    eddy.run("batch", requests, "--base-url", api.url, "-o", out, "--log", log, "--retry-base", "1ms")
    with open(log, encoding="utf-8") as file:
        attempts = [json.loads(line) for line in file if '"attempt"' in line]
    equal([(line["status"], line["refused"]) for line in attempts], [(503, True), (503, False), (402, True), (200, False)])
    equal(page_of(report(eddy, out, "--log", log, "-o", "-").out).tiles["Refusals"][0], "2")
    lead = {"time": "2026-11-23T12:30:05.123Z", "message": "attempt"}
    log = eddy.file("log.jsonl", lines([{**lead, "status": 503, "refused": True}, {**lead, "status": 503, "refused": False},
                                        {**lead, "status": 402, "refused": True}, {**lead, "status": 429}]))
    equal(page_of(report(eddy, out, "--log", log, "-o", "-").out).tiles["Refusals"][0], "3")


@claim
def causes_are_grouped_by_the_form_of_their_messages(eddy):
    errors = [refused(n, START_MS + n, 400, f"max_tokens {4097 + n} is above 4096" if n % 3 else f"no model 'm{n}'")
              for n in range(9)]
    errors += [refused(n, START_MS + n, 400 + n, "m") for n in range(50, 80)]
    eddy.file("out.errors.jsonl", lines(errors))
    text = report(eddy, eddy.file("out.jsonl", lines([answer(1, START_MS, 10)])), "-o", "-").out
    page = page_of(text)
    rows = page.tables["errors"][1:]
    equal([row[:4] for row in rows[:2]], [["6", "HTTP 400", "max_tokens 4098 is above 4096", "id-1"],
                                          ["3", "HTTP 400", "no model 'm0'", "id-0"]])
    equal((len(rows), rows[-1][:2]), (21, ["12", "12 other causes"]))


@claim
def the_file_of_a_run_that_goes_on_is_read_as_it_is(eddy):
    whole = lines([answer(1, START_MS, 10), answer(2, START_MS + 900, 20)])
    text = report(eddy, eddy.file("a", whole + '{"id":"batch_req_3","custom'), "-o", "-").out
    page = page_of(text)
    equal(page.tiles["Requests"], "2")
    check("A last line was not complete" in text)
    check("Lines that are not answers" not in text)
    # A whole line without its line feed counts.
    text = report(eddy, eddy.file("b", whole + lines([answer(3, START_MS, 1)])[:-1]), "-o", "-").out
    equal(page_of(text).tiles["Requests"], "3")
    # An empty file is that of a run that has just begun.
    text = report(eddy, eddy.file("c", ""), "-o", "-").out
    equal(page_of(text).tiles["Requests"], "0")
    # A locked one is that of a run.
    with open(eddy.file("a"), "rb") as file:
        e2e.fcntl.flock(file, e2e.fcntl.LOCK_EX)
        result = report(eddy, eddy.file("a"), "-o", "-")
        check("eddy report: a run is active: 2 answers, 0 failed so far; give --by IN" in result.err, result)
        rows = eddy.file("in.jsonl", lines({"custom_id": f"id-{n}", "url": "/", "body": {}} for n in range(4)))
        result = report(eddy, eddy.file("a"), "--by", rows, "-o", "-")
        check("eddy report: a run is active: 2 of 4 requests have an answer so far" in result.err, result)
        check("a run is active" in "".join(page_of(result.out).texts))


@claim
def files_that_were_compressed_after_the_run_have_the_same_page(eddy):
    out, errors, log, *_ = run_files(eddy)
    page = report(eddy, out, "--log", log, "--title", "t", "-o", "-").out
    for kind, end in (("gzip", ".gz"), ("zstd", ".zst")):
        for path in (out, errors, log):
            with open(path, "rb") as file:
                eddy.file(os.path.basename(path) + end, compressed(kind, file.read()))
    os.remove(errors)
    for end in (".gz", ".zst"):
        text = report(eddy, out + end, "--log", log + end, "--title", "t", "-o", "-").out
        equal(re.sub("out[.a-z]*|log[.a-z]*|2[0-9-]+ [0-9:]+", "", text), re.sub("out[.a-z]*|log[.a-z]*|2[0-9-]+ [0-9:]+", "", page))
    with open(out + ".gz", "rb") as file:
        torn = eddy.file("torn.gz", file.read()[:-100])
    check("damaged or end early" in report(eddy, torn, "-o", "-", code=3).err)


@claim
def damaged_lines_are_counted(eddy):
    content = lines([answer(1, START_MS, 10)]).encode() + b"{}\nnot json\n\xff\xfe\n\n\0\0\0\n"
    text = report(eddy, eddy.file("out", content), "-o", "-").out
    check("Lines that are not answers, and do not count: 4." in "".join(page_of(text).texts), text)


@claim
def hostile_texts_are_only_texts(eddy):
    line = failure(1, START_MS, EVIL, EVIL, endpoint=EVIL)
    line["custom_id"] = EVIL
    body = refused(2, START_MS, 500, EVIL, endpoint=EVIL)
    body["custom_id"] = "\ufeff" + EVIL
    plain = answer(3, START_MS, 10, endpoint=EVIL * 99)
    plain["custom_id"] = EVIL * 9
    vllm = {"id": EVIL, "custom_id": EVIL, "response": None, "error": EVIL}
    bad = [{**answer(4, START_MS, 1), "x_meta": values} for values in (
        EVIL, [], 1, {"attempts": EVIL, "endpoint": [EVIL], "completed_at_ms": -1,
                      "t_total_ms": 1e300, "t_queue_ms": EVIL, "input_tokens": 2 ** 64},
        {"completed_at_ms": 2 ** 63 - 1, "t_total_ms": 1e10, "attempts": 2 ** 31},
        {"completed_at_ms": 9223372036854, "input_tokens": 2 ** 60},
        {"completed_at_ms": 9223372036855}, {"completed_at_ms": 253402300799999},
        {"completed_at_ms": 1, "t_total_ms": 1e10, "t_queue_ms": 1e10})]
    name = EVIL.replace("/", "").replace("\0", "")
    text = report(eddy, eddy.file(name, lines([line, body, plain, vllm] + bad)), "--title",
                  EVIL.replace("\0", ""), "-o", "-", "--price", "1000000/1000000").out
    page = page_of(text)
    equal(page.tiles["Requests"], "13")
    equal(page.tiles["Failed"], "3")
    check("2262-04-11 23:47:16 UTC" in text)
    check("<script" not in text and "<img" not in text)
    check("\0" not in text)
    shown = EVIL.replace("\0", " ")
    check(any(shown in row[3] for row in page.tables["errors"]), page.tables["errors"])
    check(any(shown in row[2] for row in page.tables["errors"]), page.tables["errors"])
    return text


@claim
def files_of_others_have_a_page_without_times(eddy):
    openai = [{"id": "batch_req_1", "custom_id": "a",
               "response": {"status_code": 200, "request_id": "r", "body": {
                   "usage": {"prompt_tokens": 24, "completion_tokens": 15, "total_tokens": 39}}},
               "error": None},
              {"id": "vllm-2", "custom_id": "b", "response": None, "error": "engine died"}]
    page = page_of(report(eddy, eddy.file("o", lines(openai)), "-o", "-").out)
    equal(page.plots, ["Failed requests by cause"])
    equal((page.tiles["Requests"], page.tiles["Input tokens"]), ("2", "24"))
    equal(page.tables["errors"][1][2], "engine died")
    check("Wall time" not in page.tiles)


@claim
def percentiles_of_the_table_are_those_of_the_tiles(eddy):
    answers = [answer(i, START_MS + i, 200.2 + i * 0.06) for i in range(100)]
    page = page_of(report(eddy, eddy.file("o", lines(answers)), "-o", "-").out)
    equal(page.tables["endpoints"][1][5:7], [page.tiles["Latency p50"], page.tiles["Latency p99"]])


@claim
def one_answer_has_a_page(eddy):
    page = page_of(report(eddy, eddy.file("o", lines([answer(1, START_MS, 1)])), "-o", "-").out)
    equal(page.tiles["Latency p50"], "1 ms")
    equal(len(page.plots), 3)
    check(all(page.marks.values()), page.marks)


@claim
def a_run_of_eddy_batch_has_a_page(eddy):
    url = eddy.mock("--latency", "20ms", "--error-rate", "0.3")
    requests = eddy.file("in.jsonl", lines(
        {"custom_id": f"c{n}", "method": "POST", "url": "/v1/chat/completions",
         "body": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "a b"}]}}
        for n in range(200)))
    out, log = eddy.file("out.jsonl"), eddy.file("log.jsonl")
    eddy.run("batch", requests, "--base-url", url, "-o", out, "--log", log, "--max-attempts", "2",
             "--retry-base", "1ms", "--progress", "off")
    page = page_of(report(eddy, out, "--log", log, "-o", "-").out)
    with open(out, encoding="utf-8") as file:
        equal(page.tiles["OK"], str(len(file.readlines())))
    equal(page.tiles["Requests"], "200")
    check(int(page.tiles["Attempts"]) > 200, page.tiles)
    check(int(page.tiles["Input tokens"].replace(",", "")) > 0, page.tiles)
    check("Latency over time" in page.plots, page.plots)
    equal(page.tables["endpoints"][1][:2], [url.rstrip("/"), "200"])
    text = " ".join(page.texts)
    check("Lines that are not answers" not in text and "Lines of the log" not in text)


@claim
def many_lines_take_bounded_memory(eddy):
    path = eddy.file("big")
    with open(path, "w", encoding="ascii") as file:
        for number in range(0, 200000, 1000):
            file.write(lines(answer(n, START_MS + n * 977, 5 + n % 7000, endpoint=f"http://h{n}")
                             for n in range(number, number + 1000)))
    text = report(eddy, path, "-o", "-").out
    equal(page_of(text).tiles["Requests"], "200,000")
    check(len(text) < 300000, len(text))


@claim
def mistakes_are_refused(eddy):
    out = eddy.file("out.jsonl", lines([answer(1, START_MS, 1)]))
    for code, words, args in (
            (2, ["name the output"], []),
            (2, ["give one output; eddy collect joins"], [out, out]),
            (2, ["--price 1"], [out, "--price", "1"]),
            (2, ["--format needs --by IN"], [out, "--format", "csv"]),
            (2, ["--id-column is for CSV"], [out, "--by", out, "--id-column", "x"]),
            (2, ["did you mean --price"], [out, "--prise", "1/1"]),
            (2, ["standard input"], ["-"]),
            (2, ["a file of the run"], [out, "-o", out]),
            (2, ["not a page of eddy report", "remove it"],
             [out, "-o", eddy.file("in.jsonl", '{"url":"/x","body":{}}\n')]),
            (2, ["not a page of eddy report"], [out, "-o", eddy.file("rows.csv", "key,text\n1,one\n")]),
            (2, ["not a page of eddy report"], [out, "-o", eddy.file("short", "x")]),
            (3, ["OUT", "No such file"], [out + "x"]),
            (3, ["Is a directory"], [eddy.folder, "-o", "-"]),
            (3, ["--errors", "No such file"], [out, "--errors", out + "x"]),
            (3, ["none of its lines"], [eddy.file("text", "some\ntext\n")]),
            (4, ["No such file"], [out, "-o", eddy.file("no/such/page.html")]),
            (4, ["No space"], [out, "-o", "/dev/full"])):
        result = eddy.run("report", *args)
        equal(result.code, code, args, result)
        e2e.one_line(result, code, *words)
    equal(sorted(os.listdir(eddy.folder)), ["in.jsonl", "out.jsonl", "rows.csv", "short", "text"])
    with open(eddy.file("rows.csv"), encoding="utf-8") as rows:
        equal(rows.read(), "key,text\n1,one\n")
    result = report(eddy, out, "-o", eddy.file("page.html", ""))
    check("1 answer, 0 failed; " in result.err and result.err.endswith("page.html\n"), result)


@claim
def a_page_is_replaced_as_a_whole(eddy):
    out = eddy.file("out.jsonl", lines([answer(1, START_MS, 1)]))
    start = "<!DOCTYPE html>\nold"
    page = eddy.file("page.html", start)
    os.symlink("page.html", eddy.file("link"))
    with open(page, encoding="utf-8") as old:
        report(eddy, out, "-o", eddy.file("link"))
        equal(old.read(), start)
    check(os.path.islink(eddy.file("link")))
    with open(page, encoding="utf-8") as new:
        page_of(new.read())
    equal(os.stat(page).st_mode & 0o777, 0o666 & ~umask())


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


# Counts the marks of each plot that have a size, a colour, and a place inside the plot. The page
# forbids scripts, so a copy without this rule is measured.
MEASURE = """<script>
const drawn = [...document.querySelectorAll("svg")].map(svg => {
  const room = svg.getBoundingClientRect();
  return [svg.getAttribute("aria-label"), [...svg.querySelectorAll(".mark")].filter(mark => {
    const box = mark.getBoundingClientRect(), style = getComputedStyle(mark);
    return box.width + box.height > 0 && box.left >= room.left - 1 && box.right <= room.right + 1 &&
      box.top >= room.top - 1 && box.bottom <= room.bottom + 1 &&
      (style.fill !== "none" || style.stroke !== "none") && style.visibility === "visible";
  }).length];
});
document.documentElement.textContent = JSON.stringify(drawn);
</script>"""


def browse(eddy, path, *args):
    """Show a page in a browser; returns the text that it prints. No page may connect or complain."""
    chromium = shutil.which("chromium") or shutil.which("chromium-headless-shell")
    if not chromium:
        raise e2e.Skip("needs the Debian package chromium or chromium-headless-shell; make check does "
                       "not install it, because it is large")
    asked = []
    proxy = eddy.serve(lambda connection, _: asked.append(e2e.read_head(connection)))
    shown = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         f"--user-data-dir={eddy.file('profile')}", "--window-size=1000,3600",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--no-first-run", f"--proxy-server={proxy.url}", "--proxy-bypass-list=<-loopback>", *args,
         f"file://{path}"],
        capture_output=True, timeout=e2e.LIMIT_S, check=True)
    # The browser itself asks its maker for updates, which the proxy does not pass on.
    equal([head for head in asked if not re.search(rb"^Host: \S+\.google(apis)?\.com", head, re.M)], [])
    check(b"CONSOLE" not in shown.stderr, shown.stderr)
    return shown.stdout.decode()


@claim
def a_browser_draws_each_plot_without_errors_and_without_a_network(eddy):
    out, _, log, *_ = run_files(eddy)
    page = eddy.file("page.html")
    report(eddy, out, "--log", log, "--price", "1/2", "-o", page)
    evil = eddy.file("evil.html", hostile_texts_are_only_texts(eddy))
    for path in (page, evil):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        dom = browse(eddy, path, "--dump-dom")
        equal(dom.count("<svg"), len(Page(text).plots))
        browse(eddy, path, f"--screenshot={path}.png")
        check(os.path.getsize(path + ".png") > 10000)
        bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        check(bare != text and bare.count("</body>") == 1)
        dom = browse(eddy, eddy.file("measured.html", bare.replace("</body>", MEASURE + "</body>")),
                     "--dump-dom")
        drawn = json.loads(html.unescape(re.search(r"<html[^>]*>(.*)</html>", dom, re.S).group(1)))
        equal(dict(drawn), Page(text).marks)
    # The checks find a page that connects, and one whose script fails.
    for wrong in ('<img src="http://name.invalid/x.png">', "<script>nothing.at.all()</script>"):
        try:
            browse(eddy, eddy.file("wrong.html", "<!DOCTYPE html>\n" + wrong), "--dump-dom")
        except AssertionError:
            continue
        check(False, "not found:", wrong)


if __name__ == "__main__":
    e2e.main()
