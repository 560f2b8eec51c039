"""test_blocks - each command that reads in blocks, with inputs of a byte to several MiB, around the size
of each buffer: no line is lost, repeated or cut, whatever the form and the place of the input.
EDDY_TEST_FULL: more sizes.
"""
import json
import os
import random
import re
import shutil

import e2e
import trace_file
from batch_api import ids_of
from e2e import check, claim, equal
from inputs import WAYS, compressed, fed

FULL = bool(os.environ.get("EDDY_TEST_FULL"))
KIB, MIB = 1 << 10, 1 << 20


def around(*sizes):
    return [size + by for size in sizes for by in (-1, 0, 1)]


# 64, 128 and 256 KiB are the buffers of inputs, URLs and outputs; the others are those of decompressors.
SIZES = [1, 300] + around(64 * KIB, 128 * KIB, 256 * KIB) + [MIB + 1, 4 * MIB + 1]
if FULL:
    SIZES = sorted({*SIZES, *range(1, 200, 7), *around(*(4 * KIB << by for by in range(12)))})


def filled(size, line, most=60000):
    """A text of exactly that size: line(number, pad) and blank lines; and the number of its lines."""
    dice, parts, left, count = random.Random(size), [], size, 0
    while left > 0:
        shortest = len(line(count, 0))
        pad = min(dice.randrange(most if size > 200000 else 4000), left - shortest)
        if left - shortest - pad < shortest + 2:
            pad = left - shortest
        if pad < 0:
            parts.append("\n" * left)
            break
        parts.append(line(count, pad))
        left -= shortest + pad
        count += 1
    text = "".join(parts)
    equal(len(text), size)
    if count and size % 2 and not text.endswith("\n\n"):
        text = text[:-1]  # the last line has no line feed
    return text, count


def answer(number, pad, status=200):
    return json.dumps({"id": f"batch_req_{number}", "custom_id": f"r{number}", "response": {
        "status_code": status, "request_id": "q", "body": {"pad": "x" * pad}}, "error": None}) + "\n"


def failure(number, pad):
    return answer(number, pad, 500)


def requests(count):
    return "".join(json.dumps({"custom_id": f"r{i}", "url": "/echo", "body": {}}) + "\n" for i in range(count))


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


@claim
def fetch_requests_each_url_of_a_list(eddy):
    if not shutil.which("zstd"):
        raise e2e.Skip("there is no zstd")
    mock = eddy.mock()

    def line(number, pad):
        return f"# {'x' * pad}\n" if number % 2 else f"{mock}/status/{200 + number % 7}?{number}\n"
    for size in SIZES:
        text, _ = filled(size, lambda number, pad: line(number, pad) if number % 2 else line(number, 0) + " " * pad + "\n")
        wanted = [part.strip() for part in text.split("\n") if part.strip() and part[0] != "#"]
        for kind in ("plain", "gzip", "zstd"):
            for way in WAYS if FULL or kind == "plain" else ("pipe",):
                result = fed(eddy, way, compressed(kind, text.encode()),
                             lambda path, stdin: eddy.fetch("-i", path, "--progress", "off", stdin=stdin))
                equal([got["url"] for got in result.lines()], wanted, size, kind, way, result)
                check(all(got["status"] for got in result.lines()), size, kind, way, result)


@claim
def fetch_of_a_damaged_list_requests_the_lines_before_and_reports_it(eddy):
    mock = eddy.mock()
    urls = [f"{mock}/status/200?{i}" for i in range(5000)]
    data = compressed("gzip", "\n".join(urls).encode())
    sure = 0
    for damaged in (data[:-6], data[:len(data) // 2], data[:len(data) // 2] + b"x" * 100):
        result = eddy.fetch("-i", "-", "--progress", "off", stdin=damaged)
        got = [line["url"] for line in sorted(result.lines(), key=lambda line: line["index"])]
        check("the compressed data are damaged or end early; not all of it was read" in result.err, result)
        # Bytes that were changed may become other lines before the fault is found: gzip has one checksum, at the end.
        if damaged.endswith(b"x" * 100):
            got = got[:sure]
        equal((result.code, got), (1, urls[:len(got)]), result)
        sure = len(got)
        check(len(got) > 100, len(got))


@claim
def report_counts_each_answer_and_failure(eddy):
    for size in SIZES:
        text, count = filled(size, lambda number, pad: (failure if number % 3 == 1 else answer)(number, pad))
        failed = (count + 1) // 3
        for way in ("file", "fifo"):
            result = fed(eddy, way, text.encode(), lambda path, _: eddy.run("report", path, "-o", eddy.file("page.html")))
            counts = re.search(r"^eddy report: ([\d,]+) answers?, ([\d,]+) failed;", result.err, re.M)
            equal(counts and counts.groups(), (f"{count - failed:,}", f"{failed:,}"), size, way, result)
            equal(result.code, 0, size, way, result)


@claim
def sort_orders_each_answer(eddy):
    if not shutil.which("zstd"):
        raise e2e.Skip("there is no zstd")
    for size in SIZES:
        text, count = filled(size, answer)
        lines = [part + "\n" for part in text.split("\n") if part]
        by = eddy.file("by.jsonl", "".join(reversed(requests(count).splitlines(True))))
        wanted = "".join(reversed(lines)).encode()
        for kind in ("plain", "gzip", "zstd"):
            for way in WAYS if FULL or kind == "plain" else ("pipe",):
                result = fed(eddy, way, compressed(kind, text.encode()),
                             lambda path, stdin: eddy.run("sort", path, "--by", by, "--memory", "300k", stdin=stdin))
                check(result.code == 0 and result.raw == wanted, size, kind, way, len(result.raw), len(wanted), result.err)


@claim
def batch_and_check_know_each_answer_of_an_output(eddy):
    mock = eddy.mock()
    for size in SIZES:
        text, count = filled(size, answer)
        out, path = eddy.file("out.jsonl", text), eddy.file("in.jsonl", requests(count + 2))
        result = eddy.run("check", path, "-o", out)
        equal(result.code, 0, size, result)
        check(re.search(r"^to send +2$", result.out, re.M), size, count, result)
        result = eddy.run("batch", path, "-o", out, "--base-url", mock, "--progress", "off")
        equal(result.code, 0, size, result)
        check(bytes_of(out).startswith(text.encode()), size, "the old lines have changed")
        equal(sorted(json.loads(part)["custom_id"] for part in bytes_of(out).splitlines() if part.strip()),
              sorted(f"r{i}" for i in range(count + 2)), size)


@claim
def retry_sends_each_failure_of_an_errors_file(eddy):
    mock = eddy.mock()
    path = eddy.file("in.jsonl", requests(2000))
    for size in SIZES:
        text, count = filled(size, failure)
        out, errors = eddy.file("out.jsonl", ""), eddy.file("out.errors.jsonl", text)
        result = eddy.run("retry", path, "-o", out, "--base-url", mock, "--progress", "off")
        equal(result.code, 0 if count else 1, size, result)
        equal(sorted(ids_of(out)), sorted(f"r{i}" for i in range(count)), size)
        check(not os.path.exists(errors) or not bytes_of(errors).strip(), size, "failures are left")


@claim
def draw_reads_a_whole_trace(eddy):
    text = trace_file.three_tasks().text()
    for way in WAYS:
        wanted = None
        for size in SIZES:
            if size < len(text):
                continue
            padded = text[:-2] + " " * (size - len(text)) + text[-2:]
            result = fed(eddy, way, padded.encode(), lambda path, stdin: eddy.run("draw", path, stdin=stdin))
            equal((result.code, result.err), (0, ""), size, way)
            equal(result.out, wanted or result.out, size, way)
            wanted = result.out


if __name__ == "__main__":
    e2e.main()
