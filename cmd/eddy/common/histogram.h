/*
 * common/histogram.h - the distribution of latencies, in bounded memory.
 *
 * Buckets grow with the value: 128 of equal width for each power of two, so the error of a
 * percentile is at most 0.4 %. Values are in microseconds, up to about twelve days.
 */
#ifndef ED_CMD_COMMON_HISTOGRAM_H
#define ED_CMD_COMMON_HISTOGRAM_H

#include <stdint.h>

enum {
        ED_HISTOGRAM_SUB_BITS = 7, /* 128 buckets for each power of two */
        ED_HISTOGRAM_VALUE_BITS = 40,
        ED_HISTOGRAM_BUCKETS = (ED_HISTOGRAM_VALUE_BITS - ED_HISTOGRAM_SUB_BITS + 1)
                               << ED_HISTOGRAM_SUB_BITS,
};

struct ed_histogram {
        uint64_t count;
        int64_t min_ns;
        int64_t max_ns;
        uint64_t buckets[ED_HISTOGRAM_BUCKETS];
};

/* Add a value. An empty histogram is all zeros. */
void ed_histogram_add(struct ed_histogram *histogram, int64_t value_ns);

/*
 * Returns the smallest value such that 'permille' thousandths of all values are at or below it
 * (nearest rank), or 0 if the histogram is empty. 1000 returns the exact maximum.
 */
int64_t ed_histogram_value(const struct ed_histogram *histogram, unsigned permille);

#endif
