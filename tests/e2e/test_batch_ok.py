"""test_batch_ok - which answers `eddy batch` takes for successes, and what becomes of the others: --ok,
--retry-if, errors under a status of success, and the first requests if all get the same refusal.
"""
import json
import os
import threading

import e2e
from batch_api import Api, ids_of, lines_of, request, requests
from e2e import check, claim, equal

CHAT = "/v1/chat/completions"
GOOD = {"id": "c", "choices": [{"index": 0, "message": {"content": "yes"}, "finish_reason": "stop"}]}
STREAM = {"Content-Type": "text/event-stream"}


def chats(count, **more):
    return "".join(request(i, url=CHAT, body={"id": f"r{i}", **more}) for i in range(count))


def batch(eddy, api, content, *args, command="batch", **options):
    """Run requests; returns the result, the answers and the errors."""
    out = eddy.file("out.jsonl")
    path = eddy.file("in.jsonl", content) if content is not None else eddy.file("in.jsonl")
    result = eddy.run(command, path, "-o", out, "--base-url", api.url, "--progress", "off",
                      "--retry-base", "1ms", *args, **options)
    return result, lines_of(out), lines_of(eddy.file("out.errors.jsonl"))


def events(*items):
    return "".join(f"data: {item if isinstance(item, str) else json.dumps(item)}\n\n"
                   for item in items).encode()


# ---- the rule without options --------------------------------------------------------------------

BAD = {
    "answer_not_json": [b"<html>busy</html>", b"", b'{"id":"c","choices":[', b"\xff\xfe"],
    "answer_has_error": [{"error": {"message": "no luck", "type": "server_error"}}, {"error": "no luck"},
                         {"id": "c", "error": {"message": "no luck"}}],
}


@claim
def answer_of_an_api_with_an_error_or_without_json_is_a_failure_with_its_answer(eddy):
    for code, bodies in BAD.items():
        for number, body in enumerate(bodies):
            api = Api(eddy, lambda call, body=body: (200, {}, body))
            for name in ("out.jsonl", "out.errors.jsonl"):
                if os.path.exists(eddy.file(name)):
                    os.remove(eddy.file(name))
            result, answers, errors = batch(eddy, api, chats(1), "--max-attempts", "3")
            equal((result.code, len(answers), len(errors), len(api.calls)), (1, 0, 1, 3), body, result)
            line = errors[0]
            equal((line["error"]["code"], line["response"]["status_code"]), (code, 200), line)
            if code == "answer_has_error":
                equal(line["response"]["body"], body)
                check("no luck" in line["error"]["message"], line)
            check(f"errors {code}: 1" in result.err and "0 ok, 1 failed" in result.err, result)


@claim
def answer_of_another_url_is_judged_by_its_status_alone(eddy):
    bodies = [b"<html>", b"", {"error": {"message": "m"}}]
    api = Api(eddy, lambda call: (200, {}, bodies[int(call.id[1:])]))
    result, answers, errors = batch(eddy, api, requests(3))
    equal((result.code, len(answers), errors, len(api.calls)), (0, 3, [], 3), result)


@claim
def error_under_a_status_of_success_is_repeated_as_its_status_is(eddy):
    cases = [({"error": {"type": "overloaded_error", "message": "m"}}, True),
             ({"error": {"code": 502, "message": "m"}}, True),
             ({"error": {"message": "m"}}, True),
             (b"<html>", True),
             ({"error": {"type": "invalid_request_error", "message": "m"}}, False),
             ({"error": {"code": "context_length_exceeded", "message": "m"}}, False)]
    for number, (body, repeated) in enumerate(cases):
        api = Api(eddy, lambda call, body=body: (200, {}, body if call.number == 0 else GOOD))
        out = eddy.file(f"out-{number}.jsonl")
        result = eddy.run("batch", eddy.file("in.jsonl", chats(1)), "-o", out, "--base-url", api.url,
                          "--retry-base", "1ms")
        equal((result.code, len(api.calls), len(lines_of(out))),
              (0, 2, 1) if repeated else (1, 1, 0), body, result)


@claim
def rate_limit_under_a_status_of_success_pauses_the_server_and_uses_no_attempt(eddy):
    limit = {"error": {"code": "rate_limit_exceeded", "message": "slow"}}
    for content, first in ((chats(1), (200, {}, limit)),
                           (chats(1, stream=True), (200, STREAM, events(limit)))):
        api = Api(eddy, lambda call, first=first: first if call.number < 2 else (200, {}, GOOD))
        out = eddy.file(f"out-{api.server.port}.jsonl")
        result = eddy.run("batch", eddy.file("in.jsonl", content), "-o", out, "--base-url", api.url,
                          "--max-attempts", "1", "--summary", "json", "--progress", "off")
        summary = json.loads(result.err.splitlines()[-1])
        equal((result.code, len(api.calls), summary["x_eddy"]["refused"]), (0, 3, 2), result)
        check(summary["x_eddy"]["endpoints"][0]["pauses"] >= 1, summary)


@claim
def quota_under_a_status_of_success_stops_the_run(eddy):
    api = Api(eddy, lambda call: (200, {}, {"error": {"code": "insufficient_quota", "message": "m"}}))
    result, answers, errors = batch(eddy, api, chats(5), "-c", "1")
    equal((result.code, answers, errors, len(api.calls)), (5, [], [], 1), result)


# ---- --ok and --retry-if -------------------------------------------------------------------------

@claim
def ok_decides_which_answers_are_successes(eddy):
    statuses = [200, 404, 500]
    api = Api(eddy, lambda call: (statuses[int(call.id[1:])], {}, {"n": int(call.id[1:])}))
    result, answers, errors = batch(eddy, api, requests(3), "--ok", "status in (200, 404)",
                                    "--max-attempts", "1")
    equal((result.code, sorted(ids_of(eddy.file("out.jsonl")))), (1, ["r0", "r1"]), result)
    equal(sorted(line["response"]["status_code"] for line in answers), [200, 404])
    equal((errors[0]["custom_id"], errors[0]["error"]), ("r2", None), errors)
    check("2 ok, 1 failed" in result.err, result)
    result, answers, errors = batch(eddy, api, requests(3), "--ok", "status in (200, 404)",
                                    "--max-attempts", "1")
    equal((result.code, len(answers), len(errors), api.ids()[3:]), (1, 2, 1, ["r2"]), result)


@claim
def answer_for_which_ok_does_not_hold_is_repeated_and_then_a_failure(eddy):
    def answer(call):
        return 200, {"X-State": "done" if call.number > 1 else "busy"}, {"state": call.number}
    api = Api(eddy, answer)
    result, answers, _ = batch(eddy, api, requests(1), "--ok", "header(X-State) == 'done'")
    equal((result.code, len(api.calls), answers[0]["response"]["body"]), (0, 3, {"state": 2}), result)
    api = Api(eddy, lambda call: (200, {}, {"state": 1}))
    result, answers, errors = batch(eddy, api, request(5), "--ok", "json('/state') == 2", "--max-attempts", "2")
    equal((result.code, len(api.calls), errors[0]["error"]["code"], errors[0]["response"]["body"]),
          (1, 2, "answer_not_ok", {"state": 1}), result)
    check("--ok json('/state') == 2 does not hold" in errors[0]["error"]["message"], errors)


@claim
def retry_if_adds_attempts_within_their_number(eddy):
    api = Api(eddy, lambda call: (200, {}, {"state": "pending" if call.number < 2 else "done"}))
    result, answers, _ = batch(eddy, api, requests(1), "--retry-if", "json('/state') == 'pending'")
    equal((result.code, len(api.calls), answers[0]["response"]["body"]["state"]), (0, 3, "done"), result)
    # After the last attempt the rule decides.
    api = Api(eddy, lambda call: (200 if call.id == "r1" else 400, {}, {"state": "pending"}))
    result, answers, errors = batch(eddy, api, request(1) + request(2), "--retry-if",
                                    "json('/state') == 'pending'", "--max-attempts", "3")
    equal((result.code, len(api.calls), ids_of(eddy.file("out.errors.jsonl"))), (1, 6, ["r2"]), result)
    check("r1" in [line["custom_id"] for line in answers], answers)


@claim
def retry_if_waits_as_the_server_asks_and_whatever_it_advises(eddy):
    api = Api(eddy, lambda call: (200 if call.number else 404, {"Retry-After-Ms": "300", "X-Should-Retry": "false"},
                                  {"state": call.number}))
    result, answers, _ = batch(eddy, api, requests(1), "--retry-if", "json('/state') < 2")
    equal((result.code, len(api.calls), len(answers)), (0, 3, 1), result)
    check(all(after.at - before.at >= 0.3 for before, after in zip(api.calls, api.calls[1:])), result)


@claim
def log_and_metrics_name_answers_that_are_not_successes(eddy):
    bodies = [b"<html>", {"error": {"message": "m", "code": "odd_code"}}, {"state": 1}]
    log = eddy.file("log")
    for body, args, cause in zip(bodies, ((), (), ("--ok", "false")), ("answer_not_json", "odd_code", "answer_not_ok")):
        if os.path.exists(log):
            os.remove(log)
        api = Api(eddy, lambda call, body=body: (200, {}, body))
        batch(eddy, api, chats(1), "--max-attempts", "2", "--log", log, *args)
        equal([(line["status"], line["cause"]) for line in lines_of(log)], [(200, cause)] * 2)


@claim
def schema_is_for_the_content_of_chat_answers_or_the_body(eddy):
    schema = eddy.file("schema.json", json.dumps({"type": "object", "required": ["n"],
                                                  "properties": {"n": {"type": "integer", "minimum": 1}}}))

    def answer(call):
        content = ["not JSON", '{"n":0}', '{"n":1}'][min(call.number, 2)]
        return 200, {}, {"choices": [{"message": {"content": content}}]}
    api = Api(eddy, answer)
    result, answers, _ = batch(eddy, api, chats(1), "--schema", schema)
    equal((result.code, len(api.calls), len(answers)), (0, 3, 1), result)
    # The body; earlier answers are judged too.
    eddy.file("out.jsonl", earlier("r0", {"n": 1}) + earlier("r1", {"n": "x"}))
    api = Api(eddy, lambda call: (200, {}, {"n": 0}))
    result, answers, errors = batch(eddy, api, requests(2), "--schema", schema, "--max-attempts", "2")
    equal((result.code, api.ids(), [line["custom_id"] for line in answers]), (1, ["r1", "r1"], ["r0"]), result)
    equal(errors[0]["error"], {"code": "answer_not_schema",
                               "message": "--schema does not accept the answer: minimum of /n"})
    eddy.file("out.jsonl", earlier("r0", {"n": 1}) + earlier("r1", {"n": "x"}))
    for args in (("check", eddy.file("in.jsonl"), "-o"), ("report",)):
        result = eddy.run(*args, eddy.file("out.jsonl"), "--schema", schema)
        check("to send         1\n" in result.out or "1 answer, 2 failed" in result.err, result)
    for command in ("batch", "check", "report"):
        e2e.one_line(eddy.run(command, schema, "--schema", eddy.file("bad.json", '{"anyOf":[]}')), 2,
                     "--schema", "the keyword anyOf is not supported")
        e2e.one_line(eddy.run(command, schema, "--schema", eddy.file("none.json")), 2, "--schema", "none.json")


@claim
def content_that_is_not_json_is_shown_by_its_beginning(eddy):
    schema = eddy.file("schema.json", '{"type":"object"}')
    texts = ["```json\n{\"a\": 1}\n```", "Here is \"it\": {}", "  \n{'a': 1}", ""]
    api = Api(eddy, lambda call: (200, {}, {"choices": [{"message": {"content": texts[int(call.id[1:])]}}]}))
    result, _, errors = batch(eddy, api, chats(4), "--schema", schema, "--max-attempts", "1", "-c", "1")
    said = "--schema does not accept the answer: its content is "
    equal([line["error"]["message"] for line in errors],
          [said + "not JSON: it begins with " + text for text in ("```json?{\"a\": 1}?```", "Here is \"it\": {}", "{'a': 1}")] +
          [said + "empty"], errors)
    # All but the last one have the same cause.
    check("3 failed: answer_not_schema, such as: " + said + "not JSON: it begins with ```json" in result.err, result)


@claim
def mistake_in_a_condition_is_one_sentence_before_anything_is_sent(eddy):
    api = Api(eddy)
    path = eddy.file("in.jsonl", requests(1))
    for option in ("--ok", "--retry-if"):
        for text, word in (("stauts == 200", "is status meant?"), ("status = 200", "equality is written =="),
                           ("", "a value is expected"), ("json(/a)", "a string in quotes")):
            for command in ("batch", "check", "retry"):
                result = eddy.run(command, path, "-o", eddy.file("o.jsonl"), option, text)
                e2e.one_line(result, 2, f"{option}: column", word)
    e2e.one_line(eddy.run("batch", path, "--ok", "true", "--ok", "true"), 2, "--ok: it is given twice")
    e2e.one_line(eddy.run("report", path, "--ok", "x"), 2, "--ok: column 1: the word x")
    equal(api.calls, [])


# ---- resuming ------------------------------------------------------------------------------------

def earlier(custom_id, body, status=200, error=None):
    return json.dumps({"id": "x", "custom_id": custom_id, "error": error,
                       "response": {"status_code": status, "request_id": "q", "body": body}}) + "\n"


ODD = (earlier("r0", GOOD) + earlier("r1", {"error": {"message": "late"}}) + earlier("r2", {"_text": "<html>"}) +
       earlier("e0", {"error": {"message": "of another API"}}) + earlier("e1", {"_text": "plain"}))
# Two requests to an API of language models have no answer, two to another one have.
MIXED = chats(3) + "".join(json.dumps({**json.loads(line), "custom_id": f"e{i}"}) + "\n"
                           for i, line in enumerate(requests(2).splitlines()))


@claim
def earlier_answers_are_judged_by_the_same_rule_and_sent_again(eddy):
    for piped in (False, True):
        for command in ("batch", "retry"):
            for name in ("out.errors.jsonl", "out.jsonl"):
                if os.path.exists(eddy.file(name)):
                    os.remove(eddy.file(name))
            api = Api(eddy, lambda call: (200, {}, GOOD))
            eddy.file("out.jsonl", ODD)
            eddy.file("in.jsonl", MIXED)
            args = [command, "-" if piped else eddy.file("in.jsonl"), "-o", eddy.file("out.jsonl"),
                    "--base-url", api.url, "--progress", "off"]
            if piped and command == "retry":
                continue  # the failures are only known when the input is read
            result = eddy.run(*args, **({"stdin": MIXED.encode()} if piped else {}))
            equal((result.code, sorted(api.ids())), (0, ["r1", "r2"]), command, piped, result)
            equal(sorted(ids_of(eddy.file("out.jsonl"))), ["e0", "e1", "r0", "r1", "r2"], result)
            equal(lines_of(eddy.file("out.errors.jsonl")), [])
            check("answers of earlier runs that were no success: 2\n" in result.err, result)
            if not piped:
                check("2 answers have an error in their bodies, or are not JSON" in result.err, result)
            again = eddy.run(*args, **({"stdin": MIXED.encode()} if piped else {}))
            equal((again.code, len(api.calls)), (0, 2), again)
            check("no success" not in again.err, again)


@claim
def earlier_failures_stay_in_the_errors_file_if_they_fail_again(eddy):
    api = Api(eddy, lambda call: (200, {}, {"error": {"type": "invalid_request_error", "message": "never"}}))
    eddy.file("out.jsonl", ODD)
    result, answers, errors = batch(eddy, api, MIXED)
    equal((result.code, len(answers), sorted(line["custom_id"] for line in errors)), (1, 3, ["r1", "r2"]), result)
    check(all(line["error"]["code"] == "answer_has_error" for line in errors), errors)


@claim
def check_and_report_judge_as_batch_does(eddy):
    out, path = eddy.file("out.jsonl", ODD), eddy.file("in.jsonl", MIXED)
    result = eddy.run("check", path, "-o", out)
    for row in ("answered        3 of them", "to send         2\n", "not ok          2 answers"):
        check(row in result.out, result)
    result = eddy.run("check", path, "-o", out, "--ok", "status == 200")
    for row in ("answered        5 of them", "to send         0\n"):
        check(row in result.out, result)
    result = eddy.run("check", path, "-o", out, "--ok", "json('/choices') != null")
    for row in ("answered        1 of them", "to send         4\n", "not ok          4 answers"):
        check(row in result.out, result)
    result = eddy.run("report", out, "--ok", "json('/choices') != null")
    check("1 answer, 4 failed" in result.err, result)
    result = eddy.run("report", out)
    check("5 answers, 0 failed" in result.err, result)


@claim
def condition_on_a_header_keeps_earlier_lines_as_they_were_judged(eddy):
    api = Api(eddy, lambda call: (404 if call.id == "r0" else 200, {"X-Ok": "1" if call.id != "r2" else "0"},
                                  {"a": 1}))
    args = ("--ok", "header(x-ok) == '1'", "--max-attempts", "1")
    result, answers, errors = batch(eddy, api, requests(3), *args)
    equal((result.code, len(answers), [line["custom_id"] for line in errors]), (1, 2, ["r2"]), result)
    result, answers, errors = batch(eddy, api, None, *args)
    equal((result.code, len(answers), api.ids()[3:]), (1, 2, ["r2"]), result)


@claim
def answers_in_the_errors_file_do_not_outlive_those_of_changed_requests(eddy):
    api = Api(eddy, lambda call: (404 if int(call.id[1:]) % 2 else 200, {}, {"n": 1}))
    before, after = ("".join(request(i, body={"id": f"r{i}", "a": n}) for i in range(4)) for n in (2, 1))
    result, answers, errors = batch(eddy, api, before)
    equal((result.code, len(answers), len(errors)), (1, 2, 2), result)
    former = open(eddy.file("out.errors.jsonl"), encoding="utf-8").read()
    args = ("--ok", "status in (200, 404)", "--on-changed", "send")
    result, answers, errors = batch(eddy, api, after, *args)
    equal((result.code, len(api.calls), len(answers), errors), (0, 8, 4, []), result)
    check("out.jsonl: 4\n" in result.err, result)
    # An answer in the errors file does not count if the output has one of its id.
    for more in ((), ("--on-changed", "send")):
        eddy.file("out.errors.jsonl", former)
        result, answers, errors = batch(eddy, api, after, "--ok", "status in (200, 404)", *more)
        equal((result.code, len(api.calls), len(answers), errors), (0, 8, 4, []), result)


@claim
def answers_in_the_errors_file_move_to_the_output_if_the_rule_takes_them(eddy):
    content = requests(4)
    for piped in (False, True):
        for name in ("out.errors.jsonl", "out.jsonl"):
            if os.path.exists(eddy.file(name)):
                os.remove(eddy.file(name))
        api = Api(eddy, lambda call: (404, {}, {"n": 1}))
        result, answers, errors = batch(eddy, api, content, "--max-errors", "9")
        equal((result.code, len(answers), len(errors)), (1, 0, 4), result)
        # A killed run leaves a line twice, or in both files; the input does not have the id of the last one.
        eddy.file("out.errors.jsonl", "".join(json.dumps(line) + "\n" for line in errors + errors[:1]) +
                  earlier("other", {}, 404))
        eddy.file("out.jsonl", json.dumps(errors[1]) + "\n")
        rule = ("--ok", "status in (200, 404)")
        result = eddy.run("check", eddy.file("in.jsonl"), "-o", eddy.file("out.jsonl"), *rule)
        check("answered        4 of them" in result.out and "to send         0\n" in result.out, result)
        result = eddy.run("batch", "-" if piped else eddy.file("in.jsonl"), "-o", eddy.file("out.jsonl"),
                          "--base-url", api.url, "--progress", "off", *rule,
                          **({"stdin": content.encode()} if piped else {}))
        equal((result.code, len(api.calls)), (0, 4), result)
        equal(sorted(ids_of(eddy.file("out.jsonl"))), ["r0", "r1", "r2", "r3"], result)
        equal(ids_of(eddy.file("out.errors.jsonl")), ["other"], result)
        check("out.errors.jsonl: moved 3 answers, whose ids" in result.err and
              "out.jsonl: 4\n" in result.err, result)


@claim
def answers_with_an_error_of_the_rule_are_judged_by_the_next_rule(eddy):
    content = chats(4)
    schema = eddy.file("schema.json", json.dumps({"type": "object", "required": ["label"]}))
    loose = eddy.file("loose.json", json.dumps({"type": "string"}))
    said = {**GOOD, "choices": [{"message": {"content": '"plain"'}}]}
    cases = [("answer_not_ok", ("--ok", "status == 201"), ("--ok", "status == 200"), GOOD),
             ("answer_not_ok", ("--ok", "status == 201"), (), GOOD),
             ("answer_not_schema", ("--schema", schema), ("--schema", loose), said),
             ("answer_not_schema", ("--schema", schema), (), said),
             ("answer_has_error", (), ("--ok", "status == 200"), {"error": {"message": "no luck"}}),
             ("answer_not_json", (), ("--ok", "status == 200"), b"<html>")]
    for piped in (False, True):
        for code, strict, lax, body in cases:
            for name in ("out.errors.jsonl", "out.jsonl"):
                eddy.file(name, "")
            api = Api(eddy, lambda call, body=body: (200, {}, body))
            for runs in (1, 2):  # by the same rule they are failures, which are sent again
                result, answers, errors = batch(eddy, api, content, "--max-attempts", "1", *strict)
                equal((result.code, len(answers), len(errors), len(api.calls)), (1, 0, 4, 4 * runs), result)
                equal({line["error"]["code"] for line in errors}, {code}, errors)
            out, failed = eddy.file("out.jsonl"), eddy.file("out.errors.jsonl")
            result = eddy.run("check", eddy.file("in.jsonl"), "-o", out, *lax)
            check("answered        4 of them" in result.out and "to send         0\n" in result.out, result)
            if lax:
                result = eddy.run("report", failed, *lax)
                check("4 answers, 0 failed" in result.err, result)
            # A run that was killed after it wrote two lines, the second one in part.
            lines = [json.dumps({**line, "error": None}) + "\n" for line in errors]
            eddy.file("out.jsonl", lines[0] + lines[1][:-20])
            result = eddy.run("batch", "-" if piped else eddy.file("in.jsonl"), "-o", out, "--base-url", api.url,
                              "--progress", "off", *lax, **({"stdin": content.encode()} if piped else {}))
            equal((result.code, len(api.calls)), (0, 8), result)
            check("out.errors.jsonl: moved 3 answers, whose ids" in result.err, result)
            answers = lines_of(out)
            equal(sorted(line["custom_id"] for line in answers), ["r0", "r1", "r2", "r3"], result)
            equal([{**line, "error": None} for line in sorted(errors, key=lambda line: line["custom_id"])],
                  sorted(answers, key=lambda line: line["custom_id"]))
            equal(lines_of(failed), [])
            os.remove(out + ".rejected")
            result = eddy.run("report", out)
            check("4 answers, 0 failed" in result.err, result)


# ---- errors in streams ---------------------------------------------------------------------------

STREAM_ERRORS = [
    (b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n', True),
    (events({"error": {"message": "m", "type": "server_error", "code": 500}}), True),
    (events({"choices": [{"index": 0, "delta": {"content": "a"}}]}, {"error": {"code": 502, "message": "m"}}), True),
    (events({"type": "response.created", "response": {"id": "r"}},
            {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "m"}}}), True),
    (events({"type": "error", "code": "server_error", "message": "m"}), True),
    (events({"error": {"message": "m", "type": "invalid_request_error"}}), False),
    (b'event: error\ndata: {"type":"error","error":{"type":"invalid_request_error","message":"m"}}\n\n', False),
]


@claim
def error_in_a_stream_is_repeated_as_its_status_is(eddy):
    for number, (stream, repeated) in enumerate(STREAM_ERRORS):
        api = Api(eddy, lambda call, stream=stream: (200, STREAM, stream) if call.number == 0 else (200, {}, GOOD))
        out = eddy.file(f"out-{number}.jsonl")
        result = eddy.run("batch", eddy.file("in.jsonl", chats(1, stream=True)), "-o", out, "--base-url", api.url,
                          "--retry-base", "1ms")
        equal((result.code, len(api.calls), len(lines_of(out))),
              (0, 2, 1) if repeated else (1, 1, 0), stream, result)


# ---- the first requests --------------------------------------------------------------------------

WRONG = {"error": {"message": "The model `m0del` does not exist", "code": "model_not_found"}}


@claim
def run_stops_if_the_first_requests_all_get_the_same_refusal(eddy):
    for concurrency in ("1", "64"):
        api = Api(eddy, lambda call: (404, {}, WRONG))
        out = eddy.file(f"out-{concurrency}.jsonl")
        args = ["batch", eddy.file("in.jsonl", chats(400)), "-o", out, "--base-url", api.url, "--ramp", "0s",
                "-c", concurrency, "--progress", "off"]
        result = eddy.run(*args)
        equal(result.code, 5, result)
        check(20 <= len(api.calls) <= 20 + 2 * int(concurrency), len(api.calls))
        check("requests failed with 404, and none succeeded: The model `m0del` does not exist" in
              result.err and "\nafter correcting it: eddy batch" in result.err, result)
        equal(len(lines_of(eddy.file(f"out-{concurrency}.errors.jsonl"))), len(api.calls))
        # Corrected, the same command goes on.
        api.answer = lambda call: (200, {}, GOOD)
        result = eddy.run(*args)
        equal((result.code, len(lines_of(out))), (0, 400), result)


@claim
def run_stops_if_no_answer_to_the_first_requests_is_accepted(eddy):
    schema = eddy.file("schema.json", '{"type":"object","required":["n"]}')
    for args, word in ((["--ok", "json('/state') == 2"], "--ok json('/state') == 2 does not hold: {\"state\": 1}"),
                       (["--schema", schema], "--schema does not accept the answer: ")):
        for concurrency in ("1", "32"):
            api = Api(eddy, lambda call: (200, {}, {"state": 1}))
            # Another attempt would come after half a minute at the least.
            result = eddy.run("batch", eddy.file("in.jsonl", requests(400)), "-o", eddy.file("out.jsonl"), "--base-url", api.url,
                              "--progress", "off", "--retry-base", "1m", "-c", concurrency, "--ramp", "0s", *args)
            answers, errors = lines_of(eddy.file("out.jsonl")), lines_of(eddy.file("out.errors.jsonl"))
            check(result.code == 5 and f"requests got an answer that is not accepted, and none succeeded: {word}" in result.err, args, result)
            check(20 <= len(api.calls) <= 20 + 2 * int(concurrency) and result.seconds < e2e.SOON, len(api.calls), result)
            equal((answers, {line["error"]["code"] for line in errors} <= {"answer_not_ok", "answer_not_schema"}), ([], True), errors)
            check(errors, "no answer is kept")
            os.remove(eddy.file("out.errors.jsonl"))
        # A number of errors is accepted; an answer among the first ones is enough.
        api = Api(eddy, lambda call: (200, {}, {"state": 1} if call.id != "r7" else {"state": 2, "n": 1}))
        result, answers, errors = batch(eddy, api, requests(30), "-c", "1", "--max-attempts", "2", *args)
        equal((result.code, len(answers), len(errors)), (1, 1, 29), result)
        os.remove(eddy.file("out.errors.jsonl"))
        os.remove(eddy.file("out.jsonl"))
    for args in (["--retry-if", "json('/state') == 1"], ["--max-errors", "100"]):
        seen = set()
        # The first answer to each request is not accepted, the second one is.
        api = Api(eddy, lambda call: (200, {}, {"state": 1 + (call.id in seen or seen.add(call.id) is not None)}))
        result, answers, errors = batch(eddy, api, requests(40), "--ok", "json('/state') == 2", "-c", "40", "--ramp", "0s", *args)
        equal((result.code, len(answers), errors), (0, 40, []), args, result)
        os.remove(eddy.file("out.jsonl"))


@claim
def fast_refusals_of_later_requests_do_not_stop_the_run_and_the_last_ones_need_no_stop(eddy):
    later = threading.Event()
    lock, refused = threading.Lock(), set()

    def answer(call):
        if int(call.id[1:]) < 20:
            check(later.wait(60))
            return 200, {}, GOOD
        with lock:
            refused.add(call.id)
            if len(refused) == 40:
                later.set()
        return 404, {}, WRONG
    api = Api(eddy, answer)
    result, answers, errors = batch(eddy, api, chats(60), "-c", "60", "--ramp", "0s")
    equal((result.code, len(answers), len(errors)), (1, 20, 40), result)
    # All are refused, but nothing is left to stop.
    for name in ("out.jsonl", "out.errors.jsonl"):
        os.remove(eddy.file(name))
    result, answers, errors = batch(eddy, Api(eddy, lambda call: (404, {}, WRONG)), chats(20), "-c", "1")
    equal((result.code, len(answers), len(errors)), (1, 0, 20), result)


@claim
def failures_for_a_time_do_not_hide_a_mistake_in_every_request(eddy):
    seen, lock = set(), threading.Lock()

    def answer(call, mistake, always):
        with lock:
            first = call.id not in seen
            seen.add(call.id)
        return (500, {}, {"error": "busy"}) if call.id in ("r3", "r19") and (first or always) else mistake
    # One attempt each; a 500 that is repeated, and then not accepted; a 500 that waits for half a minute at the least.
    for count, always, args in ((400, True, ["--max-attempts", "1"]), (400, False, ["--retry-base", "1ms"]),
                                (60, True, ["--retry-base", "1m"])):
        for mistake, more in (((404, {}, WRONG), []), ((200, {}, {"state": 1}), ["--ok", "json('/state') == 2"])):
            for concurrency in ("1", "64") if count == 400 else ("64",):
                seen.clear()
                api = Api(eddy, lambda call, mistake=mistake, always=always: answer(call, mistake, always))
                result, answers, _ = batch(eddy, api, requests(count), "-c", concurrency, "--ramp", "0s", *args, *more)
                check(result.code == 5 and "and none succeeded" in result.err, args, more, concurrency, result)
                check(result.seconds < e2e.SOON and len(seen) < 400, len(seen), result)
                equal(answers, [])
                if os.path.exists(eddy.file("out.errors.jsonl")):
                    os.remove(eddy.file("out.errors.jsonl"))


@claim
def summary_has_the_cause_of_each_retry(eddy):
    bodies = [(500, {}, {}), (500, {}, {}), (200, {}, b"<html>busy</html>"), (200, {}, GOOD)]
    for args in [], ["--summary", "json"]:
        api = Api(eddy, lambda call: bodies[min(call.number, 3)])
        result, answers, _ = batch(eddy, api, chats(1), *args)
        equal((result.code, len(answers)), (0, 1), result)
        if args:
            equal(json.loads(result.err)["x_eddy"]["retried"], {"500": 2, "answer_not_json": 1})
        else:
            check("1 ok, 0 failed, 3 retries (500: 2, answer_not_json: 1)\n" in result.err, result)
        os.remove(eddy.file("out.jsonl"))


@claim
def ok_comes_before_the_rules_of_vendors_and_of_keys(eddy):
    spent = {"error": {"code": "insufficient_quota", "message": "spent"}}
    for status, body in ((402, {}), (429, spent), (401, {})):
        api = Api(eddy, lambda call, status=status, body=body: (status, {}, body))
        result, answers, errors = batch(eddy, api, chats(8), "--ok", f"status in (200, {status})",
                                        "--api-key-command", "echo sk-test-of-the-key")
        equal((result.code, len(answers), len(errors), len(api.calls)), (0, 8, 0, 8), result)
        os.remove(eddy.file("out.jsonl"))


@claim
def members_of_a_body_without_an_error_are_not_codes(eddy):
    for body in ({"code": 402, "name": None}, {"type": "insufficient_quota", "name": None},
                 {"code": 429, "name": None}, {"status": "INVALID_ARGUMENT", "name": None}):
        api = Api(eddy, lambda call, body=body: (200, {}, body))
        result, answers, errors = batch(eddy, api, requests(2), "--ok", 'json("/name") != null',
                                        "--max-attempts", "2")
        equal((result.code, len(answers), len(errors), len(api.calls)), (1, 0, 2, 4), body, result)
        os.remove(eddy.file("out.errors.jsonl"))


@claim
def key_in_an_error_of_a_stream_is_not_shown_though_it_is_cut(eddy):
    key = "sk-secret-" + "x" * 300
    api = Api(eddy, lambda call: (200, STREAM, events({"error": {"message": f"bad key {key}", "code": 400}})))
    result, _, errors = batch(eddy, api, chats(1, stream=True), "--max-attempts", "1",
                              "--api-key-command", f"echo {key}")
    equal((result.code, len(errors)), (1, 1), result)
    check("xxxxx" not in result.err.split("to retry")[0], result)


@claim
def tokens_of_answers_that_are_repeated_are_counted_and_end_the_run_at_max_cost(eddy):
    body = {**GOOD, "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    api = Api(eddy, lambda call: (200, {}, body))
    args = ("--ok", 'json("/none") != null', "--max-attempts", "4", "--price", "1/1", "-c", "1")
    result, _, errors = batch(eddy, api, chats(5), *args)
    equal((result.code, len(errors), len(api.calls)), (1, 5, 20), result)
    check("60 in, 40 out" in result.err, result)
    os.remove(eddy.file("out.errors.jsonl"))
    api.calls.clear()
    result, _, _ = batch(eddy, api, chats(500), *args, "--max-cost", "0.00005")
    equal(result.code, 5, result)
    check(10 <= len(api.calls) <= 14, len(api.calls))


@claim
def run_goes_on_if_the_first_requests_differ_or_max_errors_is_given(eddy):
    cases = [(lambda call: (404 if call.number != 10 else 200, {}, GOOD), ()),
             (lambda call: (404 if call.number != 10 else 400, {}, WRONG), ()),
             (lambda call: (403, {}, WRONG), ()),
             (lambda call: (404, {}, WRONG), ("--max-errors", "1000")),
             (lambda call: (404, {}, WRONG), ("--ok", "status == 404"))]
    for number, (answer, args) in enumerate(cases):
        api = Api(eddy, answer)
        result = eddy.run("batch", eddy.file("in.jsonl", chats(40)), "-o", eddy.file(f"out-{number}.jsonl"),
                          "--base-url", api.url, "--progress", "off", "-c", "1", *args)
        equal((len(api.calls), result.code), (40, 0 if number == 4 else 1), number, result)


@claim
def failures_of_an_earlier_run_do_not_stop_the_next_one(eddy):
    api = Api(eddy, lambda call: (400, {}, WRONG) if int(call.id[1:]) < 30 else (200, {}, GOOD))
    result, answers, _ = batch(eddy, api, chats(60), "--max-errors", "100")
    equal((result.code, len(answers)), (1, 30), result)
    result, answers, errors = batch(eddy, api, chats(70), "-c", "1")
    equal((result.code, len(answers), len(errors), len(api.calls)), (1, 40, 30, 100), result)


if __name__ == "__main__":
    e2e.main()
