/*
 * http/server_metrics.c - the requests of a server as metrics.
 */
#include "eddy/http_server_metrics.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/list.h"
#include "eddy/time.h"
#include "http/exchange.h"

/* The routes of a program are its own, so the number of series needs no low limit. */
enum { SERIES_MAX = 100000 };

#define NS_PER_S 1e9

struct eddy_http_server_metrics {
        eddy_metric *requests, *seconds, *in_flight, *received, *sent;
};

static const char *const by_route[] = { "route", NULL };
static const char *const by_status[] = { "route", "status", NULL };

static int make(eddy_metrics *metrics, enum eddy_metric_kind kind, const char *name,
                const char *help, const char *const *labels, eddy_metric **ret_metric)
{
        const struct eddy_metric_opts opts = {
                .name = name, .help = help, .labels = labels, .series_max = SERIES_MAX
        };

        return eddy_metric_new(metrics, kind, &opts, ret_metric);
}

static int make_all(eddy_metrics *metrics, eddy_http_server_metrics *measured)
{
        int err = make(metrics, EDDY_METRIC_COUNTER, "http_requests_total", "Requests served",
                       by_status, &measured->requests);

        if (err >= 0)
                err = make(metrics, EDDY_METRIC_HISTOGRAM, "http_request_duration_seconds",
                           "Time in the handlers of requests", by_route, &measured->seconds);
        if (err >= 0)
                err = make(metrics, EDDY_METRIC_GAUGE, "http_requests_in_flight",
                           "Requests whose handlers run", NULL, &measured->in_flight);
        if (err >= 0)
                err = make(metrics, EDDY_METRIC_COUNTER, "http_received_bytes_total",
                           "Bytes of requests, with heads", by_route, &measured->received);
        if (err >= 0)
                err = make(metrics, EDDY_METRIC_COUNTER, "http_sent_bytes_total",
                           "Bytes of responses, with heads", by_route, &measured->sent);
        return err;
}

int eddy_http_server_metrics_new(eddy_metrics *metrics, eddy_http_server_metrics **ret_measured)
{
        eddy_http_server_metrics *measured;
        int err;

        if (!metrics || !ret_measured)
                return -EINVAL;
        measured = ed_alloc_zero(sizeof(*measured));
        if (!measured)
                return -ENOMEM;
        err = make_all(metrics, measured);
        if (err < 0) {
                ed_free(measured);
                return err;
        }
        *ret_measured = measured;
        return 0;
}

void eddy_http_server_metrics_free(eddy_http_server_metrics *measured)
{
        ed_free(measured);
}

/* Returns the value of the label 'status' for a handler that has returned 'result'. */
static const char *status_class(eddy_http_exchange *exchange, int result)
{
        static const char *const classes[] = { "1xx", "2xx", "3xx", "4xx", "5xx" };
        const int status = ed_http_exchange_status(exchange, result);

        if (status == 0)
                return "canceled";
        return classes[status < 600 ? status / 100 - 1 : 4];
}

/* A request that is counted when it has its answer. */
struct counted {
        struct ed_http_after after;
        const eddy_http_server_metrics *metrics;
};

static void count(eddy_http_exchange *exchange, const struct ed_http_after *after)
{
        const eddy_http_server_metrics *metrics =
                ed_container_of(after, const struct counted, after)->metrics;
        const char *const values[] = { after->route, status_class(exchange, after->result) };
        struct eddy_http_exchange_info info;

        eddy_http_exchange_info(exchange, &info);
        eddy_series_add(eddy_metric_series(metrics->requests, values), 1);
        eddy_series_add(eddy_metric_series(metrics->received, values),
                        (double) info.received_bytes);
        eddy_series_add(eddy_metric_series(metrics->sent, values), (double) info.sent_bytes);
}

int eddy_http_measure(eddy_http_exchange *exchange, struct eddy_http_next *next, void *measured)
{
        const eddy_http_server_metrics *metrics = measured;
        struct counted counted = { .after.fn = count, .metrics = metrics };
        int64_t began_ns = eddy_now();
        eddy_series *in_flight;

        if (!metrics) {
                if (exchange)
                        (void) exchange->ops->refuse(
                                exchange, "the argument of eddy_http_measure() is NULL: pass the "
                                          "metrics of eddy_http_server_metrics_new()");
                return -EINVAL;
        }
        in_flight = eddy_metric_series(metrics->in_flight, NULL);
        eddy_series_add(in_flight, 1);
        counted.after.result = eddy_http_next(exchange, next);
        eddy_series_add(in_flight, -1);
        counted.after.route = eddy_http_exchange_route(exchange);
        eddy_series_observe(eddy_metric_series(metrics->seconds, &counted.after.route),
                            (double) (eddy_now() - began_ns) / NS_PER_S);
        ed_http_exchange_after(exchange, &counted.after, sizeof(counted));
        return counted.after.result;
}
