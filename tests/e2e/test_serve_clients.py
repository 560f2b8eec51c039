#!/usr/bin/env python3
"""test_serve_clients - files of `eddy serve` to curl, to eddy's own clients, and to clients of HTTP/1.0: ranges, downloads
that are continued, and files that have changed meanwhile.

    test_serve_clients.py EDDY [WORD]

test_serve_peers.py has the clients that are not on each machine, and large files.
"""
import gzip
import hashlib
import os
import re
import shutil
import socket
import subprocess
import urllib.parse

import e2e
import serve_files
from e2e import check, claim, equal
from serve_files import curl

MIB = 1 << 20
TEXT = b"0123456789" * 1000


def text_folder(eddy, **files):
    path = eddy.file("www")
    os.mkdir(path)
    for name, data in {"a.txt": TEXT, **files}.items():
        with open(os.path.join(path, name), "wb") as file:
            file.write(data)
    return path


def headers_of(url):
    return curl("-I", url).decode()


def tag_of(url):
    return re.search(r"(?i)^etag: (.*?)\r$", headers_of(url), re.M)[1]


@claim
def curl_asks_for_one_and_several_ranges(eddy):
    _, url = serve_files.serve(eddy, text_folder(eddy))
    url += "/a.txt"
    for text, first, end in ("0-9", 0, 10), ("5-", 5, None), ("-7", -7, None), ("9990-99999", 9990, None):
        equal(curl("-f", "-r", text, url), TEXT[first:end])
    answer = curl("-i", "-r", "0-4,10-14,9000-9009", url)
    head, _, body = answer.partition(b"\r\n\r\n")
    equal(serve_files.parts(head.decode(), b"\r\n" + body.removeprefix(b"\r\n")),
          [("bytes 0-4/10000", TEXT[:5]), ("bytes 10-14/10000", TEXT[10:15]), ("bytes 9000-9009/10000", TEXT[9000:9010])])
    equal(curl("-o", os.devnull, "-w", "%{http_code}", "-r", "10000-", url), b"416")


@claim
def curl_continues_a_file_and_never_joins_two(eddy):
    path = text_folder(eddy)
    _, url = serve_files.serve(eddy, path)
    out, url = eddy.file("out", TEXT[:3000]), url + "/a.txt"
    tag = tag_of(url)
    curl("-f", "-C", "-", "-H", f"If-Range: {tag}", "-o", out, url)
    with open(out, "rb") as file:
        equal(file.read(), TEXT)
    # Another file of the name: the answer is the whole file, which curl refuses to join (33).
    new = eddy.file("new", TEXT[::-1])
    os.replace(new, os.path.join(path, "a.txt"))
    check(tag_of(url) != tag, tag)
    with open(out, "wb") as file:
        file.write(TEXT[:3000])
    for condition in "If-Range", "If-Match":
        curl("-C", "-", "-H", f"{condition}: {tag}", "-o", out, url, code=33)
        with open(out, "rb") as file:
            equal(file.read(), TEXT[:3000])
    equal(curl("-f", "-H", f"If-Range: {tag}", "-r", "3000-", url), TEXT[::-1])


@claim
def curl_asks_for_a_file_if_it_has_changed(eddy):
    path = text_folder(eddy)
    _, url = serve_files.serve(eddy, path)
    url, tags, out = url + "/a.txt", eddy.file("tags"), eddy.file("out")
    for code in b"200", b"304":
        equal(curl("-o", out, "-w", "%{http_code}", "--etag-save", tags, *(["--etag-compare", tags] if code == b"304" else []),
                   url), code)
    equal(curl("-o", os.devnull, "-w", "%{http_code}", "-z", os.path.join(path, "a.txt"), url), b"304")


@claim
def curl_accepts_files_that_were_compressed_before(eddy):
    path = text_folder(eddy, **{"b.js": TEXT, "b.js.gz": gzip.compress(TEXT)})
    zstd = shutil.which("zstd")
    if zstd:
        subprocess.run([zstd, "-q", os.path.join(path, "b.js")], check=True)
    _, url = serve_files.serve(eddy, path, "--precompressed")
    url += "/b.js"
    equal(curl("-f", "--compressed", url), TEXT)
    equal(curl("-f", url), TEXT)
    sizes = [int(curl("-f", "-o", os.devnull, "-w", "%{size_download}", *more, url))
             for more in ([], ["-H", "Accept-Encoding: gzip"])]
    check(sizes[0] == len(TEXT) and sizes[1] < 1000, sizes)
    # The tags of the codings differ, so that no range of one continues the other.
    check(tag_of(url) not in curl("-I", "-H", "Accept-Encoding: gzip", url).decode(), sizes)


def answer_to(version, *args):
    """The status, the head without what differs between requests and versions, and the digest of the body."""
    head, _, body = curl("-i", version, *args).partition(b"\r\n\r\n")
    first, *fields = head.decode().lower().split("\r\n")
    fields = [re.sub(r"boundary=\S+", "", field) for field in fields
              if not field.startswith(("date:", "connection:", "transfer-encoding:"))]
    return first.split()[1], sorted(fields), hashlib.sha256(re.sub(rb"\r\n--[^\r]+", b"", body)).hexdigest()


@claim
def curl_gets_equal_answers_by_http_1_and_by_http_2(eddy):
    path = text_folder(eddy, **{"b.js": TEXT, "b.js.gz": gzip.compress(TEXT)})
    for name in os.listdir(path):
        os.utime(os.path.join(path, name), (serve_files.DATE, serve_files.DATE))
    cert, key = serve_files.certificate(eddy)
    for version, tls in ("--http2", ("--cert", cert, "--key", key)), ("--http2-prior-knowledge", ()):
        log, protocols = eddy.file("log" + version), []
        _, url = serve_files.serve(eddy, path, "--listing", "--precompressed", "--access-log", log, *tls)
        file = url + "/a.txt"
        tag = re.search(r"(?i)^etag: (.*?)\r$", curl("-I", "--http1.1", "--cacert", cert, file).decode(), re.M)[1]
        for args in ((file,), ("-I", file), ("-r", "5-9", file), ("-r", "0-4,10-14", file), ("-r", "10000-", file),
                     ("-H", f"If-None-Match: {tag}", file), ("-H", "If-Match: \"other\"", file), ("--compressed", url + "/b.js"),
                     (url + "/",), (url + "/missing",), ("-d", "x", file), ("--path-as-is", url + "/../a.txt"), (url + "/%00",)):
            # curl 7.88 loses an early answer if it reads the reset after it at once, which without TLS is likely.
            if args[0] == "-d" and not tls:
                continue
            equal(answer_to(version, "--cacert", cert, *args), answer_to("--http1.1", "--cacert", cert, *args), args)
            protocols += ["HTTP/2.0", None]
        e2e.wait_until(lambda: [line.get("protocol") for line in serve_files.log_lines(log)][1:] == protocols,  # pylint: disable=cell-var-from-loop
                       "the lines of the log")


def ask(url, text):
    """Send a request, and read to the end of the connection."""
    parts = urllib.parse.urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=e2e.LIMIT_S) as connection:
        connection.sendall(text)
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.decode(), body


@claim
def clients_of_http_1_0_get_files_and_ranges(eddy):
    _, url = serve_files.serve(eddy, text_folder(eddy))
    equal(curl("-f", "-0", url + "/a.txt"), TEXT)
    equal(curl("-f", "-0", "-r", "10-19", url + "/a.txt"), TEXT[10:20])
    for fields, status, expected in ((b"", "200", TEXT), (b"Range: bytes=3-5\r\n", "206", TEXT[3:6]),
                                     (b"Connection: close\r\n", "200", TEXT), (b"Host: localhost\r\n", "200", TEXT)):
        head, body = ask(url, b"GET /a.txt HTTP/1.0\r\n%s\r\n" % fields)
        equal((head.split()[1], body), (status, expected), fields)
        check("chunked" not in head.lower(), head)
    head, body = ask(url, b"HEAD /a.txt HTTP/1.0\r\n\r\n")
    check("Content-Length: 10000" in head and not body, head, body)
    # The connection is kept if both want it.
    head, body = ask(url, b"GET /a.txt HTTP/1.0\r\nConnection: keep-alive\r\nRange: bytes=0-0\r\n\r\n"
                          b"GET /a.txt HTTP/1.0\r\nRange: bytes=1-1\r\n\r\n")
    check(body.startswith(b"0HTTP/1.") and body.endswith(b"\r\n\r\n1"), head, body)


@claim
def eddy_fetch_continues_a_file_whose_connections_break(eddy):
    path, digests = serve_files.folder(eddy, large=4)
    _, url = serve_files.serve(eddy, path)
    relay = serve_files.Relay(eddy, url, breaks=3, after=MIB)
    command = ("-o", eddy.file("results"), "--save", eddy.file("saved"), "--attempts", "2", "--backoff", "1ms",
               relay.url + "/large.bin")
    for code in 1, 0:
        equal(eddy.fetch(*command).code, code, relay.requests)
    equal(serve_files.digest_of(eddy.file("saved/large.bin")), digests["large"])
    equal(relay.broken, 3)
    starts = [int(value.removeprefix("bytes=").removesuffix("-")) for value in relay.fields("Range")]
    check(len(starts) == 3 and 0 < starts[0] < starts[1] < starts[2] < 4 * MIB, relay.requests)
    equal(relay.fields("If-Range"), [tag_of(url + "/large.bin")] * 3)


@claim
def eddy_http_download_continues_within_a_call_and_begins_again_if_the_file_has_changed(eddy):
    path, digests = serve_files.folder(eddy, large=4)
    child, url = serve_files.serve(eddy, path)
    program, out = os.environ["EDDY_DOWNLOAD_FILE"], eddy.file("out.bin")
    relay = serve_files.Relay(eddy, url, breaks=3, after=MIB)
    serve_files.run(program, out, relay.url + "/large.bin")
    equal((serve_files.digest_of(out), relay.broken, len(relay.fields("If-Range"))), (digests["large"], 3, 3))
    # A part of a file that has another tag now.
    relay = serve_files.Relay(eddy, url, breaks=9, after=MIB // 2)
    serve_files.run(program, out, relay.url + "/large.bin", code=1)
    check(os.path.exists(out + ".part"), os.listdir(eddy.folder))
    other, digest = serve_files.random_file(3)
    shutil.copy(other, os.path.join(path, "new"))
    os.replace(os.path.join(path, "new"), os.path.join(path, "large.bin"))
    relay.breaks = 0
    serve_files.run(program, out, relay.url + "/large.bin")
    equal(serve_files.digest_of(out), digest)
    check(child.poll() is None, "the server has ended")


e2e.main()
