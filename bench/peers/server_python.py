"""server_python.py - a server of aiohttp on uvloop that answers a short JSON text; see server_eddy.c.

    server_python.py respond|known|unknown|json|route|routes [CERT KEY]
    server_python.py folder DIR [CERT KEY]
"""

import asyncio
import json
import signal
import ssl
import sys

import aiohttp
import uvloop
from aiohttp import web

BODY = b'{"message":"Hello, World!"}'
TYPE = "application/json"
answers = 0


def count():
    global answers
    answers += 1


async def respond(request):
    count()
    return web.Response(body=BODY, content_type=TYPE)


async def in_pieces(request):
    count()
    response = web.StreamResponse(headers={"Content-Type": TYPE})
    if request.app["known"]:
        response.content_length = len(BODY)
    await response.prepare(request)
    await response.write(BODY)
    await response.write_eof()
    return response


async def respond_json(request):
    count()
    return web.json_response({"message": "Hello, World!"})


async def item(request):
    if not request.match_info["id"]:
        raise web.HTTPNotFound
    return await respond(request)


def make(way, folder):
    app = web.Application()
    if folder:
        app.router.add_static("/", folder)
    app["known"] = way == "known"
    handlers = {"respond": respond, "known": in_pieces, "unknown": in_pieces, "json": respond_json}
    if way in handlers:
        app.router.add_get("/", handlers[way])
    for i in range({"route": 1, "routes": 1000}.get(way, 0)):
        app.router.add_get(f"/api/r{i:03}/{{id}}", item)
    return app


async def main(way, files):
    folder = files.pop(0) if way == "folder" else None
    context = None
    if files:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*files)
    runner = web.AppRunner(make(way, folder), access_log=None, keepalive_timeout=3600)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context, backlog=4096).start()
    print(runner.addresses[0][1], flush=True)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await ended.wait()
    peer = f"aiohttp {aiohttp.__version__}, uvloop {uvloop.__version__}"
    print(json.dumps({"peer": peer, "ops": answers}))


uvloop.run(main(sys.argv[1], sys.argv[2:]))
