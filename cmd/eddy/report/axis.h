/*
 * report/axis.h - the axes of plots: round ticks, and their labels. No I/O.
 */
#ifndef ED_CMD_REPORT_AXIS_H
#define ED_CMD_REPORT_AXIS_H

#include <stdbool.h>
#include <stdint.h>

enum { ED_AXIS_TICKS_MAX = 24, ED_AXIS_LABEL_BYTES = 32 };

/* The kind of values on an axis, for its labels. */
enum ed_axis_unit {
        ED_AXIS_NUMBER,
        ED_AXIS_COUNT,   /* ticks are whole numbers */
        ED_AXIS_NS,      /* nanoseconds, shown as µs, ms or s */
        ED_AXIS_ELAPSED, /* milliseconds since the start */
};

struct ed_axis {
        enum ed_axis_unit unit;
        bool is_log;
        double min, max;
        unsigned count;
        double step; /* between ticks, unless is_log */
        double ticks[ED_AXIS_TICKS_MAX];
};

/* Make an axis from 0 to a round number at or above 'max', with at most 'ticks' intervals. */
void ed_axis_linear(struct ed_axis *axis, enum ed_axis_unit unit, double max, unsigned ticks);

/* Make an axis from 0 to exactly 'max_ms', with at most 'ticks' intervals of a natural duration. */
void ed_axis_elapsed(struct ed_axis *axis, int64_t max_ms, unsigned ticks);

/*
 * Make a log axis from exactly 'min' to exactly 'max', both above 0, with at most 'ticks' ticks.
 */
void ed_axis_log(struct ed_axis *axis, enum ed_axis_unit unit, double min, double max,
                 unsigned ticks);

/* Returns the nearest of 1, 2 and 5 times a power of ten at or below, or at or above, 'value'. */
double ed_axis_round_down(double value);
double ed_axis_round_up(double value);

/* Returns the position of a value, from 0 at the start of the axis to 1 at its end. */
double ed_axis_place(const struct ed_axis *axis, double value);

/* Print the label of a tick. */
void ed_axis_label(const struct ed_axis *axis, double tick, char text[ED_AXIS_LABEL_BYTES]);

/* Returns the unit of an axis of ed_axis_elapsed(): "seconds", "minutes:seconds". */
const char *ed_axis_elapsed_unit(const struct ed_axis *axis);

/* Print a value with its unit: "1.25 s", "12.5k". */
void ed_axis_print(enum ed_axis_unit unit, double value, char text[ED_AXIS_LABEL_BYTES]);

#endif
