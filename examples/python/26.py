"""The twin of 26-page: get a page and print it."""
import asyncio
import sys

import aiohttp


async def fetch(url):
    limit = aiohttp.ClientTimeout(total=5)
    async with aiohttp.ClientSession(timeout=limit, raise_for_status=True) as session:
        async with session.get(url) as page:
            return await page.text()


if len(sys.argv) != 2:
    sys.exit("usage: 26.py URL")
try:
    print(asyncio.run(fetch(sys.argv[1])))
except (aiohttp.ClientError, asyncio.TimeoutError) as error:
    sys.exit(f"26.py: {error!r}")
except KeyboardInterrupt:
    print("26.py: stopped by Ctrl-C", file=sys.stderr)
    sys.exit(130)
