/*
 * report/plot.c - SVG. All plots have the same width, in units of about a pixel.
 */
#include "report/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/duration.h"
#include "report/html.h"

enum {
        WIDTH = 880,
        HEIGHT = 260,
        LEFT = 62,
        RIGHT = 26,
        TOP = 30,
        BOTTOM = 46,
        INNER_WIDTH = WIDTH - LEFT - RIGHT,
        INNER_HEIGHT = HEIGHT - TOP - BOTTOM,
        BASE = HEIGHT - BOTTOM,
        TICKS_X = 10,
        TICKS_Y = 5,
        COLUMNS_MAX = 64, /* of the histogram */
        BAR_HEIGHT = 20,
        BAR_STEP = 30,
        BAR_LEFT = 262,
        BAR_RIGHT = 110,
        BAR_NAME_BYTES = 28,
};

/* A log scale is used if the largest value is more than LOG_RATIO times the smallest. */
#define LOG_RATIO 20

static void plot_begin(struct ed_draft *out, const char *label, int height)
{
        ed_draft_add_printf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH,
                            height);
        ed_html_add_str(out, label);
        ed_draft_add_str(out, "\">\n");
}

static void text_draw(struct ed_draft *out, const char *class, double x, double y, const char *text)
{
        ed_draft_add_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
        ed_html_add_str(out, text);
        ed_draft_add_str(out, "</text>\n");
}

static double x_of(const struct ed_axis *axis, double value)
{
        return LEFT + INNER_WIDTH * ed_axis_place(axis, value);
}

static double y_of(const struct ed_axis *axis, double value)
{
        return BASE - INNER_HEIGHT * ed_axis_place(axis, value);
}

/* Draw the lines of the grid, the labels and the units. */
static void axes_draw(struct ed_draft *out, const struct ed_axis *x_axis, const char *x_unit,
                      const struct ed_axis *y_axis, const char *y_unit)
{
        char label[ED_AXIS_LABEL_BYTES];

        for (unsigned i = 0; i < y_axis->count; i++) {
                double y = y_of(y_axis, y_axis->ticks[i]);

                ed_draft_add_printf(
                        out, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n",
                        LEFT, y, WIDTH - RIGHT, y);
                ed_axis_label(y_axis, y_axis->ticks[i], label);
                text_draw(out, "end", LEFT - 8, y + 4, label);
        }
        for (unsigned i = 0; i < x_axis->count; i++) {
                double x = x_of(x_axis, x_axis->ticks[i]);

                ed_draft_add_printf(
                        out, "<line class=\"base\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n",
                        x, BASE, x, BASE + 5);
                ed_axis_label(x_axis, x_axis->ticks[i], label);
                text_draw(out, "mid", x, BASE + 19, label);
        }
        ed_draft_add_printf(out, "<line class=\"base\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
                            LEFT, BASE, WIDTH - RIGHT, BASE);
        text_draw(out, "unit", 2, 14, y_unit);
        text_draw(out, "unit mid", LEFT + INNER_WIDTH / 2, HEIGHT - 6, x_unit);
}

/* Append a title: "12.5 s: ok 3, failed 1". */
static void point_describe(struct ed_draft *out, const struct ed_plot *plot, unsigned i)
{
        char from[ED_DURATION_TEXT_BYTES] = "0s", to[ED_DURATION_TEXT_BYTES];
        char text[ED_AXIS_LABEL_BYTES];

        if (i > 0)
                ed_duration_print((int64_t) (i * plot->interval_ms * 1e6), from);
        ed_duration_print((int64_t) ((i + 1) * plot->interval_ms * 1e6), to);
        ed_draft_add_printf(out, "<title>%s to %s", from, to);
        for (unsigned line = 0; line < plot->lines_count; line++) {
                double value = plot->lines[line].values[i];

                if (isnan(value))
                        continue;
                ed_axis_print(plot->values, value, text);
                ed_draft_add_printf(out, "%s%s %s", line == 0 ? ": " : ", ", plot->lines[line].name,
                                    text);
        }
        ed_draft_add_str(out, "</title>");
}

static void columns_draw(struct ed_draft *out, const struct ed_plot *plot,
                         const struct ed_axis *x_axis, const struct ed_axis *y_axis)
{
        double width = (double) INNER_WIDTH / plot->points;
        double space = width > 4 ? 1 : 0;

        for (unsigned i = 0; i < plot->points; i++) {
                double sum = 0, x = x_of(x_axis, i * plot->interval_ms);

                for (unsigned line = 0; line < plot->lines_count; line++) {
                        double value = plot->lines[line].values[i];
                        double bottom = y_of(y_axis, sum), top;

                        if (!(value > 0))
                                continue;
                        sum += value;
                        top = y_of(y_axis, sum);
                        /* Keep a small value visible. */
                        if (bottom - top < 1)
                                top = bottom - 1;
                        ed_draft_add_printf(out,
                                            "<rect class=\"mark %s\" x=\"%.2f\" y=\"%.2f\" "
                                            "width=\"%.2f\" height=\"%.2f\"/>\n",
                                            plot->lines[line].class, x, top, width - space,
                                            bottom - top);
                }
        }
}

/* Draw the values from 'from' up to, but not including, 'end'; none is missing. */
static void stroke_draw(struct ed_draft *out, const struct ed_plot *plot, unsigned line,
                        unsigned from, unsigned end, const struct ed_axis *x_axis,
                        const struct ed_axis *y_axis)
{
        const double *values = plot->lines[line].values;

        if (end - from == 1) {
                ed_draft_add_printf(
                        out, "<circle class=\"mark %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>\n",
                        plot->lines[line].class, x_of(x_axis, (from + 0.5) * plot->interval_ms),
                        y_of(y_axis, values[from]));
                return;
        }
        ed_draft_add_printf(out, "<polyline class=\"mark %s\" points=\"", plot->lines[line].class);
        for (unsigned i = from; i < end; i++)
                ed_draft_add_printf(out, "%s%.1f,%.1f", i > from ? " " : "",
                                    x_of(x_axis, (i + 0.5) * plot->interval_ms),
                                    y_of(y_axis, values[i]));
        ed_draft_add_str(out, "\"/>\n");
}

/* Draw lines, with a gap for each interval without values. */
static void strokes_draw(struct ed_draft *out, const struct ed_plot *plot,
                         const struct ed_axis *x_axis, const struct ed_axis *y_axis)
{
        for (unsigned line = 0; line < plot->lines_count; line++) {
                unsigned from = 0;

                for (unsigned i = 0; i <= plot->points; i++) {
                        if (i < plot->points && !isnan(plot->lines[line].values[i]))
                                continue;
                        if (i > from)
                                stroke_draw(out, plot, line, from, i, x_axis, y_axis);
                        from = i + 1;
                }
        }
}

/* Find the range of the values, or of their sums if the columns are stacked. */
static void range_find(const struct ed_plot *plot, double *ret_min, double *ret_max)
{
        double min = INFINITY, max = 0;

        for (unsigned i = 0; i < plot->points; i++) {
                double sum = 0;

                for (unsigned line = 0; line < plot->lines_count; line++) {
                        double value = plot->lines[line].values[i];

                        if (isnan(value))
                                continue;
                        sum = plot->is_stacked ? sum + value : value;
                        if (value > 0 && value < min)
                                min = value;
                        if (sum > max)
                                max = sum;
                }
        }
        *ret_min = min;
        *ret_max = max;
}

void ed_plot_add(struct ed_draft *out, const struct ed_plot *plot)
{
        struct ed_axis x_axis, y_axis;
        char unit[64];
        double min, max;

        range_find(plot, &min, &max);
        if (plot->values == ED_AXIS_NS && !plot->is_stacked && max > LOG_RATIO * min)
                ed_axis_log(&y_axis, plot->values, ed_axis_round_down(min), ed_axis_round_up(max),
                            TICKS_Y + 3);
        else
                ed_axis_linear(&y_axis, plot->values, max, TICKS_Y);
        ed_axis_elapsed(&x_axis, (int64_t) (plot->points * plot->interval_ms), TICKS_X);
        snprintf(unit, sizeof(unit), "time since the start, %s", ed_axis_elapsed_unit(&x_axis));
        plot_begin(out, plot->label, HEIGHT);
        axes_draw(out, &x_axis, unit, &y_axis, plot->unit);
        if (plot->is_stacked)
                columns_draw(out, plot, &x_axis, &y_axis);
        else
                strokes_draw(out, plot, &x_axis, &y_axis);
        for (unsigned i = 0; i < plot->points; i++) {
                ed_draft_add_printf(out,
                                    "<rect class=\"hover\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" "
                                    "height=\"%d\">",
                                    x_of(&x_axis, i * plot->interval_ms), TOP,
                                    (double) INNER_WIDTH / plot->points, INNER_HEIGHT);
                point_describe(out, plot, i);
                ed_draft_add_str(out, "</rect>\n");
        }
        ed_draft_add_str(out, "</svg>\n");
}

/* ---- the histogram ------------------------------------------------------------------------- */

/* How bins are combined into columns. */
struct spread_columns {
        unsigned first, last; /* bins with values */
        unsigned each;        /* bins of a column */
        uint64_t most;        /* in a column */
};

static uint64_t column_count(const struct ed_spread *spread, unsigned bin, unsigned each)
{
        uint64_t count = 0;

        for (unsigned i = bin; i < bin + each && i < ED_SPREAD_BINS; i++)
                count += spread->bins[i];
        return count;
}

static void columns_find(const struct ed_spread *spread, struct spread_columns *columns)
{
        unsigned first = 0, last = ED_SPREAD_BINS - 1, each = 1;

        while (first < last && spread->bins[first] == 0)
                first++;
        while (last > first && spread->bins[last] == 0)
                last--;
        while ((last - first) / each >= COLUMNS_MAX)
                each *= 2;
        first -= first % each;
        *columns = (struct spread_columns){ .first = first, .last = last, .each = each };
        for (unsigned bin = first; bin <= last; bin += each) {
                uint64_t count = column_count(spread, bin, each);

                if (count > columns->most)
                        columns->most = count;
        }
}

static void percentile_draw(struct ed_draft *out, const struct ed_axis *axis, double value,
                            const char *name, double y)
{
        double x = x_of(axis, value);
        char text[ED_AXIS_LABEL_BYTES], label[ED_AXIS_LABEL_BYTES + 16];

        ed_axis_print(ED_AXIS_NS, value, text);
        snprintf(label, sizeof(label), "%s %s", name, text);
        ed_draft_add_printf(
                out, "<line class=\"percentile\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%d\"/>\n",
                x, y - 8, x, BASE);
        text_draw(out, x > WIDTH - RIGHT - 90 ? "end halo" : "halo",
                  x > WIDTH - RIGHT - 90 ? x - 5 : x + 5, y, label);
}

void ed_plot_add_spread(struct ed_draft *out, const struct ed_spread *spread, int64_t p50_ns,
                        int64_t p99_ns)
{
        struct spread_columns columns;
        struct ed_axis x_axis, y_axis;
        char low[ED_AXIS_LABEL_BYTES], high[ED_AXIS_LABEL_BYTES];

        columns_find(spread, &columns);
        /* Leave some space on both sides if there are only a few bins. */
        ed_axis_log(&x_axis, ED_AXIS_NS,
                    ed_spread_edge(columns.first) / (columns.each == 1 ? 1.2 : 1),
                    ed_spread_edge(columns.last + columns.each) * (columns.each == 1 ? 1.2 : 1),
                    TICKS_X + 2);
        ed_axis_linear(&y_axis, ED_AXIS_COUNT, (double) columns.most, TICKS_Y);
        plot_begin(out, "Histogram of latencies on a log scale", HEIGHT);
        axes_draw(out, &x_axis, "latency of the last attempt, log scale", &y_axis, "requests");
        for (unsigned bin = columns.first; bin <= columns.last; bin += columns.each) {
                uint64_t count = column_count(spread, bin, columns.each);
                double from = ed_spread_edge(bin), to = ed_spread_edge(bin + columns.each);
                double x = x_of(&x_axis, from), y = y_of(&y_axis, (double) count);

                if (count == 0)
                        continue;
                if (BASE - y < 1)
                        y = BASE - 1;
                ed_axis_print(ED_AXIS_NS, from, low);
                ed_axis_print(ED_AXIS_NS, to, high);
                ed_draft_add_printf(out,
                                    "<rect class=\"mark main\" x=\"%.2f\" y=\"%.2f\" "
                                    "width=\"%.2f\" height=\"%.2f\"><title>%s to %s: ",
                                    x, y, fmax(x_of(&x_axis, to) - x - 1, 1), BASE - y, low, high);
                ed_draft_add_grouped(out, count);
                ed_draft_add_str(out, "</title></rect>\n");
        }
        percentile_draw(out, &x_axis, (double) p50_ns, "p50", TOP - 2);
        percentile_draw(out, &x_axis, (double) p99_ns, "p99", TOP + 14);
        ed_draft_add_str(out, "</svg>\n");
}

/* ---- bars ---------------------------------------------------------------------------------- */

/* Append a name, shortened at a character boundary. */
static void name_draw(struct ed_draft *out, const char *name, double y)
{
        size_t bytes = strlen(name), most = bytes;

        if (bytes > BAR_NAME_BYTES)
                most = BAR_NAME_BYTES - 2;
        while (most < bytes && most > 0 && ((unsigned char) name[most] & 0xc0) == 0x80)
                most--;
        ed_draft_add_printf(out, "<text class=\"end\" x=\"%d\" y=\"%.1f\">", BAR_LEFT - 10, y);
        ed_html_add(out, name, most);
        ed_draft_add_str(out, most < bytes ? "\xe2\x80\xa6</text>\n" : "</text>\n");
}

void ed_plot_add_bars(struct ed_draft *out, const struct ed_plot_bar *bars, unsigned count)
{
        uint64_t most = 1, sum = 0;

        for (unsigned i = 0; i < count; i++) {
                sum += bars[i].count;
                most = bars[i].count > most ? bars[i].count : most;
        }
        plot_begin(out, "Failed requests by cause", (int) count * BAR_STEP + 28);
        text_draw(out, "unit", BAR_LEFT, 14, "failed requests");
        for (unsigned i = 0; i < count; i++) {
                double y = 24 + (double) i * BAR_STEP;
                double width =
                        (WIDTH - BAR_LEFT - BAR_RIGHT) * ((double) bars[i].count / (double) most);

                name_draw(out, bars[i].name, y + 14);
                ed_draft_add_printf(out,
                                    "<rect class=\"mark failed\" x=\"%d\" y=\"%.1f\" "
                                    "width=\"%.1f\" height=\"%d\" rx=\"2\"><title>",
                                    BAR_LEFT, y, width > 1 ? width : 1, BAR_HEIGHT);
                ed_html_add_str(out, bars[i].name);
                ed_draft_add_printf(out,
                                    "</title></rect>\n<text class=\"value\" x=\"%.1f\" "
                                    "y=\"%.1f\">",
                                    BAR_LEFT + (width > 1 ? width : 1) + 8, y + 14);
                ed_draft_add_grouped(out, bars[i].count);
                ed_draft_add_printf(out, " (%.1f %%)</text>\n",
                                    100 * (double) bars[i].count / (double) (sum ? sum : 1));
        }
        ed_draft_add_str(out, "</svg>\n");
}
