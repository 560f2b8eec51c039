/*
 * eddy/http_server_metrics.h - the requests of a server as metrics, by middleware.
 *
 *     eddy_http_server_metrics *measured;
 *
 *     err = eddy_http_server_metrics_new(metrics, &measured);
 *     ...
 *     eddy_http_router_use(router, eddy_http_measure, measured);
 *
 * The metrics, whose labels have a bounded number of values:
 *
 *     http_requests_total             route, status   counter
 *     http_request_duration_seconds   route           histogram: the time in the handler
 *     http_requests_in_flight                         gauge
 *     http_received_bytes_total       route           counter, with heads
 *     http_sent_bytes_total           route           counter, with heads; with HTTP/2 mostly
 *                                                     without, because the head leaves later
 *
 * The label 'route' is the pattern of the route (eddy_http_exchange_route()), never the path, and ""
 * without a route.  The label 'status' is "1xx" to "5xx", or "canceled" if the handler was cancelled
 * before it answered, because its client was gone or the server stopped.  A request whose route has
 * more than EDDY_METRIC_VALUE_BYTES_MAX bytes counts only as in flight.  A set belongs to its loop: a
 * server on several loops needs a router and a set for each.
 */
#ifndef EDDY_HTTP_SERVER_METRICS_H
#define EDDY_HTTP_SERVER_METRICS_H

#include "eddy/def.h"
#include "eddy/http_router.h"
#include "eddy/metrics.h"

EDDY_BEGIN_DECLS

typedef struct eddy_http_server_metrics eddy_http_server_metrics;

/*
 * Make the metrics above in the set 'metrics'.  A set can have them once; several routers can use
 * them.
 *
 * Suspends: no.
 * Errors: -EINVAL  'metrics' or 'ret_measured' is NULL
 *         -EEXIST, -ENOSPC, -ENOMEM, EDDY_E_RUN_OTHER_LOOP  as for eddy_metric_new(); metrics that
 *                  were made before the error remain in the set
 * Owns: borrows 'metrics'; returns (owned) '*ret_measured', to be freed by
 *       eddy_http_server_metrics_free().
 */
EDDY_API EDDY_MUST_USE int eddy_http_server_metrics_new(eddy_metrics *metrics,
                                                        eddy_http_server_metrics **ret_measured);

/* Free it; the metrics remain in their set.  No router uses it any more.  NULL is ignored.  Suspends: no. */
EDDY_API void eddy_http_server_metrics_free(eddy_http_server_metrics *measured);

/*
 * Middleware (eddy_http_middleware_fn) that measures each request.  'measured' is an
 * eddy_http_server_metrics, borrowed until the server has ended.  Make it the outermost.  An answer
 * that the server or its option 'on_error' gives in place of the handler counts too, with status
 * and bytes; if memory is short, the status of a server without 'on_error' counts.  An aborted
 * exchange counts as "canceled".  Requests that the server refuses before it calls the handler
 * (such as 400, 408, 413, 414, 417 or 431) do not count.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_next()
 *         -EINVAL  'measured' is NULL
 */
EDDY_API EDDY_MUST_USE int eddy_http_measure(eddy_http_exchange *exchange,
                                             struct eddy_http_next *next, void *measured);

static inline void eddy_http_server_metrics_auto_release(eddy_http_server_metrics **measured)
{
        eddy_http_server_metrics_free(*measured);
}

EDDY_END_DECLS

#endif
