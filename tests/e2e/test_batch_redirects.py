"""test_batch_redirects - answers of `eddy batch` that name another URL: they are failures, and messages show that URL
without its query.
"""
import os

import e2e
from batch_api import Api, lines_of, request
from e2e import check, claim, equal

MOVED = "https://api.example.com"
FRUIT = ("apple", "banana", "cherry", "date")


def run(eddy, api, content, *args):
    """Returns the result, the answers and the errors."""
    result = eddy.run("batch", eddy.file("in.jsonl", content), "-o", eddy.file("out.jsonl"), "--base-url", api.url,
                      "--progress", "off", *args)
    return result, lines_of(eddy.file("out.jsonl")), lines_of(eddy.file("out.errors.jsonl"))


def moved(status=301, to=MOVED):
    return lambda call: (status, {"Location": to + call.path}, b"<html>moved</html>")


@claim
def run_stops_if_the_first_requests_are_all_redirected(eddy):
    content = "".join(request(i, url="/v1/echo?key=secret") for i in range(400))
    for status in (301, 302, 307, 308):
        api = Api(eddy, moved(status))
        result, answers, errors = run(eddy, api, content, "-c", "1")
        equal((result.code, len(api.calls), answers, len(errors)), (5, 20, [], 20), result)
        check(f"20 requests failed with {status}, and none succeeded: redirects to {MOVED}/v1/echo (--max-errors" in
              result.err, result)
        check(f"\n{status}: the server redirects to {MOVED}: write this in --base-url\n" in result.err, result)
        check("secret" not in result.err, result)
        equal(errors[0]["x_meta"]["redirect"], MOVED + "/v1/echo", errors[0])
        os.remove(eddy.file("out.errors.jsonl"))


@claim
def redirects_of_one_host_are_one_cause_and_their_urls_are_in_the_errors_file(eddy):
    api = Api(eddy, lambda call: (302, {"Location": f"/v2/{call.id}?sign=secret"}, {}) if call.id in FRUIT else (200, {}, {}))
    content = request(1) + "".join(request(i, body={"id": name}) for i, name in enumerate(FRUIT, 2))
    result, answers, errors = run(eddy, api, content, "-c", "1")
    equal((result.code, len(answers), len(errors)), (1, 1, 4), result)
    check(f"4 failed: 302, such as: redirects to {api.url}/v2/apple\n" in result.err, result)
    check("302: redirects are not followed: send the requests to the URLs to which they lead, such as "
          f"{api.url}/v2/apple\n" in result.err and "secret" not in result.err, result)
    equal([line["x_meta"]["redirect"] for line in errors], [f"{api.url}/v2/{name}" for name in FRUIT])
    result = eddy.run("select", eddy.file("out.jsonl"), "--select", "x=/x")
    check(f"HTTP 302: redirects to {api.url}/v2/apple" in result.out and "secret" not in result.out, result)
    # Of a user name, and a fragment.
    os.remove(eddy.file("out.errors.jsonl"))
    result, _, errors = run(eddy, Api(eddy, moved(to="https://user:secret@api.example.com")), request(7, url="/v1/echo#secret"))
    equal((result.code, errors[0]["x_meta"]["redirect"]), (1, MOVED + "/v1/echo"), result)
    check("secret" not in result.err, result)
    # Without a Location, and with --no-meta.
    os.remove(eddy.file("out.errors.jsonl"))
    result, _, errors = run(eddy, Api(eddy, lambda call: (302, {}, {})), request(7), "--no-meta")
    check(result.code == 1 and "redirect" not in result.err and "x_meta" not in errors[0], result)


@claim
def redirect_is_never_accepted_as_final(eddy):
    api = Api(eddy, lambda call: (200, {}, {}))
    equal(run(eddy, api, request(1))[0].code, 0)
    api.answer = moved(308)
    for _ in range(2):
        result, answers, errors = run(eddy, api, request(1) + request(2) + request(3), "--accept-failed")
        equal((result.code, len(answers), [line["x_meta"]["final"] for line in errors]), (1, 1, [False, False]), result)
    # By a version that took it for final.
    path = eddy.file("out.errors.jsonl")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    eddy.file("out.errors.jsonl", text.replace('"final":false', '"final":true'))
    api.answer = lambda call: (200, {}, {})
    result, answers, errors = run(eddy, api, request(1) + request(2) + request(3), "--accept-failed")
    equal((result.code, len(answers), errors), (0, 3, []), result)


@claim
def redirects_that_keep_the_method_are_followed(eddy):
    api = Api(eddy, lambda call: (int(call.path[4:7]), {"Location": "/v2" + call.path[7:]}, {}) if call.path[:4] == "/v1/" else
              (200, {}, {"body": call.body}))
    for option in ("-L", "--location"):
        result, answers, errors = run(eddy, api, request(1, url="/v1/307/a") + request(2, url="/v1/308/b"), option)
        equal((result.code, len(answers), errors), (0, 2, []), result)
        check(all(line["response"]["body"]["body"] for line in answers), answers)
        os.remove(eddy.file("out.jsonl"))
    result, answers, errors = run(eddy, api, request(3, url="/v1/302/c"), "-L")
    equal((result.code, answers, errors[0]["x_meta"]["redirect"]), (1, [], api.url + "/v2/c"), result)
    check("-L does not follow redirects that change the method" in result.err, result)


@claim
def key_does_not_follow_to_another_server(eddy):
    other = Api(eddy, lambda call: (200, {}, {}))
    api = Api(eddy, lambda call: (307, {"Location": other.url + "/v2"}, {}))
    os.environ["EDDY_TEST_KEY"] = "sesame"
    for header in ((), ("--api-key-header", "x-api-key")):
        result = run(eddy, api, request(1), "-L", "--api-key-env", "EDDY_TEST_KEY", *header)[0]
        equal(result.code, 0, result)
        check("sesame" in str(api.calls[-1].headers) and "sesame" not in str(other.calls[-1].headers), other.calls[-1].headers)
        os.remove(eddy.file("out.jsonl"))
    result = run(eddy, api, request(1), "-L", "--api-key-env", "EDDY_TEST_KEY", "--api-key-header", "X-Odd")[0]
    check(result.code == 2 and "X-Odd" in result.err, result)


@claim
def each_redirect_counts_as_a_request_of_the_limits(eddy):
    api = Api(eddy, lambda call: (307, {"Location": "/v2"}, {}) if call.path == "/v1/echo" else (200, {}, {}))
    # Three requests may be sent at once. The first takes two of them, and the second takes the last and a later one.
    result = run(eddy, api, request(1) + request(2) + request(3), "-L", "-c", "1", "--rpm", "3", "--burst", "60s", "--deadline", "4s")[0]
    check(result.code == 75 and [call.path for call in api.calls].count("/v1/echo") <= 2, result, api.calls)


@claim
def too_many_redirects_name_the_remedy(eddy):
    api = Api(eddy, lambda call: (308, {"Location": call.path}, {}))
    result, _, errors = run(eddy, api, request(1), "-L")
    equal((result.code, len(api.calls), errors[0]["error"]["code"]), (1, 11, "redirect_refused"), result)
    check("(-L follows at most 10): send the request to the URL to which they lead, or run without -L" in errors[0]["error"]["message"],
          errors[0])


@claim
def advice_for_redirects_that_keep_the_method_names_the_option_that_follows_them(eddy):
    get = '{"custom_id":"a","method":"GET","url":"/v1/echo"}\n'
    follow, send = "give -L, or send", "redirects are not followed: send"
    for status, line, words in ((307, request(1), follow), (308, request(1), follow), (302, request(1), send),
                                (301, get, follow), (302, get, follow), (307, get, follow)):
        result = run(eddy, Api(eddy, lambda call, status=status: (status, {"Location": "/v2"}, {})), line)[0]
        check(f"\n{status}: redirects are not followed: " in result.err and words in result.err, result)
        os.remove(eddy.file("out.errors.jsonl"))


if __name__ == "__main__":
    e2e.main()
