"""The guide of docs/batch.md and README's section for people with data, followed in an empty folder, as a new user would.

A page becomes one script of bash, line for line: blocks marked sh are commands, blocks marked python that begin with
an import are programs, and all else is left out.  Each command must end with 0, or with the status of its comment.
Servers of the page listen on free ports, and this test answers for those of others.
"""
import csv
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading

import e2e
from e2e import check, claim, equal

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = "docs/batch.md"
URL = re.compile(r"(https?)://([\w.-]+)(?::(\d+))?")
BATCH = re.compile(r"eddy batch (\S+) -o (\S+)")
# Programs of others, as far as the page needs them.
STUBS = {"gcloud": "echo KEY", "az": "echo KEY", "llama-server": "exit 0", "sbatch": 'SLURM_JOB_ID=1 sh "$1"',
         "srun": 'shift; exec "$@"', "scontrol": "exit 1"}
# A module in place of pandas, which is not installed here.
PANDAS = """class read_csv:
    def __init__(self, path):
        self.text = open(path).read()

    def to_string(self):
        return self.text
"""
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


def follow(eddy, path, script):
    """Run the script in an empty folder, whose name is returned."""
    tools = eddy.file("tools")
    folder = eddy.file("empty")
    os.mkdir(tools)
    os.mkdir(folder)
    os.symlink(eddy.path, tools + "/eddy")
    os.symlink(sys.executable, tools + "/python3")
    for name, text in STUBS.items():
        with open(f"{tools}/{name}", "w", encoding="ascii") as stub:
            stub.write(f"#!/bin/sh\n{text}\n")
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
    section, rest = after.split("\n## ", 1)
    return "\n" * (before.count("\n") + 2) + section + "\n" * (rest.count("\n") + 1)


def ids(path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return sorted(line.get("custom_id") or line["key"] for line in lines)


@claim
def each_command_of_the_guide_works_in_order_and_each_request_gets_one_answer(eddy):
    script = script_of(text_of(PAGE))
    folder = follow(eddy, PAGE, on_this_machine(eddy, script))
    for given, answers in set(BATCH.findall(script)):
        if given.endswith(".jsonl") and answers != "failed.jsonl":
            equal(ids(f"{folder}/{answers}"), ids(f"{folder}/{given}"), answers)
    equal(len(ids(folder + "/vectors.jsonl")), 100)
    equal(len(ids(folder + "/items.jsonl")), 3)
    equal(ids(folder + "/csv.jsonl"), ["sun", "water"])
    with open(folder + "/kept.csv", encoding="utf-8") as file:
        equal(len(file.readlines()), 3)
    check("/items/7?q=red%20shoes" in text_of(eddy.file("shown")))
    equal(ids(folder + "/failed.errors.jsonl"), ["empty"])
    check(not os.path.exists(folder + "/stop"))


@claim
def section_for_people_with_data_leads_from_a_table_to_pandas(eddy):
    script = script_of(section_of(text_of("README.md"), "For people with data"))
    # Other tests build the wheel, and install it.
    script, count = re.subn(r"^(make wheel|python3 -m venv) .*", "", script, flags=re.M)
    equal(count, 2)
    check(len([line for line in script.splitlines() if line]) <= 15, script)
    eddy.file("pandas.py", PANDAS)
    script = f"export PYTHONPATH={eddy.folder}; {script}"
    folder = follow(eddy, "README.md", on_this_machine(eddy, script))
    with open(folder + "/table.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    equal([(row["id"], row["review"], row["error"]) for row in rows],
          [("1", "The soup was cold.", ""), ("2", "Fast, and friendly.", "")])
    check(all(row["answer"] for row in rows), rows)


@claim
def commands_of_the_guide_are_in_blocks_that_are_run(_):
    for language, first, lines in blocks(text_of(PAGE)):
        if language == "":
            check(not re.search(r"^(eddy|jq|curl|echo|printf) ", "\n".join(lines), re.M), f"{PAGE}:{first}: mark it sh")


@claim
def no_two_inputs_of_the_guide_share_an_output(_):
    inputs = {}
    for _, _, lines in blocks(text_of(PAGE)):
        for given, answers in BATCH.findall("\n".join(lines)):
            # Those of schedulers are in folders of their own.
            if (given, answers) != ("requests.jsonl", "answers.jsonl"):
                inputs.setdefault(answers, set()).add(given)
    check(len(inputs) > 10, inputs)
    for answers, given in inputs.items():
        equal(len(given), 1, answers, given)


@claim
def programs_of_the_guide_are_python(_):
    for language, first, lines in blocks(text_of(PAGE)):
        if language == "python":
            compile("\n".join(lines), f"{PAGE}:{first}", "exec")


@claim
def statuses_of_the_guide_are_those_of_the_manual_page(_):
    manual = text_of("docs/man/eddy-batch.1").split(".SH EXIT STATUS\n")[1].split(".SH ")[0]
    tags = re.findall(r"^\.TP\n(?:\.B(?:R)? )?(.*)$", manual, re.M)
    table = text_of(PAGE).split("| status | meaning | next |\n")[1].split("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines()[1:]]
    # 137 is the shell's, and not the program's.
    equal({int(number) for cell in cells for number in re.findall(r"\d+", cell)} - {137},
          {int(number) for tag in tags for number in re.findall(r"\d+", tag)})


if __name__ == "__main__":
    e2e.main()
