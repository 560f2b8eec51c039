"""test_batch_answers - `eddy batch` and the answers of servers whose streams, codings, limits, clocks
and closes differ from those of OpenAI.
"""
import concurrent.futures
import email.utils
import gzip
import json
import os
import socket
import struct
import time

import e2e
from batch_api import Api, lines_of, request, requests
from e2e import check, claim, equal


def batch(eddy, api, content, *args, **options):
    """Run requests; returns the result, the answers and the errors."""
    out = eddy.file("out.jsonl")
    result = eddy.run("batch", eddy.file("in.jsonl", content), "-o", out, "--base-url", api.url,
                      "--progress", "off", "--retry-base", "1ms", *args, **options)
    return result, lines_of(out), lines_of(eddy.file("out.errors.jsonl"))


def streams(count):
    return "".join(request(i, body={"id": f"r{i}", "stream": True}) for i in range(count))


def events(*items):
    """A stream of server-sent events; a str is sent as it is."""
    return "".join(f"data: {item if isinstance(item, str) else json.dumps(item)}\n\n"
                   for item in items).encode()


STREAM = {"Content-Type": "text/event-stream"}


# ---- messages ------------------------------------------------------------------------------------

@claim
def error_of_a_stream_is_in_the_message_and_no_other_byte(eddy):
    report = {"message": "overloaded", "n": 1}
    api = Api(eddy, lambda call: (200, STREAM, events({"error": report})))
    # New memory is full of bytes that are not NUL.
    result, answers, errors = batch(eddy, api, streams(20), "--max-attempts", "1",
                                    env={**os.environ, "MALLOC_PERTURB_": "165"})
    equal((result.code, len(answers), len(errors)), (1, 0, 20), result)
    for line in errors:
        equal(line["error"]["message"], "the stream reported an error: " + json.dumps(report))


# ---- the end of a stream -------------------------------------------------------------------------

def chunk(text, reason=None, index=0):
    return {"choices": [{"index": index, "delta": {"content": text}, "finish_reason": reason}]}


RESPONSE = {"id": "r", "status": "completed", "usage": {"input_tokens": 2, "output_tokens": 3}}
# The streams of each vendor, to the last byte that counts, and what the answer then has.
WHOLE = {
    "chat": (events(chunk("a"), chunk("b", "stop"), "[DONE]"), '"content":"ab"'),
    "responses": (events({"type": "response.created", "response": {"id": "r", "status": "in_progress"}},
                         {"type": "response.completed", "response": RESPONSE}), '"status":"completed"'),
    "messages": (events({"type": "message_start", "message": {"id": "m", "content": []}},
                        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
                        {"type": "message_stop"}), '"stop_reason":"end_turn"'),
    "cohere": (events({"type": "message-start", "id": "c", "delta": {"message": {"role": "assistant"}}},
                      {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}),
               '"finish_reason":"COMPLETE"'),
    "ollama": (b'{"response":"a","done":false}\n{"response":"b","done":true}\n', '"response":"ab"'),
    "gemini": (events({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}),
               '"finishReason":"STOP"'),
}


class Raw(Api):
    """Sends the bytes of answer(call), and then what after(connection) does."""

    def __init__(self, eddy, answer, after):
        super().__init__(eddy, answer)
        self.after = after

    def handle(self, connection, number):
        super().handle(connection, number)
        self.after(connection)


def chunked(data, more=""):
    """The head of a body of chunks, and one chunk: the body has not ended."""
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n" + \
        more.encode() + b"\r\n%x\r\n%s\r\n" % (len(data), data)


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@claim
def answer_is_complete_at_the_end_of_its_stream_though_the_body_never_ends(eddy):
    for vendor, (data, has) in WHOLE.items():
        api = Raw(eddy, lambda call, data=data: chunked(data), e2e.until_closed)
        out = eddy.file(vendor)
        result = eddy.run("batch", eddy.file("in.jsonl", streams(3)), "-o", out, "--base-url", api.url)
        equal((result.code, len(lines_of(out)), len(api.calls)), (0, 3, 3), vendor, result)
        check(result.seconds < e2e.SOON + (10 if vendor == "gemini" else 0), vendor, result)
        for line in lines_of(out):
            check(has in json.dumps(line["response"]["body"], separators=(",", ":")), vendor, line)


@claim
def answer_is_complete_at_the_finish_reason_though_the_body_never_ends_or_breaks(eddy):
    data = events(chunk("a"), chunk("b", "stop"))
    for after in (e2e.until_closed, reset, lambda connection: None):
        api = Raw(eddy, lambda call: chunked(data), after)
        out = eddy.file(f"out-{api.server.port}")
        result = eddy.run("batch", eddy.file("in.jsonl", streams(2)), "-o", out, "--base-url", api.url)
        equal((result.code, len(lines_of(out)), len(api.calls)), (0, 2, 2), result)
        check(result.seconds < e2e.LIMIT_S / 4, result)


@claim
def answer_with_fewer_choices_than_asked_for_is_not_complete(eddy):
    def answer(call):
        if call.number < 2:
            return chunked(events(chunk("a", "stop")))
        return chunked(events(chunk("a", "stop"), chunk("b", "stop", index=1)))
    api = Raw(eddy, answer, reset)
    content = request(0, body={"id": "r0", "stream": True, "n": 2})
    result, answers, _ = batch(eddy, api, content)
    equal((result.code, len(api.calls)), (0, 3), result)
    equal(len(answers[0]["response"]["body"]["choices"]), 2)


@claim
def connection_is_kept_if_the_body_ends_with_the_stream(eddy):
    api = Api(eddy, lambda call: (200, STREAM, WHOLE["chat"][0]))
    result, answers, _ = batch(eddy, api, streams(20), "-c", "1")
    equal((result.code, len(answers), api.server.count), (0, 20, 1), result)


@claim
def truncated_stream_is_found_under_any_content_type(eddy):
    for kind in ("text/event-stream", "application/json", "text/plain; charset=utf-8"):
        for data in (events(chunk("a")), b'{"choices":[{"message":{"content":"a', b""):
            def answer(call, kind=kind, data=data):
                return 200, {"Content-Type": kind}, data if call.number == 0 else WHOLE["chat"][0]
            api = Api(eddy, answer)
            out = eddy.file(f"out-{api.server.port}")
            result = eddy.run("batch", eddy.file("in.jsonl", streams(1)), "-o", out, "--base-url", api.url,
                              "--retry-base", "1ms")
            equal((result.code, len(api.calls)), (0, 2), kind, data, result)
            equal(lines_of(out)[0]["response"]["body"]["choices"][0]["message"]["content"], "ab")


@claim
def streams_without_a_member_stream_are_known_by_their_url(eddy):
    streaming = {"/api/generate": WHOLE["ollama"], "/v1beta/models/m:streamGenerateContent": WHOLE["gemini"]}
    api = Api(eddy, lambda call: (200, {}, streaming[call.path][0]))
    content = "".join(request(i, url=url) for i, url in enumerate(streaming))
    result, answers, _ = batch(eddy, api, content)
    equal((result.code, len(answers)), (0, 2), result)
    for line, (_, has) in zip(sorted(answers, key=lambda line: line["custom_id"]), streaming.values()):
        check(has in json.dumps(line["response"]["body"], separators=(",", ":")), line)


@claim
def messages_about_streams_name_the_stream(eddy):
    for data, code, words in ((events("<html>"), "invalid_response", "an event of the stream is not valid"),
                              (b"", "stream_truncated", "the answer is an empty stream"),
                              (events(chunk("a")), "stream_truncated", "the stream ended before"),
                              (events({"a": 1}, "[DONE]"), "invalid_response", "of an unknown kind")):
        api = Api(eddy, lambda call, data=data: (200, STREAM, data))
        out = eddy.file(f"out-{api.server.port}")
        eddy.run("batch", eddy.file("in.jsonl", streams(1)), "-o", out, "--base-url", api.url,
                 "--max-attempts", "1")
        error = lines_of(out + ".errors.jsonl")[0]["error"]
        equal(error["code"], code, error)
        check(words in error["message"] and "HTTP" not in error["message"], error)


# ---- codings -------------------------------------------------------------------------------------

USAGE = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
GZIP = {"Content-Encoding": "gzip"}


@claim
def gzip_that_was_not_asked_for_is_unpacked_and_its_tokens_count(eddy):
    def answer(call):
        check("accept-encoding" not in call.headers, call.headers)
        if call.body.get("stream"):
            data = WHOLE["chat"][0]
        else:
            data = json.dumps({**USAGE, "pad": "x" * 100000}).encode()
        return 200, {**GZIP, **(STREAM if call.body.get("stream") else {})}, gzip.compress(data)
    content = "".join(request(i, body={"id": f"r{i}", "stream": i == 3}) for i in range(4))
    result, answers, _ = batch(eddy, Api(eddy, answer), content)
    equal((result.code, len(answers)), (0, 4), result)
    for line in answers:
        equal(list(line["response"]["body"])[0], "choices", line)
        if line["custom_id"] != "r3":
            equal((line["x_meta"]["input_tokens"], line["x_meta"]["output_tokens"]), (3, 2), line)


@claim
def content_encoding_that_is_not_true_changes_nothing(eddy):
    for coding in ("gzip", "utf-8", "identity", ""):
        api = Api(eddy, lambda call, coding=coding: (200, {"Content-Encoding": coding}, USAGE))
        out = eddy.file("out-" + coding)
        result = eddy.run("batch", eddy.file("in.jsonl", requests(1)), "-o", out, "--base-url", api.url)
        equal(lines_of(out)[0]["response"]["body"], USAGE, coding, result)


@claim
def quota_in_a_compressed_answer_or_a_stream_ends_the_run(eddy):
    error = {"error": {"message": "no", "code": "insufficient_quota"}}
    for status, headers, data in ((429, GZIP, gzip.compress(json.dumps(error).encode())),
                                  (429, {}, b"\xef\xbb\xbf" + json.dumps(error).encode()),
                                  (200, STREAM, events(error))):
        api = Api(eddy, lambda call, answer=(status, headers, data): answer)
        result = eddy.run("batch", eddy.file("in.jsonl", streams(9)), "-o", eddy.file("o"), "-c", "1",
                          "--base-url", api.url)
        equal((result.code, len(api.calls)), (5, 1), status, headers, result)
        check("insufficient_quota" in result.err, result)


@claim
def damaged_or_truncated_gzip_is_a_failure(eddy):
    whole = gzip.compress(json.dumps(USAGE).encode())
    for data in (whole[:-4], whole[:12], whole[:14] + b"\xff\xff\xff" + whole[17:]):
        api = Api(eddy, lambda call, data=data: (200, GZIP, data))
        out = eddy.file(f"out-{api.server.port}")
        result = eddy.run("batch", eddy.file("in.jsonl", requests(1)), "-o", out, "--base-url", api.url,
                          "--max-attempts", "1")
        equal((result.code, lines_of(out)), (1, []), result)
        equal(lines_of(out + ".errors.jsonl")[0]["error"]["message"],
              "the compressed answer is damaged, or ends early")


@claim
def byte_order_mark_of_an_answer_is_not_part_of_its_json(eddy):
    data = json.dumps(USAGE).encode()
    api = Api(eddy, lambda call: (200, {}, b"\xef\xbb\xbf" + (data if call.id == "r0" else b"text")))
    result, answers, _ = batch(eddy, api, requests(2))
    answers = {line["custom_id"]: line for line in answers}
    equal(answers["r0"]["response"]["body"], USAGE, result)
    equal(answers["r0"]["x_meta"]["input_tokens"], 3)
    equal(answers["r1"]["response"]["body"], {"_text": "\ufefftext"})


# ---- limits and clocks ---------------------------------------------------------------------------

def date(seconds):
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


def resets(seconds, clock=0):
    """Headers of a limit that is used up until then, in each form, by a clock that is ahead."""
    at = time.time() + clock + seconds
    return {"x-ratelimit": {"X-RateLimit-Limit": 100, "X-RateLimit-Remaining": 0, "X-RateLimit-Reset": int(at)},
            "ms": {"X-RateLimit-Limit": 100, "X-RateLimit-Remaining": 0, "X-RateLimit-Reset": int(at * 1000)},
            "openai": {"x-ratelimit-limit-requests": 1, "x-ratelimit-remaining-requests": 0,
                       "x-ratelimit-reset-requests": f"{seconds}s"},
            "anthropic": {"anthropic-ratelimit-requests-limit": 1, "anthropic-ratelimit-requests-remaining": 0,
                          "anthropic-ratelimit-requests-reset":
                          time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))},
            "draft": {"RateLimit-Limit": 100, "RateLimit-Remaining": 0, "RateLimit-Reset": seconds}}


def each_reset(function):
    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        for done in [pool.submit(function, form) for form in resets(0)]:
            done.result()


@claim
def limit_in_the_headers_of_a_refusal_is_not_waited_for_longer_than_allowed(eddy):
    path = eddy.file("in.jsonl", requests(3))

    def ends(form, status):
        api = Api(eddy, lambda call: (status, resets(72000)[form], {}))
        out = eddy.file(f"{form}-{status}")
        result = eddy.run("batch", path, "-o", out, "--base-url", api.url, "-c", "1", "--max-throttle-wait", "5s", "--progress", "off", "--retry-base", "1ms")
        equal((result.code, len(api.calls)), (75, 1), form, status, result)
        check("used up for 20h" in result.err or "used up for 19h59m" in result.err, form, result)
        check(result.seconds < e2e.SOON, result)
    each_reset(lambda form: [ends(form, status) for status in (429, 503, 500)])


@claim
def host_whose_limit_is_used_up_for_too_long_does_not_stop_the_others(eddy):
    full, free = Api(eddy, lambda call: (429, resets(72000)["openai"], {})), Api(eddy)
    content = "".join(request(i, url=(full if i % 2 else free).url + "/v1/echo") for i in range(20))
    out = eddy.file("out.jsonl")
    result = eddy.run("batch", eddy.file("in.jsonl", content), "-o", out, "--max-throttle-wait", "5s")
    equal((result.code, len(lines_of(out))), (1, 10), result)
    equal(len(lines_of(eddy.file("out.errors.jsonl"))), 10, result)
    check(result.seconds < e2e.SOON, result)


@claim
def times_of_limits_count_from_the_date_of_the_answer(eddy):
    path = eddy.file("in.jsonl", requests(1))
    for clock in (7200, -7200):
        def waits(form, clock=clock):
            def answer(call):
                if call.number:
                    return 200, {}, {}
                return 429, {"Date": date(clock), **resets(2, clock)[form]}, {}
            api = Api(eddy, answer)
            result = eddy.run("batch", path, "-o", eddy.file(f"{form}-{clock}"), "--base-url", api.url)
            equal((result.code, len(api.calls)), (0, 2), form, clock, result)
            gap = api.calls[1].at - api.calls[0].at
            # Times are in whole seconds.
            check(0.99 <= gap < e2e.SOON, form, clock, gap)
        each_reset(waits)


@claim
def retry_after_takes_precedence_over_the_time_of_a_limit(eddy):
    path = eddy.file("in.jsonl", requests(1))

    def waits(form):
        api = Api(eddy, lambda call: (200, {}, {}) if call.number else
                  (429, {"Retry-After": "1", **resets(72000)[form]}, {}))
        result = eddy.run("batch", path, "-o", eddy.file(form), "--base-url", api.url,
                          "--max-throttle-wait", "5s")
        equal((result.code, len(api.calls)), (0, 2), form, result)
    each_reset(waits)


@claim
def pause_that_headers_ask_for_is_in_the_summary(eddy):
    for status in (200, 429):
        api = Api(eddy, lambda call, status=status: (200, {}, {}) if call.number else
                  (status, resets(1)["openai"], {}))
        result, answers, _ = batch(eddy, api, requests(3), "-c", "1", "--summary", "json")
        equal((result.code, len(answers)), (0, 3), result)
        endpoint, = json.loads(result.err.splitlines()[-1])["x_eddy"]["endpoints"]
        equal(endpoint["pauses"], 1, status, endpoint)
        check(0.99 <= endpoint["paused_s"] < e2e.SOON, status, endpoint)
        os.unlink(eddy.file("out.jsonl"))


@claim
def times_beyond_all_clocks_are_harmless(eddy):
    for reset in ("99999999999999999999", "1e300", "-5", "9223372036854775807"):
        api = Api(eddy, lambda call, reset=reset:
                  (200, {"X-RateLimit-Limit": 9, "X-RateLimit-Remaining": 0, "X-RateLimit-Reset": reset}, {}))
        out = eddy.file(reset)
        result = eddy.run("batch", eddy.file("in.jsonl", requests(1)), "-o", out, "--base-url", api.url)
        check(result.code in (0, 75) and len(lines_of(out)) == 1, reset, result)


if __name__ == "__main__":
    e2e.main()
