/*
 * service_scenarios.c - a program that limits its work in time, and reports it in a log and in
 * metrics.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "scenario.h"
#include "test.h"

enum { WORKERS = 3, ITEMS = 4, SERIES = 20 };

struct service {
        eddy_log *log;
        eddy_metrics *metrics;
        eddy_metric *latency;
        eddy_limiter *limiter;
        eddy_pool *pool;
        eddy_stream *there; /* the log writes to the other end */
        size_t bytes;       /* read there */
        bool is_read;       /* to its end */
};

/* --- items of a pool --- */

static int open_item(void *arg, void **ret_item)
{
        void *item = eddy_malloc(1);
        int err = item ? eddy_sleep(EDDY_MS(1)) : -ENOMEM;

        (void) arg;
        if (err < 0)
                eddy_free(item);
        else
                *ret_item = item;
        return err;
}

static void close_item(void *arg, void *item)
{
        (void) arg;
        eddy_free(item);
}

static int reset_item(void *arg, void *item)
{
        (void) arg;
        (void) item;
        return eddy_sleep(EDDY_US(100));
}

/* --- the work --- */

/* One item: its series may be refused if there is no memory, but never the item. */
static int work_once(struct service *service, int item)
{
        char name[16];
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        struct eddy_reservation reservation;
        int err = eddy_pool_acquire(service->pool, &loan);

        if (err == 0)
                err = eddy_limiter_reserve(service->limiter, 1, 5, &reservation);
        if (err < 0)
                return err;
        snprintf(name, sizeof(name), "item%d", item);
        err = eddy_sleep(EDDY_MS(1));
        eddy_series_observe(eddy_metric_series(service->latency, (const char *[]){ name }), 0.001);
        eddy_log_info(service->log, "done", eddy_log_int("item", item));
        eddy_limiter_reconcile(service->limiter, &reservation, 1, 7);
        return err;
}

static int work(void *arg)
{
        int err = 0;

        tasks_begun++;
        for (int i = 0; i < ITEMS && err == 0; i++)
                err = work_once(arg, i);
        tasks_ended++;
        return err;
}

static int read_log(void *arg)
{
        struct service *service = arg;
        char buf[64];
        int64_t n;

        tasks_begun++;
        while ((n = eddy_stream_read(service->there, buf, sizeof(buf))) > 0)
                service->bytes += (size_t) n;
        service->is_read = n == 0;
        tasks_ended++;
        return (int) n;
}

static int work_in_scope(struct service *service)
{
        eddy_scope scope;
        int err = 0;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < WORKERS && err == 0; i++)
                err = eddy_scope_start(&scope, work, service);
        if (err < 0)
                eddy_scope_cancel(&scope);
        return eddy_scope_end_with(&scope, err);
}

/* --- the page of metrics --- */

static int write_page(struct service *service)
{
        char *text, name[16];
        size_t bytes;
        int err;

        for (int i = 0; i < SERIES; i++) {
                snprintf(name, sizeof(name), "series%d", i);
                eddy_series_observe(eddy_metric_series(service->latency, (const char *[]){ name }),
                                    1);
        }
        err = eddy_metrics_write(service->metrics, &text, &bytes);
        if (err < 0)
                return err;
        CHECK(strstr(text, "latency_seconds_count"));
        eddy_free(text);
        return 0;
}

/* --- what they need --- */

static int measure(struct service *service)
{
        static const char *const labels[] = { "item", NULL };
        struct eddy_metric_opts opts = { .name = "latency_seconds",
                                         .help = "Time of an item.",
                                         .labels = labels };
        int err = eddy_metrics_new(NULL, &service->metrics);

        return err < 0 ? err
                       : eddy_metric_new(service->metrics, EDDY_METRIC_HISTOGRAM, &opts,
                                         &service->latency);
}

static int limit(struct service *service)
{
        static const struct eddy_limiter_limit limits[] = {
                { EDDY_LIMITER_REQUESTS, 120, EDDY_MIN(1) },
                { EDDY_LIMITER_TOKENS, 1000, EDDY_MIN(1) },
        };

        return eddy_limiter_new(&(struct eddy_limiter_opts){ .limits = limits, .limits_count = 2 },
                                &service->limiter);
}

static int lend(struct service *service)
{
        static const struct eddy_pool_ops ops = { .open = open_item,
                                                  .close = close_item,
                                                  .reset = reset_item };

        return eddy_pool_new(&(struct eddy_pool_opts){ .ops = &ops, .size = 1, .overflow = 1 },
                             &service->pool);
}

static int serve(struct service *service)
{
        int err = measure(service);

        if (err == 0)
                err = limit(service);
        if (err == 0)
                err = lend(service);
        if (err == 0)
                err = work_in_scope(service);
        if (err == 0)
                err = write_page(service);
        if (err == 0)
                err = eddy_log_flush(service->log);
        eddy_pool_close(service->pool);
        eddy_limiter_close(service->limiter);
        eddy_metrics_close(service->metrics);
        return err;
}

static int serve_with_log(struct service *service, eddy_stream *here)
{
        eddy_scope scope;
        int err, end_err;

        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start(&scope, read_log, service);
        if (err == 0)
                err = eddy_log_open(&(struct eddy_log_opts){ .stream = here }, &service->log);
        if (err == 0)
                err = serve(service);
        eddy_log_close(service->log);
        eddy_stream_close(here);
        if (err < 0)
                eddy_scope_cancel(&scope);
        end_err = eddy_scope_end(&scope);
        CHECK(err < 0 || !service->is_read || service->bytes > (size_t) WORKERS * ITEMS * 20);
        return err < 0 ? err : end_err;
}

int scenario_service(void *arg)
{
        struct service service = { 0 };
        eddy_stream *here;
        int err = eddy_stream_pair(NULL, &here, &service.there);

        (void) arg;
        if (err < 0)
                return err;
        err = serve_with_log(&service, here);
        eddy_stream_close(service.there);
        return err;
}
