"""test_batch_hosts - `eddy batch` with several servers: one that takes nothing does not hold up the
others.
"""
import e2e
from batch_api import Api, ids_of, lines_of, request
from e2e import check, claim, equal


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


def run(eddy, content, *args):
    out = eddy.file("out.jsonl")
    result = eddy.run("batch", eddy.file("in.jsonl", content), "-o", out, "--progress", "off", "-c", "4",
                      *args)
    return result, lines_of(out), lines_of(eddy.file("out.errors.jsonl"))


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
    content = to_hosts((good, 5), (gone, 100), (good, 100))
    result, answers, errors = run(eddy, content)
    equal((result.code, len(answers), len(errors)), (1, 105, 100), result)
    check(len(gone.calls) <= 4, "calls:", len(gone.calls))
    codes = {line["error"]["code"] for line in errors if line["error"]}
    equal(codes, {"circuit_open"}, errors[:3])
    gone.answer = lambda call: (200, {}, {})
    equal(run(eddy, content)[0].code, 0, "the same command sends them again")
    equal(len(ids_of(eddy.file("out.jsonl"))), 205)


if __name__ == "__main__":
    e2e.main()
