/*
 * eddy/http_metrics.h - the page of a set of metrics over HTTP, for Prometheus to fetch.
 *
 *     err = eddy_http_serve(listener, NULL, eddy_http_metrics, metrics);
 *
 * Serve it on a port of its own: the page is not for the service's clients.  A service
 * with one port adds the route "GET /metrics" with this handler to its router, after
 * middleware that checks who asks.
 */
#ifndef EDDY_HTTP_METRICS_H
#define EDDY_HTTP_METRICS_H

#include "eddy/def.h"
#include "eddy/http_server.h"
#include "eddy/metrics.h"

EDDY_BEGIN_DECLS

/*
 * A handler of eddy_http_serve(): answers GET and HEAD of /metrics with the page of
 * 'metrics' (an eddy_metrics, borrowed), other methods with 405, and other paths with 404.
 *
 * Suspends: yes.
 * Errors: -EINVAL  'metrics' is NULL
 *         -ENOMEM
 *         those of eddy_http_exchange_respond()
 */
EDDY_API EDDY_MUST_USE int eddy_http_metrics(eddy_http_exchange *exchange, void *metrics);

EDDY_END_DECLS

#endif
