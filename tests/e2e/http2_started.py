"""http2_started - a running http2_server, and programs of others that are its clients."""
import os
import re
import shutil
import signal
import subprocess

import e2e
from e2e import equal, Skip

KINDS = ["shared", "only", "tls"]


def need(name):
    path = shutil.which(name) or os.path.join(os.path.expanduser("~/go/bin"), name)
    if not os.path.exists(path):
        raise Skip(f"{name} is not installed")
    return path


def certificate(eddy):
    cert, key = eddy.file("cert.pem"), eddy.file("key.pem")
    if not os.path.exists(cert):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert,
                        "-days", "3", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
                       check=True, capture_output=True)
    return cert, key


class Started:
    """A server of one kind, which may send the file; .url, .port, .child."""

    def __init__(self, eddy, kind, file, **env):
        words = certificate(eddy) if kind == "tls" else ()
        self.child = eddy.start(kind, *words, env={**os.environ, "FILE": file, **env})
        self.port = int(self.child.stdout.readline())
        self.url = f"{'https' if kind == 'tls' else 'http'}://127.0.0.1:{self.port}"

    def end(self):
        """Wait until it has ended; gives its counters."""
        out, err = self.child.communicate(timeout=e2e.LIMIT_S)
        equal(self.child.returncode, 0, err[-2000:])
        equal(e2e.errors(err), [])
        return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", out.decode())}

    def stop(self):
        """Stop it by SIGTERM; gives its counters."""
        self.child.send_signal(signal.SIGTERM)
        return self.end()


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, timeout=e2e.LIMIT_S, check=False, **options)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def curl(*words):
    return run(need("curl"), "--silent", "--show-error", "--insecure", *words)
