"""page - the commands of a document, followed in an empty folder, as a new user would.

A page becomes one script of bash, line for line: blocks marked sh are commands, blocks marked python that begin with
an import are programs, and all else is left out.  Each command must end with 0, or with the status of its comment.
Servers of the page listen on free ports, and this module answers for those of others.
"""
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading

import e2e
from e2e import equal

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
URL = re.compile(r"(https?)://([\w.-]+)(?::(\d+))?")
START = """set -E -o pipefail; trap 'status=$?; echo "%s:$LINENO: status $status: $BASH_COMMAND" >&2; exit 99' ERR; """


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def blocks(text):
    """(language, number of its first line, lines) of each block."""
    language, first, lines = None, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif language is None:
            language, first, lines = line[3:], number + 1, []
        else:
            yield language, first, lines
            language = None


def script_of(text):
    """The page as a script whose lines have the numbers of the page's."""
    script = [""] * (len(text.splitlines()) + 1)
    for language, first, lines in blocks(text):
        if language == "sh":
            script[first - 1:first - 1 + len(lines)] = [
                re.sub(r"\s+# status (\d+)$", r" || [ $? -eq \1 ]", line) for line in lines]
        elif language == "python" and lines[0].startswith("import "):
            script[first - 2:first + len(lines)] = ["python3 - <<'END_OF_PROGRAM'", *lines, "END_OF_PROGRAM"]
    return "\n".join(script) + "\n"


class Others(http.server.BaseHTTPRequestHandler):
    """The servers of others: APIs of language models that want a key if they have https, and a list of three pages."""

    protocol_version = "HTTP/1.1"
    pages = {"/items?limit=100": "/items?limit=100&after=b", "/items?limit=100&after=b": "/items?limit=100&after=c"}

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        path = self.path[self.path.index("/", 1):]
        self.answer(200, {"next": self.pages.get(path)})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        keys = [self.headers[name] for name in ("Authorization", "api-key", "x-api-key", "x-goog-api-key")]
        if self.path.endswith("/oauth/token"):
            self.answer(200, {"access_token": "KEY", "expires_in": 3600})
        elif self.server.want_key and "KEY" not in keys and "Bearer KEY" not in keys:
            self.answer(401, {"error": {"message": "no key"}})
        else:
            self.answer(200, {"choices": [{"message": {"content": "Hello"}}], "content": [{"text": "Hello"}]})

    def log_message(self, *_):
        pass


def serve_others(eddy, want_key):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Others)
    server.want_key = want_key
    eddy.stack.callback(server.server_close)
    eddy.stack.callback(server.shutdown)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def on_this_machine(eddy, script):
    """The script with all addresses replaced, and with paces that take no time."""
    own = {port: str(e2e.free_port()) for port in re.findall(r"eddy mock --listen 127.0.0.1:(\d+)", script)}
    others = {"http": serve_others(eddy, False), "https": serve_others(eddy, True)}

    def address(match):
        scheme, host, port = match.groups()
        if host == "127.0.0.1" and port in own:
            return f"http://127.0.0.1:{own[port]}"
        return f"{others[scheme]}/{host}"

    for port, free in own.items():
        script = script.replace(f"--listen 127.0.0.1:{port}", f"--listen 127.0.0.1:{free}")
    return re.sub(r"--rpm (\d+)", r"--rpm \g<1>00", URL.sub(address, script))


def follow(eddy, path, script, stubs):
    """Run the script in an empty folder, whose name is returned; stubs are scripts in place of programs."""
    tools = eddy.file("tools")
    folder = eddy.file("empty")
    os.mkdir(tools)
    os.mkdir(folder)
    os.symlink(eddy.path, tools + "/eddy")
    os.symlink(sys.executable, tools + "/python3")
    for name, text in stubs.items():
        with open(f"{tools}/{name}", "w", encoding="ascii") as stub:
            stub.write(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
            os.fchmod(stub.fileno(), 0o755)
    keys = dict.fromkeys(re.findall(r"--api-key-env (\w+)", script), "KEY")
    env = {**os.environ, "PATH": tools + ":" + os.environ["PATH"], "TMPDIR": eddy.folder, **keys}
    with open(eddy.file("script"), "w", encoding="utf-8") as file:
        file.write(START % path + script)
    with open(eddy.file("shown"), "wb") as shown:
        child = subprocess.Popen(["bash", eddy.file("script")], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                 stdout=shown, stderr=shown, start_new_session=True)
        try:
            status = child.wait(e2e.LIMIT_S)
        finally:
            # The servers that the page starts are in the session.
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    with open(eddy.file("shown"), encoding="utf-8", errors="replace") as shown:
        equal(status, 0, shown.read()[-3000:])
    return folder


def section_of(text, heading):
    """The text with all but that section blank."""
    before, after = text.split(f"\n## {heading}\n")
    section, _, rest = after.partition("\n## ")
    return "\n" * (before.count("\n") + 2) + section + "\n" * (rest.count("\n") + 1)
