"""The rows of `eddy batch`: whole programs that send a file of requests and write a file of answers."""

import contextlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

from harness import BenchError, median, pinned, read_line, run_child, verdict
from tls import TlsNginx, free_port

CONNECTIONS = 64
PYTHON = ["{python}", "{src}/batch_python.py"]
NODE = ["node", "{src}/batch_node.js"]

# key, title, requests per run of the first row, how it is started
PROGRAMS = [
    ("floor", "bare epoll loop", 60_000, ["{peers}/http_floor"]),
    ("eddy", "eddy batch", 60_000, ["{eddy_program}", "batch"]),
    ("go", "Go net/http", 40_000, ["{peers}/batch_go"]),
    ("undici", "Node, undici's request()", 40_000, [*NODE, "request"]),
    ("undici-fetch", "Node, undici's fetch()", 20_000, [*NODE, "fetch"]),
    ("curl", "curl --parallel", 5_000, ["curl"]),
    ("aiohttp-uvloop", "aiohttp, uvloop", 20_000, [*PYTHON, "aiohttp", "uvloop"]),
    ("aiohttp", "aiohttp, asyncio", 20_000, [*PYTHON, "aiohttp", "asyncio"]),
    ("httpx", "httpx, asyncio", 2_000, [*PYTHON, "httpx", "asyncio"]),
]
# The others may use fewer connections, or drop and open some: no fault of the run.
EXACT_CONNECTIONS = {"floor", "eddy", "go"}

# title, scheme, answer, part of the requests, and how many times the floor eddy may cost
ROWS = [
    ("1 KB answers", "http", "1k", 1, 1.5),
    ("20 KB answers", "http", "20k", 0.5, 2),
    ("1 KB answers, https", "https", "1k", 1, None),
]

MEMORY_ROWS = ("memory, a million lines", "memory, 5,000 in flight")
MANY = 1_000_000
MANY_CONNECTIONS = 256
MANY_FIXED_MIB = 64
LINE_BYTES = 24
SLOW = 20_000
SLOW_CONNECTIONS = 5_000
SLOW_SECONDS = 10
SLOW_MIB = 100
SLOW_START_SECONDS = 2  # all but the four delays
MEMORY_SECONDS_MAX = 600
MIB = 1 << 20

WORDS = ("the of and to in a is that for it as was with be by on not he his but at are this have "
         "model answer token request limit server").split()
SAID = {"model": "bench", "messages": [
    {"role": "system", "content": "You are a careful assistant. Answer in one paragraph."},
    {"role": "user", "content": "Classify this review as positive, neutral or negative, and say "
                                "why: \"The room was clean and quiet, but the lift did not work "
                                "for two days, and the desk did not know when it would.\""}]}


def compact(value):
    return json.dumps(value, separators=(",", ":")).encode()


def answer_make(size):
    """A chat's answer of exactly that many bytes, whose text has line breaks and quotes."""
    random_of = random.Random(size)
    answer = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1795235848,
              "model": "bench", "choices": [{"index": 0, "message": {"role": "assistant",
              "content": ""}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 12,
              "completion_tokens": 200, "total_tokens": 212}}
    message, text = answer["choices"][0]["message"], ""
    while True:
        more = text + random_of.choice(WORDS) + random_of.choice((" ",) * 12 + (", ", ".\n", ' "'))
        message["content"] = more
        if len(compact(answer)) > size:
            break
        text = more
    message["content"] = text
    message["content"] += "x" * (size - len(compact(answer)))
    return compact(answer)


ANSWERS = {"1k": answer_make(1 << 10), "20k": answer_make(20 << 10)}
REQUEST = compact(SAID)


def say(text):
    print(text, file=sys.stderr, flush=True)


class BatchNginx(TlsNginx):
    """nginx that answers each POST with a JSON text from its configuration, plain and with TLS 1.3."""

    PIECE = 1500  # nginx takes no longer words than 4,096 bytes, and most characters may be escaped

    def __init__(self, cpu):
        super().__init__(cpu, 1)

    def location(self, name, answer):
        """A location of that name; its answer is in pieces that the configuration can hold."""
        text = answer.decode()
        pieces = [text[i:i + self.PIECE] for i in range(0, len(text), self.PIECE)]
        pieces = [piece.replace("\\", "\\\\").replace("'", "\\'") for piece in pieces]
        sets = "\n".join(f"set $p{name}_{i} '{piece}';" for i, piece in enumerate(pieces))
        whole = "".join(f"${{p{name}_{i}}}" for i in range(len(pieces)))
        return (f'location = /{name} {{\ndefault_type application/json;\n{sets}\n'
                f'return 200 "{whole}";\n}}')

    def servers(self):
        self.files_make()
        self.ports = {"http": free_port(), "https": free_port()}
        locations = "\n".join(self.location(*item) for item in ANSWERS.items())
        return f"""
        server {{
                listen 127.0.0.1:{self.ports["http"]};
                listen 127.0.0.1:{self.ports["https"]} ssl;
                ssl_certificate {self.cert};
                ssl_certificate_key {self.key};
                ssl_protocols TLSv1.3;
                ssl_conf_command Ciphersuites TLS_AES_256_GCM_SHA384;
                {locations}
        }}"""


class Mock:
    """`eddy mock` with a delay before each answer."""

    def __init__(self, program, seconds, cpu):
        self.argv = [program, "mock", "--latency", f"{int(seconds * 1000)}ms"]
        self.cpu = cpu
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(
            self.argv, stdout=subprocess.PIPE, text=True, preexec_fn=prepared(self.cpu)
        )
        address = self.process.stdout.readline().rpartition(" ")[2].strip()
        if not address.startswith("http"):
            self.__exit__()
            raise BenchError("eddy mock does not start")
        self.url = f"{address}/v1/chat/completions"
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


def prepared(cpu):
    """For preexec_fn: as pinned(), with as many descriptors as are allowed."""
    pin = pinned(cpu)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]

    def prepare():
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        pin()

    return prepare


def peak_bytes(pid):
    """The most resident memory that a process has had so far."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def watched(argv, cpu, log):
    """Run a program to its end; returns its peak of resident memory in bytes and its wall time."""
    begin, peak = time.monotonic(), 0
    with open(log, "w") as out:
        process = subprocess.Popen(argv, stdout=out, stderr=out, preexec_fn=prepared(cpu))
        try:
            while process.poll() is None:
                peak = max(peak, peak_bytes(process.pid))
                if time.monotonic() - begin > MEMORY_SECONDS_MAX:
                    raise BenchError(f"{argv[1]} did not end in {MEMORY_SECONDS_MAX} s")
                time.sleep(0.01)
            wall = time.monotonic() - begin
        finally:
            process.kill()
            process.wait()
    if process.returncode != 0:
        with open(log) as said:
            last = (said.read().strip().splitlines() or ["no output"])[-1]
        raise BenchError(f"eddy {argv[1]} exited with {process.returncode}: {last[:300]}")
    return peak, wall


def requests_write(path, url, count):
    """A file of requests in OpenAI's batch format, with whole URLs."""
    tail = f'","method":"POST","url":"{url}","body":{REQUEST.decode()}}}\n'
    with open(path, "w") as file:
        file.writelines(f'{{"custom_id":"request-{i}{tail}' for i in range(count))


def curl_write(path, url, count, folder):
    """The same for curl: a configuration with a part for each request."""
    data = REQUEST.decode().replace("\\", "\\\\").replace('"', '\\"')
    part = (f'url = "{url}"\ndata = "{data}"\nheader = "Content-Type: application/json"\n'
            f'retry = 5\nfail-with-body\noutput = "{folder}/')
    with open(path, "w") as file:
        file.write("next\n".join(f'{part}{i}.json"\n' for i in range(count)))


def lines_check(path, count, answer):
    """Every request has a line, one only, with status 200 and the answer (None: any)."""
    seen = bytearray(count)
    whole = answer and json.loads(answer)
    with open(path, "rb") as file:
        for line in file:
            head, found, tail = line.partition(answer) if answer else (line, b"", b"")
            value = json.loads(head + b"null" + tail if found else line)
            response = value["response"] or {}
            is_good = found or not answer or response.get("body") == whole
            if response.get("status_code") != 200 or not is_good:
                raise BenchError(f"not as it should be: {line[:300].decode(errors='replace')}")
            seen[int(value["custom_id"].removeprefix("request-"))] += 1
    if seen.count(1) != count:
        raise BenchError(f"{seen.count(1)} of {count} requests have one line")


def files_check(folder, count, answer):
    """As lines_check(), where each answer is a file of its own."""
    for i in range(count):
        try:
            with open(f"{folder}/{i}.json", "rb") as file:
                is_good = file.read() == answer
        except OSError:
            is_good = False
        if not is_good:
            raise BenchError(f"the answer of request {i} is not as it should be")
        os.remove(f"{folder}/{i}.json")


class BatchBench:
    """CPU time and wall time per request of whole processes, and the memory of eddy."""

    title = "Batch"

    def __init__(self, options, tools):
        self.options, self.tools = options, tools
        only = options.only.split(",") if options.only else None
        self.entries = [p for p in PROGRAMS if not only or p[0] in only]
        self.rows = [r for r in ROWS if not options.row or options.row in r[0]]
        self.memory_rows = [r for r in MEMORY_ROWS if not options.row or options.row in r]
        self.runs = {}  # (row's title, key): results of its runs
        self.memory = []  # title, peak and most allowed in MiB, seconds and most allowed or None
        self.missing, self.failures, self.versions = {}, [], {}

    def fail(self, title, error):
        self.failures.append(f"batch, {title}: {error}")
        say(f"FAILED batch, {title}: {error}")

    def count(self, base):
        return max(CONNECTIONS, int(base * self.options.scale))

    def path(self, name):
        return os.path.join(self.folder, name)

    def outputs_remove(self):
        for name in ("out.jsonl", "out.errors.jsonl"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path(name))

    # --- the programs side by side ---

    def command(self, entry, url, count):
        """Write the input of a program; returns its command."""
        key, _, _, argv = entry
        argv = self.tools.command(argv)
        path_in, path_out, width = self.path("in.jsonl"), self.path("out.jsonl"), str(CONNECTIONS)
        self.outputs_remove()
        if key == "floor":
            with open(path_in, "wb") as file:
                file.write(REQUEST)
            return [*argv, url, str(count), width, path_out, path_in]
        if key == "curl":
            os.makedirs(self.path("answers"), exist_ok=True)
            curl_write(path_in, url, count, self.path("answers"))
            return [*argv, "--parallel", "--parallel-max", width, "--no-progress-meter",
                    "--config", path_in]
        requests_write(path_in, url, count)
        if key == "eddy":
            return [*argv, path_in, "-o", path_out, "-c", width, "--ramp", "0s",
                    "--progress", "off", "--summary", "json"]
        return [*argv, path_in, path_out, width]

    def environment(self, nginx, scheme):
        env = {"GOMAXPROCS": "1", "GOGC": self.options.gogc,
               "NODE_PATH": self.tools.places.get("node_modules", "")}
        if scheme == "https":
            env.update(dict.fromkeys(
                ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE"), nginx.cert))
            env["SSL_CERT_DIR"] = os.path.join(nginx.folder, "none")
        return env

    def measure(self, nginx, row, entry):
        """Returns a run, which counts only if the server saw each request and each has its answer."""
        _, scheme, name, part, _ = row
        key, _, base, _ = entry
        count = self.count(base * part)
        command = self.command(entry, nginx.address(scheme) + name, count)
        report = {"eddy": "stderr", "curl": None}.get(key, "stdout")
        accepts, served = nginx.status()
        begin = time.monotonic()
        result = run_child(command, self.client_cpu, self.environment(nginx, scheme), report=report)
        result["wall_s"] = time.monotonic() - begin
        accepts_after, served_after = nginx.status()
        result["accepted"], served = accepts_after - accepts, served_after - served
        if served != count:
            raise BenchError(f"{key}: the server saw {served} of {count} requests")
        if result["accepted"] != CONNECTIONS and key in EXACT_CONNECTIONS:
            raise BenchError(f"{key}: {result['accepted']} connections instead of {CONNECTIONS}")
        if key == "curl":
            files_check(self.path("answers"), count, ANSWERS[name])
        else:
            lines_check(self.path("out.jsonl"), count, ANSWERS[name])
        if key in ("eddy", "curl"):
            version = read_line([command[0], "--version"]).split(" (")[0]
        else:
            version = result["client"]
        self.versions[key] = version
        result["ops"] = count
        return result

    def compare(self, nginx, row):
        """All runs of one row, the programs in turn."""
        for number in range(self.options.runs):
            for entry in self.entries:
                try:
                    result = self.measure(nginx, row, entry)
                except (BenchError, ValueError, KeyError, OSError) as error:
                    self.fail(row[0], error)
                    continue
                self.runs.setdefault((row[0], entry[0]), []).append(result)
                say(f"batch {row[0]} {number + 1}/{self.options.runs} {entry[0]}: "
                    f"{result['child_cpu_ns'] / result['ops'] / 1000:.1f} us")

    # --- memory ---

    def memory_command(self, url, count, connections):
        self.outputs_remove()
        requests_write(self.path("in.jsonl"), url, count)
        return [self.tools.places["eddy_program"], "batch", self.path("in.jsonl"), "-o",
                self.path("out.jsonl"), "-c", str(connections), "--progress", "off",
                "--summary", "json"]

    def memory_many(self, nginx):
        count = self.count(MANY)
        command = self.memory_command(nginx.address("http") + "1k", count, MANY_CONNECTIONS)
        peak, wall = watched(command, self.client_cpu, self.path("log"))
        lines_check(self.path("out.jsonl"), count, ANSWERS["1k"])
        most = (MANY_FIXED_MIB * MIB + LINE_BYTES * count) / MIB
        title = f"{count:,} lines, {MANY_CONNECTIONS} in flight, nginx"
        self.memory.append((title, peak / MIB, most, wall, None))

    def memory_slow(self):
        count, connections = self.count(SLOW), self.count(SLOW_CONNECTIONS)
        seconds = SLOW_SECONDS * min(1, self.options.scale)
        allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if allowed < connections + 64:
            raise BenchError(f"{connections + 64:,} descriptors are needed (ulimit -n)")
        with Mock(self.tools.places["eddy_program"], seconds, self.server_cpu) as mock:
            command = self.memory_command(mock.url, count, connections)
            peak, wall = watched(command, self.client_cpu, self.path("log"))
        lines_check(self.path("out.jsonl"), count, None)
        title = f"{count:,} lines, {connections:,} in flight, eddy mock with {seconds:g} s"
        most = seconds * count / connections + SLOW_START_SECONDS
        self.memory.append((title, peak / MIB, SLOW_MIB, wall, most))

    def memory_measure(self, nginx):
        for title in self.memory_rows:
            try:
                if title == MEMORY_ROWS[0]:
                    self.memory_many(nginx)
                else:
                    self.memory_slow()
            except (BenchError, ValueError, KeyError, OSError) as error:
                self.fail(title, error)
            self.outputs_remove()

    def run(self, server_cpu, client_cpu):
        self.server_cpu, self.client_cpu = server_cpu, client_cpu
        self.missing = self.tools.build_batch([p[0] for p in self.entries])
        self.entries = [p for p in self.entries if p[0] not in self.missing]
        with tempfile.TemporaryDirectory(prefix="eddy-bench-") as self.folder:
            with BatchNginx(server_cpu) as nginx:
                for row in self.rows:
                    self.compare(nginx, row)
                if any(p[0] == "eddy" for p in self.entries):
                    self.memory_measure(nginx)

    # --- tables ---

    def cost(self, title, key):
        """The medians of a program in a row: us of CPU and of wall time; or None."""
        runs = self.runs.get((title, key))
        if not runs:
            return None
        cpu = [r["child_cpu_ns"] / r["ops"] / 1000 for r in runs]
        wall = median([r["wall_s"] / r["ops"] * 1e6 for r in runs])
        return median(cpu), wall, min(cpu), max(cpu), max(r["accepted"] for r in runs)

    def row_table(self, row):
        title, *_, times = row
        costs = {key: self.cost(title, key) for key, *_ in self.entries}
        floor, ours = costs.get("floor"), costs.get("eddy")
        lines = [
            f"### {title}", "",
            "| program | CPU us/request | lowest to highest | x floor | wall us/request "
            "| requests/s | connections | eddy beside it |",
            "|---|--:|--:|--:|--:|--:|--:|---|",
        ]
        for key, name, *_ in self.entries:
            if not costs[key]:
                continue
            cpu, wall, low, high, connections = costs[key]
            beside, ratio = "", f"{cpu / floor[0]:.2f}" if floor else ""
            if ours and key not in ("floor", "eddy"):
                beside = f"{ours[0] / cpu:.2f} x: {verdict(ours[0], cpu)}"
            lines.append(
                f"| {name} ({self.versions[key]}) | {cpu:.1f} | {low:.1f} to {high:.1f} | {ratio} "
                f"| {wall:.1f} | {1e6 / wall:,.0f} | {connections} | {beside} |"
            )
        if times and floor and ours:
            word = "met" if ours[0] <= floor[0] * times else "missed"
            lines += ["", f"Aim: {times:g} times the floor: {word}, {ours[0] / floor[0]:.2f}."]
        return lines + [""]

    def table(self):
        lines = []
        for row in self.rows:
            lines += self.row_table(row)
        if self.memory:
            lines += ["### Memory of `eddy batch`", "",
                      "| run | peak MiB | at most | wall s | at most | aim |",
                      "|---|--:|--:|--:|--:|---|"]
        for title, peak, peak_most, wall, wall_most in self.memory:
            is_met = peak <= peak_most and (not wall_most or wall <= wall_most)
            most = f"{wall_most:.1f}" if wall_most else ""
            lines.append(f"| {title} | {peak:.1f} | {peak_most:.1f} | {wall:.1f} | {most} "
                         f"| {'met' if is_met else 'missed'} |")
        return lines

    def notes(self):
        return [
            f"Whole programs, from start to end: a file of POST requests with {len(REQUEST)} bytes "
            f"of body, {CONNECTIONS} at a time, and a line of JSON for each answer (curl: a file). "
            "nginx answers 1,024 or 20,480 bytes of a chat's answer as compact JSON. CPU time is "
            "user and system of the whole process; wall time has its start and its end. The "
            "server saw each request once, and every line of every run was checked.",
            "The floor reads no input: it sends one prebuilt request again and again, and appends "
            "the same lines as eddy without a look at the JSON. eddy also makes its output "
            "durable (fdatasync), during the run and at its end, which the others do not.",
            f"Go: GOMAXPROCS=1, GOGC={self.options.gogc}. Each program has retries, and none was "
            "needed.",
            "Memory: the peak of resident memory (VmHWM) of a single run.",
        ]
