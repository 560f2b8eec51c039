"""browser - a page in a browser without a network: what it shows, says and asks for."""
import contextlib
import fcntl
import json
import os
import re
import select
import shutil
import socketserver
import subprocess
import threading

LIMIT_S = 300


class Proxy(socketserver.ThreadingTCPServer):
    """Records what a browser asks of the network, and answers nothing."""
    daemon_threads = True

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            head = b""
            while (line := self.rfile.readline(10000)).strip():
                head += line
            # The browser itself asks its maker for updates.
            if not re.search(rb"^Host: \S+\.google(apis)?\.com", head, re.M):
                self.server.asked.append(head)

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.asked = []


def find():
    return shutil.which("chromium") or shutil.which("chromium-headless-shell")


def command(folder, proxy, own, *flags):
    return [find(), "--headless", "--no-sandbox", "--enable-logging=stderr",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--no-first-run", f"--user-data-dir={os.path.join(folder, 'profile')}",
            f"--proxy-server=http://127.0.0.1:{proxy.server_address[1]}",
            f"--proxy-bypass-list={own}", *flags]


def look_at(url, folder, *flags, own="<-loopback>"):
    """The document after its scripts, what the console said, and what the page asked of the
    network; 'own' is an address that it may ask."""
    with Proxy() as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        shown = subprocess.run(command(folder, proxy, own, *flags, "--dump-dom", url),
                               capture_output=True, check=True, timeout=LIMIT_S)
        proxy.shutdown()
    said = [line for line in shown.stderr.decode().splitlines() if "CONSOLE" in line]
    return shown.stdout.decode(), said, proxy.asked


class Tab:
    """A page that stays open, operated by the DevTools protocol over two pipes.

    'own' is the address, HOST:PORT, that it may ask; .asked has what it asked of the network, and .said what
    its console said.
    """

    def __init__(self, folder, own, *flags):
        self.stack, self.said, self.count, self.rest, self.session = contextlib.ExitStack(), [], 0, b"", {}
        proxy = self.stack.enter_context(Proxy())
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        self.stack.callback(proxy.shutdown)
        self.asked = proxy.asked
        (read, self.to), (self.by, write) = os.pipe(), os.pipe()
        to_read, to_write = (fcntl.fcntl(pipe, fcntl.F_DUPFD_CLOEXEC, 10) for pipe in (read, write))
        args = command(folder, proxy, f"<-loopback>;{own}", "--disable-gpu", "--remote-debugging-pipe", *flags)
        # The browser reads its commands from descriptor 3 and answers on 4.
        pipes = ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write} {to_read}<&- {to_write}>&-', "bash"]
        self.child = subprocess.Popen(pipes + args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, pass_fds=(to_read, to_write))
        for pipe in read, write, to_read, to_write:
            os.close(pipe)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = {"sessionId": self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        for domain in "Runtime", "Log", "Page":
            self.call(domain + ".enable")

    def close(self):
        self.child.kill()
        self.child.wait()
        os.close(self.to)
        os.close(self.by)
        self.stack.close()

    def messages(self):
        """Each message of the browser, and waits for more."""
        while True:
            while b"\0" in self.rest:
                message, _, self.rest = self.rest.partition(b"\0")
                yield json.loads(message)
            if not select.select([self.by], [], [], LIMIT_S)[0]:
                raise AssertionError("the browser does not answer")
            piece = os.read(self.by, 1 << 16)
            if not piece:
                raise AssertionError("the browser has ended")
            self.rest += piece

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params, **self.session}
        os.write(self.to, json.dumps(message).encode() + b"\0")
        for message in self.messages():
            if message.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                self.said.append(json.dumps(message["params"]))
            elif message.get("id") == self.count:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
        return None

    def value(self, expression):
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")
