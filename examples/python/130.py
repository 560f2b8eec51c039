"""The twin of 130-file-answer: an HTTP server that answers with a file."""
import os
import socket
import sys

from aiohttp import web

routes = web.RouteTableDef()


@routes.get("/report")
async def send_report(_):
    if not os.path.exists(sys.argv[1]):
        raise web.HTTPNotFound(text="there is no report today")
    return web.FileResponse(sys.argv[1], headers={"Content-Type": "text/plain"})


app = web.Application()
app.add_routes(routes)
port = int(sys.argv[2].rpartition(":")[2]) if len(sys.argv) > 2 else 8080
listener = socket.create_server(("127.0.0.1", port))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
web.run_app(app, sock=listener, print=None)
