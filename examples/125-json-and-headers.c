/*
 * 125-json-and-headers - an HTTP server that reads and writes JSON, and headers.
 *
 * The answer to /prices has an ETag.  A client that sends the ETag in If-None-Match gets a 304
 * without a body, as long as the prices are the same.  Tables of fields describe the JSON of an
 * order: eddy answers 422 to a wrong field, 400 to a text that is not JSON, and 415 to another
 * content type.
 *
 *     125-json-and-headers [ADDRESS:PORT]
 *
 * Run: sh -c 'echo $$; exec 125-json-and-headers 127.0.0.1:0' | { read P; read U; curl -sw ' %header{etag}\n' $U/prices; curl -sw '%{http_code}\n' -H 'If-None-Match: "nov"' $U/prices; order() { curl -sw " $3\n" -H "Content-Type: $1" -d "$2" $U/orders; }; order application/json '{"item":"tea","count":3}' '%{http_code} %header{location}'; for t in '{"item":"tea","count":"three"}' '{"item":"tea"'; do order application/json "$t" '%{http_code}' | grep -o '...$'; done; order text/plain tea '%{http_code}' | grep -o '...$'; kill $P; }
 * Time: wall 0 s
 * Output:
 *     {"tea":2.5} "nov"
 *     304
 *     {"id":1,"item":"tea","count":3,"price":7.5} 201 /orders/1
 *     422
 *     400
 *     415
 */
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

struct order {
        int id;
        char item[32];
        int count;
        double price;
};

/* The fields that a client may send, and the fields of the answer. */
static const struct eddy_field new_order_list[] = {
        EDDY_FIELD(struct order, item, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 31)),
        EDDY_FIELD(struct order, count, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(1),
                   EDDY_FIELD_MAX(100)),
};
static const struct eddy_fields new_order_fields = EDDY_FIELDS(struct order, new_order_list, 0);

static const struct eddy_field order_list[] = {
        EDDY_FIELD(struct order, id),
        EDDY_FIELD(struct order, item),
        EDDY_FIELD(struct order, count),
        EDDY_FIELD(struct order, price),
};
static const struct eddy_fields order_fields = EDDY_FIELDS(struct order, order_list, 0);

static const struct eddy_http_route_doc make_order_doc = { .body = &new_order_fields,
                                                           .answer = &order_fields,
                                                           .status = 201 };

static int show_prices(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_header headers[] = { { "ETag", "\"nov\"" },
                                                           { "Content-Type", "application/json" } };
        static const char prices[] = "{\"tea\":2.5}";
        const char *known = eddy_http_exchange_header(exchange, "If-None-Match");

        (void) arg;
        if (known && strcmp(known, headers[0].value) == 0)
                return eddy_http_exchange_respond(exchange, 304, headers, 1, NULL, 0);
        return eddy_http_exchange_respond(exchange, 200, headers, 2, prices, strlen(prices));
}

static int make_order(eddy_http_exchange *exchange, void *arg)
{
        static int last_id;
        struct order order =
                *(const struct order *) eddy_http_exchange_input(exchange, EDDY_HTTP_BODY);
        char place[32];
        int err;

        (void) arg;
        order.id = ++last_id;
        order.price = 2.5 * order.count;
        snprintf(place, sizeof(place), "/orders/%d", order.id);
        err = eddy_http_exchange_add_header(exchange, "Location", place);
        return err < 0 ? err
                       : eddy_http_exchange_respond_json(exchange, 201, &order_fields, &order);
}

static int serve(eddy_http_router *router, void *arg)
{
        (void) arg;
        eddy_http_router_add(router, "GET /prices", show_prices, NULL, NULL);
        eddy_http_router_add(router, "POST /orders", make_order, NULL, &make_order_doc);
        puts(eddy_http_run_url(router));
        fflush(stdout);
        return eddy_http_run_serve(router, NULL);
}

int main(int argc, char **argv)
{
        const struct eddy_http_run_opts opts = { .listen = argc > 1 ? argv[1] : "127.0.0.1:8080" };

        return eddy_http_run(&opts, serve, NULL) < 0;
}
