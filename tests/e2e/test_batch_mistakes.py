"""test_batch_mistakes - what a new user does wrong in requests and commands of `eddy batch`: each
mistake has a message, once, that says what to do next.
"""
import bz2
import gzip
import json
import os
import resource
import time

import e2e
from batch_api import Api, lines_of, request, requests
from e2e import check, claim, equal

# Each kind of line that cannot be sent, its id, and what the message says.
LINES = [
    ("{'custom_id': 'a', 'url': '/x'}", "line-1", "write strings in double quotes"),
    ('{"custom_id":"a","url":"/x","body":{"x":None}}', "line-2", "JSON has null, true and false"),
    ('{"custom_id":"a","url":"/x","body":{"x":NaN}}', "line-3", "neither NaN nor Infinity"),
    ('{"custom_id":"a","url":"/x","body":{},}', "line-4", "remove the comma before it"),
    ('{"custom_id":"a","url":"/x","body":{}},', "line-5", "remove the comma"),
    ('[{"custom_id":"a","url":"/x","body":{}}]', "line-6", "jq -c"),
    ("{", "line-7", "write each request on one line"),
    ('  "custom_id": "a",', "line-8", "write each request on one line"),
    ("}", "line-9", "write each request on one line"),
    ("id,text", "line-10", "give --format csv"),
    ("// comment", "line-11", "write comments with #"),
    ('{"custom_id":"t1","body":{}}', "t1", '"url" is missing: add it to the line, or give --url'),
    ('{"custom_id":"t2","url":"v1/x","body":{}}', "t2", 'the URL "v1/x" does not begin with'),
    ('{"custom_id":"t3","url":"","body":{}}', "t3", 'the URL "" does not begin with'),
    ('{"custom_id":"t4","url":5,"body":{}}', "t4", '"url" is 5: write a string'),
    ('{"custom_id":"t5","url":"/a b","body":{}}', "t5", "write %20"),
    ('{"custom_id":"t6","url":"/x","method":"post"}', "t6", '"method" is "post": write it in capitals'),
    ('{"custom_id":"t7","url":"/x","method":5}', "t7", '"method" is 5: write a string'),
    ('{"custom_id":"t8","url":"/x","method":"PO ST"}', "t8", 'write a method such as "POST"'),
    ('{"custom_id":"t9","url":"/x","body":"{\\"a\\":1}"}', "t9", "write the object"),
    ('{"custom_id":"u1","url":"/x","model":"m"}', "u1", 'write it in "body"'),
    ('{"customId":"u2","url":"/x","body":{}}', "line-22", 'write "custom_id"'),
    ('{"custom_id":5.5,"url":"/x"}', "line-23", '"custom_id" is 5.5: write a string or an integer'),
    ('{"custom_id":"","url":"/x"}', "line-24", '"custom_id" is empty'),
    ('{"custom_id":"' + "x" * 600 + '","url":"/x"}', "line-25", "600 bytes long; at most 512"),
    ('{"custom_id":"u3","url":"/x","headers":{"A":"b\\r\\nC: d"}}', "u3", 'header "A": its value has a control'),
    ('{"custom_id":"u4","url":"/x","headers":{"A b":"c"}}', "u4", 'header "A b"'),
    ('{"custom_id":"u5","url":"/x","headers":{"A":5}}', "u5", 'header "A": the value is not a string'),
    ('{"custom_id":"u6","url":"/x","headers":"A: b"}', "u6", 'write {"X-Name":"value"}'),
    ('{"custom_id":"u7","url":"/x","timeout":"30s"}', "u7", '"timeout" is "30s": write seconds'),
    ('{"custom_id":"u8","url":"/x","url":"/y"}', "u8", '"url" occurs twice'),
    ('{"custom_id":"u9","url":"/x","body":"\udce9"}', "line-32", "convert the input to UTF-8"),
    ('{"custom_id":"v1","url":"/x","body":"a\tb"}', "line-33", "a control character in a string must be escaped"),
    ('{"custom_id":"v2","url":"/x","body":"\0"}', "line-34", "iconv -f UTF-16"),
    ("PK\3\4", "line-35", "compressed by gzip or zstd"),
    ('{"Custom_id":"v3","url":"/x","body":{}}', "line-36", 'write "custom_id"'),
    ('{"custom_id":"v4","url":"/x","body":{},"metdata":{}}', "v4", 'write "metadata"'),
    ("https://host/a b", "line-38", "write %20"),
    ('{"custom_id":"w1","url":"/x","body":{},"files":{"f":"a"}}', "w1", 'write the fields of the form in "form"'),
    ('{"custom_id":"w2","url":"/x","form":{"a":"b"}}', "w2", '"form" is sent with "files" only'),
    ('{"custom_id":"w3","url":"/x","files":["a"]}', "w3", 'write {"file":"speech.mp3"}'),
    ('{"custom_id":"w4","url":"/x","files":{}}', "w4", '"files" is empty'),
    ('{"custom_id":"w5","url":"/x","files":{"f":5}}', "w5", '"f" has no path: write a string'),
    ('{"custom_id":"w6","url":"/x","files":{"f":{"name":"a"}}}', "w6", '"f" has no path: write a string'),
    ('{"custom_id":"w7","url":"/x","files":{"f":{"path":"a","filename":"b"}}}', "w7", 'other members than "path", "name" and "type"'),
    ('{"custom_id":"w8","url":"/x","files":{"f":""}}', "w8", "has an empty path"),
    ('{"custom_id":"w9","url":"/x","files":{"f":"a\\u0000"}}', "w9", "in its path: remove it"),
    ('{"custom_id":"x1","url":"/x","files":{"f":{"path":"a","type":""}}}', "x1", "a type such as"),
    ('{"custom_id":"x2","url":"/x","files":{"f":"a"},"form":{"a":{}}}', "x2", "write a string with its JSON"),
    ('{"custom_id":"x3","url":"/x","files":{"f":"a"},"form":[1]}', "x3", 'write {"model":"small"}'),
    ('{"custom_id":"x4","url":"/x","files":{"f":"a"},"headers":{"content-type":"b"}}', "x4", 'header "content-type" is set by the program'),
    ('{"custom_id":"x5","url":"/x","files":{"f":[' + ",".join(['"a"'] * 129) + ']}}', "x5", "at most 128 are possible"),
    ('{"custom_id":"x6","url":"/x","file":{"f":"a"}}', "x6", 'write "files"'),
    ('{"custom_id":"x7","params":{"messages":[]},"files":{"f":"a"}}', "x7", 'has no "files"'),
    ('{"custom_id":"x8","url":"/x","files":{"f":"a"},"header":{}}', "x8", 'write "headers"'),
]
GOOD = '{"custom_id":"good","url":"/x","method":"GET","body":{"id":"good"}}'


def run(eddy, base, content, *args, name="in.jsonl", **options):
    path = eddy.file(name, content)
    return eddy.run("batch", path, "-o", eddy.file("out.jsonl"), *(["--base-url", base] if base else []),
                    "--progress", "off", "--retry-base", "1ms", *args, **options)


def small(result):
    """Few lines are printed, whatever the number of mistakes."""
    check(result.err.count("\n") <= 12, result)
    return result


@claim
def each_mistake_in_a_line_has_its_message(eddy):
    content = "\n".join([line for line, _, _ in LINES] + [GOOD, ""]).encode(errors="surrogateescape")
    result = small(run(eddy, Api(eddy).url, content))
    equal((result.code, [line["custom_id"] for line in lines_of(eddy.file("out.jsonl"))]), (1, ["good"]), result)
    check("correct the lines, see " in result.err and "or run: eddy check " in result.err, result)
    check("to retry: " not in result.err, result)
    check(" failed: invalid_request_line, such as: line-" in result.err, result)
    errors = lines_of(eddy.file("out.errors.jsonl"))
    equal(len(errors), len(LINES))
    messages = {line["custom_id"]: line["error"]["message"] for line in errors}
    for line, name, words in LINES:
        check(words in messages.get(name, ""), repr(line), name, messages.get(name))
    result = eddy.run("check", eddy.file("in.jsonl"))
    equal(result.code, 1, result)
    for number, (line, _, words) in enumerate(LINES[:20], 1):
        check(any(text.startswith(f"line {number}: ") and words in text for text in result.out.splitlines()),
              repr(line), result.out)
    check(f"and {len(LINES) - 20} more bad lines" in result.out, result)


@claim
def marks_ends_of_lines_comments_and_numbers_as_ids_do_no_harm(eddy):
    api = Api(eddy)
    content = "\ufeff" + requests(2).replace("\n", "\r\n") + "\r\n# a comment\r\n" + \
        '{"custom_id":5,"url":"/x"}\r\n'
    result = run(eddy, api.url, content)
    equal((result.code, sorted(line["custom_id"] for line in lines_of(eddy.file("out.jsonl")))),
          (0, ["5", "r0", "r1"]), result)


@claim
def files_that_are_something_else_are_named(eddy):
    text = requests(3)
    for name, content, words in (
            ("utf-16", text.encode("utf-16"), "iconv -f UTF-16 -t UTF-8"),
            ("big", b"\xfe\xff" + text.encode("utf-16-be"), "iconv -f UTF-16 -t UTF-8"),
            ("array", json.dumps([json.loads(line) for line in text.splitlines()]), "jq -c"),
            ("pretty", "\n".join(json.dumps(json.loads(line), indent=1) for line in text.splitlines()),
             "write each request on one line, as jq -c does"),
            ("bz2", bz2.compress(text.encode()), "compressed by gzip or zstd")):
        result = eddy.run("check", eddy.file(name, content))
        check(result.code == 3 and words in result.out.splitlines()[0], name, result)
    for name, content, words in (
            ("cut.gz", gzip.compress(os.urandom(9000))[:5000], "damaged or end early"),
            ("twice", text + request(1), 'line 4: custom_id "r1" was used by an earlier line'),
            ("little.csv", "a,b\n1,2\n".encode("utf-16"), "iconv -f UTF-16 -t UTF-8"),
            ("big.csv", b"\xfe\xff" + "a,b\n1,2\n".encode("utf-16-be"), "iconv -f UTF-16 -t UTF-8"),
            ("latin.csv", b"a,\xfc\n1,2\n", "iconv -f WINDOWS-1252 -t UTF-8"),
            ("columns.csv", "a,a\n1,2\n", 'both "a": give them different names')):
        result = small(run(eddy, "http://127.0.0.1:1", content, "--url", "http://127.0.0.1:1/", "--body", "{}",
                           name=name) if name.endswith("csv") else
                       run(eddy, "http://127.0.0.1:1", content, name=name))
        check(result.code == 3 and words in result.err, name, result)
    check("the input has no request" in run(eddy, "http://127.0.0.1:1", "").err)
    for path, words in ((eddy.folder, "Is a directory; name a file"), (eddy.file("none"), "No such file")):
        e2e.one_line(eddy.run("batch", path, "--base-url", "http://127.0.0.1:1"), 3, path, words)


@claim
def each_mistake_in_a_command_has_its_message(eddy):
    path, out = eddy.file("in.jsonl", requests(1)), eddy.file("out.jsonl")
    base = ["--base-url", "http://127.0.0.1:1"]
    for args, words in (
            (["-c", "0"], ["-c 0", "from 1 to 65536"]), (["-c", "many"], ["-c many", "or auto"]),
            (["--rpm", "abc"], ["--rpm abc", "such as 500"]), (["--tpm", "0"], ["--tpm 0", "above 0"]),
            (["--timeout", "30"], ["--timeout 30", "no unit"]), (["--retries", "3"], ["--max-attempts"]),
            (["--max-retries", "3"], ["did you mean --max-attempts?"]), (["--rate", "3"], ["did you mean --rpm?"]),
            (["--resume"], ["the same command resumes"]), (["--api-key", "x"], ["--api-key-env"]),
            (["--id-column", "id"], ["--id-column is for CSV", '"custom_id"']),
            (["--concurency", "5"], ["--concurrency"]), (["--model", "m"], ["in the bodies"]),
            (["--nothing"], ["unknown option --nothing", "--help"]), (["--limit"], ["--limit needs a value"]),
            (["--summary", "yaml"], ["--summary yaml", "text, json"]), (["--price", "5"], ["IN/OUT"]),
            (["--max-cost", "5"], ["needs --price"]), (["-H", "novalue"], ["'NAME: VALUE'"]),
            (["-X", "post"], ["POST, in capitals"]), (["--errors", out], ["this is the output"]),
            (["--api-key-env", "NO_KEY"], ["NO_KEY", "export it"]),
            (["--api-key-file", "nofile"], ["--api-key-file nofile:", "No such file"]),
            (["--body", "{", "--url", "http://h/"], ["--body", "not JSON"]), (["more"], ["there is one input"])):
        e2e.one_line(eddy.run("batch", path, "-o", out, *base, *args), 2, *words)
    result = eddy.run("batch", path, *base, "--api-key-env", "sk-secret-key")
    e2e.one_line(result, 2, "the name of one, such as OPENAI_API_KEY")
    check("secret" not in result.err, result)
    e2e.one_line(eddy.run("batch", path, "--base-url", "http://a:1,http://b:2"), 2, "repeat --base-url")
    for url in ("127.0.0.1:8000", "localhost", "htp://h", "http://", "http://:80", "http://h:port", "http://h:65536",
                "http://h:8000:9", "http://a,b", "http://{host}", "http://a b", "http://h?x", "http://h#x", "http://[::1"):
        shown = url.replace("?x", "?***").replace("#x", "#***")
        e2e.one_line(eddy.run("batch", path, "--base-url", url), 2, f"--base-url {shown}", "http://HOST")
    e2e.one_line(eddy.run("batch", path, "--url", "/v1/x"), 2, "--url /v1/x", "--base-url")
    e2e.one_line(eddy.run("retry"), 2, "eddy retry IN -o OUT")
    # The command of a run can be checked as it is.
    result = eddy.run("check", path, "-o", out, *base, "--api-key-env", "X", "-H", "A: b", "-k", "-c", "auto", "--progress",
                      "off", "--limit", "1", "--ordered", "--timeout", "5s", "--summary", "json", "--errors", "e.jsonl")
    equal((result.code, result.err), (0, ""), result)
    e2e.one_line(eddy.run("check", path, "--nothing"), 2, "unknown option --nothing")


@claim
def too_few_open_files_are_refused_with_the_number_that_is_enough(eddy):
    def limited(files, *args):
        return eddy.run(*args, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))

    api = Api(eddy)
    path, out = eddy.file("in.jsonl", requests(1)), eddy.file("out.jsonl")
    command = ["batch", path, "-o", out, "--base-url", api.url, "--log", eddy.file("log"), "--metrics", "127.0.0.1:0"]
    for files in (8, 12, 31):
        for args in (command, ["retry", path, "-o", out, "--base-url", api.url], ["fetch", api.url], ["mock"]):
            result = limited(files, *args)
            e2e.one_line(result, 1, f"eddy {args[0]}: {files} open files are allowed", "ulimit -n", "at least 32")
    equal((api.calls, os.path.exists(out)), ([], False))
    equal(limited(32, *command).code, 0)


def shows_no_secret(eddy, result):
    """Neither a message, nor a line, nor a file of the run has the word."""
    check("SECRET" not in result.err + result.out, result)
    for name in os.listdir(eddy.folder):
        if not name.startswith("in"):
            with open(eddy.file(name), encoding="utf-8") as file:
                check("SECRET" not in file.read(), name)


@claim
def no_message_shows_the_key_or_the_password_of_a_url(eddy):
    api = Api(eddy, lambda call: (500, {}, {}))
    proxy = "http://u:SECRET@127.0.0.1:1"
    path, out = eddy.file("in.jsonl", requests(1)), eddy.file("out.jsonl")
    bare = eddy.file("in.bare", "{}\n")
    bad = eddy.file("in.bad", "".join(json.dumps({"url": url}) + "\n" for url in (
        "htp://h/x?key=SECRET", "htp://u:SECRET@h/", "u:SECRET@h", "h?key=SECRET")))
    for args in (
            ["batch", path, "--base-url", "http://h/?key=SECRET"],
            ["batch", path, "--base-url", "http://h?a=1&key=SECRET#x"],
            ["batch", path, "--base-url", "h/x?key=a@SECRET"],
            ["batch", path, "--base-url", "http://u:SE?CRET@h SECRET"],
            ["batch", path, "--base-url", "http://a?k=SECRET,http://b"],
            ["batch", path, "--base-url", "http://u:SECRET@h", "--base-url", "http://u:SECRET@h"],
            ["batch", path, "--url", "/x?key=SECRET"],
            ["batch", path, "--url", "http://h/?key=SECRET", "--url", "http://h/?key=SECRET"],
            ["batch", path, "-H=Authorization: SECRET"], ["batch", path, "-H", "SECRET"],
            ["batch", path, "-H", "Authorization SECRET:"], ["fetch", "-H", "Bearer SECRET", "http://h/"],
            ["fetch", "-i", "http://h/?key=SECRET"], ["fetch", "-i", "http://u:SECRET@h/?key=SECRET"],
            ["check", path, "--url", "/x?key=SECRET", "--url", "/x?key=SECRET"],
            ["http://h/?key=SECRET"], ["http://u:SECRET@h/"],
            ["batch", path, "--base-url", "http://h", "--proxy", "http://u:SECRET@h:x"]):
        result = eddy.run(*args)
        equal(result.code, 2, result)
        shows_no_secret(eddy, result)
    for more in (["--url", api.url + "/x?key=SECRET"], ["--url=" + api.url.replace("//", "//u:SECRET@")],
                 ["--url", "/x?key=SECRET", "--base-url", api.url],
                 ["--url", "http://u:SECRET@h:1/x?key=SECRET"],
                 ["--url", "http://h:1/", f"--proxy={proxy}"], ["--url", "http://h:1/", "--proxy", proxy[7:]]):
        for summary in ("text", "json"):
            result = eddy.run("batch", bare, "-o", out, *more, "--max-attempts", "1", "--summary", summary,
                              "--log", eddy.file("log"))
            check(result.code in (1, 75), result)
            check("***" in result.err, result)
            shows_no_secret(eddy, result)
    for result in (eddy.run("batch", bad, "-o", out, "--base-url", api.url), eddy.run("check", bad),
                   eddy.run("batch", eddy.file("in.path", '{"url":"/x?key=SECRET"}\n'), "-o", out)):
        shows_no_secret(eddy, result)


@claim
def places_that_would_choose_the_host_are_refused(eddy):
    path = eddy.file("in.jsonl", "{}\n")
    for command in ("batch", "check"):
        for url in ("http://{{id}}/x", "http://h{{id}}", "http://h:{{id}}/", "{{id}}://h/", "{{id}}"):
            e2e.one_line(eddy.run(command, path, "--url", url), 2, f"--url {url}: " + "{{id}} is not in the path",
                         "the data would choose the host, to which the API key is sent")
        e2e.one_line(eddy.run(command, path, "--base-url", "http://{{host}}"), 2, "--base-url http://{{host}}:",
                     "would choose the host")
        e2e.one_line(eddy.run(command, path, "--url", "http://h/x#{{id}}"), 2, "{{id}} is after #, which is not sent")
        e2e.one_line(eddy.run(command, path, "--url", "http://h/../{{id}}"), 2, "without the segments . and ..")
        e2e.one_line(eddy.run(command, path, "--url", "http://h/{{id"), 2, "{{id in the URL has no }}")
        e2e.one_line(eddy.run(command, path, "--url", "http://h/{{id:json}}"), 2, '":json" is for --body')
        e2e.one_line(eddy.run(command, path, "--url", "http://h/a b/{{id}}"), 2, "write %20")
        e2e.one_line(eddy.run(command, path, "--url", "http://h/", "-H", "X-Tenant: SECRET{{}}"), 2,
                     "--header X-Tenant: {{}} in the header is not the name of a field")


@claim
def check_and_batch_accept_the_same_urls(eddy):
    # Each URL, and what the message about it has; None: it is accepted.
    urls = (("http://h:1/x", None), ("/x?a=[1]&b={c}|d", None), ("http://b\u00fccher.localhost:1/x", None),
            ("http://h:1/%zz", "write %25 for %"), ("/%zz", "write %25 for %"), ("/x#%", "write %25 for %"),
            ('/a"b', "write %22"), ("/a\u00fc", "write %C3"), ("http://h:99999/", "port 99999"), ("http:///x", "no host"),
            ("http://[::1/", "[ without a ]"), ("http://h_1:x/", "port x"), ("http://127.1/", "127.1 is not an IPv4 address"),
            ("http://a%3Ab:c@h/", "Basic credentials"), ("http://\u0301.example/", "name"),
            ("http://h%41/", "URL is not valid"), ("/" + "a" * 70000, "the URL has 70001 bytes; at most"))
    for url, words in urls:
        for content, more in ((json.dumps({"url": url, "body": {}}), []), ("{}", ["--url", url])):
            path, out = eddy.file("in.jsonl", content + "\n"), eddy.file("out.jsonl")
            check_said = eddy.run("check", path, *more)
            said = eddy.run("batch", path, "-o", out, "--base-url", "http://h:1", "--max-attempts", "1", *more)
            if words is None:
                equal(check_said.code, 0, url, check_said)
                check("invalid_request_line" not in said.err and said.code == 75, url, said)
            else:
                check(check_said.code in (2, 3) and said.code in (2, 3), url, check_said, said)
                check(words in said.err and words in check_said.err + check_said.out, url, check_said, said)


@claim
def a_host_that_is_not_ascii_is_requested_as_by_fetch(eddy):
    api = Api(eddy)
    port = api.url.rsplit(":", 1)[1]
    base = f"http://b\u00fccher.localhost:{port}"
    resolve = ["--resolve", f"xn--bcher-kva.localhost:{port}:127.0.0.1"]
    equal(eddy.fetch(base + "/x", *resolve).code, 0)
    lines = json.dumps({"custom_id": "r1", "url": base + "/x", "body": {"id": "r1"}}) + "\n" + request(2)
    equal(run(eddy, base, lines, "--summary", "json", *resolve).code, 0)
    equal([call.headers["host"] for call in api.calls], [f"xn--bcher-kva.localhost:{port}"] * 3)
    equal({line["x_meta"]["endpoint"] for line in lines_of(eddy.file("out.jsonl"))},
          {f"http://xn--bcher-kva.localhost:{port}"})


def writers(path):
    """Commands that end with the option for a file to write."""
    return (["batch", path, "--base-url", "http://h", "-o"], ["batch", path, "-o", "out.jsonl", "--errors"],
            ["batch", path, "--log"], ["retry", path, "-o"], ["sort", path, "--by", path, "-o"], ["fetch", "-o"],
            ["report", path, "-o"], ["draw", path, "-o"], ["select", path, "--select", "/a", "-o"])


@claim
def messages_name_the_given_value(eddy):
    rows = eddy.file("rows.csv", "custom_id,text\na,one\n")
    body = eddy.file("body.json", '{"i":"{{text}}"}')
    out = ["-o", eddy.file("out.jsonl"), "--progress", "off", "--retry-base", "1ms", "--max-throttle-wait", "1ms"]
    url = ["--url", "http://name.invalid/x"]
    result = eddy.run("batch", rows, *out, *url, "--body", "@" + body)
    check("dns_error: check the host of --url\n" in result.err, result)
    result = eddy.run("batch", eddy.file("in", '{"url":"http://name.invalid/x"}\n'), *out)
    check("dns_error: check the host of the URLs of the input\n" in result.err, result)
    for command in ("batch", "check"):
        e2e.one_line(eddy.run(command, rows, *url, "--body", body), 2, f"; to read a file, write --body @{body}")
        check("to read a file" not in eddy.run(command, rows, *url, "--body", "{oops").err)
        result = eddy.run(command, rows, *url, "--body", "{}", "--max-attempts", "1") if command == "batch" else \
            eddy.run(command, rows, *url, "--body", "{}")
        check("rows.csv: --url, --body and -H use no column, so all requests are the same" in result.err, result)
        check("use no column" not in eddy.run(command, rows, *url, "--body", "@" + body).err)


@claim
def answers_in_place_of_requests_are_named(eddy):
    run(eddy, Api(eddy).url, requests(2))
    for args in (["check", eddy.file("out.jsonl")], ["batch", eddy.file("out.jsonl"), "--base-url", "http://h"]):
        result = eddy.run(*args)
        check(result.code == 3 and "the line is an answer, not a request" in result.out + result.err, result)


@claim
def standard_output_that_is_full_is_not_to_be_resumed(eddy):
    with open("/dev/full", "wb") as full:
        result = eddy.run("batch", eddy.file("in.jsonl", requests(1)), "--base-url", Api(eddy).url, stdout=full)
    check(result.code == 4 and "give -o FILE" in result.err and "is kept" not in result.err, result)


@claim
def an_output_with_an_empty_name_is_refused(eddy):
    for args in writers(eddy.file("in.jsonl", requests(1))):
        e2e.one_line(eddy.run(*args, ""), 2, "the name of the file is empty")


@claim
def an_output_with_the_name_of_a_compressed_file_is_refused(eddy):
    path = eddy.file("in.jsonl", requests(1))
    for args in writers(path):
        packs = args[0] in ("sort", "select")
        for end in (".bz2", ".xz") if packs else (".gz", ".zst", ".bz2", ".xz"):
            name = eddy.file("a.jsonl" + end)
            words = "can be compressed as .gz or .zst: end its name in one of these, or" if packs else "is not compressed:"
            e2e.one_line(eddy.run(*args, name), 2, f"{name}: the output {words} leave out {end}")
            check(not os.path.exists(name), name)


@claim
def an_output_that_was_compressed_is_not_sent_again(eddy):
    api = Api(eddy)
    path, out = eddy.file("in.jsonl", requests(2)), eddy.file("out.jsonl")
    for end in (".gz", ".zst"):
        packed = eddy.file("out.jsonl" + end, b"any")
        for args in (["batch", path, "--base-url", api.url], ["retry", path, "--base-url", api.url],
                     ["batch", path, "--base-url", api.url, "--errors", eddy.file("e")], ["check", path]):
            e2e.one_line(eddy.run(*args, "-o", out), 2, f"{packed} does: decompress it")
        eddy.file("out.jsonl", "")
        equal(eddy.run("check", path, "-o", out).code, 0)
        os.remove(packed)
        os.remove(out)
    equal(api.calls, [])


@claim
def text_of_servers_and_names_of_files_does_not_control_the_terminal(eddy):
    evil = "\x1b[2J\x07\r\x08\x7f\x9b31m\u202e\u2066"
    api = Api(eddy, lambda call: (400, {}, {"error": {"message": "m" + evil, "code": "c" + evil}}))
    path, out = eddy.file("in\x1b[2J\x07.jsonl", requests(2)), eddy.file("out\x1b[2J\r.jsonl", "bad\n" + json.dumps(
        {"custom_id": "z" + evil, "response": {"status_code": 200, "body": {}}, "error": None}) + "\n")
    for args in (["batch", path, "-o", out, "--base-url", api.url], ["retry", path, "-o", out, "--base-url", api.url],
                 ["check", path, "-o", out], ["sort", out, "--by", path], ["report", out],
                 ["select", out, "--by", path, "--select", "/a"]):
        shown = eddy.run(*args).err
        check(shown.isascii() and all(ch >= " " or ch == "\n" for ch in shown) and "\x7f" not in shown, args, repr(shown))


@claim
def names_of_one_file_for_two_purposes_are_refused(eddy):
    api = Api(eddy)
    for name in ("out.jsonl.rejected", "out.errors.jsonl.rejected"):
        path = eddy.file(name, requests(2))
        result = eddy.run("batch", path, "-o", eddy.file("out.jsonl", "bad line\n"), "--base-url", api.url)
        e2e.one_line(result, 2, name, "give the input another name")
    os.remove(eddy.file("out.jsonl"))
    os.symlink("out.jsonl", eddy.file("link"))
    result = eddy.run("batch", eddy.file("in.jsonl", requests(2)), "-o", eddy.file("out.jsonl"),
                      "--errors", eddy.file("link"), "--base-url", api.url)
    e2e.one_line(result, 2, "this is the output; name another file")
    read = eddy.file("read", "{}")
    for args in (["--schema", read], ["--accept-failed-ids", read], ["--api-key-file", read],
                 ["--url", "/x", "--body", "@" + read], ["--cacert", read]):
        for name in ("-o", "--errors", "--log"):
            more = [] if name == "-o" else ["-o", eddy.file("other.jsonl")]
            result = eddy.run("batch", eddy.file("in.jsonl"), "--base-url", api.url, *args, *more, name, read)
            check(result.code == 2 and f"{name} {read}: this file is read by {args[-2]};" in result.err, args, result)
            equal(os.path.getsize(read), 2, args)
    equal(len(api.calls), 0)


@claim
def causes_of_failures_are_grouped_in_the_summary(eddy):
    def answer(call):
        number = int(call.id[1:])
        return 400, {}, {"error": {"message": f"max_tokens {4097 + number} is above 4096 (request req-{number}a)" if number % 4
                                   else f"no model 'm-{number}'"}}
    result = run(eddy, Api(eddy, answer).url, requests(12), "-c", "1", "--max-errors", "100")
    check("\n9 failed: 400, such as: max_tokens 4098 is above 4096 (request req-1a)\n"
          "3 failed: 400, such as: no model 'm-0'\n" in result.err and "other cause" not in result.err, result)
    result = eddy.run("retry", eddy.file("in.jsonl"), "-o", eddy.file("out.jsonl"), "--base-url", Api(eddy, answer).url,
                      "-c", "1", "--max-errors", "100", "--summary", "json")
    summary = json.loads(result.err.splitlines()[-1])["x_eddy"]
    equal((summary["causes"][1], summary["failed_otherwise"]),
          ({"cause": "400", "failed": 3, "message": "no model 'm-0'"}, 0), summary)


@claim
def failures_that_are_mistakes_have_a_next_step(eddy):
    mock = eddy.mock("--api-key", "good")
    line = '{"custom_id":"a","method":"POST","url":"/v1/embeddings","body":{"model":"m","input":"x"}}\n'
    key = {**os.environ, "KEY": "bad"}
    for base, args, code, words in (
            (mock, [], 1, "give --api-key-env or --api-key-file"),
            (mock, ["--api-key-env", "KEY"], 1, "the server refuses the key: check --api-key-env"),
            (mock + "/v2", ["-H", "api-key: good"], 1, "404: check the URLs"),
            (f"http://127.0.0.1:{e2e.free_port()}", [], 75, "check that the server runs"),
            ("http://127.0.0.1:1", [], 75, "connect_error, such as: http://127.0.0.1:1: Connection refused"),
            ("http://name.invalid", [], 75, "dns_error: check the host of --base-url")):
        result = small(run(eddy, base, line, "--max-attempts", "1", *args, env=key))
        check(result.code == code and words in result.err, base, args, result)
    # The base URL may end with the /v1 that the lines have too.
    for base in (mock + "/v1", mock + "/v1/"):
        os.remove(eddy.file("out.jsonl"))
        equal(run(eddy, base, line, "-H", "api-key: good").code, 0)


@claim
def advice_fits_the_failure(eddy):
    def answer(call):
        return 404, {}, {"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}

    result = run(eddy, Api(eddy, answer).url, requests(2))
    check('404: check the "model" of the requests' in result.err and "check the URLs" not in result.err, result)
    api = Api(eddy)
    lines = request(1, url=api.url + "/x")
    result = run(eddy, None, lines + '{"custom_id":"bad"}\n', name="in.bad")
    check("correct the lines" in result.err and "needs --base-url" not in result.err, result)
    result = run(eddy, None, lines + request(2), name="in.path")
    check("needs --base-url" in result.err, result)


@claim
def input_without_a_line_that_can_be_sent_is_refused(eddy):
    api = Api(eddy)
    for base, content, words in (
            (None, requests(3), "the url /v1/echo is a path: give --base-url"),
            (api.url + "/v1/echo", requests(3), "leave /v1/echo out of --base-url"),
            (api.url, "[\n" + requests(3).replace("\n", ",\n").replace("{", " {", 1)[1:-2] + "\n]\n", "jq -c"),
            (api.url, "".join(requests(3).encode("utf-16").decode("latin-1")), "line 1: "),
            (api.url, "", "the input has no request")):
        result = small(run(eddy, base, content))
        check(result.code == 3 and words in result.err, base, result)
        equal((len(api.calls), len(lines_of(eddy.file("out.errors.jsonl")))), (0, 0))


@claim
def requests_without_credentials_end_the_run_at_once(eddy):
    api = Api(eddy, lambda call: (401, {}, {"error": {"message": "no key"}}))
    result = small(run(eddy, api.url, requests(500), "-c", "2"))
    check(result.code == 5 and "give the API key" in result.err, result)
    check(len(api.calls) < 20, "calls:", len(api.calls))


@claim
def server_that_never_answers_ends_the_run_resumable(eddy):
    began = time.monotonic()
    result = small(run(eddy, f"http://127.0.0.1:{e2e.free_port()}", requests(500)))
    check(result.code == 75 and "cannot be reached" in result.err, result)
    check(time.monotonic() - began < 40 and not lines_of(eddy.file("out.errors.jsonl")), result)


@claim
def run_without_any_connection_ends_resumable(eddy):
    nowhere = f"http://127.0.0.1:{e2e.free_port()}"
    api = Api(eddy)
    for base, lines, more in ((nowhere, requests(1), []), ("http://name.invalid", requests(2), []),
                              (nowhere, requests(9), ["--limit", "1"]), (nowhere, requests(1) + "bad\n", []),
                              (None, request(0, url=nowhere) + request(1, url="http://name.invalid/x"), [])):
        result = run(eddy, base, lines, "--max-attempts", "2", "--retry-base", "1ms", *more)
        check(result.code == 75 and "\nstopped: no server can be reached\n" in result.err, base, result)
        check("\nto resume: eddy batch" in result.err, result)
        check(len(lines_of(eddy.file("out.errors.jsonl"))) >= 1, base, result)
        os.remove(eddy.file("out.errors.jsonl"))
    result = run(eddy, nowhere, requests(1), "--max-attempts", "1", "--summary", "json")
    summary = json.loads(result.err.splitlines()[-1])
    equal((summary["status"], summary["x_eddy"]["stopped"], summary["x_eddy"]["exit_code"]),
          ("expired", "unreached", 75), result)
    # One host that answers is enough.
    result = run(eddy, None, request(0, url=nowhere) + request(1, url=api.url + "/x"), "--max-attempts", "1")
    check(result.code == 1 and "to retry: eddy batch" in result.err, result)


@claim
def the_first_message_of_each_status_is_in_the_summary_but_no_key(eddy):
    def answer(call):
        return {"r0": (400, {}, {"error": {"message": "no model \"m\"\x1b[2J"}}),
                "r1": (400, {}, {"error": {"message": "another"}}),
                "r2": (404, {}, {"detail": [1]}),
                "r3": (422, {}, {"error": "key sk-1234 is wrong"}),
                "r4": (403, {}, b"<html>")}.get(call.id, (200, {}, {}))

    key = {**os.environ, "KEY": "sk-1234"}
    result = small(run(eddy, Api(eddy, answer).url, requests(6), "-c", "1", "--api-key-env", "KEY", env=key))
    check('\n1 failed: 400, such as: no model "m"?[2J\n1 failed: 400, such as: another\n1 failed: 404, such as: [1]\n'
          "2 failed: 2 other causes, see eddy report " in result.err, result)
    check("sk-1234" not in result.err and "422, such" not in result.err and "403, such" not in result.err, result)
    check("\nanswers in " in result.err and ": 1 of 6; failures in " in result.err, result)
    check("\nto retry: eddy batch " in result.err, result)
    os.remove(eddy.file("out.jsonl"))
    summary = json.loads(run(eddy, Api(eddy, answer).url, requests(6) + "bad\n", "--summary", "json",
                             "-c", "1").err)["x_eddy"]
    equal((summary["reasons"]["400"], summary["reasons"]["404"]), ('no model "m"?[2J', "[1]"))
    check(summary["reasons"]["invalid_request_line"].startswith("line-7: "), summary)


@claim
def a_run_that_failed_only_in_its_lines_is_not_to_be_repeated_as_it_is(eddy):
    api = Api(eddy)
    result = run(eddy, api.url, requests(2) + "bad\n", "--summary", "json")
    equal((result.code, json.loads(result.err)["x_eddy"]["retry_command"]), (1, None))
    result = eddy.run("batch", "-", "--base-url", api.url, stdin=b"bad\n")
    check("invalid_request_line: correct the lines\n" in result.err and "eddy check" not in result.err, result)


@claim
def retry_signs_its_own_messages(eddy):
    path = eddy.file("in.jsonl", requests(1))
    for args in (["-o", eddy.file("out"), "--base-url", "http://h"], ["-o"], []):
        result = eddy.run("retry", path, *args)
        check(result.err.startswith("eddy retry: "), result)


@claim
def many_bad_lines_print_little(eddy):
    result = small(run(eddy, Api(eddy).url, request(0) + "{oops\n" * 20000))
    equal((result.code, len(lines_of(eddy.file("out.errors.jsonl")))), (1, 20000), result)
    result = small(run(eddy, Api(eddy).url, request(0) * 20000))
    check(result.code == 3 and "and 19994 more such lines" in result.err, result)


if __name__ == "__main__":
    e2e.main()
