"""test_batch_hosts - `eddy batch` with several servers: one that takes nothing does not hold up the
others.
"""
import os
import subprocess
import threading
import time

import e2e
from batch_api import Api, ids_of, lines_of, request
from e2e import check, claim, equal
from memory import peak_mib


def busy(wait):
    return lambda call: (429, {"Retry-After": str(wait)}, {})


def to_hosts(*counts):
    """Requests for several hosts, one host after the other."""
    lines, number = "", 0
    for api, count in counts:
        for _ in range(count):
            lines += request(number, url=api.url + "/v1/echo")
            number += 1
    return lines


def run(eddy, content, *args, **options):
    out = eddy.file("out.jsonl")
    result = eddy.run("batch", eddy.file("in.jsonl", content), "-o", out, "--progress", "off", "-c", "4",
                      *args, **options)
    return result, lines_of(out), lines_of(eddy.file("out.errors.jsonl"))


@claim
def more_hosts_than_a_run_takes_are_finished_by_the_same_command(eddy):
    api = Api(eddy)
    port = api.url.rsplit(":", 1)[1]
    content = "".join(request(i, url=f"http://h{i}:{port}/x") for i in range(4098))
    more = ["--resolve", f"*:{port}:127.0.0.1", "-c", "50"]
    result, answers, errors = run(eddy, content, *more)
    equal((result.code, len(answers), len(errors)), (1, 4096, 2), result)
    for line in errors:
        equal(line["error"]["code"], "circuit_open", line)
        check("4,096 other hosts: run the same command again" in line["error"]["message"], line)
    check("to retry: eddy batch" in result.err and "split" not in result.err, result)
    result, answers, errors = run(eddy, content, *more)
    equal((result.code, len(answers), len(errors)), (0, 4098, 0), result)


@claim
def paused_host_with_many_requests_does_not_hold_up_another_host(eddy):
    slow, quick = Api(eddy, busy(60)), Api(eddy)
    result, answers, errors = run(eddy, to_hosts((slow, 500), (quick, 300)), "--deadline", "4s")
    equal((result.code, len(answers), errors), (75, 300, []), result)
    check(len(slow.calls) < 5, "calls in the pause:", len(slow.calls))


@claim
def requests_that_wait_for_another_attempt_do_not_hold_up_the_others(eddy):
    api = Api(eddy, lambda call: (500, {}, {}) if int(call.id[1:]) < 500 else (200, {}, {}))
    result, answers, _ = run(eddy, "".join(request(i) for i in range(700)), "--base-url", api.url,
                             "--retry-base", "60s", "--retry-max", "60s", "--deadline", "5s")
    equal((result.code, len(answers)), (75, 200), result)


@claim
def base_url_that_asks_for_too_long_a_pause_is_left_out(eddy):
    gone, good = Api(eddy, busy(7200)), Api(eddy)
    result, answers, errors = run(eddy, "".join(request(i) for i in range(50)), "--base-url", gone.url,
                                  "--base-url", good.url)
    equal((result.code, len(answers), errors), (0, 50, []), result)
    check("requests go to the other base URLs" in result.err, result)
    check(1 <= len(gone.calls) <= 4, "calls:", len(gone.calls))


@claim
def run_ends_resumable_when_all_base_urls_ask_for_too_long_a_pause(eddy):
    one, two = Api(eddy, busy(7200)), Api(eddy, busy(9000))
    result, answers, errors = run(eddy, "".join(request(i) for i in range(20)), "--base-url", one.url,
                                  "--base-url", two.url)
    equal((result.code, answers, errors), (75, [], []), result)
    check("--max-throttle-wait" in result.err, result)


@claim
def host_that_asks_for_too_long_a_pause_fails_its_own_requests_only(eddy):
    gone, good = Api(eddy, busy(7200)), Api(eddy)
    content = to_hosts((gone, 100), (good, 105))
    result, answers, errors = run(eddy, content)
    equal((result.code, len(answers), len(errors)), (1, 105, 100), result)
    check(len(gone.calls) <= 4, "calls:", len(gone.calls))
    codes = {line["error"]["code"] for line in errors if line["error"]}
    equal(codes, {"circuit_open"}, errors[:3])
    gone.answer = lambda call: (200, {}, {})
    equal(run(eddy, content)[0].code, 0, "the same command sends them again")
    equal(len(ids_of(eddy.file("out.jsonl"))), 205)


@claim
def host_whose_quota_is_used_up_leaves_its_requests_to_the_next_run_and_the_others_are_sent(eddy):
    paid = threading.Event()
    spent, good = Api(eddy, lambda call: (200, {}, {}) if paid.is_set() else (402, {}, {})), Api(eddy)
    key = ["-H", "X-Api-Key: secret"]
    result, answers, errors = run(eddy, to_hosts((spent, 100), (good, 300)), *key)
    equal((result.code, len(answers), errors), (5, 300, []), result)
    check(len(spent.calls) <= 4 and f"{spent.url} answers that the quota of this API key is used up (402" in result.err, result)
    check("to resume: " in result.err and "stopped: the quota is used up" in result.err, result)
    # A pipe may never end.
    result = eddy.run("batch", "-", "-o", eddy.file("piped.jsonl"), "-c", "1", *key, stdin=to_hosts((spent, 1000)).encode())
    check(result.code == 5 and f"stopping: {spent.url} answers that the quota" in result.err, result)
    paid.set()
    result, answers, errors = run(eddy, to_hosts((spent, 100), (good, 300)), *key)
    equal((result.code, len(answers), errors, len(good.calls)), (0, 400, [], 300), result)


@claim
def base_url_whose_quota_is_used_up_is_left_out(eddy):
    spent, good = Api(eddy, lambda call: (429, {}, {"error": {"code": "insufficient_quota"}})), Api(eddy)
    content = "".join(request(i) for i in range(200))
    result, answers, errors = run(eddy, content, "--base-url", spent.url, "--base-url", good.url,
                                  "--api-key-env", "KEY", env={**os.environ, "KEY": "k"})
    equal((result.code, len(answers), errors), (0, 200, []), result)
    check(len(spent.calls) <= 4 and "requests go to the other base URLs" in result.err, result)


@claim
def status_402_of_a_host_without_a_key_is_an_answer(eddy):
    paid = Api(eddy, lambda call: (402, {}, {}) if call.number % 10 == 0 else (200, {}, {}))
    base = Api(eddy)
    result, answers, errors = run(eddy, to_hosts((paid, 100)), "--base-url", base.url, "--api-key-env", "KEY",
                                  env={**os.environ, "KEY": "k"})
    equal((result.code, len(answers), len(errors)), (1, 90, 10), result)
    equal({line["response"]["status_code"] for line in errors}, {402})


@claim
def reports_of_a_used_up_limit_that_differ_do_not_stop_the_other_base_url(eddy):
    def answer(call):
        return 200, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "15" if call.number == 0 else "1"}, {}
    odd, good = Api(eddy, answer), Api(eddy)
    began = time.monotonic()
    result, answers, _ = run(eddy, "".join(request(i) for i in range(300)), "--base-url", odd.url,
                             "--base-url", good.url)
    equal((result.code, len(answers)), (0, 300), result)
    check(time.monotonic() - began < 14, "seconds:", time.monotonic() - began)


@claim
def adaptive_concurrency_with_a_busy_host_keeps_the_pace_of_the_others(eddy):
    full, good = Api(eddy, lambda call: (429, {}, {})), Api(eddy)
    content = "".join(request(i, url=(full if i % 2 else good).url + "/v1/echo") for i in range(400))
    result, answers, _ = run(eddy, content, "-c", "auto", "--deadline", "5s")
    equal((result.code, len(answers)), (75, 200), result)


@claim
def paused_base_url_does_not_hold_up_hosts_of_absolute_urls(eddy):
    slow, good = Api(eddy, busy(60)), Api(eddy)
    content = "".join(request(i) for i in range(500)) + to_hosts((good, 100)).replace('"r', '"s')
    result, answers, _ = run(eddy, content, "--base-url", slow.url, "--deadline", "4s")
    equal((result.code, len(answers)), (75, 100), result)


@claim
def requests_at_rest_count_with_their_metadata(eddy):
    slow, good = Api(eddy, busy(60)), Api(eddy)
    content = "".join(request(i, url=slow.url + "/v1/echo", metadata={"a": "x" * 200_000}) for i in range(800))
    content += to_hosts((good, 1)).replace('"r', '"s')
    child = eddy.start("batch", eddy.file("in.jsonl", content), "-o", eddy.file("out.jsonl"), "--deadline", "4s",
                       "--progress", "off", "-c", "4", stderr=subprocess.DEVNULL)
    time.sleep(3)
    peak = peak_mib(child)
    equal(child.wait(timeout=e2e.LIMIT_S), 75)
    if not os.environ.get("EDDY_TEST_SANITIZE"):
        check(peak < 120, "MiB:", peak)


@claim
def limit_that_headers_report_as_used_up_for_too_long_ends_the_run(eddy):
    api = Api(eddy, lambda call: (200, {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "12s"}, {}))
    began = time.monotonic()
    result, _, _ = run(eddy, "".join(request(i) for i in range(30)), "--base-url", api.url,
                       "--max-throttle-wait", "2s")
    check(result.code == 75 and time.monotonic() - began < 10, result)


@claim
def url_that_is_not_valid_names_no_endpoint_and_shows_no_password(eddy):
    api = Api(eddy)
    content = request(0, url="http://user:SEC/RETPW@host/") + request(1)
    result, _, errors = run(eddy, content, "--base-url", api.url)
    equal((result.code, [line["error"]["code"] for line in errors]), (1, ["invalid_request_line"]), result)
    with open(eddy.file("out.errors.jsonl"), encoding="utf-8") as file:
        text = file.read() + result.err
    check("sec" not in text.lower() and "user" not in text, text)


@claim
def hint_after_a_404_names_a_path_that_got_it(eddy):
    api = Api(eddy, lambda call: (404, {}, {}) if call.path == "/wrong" else (400, {}, {}))
    result, answers, errors = run(eddy, request(1) + request(2, url="/wrong"), "--base-url", api.url)
    equal((result.code, len(answers), len(errors)), (1, 0, 2), result)
    check("404: check the URLs; the first path with this answer is /wrong, after --base-url\n" in result.err, result)


@claim
def default_port_is_the_same_host(eddy):
    api = Api(eddy, lambda call: (200, {}, {}))
    host = api.url.removeprefix("http://")
    content = request(0, url=f"http://{host}/a") + request(1, url=f"http://{host.upper()}/b")
    result, _, _ = run(eddy, content)
    equal(result.code, 0, result)
    check("attempts" not in result.err, "one host is not listed:", result.err)


@claim
def credentials_of_a_url_are_sent_in_place_of_the_api_key(eddy):
    api = Api(eddy)
    host = api.url.removeprefix("http://")
    result, _, _ = run(eddy, request(0, url=f"http://user:pw@{host}/x") + request(1), "--base-url", api.url,
                       "--api-key-env", "KEY", env={**os.environ, "KEY": "k1"})
    equal(result.code, 0, result)
    equal(sorted(call.headers["authorization"] for call in api.calls), ["Basic dXNlcjpwdw==", "Bearer k1"])


@claim
def log_that_cannot_be_written_is_reported(eddy):
    result, answers, _ = run(eddy, request(0), "--base-url", Api(eddy).url, "--log", "/dev/full")
    equal(len(answers), 1, result)
    check("--log /dev/full" in result.err, result)


if __name__ == "__main__":
    e2e.main()
