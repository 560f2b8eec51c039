#!/usr/bin/env python3
"""test_chat_page - the example of a chat over server-sent events, with sockets and in a browser.

    test_chat_page.py CHAT_PAGE [WORD]

What needs the browser is skipped by name without it (tools/install-deps interop).
"""
import contextlib
import http.client
import itertools
import json
import os
import signal
import socket
import subprocess
import sys

import e2e
from e2e import check, claim, equal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs"))
import browser  # pylint: disable=wrong-import-position

HISTORY = 100
READERS = 200
MESSAGES = 8000  # more than the sockets' buffers hold
BATCH = 50


class Chat:
    """The example at a port, and its messages."""

    def __init__(self, eddy, port=0):
        self.child = eddy.start(f"127.0.0.1:{port}")
        self.url = self.child.stdout.readline().decode().strip()
        self.host = self.url.removeprefix("http://")
        self.port = int(self.host.split(":")[1])
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=e2e.LIMIT_S)
        eddy.stack.callback(self.connection.close)

    def post(self, text, status=204):
        self.connection.request("POST", "/messages", json.dumps({"text": text}), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        body = answer.read()
        equal(answer.status, status, body)

    def post_all(self, texts):
        """Post messages without waiting for each answer."""
        bodies = [json.dumps({"text": text}).encode() for text in texts]
        with socket.create_connection(("127.0.0.1", self.port), timeout=e2e.LIMIT_S) as connection:
            connection.sendall(b"".join(b"POST /messages HTTP/1.1\r\nHost: chat\r\nContent-Type: application/json\r\n"
                                        b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies))
            answers = b""
            while answers.count(b"\r\n\r\n") < len(texts):
                piece = connection.recv(65536)
                check(piece, answers)
                answers += piece
        equal(answers.count(b"HTTP/1.1 204 "), len(texts))

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        equal(self.child.wait(timeout=e2e.LIMIT_S), 0)


class Reader:
    """A reader of events that reads only when it is asked to."""

    def __init__(self, eddy, chat, last_id=None, buffer=None):
        self.socket = socket.socket()
        eddy.stack.callback(self.socket.close)
        self.socket.settimeout(e2e.LIMIT_S)
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.connect(("127.0.0.1", chat.port))
        more = f"Last-Event-ID: {last_id}\r\n" if last_id is not None else ""
        self.socket.sendall(f"GET /events HTTP/1.1\r\nHost: chat\r\n{more}\r\n".encode())
        self.file = self.socket.makefile("rb")
        eddy.stack.callback(self.file.close)
        equal(self.file.readline(), b"HTTP/1.1 200 OK\r\n")
        while self.file.readline() != b"\r\n":
            pass
        self.rest, self.is_whole = b"", False

    def event(self):
        """The next event as a dictionary, without comments; None at the end of the response."""
        while True:
            while b"\n\n" not in self.rest:
                size = int(self.file.readline() or b"0", 16)
                self.rest += self.file.read(size)
                self.is_whole = self.file.readline() == b"\r\n" and size == 0
                if size == 0:
                    return None
            block, _, self.rest = self.rest.partition(b"\n\n")
            event = dict(line.split(": ", 1) for line in block.decode().splitlines() if line[0] != ":")
            if event:
                return event

    def texts(self, count):
        return [self.event().get("data") for _ in range(count)]


@claim
def all_readers_get_all_messages_and_whole_streams_at_the_end(eddy):
    chat = Chat(eddy)
    chat.post("first")
    readers = [Reader(eddy, chat) for _ in range(READERS)]
    for reader in readers:
        equal(reader.texts(1), ["first"])
    for number in range(HISTORY // 2):
        chat.post(f"Ann: {number}")
    for reader in readers:
        equal(reader.texts(HISTORY // 2), [f"Ann: {number}" for number in range(HISTORY // 2)])
    chat.stop()
    for reader in readers:
        equal((reader.event(), reader.is_whole), (None, True))


@claim
def readers_by_http_2_get_all_messages_and_whole_streams_at_the_end(eddy):
    curl, chat = e2e.program("curl"), Chat(eddy)
    readers = [subprocess.Popen([curl, "-sN", "--noproxy", "*", "--http2-prior-knowledge", chat.url + "/events"],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) for _ in range(5)]
    for reader in readers:
        eddy.stack.callback(eddy.end, reader)
    for number in range(HISTORY // 2):
        chat.post(f"Ann: {number}")
    for reader in readers:
        lines = (line.decode().strip() for line in reader.stdout)
        texts = [line.removeprefix("data: ") for line in itertools.islice((line for line in lines if line.startswith("data: ")),
                                                                          HISTORY // 2)]
        equal(texts, [f"Ann: {number}" for number in range(HISTORY // 2)])
    chat.stop()
    for reader in readers:
        reader.stdout.read()
        equal(reader.wait(e2e.LIMIT_S), 0)  # not 92, a reset


@claim
def a_reader_continues_after_its_last_message(eddy):
    chat = Chat(eddy)
    for number in range(5):
        chat.post(str(number))
    reader = Reader(eddy, chat)
    ids = [reader.event()["id"] for _ in range(5)]
    for number, last_id in enumerate(ids[:-1]):
        equal(Reader(eddy, chat, last_id).texts(4 - number), [str(later) for later in range(number + 1, 5)])
    # Numbers of an earlier run, and those that no run has given.
    for last_id in "1", "-1", str(int(ids[-1]) + 1), "9" * 40, "9223372036854775807":
        reader = Reader(eddy, chat, last_id)
        equal(reader.event()["event"], "gap", last_id)
        equal(reader.texts(5), ["0", "1", "2", "3", "4"], last_id)
    for last_id in "", "x":
        equal(Reader(eddy, chat, last_id).texts(5), ["0", "1", "2", "3", "4"], last_id)


@claim
def a_slow_reader_delays_no_other_and_learns_that_messages_are_missing(eddy):
    chat = Chat(eddy)
    slow, quick = Reader(eddy, chat, buffer=4096), Reader(eddy, chat)
    posted, got = [], []
    for number in range(MESSAGES // BATCH):
        batch = [f"{number} {i} " + "x" * 580 for i in range(BATCH)]
        chat.post_all(batch)
        equal(quick.texts(BATCH), batch)
        posted += batch
        got.append(slow.event())  # or it would be too slow for the server
    while got[-1].get("data") != posted[-1]:
        got.append(slow.event())
    gaps = [event for event in got if event.get("event") == "gap"]
    check(1 <= len(gaps) and len(got) < len(posted), len(gaps), len(got))
    texts = [event["data"] for event in got if event.get("event") != "gap"]
    equal(texts, [text for text in posted if text in set(texts)])
    equal(texts[-HISTORY:], posted[-HISTORY:])


@claim
def a_browser_shows_messages_and_continues_after_a_restart(eddy):
    if not browser.find():
        raise e2e.Skip("needs the Debian package chromium or chromium-headless-shell (tools/install-deps interop)")
    chat = Chat(eddy, e2e.free_port())
    chat.post("Ann: <b>Hello</b>")
    with contextlib.closing(browser.Tab(eddy.folder, chat.host)) as tab:
        def shown():
            return tab.value("[...document.querySelectorAll('li')].map(item => item.textContent)")

        def wait_for(*texts):
            e2e.wait_until(lambda: len(shown()) >= len(texts), texts)
            equal(shown(), list(texts))

        tab.call("Page.navigate", url=chat.url)
        wait_for("Ann: <b>Hello</b>")
        chat.post("Bob: 1")
        wait_for("Ann: <b>Hello</b>", "Bob: 1")
        tab.value("""(() => { const { author, text } = document.querySelector('form').elements;
            author.value = 'Eve'; text.value = '"\\\\';
            document.querySelector('button').click(); })()""")
        wait_for("Ann: <b>Hello</b>", "Bob: 1", 'Eve: "\\')
        equal((tab.said, tab.asked), ([], []))
        chat.stop()
        # The new server has one message when the browser comes back with the number of an old one.
        chat = Chat(eddy, chat.port)
        chat.post("Ann: again")
        before = ["Ann: <b>Hello</b>", "Bob: 1", 'Eve: "\\']
        wait_for(*before, "(messages may be missing here)", "Ann: again")
        chat.post("Bob: 2")
        wait_for(*before, "(messages may be missing here)", "Ann: again", "Bob: 2")


@claim
def a_browser_whose_connection_breaks_continues_with_the_next_message(eddy):
    if not browser.find():
        raise e2e.Skip("needs the Debian package chromium or chromium-headless-shell (tools/install-deps interop)")
    chat, broken = Chat(eddy), []

    def relay(connection, number):
        """Pass a request on; the first answer with events breaks after a message."""
        with socket.create_connection(("127.0.0.1", chat.port)) as server:
            head = e2e.read_head(connection)
            server.sendall(head.replace(b"keep-alive", b"close"))
            if b"Last-Event-ID" in head:
                broken.append(head)
            while piece := server.recv(65536):
                connection.sendall(piece)
                if b"data: 1" in piece and not broken:
                    return

    chat.post("1")
    url = eddy.serve(relay).url
    with contextlib.closing(browser.Tab(eddy.folder, url.removeprefix("http://"))) as tab:
        tab.call("Page.navigate", url=url)
        e2e.wait_until(lambda: broken, "another connection")
        chat.post("2")
        e2e.wait_until(lambda: tab.value("document.querySelectorAll('li').length") >= 2, "the second message")
        equal(tab.value("[...document.querySelectorAll('li')].map(item => item.textContent)"), ["1", "2"])


e2e.main()
