"""test_batch_marked - `eddy batch` and a server that answers in each good and bad way: the bytes of no
answer are in the line of another request, and each request has one line.

EDDY_TEST_FULL=1: 100,000 requests instead of 3,000, in rounds by different seeds.
"""
import base64
import json
import os
import re

import e2e
from batch_api import lines_of
from e2e import alone, check, claim, equal
from odd_server import OddServer, mark_of

MARK = re.compile(r"mark-r\d+-[0-9a-f]{0,8}")
# Sentences about answers; a mark is compared apart.
MESSAGES = re.compile(
    r"the stream reported an error: .*|an event of the stream is not valid: \"<html>mark-.*\"|"
    r"the answer is an empty stream|the answer ended within a JSON text|the compressed answer is damaged, or ends early|"
    r"the stream ended before the answer was complete|the events of the stream are of an unknown kind: .*|"
    r"the peer (reset|closed) the connection.*|the connection was closed.*|the peer's message .*|.*not valid HTTP.*")


def texts_of(line):
    """The texts of a line: itself, and the bytes of a body that is not text."""
    yield json.dumps(line)
    body = (line["response"] or {}).get("body", {})
    if "_base64" in body:
        yield base64.b64decode(body["_base64"]).decode("latin-1")


def check_line(line, number):
    own = mark_of(number)
    marks = {mark for text in texts_of(line) for mark in MARK.findall(text)}
    # A message may end within a mark.
    check(all(own.startswith(mark) for mark in marks), "foreign mark:", line)
    if line["error"]:
        message = line["error"]["message"]
        check(re.fullmatch("[ -~]*", message) and MESSAGES.fullmatch(message), "message:", line)
    elif line["response"]["body"] != {}:
        check(marks, "no mark:", line)


def run_round(eddy, seed, count):
    server = OddServer(eddy, seed)
    path, out = eddy.file(f"in-{seed}.jsonl"), eddy.file(f"out-{seed}.jsonl")
    with open(path, "w", encoding="ascii") as file:
        for i in range(count):
            body = {"number": i, "stream": i % 2 == 1, "pad": "." * (i % 700)}
            file.write(json.dumps({"custom_id": f"r{i}", "method": "POST", "url": "/v1/x", "body": body}) + "\n")
    # New memory is full of bytes that are not NUL.
    result = eddy.run("batch", path, "-o", out, "--base-url", server.url, "-c", "16", "--ramp", "1ms",
                      "--retry-base", "1ms", "--max-attempts", "2", "--progress", "off",
                      env={**os.environ, "MALLOC_PERTURB_": "165"})
    equal(result.code, 1, result)
    lines = lines_of(out), lines_of(eddy.file(f"out-{seed}.errors.jsonl"))
    numbers = sorted(int(line["custom_id"][1:]) for part in lines for line in part)
    equal(numbers, list(range(count)), "each request has one line")
    check(min(len(part) for part in lines) > count // 10, [len(part) for part in lines])
    for part in lines:
        for line in part:
            check_line(line, int(line["custom_id"][1:]))


@alone
@claim
def bytes_of_no_answer_are_in_the_line_of_another_request(eddy):
    is_full = os.environ.get("EDDY_TEST_FULL") == "1"
    for seed in range(20 if is_full else 1):
        run_round(eddy, seed, 5000 if is_full else 3000)


if __name__ == "__main__":
    e2e.main()
