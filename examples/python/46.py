"""The twin of 46-clean-shutdown: the requests under way end, then the program does."""
import asyncio
import os
import signal

import aiohttp
from aiohttp import web

CLIENTS = 5
under_way = 0


async def answer(_):
    global under_way
    under_way += 1
    if under_way == CLIENTS:
        print(f"{under_way} requests under way")
        os.kill(os.getpid(), signal.SIGTERM)  # as the system would, when it shuts down
    await asyncio.sleep(1)
    return web.Response(text="done\n")


async def fetch(session, url):
    async with session.get(url) as response:
        await response.read()


async def main():
    app = web.Application()
    app.add_routes([web.get("/", answer)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, shutdown_timeout=10).start()
    host, port = runner.addresses[0]
    url = f"http://{host}:{port}/"
    term = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, term.set)
    async with aiohttp.ClientSession() as session:
        clients = [asyncio.create_task(fetch(session, url)) for _ in range(CLIENTS)]
        await term.wait()
        print("SIGTERM: closing")
        await runner.cleanup()
        results = await asyncio.gather(*clients, return_exceptions=True)
        answered = results.count(None)
        print(f"{answered} answered, {CLIENTS - answered} lost")
        try:
            await fetch(session, url)
        except aiohttp.ClientConnectorError as error:
            print("a late client is refused:", os.strerror(error.os_error.errno))


asyncio.run(main())
