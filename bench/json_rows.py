"""The JSON part of bench/run: rates of validating and compacting documents of about 20 KB."""

import json
import os
import random
import struct
import tempfile

from harness import BenchError, median, run_child, verdict

JSON_PEERS = [
    ("eddy", "eddy", ["{eddy}/json_eddy"]),
    ("simdjson", "simdjson", ["{peers}/json_simdjson"]),
    ("jansson", "jansson", ["{peers}/json_jansson"]),
    ("python-json", "Python's json", ["{python}", "{src}/json_python.py"]),
]
DOCUMENTS = 64  # of each kind: more than a processor's branch predictor learns
ROUNDS = {"eddy": 300, "simdjson": 300, "jansson": 30, "python-json": 10}
WORDS = ("the of and to in a is that for it as was with be by on not he his but at are this have "
         "model answer token request limit server structured concurrency scheduler naïve").split()


def floats(random_of):
    """An answer of embeddings."""
    vector = [round(random_of.gauss(0, 0.03), random_of.choice((8, 9, 10))) for _ in range(930)]
    return {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": vector}],
            "model": "text-embedding-3-small", "usage": {"prompt_tokens": 8, "total_tokens": 8}}


def text(random_of):
    """An answer of a chat: one long string with line breaks and quotes."""
    words = [random_of.choice(WORDS) + random_of.choice(("", "", "", ",", ".", "\n", '"', " 😀"))
             for _ in range(3300)]
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1795235848, "choices": [
        {"index": 0, "message": {"role": "assistant", "content": " ".join(words)},
         "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "total_tokens": 3309}}


def records(random_of):
    """Objects with members of all types."""
    return {"items": [
        {"id": random_of.randrange(10 ** 9), "name": random_of.choice(WORDS),
         "active": random_of.random() < 0.5, "score": round(random_of.random() * 100, 2),
         "tags": random_of.sample(WORDS, 3), "nested": {"a": None, "b": [1, 2, 3]},
         "url": f"https://example.com/v1/things/{random_of.randrange(1000)}"} for _ in range(62)]}


ROWS = [
    ("embeddings, indented", floats, 2),
    ("a chat's answer, indented", text, 2),
    ("records, indented", records, 2),
    ("records, compact", records, None),
]
# Reading into structs; 'records' are those of json_fields.c.
MODES = [("first", "`eddy_json_read()`"), ("all", "`eddy_json_read_all()`")]
MODE_ROUNDS = 60


class JsonBench:
    """Gigabytes per second and core."""

    title = "JSON"

    def __init__(self, options, tools):
        self.options, self.tools = options, tools
        only = options.only.split(",") if options.only else None
        self.entries = [peer for peer in JSON_PEERS if not only or peer[0] in only]
        self.results, self.missing, self.failures, self.versions = [], {}, [], {}
        self.modes = {}

    @staticmethod
    def write(path, make, indent):
        random_of = random.Random(1)
        with open(path, "wb") as file:
            for _ in range(DOCUMENTS):
                separators = (",", ":") if indent is None else None
                data = json.dumps(make(random_of), indent=indent, separators=separators,
                                  ensure_ascii=False).encode()
                file.write(struct.pack("<I", len(data)) + data)
        return os.path.getsize(path) // DOCUMENTS

    def measure(self, path, cpu):
        runs = {}
        for _ in range(self.options.runs):
            for key, _, command in self.entries:
                if key in self.missing:
                    continue
                rounds = max(1, int(ROUNDS[key] * self.options.scale))
                try:
                    result = run_child(self.tools.command(command) + [path, str(rounds)], cpu)
                except BenchError as error:
                    self.failures.append(f"json: {error}")
                    continue
                runs.setdefault(key, []).append(result["bytes"] / result["cpu_ns"])
                self.versions[key] = result["peer"]
        return runs

    def measure_modes(self, path, cpu):
        for _ in range(self.options.runs):
            for mode, _ in MODES:
                rounds = max(1, int(MODE_ROUNDS * self.options.scale))
                try:
                    result = run_child(self.tools.command(["{eddy}/json_fields"]) + [path, str(rounds), mode], cpu)
                except BenchError as error:
                    self.failures.append(f"json: {error}")
                    continue
                self.modes.setdefault(mode, []).append(result["bytes"] / result["cpu_ns"])

    def run(self, _server_cpu, client_cpu):
        self.missing = self.tools.build_json([peer[0] for peer in self.entries])
        with tempfile.TemporaryDirectory(prefix="eddy-bench-") as folder:
            for title, make, indent in ROWS:
                path = os.path.join(folder, "documents")
                size = self.write(path, make, indent)
                self.results.append((f"{title}, {size:,} bytes", self.measure(path, client_cpu)))
            if "eddy" not in self.missing and any(entry[0] == "eddy" for entry in self.entries):
                # The last row's documents.
                self.measure_modes(path, client_cpu)

    def table(self):
        keys = [(key, title) for key, title, _ in self.entries if key in self.versions]
        lines = ["| GB/s | " + " | ".join(title for _, title in keys) + " | eddy beside the best |",
                 "|---|" + "--:|" * len(keys) + "---|"]
        for title, runs in self.results:
            rates = {key: median(values) for key, values in runs.items()}
            others = [rate for key, rate in rates.items() if key != "eddy"]
            beside = ""
            if others and "eddy" in rates:
                beside = (f"{rates['eddy'] / max(others):.2f} x: "
                          + verdict(1 / rates["eddy"], 1 / max(others)))
            cells = " | ".join(f"{rates[key]:.2f}" if key in rates else "-" for key, _ in keys)
            lines.append(f"| {title} | {cells} | {beside} |")
        return lines + self.modes_table()

    def modes_table(self):
        rates = [median(self.modes[mode]) for mode, _ in MODES if mode in self.modes]
        if len(rates) < len(MODES):
            return []
        return ["", "| GB/s, records into structs | " + " | ".join(title for _, title in MODES) + " | all beside first |",
                "|---|--:|--:|--:|",
                f"| {ROWS[-1][0]} | {rates[0]:.3f} | {rates[1]:.3f} | {rates[1] / rates[0]:.2f} x |"]

    def notes(self):
        return [
            "Validate each document and write it without white space, on one core; the rate is "
            f"that of the bytes read. {DOCUMENTS} documents of each kind in turn. eddy: "
            "`eddy_json_compact()`. simdjson: its parser, which validates, then its minifier, with "
            "the widest vectors of the processor. jansson and Python build a tree and write it.",
            *(f"{key}: {version}" for key, version in self.versions.items()),
        ]
