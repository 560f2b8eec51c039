/*
 * batch/metrics.c - the page for Prometheus, and the log of attempts.
 *
 * The labels are endpoints and statuses only: ids and URLs would make a series each.
 */
#include "batch/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/run/attempt.h"
#include "common/console.h"
#include "common/option.h"
#include "common/outcome.h"
#include "eddy/alloc.h"
#include "eddy/error.h"
#include "eddy/http_metrics.h"
#include "eddy/http_server.h"
#include "eddy/log.h"
#include "eddy/metrics.h"
#include "eddy/scope.h"
#include "eddy/tcp.h"
#include "eddy/time.h"

enum {
        ENDPOINTS_MAX = ED_ENDPOINTS_MAX + ED_ENDPOINTS_BASES_MAX,
        RESULTS_MAX = 8 * ENDPOINTS_MAX,
};

/* How long the end of a run waits for its log. */
#define LOG_FLUSH_NS EDDY_SEC(2)

struct ed_batch_metrics {
        eddy_log *log; /* NULL: none */
        const char *log_path;
        eddy_metrics *page; /* NULL: none */
        eddy_metric *attempts, *latency;
        eddy_listener *listener;
};

/* Split HOST:PORT. */
static int address_parse(const char *text, char host[256], uint16_t *ret_port)
{
        const char *colon = strrchr(text, ':');
        size_t bytes = colon ? (size_t) (colon - text) : 0;

        if (!colon || bytes >= 256) {
                ed_console_usage("batch",
                                 "--metrics %s: write it as HOST:PORT, such as "
                                 "127.0.0.1:9090",
                                 text);
                return -EINVAL;
        }
        if (bytes >= 2 && text[0] == '[' && text[bytes - 1] == ']') {
                text++;
                bytes -= 2;
        }
        memcpy(host, text, bytes);
        host[bytes] = '\0';
        return ed_option_port("batch", "--metrics", text, colon + 1, ret_port);
}

static int serve(void *arg)
{
        struct ed_batch_metrics *metrics = arg;

        return eddy_http_serve(metrics->listener, NULL, eddy_http_metrics, metrics->page);
}

/* Returns a number of the run that the page shows. */
static double count_read(void *arg)
{
        return (double) *(const uint64_t *) arg;
}

/* Add the numbers that the run keeps anyway. */
static int counts_add(struct ed_batch_run *run, eddy_metrics *page)
{
        struct {
                const char *name, *help;
                enum eddy_metric_kind kind;
                uint64_t *value;
        } counts[] = {
                { "batch_ok_total", "Successful answers", EDDY_METRIC_COUNTER, &run->stats.ok },
                { "batch_failed_total", "Requests that failed", EDDY_METRIC_COUNTER,
                  &run->stats.failed },
                { "batch_retries_total", "Attempts after a failed one", EDDY_METRIC_COUNTER,
                  &run->stats.retries },
                { "batch_refused_total", "Attempts that a server refused for a time",
                  EDDY_METRIC_COUNTER, &run->stats.refused },
                { "batch_key_refreshes_total", "Times that the API key was refreshed",
                  EDDY_METRIC_COUNTER, &run->keys->refreshes },
                { "batch_in_flight", "Attempts in flight", EDDY_METRIC_GAUGE,
                  &run->stats.in_flight },
                { "batch_input_tokens_total", "Input tokens that answers report",
                  EDDY_METRIC_COUNTER, &run->spent.usage.input },
                { "batch_output_tokens_total", "Output tokens that answers report",
                  EDDY_METRIC_COUNTER, &run->spent.usage.output },
        };
        int err = 0;

        for (size_t i = 0; err == 0 && i < sizeof(counts) / sizeof(counts[0]); i++) {
                eddy_metric *metric;

                err = eddy_metric_new(page, counts[i].kind,
                                      &(struct eddy_metric_opts){ .name = counts[i].name,
                                                                  .help = counts[i].help,
                                                                  .read = count_read,
                                                                  .read_arg = counts[i].value },
                                      &metric);
        }
        return err;
}

static int page_make(struct ed_batch_run *run, struct ed_batch_metrics *metrics)
{
        static const char *const by_result[] = { "endpoint", "result", NULL };
        static const char *const by_endpoint[] = { "endpoint", NULL };
        static const double seconds[] = { 0.01,  0.02,  0.04,   0.08,   0.16,  0.32,
                                          0.64,  1.28,  2.56,   5.12,   10.24, 20.48,
                                          40.96, 81.92, 163.84, 327.68, 600 };
        int err = eddy_metrics_new(NULL, &metrics->page);

        if (err == 0)
                err = counts_add(run, metrics->page);
        if (err == 0)
                err = eddy_metric_new(
                        metrics->page, EDDY_METRIC_COUNTER,
                        &(struct eddy_metric_opts){
                                .name = "batch_attempts_total",
                                .help = "Attempts by endpoint and result: a status, or the code of "
                                        "an error",
                                .labels = by_result,
                                .series_max = RESULTS_MAX },
                        &metrics->attempts);
        if (err == 0)
                err = eddy_metric_new(
                        metrics->page, EDDY_METRIC_HISTOGRAM,
                        &(struct eddy_metric_opts){ .name = "batch_attempt_seconds",
                                                    .help = "Time of attempts",
                                                    .labels = by_endpoint,
                                                    .series_max = ENDPOINTS_MAX,
                                                    .buckets = seconds,
                                                    .buckets_count =
                                                            sizeof(seconds) / sizeof(seconds[0]) },
                        &metrics->latency);
        return err;
}

static int page_begin(struct ed_batch_run *run, struct ed_batch_metrics *metrics,
                      const char *address, eddy_scope *scope)
{
        char host[256];
        uint16_t port;
        int err = address_parse(address, host, &port);

        if (err < 0)
                return err;
        err = page_make(run, metrics);
        if (err == 0)
                err = eddy_tcp_listen(host, port, NULL, &metrics->listener);
        if (err < 0) {
                ed_console_usage("batch", "--metrics %s: %s", address, eddy_error_text(err));
                return err;
        }
        if (port == 0) {
                struct eddy_endpoint at = eddy_listener_endpoint(metrics->listener);
                char text[EDDY_ENDPOINT_TEXT_BYTES];

                eddy_endpoint_format(&at, text);
                ed_console_say("batch", "metrics at http://%s/metrics", text);
        }
        return eddy_scope_start(scope, serve, metrics);
}

/* Count and log an attempt. */
static void attempt_note(void *arg, const struct ed_attempt *attempt, unsigned attempts)
{
        const struct ed_batch_metrics *metrics = arg;
        const char *endpoint = attempt->endpoint ? attempt->endpoint->shown : "";
        int error = attempt->error < 0 ? attempt->error : attempt->judged;
        const char *reported = attempt->refusal.code;
        const char *code = error < 0 ? ed_outcome_of(error)->code : reported;
        const char *cause = attempt->error == 0 && *reported ? reported : code;
        bool is_refused = attempt->refusal.meaning != ED_MEANS_OTHER && !ed_attempt_is_ok(attempt);
        char status[12];

        if (metrics->log)
                eddy_log_info(metrics->log, "attempt",
                              eddy_log_text("custom_id", attempt->request->id,
                                            attempt->request->id_bytes),
                              eddy_log_uint("attempt", attempts),
                              eddy_log_str("endpoint", endpoint),
                              eddy_log_int("status", attempt->status),
                              eddy_log_ms("ms", attempt->total_ns), eddy_log_str("cause", cause),
                              eddy_log_bool("refused", is_refused));
        if (!metrics->page)
                return;
        snprintf(status, sizeof(status), "%d", attempt->status);
        eddy_series_add(eddy_metric_series(metrics->attempts,
                                           (const char *[]){ endpoint, error < 0 ? code : status }),
                        1);
        if (attempt->start_ns)
                eddy_series_observe(
                        eddy_metric_series(metrics->latency, (const char *[]){ endpoint }),
                        (double) attempt->total_ns / 1e9);
}

int ed_metrics_begin(struct ed_batch_run *run, const char *log, const char *address,
                     eddy_scope *scope, struct ed_batch_metrics **ret_metrics)
{
        struct eddy_log_opts log_opts = { .path = log, .format = EDDY_LOG_JSON };
        struct ed_batch_metrics *metrics;
        int err = 0;

        if (!log && !address)
                return 0;
        metrics = eddy_malloc(sizeof(*metrics));
        if (!metrics)
                return -ENOMEM;
        *metrics = (struct ed_batch_metrics){ .log_path = log };
        *ret_metrics = metrics;
        run->attempted = attempt_note;
        run->attempted_arg = metrics;
        if (log) {
                err = eddy_log_open(&log_opts, &metrics->log);
                if (err < 0)
                        ed_console_usage("batch", "--log %s: %s", log, eddy_error_text(err));
        }
        if (err == 0 && address)
                err = page_begin(run, metrics, address, scope);
        return err;
}

/* Close the log, and report lines that are not in its file. */
static void log_end(const struct ed_batch_metrics *metrics)
{
        struct eddy_log_stats stats = { 0 };
        eddy_scope scope;
        int err = 0;

        if (!metrics->log)
                return;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = LOG_FLUSH_NS });
        err = eddy_log_flush(metrics->log);
        eddy_scope_end(&scope);
        eddy_log_stats(metrics->log, &stats);
        if (err < 0 || stats.dropped > 0)
                ed_console_say("batch", "--log %s: not all of its lines were written%s%s",
                               metrics->log_path, err < 0 ? ": " : "",
                               err < 0 ? eddy_error_text(err) : "");
        eddy_log_close(metrics->log);
}

void ed_metrics_end(struct ed_batch_metrics *metrics)
{
        if (!metrics)
                return;
        log_end(metrics);
        eddy_listener_close(metrics->listener);
        eddy_metrics_close(metrics->page);
        eddy_free(metrics);
}
