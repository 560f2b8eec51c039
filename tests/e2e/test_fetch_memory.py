"""test_fetch_memory - input is streamed: a hundred times as many URLs need no
more memory.
"""
import os
import subprocess
import time

import e2e
from e2e import check, claim, equal

# Between a short run and a long one: what the allocator keeps, not the URLs.
MORE_MIB_MAX = 1


def peak_mib(child):
    """The peak of resident memory so far of a program that runs."""
    with open(f"/proc/{child.pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    raise AssertionError("the program has ended")


def start(eddy, *args, **options):
    # Freed memory that a sanitizer holds back would look like growth.
    environment = dict(os.environ)
    old = environment.get("ASAN_OPTIONS", "")
    environment["ASAN_OPTIONS"] = (old + ":" if old else "") + "quarantine_size_mb=1"
    return eddy.start("fetch", *args, env=environment, stderr=subprocess.DEVNULL, **options)


def growth(eddy, url, few, many):
    """Feed 'few' lines, then up to 'many'; how far the peak rose in between, in MiB."""
    path = eddy.file("out")
    child = start(eddy, "-i", "-", "-o", path, stdin=subprocess.PIPE)

    def feed(count):
        child.stdin.write(f"{url}\n".encode() * count)
        child.stdin.flush()

    def written(size):
        last = -1
        while last < size:
            check(child.poll() is None, "the program has ended")
            time.sleep(0.02)
            last = os.path.getsize(path)
        return last

    feed(1)
    e2e.wait_until(lambda: os.path.exists(path) and os.path.getsize(path) > 0, "a line")
    line = os.path.getsize(path) - 8  # later ones have longer numbers, and other times
    feed(few)
    written(few * line)
    time.sleep(0.1)
    begin = peak_mib(child)
    feed(many)
    written((few + many) * line)
    end = peak_mib(child)
    child.stdin.close()
    child.wait(e2e.LIMIT_S)
    with open(path, "rb") as file:
        equal(sum(1 for _ in file), 1 + few + many)
    return begin, end


@claim
def urls_that_need_no_network_are_streamed(eddy):
    begin, end = growth(eddy, "https://127.0.0.1/some/path", 2000, 200000)
    check(end < begin + MORE_MIB_MAX, f"{begin:.1f} MiB grew to {end:.1f}")


@claim
def requests_leave_nothing_behind(eddy):
    begin, end = growth(eddy, eddy.mock() + "/bytes/100", 2000, 20000)
    check(end < begin + MORE_MIB_MAX, f"{begin:.1f} MiB grew to {end:.1f}")


@claim
def urls_behind_slow_ones_stay_in_their_file(eddy):
    mock = eddy.mock()
    peaks = []
    for count in (2000, 400000):
        urls = eddy.file("urls", f"{mock}/delay/60\n" * count)
        child = start(eddy, "-i", urls, "-c", "2", "-o", os.devnull)
        time.sleep(1)
        peaks.append(peak_mib(child))
        eddy.end(child)
    check(peaks[1] < peaks[0] + MORE_MIB_MAX, f"{peaks[0]:.1f} MiB grew to {peaks[1]:.1f}")


e2e.main()
