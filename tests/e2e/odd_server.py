"""odd_server - an API server whose codings, streams, closes, headers and clock are those of many servers,
good and bad. Each answer has the mark of its request, and no other mark.

    server = OddServer(eddy, seed=1)

The way of an answer follows from the seed, the request's id and the number of the attempt.
"""
import collections
import email.utils
import gzip
import json
import socket
import struct
import threading
import time
import zlib

from batch_api import calls_of
from e2e import until_closed

KEEP, CLOSE, RESET, HOLD = range(4)


def mark_of(number):
    return f"mark-r{number}-{zlib.crc32(str(number).encode()):08x}"


def head(status, body, headers=(), length=None):
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def chunked(body, headers=(), ends=True, pieces=3):
    lines = ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", *headers]
    size = max(1, len(body) // pieces)
    data = "\r\n".join(lines).encode() + b"\r\n\r\n"
    for at in range(0, len(body), size):
        piece = body[at:at + size]
        data += b"%x\r\n%s\r\n" % (len(piece), piece)
    return data + (b"0\r\n\r\n" if ends else b"")


def events(*items):
    return "".join(f"data: {item if isinstance(item, str) else json.dumps(item)}\n\n" for item in items).encode()


def chat(mark, reason="stop", done=True):
    pieces = [{"choices": [{"index": 0, "delta": {"content": mark}, "finish_reason": None}]},
              {"choices": [{"index": 0, "delta": {"content": " " + mark}, "finish_reason": reason}]}]
    return events(*pieces, *(["[DONE]"] if done else []))


def plain(mark, pad=0):
    return json.dumps({"answer": mark, "pad": [mark] * pad, "usage": {"prompt_tokens": 1}}).encode()


def error(mark):
    return json.dumps({"error": {"message": f"no {mark}", "code": mark}}).encode()


def dated(offset, *headers):
    return [f"Date: {email.utils.formatdate(time.time() + offset, usegmt=True)}", *headers]


SSE, JSON_TYPE, TEXT = ("Content-Type: " + kind for kind in ("text/event-stream", "application/json", "text/plain"))
GZIP = "Content-Encoding: gzip"

# Answers to requests without "stream": mark -> bytes, and what happens to the connection.
PLAIN = [
    lambda mark: (head(200, plain(mark)), KEEP),
    lambda mark: (head(200, plain(mark, 2000)), KEEP),
    lambda mark: (chunked(plain(mark, 30)), KEEP),
    lambda mark: (head(200, b"\xef\xbb\xbf" + plain(mark)), KEEP),
    lambda mark: (head(200, gzip.compress(plain(mark, 50)), [GZIP, f"x-request-id: {mark}"]), KEEP),
    lambda mark: (head(200, gzip.compress(plain(mark, 50))[:-6], [GZIP]), KEEP),
    lambda mark: (head(200, plain(mark), [GZIP]), KEEP),
    lambda mark: (head(200, f"text {mark}".encode(), [TEXT]), KEEP),
    lambda mark: (head(200, b"\xff\xfe" + mark.encode()), KEEP),
    lambda mark: (head(200, f'["{mark}"]'.encode()), KEEP),
    lambda mark: (head(200, b""), KEEP),
    lambda mark: (head(400, error(mark), [JSON_TYPE]), KEEP),
    lambda mark: (head(500, error(mark) * 40), KEEP),
    lambda mark: (head(503, gzip.compress(error(mark)), [GZIP]), KEEP),
    lambda mark: (head(200, plain(mark), length=1000), CLOSE),
    lambda mark: (head(200, plain(mark), length=1000), RESET),
    lambda mark: (chunked(plain(mark, 9), ends=False), CLOSE),
    lambda mark: (chunked(plain(mark, 9), ends=False) + mark.encode() + b"\r\n", CLOSE),
    lambda mark: (b"", CLOSE),
    lambda mark: (b"", RESET),
    lambda mark: (f"HTTP/1.1 200 {mark}\r\nX-{mark}".encode(), CLOSE),
    lambda mark: (f"{mark} is not HTTP\r\n\r\n".encode(), CLOSE),
    lambda mark: (head(200, plain(mark), dated(7200, "X-RateLimit-Limit: 999999", "X-RateLimit-Remaining: 999998",
                                               f"X-RateLimit-Reset: {int(time.time()) + 7202}")), KEEP),
    lambda mark: (b"HTTP/1.0 200 OK\r\n\r\n" + plain(mark), CLOSE),
]

# Answers to requests with "stream": true.
STREAMS = [
    lambda mark: (chunked(chat(mark), [SSE]), KEEP),
    lambda mark: (chunked(chat(mark), [SSE], pieces=50), KEEP),
    lambda mark: (chunked(chat(mark), [SSE], ends=False), HOLD),
    lambda mark: (chunked(chat(mark), [SSE], ends=False), RESET),
    lambda mark: (chunked(chat(mark, done=False), [JSON_TYPE], ends=False), CLOSE),
    lambda mark: (head(200, chat(mark), [JSON_TYPE]), KEEP),
    lambda mark: (head(200, gzip.compress(chat(mark)), [SSE, GZIP]), KEEP),
    lambda mark: (head(200, chat(mark, reason=None, done=False), [TEXT]), KEEP),
    lambda mark: (head(200, chat(mark)[:60], [SSE]), KEEP),
    lambda mark: (head(200, plain(mark), [SSE]), KEEP),
    lambda mark: (head(200, plain(mark, 5)[:-9], [JSON_TYPE]), KEEP),
    lambda mark: (head(200, events({"error": {"message": mark, "type": mark}}), [SSE]), KEEP),
    lambda mark: (head(200, events({"error": mark + "x" * 300}), [SSE]), KEEP),
    lambda mark: (head(200, b"event: error\ndata: " + mark.encode() + b"\n\n", [SSE]), KEEP),
    lambda mark: (head(200, events(f"<html>{mark}"), [SSE]), KEEP),
    lambda mark: (head(200, events({"odd": mark}, "[DONE]"), [SSE]), KEEP),
    lambda mark: (head(200, b": " + mark.encode() + b"\n\n", [SSE]), KEEP),
    lambda mark: (head(200, b""), KEEP),
    lambda mark: (head(200, json.dumps({"response": mark, "done": False}).encode() + b"\n" +
                       json.dumps({"response": mark, "done": True}).encode(), [JSON_TYPE]), KEEP),
    lambda mark: (head(200, events({"candidates": [{"content": {"parts": [{"text": mark}]},
                                                    "finishReason": "STOP"}]})), KEEP),
    lambda mark: (head(200, events({"type": "message_start", "message": {"id": mark, "content": []}},
                                   {"type": "message_stop"})), KEEP),
    lambda mark: (head(500, error(mark), [JSON_TYPE]), KEEP),
]


# Refusals and limits, which pause all requests, are rare.
RARE = [
    lambda mark: (head(429, error(mark), ["retry-after-ms: 1"]), KEEP),
    lambda mark: (head(429, error(mark), dated(-7200, "X-RateLimit-Limit: 9", "X-RateLimit-Remaining: 0",
                                               f"X-RateLimit-Reset: {int(time.time()) - 7199}")), KEEP),
    lambda mark: (head(200, plain(mark), ["x-ratelimit-limit-requests: 10", "x-ratelimit-remaining-requests: 0",
                                          "x-ratelimit-reset-requests: 1s"]), KEEP),
]
RARE_EVERY = 3001


class OddServer:
    def __init__(self, eddy, seed):
        self.seed = seed
        self.attempts = collections.Counter()
        self.lock = threading.Lock()
        self.server = eddy.serve(self.handle)
        self.url = self.server.url

    def answer(self, number, is_stream):
        with self.lock:
            attempt = self.attempts[number]
            self.attempts[number] += 1
        if number % RARE_EVERY == RARE_EVERY // 2 and attempt == 0:
            return RARE[number // RARE_EVERY % len(RARE)](mark_of(number))
        ways = STREAMS if is_stream else PLAIN
        return ways[zlib.crc32(f"{self.seed} {number} {attempt}".encode()) % len(ways)](mark_of(number))

    def handle(self, connection, _):
        for call in calls_of(connection):
            answer, after = self.answer(call.body["number"], call.body["stream"])
            connection.sendall(answer)
            if after == KEEP:
                continue
            if after == HOLD:
                until_closed(connection)
            if after == RESET:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
