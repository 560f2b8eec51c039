"""test_fetch_proxy - `eddy fetch` through proxies: squid, tinyproxy and microsocks,
and proxies of the test that answer wrongly; and compressed responses.
"""
import base64
import gzip
import os
import time

import e2e
from e2e import check, claim, equal

# What the machine's own environment says must not count.
VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def fetch(eddy, *args, **proxies):
    """Run `eddy fetch` with these variables."""
    env = {name: value for name, value in os.environ.items() if name.lower() not in VARIABLES}
    return eddy.fetch(*args, "--attempts", "1", env={**env, **proxies})


def tinyproxy(eddy, *lines):
    port = e2e.free_port()
    config = eddy.file("tinyproxy.conf", "\n".join((
        f"Port {port}", "Listen 127.0.0.1", "Timeout 60", "LogLevel Error",
        f"LogFile \"{eddy.file('tinyproxy.log')}\"", *lines, "")))
    return e2e.start_server(eddy, port, e2e.program("tinyproxy"), "-d", "-c", config)


def microsocks(eddy, *args):
    port = e2e.free_port()
    return e2e.start_server(eddy, port, e2e.program("microsocks"), "-i", "127.0.0.1", "-p", str(port), *args)


def origins(eddy):
    """Servers of http and https; returns their URLs and the certificate's file."""
    plain = eddy.mock()
    secure = eddy.mock("--tls")
    return plain, secure, eddy.child.stdout.readline().decode().split()[1]


def check_through(eddy, proxy):
    """20 requests of each scheme and a large body pass through the proxy."""
    plain, secure, cert = origins(eddy)
    for url in (plain, secure):
        urls = eddy.file("urls", f"{url}/bytes/20000\n" * 20)
        result = fetch(eddy, "-i", urls, "-c", "4", "--cacert", cert, all_proxy=proxy)
        equal(result.code, 0, result)
        equal([line["bytes"] for line in result.lines()], [20000] * 20)
        body = eddy.file("body", "x" * 1000000)
        line = fetch(eddy, "--cacert", cert, "-d", "@" + body, url + "/echo",
                     all_proxy=proxy).lines()[0]
        equal(line["status"], 200, line)
        check(line["bytes"] > 1000000, line)


@claim
def requests_pass_through_squid(eddy):
    check_through(eddy, "http://" + e2e.squid(eddy))


@claim
def requests_pass_through_tinyproxy(eddy):
    check_through(eddy, tinyproxy(eddy))


@claim
def requests_pass_through_microsocks(eddy):
    check_through(eddy, "socks5://" + microsocks(eddy))


@claim
def credentials_are_given_to_tinyproxy_and_wrong_ones_are_an_error(eddy):
    plain, secure, cert = origins(eddy)
    proxy = tinyproxy(eddy, "BasicAuth user pass")
    good, bad = f"http://user:p%61ss@{proxy}", f"http://user:other@{proxy}"
    for url in (plain, secure):
        result = fetch(eddy, "--cacert", cert, "--proxy", good, url + "/bytes/5")
        equal(result.lines()[0]["bytes"], 5, result)
    # The proxy answers an http request itself; for https there is no tunnel.
    equal(fetch(eddy, "--proxy", bad, plain + "/").lines()[0]["status"], 401)
    line = fetch(eddy, "--cacert", cert, "--proxy", bad, secure + "/").lines()[0]
    equal(line["error"]["code"], "connect_error", line)
    check("other" not in str(line) and "credentials" in line["error"]["message"], line)


@claim
def credentials_are_given_to_microsocks_and_wrong_ones_are_an_error(eddy):
    plain, _, _ = origins(eddy)
    proxy = microsocks(eddy, "-u", "user", "-P", "pass")
    result = fetch(eddy, "--proxy", f"socks5h://user:pass@{proxy}", plain + "/bytes/5")
    equal(result.lines()[0]["bytes"], 5, result)
    for wrong in ("user:other@", ""):
        line = fetch(eddy, "--proxy", f"socks5://{wrong}{proxy}", plain + "/").lines()[0]
        equal(line["error"]["code"], "connect_error", line)
        check("credentials" in line["error"]["message"], line)


@claim
def variables_choose_the_proxy_of_each_scheme_and_the_hosts_without(eddy):
    seen = []

    def answer(connection, number):
        seen.append(e2e.read_head(connection).split(b"\r\n")[0].decode())
        connection.sendall(e2e.ok())
    proxy = eddy.serve(answer)
    origin = eddy.serve(lambda connection, number: (e2e.read_head(connection),
                                                    connection.sendall(e2e.ok(b"origin"))))
    url = origin.url + "/path?q=1"
    cases = (
        ({"http_proxy": proxy.url}, f"GET {url} HTTP/1.1"),
        ({"all_proxy": proxy.url}, f"GET {url} HTTP/1.1"),
        ({"ALL_PROXY": proxy.url}, f"GET {url} HTTP/1.1"),
        ({"all_proxy": "http://127.0.0.1:1", "http_proxy": proxy.url}, f"GET {url} HTTP/1.1"),
        # CGI programs get this one from the client's headers.
        ({"HTTP_PROXY": proxy.url}, None),
        ({"https_proxy": proxy.url}, None),
        ({"http_proxy": ""}, None),
        ({"http_proxy": proxy.url, "no_proxy": "127.0.0.1"}, None),
        ({"http_proxy": proxy.url, "NO_PROXY": "x.test, 127.0.0.0/8"}, None),
        ({"http_proxy": proxy.url, "no_proxy": "*"}, None),
        ({"http_proxy": proxy.url, "no_proxy": f"127.0.0.1:{origin.port}"}, None),
        ({"http_proxy": proxy.url, "no_proxy": f"127.0.0.1:{proxy.port}"}, f"GET {url} HTTP/1.1"),
        ({"http_proxy": proxy.url, "no_proxy": "27.0.0.1"}, f"GET {url} HTTP/1.1"),
    )
    for variables, line in cases:
        del seen[:]
        result = fetch(eddy, url, **variables)
        equal(result.lines()[0]["bytes"], 3 if line else 6, variables, result)
        equal(seen, [line] if line else [], variables)
    del seen[:]
    fetch(eddy, "--proxy", "", url, http_proxy=proxy.url)
    equal(seen, [])


@claim
def proxy_reads_its_credentials_and_the_origin_does_not(eddy):
    heads = []

    def answer(connection, number):
        heads.append(e2e.read_head(connection).decode())
        connection.sendall(e2e.ok())
    proxy = eddy.serve(answer)
    fetch(eddy, "--proxy", f"user:pass@127.0.0.1:{proxy.port}", "http://me:mine@a.test/x")
    check("Proxy-Authorization: Basic " + base64.b64encode(b"user:pass").decode() in heads[0],
          heads)
    check(heads[0].startswith("GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\n"), heads)
    check("Authorization: Basic " + base64.b64encode(b"me:mine").decode() in heads[0], heads)
    fetch(eddy, "--proxy", f"user:pass@127.0.0.1:{proxy.port}", "https://a.test/x")
    check(heads[1].startswith("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n"
                              "Proxy-Authorization: Basic "), heads)


@claim
def proxy_that_is_not_valid_ends_the_program_and_its_password_is_not_shown(eddy):
    for text in ("https://secret@h", "socks4://h", "http://u:secret@h/path", "h:99999",
                 "http://secret secret"):
        for result, name in ((fetch(eddy, "--proxy", text, "http://a.test/"), "--proxy"),
                             (fetch(eddy, "http://a.test/", http_proxy=text), "http_proxy")):
            equal((result.code, result.out), (2, ""), result)
            e2e.one_line(result, 2, name, "socks5://")
            check("secret" not in result.err, result)


@claim
def proxies_that_fail_are_connect_errors(eddy):
    secure = "https://a.test/"

    def say(text):
        return lambda connection, number: (e2e.read_head(connection), connection.sendall(text),
                                           e2e.until_closed(connection))
    cases = (
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "does not allow"),
        (b"HTTP/1.1 407 P\r\nContent-Length: 0\r\n\r\n", "credentials"),
        (b"HTTP/1.1 200 OK\r\n\r\nearly", "does not follow its protocol: bytes follow the head"),
        (b"HTTP/1.1 200 OK\n\n", "does not follow its protocol: a line does not end in CR LF"),
        (b"SSH-2.0\r\n\r\n", "does not follow its protocol: the version is not HTTP/1.1 or another HTTP/1"),
    )
    for text, words in cases:
        port = eddy.serve(say(text)).port
        line = fetch(eddy, "--proxy", f"http://user:secret@127.0.0.1:{port}", secure).lines()[0]
        equal((line["error"]["code"], line["status"]), ("connect_error", None), line)
        check(words in line["error"]["message"], line)
        check(line["error"]["message"].startswith(f"proxy 127.0.0.1:{port}: "), line)
        check("secret" not in str(line), line)
    port = e2e.free_port()
    for url in (secure, "http://a.test/"):
        line = fetch(eddy, "--proxy", f"u:secret@127.0.0.1:{port}", url).lines()[0]
        equal(line["error"], {"code": "connect_error",
                              "message": f"proxy 127.0.0.1:{port}: Connection refused"})
    line = fetch(eddy, "--proxy", f"socks5://[::1]:{port}", secure).lines()[0]
    check(line["error"]["message"].startswith(f"proxy [::1]:{port}: "), line)
    begin = time.monotonic()
    silent = eddy.serve(lambda connection, number: e2e.until_closed(connection))
    for proxy in (silent.url, silent.url.replace("http", "socks5")):
        line = fetch(eddy, "--proxy", proxy, "--connect-timeout", "500ms", secure).lines()[0]
        equal(line["error"], {"code": "connect_error",
                              "message": "no connection within --connect-timeout 500ms"})
    text = " ".join(eddy.run("fetch", "--help").out.split())
    check("for name lookup, connect, the proxy's CONNECT or SOCKS, and TLS handshake" in text, text)
    check(time.monotonic() - begin < e2e.SOON)


# ---- compressed responses

@claim
def compressed_responses_are_asked_for_and_decompressed_if_requested(eddy):
    text = b"compress me " * 10000
    seen = []

    def answer(connection, number):
        head = e2e.read_head(connection).decode()
        asked = "\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n" in head
        seen.append(asked)
        if asked:
            connection.sendall(e2e.ok(gzip.compress(text), b"Content-Encoding: gzip\r\n"))
        else:
            connection.sendall(e2e.ok(text))
    server = eddy.serve(answer)
    for options, asked in (((), False), (("--compressed",), True)):
        folder = eddy.file(f"saved-{asked}")
        os.mkdir(folder)
        line = fetch(eddy, *options, "--save", folder, server.url).lines()[0]
        equal((line["status"], line["bytes"]), (200, len(text)), line)
        with open(os.path.join(folder, line["file"]), "rb") as saved:
            equal(saved.read(), text)
    equal(seen, [False, True])


@claim
def compressed_response_that_is_damaged_or_unknown_is_an_invalid_response(eddy):
    cut = gzip.compress(b"x" * 1000)[:-9]
    for coding, body in ((b"gzip", b"<html>"), (b"compress", b"x"), (b"gzip", cut)):
        server = eddy.serve(lambda connection, number, coding=coding, body=body: (
            e2e.read_head(connection),
            connection.sendall(e2e.ok(body, b"Content-Encoding: " + coding + b"\r\n"))))
        line = fetch(eddy, "--compressed", server.url).lines()[0]
        equal((line["error"]["code"], line["attempts"]), ("invalid_response", 1), line)
    server = eddy.serve(lambda connection, number: (
        e2e.read_head(connection),
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + cut)))
    line = fetch(eddy, "--compressed", "--attempts", "1", server.url).lines()[0]
    equal(line["error"]["code"], "stream_truncated", line)


@claim
def responses_of_nginx_are_the_same_compressed_and_not(eddy):
    nginx = e2e.program("nginx")
    port, folder = e2e.free_port(), os.path.dirname(eddy.file("here", ""))
    os.chmod(folder, 0o755)
    eddy.file("page.html", "<p>compress me</p>\n" * 50000)
    config = eddy.file("nginx.conf", f"""
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ }}
http {{
    access_log off; gzip on; gzip_min_length 1; types {{ text/html html; }}
    client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
    uwsgi_temp_path {folder}; scgi_temp_path {folder};
    server {{ listen 127.0.0.1:{port}; root {folder}; }}
}}
""")
    e2e.start_server(eddy, port, nginx, "-c", config, "-p", folder)
    url = f"http://127.0.0.1:{port}/page.html"
    plain = fetch(eddy, "--body", url).lines()[0]
    coded = fetch(eddy, "--body", "--compressed", url).lines()[0]
    equal(plain["bytes"], 950000)
    equal((coded["bytes"], coded["body"]), (plain["bytes"], plain["body"]))
    equal(fetch(eddy, "--compressed", "-X", "HEAD", url).lines()[0]["status"], 200)


e2e.main()
