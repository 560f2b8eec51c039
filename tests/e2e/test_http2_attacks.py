"""test_http2_attacks - clients of HTTP/2 that try to cost a server more than themselves: floods are ended, each
connection makes the server allocate at most a megabyte, and another client still gets its answers.

The program under test is http2_server.  EDDY_TEST_FULL: the memory of the process is checked too, unless under a
sanitizer, and a table of figures is printed.
"""
import contextlib
import http.client
import multiprocessing
import os
import signal
import socket
import struct
import threading
import time

import e2e
from e2e import check, claim, equal, alone

FULL = bool(os.environ.get("EDDY_TEST_FULL"))
MEASURES = FULL and os.environ.get("EDDY_TEST_SANITIZE", "none") == "none"
KIB = 1024
HELD_MAX = 1024 * KIB
# A task whose file waits has two pages of its stack, others one.
RESIDENT_MAX = 1536 * KIB
# Bytes held for each byte sent, in addition to a connection and its streams.
HELD_TIMES, CONNECTION, STREAM = 4, 64 * KIB, 5 * KIB
STREAMS_MAX = 128
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
        with open(os.path.join(eddy.folder, "large"), "wb") as file:
            file.truncate(10_000_000)
        self.child = eddy.start("shared", env={**os.environ, "TMPDIR": eddy.folder, "FILE": file.name})
        self.port = int(self.child.stdout.readline())
        for _ in range(3):
            self.ask()
        # The threads for files begin, too.
        for path in (b"/", b"/file"):
            with contextlib.closing(Attacker(self)) as one:
                for stream in range(1, 60, 2):
                    one.send(request(stream, None, path))
                one.settle()
        self.before = self.memory()
        self.most = self.before
        self.allocated()
        self.allocated_before = self.allocated()

    def ask(self, path="/", body=b"hello\n"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=e2e.SOON)
        connection.request("GET", path)
        answer = connection.getresponse().read()
        connection.close()
        if body:
            equal(answer, body)
        return answer

    def allocated(self):
        """The most bytes since the last question."""
        return int(self.ask("/held", None).split()[1])

    def memory(self):
        with open(f"/proc/{self.child.pid}/status", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("VmRSS"):
                    self.most = max(getattr(self, "most", 0), int(line.split()[1]) * KIB)
                    return int(line.split()[1]) * KIB
        raise AssertionError("the server has ended")

    def cpu_s(self):
        nanoseconds = 0
        for task in os.listdir(f"/proc/{self.child.pid}/task"):
            with open(f"/proc/{self.child.pid}/task/{task}/schedstat", encoding="ascii") as text:
                nanoseconds += int(text.read().split()[0])
        return nanoseconds / 1e9

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
        self.refused_s = None  # when GOAWAY arrived
        self.over_s = None
        if reads:
            threading.Thread(target=self.read, daemon=True).start()
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings) + frame(SETTINGS, 1, 0))

    def read(self):
        with contextlib.suppress(OSError):
            while data := self.socket.recv(65536):
                self.received = (self.received + data)[-4096:]
                if self.refused_s is None and b"\0\0\x08\x07\0\0\0\0\0" in self.received:
                    self.refused_s = time.monotonic()
        self.over_s = time.monotonic()
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


class Attack:
    """The pieces that a client sends, as bytes or as a function of the number of each."""

    def __init__(self, name, pieces, settings=b"", reads=True, streams=STREAMS_MAX, ends=False):
        self.name = name
        self.pieces = pieces
        self.settings = settings
        self.reads = reads
        self.streams = streams  # that exist at once
        self.ends = ends        # the server must end the connection

    def run(self, attacker, look=lambda: None):
        """Send until the server ends the connection."""
        for i, piece in enumerate(self.pieces()):
            if not attacker.send(piece):
                return
            if i % 200 == 0:
                look()


def flood(name, piece, settings=b"", streams=STREAMS_MAX):
    """An endless attack: 'piece' makes the frames for a stream."""
    return Attack(name, lambda: (piece(2 * i + 1) for i in range(100_000)), settings, True, streams, True)


def hold(name, pieces, settings=b"", reads=True, streams=STREAMS_MAX):
    return Attack(name, lambda: pieces, settings, reads, streams)


def request(stream, block=None, path=b"/", flags=END_STREAM | END_HEADERS):
    return frame(HEADERS, flags, stream, head(path) if block is None else block)


def requests(n, path, flags=END_STREAM | END_HEADERS):
    return [request(2 * i + 1, None, path, flags) for i in range(n)]


def after(first, piece):
    """Pieces of which the first stream's begins with something else."""
    return lambda stream: (first if stream == 1 else b"") + piece(stream)


NO_WINDOW = struct.pack(">HI", 4, 0)
ONE_BYTE = struct.pack(">HI", 4, 1)
ALL_WINDOW = struct.pack(">HI", 4, 0x3fffffff)
ENTRY = field(b"x", b"a" * 3900, 0x40)
UNENDED = request(1, None, b"/wait", END_HEADERS)
# An answer, after which the server resets the stream, since the request has no end.
ENDED = request(1, None, b"/", END_HEADERS)
HUFFMAN = head(b"/wait") + b"\x00\x01x" + integer(6000, 7, 0x80) + b"\x1c\x64" * 3000

RESETS = [
    flood("rapid reset", lambda stream: request(stream, None, b"/wait") + frame(RST, 0, stream, number(8))),
    flood("made you reset, WINDOW_UPDATE", lambda stream: request(stream, None, b"/wait", END_HEADERS) +
          frame(UPDATE, 0, stream, number(0x7fffffff))),
    flood("made you reset, PRIORITY", lambda stream: request(stream, None, b"/wait", END_HEADERS) +
          frame(PRIORITY, 0, stream, number(stream) + b"\1")),
    flood("made you reset, malformed", lambda stream: request(stream, head(b"/wait") + field(b"A", b"b"))),
    flood("fields without a name", lambda stream: request(stream, head(b"/wait") + field(b"", b"") * 100)),
]
CONTROL = [
    flood("SETTINGS", lambda stream: frame(SETTINGS, 0, 0)),
    flood("table sizes", lambda stream: frame(SETTINGS, 0, 0, struct.pack(">HI", 1, stream % 4096))),
    flood("window sizes of 100 streams", after(b"".join(requests(100, b"/wait")), lambda stream: frame(
        SETTINGS, 0, 0, struct.pack(">HI", 4, stream % 65536)))),
    flood("PING", lambda stream: frame(PING, 0, 0, b"12345678")),
    flood("PRIORITY", lambda stream: frame(PRIORITY, 0, stream, b"\0\0\0\0\1")),
    flood("GOAWAY", lambda stream: frame(GOAWAY, 0, 0, b"\0" * 8)),
    flood("unknown frames", lambda stream: frame(0x77, 0, 0, b"unknown")),
    flood("WINDOW_UPDATE", lambda stream: frame(UPDATE, 0, 0, number(1))),
    flood("a window that overflows", lambda stream: frame(UPDATE, 0, 0, number(0x7fffffff))),
]
DATA_FLOODS = [
    flood("empty DATA", after(UNENDED, lambda stream: frame(DATA, 0, 1))),
    flood("DATA of padding", after(UNENDED, lambda stream: frame(DATA, 8, 1, b"\xff" + b"\0" * 255))),
    flood("DATA for a stream that has ended", after(ENDED, lambda stream: frame(DATA, 0, 1, b"x"))),
    flood("HEADERS for a stream that has ended", after(ENDED, lambda stream: request(1, field(b"a", b"b")))),
    flood("taken by single bytes", after(request(1, None, b"/large"), lambda stream: frame(UPDATE, 0, 1, number(1))),
          ONE_BYTE),
]
HEADS = [
    flood("CONTINUATION", lambda stream: request(1, None, b"/", 0) if stream == 1 else
          frame(CONTINUATION, 0, 1, field(b"x", b"y" * 100))),
    flood("CONTINUATION without bytes", lambda stream: request(1, None, b"/", 0) if stream == 1 else
          frame(CONTINUATION, 0, 1)),
    flood("HPACK bomb", lambda stream: request(stream, head() + ENTRY + b"\xbe" * 8000)),
]
HOLDS = [
    hold("heads of references", [request(2 * i + 1, head(b"/wait") + (ENTRY if i == 0 else b"") + b"\xbe" * 15)
                                 for i in range(100)], NO_WINDOW),
    hold("cookie crumbs", [request(2 * i + 1, head(b"/wait") + (field(b"cookie", b"", 0x40) if i == 0 else b"") +
                                   b"\xbe" * 100) for i in range(100)], NO_WINDOW),
    hold("coded by Huffman", [request(2 * i + 1, HUFFMAN) for i in range(100)], NO_WINDOW),
    hold("trailers of references", [request(2 * i + 1, None, b"/wait", END_HEADERS) +
                                    request(2 * i + 1, (ENTRY if i == 0 else b"") + b"\xbe\xbe")
                                    for i in range(100)]),
    hold("requests that wait", requests(128, b"/wait")),
    hold("requests without an end", [request(2 * i + 1, head(b"/", 0x83), b"", END_HEADERS) for i in range(128)]),
    hold("unread bodies", requests(12, b"/wait", END_HEADERS) +
         [frame(DATA, 0, 2 * i + 1, b"x" * 16000) for i in range(12) for _ in range(4)]),
    hold("bodies by single bytes", requests(100, b"/wait", END_HEADERS) +
         [frame(DATA, 0, 2 * i + 1, b"x") for i in range(100)]),
    hold("memory without a window", requests(100, b"/large"), NO_WINDOW),
    hold("files without a window", requests(100, b"/file"), NO_WINDOW),
    hold("windows of a byte", requests(100, b"/large") +
         [frame(UPDATE, 0, 2 * i + 1, number(1)) for i in range(100)], ONE_BYTE),
    hold("responses that are not read", [frame(UPDATE, 0, 0, number(0x3fffffff))] + requests(100, b"/large"),
         ALL_WINDOW, False),
    hold("files that are not read", [frame(UPDATE, 0, 0, number(0x3fffffff))] + requests(100, b"/file"),
         ALL_WINDOW, False),
    hold("a connection without a request", [], streams=0),
    hold("a part of a frame", [frame(HEADERS, 0, 1, head())[:5]], streams=1),
]


def check_held(server, attacker, attack, allocated):
    """Returns the bytes that were held, of the allocator and of the process."""
    server.memory()
    grown, name = server.most - server.before, attack.name
    print(f"# {name}: sent {attacker.sent}, allocated {allocated}, resident {grown}")
    check(allocated <= HELD_MAX, name, "holds", allocated, "after", attacker.sent)
    check(not MEASURES or grown <= RESIDENT_MAX, name, "is resident with", grown, "after", attacker.sent)
    check(allocated <= CONNECTION + attack.streams * STREAM + HELD_TIMES * attacker.sent, name, allocated, attacker.sent)
    return allocated, grown


def check_attack(eddy, attack):
    """Returns what the attack has cost."""
    server = Server(eddy)
    with contextlib.closing(Attacker(server, attack.settings, attack.reads)) as attacker:
        attack.run(attacker, server.memory)
        if attack.ends:
            check(attacker.is_over.wait(e2e.SOON), attack.name, "is not ended")
        else:
            attacker.settle()
        figures = check_held(server, attacker, attack, server.allocated() - server.allocated_before)
        server.ask()
    server.stop()
    return attacker.sent, *figures


def check_attacks(eddy, attacks):
    for attack in attacks:
        check_attack(eddy, attack)


@claim
def resets_and_those_that_a_client_provokes_are_ended(eddy):
    check_attacks(eddy, RESETS)


@claim
def floods_of_control_frames_are_ended(eddy):
    check_attacks(eddy, CONTROL)


@claim
def floods_of_data_are_ended(eddy):
    check_attacks(eddy, DATA_FLOODS)


@claim
def heads_without_an_end_are_ended(eddy):
    check_attacks(eddy, HEADS)


@claim
def requests_and_answers_that_wait_hold_little(eddy):
    check_attacks(eddy, HOLDS)


# ---- figures ---------------------------------------------------------------------------------------

ROUNDS, ROUND = 6, 500


def p99_of_requests(server):
    """The 99th percentile of a good client's seconds, which has one connection: the least of some rounds, since other
    programs run on the machine too."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=e2e.SOON)
    best = float("inf")
    for _ in range(ROUNDS):
        times = []
        for _ in range(ROUND):
            begun = time.monotonic()
            connection.request("GET", "/")
            connection.getresponse().read()
            times.append(time.monotonic() - begun)
        best = min(best, sorted(times)[ROUND * 99 // 100])
    connection.close()
    return best


def attack_on(server, attack, begun):
    """A process that attacks again and again, or keeps what it has made the server hold.

    It would be on another machine, so it takes the time of a processor that the others leave.
    """
    os.nice(19)
    while True:
        begun.release()
        with contextlib.closing(Attacker(server, attack.settings, attack.reads)) as attacker:
            attack.run(attacker)
            if not attack.ends:
                attacker.is_over.wait()  # until the process is killed
            attacker.is_over.wait(e2e.SOON)


def print_figures(eddy, attack):
    server = Server(eddy)
    p99 = p99_of_requests(server)
    begun = multiprocessing.Semaphore(0)
    process = multiprocessing.Process(target=attack_on, args=(server, attack, begun), daemon=True)
    process.start()
    begun.acquire()
    p99_beside = p99_of_requests(server)
    attacks = begun.get_value() + 1
    process.kill()
    process.join()
    server.stop()

    server = Server(eddy)
    before_s = server.cpu_s()
    with contextlib.closing(Attacker(server, attack.settings, attack.reads)) as attacker:
        attack.run(attacker, server.memory)
        if attack.ends:
            attacker.is_over.wait(e2e.SOON)
            closed = f"{(attacker.over_s - (attacker.refused_s or attacker.over_s)) * 1000:.0f} ms"
        else:
            attacker.settle()
            closed = "held"
        attack_s = server.cpu_s() - before_s
        allocated = server.allocated() - server.allocated_before
        server.memory()
        before_s = server.cpu_s()
        time.sleep(1)
        cpu = server.cpu_s() - before_s
        print(f"# | {attack.name} | {attacker.sent} | {allocated} | {server.most - server.before} | "
              f"{allocated / attacker.sent:.1f} | {closed} | {attack_s * 1000:.1f} | {cpu * 100:.1f} % | {attacks} | {p99 * 1000:.2f} | {p99_beside * 1000:.2f} | "
              f"{p99_beside / p99:.1f} |", flush=True)
    server.stop()


@alone
@claim
def figures_are_printed(eddy):
    if not MEASURES:
        raise e2e.Skip("figures: only with EDDY_TEST_FULL and without a sanitizer")
    print("# | attack | bytes sent | allocated | resident | allocated / sent | GOAWAY to end | CPU, ms | CPU in the next second | "
          "attacks beside | p99 alone, ms | p99 beside, ms | times |")
    for attack in RESETS + CONTROL + DATA_FLOODS + HEADS + HOLDS:
        print_figures(eddy, attack)


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
