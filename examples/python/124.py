"""The twin of 124-requests-at-once: a hundred slow requests are in progress at once."""
import asyncio
import socket
import sys

from aiohttp import web

GUESTS = 100
all_are_here = asyncio.Event()
guests = 0
routes = web.RouteTableDef()


@routes.get("/meet/{guest}")
async def meet(_):
    global guests
    guests += 1
    if guests == GUESTS:
        all_are_here.set()
    await all_are_here.wait()  # other handlers run meanwhile
    return web.Response(text="all hundred are here\n")


@routes.get("/count")
async def count(_):
    return web.Response(text=f"{guests}\n")


app = web.Application()
app.add_routes(routes)
port = int(sys.argv[1].rpartition(":")[2]) if len(sys.argv) > 1 else 8080
listener = socket.create_server(("127.0.0.1", port))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
web.run_app(app, sock=listener, print=None)
