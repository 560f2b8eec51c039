"""The soak test: many requests over few connections, none lost, no memory kept.

    bench/soak [--requests 200000] PROGRAM

PROGRAM is http_eddy.  It passes if every request was answered with 200, the
server accepted as many connections as there were tasks and no more, and
resident memory at the end is within 1 MiB of that after the first tenth.
"""

import argparse
import sys

from harness import BenchError, Nginx, processors, run_child

CONNECTIONS = 64
GROWTH_KIB_MAX = 1024


def soak(program, server_cpu, client_cpu, requests=200_000):
    """Returns whether it passed, and the lines that say so."""
    early = requests // 10
    with Nginx(server_cpu) as nginx:
        argv = [program, nginx.url, str(requests), str(CONNECTIONS), str(early)]
        result = run_child(argv, client_cpu, timeout=600)
        accepted, served = nginx.status()
    growth = result["rss_end_kib"] - result["rss_early_kib"]
    checks = [
        (
            result["ok"] == requests == served,
            f"{result['ok']:,} of {requests:,} requests answered with 200; the server saw {served:,}",
        ),
        (
            accepted == result["connections"] == CONNECTIONS,
            f"{accepted} connections accepted by the server, {result['connections']} opened "
            f"by the client; expected {CONNECTIONS}",
        ),
        (
            result["rss_early_kib"] > 0 and growth <= GROWTH_KIB_MAX,
            f"resident memory {result['rss_early_kib']:,} KiB after {early:,} requests, "
            f"{result['rss_end_kib']:,} KiB at the end: {growth:+,} KiB of {GROWTH_KIB_MAX:,} allowed",
        ),
    ]
    passed = all(good for good, _ in checks)
    lines = [f"- {'PASS' if good else 'FAIL'}: {text}" for good, text in checks]
    return passed, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("program", help="the built bench/http_eddy")
    options = parser.parse_args()
    try:
        passed, lines = soak(options.program, *processors(), options.requests)
    except BenchError as error:
        print(f"FAIL: {error}")
        return 1
    print("\n".join(lines))
    print("PASS" if passed else "FAIL")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
