"""test_download_kill - eddy_http_download() that is killed, or whose disk fails, at any call that changes a file."""
import errno
import os
import shutil
import signal
import socket
import subprocess

import e2e
from e2e import check, claim, equal

LOADED = {"LD_PRELOAD": os.environ.get("EDDY_KILL_AT", ""),
          "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
BODY = bytes(i % 251 for i in range(250000))


def run(eddy, path, **env):
    return subprocess.run([eddy.path, path], env={**os.environ, **env}, capture_output=True, text=True, timeout=e2e.LIMIT_S, check=False)


def each_call(eddy, kind, **env):
    """Run with a fault at each call, one after the other, to the last one; then run again without it."""
    continued = 0
    for at in range(1, 500):
        folder = eddy.file(f"{kind}-{at}")
        os.mkdir(folder)
        path = os.path.join(folder, "out")
        first = run(eddy, path, **LOADED, KILL_AT=str(at), **env)
        if os.path.exists(path):
            with open(path, "rb") as file:
                equal(file.read() == BODY, True, kind, at)
        if first.returncode == 0 and "KILL_ERRNO" not in env:
            equal(os.listdir(folder), ["out"])
            break
        yield at, first, sorted(os.listdir(folder))
        again = run(eddy, path)
        equal((again.returncode, os.listdir(folder)), (0, ["out"]), kind, at, again.stderr)
        with open(path, "rb") as file:
            equal(file.read() == BODY, True, kind, at)
        continued += int(again.stdout) > 0
        shutil.rmtree(folder)
        if first.returncode == 0 and at > 20:
            break
    check(at > 12 and continued > 5, kind, at, continued)


@claim
def kill_at_any_call_leaves_a_whole_file_or_a_part_that_is_continued(eddy):
    for how in ("before", "torn", "after"):
        for at, first, left in each_call(eddy, how, KILL_HOW=how):
            equal(first.returncode, -signal.SIGKILL, how, at, first.stderr)
            check(set(left) <= {"out", "out.part", "out.part.note"}, how, at, left)


@claim
def call_that_fails_leaves_a_whole_file_or_a_part_that_is_continued(eddy):
    for kind, error in (("full", errno.ENOSPC), ("broken", errno.EIO)):
        for at, first, left in each_call(eddy, kind, KILL_ERRNO=str(int(error)), KILL_FOREVER="1"):
            check(first.returncode in (0, 1), at, first.stderr)
            check(set(left) <= {"out", "out.part", "out.part.note"}, kind, at, left)


@claim
def second_process_is_refused_while_the_first_one_downloads(eddy):
    folder = eddy.file("two")
    os.mkdir(folder)
    path = os.path.join(folder, "out")
    # The first process is stopped in its 10th call, and then continued.
    first = subprocess.Popen([eddy.path, path], env={**os.environ, **LOADED, "KILL_AT": "10", "KILL_SIGNAL": str(int(signal.SIGSTOP))},
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    os.waitid(os.P_PID, first.pid, os.WSTOPPED)
    before = {name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in os.listdir(folder)}
    second = run(eddy, path)
    equal((second.returncode, second.stderr), (1, "EBUSY\n"))
    equal({name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in os.listdir(folder)}, before)
    first.send_signal(signal.SIGCONT)
    out, err = first.communicate(timeout=e2e.LIMIT_S)
    equal((first.returncode, out, os.listdir(folder)), (0, "0\n", ["out"]), err)
    with open(path, "rb") as file:
        equal(file.read() == BODY, True)


@claim
def pipe_or_socket_is_not_replaced_and_a_link_is(eddy):
    folder = eddy.file("odd")
    os.mkdir(folder)
    pipe, link, socket_path, target = (os.path.join(folder, name) for name in ("pipe", "link", "socket", "target"))
    os.mkfifo(pipe)
    os.symlink(target, link)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(socket_path)
    for path in (pipe, socket_path):
        kind = os.lstat(path).st_mode
        result = run(eddy, path)
        equal((result.returncode, result.stderr, os.lstat(path).st_mode), (1, "EEXIST\n", kind), path)
    equal((run(eddy, link).returncode, os.path.islink(link)), (0, False))
    equal(sorted(os.listdir(folder)), ["link", "pipe", "socket"])


if __name__ == "__main__":
    e2e.main()
