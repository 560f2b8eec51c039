/*
 * server_eddy.c - an HTTP server that answers a short JSON text, in one of these ways.
 *
 *     server_eddy respond   eddy_http_exchange_respond()
 *     server_eddy fields    ... with the header fields that nghttpd sends for a file
 *     server_eddy known     begin with the body's length, write, end
 *     server_eddy unknown   begin without a length, write, end: the body is chunked
 *     server_eddy json      eddy_http_exchange_respond_json() of a struct
 *     server_eddy route     respond, by a router that has only the route /api/r000/{id}
 *     server_eddy routes    ... that has 1,000 routes, /api/r000/{id} to /api/r999/{id}
 *     server_eddy id        as route, with request identifiers
 *     server_eddy log       as route, with an access log, to /dev/null
 *     server_eddy layers    as route, with request identifiers and an access log
 *
 *     server_eddy WAY CERT KEY   the same with TLS
 *
 * It speaks HTTP/2 with clients that ask for it. Prints its port, serves until SIGTERM, and then prints how many requests it answered.
 */
#include <eddy/eddy.h>
#include <errno.h>

#include "bench.h"

enum { ROUTES = 1000, CONNECTIONS_MAX = 20000 };

struct hello {
        char *message;
};

static const struct eddy_field hello_field_list[] = {
        EDDY_FIELD(struct hello, message),
};
static const struct eddy_fields hello_fields = EDDY_FIELDS(struct hello, hello_field_list, 0);

static const struct eddy_http_header headers[] = { { "Content-Type", "application/json" } };
static const struct eddy_http_header fields[] = {
        { "Server", "eddy/" EDDY_VERSION },
        { "Cache-Control", "max-age=3600" },
        { "Last-Modified", "Sun, 29 Nov 2026 12:00:00 GMT" },
        { "Content-Type", "application/json" },
};
static const char body[] = "{\"message\":\"Hello, World!\"}";
static char hello_text[] = "Hello, World!";
static char **arguments;
static long answers;

static int respond(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        answers++;
        return eddy_http_exchange_respond(exchange, 200, headers, 1, body, sizeof(body) - 1);
}

static int respond_with_fields(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        answers++;
        return eddy_http_exchange_respond(exchange, 200, fields, sizeof(fields) / sizeof(fields[0]),
                                          body, sizeof(body) - 1);
}

static int respond_in_pieces(eddy_http_exchange *exchange, int64_t bytes)
{
        int err = eddy_http_exchange_begin(exchange, 200, headers, 1, bytes);

        answers++;
        if (err == 0)
                err = eddy_http_exchange_write(exchange, body, sizeof(body) - 1);
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int respond_known(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return respond_in_pieces(exchange, sizeof(body) - 1);
}

static int respond_unknown(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return respond_in_pieces(exchange, -1);
}

static int respond_json(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        answers++;
        return eddy_http_exchange_respond_json(exchange, 200, &hello_fields,
                                               &(struct hello){ .message = hello_text });
}

static int respond_item(eddy_http_exchange *exchange, void *arg)
{
        if (!eddy_http_exchange_param(exchange, "id"))
                return -EINVAL;
        return respond(exchange, arg);
}

/* A way to answer: its handler, or the routes and layers of its router. */
static const struct way {
        const char *name;
        eddy_http_handler_fn *handler;
        int routes;
        bool id, log;
} ways[] = {
        { "respond", respond, 0, false, false },
        { "fields", respond_with_fields, 0, false, false },
        { "known", respond_known, 0, false, false },
        { "unknown", respond_unknown, 0, false, false },
        { "json", respond_json, 0, false, false },
        { "route", NULL, 1, false, false },
        { "routes", NULL, ROUTES, false, false },
        { "id", NULL, 1, true, false },
        { "log", NULL, 1, false, true },
        { "layers", NULL, 1, true, true },
};

static const struct way *way_of(const char *name)
{
        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
                if (strcmp(name, ways[i].name) == 0)
                        return &ways[i];
        bench_die(name, "no such way to answer");
}

static int router_build(const struct way *way, eddy_log *log, eddy_http_router **ret_router)
{
        eddy_http_router *router;
        const char *text = NULL;
        int err = eddy_http_router_new(&router);

        if (err < 0)
                return err;
        *ret_router = router;
        if (way->id)
                eddy_http_use_request_id(router, NULL);
        if (way->log)
                eddy_http_use_access_log(router, &(struct eddy_http_access_log_opts){ .log = log });
        for (int i = 0; i < way->routes; i++) {
                char pattern[32];

                snprintf(pattern, sizeof(pattern), "GET /api/r%03d/{id}", i);
                eddy_http_router_add(router, pattern, respond_item, NULL, NULL);
        }
        return eddy_http_router_check(router, &text);
}

static int serve_with(eddy_listener *listener, const struct eddy_http_server_opts *opts,
                      const struct way *way)
{
        eddy_http_router *router = NULL;
        eddy_log *log = NULL;
        int err = 0;

        if (way->handler)
                return eddy_http_serve(listener, opts, way->handler, NULL);
        if (way->log)
                err = eddy_log_open(&(struct eddy_log_opts){ .path = "/dev/null" }, &log);
        if (err == 0)
                err = router_build(way, log, &router);
        if (err == 0)
                err = eddy_http_serve(listener, opts, eddy_http_router_handle, router);
        eddy_http_router_free(router);
        eddy_log_close(log);
        return err;
}

static int serve(void *arg)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        struct eddy_tls_opts tls = { .flags = EDDY_TLS_SERVER };
        struct eddy_http_server_opts opts = { .connections_max = CONNECTIONS_MAX };
        EDDY_AUTO(eddy_tls_config) eddy_tls_config *config = NULL;
        int err = 0;

        (void) arg;
        if (arguments[2]) {
                tls.cert_file = arguments[2];
                tls.key_file = arguments[3];
                err = eddy_tls_config_new(&tls, NULL, &config);
                opts.tls = config;
        }
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);
        if (err == 0 && (printf("%u\n", eddy_listener_port(listener)) < 0 || fflush(stdout) != 0))
                err = -EIO;
        return err < 0 ? err : serve_with(listener, &opts, way_of(arguments[1]));
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 2 && argc != 4)
                bench_die("usage", "server_eddy WAY [CERT KEY]");
        way_of(argv[1]);
        arguments = argv;
        err = eddy_run(serve, NULL, NULL);
        if (err < 0 && err != -ECANCELED)
                bench_die("server_eddy", eddy_error_text(err));
        printf("{\"peer\": \"eddy " EDDY_VERSION "\", \"ops\": %ld}\n", answers);
        return 0;
}
