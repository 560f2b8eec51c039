"""The twin of 08-retry: up to three attempts of a second each."""
import asyncio
import sys

import aiohttp

ATTEMPTS = 3


class Failed(Exception):
    def __init__(self, reason, may_pass):
        super().__init__(reason)
        self.may_pass = may_pass


def may_pass(status):
    return status in (408, 425, 429) or status >= 500 and status not in (501, 505)


async def fetch(session, url):
    try:
        async with session.get(url) as response:
            await response.read()
    except asyncio.TimeoutError:
        raise Failed("not complete within 1 s", True) from None
    except aiohttp.ClientError as error:
        raise Failed(str(error), True) from None
    if response.status >= 400:
        raise Failed(f"status {response.status}", may_pass(response.status))


async def fetch_with_retry(session, url):
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return await fetch(session, url)
        except Failed as failed:
            print(f"Attempt {attempt} failed: {failed}")
            if attempt == ATTEMPTS or not failed.may_pass:
                raise
        await asyncio.sleep(1)


async def main(url):
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=1)) as session:
        await fetch_with_retry(session, url)


if len(sys.argv) != 2:
    sys.exit("usage: 08.py URL")
try:
    asyncio.run(main(sys.argv[1]))
except Failed as error:
    sys.exit(f"{sys.argv[1]}: {error}")
