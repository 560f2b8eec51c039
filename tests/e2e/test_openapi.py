#!/usr/bin/env python3
"""Documents of eddy/openapi.h, and their page, whose policy allows its own style and script only.

    test_openapi.py OPENAPI_WRITTEN

test_openapi_peers.py has a validator of others.
"""
import base64
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

import e2e
from e2e import check, claim, equal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs"))
import browser  # pylint: disable=wrong-import-position

# The page's script in Node, with as much of a browser as it needs: each request is sent once.
BROWSER = r"""
const [document_text, script] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const made = [], sent = [];
function element(tag) {
  const one = { tag, append() {}, replaceChildren() {} };
  made.push(one);
  return one;
}
const main = element("main");
globalThis.document = { querySelector: () => main, createElement: element };
globalThis.location = { href: "http://a/docs", origin: "http://a" };
globalThis.fetch = async (url, options) => {
  if (url === "openapi.json") return { ok: true, json: async () => JSON.parse(document_text) };
  sent.push([options.method, url, options.body || null]);
  return { status: 200, statusText: "OK", text: async () => "[1]" };
};
(0, eval)(script);
setImmediate(async () => {
  for (const one of made.filter(one => one.tag === "input")) one.value = one.value || "a/b {x}&";
  for (const one of made.filter(one => one.tag === "button")) await one.onclick();
  const texts = made.map(one => one.textContent).filter(text => text);
  console.log(JSON.stringify({ title: document.title, sent, texts }));
});
"""

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


def written(*args):
    run = subprocess.run([os.path.abspath(sys.argv[1]), *args], stdout=subprocess.PIPE, check=True)
    return run.stdout.decode()


def unique(pairs):
    names = [name for name, _ in pairs]
    equal(len(names), len(set(names)), names)
    return dict(pairs)


def document():
    return json.loads(written(), object_pairs_hook=unique)


def operations():
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            yield path, method, operation


def references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from references(one)


@claim
def each_name_is_given_once_and_each_reference_has_a_schema(_):
    schemas = document()["components"]["schemas"]
    found = list(references(document()))
    check(len(found) > 10, found)
    for reference in found:
        check(reference.removeprefix("#/components/schemas/") in schemas, reference)


@claim
def identifiers_are_unique_and_parameters_are_those_of_the_path(_):
    seen = set()
    for path, method, operation in operations():
        check(method in METHODS, path, method)
        check(operation["operationId"] not in seen, operation["operationId"])
        seen.add(operation["operationId"])
        names = [p["name"] for p in operation.get("parameters", []) if p["in"] == "path"]
        equal(names, re.findall(r"{(.*?)}", path), path, method)
        check(operation["responses"], path, method)
        wrong = operation["responses"].get("422")
        equal(bool(wrong), "query" in str(operation.get("parameters")) or "requestBody" in operation or
              (path == "/any" and method != "post"), path, method)
    equal(len(seen), 13, seen)


@claim
def paths_are_those_of_the_routes(_):
    equal(list(document()["paths"]), ["/", "/any", "/files/{path}", "/%7Bbraces%7D/\u00e4/{x}",
                                      "/teams/{team}/things", "/teams/{team}/things/{id}"])
    equal(list(document()["paths"]["/any"]), ["post", "get", "put", "delete", "patch"])


@claim
def the_answer_to_wrong_fields_is_described_as_by_fastapi(_):
    # FastAPI 0.165.0, without its optional members "input" and "ctx", which eddy's server does not send.
    schemas = document()["components"]["schemas"]
    equal(schemas["HTTPValidationError"], {
        "properties": {"detail": {"items": {"$ref": "#/components/schemas/ValidationError"}, "type": "array",
                                  "title": "Detail"}},
        "type": "object", "title": "HTTPValidationError"})
    equal(schemas["ValidationError"], {
        "properties": {"loc": {"items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "type": "array",
                               "title": "Location"},
                       "msg": {"type": "string", "title": "Message"},
                       "type": {"type": "string", "title": "Error Type"}},
        "type": "object", "required": ["loc", "msg", "type"], "title": "ValidationError"})


@claim
def the_policy_of_the_page_has_the_hashes_of_its_style_and_its_script(_):
    policy, page = written("page").split("\n", 1)
    for tag in "style", "script":
        texts = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.S)
        equal(len(texts), 1)
        digest = base64.b64encode(hashlib.sha256(texts[0].encode()).digest()).decode()
        check(f"; {tag}-src 'sha256-{digest}';" in policy, tag, digest, policy)
    check(not re.search(r"""\bsrc=|href=|\son\w+=|style=|innerHTML|outerHTML|insertAdjacent|eval\(""", page))
    check(page.count("\n") < 200)


@claim
def the_page_lists_all_operations_and_sends_what_was_written(_):
    node = shutil.which("node")
    if not node:
        raise e2e.Skip("needs node")
    script = re.search("<script>(.*?)</script>", written("page"), re.S).group(1)
    run = subprocess.run([node, "-e", BROWSER], input=json.dumps([written(), script]).encode(),
                         stdout=subprocess.PIPE, check=True)
    page = json.loads(run.stdout)
    equal(page["title"], "Things")
    sent = {(method, url): body for method, url, body in page["sent"]}
    equal(len(sent), 13, page["sent"])
    written_text = "a%2Fb%20%7Bx%7D%26"
    check(("GET", "http://a/v1/files/" + written_text) in sent, sent)
    equal(sent["PUT", f"http://a/v1/teams/{written_text}/things/1"], "limit=10&color=red&tag=")
    check(("GET", f"http://a/v1/teams/{written_text}/things?limit=a%2Fb+%7Bx%7D%26&color=red&tag=a%2Fb+%7Bx%7D%26") in sent,
          sent)
    thing = json.loads(sent["POST", f"http://a/v1/teams/{written_text}/things"])
    equal((thing["name"], thing["color"], "id" in thing), ("chair", "red", False))
    check('A **new** thing: "<b>".' in page["texts"], page["texts"])
    equal(page["texts"].count("200 OK\n\n[\n  1\n]"), 13)


@claim
def a_browser_shows_all_operations_and_sends_them_and_asks_no_other_site(eddy):
    if not browser.find():
        raise e2e.Skip("needs the Debian package chromium or chromium-headless-shell (tools/install-deps interop)")
    url = eddy.start("serve").stdout.readline().decode().strip()
    with contextlib.closing(browser.Tab(eddy.folder, url.removeprefix("http://"))) as tab:
        tab.call("Page.navigate", url=url + "/docs")
        e2e.wait_until(lambda: tab.value("document.querySelectorAll('button').length"), "the operations")
        document = json.loads(tab.value("fetch('openapi.json').then(answer => answer.text())"))
        shown = tab.value("""[...document.querySelectorAll('main > details > summary')].map(
            line => [...line.children].slice(0, 2).map(part => part.textContent))""")
        operations = [[method.upper(), path] for path, item in document["paths"].items() for method in item]
        equal(sorted(shown), sorted(operations))
        equal(tab.said, [])
        tab.value("""document.querySelectorAll('input').forEach(input => { input.value = input.value || '7'; });
            document.querySelectorAll('button').forEach(button => button.click())""")
        answers = "[...document.querySelectorAll('button + pre')].map(out => out.textContent)"
        e2e.wait_until(lambda: all(re.match(r"\d{3} ", text) for text in tab.value(answers)), "the answers")
        check(sum(text == "200 OK\n\nok" for text in tab.value(answers)) >= 7, tab.value(answers))
        equal(tab.asked, [])


e2e.main()
