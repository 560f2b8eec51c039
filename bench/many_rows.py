"""The part of bench/run about several loops: requests a second of one loop and of two."""

import json
import os
import subprocess

from harness import BenchError, median

COMPUTE_US = 200
REQUESTS = 20_000
CONNECTIONS = 64
LOOPS = (1, 2)


class ManyBench:
    """Two loops on two processors beside one, with a handler that computes for 200 us."""

    title = "Several loops"

    def __init__(self, options, tools):
        self.options, self.tools = options, tools
        self.entries = ["eddy"] if not options.only or "eddy" in options.only.split(",") else []
        self.missing, self.failures, self.rates = {}, [], {loops: [] for loops in LOOPS}

    def measure(self, loops):
        """Returns the requests a second."""
        places = self.tools.places
        requests = max(500, int(REQUESTS * self.options.scale))
        server = subprocess.Popen([os.path.join(places["eddy"], "many_eddy"), str(loops), str(COMPUTE_US)],
                                  stdout=subprocess.PIPE, text=True)
        try:
            port = int(server.stdout.readline())
            ran = subprocess.run([os.path.join(places["peers"], "http_floor"), f"http://127.0.0.1:{port}/",
                                  str(requests), str(CONNECTIONS)], capture_output=True, text=True, check=False)
        except ValueError as error:
            raise BenchError(f"many_eddy {loops}: no port") from error
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()
        if ran.returncode != 0:
            raise BenchError(f"http_floor: {ran.stderr.strip() or ran.returncode}")
        result = json.loads(ran.stdout)
        if result["ok"] != requests:
            raise BenchError(f"many_eddy {loops}: {result['ok']} of {requests} answers")
        return requests / result["wall_ns"] * 1e9

    def run(self, _server_cpu, _client_cpu):
        self.tools.attempt(self.missing, "eddy", self.tools.build_eddy, "many_eddy")
        self.tools.attempt(self.missing, "floor", self.tools.build_c, "http_floor.c", "http_floor",
                           ["-lssl", "-lcrypto"])
        if self.missing:
            return
        for _ in range(self.options.runs):
            for loops in LOOPS:
                self.rates[loops].append(self.measure(loops))

    def table(self):
        lines = ["| loops | requests a second | beside one loop |", "|--:|--:|--:|"]
        for loops, rates in self.rates.items():
            if rates:
                ratio = median([rate / one for rate, one in zip(rates, self.rates[1])])
                lines.append(f"| {loops} | {median(rates):.0f} | {ratio:.2f} |")
        return lines

    def notes(self):
        return [f"{CONNECTIONS} connections; the handler computes for {COMPUTE_US} us. The client runs on the same "
                "processors. The ratio is the median of those of the runs. Aim: 1.8."]
