/*
 * http/handler_limits.c - the middleware that limits the time of a handler, and the body of a request.
 */
#include <errno.h>

#include "base/alloc.h"
#include "eddy/call.h"
#include "eddy/http_middleware.h"
#include "http/exchange.h"
#include "http/input.h"
#include "http/router.h"

/* ---- time ------------------------------------------------------------------ */

struct timed {
        eddy_http_exchange *exchange;
        struct eddy_http_next *next;
};

static int call_next(void *arg)
{
        const struct timed *timed = arg;

        return eddy_http_next(timed->exchange, timed->next);
}

static int limit_time(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        const int64_t *timeout_ns = arg;
        struct timed timed = { exchange, next };

        return eddy_call_timeout(call_next, &timed, *timeout_ns);
}

int eddy_http_use_timeout(eddy_http_router *router, int64_t timeout_ns)
{
        int64_t *own;

        if (timeout_ns <= 0)
                return ed_http_router_failed(router, -EINVAL,
                                             "the time of eddy_http_use_timeout() is not above 0");
        own = ed_alloc(sizeof(*own));
        if (own)
                *own = timeout_ns;
        return ed_http_router_use_own(router, limit_time, own, ed_free);
}

/* ---- bodies ---------------------------------------------------------------- */

static int limit_body(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        const uint64_t *bytes_max = arg;
        int err = exchange->ops->limit_body(exchange, *bytes_max);

        return err < 0 ? ed_http_input_failed_by(exchange, err, ED_HTTP_INPUT_TOO_LARGE)
                       : eddy_http_next(exchange, next);
}

int eddy_http_use_body_limit(eddy_http_router *router, uint64_t bytes_max)
{
        uint64_t *own = ed_alloc(sizeof(*own));

        if (own)
                *own = bytes_max;
        return ed_http_router_use_own(router, limit_body, own, ed_free);
}
