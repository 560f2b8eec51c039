/*
 * obs/metrics.c - metrics and their series.
 */
#include "obs/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "eddy/error.h"
#include "eddy/json.h"
#include "eddy/run.h"
#include "scope/misuse.h"
#include "scope/report.h"

enum { SERIES_DEFAULT_MAX = 1000 };

/* As most client libraries of Prometheus, for durations in seconds. */
static const double default_limits[] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10 };

/* --- names --- */

static bool is_name_byte(char c, bool first, bool colon)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
               (colon && c == ':') || (!first && c >= '0' && c <= '9');
}

/* Returns true for the name of a metric, which may have colons, or of a label. */
static bool is_name(const char *name, bool colon)
{
        size_t i;

        if (!name || !*name)
                return false;
        for (i = 0; name[i] && is_name_byte(name[i], i == 0, colon); i++)
                continue;
        return !name[i];
}

static bool is_label(const char *name)
{
        return is_name(name, false) && strncmp(name, "__", 2) != 0 && strcmp(name, "le") != 0;
}

/* --- a set --- */

int eddy_metrics_new(const struct eddy_metrics_opts *opts, eddy_metrics **ret_metrics)
{
        eddy_metrics *metrics;

        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        metrics = ed_alloc_zero(sizeof(*metrics));
        if (!metrics)
                return -ENOMEM;
        ed_member_join(&metrics->member, ed_loop_current, NULL);
        ed_list_init(&metrics->list);
        if (opts) {
                metrics->without_process = opts->without_process;
                metrics->without_loop = opts->without_loop;
        }
        *ret_metrics = metrics;
        return 0;
}

static void metric_free(eddy_metric *metric)
{
        struct ed_list *link;

        while ((link = ed_list_pop_front(&metric->series)))
                ed_free(ed_container_of(link, struct ed_series, link));
        for (uint32_t i = 0; i < metric->labels_count; i++)
                ed_free(metric->labels[i]);
        ed_hash_table_fini(&metric->table);
        ed_free(metric->limits);
        ed_free(metric->help);
        ed_free(metric->name);
        ed_free(metric);
}

void eddy_metrics_close(eddy_metrics *metrics)
{
        struct ed_list *link;

        if (!metrics || !ed_misuse_may_close(&metrics->member, "a set of metrics"))
                return;
        ed_member_leave(&metrics->member);
        while ((link = ed_list_pop_front(&metrics->list)))
                metric_free(ed_container_of(link, eddy_metric, link));
        ed_free(metrics);
}

uint64_t eddy_metrics_refused(const eddy_metrics *metrics)
{
        return metrics ? metrics->refused : 0;
}

/* --- a metric --- */

/* Errors: -EINVAL. */
static int check_limits(const struct eddy_metric_opts *opts)
{
        if (opts->buckets_count > EDDY_METRIC_BUCKETS_MAX ||
            (opts->buckets_count > 0) != (opts->buckets != NULL))
                return -EINVAL;
        for (uint32_t i = 0; i < opts->buckets_count; i++)
                if (!__builtin_isfinite(opts->buckets[i]) ||
                    (i > 0 && opts->buckets[i] <= opts->buckets[i - 1]))
                        return -EINVAL;
        return 0;
}

static int check_labels(const struct eddy_metric_opts *opts)
{
        size_t n = 0;

        for (; opts->labels && opts->labels[n]; n++) {
                if (n == EDDY_METRIC_LABELS_MAX || !is_label(opts->labels[n]))
                        return -EINVAL;
                for (size_t i = 0; i < n; i++)
                        if (strcmp(opts->labels[i], opts->labels[n]) == 0)
                                return -EINVAL;
        }
        return n > 0 && opts->read ? -EINVAL : 0;
}

/* Returns true if a metric has lines of the name 'other'. */
static bool has_lines_of(enum eddy_metric_kind kind, const char *name, const char *other)
{
        static const char *const endings[] = { "", "_bucket", "_sum", "_count" };
        size_t bytes = strlen(name), n = kind == EDDY_METRIC_HISTOGRAM ? 4 : 1;

        if (strncmp(other, name, bytes) != 0)
                return false;
        for (size_t i = 0; i < n; i++)
                if (strcmp(other + bytes, endings[i]) == 0)
                        return true;
        return false;
}

/* Returns true if the page has lines of this name already, or will have. */
static bool is_used(const eddy_metrics *metrics, enum eddy_metric_kind kind, const char *name)
{
        if ((!metrics->without_process && strncmp(name, "process_", 8) == 0) ||
            (!metrics->without_loop && strncmp(name, "eddy_", 5) == 0))
                return true;
        ed_list_each (link, &metrics->list) {
                const eddy_metric *metric = ed_container_of(link, eddy_metric, link);

                if (has_lines_of(metric->kind, metric->name, name) ||
                    has_lines_of(kind, name, metric->name))
                        return true;
        }
        return false;
}

static int check_opts(const eddy_metrics *metrics, enum eddy_metric_kind kind,
                      const struct eddy_metric_opts *opts)
{
        int err;

        if (!opts || kind > EDDY_METRIC_HISTOGRAM || !is_name(opts->name, true) ||
            (kind == EDDY_METRIC_HISTOGRAM ? opts->read != NULL : opts->buckets != NULL) ||
            (opts->help && !eddy_json_is_utf8(opts->help, strlen(opts->help))))
                return -EINVAL;
        err = check_limits(opts);
        if (err == 0)
                err = check_labels(opts);
        if (err < 0)
                return err;
        if (is_used(metrics, kind, opts->name))
                return -EEXIST;
        return metrics->count == EDDY_METRICS_MAX ? -ENOSPC : 0;
}

/* Returns NULL if memory runs out. */
static char *copy_of(const char *text)
{
        size_t bytes = strlen(text) + 1;
        char *copy = ed_alloc(bytes);

        return copy ? memcpy(copy, text, bytes) : NULL;
}

static int copy_limits(eddy_metric *metric, const struct eddy_metric_opts *opts)
{
        const double *limits = opts->buckets ? opts->buckets : default_limits;
        uint32_t count =
                opts->buckets ? opts->buckets_count : (uint32_t) ed_array_count(default_limits);

        if (metric->kind != EDDY_METRIC_HISTOGRAM)
                return 0;
        metric->limits = ed_alloc(count * sizeof(*limits));
        if (!metric->limits)
                return -ENOMEM;
        memcpy(metric->limits, limits, count * sizeof(*limits));
        metric->buckets_count = count;
        return 0;
}

static int copy_opts(eddy_metric *metric, const struct eddy_metric_opts *opts)
{
        metric->name = copy_of(opts->name);
        metric->help = copy_of(opts->help ? opts->help : "");
        if (!metric->name || !metric->help)
                return -ENOMEM;
        for (size_t n = 0; opts->labels && opts->labels[n]; n++) {
                metric->labels[n] = copy_of(opts->labels[n]);
                if (!metric->labels[n])
                        return -ENOMEM;
                metric->labels_count++;
        }
        return copy_limits(metric, opts);
}

/* --- a series --- */

/* Returns the bytes of a label's value with its escapes, or -EINVAL. */
static int64_t escaped_bytes(const char *value)
{
        int64_t n = 0;
        size_t bytes = value ? strlen(value) : 0;

        if (!value || bytes > EDDY_METRIC_VALUE_BYTES_MAX || !eddy_json_is_utf8(value, bytes))
                return -EINVAL;
        for (; *value; value++)
                n += 1 + (*value == '"' || *value == '\\' || *value == '\n');
        return n;
}

static char *escape(const char *value, char *out)
{
        for (; *value; value++) {
                if (*value == '"' || *value == '\\' || *value == '\n')
                        *out++ = '\\';
                *out++ = *value == '\n' ? 'n' : *value;
        }
        return out;
}

/* Returns the bytes of all labels as on the page, or -EINVAL. */
static int64_t labels_bytes(const eddy_metric *metric, const char *const *values)
{
        int64_t total = 0;

        for (uint32_t i = 0; i < metric->labels_count; i++) {
                int64_t n = escaped_bytes(values[i]);

                if (n < 0)
                        return n;
                total += n + (int64_t) strlen(metric->labels[i]) + 4; /* ="", */
        }
        return total;
}

static size_t write_labels(const eddy_metric *metric, const char *const *values, char *labels)
{
        char *out = labels;

        for (uint32_t i = 0; i < metric->labels_count; i++) {
                size_t bytes = strlen(metric->labels[i]);

                memcpy(out, metric->labels[i], bytes);
                out += bytes;
                *out++ = '=';
                *out++ = '"';
                out = escape(values[i], out);
                *out++ = '"';
                if (i + 1 < metric->labels_count)
                        *out++ = ',';
        }
        return (size_t) (out - labels);
}

/* Each value counts with its NUL. */
static uint64_t hash_of(const eddy_metric *metric, const char *const *values)
{
        uint64_t hash = ED_HASH_EMPTY;

        for (uint32_t i = 0; i < metric->labels_count; i++)
                hash = ed_hash(hash, values[i], strlen(values[i]) + 1);
        return hash;
}

/* Returns true if the labels of a series are those of 'values'. */
static bool has_values(const struct ed_series *series, const char *const *values)
{
        const eddy_metric *metric = series->metric;
        const char *at = series->labels.text;

        for (uint32_t i = 0; i < metric->labels_count; i++) {
                at += strlen(metric->labels[i]) + 2;
                for (const char *value = values[i]; *value; value++) {
                        bool special = *value == '"' || *value == '\\' || *value == '\n';

                        if (special && *at++ != '\\')
                                return false;
                        if (*at++ != (*value == '\n' ? 'n' : *value))
                                return false;
                }
                if (*at != '"')
                        return false;
                at += 2;
        }
        return true;
}

/* Returns NULL if a value is not valid or memory runs out. */
static struct ed_series *series_new(eddy_metric *metric, const char *const *values, uint64_t hash)
{
        size_t buckets_bytes = metric->buckets_count * sizeof(uint64_t);
        int64_t bytes = labels_bytes(metric, values);
        struct ed_series *series;
        char *labels;

        if (bytes < 0)
                return NULL;
        series = ed_alloc_zero(sizeof(*series) + buckets_bytes + (size_t) bytes + 1);
        if (!series)
                return NULL;
        series->base.kind = metric->kind;
        series->metric = metric;
        series->buckets = (uint64_t *) (series + 1);
        labels = (char *) (series + 1) + buckets_bytes;
        series->labels = (struct ed_metric_labels){ labels, write_labels(metric, values, labels) };
        ed_hash_table_add(&metric->table, &series->node, hash);
        ed_list_push_back(&metric->series, &series->link);
        metric->series_count++;
        return series;
}

/* --- the public calls --- */

int eddy_metric_new(eddy_metrics *metrics, enum eddy_metric_kind kind,
                    const struct eddy_metric_opts *opts, eddy_metric **ret_metric)
{
        eddy_metric *metric;
        int err = metrics ? ed_member_check(&metrics->member) : -EINVAL;

        if (err == 0)
                err = check_opts(metrics, kind, opts);
        if (err < 0)
                return err;
        metric = ed_alloc_zero(sizeof(*metric));
        if (!metric)
                return -ENOMEM;
        ed_list_init(&metric->series);
        metric->metrics = metrics;
        metric->kind = kind;
        metric->series_max = opts->series_max ? opts->series_max : SERIES_DEFAULT_MAX;
        metric->read = opts->read;
        metric->read_arg = opts->read_arg;
        err = copy_opts(metric, opts);
        /* A metric without labels is on the page from the start. */
        if (err == 0 && metric->labels_count == 0 && !metric->read &&
            !series_new(metric, NULL, hash_of(metric, NULL)))
                err = -ENOMEM;
        if (err < 0) {
                metric_free(metric);
                return err;
        }
        ed_list_push_back(&metrics->list, &metric->link);
        metrics->count++;
        *ret_metric = metric;
        return 0;
}

/* Make a metric, and report a failure. */
static eddy_metric *metric_make(eddy_metrics *metrics, enum eddy_metric_kind kind, const char *name,
                                const char *help, const char *const *labels)
{
        struct eddy_metric_opts opts = { .name = name, .help = help, .labels = labels };
        eddy_metric *metric = NULL;
        char text[512];
        int err = eddy_metric_new(metrics, kind, &opts, &metric);

        if (err < 0) {
                snprintf(text, sizeof(text),
                         "metric %.256s was not made: %s (see eddy_metric_new())",
                         name ? name : "NULL", eddy_error_text(err));
                ed_report_here(EDDY_REPORT_METRICS, err, text);
        }
        return metric;
}

eddy_metric *eddy_metrics_counter(eddy_metrics *metrics, const char *name, const char *help,
                                  const char *const *labels)
{
        return metric_make(metrics, EDDY_METRIC_COUNTER, name, help, labels);
}

eddy_metric *eddy_metrics_gauge(eddy_metrics *metrics, const char *name, const char *help,
                                const char *const *labels)
{
        return metric_make(metrics, EDDY_METRIC_GAUGE, name, help, labels);
}

eddy_metric *eddy_metrics_histogram(eddy_metrics *metrics, const char *name, const char *help,
                                    const char *const *labels)
{
        return metric_make(metrics, EDDY_METRIC_HISTOGRAM, name, help, labels);
}

/* Count a refused series, and report the first of its metric. */
static void refuse(eddy_metric *metric, const char *why)
{
        char text[512];

        metric->metrics->refused++;
        if (metric->was_refused)
                return;
        metric->was_refused = true;
        snprintf(text, sizeof(text),
                 "metric %.256s refuses a new series: %s (it has %u of %u; see "
                 "eddy_metric_series())",
                 metric->name, why, metric->series_count, metric->series_max);
        ed_report_here(EDDY_REPORT_METRICS, 0, text);
}

static bool values_are_given(const eddy_metric *metric, const char *const *values)
{
        for (uint32_t i = 0; i < metric->labels_count; i++)
                if (!values || !values[i])
                        return false;
        return true;
}

eddy_series *eddy_metric_series(eddy_metric *metric, const char *const *values)
{
        struct ed_series *series;
        uint64_t hash;

        if (!metric || ed_member_check(&metric->metrics->member) < 0)
                return NULL;
        if (!values_are_given(metric, values)) {
                refuse(metric, "a label has no value");
                return NULL;
        }
        hash = hash_of(metric, values);
        ed_hash_each (node, &metric->table, hash) {
                series = ed_container_of(node, struct ed_series, node);
                if (has_values(series, values))
                        return &series->base;
        }
        if (metric->series_count == metric->series_max) {
                refuse(metric, "a label has too many values");
                return NULL;
        }
        series = series_new(metric, values, hash);
        if (!series) {
                refuse(metric, "a value is too long or not UTF-8, or memory is short");
                return NULL;
        }
        return &series->base;
}

void eddy_series_observe(eddy_series *base, double value)
{
        struct ed_series *series;
        const eddy_metric *metric;
        uint32_t i = 0;

        if (!base || base->kind != EDDY_METRIC_HISTOGRAM || __builtin_isnan(value))
                return;
        series = ed_container_of(base, struct ed_series, base);
        metric = series->metric;
        base->value += value;
        series->count++;
        while (i < metric->buckets_count && value > metric->limits[i])
                i++;
        if (i < metric->buckets_count)
                series->buckets[i]++;
}
