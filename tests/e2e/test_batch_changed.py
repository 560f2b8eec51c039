#!/usr/bin/env python3
"""`eddy batch --on-changed send`: an answer to a former request stays until the changed request has an
answer of its own.
"""
import json
import os
import threading

import e2e
from batch_api import Api, ids_of, request
from e2e import check, claim, equal

SEND = ("--on-changed", "send")


class Prompts:
    """A run of requests whose text is a version; version "bad" is refused."""

    def __init__(self, eddy, count):
        self.eddy, self.count = eddy, count
        self.api = Api(eddy, lambda call: (400 if "bad" in call.raw.decode() else 200, {}, {}))
        self.out, self.errors = eddy.file("out.jsonl"), eddy.file("out.errors.jsonl")
        self.run("one")
        self.old = self.text()

    def content(self, version):
        return "".join(request(i, body={"id": f"r{i}", "text": version}) for i in range(self.count))

    def args(self, version, *args):
        return (self.eddy.file("in.jsonl", self.content(version)), "-o", self.out, "--base-url", self.api.url,
                "--progress", "off", "--max-attempts", "1", *args)

    def run(self, version, *args, command="batch"):
        self.api.calls.clear()
        return self.eddy.run(command, *self.args(version, *args))

    def text(self):
        with open(self.out, encoding="utf-8") as file:
            return file.read()

    def failed(self):
        return sorted(ids_of(self.errors)) if os.path.exists(self.errors) else []

    def check_old(self, result, code, kept, failed):
        """The output is as it was, and the failures are in the errors file."""
        equal((result.code, self.text(), len(self.failed())), (code, self.old, failed), result)
        check(f"old answers kept in {self.out}: {kept}: " in result.err and "removed" not in result.err, result)

    def check_new(self, result):
        equal((result.code, len(self.api.calls), sorted(ids_of(self.out)), self.failed()),
              (0, self.count, sorted(f"r{i}" for i in range(self.count)), []), result)
        check(f"removed {self.count} answers to requests" in result.err and "kept" not in result.err, result)


@claim
def old_answers_stay_if_the_new_requests_fail(eddy):
    prompts = Prompts(eddy, 3)
    for _ in range(2):
        prompts.check_old(prompts.run("bad", *SEND), 1, 3, 3)
        equal(len(prompts.api.calls), 3)
    result = prompts.run("bad")
    equal((result.code, prompts.api.calls), (3, []), result)
    prompts.check_new(prompts.run("two", *SEND))
    result = prompts.run("two")
    equal((result.code, prompts.api.calls), (0, []), result)


@claim
def old_answers_stay_if_the_run_stops_after_failures(eddy):
    prompts = Prompts(eddy, 60)
    result = prompts.run("bad", *SEND, "--max-errors", "5", "-c", "1")
    prompts.check_old(result, 5, 60, len(prompts.failed()))
    # With the former requests again, nothing is sent, and the failures are of no request.
    result = prompts.run("one")
    equal((result.code, prompts.api.calls, prompts.text(), prompts.failed()), (0, [], prompts.old, []), result)


@claim
def counts_are_of_answers_to_the_requests_as_they_are(eddy):
    prompts = Prompts(eddy, 4)
    result = prompts.run("two", *SEND, "--limit", "1", "--summary", "json")
    summary = json.loads(result.err.splitlines()[-1])
    equal((result.code, summary["request_counts"], summary["x_eddy"]["old_answers_kept"]),
          (0, {"total": 4, "completed": 1, "failed": 0}, 3), result)
    check("removed 1 answer to requests" in result.err, result)
    check(f"{prompts.out} has 4 answers, whose requests have changed, and are sent again (--on-changed send), at most 1 of "
          "them in this run (--limit)\n" in result.err, result)
    equal(len(ids_of(prompts.out)), 4)
    result = prompts.run("two", *SEND, "--limit", "1")
    check(f"answers in {prompts.out}: 2 of 4\nold answers kept in {prompts.out}: 2: " in result.err, result)
    # A pipe is compared line by line.
    result = eddy.run("batch", "-", *prompts.args("bad", *SEND)[1:], stdin=prompts.content("bad").encode())
    equal((result.code, len(ids_of(prompts.out)), len(prompts.failed())), (1, 4, 4), result)
    check(f"old answers kept in {prompts.out}: 4: " in result.err, result)


@claim
def check_says_in_one_line_that_all_requests_have_changed(eddy):
    prompts = Prompts(eddy, 40)
    result = eddy.run("check", *prompts.args("two")[:3])
    equal((result.code, result.out.splitlines()[0]),
          (3, f"all 40 answers in {prompts.out} are to other requests (method, URL, headers or body): eddy batch "
              "--on-changed send sends these again; another -o keeps the answers apart"), result)
    check("line 1:" not in result.out and "\nto send         40, with --on-changed send\n" in result.out, result)
    # Some have changed, or few have: each is named.
    some = prompts.content("one").splitlines(True)[:30] + prompts.content("two").splitlines(True)[30:]
    for content, count in (("".join(some), 10), (prompts.content("two").splitlines(True)[7], 1)):
        result = eddy.run("check", eddy.file("in.jsonl", content), "-o", prompts.out)
        equal((result.code, result.out.count("has an answer, but its request has changed since")), (3, count), result)
        check("all " not in result.out, result)


@claim
def failure_of_a_changed_request_stays_until_it_is_sent_again(eddy):
    prompts = Prompts(eddy, 3)
    prompts.run("bad", *SEND)
    prompts.api.answer = lambda call: (200, {}, {})
    result = prompts.run("bad", *SEND, "--limit", "1")
    equal((result.code, len(ids_of(prompts.out)), prompts.failed()), (0, 3, ["r1", "r2"]), result)
    result = prompts.run("bad", *SEND, command="retry")
    equal((result.code, len(prompts.api.calls), len(ids_of(prompts.out)), prompts.failed()), (0, 2, 3, []), result)


@claim
def accepted_failure_of_a_changed_request_is_not_sent_again(eddy):
    prompts = Prompts(eddy, 2)
    accept = (*SEND, "--accept-failed-ids", eddy.file("ids", "r0\nr1\n"))
    for sent in (2, 0):
        result = prompts.run("bad", *accept)
        prompts.check_old(result, 0, 2, 2)
        equal(len(prompts.api.calls), sent, result)
    prompts.check_new(prompts.run("two", *SEND))


@claim
def final_failures_are_not_accepted_if_all_answers_are_to_former_requests(eddy):
    prompts = Prompts(eddy, 3)
    for _ in range(2):
        result = prompts.run("bad", *SEND, "--accept-failed")
        prompts.check_old(result, 1, 3, 3)
        equal(len(prompts.api.calls), 3, result)
        check("not accepted, because no request has an answer" in result.err, result)
    # From a pipe too, whose requests are not known before; and in a check.
    for pipe in (True, True, False):
        if pipe:
            prompts.api.calls.clear()
            prompts.check_old(eddy.run("batch", "-", *prompts.args("bad", *SEND, "--accept-failed")[1:],
                                       stdin=prompts.content("bad").encode()), 1, 3, 3)
        else:
            result = prompts.run("bad", *SEND, "--accept-failed", command="check")
            check("accepted" not in result.out and "to send         3," in result.out, result)
        equal(len(prompts.api.calls), 3 if pipe else 0)
    # An answer to a request as it is accepts the failures of the others.
    prompts.api.answer = lambda call: (400 if call.id != "r1" else 200, {}, {})
    for sent in (3, 0):
        result = prompts.run("bad", *SEND, "--accept-failed")
        equal((result.code, len(prompts.api.calls), prompts.failed(), len(ids_of(prompts.out))), (0, sent, ["r0", "r2"], 3), result)
    # An id that is named is accepted in any case.
    os.remove(prompts.out), os.remove(prompts.errors)
    prompts = Prompts(eddy, 2)
    for sent in (2, 1):
        result = prompts.run("bad", *SEND, "--accept-failed", "--accept-failed-ids", eddy.file("ids", "r0\n"))
        prompts.check_old(result, 1, 2, 2)
        equal(len(prompts.api.calls), sent, result)


@claim
def old_answers_stay_after_a_kill(eddy):
    prompts = Prompts(eddy, 8)
    gate = threading.Event()
    prompts.api.answer = lambda call: ((gate.wait() if call.number >= 4 else 0), (400, {}, {}))[1]
    prompts.api.calls.clear()
    child = eddy.start("batch", *prompts.args("bad", *SEND, "-c", "1"))
    e2e.wait_until(lambda: len(prompts.failed()) == 4, "failures")
    child.kill()
    child.wait()
    gate.set()
    equal((prompts.text(), len(prompts.failed())), (prompts.old, 4))
    prompts.api.answer = lambda call: (200, {}, {})
    prompts.check_new(prompts.run("two", *SEND))


if __name__ == "__main__":
    e2e.main()
