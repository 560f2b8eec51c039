"""http2_client - the client of test_http2_clients.py in Python: h2 (python3-h2).

    http2_client.py all URL FILE

Such clients do this, without a check of the certificate:

    all      GET /, POST /sent with "Expect: 100-continue" and a trailer, GET /file, POST /echo with the file, GET /parts,
             the begin of GET /events, which is cancelled, and GET / again on the same connection; the last line of output
             is an object: "version", "get", "post", "continued", "down", "up" (SHA-256), "hints", "parts", "trailer",
             "cancelled", "after"
    drain    GET /paced, whose lines are printed as they come, and then GET /

One that cannot do a part leaves it out, or ends with the status 77 and a reason.
"""
import hashlib
import json
import socket
import ssl
import sys
import urllib.parse

import h2.config
import h2.connection
import h2.errors
import h2.events


class Connection:
    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.scheme, self.authority = parts.scheme, parts.netloc
        self.socket = socket.create_connection((parts.hostname, parts.port))
        if parts.scheme == "https":
            context = ssl._create_unverified_context()  # pylint: disable=protected-access
            context.set_alpn_protocols(["h2"])
            self.socket = context.wrap_socket(self.socket)
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
        self.h2.initiate_connection()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def events(self, stream):
        """The next events of a stream; all bytes are credited at once."""
        self.flush()
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError
        for event in self.h2.receive_data(data):
            if isinstance(event, h2.events.DataReceived):
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if getattr(event, "stream_id", None) == stream:
                yield event
        self.flush()

    def open(self, method, path, *headers, ends=True):
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, [(":method", method), (":scheme", self.scheme), (":authority", self.authority),
                                      (":path", path), *headers], end_stream=ends)
        self.flush()
        return stream

    def send_some(self, stream, data):
        """Send what the windows allow; returns the rest."""
        while data and (room := min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)) > 0:
            self.h2.send_data(stream, data[:room])
            data = data[room:]
        return data

    def answer(self, stream, body=b"", on_data=None, on_event=None):
        """Send a body, and read the response to its end; returns its bytes, and notes interim heads and trailers."""
        got, body, over, sent = bytearray(), memoryview(body), False, not body
        while not over:
            if not sent:
                body = self.send_some(stream, body)
                if not body:
                    self.h2.end_stream(stream)
                    sent = True
            for event in self.events(stream):
                if isinstance(event, h2.events.DataReceived):
                    (on_data or got.extend)(event.data)
                elif isinstance(event, h2.events.TrailersReceived):
                    results["trailer"] = dict(event.headers).get("x-sum")
                elif isinstance(event, h2.events.InformationalResponseReceived):
                    fields = dict(event.headers)
                    if on_event:
                        on_event(fields)
                    else:
                        results["hints"] = f"{fields[':status']} {fields.get('link')}"
                over |= isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset))
        return bytes(got)


results = {"hints": ""}


def send_sent(connection):
    """A body that waits for a 100, and a trailer."""
    stream = connection.open("POST", "/sent", ("expect", "100-continue"), ends=False)

    def proceed(fields):
        results["continued"] = fields[":status"] == "100"
        connection.h2.send_data(stream, b"abc")
        connection.h2.send_headers(stream, [("x-sum", "3")], end_stream=True)

    return connection.answer(stream, on_event=proceed).decode()


def do_all(url, path):
    connection = Connection(url)
    results["get"] = connection.answer(connection.open("GET", "/")).decode()
    results["post"] = send_sent(connection)
    digest = hashlib.sha256()
    connection.answer(connection.open("GET", "/file"), on_data=digest.update)
    results["down"] = digest.hexdigest()
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        connection.answer(connection.open("POST", "/echo", ends=False), file.read(), digest.update)
    results["up"] = digest.hexdigest()
    results["parts"] = connection.answer(connection.open("GET", "/parts")).decode()
    stream = connection.open("GET", "/events")
    while not any(isinstance(event, h2.events.DataReceived) for event in connection.events(stream)):
        pass
    connection.h2.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
    results["cancelled"] = True
    results["after"] = connection.answer(connection.open("GET", "/")).decode()
    print(json.dumps(results))


do_all(*sys.argv[2:])
