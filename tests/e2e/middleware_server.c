/*
 * middleware_server.c - a router with all middleware, for tests with clients of others.
 *
 *     middleware_server [LOG]
 *
 * The limits are the defaults.  The first line of output has the URL, and that of the page of metrics.
 * The access log goes to the file LOG.  It runs until a signal, and then drains.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { PIECE_BYTES = 64 << 10, LARGE_BYTES = 10 << 20, BODY_BYTES_MAX = 8 << 20 };

struct site {
        eddy_http_router *router;
        eddy_metrics *metrics;
        eddy_http_server_metrics *measured;
        eddy_log *log;
        eddy_listener *listener, *metrics_listener;
};

struct item {
        int32_t id;
        char *name;
};

static const struct eddy_field item_list[] = {
        EDDY_FIELD(struct item, id, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(1)),
        EDDY_FIELD(struct item, name),
};
static const struct eddy_fields item_fields = EDDY_FIELDS(struct item, item_list, 0);
static const struct eddy_field id_list[] = {
        EDDY_FIELD(struct item, id, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(1)),
};
static const struct eddy_fields item_params = EDDY_FIELDS(struct item, id_list, 0);
static const struct eddy_http_route_doc show_doc = { .params = &item_params,
                                                     .answer = &item_fields };
static const struct eddy_http_route_doc make_doc = { .body = &item_fields,
                                                     .answer = &item_fields,
                                                     .status = 201 };
static const struct eddy_http_header octets = { "Content-Type", "application/octet-stream" };

static int hello(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond_text(exchange, 200, "hello\n");
}

static int show_item(eddy_http_exchange *exchange, void *arg)
{
        const struct item *item = eddy_http_exchange_input(exchange, EDDY_HTTP_PATH);

        (void) arg;
        return eddy_http_exchange_respond_json(exchange, 200, &item_fields, item);
}

static int make_item(eddy_http_exchange *exchange, void *arg)
{
        const struct item *item = eddy_http_exchange_input(exchange, EDDY_HTTP_BODY);

        (void) arg;
        return eddy_http_exchange_respond_json(exchange, 201, &item_fields, item);
}

/* Answers with the whole body, after its end. */
static int echo(eddy_http_exchange *exchange, void *arg)
{
        const void *data;
        size_t bytes;
        int err = eddy_http_exchange_body(exchange, &data, &bytes);

        (void) arg;
        if (err < 0)
                return err;
        return eddy_http_exchange_respond(exchange, 200, &octets, 1, data, bytes);
}

/* Answers with LARGE_BYTES, without a stated length. */
static int large(eddy_http_exchange *exchange, void *arg)
{
        static char piece[PIECE_BYTES];
        int err;

        (void) arg;
        memset(piece, 'x', sizeof(piece));
        err = eddy_http_exchange_begin(exchange, 200, &octets, 1, -1);
        for (size_t sent = 0; err == 0 && sent < LARGE_BYTES; sent += sizeof(piece))
                err = eddy_http_exchange_write(exchange, piece, sizeof(piece));
        return err == 0 ? eddy_http_exchange_end(exchange) : err;
}

static void add_routes(struct site *site)
{
        eddy_http_router *router = site->router;

        eddy_http_router_use(router, eddy_http_measure, site->measured);
        eddy_http_use_request_id(router, NULL);
        eddy_http_use_access_log(router, &(struct eddy_http_access_log_opts){ .log = site->log });
        eddy_http_use_cors(router, &(struct eddy_http_cors_opts){ .origins = "*" });
        eddy_http_use_rate_limit(router,
                                 &(struct eddy_http_rate_limit_opts){ .requests = 1000000000 });
        eddy_http_use_body_limit(router, BODY_BYTES_MAX);
        eddy_http_use_timeout(router, EDDY_SEC(120));
        eddy_http_router_add(router, "GET /hello", hello, NULL, NULL);
        eddy_http_router_add(router, "GET /items/{id}", show_item, NULL, &show_doc);
        eddy_http_router_add(router, "POST /items", make_item, NULL, &make_doc);
        eddy_http_router_add(router, "POST /echo", echo, NULL, NULL);
        eddy_http_router_add(router, "PUT /echo", echo, NULL, NULL);
        eddy_http_router_add(router, "GET /large", large, NULL, NULL);
        eddy_http_router_add(router, "GET /readyz", eddy_http_handle_ready, NULL, NULL);
}

static int serve_metrics(void *arg)
{
        struct site *site = arg;
        int err = eddy_http_serve(site->metrics_listener, NULL, eddy_http_metrics, site->metrics);

        return err == -ECANCELED ? 0 : err;
}

static int serve_both(struct site *site)
{
        struct eddy_http_server_opts opts = { .drain_ns = EDDY_SEC(10) };
        eddy_scope scope;
        int err;

        printf("listening on http://127.0.0.1:%d http://127.0.0.1:%d\n",
               eddy_listener_port(site->listener), eddy_listener_port(site->metrics_listener));
        fflush(stdout);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve_metrics, site);
        err = eddy_http_serve(site->listener, &opts, eddy_http_router_handle, site->router);
        eddy_scope_cancel(&scope);
        eddy_scope_end(&scope);
        return err;
}

static int serve(void *arg)
{
        struct site site = { 0 };
        struct eddy_log_opts log = { .path = arg, .buffer_bytes = 64 << 20 };
        const char *text = "";
        int err = eddy_metrics_new(NULL, &site.metrics);

        if (err == 0)
                err = eddy_http_server_metrics_new(site.metrics, &site.measured);
        if (err == 0)
                err = eddy_http_router_new(&site.router);
        if (err == 0 && arg)
                err = eddy_log_open(&log, &site.log);
        if (err == 0) {
                add_routes(&site);
                err = eddy_http_router_check(site.router, &text);
        }
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", 0, NULL, &site.listener);
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", 0, NULL, &site.metrics_listener);
        if (err == 0)
                err = serve_both(&site);
        if (err < 0 && err != -ECANCELED)
                fprintf(stderr, "middleware_server: %s %s\n", eddy_error_name(err), text);
        eddy_listener_close(site.metrics_listener);
        eddy_listener_close(site.listener);
        eddy_http_router_free(site.router);
        eddy_http_server_metrics_free(site.measured);
        eddy_metrics_close(site.metrics);
        eddy_log_close(site.log);
        return err;
}

int main(int argc, char **argv)
{
        int err = eddy_run(serve, argc > 1 ? argv[1] : NULL, NULL);

        return err < 0 && err != -ECANCELED;
}
