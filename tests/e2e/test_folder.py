"""test_folder - a folder that eddy serves, beside nginx with the same folder, and to curl and wget.

The program under test is folder_server.  EDDY_TEST_FULL: larger files.
"""
import hashlib
import http.client
import os
import re
import resource
import shutil
import socket
import subprocess

import e2e
import memory
from e2e import check, claim, equal, Skip

FULL = bool(os.environ.get("EDDY_TEST_FULL"))
SANITIZE = os.environ.get("EDDY_TEST_SANITIZE", "none") != "none"
DATE = 784111777  # Sun, 06 Nov 1994 08:49:37 GMT
TEXT = b"0123456789"


def program(name):
    path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")
    if not path:
        raise Skip(f"{name} is not installed")
    return path


def folder(eddy, **files):
    path = eddy.file("www")
    os.mkdir(path)
    for name, data in files.items():
        target = os.path.join(path, name.replace("_", "."))
        with open(target, "wb") as file:
            file.write(data)
        os.utime(target, (DATE, DATE))
    return path


def serve(eddy, path, *files):
    child = memory.start(eddy, *files, command=path)
    first = child.stdout.readline().decode()
    check(first.startswith("listening on http"), repr(first))
    return child, first.split()[2]


def nginx(eddy, path):
    port, own = e2e.free_port(), eddy.file("nginx")
    os.mkdir(own)
    for each in (eddy.folder, own):
        os.chmod(each, 0o777)
    config = eddy.file("nginx.conf", f"""
daemon off; master_process off; pid {own}/nginx.pid; error_log {own}/error.log;
events {{ }}
http {{ access_log off; client_body_temp_path {own}/b; proxy_temp_path {own}/p; fastcgi_temp_path {own}/f;
uwsgi_temp_path {own}/u; scgi_temp_path {own}/s; if_modified_since before;
server {{ listen 127.0.0.1:{port}; root {path}; }} }}
""")
    child = subprocess.Popen([program("nginx"), "-c", config, "-p", own], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def listens():
        check(child.poll() is None, "nginx ended")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    e2e.wait_until(listens, "nginx to listen")
    return child, f"http://127.0.0.1:{port}"


def ask(url, path, fields, method="GET"):
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=e2e.LIMIT_S)
    connection.putrequest(method, path, skip_accept_encoding=True)
    for name, value in fields:
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def parts(response, body):
    """The ranges of a body of multipart/byteranges, each with its bytes."""
    boundary = re.search(r"boundary=(\S+)", response.headers["Content-Type"])[1].encode()
    found = []
    for part in body.split(b"\r\n--" + boundary)[1:-1]:
        head, data = part.split(b"\r\n\r\n", 1)
        found.append((re.search(rb"(?i)content-range: (.*?)(\r|$)", head)[1].decode(), data))
    return found


def seen(url, path, fields, method):
    """What counts of an answer."""
    tag = ask(url, path, [])[0].headers["ETag"]
    fields = [(name, value.replace("TAG", tag)) for name, value in fields]
    response, body = ask(url, path, fields, method)
    if response.status == 206 and response.headers["Content-Type"].startswith("multipart/byteranges"):
        return 206, parts(response, body)
    return (response.status, response.headers["Content-Range"],
            body if response.status in (200, 206) else b"")


THEN = "Sun, 06 Nov 1994 08:49:37 GMT"
BEFORE = "Sat, 05 Nov 1994 08:49:37 GMT"
AFTER = "Mon, 07 Nov 1994 08:49:37 GMT"

# Requests to which the answers are the same.
SAME = [[("Range", value)] for value in (
    "bytes=0-0", "bytes=0-", "bytes=9-", "bytes=-1", "bytes=-10", "bytes=-100", "bytes=3-100", "bytes=2-5",
    "bytes=10-", "bytes=-0", "bytes=10-20", "bytes=100-200", "bytes=0-1,4-5", "bytes=0-0,-1", "bytes=0-1, 4-5 , 8-",
    "bytes=8-9,0-1", "bytes=0-1,20-30,4-5", "bytes=20-,2-3", "bytes=20-,30-40", "bytes=0-4,0-4", "bytes=0-9,5-5",
    "bytes=0-,0-", "lines=0-1", "bytes", "bytes 0-1", "Bytes=0-1")]
SAME += [[(name, value)] for name in ("If-None-Match", "If-Match")
         for value in ("TAG", '"a"', '"a", TAG', "*", "W/TAG", '"a", "b"')]
SAME += [[(name, value)] for name in ("If-Modified-Since", "If-Unmodified-Since")
         for value in (THEN, BEFORE, AFTER)]
SAME += [[("Range", "bytes=0-1"), ("If-Range", value)] for value in ("TAG", '"a"', BEFORE, AFTER)]
SAME += [
    [("If-Modified-Since", "yesterday")],
    [("If-Match", '"a"'), ("If-None-Match", "TAG")],
    [("If-Match", "TAG"), ("If-None-Match", "TAG")],
    [("If-None-Match", '"a"'), ("If-Modified-Since", AFTER)],
    [("If-Unmodified-Since", BEFORE), ("If-None-Match", "TAG")],
    [("Range", "bytes=0-1"), ("If-None-Match", "TAG")],
    [("Range", "bytes=0-1"), ("If-Match", '"a"')],
    [("Range", "bytes=99-"), ("If-None-Match", "TAG")],
    [("Range", "bytes=99-"), ("If-Range", '"a"')],
    [("Range", "bytes=99-"), ("If-Range", "TAG")],
]

# Requests to which the answers differ, each with the reason.
INVALID = "a range that is not valid is ignored (RFC 9110, 14.2); nginx: 416"
OTHER = [([("Range", value)], INVALID) for value in ("bytes=a", "bytes=1", "bytes=5-2", "bytes=-", "bytes=0-1,a")]
OTHER += [
    ([("If-Unmodified-Since", "yesterday")], "not a date, so it is ignored (RFC 9110, 13.1.4); nginx: 412"),
    ([("If-None-Match", "TAG"), ("If-Modified-Since", BEFORE)],
     "If-Modified-Since is ignored beside If-None-Match (RFC 9110, 13.1.3): 304; nginx: 200"),
    ([("Range", "bytes=0-1"), ("If-Range", THEN)],
     "precompressed files have the same date, so it is weak (RFC 9110, 8.8.1): 200; nginx: 206"),
]


@claim
def conditions_and_ranges_are_answered_as_by_nginx(eddy):
    path = folder(eddy, a_txt=TEXT)
    child, other = nginx(eddy, path)
    try:
        _, url = serve(eddy, path)
        wrong = []
        for fields in SAME:
            ours, theirs = seen(url, "/a.txt", fields, "GET"), seen(other, "/a.txt", fields, "GET")
            if ours != theirs:
                wrong.append(f"{fields}: {ours}, nginx: {theirs}")
        check(not wrong, "\n".join(wrong))
        for fields, reason in OTHER:
            ours, theirs = (seen(each, "/a.txt", fields, "GET") for each in (url, other))
            check(ours != theirs, f"{fields} has the same answer now: {reason}")
    finally:
        child.kill()
        child.wait()


def random_file(path, size):
    digest = hashlib.sha256()
    with open(path, "wb") as file:
        for _ in range(size >> 20):
            piece = os.urandom(1 << 20)
            digest.update(piece)
            file.write(piece)
    return digest.hexdigest()


def digest_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    equal(done.returncode, 0, done.stdout.decode(errors="replace"))
    return done.stdout


SIZE = (100 if FULL else 20) << 20


def resumed(eddy, *command):
    """A tool has the first part of a file, and continues."""
    path = folder(eddy)
    expected = random_file(os.path.join(path, "large.bin"), SIZE)
    _, url = serve(eddy, path)
    out = eddy.file("out.bin")
    with open(os.path.join(path, "large.bin"), "rb") as file, open(out, "wb") as begun:
        begun.write(file.read(SIZE // 3))
    run(*command, out, f"{url}/large.bin")
    equal(digest_of(out), expected)


@claim
def curl_continues_a_file(eddy):
    resumed(eddy, program("curl"), "-sSf", "--noproxy", "*", "-C", "-", "-o")


@claim
def wget_continues_a_file(eddy):
    resumed(eddy, program("wget"), "-q", "--no-proxy", "-c", "-O")


@claim
def aria2_loads_a_file_by_several_connections(eddy):
    aria2 = program("aria2c")
    path = folder(eddy)
    expected = random_file(os.path.join(path, "large.bin"), SIZE)
    _, url = serve(eddy, path)
    run(aria2, "-q", "-x", "4", "-s", "4", "-k", "1M", "-d", eddy.folder, "-o", "out.bin", f"{url}/large.bin")
    equal(digest_of(os.path.join(eddy.folder, "out.bin")), expected)


@claim
def a_large_file_is_sent_whole_with_flat_memory(eddy):
    path = folder(eddy, small_bin=bytes(1 << 20))
    expected = random_file(os.path.join(path, "large.bin"), SIZE)
    child, url = serve(eddy, path)
    curl = program("curl")
    run(curl, "-sSf", "--noproxy", "*", "-o", os.devnull, f"{url}/small.bin")
    before = memory.peak_mib(child)
    out = eddy.file("out.bin")
    run(curl, "-sSf", "--noproxy", "*", "-o", out, f"{url}/large.bin")
    equal(digest_of(out), expected)
    grown = memory.peak_mib(child) - before
    check(grown < 4, f"{grown} MiB more for a file of {SIZE >> 20} MiB")


@claim
def range_bombs_at_the_same_time_have_a_small_buffer_each(eddy):
    """Each of 100 clients asks for all of a file 1,300 times, or for 32 ranges, and does not read."""
    path = folder(eddy)
    with open(os.path.join(path, "large.bin"), "wb") as file:
        file.truncate(1 << 30)
    child, url = serve(eddy, path)
    address = ("127.0.0.1", int(url.rsplit(":", 1)[1]))
    ask(url, "/large.bin", [("Range", "bytes=0-1")])
    before = memory.peak_mib(child)
    bomb = "bytes=" + ",".join(["0-"] * 1300)
    many = "bytes=" + ",".join(f"{i << 20}-{(i + 16) << 20}" for i in range(0, 32 * 32, 32))
    clients = []
    for i in range(100):
        client = socket.create_connection(address)
        client.sendall(f"GET /large.bin HTTP/1.1\r\nHost: a\r\nRange: {(bomb, many)[i % 2]}\r\n\r\n".encode())
        clients.append(client)
    for i, client in enumerate(clients):
        head = client.recv(200, socket.MSG_WAITALL).decode()
        check(head.startswith("HTTP/1.1 206" if i % 2 else "HTTP/1.1 200"), head)
    grown = memory.peak_mib(child) - before
    for client in clients:
        client.close()
    print(f"# range bombs: {grown * 1024 / 100:.0f} KiB each", flush=True)
    check(grown < (60 if SANITIZE else 20), f"{grown} MiB for 100 clients")


resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),
                                            resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
e2e.main()
