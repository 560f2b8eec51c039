"""test_batch_torture - runs of `eddy batch` that are killed again and again: 2,000 kills, with
EDDY_TEST_QUICK 100.  After each kill: no written line is lost, none is there twice, and at most the
requests in flight are sent again.
"""
import errno
import json
import os
import random
import signal
import subprocess
import time

import e2e
from batch_api import Api, lines_of, request, requests
from e2e import check, claim, equal

# Lines of another program: a failure of a request, others of no request, and one that is no answer.
THEIRS = [b'{"custom_id": "r5", "response": null, "error": "theirs"}', b'{"custom_id": "x1", "error": {"code": 1}}',
          b'{"custom_id": "x2", "response": {"status_code": 200}}', b"not an answer"]

KILLS = 100 if os.environ.get("EDDY_TEST_QUICK") else 2000
SLOTS = 16


def whole_lines(path):
    """The lines of a file that end in a line feed."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return []
    return data[:data.rfind(b"\n") + 1].splitlines()


class Run:
    """One input, run and killed until it is done."""

    def __init__(self, eddy, number, count=200, fails=0.05, theirs=()):
        def answer(call):
            time.sleep(random.random() / 100)
            return (400, {}, {"id": call.id}) if int(call.id[1:]) % 20 < fails * 20 else (200, {}, {"id": call.id})
        self.eddy = eddy
        self.api = Api(eddy, answer)
        self.count = count
        self.input = eddy.file(f"in-{number}.jsonl", requests(count))
        self.out = eddy.file(f"out-{number}.jsonl")
        self.errors = eddy.file(f"out-{number}.errors.jsonl")
        self.kills = 0
        self.lines = set()
        self.theirs = theirs
        if theirs:
            eddy.file(f"out-{number}.jsonl", b"\n".join(theirs) + b"\n")

    def start(self, **env):
        return self.eddy.start("batch", self.input, "-o", self.out, "--base-url", self.api.url, "-c",
                               str(SLOTS), "--progress", "off", "--ramp", "0s",
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env={**os.environ, **env})

    def look(self):
        """Check the files after a kill."""
        found = [line for path in (self.out, self.errors, self.out + ".rejected") for line in whole_lines(path)]
        lines = [json.loads(line) for line in whole_lines(self.out) if line.startswith(b"{")]
        ids = [line["custom_id"] for line in lines if line.get("response")]
        for line in self.theirs:
            check(line in found or b"r5" in line and "r5" in ids, line, "is lost")
        equal(len(ids), len(set(ids)), "an answer is there twice")
        check(self.lines <= set(ids), "a written answer was lost", self.lines - set(ids))
        self.lines = set(ids)
        # Failures are tried again in each run, so only answers limit what is sent.
        good = [call.id for call in self.api.calls if int(call.id[1:]) % 20 >= 1]
        check(len(good) - len(set(good)) <= self.kills * SLOTS,
              "sent again:", len(good) - len(set(good)), "kills:", self.kills)

    def finish(self):
        child = self.start()
        _, err = child.communicate(timeout=e2e.LIMIT_S)
        equal(child.returncode, 1, err)
        self.look()
        if self.theirs:
            equal([line for line in whole_lines(self.out) if line in self.theirs], self.theirs[1:3])
        answers = [json.loads(line)["custom_id"] for line in whole_lines(self.out) if line not in self.theirs]
        errors = [json.loads(line)["custom_id"] for line in whole_lines(self.errors)]
        equal(sorted(answers + errors), sorted(f"r{i}" for i in range(self.count)),
              "each id is in one file, once")


@claim
def runs_that_are_killed_at_random_moments_lose_nothing(eddy):
    kills = number = 0
    while kills < KILLS // 2:
        run = Run(eddy, number)
        number += 1
        for _ in range(6):
            child = run.start()
            try:
                child.wait(timeout=random.uniform(0.01, 0.3))
                break
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                run.kills += 1
                run.look()
        kills += run.kills
        run.finish()
        run.api.server.close()
    print(f"# {kills} kills of {number} runs", flush=True)


@claim
def runs_that_are_killed_at_each_change_of_a_file_lose_nothing(eddy):
    library = os.environ["EDDY_KILL_AT"]
    kills = number = 0
    while kills < KILLS // 2:
        run = Run(eddy, number, count=60, theirs=THEIRS if number % 2 else ())
        number += 1
        for how in ("before", "after", "torn", "before", "after", "torn"):
            child = run.start(LD_PRELOAD=library, KILL_AT=str(1 + kills % 31), KILL_HOW=how,
                              ASAN_OPTIONS="verify_asan_link_order=0")
            child.wait(timeout=e2e.LIMIT_S)
            if child.returncode == -9:
                run.kills += 1
                kills += 1
                run.look()
        run.finish()
        run.api.server.close()
    print(f"# {kills} kills of {number} runs", flush=True)


def vectors(call):
    """The answer of /v1/embeddings."""
    texts = call.body["input"] if isinstance(call.body["input"], list) else [call.body["input"]]
    return 200, {}, {"data": [{"index": i, "embedding": [len(text)]} for i, text in enumerate(texts)]}


@claim
def rows_of_a_request_survive_a_kill_at_each_change_of_a_file(eddy):
    library, kills = os.environ["EDDY_KILL_AT"], 0
    api = Api(eddy, vectors)
    path = eddy.file("in.csv", "custom_id,text\n" + "".join(f"r{i},{'x' * i}\n" for i in range(12)))
    command = ["batch", path, "--url", api.url + "/v1/embeddings", "--body", '{"input":"{{text}}"}', "-c", "1",
               "--progress", "off"]
    for how in ("before", "after", "torn"):
        for at in range(1, 1000):
            out = eddy.file(f"{how}-{at}.jsonl")
            child = eddy.start(*command, "-o", out, "--rows-per-request", "5", env={
                **os.environ, "LD_PRELOAD": library, "KILL_AT": str(at), "KILL_HOW": how,
                "ASAN_OPTIONS": "verify_asan_link_order=0"})
            child.communicate(timeout=e2e.LIMIT_S)
            if child.returncode != -9:
                break
            kills += 1
            whole = len(whole_lines(out))
            api.calls.clear()
            result = eddy.run(*command, "-o", out, "--rows-per-request", "4")
            equal(result.code, 0, how, at, result)
            lines = {line["custom_id"]: line for line in lines_of(out)}
            equal(len(lines_of(out)), 12, how, at)
            equal([lines[f"r{i}"]["response"]["body"]["data"][0]["embedding"] for i in range(12)], [[i] for i in range(12)])
            sent = sum(len(call.body["input"]) if isinstance(call.body["input"], list) else 1 for call in api.calls)
            # A torn line may lack only its line feed.
            check(sent in (12 - whole, 11 - whole), how, at, sent, whole)
    check(kills > 6, kills)


@claim
def input_line_above_512_mib_is_an_error_and_the_rest_is_sent(eddy):
    api = Api(eddy)
    path, out = eddy.file("in.jsonl", request(0)), eddy.file("out.jsonl")
    with open(path, "r+b") as file:
        file.seek(513 << 20, os.SEEK_END)  # a hole
        file.write(b"\n" + request(1).encode())
    result = eddy.run("batch", path, "-o", out, "--base-url", api.url)
    equal((result.code, sorted(api.ids())), (1, ["r0", "r1"]), result)
    errors = [json.loads(line) for line in whole_lines(eddy.file("out.errors.jsonl"))]
    equal([(line["custom_id"], line["error"]["code"]) for line in errors],
          [("line-2", "invalid_request_line")])
    check("longer than 256 MiB" in errors[0]["error"]["message"], errors)


@claim
def calls_that_fail_end_the_run_with_status_4_and_the_next_one_completes_it(eddy):
    library = os.environ["EDDY_KILL_AT"]
    failed = number = 0
    for error, forever in ((errno.ENOSPC, 1), (errno.EIO, 0), (errno.EROFS, 1)):
        for at in range(1, 100):
            run = Run(eddy, f"f{number}", count=30)
            number += 1
            # Lines of a former run are removed, too.
            run.start().wait(timeout=e2e.LIMIT_S)
            with open(run.input, "a", encoding="ascii") as file:
                file.write("".join(request(i) for i in range(30, 40)))
            run.count = 40
            run.look()
            child = run.start(LD_PRELOAD=library, KILL_AT=str(at), KILL_ERRNO=str(error),
                              KILL_FOREVER=str(forever), ASAN_OPTIONS="verify_asan_link_order=0")
            _, err = child.communicate(timeout=e2e.LIMIT_S)
            check(child.returncode in (1, 4), child.returncode, error, at, err)
            if child.returncode == 4:
                failed += 1
                run.kills += 1
                check(os.strerror(error).encode() in err, err)
            run.look()
            run.finish()
            run.api.server.close()
            if child.returncode == 1 and at > 12:
                break
    check(failed > 20, failed)
    print(f"# {failed} runs of which a call failed", flush=True)


@claim
def signals_at_each_change_of_a_file_leave_whole_files(eddy):
    library = os.environ["EDDY_KILL_AT"]
    codes = []
    for at in range(1, 16):
        run = Run(eddy, f"s{at}", count=30)
        run.start().wait(timeout=e2e.LIMIT_S)
        child = run.start(LD_PRELOAD=library, KILL_AT=str(at), KILL_SIGNAL=str(int(signal.SIGINT)),
                          ASAN_OPTIONS="verify_asan_link_order=0")
        child.wait(timeout=e2e.LIMIT_S)
        codes.append(child.returncode)
        run.look()
        run.finish()
        run.api.server.close()
    # Before the requests and after them the signal kills; at the very end it comes too late.
    check(set(codes) == {1, 130, -signal.SIGINT}, codes)


if __name__ == "__main__":
    e2e.main()
