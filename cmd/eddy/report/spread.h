/*
 * report/spread.h - the distribution of latencies in one interval: 16 bins of equal width on a log
 * scale for each power of two. The error of a percentile is at most 2.2 %. common/histogram.h is
 * more exact, but 14 times as large. No I/O.
 */
#ifndef ED_CMD_REPORT_SPREAD_H
#define ED_CMD_REPORT_SPREAD_H

#include <stdint.h>

enum {
        ED_SPREAD_OCTAVE = 16,                 /* bins for a power of two */
        ED_SPREAD_BINS = 40 * ED_SPREAD_OCTAVE /* from a microsecond to about twelve days */
};

/* All zero: empty. */
struct ed_spread {
        uint64_t count;
        int64_t min_ns, max_ns;
        uint32_t bins[ED_SPREAD_BINS];
};

/* Add a value; those outside the range count in the first or the last bin. */
void ed_spread_add(struct ed_spread *spread, int64_t value_ns);
void ed_spread_merge(struct ed_spread *spread, const struct ed_spread *other);

/*
 * Returns the percentile by nearest rank, from the smallest value to the largest; 0 if the spread is
 * empty.
 */
double ed_spread_value(const struct ed_spread *spread, unsigned permille);

/* Returns the lower end of a bin, in nanoseconds. */
double ed_spread_edge(unsigned bin);

#endif
