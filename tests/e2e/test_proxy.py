#!/usr/bin/env python3
"""test_proxy - the example of a reverse proxy before servers of others and before hostile ones.

    test_proxy.py REVERSE_PROXY [WORD]

100 MB go up and down with equal digests, and the proxy's peak of memory is that of 1 MB.  A server that ends
at any byte of its answer never gives an answer that looks whole and is not.  What is not installed skips its
cases by name (tools/install-deps interop).
"""
import hashlib
import http.client
import os
import random
import shutil
import signal
import socket
import subprocess
import sys

import e2e
from e2e import check, claim, equal

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = {"little": 1_000_003, "much": 100_000_007}
MORE_KIB_MAX = 1024
SANITIZE = os.environ.get("EDDY_TEST_SANITIZE", "none")
HEALTHY = e2e.ok(b"")
# Headers that concern one connection, as RFC 9110, 7.6.1 has them, and two that Connection names.
OF_CONNECTION = {"Connection": "keep-alive, X-Once, x-twice", "Keep-Alive": "timeout=9", "Proxy-Connection": "close",
                 "TE": "trailers", "X-Once": "1", "X-Twice": "2", "Proxy-Authorization": "Basic YTpi"}


class Proxy:
    """The example before some servers."""

    def __init__(self, eddy, *servers):
        # Freed memory that a sanitizer holds back would look like growth.
        options = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=0",
                                         "thread_local_quarantine_size_kb=0")))
        self.child = eddy.start("0", *servers, env={**os.environ, "ASAN_OPTIONS": options})
        self.url = self.child.stdout.readline().decode().strip()
        self.port = int(self.url.rsplit(":", 1)[1])

    def peak_kib(self):
        with open(f"/proc/{self.child.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=e2e.LIMIT_S)

    def say(self, text):
        """All that comes until the connection ends."""
        with self.connect() as connection:
            connection.sendall(text)
            got = b""
            try:
                while piece := connection.recv(65536):
                    got += piece
            except ConnectionResetError:
                got += b"RESET"
            return got

    def get(self, more=b""):
        return self.say(b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + more + b"\r\n")


def status_of(answer):
    return int(answer.split()[1])


def serve(eddy, answer):
    """A server whose health is good, and which calls answer(connection, head) for other requests."""
    def talk(connection, _):
        while head := e2e.read_head(connection):
            if head.startswith(b"GET /health "):
                connection.sendall(HEALTHY)
            elif answer(connection, head) is False:
                return
    return eddy.serve(talk)


def whole_body(answer):
    """The body of an answer that is whole, or None."""
    head, end, rest = answer.partition(b"\r\n\r\n")
    if not end or b"RESET" in answer:
        return None
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    if b"content-length" in fields:
        return rest if len(rest) == int(fields[b"content-length"]) else None
    check(fields.get(b"transfer-encoding") == b"chunked", answer)
    body = b""
    while True:
        size, end, rest = rest.partition(b"\r\n")
        if not end:
            return None
        if size == b"0":
            return body if rest.endswith(b"\r\n") else None
        size = int(size, 16)
        if rest[size:size + 2] != b"\r\n":
            return None
        body, rest = body + rest[:size], rest[size + 2:]


# ---- bodies ---------------------------------------------------------------------------------------


def nginx(eddy, folder):
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    program = shutil.which("nginx", path=path)
    if not program:
        raise e2e.Skip("nginx is not installed (tools/install-deps interop)")
    port, own = e2e.free_port(), eddy.file("nginx")
    os.mkdir(own)
    config = eddy.file("nginx.conf", f"""
daemon off; master_process off; pid {own}/nginx.pid; error_log {own}/error.log;
events {{ }}
http {{ access_log off; client_body_temp_path {own}/b; proxy_temp_path {own}/p; client_max_body_size 0;
fastcgi_temp_path {own}/f; uwsgi_temp_path {own}/u; scgi_temp_path {own}/s;
server {{ listen 127.0.0.1:{port}; root {folder}; dav_methods PUT; }} }}
""")
    child = subprocess.Popen([program, "-c", config, "-p", own], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    eddy.stack.callback(eddy.end, child)

    def listens():
        check(child.poll() is None, "nginx has ended")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    e2e.wait_until(listens, "nginx to listen")
    return f"http://127.0.0.1:{port}"


def python(eddy, folder):
    child = subprocess.Popen([sys.executable, "-B", os.path.join(HERE, "peers", "http_server.py"), folder],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    eddy.stack.callback(eddy.end, child)
    return child.stdout.readline().decode().split()[2]


def digest_of(pieces):
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def pieces_of(file):
    return iter(lambda: file.read(1 << 16), b"")


def transfer(proxy, folder, size, digest):
    """Bring a file down, and up with and without a stated length."""
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=e2e.LIMIT_S)
    connection.request("GET", f"/{size}")
    answer = connection.getresponse()
    equal((answer.status, answer.getheader("Content-Length")), (200, str(SIZES[size])))
    equal(digest_of(pieces_of(answer)), digest)
    for headers in {"Content-Length": str(SIZES[size])}, {"Transfer-Encoding": "chunked"}:
        with open(os.path.join(folder, size), "rb") as file:
            connection.request("PUT", "/sent", pieces_of(file), headers, encode_chunked="Transfer-Encoding" in headers)
        answer = connection.getresponse()
        body = answer.read().decode()
        check(answer.status in (200, 201, 204), answer.status, body)
        if answer.status != 200:  # nginx saves the body
            path = os.path.join(folder, "sent")
            with open(path, "rb") as file:
                body = digest_of(pieces_of(file))
            os.remove(path)
        equal(body, digest, headers)
    connection.close()


def check_bodies(eddy, server):
    folder, digests = eddy.file("files"), {}
    os.mkdir(folder)
    os.chmod(eddy.folder, 0o755)
    for name, size in SIZES.items():
        data = random.Random(size).randbytes(size)
        digests[name] = hashlib.sha256(data).hexdigest()
        with open(os.path.join(folder, name), "wb") as out:
            out.write(data)
    with open(os.path.join(folder, "health"), "wb"):
        pass
    proxy, peaks = Proxy(eddy, server(eddy, folder)), {}
    for size in "little", "little", "much":
        transfer(proxy, folder, size, digests[size])
        peaks[size] = proxy.peak_kib()
    print(f"# {server.__name__}: {peaks['little']} KiB with 1 MB, {peaks['much']} KiB with 100 MB", flush=True)
    check("thread" in SANITIZE or peaks["much"] <= peaks["little"] + MORE_KIB_MAX, peaks)


@claim
def bodies_pass_whole_both_ways_in_flat_memory_with_nginx(eddy):
    check_bodies(eddy, nginx)


@claim
def bodies_pass_whole_both_ways_in_flat_memory_with_python(eddy):
    check_bodies(eddy, python)


@claim
def bodies_pass_in_both_directions_at_once(eddy):
    def echo(connection, head):
        check(b"\r\nTransfer-Encoding: chunked\r\n" in head, head)
        chunks = head.partition(b"\r\n\r\n")[2]
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
        while not chunks.endswith(b"0\r\n\r\n"):
            piece = connection.recv(65536)
            check(piece, chunks)
            chunks += piece
            connection.sendall(piece)

    proxy = Proxy(eddy, serve(eddy, echo).url)
    with proxy.connect() as connection:
        connection.sendall(b"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        got = b""
        for number in range(20):
            word = b"word %02d" % number
            connection.sendall(b"7\r\n" + word + b"\r\n")
            while word not in got:
                piece = connection.recv(65536)
                check(piece, got)
                got += piece
        connection.sendall(b"0\r\n\r\n")
        while not got.endswith(b"\r\n0\r\n\r\n"):
            got += connection.recv(65536)
        equal(status_of(got), 200)


# ---- answers that break off -----------------------------------------------------------------------


@claim
def an_answer_that_ends_at_any_byte_never_looks_whole(eddy):
    bodies = [b"Content-Length: 5\r\n\r\nhello",
              b"Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\nX-Sum: 7\r\n\r\n"]
    for version in b"1.1", b"1.0":
        for body in bodies:
            answer, cut = b"HTTP/1.1 200 OK\r\nX-One: 1\r\n" + body, [0]

            def part(connection, _, answer=answer, cut=cut):
                connection.sendall(answer[:cut[0]])
                return False

            proxy = Proxy(eddy, serve(eddy, part).url)
            for cut[0] in range(len(answer) + 1):
                got = proxy.say(b"GET /x HTTP/%s\r\nHost: a\r\nConnection: close\r\n\r\n" % version)
                if got.startswith(b"HTTP/1.1 502 "):
                    check(cut[0] < len(answer), got)
                elif version == b"1.0" and b"Content-Length" not in got:
                    equal(b"RESET" in got, cut[0] < len(answer), cut, got)
                elif cut[0] < len(answer):
                    equal(whole_body(got), None, cut, got)
                else:
                    equal(whole_body(got), b"hello", got)
                    equal(b"X-Sum: 7" in got, b"X-Sum: 7" in answer, got)


@claim
def an_upload_that_breaks_off_does_not_look_whole_to_the_server(eddy):
    got = []

    def gather(connection, head):
        while piece := connection.recv(65536):
            head += piece
        got.append(head)
        return False

    proxy = Proxy(eddy, serve(eddy, gather).url)
    for framing, part in (b"Content-Length: 10", b"hello"), (b"Transfer-Encoding: chunked", b"5\r\nhello\r\n"):
        with proxy.connect() as connection:
            connection.sendall(b"PUT /x HTTP/1.1\r\nHost: a\r\n" + framing + b"\r\n\r\n" + part)
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
        equal(status_of(answer), 400, answer)
        e2e.wait_until(lambda: got, "the end of the upload")
        head, _, body = got.pop().partition(b"\r\n\r\n")
        check(framing in head, head)
        check(body in (b"", part), body)


@claim
def a_client_that_leaves_ends_its_request_to_the_server(eddy):
    waiting, ended = [], []

    def wait(connection, head):
        waiting.append(head)
        check(not connection.recv(1), "bytes after the request")
        ended.append(head)
        return False

    proxy = Proxy(eddy, serve(eddy, wait).url)
    for body in b"", b"Content-Length: 5\r\n":
        with proxy.connect() as connection:
            connection.sendall(b"POST /x HTTP/1.1\r\nHost: a\r\n" + body + b"\r\n")
            e2e.wait_until(lambda: waiting, "the request")
        e2e.wait_until(lambda: ended, "the end of the request", 30)  # its limit for a read ends it after 60 s
        waiting.clear()
        ended.clear()


# ---- heads ----------------------------------------------------------------------------------------


def head_server(eddy, heads):
    def tell(connection, head):
        heads.append(head)
        connection.sendall(e2e.ok(b"ok"))
    return serve(eddy, tell).url


@claim
def headers_of_one_connection_are_not_passed_on(eddy):
    heads = []
    lines = "".join(f"{name}: {value}\r\n" for name, value in OF_CONNECTION.items())

    def tell(connection, head):
        heads.append(head)
        connection.sendall(e2e.ok(b"ok", lines.replace("keep-alive, ", "").encode() + b"X-Kept: 1\r\nSet-Cookie: a=b\r\n"
                                  b"Set-Cookie: c=d\r\n"))
        return False

    proxy = Proxy(eddy, serve(eddy, tell).url)
    got = proxy.say(b"GET /a//b/%2e./../c?x=%20&y HTTP/1.1\r\nHost: a.test\r\n" + lines.encode() +
                    b"Upgrade: websocket\r\nConnection: upgrade, close\r\nX-Kept: 1\r\nAuthorization: Basic YTpi\r\n\r\n")
    equal(status_of(got), 200)
    check(b"\r\nX-Kept: 1\r\n" in got and got.count(b"\r\nSet-Cookie: ") == 2, got)
    check(b"\r\nX-Kept: 1\r\n" in heads[0] and b"\r\nAuthorization: Basic YTpi\r\n" in heads[0], heads)
    equal(heads[0].split(b"\r\n")[0], b"GET /a//b/%2e./../c?x=%20&y HTTP/1.1")
    for message in got.replace(b"Connection: close", b""), heads[0]:
        for name in *OF_CONNECTION, "Upgrade", "User-Agent", "Accept":
            check(b"\n" + name.lower().encode() + b":" not in message.lower(), name, message)


@claim
def forwarded_headers_are_those_of_the_proxy(eddy):
    heads = []
    proxy = Proxy(eddy, head_server(eddy, heads))
    proxy.get(b"Forwarded: for=10.0.0.1\r\nX-Forwarded-For: 10.0.0.1\r\nX-Forwarded-Port: 1\r\n"
              b"X-Forwarded-Host: evil\r\nX-Forwarded-Proto: https\r\nVia: 1.0 first\r\nX_Forwarded_For: 10.0.0.1\r\n")
    fields = [line for line in heads[0].decode().split("\r\n") if "orwarded" in line or "Via" in line]
    equal(sorted(fields), ['Forwarded: for=127.0.0.1;proto=http;host="a"', "Via: 1.0 first", "Via: 1.1 eddy",
                           "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: a", "X-Forwarded-Proto: http"])


@claim
def answers_without_a_body_stay_as_they_are(eddy):
    answers = {b"/head": b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n",
               b"/204": b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n",
               b"/304": b"HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 7\r\n\r\n"}
    proxy = Proxy(eddy, serve(eddy, lambda connection, head: connection.sendall(answers[head.split()[1]])).url)
    # All on one connection: a wrong length would shift the answers.
    got = proxy.say(b"HEAD /head HTTP/1.1\r\nHost: a\r\n\r\nGET /204 HTTP/1.1\r\nHost: a\r\n\r\n"
                    b"GET /304 HTTP/1.1\r\nHost: a\r\n\r\nHEAD /head HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    heads = got.split(b"\r\n\r\n")
    equal([head.split(b" ")[1] for head in heads if head], [b"200", b"204", b"304", b"200"])
    equal([b"Content-Length: 1234" in head for head in heads], [True, False, False, True, False])
    check(b'ETag: "a"' in heads[2] and b"X-A: 1" in heads[1], got)
    check(b"Transfer-Encoding" not in got and b"Content-Length: 7" not in got, got)


@claim
def continue_comes_from_the_proxy(eddy):
    heads = []

    def gather(connection, head):
        heads.append(head)
        body = head.partition(b"\r\n\r\n")[2]
        while len(body) < 5:
            body += connection.recv(65536)
        connection.sendall(e2e.ok(body))

    proxy = Proxy(eddy, serve(eddy, gather).url)
    with proxy.connect() as connection:
        connection.sendall(b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        equal(e2e.read_head(connection), b"HTTP/1.1 100 Continue\r\n\r\n")
        connection.sendall(b"hello")
        got = e2e.read_head(connection)
        while not got.endswith(b"hello"):
            got += connection.recv(65536)
        check(b"Expect" not in heads[0], heads)
    # Without a backend the client gets its answer before it sends the body.
    proxy = Proxy(eddy, f"http://127.0.0.1:{e2e.free_port()}")
    with proxy.connect() as connection:
        connection.sendall(b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        equal(status_of(e2e.read_head(connection)), 502)


@claim
def requests_that_cannot_be_passed_on_have_their_own_status(eddy):
    heads = []
    proxy = Proxy(eddy, head_server(eddy, heads))
    for line, status in {"OPTIONS *": 501, "CONNECT a:1": 501, "GET /%zz": 400, 'GET /"': 400, "GET /\\": 400,
                         "GET /\u00e4": 400, "GET /a#b": 400, "GET /{|}^`[]": 200, "GET /;a=b,c'()*!$&+:@": 200}.items():
        got = proxy.say(line.encode() + b" HTTP/1.1\r\nHost: a:1\r\nConnection: close\r\n\r\n")
        equal(status_of(got), status, line, got)
    equal([head.split(b" ")[1] for head in heads], [b"/{|}^`[]", b"/;a=b,c'()*!$&+:@"])


# ---- backends -------------------------------------------------------------------------------------


@claim
def requests_that_may_be_repeated_go_to_the_next_backend(eddy):
    lost = []

    def lose(_, head):
        lost.append(head.split()[0])
        return False

    proxy = Proxy(eddy, serve(eddy, lose).url, head_server(eddy, []))
    for _ in range(10):
        equal(status_of(proxy.get()), 200)
    check(lost, "no request was lost")
    statuses = [status_of(proxy.say(b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
                for _ in range(4)]
    equal(sorted(statuses), [200, 200, 502, 502])


@claim
def backends_that_are_ill_get_no_requests(eddy):
    ill, names = [True], []

    def backend(name):
        def talk(connection, _):
            while head := e2e.read_head(connection):
                if head.startswith(b"GET /health "):
                    connection.sendall(b"HTTP/1.1 503 Ill\r\nContent-Length: 0\r\n\r\n" if name == "a" and ill[0]
                                       else HEALTHY)
                else:
                    names.append(name)
                    connection.sendall(e2e.ok(b""))
        return eddy.serve(talk).url

    def answerers():
        names.clear()
        for _ in range(4):
            equal(status_of(proxy.get()), 200)
        return set(names)

    proxy = Proxy(eddy, backend("a"), backend("b"))
    e2e.wait_until(lambda: answerers() == {"b"}, "the ill backend to be left out")
    ill[0] = False
    e2e.wait_until(lambda: answerers() == {"a", "b"}, "the backend to come back")
    proxy.child.send_signal(signal.SIGTERM)
    equal(proxy.child.wait(timeout=e2e.LIMIT_S), 0)


e2e.main()
