"""The twin of 14-page-sizes: two pages at once, and how long each is."""
import asyncio
import sys

import aiohttp


async def call_url(session, url):
    print(f"Run {url}")
    async with session.get(url) as page:
        print(f"{url}: {len(await page.read())} bytes")


async def call_all(urls):
    limit = aiohttp.ClientTimeout(total=5)
    async with aiohttp.ClientSession(timeout=limit, raise_for_status=True) as session:
        await asyncio.gather(*(call_url(session, url) for url in urls))


if len(sys.argv) < 2:
    sys.exit("usage: 14.py URL ...")
try:
    asyncio.run(call_all(sys.argv[1:]))
except (aiohttp.ClientError, asyncio.TimeoutError) as error:
    sys.exit(f"14.py: {error!r}")
