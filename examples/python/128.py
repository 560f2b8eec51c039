"""The twin of 128-request-timeout: an HTTP server that gives each request half a second."""
import asyncio
import socket
import sys

from aiohttp import web

printer = asyncio.Lock()
routes = web.RouteTableDef()


@web.middleware
async def limit_time(request, handler):
    try:
        async with asyncio.timeout(0.5):
            return await handler(request)
    except TimeoutError as error:
        raise web.HTTPServiceUnavailable from error


@routes.get("/slow")
async def slow(_):
    async with printer:
        print("/slow has the printer")
        try:
            await asyncio.sleep(60)  # takes a minute today
        except asyncio.CancelledError:
            print("/slow is cancelled, and leaves the printer")
            raise
    return web.Response(text="printed\n")


@routes.get("/fast")
async def fast(_):
    async with printer:
        print("/fast has the printer")
    return web.Response(text="printed\n")


app = web.Application(middlewares=[limit_time])
app.add_routes(routes)
port = int(sys.argv[1].rpartition(":")[2]) if len(sys.argv) > 1 else 8080
listener = socket.create_server(("127.0.0.1", port))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
web.run_app(app, sock=listener, print=None)
