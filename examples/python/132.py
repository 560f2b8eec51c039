"""The twin of 132-folder: an HTTP server that sends the files of a folder."""
import socket
import sys

from aiohttp import web


@web.middleware
async def hide_dots(request, handler):
    if any(part.startswith(".") for part in request.path.split("/")):
        raise web.HTTPNotFound()
    return await handler(request)


app = web.Application(middlewares=[hide_dots])
app.router.add_static("/files", sys.argv[1])
port = int(sys.argv[2].rpartition(":")[2]) if len(sys.argv) > 2 else 8080
listener = socket.create_server(("127.0.0.1", port))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
web.run_app(app, sock=listener, print=None)
