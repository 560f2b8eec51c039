#!/usr/bin/env python3
"""test_uploads - the example of a page that uploads files: curl, Python's requests, sockets and a browser.

    test_uploads.py UPLOAD_PAGE [WORD]

Cases that need the browser or packages of PyPI are skipped by name without them (tools/install-deps interop,
tests/e2e/peers/python_packages fetch).
"""
import contextlib
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys

import e2e
import memory
from e2e import check, claim, equal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "docs"))
import browser  # pylint: disable=wrong-import-position

MIB = 1 << 20
MB = 10 ** 6
LARGE = 100 * MB
BLOCK = os.urandom(MIB - 7)  # no power of two, so that pieces end at all places of buffers


def make_file(path, size):
    """A file that repeats a block; returns its SHA-256."""
    digest, left = hashlib.sha256(), size
    with open(path, "wb") as file:
        while left > 0:
            piece = BLOCK[:left]
            file.write(piece)
            digest.update(piece)
            left -= len(piece)
    return digest.hexdigest()


def digest_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(MIB):
            digest.update(piece)
    return digest.hexdigest()


class Server:
    """The example, its folder, and its address."""

    def __init__(self, eddy, body_bytes_max=200 * MB, is_measured=False):
        self.folder = eddy.file("up")
        os.mkdir(self.folder)
        args = self.folder, "0", str(body_bytes_max)
        self.child = memory.start(eddy, *args[1:], command=args[0]) if is_measured else eddy.start(*args)
        self.url = self.child.stdout.readline().decode().strip()
        self.host = self.url.removeprefix("http://")

    def names(self):
        return sorted(os.listdir(self.folder))

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        equal(self.child.wait(timeout=e2e.LIMIT_S), 0)


def curl(*args):
    """What curl prints, and its status."""
    if not shutil.which("curl"):
        raise e2e.Skip("curl is not installed")
    run = subprocess.run(["curl", "-sS", *args], stdout=subprocess.PIPE, timeout=e2e.LIMIT_S, check=False)
    return run.stdout.decode(), run.returncode


def check_sizes(eddy, option, version, large):
    server, peaks = Server(eddy, is_measured=True), []
    for name, size in (("small", MB), ("large", large)):
        path = eddy.file(name)
        digest = make_file(path, size)
        equal(curl(option, "-F", "note=Hello", "-F", f"file=@{path}", "-w", "%{http_version}", server.url + "/files"),
              (f"note: Hello\n{name}: {size} bytes, SHA-256 {digest}\n{version}", 0))
        equal(digest_of(os.path.join(server.folder, name)), digest)
        peaks.append(memory.peak_mib(server.child))
    print(f"# HTTP/{version}: peak {peaks[0]:.2f} MiB after 1 MB, {peaks[1]:.2f} MiB after {large // MB} MB", flush=True)
    check(peaks[1] - peaks[0] <= 1, peaks)
    server.stop()


@claim
def a_hundred_megabytes_are_saved_in_the_memory_of_one(eddy):
    check_sizes(eddy, "--http1.1", "1.1", LARGE)


@claim
def twenty_megabytes_by_http_2_are_saved_in_the_memory_of_one(eddy):
    check_sizes(eddy, "--http2-prior-knowledge", "2", 20 * MB)


@claim
def an_upload_that_breaks_off_or_is_stopped_leaves_nothing(eddy):
    server = Server(eddy)
    head = b"--b\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\n"
    for data in b"", b"x", b"x" * 65536, b"x" * 200000:
        body = head + data
        with socket.create_connection(server.host.split(":"), timeout=e2e.LIMIT_S) as client:
            client.sendall(b"POST /files HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n"
                           b"Content-Length: %d\r\n\r\n" % (len(body) + 100) + body)
            e2e.wait_until(server.names, "the temporary file") if len(data) > 1 else None
        e2e.wait_until(lambda: not server.names(), "an empty folder")
    with socket.create_connection(server.host.split(":"), timeout=e2e.LIMIT_S) as client:
        client.sendall(b"POST /files HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n"
                       b"Content-Length: 1000000\r\n\r\n" + head + b"x" * 100000)
        e2e.wait_until(server.names, "the temporary file")
        server.stop()
    equal(server.names(), [])


@claim
def a_body_above_the_limit_is_refused_before_it_is_sent(eddy):
    server = Server(eddy, 1000)
    with socket.create_connection(server.host.split(":"), timeout=e2e.LIMIT_S) as client:
        client.sendall(b"POST /files HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n"
                       b"Content-Length: 1001\r\nExpect: 100-continue\r\n\r\n")
        answer = e2e.read_head(client)
    check(answer.startswith(b"HTTP/1.1 413 "), answer)
    path = eddy.file("large")
    make_file(path, 2 * MB)  # curl waits for 100 Continue
    out, _ = curl("-w", "%{http_code} %{size_upload}", "-F", f"f=@{path}", server.url + "/files")
    check(out.endswith("413 0"), out)
    equal(server.names(), [])
    server.stop()


# Names that clients may send, and those of the files.
NAMES = [
    ("a.txt", "a.txt"), ("../../b", "b"), ("/etc/c", "c"), ("..\\d", "d"), ("C:\\e", "e"), (".f", "f"), ("g/..", "unnamed"),
    ("h\u00e4", "h\u00e4"), ("i%00j", "i%00j"), ("k:l", "k_l"), ("x" * 300, "x" * 255), ("m. .", "m"), ("../up/../n", "n"),
]


@claim
def no_name_of_a_client_leads_out_of_the_folder(eddy):
    server = Server(eddy)
    os.symlink(eddy.file("outside"), os.path.join(server.folder, "link"))
    path = eddy.file("data", "1")
    for name, _ in NAMES:
        out, _ = curl("-F", f'f=@{path};filename="{name}"'.replace("\\", "\\\\"), server.url + "/files")
        check("1 bytes" in out, name, out)
    out, _ = curl("-F", f"f=@{path};filename=link", server.url + "/files")
    check("there is a file of this name" in out, out)
    equal(server.names(), sorted([name for _, name in NAMES] + ["link"]))
    equal(sorted(os.listdir(eddy.folder)), ["data", "up"])
    server.stop()


def python_with_packages():
    run = subprocess.run([os.path.join(HERE, "peers", "python_packages")], stdout=subprocess.PIPE, check=False)
    return run.stdout.decode().strip() if run.returncode == 0 else None


@claim
def requests_of_python_uploads_files_and_fields(eddy):
    python = python_with_packages()
    if not python:
        raise e2e.Skip("needs the packages of tests/e2e/peers/python_packages fetch")
    server, paths = Server(eddy), [eddy.file(name) for name in ("one", "two")]
    digests = [make_file(path, size) for path, size in zip(paths, (5 * MB, 0))]
    script = """
import requests, sys
url, *paths = sys.argv[1:]
files = [("file", open(path, "rb")) for path in paths]
answer = requests.post(url, files=files, data={"note": "\u00e4"})
print(answer.status_code, answer.text, end="")
"""
    run = subprocess.run([python, "-c", script, server.url + "/files", *paths], stdout=subprocess.PIPE,
                         timeout=e2e.LIMIT_S, check=True)
    equal(run.stdout.decode(), f"200 note: \u00e4\none: {5 * MB} bytes, SHA-256 {digests[0]}\n"
          f"two: 0 bytes, SHA-256 {digests[1]}\n")
    server.stop()


class Page:
    """The page in a browser, which chooses a file and sends it."""

    def __init__(self, eddy, server):
        if not browser.find():
            raise e2e.Skip("needs the Debian package chromium or chromium-headless-shell (tools/install-deps interop)")
        self.tab = eddy.stack.enter_context(contextlib.closing(browser.Tab(eddy.folder, server.host)))
        self.tab.call("Page.navigate", url=server.url)
        e2e.wait_until(lambda: self.tab.value("document.readyState") == "complete"
                       and self.tab.value("!!document.querySelector('pre')"), "the page")
        self.tab.value("""(() => { window.seen = [];
            const bar = document.querySelector('progress');
            new MutationObserver(() => seen.push(bar.value)).observe(bar, { attributes: true }); })()""")

    def send(self, path, note=""):
        """Returns what the page then shows, and the values of the bar."""
        root = self.tab.call("DOM.getDocument")["root"]["nodeId"]
        node = self.tab.call("DOM.querySelector", nodeId=root, selector="input[type=file]")["nodeId"]
        self.tab.call("DOM.setFileInputFiles", nodeId=node, files=[path])
        self.tab.value(f"""(() => {{ seen = []; show(''); form.elements.note.value = {note!r};
            document.querySelector('button').click(); }})()""")
        e2e.wait_until(lambda: self.tab.value("document.querySelector('pre').textContent"), "an answer")
        return self.tab.value("document.querySelector('pre').textContent"), self.tab.value("seen")


@claim
def a_browser_shows_the_progress_and_why_a_file_was_not_saved(eddy):
    server = Server(eddy, 24 * MB)
    page = Page(eddy, server)
    path, large = eddy.file("h\u00e4 \"1\".bin"), eddy.file("large")
    digest = make_file(path, 20 * MB)
    make_file(large, 25 * MB)
    shown, seen = page.send(path, "Hello")
    equal(shown, f"note: Hello\nh\u00e4 _1_.bin: {20 * MB} bytes, SHA-256 {digest}\n")
    print(f"# the bar had {len(seen)} values, the last {seen[-1:]}", flush=True)
    check(seen and seen == sorted(seen) and seen[-1] == 1, seen)
    equal(digest_of(os.path.join(server.folder, "h\u00e4 _1_.bin")), digest)
    equal(page.send(path)[0], "Not saved: there is a file of this name")
    equal(page.send(large)[0], "Not saved: the body is too large")
    equal(server.names(), ["h\u00e4 _1_.bin"])
    equal(page.tab.asked, [])
    server.stop()


e2e.main()
