"""test_batch_vendors - `eddy batch` against the dialects of `eddy mock --vendor`, and against other
refusals of vendors' APIs: what waits counts no attempt, and what waiting does not help ends the run.
"""
import json
import subprocess
import time

import e2e
from batch_api import Api, lines_of
from batch_api import requests as echo_requests
from e2e import check, claim, equal

# Those whose refusals state the time until a retry in themselves.
TIMED = {"anthropic", "gemini", "groq", "openrouter", "github"}
# Those whose answers have headers of limits.
SHOWN = {"openai", "anthropic", "groq", "cerebras", "mistral", "moonshot", "github"}
# Those whose quota is one of a day.
DAILY = {"groq", "cerebras", "github"}


def vendors_of(path):
    result = subprocess.run([path, "mock", "--vendor", "help"], capture_output=True, text=True,
                            timeout=e2e.LIMIT_S, check=True)
    return result.stdout.split()


def requests(count):
    return "".join(json.dumps({"custom_id": f"r{i}", "method": "POST", "url": "/v1/embeddings",
                               "body": {"model": "m", "input": "x"}}) + "\n" for i in range(count))


def run(eddy, name, url, text, *options):
    """Returns the result, the lines of answers and errors, and the summary."""
    out = eddy.file(f"{name}.jsonl")
    result = eddy.run("batch", eddy.file(f"{name}-in.jsonl", text), "-o", out, "--base-url", url,
                      "-c", "1", "--retry-base", "1ms", "--progress", "off", "--summary", "json",
                      *options)
    summary = json.loads(result.err.splitlines()[-1])["x_eddy"]
    return result, lines_of(out), lines_of(eddy.file(f"{name}.errors.jsonl")), summary


def each_vendor(eddy, work, *options):
    """Call work(vendor, url) with a mock for each vendor."""
    for vendor in vendors_of(eddy.path):
        url = eddy.mock("--vendor", vendor, *options)
        child = eddy.child
        try:
            work(vendor, url)
        finally:
            child.terminate()
            child.wait()


@claim
def list_of_vendors_is_printed_and_a_wrong_name_is_refused(eddy):
    vendors = vendors_of(eddy.path)
    check(len(vendors) == 10 and vendors[0] == "openai", vendors)
    result = eddy.run("mock", "--vendor", "nothing")
    equal(result.code, 2, result)
    check(all(vendor in result.err for vendor in vendors), result)
    check((TIMED | SHOWN | DAILY) <= set(vendors), vendors)


@claim
def refusal_of_each_vendor_counts_no_attempt(eddy):
    def work(vendor, url):
        result, answers, errors, summary = run(eddy, f"wait-{vendor}", url, requests(3))
        equal((result.code, len(answers), errors), (0, 3, []), vendor, result)
        equal({line["x_meta"]["attempts"] for line in answers}, {1}, vendor, answers)
        equal(summary["refused"], 1, vendor, result)
    each_vendor(eddy, work, "--refuse", "1:100ms")


@claim
def time_in_the_refusal_of_each_vendor_is_obeyed(eddy):
    def work(vendor, url):
        if vendor not in TIMED:
            return
        result, answers, errors, _ = run(eddy, f"long-{vendor}", url, requests(3),
                                         "--max-throttle-wait", "1m")
        equal((result.code, answers, errors), (75, [], []), vendor, result)
        check("pause of 2h" in result.err or "used up for 2h" in result.err, vendor, result)
    each_vendor(eddy, work, "--refuse", "1:2h")


@claim
def limits_in_the_headers_of_each_vendor_are_obeyed(eddy):
    def work(vendor, url):
        if vendor not in SHOWN:
            return
        result, answers, errors, _ = run(eddy, f"limit-{vendor}", url, requests(3),
                                         "--max-throttle-wait", "10s")
        equal((result.code, len(answers), errors), (75, 1, []), vendor, result)
        check("longer than --max-throttle-wait 10" in result.err, vendor, result)
    each_vendor(eddy, work, "--rpm", "1")


@claim
def quota_of_each_vendor_ends_the_run(eddy):
    def work(vendor, url):
        result, answers, errors, _ = run(eddy, f"spent-{vendor}", url, requests(3))
        equal((result.code, len(answers), errors), (75 if vendor in DAILY else 5, 1, []), vendor,
              result)
        check(("longer than --max-throttle-wait" if vendor in DAILY else "is used up") in result.err,
              vendor, result)
    each_vendor(eddy, work, "--quota", "1")


def once(status, headers, body):
    """A server that refuses its first request."""
    return lambda call: (status, headers, body) if call.number == 0 else (200, {}, {})


@claim
def statuses_that_vendors_refuse_with_wait_if_they_state_a_time(eddy):
    capacity = {"error": {"code": "capacity_exceeded", "message": "m"}}
    flight = {"error": {"code": 402, "metadata": {"reason": "in_flight_budget_exhausted"}}}
    past = str(int(time.time()) - 100)
    waits = [(402, {"Retry-After": "0"}, flight), (403, {"Retry-After": "0"}, {}),
             (420, {"X-RateLimit-Retry-After": "0"}, {}), (429, {"Retry-After": past}, {}),
             (429, {"Retry-After": past + "000"}, {}), (498, {}, capacity), (503, {"Retry-After": past}, {})]
    for number, answer in enumerate(waits):
        api = Api(eddy, once(*answer))
        result, answers, _, summary = run(eddy, f"wait-{number}", api.url, echo_requests(2))
        equal((result.code, len(answers), summary["refused"]), (0, 2, 1), answer, result)
        equal({line["x_meta"]["attempts"] for line in answers}, {1}, answer)
    # Too large a request says nothing about the others (RFC 9110, 15.5.14).
    api = Api(eddy, once(413, {"Retry-After": "0"}, {}))
    result, answers, _, summary = run(eddy, "large", api.url, echo_requests(2))
    equal((result.code, summary["refused"], sorted(line["x_meta"]["attempts"] for line in answers)), (0, 0, [1, 2]), result)
    # The request does not wait for a time that is longer than --max-throttle-wait.
    result, answers, errors, _ = run(eddy, "larger", Api(eddy, once(413, {"Retry-After": "7200"}, {})).url, echo_requests(9))
    equal((result.code, len(answers), len(errors)), (1, 8, 1), result)
    finals = [(403, {}, {"message": "Resource not accessible"}), (413, {}, {}), (420, {}, {}), (498, {}, {})]
    for number, answer in enumerate(finals):
        api = Api(eddy, once(*answer))
        result, answers, errors, summary = run(eddy, f"final-{number}", api.url, echo_requests(2))
        equal((result.code, len(answers), len(errors), summary["refused"]), (1, 1, 1, 0), answer, result)


@claim
def request_that_is_too_large_for_the_limit_of_openai_is_refused_as_its_answer(eddy):
    body = {"error": {"message": "Request too large for m on tokens per min (TPM): Limit 30000, Requested 40000.",
                      "type": "tokens", "code": "rate_limit_exceeded"}}
    result, lines, errors, summary = run(eddy, "large", Api(eddy, lambda call: (429, {}, body)).url, echo_requests(1))
    equal((result.code, lines, summary["refused"]), (1, [], 0), result)
    equal(errors[0]["x_meta"]["attempts"], 6, errors)


@claim
def request_that_is_refused_for_ever_is_an_error_and_the_others_are_answered(eddy):
    bad = {"r300", "r500"}
    api = Api(eddy, lambda call: (429, {}, {}) if call.id in bad else (200, {}, {}))
    result, answers, errors, summary = run(eddy, "own", api.url, echo_requests(1000), "--max-throttle-wait", "3s", "--max-attempts", "3")
    equal((result.code, len(answers)), (1, 998), result)
    equal([(line["custom_id"], line["response"]["status_code"]) for line in sorted(errors, key=lambda line: line["custom_id"])],
          [("r300", 429), ("r500", 429)], result)
    equal({line["x_meta"]["attempts"] for line in answers}, {1}, result)
    # The next run has only these: each is sent --max-attempts times.
    calls = len(api.calls)
    result, answers, errors, summary = run(eddy, "own", api.url, echo_requests(1000), "--max-attempts", "3")
    equal((result.code, len(errors), len(api.calls) - calls), (1, 2, 6), result)


@claim
def limit_for_all_counts_no_attempt(eddy):
    api = Api(eddy, lambda call: (429, {}, {}) if call.number % 40 == 39 else (200, {}, {}))
    result, answers, errors, summary = run(eddy, "pace", api.url, echo_requests(300), "--max-attempts", "1")
    equal((result.code, len(answers), errors, summary["refused"]), (0, 300, [], 7), result)
    equal({line["x_meta"]["attempts"] for line in answers}, {1}, result)


@claim
def rate_limit_of_github_without_a_time_waits_a_minute(eddy):
    body = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
            "documentation_url": "https://docs.github.com/"}
    api = Api(eddy, once(403, {}, body))
    result, answers, errors, _ = run(eddy, "minute", api.url, echo_requests(2), "--max-throttle-wait", "59s")
    equal((result.code, answers, errors, len(api.calls)), (75, [], [], 1), result)
    check("pause of 1m" in result.err, result)


@claim
def answers_of_a_key_without_credit_end_the_run_and_name_the_cause(eddy):
    codes = [(429, "insufficient_quota"), (429, "credit_balance_exhausted"), (429, "project_spend_limit_exceeded"),
             (400, "billing_hard_limit_reached"), (429, "exceeded_current_quota_error"), (402, "billing_error")]
    texts = [(400, "Your credit balance is too low to access the Anthropic API.", "Your credit balance is too low"),
             (429, "Your prepayment credits are depleted.", "Your prepayment credits are depleted"),
             (402, "Insufficient Balance", "Insufficient Balance"), (402, "pay", "402")]
    cases = [(status, {"error": {"type": code, "message": "m"}}, code) for status, code in codes]
    cases += [(status, {"type": "error", "error": {"message": text}}, word) for status, text, word in texts]
    for number, (status, body, word) in enumerate(cases):
        api = Api(eddy, lambda call: (status, {}, body))
        result, answers, errors, _ = run(eddy, f"credit-{number}", api.url, echo_requests(20))
        equal((result.code, answers, errors, len(api.calls)), (5, [], [], 1), status, body, result)
        check(f"the quota of this API key is used up ({word}" in result.err, status, body, result)


@claim
def times_of_day_as_numbers_are_times_from_now(eddy):
    later = int(time.time()) + 7200 + 1800
    for number, (name, value) in enumerate([
            ("Retry-After", str(later)), ("Retry-After", f"{later}000"), ("X-RateLimit-Retry-After", str(later)),
            ("X-RateLimit-Retry-After", "9000"), ("retry-after-ms", f"{later}000")]):
        api = Api(eddy, once(429, {name: value}, {}))
        result, answers, errors, _ = run(eddy, f"time-{number}", api.url, echo_requests(2))
        equal((result.code, answers, errors), (75, [], []), name, value, result)
        check("pause of 2h" in result.err, name, value, result)


@claim
def malformed_times_are_ignored(eddy):
    for number, value in enumerate(["-5", "nan", "soon", "1e3", "inf"]):
        api = Api(eddy, once(429, {"Retry-After": value}, {}))
        result, answers, _, summary = run(eddy, f"odd-{number}", api.url, echo_requests(1))
        equal((result.code, len(answers), summary["refused"]), (0, 1, 1), value, result)


if __name__ == "__main__":
    e2e.main()
