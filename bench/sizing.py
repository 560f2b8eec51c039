"""The part of bench/run about the size of a server: rate, latency and memory by its connections."""

from harness import BenchError, median
from server_peers import SERVER_PEERS, Servers
from tls import say

CONNECTIONS = [1, 8, 64, 512, 2_000, 10_000]
REQUESTS = {1: 15_000, 8: 40_000}  # at full speed
REQUESTS_MORE = 60_000
RATE = 10_000  # requests a second
RATE_SECONDS = 2
SECONDS_MOST = 4  # of a run, on a machine that cannot do more
IDLE_SECONDS = 3
KEYS = ("eddy", "nginx", "go")
COLUMNS = ["server", "connections", "requests/s", "p50 ms", "p99 ms", "CPU us",
           f"p50 ms at {RATE:,}/s", f"p99 ms at {RATE:,}/s", f"CPU us at {RATE:,}/s", "KiB", "KiB idle"]


class SizingBench:
    """Rate, latency and memory of a server with 1 to 10,000 connections."""

    title = "Sizes of servers"

    def __init__(self, options, tools):
        self.options, self.servers = options, Servers(options, tools)
        wanted = options.only.split(",") if options.only else KEYS
        self.entries = [peer for peer in SERVER_PEERS if peer[0] in wanted]
        self.failures = []
        self.runs = {}  # (key, connections): results of full speed, and of the rate

    @property
    def missing(self):
        return self.servers.missing

    def run(self, *cpus):
        self.entries = self.servers.build(self.entries)
        if not self.entries:
            return
        with self.servers.running(*cpus):
            for run in range(self.options.runs):
                for connections in CONNECTIONS:
                    for entry in self.entries:
                        try:
                            self.run_one(run, entry, connections)
                        except BenchError as error:
                            self.failures.append(f"{connections} connections: {error}")
                            say(f"FAILED: {error}")

    def run_one(self, run, entry, connections):
        scale = self.options.scale
        # Ten for each connection: the first of each do not count, and come with the others' second.
        most = max(10 * connections, int(REQUESTS.get(connections, REQUESTS_MORE) * entry[2] * scale))
        due = max(connections, int(RATE * RATE_SECONDS * scale))
        idle = ("--idle", str(IDLE_SECONDS)) if run == 0 and connections >= 512 else ()
        more = ("--latency", "--seconds", str(SECONDS_MOST))
        full = self.servers.measure(entry, connections, most, "respond", more=(*more, *idle))
        paced = self.servers.measure(entry, connections, due, "respond", more=(*more, "--rate", str(RATE)))
        found = self.runs.setdefault((entry[0], connections), ([], []))
        found[0].append(full)
        found[1].append(paced)
        rate = full["ops"] / full["wall_ns"] * 1e9
        say(f"sizing {entry[0]}, {connections:,} connections: {rate:,.0f}/s, p99 {full['p99_ns'] / 1e6:.2f} ms; "
            f"at {RATE:,}/s p99 {paced['p99_ns'] / 1e6:.2f} ms")

    @staticmethod
    def kib(key, results, name, connections):
        """Memory of a connection, or "-": with few, the server's own memory decides, and nginx's
        process keeps that of the runs before."""
        found = [(result[name] - result["kib_before"]) / (connections - 1)
                 for result in results if connections >= 512 and key != "nginx" and result[name] >= 0]
        return f"{median(found):.1f}" if found else "-"

    def table(self):
        lines = ["| " + " | ".join(COLUMNS) + " |", "|---|" + "--:|" * (len(COLUMNS) - 1)]
        for (key, connections), (full, paced) in sorted(self.runs.items(), key=lambda item: KEYS.index(item[0][0])):
            def middle(results, name, per=1e6, digits=2):
                return f"{median([result[name] / per for result in results]):.{digits}f}"

            rate = median([result["ops"] / result["wall_ns"] * 1e9 for result in full])
            cells = [key, str(connections), f"{rate:.0f}", middle(full, "p50_ns"), middle(full, "p99_ns"),
                     middle(full, "us", 1), middle(paced, "p50_ns"), middle(paced, "p99_ns"),
                     middle(paced, "us", 1), self.kib(key, full, "kib", connections),
                     self.kib(key, full, "kib_idle", connections)]
            lines.append("| " + " | ".join(cells) + " |")
        return lines

    def notes(self):
        versions = ", ".join(self.servers.versions.values())
        return [
            f"{versions}. Server and client on one core each, 27 bytes of JSON. Full speed: each connection sends its "
            f"next request when its answer has come. At {RATE:,}/s: latency counts from when a request was due.",
            "KiB: growth of resident memory and page tables for each connection after the load, and "
            f"{IDLE_SECONDS} s later, of one run. "
            f"Other work took {median(self.servers.others or [0]):.0f} % of the processors.",
        ]
