"""The twin of 129-middleware: an HTTP server with middleware, code before and after the handlers."""
import socket
import sys

from aiohttp import web

routes = web.RouteTableDef()


@web.middleware
async def log_requests(request, handler):
    print(f"before {request.method} {request.path}")
    status = 500
    try:
        response = await handler(request)
        status = response.status
        return response
    except web.HTTPException as error:
        status = error.status
        raise
    finally:
        print(f"after {request.method} {request.path}: {status}")


@web.middleware
async def name_server(request, handler):
    try:
        response = await handler(request)
    except web.HTTPException as error:
        error.headers["X-Server"] = "eddy"
        raise
    response.headers["X-Server"] = "eddy"
    return response


@web.middleware
async def sign_in(request, handler):
    if request.headers.get("Authorization") != "Bearer ann-1":
        raise web.HTTPUnauthorized(text="sign in first")
    request["user"] = "ann"
    return await handler(request)


@routes.get("/")
async def hello(request):
    return web.Response(text=f"hello {request['user']}\n")


app = web.Application(middlewares=[log_requests, name_server, sign_in])
app.add_routes(routes)
port = int(sys.argv[1].rpartition(":")[2]) if len(sys.argv) > 1 else 8080
listener = socket.create_server(("127.0.0.1", port))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
web.run_app(app, sock=listener, print=None)
