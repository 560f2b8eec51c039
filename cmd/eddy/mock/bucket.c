/*
 * mock/bucket.c - tokens that are refilled over time.
 */
#include "mock/bucket.h"

#include "common/duration.h"

/* Absorbs the rounding of many small refills. */
#define TOKEN_ERROR 1e-9

void ed_bucket_init(struct ed_bucket *bucket, double rate, int64_t now_ns)
{
        double size = rate > 1 ? rate : 1;

        *bucket = (struct ed_bucket){ rate, size, size, now_ns };
}

void ed_bucket_init_minute(struct ed_bucket *bucket, uint32_t per_minute, int64_t now_ns)
{
        *bucket = (struct ed_bucket){ per_minute / 60.0, per_minute, per_minute, now_ns };
}

/* Returns the time in which 'tokens' tokens are refilled. */
static int64_t refill_ns(const struct ed_bucket *bucket, double tokens)
{
        double wait_ns = tokens / bucket->rate * 1e9;

        /* At a very low rate, the time does not fit an integer. */
        return wait_ns < (double) ED_DURATION_MAX_NS ? (int64_t) wait_ns + 1 : ED_DURATION_MAX_NS;
}

int64_t ed_bucket_take_many(struct ed_bucket *bucket, uint64_t count, int64_t now_ns)
{
        double wanted = (double) count;

        if (bucket->rate <= 0)
                return 0;
        /* Loops on several threads read the clock at different times. */
        if (now_ns < bucket->at_ns)
                now_ns = bucket->at_ns;
        bucket->tokens += bucket->rate * (double) (now_ns - bucket->at_ns) / 1e9;
        if (bucket->tokens > bucket->size)
                bucket->tokens = bucket->size;
        bucket->at_ns = now_ns;
        if (wanted > bucket->size)
                return ED_DURATION_MAX_NS;
        if (bucket->tokens >= wanted) {
                bucket->tokens -= wanted;
                return 0;
        }
        return refill_ns(bucket, wanted - bucket->tokens);
}

int64_t ed_bucket_take(struct ed_bucket *bucket, int64_t now_ns)
{
        return ed_bucket_take_many(bucket, 1, now_ns);
}

uint64_t ed_bucket_left(const struct ed_bucket *bucket)
{
        return bucket->tokens > 0 ? (uint64_t) (bucket->tokens + TOKEN_ERROR) : 0;
}

int64_t ed_bucket_full_ns(const struct ed_bucket *bucket)
{
        if (bucket->rate <= 0 || bucket->tokens >= bucket->size)
                return 0;
        return refill_ns(bucket, bucket->size - bucket->tokens);
}
