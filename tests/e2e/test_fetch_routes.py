"""test_fetch_routes - `eddy fetch` by a Unix socket, and to addresses given for hosts."""
import os
import socketserver
import threading

import e2e
from e2e import check, claim, equal


class Answer(socketserver.StreamRequestHandler):
    """Answers each request with its Host field."""

    def handle(self):
        while line := self.rfile.readline():
            host = b""
            while line.strip():
                if line.lower().startswith(b"host:"):
                    host = line.split(b":", 1)[1].strip()
                line = self.rfile.readline()
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(host), host))


@claim
def requests_go_by_a_unix_socket(eddy):
    path = os.path.join(os.path.dirname(eddy.file("here", "")), "s")
    with socketserver.ThreadingUnixStreamServer(path, Answer) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        result = eddy.fetch("--unix-socket", path, "--body", "-c", "1", "http://one.test/",
                            "http://two.test:8080/")
        server.shutdown()
    equal(result.code, 0, result)
    equal([line["body"] for line in result.lines()], ["one.test", "two.test:8080"])


@claim
def host_is_reached_at_the_address_of_an_option(eddy):
    port = eddy.mock().rsplit(":", 1)[1].strip("/")
    result = eddy.fetch("--resolve", f"name.test:{port}:127.0.0.1", "--resolve", "a.test:1:::1",
                        f"http://name.test:{port}/")
    equal(result.code, 0, result)


@claim
def route_that_is_not_valid_is_a_usage_error(eddy):
    for args, option in ((("--resolve", "a.test:80"), "--resolve 'a.test:80'"),
                         (("--resolve", "a.test:80:127.0.0.1", "--resolve", "b.test"), "'b.test'"),
                         (("--resolve", "a.test:80:b"), "--resolve"),
                         (("--unix-socket", ""), "--unix-socket"),
                         (("--unix-socket", "x" * 200), "--unix-socket")):
        result = eddy.fetch(*args, "http://a.test/")
        equal(result.code, 2, result)
        check(option in result.err, result)


@claim
def unix_socket_that_is_missing_is_named(eddy):
    path = eddy.file("gone")
    line = eddy.fetch("--unix-socket", path, "--attempts", "1", "http://a.test/").lines()[0]
    equal(line["error"], {"code": "connect_error",
                          "message": f"--unix-socket {path}: No such file or directory"})


if __name__ == "__main__":
    e2e.main()
