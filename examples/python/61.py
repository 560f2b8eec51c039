"""The twin of 61-metrics: requests by endpoint and status, and their latencies, for Prometheus."""
import asyncio
import sys
import time
from collections import Counter, defaultdict

import httpx

LIMITS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, float("inf"))
requests, latencies = Counter(), defaultdict(list)


async def fetch_traced(client, url):
    began, status = time.monotonic(), "error"
    try:
        answer = await asyncio.wait_for(client.get(url, timeout=None), 10)
        status = answer.status_code
    finally:
        requests[url, status] += 1
        latencies[url].append(time.monotonic() - began)


def lines_of_page():
    yield "# HELP api_requests_total API requests"
    yield "# TYPE api_requests_total counter"
    for (url, status), count in requests.items():
        yield f'api_requests_total{{endpoint="{url}",status="{status}"}} {count}'
    yield "# HELP api_latency_seconds API latency"
    yield "# TYPE api_latency_seconds histogram"
    for url, seconds in latencies.items():
        for limit in LIMITS:
            name = "+Inf" if limit == LIMITS[-1] else limit
            below = sum(value <= limit for value in seconds)
            yield f'api_latency_seconds_bucket{{endpoint="{url}",le="{name}"}} {below}'
        yield f'api_latency_seconds_sum{{endpoint="{url}"}} {sum(seconds)}'
        yield f'api_latency_seconds_count{{endpoint="{url}"}} {len(seconds)}'


async def send_page(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"
                 b"Connection: close\r\n\r\n")
    writer.writelines(f"{line}\n".encode() for line in lines_of_page())
    await writer.drain()
    writer.close()


async def main(port, urls):
    server = await asyncio.start_server(send_page, "127.0.0.1", port)
    async with server, httpx.AsyncClient() as client, asyncio.TaskGroup() as group:
        for url in urls:
            group.create_task(fetch_traced(client, url))
    print(*lines_of_page(), sep="\n")


if len(sys.argv) < 3:
    sys.exit("usage: 61.py PORT URL...")
try:
    asyncio.run(main(int(sys.argv[1]), sys.argv[2:]))
    reason = 0
except* (httpx.HTTPError, TimeoutError) as errors:
    reason = f"61.py: {errors.exceptions[0]!r}"
sys.exit(reason)
