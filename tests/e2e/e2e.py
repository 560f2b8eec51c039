"""e2e - the harness of the end-to-end tests: whole programs, real sockets.

    @claim
    def what_the_case_claims(eddy): ...

    e2e.main()

`script EDDY` runs all cases, several at a time, and prints TAP; `script EDDY
WORD` those whose names contain the word, `script EDDY =NAME` one; `script EDDY
--list` names them.
Each case starts what it needs, on free ports, and nothing outlives it.
"""
import array
import concurrent.futures
import contextlib
import fcntl
import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback
import urllib.parse

# So long no case may take, whatever slows the machine.
LIMIT_S = 300
# What is to end soon has ended by then, on a machine that starves it too; what
# it must not wait for takes longer, a minute mostly.
SOON = 20
AT_ONCE = 4

cases = []


class Skip(Exception):
    """The case cannot run here; the text says why."""


def claim(case):
    cases.append(case)
    return case


def first(case):
    """A claim that mostly waits: it begins before the others, which run beside it."""
    cases.remove(case)
    cases.insert(0, case)
    return case


def alone(case):
    """A case that measures the machine: none runs beside it."""
    case.alone = True
    return case


def check(condition, *facts):
    if not condition:
        raise AssertionError(" ".join(str(fact) for fact in facts) or "check failed")


def equal(got, expected, *facts):
    if got != expected:
        raise AssertionError(f"{got!r}, expected {expected!r} " +
                             " ".join(str(fact) for fact in facts))


def errors(text):
    """The lines of a program's standard error, without those of a loop that a busy machine gave no processor."""
    return [line for line in text.splitlines() if b"has kept the loop from other tasks" not in line]


class Result:
    """How a program ended: .code, .out and .err (text), .seconds."""

    def __init__(self, code, out, err, seconds):
        self.code = code
        self.raw = out
        self.out = out.decode("utf-8")
        self.err = err.decode("utf-8", "replace")
        self.seconds = seconds

    def lines(self):
        """The results, each line one object, by index."""
        check(self.out == "" or self.out.endswith("\n"), "torn output:", repr(self.out[-100:]))
        return sorted((json.loads(line) for line in self.out.splitlines()),
                      key=lambda line: line["index"])

    def __str__(self):
        return f"[exit {self.code} after {self.seconds:.3f} s; stdout {self.out[-600:]!r}; " \
               f"stderr {self.err[-600:]!r}]"


class Eddy:
    """The program under test, and all that a case starts."""

    def __init__(self, path):
        self.path = path
        self.stack = contextlib.ExitStack()
        self.folder = tempfile.mkdtemp(prefix="eddy-e2e-")
        self.stack.callback(shutil.rmtree, self.folder, True)

    def file(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "wb") as out:
                out.write(content if isinstance(content, bytes) else content.encode())
        return path

    def start(self, *args, **options):
        """Start the program; it is ended with the case at the latest."""
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        # A mock that is killed leaves its certificate's folder: the case's folder is removed.
        options.setdefault("env", {**os.environ, "TMPDIR": self.folder})
        child = subprocess.Popen([self.path, *args], **options)
        self.stack.callback(self.end, child)
        return child

    @staticmethod
    def end(child):
        if child.poll() is None:
            child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()

    def run(self, *args, stdin=None, **options):
        """Run the program to its end."""
        if stdin is not None:
            options["stdin"] = subprocess.PIPE
        begin = time.monotonic()
        child = self.start(*args, **options)
        try:
            out, err = child.communicate(stdin, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
            raise AssertionError(f"hangs: {args} stdout {out[-600:]!r} stderr {err[-600:]!r}")
        return Result(child.returncode, out or b"", err or b"", time.monotonic() - begin)

    def fetch(self, *args, **options):
        return self.run("fetch", *args, **options)

    def mock(self, *args, **options):
        """A mock server; returns its URL, and keeps its process in .child."""
        child = self.start("mock", *args, **options)
        first = child.stdout.readline().decode()
        check(first.startswith(("listening on http://", "listening on https://")), "first line of the mock:", repr(first),
              child.stderr.read() if child.poll() is not None else "")
        self.child = child
        return first.split()[2]

    def serve(self, answer):
        """A server of the test: answer(connection, number) runs in a thread for each one."""
        server = Server(answer)
        self.stack.callback(server.close)
        return server


def alpn_of(url, cert):
    """The protocol that an https server chooses for a client of HTTP/2 and HTTP/1.1."""
    parts = urllib.parse.urlsplit(url)
    context = ssl.create_default_context(cafile=cert)
    context.set_alpn_protocols(["h2", "http/1.1"])
    with socket.create_connection((parts.hostname, parts.port), timeout=LIMIT_S) as plain, \
            context.wrap_socket(plain, server_hostname=parts.hostname) as connection:
        return connection.selected_alpn_protocol()


class Server:
    """Hands each connection to a function.  .count says how many there were."""

    def __init__(self, answer):
        self.answer = answer
        self.count = 0
        self.closing = False
        self.lock = threading.Lock()
        self.connections = set()
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with self.lock:
                number = self.count
                self.count += 1
                self.connections.add(connection)
            threading.Thread(target=self.handle, args=(connection, number), daemon=True).start()

    def handle(self, connection, number):
        with contextlib.suppress(OSError), connection:
            self.answer(connection, number)
        with self.lock:
            self.connections.discard(connection)

    def close(self):
        # shutdown() wakes a thread that waits in accept(); close() alone does not.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        with self.lock:
            left = list(self.connections)
        for connection in left:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def read_head(connection):
    """A request's head, or what there was of it when the peer went away."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(65536)
        if not piece:
            break
        head += piece
    return head


def ok(body=b"ok\n", headers=b""):
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n%s" % (len(body), headers, body)


def until_closed(connection):
    """Read and drop, until the peer closes."""
    while connection.recv(65536):
        pass


def free_port():
    """A port on which nobody listens. The kernel does not give it to programs that take any port."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        first = int(file.read().split()[0])
    for _ in range(100):
        port = random.randrange(10000, first) if first > 20000 else 0
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)) as server:
            return server.getsockname()[1]
    raise AssertionError("no port is free")


def deaf_port(eddy):
    """A port on which connects are not answered: its backlog is full."""
    listener = socket.socket()
    eddy.stack.callback(listener.close)
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    for _ in range(8):
        connection = socket.socket()
        eddy.stack.callback(connection.close)
        connection.setblocking(False)
        connection.connect_ex(listener.getsockname())
    time.sleep(0.05)
    return listener.getsockname()[1]


def catches(child, signo):
    """Whether the program has come so far that it handles that signal."""
    try:
        with open(f"/proc/{child.pid}/status", encoding="ascii") as file:
            caught = [line.split()[1] for line in file if line.startswith("SigCgt:")]
    except OSError:
        return False
    return bool(caught) and int(caught[0], 16) >> (signo - 1) & 1 == 1


def held_in(pipe):
    """How many bytes wait to be read."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def connecting_to(port):
    """How many connections to that port are not answered yet."""
    with open("/proc/net/tcp", encoding="ascii") as file:
        fields = [line.split()[2:4] for line in file]
    return sum(peer.endswith(f":{port:04X}") and state == "02" for peer, state in fields)


def one_line(result, code, *words):
    """A program that refused to work: one line on stderr that holds the words."""
    equal(result.code, code, result)
    equal(result.out, "", result)
    equal(result.err.count("\n"), 1, result)
    check(result.err.startswith("eddy"), result)
    for word in words:
        check(word in result.err, f"{word!r} is not in", result)


def wait_until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, "waited in vain for", what)
        time.sleep(0.005)


def program(*names):
    """The path of the first of these programs that the machine has; without any, the case is skipped."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    found = next(filter(None, (shutil.which(name, path=path) for name in names)), None)
    if not found:
        raise Skip(f"{names[0]} is not installed (tools/install-deps)")
    return found


def start_server(eddy, port, *args, started=None):
    """Start another program, and wait until it listens; returns its address. It ends with the case. 'started' gets the process."""
    child = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    eddy.stack.callback(eddy.end, child)

    def listens():
        check(child.poll() is None, "ended:", args)
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0
    wait_until(listens, f"{args[0]} to listen")
    if started is not None:
        started.append(child)
    return f"127.0.0.1:{port}"


def squid(eddy):
    """Start the proxy squid, which stores nothing; returns its address."""
    path, port, own = program("squid"), free_port(), eddy.file("squid")
    os.mkdir(own)
    # It gives up root for a user who must be able to write there.
    for folder in (eddy.folder, own):
        os.chmod(folder, 0o777)
    config = eddy.file("squid.conf", f"""
http_port 127.0.0.1:{port}
http_access allow all
cache deny all
access_log none
cache_log {own}/squid.log
cache_store_log none
pid_filename {own}/squid.pid
coredump_dir {own}
visible_hostname squid.test
shutdown_lifetime 0 seconds
""")
    return start_server(eddy, port, path, "-N", "-f", config)


class WholeLines:
    """Standard output for several threads: what a thread prints appears line by line, each in one write."""

    def __init__(self, to):
        self.to, self.begun = to, threading.local()

    def write(self, text):
        lines, end, rest = (getattr(self.begun, "text", "") + text).rpartition("\n")
        self.begun.text = rest
        if end:
            self.to.write(lines + end)

    def flush(self):
        self.to.flush()


def run_case(case, path):
    eddy = Eddy(path)
    try:
        with eddy.stack:
            case(eddy)
        return "ok", ""
    except Skip as why:
        return "ok", f" # SKIP {why}"
    except BaseException:  # a failure of any kind fails the case, not the run
        return "not ok", "\n# " + traceback.format_exc().replace("\n", "\n# ")


def main():
    path = os.path.abspath(sys.argv[1])
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    if word == "--list":
        for case in cases:
            print(case.__name__)
        return
    sys.stdout = WholeLines(sys.stdout)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        # nohup has started the tests: the programs under test do not ignore it for that.
        signal.signal(signal.SIGHUP, lambda *_: None)
    for signum in signal.SIGINT, signal.SIGQUIT:
        if signal.getsignal(signum) is signal.SIG_IGN:
            # A shell has started the tests in the background; the programs under test get the default handling.
            signal.signal(signum, signal.SIG_DFL)
    chosen = [case for case in cases
              if (word[1:] == case.__name__ if word.startswith("=") else word in case.__name__)]
    print("# =NAME runs one case")
    print(f"1..{len(chosen)}", flush=True)
    failed = 0
    single = [case for case in chosen if getattr(case, "alone", False)]
    beside = [case for case in chosen if case not in single]
    number = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        running = {pool.submit(run_case, case, path): case for case in beside}
        for done in concurrent.futures.as_completed(running):
            number += 1
            verdict, more = done.result()
            failed += verdict != "ok"
            print(f"{verdict} {number} - {running[done].__name__}{more}", flush=True)
    for case in single:
        number += 1
        verdict, more = run_case(case, path)
        failed += verdict != "ok"
        print(f"{verdict} {number} - {case.__name__}{more}", flush=True)
    sys.exit(1 if failed else 0)
