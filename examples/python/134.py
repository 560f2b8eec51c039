"""The twin of 134-websocket-echo: a WebSocket in both roles, by aiohttp."""
import asyncio
import socket
import sys

import aiohttp
from aiohttp import web

PAGE = """<!doctype html><meta charset=utf-8><title>Echo</title>
<form><input autofocus> <button>Send</button></form><ol></ol><script>
const show = text => document.querySelector('ol').append(
  Object.assign(document.createElement('li'), { textContent: text }));
const socket = new WebSocket(location.href.replace(/^http/, 'ws') + 'echo');
socket.onopen = () => show('connected');
socket.onmessage = event => show(event.data);
socket.onclose = event => show('closed with ' + event.code + ': ' + event.reason);
document.querySelector('form').onsubmit = event => {
  const input = document.querySelector('input');
  socket.send(input.value); input.value = ''; event.preventDefault();
};</script>
"""


async def show_page(_request):
    return web.Response(text=PAGE, content_type="text/html")


async def echo(request):
    origin = request.headers.get("Origin")  # aiohttp accepts pages of all sites
    if origin and origin.partition("://")[2] != request.host:
        raise web.HTTPForbidden()
    websocket = web.WebSocketResponse()
    if not websocket.can_prepare(request):
        raise web.HTTPUpgradeRequired(headers={"Upgrade": "websocket"})
    await websocket.prepare(request)
    async for message in websocket:
        if message.data == "bye":
            await websocket.close(code=4000, message=b"you said bye")
        elif message.type is aiohttp.WSMsgType.TEXT:
            await websocket.send_str(message.data)
        elif message.type is aiohttp.WSMsgType.BINARY:
            await websocket.send_bytes(message.data)
    return websocket


async def serve(port):
    app = web.Application()
    app.add_routes([web.get("/", show_page), web.get("/echo", echo)])
    runner = web.AppRunner(app)
    await runner.setup()
    listener = socket.create_server(("127.0.0.1", port))
    await web.SockSite(runner, listener).start()
    print(f"ws://127.0.0.1:{listener.getsockname()[1]}/echo", flush=True)
    await asyncio.Event().wait()


async def talk(url, texts):
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as websocket:
        for text in texts:
            await websocket.send_str(text)
            message = await websocket.receive()
            if message.type is not aiohttp.WSMsgType.TEXT:
                print(f"closed with {message.data}: {message.extra}")
                break
            print(message.data)


if ":" in sys.argv[1]:
    asyncio.run(talk(sys.argv[1], sys.argv[2:]))
else:
    asyncio.run(serve(int(sys.argv[1])))
