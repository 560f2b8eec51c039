"""The part of bench/run about HTTP servers: CPU time per request, beside servers of other languages."""

from harness import BenchError, median, verdict
from server_peers import BODY, ROUTES, SERVER_PEERS, Servers
from tls import say

REQUESTS = 60_000
PIECES_MOST = 1.1  # times respond
ROUTES_MOST_NS = 200  # above one route
NGINX_MOST = 0.9
LEAST_MOST = 1.05

# title, way to answer, connections, with TLS
ROWS = [
    ("respond, 64 connections", "respond", 64, False),
    ("begin, write, end, known length, 64", "known", 64, False),
    ("begin, write, end, unknown length, 64", "unknown", 64, False),
    ("JSON from a struct, 64", "json", 64, False),
    ("one route, 64", "route", 64, False),
    ("1,000 routes, 64", "routes", 64, False),
    ("respond, 512 connections", "respond", 512, False),
    ("begin, write, end, known length, 512", "known", 512, False),
    ("TLS: respond, 64 connections", "respond", 64, True),
    ("TLS: respond, 512 connections", "respond", 512, True),
    ("one route, request identifiers, 64", "id", 64, False),
    ("one route, access log, 64", "log", 64, False),
    ("one route, both, 64", "layers", 64, False),
]
# A row beside the row before it in the pair: both of eddy, most as times or as ns more.
PAIRS = [
    (ROWS[1][0], ROWS[0][0], PIECES_MOST, None),
    (ROWS[2][0], ROWS[0][0], PIECES_MOST, None),
    (ROWS[3][0], ROWS[0][0], None, None),
    (ROWS[4][0], ROWS[0][0], None, None),
    (ROWS[5][0], ROWS[4][0], None, ROUTES_MOST_NS),
    (ROWS[10][0], ROWS[4][0], None, None),
    (ROWS[11][0], ROWS[4][0], None, None),
    (ROWS[12][0], ROWS[4][0], None, None),
]


class RowsBench:
    """Runs of servers that alternate, in each row.  A subclass has title, topic, peers, all_rows, servers_class and
    run_row()."""

    def __init__(self, options, tools):
        self.options, self.servers = options, self.servers_class(options, tools)
        only = options.only.split(",") if options.only else None
        self.entries = [peer for peer in self.peers if not only or peer[0] in only]
        self.rows = [row for row in self.all_rows if not options.row or options.row in self.title_of(*row)]
        self.failures = []
        self.runs = {}  # (row's title, key): results, by number of the run

    def title_of(self, title, *_):
        return title

    @property
    def missing(self):
        return self.servers.missing

    def run(self, *cpus):
        self.entries = self.servers.build(self.entries)
        if not self.entries:
            return
        with self.servers.running(*cpus):
            for run in range(self.options.runs):
                for row in self.rows:
                    self.run_row(run, *row)


    def measure_entries(self, run, title, measure):
        """A run of each entry in turn.  'measure' gives an entry's result, which is kept, or None."""
        for entry in self.entries:
            try:
                result = measure(entry)
            except BenchError as error:
                self.failures.append(f"{title}: {entry[0]}: {error}")
                continue
            if result:
                self.runs.setdefault((title, entry[0]), {})[run] = result
        results = ((key, self.runs.get((title, key), {}).get(run)) for key, *_ in self.entries)
        say(f"{self.topic} {title}: " + ", ".join(f"{key} {self.us_of(result):.2f}" for key, result in results if result))

    @staticmethod
    def us_of(result):
        return result


class ServerBench(RowsBench):
    """CPU time per request of HTTP servers, in us."""

    title = "HTTP server"
    topic = "server"
    peers = SERVER_PEERS
    all_rows = ROWS
    servers_class = Servers

    def run_row(self, run, title, way, connections, secure):
        def measure(entry):
            count = REQUESTS * entry[2] * self.options.scale * (0.6 if secure else 1)
            result = self.servers.measure(entry, connections, max(connections, int(count)), way, secure)
            return result and result["us"]
        self.measure_entries(run, title, measure)

    def cost(self, title, key):
        """The median of a server in a row, or None."""
        runs = self.runs.get((title, key))
        return median(runs.values()) if runs else None

    def beside(self, title, key, other_title, other_key, ratio=True):
        """The median of the ratios, or of the differences in ns, of runs with the same number."""
        runs, others = self.runs.get((title, key), {}), self.runs.get((other_title, other_key), {})
        both = [(runs[run], others[run]) for run in runs if run in others]
        return median([a / b if ratio else (a - b) * 1000 for a, b in both]) if both else None

    def ratio_cell(self, title, key, most):
        ratio = self.beside(title, "eddy", title, key)
        return f"{ratio:.2f}: {'met' if ratio <= most else 'missed'}" if ratio else "-"

    def table(self):
        versions, entries = self.servers.versions, self.entries
        lines = ["| server's CPU us/request | " + " | ".join(
                     f"{title} ({versions.get(key, '-')})" for key, title, *_ in entries)
                 + f" | eddy beside nginx, aim {NGINX_MOST} | beside the least, aim {LEAST_MOST} | |",
                 "|---|" + "--:|" * len(entries) + "--:|--:|---|"]
        for title, *_ in self.rows:
            costs = {key: self.cost(title, key) for key, *_ in entries}
            others = {key: cost for key, cost in costs.items() if key != "eddy" and cost}
            least = min(others, key=others.get) if others else None
            nginx = self.ratio_cell(title, "nginx", NGINX_MOST)
            beside = f"{self.ratio_cell(title, least, LEAST_MOST)} ({least})" if least else "-"
            word = verdict(costs["eddy"], others[least]) if least and costs.get("eddy") else ""
            cells = " | ".join(f"{cost:.2f}" if cost else "-" for cost in costs.values())
            lines.append(f"| {title} | {cells} | {nginx} | {beside} | {word} |")
        return lines + self.pairs()

    def pairs(self):
        """The second table: what a feature costs."""
        lines = ["", "| eddy | beside | ratio | ns more | aim |", "|---|---|--:|--:|---|"]
        for title, other, most, most_ns in PAIRS:
            ratio = self.beside(title, "eddy", other, "eddy")
            if not ratio:
                continue
            more = self.beside(title, "eddy", other, "eddy", ratio=False)
            aim = ""
            if most:
                aim = f"{most} x: {'met' if ratio <= most else 'missed'}"
            if most_ns:
                aim = f"{most_ns} ns: {'met' if more <= most_ns else 'missed'}"
            lines.append(f"| {title} | {other} | {ratio:.2f} | {more:.0f} | {aim} |")
        return lines if len(lines) > 3 else []

    def notes(self):
        others = median(self.servers.others or [0])
        return [
            f"Connections are kept alive; the answer is {len(BODY)} bytes of JSON; server and client on one core each. "
            "CPU time of the server, all threads, by the kernel's count, while it answers the last ten of each eleven "
            "requests. Client and server counted the same number of requests, all answered with 200.",
            "Ratios and differences are medians of those of runs with the same number. Unknown length: chunked. JSON "
            "from a struct: each server's own encoder. TLS 1.3, AES-256-GCM, X25519, a certificate of P-256.",
            f"Routes: /api/r000/{{id}} alone, and as the first of {ROUTES:,}, which are requested in turn. nginx has "
            "prefixes, and libh2o paths, without a parameter.",
            f"Other work took {others:.0f} % of the processors. Go: GOMAXPROCS=1, GOGC={self.options.gogc}.",
        ]
