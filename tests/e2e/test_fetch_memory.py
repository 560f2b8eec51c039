"""test_fetch_memory - input is streamed: a hundred times as many URLs need no
more memory.
"""
import os
import time

import e2e
from e2e import check, claim
from memory import growth, peak_mib, start

# Between a short run and a long one: what the allocator keeps, not the URLs.
MORE_MIB_MAX = 1


@claim
def urls_that_need_no_network_are_streamed(eddy):
    begin, end = growth(eddy, "ftp://127.0.0.1/some/path", 2000, 200000)
    check(end < begin + MORE_MIB_MAX, f"{begin:.1f} MiB grew to {end:.1f}")


@claim
def requests_leave_nothing_open(eddy):
    begin, end = growth(eddy, eddy.mock() + "/bytes/100", 2000, 20000)
    check(end < begin + MORE_MIB_MAX, f"{begin:.1f} MiB grew to {end:.1f}")


@claim
def urls_after_slow_ones_stay_in_their_file(eddy):
    def answer(connection, _):
        e2e.until_closed(connection)

    peaks = []
    for count in (2000, 400000):
        server = eddy.serve(answer)
        urls = eddy.file("urls", f"{server.url}/\n" * count)
        child = start(eddy, "-i", urls, "-c", "2", "-o", os.devnull)
        e2e.wait_until(lambda of=server: of.count == 2, "two connections")
        time.sleep(1)
        peaks.append(peak_mib(child))
        eddy.end(child)
    check(peaks[1] < peaks[0] + MORE_MIB_MAX, f"{peaks[0]:.1f} MiB grew to {peaks[1]:.1f}")


if __name__ == "__main__":
    e2e.main()
