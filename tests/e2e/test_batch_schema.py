"""test_batch_schema - lines of `eddy batch` are as schema/batch_lines.json says, and what is in them
is valid for OpenAI's own Python package.

The package is not in Debian. To run the cases that need it:

    python3 -m pip install --target FOLDER openai
    PYTHONPATH=FOLDER make check T=batch-schema
"""
import json
import os
import time

import e2e
from batch_api import Api, lines_of, request
from e2e import check, claim, equal

try:
    import jsonschema
except ImportError:
    jsonschema = None
try:
    import openai
    from openai.types import Batch, Completion, CreateEmbeddingResponse
    from openai.types.chat import ChatCompletion
except ImportError:
    openai = None

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schema", "batch_lines.json")


# ---- the judges ----------------------------------------------------------------------------------

def schema_of(kind):
    if not jsonschema:
        raise e2e.Skip("needs the Debian package python3-jsonschema")
    with open(SCHEMA, encoding="utf-8") as file:
        schema = {**json.load(file), "$ref": f"#/$defs/{kind}"}
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def judge(lines, kind):
    """Check lines by the schema."""
    validator = schema_of(kind)
    for line in lines:
        for fault in validator.iter_errors(line):
            raise AssertionError(f"{kind}: {fault.message} at {list(fault.path)}: {line}")


def need_openai():
    if not openai:
        raise e2e.Skip("needs OpenAI's Python package: python3 -m pip install --target FOLDER openai, "
                       "and PYTHONPATH=FOLDER in the environment")


def extras_of(value, path=""):
    """Members that the classes do not have."""
    if isinstance(value, list):
        return [name for item in value for name in extras_of(item, path + "[]")]
    if not isinstance(value, openai.BaseModel):
        return []
    found = [f"{path}.{name}" for name in value.model_extra or {}]
    for name in type(value).model_fields:
        found += extras_of(getattr(value, name), f"{path}.{name}")
    return found


def validate(kind, value, extras=()):
    """Check an object by a class of the package, without any conversion."""
    equal(sorted(set(extras_of(kind.model_validate(value, strict=True)))), sorted(extras), value)


# ---- runs ----------------------------------------------------------------------------------------

def run_lines(eddy, url, lines, *args, command="batch"):
    """Returns the result, the answers and the failures."""
    path, out = eddy.file("in.jsonl", "".join(lines)), eddy.file("out.jsonl")
    result = eddy.run(command, path, "-o", out, "--base-url", url, "--progress", "off",
                      "--retry-base", "1ms", *args)
    return result, lines_of(out), lines_of(eddy.file("out.errors.jsonl"))


def line(custom_id, body, url="/v1/chat/completions", **more):
    return json.dumps({"custom_id": custom_id, "method": "POST", "url": url, "body": body, **more}) + "\n"


def chat(number, **more):
    return {"model": "m", "messages": [{"role": "user", "content": f"question {number}"}], **more}


def embeddings(number, **more):
    return {"model": "m", "input": [f"text {number}", "and another"], **more}


def stream_of(events, end="data: [DONE]\n\n"):
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": "m",
            "service_tier": "default", "system_fingerprint": "fp_1", "obfuscation": "x9"}
    text = "".join(f"data: {json.dumps({**head, **event})}\n\n" for event in events) + end
    return 200, {"Content-Type": "text/event-stream"}, text.encode()


def delta(index=0, reason=None, logprobs=None, **members):
    return {"choices": [{"index": index, "delta": members, "logprobs": logprobs,
                         "finish_reason": reason}], "usage": None}


def logprobs(*tokens):
    return {"content": [{"token": token, "logprob": -0.5, "bytes": list(token.encode()),
                         "top_logprobs": [{"token": token, "logprob": -0.5, "bytes": None}]}
                        for token in tokens], "refusal": None}


USAGE = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13,
                                  "prompt_tokens_details": {"cached_tokens": 2},
                                  "completion_tokens_details": {"reasoning_tokens": 3}}}


def call_of(index, name=None, arguments="", custom_id=None):
    function = {"arguments": arguments, **({"name": name} if name else {})}
    return {"index": index, "function": function,
            **({"id": custom_id, "type": "function"} if custom_id else {})}


# What the servers of the tests answer to streamed requests, by id.
STREAMS = {
    "choices": [delta(0, role="assistant", content="", refusal=None),
                delta(1, role="assistant", content="", refusal=None),
                delta(0, content="A", logprobs=logprobs("A")), delta(1, content="B"),
                delta(0, content="a", logprobs=logprobs("a")), delta(0, reason="stop"),
                delta(1, reason="length"), USAGE],
    "tools": [delta(role="assistant", content=None,
                    tool_calls=[call_of(0, "find", custom_id="call_1")]),
              delta(tool_calls=[call_of(0, arguments='{"a":')]),
              delta(tool_calls=[call_of(0, arguments="1}")]),
              delta(tool_calls=[call_of(1, "add", custom_id="call_2")]),
              delta(tool_calls=[call_of(1, arguments="{}")]), delta(reason="tool_calls"), USAGE],
    "refusal": [delta(role="assistant", content=None, refusal="I "), delta(refusal="cannot"),
                delta(reason="stop"), USAGE],
    "function": [delta(role="assistant", content=None, function_call={"name": "f", "arguments": ""}),
                 delta(function_call={"arguments": "{}"}), delta(reason="function_call")],
}


def failing(eddy, call):
    """Every way to fail, by the id of the request."""
    name = call.id
    if name in STREAMS:
        return stream_of(STREAMS[name])
    if name == "slow":
        time.sleep(3)
    return {
        "refused": (400, {}, {"error": {"message": "no", "type": "invalid_request_error",
                                        "param": None, "code": None}}),
        "words": (200, {"Content-Type": "text/plain"}, b"plain words\n"),
        "bytes": (200, {"x-request-id": "\xff\xfe"}, b"\xff\x00\xfe"),
        "list": (200, {}, b"[1, 2]"),
        "nothing": (200, {"x-request-id": ""}, b""),
        "page": (200, {"Content-Type": "text/html"}, b"<html>busy</html>"),
        "told": (200, {}, {"id": "told", "error": {"message": "no luck", "type": "server_error"}}),
        "gateway": (503, {"Content-Type": "text/html"}, b"<html>down</html>"),
        "cut": b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"a\":",
        "garbage": b"hello, I am not HTTP\r\n\r\n",
        "garbage-chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "closed": b"",
        "cut-stream": stream_of(STREAMS["choices"][:3], end=""),
        "error-stream": stream_of(STREAMS["choices"][:3],
                                  end='data: {"error": {"message": "' + "\u00e9" * 300 + '"}}\n\n'),
    }.get(name, (200, {}, {"id": name}))


FAILED = {
    "refused": 400, "gateway": 503, "slow": "request_timeout", "cut": "stream_truncated",
    "garbage": "invalid_response", "garbage-chunk": "invalid_response",
    "closed": "connection_reset", "cut-stream": "stream_truncated",
    "error-stream": "invalid_response", "unreachable": "connect_error", "nowhere": "dns_error",
    "secret": "tls_error", "huge": "token_estimate_exceeds_limit", "line-2": "invalid_request_line",
    "method": "invalid_request_line", "no-url": "invalid_request_line",
    "page": "answer_not_json", "told": "answer_has_error",
}
REASONS = {
    "garbage": "the peer's message is not valid HTTP: "
               "the version is not HTTP/1.1 or another HTTP/1",
    "garbage-chunk": "the peer's message is not valid HTTP: "
                     "a chunk's size is not a plain hexadecimal number",
}
ANSWERED = ["words", "bytes", "list", "nothing", "other", "absolute", "choices", "tools", "refusal",
            "function", "\u00e9\u4e16\U0001f30a", 'q"\\\n\x7f']


def every_kind(eddy, api):
    streams = [name for name in (*STREAMS, "cut-stream", "error-stream")]
    other = ["words", "bytes", "nothing"]
    plain = ["refused", "gateway", "page", "told", "slow", "cut", "garbage", "garbage-chunk", "closed",
             *(name for name in ANSWERED if name not in STREAMS and name not in other and name != "absolute")]
    lines = [line("absolute", {"id": "absolute"}, api.url + "/v1/x", headers={"X-A": "b"},
                  metadata={"row": 5, "tags": ["a", None]}),
             "{this is no JSON\n",
             '{"custom_id":"method","method":5,"url":"/v1/x","body":{}}\n',
             '{"custom_id":"no-url","body":{}}\n',
             line("unreachable", {}, f"http://127.0.0.1:{e2e.free_port()}/"),
             line("nowhere", {}, "http://name.invalid/"),
             line("secret", {}, eddy.mock("--tls")),
             line("huge", {"max_tokens": 9000000})]
    lines += [line(name, {"id": name, "stream": True}) for name in streams]
    lines += [line(name, {"id": name}, **({"timeout": 0.3} if name == "slow" else {}))
              for name in plain]
    lines += [line(name, {"id": name}, "/v1/x") for name in other]
    return lines


def every_run(eddy, meta):
    """Run all kinds of requests, and then `eddy retry`; judge the lines of both."""
    kinds = ("answer_with_meta", "failure_with_meta") if meta else ("answer", "failure")
    api = Api(eddy, lambda call: failing(eddy, call))
    lines = every_kind(eddy, api)
    for command in ("batch", "retry"):
        result, answers, failures = run_lines(
            eddy, api.url, lines, "--max-attempts", "2", "--tpm", "1M",
            *([] if meta else ["--no-meta"]), command=command)
        equal(result.code, 1, result)
        judge(answers, kinds[0])
        judge(failures, kinds[1])
        equal({item["custom_id"]: item["error"]["code"] if item["error"] else
               item["response"]["status_code"] for item in failures}, FAILED, result)
        equal({item["custom_id"]: item["error"]["message"] for item in failures
               if item["custom_id"].startswith("garbage")}, REASONS, result)
        equal(sorted(item["custom_id"] for item in answers), sorted(ANSWERED), result)
    return {item["custom_id"]: item["response"]["body"] for item in answers}


# ---- the schema ----------------------------------------------------------------------------------

@claim
def every_answer_and_failure_is_as_the_schema_says(eddy):
    bodies = every_run(eddy, meta=True)
    equal(bodies["list"], {"_json": [1, 2]})
    equal(bodies["choices"]["choices"][0]["message"]["content"], "Aa")
    check("obfuscation" not in bodies["choices"], bodies["choices"])
    equal([call["function"]["arguments"] for call in
           bodies["tools"]["choices"][0]["message"]["tool_calls"]], ['{"a":1}', "{}"])


@claim
def without_meta_lines_have_only_openais_members(eddy):
    every_run(eddy, meta=False)


@claim
def lines_of_a_run_that_was_stopped_are_as_the_schema_says(eddy):
    mock = eddy.mock("--latency", "uniform:1ms:100ms", "--error-rate", "20%", "--truncate", "20%")
    lines = [line(f"c{i}", chat(i, stream=i % 2 == 0)) for i in range(2000)]
    result, answers, failures = run_lines(eddy, mock, lines, "--deadline", "2s", "--max-attempts", "1",
                                          "-c", "8", "--ramp", "0s")
    equal(result.code, 75, result)
    check(answers and failures and len(answers) + len(failures) < 2000, result)
    judge(answers, "answer_with_meta")
    judge(failures, "failure_with_meta")


@claim
def the_schema_refuses_a_text_that_is_not_a_line(eddy):
    good = {"id": "batch_req_" + "0" * 24, "custom_id": "a", "error": None,
            "response": {"status_code": 200, "request_id": "r", "body": {}}}
    bad = {**good, "response": None, "error": {"code": "cancelled", "message": "m"}}
    judge([good], "answer")
    judge([bad], "failure")
    for kind, wrong in (("answer", bad), ("failure", good), ("answer", {**good, "x_meta": {}}),
                        ("answer_with_meta", good), ("answer", {**good, "more": 1}),
                        ("answer", {**good, "response": {**good["response"], "body": "text"}}),
                        ("failure", {**bad, "error": "text"}),
                        ("failure", {**bad, "error": None}),
                        ("failure", {**bad, "response": good["response"]}),
                        ("answer", {key: good[key] for key in good if key != "error"})):
        check(not schema_of(kind).is_valid(wrong), kind, wrong)


# ---- OpenAI's package ----------------------------------------------------------------------------

@claim
def answers_of_the_mock_are_objects_of_openais_package(eddy):
    need_openai()
    mock = eddy.mock("--error-rate", "20%")
    lines = [line(f"e{i}", embeddings(i), "/v1/embeddings") for i in range(50)]
    lines += [line(f"c{i}", chat(i, n=1 + i % 3)) for i in range(50)]
    lines += [line(f"s{i}", chat(i, n=1 + i % 3, stream=True,
                                 stream_options={"include_usage": i % 2 == 0})) for i in range(50)]
    result, answers, _ = run_lines(eddy, mock, lines, "--max-attempts", "20")
    equal((result.code, len(answers)), (0, 150), result)
    plain = {}
    for item in answers:
        name, body = item["custom_id"], item["response"]["body"]
        validate(CreateEmbeddingResponse if name[0] == "e" else ChatCompletion, body)
        if name[0] != "e":
            plain.setdefault(name[1:], []).append([choice["message"]["content"]
                                                   for choice in body["choices"]])
    for number, (one, other) in plain.items():
        equal(one, other, "streamed and not", number)


@claim
def assembled_streams_are_objects_of_openais_package(eddy):
    need_openai()
    text = [{"object": "text_completion", "choices": [{"index": 0, "text": part, "logprobs": None,
                                                       "finish_reason": reason}]}
            for part, reason in (("one ", None), ("two", None), ("", "stop"))]

    def answer(call):
        return stream_of(STREAMS[call.id] if call.id in STREAMS else text)
    lines = [line(name, {"id": name, "stream": True}) for name in (*STREAMS, "text")]
    result, answers, _ = run_lines(eddy, Api(eddy, answer).url, lines)
    equal((result.code, len(answers)), (0, len(STREAMS) + 1), result)
    bodies = {item["custom_id"]: item["response"]["body"] for item in answers}
    validate(Completion, bodies.pop("text"), extras=[".service_tier"])
    for body in bodies.values():
        validate(ChatCompletion, body)
    choices = bodies["choices"]["choices"]
    equal([item["token"] for item in choices[0]["logprobs"]["content"]], ["A", "a"])
    equal(([choice["finish_reason"] for choice in choices], choices[1]["logprobs"]),
          (["stop", "length"], None))
    equal(bodies["refusal"]["choices"][0]["message"],
          {"role": "assistant", "content": None, "refusal": "I cannot"})


@claim
def summaries_are_batches_of_openais_package(eddy):
    need_openai()
    ends = {0: "completed", 1: "completed", 5: "failed", 75: "expired"}
    wrong = ["r3"]
    api = Api(eddy, lambda call: (time.sleep(0.01), (400, {}, {}) if call.id in wrong else
                                  stream_of(STREAMS["choices"]))[1])
    lines = [request(i, body={"id": f"r{i}", "stream": True}) for i in range(200)]
    for code, args in ((75, ["--deadline", "1s", "-c", "1"]), (5, ["--max-errors", "0", "-c", "1"]),
                       (1, []), (0, [])):
        if code == 0:
            wrong.clear()
        result, answers, failures = run_lines(eddy, api.url, lines, "--summary", "json", *args)
        equal(result.code, code, result)
        summary = json.loads(result.err.splitlines()[-1])
        validate(Batch, summary, extras=[".x_eddy"])
        equal((summary["status"], summary["request_counts"]),
              (ends[code], {"total": len(lines), "completed": len(answers), "failed": len(failures)}),
              result)
        equal([name for name in ("completed_at", "expired_at", "failed_at", "cancelled_at")
               if name in summary], [ends[code] + "_at"])
        if code == 1:
            check(summary["usage"]["input_tokens_details"]["cached_tokens"] > 0, summary)


if __name__ == "__main__":
    e2e.main()
