"""The twin of 57-api-client: requests with retries, Retry-After and a rate limit."""
import asyncio
import sys

import aiohttp

ATTEMPTS, PER_SECOND, WAIT_MAX = 3, 10, 60


class Limiter:
    """A request starts when its turn comes; a pause is for all requests."""

    def __init__(self):
        self.now = asyncio.get_running_loop().time
        self.next = 0.0

    async def reserve(self):
        start = max(self.now(), self.next)
        self.next = start + 1 / PER_SECOND
        await asyncio.sleep(start - self.now())

    def pause(self, seconds):
        self.next = max(self.next, self.now() + seconds)


def may_pass(status):
    return status in (408, 425, 429) or status >= 500 and status not in (501, 505)


async def attempt(session, url):
    """(the status or the error, whether another attempt may succeed, the wait before it)"""
    try:
        async with session.get(url) as response:
            await response.read()
    except (aiohttp.ClientError, asyncio.TimeoutError) as error:
        return repr(error), True, 0.5
    after = response.headers.get("Retry-After", "")
    wait = int(after) if after.isdigit() else 0.5  # a date would need more lines
    return response.status, may_pass(response.status) and wait <= WAIT_MAX, wait


async def fetch(session, limiter, url):
    for number in range(1, ATTEMPTS + 1):
        await limiter.reserve()
        result, may_repeat, wait = await attempt(session, url)
        print(f"attempt {number}: {result}")
        if isinstance(result, int) and result < 400:
            return
        if number == ATTEMPTS or not may_repeat:
            raise aiohttp.ClientError(f"{url}: {result}")
        limiter.pause(wait)


async def main(urls):
    limiter = Limiter()
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=2)) as session:
        await asyncio.gather(*(fetch(session, limiter, url) for url in urls))


if len(sys.argv) < 2:
    sys.exit("usage: 57.py URL...")
try:
    asyncio.run(main(sys.argv[1:]))
except aiohttp.ClientError as error:
    sys.exit(f"57.py: {error}")
