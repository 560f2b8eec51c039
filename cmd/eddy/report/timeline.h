/*
 * report/timeline.h - counts and latencies over time, in a limited number of intervals. If the time
 * span grows beyond the intervals, their width doubles. No I/O.
 */
#ifndef ED_CMD_REPORT_TIMELINE_H
#define ED_CMD_REPORT_TIMELINE_H

#include <stdint.h>

#include "report/spread.h"

enum {
        ED_TIMELINE_MAX = 600,
        ED_TIMELINE_WIDTH_MS = 125, /* at first */
};

/* The largest time, in the year 2262: the last one in nanoseconds. The smallest time is 1. */
#define ED_TIMELINE_AT_MAX_MS (INT64_MAX / 1000000)

struct ed_interval {
        uint64_t ok, failed;
        uint64_t refused; /* of the log: attempts with status 429 */
        uint64_t input, output;
        struct ed_spread latency;
};

/* All zero: empty. The size is about 1.6 MB. */
struct ed_timeline {
        int64_t width_ms;
        int64_t first; /* the time of slots[0], in widths since 1970 */
        unsigned count;
        struct ed_interval slots[ED_TIMELINE_MAX];
};

/* Returns the interval of a time; times outside the limits count as the nearest limit. */
struct ed_interval *ed_timeline_at(struct ed_timeline *timeline, int64_t at_ms);

/* Add the intervals from 'from' up to, but not including, 'end' to 'sum'. */
void ed_timeline_sum(const struct ed_timeline *timeline, unsigned from, unsigned end,
                     struct ed_interval *sum);

/* Returns the longest time between two intervals with answers, in milliseconds. */
int64_t ed_timeline_gap(const struct ed_timeline *timeline);

#endif
