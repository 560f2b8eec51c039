/*
 * eddy/metrics.h - counters, gauges and histograms, as a page for Prometheus.
 *
 *     static const char *const labels[] = { "endpoint", "status", NULL };
 *     eddy_metric *requests = eddy_metrics_counter(metrics, "http_requests_total",
 *                                                  "Requests served", labels);
 *     ...
 *     eddy_series_add(eddy_metric_series(requests, (const char *[]){ "/users", "200" }), 1);
 *
 * A metric has a series for each combination of label values.  Take the values from a
 * small fixed set: with URL paths or user names as values, each path or name would make a
 * series.  Beyond 'series_max' a new combination is refused, with one report.
 *
 * A set, its metrics and their series belong to the loop that made them (eddy/def.h).  The
 * functions on series never fail, and ignore NULL; they do not check the loop, so only the
 * loop's thread may call them.
 */
#ifndef EDDY_METRICS_H
#define EDDY_METRICS_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

typedef struct eddy_metrics eddy_metrics; /* a set of metrics, which make one page */
typedef struct eddy_metric eddy_metric;
typedef struct eddy_series eddy_series;

enum {
        EDDY_METRIC_LABELS_MAX = 8,
        EDDY_METRIC_BUCKETS_MAX = 64,
        EDDY_METRIC_VALUE_BYTES_MAX = 256, /* of a label's value; a longer value is refused */
        EDDY_METRICS_MAX = 1024,
};

/* All zero is the default. */
struct eddy_metrics_opts {
        int without_process EDDY_UNSET;   /* leave out the metrics of the process (process_*) */
        int without_loop EDDY_UNSET;      /* leave out the metrics of this thread's loop (eddy_*) */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Make a set of metrics.  'opts' may be NULL.  Unless the options leave them out, the page
 * has the CPU time, memory, open files and start time of the process, and the lag, tasks,
 * turns and thread pools of the loop.
 *
 * Suspends: no.
 * Errors: -ENOMEM, EDDY_E_RUN_NOT_RUNNING
 * Owns: returns (owned) '*ret_metrics', to be closed by eddy_metrics_close().
 */
EDDY_API EDDY_MUST_USE int eddy_metrics_new(const struct eddy_metrics_opts *opts,
                                            eddy_metrics **ret_metrics);

/* Free the set, its metrics and their series.  NULL is ignored.  Suspends: no. */
EDDY_API void eddy_metrics_close(eddy_metrics *metrics);

enum eddy_metric_kind {
        EDDY_METRIC_COUNTER, /* only grows; its name should end in _total */
        EDDY_METRIC_GAUGE,
        EDDY_METRIC_HISTOGRAM,
};

/* Returns the present value of a metric; called when the page is written. */
typedef double eddy_metric_read_fn(void *arg);

struct eddy_metric_opts {
        const char *name EDDY_UNSET; /* letters, digits, '_' and ':', not beginning with a digit */
        const char *help EDDY_UNSET; /* one sentence; NULL: none */
        /* Names of the labels, NULL after the last; NULL: none.  Not "le", nor beginning with
         * "__". */
        const char *const *labels EDDY_UNSET;
        uint32_t series_max EDDY_UNSET;    /* 0: 1,000 */
        uint32_t buckets_count EDDY_UNSET; /* of 'buckets', at most EDDY_METRIC_BUCKETS_MAX */
        /* A histogram's upper limits, rising; NULL: 5 ms to 10 s, for durations in seconds. */
        const double *buckets EDDY_UNSET;
        /* Returns the value of a counter or gauge without labels; NULL: the value is the one that
         * was added or set. */
        eddy_metric_read_fn *read EDDY_UNSET;
        void *read_arg EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Make a metric.  Everything in 'opts' is copied.
 *
 * Suspends: no.
 * Errors: -EINVAL  a name or the kind is not valid; 'help' is not UTF-8; too many labels
 *                  or buckets, or buckets that do not rise; buckets of another kind than
 *                  a histogram; 'read' with labels or a histogram; 'metrics' is NULL
 *         -EEXIST  the page has lines of this name: of another metric, of a histogram,
 *                  which adds _bucket, _sum and _count to its name; or the name begins
 *                  with process_ or eddy_, unless these metrics are left out
 *         -ENOSPC  the set has EDDY_METRICS_MAX metrics
 *         -ENOMEM, EDDY_E_RUN_OTHER_LOOP
 * Owns: '*ret_metric' is borrowed, until the set is closed.
 */
EDDY_API EDDY_MUST_USE int eddy_metric_new(eddy_metrics *metrics, enum eddy_metric_kind kind,
                                           const struct eddy_metric_opts *opts,
                                           eddy_metric **ret_metric);

/*
 * eddy_metric_new() with the other options 0.  Each returns the metric (borrowed), or NULL,
 * which all functions ignore; the failure is reported (EDDY_REPORT_METRICS).  'labels' may
 * be NULL.
 *
 * Suspends: no.
 */
EDDY_API eddy_metric *eddy_metrics_counter(eddy_metrics *metrics, const char *name,
                                           const char *help, const char *const *labels);
EDDY_API eddy_metric *eddy_metrics_gauge(eddy_metrics *metrics, const char *name, const char *help,
                                         const char *const *labels);
EDDY_API eddy_metric *eddy_metrics_histogram(eddy_metrics *metrics, const char *name,
                                             const char *help, const char *const *labels);

/*
 * Returns the series of these values, one for each label of the metric and in its
 * order; the first call makes it.  A metric without labels has one series from the start
 * ('values' NULL).  Keep the pointer of a series that is used often.
 *
 * Returns NULL if memory runs out, if a value is longer than EDDY_METRIC_VALUE_BYTES_MAX
 * or is not UTF-8, or if the metric has 'series_max' series.  The functions below ignore
 * NULL.  eddy_metrics_refused() counts these calls, and the first for each metric is
 * reported (EDDY_REPORT_METRICS).  In another loop the result is NULL too, and not counted.
 *
 * Suspends: no.
 * Owns: borrowed, until the set is closed.
 */
EDDY_API eddy_series *eddy_metric_series(eddy_metric *metric, const char *const *values);

/* Returns the number of calls of eddy_metric_series() that were refused.  Suspends: no. */
EDDY_API uint64_t eddy_metrics_refused(const eddy_metrics *metrics);

/* Private: the beginning of a series. */
struct eddy_series {
        double value; /* of a counter or gauge */
        enum eddy_metric_kind kind;
};

/* Add to a counter (0 or more) or a gauge.  Suspends: no. */
static inline void eddy_series_add(eddy_series *series, double amount)
{
        if (series && (amount >= 0 || series->kind != EDDY_METRIC_COUNTER))
                series->value += amount;
}

/* Set a gauge.  Suspends: no. */
static inline void eddy_series_set(eddy_series *series, double value)
{
        if (series && series->kind == EDDY_METRIC_GAUGE)
                series->value = value;
}

/*
 * Count an observation in a histogram: a size in bytes, or a duration in seconds, which is
 * (double) (eddy_now() - began_ns) / 1e9.
 *
 * Suspends: no.
 */
EDDY_API void eddy_series_observe(eddy_series *series, double value);

/*
 * Write the page, in the text format of Prometheus (version 0.0.4, whose content type is
 * EDDY_METRICS_TYPE).
 *
 * Suspends: no.
 * Errors: -EINVAL  'metrics' is NULL
 *         -ENOMEM, EDDY_E_RUN_OTHER_LOOP
 * Owns: returns (owned) '*ret_text', with a NUL that 'ret_bytes' does not count, to be
 *       freed by eddy_free().
 */
#define EDDY_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
EDDY_API EDDY_MUST_USE int eddy_metrics_write(const eddy_metrics *metrics, char **ret_text,
                                              size_t *ret_bytes);

static inline void eddy_metrics_auto_release(eddy_metrics **metrics)
{
        eddy_metrics_close(*metrics);
}

EDDY_END_DECLS

#endif
