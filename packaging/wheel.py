#!/usr/bin/env python3
"""wheel.py - puts the static program into a Python wheel, so that pip installs the command eddy.

    packaging/wheel.py VERSION ARCH PROGRAM FOLDER

ARCH is the processor of PROGRAM, as `uname -m` prints it. PROGRAM.licenses holds the licences of the libraries
in PROGRAM. The wheel is written to FOLDER, and its path is printed. Its bytes depend on the arguments and
SOURCE_DATE_EPOCH only.
"""
import base64
import hashlib
import os
import sys
import time
import zipfile

# The name of the Python package. The command is eddy.
NAME = "eddy-http"

METADATA = """\
Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: Sends a file of API requests, many at a time and within limits, and writes a file of answers
License: MIT
Requires-Python: >=3.7
Classifier: Environment :: Console
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Description-Content-Type: text/markdown

This package has the command `eddy`, a single program without dependencies. It is not a Python module.

    eddy batch requests.jsonl -o answers.jsonl --base-url http://127.0.0.1:8000

sends each request of a file, in the format of OpenAI's batch files, and writes one line of JSON for each
answer. After any stop, the same command continues. `eddy help` lists all commands.
"""


def tags(arch):
    """The program is static: it needs no C library, and any Linux of its processor runs it."""
    return [f"{system}_{arch}" for system in ("manylinux_2_17", "manylinux2014", "musllinux_1_1")]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def main(version, arch, program, folder):
    stem = f"{NAME.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: eddy\nRoot-Is-Purelib: false\n"
    wheel += "".join(f"Tag: py3-none-{tag}\n" for tag in tags(arch))
    files = [
        (f"{stem}.data/scripts/eddy", read(program), 0o755),
        (f"{info}/LICENSE", read(os.path.join(os.path.dirname(__file__), "../LICENSE")), 0o644),
        (f"{info}/LICENSES.libraries", read(program + ".licenses"), 0o644),
        (f"{info}/METADATA", METADATA.format(name=NAME, version=version).encode(), 0o644),
        (f"{info}/WHEEL", wheel.encode(), 0o644),
    ]
    record = ""
    for path, data, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))

    when = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6]
    path = os.path.join(folder, f"{stem}-py3-none-{'.'.join(tags(arch))}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data, mode in files:
            entry = zipfile.ZipInfo(name, when)
            entry.create_system = 3  # Unix, so that the mode counts
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    print(path)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
