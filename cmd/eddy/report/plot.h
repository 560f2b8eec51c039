/*
 * report/plot.h - plots as inline SVG, without scripts: each mark has a title, which browsers show
 * under the pointer. Colours are classes of the page's style. No I/O.
 */
#ifndef ED_CMD_REPORT_PLOT_H
#define ED_CMD_REPORT_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/draft.h"
#include "report/axis.h"
#include "report/spread.h"

enum { ED_PLOT_POINTS_MAX = 120, ED_PLOT_LINES_MAX = 2, ED_PLOT_BARS_MAX = 12 };

/* The values of one colour, one for each interval. */
struct ed_plot_line {
        const char *name;                  /* "p50" */
        const char *class;                 /* of the style */
        double values[ED_PLOT_POINTS_MAX]; /* NAN: none */
};

/* A plot over time. */
struct ed_plot {
        const char *label; /* for screen readers */
        const char *unit;  /* of the values: "answers per second" */
        enum ed_axis_unit values;
        bool is_stacked; /* stacked columns, else lines */
        double interval_ms;
        unsigned points;
        unsigned lines_count;
        struct ed_plot_line lines[ED_PLOT_LINES_MAX];
};

void ed_plot_add(struct ed_draft *out, const struct ed_plot *plot);

/*
 * Append a histogram of latencies on a log scale. The caller passes the median and the 99th
 * percentile, because it may know them more exactly.
 */
void ed_plot_add_spread(struct ed_draft *out, const struct ed_spread *spread, int64_t p50_ns,
                        int64_t p99_ns);

/* A horizontal bar. The name is not escaped. */
struct ed_plot_bar {
        const char *name;
        uint64_t count;
};

void ed_plot_add_bars(struct ed_draft *out, const struct ed_plot_bar *bars, unsigned count);

#endif
