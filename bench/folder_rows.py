"""The part of bench/run about files: CPU time of servers that send a small and a large one."""

from folder_peers import FOLDER_PEERS, LARGE, SIZES, SMALL, FolderServers
from harness import median
from server_rows import RowsBench

REQUESTS, VOLUME = 30_000, 3_000  # of the small file; MiB of the large one
NGINX_MOST = 1.05
SLOW = {"go": 0.5, "aiohttp-server": 0.15}  # their share of the small requests

# file, connections, with TLS
ROWS = [
    (name, connections, secure)
    for secure in (False, True)
    for name, widths in ((SMALL, (64, 512)), (LARGE, (1, 8, 64)))
    for connections in widths
]


class FolderBench(RowsBench):
    """CPU time per request of a small file, and per MiB of a large one."""

    title = "Files"
    topic = "folder"
    peers = FOLDER_PEERS
    all_rows = ROWS
    servers_class = FolderServers

    def title_of(self, name, connections, secure):
        size = "20 KiB, us/request" if name == SMALL else "100 MB, us/MiB"
        return f"{'TLS: ' if secure else ''}{size}, {connections}"

    def count_of(self, key, name, connections, secure):
        if name == LARGE:
            return max(64, int(VOLUME * self.options.scale * (0.5 if secure else 1)))
        return max(connections, int(REQUESTS * self.options.scale * SLOW.get(key, 1) * (0.5 if secure else 1)))

    def run_row(self, run, name, connections, secure):
        def measure(entry):
            count = self.count_of(entry[0], name, connections, secure)
            return self.servers.measure_file(entry, name, connections, count, secure)
        self.measure_entries(run, self.title_of(name, connections, secure), measure)

    @staticmethod
    def us_of(result):
        return result["us"]

    def figure(self, row, key, value):
        """The median of a value of a server's results in a row, or None."""
        runs = self.runs.get((self.title_of(*row), key))
        return median([value(result) for result in runs.values()]) if runs else None

    def beside(self, row):
        """The median of the ratios of eddy's and nginx's runs with the same number."""
        ours, theirs = (self.runs.get((self.title_of(*row), key), {}) for key in ("eddy", "nginx"))
        ratios = [ours[run]["us"] / theirs[run]["us"] for run in ours if run in theirs]
        return median(ratios) if ratios else None

    def table(self):
        versions = self.servers.versions
        titles = [title + (f" ({versions[key]})" if key in versions else "") for key, title, _ in self.entries]
        lines = ["| server's CPU | " + " | ".join(titles) + f" | eddy beside nginx, aim {NGINX_MOST} |",
                 "|---|" + "--:|" * len(titles) + "--:|"]
        for row in self.rows:
            costs = [self.figure(row, key, lambda result: result["us"]) for key, *_ in self.entries]
            ratio = self.beside(row)
            cell = f"{ratio:.2f}: {'met' if ratio <= NGINX_MOST else 'missed'}" if ratio else "-"
            cells = " | ".join(f"{cost:.2f}" if cost else "-" for cost in costs)
            lines.append(f"| {self.title_of(*row)} | {cells} | {cell} |")
        return lines + self.rates()

    def rates(self):
        """The second table: throughput and the peak of memory."""
        titles = [title for _, title, _ in self.entries]
        lines = ["", "| MB/s; KiB at most | " + " | ".join(titles) + " |", "|---|" + "--:|" * len(titles)]
        for row in self.rows:
            unit = SIZES[SMALL] if row[0] == SMALL else 1 << 20
            cells = []
            for key, *_ in self.entries:
                rate = self.figure(row, key, lambda result: unit * 1000 * result["ops"] / result["wall_ns"])
                peak = self.figure(row, key, lambda result: result["kib_peak"])
                cells.append(f"{rate:,.0f}; {peak:,.0f}" if rate else "-")
            lines.append(f"| {self.title_of(*row)} | " + " | ".join(cells) + " |")
        return lines

    def notes(self):
        others = median(self.servers.others or [0])
        return [
            "Connections are kept alive; the last number of a row is that of connections. Server and client have one "
            "core each. CPU time is the kernel's count for the server, all threads, after a tenth of the work that "
            "does not count. The files are in the kernel's cache.",
            "The ratio is the median of those of runs with the same number. MB/s: the client is the limit of most rows "
            "of the large file. Memory: the peak of resident memory and page tables; nginx's is of all rows before.",
            "nginx: one worker, sendfile and tcp_nopush on, its other options as they are; the second column also has "
            "open_file_cache. eddy: one thread, its default options. TLS 1.3, AES-256-GCM, X25519, a certificate of P-256.",
            f"Other work took {others:.0f} % of the processors. Go: GOMAXPROCS=1, GOGC={self.options.gogc}.",
        ]
