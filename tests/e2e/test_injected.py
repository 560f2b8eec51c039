"""test_injected - whole runs whose system calls fail, by strace's injection (on epoll, real sockets and
files).  A combination is a call, an error, and when it fails.  Each run ends, without a signal, with
a message if it failed; the output has whole lines, none twice; and a further run completes it.
"""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.request

import e2e
from batch_api import Api, requests
from e2e import Skip, check, claim, equal

QUICK = bool(os.environ.get("EDDY_TEST_QUICK"))
COUNT = 24
AT_ONCE = 4
# Calls that a run makes after its start, and errors that each may give.
FAULTS = {
    "accept4": (), "bind": ("EADDRINUSE",), "clone3": ("EAGAIN", "ENOMEM"), "close": ("EINTR", "EIO", "ENOSPC"),
    "connect": ("ECONNREFUSED", "ENETUNREACH", "EADDRNOTAVAIL", "EHOSTUNREACH", "ETIMEDOUT", "EINTR"),
    "epoll_create1": ("EMFILE", "ENOMEM"), "epoll_ctl": ("ENOMEM", "ENOSPC"),
    "epoll_wait": ("EINTR",), "epoll_pwait": ("EINTR",), "epoll_pwait2": ("EINTR", "ENOSYS", "EPERM"),
    "eventfd2": ("EMFILE",), "fallocate": ("ENOSPC", "EINTR"), "fcntl": ("EINVAL", "EMFILE"), "fdatasync": ("EIO", "EINTR", "ENOSPC"),
    "flock": ("EINTR", "ENOLCK"), "fstat": ("EIO", "ENOMEM"), "fsync": ("EIO", "EINTR"), "ftruncate": ("EIO", "EINTR"), "futex": (),
    "getrandom": ("EINTR",), "getsockname": ("ENOBUFS",), "getsockopt": ("ENOBUFS",),
    "lseek": ("EINVAL",), "newfstatat": ("EIO", "EACCES", "ENOMEM"), "openat": ("EMFILE", "ENFILE", "ENOMEM", "EACCES", "EINTR"),
    "pread64": ("EIO", "EINTR"), "pwrite64": ("EIO", "ENOSPC", "EINTR"), "pwritev": ("EIO", "ENOSPC"),
    "read": ("EIO", "EINTR"), "readv": ("ECONNRESET", "EINTR"), "recvfrom": ("ECONNRESET", "EINTR", "ETIMEDOUT"),
    "recvmsg": ("ECONNRESET", "EINTR"), "rename": ("EIO", "EACCES"), "sendmsg": ("EPIPE", "ECONNRESET", "EINTR"),
    "sendto": ("EPIPE", "ECONNRESET", "EINTR", "ENOBUFS"), "setsockopt": ("ENOBUFS",),
    "signalfd4": ("EMFILE",), "socket": ("EMFILE", "ENFILE", "ENOBUFS"), "statx": ("EIO",),
    "timerfd_create": ("EMFILE",), "timerfd_settime": ("EINVAL",), "unlink": ("EACCES",),
    "write": ("EIO", "ENOSPC", "EINTR"), "writev": ("EPIPE", "ENOSPC", "EINTR"),
}
if os.environ.get("EDDY_TEST_SANITIZE", "none") == "none":  # a sanitizer ends the process
    FAULTS["mmap"] = FAULTS["mprotect"] = FAULTS["munmap"] = ("ENOMEM",)
WHENS = 2 if QUICK else 24  # positions of each call, spread over the run


def need_strace():
    asks = subprocess.run(["strace", "-o", "/dev/null", "-e", "inject=getppid:error=EPERM", "true"],
                          stderr=subprocess.DEVNULL, check=False) if shutil.which("strace") else None
    if not asks or asks.returncode:
        raise Skip("strace cannot inject errors here")


def environment():
    # A program that is traced cannot look for leaks.
    return {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


def made_calls(log):
    """How often a thread of a run made a call, the most, and how often before the program's own begin:
    {call: (begin, end)}.  The loader and the sanitizers, which come first, are not what is tested.
    """
    threads, begins = {}, {}
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            found = re.match(r"(\d+) +(\w+)\(", line)
            if not found:
                continue
            thread, call = found.groups()
            made = threads.setdefault(thread, {})
            made[call] = made.get(call, 0) + 1
            if " fcntl(0, F_GETFD" in line:  # the first call of main()
                begins = dict(made)
    check(begins, "the begin of main() was not found")
    calls = {call for made in threads.values() for call in made}
    return {call: (begins.get(call, 0), max(made.get(call, 0) for made in threads.values())) for call in calls}


class Batch:
    """One output that is written by runs under strace."""

    def __init__(self, eddy, number):
        self.eddy = eddy
        self.api = Api(eddy)
        self.input = eddy.file(f"in-{number}.jsonl", requests(COUNT))
        self.out = eddy.file(f"out-{number}.jsonl")

    def command(self):
        return [self.eddy.path, "batch", self.input, "-o", self.out, "--base-url", self.api.url, "-c",
                str(AT_ONCE), "--progress", "off", "--ramp", "0s", "--timeout", "2s"]

    def run(self, *strace):
        argv = ["strace", "-f", "-qq", *strace] if strace else []
        try:
            return subprocess.run(argv + self.command(), capture_output=True, env=environment(),
                                  stdin=subprocess.DEVNULL, timeout=60, check=False)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"hangs: {strace} {error.stderr!r}") from error

    def ids(self):
        with open(self.out, "rb") as file:
            data = file.read()
        lines = data[:data.rfind(b"\n") + 1].splitlines()
        return [json.loads(line)["custom_id"] for line in lines]

    def close(self):
        self.api.server.close()
        for path in os.listdir(self.eddy.folder):
            if path.startswith("out-"):
                os.unlink(os.path.join(self.eddy.folder, path))


def check_combination(eddy, number, call, error, when):
    batch = Batch(eddy, number)
    log = eddy.file(f"strace-{number}")
    what = f"{call}:error={error}:when={when}"
    ran = batch.run("-o", log, "-e", f"trace={call}", "-e", f"inject={what}")
    with open(log, encoding="utf-8", errors="replace") as file:
        injected = "(INJECTED)" in file.read()
    os.unlink(log)
    text = ran.stderr.decode(errors="replace")
    check(0 <= ran.returncode < 126, what, ran.returncode, text)
    if ran.returncode:
        check(text.strip(), what, "no message", ran.returncode)
        check("Assertion" not in text and "UndefinedBehavior" not in text, what, text)
    ids = batch.ids() if os.path.exists(batch.out) else []
    equal(len(ids), len(set(ids)), what, "an answer is there twice")
    again = batch.run()
    equal(again.returncode, 0, what, again.stderr)
    equal(sorted(batch.ids()), sorted(f"r{i}" for i in range(COUNT)), what, "each id once")
    sent = len(batch.api.calls)
    # A connection that fails with requests on it has them sent again, by the same run or the next.
    check(sent <= COUNT + 3 * AT_ONCE, what, "requests sent:", sent)
    batch.close()
    return injected


def combinations(eddy):
    batch = Batch(eddy, "clean")
    log = eddy.file("strace-clean")
    equal(batch.run("-o", log).returncode, 0)
    made = made_calls(log)
    batch.close()
    for call, errors in sorted(FAULTS.items()):
        begin, end = made.get(call, (0, 0))
        times = max(0, end - begin)
        whens = sorted({begin + 1 + (times - 1) * i // max(1, WHENS - 1) for i in range(WHENS)}) if times else []
        for error in errors:
            for when in whens:
                yield call, error, when


@claim
def batches_survive_each_call_that_fails(eddy):
    need_strace()
    chosen = list(combinations(eddy))
    injected = 0
    for number, (call, error, when) in enumerate(chosen):
        injected += check_combination(eddy, number, call, error, when)
    print(f"# {len(chosen)} combinations of {len({c[0] for c in chosen})} calls, {injected} were injected",
          flush=True)
    check(injected >= (20 if QUICK else 150), injected)


def answered(url, count):
    """How many of 'count' requests are answered, each on a connection of its own."""
    good = 0
    for _ in range(count):
        with urllib.request.urlopen(url, timeout=20) as response:
            good += response.status == 200
    return good


@claim
def servers_survive_calls_that_fail(eddy):
    need_strace()
    faults = ["accept4:error=EMFILE:when=5..15", "accept4:error=ECONNABORTED:when=2+3",
              "accept4:error=ENFILE:when=1..3", "accept4:error=EINTR:when=1+2", "setsockopt:error=ENOBUFS:when=4+2",
              "epoll_ctl:error=ENOSPC:when=12..14", "recvfrom:error=EINTR:when=1+2", "sendto:error=EINTR:when=1+2"]
    for fault in faults:
        child = subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={fault.split(':')[0]}", "-e",
                                  f"inject={fault}", eddy.path, "mock"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env=environment())
        eddy.stack.callback(eddy.end, child)
        url = child.stdout.readline().decode().split()[2]
        good = failed = 0
        for _ in range(20):
            try:
                good += answered(url + "/status/200", 1)
            except OSError:
                failed += 1
        # A connection that could not be watched or set up is closed; the server goes on.
        check(good == 20 or ("epoll_ctl" in fault or "setsockopt" in fault) and good >= 8, fault, good, failed)
        equal(answered(url + "/status/200", 3), 3, fault)
        child.send_signal(signal.SIGINT)
        eddy.end(child)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@claim
def a_server_without_descriptors_does_not_spin_and_recovers(eddy):
    child = subprocess.Popen(["prlimit", "--nofile=64", eddy.path, "mock"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, env=environment())
    eddy.stack.callback(eddy.end, child)
    url = child.stdout.readline().decode().split()[2]
    port = int(url.rsplit(":", 1)[1].strip("/"))
    held = []
    for _ in range(1000):
        try:
            connection = e2e.socket.socket()
            connection.settimeout(0.2)
            connection.connect(("127.0.0.1", port))
            held.append(connection)
        except OSError:  # the backlog is full
            connection.close()
            break
    check(len(held) > 64, len(held))
    time.sleep(0.5)
    before = cpu_seconds(child.pid)
    time.sleep(2)
    used = cpu_seconds(child.pid) - before
    check(used <= 0.1, "CPU seconds in 2 s:", used)
    for connection in held:
        connection.close()
    begin = time.monotonic()
    equal(answered(url + "/status/200", 1), 1)
    check(time.monotonic() - begin < 20, time.monotonic() - begin)
    print(f"# {len(held)} connections, {used:.2f} s of CPU in 2 s, an answer {time.monotonic() - begin:.2f} s after "
          "they were closed", flush=True)
    equal(len(os.listdir(f"/proc/{child.pid}/fd")) < 20, True)


def tracee_of(child):
    """The program that strace runs."""
    with open(f"/proc/{child.pid}/task/{child.pid}/children", encoding="ascii") as file:
        return int(file.read().split()[0])


@claim
def a_signal_right_after_the_new_file_was_made_removes_it(eddy):
    need_strace()
    path = eddy.file("in.jsonl", requests(3))
    out = eddy.file("out.jsonl", "")
    # The delay is after the call and before the program goes on.
    child = subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-e", "trace=openat",
                              "-e", "inject=openat:delay_exit=200000", eddy.path, "sort", "-", "--by", path, "-o", out],
                             stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    eddy.stack.callback(eddy.end, child)
    e2e.wait_until(lambda: glob.glob(out + ".new-*"), "the new file")
    os.kill(tracee_of(child), signal.SIGINT)
    check(child.wait(e2e.SOON) != 0, child.returncode)
    equal(sorted(os.listdir(eddy.folder)), ["in.jsonl", "out.jsonl"])


if __name__ == "__main__":
    e2e.main()
