#!/usr/bin/env python3
"""test_slow_readers - `eddy serve` with files of 100 MiB and its default limits, to 1,000 connections at a time that read
nothing, that read a byte a second, or whose requests do not end.

    test_slow_readers.py EDDY [WORD]

The server ends each of them; meanwhile each normal request is answered; memory is bounded by the number of
connections.  Each case takes 20 to 40 seconds, in which the machine has little to do; with EDDY_TEST_FULL=1 one takes 80.
"""
import contextlib
import os
import select
import socket
import urllib.parse

import e2e
import memory
import serve_files
from e2e import check, claim, equal
from server_peers import raise_limit

CONNECTIONS = 1000
LARGE = 100  # MiB
LEAST_NORMAL = 8
SANITIZE = os.environ.get("EDDY_TEST_SANITIZE", "none")
# Resident memory for each connection: its stack, and a piece of a file of 64 KiB.
KIB_MAX = 112 if SANITIZE == "none" else 160
GET = b"GET /%s.bin HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def claim_if_full(case):
    """A case of more than a minute."""
    return claim(case) if os.environ.get("EDDY_TEST_FULL") == "1" else case


class Server:
    """`eddy serve`, and what its answers to normal requests must be."""

    def __init__(self, eddy):
        raise_limit()
        self.eddy = eddy
        path, self.digests = serve_files.folder(eddy, small=1, large=LARGE)
        self.child, url = serve_files.serve(eddy, path, measured=True)
        self.address = ("127.0.0.1", urllib.parse.urlsplit(url).port)
        self.normal, self.idle = 0, self.open_files()
        self.ask()
        e2e.wait_until(lambda: self.open_files() <= self.idle, "the close of a connection")
        self.first = memory.peak_mib(self.child)

    def open_files(self):
        return len(os.listdir(f"/proc/{self.child.pid}/fd"))

    def connect(self, text, buffer=None):
        client = socket.socket()
        self.eddy.stack.callback(client.close)
        if buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        client.settimeout(e2e.LIMIT_S)
        client.connect(self.address)
        client.sendall(text)
        return client

    def wait_for_all(self):
        e2e.wait_until(lambda: self.open_files() >= self.idle + CONNECTIONS, "all connections")

    def ask(self):
        """A normal request, which is answered whole."""
        with contextlib.closing(self.connect(GET % b"small")) as client:
            answer = b""
            while piece := client.recv(1 << 16):
                answer += piece
        head, _, body = answer.partition(b"\r\n\r\n")
        equal((head.split()[1], len(body)), (b"200", 1 << 20))
        self.normal += 1

    def check_end(self, name):
        """All connections of the attack have ended, by the server."""
        check(self.normal >= LEAST_NORMAL, self.normal)
        peak = memory.peak_mib(self.child)
        each = (peak - self.first) * 1024 / CONNECTIONS
        print(f"# {name}: {CONNECTIONS} of {CONNECTIONS} ended by the server, {self.normal} normal requests answered; peak"
              f" of memory {self.first:.1f} MiB, then {peak:.1f} MiB: {each:.0f} KiB a connection", flush=True)
        check(each <= KIB_MAX, each)


def was_reset(client):
    """Whether the connection was reset before the end of the answer."""
    got = 0
    with contextlib.suppress(ConnectionResetError):
        while piece := client.recv(1 << 20):
            got += len(piece)
        return False
    return got < LARGE << 20


def attack(eddy, name, read):
    """Readers of a large file, for which 'read' is called again and again."""
    server = Server(eddy)
    clients = [server.connect(GET % b"large", buffer=4096) for _ in range(CONNECTIONS)]
    server.wait_for_all()
    while server.open_files() > server.idle:
        server.ask()
        read(clients)
    equal(sum(was_reset(client) for client in clients), CONNECTIONS)
    server.check_end(name)


@claim
def readers_that_read_nothing_are_reset(eddy):
    attack(eddy, "no byte read", lambda clients: select.select([], [], [], 0.2))


@claim
def readers_of_a_byte_a_second_are_reset(eddy):
    def read(clients):
        for client in clients:
            with contextlib.suppress(ConnectionResetError):
                client.recv(1)
        select.select([], [], [], 1)
    attack(eddy, "a byte a second", read)


@claim
def requests_that_do_not_end_are_refused(eddy):
    """Heads whose rest comes at a byte every two seconds, or not at all; the server reads on until 5 s of silence."""
    server = Server(eddy)
    clients = [server.connect((GET % b"large")[:-6 - i % 9]) for i in range(CONNECTIONS)]
    server.wait_for_all()
    bytes_left = 12
    while server.open_files() > server.idle:
        server.ask()
        for client in clients[::2] if bytes_left else []:
            with contextlib.suppress(ConnectionError):
                client.send(b"a")
        bytes_left -= bool(bytes_left)
        select.select([], [], [], 2)
    refused, reset = 0, 0
    for client in clients:
        try:
            refused += client.recv(1 << 16).startswith(b"HTTP/1.1 408 ")
        except ConnectionResetError:  # a byte came after the end
            reset += 1
    check(refused >= CONNECTIONS / 2 and refused + reset == CONNECTIONS, refused, reset)
    server.check_end("requests without an end")


@claim_if_full
def connections_without_a_request_are_closed(eddy):
    server = Server(eddy)
    clients = [server.connect(b"") for _ in range(CONNECTIONS)]
    server.wait_for_all()
    while server.open_files() > server.idle:
        server.ask()
        select.select([], [], [], 0.5)
    equal(sum(client.recv(1) == b"" for client in clients), CONNECTIONS)
    server.check_end("no request")


e2e.main()
