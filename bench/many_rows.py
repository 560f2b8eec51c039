"""The part of bench/run about several loops: requests a second of one loop and of two."""

import json
import os
import subprocess

from harness import BenchError, Others, median

COMPUTE_US = 200
REQUESTS, REQUESTS_MIN = 20_000, 4_000
CONNECTIONS = 64
LOOPS = (1, 2)
OTHERS_MAX = 5  # percent of the processors, above which wall time means nothing


class ManyBench:
    """Two loops on two processors beside one, with a handler that computes for 200 us."""

    title = "Several loops"

    def __init__(self, options, tools):
        self.options, self.tools = options, tools
        self.entries = ["eddy"] if not options.only or "eddy" in options.only.split(",") else []
        self.missing, self.failures, self.runs = {}, [], {loops: [] for loops in LOOPS}

    def measure(self, loops):
        """Returns the client's report, with the server's own as 'server'."""
        places = self.tools.places
        requests = max(REQUESTS_MIN, int(REQUESTS * self.options.scale))
        server = subprocess.Popen([os.path.join(places["eddy"], "many_eddy"), str(loops), str(COMPUTE_US)],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            port = int(server.stdout.readline())
            ran = subprocess.run([os.path.join(places["peers"], "http_floor"), f"http://127.0.0.1:{port}/",
                                  str(requests), str(CONNECTIONS)], capture_output=True, text=True, check=False)
        except ValueError as error:
            raise BenchError(f"many_eddy {loops}: no port") from error
        finally:
            server.terminate()
            said, _ = server.communicate()
        if ran.returncode != 0:
            raise BenchError(f"http_floor: {ran.stderr.strip() or ran.returncode}")
        result = {**json.loads(ran.stdout), "server": json.loads(said)}
        if result["ok"] != requests or sum(result["server"]["answers"]) != requests:
            raise BenchError(f"many_eddy {loops}: {result['ok']} of {requests} answers")
        return result

    def run(self, _server_cpu, _client_cpu):
        self.tools.attempt(self.missing, "eddy", self.tools.build_eddy, "many_eddy")
        self.tools.attempt(self.missing, "floor", self.tools.build_c, "http_floor.c", "http_floor",
                           ["-lssl", "-lcrypto"])
        if self.missing:
            return
        for _ in range(self.options.runs):
            for loops in LOOPS:
                with Others() as others:
                    result = self.measure(loops)
                self.runs[loops].append({**result, "others": others.percent})

    @staticmethod
    def gain(one, run, loops):
        """The requests a second of free processors beside those of one loop, by the CPU time of a request.

        If all processors have a loop, the client's CPU time is theirs too.
        """
        most = min(loops, os.cpu_count())
        client = run["cpu_ns"] if loops >= os.cpu_count() else 0
        return most * one["server"]["cpu_ns"] / (run["server"]["cpu_ns"] + client)

    def table(self):
        lines = ["| loops | requests a second | beside one loop | server's CPU time, us | by CPU time "
                 "| answers by loop | other work |", "|--:|--:|--:|--:|--:|--:|--:|"]
        for loops, runs in self.runs.items():
            if not runs:
                continue
            rate = median([run["ok"] / run["wall_ns"] * 1e9 for run in runs])
            cpu = median([run["server"]["cpu_ns"] / run["ok"] / 1000 for run in runs])
            shares = " + ".join(f"{100 * n / runs[-1]['ok']:.0f} %" for n in runs[-1]["server"]["answers"])
            others = max(run["others"] for run in runs)
            pairs = list(zip(self.runs[1], runs))
            ratio = median([one["wall_ns"] / run["wall_ns"] for one, run in pairs])
            gain = median([self.gain(one, run, loops) for one, run in pairs])
            lines.append(f"| {loops} | {rate:.0f} | {ratio:.2f} | {cpu:.0f} | {gain:.2f} | {shares} | {others:.0f} % |")
        return lines

    def notes(self):
        others = max((run["others"] for runs in self.runs.values() for run in runs), default=0)
        busy = [f"Other work took up to {others:.0f} % of the processors: the requests a second MEAN NOTHING, only "
                "the figures by CPU time do."]
        return [
            f"{CONNECTIONS} connections; the handler computes for {COMPUTE_US} us. The client runs on the same "
            "processors. Ratios are medians of those of neighbouring runs; other work is that of the worst run, the "
            "answers by loop are those of the last run. By CPU time: the most that processors without other work "
            "could reach. Aim: 1.8 times the requests.",
            *(busy if others > OTHERS_MAX else []),
        ]
