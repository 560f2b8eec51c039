#!/usr/bin/env python3
"""Routes of eddy (twin_server.c) beside the same routes of FastAPI (fastapi/app.py).

    test_fastapi.py TWIN_SERVER
    test_fastapi.py --write        write fastapi/expected.json anew

fastapi/cases.txt has requests that FastAPI accepts ("good") and refuses ("bad").  fastapi/expected.json has its
answers, and the versions of it that gave them: eddy is compared with this file.  If the packages are there
(peers/python_packages fetch, as `make interop` does), FastAPI is asked again, and the file must have its answers.

An answer is the status and the "loc" of each wrong field.  The locs are compared as a sorted list: none is missing,
none is there twice, and their order does not count.  A case that differs has eddy's own answer in cases.txt, and
one of REASONS; an unknown difference fails, and so does a reason without a difference.
"""
import collections
import http.client
import json
import os
import subprocess
import sys
import urllib.parse

import e2e
from e2e import check, claim, equal

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "fastapi", "cases.txt")
EXPECTED = os.path.join(HERE, "fastapi", "expected.json")
# Fewer equal answers to bad requests are not enough.
SAME_BAD_MIN = 100

REASONS = {
    "not-json": "a text that is not JSON has no fields: 400 with line and column; FastAPI's loc has an offset",
    "content-type": "415; FastAPI answers as if there were no body, or another one",
    "twice": "a name that is given twice is an error of eddy, because two programs would choose different values",
    "bytes": "lengths are bytes in a table, and characters in FastAPI",
    "text": "a NUL, and bytes that are not UTF-8, are not in strings of C",
    "number-500": "FastAPI fails if the number is NaN or infinite, because its answer repeats it",
    "read-only": "a request may have fields that only a response has, and eddy ignores them",
    "unique": "FastAPI has no unique lists: the program's own check names the list, and eddy the item",
    "tag": "FastAPI's loc has the tag's value after a union, and a wrong tag is an error of the union",
    "format": "FastAPI accepts numbers and other spellings where a format is expected",
    "spelling": "FastAPI accepts more spellings of numbers and booleans: '+1', '007', '1.0', '1_0', ' 1', 't', 'n'",
    "escape": "a '%' without two hexadecimal digits is a mistake, and stays a '%' in FastAPI",
    "slash": "a %2F is part of its segment, and begins the next segment in FastAPI",
    "all-inputs": "a body that is not JSON does not hide wrong parameters",
    "empty-item": "an empty value of a form is not given, in a list too",
}


class Case:
    def __init__(self, good, method, content_type, rest, line):
        self.good, self.method, self.content_type, self.line = good, method, content_type, line
        self.target, _, self.body = rest.partition(" ")
        self.name = f"{method} {content_type} {rest}"
        self.differs = None

    def __repr__(self):
        return f"cases.txt:{self.line}: {self.name}"

    def headers(self):
        return [] if self.content_type == "-" else [("Content-Type", self.content_type)]


def read_cases():
    found, method, content_type = [], None, None
    with open(CASES, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "=":
                method, content_type = rest.split(" ", 1)
            elif word in ("good", "bad"):
                found.append(Case(word == "good", method, content_type, rest, number))
            elif rest:
                _, reason, status, *locs = rest.split(" ", 4)[1:]
                found[-1].differs = reason, answer_of(int(status), json.loads(locs[0]) if locs else None)
    return found


def answer_of(status, locs):
    return status, sorted(locs, key=json.dumps) if locs is not None else None


# ---- FastAPI -------------------------------------------------------------------------------------

def python_with_packages():
    run = subprocess.run([os.path.join(HERE, "peers", "python_packages")], stdout=subprocess.PIPE)
    return run.stdout.decode().strip() if run.returncode == 0 else None


def ask_fastapi(python):
    """The versions, and the answer to each case."""
    lines = "".join(json.dumps([c.method, c.target, c.headers(), c.body.encode().hex()]) + "\n" for c in read_cases())
    run = subprocess.run([python, "-B", os.path.join(HERE, "fastapi", "app.py")], input=lines.encode(),
                         stdout=subprocess.PIPE, check=True)
    versions, *answers = [json.loads(line) for line in run.stdout.splitlines()]
    return versions, answers


def write_expected(python):
    versions, answers = ask_fastapi(python)
    lines = [f" {json.dumps(c.name, ensure_ascii=False)}: {json.dumps(a, ensure_ascii=False)}"
             for c, a in zip(read_cases(), answers, strict=True)]
    with open(EXPECTED, "w", encoding="utf-8") as out:
        out.write('{"versions": ' + json.dumps(versions) + ',\n"answers": {\n' + ",\n".join(lines) + "\n}}\n")


def expected():
    with open(EXPECTED, encoding="utf-8") as file:
        return json.load(file)


# ---- eddy ----------------------------------------------------------------------------------------

def ask_eddy(eddy):
    child = eddy.start()
    url = urllib.parse.urlsplit(child.stdout.readline().decode().split()[2])
    connection = http.client.HTTPConnection(url.hostname, url.port)
    answers = []
    for case in read_cases():
        connection.putrequest(case.method, case.target, skip_accept_encoding=True)
        for name, value in case.headers():
            connection.putheader(name, value)
        if case.method not in ("GET", "DELETE"):
            connection.putheader("Content-Length", str(len(case.body.encode())))
        connection.endheaders(case.body.encode())
        response = connection.getresponse()
        body = response.read()
        locs = [error["loc"] for error in json.loads(body)["detail"]] if response.status == 422 else None
        answers.append(answer_of(response.status, locs))
    connection.close()
    return answers


@claim
def the_file_has_the_answers_of_fastapi(_):
    python = python_with_packages()
    if not python:
        raise e2e.Skip("needs the packages of tests/e2e/peers/python_packages fetch")
    versions, answers = ask_fastapi(python)
    print("# versions: " + ", ".join(f"{name} {version}" for name, version in versions.items()), flush=True)
    equal(expected()["versions"], versions)
    equal(list(expected()["answers"].items()), [(c.name, a) for c, a in zip(read_cases(), answers, strict=True)])


@claim
def cases_are_good_and_bad_as_fastapi_answers(_):
    answers = expected()["answers"]
    cases = read_cases()
    equal(list(answers), [case.name for case in cases])
    for case in cases:
        equal(answers[case.name][0] < 400, case.good, case)


@claim
def eddy_answers_as_fastapi_except_for_the_differences_with_a_reason(eddy):
    answers, counts, problems = expected()["answers"], collections.Counter(), []
    for case, found in zip(read_cases(), ask_eddy(eddy), strict=True):
        wanted = answer_of(*answers[case.name])
        reason, own = case.differs or (None, wanted)
        if found != own:
            problems.append(f"{case}: {json.dumps(found)}, expected {json.dumps(own)}")
        elif reason and found == wanted:
            problems.append(f"{case}: no difference, but the reason '{reason}'")
        elif reason:
            check(reason in REASONS, case, reason)
            counts[reason] += 1
        else:
            counts["good" if case.good else "bad"] += 1
    check(not problems, "\n".join(problems))
    equal(set(REASONS), set(counts) - {"good", "bad"})
    print(f"# FastAPI {expected()['versions']['fastapi']}: {counts['bad']} bad and {counts['good']} good requests with"
          f" the same answer; differences: " + ", ".join(f"{counts[r]} {r}" for r in sorted(REASONS)), flush=True)
    check(counts["bad"] >= SAME_BAD_MIN, counts)


if sys.argv[1] == "--write":
    write_expected(python_with_packages() or sys.exit("test_fastapi.py: first run tests/e2e/peers/python_packages fetch"))
else:
    e2e.main()
