/*
 * http/access_log.c - the middleware that logs a line for each request.
 */
#include <string.h>

#include "base/alloc.h"
#include "eddy/http_middleware.h"
#include "eddy/time.h"
#include "http/exchange.h"
#include "http/router.h"

enum {
        METHOD_BYTES_MAX = 32,
        PATH_BYTES_MAX = 1000,
        VALUES_MAX = 3, /* that a line may lack */
};

/* A line's values from the middleware, which has returned when the server answers for the handler. */
struct line {
        struct ed_http_after after;
        struct eddy_http_access_log_opts opts;
        int result;
        char client[EDDY_HTTP_CLIENT_BYTES];
        const char *route;
        char route_kept[]; /* in memory of its own */
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
                         const struct line *line)
{
        const char *path = eddy_http_exchange_path(exchange);

        if (!(line->opts.flags & EDDY_HTTP_ACCESS_NO_PATH))
                put(values, eddy_log_text("path", path, strnlen(path, PATH_BYTES_MAX)));
        if (line->route[0])
                put(values, eddy_log_str("route", line->route));
        if (line->result < 0)
                put(values, eddy_log_result("error", line->result));
        while (values->count < VALUES_MAX)
                put(values, eddy_log_end());
}

static void write_line(eddy_http_exchange *exchange, const struct line *line)
{
        const char *method = eddy_http_exchange_method(exchange);
        const int status = ed_http_exchange_status(exchange, line->result);
        struct values values = { .count = 0 };
        struct eddy_http_exchange_info info;

        eddy_http_exchange_info(exchange, &info);
        put_optional(&values, exchange, line);
        eddy_log_write(line->opts.log, status >= 500 ? EDDY_LOG_WARNING : EDDY_LOG_INFO, "request",
                       eddy_log_text("method", method, strnlen(method, METHOD_BYTES_MAX)),
                       eddy_log_int("status", status),
                       eddy_log_uint("received", info.received_bytes),
                       eddy_log_uint("sent", info.sent_bytes),
                       eddy_log_ms("ms", eddy_now() - info.started_ns),
                       eddy_log_str("client", line->client), values.all[0], values.all[1],
                       values.all[2], eddy_log_end());
}

static void write_kept(eddy_http_exchange *exchange, struct ed_http_after *after)
{
        struct line *line = ed_container_of(after, struct line, after);

        write_line(exchange, line);
        ed_free(line);
}

/* Write the line after the server has answered. Returns false if a response was begun. */
static bool write_later(eddy_http_exchange *exchange, const struct line *line)
{
        size_t route_bytes = strlen(line->route) + 1;
        struct eddy_http_exchange_info info;
        struct line *kept;

        eddy_http_exchange_info(exchange, &info);
        if (info.status != 0)
                return false;
        kept = ed_alloc(sizeof(*kept) + route_bytes);
        if (!kept)
                return false; /* the line has the status that the server's table gives */
        memcpy(kept, line, sizeof(*kept));
        kept->route = memcpy(kept->route_kept, line->route, route_bytes);
        kept->after.fn = write_kept;
        ed_http_exchange_after(exchange, &kept->after);
        return true;
}

static int access_log(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        struct line line;

        line.result = eddy_http_next(exchange, next);
        line.opts = *(const struct eddy_http_access_log_opts *) arg;
        line.route = eddy_http_exchange_route(exchange);
        eddy_http_exchange_client_text(exchange, line.client);
        if (!write_later(exchange, &line))
                write_line(exchange, &line);
        return line.result;
}

int eddy_http_use_access_log(eddy_http_router *router, const struct eddy_http_access_log_opts *opts)
{
        struct eddy_http_access_log_opts *own = ed_alloc(sizeof(*own));

        if (own)
                *own = opts ? *opts : (struct eddy_http_access_log_opts){ .log = NULL };
        return ed_http_router_use_own(router, access_log, own, ed_free);
}
