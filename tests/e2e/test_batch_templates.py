"""test_batch_templates - columns and fields in the URL, the body and the headers of `eddy batch`: what the
server receives, which lines are errors, and that a changed URL is a changed request.
"""
import json
import urllib.parse

import e2e
from batch_api import Api, ids_of, lines_of
from e2e import check, claim, equal

ROWS = 'custom_id,id,term,tenant\na,1,x y&z=1+2#3,acme\nb,"p/q?r",é,\nc,3,,"say ""hi"""\n'


def run(eddy, path, *args, out="out.jsonl", **options):
    return eddy.run("batch", path, "-o", eddy.file(out), "--progress", "off", "--retry-base", "1ms", *args, **options)


def sent(api):
    return sorted((call.method, call.path) for call in api.calls)


@claim
def rows_of_csv_are_requests_without_a_body(eddy):
    api = Api(eddy)
    path = eddy.file("in.csv", ROWS)
    result = run(eddy, path, "--url", api.url + "/items/{{id}}?q={{term}}&t={{tenant}}")
    equal((result.code, sorted(ids_of(eddy.file("out.jsonl")))), (0, ["a", "b", "c"]), result)
    equal(sent(api), [("GET", "/items/1?q=x%20y%26z%3D1%2B2%233&t=acme"), ("GET", "/items/3?q=&t=say%20%22hi%22"),
                      ("GET", "/items/p%2Fq%3Fr?q=%C3%A9&t=")])
    equal([call.raw for call in api.calls], [b"", b"", b""])
    check("content-type" not in api.calls[0].headers, api.calls[0].headers)
    check("use no column" not in result.err, result)


@claim
def method_of_the_option_is_sent_without_a_body(eddy):
    api = Api(eddy)
    path = eddy.file("in.csv", "custom_id,id\na,1\n")
    result = run(eddy, path, "--url", "/items/{{id}}", "--base-url", api.url + "/v2", "-X", "DELETE")
    equal((result.code, sent(api)), (0, [("DELETE", "/v2/items/1")]), result)


@claim
def objects_are_fields_if_the_url_has_places_and_bodies_if_not(eddy):
    api = Api(eddy)
    path = eddy.file("in.jsonl", '{"custom_id":"a","id":1,"term":"x"}\n{"id":"b/c","term":null,"method":"PUT"}\n')
    result = run(eddy, path, "--url", api.url + "/i/{{id}}?q={{term}}")
    equal((result.code, sent(api)), (0, [("GET", "/i/1?q=x"), ("GET", "/i/b%2Fc?q=")]), result)
    equal(sorted(ids_of(eddy.file("out.jsonl"))), ["a", "line-2"])
    result = run(eddy, path, "--url", api.url + "/i", out="bodies.jsonl")
    equal((result.code, api.calls[-1].method), (0, "POST"), result)
    equal(sorted(call.body["term"] or "" for call in api.calls[2:]), ["", "x"])
    result = run(eddy, path, "--url", api.url + "/i/{{id}}", "--body", '{"t":"{{term}}"}', out="both.jsonl")
    equal((result.code, sorted((call.method, call.path, call.raw) for call in api.calls[4:])),
          (0, [("POST", "/i/1", b'{"t":"x"}'), ("POST", "/i/b%2Fc", b'{"t":null}')]), result)


@claim
def headers_take_fields_of_rows_bodies_and_requests(eddy):
    api = Api(eddy)
    header = ["-H", "X-Tenant: t-{{tenant}}", "-H", "X-Plain: p"]
    result = run(eddy, eddy.file("in.csv", "tenant\nacme\n"), "--url", api.url + "/x", *header)
    equal((result.code, api.calls[0].headers["x-tenant"], api.calls[0].headers["x-plain"]), (0, "t-acme", "p"), result)
    result = run(eddy, eddy.file("in.jsonl", '{"tenant":5,"n":1}\n'), "--url", api.url + "/x", *header, out="o2.jsonl")
    equal((result.code, api.calls[1].headers["x-tenant"], api.calls[1].body), (0, "t-5", {"tenant": 5, "n": 1}), result)
    line = '{"custom_id":"a","url":"%s/x","body":{}%s}\n'
    content = line % (api.url, "") + (line % (api.url, ',"headers":{"x-id":"own"}')).replace('"a"', '"b"')
    result = run(eddy, eddy.file("in3.jsonl", content), "-H", "X-Id: {{custom_id}}", out="o3.jsonl")
    equal((result.code, sorted(call.headers["x-id"] for call in api.calls[2:])), (0, ["a", "own"]), result)
    result = run(eddy, eddy.file("in4.csv", "key\nsesame\n"), "--url", api.url + "/x", "-H",
                 "Authorization: Bearer {{key}}", out="o4.jsonl", env={"KEY": "general"})
    equal((result.code, api.calls[-1].headers["authorization"]), (0, "Bearer sesame"), result)


@claim
def values_that_a_place_cannot_have_are_errors_of_their_rows(eddy):
    api = Api(eddy)
    rows = ["custom_id,id,tenant", "empty,,x", "dots,..,x", "dot,.,x", 'line,1,"a\nb"', 'return,1,"a\rb"', "good,1,x",
            "long," + "/" * 22000 + ",x"]
    path = eddy.file("in.csv", ("\n".join(rows) + "\nnul,1,a\0b\n").encode() + b"latin,\xe9,x\n")
    args = ["--url", api.url + "/i/{{id}}", "-H", "X-Tenant: {{tenant}}"]
    result = run(eddy, path, *args)
    equal((result.code, [call.path for call in api.calls]), (1, ["/i/1"]), result)
    messages = {line["custom_id"]: line["error"]["message"] for line in lines_of(eddy.file("out.errors.jsonl"))}
    for name, words in (("empty", '"id" is empty, and the path of the URL has {{id}}'), ("dots", '"..", which means'),
                        ("dot", "means another path"), ("line", '"tenant" has a line feed'),
                        ("return", "control character"), ("nul", "control character"),
                        ("latin", "convert the input to UTF-8"), ("long", "at most 65536 are possible")):
        check(words in messages[name], name, messages)
    result = eddy.run("check", path, *args)
    equal((result.code, "bad lines       8" in result.out), (1, True), result)


@claim
def column_that_is_not_there_is_refused_before_anything_is_sent(eddy):
    api = Api(eddy)
    path = eddy.file("in.csv", "custom_id,id\na,1\n")
    for args, user in ((["--url", api.url + "/{{nope}}"], "--url"), (["--url", api.url + "/?q={{nope}}"], "--url"),
                       (["--url", api.url + "/{{id}}", "-H", "X-T: {{nope}}"], "-H X-T")):
        for command in ("batch", "check"):
            e2e.one_line(eddy.run(command, path, *args), 3, f'row 1: no column "nope", which {user} has')
    e2e.one_line(eddy.run("batch", path, "--url", api.url + "/x"), 2, "CSV needs --url, and the columns as {{name}}")
    equal(api.calls, [])


@claim
def changed_url_or_header_is_a_changed_request_and_the_same_command_resumes(eddy):
    api = Api(eddy)
    path = eddy.file("in.csv", ROWS)
    args = ["--url", api.url + "/i/{{id}}", "-H", "X-T: {{tenant}}", "--idempotency-header", "Idempotency-Key"]
    result = run(eddy, path, *args, "--limit", "1")
    equal((result.code, len(api.calls)), (0, 1), result)
    result = run(eddy, path, *args)
    equal((result.code, len(api.calls)), (0, 3), result)
    equal(run(eddy, path, *args).code, 0)
    equal((len(api.calls), len({call.headers["idempotency-key"] for call in api.calls})), (3, 3))
    for changed in (["--url", api.url + "/j/{{id}}", "-H", "X-T: {{tenant}}"],
                    ["--url", api.url + "/i/{{id}}", "-H", "X-T: t-{{tenant}}"]):
        result = run(eddy, path, *changed)
        equal((result.code, len(api.calls)), (3, 3), result)
        check("its request has changed since" in result.err and "host of --url is a part" in result.err, result)
        result = eddy.run("check", path, "-o", eddy.file("out.jsonl"), *changed)
        equal(result.code, 3, result)
        check("has an answer, but its request has changed since" in result.out, result)
        equal(result.out.count("the host of --url is a part of each request: give it as before"), 1, result)
    path_only = ["--base-url", api.url, "--url", "/i/{{id}}", "-H", "X-T: {{tenant}}"]
    equal(run(eddy, path, *path_only, out="path.jsonl").code, 0)
    count = len(api.calls)
    equal(run(eddy, path, "--base-url", "http://127.0.0.1:1", *path_only[2:], out="path.jsonl").code, 0)
    result = run(eddy, path, *path_only[:4], "-H", "X-T: t-{{tenant}}", out="path.jsonl")
    check(result.code == 3 and "host of --url" not in result.err and len(api.calls) == count, result)
    result = eddy.run("check", path, "-o", eddy.file("out.jsonl"), *args)
    equal(result.code, 0, result)
    check("answered        3 of them" in result.out, result)
    result = eddy.run("sort", eddy.file("out.jsonl"), "--by", path, "-o", eddy.file("sorted.jsonl"))
    equal((result.code, ids_of(eddy.file("sorted.jsonl"))), (0, ["a", "b", "c"]), result)


@claim
def each_server_of_several_gets_the_path(eddy):
    first, second = Api(eddy), Api(eddy)
    path = eddy.file("in.csv", "id\n" + "".join(f"{i}\n" for i in range(40)))
    result = run(eddy, path, "--url", "/v1/i/{{id}}", "--base-url", first.url, "--base-url", second.url + "/v1",
                 "--id-column", "id", "-c", "4")
    equal(result.code, 0, result)
    equal(sorted(int(urllib.parse.unquote(call.path.rsplit("/", 1)[1])) for call in first.calls + second.calls),
          list(range(40)))
    equal({call.path.rsplit("/", 1)[0] for call in first.calls + second.calls}, {"/v1/i"})


@claim
def api_key_goes_to_the_host_of_the_url(eddy):
    api = Api(eddy)
    key = eddy.file("key", "sesame\n")
    result = run(eddy, eddy.file("in.csv", "id\n1\n"), "--url", api.url + "/{{ id }}", "--api-key-file", key)
    equal((result.code, api.calls[0].headers["authorization"]), (0, "Bearer sesame"), result)


@claim
def header_that_is_filled_in_does_not_hide_that_the_key_is_refused(eddy):
    api = Api(eddy, lambda call: (401, {}, {"error": {"message": "no"}}))
    path = eddy.file("in.csv", "t\n" + "".join(f"{i}\n" for i in range(30)))
    args = ["--url", api.url + "/x", "-c", "1", "--max-errors", "100"]
    result = run(eddy, path, *args, "-H", "X-Tenant: {{t}}")
    equal((result.code, len(api.calls)), (5, 5), result)
    check("wants credentials (401)" in result.err, result)
    result = run(eddy, path, *args, "-H", "Authorization: Bearer {{t}}", out="own.jsonl")
    equal((result.code, len(api.calls)), (1, 35), result)


@claim
def filled_path_decides_if_the_answer_is_that_of_an_api(eddy):
    api = Api(eddy, lambda call: (200, {}, {"error": {"message": "no"}}))
    path = eddy.file("in.csv", "kind,text\nembeddings,x\n")
    args = ["--url", api.url + "/v1/{{kind}}", "--max-attempts", "1"]
    result = run(eddy, path, *args, "--body", '{"input":"{{text}}"}')
    equal((result.code, lines_of(eddy.file("out.errors.jsonl"))[0]["error"]["code"]), (1, "answer_has_error"), result)
    result = run(eddy, path, *args, out="get.jsonl")
    equal(result.code, 0, result)


@claim
def check_counts_the_empty_fields_of_requests_to_send(eddy):
    path = eddy.file("in.csv", "custom_id,review,stars,other\na,x,5,\nb, ,4,\nc,,,y\nd,,,\ne,x,\nf,x,1,\n")
    args = ["--url", "http://h/i?s={{stars}}", "--body", '{"r":"{{review}}","text":"{{stars}}: {{review}}"}']
    result = eddy.run("check", path, *args)
    check("\nempty fields    review 3, stars 2\n" in result.out and result.code == 1, result)
    result = eddy.run("check", path, *args, "--skip-empty")
    check("\nempty fields    review 1\n" in result.out, result)
    out = eddy.file("out.jsonl", "")
    result = eddy.run("check", eddy.file("in.jsonl", '{"a":null,"b":"x"}\n{"a":1,"b":" "}\n{"b":""}\n'), "-o", out, "--url",
                      "http://h/{{b}}", "-H", "X-A: {{a}}")
    check("\nempty fields    a 1, b 1\n" in result.out, result)
    result = eddy.run("check", path, "--url", "http://h/{{custom_id}}")
    check("empty fields" not in result.out, result)


@claim
def check_shows_the_first_request_as_it_is_sent_but_no_secret(eddy):
    api = Api(eddy)
    path, out = eddy.file("in.csv", 'custom_id,id,term\na,p/q,x y\nb,2,"l1\nl2"\n'), eddy.file("out.jsonl")
    url = "http://user:SECRET@h/items/{{id}}?key=SECRET&q={{term}}&SECRET"
    args = ["--url", url, "-H", "X-Term: t-{{id}}", "-H", "X-Other: SECRET", "-H", "Api-Key: SECRET{{id}}",
            "--body", '{"t":"{{term}}"}']
    result = eddy.run("check", path, *args)
    equal(result.code, 0, result)
    check("kinds           2 POST http://h/items/{{id}}\n" in result.out, result)
    shown = [line[16:] for line in result.out[result.out.index("first request"):].splitlines()]
    equal(shown, ["POST http://***@h/items/p%2Fq?key=***&q=x%20y&***", "X-Term: t-p/q", "Api-Key: ***", "X-Other: ***",
                  "Content-Type: application/json", '{"t":"x y"}'], result)
    check("SECRET" not in result.out + result.err, result)
    args = ["--url", "/v1/i/{{id}}?q={{term}}", "-H", "X-Term: {{id}}"]
    equal(run(eddy, path, *args, "--base-url", api.url + "/v1", "--limit", "1").code, 0)
    equal(eddy.run("check", path, "-o", out, *args, "--base-url", api.url + "/v1").out.splitlines()[-2:],
          [f"first request   GET {api.url}/v1/i/2?q=l1%0Al2", " " * 16 + "X-Term: 2"])
    equal(run(eddy, path, *args, "--base-url", api.url + "/v1", "-c", "1").code, 0)
    equal([call.path for call in api.calls], ["/v1/i/p%2Fq?q=x%20y", "/v1/i/2?q=l1%0Al2"])
    check("first request" not in eddy.run("check", path, "-o", out, *args, "--base-url", api.url + "/v1").out)
    # The white space of a file of several lines is not shown.
    body = "@" + eddy.file("body.json", '{"a": " {{id}}",\r\n\t"b": [1,\n 2]}\n')
    equal(eddy.run("check", path, "--url", "http://h/", "--body", body).out.splitlines()[-1],
          " " * 16 + '{"a":" p/q","b":[1,2]}')
    line = '{"url":"http://h/x?key=SECRET","headers":{"X-A":"SECRET"},"body":{"long":"%s"}}\n' % ("a" * 3000)
    result = eddy.run("check", eddy.file("in.jsonl", line))
    shown = [line[16:] for line in result.out[result.out.index("first request"):].splitlines()]
    equal(shown[:3], ["POST http://h/x?***", "X-A: ***", "Content-Type: application/json"], result)
    check(len(shown[3]) == 2003 and shown[3].endswith("aaa..."), shown[3])


ROWS_WITH_GAPS = "custom_id,id,term\na,1,x\nb,,\n,,\nc, ,\"\n\t\"\nd,2,\ne,,y\n"


@claim
def lines_whose_fields_are_all_empty_are_left_out_and_counted(eddy):
    api = Api(eddy)
    path = eddy.file("in.csv", ROWS_WITH_GAPS)
    args = ["--url", api.url + "/?i={{id}}", "-H", "X-Term: {{term}}", "--skip-empty"]
    result = run(eddy, path, *args)
    equal((result.code, sent(api)), (0, [("GET", "/?i="), ("GET", "/?i=1"), ("GET", "/?i=2")]), result)
    check("\n3 skipped: empty; " in result.err and "answers in " + eddy.file("out.jsonl: 3\n") in result.err, result)
    result = run(eddy, path, *args, "--summary", "json")
    summary = json.loads(result.err[result.err.index("{"):])
    equal((result.code, len(api.calls), summary["x_eddy"]["skipped_empty"]), (0, 3, 3), result)
    equal(summary["request_counts"], {"total": 3, "completed": 3, "failed": 0})
    result = eddy.run("check", path, "-o", eddy.file("out.jsonl"), *args)
    check("requests        3\nskipped         3 empty rows\n" in result.out and result.code == 0, result)
    with open(path, "rb") as rows:
        data = rows.read()
    result = run(eddy, "-", "--format", "csv", *args, out="pipe.jsonl", stdin=data)
    equal((result.code, len(lines_of(eddy.file("pipe.jsonl")))), (0, 3), result)


@claim
def objects_are_left_out_if_their_fields_are_null_empty_or_blank(eddy):
    api = Api(eddy)
    lines = ['{"t":null,"more":1}', '{"t":""}', '{"t":" \\n"}', '{"t":0}', '{"t":false}', '{"more":1}', '{"t":[]}']
    path = eddy.file("in.jsonl", "".join(line + "\n" for line in lines))
    result = run(eddy, path, "--url", api.url + "/", "--body", '{"t":"{{t}}"}', "--skip-empty", "--limit", "2")
    equal((result.code, [call.body["t"] for call in api.calls]), (0, [0, False]), result)
    result = run(eddy, path, "--url", api.url + "/", "--body", '{"t":"{{t}}"}', "--skip-empty")
    equal((result.code, [call.body["t"] for call in api.calls[2:]]), (1, [[]]), result)
    check('the line has no field "t"' in result.err and "\n3 skipped: empty; " in result.err, result)


@claim
def error_of_an_earlier_run_is_removed_and_an_answer_kept_if_the_line_is_left_out(eddy):
    api = Api(eddy)
    args = ["--url", api.url + "/{{id}}", "-H", "X-Term: {{term}}"]
    path, out = eddy.file("in.csv", "custom_id,id,term\na,1,x\nb,,\n"), eddy.file("out.jsonl")
    equal((run(eddy, path, *args).code, ids_of(eddy.file("out.errors.jsonl"))), (1, ["b"]))
    result = run(eddy, path, *args, "--skip-empty")
    equal((result.code, lines_of(eddy.file("out.errors.jsonl"))), (0, []), result)
    eddy.file("in.csv", "custom_id,id,term\na,,\nb,,\nc,3,\n")
    result = run(eddy, path, *args, "--skip-empty", "--accept-failed-ids", eddy.file("ids", "b\n"), "--ordered")
    equal((result.code, sorted(ids_of(out))), (0, ["a", "c"]), result)
    check("ids is not in" not in result.err, result)
    check("an id that" not in result.err and "\n1 skipped: empty; " in result.err, result)
    eddy.file("in.csv", "custom_id,id,term\nb,,\nb,4,\n")
    for command in ("batch", "check"):
        result = eddy.run(command, path, "-o", out, *args, "--skip-empty")
        check(result.code == 3 and "ids must differ" in result.err + result.out, result)


@claim
def input_of_only_empty_lines_is_done_and_the_option_needs_a_field(eddy):
    api = Api(eddy)
    path = eddy.file("in.csv", "custom_id,id\na,\nb,\n")
    result = run(eddy, path, "--url", api.url + "/{{id}}", "--skip-empty")
    equal((result.code, api.calls), (0, []), result)
    check("2 skipped: empty" in result.err and "no request" not in result.err, result)
    equal(eddy.run("check", path, "--url", api.url + "/{{id}}", "--skip-empty").code, 0)
    for command in ("batch", "check"):
        e2e.one_line(eddy.run(command, eddy.file("in.jsonl", "{}\n"), "--url", api.url, "--skip-empty"), 2,
                     "--skip-empty leaves out lines", "write a field as {{name}}")


if __name__ == "__main__":
    e2e.main()
