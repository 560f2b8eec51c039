"""test_batch_torture - runs of `eddy batch` that are killed again and again: 2,000 kills, with
EDDY_TEST_QUICK 100.  After each kill: no written line is lost, none is there twice, and at most the
requests in flight are sent again.
"""
import json
import os
import random
import subprocess
import time

import e2e
from batch_api import Api, requests
from e2e import check, claim, equal

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

    def __init__(self, eddy, number, count=200, fails=0.05):
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

    def start(self, **env):
        return self.eddy.start("batch", self.input, "-o", self.out, "--base-url", self.api.url, "-c",
                               str(SLOTS), "--progress", "off", "--ramp", "0s",
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env={**os.environ, **env})

    def look(self):
        """Check the files after a kill."""
        lines = [json.loads(line) for line in whole_lines(self.out)]
        ids = [line["custom_id"] for line in lines]
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
        answers = [json.loads(line)["custom_id"] for line in whole_lines(self.out)]
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
        run = Run(eddy, number, count=60)
        number += 1
        for how in ("before", "after", "torn", "before", "after", "torn"):
            child = run.start(LD_PRELOAD=library, KILL_AT=str(1 + kills % 23), KILL_HOW=how,
                              ASAN_OPTIONS="verify_asan_link_order=0")
            child.wait(timeout=e2e.LIMIT_S)
            if child.returncode == -9:
                run.kills += 1
                kills += 1
                run.look()
        run.finish()
        run.api.server.close()
    print(f"# {kills} kills of {number} runs", flush=True)


if __name__ == "__main__":
    e2e.main()
