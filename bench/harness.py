"""Shared by bench/run and bench/soak: processors, children, nginx, figures."""

import ctypes
import json
import os
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request

BODY = "x" * 127 + "\n"
PR_SET_PDEATHSIG = 1

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


class BenchError(Exception):
    """Something that makes a figure impossible; the text says what."""


class Skipped(Exception):
    """Why a peer is left out."""


def processors():
    """Two processors, (for servers, for what is measured), on two cores if it can be."""
    allowed = sorted(os.sched_getaffinity(0))
    first = allowed[0]
    path = f"/sys/devices/system/cpu/cpu{first}/topology/thread_siblings_list"
    siblings = {first}
    try:
        with open(path) as file:
            for part in file.read().strip().split(","):
                low, _, high = part.partition("-")
                siblings.update(range(int(low), int(high or low) + 1))
    except OSError:
        pass
    for other in allowed:
        if other not in siblings:
            return first, other
    return first, allowed[-1]


def pinned(cpu):
    """For preexec_fn: run on one processor (None: on all), and end when the harness does."""
    prctl = ctypes.CDLL(None).prctl

    def prepare():
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    return prepare


def run_child(argv, cpu, env=None, timeout=120, report="stdout", cwd=None):
    """Run a program on one processor; its last line of stdout (or stderr) is JSON (None: no line).

    The result gains 'child_cpu_ns', what the kernel charged the child for its
    whole life, against which its own figure is checked.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        child = subprocess.run(
            argv,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
            preexec_fn=pinned(cpu),
            timeout=timeout,
            text=True,
            cwd=cwd,
        )
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"{os.path.basename(argv[0])} did not end in {timeout} s") from error
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = getattr(child, report).strip().splitlines() if report else ["{}"]
    if child.returncode != 0 or not lines:
        said = (child.stderr.strip().splitlines() or ["no output"])[-1]
        raise BenchError(f"{os.path.basename(argv[0])} exited with {child.returncode}: {said}")
    result = json.loads(lines[-1])
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    result["child_cpu_ns"] = int(used * 1e9)
    if result.get("cpu_ns", 0) > result["child_cpu_ns"] * 1.02 + 20_000_000:
        raise BenchError(f"{argv[0]} claims more CPU time than it had")
    return result


def read_line(argv):
    """The first line that a command prints, or None if there is no such command."""
    try:
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError:
        return None
    return (done.stdout.strip().splitlines() or [""])[0] if done.returncode == 0 else None


def machine_ticks():
    """The ticks of all processors so far: user, nice, system, idle, iowait, irq, softirq, steal."""
    with open("/proc/stat") as file:
        return [int(n) for n in file.readline().split()[1:9]]


class Others:
    """The share of the processors that other work, or the host, took inside a `with`.

    The children of the `with` must have been waited for at its end.
    """

    @staticmethod
    def own_ticks():
        used = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
        return sum(u.ru_utime + u.ru_stime for u in used) * os.sysconf("SC_CLK_TCK")

    def __enter__(self):
        self.before, self.own = machine_ticks(), self.own_ticks()
        return self

    def __exit__(self, *_):
        delta = [b - a for a, b in zip(self.before, machine_ticks())]
        busy = sum(delta) - delta[3] - delta[4] - (self.own_ticks() - self.own)
        self.percent = max(0.0, 100 * busy / (sum(delta) or 1))


def busy_percent(seconds=1.0):
    """How busy the machine is with other things, and how much the host takes away."""
    first = machine_ticks()
    time.sleep(seconds)
    delta = [b - a for a, b in zip(first, machine_ticks())]
    total = sum(delta) or 1
    idle = delta[3] + delta[4]
    return round(100 * (total - idle) / total), round(100 * delta[7] / total)


class Nginx:
    """nginx with one worker on one processor, on a free port, in a temporary folder.

    Small answers leave in one packet (sendfile off), connections are kept for
    as long as the client likes.  A second port gives the counters.
    """

    def __init__(self, cpu):
        self.cpu = cpu
        self.folder = None
        self.process = None
        self.polls = 0

    @staticmethod
    def path():
        return shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")

    @staticmethod
    def version():
        line = read_line([Nginx.path(), "-v"]) if Nginx.path() else None
        return line.rpartition(": ")[2] if line else None

    def config(self, port, status_port):
        body = BODY.replace("\n", "\\n")
        return f"""
worker_processes 1;
daemon off;
pid {self.folder}/pid;
error_log {self.folder}/error.log;
{"user root;" if os.geteuid() == 0 else ""}
events {{
        worker_connections 4096;
}}
http {{
        access_log off;
        sendfile off;
        keepalive_requests 100000000;
        keepalive_timeout 3600s;
        client_body_temp_path {self.folder}/body;
        proxy_temp_path {self.folder}/proxy;
        fastcgi_temp_path {self.folder}/fastcgi;
        uwsgi_temp_path {self.folder}/uwsgi;
        scgi_temp_path {self.folder}/scgi;
        default_type text/plain;
        server {{
                listen 127.0.0.1:{port};
                location / {{ return 200 "{body}"; }}
        }}
        server {{
                listen 127.0.0.1:{status_port};
                location / {{ stub_status; }}
        }}
{self.servers()}
}}
"""

    def servers(self):
        """Further servers of the configuration."""
        return ""

    def start(self):
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0))
            two.bind(("127.0.0.1", 0))
            port, status_port = one.getsockname()[1], two.getsockname()[1]
        config = f"{self.folder}/nginx.conf"
        with open(config, "w") as file:
            file.write(self.config(port, status_port))
        self.process = subprocess.Popen(
            [self.path(), "-p", self.folder, "-c", config, "-e", f"{self.folder}/error.log"],
            preexec_fn=pinned(self.cpu),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.url = f"http://127.0.0.1:{port}/"
        self.status_url = f"http://127.0.0.1:{status_port}/"

    def __enter__(self):
        if not self.path():
            raise BenchError("nginx is not installed")
        self.folder = tempfile.mkdtemp(prefix="eddy-bench-")
        try:
            for _ in range(5):  # the port may be taken between choosing and binding it
                self.start()
                for _ in range(100):
                    try:
                        self.status()
                        return self
                    except OSError:
                        if self.process.poll() is not None:
                            break
                        time.sleep(0.05)
                self.stop()
            raise BenchError(f"nginx does not start: {self.log()}")
        except BaseException:
            self.__exit__()
            raise

    def log(self):
        try:
            with open(f"{self.folder}/error.log") as file:
                return file.read().strip()[-500:] or "no reason given"
        except OSError:
            return "no log"

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def status(self):
        """Connections accepted and requests served so far, without those of this call."""
        with urllib.request.urlopen(self.status_url, timeout=5) as response:
            text = response.read().decode()
        self.polls += 1
        accepts, _, requests = re.search(r"^ (\d+) (\d+) (\d+)", text, re.M).groups()
        return int(accepts) - self.polls, int(requests) - self.polls


class Warm:
    """Memory that the host of a virtual machine does not take back between runs; see warm.c."""

    def __init__(self, folder, mib):
        self.program = os.path.join(folder, "warm")
        self.mib = mib
        self.process = None
        self.note = "The machine's memory was touched before, and kept from its host: warm.c."

    @staticmethod
    def available_mib():
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) // 1024
        return 0

    def __enter__(self):
        if self.available_mib() < self.mib + 1000:
            raise BenchError(
                f"{self.available_mib():,} MiB of memory available, {self.mib + 1000:,} needed"
            )
        self.process = subprocess.Popen(
            [self.program, str(self.mib)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        if self.process.stdout.readline() != "ready\n":
            self.__exit__()
            raise BenchError("memory cannot be kept")
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Syscalls:
    """Counts the system calls of a program: perf where it may, else strace."""

    def __init__(self):
        self.tool = None
        if shutil.which("perf") and self.perf(["true"], None, None) is not None:
            self.tool = "perf"
        elif shutil.which("strace") and self.strace(["true"], None, None) is not None:
            self.tool = "strace"

    def perf(self, argv, cpu, env):
        with tempfile.NamedTemporaryFile("r") as out:
            command = ["perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", "-o", out.name, "--"]
            self.run(command + argv, cpu, env)
            for line in out.read().splitlines():
                if "raw_syscalls" in line and line.split(",")[0].isdigit():
                    return int(line.split(",")[0])
        return None

    def strace(self, argv, cpu, env):
        with tempfile.NamedTemporaryFile("r") as out:
            self.run(["strace", "-f", "-c", "-o", out.name] + argv, cpu, env)
            for line in out.read().splitlines():
                fields = line.split()
                if len(fields) >= 4 and fields[-1] == "total":
                    return int(fields[3])
        return None

    @staticmethod
    def run(command, cpu, env):
        subprocess.run(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(env or {})},
            preexec_fn=pinned(cpu) if cpu is not None else None,
            timeout=120,
        )

    def count(self, argv, cpu, env=None):
        return getattr(self, self.tool)(argv, cpu, env) if self.tool else None


def median(values):
    return statistics.median(values)


def verdict(ours, theirs):
    """The verdict of a row for eddy: lower by more than 3 % wins, else it is a tie."""
    if ours < theirs * 0.97:
        return "won"
    if theirs < ours * 0.97:
        return "lost"
    return "tie"
