"""The twin of 06-fetch-five: five requests through one session."""
import asyncio
import sys

import aiohttp


async def fetch(session, url):
    async with session.get(url) as response:
        response.raise_for_status()
        return await response.text()


async def main(url):
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=3)) as session:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(fetch(session, url)) for _ in range(5)]
    print(f"{len([task.result() for task in tasks])} responses received")


if len(sys.argv) != 2:
    sys.exit("usage: 06.py URL")
try:
    asyncio.run(main(sys.argv[1]))
    reason = 0
except* (aiohttp.ClientError, TimeoutError) as failed:
    reason = f"{sys.argv[1]}: {failed.exceptions[0]!r}"
sys.exit(reason)
