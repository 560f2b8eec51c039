"""Shards under schedulers of others, with the files of docs/machines.md: a cluster of Slurm, and GNU parallel.

Attempts are requeued, stopped and killed in the middle of a shard, which is when the server of this test holds their
requests.  In the end each request has one answer.
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import threading

import e2e
from batch_api import Api, ids_of, requests
from e2e import check, claim, equal, wait_until
from page import blocks, section_of, text_of
from slurm import Slurm, is_of_program, processes_with

PAGE = "docs/machines.md"
SHARDS, COUNT = 8, 400
# Answers of a shard that are written before its other requests are held.
FIRST = 10


class Held:
    """Answers the first requests of each shard at once, and the others when its gate is open."""

    def __init__(self):
        self.content = requests(COUNT)
        size, at = len(self.content), 0
        self.shards = {}
        for number, line in enumerate(self.content.splitlines(keepends=True)):
            self.shards[f"r{number}"] = next(i for i in range(SHARDS) if at < (i + 1) * size // SHARDS)
            at += len(line)
        self.gates = [threading.Event() for _ in range(SHARDS)]
        self.seen = [0] * SHARDS
        self.lock = threading.Lock()

    def answer(self, call):
        shard = self.shards[call.id]
        with self.lock:
            self.seen[shard] += 1
            is_held = self.seen[shard] > FIRST
        if is_held:
            self.gates[shard].wait(e2e.LIMIT_S)
        return 200, {}, {"echo": call.body}

    def open(self, *shards):
        for shard in shards or range(SHARDS):
            self.gates[shard].set()


def commands_of(heading, url):
    """The commands of a section of the page, for the server of this test."""
    section = section_of(text_of(PAGE), heading)
    lines = ["\n".join(block) for language, _, block in blocks(section) if language == "sh"]
    return "\n".join(lines).replace("http://127.0.0.1:8082", url) + "\n"


def script_of(heading, name, url):
    """A script that the page writes into a file."""
    return re.search(rf"^cat >{re.escape(name)} <<'END'\n(.*?^)END$", commands_of(heading, url), re.M | re.S).group(1)


def collect_of(heading):
    return re.search(r"^eddy collect .*$", commands_of(heading, ""), re.M).group(0)


def answers_in(folder, shard, name="answers"):
    with contextlib.suppress(FileNotFoundError), open(f"{folder}/{name}.{shard}.jsonl", "rb") as file:
        return file.read().count(b"\n")
    return 0


def text_in(path):
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""


def each_id_is_there_once(folder, env, heading, content, name="answers", path="all.jsonl"):
    with open(folder + "/requests.jsonl", encoding="utf-8") as file:
        equal(file.read(), content)
    done = subprocess.run(["bash", "-c", collect_of(heading)], cwd=folder, env=env, check=False, capture_output=True,
                          text=True, timeout=e2e.LIMIT_S)
    equal(done.returncode, 0, done.stdout, done.stderr)
    equal(ids_of(f"{folder}/{path}"), [f"r{number}" for number in range(COUNT)])
    union = [word for shard in range(SHARDS) for word in ids_of(f"{folder}/{name}.{shard}.jsonl")]
    equal(sorted(union), sorted(f"r{number}" for number in range(COUNT)))


def write_job(slurm, content, script):
    for name, text in {"requests.jsonl": content, "shard.sh": script}.items():
        with open(f"{slurm.jobs}/{name}", "w", encoding="utf-8") as file:
            file.write(text)


class Array:
    """The array of the page, with all shards in the middle."""

    def __init__(self, eddy, slurm, low, step):
        self.eddy, self.slurm, self.held = eddy, slurm, Held()
        self.tasks = [low + step * i for i in range(SHARDS)]
        write_job(slurm, self.held.content, script_of("Slurm", "shard.sh", Api(eddy, self.held.answer).url))
        self.job = slurm.submit(f"--array={low}-{self.tasks[-1]}:{step}", "shard.sh")
        for shard in range(SHARDS):
            wait_until(lambda shard=shard: answers_in(slurm.jobs, shard) >= FIRST, f"shard {shard}: {self.log(shard)}")

    def name(self, shard):
        return f"{self.job}_{self.tasks[shard]}"

    def log(self, shard):
        return text_in(f"{self.slurm.jobs}/shard.{self.tasks[shard]}.log")

    def process(self, shard):
        return self.slurm.process_of(self.tasks[shard], self.eddy.path)

    def wait_for_drain(self, shard):
        """Until the attempt has had SIGTERM and sends nothing more; then its requests are answered."""
        wait_until(lambda: "waiting up to 30s" in self.log(shard), f"the drain of shard {shard}: {self.log(shard)}")
        self.held.open(shard)

    def finish(self, again):
        """Let all continue; again are the shards that began more than once."""
        self.held.open()
        self.slurm.wait_until_idle()
        each_id_is_there_once(self.slurm.jobs, self.slurm.env, "Slurm", self.held.content)
        restarts = [int(self.slurm.facts(self.name(shard))["Restarts"]) for shard in range(SHARDS)]
        equal(restarts, [int(shard in again) for shard in range(SHARDS)])


@claim
def array_of_slurm_with_requeued_stopped_and_killed_tasks_gets_each_answer_once(eddy):
    with Slurm(eddy) as slurm:
        array = Array(eddy, slurm, 0, 1)
        for shard in (0, 5):
            slurm.scontrol("requeue", array.name(shard))
            array.wait_for_drain(shard)
        # As --signal does before the time limit.
        slurm.command("scancel", "--batch", "--signal=TERM", array.name(2))
        array.wait_for_drain(2)
        os.kill(array.process(3), signal.SIGKILL)
        array.finish({0, 2, 3, 5})


@claim
def array_of_slurm_that_is_cancelled_does_not_come_back(eddy):
    with Slurm(eddy) as slurm:
        array = Array(eddy, slurm, 0, 1)
        slurm.command("scancel", array.job)
        for shard in range(SHARDS):
            array.wait_for_drain(shard)
        slurm.wait_until_idle()
        for shard in range(SHARDS):
            facts = slurm.facts(array.name(shard))
            equal((facts["JobState"], facts["Restarts"]), ("CANCELLED", "0"), shard)
        # The same script continues where they were.
        slurm.submit("shard.sh")
        array.held.open()
        slurm.wait_until_idle()
        each_id_is_there_once(slurm.jobs, slurm.env, "Slurm", array.held.content)


@claim
def array_from_10_in_steps_of_2_gets_each_answer_once_although_a_node_is_lost(eddy):
    with Slurm(eddy) as slurm:
        array = Array(eddy, slurm, 10, 2)
        slurm.scontrol("requeue", array.name(7))
        array.wait_for_drain(7)
        lost = slurm.lose_node_of(array.name(0))
        array.finish({7} | {shard for shard in range(SHARDS) if array.tasks[shard] in lost})


@claim
def tasks_of_an_array_run_again_in_a_smaller_array_that_names_the_number_of_shards(eddy):
    held = Held()
    held.open()
    script = script_of("Slurm", "shard.sh", Api(eddy, held.answer).url)
    check("--shard auto " in script, script)
    with Slurm(eddy, nodes=1, cpus=SHARDS) as slurm:
        write_job(slurm, held.content, script)
        job = slurm.submit("--array=3,5", "shard.sh")
        slurm.wait_until_idle()
        equal({slurm.facts(f"{job}_{task}")["ExitCode"] for task in (3, 5)}, {"2:0"})
        equal(answers_in(slurm.jobs, 3), 0)
        write_job(slurm, held.content, script.replace("--shard auto ", f"--shard auto/{SHARDS} "))
        for tasks in ("0-2,4,6-7", "3,5"):
            slurm.submit("--array=" + tasks, "shard.sh")
            slurm.wait_until_idle()
        each_id_is_there_once(slurm.jobs, slurm.env, "Slurm", held.content)


@claim
def arrays_with_offsets_are_the_shards_of_one_file(eddy):
    held = Held()
    held.open()
    url = Api(eddy, held.answer).url
    commands = commands_of("Slurm", url)
    commands = commands[commands.index("sed "):commands.index("eddy collect part")]
    for old, new in (("3000", str(SHARDS)), ("0 1000 2000", "0 4"), ("0-999", "0-3"), ("-o part", "-o answers")):
        check(old in commands, old)
        commands = commands.replace(old, new)
    with Slurm(eddy, nodes=1, cpus=SHARDS) as slurm:
        write_job(slurm, held.content, script_of("Slurm", "shard.sh", url))
        slurm.command("bash", "-c", commands)
        slurm.wait_until_idle()
        each_id_is_there_once(slurm.jobs, slurm.env, "Slurm", held.content)


@claim
def parallel_with_a_killed_shard_gets_each_answer_once(eddy):
    if not shutil.which("parallel"):
        raise e2e.Skip("no GNU parallel here (tools/install-deps interop)")
    held = Held()
    api = Api(eddy, held.answer)
    folder = eddy.file("job")
    os.mkdir(folder)
    with open(folder + "/requests.jsonl", "w", encoding="utf-8") as file:
        file.write(held.content)
    # HOME: parallel keeps files there.
    env = {**os.environ, "PATH": f"{Slurm.tools(eddy)}:{os.environ['PATH']}", "HOME": eddy.folder,
           "EDDY_TEST_PARALLEL": folder}
    command, _, _ = commands_of("GNU parallel", api.url).partition("eddy collect")
    check("sleep 60" in command, command)
    command = command.replace("sleep 60", "sleep 0")
    with open(eddy.file("shown"), "wb") as shown:
        child = subprocess.Popen(["bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                 stdout=shown, stderr=shown)
        eddy.stack.callback(e2e.Eddy.end, child)
        for shard in range(SHARDS):
            wait_until(lambda shard=shard: answers_in(folder, shard, "parallel") >= FIRST,
                       f"shard {shard}: {text_in(eddy.file('shown'))}")
        # The fourth of the processes of parallel.
        pids = processes_with(EDDY_TEST_PARALLEL=folder, PARALLEL_SEQ="4")
        killed, = [pid for pid in pids if is_of_program(pid, eddy.path)]
        os.kill(killed, signal.SIGKILL)
        held.open()
        equal(child.wait(e2e.LIMIT_S), 0, text_in(eddy.file("shown")))
    each_id_is_there_once(folder, env, "GNU parallel", held.content, "parallel", "parallel-all.jsonl")
    rows = [line.split("\t") for line in text_in(folder + "/shards.log").splitlines()[1:]]
    equal(sorted(row[6] for row in rows), ["0"] * SHARDS, rows)
    check(sum(held.seen) > COUNT, held.seen)


if __name__ == "__main__":
    e2e.main()
