"""memory - how much memory a run of `eddy` takes, seen from outside."""
import os
import subprocess
import time

import e2e
from e2e import check, equal


def peak_mib(child):
    """The peak of resident memory so far of a program that runs."""
    with open(f"/proc/{child.pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    raise AssertionError("the program has ended")


def start(eddy, *args, command="fetch", **options):
    if "thread" in os.environ.get("EDDY_TEST_SANITIZE", ""):
        raise e2e.Skip("ThreadSanitizer keeps a history of its own, which grows")
    # Freed memory that a sanitizer holds back would look like growth.
    environment = dict(os.environ)
    old = environment.get("ASAN_OPTIONS", "")
    environment["ASAN_OPTIONS"] = (old + ":" if old else "") + \
        "quarantine_size_mb=0:thread_local_quarantine_size_kb=0"
    return eddy.start(command, *args, env=environment, stderr=subprocess.DEVNULL, **options)


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
