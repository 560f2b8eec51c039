/*
 * obs/metrics_page.c - the page of a set of metrics, in the text format of Prometheus.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "obs/metrics.h"
#include "wire/json.h"

enum { PAGE_BYTES_MAX = 1 << 30 };

static int add_text(struct ed_buf *page, const char *text)
{
        return ed_buf_append(page, text, strlen(text));
}

/* Append a help text, in which the format escapes backslashes and line ends. */
static int add_help(struct ed_buf *page, const char *help)
{
        int err = 0;

        for (; *help && err == 0; help++) {
                if (*help == '\\')
                        err = add_text(page, "\\\\");
                else if (*help == '\n')
                        err = add_text(page, "\\n");
                else
                        err = ed_buf_append(page, help, 1);
        }
        return err;
}

int ed_metrics_print_head(struct ed_buf *page, const char *name, const char *help, const char *type)
{
        const char *const parts[] = { "# HELP ", name, " " };
        int err = 0;

        for (size_t i = 0; i < ed_array_count(parts) && *help && err == 0; i++)
                err = add_text(page, parts[i]);
        if (err == 0)
                err = add_help(page, help);
        if (err == 0 && *help)
                err = add_text(page, "\n");
        if (err == 0)
                err = add_text(page, "# TYPE ");
        if (err == 0)
                err = add_text(page, name);
        if (err == 0)
                err = add_text(page, " ");
        if (err == 0)
                err = add_text(page, type);
        return err == 0 ? add_text(page, "\n") : err;
}

/* Append a number and the line's end. Numbers are written in the same way in every locale. */
static int end_line(struct ed_buf *page, double value)
{
        int err;

        if (__builtin_isnan(value))
                return add_text(page, " NaN\n");
        if (__builtin_isinf(value))
                return add_text(page, value < 0 ? " -Inf\n" : " +Inf\n");
        err = add_text(page, " ");
        if (err == 0)
                err = ed_json_double_write(page, value);
        return err == 0 ? add_text(page, "\n") : err;
}

int ed_metrics_print_value(struct ed_buf *page, const char *name, double value)
{
        int err = add_text(page, name);

        return err == 0 ? end_line(page, value) : err;
}

/* Append a name with its labels, and "le" if 'limit' is not NULL. */
static int begin_line(struct ed_buf *page, const char *name, const char *suffix,
                      const struct ed_metric_labels *labels, const double *limit)
{
        int err = add_text(page, name);

        if (err == 0)
                err = add_text(page, suffix);
        if (err < 0 || (labels->bytes == 0 && !limit))
                return err;
        err = add_text(page, "{");
        if (err == 0)
                err = ed_buf_append(page, labels->text, labels->bytes);
        if (err == 0 && limit)
                err = add_text(page, labels->bytes > 0 ? ",le=\"" : "le=\"");
        if (err == 0 && limit)
                err = __builtin_isinf(*limit) ? add_text(page, "+Inf")
                                              : ed_json_double_write(page, *limit);
        if (err == 0)
                err = add_text(page, limit ? "\"}" : "}");
        return err;
}

int ed_metrics_print_bucket(struct ed_buf *page, const char *name,
                            const struct ed_metric_labels *labels, double limit, uint64_t count)
{
        int err = begin_line(page, name, "_bucket", labels, &limit);

        return err == 0 ? end_line(page, (double) count) : err;
}

int ed_metrics_print_sum(struct ed_buf *page, const char *name,
                         const struct ed_metric_labels *labels, double sum, uint64_t count)
{
        int err = ed_metrics_print_bucket(page, name, labels, __builtin_inf(), count);

        if (err == 0)
                err = begin_line(page, name, "_sum", labels, NULL);
        if (err == 0)
                err = end_line(page, sum);
        if (err == 0)
                err = begin_line(page, name, "_count", labels, NULL);
        return err == 0 ? end_line(page, (double) count) : err;
}

static int print_histogram(struct ed_buf *page, const struct ed_series *series)
{
        const eddy_metric *metric = series->metric;
        uint64_t count = 0;
        int err = 0;

        for (uint32_t i = 0; i < metric->buckets_count && err == 0; i++) {
                count += series->buckets[i];
                err = ed_metrics_print_bucket(page, metric->name, &series->labels,
                                              metric->limits[i], count);
        }
        return err == 0 ? ed_metrics_print_sum(page, metric->name, &series->labels,
                                               series->base.value, series->count)
                        : err;
}

static int print_series(struct ed_buf *page, const struct ed_series *series)
{
        int err;

        if (series->base.kind == EDDY_METRIC_HISTOGRAM)
                return print_histogram(page, series);
        err = begin_line(page, series->metric->name, "", &series->labels, NULL);
        return err == 0 ? end_line(page, series->base.value) : err;
}

static int print_metric(struct ed_buf *page, const eddy_metric *metric)
{
        static const char *const types[] = { "counter", "gauge", "histogram" };
        int err = ed_metrics_print_head(page, metric->name, metric->help, types[metric->kind]);

        if (err == 0 && metric->read)
                return ed_metrics_print_value(page, metric->name, metric->read(metric->read_arg));
        ed_list_each (link, &metric->series)
                if (err == 0)
                        err = print_series(page, ed_container_of(link, struct ed_series, link));
        return err;
}

static int print_page(struct ed_buf *page, const eddy_metrics *metrics)
{
        int err = 0;

        ed_list_each (link, &metrics->list)
                if (err == 0)
                        err = print_metric(page, ed_container_of(link, eddy_metric, link));
        if (err == 0 && !metrics->without_process)
                err = ed_metrics_write_process(page);
        if (err == 0 && !metrics->without_loop)
                err = ed_metrics_write_loop(page);
        return err == 0 ? ed_buf_append(page, "", 1) : err;
}

int eddy_metrics_write(const eddy_metrics *metrics, char **ret_text, size_t *ret_bytes)
{
        struct ed_buf page;
        int err;

        if (!metrics)
                return -EINVAL;
        err = ed_member_check(&metrics->member);
        if (err < 0)
                return err;
        ed_buf_init(&page, PAGE_BYTES_MAX);
        err = print_page(&page, metrics);
        if (err < 0) {
                ed_buf_fini(&page);
                return err;
        }
        *ret_text = page.memory; /* nothing was consumed, so the text begins there */
        *ret_bytes = ed_buf_bytes(&page) - 1;
        return 0;
}
