"""The twin of 28-three-requests: three requests one after another, then at once."""
import asyncio
import sys

import httpx


async def fetch(client, url):
    # The timeout of httpx would limit each wait, not the request.
    answer = await asyncio.wait_for(client.get(url, timeout=None), 10)
    answer.raise_for_status()
    return answer.text


async def main(urls):
    async with httpx.AsyncClient() as client:
        print("one by one")
        for url in urls:
            print(await fetch(client, url), end="")
        print("at once")
        for text in await asyncio.gather(*[fetch(client, url) for url in urls]):
            print(text, end="")


if len(sys.argv) != 4:
    sys.exit("usage: 28.py URL URL URL")
try:
    asyncio.run(main(sys.argv[1:]))
except (httpx.HTTPError, TimeoutError) as error:
    sys.exit(f"28.py: {error!r}")
