"""`eddy batch` beside the scripts that people write to send a file of requests: lines to write, time,
memory, and the state after a `kill -9`."""

import ast
import contextlib
import json
import os
import resource
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request

from batch import ANSWERS, SAID, BatchNginx, peak_bytes, prepared, say
from harness import BenchError, Others, Skipped, median, read_line

CONCURRENCY = 64
REQUESTS = 4_000
NAME = "1k"
PATH = "v1/chat/completions"
CONTENT = json.loads(ANSWERS[NAME])["choices"][0]["message"]["content"]
COOKBOOK = "api_request_parallel_processor.py"
COOKBOOK_URL = f"https://raw.githubusercontent.com/openai/openai-cookbook/main/examples/{COOKBOOK}"
SECONDS_MAX = 600

# key, title, the file whose lines are counted (None: a command)
PEOPLE = [
    ("eddy", "eddy batch", None),
    ("aiohttp", "script with aiohttp", "people_aiohttp.py"),
    ("cookbook", "the script of OpenAI's cookbook", COOKBOOK),
    ("litellm", "script with litellm", "people_litellm.py"),
    ("curl", "curl --parallel, from a script", "people_curl.py"),
]


def lines_of_code(path):
    """Lines that are neither blank, nor comments, nor texts that document."""
    with open(path) as file:
        text = file.read()
    skipped = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.update(range(node.lineno, node.end_lineno + 1))
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in skipped
        for number, line in enumerate(text.splitlines(), 1)
    )


class PeopleNginx(BatchNginx):
    """The server of the batch rows, with the path that the clients of OpenAI's API use."""

    def location(self, name, answer):
        text = super().location(name, answer)
        return text.replace(f"= /{name} ", f"= /{PATH} ") if name == NAME else text


class Child:
    """A program that runs, with its peak of resident memory."""

    def __init__(self, argv, cpu, env, log):
        self.begin, self.peak, self.name = time.monotonic(), 0, os.path.basename(argv[0])
        with open(log, "w") as out:
            self.process = subprocess.Popen(
                argv, stdout=out, stderr=out, env={**os.environ, **env}, preexec_fn=prepared(cpu)
            )
        self.watcher = threading.Thread(target=self.watch, daemon=True)
        self.watcher.start()

    def watch(self):
        while self.process.poll() is None:
            self.peak = max(self.peak, peak_bytes(self.process.pid))
            time.sleep(0.005)

    def end(self, kill=False):
        """Wait for its end; returns its exit status and wall time."""
        if kill:
            self.process.kill()
        try:
            code = self.process.wait(SECONDS_MAX)
        except subprocess.TimeoutExpired as error:
            self.process.kill()
            raise BenchError(f"{self.name} did not end in {SECONDS_MAX} s") from error
        finally:
            self.watcher.join()
        return code, time.monotonic() - self.begin


class PeopleBench:
    """Whole programs, as a person would write or start them, and a kill in the middle of each."""

    title = "Beside scripts"

    def __init__(self, options, tools):
        self.options, self.tools = options, tools
        only = options.only.split(",") if options.only else None
        self.entries = [p for p in PEOPLE if not only or p[0] in only]
        self.count = max(10 * CONCURRENCY, int(REQUESTS * options.scale))
        self.runs, self.killed = {}, {}
        self.missing, self.failures, self.versions = {}, [], {}
        self.others = 0.0

    # --- building ---

    def build(self):
        """Returns the programs that are missing, and why."""
        self.python = None
        builds = [("eddy", self.tools.build_eddy, "eddy", "cmd/eddy"),
                  ("aiohttp", self.need, "aiohttp"), ("litellm", self.need, "litellm"),
                  ("cookbook", self.need_cookbook), ("curl", self.tools.need_program, "curl")]
        return self.tools.build_all([p[0] for p in self.entries], builds)

    def need(self, module):
        if not self.python:
            self.python = self.tools.make_python("people-venv", "people_requirements.txt")
        self.tools.need_module(self.python, module)

    def need_cookbook(self):
        self.need("tiktoken")
        path = self.place(COOKBOOK)
        if os.path.exists(path):
            return
        try:
            with urllib.request.urlopen(COOKBOOK_URL, timeout=30) as answer, open(path, "wb") as file:
                shutil.copyfileobj(answer, file)
        except OSError as error:
            raise Skipped(f"{COOKBOOK_URL} cannot be read ({error}): put it at {path}") from error

    def place(self, name):
        return os.path.join(self.tools.build if name == COOKBOOK else self.tools.places["src"], name)

    def version(self, key):
        if key == "eddy":
            return read_line([self.tools.places["eddy_program"], "--version"])
        if key == "curl":
            return read_line(["curl", "--version"]).split(" (")[0]
        module = "aiohttp" if key == "cookbook" else key
        code = f"import importlib.metadata as m; print('{module}', m.version('{module}'))"
        return read_line([self.python, "-c", code])

    # --- one program ---

    def path(self, name):
        return os.path.join(self.folder, name)

    def inputs_write(self):
        with open(self.path("in.jsonl"), "w") as ours, open(self.path("cookbook.jsonl"), "w") as theirs:
            for i in range(self.count):
                body = {"model": "bench", "messages": SAID["messages"]}
                ours.write(json.dumps({"custom_id": f"request-{i}", "method": "POST",
                                       "url": f"/{PATH}", "body": body}) + "\n")
                theirs.write(json.dumps({**body, "metadata": {"custom_id": f"request-{i}"}}) + "\n")

    def command(self, key, url):
        concurrency = str(CONCURRENCY)
        if key == "eddy":
            return [self.tools.places["eddy_program"], "batch", self.path("in.jsonl"), "-o",
                    self.path("out.jsonl"), "--base-url", url, "-c", concurrency, "--ramp", "0s"]
        if key == "cookbook":
            return [self.python, self.place(COOKBOOK), "--requests_filepath",
                    self.path("cookbook.jsonl"), "--save_filepath", self.path("out.jsonl"),
                    "--request_url", url + PATH, "--api_key", "none", "--max_requests_per_minute",
                    "100000000", "--max_tokens_per_minute", "100000000000", "--logging_level", "30"]
        out = "answers" if key == "curl" else "out.jsonl"
        return [self.python or "python3", self.place(f"people_{key}.py"), self.path("in.jsonl"),
                self.path(out), url + PATH, concurrency]

    def environment(self, nginx):
        env = {**dict.fromkeys(("SSL_CERT_FILE", "CURL_CA_BUNDLE"), nginx.cert),
               "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        if self.python:
            # litellm brings the table of tokens that the cookbook's script would download.
            found = os.path.join(os.path.dirname(self.python), "..", "lib")
            for folder, _, files in os.walk(found):
                if folder.endswith("litellm_core_utils/tokenizers"):
                    env["TIKTOKEN_CACHE_DIR"] = folder
        return env

    def start(self, key, nginx):
        url = nginx.address("https")
        return Child(self.command(key, url), self.client_cpu, self.environment(nginx), self.path("log"))

    def remove(self):
        for name in ("out.jsonl", "out.errors.jsonl", "answers.config"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path(name))
        shutil.rmtree(self.path("answers"), ignore_errors=True)

    def answers(self, key):
        """The ids that have the right answer, each as often as it is there; and what is broken."""
        ids, broken, lines = [], 0, []
        if key == "curl" and os.path.isdir(self.path("answers")):
            lines = [(name.removesuffix(".json"), os.path.join(self.path("answers"), name))
                     for name in os.listdir(self.path("answers"))]
        elif key != "curl":
            with contextlib.suppress(FileNotFoundError), open(self.path("out.jsonl"), "rb") as file:
                lines = file.readlines()
        for line in lines:
            try:
                ids.append(self.answer(key, line))
            except (ValueError, KeyError, TypeError, AttributeError):
                broken += 1
        return ids, broken

    @staticmethod
    def answer(key, line):
        """The id of a line, whose answer must be right."""
        if key == "curl":
            name, path = line
            with open(path) as file:
                body = json.load(file)
        elif key == "cookbook":
            _, body, more = json.loads(line)
            name = more["custom_id"]
        else:
            value = json.loads(line)
            name, body = value["custom_id"], value["response"]["body"]
        if body["choices"][0]["message"]["content"] != CONTENT:
            raise ValueError(name)
        return name

    def failure(self, key, code):
        with open(self.path("log"), errors="replace") as file:
            last = (file.read().strip().splitlines() or ["no output"])[-1]
        return BenchError(f"{key} exited with {code}: {last[:300]}")

    # --- measuring ---

    def measure(self, key, nginx):
        """A whole run: seconds, CPU seconds, peak of memory."""
        self.remove()
        served = nginx.status()[1]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        child = self.start(key, nginx)
        code, wall = child.end()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if code != 0:
            raise self.failure(key, code)
        ids, broken = self.answers(key)
        served = nginx.status()[1] - served
        if broken or len(ids) != self.count or len(set(ids)) != self.count or served != self.count:
            raise BenchError(f"{key}: {len(set(ids))} of {self.count} answers, {broken} broken, "
                             f"{served} requests")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return wall, cpu, child.peak / (1 << 20)

    def kill(self, key, nginx):
        """Kill it when half of the requests are answered, then start the same command again."""
        self.remove()
        first = nginx.status()[1]
        child = self.start(key, nginx)
        while nginx.status()[1] - first < self.count // 2:
            if child.process.poll() is not None:
                raise BenchError(f"{key} ended before it could be killed")
        child.end(kill=True)
        served = -1
        while served != (served := nginx.status()[1] - first):
            time.sleep(0.1)  # what the kernel still had of it
        kept = len(set(self.answers(key)[0]))
        code, _ = self.start(key, nginx).end()
        if code != 0:
            raise self.failure(key, code)
        ids, broken = self.answers(key)
        return {"served": served, "lost": served - kept, "again": nginx.status()[1] - first - self.count,
                "missing": self.count - len(set(ids)), "twice": len(ids) - len(set(ids)), "broken": broken}

    def each(self, work, store):
        for key, *_ in self.entries:
            try:
                store(key, work(key))
            except (BenchError, OSError) as error:
                self.failures.append(f"people, {key}: {error}")
                say(f"FAILED people, {key}: {error}")

    def run(self, server_cpu, client_cpu):
        self.client_cpu = client_cpu
        self.missing = self.build()
        self.entries = [p for p in self.entries if p[0] not in self.missing]
        self.versions = {key: self.version(key) for key, *_ in self.entries}
        with tempfile.TemporaryDirectory(prefix="eddy-bench-") as self.folder:
            self.inputs_write()
            with PeopleNginx(server_cpu) as nginx, Others() as others:
                for number in range(self.options.runs):
                    self.each(lambda key: self.measure(key, nginx),
                              lambda key, run: self.runs.setdefault(key, []).append(run))
                    say(f"people: run {number + 1} of {self.options.runs}")
                self.each(lambda key: self.kill(key, nginx), self.killed.__setitem__)
        self.others = others.percent

    # --- the table ---

    def lines(self, key, name):
        if not name:
            return "1"
        count = lines_of_code(self.place(name))
        return f"1, and {count} of the script" if key == "cookbook" else str(count)

    def table(self):
        rows = ["| program | lines to write | seconds | CPU seconds | x eddy | peak MiB | killed: answers lost "
                "| requests sent again | the file after the second run |",
                "|---|---|--:|--:|--:|--:|--:|--:|---|"]
        ours = self.runs.get("eddy") and median([run[1] for run in self.runs["eddy"]])
        for key, title, name in self.entries:
            if key not in self.runs:
                continue
            wall, cpu, peak = (median(list(column)) for column in zip(*self.runs[key]))
            cells = [f"{title} ({self.versions[key]})", self.lines(key, name), f"{wall:.2f}", f"{cpu:.2f}",
                     f"{cpu / ours:.1f}" if ours else "", f"{peak:.0f}"]
            rows.append("| " + " | ".join(cells + self.killed_cells(key)) + " |")
        return rows

    def killed_cells(self, key):
        found = self.killed.get(key)
        if not found:
            return ["", "", ""]
        parts = [f"{found[word]:,} {word}" for word in ("missing", "twice", "broken") if found[word]]
        return [f"{found['lost']:,} of {found['served']:,}", f"{found['again']:,}",
                ", ".join(parts) or "each answer once"]

    def notes(self):
        return [
            f"{self.count:,} chat requests in a file, {CONCURRENCY} at a time (the cookbook's script has no "
            "such limit), to nginx with TLS 1.3 and answers of 1,024 bytes. Whole programs, from start to "
            "end, the start of Python included; medians. Every answer of every run was checked.",
            "Lines: without blank lines and comments; a command is one line. The scripts (bench/peers/people_*) "
            "skip the ids that their output has when they are started again.",
            "Killed: `kill -9` after half of the requests, one run each, then the same command again. Answers "
            "lost: the server had sent them, or was about to, and the output does not have them.",
            f"Other work took {self.others:.0f} % of the machine meanwhile.",
        ]
