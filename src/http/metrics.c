/*
 * http/metrics.c - the page of a set of metrics.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/http_metrics.h"
#include "http/exchange.h"

static int respond_text(eddy_http_exchange *exchange, int status, const char *text)
{
        static const struct eddy_http_header headers[] = { { "Content-Type", "text/plain" },
                                                           { "Allow", "GET, HEAD" } };

        return eddy_http_exchange_respond(exchange, status, headers, status == 405 ? 2 : 1, text,
                                          strlen(text));
}

int eddy_http_metrics(eddy_http_exchange *exchange, void *metrics)
{
        static const struct eddy_http_header type = { "Content-Type", EDDY_METRICS_TYPE };
        size_t bytes;
        char *text;
        int err;

        if (strcmp(eddy_http_exchange_path(exchange), "/metrics") != 0)
                return respond_text(exchange, 404, "the metrics are at /metrics\n");
        if (!ed_http_exchange_is_get_or_head(exchange))
                return respond_text(exchange, 405, "use GET\n");
        err = eddy_metrics_write(metrics, &text, &bytes);
        if (err < 0)
                return err;
        err = eddy_http_exchange_respond(exchange, 200, &type, 1, text, bytes);
        ed_free(text);
        return err;
}
