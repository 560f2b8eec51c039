#!/usr/bin/env python3
"""Documents of eddy/openapi.h beside programs that read them: a validator, and a maker of clients.

    test_openapi_peers.py OPENAPI_WRITTEN          with EDDY_TWIN_SERVER in the environment

They are openapi-spec-validator and openapi-python-client of PyPI (peers/python_packages fetch, as `make interop`
does), and are skipped by name without them.
"""
import json
import os
import subprocess
import sys
import urllib.request

import e2e
from e2e import check, claim, equal

HERE = os.path.dirname(os.path.abspath(__file__))
VALIDATE = """
import json, sys, importlib.metadata, openapi_spec_validator
openapi_spec_validator.OpenAPIV31SpecValidator(json.load(sys.stdin)).validate()
print(importlib.metadata.version("openapi-spec-validator"))
"""

ACCOUNT = {"id": 7, "name": "Ada", "age": 36, "parent": None, "ratio": 0.25, "verified": False}
MEMBER = {**ACCOUNT, "id": 9}
ORDER = {"home": {"city": "Ulm"}, "lines": [{"sku": "a", "count": 1, "to": [{"city": "Bonn", "zip": "53111"}]}],
         "tags": ["x", "y"], "codes": [-5, 5], "note": {"a": [None]}}
DRAWING = {"frame": {"type": "circle", "radius": 1.5}, "weights": {"a": 1},
           "shapes": [{"type": "square", "side": 2, "label": "b"}, {"type": "circle", "radius": 0}]}
CONTACT = {"email": "ada@example.com", "uuid": "00000000-0000-0000-0000-000000000007",
           "time": "2026-11-29T12:30:00+00:00", "date": "2024-02-29", "uri": "https://a.example/", "ip": "::1",
           "ipv4": "10.0.0.1", "ipv6": "fe80::1"}
# The operation, the status, the type in Python, and the answer or the places of its errors.
CALLS = [
    ("make_account", 201, "Account", ACCOUNT),
    ("make_account", 409, "Account", {"id": 7, "name": "taken", "age": 1, "parent": "root", "verified": True}),
    ("make_account", 422, "HTTPValidationError", [["body", "name"], ["body", "age"]]),
    ("post_orders", 200, "Order", ORDER),
    ("post_drawings", 200, "Drawing", DRAWING),
    ("post_contacts", 200, "Contact", CONTACT),
    ("get_search", 200, "Search", {"q": "a b", "limit": 7, "ratio": -0.5, "exact": True, "color": "deep blue", "tag": [1, 2]}),
    ("get_search", 200, "Search", {"q": "abc", "limit": 10, "tag": []}),
    ("get_search", 422, "HTTPValidationError", [["query", "q"], ["query", "limit"]]),
    ("get_pages", 200, "Page", {"size": 3, "number": 0}),
    ("get_items_by_id_by_color", 200, "Place", {"id": 5, "color": "deep blue"}),
    ("delete_items_by_id_by_color", 204, "NoneType", None),
    ("delete_items_by_id_by_color", 404, "NoneType", None),
    ("put_teams_by_team_members_by_id", 200, "Account", MEMBER),
    ("post_signups", 200, "Signup", {"name": "Ada", "age": 36, "tag": ["a", "b"]}),
    ("get_files_by_path", 200, "NoneType", None),
]


def python_with_packages():
    run = subprocess.run([os.path.join(HERE, "peers", "python_packages")], stdout=subprocess.PIPE)
    if run.returncode != 0:
        raise e2e.Skip("needs the packages of tests/e2e/peers/python_packages fetch")
    return run.stdout.decode().strip()


def twin(eddy):
    """The URL of a server, and its document."""
    child = subprocess.Popen([os.environ["EDDY_TWIN_SERVER"]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    eddy.stack.callback(eddy.end, child)
    url = child.stdout.readline().decode().split()[2]
    with urllib.request.urlopen(url + "/openapi.json") as response:
        return url, response.read()


def validate(document):
    run = subprocess.run([python_with_packages(), "-c", VALIDATE], input=document, stdout=subprocess.PIPE, check=True)
    print("# openapi-spec-validator " + run.stdout.decode().strip(), flush=True)


@claim
def validator_accepts_the_document_of_routes_with_descriptions_of_all_kinds(_):
    validate(subprocess.run([os.path.abspath(sys.argv[1])], stdout=subprocess.PIPE, check=True).stdout)


@claim
def validator_accepts_the_document_of_a_server_with_tables_of_all_kinds(eddy):
    validate(twin(eddy)[1])


@claim
def validator_refuses_a_document_that_is_not_valid(eddy):
    document = json.loads(twin(eddy)[1])
    del document["info"]["title"]
    run = subprocess.run([python_with_packages(), "-c", VALIDATE], input=json.dumps(document).encode(),
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    check(run.returncode != 0 and b"title" in run.stderr, run.stderr)


def make_client(eddy, python, document):
    folder = os.path.dirname(python)
    run = subprocess.run([os.path.join(folder, "openapi-python-client"), "generate", "--path",
                          eddy.file("openapi.json", document), "--meta", "none", "--output-path", eddy.file("twin"),
                          "--fail-on-warning"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env={**os.environ, "PATH": folder + ":" + os.environ.get("PATH", "")})
    equal(run.returncode, 0, run.stdout.decode())


@claim
def client_that_is_made_of_the_document_calls_each_operation_and_gets_typed_answers(eddy):
    python = python_with_packages()
    url, document = twin(eddy)
    make_client(eddy, python, document)
    run = subprocess.run([python, "-B", os.path.join(HERE, "peers", "twin_calls.py"), url], stdout=subprocess.PIPE,
                         env={**os.environ, "PYTHONPATH": eddy.folder}, check=True)
    called = [json.loads(line) for line in run.stdout.splitlines()]
    for call in called:
        if call[1] == 422:
            call[3] = [error["loc"] for error in call[3]["detail"]]
    for call, wanted in zip(called, CALLS, strict=True):
        equal(tuple(call), wanted)
    operations = {operation["operationId"] for item in json.loads(document)["paths"].values()
                  for operation in item.values()}
    equal({call[0] for call in called}, operations)
    print(f"# {len(operations)} operations, {len(called)} calls", flush=True)


e2e.main()
