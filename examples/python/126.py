"""The twin of 126-cookies: an HTTP server that counts the visits of each browser in a cookie."""
import socket
import sys

from aiohttp import web

routes = web.RouteTableDef()


def visits_of(request):
    value = request.cookies.get("visits", "")
    return int(value) if value.isdecimal() and len(value) < 8 else 0


@routes.get("/")
async def visit(request):
    number = visits_of(request) + 1
    response = web.Response(text=f"visit {number}\n")
    response.set_cookie("visits", str(number), max_age=30 * 24 * 3600, httponly=True, samesite="Lax")
    return response


@routes.get("/forget")
async def forget(_):
    response = web.Response(text="forgotten\n")
    response.del_cookie("visits")
    return response


app = web.Application()
app.add_routes(routes)
port = int(sys.argv[1].rpartition(":")[2]) if len(sys.argv) > 1 else 8080
listener = socket.create_server(("127.0.0.1", port))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
web.run_app(app, sock=listener, print=None)
