"""The twin of 125-json-and-headers: an HTTP server that reads and writes JSON, and headers."""
import itertools
import json
import socket
import sys

from aiohttp import web

routes = web.RouteTableDef()
ids = itertools.count(1)


def answer(value, **more):
    return web.Response(text=json.dumps(value, separators=(",", ":")),
                        content_type="application/json", **more)


@routes.get("/prices")
async def show_prices(request):
    headers = {"ETag": '"nov"'}
    if request.headers.get("If-None-Match") == headers["ETag"]:
        return web.Response(status=304, headers=headers)
    return answer({"tea": 2.5}, headers=headers)


@routes.post("/orders")
async def make_order(request):
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType
    try:
        order = await request.json()
    except json.JSONDecodeError as error:
        raise web.HTTPBadRequest from error
    match order:
        case {"item": str(item), "count": int(count)} if 0 < len(item) < 32 and 1 <= count <= 100:
            order_id = next(ids)
        case _:
            raise web.HTTPUnprocessableEntity
    return answer({"id": order_id, "item": item, "count": count, "price": 2.5 * count},
                  status=201, headers={"Location": f"/orders/{order_id}"})


app = web.Application()
app.add_routes(routes)
port = int(sys.argv[1].rpartition(":")[2]) if len(sys.argv) > 1 else 8080
listener = socket.create_server(("127.0.0.1", port))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
web.run_app(app, sock=listener, print=None)
