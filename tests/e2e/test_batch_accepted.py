"""test_batch_accepted - failures that `eddy batch` accepts: --accept-failed and --accept-failed-ids."""
import json
import os

import e2e
from batch_api import Api, ids_of, lines_of, request, requests
from e2e import check, claim, equal

BAD = ("r1", "r3")
CHANGED = {"body": {"id": "r3", "text": "shorter"}}


def refuse_bad(call):
    return (400, {}, {"error": {"message": "too long"}}) if call.id in BAD else (200, {}, {"id": call.id})


class Job:
    """A job that runs the same command again and again."""

    def __init__(self, eddy, answer=refuse_bad, content=None, count=5):
        self.eddy = eddy
        self.api = Api(eddy, answer)
        self.out = eddy.file("out.jsonl")
        self.errors = eddy.file("out.errors.jsonl")
        self.input(content or requests(count))

    def input(self, content):
        self.path = self.eddy.file("in.jsonl", content)

    def run(self, *args, command="batch", **options):
        self.before = len(self.api.calls)
        return self.eddy.run(command, self.path, "-o", self.out, "--base-url", self.api.url, "--progress", "off",
                             "--retry-base", "1ms", *args, **options)

    def sent(self):
        return sorted(self.api.ids()[self.before:])

    def failed(self):
        return sorted(ids_of(self.errors))

    def ids_file(self, content):
        path = self.eddy.file("accepted.txt")
        with open(path, "wb") as file:
            file.write(content)
        return path


@claim
def job_whose_failures_are_accepted_ends_with_0_and_sends_nothing_more(eddy):
    job = Job(eddy)
    for number in range(3):
        result = job.run("--accept-failed")
        equal((result.code, job.failed(), len(lines_of(job.out))), (0, list(BAD), 3), result)
        equal(job.sent(), ["r0", "r1", "r2", "r3", "r4"] if number == 0 else [], result)
        check("failures in " + job.errors + ": 2, accepted" in result.err, result)
        check("to retry" not in result.err, result)
        if number > 0:
            check("has 2 accepted failures, whose requests are not sent again" in result.err, result)
    equal([line["x_meta"]["final"] for line in lines_of(job.errors)], [True, True])
    summary = json.loads(job.run("--accept-failed", "--summary", "json").err.splitlines()[-1])
    equal((summary["x_eddy"]["accepted"], summary["request_counts"], summary["x_eddy"]["retry_command"]),
          (2, {"total": 5, "completed": 3, "failed": 2}, None), summary)
    result = job.run()
    equal((result.code, job.sent()), (1, list(BAD)), result)


@claim
def new_and_changed_requests_are_sent_and_failures_that_are_not_final_too(eddy):
    def answer(call):
        if call.id == "r2":
            return 401, {}, {"error": {"message": "not this one"}}
        return refuse_bad(call)

    job = Job(eddy, answer)
    result = job.run("--accept-failed")
    equal((result.code, job.failed()), (1, ["r1", "r2", "r3"]), result)
    check(": 3, 2 of them accepted" in result.err and "to retry" in result.err, result)
    equal({line["custom_id"]: line["x_meta"]["final"] for line in lines_of(job.errors)},
          {"r1": True, "r2": False, "r3": True})
    job.input("".join(request(i, **CHANGED if i == 3 else {}) for i in range(7)))
    result = job.run("--accept-failed")
    equal((result.code, job.sent(), job.failed()), (1, ["r2", "r3", "r5", "r6"], ["r1", "r2", "r3"]), result)


@claim
def attempts_that_are_used_up_make_a_failure_final(eddy):
    job = Job(eddy, lambda call: (500, {}, {}) if call.id == "r1" else (200, {}, {}), count=3)
    for sent in (["r0", "r1", "r1", "r2"], []):
        result = job.run("--accept-failed", "--max-attempts", "2")
        equal((result.code, job.sent(), job.failed()), (0, sent, ["r1"]), result)


@claim
def failure_without_a_connection_is_never_final(eddy):
    def lines(gone):
        return "".join(request(i) for i in range(3)) + "".join(request(i, url=url + "/x") for i, url in enumerate(gone, 5))

    nowhere = f"http://127.0.0.1:{e2e.free_port()}"
    job = Job(eddy, content=lines([nowhere, "http://name.invalid", nowhere]))
    result = job.run("--accept-failed", "--max-attempts", "1")
    equal((result.code, job.failed()), (1, ["r1", "r5", "r6", "r7"]), result)
    equal({line["custom_id"]: line["x_meta"]["final"] for line in lines_of(job.errors)},
          {"r1": True, "r5": False, "r6": False, "r7": False})
    check(": 4, 1 of them accepted" in result.err and "to retry" in result.err, result)
    job.input(lines([job.api.url] * 3))
    result = job.run("--accept-failed", "--on-changed", "send")
    equal((result.code, job.sent(), job.failed()), (0, ["r5", "r6", "r7"], ["r1"]), result)


@claim
def job_without_any_answer_accepts_no_failure(eddy):
    job = Job(eddy, lambda call: (404, {}, {}), count=3)
    for _ in range(2):
        result = job.run("--accept-failed")
        equal((result.code, job.sent(), job.failed()), (1, ["r0", "r1", "r2"], ["r0", "r1", "r2"]), result)
        check("not accepted, because no request has an answer" in result.err, result)
    ids = job.ids_file(b"r0\nr1\nr2\n")
    result = job.run("--accept-failed-ids", ids)
    equal((result.code, job.sent()), (0, []), result)


@claim
def stops_are_not_turned_into_a_success(eddy):
    job = Job(eddy, lambda call: (402, {}, {}) if call.id == "r4" else refuse_bad(call))
    result = job.run("--accept-failed", "-c", "1")
    equal((result.code, job.failed()), (5, list(BAD)), result)
    job.api.answer = refuse_bad
    result = job.run("--accept-failed")
    equal((result.code, job.sent()), (0, ["r4"]), result)
    job = Job(eddy, lambda call: (404, {}, {}) if call.number < 2 else (200, {}, {}), count=9)
    os.remove(job.out), os.remove(job.errors)
    result = job.run("--accept-failed", "-c", "1", "--max-errors", "1")
    equal((result.code, job.failed()), (5, ["r0", "r1"]), result)


@claim
def file_of_ids_names_the_failures_that_are_accepted(eddy):
    for content, unknown in ((b"r1\nr3\n", 0), (b"\xef\xbb\xbfr1\r\n\r\nr3", 0), (b"r1\nzz\nr3\nyy\n", 2),
                             (b'{"custom_id":"r1","response":null,"error":{"code":"x"}}\r\n{"custom_id":"r3"}\n', 0)):
        job = Job(eddy)
        for name in (job.out, job.errors):
            if os.path.exists(name):
                os.remove(name)
        ids = job.ids_file(content)
        for sent in (5, 0):
            result = job.run("--accept-failed-ids", ids)
            equal((result.code, len(job.sent()), job.failed()), (0, sent, list(BAD)), content, result)
            equal(f"{unknown} of 4 ids are not in" in result.err, unknown > 0, result)
    result = job.run("--accept-failed-ids", job.ids_file(b"r3\n"))
    equal((result.code, job.sent()), (1, ["r1"]), result)
    result = job.run("--accept-failed-ids", job.ids_file(b""))
    equal((result.code, job.sent()), (1, list(BAD)), result)


@claim
def named_failure_of_a_changed_request_is_sent_again(eddy):
    job = Job(eddy)
    ids = job.ids_file(b"r1\nr3\n")
    equal(job.run("--accept-failed-ids", ids).code, 0)
    job.input("".join(request(i, **CHANGED if i == 3 else {}) for i in range(5)))
    job.api.answer = lambda call: (200, {}, {})
    result = job.run("--accept-failed-ids", ids)
    equal((result.code, job.sent(), job.failed()), (0, ["r3"], ["r1"]), result)


@claim
def pipe_and_bad_lines_and_retry_follow_the_options(eddy):
    content = requests(5) + "no request\n" + request(7)
    job = Job(eddy, content=content)
    equal((job.run("--accept-failed").code, job.failed()), (0, ["line-6", "r1", "r3"]))
    with open(job.path, "rb") as file:
        result = eddy.run("batch", "-", "-o", job.out, "--base-url", job.api.url, "--accept-failed", "--progress",
                          "off", "--summary", "json", stdin=file.read())
    summary = json.loads(result.err.splitlines()[-1])
    equal((result.code, len(job.api.calls), summary["x_eddy"]["accepted"]), (0, 6, 3), result)
    equal(summary["request_counts"], {"total": 7, "completed": 4, "failed": 3}, result)
    result = job.run("--accept-failed", command="retry")
    equal((result.code, job.sent()), (0, []), result)
    check("the failures of all requests without an answer are accepted" in result.err, result)
    job.input(content.replace("no request", request(5).strip()))
    result = job.run("--accept-failed")
    equal((result.code, job.sent(), job.failed()), (0, ["r5"], ["r1", "r3"]), result)
    result = job.run(command="retry")
    equal((result.code, job.sent()), (1, list(BAD)), result)


@claim
def lines_of_other_programs_are_judged_by_their_status(eddy):
    job = Job(eddy, lambda call: (200, {}, {}))
    with open(job.out, "w") as file:
        for name, status in (("r0", 200), ("r1", 404), ("r2", 500), ("r3", 429)):
            print(json.dumps({"custom_id": name, "response": {"status_code": status, "body": {}}, "error": None}), file=file)
    result = job.run("--accept-failed")
    equal((result.code, job.sent(), job.failed()), (0, ["r2", "r3", "r4"], ["r1"]), result)


@claim
def check_and_report_count_accepted_failures(eddy):
    job = Job(eddy)
    equal(job.run("--accept-failed").code, 0)
    ids = job.ids_file(b"r1\n")
    for args, accepted, left in ((["--accept-failed"], 2, 0), (["--accept-failed-ids", ids], 1, 1), ([], 0, 2)):
        result = eddy.run("check", job.path, "-o", job.out, *args)
        equal(result.code, 0, result)
        equal(" ".join(result.out.split()).count(f"accepted {accepted} failure"), int(accepted > 0), result)
        check(f"to send {left} " in " ".join(result.out.split()), result)
        page = eddy.file("page.html")
        result = eddy.run("report", job.out, "-o", page, *args)
        words = {2: "2 failed, 2 of them accepted; ", 1: "2 failed, 1 of them accepted; ", 0: "2 failed; "}[accepted]
        check(words in result.err, result)
        with open(page) as file:
            equal(file.read().count("Accepted failures"), int(accepted > 0))


@claim
def mistakes_in_the_options_are_refused(eddy):
    job = Job(eddy)
    missing = eddy.file("none.txt")
    cases = [(["--accept-failed-ids", missing], "--accept-failed-ids " + missing),
             (["--accept-failed-ids", job.ids_file(b'r1\n{"custom_id":1.5}\n')], "line 2 has a custom_id"),
             (["--accept-failed", "--no-meta"], "--no-meta"),
             (["--accept-failed", "-o", "-"], "--accept-failed needs -o")]
    for args, words in cases:
        result = eddy.run("batch", job.path, "--base-url", job.api.url, *([] if "-o" in args else ["-o", job.out]), *args)
        equal((result.code, len(job.api.calls)), (2, 0), result)
        check(words in result.err, words, result)
    result = job.run("--accept-failed-ids", job.ids_file(b"r1\nr3\n"), "--no-meta")
    equal((result.code, len(job.sent())), (0, 5), result)
    result = job.run("--accept-failed-ids", job.ids_file(b"r1\nr3\n"), "--no-meta")
    equal((result.code, job.sent()), (0, []), result)


if __name__ == "__main__":
    e2e.main()
