/*
 * 61-metrics - requests by endpoint and status, and their latencies, for Prometheus.
 *
 * `61-metrics 9090 URL...` fetches the URLs at once, counts them, and serves the page
 * at /metrics meanwhile; then it prints the page.  A latency includes the body.  The
 * dashboard beside this file, 61-metrics.grafana.json, shows p50, p95 and p99 for each
 * endpoint.
 *
 * As in the Python program, the endpoint is the URL, because the URLs are few.  If
 * they come from users, count by a pattern such as /users/{id}: each label value makes
 * a series, and after 1,000 series of a metric eddy refuses further ones.  A status of
 * 404 is counted like any other; a request without an answer within 10 s is a failure.
 *
 * Run: 61-metrics 0 $MOCK/delay/0.2 $MOCK/delay/0.2 $MOCK/status/404
 * Time: wall 0.2 s
 * Output:
 *     # HELP api_requests_total API requests
 *     # TYPE api_requests_total counter
 *     api_requests_total{endpoint="$MOCK/status/404",status="404"} 1
 *     api_requests_total{endpoint="$MOCK/delay/0.2",status="200"} 2
 *     # HELP api_latency_seconds API latency
 *     # TYPE api_latency_seconds histogram
 *     ...
 *     api_latency_seconds_bucket{endpoint="$MOCK/delay/0.2",le="0.1"} 0
 *     ...
 *     api_latency_seconds_bucket{endpoint="$MOCK/delay/0.2",le="+Inf"} 2
 *     api_latency_seconds_sum{endpoint="$MOCK/delay/0.2"} <n>
 *     api_latency_seconds_count{endpoint="$MOCK/delay/0.2"} 2
 *     ...
 */
#include <stdio.h>
#include <stdlib.h>

#include "eddy/eddy.h"

static eddy_http_client *client;
static eddy_metrics *metrics;
static eddy_metric *requests, *latency;
static char failure[400]; /* the first one, for main() */

static int fetch_traced(void *url)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = url };
        int64_t start_ns = eddy_now();
        char status[12] = "error";
        int err = eddy_http_client_send(client, &request, &response);

        if (err == 0)
                err = eddy_http_response_discard(response);
        if (err == 0)
                snprintf(status, sizeof(status), "%d", eddy_http_response_status(response));
        else if (err != -ECANCELED && !failure[0])
                snprintf(failure, sizeof(failure), "%s: %s", (const char *) url,
                         eddy_error_text(err));
        eddy_series_add(eddy_metric_series(requests, (const char *[]){ url, status }), 1);
        eddy_series_observe(eddy_metric_series(latency, (const char *[]){ url }),
                            (double) (eddy_now() - start_ns) / 1e9);
        return err;
}

static int serve_metrics(void *port)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        int err = eddy_tcp_listen("127.0.0.1", (uint16_t) strtoul(port, NULL, 10), NULL, &listener);

        return err == 0 ? eddy_http_serve(listener, NULL, eddy_http_metrics, metrics) : err;
}

static int run(void *argv)
{
        static const char *const by_status[] = { "endpoint", "status", NULL };
        static const char *const by_url[] = { "endpoint", NULL };
        struct eddy_background_opts service = { .flags = EDDY_BACKGROUND_SERVICE };
        struct eddy_http_client_opts limits = { .timeouts.total_ns = EDDY_SEC(10) };
        char **url = argv, *page = NULL;
        size_t bytes;
        int err = eddy_metrics_new(NULL, &metrics);

        requests = eddy_metrics_counter(metrics, "api_requests_total", "API requests", by_status);
        latency = eddy_metrics_histogram(metrics, "api_latency_seconds", "API latency", by_url);
        if (err == 0)
                err = eddy_http_client_new(&limits, &client);
        if (err == 0)
                err = eddy_background_with(serve_metrics, *++url, &service);
        if (err == 0)
                EDDY_SCOPE (scope, &err)
                        while (*++url)
                                eddy_scope_start(&scope, fetch_traced, *url);
        if (err == 0)
                err = eddy_metrics_write(metrics, &page, &bytes);
        if (err == 0)
                fputs(page, stdout);
        eddy_free(page);
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        int err = argc > 2 ? eddy_run(run, argv, NULL) : -EINVAL;
        const char *reason =
                argc <= 2    ? "the port or the URLs are missing (usage: 61-metrics PORT URL...)"
                : failure[0] ? failure
                : err == -ECANCELED ? "stopped by Ctrl-C"
                                    : eddy_error_text(err);

        eddy_metrics_close(metrics); /* after the service has ended */
        if (err < 0)
                fprintf(stderr, "61-metrics: %s\n", reason);
        return err == -ECANCELED ? 130 : err < 0;
}
