"""test_batch_vendor_lines - `eddy batch` and its companions with lines of Anthropic's and Gemini's batch files.
"""
import gzip
import json

import e2e
from batch_api import Api, ids_of, lines_of
from e2e import check, claim, equal

GEMINI_PATH = "/v1beta/models/m:generateContent"


def anthropic(number, **more):
    return json.dumps({"custom_id": f"a{number}", "params": {
        "id": f"a{number}", "model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}, **more}) + "\n"


def gemini(number, **more):
    return json.dumps({"key": f"g{number}", "request": {
        "id": f"g{number}", "contents": [{"parts": [{"text": "x"}]}],
        "generation_config": {"max_output_tokens": 5}}, **more}) + "\n"


def text_of(line, count):
    return "".join(line(i) for i in range(count))


def run(eddy, text, *options, command="batch", name="in.jsonl"):
    return eddy.run(command, eddy.file(name, text), "-o", eddy.file("out.jsonl"), "-c", "2", "--ramp", "1ms",
                    "--retry-base", "1ms", "--progress", "off", *options)


@claim
def lines_of_anthropic_are_sent_as_messages_with_the_version(eddy):
    api = Api(eddy)
    text = anthropic(0) + anthropic(1, headers={"Anthropic-Version": "2024-01-01"}) + anthropic(2)
    result = run(eddy, text, "--base-url", api.url, "--api-key-file", eddy.file("key", "secret\n"),
                 "--api-key-header", "x-api-key")
    equal(result.code, 0, result)
    equal({call.path for call in api.calls}, {"/v1/messages"})
    calls = sorted(api.calls, key=lambda call: call.id)
    equal([call.headers["anthropic-version"] for call in calls], ["2023-06-01", "2024-01-01", "2023-06-01"])
    equal([call.headers["x-api-key"] for call in calls], ["secret"] * 3)
    equal([call.body for call in calls], [json.loads(line)["params"] for line in text.splitlines()])
    check(all("authorization" not in call.headers for call in calls), calls)
    equal(sorted(ids_of(eddy.file("out.jsonl"))), ["a0", "a1", "a2"])
    # All have their answers; the version is not a part of the request.
    equal(run(eddy, text, "--base-url", api.url, "-H", "anthropic-version: 2025-01-01").code, 0)
    equal(len(api.calls), 3)
    # A new line, with another version and another URL.
    result = run(eddy, text + anthropic(3), "--url", api.url + "/v1/messages?beta=true", "-H",
                 "anthropic-version: 2025-01-01", "--on-changed", "send", "--limit", "9")
    equal(result.code, 0, result)
    equal({(call.path, call.headers["anthropic-version"]) for call in api.calls[3:]},
          {("/v1/messages?beta=true", "2025-01-01"), ("/v1/messages?beta=true", "2024-01-01")})


@claim
def lines_of_gemini_are_sent_to_the_url(eddy):
    api = Api(eddy)
    text = text_of(gemini, 3)
    result = run(eddy, text)
    equal(result.code, 3, result)
    check("line 1: the line has no URL, like all of Gemini's batch files: give --url https://generativelanguage."
          "googleapis.com/v1beta/models/MODEL:generateContent" in result.err, result)
    equal(run(eddy, text, "--url", GEMINI_PATH, "--base-url", api.url, "-c", "1").code, 0)
    equal({call.path for call in api.calls}, {GEMINI_PATH})
    equal([call.body for call in api.calls], [json.loads(line)["request"] for line in text.splitlines()])
    check(all("anthropic-version" not in call.headers for call in api.calls), api.calls)
    equal(sorted(ids_of(eddy.file("out.jsonl"))), ["g0", "g1", "g2"])
    equal(run(eddy, text + gemini(3), "--url", GEMINI_PATH, "--base-url", api.url).code, 0)
    equal(api.ids(), ["g0", "g1", "g2", "g3"])


@claim
def lines_come_from_gzip_and_a_pipe_and_may_be_mixed(eddy):
    api = Api(eddy)
    text = gemini(0) + anthropic(1) + gemini(2)
    path = eddy.file("in.jsonl.gz", gzip.compress(text.encode()))
    out = eddy.file("gz.jsonl")
    equal(eddy.run("batch", path, "-o", out, "--url", api.url + "/x", "--progress", "off").code, 0)
    equal(sorted(ids_of(out)), ["a1", "g0", "g2"])
    out = eddy.file("pipe.jsonl")
    result = eddy.run("batch", "-", "-o", out, "--url", api.url + "/x", "--ordered", "--progress", "off",
                      stdin=text.encode() + gemini(0).encode())
    equal(result.code, 1, result)
    equal(ids_of(out), ["g0", "a1", "g2"])
    equal([line["error"]["code"] for line in lines_of(eddy.file("pipe.errors.jsonl"))], ["invalid_request_line"])


@claim
def check_sort_retry_and_report_know_the_lines(eddy):
    fails = {"g1", "a1"}
    api = Api(eddy, lambda call: (400 if call.id in fails else 200, {}, {"echo": call.id}))
    for line, last in ((gemini, "/v1/models/m:generateContent"), (anthropic, "/v1/messages")):
        text = text_of(line, 3) + '{"key":"g9","request":5}\n'
        name = line.__name__ + ".jsonl"
        path, out, url = eddy.file(name, text), eddy.file("out-" + name), api.url + last
        result = eddy.run("check", path, "--url", url)
        equal(result.code, 0, result)
        check("requests        4" in result.out and f"POST {url}" in result.out, result)
        text = text_of(line, 3)
        path = eddy.file(name, text)
        result = eddy.run("batch", path, "-o", out, "--url", url, "--progress", "off")
        equal(result.code, 1, result)
        fails.clear()
        result = eddy.run("retry", path, "-o", out, "--url", url, "--progress", "off")
        equal(result.code, 0, result)
        result = eddy.run("check", path, "-o", out, "--url", url)
        check("answered        3" in result.out, result)
        result = eddy.run("sort", out, "--by", path, "-o", eddy.file("sorted-" + name))
        equal(result.code, 0, result)
        equal(ids_of(eddy.file("sorted-" + name)), [f"{line.__name__[0]}{i}" for i in range(3)])
        result = eddy.run("report", out, "-o", eddy.file(line.__name__ + ".html"))
        equal(result.code, 0, result)
        fails.update({"a1"})
    equal(len(api.calls), 8)


@claim
def check_counts_the_tokens_of_gemini_and_the_ids(eddy):
    path = eddy.file("in.jsonl", gemini(0) + gemini(1) + gemini(0))
    result = eddy.run("check", path, "--url", "https://h/v1/models/m:generateContent")
    equal(result.code, 3, result)
    check('line 3: custom_id "g0"' in result.out and "at most 10 of output" in result.out, result)


@claim
def refused_key_is_explained_by_its_header(eddy):
    api = Api(eddy, lambda call: (401, {}, {"type": "error", "error": {"type": "authentication_error"}}))
    text = text_of(anthropic, 9)
    where = "Anthropic takes the key in another header: give "
    for options, remedy in (
            (["--api-key-env", "EDDY_TEST_KEY"], f"refuses the API key (401): {where}--api-key-header x-api-key\n"),
            (["--api-key-env", "EDDY_TEST_KEY", "--api-key-header", "X-Api-Key"], "(401): check --api-key-env"),
            (["--api-key-command", "echo $$"], f"did not help: {where}--api-key-header x-api-key\n"),
            (["--api-key-command", "echo $$", "--api-key-header", "x-api-key"], "did not help\n"),
            ([], f"wants credentials (401): {where}--api-key-env or --api-key-file, and --api-key-header x-api-key\n")):
        result = eddy.run("batch", eddy.file("in.jsonl", text), "--base-url", api.url, "-c", "1", "--progress", "off",
                          *options, env={"EDDY_TEST_KEY": "secret"})
        equal(result.code, 5, result)
        check(remedy in result.err, result)


@claim
def line_without_a_host_names_that_of_the_vendor(eddy):
    result = run(eddy, anthropic(0))
    equal(result.code, 3, result)
    check("line 1: the line is one of Anthropic's Message Batches, without a host: give --base-url, such as "
          "--base-url https://api.anthropic.com" in result.err, result)


if __name__ == "__main__":
    e2e.main()
