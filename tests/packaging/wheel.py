#!/usr/bin/env python3
"""wheel - what `make wheel` made, as users of pip get it; a wheel for aarch64 under qemu.

    tests/packaging/wheel.py dist/eddy_http-VERSION-py3-none-TAGS.whl [WORD]
"""
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(SOURCE, "tests/e2e"))

import e2e  # noqa: E402
from e2e import Skip, check, claim, equal  # noqa: E402

WHEEL = os.path.abspath(sys.argv[1])
VERSION, _, _, TAGS = os.path.basename(WHEEL)[:-len(".whl")].split("-")[1:]
ARCH = re.match(r"manylinux_2_17_(\w+)\.", TAGS)[1]
NATIVE = ARCH == os.uname().machine
# The oldest systems of the tags have Linux 3.10. These are the calls of newer versions that the program or its
# libraries may try. getrandom is not among them: Red Hat's 3.10 has it too, since 7.4.
NEWER = """renameat2 memfd_create execveat membarrier copy_file_range preadv2 pwritev2 statx rseq io_uring_setup
pidfd_send_signal clone3 pidfd_open close_range openat2 faccessat2 epoll_pwait2 futex_waitv""".split()


def output(*args, **options):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    equal(done.returncode, 0, args, done.stdout)
    return done.stdout


def program_in(eddy):
    """The program of the wheel, as a file that pip has not touched."""
    with zipfile.ZipFile(WHEEL) as wheel:
        names = [name for name in wheel.namelist() if name.endswith(".data/scripts/eddy")]
        equal(len(names), 1, names)
        path = eddy.file("eddy", wheel.read(names[0]))
    os.chmod(path, 0o755)
    return path


def run_by(eddy, *command):
    """Let the program of the case be this command."""
    words = " ".join(f"'{word}'" for word in command)
    eddy.path = eddy.file("run-eddy", f'#!/bin/sh\nexec {words} "$@"\n')
    os.chmod(eddy.path, 0o755)


def answers_a_batch(eddy):
    equal(eddy.run("--version").out, f"eddy {VERSION}\n")
    url = eddy.mock("--errors", "10%", "--seed", "1")
    lines = [json.dumps({"custom_id": f"n{n}", "url": "/v1/embeddings", "body": {"model": "m", "input": f"text {n}"}})
             for n in range(30)]
    given = eddy.file("in.jsonl", "\n".join(lines) + "\n")
    result = eddy.run("batch", given, "-o", eddy.file("out.jsonl"), "--base-url", url)
    equal(result.code, 0, result)
    with open(eddy.file("out.jsonl"), encoding="utf-8") as file:
        equal({json.loads(line)["custom_id"] for line in file}, {f"n{n}" for n in range(30)})


@claim
def pip_installs_the_command_which_answers_a_batch(eddy):
    folder = eddy.file("venv")
    if subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True).returncode != 0:
        raise Skip("no python3-venv")
    pip = [f"{folder}/bin/pip", "install", "--no-index", "--disable-pip-version-check"]
    if NATIVE:
        output(*pip, WHEEL)
        eddy.path = f"{folder}/bin/eddy"
    else:
        if not shutil.which("qemu-" + ARCH):
            raise Skip(f"no qemu-{ARCH}")
        # pip takes the file only if one of its tags fits the platform.
        target = eddy.file("target")
        output(*pip, "--platform", f"manylinux_2_17_{ARCH}", "--only-binary", ":all:", "--target", target, WHEEL)
        run_by(eddy, "qemu-" + ARCH, f"{target}/bin/eddy")
    answers_a_batch(eddy)


@claim
def program_needs_no_library_and_has_the_processor_of_the_tags(eddy):
    text = output("readelf", "--wide", "--file-header", "--program-headers", "--dynamic", program_in(eddy))
    check("INTERP" not in text and "NEEDED" not in text, text)
    equal(re.search(r"Machine: +(.*)", text)[1], {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}[ARCH])
    with zipfile.ZipFile(WHEEL) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL"))
        lines = wheel.read(name).decode().splitlines()
    equal(sorted(line for line in lines if line.startswith("Tag: ")),
          sorted(f"Tag: py3-none-{tag}" for tag in TAGS.split(".")))


@claim
def program_works_without_the_system_calls_of_newer_kernels(eddy):
    if not NATIVE or not shutil.which("strace"):
        raise Skip("needs strace and the processor of the wheel")
    # The probe: a program of this machine must be allowed to trace.
    if subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True).returncode != 0:
        raise Skip("strace cannot trace here")
    calls = ",".join("?" + call for call in NEWER)
    run_by(eddy, "strace", "-f", "-o", os.devnull, "-e", f"inject={calls}:error=ENOSYS", program_in(eddy))
    answers_a_batch(eddy)


if __name__ == "__main__":
    e2e.main()
