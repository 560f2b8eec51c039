/*
 * http/h2_limits.c - see h2_limits.h.
 */
#include "http/h2_limits.h"

void ed_h2_bucket_init(struct ed_h2_bucket *bucket, uint32_t max, int64_t now_ns)
{
        *bucket = (struct ed_h2_bucket){ .max = max, .left = max, .at_ns = now_ns };
}

void ed_h2_bucket_add(struct ed_h2_bucket *bucket, uint32_t n)
{
        bucket->left = n < bucket->max - bucket->left ? bucket->left + n : bucket->max;
}

/* Fill it for the time that has passed; the part of a token that remains counts later. */
static void refill(struct ed_h2_bucket *bucket, int64_t now_ns)
{
        int64_t each_ns = ED_H2_REFILL_NS / bucket->max, n;

        if (each_ns == 0)
                each_ns = 1;
        n = (now_ns - bucket->at_ns) / each_ns;
        if (n <= 0)
                return;
        bucket->at_ns += n * each_ns;
        ed_h2_bucket_add(bucket, n < bucket->max ? (uint32_t) n : bucket->max);
}

bool ed_h2_bucket_take(struct ed_h2_bucket *bucket, int64_t now_ns)
{
        if (bucket->max == 0)
                return true;
        refill(bucket, now_ns);
        if (bucket->left == 0)
                return false;
        bucket->left--;
        return true;
}
