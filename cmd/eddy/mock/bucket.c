/*
 * mock/bucket.c - tokens that are refilled over time.
 */
#include "mock/bucket.h"

#include "common/duration.h"

void ed_bucket_init(struct ed_bucket *bucket, double rate, int64_t now_ns)
{
        double size = rate > 1 ? rate : 1;

        *bucket = (struct ed_bucket){ rate, size, size, now_ns };
}

int64_t ed_bucket_take(struct ed_bucket *bucket, int64_t now_ns)
{
        double wait_ns;

        if (bucket->rate <= 0)
                return 0;
        bucket->tokens += bucket->rate * (double) (now_ns - bucket->at_ns) / 1e9;
        if (bucket->tokens > bucket->size)
                bucket->tokens = bucket->size;
        bucket->at_ns = now_ns;
        if (bucket->tokens >= 1) {
                bucket->tokens -= 1;
                return 0;
        }
        /* A rate may be so low that the time does not fit an integer. */
        wait_ns = (1 - bucket->tokens) / bucket->rate * 1e9;
        return wait_ns < (double) ED_DURATION_MAX_NS ? (int64_t) wait_ns + 1 : ED_DURATION_MAX_NS;
}
