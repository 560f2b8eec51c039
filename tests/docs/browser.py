"""browser - a page in a browser without a network: what it shows, says and asks for."""
import os
import re
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


def look_at(url, folder, *flags, own="<-loopback>"):
    """The document after its scripts, what the console said, and what the page asked of the
    network; 'own' is an address that it may ask."""
    with Proxy() as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        shown = subprocess.run(
            [find(), "--headless", "--no-sandbox", "--enable-logging=stderr",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--no-first-run", f"--user-data-dir={os.path.join(folder, 'profile')}",
             f"--proxy-server=http://127.0.0.1:{proxy.server_address[1]}",
             f"--proxy-bypass-list={own}", *flags, "--dump-dom", url],
            capture_output=True, check=True, timeout=LIMIT_S)
        proxy.shutdown()
    said = [line for line in shown.stderr.decode().splitlines() if "CONSOLE" in line]
    return shown.stdout.decode(), said, proxy.asked
