"""aiohttp and httpx, each on asyncio's own loop or on uvloop.

    http_python.py aiohttp|httpx|httpx-split asyncio|uvloop URL REQUESTS CONNECTIONS

As their documentations advise: one session or client for all requests, with a
pool that holds every connection; bodies read whole.  aiohttp runs with its C
extensions, without a cookie jar and without timeouts; httpx without reading
proxies from the environment and without timeouts.  With https the server is
verified by SSL_CERT_FILE.

httpx's pool grows slow when many tasks share it: each waiter is given the
first idle connection, and all waiters but one find it taken and ask again.
Therefore "httpx-split" gives each task a client of its own with one connection,
against the advice but several times faster.
"""

import asyncio
import json
import platform
import ssl
import sys
import time


class Bench:
    def __init__(self, url, requests, connections):
        self.url = url
        self.requests = requests
        self.connections = connections
        self.started = 0
        self.done = 0
        self.ok = 0
        self.body_bytes = None
        self.trust = ssl.create_default_context() if url.startswith("https:") else False

    def count(self, status, body):
        if self.body_bytes is None:
            self.body_bytes = len(body)
        if status == 200 and len(body) == self.body_bytes:
            self.ok += 1

    async def run(self, fetch):
        async def loop():
            while self.started < self.requests:
                self.started += 1
                await fetch()
                self.done += 1

        await asyncio.gather(*(loop() for _ in range(self.connections)))


async def run_aiohttp(bench):
    import aiohttp

    connector = aiohttp.TCPConnector(limit=bench.connections)
    async with aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(),
    ) as session:

        async def fetch():
            async with session.get(bench.url) as response:
                bench.count(response.status, await response.read())

        await bench.run(fetch)


async def run_httpx(bench):
    import httpx

    limits = httpx.Limits(
        max_connections=bench.connections, max_keepalive_connections=bench.connections
    )
    async with httpx.AsyncClient(
        limits=limits, timeout=None, trust_env=False, verify=bench.trust
    ) as client:

        async def fetch():
            response = await client.get(bench.url)
            bench.count(response.status_code, response.content)

        await bench.run(fetch)


async def run_httpx_split(bench):
    import httpx

    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=None)

    async def loop():
        async with httpx.AsyncClient(
            limits=limits, timeout=None, trust_env=False, verify=bench.trust
        ) as client:
            while bench.started < bench.requests:
                bench.started += 1
                response = await client.get(bench.url)
                bench.count(response.status_code, response.content)
                bench.done += 1

    await asyncio.gather(*(loop() for _ in range(bench.connections)))


def cpu_ns():
    return time.clock_gettime_ns(time.CLOCK_PROCESS_CPUTIME_ID)


def main():
    library, loop = sys.argv[1:3]
    bench = Bench(sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    module = __import__(library.partition("-")[0])  # imported here: not part of what is measured
    name = f"{module.__name__} {module.__version__}, CPython {platform.python_version()}"
    run = {"aiohttp": run_aiohttp, "httpx": run_httpx, "httpx-split": run_httpx_split}[library]
    span = {}

    async def measured():
        span["cpu_ns"], span["wall_ns"] = cpu_ns(), time.monotonic_ns()
        await run(bench)
        span["cpu_ns"] = cpu_ns() - span["cpu_ns"]
        span["wall_ns"] = time.monotonic_ns() - span["wall_ns"]

    if loop == "uvloop":
        import uvloop

        name += f", uvloop {uvloop.__version__}"
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(measured())
    else:
        asyncio.run(measured())
    print(
        json.dumps(
            {"client": name, "requests": bench.done, "ok": bench.ok, "connections": -1, **span}
        )
    )


if __name__ == "__main__":
    main()
