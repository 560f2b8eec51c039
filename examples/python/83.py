"""The twin of 83-page-titles: 41 pages at once, through a session of ten connections."""
import asyncio
import re
import sys
import time

import aiohttp
from aiohttp import web

NUMBERS = range(6100, 6141)


async def lesson(request):
    number = int(request.match_info["number"])
    await asyncio.sleep(0.1 + 0.05 * (number % 5))
    return web.Response(text=f"<html><h1>Lesson {number}</h1></html>", content_type="text/html")


async def own_site(runner):
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0]
    return f"http://{host}:{port}/"


async def title_of(session, url):
    async with session.get(url) as response:
        response.raise_for_status()
        return re.search("<h1[^>]*>(.*?)</h1>", await response.text(), re.DOTALL)[1]


async def show_titles(prefix):
    began = time.perf_counter()
    connector = aiohttp.TCPConnector(limit=10)
    timeout = aiohttp.ClientTimeout(total=5)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        titles = await asyncio.gather(
            *(title_of(session, f"{prefix}{number}") for number in NUMBERS))
    for number, title in zip(NUMBERS, titles):
        print(f"{number}: {title}")
    print(f"{len(titles)} pages in {time.perf_counter() - began:.1f} s")


async def main():
    app = web.Application()
    app.add_routes([web.get(r"/{number:\d+}", lesson)])
    runner = web.AppRunner(app)
    try:
        await show_titles(sys.argv[1] if len(sys.argv) > 1 else await own_site(runner))
    finally:
        await runner.cleanup()


try:
    asyncio.run(main())
except (aiohttp.ClientError, asyncio.TimeoutError) as error:
    sys.exit(f"83.py: {error!r}")
