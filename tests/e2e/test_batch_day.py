"""test_batch_day - a day in the life of a job: a table with every kind of cell, an API on a bad day
(day_api.py), a kill, a stop, a full disk, more rows and another prompt.  At the end each row has its
answer, once.

With EDDY_TEST_FULL=1 the table has 20,000 rows instead of 4,000, the prompt changes after all rows are answered, and the job
is killed ten times.
"""
import csv
import json
import os
import resource
import signal

import e2e
from batch_api import lines_of
from day_api import DIALECTS, LIFE_S, DayApi
from day_rows import csv_of, rows_of
from e2e import check, claim, equal

FULL = os.environ.get("EDDY_TEST_FULL") == "1"
ROWS = 20_000 if FULL else 4_000
ADDED = 500
SLOTS = 64


def body_of(prompt):
    return json.dumps({"model": "m", "id": "{{custom_id}}", "code": "{{code}}", "score": "{{score:json}}",
                       "messages": [{"role": "system", "content": prompt}, {"role": "user", "content": "{{text}}"}]})


class Lines:
    """Counts the lines of a file that grows."""

    def __init__(self, path):
        self.path, self.at, self.count = path, 0, 0

    def __call__(self):
        try:
            with open(self.path, "rb") as file:
                file.seek(self.at)
                data = file.read()
        except FileNotFoundError:
            return 0
        self.at += len(data)
        self.count += data.count(b"\n")
        return self.count


class Job:
    """One command, with what changes from run to run."""

    def __init__(self, eddy):
        self.eddy, self.api = eddy, DayApi(eddy, ROWS // 5)
        self.rows = rows_of(range(ROWS))
        self.table, self.out = eddy.file("rows.csv", csv_of(self.rows)), eddy.file("answers.jsonl")
        self.log = eddy.file("log.jsonl")
        self.prompt, self.token = "v1", "opaque"

    def start(self, *more, **options):
        urls = [part for url in self.api.urls for part in ("--base-url", url)]
        return self.eddy.start("batch", self.table, "-o", self.out, *urls, "--url", "/v1/chat/completions",
                               "--body", body_of(self.prompt), "--api-key-command", self.api.command(self.token),
                               "-c", str(SLOTS), "--ramp", "0s", "--retry-base", "20ms", "--idle-timeout", "2s",
                               "--progress", "off", "--log", self.log, *more, **options)

    def end(self, child, code):
        _, err = child.communicate(timeout=e2e.LIMIT_S)
        equal(child.returncode, code, err[-3000:].decode())
        check("secret" not in err.decode(), err[-3000:])
        return err.decode()

    def until(self, child, count):
        lines = Lines(self.out)
        e2e.wait_until(lambda: lines() >= count or child.poll() is not None, f"{count} answers", e2e.LIMIT_S)
        check(child.poll() is None, child.poll())


def kill(job, count):
    """The job is killed when the output has that many answers."""
    child = job.start()
    job.until(child, count)
    child.kill()
    child.wait()


def stop_and_interrupt(job, count, interrupted_at):
    """The job is stopped for two lives of its token, goes on, and gets a Ctrl-C later."""
    child = job.start()
    job.until(child, count)
    child.send_signal(signal.SIGSTOP)
    e2e.wait_until(lambda: job.api.age_s() > 2 * LIFE_S, "two lives of a token")
    child.send_signal(signal.SIGCONT)
    job.until(child, interrupted_at)
    child.send_signal(signal.SIGINT)
    err = job.end(child, 130)
    check("to resume: eddy batch" in err, err)


def fill_disk(job, part, *more):
    """The output cannot grow by more than that part."""
    limit = int(os.path.getsize(job.out) * (1 + part))

    def preexec():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    err = job.end(job.start(*more, preexec_fn=preexec), 4)
    check("answers.jsonl" in err, err)
    written = sum(line["response"]["body"]["prompt"] == job.prompt for line in lines_of(job.out))
    check(written > 0, "nothing was written before the disk was full")
    check_requests(job, job.prompt, written, 1)


def change_prompt(job):
    """Without --on-changed, nothing is sent."""
    job.prompt = "v2"
    seen = job.api.seen.total()
    err = job.end(job.start(), 3)
    check("--on-changed" in err, err)
    equal(job.api.seen.total(), seen, err)


def add_rows(job):
    """Half of the new rows are in the middle of the table."""
    new = rows_of(range(ROWS, ROWS + ADDED))
    job.rows[ROWS // 2:ROWS // 2] = new[:ADDED // 2]
    job.rows += new[ADDED // 2:]
    job.eddy.file("rows.csv", csv_of(job.rows, "\n"))


def finish(job, *more):
    job.token = "lines"
    err = job.end(job.start(*more), 0)
    check("API key: refreshed" in err, err)
    return err


def table_of(job):
    """The answers as a table of CSV, beside the columns of the rows."""
    path, pointers = job.eddy.file("table.csv"), ("/prompt", "answer=/choices/0/message/content", "/code", "/score")
    result = job.eddy.run("select", job.out, *(part for pointer in pointers for part in ("--select", pointer)),
                          "--by", job.table, "--keep", "asked=text", "-o", path)
    equal(result.code, 0, result)
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def shown(value):
    """A value of JSON as a cell."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, separators=(",", ":"))


def check_answers(job):
    """Each row once, and right, in the order of the rows."""
    csv.field_size_limit(1 << 24)
    equal(len(lines_of(job.out)), len(job.rows))
    for row, got in zip(job.rows, table_of(job), strict=True):
        score = json.loads(row["score"])
        equal(got, {"custom_id": row["custom_id"], "asked": row["text"], "prompt": job.prompt, "answer": row["text"],
                    "code": row["code"], "score": shown(score), "error": ""})
    check(not os.path.exists(job.eddy.file("answers.errors.jsonl")), "an errors file is left")
    with open(job.out, encoding="utf-8") as file:
        check("secret" not in file.read(), "the output has a token")


def check_requests(job, prompt, needed, stops):
    """Only requests whose answers a stop or --idle-timeout dropped were sent again."""
    with open(job.log, "rb") as file:
        late = file.read().count(b'"cause":"request_timeout"')
    sent = job.api.sent[prompt]
    check(needed <= sent <= needed + stops * SLOTS + late, prompt, "sent:", sent, "needed:", needed, "late:", late)


@claim
def day_of_faults_ends_with_each_row_once_and_right(eddy):
    job = Job(eddy)
    step = ROWS // 20
    kills = 10 if FULL else 1
    for number in range(kills):
        kill(job, step * (number + 1) // kills)
    stop_and_interrupt(job, 2 * step, 4 * step if FULL else 3 * step)
    if FULL:
        finish(job)
    check_requests(job, "v1", len(lines_of(job.out)), kills + 1)
    change_prompt(job)
    fill_disk(job, 0.2, "--on-changed", "send")
    add_rows(job)
    finish(job, "--on-changed", "send")
    check_answers(job)
    check_requests(job, "v2", ROWS + ADDED, 1)
    faults = job.api.faults
    check(all(faults[name] for name in ("500", "stall", "expired", *(dialect.__name__ for dialect in DIALECTS))), faults)
    # Once more: all is done.
    seen = job.api.seen.total()
    job.end(job.start(), 0)
    equal(job.api.seen.total(), seen)
    check_answers(job)


if __name__ == "__main__":
    e2e.main()
