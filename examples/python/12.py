"""The twin of 12-one-client: one session for all requests, with two limits."""
import asyncio
import sys

import aiohttp


async def fetch(session, url):
    async with session.get(url) as response:
        response.raise_for_status()
        await response.read()


async def main(url):
    opened = 0

    async def count(*_):
        nonlocal opened
        opened += 1

    trace = aiohttp.TraceConfig()
    trace.on_connection_create_end.append(count)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=20),
                                     timeout=aiohttp.ClientTimeout(total=5),
                                     trace_configs=[trace]) as session:
        async with asyncio.TaskGroup() as group:
            requests = [group.create_task(fetch(session, url)) for _ in range(40)]
    print(f"{len(requests)} requests over {opened} connections")


if len(sys.argv) != 2:
    sys.exit("usage: 12.py URL")
try:
    asyncio.run(main(sys.argv[1]))
    reason = 0
except* (aiohttp.ClientError, TimeoutError) as failed:
    reason = f"{sys.argv[1]}: {failed.exceptions[0]!r}"
sys.exit(reason)
