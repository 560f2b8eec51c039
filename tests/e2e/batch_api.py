"""batch_api - an API server for the tests of `eddy batch`, and their requests.

    api = Api(eddy, lambda call: (200, {}, {"echo": call.body}))

Each request is one call: .id, .body, .headers, .number (from 0), .at (seconds).  The function
returns status, headers and the object of the body, or bytes to send as they are.
"""
import json
import threading
import time
import types

import e2e

REASONS = {200: "OK", 301: "Moved Permanently", 302: "Found", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 402: "Payment Required",
           403: "Forbidden", 404: "Not Found", 413: "Content Too Large", 420: "Enhance Your Calm",
           422: "Unprocessable Content", 429: "Too Many Requests", 498: "Capacity Exceeded",
           500: "Internal Server Error", 503: "Service Unavailable"}


def calls_of(connection):
    """The requests of a connection, one after the other, until its end."""
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return
            data += piece
        head, data = data.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:])}
        size = int(headers.get("content-length", 0))
        while len(data) < size:
            piece = connection.recv(65536)
            if not piece:
                return
            data += piece
        body, data = data[:size], data[size:]
        yield types.SimpleNamespace(method=lines[0].split()[0], path=lines[0].split()[1], headers=headers,
                                    raw=body, at=time.monotonic(),
                                    body=json.loads(body) if body.startswith(b"{") else None)


class Api:
    def __init__(self, eddy, answer=lambda call: (200, {}, {"echo": call.body})):
        self.answer = answer
        self.calls = []
        self.lock = threading.Lock()
        self.server = eddy.serve(self.handle)
        self.url = self.server.url

    def handle(self, connection, _):
        for call in calls_of(connection):
            call.id = call.body.get("id") if call.body else None
            with self.lock:
                call.number = len(self.calls)
                self.calls.append(call)
            answer = self.answer(call)
            if isinstance(answer, bytes):
                connection.sendall(answer)
                return
            status, more, content = answer
            content = content if isinstance(content, bytes) else json.dumps(content).encode()
            more = {"Content-Type": "application/json", "x-request-id": f"req-{call.number}",
                    **more, "Content-Length": len(content)}
            connection.sendall(f"HTTP/1.1 {status} {REASONS[status]}\r\n".encode() +
                               b"".join(f"{name}: {value}\r\n".encode()
                                        for name, value in more.items()) + b"\r\n" + content)

    def ids(self):
        return [call.id for call in self.calls]


def request(number, **more):
    """A line of OpenAI's batch files."""
    return json.dumps({"custom_id": f"r{number}", "method": "POST", "url": "/v1/echo",
                       "body": {"id": f"r{number}"}, **more}) + "\n"


def requests(count):
    return "".join(request(i) for i in range(count))


def lines_of(path):
    """The lines of a file, whole ones."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return []
    e2e.check(data == b"" or data.endswith(b"\n"), "torn:", data[-100:])
    return [json.loads(line) for line in data.splitlines()]


def lines_so_far(path):
    """How many whole lines a run has written; its last line may be incomplete."""
    try:
        with open(path, "rb") as file:
            return file.read().count(b"\n")
    except FileNotFoundError:
        return 0


def ids_of(path):
    return [line["custom_id"] for line in lines_of(path)]
