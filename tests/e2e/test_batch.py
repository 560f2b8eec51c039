"""test_batch - `eddy batch`: every request has one line, in the output or in the errors, after any
kind of stop.
"""
import concurrent.futures
import gzip
import json
import os
import re
import random
import resource
import signal
import threading
import time
import urllib.request

import e2e
from batch_api import Api, ids_of, lines_of, lines_so_far, request, requests
from e2e import check, claim, equal


def batch(eddy, api, content, *args, **options):
    """Run requests; returns the result, the answers and the errors."""
    path = eddy.file("in.jsonl", content)
    out = eddy.file("out.jsonl")
    result = eddy.run("batch", path, "-o", out, "--base-url", api.url, "--progress", "off", *args,
                      **options)
    return result, lines_of(out), lines_of(eddy.file("out.errors.jsonl"))


def side_by_side(function, rows):
    """function(*row) of each row, at the same time; the first failure is raised."""
    with concurrent.futures.ThreadPoolExecutor(len(rows)) as pool:
        for done in [pool.submit(function, *row) for row in rows]:
            done.result()


# ---- lines ---------------------------------------------------------------------------------------

@claim
def each_request_has_one_line_in_the_form_of_openai(eddy):
    result, answers, errors = batch(eddy, Api(eddy), requests(50))
    equal((result.code, len(answers), errors), (0, 50, []), result)
    equal(sorted(line["custom_id"] for line in answers), sorted(f"r{i}" for i in range(50)))
    for line in answers:
        equal(sorted(line), ["custom_id", "error", "id", "response", "x_meta"])
        equal(sorted(line["response"]), ["body", "request_id", "status_code"])
        equal((line["error"], line["response"]["status_code"]), (None, 200))
        equal(line["response"]["body"], {"echo": {"id": line["custom_id"]}})
        check(line["response"]["request_id"].startswith("req-"), line)
        equal(line["x_meta"]["attempts"], 1)


@claim
def statuses_and_failures_go_to_the_errors(eddy):
    def answer(call):
        if call.id == "r1":
            return 400, {}, {"error": {"message": "no", "code": "bad"}}
        return b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab" if call.id == "r2" else (200, {}, {})
    result, answers, errors = batch(eddy, Api(eddy, answer), requests(4), "--max-attempts", "2",
                                    "--retry-base", "1ms")
    equal((result.code, len(answers)), (1, 2), result)
    errors = {line["custom_id"]: line for line in errors}
    equal(sorted(errors), ["r1", "r2"])
    equal(errors["r1"]["response"]["body"]["error"]["code"], "bad")
    equal((errors["r1"]["error"], errors["r1"]["x_meta"]["attempts"]), (None, 1))
    equal(errors["r2"]["response"], None)
    equal(errors["r2"]["error"]["code"], "stream_truncated")
    equal(errors["r2"]["x_meta"]["attempts"], 2)


@claim
def redirect_is_a_failure_that_is_tried_again_in_the_next_run(eddy):
    api = Api(eddy, lambda call: (308 if call.number < 3 else 200, {"Location": "https://elsewhere/"}, {}))
    result, answers, errors = batch(eddy, api, requests(3))
    equal((result.code, answers, len(errors)), (1, [], 3), result)
    result, answers, errors = batch(eddy, api, requests(3))
    equal((result.code, len(answers), errors), (0, 3, []), result)


@claim
def bad_line_gets_an_error_with_its_number_and_the_rest_continues(eddy):
    content = requests(1) + "{oops\n" + '{"custom_id":"x","method":5,"url":"/v1/echo","body":{}}\n' + \
        '{"custom_id":"y","method":"POST","url":"nowhere","body":{}}\n' + request(9)
    result, answers, errors = batch(eddy, Api(eddy), content)
    equal((result.code, sorted(line["custom_id"] for line in answers)), (1, ["r0", "r9"]), result)
    errors = {line["custom_id"]: line["error"] for line in errors}
    equal(sorted(errors), ["line-2", "x", "y"])
    for error in errors.values():
        equal(error["code"], "invalid_request_line")
    check('"method"' in errors["x"]["message"], errors)


@claim
def id_that_looks_like_the_number_of_another_line_is_sent_again_after_its_failure(eddy):
    content = "".join(json.dumps({"custom_id": id, "url": "/v1/echo", "body": {"id": id}}) + "\n"
                      for id in ("a", "line-1", "line-4", "b"))
    api = Api(eddy, lambda call: (404, {}, {}) if call.id.startswith("line-") else (200, {}, {}))
    for command in ("batch", "retry"):
        result, answers, errors = batch(eddy, api, content)
        equal((result.code, sorted(line["custom_id"] for line in errors)), (1, ["line-1", "line-4"]), result)
        api.answer = lambda call: (200, {}, {})
        result = eddy.run(command, eddy.file("in.jsonl"), "-o", eddy.file("out.jsonl"), "--base-url", api.url,
                          "--progress", "off")
        equal((result.code, sorted(line["custom_id"] for line in lines_of(eddy.file("out.jsonl")))),
              (0, ["a", "b", "line-1", "line-4"]), result)
        equal(lines_of(eddy.file("out.errors.jsonl")), [], result)
        os.remove(eddy.file("out.jsonl"))
        api.answer = lambda call: (404, {}, {}) if call.id.startswith("line-") else (200, {}, {})


@claim
def all_shapes_of_lines_are_sent(eddy):
    api = Api(eddy)
    content = request(0) + json.dumps({"id": "bare"}) + "\n" + api.url + "/plain\n" + \
        json.dumps({"method": "POST", "url": api.url + "/vegeta", "header": {"X-A": ["1"]},
                    "body": "eyJpZCI6InZlZ2V0YSJ9"}) + "\n"
    result, answers, errors = batch(eddy, api, content, "--url", api.url + "/bare")
    equal((result.code, len(answers), errors), (0, 4, []), result)
    paths = {call.path: call for call in api.calls}
    equal(sorted(paths), ["/bare", "/plain", "/v1/echo", "/vegeta"])
    equal((paths["/plain"].method, paths["/bare"].body), ("GET", {"id": "bare"}))
    equal((paths["/vegeta"].headers["x-a"], paths["/vegeta"].body), ("1", {"id": "vegeta"}))


@claim
def csv_fills_a_template(eddy):
    api = Api(eddy)
    path = eddy.file("in.csv", 'name,text,n\nann,"two\nlines, ""quoted""",3\nbob,plain,4\n')
    out = eddy.file("out.jsonl")
    body = eddy.file("t.json", '{"id":"{{name}}","input":"say {{text}}","n":"{{n:json}}"}')
    result = eddy.run("batch", path, "-o", out, "--url", api.url + "/x", "--body", "@" + body)
    equal(result.code, 0, result)
    equal(sorted((call.body["id"], call.body["input"], call.body["n"]) for call in api.calls),
          [("ann", 'say two\nlines, "quoted"', 3), ("bob", "say plain", 4)])


@claim
def compressed_input_is_unpacked(eddy):
    data = requests(500).encode()
    path = eddy.file("in.jsonl.gz", gzip.compress(data[:3000]) + gzip.compress(data[3000:]))
    out = eddy.file("out.jsonl")
    result = eddy.run("batch", path, "-o", out, "--base-url", Api(eddy).url)
    equal((result.code, len(ids_of(out))), (0, 500), result)
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) - 20)
    result = eddy.run("batch", path, "-o", eddy.file("other"), "--base-url", "http://127.0.0.1:1")
    e2e.check(result.code == 3 and "damaged" in result.err, result)


@claim
def stream_becomes_one_answer_with_the_time_of_its_first_token(eddy):
    def answer(call):
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        events = [{**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
                  for delta, reason in (({"role": "assistant", "content": "He"}, None),
                                        ({"content": "llo"}, None), ({}, "stop"))]
        events.append({**chunk, "choices": [],
                       "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}})
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        if call.id == "r1" and call.number < 5:
            text = text[:200]
        return 200, {"Content-Type": "text/event-stream"}, text.encode()
    api = Api(eddy, answer)
    content = "".join(request(i, body={"id": f"r{i}", "stream": True}) for i in range(2))
    result, answers, _ = batch(eddy, api, content, "--retry-base", "1ms")
    equal((result.code, len(answers)), (0, 2), result)
    for line in answers:
        body = line["response"]["body"]
        equal((body["object"], body["choices"][0]["message"]["content"]), ("chat.completion", "Hello"))
        equal(body["usage"]["total_tokens"], 5)
        check(line["x_meta"]["output_tokens"] == 2, line)


# ---- ids -----------------------------------------------------------------------------------------

@claim
def id_that_occurs_twice_stops_the_run_before_anything_is_sent(eddy):
    api = Api(eddy)
    result, answers, _ = batch(eddy, api, requests(3) + request(1))
    equal((result.code, answers, api.calls), (3, [], []), result)
    check('line 4: custom_id "r1"' in result.err, result)


@claim
def id_that_occurs_twice_in_a_pipe_gets_an_error_under_its_line(eddy):
    api = Api(eddy)
    out = eddy.file("out.jsonl")
    result = eddy.run("batch", "-", "-o", out, "--base-url", api.url,
                      stdin=(requests(3) + request(1)).encode())
    equal((result.code, sorted(ids_of(out)), ids_of(eddy.file("out.errors.jsonl"))),
          (1, ["r0", "r1", "r2"], ["line-4"]), result)


def changed_request_stops(eddy, *args):
    api = Api(eddy)
    batch(eddy, api, requests(2), *args)
    changed = request(0) + request(1, body={"id": "r1", "new": 1})
    result, _, _ = batch(eddy, api, changed, *args)
    equal((result.code, len(api.calls)), (3, 2), result)
    check('"r1"' in result.err and "--on-changed" in result.err, result)
    result, answers, _ = batch(eddy, api, changed, "--on-changed", "send", *args)
    equal((result.code, len(api.calls), sorted(line["custom_id"] for line in answers)),
          (0, 3, ["r0", "r1"]), result)
    equal([line["response"]["body"] for line in answers if line["custom_id"] == "r1"],
          [{"echo": {"id": "r1", "new": 1}}])
    result, _, _ = batch(eddy, api, changed, *args)
    equal((result.code, len(api.calls)), (0, 3), result)
    return answers


@claim
def changed_request_of_an_answered_id_stops_the_run(eddy):
    changed_request_stops(eddy)


@claim
def changed_request_is_noticed_without_x_meta(eddy):
    answers = changed_request_stops(eddy, "--no-meta")
    check(all("x_meta" not in line for line in answers), answers)


@claim
def answers_of_other_programs_are_not_compared(eddy):
    api = Api(eddy)
    eddy.file("out.jsonl", '{"id":"batch_req_66f5c0b2a1b08190a2f1d2b0e7c3f9d4","custom_id":"r0",'
              '"response":{"status_code":200,"request_id":"a","body":{}},"error":null}\n')
    result, answers, _ = batch(eddy, api, requests(2))
    equal((result.code, api.ids(), len(answers)), (0, ["r1"], 2), result)


@claim
def changed_requests_that_a_kill_interrupts_keep_their_new_answers(eddy):
    api = Api(eddy)
    batch(eddy, api, requests(20))
    changed = "".join(request(i, body={"id": f"r{i}", "new": 1}) for i in range(20))
    slow = Api(eddy, lambda call: (time.sleep(0.1), (200, {}, {"new": True}))[1])
    path, out = eddy.file("in.jsonl", changed), eddy.file("out.jsonl")
    child = eddy.start("batch", path, "-o", out, "--base-url", slow.url, "-c", "2", "--on-changed", "send")
    e2e.wait_until(lambda: len(slow.calls) >= 12, "requests")
    child.kill()
    child.wait()
    sent = len(slow.calls)
    result, answers, _ = batch(eddy, slow, changed, "--on-changed", "send")
    equal((result.code, len(answers)), (0, 20), result)
    check(all(line["response"]["body"] == {"new": True} for line in answers), answers)
    check(len(slow.calls) <= 20 + 4, len(slow.calls), "sent, before the kill", sent)


@claim
def changed_request_that_fails_keeps_the_old_answer(eddy):
    api = Api(eddy, lambda call: (400, {}, {}) if "new" in call.body else (200, {}, {}))
    batch(eddy, api, requests(2))
    result, answers, errors = batch(eddy, api, request(0) + request(1, body={"id": "r1", "new": 1}),
                                    "--on-changed", "send")
    equal((result.code, sorted(line["custom_id"] for line in answers), [line["custom_id"] for line in errors]),
          (1, ["r0", "r1"], ["r1"]), result)


@claim
def number_of_a_bad_line_that_is_also_an_id_stops_the_run(eddy):
    api = Api(eddy)
    content = "oops\n" + request(0).replace('"custom_id": "r0"', '"custom_id": "line-1"')
    result, _, _ = batch(eddy, api, content)
    equal((result.code, api.calls), (3, []), result)


# ---- resuming ------------------------------------------------------------------------------------

@claim
def second_run_sends_nothing_and_failures_are_tried_again(eddy):
    broken = [True]
    api = Api(eddy, lambda call: (400, {}, {}) if broken[0] and call.id in ("r3", "r4") else (200, {}, {}))
    result, answers, errors = batch(eddy, api, requests(10))
    equal((result.code, len(answers), len(errors)), (1, 8, 2), result)
    check("to retry: eddy batch" in result.err, result)
    result, answers, errors = batch(eddy, api, requests(10))
    equal((result.code, len(answers), len(errors), len(api.calls)), (1, 8, 2, 12), result)
    broken[0] = False
    result, answers, errors = batch(eddy, api, requests(10))
    equal((result.code, len(answers), len(errors), len(api.calls)), (0, 10, 0, 14), result)
    check(not os.path.exists(eddy.file("out.errors.jsonl")))
    result, _, _ = batch(eddy, api, requests(10))
    equal((result.code, len(api.calls)), (0, 14), result)


@claim
def killed_runs_lose_no_line_and_send_again_at_most_the_requests_in_flight(eddy):
    api = Api(eddy, lambda call: (time.sleep(random.random() / 100), (200, {}, {"id": call.id}))[1])
    path, out = eddy.file("in.jsonl", requests(1000)), eddy.file("out.jsonl")
    kills, slots, seen = 12, 16, set()
    for _ in range(kills):
        child = eddy.start("batch", path, "-o", out, "--base-url", api.url, "-c", str(slots))
        time.sleep(random.uniform(0.05, 0.5))
        child.kill()
        child.wait()
        data = b""
        if os.path.exists(out):
            with open(out, "rb") as file:
                data = file.read()
        ids = {json.loads(line)["custom_id"] for line in data[:data.rfind(b"\n") + 1].splitlines()}
        check(seen <= ids, "a line was lost", seen - ids)
        seen = ids
    result = eddy.run("batch", path, "-o", out, "--base-url", api.url, "-c", str(slots))
    equal(result.code, 0, result)
    equal(sorted(ids_of(out)), sorted(f"r{i}" for i in range(1000)))
    check(len(api.calls) <= 1000 + kills * slots, len(api.calls))


@claim
def torn_last_line_and_lines_that_are_not_answers_are_moved(eddy):
    api = Api(eddy)
    batch(eddy, api, requests(5))
    out = eddy.file("out.jsonl")
    with open(out, "rb") as file:
        lines = file.read().splitlines(True)
    with open(out, "wb") as file:
        file.write(lines[0] + b"garbage\n" + lines[1] + lines[2] + lines[3][:-30])
    result, answers, _ = batch(eddy, api, requests(5))
    equal((result.code, len(answers), len(api.calls)), (0, 5, 7), result)
    check("moved an incomplete last line, of" in result.err and "moved 1 line that" in result.err, result)
    with open(out + ".rejected", "rb") as file:
        equal(file.read(), b"garbage\n" + lines[3][:-30] + b"\n")


@claim
def second_run_beside_the_first_is_refused(eddy):
    api = Api(eddy, lambda call: (time.sleep(0.5), (200, {}, {}))[1])
    path, out = eddy.file("in.jsonl", requests(10)), eddy.file("out.jsonl")
    first = eddy.start("batch", path, "-o", out, "--base-url", api.url, "-c", "2")
    e2e.wait_until(lambda: api.calls, "the first run")
    result = eddy.run("batch", path, "-o", out, "--base-url", api.url)
    e2e.one_line(result, 6, "another eddy is writing to it")
    equal(first.wait(timeout=60), 0)
    equal(len(ids_of(out)), 10)


@claim
def file_that_is_not_an_output_is_not_touched(eddy):
    out = eddy.file("out.jsonl", "my diary\n")
    path = eddy.file("in.jsonl", requests(1))
    result = eddy.run("batch", path, "-o", out, "--base-url", "http://127.0.0.1:1")
    equal(result.code, 2, result)
    with open(out, encoding="ascii") as file:
        equal(file.read(), "my diary\n")
    result = eddy.run("batch", path, "-o", path, "--base-url", "http://127.0.0.1:1")
    e2e.one_line(result, 2, "this is the input")


# ---- stops ---------------------------------------------------------------------------------------

@claim
def first_ctrl_c_drains_and_the_same_command_resumes(eddy):
    api = Api(eddy, lambda call: (time.sleep(0.3), (200, {}, {}))[1])
    path, out = eddy.file("in.jsonl", requests(40)), eddy.file("out.jsonl")
    child = eddy.start("batch", path, "-o", out, "--base-url", api.url, "-c", "4")
    e2e.wait_until(lambda: len(api.calls) >= 6, "requests")
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=e2e.LIMIT_S)
    equal(child.returncode, 130, err)
    check(b"to resume: eddy batch" in err, err)
    sent = len(api.calls)
    check(sent < 40, sent)
    equal(len(ids_of(out)), sent, "what was in flight has its line")
    result = eddy.run("batch", path, "-o", out, "--base-url", api.url, "-c", "40")
    equal((result.code, len(api.calls)), (0, 40), result)


@claim
def messages_are_not_appended_to_the_bar(eddy):
    go_on = threading.Event()
    api = Api(eddy, lambda call: (go_on.wait(e2e.LIMIT_S), (200, {}, {}))[1])
    child = eddy.start("batch", eddy.file("in.jsonl", requests(3)), "-o", eddy.file("out.jsonl"),
                       "--base-url", api.url, "--progress", "bar")
    err = b""

    def read_to(*ends):
        nonlocal err
        while not err.endswith(ends):
            piece = os.read(child.stderr.fileno(), 65536)
            check(piece, err)
            err += piece

    for signo, end in ((signal.SIGUSR1, b"retry 0\n"), (signal.SIGINT, b"drops them\n")):
        read_to(b"retry 0\033[K")
        child.send_signal(signo)
        read_to(end)
    go_on.set()
    err += child.communicate(timeout=e2e.LIMIT_S)[1]
    for line in err.decode().split("\n"):
        check("\033" not in line.rpartition("\r\033[K")[2], repr(line))
    equal(child.returncode, 130, err)


@claim
def a_terminal_that_closes_drains_the_run(eddy):
    go_on = threading.Event()
    api = Api(eddy, lambda call: (go_on.wait(e2e.LIMIT_S), (200, {}, {}))[1])
    path, out = eddy.file("in.jsonl", requests(40)), eddy.file("out.jsonl")
    child = eddy.start("batch", path, "-o", out, "--base-url", api.url, "-c", "4")
    e2e.wait_until(lambda: len(api.calls) == 4, "requests")
    child.send_signal(signal.SIGHUP)
    first = child.stderr.readline()
    check(b"waiting up to 30s for 4 answers; SIGTERM drops them" in first, first)
    time.sleep(0.3)  # longer than what is taken as a repetition of the same signal
    child.send_signal(signal.SIGHUP)
    go_on.set()
    _, err = child.communicate(timeout=e2e.LIMIT_S)
    equal((child.returncode, len(api.calls), len(ids_of(out))), (129, 4, 4), err)


@claim
def a_run_under_nohup_goes_on_when_the_terminal_closes(eddy):
    go_on = threading.Event()
    api = Api(eddy, lambda call: (go_on.wait(e2e.LIMIT_S), (200, {}, {}))[1])
    path, out = eddy.file("in.jsonl", requests(20)), eddy.file("out.jsonl")
    child = eddy.start("batch", path, "-o", out, "--base-url", api.url, "-c", "4",
                       preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    e2e.wait_until(lambda: len(api.calls) == 4, "requests")
    child.send_signal(signal.SIGHUP)
    go_on.set()
    _, err = child.communicate(timeout=e2e.LIMIT_S)
    equal((child.returncode, len(ids_of(out))), (0, 20), err)


@claim
def second_ctrl_c_drops_the_requests_in_flight(eddy):
    api = Api(eddy, lambda call: (time.sleep(30), (200, {}, {}))[1])
    path, out = eddy.file("in.jsonl", requests(4)), eddy.file("out.jsonl")
    child = eddy.start("batch", path, "-o", out, "--base-url", api.url)
    e2e.wait_until(lambda: len(api.calls) == 4, "requests")
    begin = time.monotonic()
    child.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    child.send_signal(signal.SIGTERM)
    _, err = child.communicate(timeout=e2e.LIMIT_S)
    equal(child.returncode, 143, err)
    check(time.monotonic() - begin < e2e.SOON, err)
    equal(ids_of(out), [])


@claim
def deadline_ends_the_run_resumable(eddy):
    api = Api(eddy, lambda call: (time.sleep(0.1), (200, {}, {}))[1])
    result, answers, _ = batch(eddy, api, requests(200), "-c", "4", "--deadline", "3s")
    equal(result.code, 75, result)
    check(0 < len(answers) < 200, len(answers))
    result, answers, _ = batch(eddy, api, requests(200), "-c", "50")
    equal((result.code, len(answers)), (0, 200), result)


@claim
def exhausted_quota_ends_the_run_at_once_with_the_reason(eddy):
    def answer(call):
        if call.number < 5:
            return 200, {}, {}
        return 429, {}, {"error": {"code": "insufficient_quota", "message": "pay"}}
    api = Api(eddy, answer)
    result, answers, errors = batch(eddy, api, requests(100), "-c", "2")
    equal((result.code, len(answers), errors), (5, 5, []), result)
    check("quota" in result.err and len(api.calls) <= 9, result, len(api.calls))


@claim
def max_errors_and_max_cost_end_the_run(eddy):
    api = Api(eddy, lambda call: (400, {}, {}))
    result, _, errors = batch(eddy, api, requests(100), "-c", "1", "--max-errors", "3")
    equal((result.code, len(errors)), (5, 4), result)
    usage = {"usage": {"prompt_tokens": 1000, "completion_tokens": 1000, "total_tokens": 2000}}
    api = Api(eddy, lambda call: (200, {}, usage))
    path = eddy.file("other.jsonl", requests(100))
    result = eddy.run("batch", path, "-o", eddy.file("o"), "--base-url", api.url, "-c", "1",
                      "--price", "1/2", "--max-cost", "0.01")
    equal((result.code, len(api.calls)), (5, 4), result)
    check("cost 0.012" in result.err, result)


# ---- pace ----------------------------------------------------------------------------------------

@claim
def refusal_pauses_only_its_endpoint_and_uses_no_attempt(eddy):
    refused = []

    def answer(call):
        if not refused:
            refused.append(call.at)
            return 429, {"Retry-After": "3"}, {}
        time.sleep(0.02)
        return 200, {}, {}
    one, two = Api(eddy, answer), Api(eddy, lambda call: (time.sleep(0.04), (200, {}, {}))[1])
    path, out = eddy.file("in.jsonl", requests(200)), eddy.file("out.jsonl")
    result = eddy.run("batch", path, "-o", out, "--base-url", one.url, "--base-url", two.url, "-c", "2",
                      "--max-attempts", "1", "--ramp", "0s")
    equal((result.code, len(ids_of(out))), (0, 200), result)
    pause = [call.at - refused[0] for call in one.calls if call.at > refused[0] + 0.2]
    check(pause and min(pause) >= 3, "requests in the pause", pause[:3])
    check(sum(call.at < refused[0] + 2.5 for call in two.calls) > 20, "the other went on")
    check(all(line["x_meta"]["attempts"] == 1 for line in lines_of(out)))


@claim
def pause_longer_than_allowed_ends_the_run_resumable(eddy):
    api = Api(eddy, lambda call: (429, {"Retry-After": "7200"}, {}))
    result, answers, errors = batch(eddy, api, requests(5), "-c", "1")
    equal((result.code, answers, errors, len(api.calls)), (75, [], [], 1), result)
    check("--max-throttle-wait" in result.err, result)
    # Without a time: the first pause takes half a second or more.
    api = Api(eddy, lambda call: (429, {}, {}))
    result, _, _ = batch(eddy, api, requests(5), "-c", "1", "--max-throttle-wait", "10ms")
    equal((result.code, len(api.calls)), (75, 1), result)
    check(re.search(r"has refused all requests since its last answer, with the next pause for (\d{3}ms|1.0s), longer than "
                    "--max-throttle-wait 10ms", result.err), result)


@claim
def rpm_holds_for_each_endpoint_with_retries(eddy):
    fails = [True] * 10
    api = Api(eddy, lambda call: (500, {}, {}) if fails and fails.pop() else (200, {}, {}))
    begin = time.monotonic()
    result, answers, _ = batch(eddy, api, requests(20), "--rpm", "600", "--retry-base", "1ms")
    equal((result.code, len(answers), len(api.calls)), (0, 20, 30), result)
    check(time.monotonic() - begin > 1.9, "30 attempts at 10 a second")


@claim
def rpm_is_a_limit_of_each_endpoint_in_each_second(eddy):
    apis = Api(eddy), Api(eddy)
    path, out = eddy.file("in.jsonl", requests(60)), eddy.file("out.jsonl")
    result = eddy.run("batch", path, "-o", out, "--base-url", apis[0].url, "--base-url", apis[1].url,
                      "--rpm", "600", "--ramp", "0s")
    equal((result.code, len(ids_of(out))), (0, 60), result)
    for api in apis:
        times = [call.at for call in api.calls]
        check(len(times) >= 20, len(times), "of 60")
        # The server notes a request later than the program sends it, by different times.
        check(all(times[i + 20] - times[i] > 0.9 for i in range(len(times) - 20)), times)


def gaps_of(api):
    return [later.at - call.at for call, later in zip(api.calls, api.calls[1:])]


@claim
def limits_are_learned_from_headers(eddy):
    def answer(headers):
        return lambda call: (200, headers(), {})

    def later(seconds):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
    lines = "".join(request(i, body={"id": f"r{i}", "max_tokens": 500}) for i in range(3))
    # Tokens are full after 2 s, so half of them, a request, after 1 s; times are in whole seconds.
    # Requests are refused until the time.
    for name, headers, least in (
            ("openai", lambda: {"x-ratelimit-limit-tokens": "1000", "x-ratelimit-remaining-tokens": "0",
                                "x-ratelimit-reset-tokens": "2s"}, 1),
            ("anthropic", lambda: {"anthropic-ratelimit-tokens-limit": "1000",
                                   "anthropic-ratelimit-tokens-remaining": "0",
                                   "anthropic-ratelimit-tokens-reset": later(3)}, 1),
            ("seconds", lambda: {"X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "0",
                                 "X-RateLimit-Reset": "2"}, 2)):
        api = Api(eddy, answer(headers))
        path, out = eddy.file(name, lines), eddy.file(name + ".out")
        result = eddy.run("batch", path, "-o", out, "--base-url", api.url, "-c", "1")
        equal((result.code, len(api.calls)), (0, 3), name, result)
        # The second request waited for the slot of the first, after its turn at the limit.
        check(gaps_of(api)[1] >= least - 0.01, name, gaps_of(api))


@claim
def wish_of_the_server_about_a_retry_decides(eddy):
    wishes = {"r0": (400, "true"), "r1": (500, "false"), "r2": (429, "false"), "r3": (500, "maybe")}

    def answer(call):
        first = sum(other.id == call.id for other in api.calls) == 1
        status, wish = wishes[call.id]
        return (status, {"x-should-retry": wish}, {}) if first else (200, {}, {})
    api = Api(eddy, answer)
    result, answers, errors = batch(eddy, api, requests(4), "--retry-base", "1ms")
    equal((result.code, sorted(line["custom_id"] for line in answers)), (1, ["r0", "r3"]), result)
    equal({line["custom_id"]: (line["response"]["status_code"], line["x_meta"]["attempts"])
           for line in errors}, {"r1": (500, 1), "r2": (429, 1)}, result)


@claim
def wait_of_the_server_is_kept_in_each_form(eddy):
    def date(seconds):
        return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + seconds))
    day = 24 * 3600
    # Milliseconds before seconds; dates beside the server's own clock, a day ahead or behind.
    forms = {"ms": (lambda: {"retry-after-ms": "1500", "Retry-After": "60"}, 1.5),
             "part": (lambda: {"Retry-After": "1.5"}, 1.5),
             "ahead": (lambda: {"Date": date(day), "Retry-After": date(day + 2)}, 2),
             "behind": (lambda: {"Date": date(-day), "Retry-After": date(2 - day)}, 2)}

    def keeps(status, name):
        headers, wait = forms[name]
        api = Api(eddy, lambda call: (200, {}, {}) if call.number else (status, headers(), {}))
        path, out = eddy.file(f"{name}-{status}", requests(1)), eddy.file(f"{name}-{status}.out")
        result = eddy.run("batch", path, "-o", out, "--base-url", api.url, "--max-attempts", "1")
        equal((result.code, len(api.calls)), (0, 2), name, status, result)
        check(wait <= gaps_of(api)[0] < e2e.SOON, name, status, gaps_of(api))
    side_by_side(keeps, [(status, name) for status in (429, 503) for name in forms])


@claim
def request_above_the_token_limit_fails_at_once(eddy):
    api = Api(eddy)
    content = request(0) + "".join(request(i, body={"id": f"r{i}", "max_tokens": most})
                                   for i, most in enumerate((5000, 10**30), 1))
    result, answers, errors = batch(eddy, api, content, "--tpm", "1000")
    equal((result.code, len(answers), len(errors)), (1, 1, 2), result)
    equal({line["error"]["code"] for line in errors}, {"token_estimate_exceeds_limit"})


@claim
def least_loaded_base_url_gets_the_request(eddy):
    slow = Api(eddy, lambda call: (time.sleep(0.5), (200, {}, {}))[1])
    fast = Api(eddy)
    path, out = eddy.file("in.jsonl", requests(300)), eddy.file("out.jsonl")
    result = eddy.run("batch", path, "-o", out, "--base-url", slow.url, "--base-url", fast.url, "-c", "8")
    equal((result.code, len(ids_of(out))), (0, 300), result)
    check(len(fast.calls) > 3 * len(slow.calls), len(fast.calls), len(slow.calls))


@claim
def ordered_output_has_the_order_of_the_input(eddy):
    api = Api(eddy, lambda call: (time.sleep(random.random() / 20), (200, {}, {}))[1])
    result, answers, _ = batch(eddy, api, requests(300), "-c", "20", "--ordered")
    equal((result.code, [line["custom_id"] for line in answers]), (0, [f"r{i}" for i in range(300)]))


@claim
def adaptive_concurrency_finds_the_capacity(eddy):
    busy = []

    def answer(call):
        busy.append(1)
        try:
            if len(busy) > 20:
                return 429, {"Retry-After": "0"}, {}
            time.sleep(0.02)
            return 200, {}, {}
        finally:
            busy.pop()
    api = Api(eddy, answer)
    result, answers, _ = batch(eddy, api, requests(1000), "-c", "auto")
    equal((result.code, len(answers)), (0, 1000), result)
    check(len(api.calls) < 1300, len(api.calls))


# ---- secrets -------------------------------------------------------------------------------------

@claim
def api_key_goes_to_the_base_url_only_and_is_never_shown(eddy):
    key = "sk-very-secret"
    api, other = Api(eddy), Api(eddy)
    path = eddy.file("in.jsonl", request(0) + json.dumps(
        {"custom_id": "o", "method": "POST", "url": other.url + "/steal", "body": {"id": "o"}}) + "\n")
    out, log = eddy.file("out.jsonl"), eddy.file("log")
    result = eddy.run("batch", path, "-o", out, "--base-url", api.url, "--api-key-env", "MY_KEY",
                      "--log", log, "-H", "X-Token: hidden-token", env={**os.environ, "MY_KEY": key})
    equal(result.code, 0, result)
    equal(api.calls[0].headers["authorization"], "Bearer " + key)
    check("authorization" not in other.calls[0].headers, other.calls[0].headers)
    with open(out, encoding="utf-8") as a, open(log, encoding="utf-8") as b:
        text = a.read() + b.read() + result.err + result.out
    check(key not in text and "hidden-token" not in text, text)
    equal(len(text.splitlines()) > 2, True)


@claim
def secrets_are_not_in_the_commands_and_errors_shown(eddy):
    api = Api(eddy, lambda call: (400, {}, {}))
    base = api.url.replace("http://", "http://user:s3cret@")
    line = json.dumps({"custom_id": "h", "url": "/x", "body": {}, "headers": "Authorization: s3cret"})
    for header in (("-kH", "X-Key: s3cret"), ("--head", "X-Key: s3cret"), ("--header=X-Key: s3cret",)):
        path, out = eddy.file("in.jsonl", line + "\n" + request(1)), eddy.file("out.jsonl")
        log = eddy.file("log")
        for summary in ("text", "json"):
            result = eddy.run("batch", path, "-o", out, "--base-url", base, *header, "--summary", summary,
                              "--log", log, "--progress", "json")
            equal(result.code, 1, result)
            files = [eddy.file("out.errors.jsonl"), out, log]
            text = result.err + "".join(open(name, encoding="utf-8").read() for name in files)
            check("s3cret" not in text, text)
            check("eddy batch" in text and api.url in text, text)
    check(any(call.headers.get("x-key") == "s3cret" for call in api.calls))


@claim
def log_that_is_the_output_is_refused(eddy):
    path, out = eddy.file("in.jsonl", requests(1)), eddy.file("out.jsonl")
    result = eddy.run("batch", path, "-o", out, "--base-url", "http://127.0.0.1:1", "--log", out)
    equal(result.code, 2, result)


@claim
def base_url_that_cannot_be_one_is_refused(eddy):
    path = eddy.file("in.jsonl", requests(1))
    for base in ("http://", "http://exa mple", "http://h:99999", "http://h/#", "http://h/x?v=1", "h:80",
                 "http://:80"):
        result = eddy.run("batch", path, "--base-url", base)
        e2e.one_line(result, 2, "--base-url")
    result = eddy.run("batch", path, "--base-url", "http://h", "--base-url", "http://H/")
    e2e.one_line(result, 2, "given twice")


def handles(child, signo):
    """Whether the program ignores or handles that signal, or has ended."""
    with open(f"/proc/{child.pid}/status", encoding="ascii") as file:
        masks = [int(line.split()[1], 16) for line in file if line.startswith(("SigIgn:", "SigCgt:"))]
    return not masks or any(mask >> (signo - 1) & 1 for mask in masks)


@claim
def usr1_during_the_check_does_not_end_the_run(eddy):
    api = Api(eddy)
    path = eddy.file("in.jsonl", requests(20000))
    child = eddy.start("batch", path, "-o", eddy.file("out"), "--base-url", api.url, "--limit", "1")
    # The signal of a program that has not begun yet ends it.
    e2e.wait_until(lambda: handles(child, signal.SIGUSR1), "the program")
    for _ in range(40):
        if child.poll() is not None:
            break
        child.send_signal(signal.SIGUSR1)
        time.sleep(0.01)
    _, err = child.communicate(timeout=e2e.LIMIT_S)
    equal(child.returncode, 0, err)


@claim
def server_that_refuses_with_no_time_to_wait_is_not_hammered(eddy):
    def is_not_hammered(slots):
        api = Api(eddy, lambda call: (429, {"Retry-After": "0"}, {}))
        path = eddy.file(f"in-{slots}.jsonl", requests(100))
        result = eddy.run("batch", path, "-o", eddy.file(f"out-{slots}"), "--base-url", api.url, "-c", slots,
                          "--deadline", "4s")
        equal(result.code, 75, result)
        check(len(api.calls) < 300, slots, len(api.calls))
    side_by_side(is_not_hammered, [("50",), ("auto",)])


@claim
def absolute_urls_of_a_paused_base_do_not_stop_the_other_one(eddy):
    bad, good = Api(eddy, lambda call: (429, {"Retry-After": "60"}, {})), Api(eddy)
    content = "".join(request(i, url=bad.url + "/v1/echo") if i % 10 == 0 else request(i) for i in range(400))
    path, out = eddy.file("in.jsonl", content), eddy.file("out.jsonl")
    result = eddy.run("batch", path, "-o", out, "--base-url", bad.url, "--base-url", good.url, "-c", "8",
                      "--deadline", "15s")
    equal((result.code, len(ids_of(out)) >= 300), (75, True), len(ids_of(out)), result)


@claim
def header_values_are_not_in_the_process_list(eddy):
    api = Api(eddy, lambda call: (time.sleep(1), (200, {}, {}))[1])
    path = eddy.file("in.jsonl", requests(1))
    child = eddy.start("batch", path, "-o", eddy.file("out"), "--base-url", api.url, "-H",
                       "Authorization: Bearer abc")
    e2e.wait_until(lambda: api.calls, "a request")
    with open(f"/proc/{child.pid}/cmdline", encoding="utf-8") as file:
        check("abc" not in file.read())
    equal(api.calls[0].headers["authorization"], "Bearer abc")
    equal(child.wait(timeout=60), 0)


@claim
def refused_api_key_ends_the_run_at_once(eddy):
    api = Api(eddy, lambda call: (401, {}, {"error": {"code": "invalid_api_key"}}))
    key = eddy.file("key", "sk-wrong\n")
    result, answers, errors = batch(eddy, api, requests(100), "-c", "1", "--api-key-file", key)
    equal((result.code, answers, len(errors), len(api.calls)), (5, [], 5, 5), result)
    check("refuses the API key" in result.err and "sk-wrong" not in result.err, result)


# ---- seen from outside ---------------------------------------------------------------------------

@claim
def json_summary_is_an_openai_batch(eddy):
    api = Api(eddy, lambda call: (400 if call.id == "r3" else 200, {}, {}))
    result, _, _ = batch(eddy, api, requests(4), "--summary", "json")
    summary = json.loads(result.err.splitlines()[-1])
    equal((summary["object"], summary["status"], summary["request_counts"]),
          ("batch", "completed", {"total": 4, "completed": 3, "failed": 1}), result)
    check(summary["x_eddy"]["retry_command"].startswith("eddy batch "), summary)


@claim
def requests_that_wait_for_a_retry_when_the_run_is_stopped_are_reported(eddy):
    api = Api(eddy, lambda call: (500, {"Retry-After": "600"}, {}))
    child = eddy.start("batch", eddy.file("in.jsonl", requests(3)), "-o", eddy.file("out"), "--base-url", api.url,
                       "--progress", "json", "--ramp", "0s")

    def all_wait():
        child.send_signal(signal.SIGUSR1)
        return json.loads(child.stderr.readline())["in_flight"] == 0 and len(api.calls) == 3
    e2e.wait_until(lambda: len(api.calls) == 3, "requests")
    e2e.wait_until(all_wait, "the answers")
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=e2e.LIMIT_S)
    check(b"nothing is in flight; waiting for a retry, and cancelled: 3 requests\n" in err, err)
    check(b"not done: 3 cancelled\n" in err, err)


@claim
def requests_beyond_the_limit_are_in_the_summary(eddy):
    failing = {f"r{i}" for i in range(4)}
    api = Api(eddy, lambda call: (400 if call.id in failing else 200, {}, {}))
    result, _, _ = batch(eddy, api, requests(9), "--limit", "4", "-c", "1")
    check(result.code == 1 and "not done: 5 beyond --limit\n" in result.err, result)
    failing.clear()
    result, _, errors = batch(eddy, api, requests(9), "--limit", "3", "-c", "1")
    equal((result.code, len(errors)), (0, 1), result)
    check("not done: 6 beyond --limit\n" in result.err and "stopped by --limit\n" in result.err, result)
    # The command that follows sends all that is left.
    check(re.search("answers in .*: 3 of 9; failures in .*: 1\nto resume: eddy batch .* -c 1 ", result.err), result)
    check("--limit 3" not in result.err, result)
    result, _, _ = batch(eddy, api, requests(9), "--limit=2", "-c", "1", "--summary", "json")
    summary = json.loads(result.err.splitlines()[-1])
    equal((result.code, summary["status"], summary["request_counts"]),
          (0, "cancelled", {"total": 9, "completed": 5, "failed": 0}), result)
    equal((summary["x_eddy"]["stopped"], summary["x_eddy"]["beyond_limit"]), ("limit", 4), summary)
    command = summary["x_eddy"]["retry_command"]
    check(command.startswith("eddy batch ") and "limit" not in command, summary)
    result, _, _ = batch(eddy, api, requests(9), "--limit", "4", "-c", "1")
    check(result.code == 0 and "limit\n" not in result.err and "to resume" not in result.err, result)
    result = eddy.run("batch", "-", "-o", eddy.file("piped"), "--base-url", api.url, "--limit", "4",
                      stdin=requests(9).encode())
    check(result.code == 0 and "stopped by --limit\n" in result.err, result)
    check("not done: the rest of the input, which was not read\n" in result.err, result)


@claim
def usr1_prints_the_progress(eddy):
    api = Api(eddy, lambda call: (time.sleep(1), (200, {}, {}))[1])
    child = eddy.start("batch", eddy.file("in.jsonl", requests(2)), "-o", eddy.file("out"), "--base-url",
                       api.url, "--progress", "json")
    e2e.wait_until(lambda: len(api.calls) == 2, "requests")
    child.send_signal(signal.SIGUSR1)
    line = json.loads(child.stderr.readline())
    equal((line["total"], line["in_flight"]), (2, 2), line)
    equal(child.wait(timeout=60), 0)


@claim
def metrics_are_served_during_the_run(eddy):
    hold = threading.Event()
    eddy.stack.callback(hold.set)
    api = Api(eddy, lambda call: (call.number > 0 and hold.wait(60), (200, {}, {}))[1])
    child = eddy.start("batch", eddy.file("in.jsonl", requests(2)), "-o", eddy.file("out"), "--base-url",
                       api.url, "--metrics", "127.0.0.1:0", "--progress", "off")
    url = child.stderr.readline().decode().split()[-1]
    e2e.wait_until(lambda: lines_so_far(eddy.file("out")) > 0, "the first answer")
    with urllib.request.urlopen(url) as page:
        text = page.read().decode()
    check(f'batch_attempts_total{{endpoint="{api.url}",result="200"}} 1' in text and "batch_in_flight 1" in text, text)
    hold.set()
    equal(child.wait(timeout=60), 0)


@claim
def pretty_printed_answers_become_one_line_each(eddy):
    body = json.dumps({"data": [{"a": [1, 2.50, "x\ny"]}], "usage": {"prompt_tokens": 1}}, indent=4)
    result, answers, _ = batch(eddy, Api(eddy, lambda call: (200, {}, body.encode())), requests(3))
    equal((result.code, len(answers)), (0, 3), result)
    equal(answers[0]["response"]["body"], json.loads(body))


@claim
def answers_that_are_not_json_objects_are_wrapped(eddy):
    bodies = {"r0": b"[1,2]", "r1": b"hello", "r2": b"\xff\x00", "r3": b""}
    result, answers, _ = batch(eddy, Api(eddy, lambda call: (200, {}, bodies[call.id])), requests(4))
    equal({line["custom_id"]: line["response"]["body"] for line in answers},
          {"r0": {"_json": [1, 2]}, "r1": {"_text": "hello"}, "r2": {"_base64": "/wA="}, "r3": {}}, result)


@claim
def full_disk_keeps_whole_lines_and_the_run_resumes(eddy):
    api = Api(eddy)
    path, out = eddy.file("in.jsonl", requests(400)), eddy.file("out.jsonl")
    command = f"ulimit -f 20; exec '{eddy.path}' batch '{path}' -o '{out}' --base-url {api.url}"
    child = eddy.start("-c", command, executable="/bin/bash")
    _, err = child.communicate(timeout=e2e.LIMIT_S)
    equal(child.returncode, 4, err)
    check(0 < len(ids_of(out)) < 400, len(ids_of(out)))
    result = eddy.run("batch", path, "-o", out, "--base-url", api.url)
    equal((result.code, sorted(ids_of(out))), (0, sorted(f"r{i}" for i in range(400))), result)


@claim
def output_that_is_moved_during_a_run_is_reported_and_loses_nothing(eddy):
    api = Api(eddy, lambda call: (time.sleep(0.2), (200, {}, {}))[1])
    path, out = eddy.file("in.jsonl", requests(10)), eddy.file("out.jsonl")
    child = eddy.start("batch", path, "-o", out, "--base-url", api.url, "-c", "2")
    e2e.wait_until(lambda: os.path.exists(out) and os.path.getsize(out) > 0, "an answer")
    os.rename(out, out + ".old")
    _, err = child.communicate(timeout=e2e.LIMIT_S)
    equal(child.returncode, 4, err)
    check(b"was moved during the run" in err and b"move it back" in err, err)
    equal(sorted(ids_of(out + ".old")), sorted(f"r{i}" for i in range(10)))
    os.rename(out + ".old", out)
    result = eddy.run("batch", path, "-o", out, "--base-url", api.url)
    equal((result.code, len(api.calls)), (0, 10), result)


@claim
def errors_file_that_is_replaced_during_a_run_is_not_touched(eddy):
    broken = [True]

    def answer(call):
        time.sleep(0.1)
        return (400 if broken[0] and call.id in ("r0", "r9") else 200), {}, {}
    api = Api(eddy, answer)
    path, out = eddy.file("in.jsonl", requests(10)), eddy.file("out.jsonl")
    errors = eddy.file("out.errors.jsonl")
    batch(eddy, api, requests(10))
    equal(sorted(ids_of(errors)), ["r0", "r9"])
    broken[0] = False
    child = eddy.start("batch", path, "-o", out, "--base-url", api.url)
    e2e.wait_until(lambda: len(api.calls) > 10, "the second run")
    with open(errors + ".other", "w", encoding="ascii") as file:
        file.write("theirs\n")
    os.rename(errors + ".other", errors)
    _, err = child.communicate(timeout=e2e.LIMIT_S)
    equal(len(ids_of(out)), 10, err)
    with open(errors, encoding="ascii") as file:
        equal(file.read(), "theirs\n", err)
    # The file that the run had opened has no name any more: its lines were old ones.
    equal(child.returncode, 0, err)


@claim
def log_has_the_attempts_that_were_made_and_no_other(eddy):
    api = Api(eddy, lambda call: (500 if call.number < 3 else 200, {}, {}))
    log = eddy.file("log.jsonl")
    result, answers, errors = batch(eddy, api, requests(5) + "oops\n", "--log", log, "--retry-base",
                                    "1ms")
    equal((result.code, len(answers), len(errors)), (1, 5, 1), result)
    attempts = lines_of(log)
    equal(sorted(line["custom_id"] for line in attempts), sorted(api.ids()), attempts)
    equal(sorted(line["status"] for line in attempts), [200] * 5 + [500] * 3, attempts)
    result, _, _ = batch(eddy, api, requests(5) + "oops\n", "--log", log)
    equal((result.code, lines_of(log)), (1, attempts), result)


@claim
def log_says_that_the_end_of_the_run_dropped_an_attempt(eddy):
    done = threading.Event()
    eddy.stack.callback(done.set)

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))

    # The line of the last request is too long; the log goes to a pipe.
    api = Api(eddy, lambda call: (200, {}, {"text": "x" * 1000}) if call.number == 3 else (done.wait(), (200, {}, {}))[1])
    result = eddy.run("batch", eddy.file("in.jsonl", requests(4)), "-o", eddy.file("out.jsonl"), "--base-url", api.url,
                      "--ramp", "0s", "--log", "/dev/stdout", preexec_fn=limit)
    equal(result.code, 4, result)
    equal(sorted(json.loads(line)["cause"] for line in result.out.splitlines()), ["", *["cancelled"] * 3], result)


if __name__ == "__main__":
    e2e.main()
