#!/usr/bin/env python3
"""test_slow_clients - eddy's server with its default limits under the three attacks of slowhttptest, with 1,000
connections each: slow heads, slow bodies, slow readers.

    test_slow_clients.py MIDDLEWARE_SERVER [WORD]

The limits of the server end each connection of the attack; meanwhile each normal request (wrk) is answered, and
memory is bounded by the number of connections.  The latency of normal requests with and without the attack is
printed, and no verdict: it depends on the machine.  With EDDY_TEST_FULL=1 each attack has three rounds, alone and
longer, and the medians are printed.

Debian's packages slowhttptest and wrk (tools/install-deps interop).
"""
import os
import re
import statistics
import subprocess

import e2e
from e2e import check, claim, equal
from memory import peak_mib
from server_peers import Site, program

CONNECTIONS = 1000
FULL = os.environ.get("EDDY_TEST_FULL") == "1"
ROUNDS = 3 if FULL else 1
NORMAL_S = 8 if FULL else 3
SANITIZE = os.environ.get("EDDY_TEST_SANITIZE", "none")
# Resident memory for each connection of an attack: its stack, buffers and what it has sent of a body.
CONNECTION_KIB_MAX = 64 if SANITIZE == "none" else 192
UNITS = {"us": 1e-3, "ms": 1, "s": 1000, "m": 60000}


def claim_attack(case):
    """A claim, which runs alone if it measures."""
    return claim(e2e.alone(case) if FULL else case)


def open_files(site):
    return int(float(re.search(r"^process_open_fds (\S+)$", site.page(), re.M)[1]))


def ended(site, route):
    return sum(count for (name, _), count in site.requests().items() if name == route)


class Normal:
    """Requests of 8 connections for NORMAL_S seconds.  .end() returns the latency in ms that 99 % of them have at most."""

    def __init__(self, eddy, site):
        self.child = subprocess.Popen([program("wrk"), "-c", "8", "-t", "1", "-d", f"{NORMAL_S}s", "--latency", "--timeout", "250s",
                                       site.url + "/hello"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        eddy.stack.callback(eddy.end, self.child)

    def end(self):
        said = self.child.communicate(timeout=e2e.LIMIT_S)[0].decode()
        equal(self.child.returncode, 0, said)
        check("Socket errors" not in said and "Non-2xx" not in said, said)
        number, unit = re.search(r"99% +([\d.]+)(\w+)", said).groups()
        return float(number) * UNITS[unit]


class Attack:
    """A run of slowhttptest."""

    def __init__(self, eddy, site, path, *options):
        self.prefix, self.out = eddy.file("attack"), open(eddy.file("attack.out"), "w+", encoding="latin-1")
        eddy.stack.callback(self.out.close)
        self.child = subprocess.Popen([program("slowhttptest"), "-c", str(CONNECTIONS), "-r", "500", "-l", "3000", "-p", "250",
                                       "-g", "-o", self.prefix, "-u", site.url + path, *options],
                                      stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.out)
        eddy.stack.callback(eddy.end, self.child)

    def check_end(self):
        """The server has closed all connections: the program ends by itself.  Returns their number."""
        self.child.wait(e2e.LIMIT_S)
        self.out.seek(0)
        said = self.out.read()
        check("No open connections left" in said, said[-2000:])
        with open(self.prefix + ".csv", encoding="ascii") as file:
            rows = [[int(word) for word in line.split(",")] for line in list(file)[1:]]
        return max(closed + connected for _, closed, _, connected, _ in rows)


def check_attack(eddy, name, *args, route=None, sees_end=True):
    """'route': it counts a request of each connection.  'sees_end': slowhttptest notices its end."""
    program("slowhttptest")
    # The lines of a log would wait in memory for the disk.
    site, before, during = Site(eddy, has_log=False), [], []
    idle = open_files(site)
    warm = Normal(eddy, site).end()
    first = peak_mib(site.child)
    for number in range(1, ROUNDS + 1):
        before.append(Normal(eddy, site).end() if FULL else warm)
        attack = Attack(eddy, site, *args)
        during.append(Normal(eddy, site).end())
        if sees_end:
            connections = attack.check_end()
            equal(ended(site, route) if route else connections, CONNECTIONS * (number if route else 1))
        else:
            e2e.wait_until(lambda: ended(site, route) >= number * CONNECTIONS, "the end of all readers", e2e.LIMIT_S)
        e2e.wait_until(lambda: open_files(site) <= idle, "the close of all connections", e2e.LIMIT_S)
        eddy.end(attack.child)
    peak = peak_mib(site.child)
    without, attacked = statistics.median(before), statistics.median(during)
    print(f"# {name}: p99 of normal requests {without:.2f} ms, during the attack {attacked:.2f} ms"
          f" ({attacked / max(without, 0.01):.2f} times); peak of memory {first:.1f} MiB, then {peak:.1f} MiB", flush=True)
    if "thread" not in SANITIZE:
        check((peak - first) * 1024 <= CONNECTIONS * CONNECTION_KIB_MAX, name, first, peak)
    site.stop()


@claim_attack
def slow_heads_end_by_the_limit_of_time_and_other_requests_are_answered(eddy):
    check_attack(eddy, "slow heads", "/hello", "-H", "-i", "10", "-x", "24")


@claim_attack
def slow_bodies_end_by_the_least_rate_and_other_requests_are_answered(eddy):
    check_attack(eddy, "slow bodies", "/echo", "-B", "-t", "POST", "-s", "8192", "-i", "10", "-x", "10", route="POST /echo")


@claim_attack
def slow_readers_end_by_the_least_rate_and_other_requests_are_answered(eddy):
    # slowhttptest does not see the reset of a connection whose window is full.
    check_attack(eddy, "slow readers", "/large", "-X", "-w", "512", "-y", "1024", "-n", "5", "-z", "32", "-k", "3",
                 route="GET /large", sees_end=False)


e2e.main()
