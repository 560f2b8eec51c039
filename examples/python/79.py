"""The twin of 79-partial-answers: the complete answers when time is up."""
import asyncio
import sys

import aiohttp


async def fetch(session, url):
    async with session.get(url) as response:
        response.raise_for_status()
        return await response.text()


async def fetch_in_time(urls):
    async with aiohttp.ClientSession() as session:
        tasks = [asyncio.create_task(fetch(session, url)) for url in urls]
        _, late = await asyncio.wait(tasks, timeout=1)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
    return tasks


def main(urls):
    good, failed = 0, None
    for url, task in zip(urls, asyncio.run(fetch_in_time(urls))):
        if task.cancelled():
            print(f"{url}: cancelled")
        elif task.exception():
            print(f"{url}: failed")
            failed = failed or f"{url}: {task.exception()}"
        else:
            print(f"{url}: {task.result().strip()}")
            good += 1
    return failed or (0 if good else f"{urls[0]}: not complete within 1 s")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else "usage: 79.py URL...")
