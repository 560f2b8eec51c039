#!/usr/bin/env python3
"""dist - what `make dist` made, as users get it: the static program in empty roots with the certificates
of several distributions, the wheel in a new virtual environment, the Debian packages unpacked.

    tests/packaging/dist.py dist/eddy-VERSION-linux-MACHINE [WORD]
"""
import base64
import glob
import gzip
import hashlib
import json
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import tarfile
import threading
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(SOURCE, "tests/e2e"))

import e2e  # noqa: E402
from e2e import Result, Skip, check, claim, equal  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
DIST = os.path.dirname(PROGRAM)
VERSION = os.path.basename(PROGRAM).split("-")[1]
MINOR = VERSION.rsplit(".", 1)[0]

# The file of each distribution, or its folder of files.
# The libraries for databases, and what each alone needs.
DATABASES = {"mongo": "libmongoc-1.0-0", "pg": "libpq5", "redis": "libhiredis0.14", "sqlite": "libsqlite3-0"}
STORES = {
    "debian": "/etc/ssl/certs/ca-certificates.crt",
    "red_hat": "/etc/pki/tls/certs/ca-bundle.crt",
    "red_hat_10": "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "alpine": "/etc/ssl/cert.pem",
    "suse": "/etc/ssl/ca-bundle.pem",
    "new_suse": "/var/lib/ca-certificates/ca-bundle.pem",
    "a_folder": "/etc/ssl/certs",
}


def only(pattern):
    found = glob.glob(os.path.join(DIST, pattern))
    equal(len(found), 1, pattern, found)
    return found[0]


def output(*args, **options):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    equal(done.returncode, 0, args, done.stdout)
    return done.stdout


def put(root, path, content):
    path = root + path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(content, path)


def empty_root(eddy):
    """A folder with the static program and nothing else."""
    if os.geteuid() != 0:
        raise Skip("chroot needs root")
    root = eddy.file("root")
    os.makedirs(root)
    # By another process: a file that this one has open for writing, in a fork of another test, cannot be run.
    output("cp", PROGRAM, root + "/eddy")
    return root


def run_in(root, *args, **env):
    done = subprocess.run([shutil.which("chroot"), root, "/eddy", *args], stdin=subprocess.DEVNULL, capture_output=True,
                          env=env, timeout=60)
    return Result(done.returncode, done.stdout, done.stderr, 0)


def secure_mock(eddy):
    """An https server; returns its URL and the file with its certificate."""
    url = eddy.mock("--tls", "--listen", "127.0.0.1:0")
    return url, eddy.child.stdout.readline().decode().split()[1]


def fetch_in(root, url, **env):
    """Returns the line of a request from inside of the root."""
    return run_in(root, "fetch", "--attempts", "1", url, **env).lines()[0]


# -- the static program ----------------------------------------------------------------------------


@claim
def static_program_needs_no_file(eddy):
    segments = output("readelf", "--wide", "--program-headers", "--dynamic", PROGRAM)
    check("INTERP" not in segments and "NEEDED" not in segments, segments)
    equal(run_in(empty_root(eddy), "--version").out, f"eddy {VERSION}\n")


def trusts(store):
    def case(eddy):
        root = empty_root(eddy)
        url, cert = secure_mock(eddy)
        if store == STORES["a_folder"]:
            put(root, store + "/server.pem", cert)
            output("openssl", "rehash", root + store)
        else:
            put(root, store, cert)
        equal(fetch_in(root, url + "/status/200")["status"], 200)
    return case


for name, path in STORES.items():
    trust = trusts(path)
    trust.__name__ = f"static_program_trusts_the_certificates_of_{name}"
    claim(trust)


@claim
def missing_certificates_are_an_error_that_names_the_places_and_the_remedy(eddy):
    root = empty_root(eddy)
    url, _ = secure_mock(eddy)
    os.makedirs(root + STORES["a_folder"])
    message = fetch_in(root, url)["error"]["message"]
    for word in (*STORES.values(), "install ca-certificates", "SSL_CERT_FILE"):
        check(word in message, word, message)


@claim
def ssl_cert_file_replaces_the_certificates_of_the_system(eddy):
    root = empty_root(eddy)
    url, cert = secure_mock(eddy)
    put(root, "/own.pem", cert)
    put(root, STORES["debian"], secure_mock(eddy)[1])
    equal(fetch_in(root, url + "/status/200")["error"]["code"], "tls_error")
    equal(fetch_in(root, url + "/status/200", SSL_CERT_FILE="/own.pem")["status"], 200)


@claim
def static_program_does_not_read_the_configuration_of_openssl(eddy):
    root = empty_root(eddy)
    url, cert = secure_mock(eddy)
    put(root, STORES["suse"], cert)
    put(root, "/usr/lib/ssl/openssl.cnf",
        eddy.file("openssl.cnf", "config_diagnostics = 1\nopenssl_conf = not_there\n"))
    equal(fetch_in(root, url + "/status/200")["status"], 200)


class Names(threading.Thread):
    """A DNS server that answers each question with 127.0.0.1, on a loopback address of its own."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.address = f"127.{random.randint(1, 254)}.{random.randint(1, 254)}.1"
        self.socket.bind((self.address, 53))
        self.start()

    def run(self):
        while True:
            question, peer = self.socket.recvfrom(512)
            end = question.index(b"\0", 12) + 5
            is_a = question[end - 4:end - 2] == b"\0\1"
            answer = struct.pack(">HHHIH4s", 0xC00C, 1, 1, 60, 4, bytes((127, 0, 0, 1))) if is_a else b""
            self.socket.sendto(question[:2] + struct.pack(">HHHHH", 0x8180, 1, is_a, 0, 0) +
                               question[12:end] + answer, peer)


@claim
def static_program_resolves_names(eddy):
    root = empty_root(eddy)
    url = eddy.mock("--listen", "127.0.0.1:0")
    put(root, "/etc/resolv.conf", eddy.file("resolv.conf", f"nameserver {Names().address}\n"))
    line = fetch_in(root, url.replace("127.0.0.1", "api.example") + "/status/200")
    equal(line["status"], 200, line)


@claim
def static_program_answers_a_batch(eddy):
    root = empty_root(eddy)
    url, cert = secure_mock(eddy)
    put(root, STORES["red_hat"], cert)
    request = {"custom_id": "a", "url": "/v1/embeddings", "body": {"model": "m", "input": "x"}}
    put(root, "/in.jsonl", eddy.file("in.jsonl", json.dumps(request) + "\n"))
    result = run_in(root, "batch", "in.jsonl", "-o", "out.jsonl", "--base-url", url)
    equal(result.code, 0, result)
    with open(root + "/out.jsonl", encoding="utf-8") as file:
        equal(json.loads(file.read())["response"]["status_code"], 200)


@claim
def licences_of_the_libraries_are_beside_the_static_program(_):
    with open(PROGRAM + ".licenses", encoding="utf-8") as file:
        text = file.read()
    for library in ("glibc", "openssl", "c-ares", "libidn2", "nghttp2", "libpsl", "libunistring", "brotli", "zstd",
                    "zlib"):
        check(f"==== {library} " in text or f"==== lib{library} " in text, library)


# -- the wheel ----------------------------------------------------------------------------------------


@claim
def wheel_gives_the_command_eddy(eddy):
    folder = eddy.file("venv")
    if subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True).returncode != 0:
        raise Skip("no python3-venv")
    output(f"{folder}/bin/pip", "install", "--no-index", "--disable-pip-version-check", only("*.whl"))
    equal(output(f"{folder}/bin/eddy", "--version"), f"eddy {VERSION}\n")
    output(f"{folder}/bin/pip", "uninstall", "--yes", "eddy-http")
    check(not os.path.exists(f"{folder}/bin/eddy"))


@claim
def wheel_records_each_file_with_its_hash(_):
    with zipfile.ZipFile(only("*.whl")) as wheel:
        names = set(wheel.namelist())
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        listed = dict(line.rsplit(",", 2)[:2] for line in wheel.read(record).decode().splitlines())
        equal(set(listed), names)
        for name in names - {record}:
            digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest())
            equal(listed[name], "sha256=" + digest.decode().rstrip("="))


# -- the Debian packages -------------------------------------------------------------------------------


def unpack_packages(eddy):
    """Returns a folder with all of them, and the folder of the libraries in it."""
    root = eddy.file("debian")
    for package in glob.glob(DIST + "/*.deb"):
        output("dpkg-deb", "--extract", package, root)
    return root, glob.glob(root + "/usr/lib/*-linux-gnu")[0]


@claim
def debian_packages_have_the_fields_of_the_policy(_):
    packages = {}
    for path in glob.glob(DIST + "/*.deb"):
        fields = dict(re.findall(r"^([\w-]+): (.*)$", output("dpkg-deb", "--field", path), re.M))
        packages[fields["Package"]] = fields
        equal(fields["Version"], f"{VERSION}-1", path)
        check("@" not in fields["Maintainer"].replace("@", "", 1), fields["Maintainer"])
    equal(set(packages), {"eddy", f"libeddy{MINOR}", "libeddy-dev"} |
          {f"libeddy-{name}{MINOR}" for name in DATABASES})
    for needed in ("libc6", "libssl3", "libc-ares2", "libidn2-0", "libnghttp2-14", "libpsl5", "zlib1g", "libzstd1",
                   "libbrotli1"):
        for name in ("eddy", f"libeddy{MINOR}"):
            check(re.search(rf"(^|, ){needed}\b", packages[name]["Depends"]), needed, packages[name])
    check(f"libeddy{MINOR} (= {VERSION}-1)" in packages["libeddy-dev"]["Depends"])
    for name, needed in DATABASES.items():
        check(needed in packages[f"libeddy-{name}{MINOR}"]["Depends"], packages)
        check(needed not in packages[f"libeddy{MINOR}"]["Depends"], packages)


@claim
def debian_packages_hold_program_pages_and_documents(eddy):
    root, libraries = unpack_packages(eddy)
    equal(output(root + "/usr/bin/eddy", "--version"), f"eddy {VERSION}\n")
    for page in glob.glob(SOURCE + "/docs/man/*.1"):
        check(os.path.exists(f"{root}/usr/share/man/man1/{os.path.basename(page)}.gz"), page)
    for package in ("eddy", f"libeddy{MINOR}", "libeddy-dev"):
        folder = f"{root}/usr/share/doc/{package}"
        check(os.path.exists(folder + "/copyright"), package)
        with gzip.open(folder + "/changelog.Debian.gz", "rt") as file:
            check(file.read().startswith(f"eddy ({VERSION}-1)"), package)
    for library in ("", "-tls", "-http", "-test", *("-" + name for name in DATABASES)):
        check(os.path.exists(f"{libraries}/libeddy{library}.so.{MINOR}"), library)


@claim
def programs_are_built_with_the_development_package(eddy):
    root, libraries = unpack_packages(eddy)
    env = {**os.environ, "PKG_CONFIG_PATH": libraries + "/pkgconfig", "PKG_CONFIG_SYSROOT_DIR": root}
    program = eddy.file("program")
    for static in ([], ["--static"]):
        flags = output("pkg-config", "--cflags", "--libs", *static, "eddy-http", env=env).split()
        output("gcc", SOURCE + "/examples/01-hello.c", "-o", program, *[f"-{word[2:]}" for word in static],
               *flags)
        text = output(program, env={"LD_LIBRARY_PATH": "" if static else libraries})
        equal(text, "hello,\nworld\n")


# -- the source, and the same bytes each time ----------------------------------------------------------


@claim
def source_has_all_files_of_the_commit(_):
    tracked = set(output("git", "-C", SOURCE, "ls-tree", "-r", "--name-only", "HEAD").splitlines())
    with tarfile.open(only("*.tar.xz")) as tar:
        files = {entry.name for entry in tar if not entry.isdir()}
    equal(files, {f"eddy-{VERSION}/{name}" for name in tracked})


@claim
def same_input_gives_the_same_wheel_whatever_the_umask(eddy):
    here = os.path.dirname(eddy.file("here", ""))
    old = only("*.whl")
    with zipfile.ZipFile(old) as wheel:
        at = wheel.infolist()[0].date_time
    epoch = output("date", "--utc", "--date", "%d-%02d-%02d %02d:%02d:%02d" % at, "+%s").strip()
    script = f'umask 077; "{SOURCE}/packaging/wheel.py" "{VERSION}" "{os.uname().machine}" "{PROGRAM}" "{here}"'
    output("sh", "-c", script, env={**os.environ, "SOURCE_DATE_EPOCH": epoch})
    with open(old, "rb") as first, open(os.path.join(here, os.path.basename(old)), "rb") as second:
        check(first.read() == second.read(), "the bytes differ")


@claim
def checksums_are_those_of_the_files(_):
    listed = output("sha256sum", "--check", "SHA256SUMS", cwd=DIST)
    equal(len(listed.splitlines()), len(os.listdir(DIST)) - 1, listed)


if __name__ == "__main__":
    e2e.main()
