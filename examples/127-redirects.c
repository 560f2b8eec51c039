/*
 * 127-redirects - an HTTP server that redirects clients to other URLs.
 *
 * 301 is for a page that has moved.  308 is for a call of an API that has moved: the client repeats
 * its POST with the body.  303 is for an order that was made: the client gets the page of the
 * order, and reloading that page does not repeat the order.
 *
 *     127-redirects [ADDRESS:PORT]
 *
 * Run: sh -c 'echo $$; exec 127-redirects 127.0.0.1:0' | { read P; read U; curl -sw '%{http_code} %header{location}\n' $U/old-prices; get() { curl -sLw '%{num_redirects} redirects, then %{http_code}\n' "$@"; }; get $U/old-prices; get -d tea $U/orders; get -d coffee $U/v1/orders; kill $P; }
 * Time: wall 0 s
 * Output:
 *     301 /prices
 *     tea 2.50
 *     1 redirects, then 200
 *     order 1: tea
 *     1 redirects, then 200
 *     order 2: coffee
 *     2 redirects, then 200
 */
#include <stdio.h>
#include <stdlib.h>

#include "eddy/eddy.h"

enum { ORDERS_MAX = 100, ITEM_BYTES = 32 };

static char orders[ORDERS_MAX][ITEM_BYTES];
static unsigned orders_count;

static int page_moved(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_redirect(exchange, 301, "/prices");
}

static int api_moved(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_redirect(exchange, 308, "/orders");
}

static int show_prices(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond_text(exchange, 200, "tea 2.50\n");
}

static int make_order(eddy_http_exchange *exchange, void *arg)
{
        const void *item;
        char place[32];
        size_t bytes;
        int err = eddy_http_exchange_body(exchange, &item, &bytes);

        (void) arg;
        if (err < 0)
                return err;
        if (orders_count == ORDERS_MAX)
                return eddy_http_exchange_fail(exchange, 503, "the shop has too many orders");
        snprintf(orders[orders_count++], ITEM_BYTES, "%s", (const char *) item);
        snprintf(place, sizeof(place), "/orders/%u", orders_count);
        return eddy_http_exchange_redirect(exchange, 303, place);
}

static int show_order(eddy_http_exchange *exchange, void *arg)
{
        unsigned long number = strtoul(eddy_http_exchange_param(exchange, "number"), NULL, 10);
        char text[ITEM_BYTES + 32];

        (void) arg;
        if (number < 1 || number > orders_count)
                return eddy_http_exchange_fail(exchange, 404, "there is no such order");
        snprintf(text, sizeof(text), "order %lu: %s\n", number, orders[number - 1]);
        return eddy_http_exchange_respond_text(exchange, 200, text);
}

static int serve(eddy_http_router *router, void *arg)
{
        (void) arg;
        eddy_http_router_add(router, "GET /old-prices", page_moved, NULL, NULL);
        eddy_http_router_add(router, "GET /prices", show_prices, NULL, NULL);
        eddy_http_router_add(router, "POST /v1/orders", api_moved, NULL, NULL);
        eddy_http_router_add(router, "POST /orders", make_order, NULL, NULL);
        eddy_http_router_add(router, "GET /orders/{number}", show_order, NULL, NULL);
        puts(eddy_http_run_url(router));
        fflush(stdout);
        return eddy_http_run_serve(router, NULL);
}

int main(int argc, char **argv)
{
        const struct eddy_http_run_opts opts = { .listen = argc > 1 ? argv[1] : "127.0.0.1:8080" };

        return eddy_http_run(&opts, serve, NULL) < 0;
}
