"""The twin of 30-late-request: a request within five seconds, or a warning and None."""
import asyncio
import sys

import httpx


async def fetch_in_time(client, url):
    try:
        answer = await asyncio.wait_for(client.get(url, timeout=None), 5)  # reads the body too
    except TimeoutError:
        print(f"warning: timeout on {url}")
        return None
    answer.raise_for_status()
    return answer.text.rstrip("\n")


async def main(url):
    async with httpx.AsyncClient() as client:
        print(await fetch_in_time(client, url))


if len(sys.argv) != 2:
    sys.exit("usage: 30.py URL")
try:
    asyncio.run(main(sys.argv[1]))
except httpx.HTTPError as error:
    sys.exit(f"30.py: {error!r}")
