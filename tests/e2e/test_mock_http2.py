#!/usr/bin/env python3
"""test_mock_http2 - `eddy mock` by HTTP/2, with TLS and without: its routes, its failures and its counts, asked by curl.

    test_mock_http2.py EDDY [WORD]
"""
import json
import os
import re
import subprocess
import time

import e2e
from e2e import check, claim, equal

KINDS = {"--http2": ("--tls",), "--http2-prior-knowledge": ()}
RESET = 92  # curl's code if a stream ends in a reset


class Mock:
    def __init__(self, eddy, version, *args):
        self.url = eddy.mock(*KINDS[version], *args)
        self.options = ["-sS", "--noproxy", "*", version]
        if KINDS[version]:
            self.options += ["--cacert", eddy.child.stdout.readline().decode().split()[1]]

    def curl(self, *args, code=0):
        done = subprocess.run([e2e.program("curl"), *self.options, *args], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=e2e.LIMIT_S, check=False)
        check(done.returncode == code, args, done.returncode, done.stdout[-300:], done.stderr)
        return done.stdout

    def get(self, path, *args, code=0):
        return self.curl(*args, self.url + path, code=code)


@claim
def routes_answer_and_count(eddy):
    for version in KINDS:
        mock = Mock(eddy, version)
        echo = json.loads(mock.get("/echo?a=1", "-d", "text"))
        equal((echo["method"], echo["target"], echo["version"], echo["body"]), ("POST", "/echo?a=1", "HTTP/2", "text"))
        equal(len(mock.get("/bytes/100000")), 100000)
        equal(mock.get("/stream/3").count(b"\n"), 3)
        equal(mock.get("/status/204", "-o", os.devnull, "-w", "%{http_code} %{http_version}"), b"204 2")
        equal(json.loads(mock.get("/echo", "--http1.1"))["version"], "HTTP/1.1")
        equal(json.loads(mock.get("/counts")),
              {"http1": {"connections": 1, "requests": 1}, "http2": {"connections": 4, "requests": 4}})


@claim
def answers_that_are_dropped_end_in_resets(eddy):
    for version in KINDS:
        mock = Mock(eddy, version)
        mock.get("/close", code=RESET)
        mock = Mock(eddy, version, "--truncate", "100%", "--seed", "1")
        check(len(mock.get("/bytes/1000", code=RESET)) < 1000)
        equal(mock.get("/status/204", code=RESET), b"")
        mock = Mock(eddy, version, "--stall", "100%:300ms")
        begin = time.monotonic()
        check(len(mock.get("/bytes/1000", code=RESET)) < 1000)
        check(time.monotonic() - begin >= 0.3)


@claim
def a_reset_stream_does_not_end_its_connection(eddy):
    mock = Mock(eddy, "--http2")  # curl 7.88 uses no connection twice with prior knowledge
    args = [word for path in ("/close", "/bytes/10", "/close", "/bytes/10") for word in ("-o", os.devnull, mock.url + path)]
    equal(mock.curl("-w", "%{http_code} ", *args).split(), [b"000", b"200", b"000", b"200"])
    equal(json.loads(mock.get("/counts"))["http2"], {"connections": 1, "requests": 4})


@claim
def limits_and_errors_are_answers(eddy):
    for version in KINDS:
        mock = Mock(eddy, version, "--refuse", "1")
        head = mock.get("/", "-i").decode().lower()  # not limited
        check(head.startswith("http/2 200"), head)
        head = mock.get("/bytes/1", "-i").decode().lower()
        check(head.startswith("http/2 429") and re.search(r"(?m)^retry-after: 1\r?$", head), head)
        equal(mock.get("/bytes/1"), mock.get("/bytes/1", "--http1.1"))
        mock = Mock(eddy, version, "--errors", "100%")
        check(mock.get("/bytes/1", "-o", os.devnull, "-w", "%{http_code}") in (b"500", b"503"))


@claim
def streams_of_events_come_by_http_2(eddy):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True})
    for version in KINDS:
        mock = Mock(eddy, version)
        text = mock.get("/v1/chat/completions", "-H", "Content-Type: application/json", "-d", body)
        check(text.startswith(b"data: ") and text.endswith(b"data: [DONE]\n\n"), text)


e2e.main()
