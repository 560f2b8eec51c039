"""test_serve - `eddy serve`: the files, the options, who can reach it, its end, and mistakes."""
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import urllib.parse

import e2e
from e2e import check, claim, equal, Skip


def site(eddy):
    folder = eddy.file("www")
    os.mkdir(folder)
    for name, text in (("a.txt", "0123456789"), (".secret", "secret"), ("b.js", "plain"), ("b.js.gz", "gzip")):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)
    return folder


def serve(eddy, folder, *args, port=0, **options):
    """Start the server; returns it and its URL."""
    child = eddy.start("serve", folder, "--port", str(port), *args, **options)
    line = child.stdout.readline().decode()
    if not line:
        raise AssertionError(child.stderr.read().decode())
    words = line.split()
    equal(words[:2], ["listening", "on"])
    return child, words[2]


def ask(url, path, method="GET", context=None, **headers):
    parts = urllib.parse.urlsplit(url)
    connection = (http.client.HTTPSConnection(parts.hostname, parts.port, timeout=e2e.LIMIT_S, context=context)
                  if parts.scheme == "https" else
                  http.client.HTTPConnection(parts.hostname, parts.port, timeout=e2e.LIMIT_S))
    try:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()
    finally:
        connection.close()


@claim
def files_are_served_and_the_rest_is_hidden(eddy):
    _, url = serve(eddy, site(eddy))
    check(url.startswith("http://127.0.0.1:"), url)
    equal(ask(url, "/a.txt")[0::2], (200, "0123456789"))
    equal(ask(url, "/a.txt", Range="bytes=2-4")[0::2], (206, "234"))
    for path in ("/.secret", "/missing", "/", "/%2e%2e/etc/passwd"):
        check(ask(url, path)[0] in (400, 404), path)
    equal(ask(url, "/a.txt", method="PUT")[0], 405)


@claim
def options_of_the_files_are_those_of_the_library(eddy):
    folder = site(eddy)
    os.symlink("a.txt", os.path.join(folder, "link"))
    _, url = serve(eddy, folder, "--listing", "--precompressed", "--cache-control", "max-age=60")
    page = ask(url, "/")[2]
    check('"./a.txt"' in page and '"./link"' in page and "secret" not in page, page)
    equal(ask(url, "/b.js", Accept_Encoding="gzip")[2], "gzip")
    equal(ask(url, "/b.js", Accept_Encoding="identity")[2], "plain")
    equal(ask(url, "/a.txt")[1]["Cache-Control"], "max-age=60")
    equal(ask(url, "/link")[0], 200)
    _, url = serve(eddy, folder, "--no-links")
    equal(ask(url, "/link")[0], 404)


@claim
def other_addresses_are_reached_only_if_asked_for(eddy):
    folder = site(eddy)
    _, url = serve(eddy, folder)
    port = urllib.parse.urlsplit(url).port
    with socket.socket() as probe:  # another address of this machine
        check(probe.connect_ex(("127.0.0.2", port)) != 0, "listens on all addresses")
    _, url = serve(eddy, folder, "--bind", "0.0.0.0")
    equal(ask(url.replace("0.0.0.0", "127.0.0.2"), "/a.txt")[0], 200)


@claim
def several_threads_serve_one_port(eddy):
    child, url = serve(eddy, site(eddy), "--threads", "3")
    for _ in range(20):
        equal(ask(url, "/a.txt")[0], 200)
    check(len(os.listdir(f"/proc/{child.pid}/task")) >= 3, "no threads")
    child.send_signal(signal.SIGTERM)
    equal(child.wait(e2e.LIMIT_S), 128 + signal.SIGTERM)


@claim
def a_port_can_be_used_again_after_the_server_has_closed_connections(eddy):
    folder = site(eddy)
    child, url = serve(eddy, folder, "--threads", "2")
    equal(ask(url, "/a.txt", Connection="close")[0], 200)
    child.send_signal(signal.SIGTERM)
    child.wait(e2e.LIMIT_S)
    _, url = serve(eddy, folder, "--threads", "2", port=url.rsplit(":", 1)[1])
    equal(ask(url, "/a.txt")[0], 200)


@claim
def names_of_other_sites_are_refused_on_the_loopback_address(eddy):
    folder, log, port = site(eddy), eddy.file("log"), e2e.free_port()
    known = ("localhost", "LOCALHOST:8000", "localhost.", "a.localhost:1", "127.0.0.1", "127.0.0.1:80", "10.0.0.7",
             "[::1]:80")
    others = ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "notlocalhost",
              "127.0.0.1x")
    _, url = serve(eddy, folder, "--host", "files.example", "--host", "b", "--access-log", log,
                   "--metrics-port", str(port))
    for host in (*known, "files.example", "FILES.example:80", "files.example.", "b"):
        equal((host, ask(url, "/a.txt", Host=host)[0]), (host, 200))
    parts = urllib.parse.urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=e2e.LIMIT_S) as client:
        client.sendall(b"GET /a.txt HTTP/1.0\r\n\r\n")  # not a browser
        check(client.recv(1000).startswith(b"HTTP/1.1 200 "), "refused without a Host")
    for host in (*others, "a.files.example", "files.exampl"):
        status, _, body = ask(url, "/a.txt", Host=host)
        equal((host, status), (host, 403))
        check("0123456789" not in body and "--host" in body, body)
    equal(ask(url, "/missing", Host="evil.example")[0], 403)
    metrics = f"http://127.0.0.1:{port}"
    equal(ask(metrics, "/metrics", Host="evil.example")[0], 403)
    equal(ask(metrics, "/metrics", Host="localhost")[0], 200)
    with open(log, encoding="utf-8") as file:
        check([json.loads(line)["status"] for line in file].count(403) == len(others) + 3, "not logged")
    _, url = serve(eddy, folder, "--bind", "0.0.0.0")
    equal(ask(url.replace("0.0.0.0", "127.0.0.1"), "/a.txt", Host="files.example")[0], 200)
    _, url = serve(eddy, folder, "--bind", "0.0.0.0", "--host", "files.example")
    equal(ask(url.replace("0.0.0.0", "127.0.0.1"), "/a.txt", Host="evil.example")[0], 403)


@claim
def each_spelling_of_the_loopback_address_refuses_names_of_other_sites(eddy):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as error:
        raise Skip("there is no IPv6") from error
    folder = site(eddy)
    for address in ("::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"):
        _, url = serve(eddy, folder, "--bind", address)
        equal((address, ask(url, "/a.txt", Host="evil.example")[0]), (address, 403))
        equal((address, ask(url, "/a.txt", Host="localhost")[0]), (address, 200))


def make_certificate(eddy):
    """Make or replace a certificate; returns its file and that of its key."""
    cert, key = eddy.file("cert.pem", ""), eddy.file("key.pem", "")
    try:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", key, "-out", cert, "-days", "30", "-subj", "/CN=127.0.0.1", "-addext",
                        "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    except FileNotFoundError as error:
        raise Skip("openssl is not installed") from error
    return cert, key


@claim
def a_certificate_makes_it_https(eddy):
    cert, key = make_certificate(eddy)
    folder = site(eddy)
    _, url = serve(eddy, folder, "--cert", cert, "--key", key)
    check(url.startswith("https://"), url)
    context = ssl.create_default_context(cafile=cert)
    equal(ask(url, "/a.txt", context=context)[0::2], (200, "0123456789"))
    equal(ask(url, "/a.txt", context=context, Host="files.example")[0], 200)
    _, url = serve(eddy, folder, "--cert", cert, "--key", key, "--host", "a")
    equal(ask(url, "/a.txt", context=context, Host="files.example")[0], 403)


@claim
def http1_turns_http2_off(eddy):
    folder = site(eddy)
    cert, key = make_certificate(eddy)
    for args, chosen in (((), "h2"), (("--http1",), "http/1.1")):
        _, url = serve(eddy, folder, "--cert", cert, "--key", key, *args)
        equal(e2e.alpn_of(url, cert), chosen)


@claim
def a_hangup_reads_the_certificate_again(eddy):
    cert, key = make_certificate(eddy)
    child, url = serve(eddy, site(eddy), "--cert", cert, "--key", key)
    parts = urllib.parse.urlsplit(url)
    old = ssl.create_default_context(cafile=cert)
    kept = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=e2e.LIMIT_S, context=old)
    kept.request("GET", "/a.txt")
    equal(kept.getresponse().read(), b"0123456789")
    eddy.file("key.pem", "broken")
    child.send_signal(signal.SIGHUP)
    line = child.stderr.readline().decode()
    check("--key" in line and "goes on with the old one" in line, line)
    equal(ask(url, "/a.txt", context=old)[0], 200)
    make_certificate(eddy)
    child.send_signal(signal.SIGHUP)
    equal(child.stderr.readline().decode(), "eddy serve: the certificate was read again\n")
    equal(ask(url, "/a.txt", context=ssl.create_default_context(cafile=cert))[0::2], (200, "0123456789"))
    try:
        ask(url, "/a.txt", context=old)
        raise AssertionError("the server has the old certificate")
    except ssl.SSLCertVerificationError:
        pass
    kept.request("GET", "/a.txt")
    equal(kept.getresponse().read(), b"0123456789")
    kept.close()


@claim
def requests_are_logged_and_measured(eddy):
    log, port = eddy.file("log"), e2e.free_port()
    child, url = serve(eddy, site(eddy), "--access-log", log, "--metrics-port", str(port))
    ask(url, "/a.txt?token=1")
    ask(url, "/missing")
    page = ask(f"http://127.0.0.1:{port}", "/metrics")[2]
    check('http_requests_total{route="GET /{path...}",status="2xx"} 1' in page, page)
    equal(ask(url, "/metrics")[0], 404)
    child.send_signal(signal.SIGINT)
    equal(child.wait(e2e.LIMIT_S), 128 + signal.SIGINT)
    with open(log, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    equal([(line["path"], line["status"]) for line in lines], [("/a.txt", 200), ("/missing", 404), ("/metrics", 404)])
    check("token" not in json.dumps(lines), lines)


@claim
def a_stop_lets_an_answer_end(eddy):
    folder, size = site(eddy), 24 << 20  # more than the buffers of sockets
    with open(os.path.join(folder, "large.bin"), "wb") as file:
        file.truncate(size)
    child, url = serve(eddy, folder)
    parts = urllib.parse.urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=e2e.LIMIT_S) as client:
        client.sendall(b"GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
        got = len(client.recv(1000))
        child.send_signal(signal.SIGTERM)
        while data := client.recv(1 << 20):
            got += len(data)
    check(got > size, got)
    equal(child.wait(e2e.LIMIT_S), 128 + signal.SIGTERM)


@claim
def mistakes_are_explained_in_a_line(eddy):
    folder = site(eddy)
    for args, code, words in (
            ((), 2, ("name a folder",)),
            ((folder, folder), 2, ("one folder",)),
            ((folder + "/missing",), 2, ("missing", "No such file")),
            ((folder + "/a.txt",), 2, ("a.txt", "Not a directory")),
            ((folder, "--bind", "localhost"), 2, ("--bind", "127.0.0.1")),
            ((folder, "--port", "70000"), 2, ("--port",)),
            ((folder, "--key", "k.pem"), 2, ("--cert",)),
            ((folder, "--cert", folder + "/a.txt", "--port", "0"), 2, ("--cert",)),
            ((folder, "--metrics-port", "0"), 2, ("--metrics-port",)),
            ((folder, "--threads", "2", "--bind", "localhost"), 2, ("--bind", "127.0.0.1")),
            ((folder, "--threads", "2", "--bind", "192.0.2.1"), 1, ("--bind",)),
            ((folder, "--threads", "3", "--cert", folder + "/a.txt", "--port", "0"), 2, ("--cert",)),
            ((folder, "--threads", "3", "--access-log", folder + "/no/log", "--port", "0"), 1, ("--access-log",)),
            ((folder, "--host", "0.0.0.0"), 2, ("--host", "--bind")),
            ((folder, "--host", "http://a"), 2, ("--host",)),
            ((folder, "--host", "a..b"), 2, ("--host",)),
            ((folder, "--host", ""), 2, ("--host",)),
            ((folder, *("--host", "a") * 33), 2, ("--host", "32")),
            ((folder, "--threads", "2", "--metrics-port", "9"), 2, ("--threads",)),
            ((folder, "--cache-control", "a\nb"), 2, ("--cache-control",)),
            ((folder, "--access-log", folder + "/no/log", "--port", "0"), 1, ("--access-log",)),
            ((folder, "--listen", "127.0.0.1:80"), 2, ("--bind",)),
    ):
        e2e.one_line(eddy.run("serve", *args), code, *words)
    for threads in (1, 3):  # of the server that has the port, and of the one that does not get it
        _, url = serve(eddy, folder, "--threads", str(threads))
        for more in (1, 3):
            e2e.one_line(eddy.run("serve", folder, "--port", url.rsplit(":", 1)[1], "--threads", str(more)), 1, "--port")


e2e.main()
