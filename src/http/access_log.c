/*
 * http/access_log.c - the middleware that logs a line for each request.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "eddy/http_middleware.h"
#include "eddy/time.h"
#include "http/exchange.h"
#include "http/router.h"

enum {
        METHOD_BYTES_MAX = 32,
        PATH_BYTES_MAX = 1000,
        VALUES_MAX = 4, /* that a line may lack */
        VERSION_2 = 20, /* HTTP/2 */
};

/* A line that is written when the request has its answer. */
struct line {
        struct ed_http_after after;
        struct eddy_http_access_log_opts opts;
        char client[EDDY_HTTP_CLIENT_BYTES];
};

/* The values that not every line has; ends fill the rest. */
struct values {
        struct eddy_log_value all[VALUES_MAX];
        size_t count;
};

static void put(struct values *values, struct eddy_log_value value)
{
        values->all[values->count++] = value;
}

static void put_optional(struct values *values, const eddy_http_exchange *exchange,
                         const struct line *line, int version)
{
        const char *path = eddy_http_exchange_path(exchange);

        if (!(line->opts.flags & EDDY_HTTP_ACCESS_NO_PATH))
                put(values, eddy_log_text("path", path, strnlen(path, PATH_BYTES_MAX)));
        if (line->after.route[0])
                put(values, eddy_log_str("route", line->after.route));
        if (line->after.result < 0)
                put(values, eddy_log_result("error", line->after.result));
        if (version == VERSION_2)
                put(values, eddy_log_str("protocol", "HTTP/2.0"));
        while (values->count < VALUES_MAX)
                put(values, eddy_log_end());
}

static void write_line(eddy_http_exchange *exchange, const struct ed_http_after *after)
{
        const struct line *line = ed_container_of(after, const struct line, after);
        const char *method = eddy_http_exchange_method(exchange);
        const int status = ed_http_exchange_status(exchange, line->after.result);
        struct values values = { .count = 0 };
        struct eddy_http_exchange_info info;

        eddy_http_exchange_info(exchange, &info);
        put_optional(&values, exchange, line, info.version);
        eddy_log_write(line->opts.log, status >= 500 ? EDDY_LOG_WARNING : EDDY_LOG_INFO, "request",
                       eddy_log_text("method", method, strnlen(method, METHOD_BYTES_MAX)),
                       eddy_log_int("status", status),
                       eddy_log_uint("received", info.received_bytes),
                       eddy_log_uint("sent", info.sent_bytes),
                       eddy_log_ms("ms", eddy_now() - info.started_ns),
                       eddy_log_str("client", line->client), values.all[0], values.all[1],
                       values.all[2], values.all[3], eddy_log_end());
}

static int access_log(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        struct line line;

        line.after.fn = write_line;
        line.after.result = eddy_http_next(exchange, next);
        line.after.route = eddy_http_exchange_route(exchange);
        line.opts = *(const struct eddy_http_access_log_opts *) arg;
        eddy_http_exchange_client_text(exchange, line.client);
        ed_http_exchange_after(exchange, &line.after, sizeof(line));
        return line.after.result;
}

int eddy_http_use_access_log(eddy_http_router *router, const struct eddy_http_access_log_opts *opts)
{
        struct eddy_http_access_log_opts *own = ed_alloc(sizeof(*own));

        if (own)
                *own = opts ? *opts : (struct eddy_http_access_log_opts){ .log = NULL };
        return ed_http_router_use_own(router, access_log, own, ed_free);
}
