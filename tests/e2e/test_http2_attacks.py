"""test_http2_attacks - clients of HTTP/2 that try to cost a server more than themselves: floods are ended, and another
client still gets its answers.  EDDY_TEST_FULL: each connection makes the server hold at most a megabyte more
memory.

The program under test is http2_server.  Under a sanitizer memory is not measured.
"""
import contextlib
import http.client
import os
import signal
import socket
import struct
import threading

import e2e
from e2e import check, claim, equal, alone

MEASURES = os.environ.get("EDDY_TEST_SANITIZE", "none") == "none" and bool(os.environ.get("EDDY_TEST_FULL"))
KIB = 1024
HELD_MAX = 1024 * KIB
# Bytes held for each byte sent, once this number was sent.
HELD_TIMES, SENT_LEAST = 4, 256 * KIB
ENHANCE_YOUR_CALM = 11
DATA, HEADERS, PRIORITY, RST, SETTINGS, PING, GOAWAY, UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS = 1, 4


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def number(value):
    return struct.pack(">I", value)


def integer(value, bits, first):
    """An integer of HPACK (RFC 7541, 5.1)."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out, value = [first | most], value - most
    while value >= 128:
        out.append(value % 128 | 128)
        value //= 128
    return bytes(out + [value])


def field(name, value, first=0x00):
    """A literal field; first=0x40 enters the table."""
    return bytes([first]) + integer(len(name), 7, 0) + name + integer(len(value), 7, 0) + value


def head(path=b"/", method=0x82):
    return bytes([method]) + b"\x86\x41\x01h" + b"\x04" + integer(len(path), 7, 0) + path


class Server:
    """The program, and its memory before the attack."""

    def __init__(self, eddy):
        self.child = eddy.start("shared", env={**os.environ, "TMPDIR": eddy.folder})
        self.port = int(self.child.stdout.readline())
        for _ in range(3):
            self.ask()
        for _ in range(2):
            with contextlib.closing(Attacker(self)) as one:
                for stream in range(1, 20, 2):
                    one.send(frame(HEADERS, END_STREAM | END_HEADERS, stream, head()))
                one.settle()
        self.before = self.memory()
        self.most = self.before

    def ask(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=e2e.SOON)
        connection.request("GET", "/")
        equal(connection.getresponse().read(), b"hello\n")
        connection.close()

    def memory(self):
        with open(f"/proc/{self.child.pid}/status", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("VmRSS"):
                    self.most = max(getattr(self, "most", 0), int(line.split()[1]) * KIB)
                    return int(line.split()[1]) * KIB
        raise AssertionError("the server has ended")

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        _, err = self.child.communicate(timeout=e2e.LIMIT_S)
        equal((self.child.returncode, e2e.errors(err)), (0, []))


class Attacker:
    """A connection; a thread reads what the server sends unless 'reads' is false."""

    def __init__(self, server, settings=b"", reads=True):
        self.server = server
        self.socket = socket.create_connection(("127.0.0.1", server.port))
        self.sent = 0
        self.is_over = threading.Event()
        self.received = b""
        if reads:
            threading.Thread(target=self.read, daemon=True).start()
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings) + frame(SETTINGS, 1, 0))

    def read(self):
        with contextlib.suppress(OSError):
            while data := self.socket.recv(65536):
                self.received = (self.received + data)[-4096:]
        self.is_over.set()

    def send(self, data):
        """Returns false if the connection has ended."""
        try:
            self.socket.sendall(data)
        except OSError:
            self.is_over.set()
            return False
        self.sent += len(data)
        return not self.is_over.is_set()

    def settle(self):
        """Wait until the server's memory does not grow any more."""
        last, same = 0, 0
        while same < 5:
            now = self.server.memory()
            same = same + 1 if now <= last else 0
            last = max(last, now)
            self.is_over.wait(0.01)

    def close(self):
        self.socket.close()


def held(server, attacker, what):
    server.memory()
    grown = server.most - server.before
    print(f"# {what}: sent {attacker.sent} held {grown}")
    if MEASURES:
        check(grown <= HELD_MAX, what, "holds", grown, "after", attacker.sent)
        check(attacker.sent < SENT_LEAST or grown <= HELD_TIMES * attacker.sent, what, grown, attacker.sent)


def flood(eddy, piece, what, settings=b""):
    """Send pieces until the server ends the connection, beside a client that gets its answers."""
    server = Server(eddy)
    with contextlib.closing(Attacker(server, settings)) as attacker:
        for i in range(100_000):
            if not attacker.send(piece(2 * i + 1)):
                break
            if i % 200 == 0:
                server.memory()
        check(attacker.is_over.wait(e2e.SOON), what, "is not ended")
        held(server, attacker, what)
    server.ask()
    server.stop()


@claim
def rapid_resets_are_ended(eddy):
    flood(eddy, lambda stream: frame(HEADERS, END_STREAM | END_HEADERS, stream, head(b"/wait")) +
          frame(RST, 0, stream, number(8)), "rapid reset")


@claim
def resets_that_the_client_provokes_are_ended(eddy):
    flood(eddy, lambda stream: frame(HEADERS, END_HEADERS, stream, head(b"/wait")) +
          frame(UPDATE, 0, stream, number(0x7fffffff)), "made you reset")


@claim
def floods_of_control_frames_are_ended(eddy):
    flood(eddy, lambda stream: frame(SETTINGS, 0, 0), "SETTINGS")
    flood(eddy, lambda stream: frame(SETTINGS, 0, 0, struct.pack(">HI", 1, stream % 4096)), "table sizes")
    flood(eddy, lambda stream: frame(PING, 0, 0, b"12345678"), "PING")
    flood(eddy, lambda stream: frame(PRIORITY, 0, stream, b"\0\0\0\0\1"), "PRIORITY")
    flood(eddy, lambda stream: frame(0x77, 0, 0, b"unknown"), "unknown frames")
    flood(eddy, lambda stream: frame(UPDATE, 0, 0, number(1)), "WINDOW_UPDATE")


@claim
def empty_data_is_ended(eddy):
    flood(eddy, lambda stream: (frame(HEADERS, END_HEADERS, 1, head(b"/wait")) if stream == 1 else b"") +
          frame(DATA, 0, 1), "empty DATA")


@claim
def continuations_are_ended(eddy):
    flood(eddy, lambda stream: frame(HEADERS, 0, 1, head()) if stream == 1 else
          frame(CONTINUATION, 0, 1, field(b"x", b"y" * 100)), "CONTINUATION")


@claim
def a_head_of_references_is_ended(eddy):
    bomb = head() + field(b"x", b"a" * 3900, 0x40) + b"\xbe" * 8000
    flood(eddy, lambda stream: frame(HEADERS, END_STREAM | END_HEADERS, stream, bomb), "HPACK bomb")


def hold(eddy, what, pieces, settings=b"", reads=True):
    """Send pieces that make the server keep memory."""
    server = Server(eddy)
    with contextlib.closing(Attacker(server, settings, reads)) as attacker:
        for piece in pieces:
            if not attacker.send(piece):
                break
        attacker.settle()
        held(server, attacker, what)
        server.ask()
    server.stop()


NO_WINDOW = struct.pack(">HI", 4, 0)
ONE_BYTE = struct.pack(">HI", 4, 1)


@claim
def heads_of_references_and_crumbs_hold_little(eddy):
    table = field(b"x", b"a" * 3900, 0x40)
    heads = [head(b"/wait") + (table if i == 0 else b"") + b"\xbe" * 15 for i in range(100)]
    hold(eddy, "heads of references", [frame(HEADERS, END_STREAM | END_HEADERS, 2 * i + 1, one)
                                       for i, one in enumerate(heads)], NO_WINDOW)
    crumbs = [head(b"/wait") + (field(b"cookie", b"", 0x40) if i == 0 else b"") + b"\xbe" * 100 for i in range(100)]
    hold(eddy, "crumbs", [frame(HEADERS, END_STREAM | END_HEADERS, 2 * i + 1, one)
                          for i, one in enumerate(crumbs)], NO_WINDOW)
    huffman = head(b"/wait") + b"\x00\x01x" + integer(6000, 7, 0x80) + b"\x1c\x64" * 3000
    hold(eddy, "coded by Huffman", [frame(HEADERS, END_STREAM | END_HEADERS, 2 * i + 1, huffman)
                                    for i in range(100)], NO_WINDOW)


@claim
def responses_without_a_window_hold_little(eddy):
    hold(eddy, "responses without a window", [frame(HEADERS, END_STREAM | END_HEADERS, 2 * i + 1, head(b"/large"))
                                              for i in range(100)], NO_WINDOW)
    hold(eddy, "responses with a window of a byte",
         [frame(HEADERS, END_STREAM | END_HEADERS, 2 * i + 1, head(b"/large")) for i in range(100)] +
         [frame(UPDATE, 0, 2 * i + 1, number(1)) for i in range(100)], ONE_BYTE)
    hold(eddy, "responses that are not read",
         [frame(UPDATE, 0, 0, number(0x3fffffff))] +
         [frame(HEADERS, END_STREAM | END_HEADERS, 2 * i + 1, head(b"/large")) for i in range(100)],
         struct.pack(">HI", 4, 0x3fffffff), reads=False)


@claim
def requests_that_wait_hold_little(eddy):
    hold(eddy, "requests that wait", [frame(HEADERS, END_STREAM | END_HEADERS, 2 * i + 1, head(b"/wait"))
                                      for i in range(128)])


@claim
def bodies_that_no_handler_reads_hold_little(eddy):
    hold(eddy, "unread bodies", [frame(HEADERS, END_HEADERS, 2 * i + 1, head(b"/wait")) for i in range(12)] +
         [frame(DATA, 0, 2 * i + 1, b"x" * 16000) for i in range(12) for _ in range(4)])


@alone
@claim
def another_client_is_answered(eddy):
    """Beside two attackers that begin again and again."""
    server = Server(eddy)
    over = threading.Event()

    def attack():
        while not over.is_set():
            with contextlib.suppress(OSError), contextlib.closing(Attacker(server)) as attacker:
                for i in range(2000):
                    if not attacker.send(frame(HEADERS, END_STREAM | END_HEADERS, 2 * i + 1, head()) +
                                         frame(RST, 0, 2 * i + 1, number(8))):
                        break
    threads = [threading.Thread(target=attack) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        server.ask()
    over.set()
    for thread in threads:
        thread.join()
    server.stop()


e2e.main()
