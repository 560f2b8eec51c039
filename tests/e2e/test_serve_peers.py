#!/usr/bin/env python3
"""test_serve_peers - files of 100 MiB from `eddy serve` to curl, wget, aria2, Chromium, the library requests and eddy's own
clients, by http and https: equal digests, ranges, downloads that are continued, and the server's memory.

    test_serve_peers.py EDDY [WORD]

A case whose program is missing is skipped by name (tools/install-deps interop).
"""
import contextlib
import hashlib
import json
import os
import struct
import subprocess
import sys
import zlib

import e2e
import memory
import serve_files
from e2e import check, claim, equal
from serve_files import MIB, Relay, curl, log_lines, run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs"))
import browser  # pylint: disable=wrong-import-position

LARGE = 100  # MiB
OTHER = 60
BREAKS = 3
AFTER = 30 * MIB


def large(eddy, *args):
    """A server of large.bin; returns it, the file's URL, its path, and its digest."""
    path, digests = serve_files.folder(eddy, large=LARGE)
    child, url = serve_files.serve(eddy, path, *args)
    return child, url + "/large.bin", os.path.join(path, "large.bin"), digests["large"]


def replace(eddy, path):
    """Put another file in its place.  Returns the digest."""
    other, digest = serve_files.random_file(OTHER)
    new = eddy.file("new")
    os.link(other, new)
    os.replace(new, path)
    return digest


def part_of(eddy, path, size):
    part = eddy.file("out.bin")
    with open(path, "rb") as file, open(part, "wb") as begun:
        begun.write(file.read(size))
    return part


# ---- memory ----------------------------------------------------------------------


def check_memory(eddy, name, args, curl_args):
    path, digests = serve_files.folder(eddy, small=1, large=LARGE)
    child, url = serve_files.serve(eddy, path, *args, measured=True)
    out, peaks = eddy.file("out.bin"), []
    for each in "small", "large":
        for _ in range(2):
            curl("-f", *curl_args, "-o", out, f"{url}/{each}.bin")
            equal(serve_files.digest_of(out), digests[each])
        peaks.append(memory.peak_mib(child))
    print(f"# {name}: peak of memory {peaks[0]:.2f} MiB after a file of 1 MiB, {peaks[1]:.2f} MiB after one of {LARGE} MiB",
          flush=True)
    check(peaks[1] - peaks[0] <= 1, peaks)


@claim
def a_large_file_takes_the_memory_of_a_small_one(eddy):
    check_memory(eddy, "http", (), ())


@claim
def a_large_file_takes_the_memory_of_a_small_one_by_https(eddy):
    cert, key = serve_files.certificate(eddy)
    check_memory(eddy, "https", ("--cert", cert, "--key", key), ("--http1.1", "--cacert", cert))


@claim
def a_large_file_takes_the_memory_of_a_small_one_by_http_2(eddy):
    check_memory(eddy, "HTTP/2", (), ("--http2-prior-knowledge",))


@claim
def a_large_file_takes_the_memory_of_a_small_one_by_http_2_and_tls(eddy):
    cert, key = serve_files.certificate(eddy)
    check_memory(eddy, "HTTP/2 by TLS", ("--cert", cert, "--key", key), ("--http2", "--cacert", cert))


# ---- tools -----------------------------------------------------------------------


@claim
def wget_continues_a_file_unless_it_has_changed(eddy):
    """wget -c alone joins any two files: it sends no condition, and of a whole file (200) it leaves out the first bytes."""
    wget = e2e.program("wget")
    _, url, path, digest = large(eddy)
    tag = curl("-I", url).decode().lower().partition("\netag: ")[2].partition("\r")[0]
    part = part_of(eddy, path, 40 * MIB)
    before = serve_files.digest_of(part)
    command = wget, "-q", "--no-proxy", "-c", "--header", f"If-Match: {tag}", "-O", part, url
    run(*command)
    equal(serve_files.digest_of(part), digest)
    part_of(eddy, path, 40 * MIB)
    replace(eddy, path)
    run(*command, code=8)  # 412
    equal(serve_files.digest_of(part), before)


@claim
def aria2_loads_a_file_by_16_connections(eddy):
    aria2, log = e2e.program("aria2c"), eddy.file("log")
    _, url, _, digest = large(eddy, "--access-log", log)
    run(aria2, "-q", "--all-proxy=", "-x", "16", "-s", "16", "-k", "1M", "-d", eddy.folder, "-o", "out.bin", url)
    equal(serve_files.digest_of(eddy.file("out.bin")), digest)
    e2e.wait_until(lambda: [line["status"] for line in log_lines(log)].count(206) >= 15, "the requests in the log")


@claim
def eddys_own_clients_continue_a_file_whose_connections_break(eddy):
    _, url, _, digest = large(eddy)
    relay = Relay(eddy, url.removesuffix("/large.bin"), BREAKS, AFTER)
    run(os.environ["EDDY_DOWNLOAD_FILE"], eddy.file("out.bin"), relay.url + "/large.bin")
    equal((serve_files.digest_of(eddy.file("out.bin")), relay.broken), (digest, BREAKS))
    relay = Relay(eddy, url.removesuffix("/large.bin"), BREAKS, AFTER)
    result = eddy.fetch("-o", eddy.file("results"), "--save", eddy.file("saved"), "--attempts", "9", "--backoff", "1ms",
                        relay.url + "/large.bin")
    equal(result.code, 0, result)
    equal((serve_files.digest_of(eddy.file("saved/large.bin")), relay.broken), (digest, BREAKS))
    equal(len(relay.fields("If-Range")), BREAKS)


@claim
def eddy_fetch_saves_a_file_by_https(eddy):
    cert, key = serve_files.certificate(eddy)
    log = eddy.file("log")
    _, url, _, digest = large(eddy, "--cert", cert, "--key", key, "--access-log", log)
    for folder, options in ("http1", ["--http1"]), ("http2", []):
        result = eddy.fetch("-o", eddy.file("results"), "--save", eddy.file(folder), *options, "--cacert", cert, url)
        equal(result.code, 0, result)
        equal(serve_files.digest_of(eddy.file(f"{folder}/large.bin")), digest)
    e2e.wait_until(lambda: [line.get("protocol") for line in log_lines(log)] == [None, "HTTP/2.0"], "the lines of the log")


# ---- the library requests ----------------------------------------------------------


def requests_client(*args):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requests_client.py")
    for python in sys.executable, "/usr/bin/python3":
        if subprocess.run([python, "-c", "import requests"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return json.loads(run(python, "-B", script, *args))
    raise e2e.Skip("the Python library requests is not installed (tools/install-deps interop)")


@claim
def requests_reads_a_file_in_pieces_by_http_and_https(eddy):
    _, url, path, digest = large(eddy)
    equal(requests_client("whole", url), [200, digest])
    cert, key = serve_files.certificate(eddy)
    _, url = serve_files.serve(eddy, os.path.dirname(path), "--cert", cert, "--key", key)
    equal(requests_client("whole", url + "/large.bin", cert), [200, digest])


@claim
def requests_asks_for_ranges_under_conditions(eddy):
    _, url, path, _ = large(eddy)
    size = LARGE * MIB

    def part(first, last):
        with open(path, "rb") as file:
            file.seek(first)
            return [206, f"bytes {first}-{last}/{size}", hashlib.sha256(file.read(last - first + 1)).hexdigest()]

    none = [None, None]
    equal(requests_client("ranges", url),
          [part(0, 0), part(1000000, size // 2), part(size - 1000, size - 1), [416, f"bytes */{size}", None],
           part(5, 9), part(5, 9), [304, *none], [304, *none], [412, *none], [200, *none]])


@claim
def requests_continues_a_file_whose_connections_break(eddy):
    _, url, _, digest = large(eddy)
    relay = Relay(eddy, url.removesuffix("/large.bin"), BREAKS, AFTER)
    equal(requests_client("resume", relay.url + "/large.bin"), [digest, BREAKS + 1])
    equal(relay.broken, BREAKS)


@claim
def requests_begins_again_if_the_file_has_changed(eddy):
    _, url, path, _ = large(eddy)
    digests = []
    relay = Relay(eddy, url.removesuffix("/large.bin"), 1, AFTER, lambda: digests.append(replace(eddy, path)))
    equal(requests_client("resume", relay.url + "/large.bin"), [digests[0], 2])


# ---- Chromium ----------------------------------------------------------------------

RATE = 44100 * 4  # bytes a second of the sound


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 7, 5, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(7) for _ in range(5)))) + chunk(b"IEND", b""))


def wav(path, size):
    with open(path, "wb") as file:
        file.write(b"RIFF" + struct.pack("<I", size + 36) + b"WAVEfmt " +
                   struct.pack("<IHHIIHH", 16, 1, 2, 44100, RATE, 4, 16) + b"data" + struct.pack("<I", size))
        file.truncate(size + 44)


PAGE = """<!doctype html><title>Files</title><link rel=icon href=data:,><link rel=stylesheet href=style.css>
<script src=script.js></script><img src=image.png><video src=sound.wav preload=metadata></video>"""


def site(eddy):
    path, digests = serve_files.folder(eddy, large=LARGE)
    for name, data in {"index.html": PAGE, "style.css": "body { color: rgb(1, 2, 3) }", "script.js": "var loaded = 7;"}.items():
        with open(os.path.join(path, name), "w", encoding="ascii") as file:
            file.write(data)
    with open(os.path.join(path, "image.png"), "wb") as file:
        file.write(png())
    wav(os.path.join(path, "sound.wav"), LARGE * MIB)
    return path, digests["large"]


@contextlib.contextmanager
def tab_of(eddy, url, *flags):
    if not browser.find():
        raise e2e.Skip("needs the Debian package chromium or chromium-headless-shell (tools/install-deps interop)")
    with contextlib.closing(browser.Tab(eddy.folder, url.partition("://")[2], *flags)) as tab:
        yield tab


SHOWN = """(async () => {
    await new Promise(done => document.readyState == 'complete' ? done() : addEventListener('load', done));
    return [document.querySelector('img').naturalWidth, getComputedStyle(document.body).color, loaded]; })()"""


# Statuses and digests of large.bin, asked for with each of these headers.
READ = """(async () => { const answers = [];
    for (const headers of %s) {
        const answer = await fetch('large.bin', { headers });
        const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await answer.arrayBuffer()));
        answers.push([answer.status, [...hash].map(byte => byte.toString(16).padStart(2, '0')).join('')]);
    }
    return answers; })()"""


@claim
def a_browser_shows_a_page_and_asks_only_for_changes_when_it_shows_the_page_again(eddy):
    path, _ = site(eddy)
    log = eddy.file("log")
    _, url = serve_files.serve(eddy, path, "--cache-control", "no-cache", "--access-log", log)
    names = {"/", "/style.css", "/script.js", "/image.png"}

    def statuses():
        return [(line["path"], line["status"]) for line in log_lines(log) if line["path"] in names]

    with tab_of(eddy, url) as tab:
        for number, status in enumerate((200, 304), 1):
            tab.call("Page.navigate", url=url + "/")
            e2e.wait_until(lambda: tab.value("location.protocol") == "http:", "the page")
            equal(tab.value(SHOWN), [7, "rgb(1, 2, 3)", 7])
            e2e.wait_until(lambda: len(statuses()) >= number * len(names), "the lines of the log")  # pylint: disable=cell-var-from-loop
            equal(set(statuses()[-len(names):]), {(name, status) for name in names})
            tab.call("Page.navigate", url="about:blank")
            e2e.wait_until(lambda: tab.value("location.protocol") == "about:", "an empty page")
        equal((tab.said, tab.asked), ([], []))


@claim
def a_browser_seeks_in_a_large_recording_by_ranges(eddy):
    path, _ = site(eddy)
    _, url = serve_files.serve(eddy, path)
    relay = Relay(eddy, url)
    with tab_of(eddy, relay.url) as tab:
        tab.call("Page.navigate", url=relay.url + "/")
        e2e.wait_until(lambda: tab.value("location.protocol") == "http:", "the page")
        tab.value(SHOWN)
        seconds = tab.value("""(async () => { const video = document.querySelector('video');
            await new Promise(done => video.readyState ? done() : video.onloadedmetadata = done);
            return video.duration; })()""")
        check(abs(seconds - LARGE * MIB / RATE) < 1, seconds)
        for at in 500, 100:
            equal(tab.value("""(async () => { const video = document.querySelector('video');
                await new Promise(done => { video.onseeked = done; video.currentTime = %d; });
                return [video.currentTime, video.error]; })()""" % at), [at, None])
    starts = [int(text.removeprefix("bytes=").partition("-")[0]) for text in relay.fields("Range")]
    check(all(any(abs(start - at * RATE) < 4 * MIB for start in starts) for at in (500, 100)), starts)


@claim
def a_browser_reads_ranges_and_a_whole_file_by_fetch(eddy):
    path, digest = site(eddy)
    _, url = serve_files.serve(eddy, path)
    ranges = [(0, 0), (1, 65536), (50 * MIB, 50 * MIB + 999999), (LARGE * MIB - 5, LARGE * MIB - 1)]
    expected = []
    with open(os.path.join(path, "large.bin"), "rb") as file:
        for first, last in ranges:
            file.seek(first)
            expected.append([206, hashlib.sha256(file.read(last - first + 1)).hexdigest()])
    with tab_of(eddy, url) as tab:
        tab.call("Page.navigate", url=url + "/")
        e2e.wait_until(lambda: tab.value("location.protocol") == "http:", "the page")
        equal(tab.value(READ % json.dumps([{"Range": f"bytes={first}-{last}"} for first, last in ranges])), expected)
        equal(tab.value(READ % "[{}]"), [[200, digest]])


@claim
def a_browser_shows_a_page_and_reads_a_large_file_by_http_2(eddy):
    path, digest = site(eddy)
    log, (cert, key) = eddy.file("log"), serve_files.certificate(eddy)
    _, url = serve_files.serve(eddy, path, "--cert", cert, "--key", key, "--access-log", log)
    with tab_of(eddy, url, "--ignore-certificate-errors") as tab:
        tab.call("Page.navigate", url=url + "/")
        e2e.wait_until(lambda: tab.value("location.protocol") == "https:", "the page")
        equal(tab.value(SHOWN), [7, "rgb(1, 2, 3)", 7])
        equal(tab.value("performance.getEntriesByType('navigation')[0].nextHopProtocol"), "h2")
        equal(tab.value(READ % "[{}]"), [[200, digest]])
        equal([status for status, _ in tab.value(READ % '[{"Range": "bytes=5-9"}, {"Range": "bytes=999999999-"}]')], [206, 416])
        equal(tab.asked, [])
    check(all(line["protocol"] == "HTTP/2.0" for line in log_lines(log)), log_lines(log))


@claim
def a_browser_continues_a_download_whose_connections_break(eddy):
    _, url, _, digest = large(eddy)
    relay = Relay(eddy, url.removesuffix("/large.bin"), BREAKS, AFTER)
    into = eddy.file("downloads")
    os.mkdir(into)
    with tab_of(eddy, relay.url) as tab:
        page, tab.session = tab.session, {}
        tab.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=into)
        tab.session = page
        equal(tab.call("Page.navigate", url=relay.url + "/large.bin")["errorText"], "net::ERR_ABORTED")
        name = os.path.join(into, "large.bin")
        e2e.wait_until(lambda: os.path.exists(name) and os.path.getsize(name) == LARGE * MIB, "the download", e2e.LIMIT_S)
        equal(serve_files.digest_of(name), digest)
    equal((relay.broken, len(relay.fields("If-Range"))), (BREAKS, BREAKS))


e2e.main()
