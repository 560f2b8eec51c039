"""The twin of 123-routes: an HTTP server with routes, a handler for each method and path."""
import socket
import sys

from aiohttp import web

routes = web.RouteTableDef()


@routes.get("/")
async def welcome(_):
    return web.Response(text="welcome\n")


@routes.get("/users/me")  # before {name}: the first route that matches is called
async def show_me(_):
    return web.Response(text="you are ann\n")


@routes.get("/users/{name}")
async def show_user(request):
    return web.Response(text=f"user {request.match_info['name']}\n")


@routes.post("/users")
async def make_user(request):
    return web.Response(text=f"new user {await request.text()}\n", status=201)


@routes.get("/files/{path:.*}")
async def show_file(request):
    return web.Response(text=f"file {request.match_info['path']}\n")


app = web.Application()
app.add_routes(routes)
port = int(sys.argv[1].rpartition(":")[2]) if len(sys.argv) > 1 else 8080
listener = socket.create_server(("127.0.0.1", port))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
web.run_app(app, sock=listener, print=None)
