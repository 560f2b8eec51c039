"""The twin of 127-redirects: an HTTP server that sends clients to other addresses."""
import socket
import sys

from aiohttp import web

ORDERS_MAX = 100
orders = []
routes = web.RouteTableDef()


@routes.get("/old-prices")
async def page_moved(_):
    return web.Response(status=301, headers={"Location": "/prices"})


@routes.get("/prices")
async def show_prices(_):
    return web.Response(text="tea 2.50\n")


@routes.post("/v1/orders")
async def api_moved(_):
    return web.Response(status=308, headers={"Location": "/orders"})


@routes.post("/orders")
async def make_order(request):
    if len(orders) == ORDERS_MAX:
        raise web.HTTPServiceUnavailable(text="the shop has too many orders")
    orders.append(await request.text())
    return web.Response(status=303, headers={"Location": f"/orders/{len(orders)}"})


@routes.get(r"/orders/{number:\d+}")
async def show_order(request):
    number = int(request.match_info["number"])
    if not 0 < number <= len(orders):
        raise web.HTTPNotFound(text="there is no such order")
    return web.Response(text=f"order {number}: {orders[number - 1]}\n")


app = web.Application()
app.add_routes(routes)
port = int(sys.argv[1].rpartition(":")[2]) if len(sys.argv) > 1 else 8080
listener = socket.create_server(("127.0.0.1", port))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
web.run_app(app, sock=listener, print=None)
