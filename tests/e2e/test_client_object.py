#!/usr/bin/env python3
"""test_client_object - the example of a client object and its twin on httpx share few connections by HTTP/2, as the server
counts.

    test_client_object.py EDDY EXAMPLE TWIN [WORD]
"""
import json
import os
import ssl
import subprocess
import sys
import urllib.request

import e2e
from e2e import check, claim, equal

PYTHON = "/usr/bin/python3"  # Debian's, which has the packages
REQUESTS = 1000
EXAMPLE, TWIN = sys.argv[2:4]
del sys.argv[2:4]


def counts_after(eddy, *command):
    """The server's counts after the command has sent its requests."""
    url = eddy.mock("--tls")
    certificate = eddy.child.stdout.readline().decode().split()[1]
    done = subprocess.run([*command, url + "/v1/models", "users/42", str(REQUESTS)], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=e2e.LIMIT_S, check=False, env={**os.environ, "SSL_CERT_FILE": certificate})
    equal(done.stdout.decode(), f"users/42 belongs to eddy\nrequests: {REQUESTS}, protocol: HTTP/2\nthe client is closed\n", done.stderr)
    equal(done.returncode, 0)
    context = ssl.create_default_context(cafile=certificate)
    with urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                     urllib.request.HTTPSHandler(context=context)).open(url + "/counts") as answer:
        return json.load(answer)


def check_counts(counts):
    equal(counts["http1"]["requests"], 0)
    equal(counts["http2"]["requests"], REQUESTS)
    check(counts["http2"]["connections"] <= 2, counts)


@claim
def a_thousand_requests_of_the_example_share_two_connections(eddy):
    check_counts(counts_after(eddy, EXAMPLE))


@claim
def a_thousand_requests_of_its_twin_share_two_connections(eddy):
    if subprocess.run([PYTHON, "-c", "import h2, httpx"], capture_output=True, check=False).returncode:
        raise e2e.Skip("python3-httpx or python3-h2 is not installed (tools/install-deps course)")
    check_counts(counts_after(eddy, PYTHON, TWIN))


e2e.main()
