"""The twin of 11-many-requests: fifty requests with limits, and all texts kept."""
import asyncio
import sys

import aiohttp

REQUESTS, AT_ONCE, ATTEMPTS = 50, 8, 3


class Failed(Exception):
    def __init__(self, url, reason, may_pass=True):
        super().__init__(f"{url}: {reason}")
        self.may_pass = may_pass


def may_pass(status):
    return status in (408, 425, 429) or status >= 500 and status not in (501, 505)


async def fetch_once(session, url):
    try:
        async with session.get(url) as response:
            text = await response.text()
    except asyncio.TimeoutError:
        raise Failed(url, "not complete within 2.5 s") from None
    except aiohttp.ClientError as error:
        raise Failed(url, error) from None
    if response.status >= 400:
        raise Failed(url, f"status {response.status}", may_pass(response.status))
    return text


async def fetch_with_retry(session, url):
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return await fetch_once(session, url)
        except Failed as failed:
            if attempt == ATTEMPTS or not failed.may_pass:
                raise
        await asyncio.sleep(0.25 * 2 ** attempt)


async def fetch_many(urls, results):
    """Fills in the text of each URL, or the reason why it has none."""
    room = asyncio.Semaphore(AT_ONCE)

    async def guarded(session, i):
        async with room:
            try:
                results[i] = await fetch_with_retry(session, urls[i % len(urls)])
            except Failed as failed:
                results[i] = failed

    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=2.5)) as session:
        await asyncio.gather(*(guarded(session, i) for i in range(REQUESTS)))


def main(urls):
    results, is_stopped = [None] * REQUESTS, False
    try:
        asyncio.run(fetch_many(urls, results))
    except KeyboardInterrupt:
        is_stopped = True
    texts = [result for result in results if isinstance(result, str)]
    failed = [result for result in results if isinstance(result, Exception)]
    if failed and not is_stopped:
        print(f"Overall error Failure in part of the requests {len(failed)} of {len(results)}")
    elif not is_stopped:
        print(f"{len(texts)} successful responses received")
    if texts:
        print(f"{len(texts)} texts of {sum(map(len, texts))} bytes, "
              f"from {texts[0].strip()} to {texts[-1].strip()}")
    if is_stopped:
        print("11.py: stopped by Ctrl-C", file=sys.stderr)
        return 130
    return str(failed[0]) if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else "usage: 11.py URL...")
