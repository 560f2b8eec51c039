/*
 * mock/bucket.h - a token bucket: limits requests per second, with bursts of as many.
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

/* Initially full; the bucket holds the tokens of one second, but at least one. */
void ed_bucket_init(struct ed_bucket *bucket, double rate, int64_t now_ns);

/* Take a token. Returns 0, or the time until there is a token, at most a year. */
int64_t ed_bucket_take(struct ed_bucket *bucket, int64_t now_ns);

#endif
