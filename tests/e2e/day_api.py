"""day_api - an API as it is on a bad day: tokens that expire, refusals in the headers of three vendors,
errors, and answers that never come.

    api = DayApi(eddy, 4000)     refuses all requests for a while at each 4000th one to a server
    api.urls, api.command        its three servers; a shell command that prints a token
    api.sent["v1"]               how many answers with 200 were sent to requests with that prompt

Each answer has the text of its request.  All servers run in one thread with a loop of asyncio.
"""
import asyncio
import collections
import datetime
import hashlib
import json
import sys
import threading
import time
import zlib

LIFE_S = 2
LATENCY_S = 0.01
FETCH = "import sys, urllib.request as u; sys.stdout.write(u.urlopen(sys.argv[1]).read().decode())"


def openai(wait_s):
    return 429, {"x-ratelimit-limit-requests": "6000", "x-ratelimit-remaining-requests": "0",
                 "x-ratelimit-reset-requests": f"{int(wait_s * 1000) + 1}ms", "retry-after-ms": int(wait_s * 1000) + 1}, \
        {"error": {"message": "Rate limit reached", "type": "requests", "param": None, "code": "rate_limit_exceeded"}}


def anthropic(wait_s):
    reset = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=wait_s)
    return 429, {"anthropic-ratelimit-requests-limit": "6000", "anthropic-ratelimit-requests-remaining": "0",
                 "anthropic-ratelimit-requests-reset": reset.strftime("%Y-%m-%dT%H:%M:%SZ"), "retry-after": int(wait_s) + 1}, \
        {"type": "error", "error": {"type": "rate_limit_error", "message": "This request would exceed the rate limit."}}


def github(wait_s):
    return 403, {"x-ratelimit-limit": "6000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": int(time.time() + wait_s) + 1}, \
        {"message": "API rate limit exceeded for user ID 1.", "documentation_url": "https://docs.github.com/rest"}


DIALECTS = [openai, anthropic, github]


def packed(status, headers, content):
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s" % (
        status, lines.encode(), len(body), body)


class Connection(asyncio.Protocol):
    """Reads the requests of a connection, and hands each to the server."""

    def __init__(self, api, server):
        self.api, self.server = api, server
        self.data, self.head, self.size = bytearray(), None, 0

    def connection_made(self, transport):
        self.transport = transport

    def send(self, answer):
        if not self.transport.is_closing():
            self.transport.write(answer)

    def data_received(self, data):
        self.data += data
        while True:
            if self.head is None:
                end = self.data.find(b"\r\n\r\n")
                if end < 0:
                    return
                self.head = bytes(self.data[:end]).decode().split("\r\n")
                del self.data[:end + 4]
                lengths = [line.split(":")[1] for line in self.head if line.lower().startswith("content-length:")]
                self.size = int(lengths[0]) if lengths else 0
            if len(self.data) < self.size:
                return
            head, body = self.head, bytes(self.data[:self.size])
            del self.data[:self.size]
            self.head = None
            self.api.handle(self, head, body)


class Server:
    """A base URL with a dialect of its own."""

    def __init__(self, dialect):
        self.dialect = dialect
        self.requests = 0
        self.wave_end = 0


class DayApi:
    def __init__(self, eddy, wave_every):
        self.wave_every = wave_every
        self.loop = asyncio.new_event_loop()
        self.servers = [Server(dialect) for dialect in DIALECTS]
        self.first_use = {}  # of each token
        self.tokens = []
        self.seen = collections.Counter()  # requests by prompt and text
        self.sent = collections.Counter()  # answers by prompt
        self.faults = collections.Counter()
        self.urls = [self.loop.run_until_complete(self.listen(server)) for server in self.servers]
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        eddy.stack.callback(self.close)

    async def listen(self, server):
        listener = await self.loop.create_server(lambda: Connection(self, server), "127.0.0.1", 0, backlog=256)
        return f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def command(self, form):
        """Print a token, and in the form "lines" its life."""
        return f"'{sys.executable}' -S -c '{FETCH}' '{self.urls[0]}/token?{form}'"

    def grant(self, form):
        token = f"secret-{len(self.tokens)}"
        self.tokens.append(token)
        return f"{token}\n{LIFE_S}\n" if form == "lines" else f"{token}\n"

    def age_s(self):
        """The time since the first use of the token that was used first last."""
        return time.monotonic() - max(self.first_use.values())

    def accepts(self, head):
        """A life begins with the first use, so a slow machine never ends a new token."""
        token = [line for line in head if line.lower().startswith("authorization:")][0].split()[-1]
        now = time.monotonic()
        return token in self.tokens and now - self.first_use.setdefault(token, now) < LIFE_S

    def refusal(self, server):
        """Each wave ends some time after its first request."""
        server.requests += 1
        now = time.monotonic()
        if server.requests % self.wave_every == 0:
            server.wave_end = now + 0.3
        return server.dialect(server.wave_end - now) if now < server.wave_end else None

    def handle(self, connection, head, body):
        path = head[0].split()[1]
        if path.startswith("/token"):
            connection.send(packed(200, {}, self.grant(path.partition("?")[2]).encode()))
            return
        answer = self.answer(connection.server, head, body)
        if answer:
            self.loop.call_later(LATENCY_S, connection.send, answer)

    def answer(self, server, head, body):
        """The bytes to send, or None for an answer that never comes."""
        if not self.accepts(head):
            self.faults["expired"] += 1
            return packed(401, {"WWW-Authenticate": "Bearer"}, {"error": {"code": "token_expired", "message": "expired"}})
        refusal = self.refusal(server)
        if refusal:
            self.faults[server.dialect.__name__] += 1
            return packed(*refusal)
        request = json.loads(body)
        prompt, text = (message["content"] for message in request["messages"])
        name = f"{prompt} {request['id']}"
        self.seen[name] += 1
        chance = zlib.crc32(name.encode()) % 1000
        if chance < 20 and self.seen[name] == 1:
            self.faults["500"] += 1
            return packed(500, {}, {"error": {"message": "try again", "type": "server_error", "code": None}})
        if chance < 22 and self.seen[name] == 1:
            self.faults["stall"] += 1
            return None
        self.sent[prompt] += 1
        return packed(200, {"x-ratelimit-limit-requests": "9000000", "x-ratelimit-remaining-requests": "8999999"}, {
            "id": hashlib.md5(name.encode()).hexdigest(), "object": "chat.completion", "model": "m", "prompt": prompt,
            "code": request["code"], "score": request["score"],
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
