/*
 * mock/bucket.h - a token bucket: so many requests per second, and as many at once.
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

/* Full at first; it holds what comes in a second, but at least one token. */
void ed_bucket_init(struct ed_bucket *bucket, double rate, int64_t now_ns);

/* Take a token.  Returns 0, or how long it will take until there is one, at most a year. */
int64_t ed_bucket_take(struct ed_bucket *bucket, int64_t now_ns);

#endif
