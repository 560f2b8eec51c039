/*
 * loop/lag.c - a histogram with logarithmic buckets, two for each power of two.
 */
#include "loop/lag.h"

/* All values below 2^FIRST_BITS are in the first bucket. */
enum { FIRST_BITS = 10 };

static unsigned bucket_of(uint64_t ns)
{
        unsigned top, bucket;

        if (ns >> FIRST_BITS == 0)
                return 0;
        /* The highest bit selects the pair of buckets, the next bit one of the two. */
        top = 63 - (unsigned) __builtin_clzll(ns);
        bucket = 1 + (top - FIRST_BITS) * 2 + (unsigned) (ns >> (top - 1) & 1);
        return bucket < EDDY_LAG_BUCKETS ? bucket : EDDY_LAG_BUCKETS - 1;
}

/* Returns the exclusive upper limit of a bucket.  The last bucket has none. */
static int64_t bucket_end(unsigned bucket)
{
        unsigned shift = FIRST_BITS - 1 + bucket / 2;

        return bucket % 2 == 0 ? (int64_t) 2 << shift : (int64_t) 3 << shift;
}

void ed_lag_add(struct eddy_lag *lag, int64_t turn_ns)
{
        if (turn_ns < 0)
                turn_ns = 0;
        if (turn_ns > lag->max_ns)
                lag->max_ns = turn_ns;
        lag->count++;
        lag->sum_ns += (uint64_t) turn_ns;
        lag->buckets[bucket_of((uint64_t) turn_ns)]++;
}

int64_t eddy_lag_percentile(const struct eddy_lag *lag, double percent)
{
        uint64_t seen = 0;

        for (unsigned i = 0; i < EDDY_LAG_BUCKETS - 1; i++) {
                seen += lag->buckets[i];
                if (seen > 0 && (double) seen * 100 >= (double) lag->count * percent)
                        return bucket_end(i) < lag->max_ns ? bucket_end(i) : lag->max_ns;
        }
        return lag->max_ns;
}
