"""The twin of 78-retry-failed: only the failed requests are tried again."""
import asyncio
import sys

import aiohttp

ROUNDS = 3


class Failed(Exception):
    def __init__(self, reason, may_pass=True):
        super().__init__(reason)
        self.may_pass = may_pass


def may_pass(status):
    return status in (408, 425, 429) or status >= 500 and status not in (501, 505)


async def fetch(session, url):
    try:
        async with session.get(url) as response:
            text = await response.text()
    except asyncio.TimeoutError:
        raise Failed("the request was not complete within its time") from None
    except aiohttp.ClientError as error:
        raise Failed(repr(error)) from None
    if response.status >= 400:
        raise Failed(f"status {response.status}", may_pass(response.status))
    return text


async def fetch_all(urls):
    results, due = [None] * len(urls), range(len(urls))
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=1)) as session:
        for number in range(1, ROUNDS + 1):
            if number > 1 and due:
                await asyncio.sleep(0.5 * (number - 1))
            if not due:
                break
            found = await asyncio.gather(*(fetch(session, urls[i]) for i in due),
                                         return_exceptions=True)
            for i, result in zip(due, found):
                results[i] = result
            failed = [i for i in due if isinstance(results[i], Exception)]
            print(f"round {number}: {len(found)} requests, {len(failed)} failed")
            due = [i for i in failed if results[i].may_pass]
    return results


def main(urls):
    results = asyncio.run(fetch_all(urls))
    for number, result in enumerate(results, 1):
        print(f"{number}: {str(result).strip()}")
    return any(isinstance(result, Exception) for result in results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else "usage: 78.py URL...")
