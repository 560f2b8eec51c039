"""test_fetch_memory - input is streamed: a hundred times as many URLs need no
more memory.
"""
import os
import subprocess

import e2e
from e2e import check, claim, equal

# Between a short run and a long one: what the allocator keeps, not the URLs.
MORE_MIB_MAX = 2


def peak_mib(eddy, urls, *args):
    """The peak of resident memory of a run, whose exit code is checked."""
    # Freed memory that a sanitizer holds back would look like growth.
    environment = dict(os.environ)
    options = environment.get("ASAN_OPTIONS", "")
    environment["ASAN_OPTIONS"] = (options + ":" if options else "") + "quarantine_size_mb=1"
    child = eddy.start("fetch", "-i", urls, "-o", "/dev/null", *args, env=environment,
                       stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_maxrss / 1024


@claim
def urls_that_need_no_network_are_streamed(eddy):
    few = eddy.file("few", "https://127.0.0.1/some/path\n" * 2000)
    many = eddy.file("many", "https://127.0.0.1/some/path\n" * 200000)
    code, small = peak_mib(eddy, few)
    equal(code, 1)
    code, large = peak_mib(eddy, many)
    equal(code, 1)
    check(large < small + MORE_MIB_MAX, f"{small:.1f} MiB grew to {large:.1f}")


@claim
def requests_leave_nothing_behind(eddy):
    mock = eddy.mock()
    few = eddy.file("few", f"{mock}/bytes/100\n" * 2000)
    many = eddy.file("many", f"{mock}/bytes/100\n" * 20000)
    code, small = peak_mib(eddy, few)
    equal(code, 0)
    code, large = peak_mib(eddy, many)
    equal(code, 0)
    check(large < small + MORE_MIB_MAX, f"{small:.1f} MiB grew to {large:.1f}")


@claim
def slow_pipe_holds_the_reader_back(eddy):
    # Many URLs wait behind two that hang: they stay in the file.
    mock = eddy.mock()
    few = eddy.file("few", f"{mock}/delay/60\n" * 2000)
    many = eddy.file("many", f"{mock}/delay/60\n" * 400000)
    code, small = peak_mib(eddy, few, "-c", "2", "--deadline", "500ms")
    equal(code, 1)
    code, large = peak_mib(eddy, many, "-c", "2", "--deadline", "500ms")
    equal(code, 1)
    check(large < small + MORE_MIB_MAX, f"{small:.1f} MiB grew to {large:.1f}")


e2e.main()
