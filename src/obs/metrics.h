/*
 * obs/metrics.h - the structs of metrics.
 */
#ifndef ED_OBS_METRICS_H
#define ED_OBS_METRICS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "eddy/metrics.h"
#include "loop/member.h"

/* Labels as on the page, without braces: endpoint="/users",status="200". */
struct ed_metric_labels {
        const char *text;
        size_t bytes;
};

/* A series; after it in memory: the counts of a histogram's buckets, then the labels. */
struct ed_series {
        struct eddy_series base;
        struct eddy_metric *metric;
        struct ed_list link; /* in its metric, in the order made */
        struct ed_hash_node node;
        uint64_t count; /* a histogram's observations; their sum is base.value */
        uint64_t *buckets;
        struct ed_metric_labels labels;
};

struct eddy_metric {
        struct ed_list link;
        struct eddy_metrics *metrics;
        enum eddy_metric_kind kind;
        char *name, *help;
        char *labels[EDDY_METRIC_LABELS_MAX];
        uint32_t labels_count, buckets_count;
        double *limits; /* of the buckets */
        uint32_t series_max, series_count;
        struct ed_list series;
        struct ed_hash_table table; /* of the series, by the values of their labels */
        bool was_refused;
        eddy_metric_read_fn *read;
        void *read_arg;
};

struct eddy_metrics {
        struct ed_member member;
        struct ed_list list;
        uint32_t count;
        uint64_t refused;
        bool without_process, without_loop;
};

/* Append the metrics of the process, and of this thread's loop. Errors: -ENOMEM. */
EDDY_MUST_USE int ed_metrics_write_process(struct ed_buf *page);
EDDY_MUST_USE int ed_metrics_write_loop(struct ed_buf *page);

/* Append "# HELP" and "# TYPE". Errors: -ENOMEM. */
EDDY_MUST_USE int ed_metrics_print_head(struct ed_buf *page, const char *name, const char *help,
                                        const char *type);

/* Append a line of a metric without labels. Errors: -ENOMEM. */
EDDY_MUST_USE int ed_metrics_print_value(struct ed_buf *page, const char *name, double value);

/* Append a line of a histogram; and its last lines. Errors: -ENOMEM. */
EDDY_MUST_USE int ed_metrics_print_bucket(struct ed_buf *page, const char *name,
                                          const struct ed_metric_labels *labels, double limit,
                                          uint64_t count);
EDDY_MUST_USE int ed_metrics_print_sum(struct ed_buf *page, const char *name,
                                       const struct ed_metric_labels *labels, double sum,
                                       uint64_t count);

#endif
