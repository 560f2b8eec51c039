"""The parts of bench/run about PostgreSQL and Redis: each client on one processor, its server on another."""

import contextlib
import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

from harness import BenchError, median, pinned, read_line, run_child

PG_PEERS = [
    ("libpq", "libpq, bare epoll loop", ["{peers}/pg_c"]),
    ("eddy", "eddy", ["{eddy}/pg_eddy"]),
    ("tokio-postgres", "tokio-postgres", ["{peers}/pg_tokio"]),
    ("pgx", "pgx", ["{peers}/pg_go"]),
    ("asyncpg-uvloop", "asyncpg, uvloop", ["{python}", "{src}/pg_python.py"]),
    ("asyncpg", "asyncpg", ["{python}", "{src}/pg_python.py"]),
]
REDIS_PEERS = [
    ("hiredis", "hiredis, bare epoll loop", ["{peers}/redis_c"]),
    ("hiredis-64", "the same, pipelines of 64", ["{peers}/redis_c"]),
    ("eddy", "eddy", ["{eddy}/redis_eddy"]),
    ("go-redis", "go-redis", ["{peers}/redis_go"]),
    ("go-redis-auto", "go-redis, AutoPipeline", ["{peers}/redis_go"]),
    ("redis-py-uvloop", "redis-py, uvloop", ["{python}", "{src}/redis_python.py"]),
    ("redis-py", "redis-py", ["{python}", "{src}/redis_python.py"]),
]
# The last argument of a peer's program.
MODES = {
    "asyncpg": "asyncio", "asyncpg-uvloop": "uvloop", "hiredis": "plain", "hiredis-64": "pipelines",
    "go-redis": "pool", "go-redis-auto": "auto", "redis-py": "asyncio", "redis-py-uvloop": "uvloop",
}
SLOW = {"asyncpg", "asyncpg-uvloop", "redis-py", "redis-py-uvloop"}  # run a fifth of a row
START_SECONDS = 60


class Server:
    """A server on one processor, on a Unix socket in a temporary folder."""

    def __init__(self, cpu):
        self.cpu, self.process, self.account = cpu, None, {}

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="eddy-bench-")
        try:
            self.prepare()
            self.process = subprocess.Popen(
                self.argv, preexec_fn=pinned(self.cpu), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                **self.account)
            end = time.monotonic() + START_SECONDS
            while not self.accepts():
                if self.process.poll() is not None or time.monotonic() > end:
                    raise BenchError(f"{os.path.basename(self.argv[0])} does not start")
                time.sleep(0.05)
            self.fill()
        except BaseException:
            self.__exit__()
            raise
        return self

    def accepts(self):
        with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError):
            client.connect(self.path)
            return True
        return False

    def command(self, argv, text=None):
        done = subprocess.run(argv, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              **self.account)
        if done.returncode != 0:
            raise BenchError(f"{os.path.basename(argv[0])} failed: {done.stdout.strip()[-300:]}")

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Postgres(Server):
    stop_signal = 3  # SIGQUIT: at once
    table = """
        create table items (id int8 primary key, name text not null, score float8 not null);
        insert into items select id, 'name of ' || id, id * 0.5 from generate_series(1, 10000) id;
        vacuum analyze items;
        create unlogged table loaded (id int8, name text, score float8);
    """

    def prepare(self):
        programs = (glob.glob("/usr/lib/postgresql/15/bin") or
                    [os.path.dirname(shutil.which("postgres") or "")])[0]
        if not os.path.exists(f"{programs}/initdb"):
            raise BenchError("no PostgreSQL (postgresql-15)")
        if os.geteuid() == 0:  # it refuses to run as root
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.account = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        data = f"{self.folder}/data"
        self.command([f"{programs}/initdb", "--no-sync", "-A", "trust", "-U", "postgres", "-E", "UTF8",
                      "--locale=C", "-D", data])
        self.psql = f"{programs}/psql"
        self.path = f"{self.folder}/.s.PGSQL.5432"
        self.target = f"host={self.folder} port=5432 user=postgres dbname=postgres"
        self.argv = [f"{programs}/postgres", "-D", data, "-k", self.folder, "-h", "", "-F", "-c",
                     "autovacuum=off", "-c", "max_wal_size=4GB"]
        self.version = read_line([self.argv[0], "--version"])

    def fill(self):
        argv = [self.psql, self.target, "-q", "-v", "ON_ERROR_STOP=1"]
        for _ in range(50):  # while it starts it refuses connections
            try:
                return self.command(argv, self.table)
            except BenchError as error:
                last = error
                time.sleep(0.1)
        raise last


class Redis(Server):
    stop_signal = 15

    def prepare(self):
        program = shutil.which("redis-server")
        if not program:
            raise BenchError("no Redis (redis-server)")
        self.path = f"{self.folder}/socket"
        self.target = f"unix://{self.path}"
        self.argv = [program, "--port", "0", "--unixsocket", self.path, "--dir", self.folder, "--save", "",
                     "--appendonly", "no", "--logfile", ""]
        self.version = " ".join(read_line([program, "--version"]).split()[:3])

    def fill(self):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(self.path)
            for key in range(10000):
                client.sendall(f"SET key:{key} 0123456789abcdef\r\n".encode())
                if client.recv(100) != b"+OK\r\n":
                    raise BenchError("redis-server refuses a SET")


class DbBench:
    """Microseconds of the client's CPU per operation."""

    def __init__(self, options, tools):
        self.options, self.tools = options, tools
        only = options.only.split(",") if options.only else None
        self.entries = [peer for peer in self.peers if not only or peer[0] in only]
        self.rows = [row for row in self.all_rows if (options.row or "") in row[0]]
        self.missing, self.failures, self.runs, self.versions = {}, [], {}, {}

    def measure(self, entry, row, server, cpu):
        key, _, command = entry
        name, _, count, _ = row
        count = max(1000, int(count * self.options.scale / (5 if key in SLOW else 1)))
        argv = [*self.tools.command(command), server.target, name, str(count)]
        argv += [MODES[key]] if key in MODES else []
        result = run_child(argv, cpu, {"GOMAXPROCS": "1", "GOGC": self.options.gogc}, timeout=300)
        self.versions[key] = result["peer"]
        self.runs.setdefault((name, key), []).append(result["cpu_ns"] / result["ops"] / 1000)

    def run(self, server_cpu, client_cpu):
        self.missing = self.tools.build_all({peer[0] for peer in self.entries}, self.builds())
        with self.server(server_cpu) as server:
            self.tools.versions[self.title] = server.version
            for row in self.rows:
                for _ in range(self.options.runs):
                    for entry in self.entries:
                        if entry[0] in self.missing or entry[0] not in row[3]:
                            continue
                        try:
                            self.measure(entry, row, server, client_cpu)
                        except BenchError as error:
                            self.failures.append(f"{self.title}, {row[0]}: {error}")

    def table(self):
        keys = [(key, title) for key, title, _ in self.entries if key in self.versions]
        lines = ["| CPU, us | " + " | ".join(title for _, title in keys) + f" | eddy : {self.floor} |",
                 "|---|" + "--:|" * (len(keys) + 1)]
        for name, title, _, _ in self.rows:
            figures = {key: median(self.runs[name, key]) for key, _ in keys if (name, key) in self.runs}
            cells = [f"{figures[key]:.{2 if figures[key] >= 1 else 3}f}" if key in figures else "-" for key, _ in keys]
            beside = ""
            if "eddy" in figures and self.floor in figures:
                beside = f"{figures['eddy'] / figures[self.floor]:.2f}"
            lines.append(f"| {title} | {' | '.join(cells)} | {beside} |")
        return lines

    def notes(self):
        return [*self.about, *(f"{key}: {version}" for key, version in self.versions.items())]


PG_STREAMS = {"libpq", "eddy", "tokio-postgres", "pgx", "asyncpg-uvloop", "asyncpg"}


class PgBench(DbBench):
    title, server, peers, floor = "PostgreSQL", Postgres, PG_PEERS, "libpq"
    # name of the row, what it is, operations per run, who runs it
    all_rows = [
        ("query", "a row by its key, 10 connections", 60_000, PG_STREAMS - {"tokio-postgres"}),
        ("pipeline", "a row by its key, pipelines", 150_000, {"libpq", "eddy", "tokio-postgres"}),
        ("cursor", "a row of 10,000, taken one by one", 500_000, PG_STREAMS),
        ("copy-in", "a row of a million, COPY FROM STDIN", 1_000_000, PG_STREAMS),
        ("copy-out", "a row of a million, COPY TO STDOUT", 1_000_000, PG_STREAMS),
    ]
    about = [
        "CPU time of the client per query or row. The server has one processor, the client another; they are "
        "connected by a Unix socket. Statements are prepared.",
        "a row by its key: 64 tasks, each of which borrows one of 10 connections for each query; aim: 1.25 times "
        "the bare loop. Pipelines: 64 queries are under way. 64 tasks on one connection; the bare loop has 16 on each "
        "of 4; aim: 5 us.",
    ]

    def builds(self):
        flags = (read_line(["pkg-config", "--cflags", "--libs", "libpq"]) or "-lpq").split()
        return [
            ("libpq", self.tools.build_c, "peers/pg_c.c", "pg_c", flags),
            ("eddy", self.tools.build_eddy, "pg_eddy"),
            ("tokio-postgres", self.tools.build_rust, "pg_tokio", "tokio-postgres"),
            ("pgx", self.tools.build_go, "pg_go", "github.com/jackc/pgx/v5/pgxpool"),
            ("asyncpg-uvloop", self.tools.need_python, "asyncpg", "uvloop"),
            ("asyncpg", self.tools.need_python, "asyncpg"),
        ]


class RedisBench(DbBench):
    title, server, peers, floor = "Redis", Redis, REDIS_PEERS, "hiredis-64"
    all_rows = [
        (name, f"{name.upper()} of 16 bytes", 500_000, {peer[0] for peer in REDIS_PEERS})
        for name in ("get", "set")
    ]
    about = [
        "CPU time of the client per command. The server has one processor, the client another; they are connected "
        "by a Unix socket. 64 tasks, each of which waits for its reply: on one connection for eddy and AutoPipeline, "
        "on 10 for the other clients. The bare loop has one command under way on each of 10 connections, or 64 on one.",
    ]

    def builds(self):
        return [
            ("hiredis", self.tools.build_c, "peers/redis_c.c", "redis_c", ["-lhiredis"]),
            ("hiredis-64", self.tools.build_c, "peers/redis_c.c", "redis_c", ["-lhiredis"]),
            ("eddy", self.tools.build_eddy, "redis_eddy"),
            ("go-redis", self.tools.build_go, "redis_go", "github.com/redis/go-redis/v9"),
            ("go-redis-auto", self.tools.build_go, "redis_go", "github.com/redis/go-redis/v9"),
            ("redis-py-uvloop", self.tools.need_python, "redis.asyncio", "hiredis", "uvloop"),
            ("redis-py", self.tools.need_python, "redis.asyncio", "hiredis"),
        ]
