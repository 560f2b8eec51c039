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

/* The values that not every line has; ends fill the rest. */
struct values {
        struct eddy_log_value all[VALUES_MAX];
        size_t count;
};

static void put(struct values *values, struct eddy_log_value value)
{
        values->all[values->count++] = value;
}

static void put_optional(struct values *values, const eddy_http_exchange *exchange, uint32_t flags,
                         int result)
{
        const char *route = eddy_http_exchange_route(exchange);
        const char *path = eddy_http_exchange_path(exchange);

        if (!(flags & EDDY_HTTP_ACCESS_NO_PATH))
                put(values, eddy_log_text("path", path, strnlen(path, PATH_BYTES_MAX)));
        if (route[0])
                put(values, eddy_log_str("route", route));
        if (result < 0)
                put(values, eddy_log_result("error", result));
        while (values->count < VALUES_MAX)
                put(values, eddy_log_end());
}

static void log_request(const struct eddy_http_access_log_opts *opts, eddy_http_exchange *exchange,
                        int result)
{
        const char *method = eddy_http_exchange_method(exchange);
        const int status = ed_http_exchange_status(exchange, result);
        struct values values = { .count = 0 };
        char client[EDDY_HTTP_CLIENT_BYTES];
        struct eddy_http_exchange_info info;

        eddy_http_exchange_info(exchange, &info);
        eddy_http_exchange_client_text(exchange, client);
        put_optional(&values, exchange, opts->flags, result);
        eddy_log_write(
                opts->log, status >= 500 ? EDDY_LOG_WARNING : EDDY_LOG_INFO, "request",
                eddy_log_text("method", method, strnlen(method, METHOD_BYTES_MAX)),
                eddy_log_int("status", status), eddy_log_uint("received", info.received_bytes),
                eddy_log_uint("sent", info.sent_bytes),
                eddy_log_ms("ms", eddy_now() - info.started_ns), eddy_log_str("client", client),
                values.all[0], values.all[1], values.all[2], eddy_log_end());
}

static int access_log(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        int result = eddy_http_next(exchange, next);

        log_request(arg, exchange, result);
        return result;
}

int eddy_http_use_access_log(eddy_http_router *router, const struct eddy_http_access_log_opts *opts)
{
        struct eddy_http_access_log_opts *own = ed_alloc(sizeof(*own));

        if (own)
                *own = opts ? *opts : (struct eddy_http_access_log_opts){ .log = NULL };
        return ed_http_router_use_own(router, access_log, own, ed_free);
}
