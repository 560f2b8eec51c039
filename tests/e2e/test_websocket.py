#!/usr/bin/env python3
"""test_websocket - the example of a WebSocket beside websockets and aiohttp in both roles, and in a browser.

    test_websocket.py WEBSOCKET_ECHO [WORD]

What needs a package or the browser is skipped by name without it (tools/install-deps interop).
"""
import asyncio
import contextlib
import os
import sys

import e2e
from e2e import check, claim, equal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs"))
import browser  # pylint: disable=wrong-import-position

try:
    import websockets
except ImportError:
    websockets = None
try:
    import aiohttp
    from aiohttp import web
except ImportError:
    aiohttp = None

SIZES = [0, 1, 125, 126, 127, 4096, 65535, 65536, 1 << 20]  # up to the example's limit
TEXTS = ["one", "zwei W\u00f6rter", "\U0001d11e" * 5000, "bye"]


def need(package, name):
    if not package:
        raise e2e.Skip(f"needs the Debian package python3-{name} (tools/install-deps interop)")


def url_of(eddy):
    """Start the example's server. Returns the URL of its WebSocket."""
    return eddy.start("0").stdout.readline().decode().strip()


def run(talk):
    asyncio.run(asyncio.wait_for(talk, e2e.LIMIT_S))


async def check_our_client(eddy, url):
    result = await asyncio.to_thread(eddy.run, url, *TEXTS)
    equal(result.code, 0, result.err)
    equal(result.out.splitlines(), TEXTS[:-1] + ["closed with 4000: you said bye"])


@claim
def the_client_of_websockets_gets_each_message_back(eddy):
    need(websockets, "websockets")

    async def talk(url):
        async with websockets.connect(url) as peer:
            for size in SIZES:
                for message in "\u00e9" * (size // 2), os.urandom(size):
                    await peer.send(message)
                    equal(await peer.recv() == message, True, size)
            await peer.send(["in ", "three ", "fragments"])
            equal(await peer.recv(), "in three fragments")
            await (await peer.ping(b"x" * 125))
            await peer.send("bye")
            with contextlib.suppress(websockets.ConnectionClosed):
                await peer.recv()
            equal((peer.close_code, peer.close_reason), (4000, "you said bye"))
        async with websockets.connect(url) as peer:
            await peer.close(4321, "enough")
            equal(peer.close_code, 4321)
        async with websockets.connect(url) as peer:
            await peer.send(b"x" * ((1 << 20) + 1))
            with contextlib.suppress(websockets.ConnectionClosed):
                await peer.recv()
            equal(peer.close_code, 1009)
        try:
            await websockets.connect(url, origin="http://evil.example")
        except websockets.InvalidHandshake as error:  # another class in each version
            equal("403" in str(error), True, error)
        else:
            check(False, "a page of another site has connected")

    run(talk(url_of(eddy)))


@claim
def the_server_of_websockets_sends_each_message_back(eddy):
    need(websockets, "websockets")

    async def echo(peer, *_):
        async for message in peer:
            if message == "bye":
                await peer.close(4000, "you said bye")
                return
            await peer.ping()
            await peer.send([message[:1], message[1:]])

    async def talk():
        async with websockets.serve(echo, "127.0.0.1", 0) as server:
            await check_our_client(eddy, f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/")

    run(talk())


@claim
def the_client_of_aiohttp_gets_each_message_back(eddy):
    need(aiohttp, "aiohttp")

    async def talk(url):
        async with aiohttp.ClientSession() as session, session.ws_connect(url) as peer:
            for size in SIZES:
                message = os.urandom(size)
                await peer.send_bytes(message)
                equal(await peer.receive_bytes() == message, True, size)
            await peer.ping()
            await peer.send_str("bye")
            message = await peer.receive()
            equal((message.data, message.extra), (4000, "you said bye"))

    run(talk(url_of(eddy)))


@claim
def the_server_of_aiohttp_sends_each_message_back(eddy):
    need(aiohttp, "aiohttp")

    async def echo(request):
        peer = web.WebSocketResponse()
        await peer.prepare(request)
        async for message in peer:
            if message.data == "bye":
                await peer.close(code=4000, message=b"you said bye")
            else:
                await peer.ping()
                await peer.send_str(message.data)
        return peer

    async def talk():
        app = web.Application()
        app.add_routes([web.get("/", echo)])
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        await check_our_client(eddy, f"http://127.0.0.1:{runner.addresses[0][1]}/")
        await runner.cleanup()

    run(talk())


@claim
def a_browser_shows_its_messages_and_the_close(eddy):
    if not browser.find():
        raise e2e.Skip("needs the Debian package chromium or chromium-headless-shell (tools/install-deps interop)")
    host = url_of(eddy).removeprefix("ws://").removesuffix("/echo")
    with contextlib.closing(browser.Tab(eddy.folder, host)) as tab:
        def shown():
            return tab.value("[...document.querySelectorAll('li')].map(item => item.textContent)")

        tab.call("Page.navigate", url=f"http://{host}/")
        expected = ["connected"]
        for text, answer in ("<b>", "<b>"), ("\U0001d11e", "\U0001d11e"), ("bye", "closed with 4000: you said bye"):
            e2e.wait_until(lambda: len(shown()) >= len(expected), expected)
            tab.value(f"document.querySelector('input').value = '{text}'; document.querySelector('button').click()")
            expected.append(answer)
        e2e.wait_until(lambda: len(shown()) >= len(expected), expected)
        equal(shown(), expected)
        equal((tab.said, tab.asked), ([], []))


e2e.main()
