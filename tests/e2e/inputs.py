"""inputs - an input in each form, and from each place.

    fed(eddy, "pipe", compressed("gzip", data), lambda path, stdin: eddy.run("check", path, stdin=stdin))
"""
import contextlib
import gzip
import os
import subprocess

import e2e

WAYS = ("file", "pipe", "fifo")


def compressed(kind, data):
    if kind == "gzip":
        return gzip.compress(data, 1)
    if kind == "zstd":
        return subprocess.run(["zstd", "-q", "-1", "-c"], input=data, capture_output=True, check=True).stdout
    return data


def fed(eddy, way, data, run):
    """Run a command whose input comes in that way: run(the argument, its standard input)."""
    path = eddy.file("in." + way, data if way == "file" else None)
    if way == "file":
        return run(path, None)
    if way == "pipe":
        return run("-", data)
    os.mkfifo(path)
    writer = subprocess.Popen(["sh", "-c", 'cat "$1" >"$2"', "sh", eddy.file("in.whole", data), path])
    eddy.stack.callback(eddy.end, writer)
    try:
        return run(path, None)
    finally:
        writer.wait(e2e.LIMIT_S)
        os.remove(path)


def opened_to_write(pipe):
    """Open a pipe when its reader has opened it."""
    found = []

    def is_open():
        with contextlib.suppress(OSError):
            found.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return found

    e2e.wait_until(is_open, "the reader of the pipe")
    os.set_blocking(found[0], True)
    return open(found[0], "w", encoding="utf-8")


def rename(path, content):
    """Replace a file by another one."""
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(content)
    os.rename(path + ".new", path)


def rewrite(path, content):
    """Write into the file that is there."""
    with open(path, "w", encoding="ascii") as file:
        file.write(content)
