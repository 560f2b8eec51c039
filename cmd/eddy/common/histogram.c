/*
 * common/histogram.c - buckets of logarithmic size.
 */
#include "common/histogram.h"

enum { SUB_COUNT = 1 << ED_HISTOGRAM_SUB_BITS };

#define VALUE_MAX (((uint64_t) 1 << ED_HISTOGRAM_VALUE_BITS) - 1)

/*
 * Each value below 128 has a bucket. Above, the leading bit selects a group of 128 buckets, and the
 * seven bits after it select the bucket.
 */
static unsigned bucket_of(uint64_t value)
{
        unsigned top, shift;

        if (value < SUB_COUNT)
                return (unsigned) value;
        top = 63 - (unsigned) __builtin_clzll(value);
        shift = top - ED_HISTOGRAM_SUB_BITS;
        return ((shift + 1) << ED_HISTOGRAM_SUB_BITS) +
               (unsigned) ((value >> shift) & (SUB_COUNT - 1));
}

/* Returns the middle of a bucket. */
static uint64_t bucket_value(unsigned bucket)
{
        unsigned group = bucket >> ED_HISTOGRAM_SUB_BITS, shift;

        if (group == 0)
                return bucket;
        shift = group - 1;
        return ((uint64_t) (SUB_COUNT + (bucket & (SUB_COUNT - 1))) << shift) +
               ((uint64_t) 1 << shift) / 2;
}

void ed_histogram_add(struct ed_histogram *histogram, int64_t value_ns)
{
        uint64_t value;

        if (value_ns < 0)
                value_ns = 0;
        value = ((uint64_t) value_ns + 500) / 1000;
        if (value > VALUE_MAX)
                value = VALUE_MAX;
        if (histogram->count == 0 || value_ns < histogram->min_ns)
                histogram->min_ns = value_ns;
        if (histogram->count == 0 || value_ns > histogram->max_ns)
                histogram->max_ns = value_ns;
        histogram->count++;
        histogram->buckets[bucket_of(value)]++;
}

int64_t ed_histogram_value(const struct ed_histogram *histogram, unsigned permille)
{
        uint64_t rank, seen = 0;
        int64_t value_ns;

        if (histogram->count == 0)
                return 0;
        if (permille >= 1000)
                return histogram->max_ns;
        /* Round up, in two parts, so that a huge count does not overflow. */
        rank = histogram->count / 1000 * permille +
               (histogram->count % 1000 * permille + 999) / 1000;
        if (rank == 0)
                rank = 1;
        for (unsigned i = 0; i < ED_HISTOGRAM_BUCKETS; i++) {
                seen += histogram->buckets[i];
                if (seen < rank)
                        continue;
                value_ns = (int64_t) bucket_value(i) * 1000;
                if (value_ns > histogram->max_ns)
                        value_ns = histogram->max_ns;
                if (value_ns < histogram->min_ns)
                        value_ns = histogram->min_ns;
                return value_ns;
        }
        return histogram->max_ns;
}
