#!/usr/bin/env python3
"""multipart_peers.py PROGRAM [CASES] - the multipart codec beside the parser of Python's package email.

Half of the cases are forms that eddy writes and Python reads. The others are bodies with random changes:
each one that eddy accepts has the parts that Python finds; eddy may refuse more. Differences that are
explained are counted, not compared: a backslash in a name is an escape for Python, and a LF or a CR alone
ends a line.
"""
import collections
import email.message
import email.parser
import random
import re
import subprocess
import sys

BATCH = 1000
SEED = 38
LINE_ENDS = re.compile(rb"(?<!\r)\n--b|\r--b")
ESCAPES = {b"%22": b'"', b"%0d": b"\r", b"%0a": b"\n"}
NAMES = ["a", "file", 'q"x', "\u00e4\u20ac", "\U0001f600", "x\r\ny", "%41", "", "a;b=c", " s ", "a,b"]
FILES = [None, None, "f.txt", "", "\u00e4.bin", "a b;c", "../x", "q\".t"]
TYPES = [None, None, "text/plain", "application/octet-stream", "image/png; a=b"]
DATA = [b"", b"1", b"\r\n", b"\r", b"\n", b"-", b"--", b"--b", b"\r\n--", b"\r\n--a", b"\x00\xff", b"text", b"\r\r\n"]
TOKENS = [b"\r\n", b"\n", b"\r", b"--b", b"--b--", b"--", b"b", b" ", b"\t", b'"', b";", b"=", b":", b"\\", b"%22", b"%0D",
          b"name", b"filename", b"*", b"\x00", b"\xff", b"\xc3\xa4", b"X-A: b\r\n", b"\r\n--b\r\n", b"form-data",
          b'Content-Disposition: form-data; name="n"\r\n']


class Codec:
    def __init__(self, program):
        self.program = program

    def ask(self, lines):
        """The answers to lines, in one process."""
        done = subprocess.run([self.program], input="\n".join(lines) + "\n", text=True,
                              stdout=subprocess.PIPE, check=True)
        answers = done.stdout.splitlines()
        assert len(answers) == len(lines), f"{len(answers)} answers to {len(lines)} lines"
        return answers


def text_of(value):
    return "-" if value is None else value.hex()


def random_form(rand):
    """(name, file name, type, data) of each part; data that no boundary begins or continues."""
    parts = []
    for _ in range(rand.randrange(5)):
        name, file = rand.choice(NAMES), rand.choice(FILES)
        data = b"".join(rand.choice(DATA) for _ in range(rand.randrange(6)))
        if LINE_ENDS.search(b"\r\n" + data + b"\r\n") or b"\r\n--b" in b"\r\n" + data:
            data = b""
        kind = rand.choice(TYPES)
        parts.append((name.encode(), None if file is None else file.encode(),
                      None if kind is None else kind.encode(), data))
    return parts


def line_of(parts):
    return "w " + "".join(",".join(text_of(value) for value in part) + ";" for part in parts)


def decoded(value):
    return None if value is None else re.sub(rb"%22|%0[dDaA]", lambda m: ESCAPES[m[0].lower()], value)


def parameter(part, header, name):
    """A parameter of a header, as bytes; None: not there."""
    for key, value in part.raw_items():
        if key.lower() == header:
            message = email.message.Message()
            message._headers.append((header, value.encode("ascii", "surrogateescape").decode("latin-1")))
            found = message.get_param(name, header=header)
            return None if found is None else found.encode("latin-1")
    return None


def python_parts(body):
    """What Python finds in a body; None: it is not multipart."""
    head = b"Content-Type: multipart/form-data; boundary=b\r\n\r\n"
    message = email.parser.BytesParser().parsebytes(head + body)
    if not message.is_multipart():
        return None
    return [(decoded(parameter(part, "content-disposition", "name")),
             decoded(parameter(part, "content-disposition", "filename")),
             part._payload.encode("ascii", "surrogateescape")) for part in message.get_payload()]


def eddy_parts(answer):
    """What eddy finds, without the types; None: it refuses the body."""
    if " no " in answer:
        return None
    parts = []
    for text in answer[3:].split(";")[:-1]:
        name, file, _, data = text.split(",")
        parts.append((bytes.fromhex(name), None if file == "-" else bytes.fromhex(file), bytes.fromhex(data)))
    return parts


def changed(rand, body):
    """A body with a few random changes."""
    for _ in range(rand.randrange(1, 4)):
        at = rand.randrange(len(body) + 1)
        what = rand.randrange(4)
        if what == 0:
            body = body[:at] + rand.choice(TOKENS) + body[at:]
        elif what == 1:
            body = body[:at] + body[at + rand.randrange(1, 4):]
        elif what == 2:
            body = body[:at] + rand.choice(TOKENS) + body[at + 1:]
        else:
            other = rand.randrange(len(body) + 1)
            body = body[:at] + body[min(at, other):max(at, other)] + body[at:]
    return body


def explained(body):
    """Why Python may find other parts in a body that eddy accepts."""
    if LINE_ENDS.search(body):
        return "LF or CR alone ends a line"
    return "a backslash in a header" if b"\\" in body else None


def compare(body, answer, counts):
    """An error, or None."""
    mine = eddy_parts(answer)
    if mine is None:
        counts["refused: " + answer.split(" no ", 1)[1]] += 1
        return None
    reason = explained(body)
    if reason:
        counts["explained: " + reason] += 1
        return None
    counts["accepted"] += 1
    theirs = python_parts(body)
    if theirs is None and not mine:
        return None
    return None if mine == theirs else f"{body!r}: eddy {mine}, Python {theirs}"


def run(codec, cases):
    rand = random.Random(SEED)
    counts = collections.Counter()
    for _ in range(0, cases, 2 * BATCH):
        forms = [random_form(rand) for _ in range(BATCH)]
        bodies = [bytes.fromhex(answer) for answer in codec.ask([line_of(form) for form in forms])]
        for form, body in zip(forms, bodies):
            expected = [(name, file, data) for name, file, _, data in form]
            found = python_parts(body)
            counts["written"] += 1
            if (found or []) != expected:
                return f"{body!r}: written from {expected}, Python {found}", counts
        mutants = [changed(rand, body) for body in bodies]
        for body, answer in zip(mutants, codec.ask(["r " + body.hex() + " " for body in mutants])):
            error = compare(body, answer, counts)
            if error:
                return error, counts
    return None, counts


def main():
    error, counts = run(Codec(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4 * BATCH)
    for name, count in sorted(counts.items()):
        print(f"# {count:7} {name}")
    if error:
        print("#", error)
    print("not ok 1" if error else "ok 1", "- bodies that eddy writes or accepts have the parts that Python finds")
    print("1..1")
    sys.exit(bool(error))


main()
