/*
 * eddy/http_health.h - handlers that report whether a server lives and is ready, for load balancers and
 * orchestrators.
 *
 *     static const struct eddy_http_check checks[] = { { "database", ping, &db } };
 *     struct eddy_http_ready_opts ready = { .checks = checks, .checks_count = 1 };
 *
 *     eddy_http_router_add(router, "GET /livez", eddy_http_handle_live, NULL, NULL);
 *     eddy_http_router_add(router, "GET /readyz", eddy_http_handle_ready, &ready, NULL);
 *
 * Middleware of the router encloses these routes too: a rate limit answers 429, and a check of credentials
 * 401.  Add such middleware to another router, and mount that one (eddy_http_router_mount()).
 */
#ifndef EDDY_HTTP_HEALTH_H
#define EDDY_HTTP_HEALTH_H

#include "eddy/def.h"
#include "eddy/http_exchange.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

/* A condition for being ready: fn(arg) returns 0 or more.  It may suspend. */
struct eddy_http_check {
        const char *name EDDY_UNSET;
        eddy_task_fn *fn EDDY_UNSET;
        void *arg EDDY_UNSET;
};

struct eddy_http_ready_opts {
        const struct eddy_http_check *checks EDDY_UNSET;
        size_t checks_count EDDY_UNSET;
        int64_t timeout_ns EDDY_UNSET;    /* for all checks; 0: 1 s */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Handlers (eddy_http_handler_fn).  The first answers 200 always: the process serves requests.  The
 * second, whose argument is a struct eddy_http_ready_opts or NULL, calls the checks one after the other.
 * It answers 200 if all succeed in time, else 503 by a problem document that names the check.  While the
 * server drains (eddy_serve_is_stopping()) it answers 503 without a check.  Both answers have
 * "Cache-Control: no-store".
 *
 * Suspends: yes.
 * Errors: -ECANCELED, and those of eddy_http_exchange_respond()
 */
EDDY_API EDDY_MUST_USE int eddy_http_handle_live(eddy_http_exchange *exchange, void *arg);
EDDY_API EDDY_MUST_USE int eddy_http_handle_ready(eddy_http_exchange *exchange, void *arg);

EDDY_END_DECLS

#endif
