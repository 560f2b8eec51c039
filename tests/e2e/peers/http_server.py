"""http_server - the server of test_http_peers.py in Python: http.server, plain and with TLS.

    http_server.py FOLDER [CERT KEY]

All servers in this folder do this:

    GET /NAME        a file of the folder
    PUT /any         the body's SHA-256
    GET /events      events 0 to 39, at most 10 in a response, after the one that Last-Event-ID names;
                     every other response breaks within an event; 204 after the last event
    POST /expect       the number of bytes of the body, and the trailer X-Sum or "none" (by HTTP/2)
    GET /parts       the hints of a 103, "part" three times, and a trailer X-Sum (by HTTP/2)
    GET /last        "last"; the server ends the connection of HTTP/2, Go with each request, Node with one in 300
    GET /echo        with "Upgrade: echo": the bytes of the client, up to its end

The first line of output has the URL.
"""
import hashlib
import os
import shutil
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

EVENTS = 40
EVENTS_AT_ONCE = 10


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def setup(self):
        if tls:
            self.request = tls.wrap_socket(self.request, server_side=True)
        super().setup()

    def send(self, status, *headers):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def pieces(self):
        """The request's body, of a stated length or in chunks."""
        left = self.headers["Content-Length"]
        if left is not None:
            left = int(left)
            while left > 0:
                piece = self.rfile.read(min(left, 1 << 16))
                left -= len(piece)
                yield piece
            return
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def do_PUT(self):
        digest = hashlib.sha256()
        for piece in self.pieces():
            digest.update(piece)
        body = digest.hexdigest().encode()
        self.send(200, ("Content-Length", len(body)))
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/events":
            self.events()
        elif self.path == "/echo":
            self.echo()
        else:
            with open(folder + self.path, "rb") as file:
                self.send(200, ("Content-Length", os.fstat(file.fileno()).st_size))
                shutil.copyfileobj(file, self.wfile)

    def events(self):
        begin = int(self.headers.get("Last-Event-ID", "-1")) + 1
        if begin >= EVENTS:
            self.send(204)
            return
        self.send(200, ("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked"))
        is_broken = begin // EVENTS_AT_ONCE % 2 == 1
        text = "retry: 1\n\n"
        for i in range(begin, begin + EVENTS_AT_ONCE):
            text += f"event: tick\nid: {i}\ndata: line {i}\n\n"
        if is_broken:
            text += "data: half\n"
        self.wfile.write(b"%x\r\n%b\r\n" % (len(text), text.encode()))
        if is_broken:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def echo(self):
        self.send(101, ("Upgrade", "echo"), ("Connection", "Upgrade"))
        self.close_connection = True
        while piece := self.rfile.read1(1 << 16):
            self.connection.sendall(piece)
        if tls:
            self.connection.unwrap()


class Server(ThreadingHTTPServer):
    daemon_threads = True


folder = sys.argv[1]
tls = None
if len(sys.argv) > 2:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(sys.argv[2], sys.argv[3])
server = Server(("127.0.0.1", 0), Handler)
print(f"listening on {'https' if tls else 'http'}://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
