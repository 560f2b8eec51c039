/*
 * mock/bucket.h - a token bucket: limits requests, or other units, per time, with bursts.
 */
#ifndef ED_CMD_MOCK_BUCKET_H
#define ED_CMD_MOCK_BUCKET_H

#include <stdint.h>

struct ed_bucket {
        double rate;   /* tokens per second; 0: no limit */
        double tokens; /* at 'at_ns' */
        double size;
        int64_t at_ns;
};

/* Make a full bucket, which holds the tokens of one second, but at least one. */
void ed_bucket_init(struct ed_bucket *bucket, double rate, int64_t now_ns);

/* Make a full bucket, which holds the tokens of one minute. 'per_minute' 0: no limit. */
void ed_bucket_init_minute(struct ed_bucket *bucket, uint32_t per_minute, int64_t now_ns);

/* Take a token. Returns 0, or the time until a token is available, at most a year. */
int64_t ed_bucket_take(struct ed_bucket *bucket, int64_t now_ns);

/*
 * Take 'count' tokens, or none. Returns as ed_bucket_take(), and a year if the bucket is too small.
 */
int64_t ed_bucket_take_many(struct ed_bucket *bucket, uint64_t count, int64_t now_ns);

/* Return the whole tokens that the last call left, and the time until the bucket is full. */
uint64_t ed_bucket_left(const struct ed_bucket *bucket);
int64_t ed_bucket_full_ns(const struct ed_bucket *bucket);

#endif
