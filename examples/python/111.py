"""The twin of 111-fetch-many: many requests, and further attempts for the failed."""
import asyncio
import os
import sys

import aiohttp

AT_ONCE, ATTEMPTS = 8, 3


async def fetch(session, room, url):
    async with room, session.get(url) as response:
        return response.status, await response.read()


def has_failed(result):
    return not isinstance(result, tuple) or result[0] >= 500


async def fetch_many(session, urls, results):
    """Fills in the result of each URL that has none, in the order of the URLs."""
    room = asyncio.Semaphore(AT_ONCE)
    tasks = [asyncio.create_task(fetch(session, room, url)) if result is None else None
             for url, result in zip(urls, results)]
    try:
        await asyncio.gather(*filter(None, tasks), return_exceptions=True)
    finally:
        for i, task in enumerate(tasks):
            if task and task.done() and not task.cancelled():
                results[i] = task.exception() or task.result()


async def main(urls, results):
    async with aiohttp.ClientSession() as session:
        await fetch_many(session, urls, results)
        for _ in range(ATTEMPTS - 1):
            if not any(map(has_failed, results)):
                break
            await asyncio.sleep(0.5)
            results[:] = [None if has_failed(result) else result for result in results]
            await fetch_many(session, urls, results)


def text_of(result):
    if isinstance(result, tuple):
        return f"{result[0]} {len(result[1])} bytes"
    if isinstance(result, aiohttp.ClientConnectorError):
        return os.strerror(result.errno)
    return "the scope was cancelled" if result is None else str(result)


if len(sys.argv) < 2:
    sys.exit("usage: 111.py URL...")
results, status = [None] * len(sys.argv[1:]), 0
try:
    asyncio.run(main(sys.argv[1:], results))
    status = any(isinstance(result, Exception) for result in results)
except KeyboardInterrupt:
    status = 130
for result in results:
    print(text_of(result))
sys.exit(status)
