"""http2_httpx.py - httpx as a client of HTTP/2.

    http2_httpx.py URL REQUESTS CONNECTIONS STREAMS

Each of CONNECTIONS clients has STREAMS tasks; certificates are not checked.
"""

import asyncio
import json
import sys

import httpx

url, left, connections, streams = sys.argv[1], *(int(arg) for arg in sys.argv[2:5])
ok = 0


async def fetch(client):
    global left, ok
    while left > 0:
        left -= 1
        response = await client.get(url)
        ok += response.status_code == 200 and response.http_version == "HTTP/2"


async def main():
    limits = httpx.Limits(max_connections=1)
    clients = [httpx.AsyncClient(http1=False, http2=True, verify=False, limits=limits, timeout=None)
               for _ in range(connections)]
    await asyncio.gather(*(fetch(client) for client in clients for _ in range(streams)))
    for client in clients:
        await client.aclose()
    print(json.dumps({"ok": ok}))


asyncio.run(main())
