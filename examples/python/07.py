"""The twin of 07-timeout: a request with a limit of three seconds."""
import asyncio
import sys

import aiohttp


async def fetch(url):
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=3)) as session:
        async with session.get(url) as response:
            response.raise_for_status()
            return await response.text()


if len(sys.argv) != 2:
    sys.exit("usage: 07.py URL")
try:
    print(asyncio.run(fetch(sys.argv[1])), end="")
except asyncio.TimeoutError:
    print("Timeout request stopped after 3 seconds")
except aiohttp.ClientError as error:
    sys.exit(f"{sys.argv[1]}: {error}")
