"""server_peers - middleware_server, and the numbers that it gives about itself."""
import collections
import json
import os
import re
import resource
import shutil
import subprocess
import urllib.request

import e2e
from e2e import check, equal

FILES = 4096


def program(name):
    found = shutil.which(name)
    if not found:
        raise e2e.Skip(f"{name} is not installed (tools/install-deps interop)")
    return found


def raise_limit():
    """Let the programs of a case have 1,000 connections each."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES:
        raise e2e.Skip(f"needs {FILES} open files, the limit is {hard}")
    if soft != resource.RLIM_INFINITY and soft < FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))


class Site:
    """A running server: .url, .port, .child."""

    def __init__(self, eddy, *, has_log=True):
        raise_limit()
        self.log = eddy.file("access.log")
        # A slow machine has lines of the watchdog.
        self.errors = open(eddy.file("stderr"), "w+", encoding="utf-8")
        eddy.stack.callback(self.errors.close)
        # Freed memory that a sanitizer holds back would look like growth.
        options = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=0",
                                         "thread_local_quarantine_size_kb=0")))
        self.child = eddy.start(*([self.log] if has_log else []), env={**os.environ, "ASAN_OPTIONS": options}, stderr=self.errors)
        words = self.child.stdout.readline().decode().split()
        equal(words[:2], ["listening", "on"])
        self.url, self.metrics_url = words[2:]
        self.port = int(self.url.rpartition(":")[2])

    def page(self):
        with urllib.request.urlopen(self.metrics_url + "/metrics") as response:
            return response.read().decode()

    def requests(self):
        """How many requests the server has counted, by route and status."""
        found = re.findall(r'^http_requests_total\{route="(.*)",status="(.*)"\} (\d+)$', self.page(), re.M)
        return collections.Counter({(route, status): int(count) for route, status, count in found})

    def in_flight(self):
        return int(re.search(r"^http_requests_in_flight (\d+)$", self.page(), re.M)[1])

    def stop(self):
        """Stop it.  Returns the lines of its access log, if it has one."""
        self.child.terminate()
        code = self.child.wait(e2e.LIMIT_S)
        self.errors.seek(0)
        equal(code, 0, self.errors.read())
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def check_counts(self, expected):
        """The metrics and the access log have these requests, by route and status, and no others."""
        e2e.wait_until(lambda: self.in_flight() == 0, "the requests in flight")
        counted = self.requests()
        equal(dict(counted), expected)
        logged = collections.Counter((line.get("route", ""), f"{line['status'] // 100}xx") for line in self.stop())
        equal(dict(logged), expected)


def run(*args, stdin=None):
    done = subprocess.run(args, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=e2e.LIMIT_S)
    check(done.returncode == 0, args, done)
    return done.stdout
