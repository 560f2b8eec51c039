"""test_fetch_redirects - redirects that `eddy fetch -L` follows."""
import e2e
from e2e import check, claim, equal


class Site:
    """A server that redirects by path, and notes the requests."""

    def __init__(self, eddy, moves):
        self.moves = moves
        self.requests = []
        self.server = eddy.serve(self.answer)
        self.url = self.server.url

    def answer(self, connection, _):
        while head := e2e.read_head(connection).decode():
            head, body = head.split("\r\n\r\n", 1)
            lines = head.split("\r\n")
            headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
            while len(body) < int(headers.get("content-length", 0)):
                body += connection.recv(65536).decode()
            method, path, _ = lines[0].split(" ")
            self.requests.append((method, path, headers.get("authorization"), body))
            status, to = self.moves.get(path, (200, None))
            connection.sendall(b"HTTP/1.1 %d x\r\nContent-Length: 2\r\n%s\r\nok" %
                               (status, f"Location: {to}\r\n".encode() if to else b""))


@claim
def redirects_are_followed_with_their_method_and_body(eddy):
    site = Site(eddy, {"/302": (302, "/y?token=1"), "/308": (308, "y?token=1"), "/y?token=1": (307, "/z?token=2")})
    for option in ("-L", "--location"):
        result = eddy.fetch(option, "--body", "-d", "body", site.url + "/302")
        equal((result.code, result.lines()[0]["body"]), (0, "ok"), result)
        # The line has the last URL without what may be a secret.
        equal(result.lines()[0]["redirect"], site.url + "/z")
    equal(eddy.fetch("-L", "-d", "body", site.url + "/308").code, 0)
    equal(site.requests, [("POST", "/302", None, "body"), ("GET", "/y?token=1", None, ""), ("GET", "/z?token=2", None, "")] * 2 +
          [("POST", path, None, "body") for path in ("/308", "/y?token=1", "/z?token=2")])


@claim
def credentials_stay_with_their_server(eddy):
    other = Site(eddy, {})
    site = Site(eddy, {"/same": (302, "/y"), "/other": (302, other.url + "/y")})
    with_user = site.url.replace("//", "//u:p@")
    equal(eddy.fetch("-L", "-c", "1", with_user + "/same", with_user + "/other").code, 0)
    equal(eddy.fetch("-L", "-H", "Authorization: x", site.url + "/other").code, 0)
    equal([request[2] for request in site.requests], ["Basic dTpw"] * 3 + ["x"])
    equal([request[2] for request in other.requests], [None, None])


@claim
def number_of_redirects_is_limited(eddy):
    site = Site(eddy, {"/1": (302, "/2"), "/2": (302, "/3"), "/loop": (302, "/loop")})
    equal(eddy.fetch("-L", "--max-redirs", "2", site.url + "/1").code, 0)
    result = eddy.fetch("-L", "--max-redirs", "1", site.url + "/1")
    line = result.lines()[0]
    equal((result.code, line["status"], line["attempts"], line["error"]["code"]), (1, None, 1, "redirect_refused"), result)
    check("after 1 redirects, the maximum (--max-redirs)" in line["error"]["message"], line)
    site.requests.clear()
    line = eddy.fetch("-L", site.url + "/loop").lines()[0]
    equal((len(site.requests), line["error"]["code"]), (11, "redirect_refused"))
    check("a loop" in line["error"]["message"], line)
    result = eddy.fetch("--max-redirs", "3", site.url)
    check(result.code == 2 and "--max-redirs needs -L" in result.err, result)


@claim
def redirect_to_a_file_is_refused(eddy):
    site = Site(eddy, {"/x": (302, "file:///etc/passwd")})
    line = eddy.fetch("-L", "--body", site.url + "/x").lines()[0]
    equal((line["error"]["code"], line["body"], len(site.requests)), ("redirect_refused", None, 1), line)


@claim
def saved_file_has_the_name_of_the_url_that_was_asked_for(eddy):
    site = Site(eddy, {"/name.txt": (302, "/other.html")})
    folder = eddy.file("saved")
    result = eddy.fetch("-L", "--save", folder, site.url + "/name.txt")
    equal((result.code, result.lines()[0]["file"]), (0, "name.txt"), result)


if __name__ == "__main__":
    e2e.main()
