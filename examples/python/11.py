"""The twin of 11-many-requests: fifty requests with limits, and all texts kept."""
import asyncio
import itertools
import sys

import aiohttp

REQUESTS, AT_ONCE, ATTEMPTS = 50, 8, 3
PASSING = (408, 425, 429)


class Failed(Exception):
    def __init__(self, url, reason, may_pass=True):
        super().__init__(f"{url}: {reason}")
        self.may_pass = may_pass


async def fetch_once(session, url):
    try:
        async with session.get(url) as response:
            text = await response.text()
    except asyncio.TimeoutError:
        raise Failed(url, "not complete within 2.5 s") from None
    except aiohttp.ClientError as error:
        raise Failed(url, error) from None
    if response.status >= 400:
        raise Failed(url, f"status {response.status}",
                     response.status in PASSING or response.status >= 500)
    return text


async def fetch_with_retry(session, url):
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return await fetch_once(session, url)
        except Failed as failed:
            if attempt == ATTEMPTS or not failed.may_pass:
                raise
        await asyncio.sleep(0.25 * 2 ** attempt)


async def fetch_many(urls):
    """The text of each URL, or the reason why it has none."""
    room = asyncio.Semaphore(AT_ONCE)

    async def guarded(session, url):
        async with room:
            return await fetch_with_retry(session, url)

    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=2.5)) as session:
        return await asyncio.gather(*(guarded(session, url) for url in urls),
                                    return_exceptions=True)


def main(urls):
    results = asyncio.run(fetch_many(itertools.islice(itertools.cycle(urls), REQUESTS)))
    texts = [result for result in results if isinstance(result, str)]
    failed = [result for result in results if isinstance(result, Exception)]
    if failed:
        print(f"Overall error Failure in part of the requests {len(failed)} of {len(results)}")
    else:
        print(f"{len(texts)} successful responses received")
    if texts:
        print(f"{len(texts)} texts of {sum(map(len, texts))} bytes, "
              f"from {texts[0].strip()} to {texts[-1].strip()}")
    return str(failed[0]) if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
