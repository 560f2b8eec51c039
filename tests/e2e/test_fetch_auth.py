"""test_fetch_auth - -u, --digest and --netrc of `eddy fetch`: against nginx, and against a Digest server of
this file, which computes with hashlib and judges curl in the same way.
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import threading

import e2e
from e2e import check, claim, equal

ALGORITHMS = {"SHA-256": "sha256", "SHA-256-sess": "sha256", "MD5": "md5", "MD5-sess": "md5"}


class Digest:
    """A server that wants user kim with password s"e\\cret, and gives each nonce to `uses` requests."""

    def __init__(self, eddy, algorithm, uses=1000, realm="a b", other=""):
        self.algorithm, self.uses, self.realm = algorithm, uses, realm
        self.other = other
        self.nonces, self.answers, self.asked = {}, [], 0
        self.lock = threading.Lock()
        self.server = eddy.serve(self.answer)
        self.url = self.server.url

    def hash(self, *parts):
        return hashlib.new(ALGORITHMS[self.algorithm], ":".join(parts).encode()).hexdigest()

    def accepts(self, head):
        line = re.search(rb"\r\nAuthorization: Digest (.*)\r\n", head)
        if not line:
            return False
        found = re.findall(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))', line[1].decode())
        given = {name: re.sub(r"\\(.)", r"\1", text) or token for name, text, token in found}
        method, target = head.decode().split()[:2]
        secret = self.hash(given["username"], given["realm"], 's"e\\cret')
        if self.algorithm.endswith("-sess"):
            secret = self.hash(secret, given["nonce"], given["cnonce"])
        right = self.hash(secret, given["nonce"], given["nc"], given["cnonce"], given["qop"],
                          self.hash(method, target))
        with self.lock:
            used = self.nonces.get(given["nonce"])
            if used is None or given["nc"] in used or len(used) >= self.uses:
                return None
            used.add(given["nc"])
            self.answers.append(given)
        return (given["username"], given["uri"], given["realm"], given["response"],
                given["algorithm"]) == ("kim", target, self.realm, right, self.algorithm)

    def answer(self, connection, _):
        while head := e2e.read_head(connection):
            length = re.search(rb"\r\nContent-Length: (\d+)", head)
            left = (int(length[1]) if length else 0) - len(head.split(b"\r\n\r\n", 1)[1])
            while left > 0:
                left -= len(connection.recv(left))
            result = self.accepts(head)
            if result:
                connection.sendall(e2e.ok(b"in"))
                continue
            with self.lock:
                self.asked += 1
                nonce = f"nonce {self.asked}"
                self.nonces[nonce] = set()
            quoted = re.sub(r'(["\\])', r"\\\1", self.realm)
            connection.sendall((
                "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n"
                f"WWW-Authenticate: Bearer{self.other}\r\n"
                f"WWW-Authenticate: Digest realm=\"{quoted}\", nonce=\"{nonce}\", opaque=\"o\", "
                f"algorithm={self.algorithm}, qop=\"auth,auth-int\""
                f"{', stale=true' if result is None else ''}\r\n\r\nno").encode())


@claim
def digest_is_answered_as_curl_answers_it(eddy):
    for algorithm, option in [("SHA-256", "--digest"), ("SHA-256-sess", "--digest"),
                              ("MD5", "--digest-md5"), ("MD5-sess", "--digest-md5")]:
        server = Digest(eddy, algorithm)
        result = eddy.fetch("-u", 'kim:s"e\\cret', option, "-c", "1", server.url + "/a?b=c",
                            server.url + "/d", "-d", "body")
        equal(result.code, 0, result)
        equal([line["status"] for line in result.lines()], [200, 200])
        ours = server.answers
        equal((server.asked, [given["nc"] for given in ours]), (1, ["00000001", "00000002"]))
        curl = subprocess.run(["curl", "-s", "--digest", "-u", 'kim:s"e\\cret', server.url + "/a?b=c"],
                              capture_output=True, check=False)
        equal(curl.stdout, b"in", algorithm)
        equal(sorted(server.answers[-1]), sorted(ours[0]))
    # curl 7.88 hashes a realm with the backslashes that only quote it, and gives up at a challenge that
    # it does not know.
    server = Digest(eddy, "SHA-256", realm='a "b\\c"',
                    other=', Digest realm="x", nonce="y", algorithm=SHA-1, qop=auth')
    equal(eddy.fetch("-u", 'kim:s"e\\cret', "--digest", server.url).code, 0)


@claim
def many_digest_requests_at_a_time_survive_nonces_that_wear_out(eddy):
    server = Digest(eddy, "SHA-256", uses=5)
    result = eddy.fetch("-u", 'kim:s"e\\cret', "--digest", "-c", "4", "-n", "60", server.url + "/",
                        "--attempts", "1")
    statuses = [line["status"] for line in result.lines()]
    equal(len(statuses), 60)
    check(statuses.count(200) >= 50, statuses)


@claim
def md5_and_wrong_passwords_give_a_401(eddy):
    server = Digest(eddy, "MD5")
    result = eddy.fetch("-u", 'kim:s"e\\cret', "--digest", server.url)
    equal((result.code, result.lines()[0]["status"], server.asked), (1, 401, 1))
    result = eddy.fetch("-u", "kim:wrong", "--digest-md5", server.url)
    equal((result.code, result.lines()[0]["status"]), (1, 401))
    check("wrong" not in result.err + result.out, result)


@claim
def nginx_accepts_basic_from_all_ways(eddy):
    nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    check(nginx, "nginx is not installed: tools/install-deps")
    folder, port = eddy.file("folder"), e2e.free_port()
    os.makedirs(folder + "/www")
    with open(folder + "/www/x", "w") as file:
        file.write("in")
    sha = base64.b64encode(hashlib.sha1(b"s:ecret").digest()).decode()
    users = eddy.file("users", f"kim:{{SHA}}{sha}\n")
    config = eddy.file("nginx.conf", f"""
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ }}
http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
server {{ listen 127.0.0.1:{port}; root {folder}/www; auth_basic "x"; auth_basic_user_file {users}; }} }}
""")
    e2e.start_server(eddy, port, nginx, "-c", config, "-p", folder)
    url = f"http://127.0.0.1:{port}/x"
    secret = eddy.file("secret", "kim:s:ecret\n")
    netrc = eddy.file("netrc", 'machine 127.0.0.1 login kim password "s:ecret"\n')
    os.chmod(netrc, 0o600)
    environment = {**os.environ, "EDDY_PASSWORD": "s:ecret"}
    for args, options in [(["-u", "kim:s:ecret"], {}), (["--user", "@" + secret], {}),
                          (["-u", "kim"], {"env": environment}), (["--netrc-file", netrc], {})]:
        result = eddy.fetch(*args, "--body", url, **options)
        equal((result.code, result.err.count("ecret")), (0, 0), result)
        equal(result.lines()[0]["body"], "in")
    for args in [["-u", "kim:wrong"], []]:
        equal(eddy.fetch(*args, url).lines()[0]["status"], 401)


@claim
def netrc_is_read_from_home_and_its_mistakes_are_reported(eddy):
    mock = eddy.mock()
    home = eddy.file("home")
    os.makedirs(home)
    environment = {**os.environ, "HOME": home}
    result = eddy.fetch("--netrc", mock, env=environment)
    equal(result.code, 2, result)
    check(f"{home}/.netrc: " in result.err, result)
    with open(home + "/.netrc", "w") as file:
        file.write("machine 127.0.0.1 login kim password secret\n")
    os.chmod(home + "/.netrc", 0o644)
    result = eddy.fetch("--netrc", mock + "/bytes/1", env=environment)
    equal(result.code, 0, result)
    check("other users can read it (mode 0644)" in result.err, result)
    with open(home + "/.netrc", "w") as file:
        file.write("machine 127.0.0.1\nlogn kim secret\n")
    result = eddy.fetch("--netrc", mock, env=environment)
    equal(result.code, 2, result)
    check(".netrc:2: " in result.err and "secret" not in result.err, result)


@claim
def options_that_do_not_fit_are_reported(eddy):
    environment = {name: value for name, value in os.environ.items() if name != "EDDY_PASSWORD"}
    for args, reason in [(["-u", "a:b", "--netrc"], "-u and --netrc exclude each other"),
                         (["--digest"], "--digest needs -u or --netrc"),
                         (["-u", "kim"], "EDDY_PASSWORD"),
                         (["-u", "@/nowhere"], "-u @"),
                         (["--oauth2-bearer", "x"], "Authorization: Bearer")]:
        result = eddy.fetch(*args, "http://127.0.0.1:1/", env=environment)
        equal(result.code, 2, result)
        check(reason in result.err, result)


e2e.main()
