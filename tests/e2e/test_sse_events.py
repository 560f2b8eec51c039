#!/usr/bin/env python3
"""The parser of server-sent events beside one that follows the text of WHATWG HTML, 9.2.6, step by step.

    test_sse_events.py SSE_EVENTS

Random streams by a seed: 5,000, or 100,000 with EDDY_TEST_FULL=1, each of them whole, byte by byte, and cut at random
places.  The differences that docs/design/http_streams.md has are in the reference: bytes are not decoded.
"""
import os
import random
import subprocess
import sys

from e2e import claim, equal, main

COUNT = 100000 if os.environ.get("EDDY_TEST_FULL") == "1" else 5000
RETRY_MAX = (1 << 63) - 1
MARK = b"\xef\xbb\xbf"
PIECES = [b"data", b"event", b"id", b"retry", b"other", b"Data", b"dat", b":", b":", b":", b" ", b"\n", b"\n", b"\r", b"\r\n", b"\n\n",
          b"a", b"bc", b"7", b"0012", b"99999999999999999999", b"\x00", b"\xff", b"\xc3\xa9", MARK, MARK[:2], b"data: x\n",
          b"id: 1\n", b"event: e\n", b"retry: 5\n", b": no\n"]


def lines_of(stream):
    """The lines that have an end: CR LF, LF or CR."""
    at = 0
    while True:
        ends = [end for end in (stream.find(b"\n", at), stream.find(b"\r", at)) if end >= 0]
        if not ends:
            return
        end = min(ends)
        yield stream[at:end]
        at = end + (2 if stream[end:end + 2] == b"\r\n" else 1)


class Reader:
    """The event stream interpretation, with the names of the text."""

    def __init__(self):
        self.data = self.type = self.last_id = b""
        self.retry = -1
        self.events = []

    def field(self, name, value):
        if name == b"event":
            self.type = value
        elif name == b"data":
            self.data += value + b"\n"
        elif name == b"id" and b"\x00" not in value:
            self.last_id = value
        elif name == b"retry" and value and all(byte in b"0123456789" for byte in value):
            self.retry = min(int(value), RETRY_MAX)

    def dispatch(self):
        if self.data:
            self.events.append((self.type.split(b"\x00")[0] or b"message", self.data[:-1], self.last_id))
        self.data = self.type = b""

    def read(self, stream):
        if stream.startswith(MARK):
            stream = stream[len(MARK):]
        for line in lines_of(stream):
            if not line:
                self.dispatch()
            elif line.startswith(b":"):
                pass
            else:
                name, _, value = line.partition(b":")
                self.field(name, value[1:] if value.startswith(b" ") else value)
        return self.events, self.retry


def ask(questions):
    text = "".join(f"{seed} {stream.hex()}\n" for seed, stream in questions)
    run = subprocess.run([os.path.abspath(sys.argv[1])], input=text.encode(), stdout=subprocess.PIPE, check=True)
    for line in run.stdout.decode().split("\n")[:-1]:
        *events, retry = line.split(" ")
        yield [tuple(bytes.fromhex(text) for text in event.split(":")) for event in events], int(retry)


@claim
def random_streams_have_the_events_of_the_standard(_):
    chance = random.Random(int(os.environ.get("EDDY_SEED", "1")))
    streams = [b"".join(chance.choice(PIECES) for _ in range(chance.randrange(40))) for _ in range(COUNT)]
    expected = [Reader().read(stream) for stream in streams]
    print(f"# {COUNT} streams with {sum(len(events) for events, _ in expected)} events")
    for name, seed in (("whole", lambda: 0), ("byte by byte", lambda: 1), ("cut", lambda: chance.randrange(2, 1 << 31))):
        answers = list(ask([(seed(), stream) for stream in streams]))
        equal(len(answers), COUNT)
        for stream, answer, wanted in zip(streams, answers, expected):
            equal(answer, wanted, name, stream)


main()
