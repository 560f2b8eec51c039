/*
 * limit/bucket.h - a token bucket: amounts of any size, at a rate, and a share of it at once.
 *
 * The state is the time at which the bucket will be full.  An amount moves that time on by what it
 * takes to refill.
 */
#ifndef ED_LIMIT_BUCKET_H
#define ED_LIMIT_BUCKET_H

#include <stdint.h>

#include "loop/timer.h"

struct ed_limit_bucket {
        double unit_ns;  /* time to refill one */
        int64_t room_ns; /* time to refill an empty bucket */
        int64_t full_ns;
};

static inline int64_t ed_limit_bucket_takes_ns(const struct ed_limit_bucket *bucket,
                                               uint64_t amount)
{
        double ns = bucket->unit_ns * (double) amount;

        return ns < 0x1p62 ? (int64_t) ns : (int64_t) 1 << 62;
}

/* Returns the first time from 'now_ns' at which 'amount' is there.  More than all waits for all. */
static inline int64_t ed_limit_bucket_fits_ns(const struct ed_limit_bucket *bucket, uint64_t amount,
                                              int64_t now_ns)
{
        int64_t takes_ns = ed_limit_bucket_takes_ns(bucket, amount), at_ns;

        if (takes_ns > bucket->room_ns)
                takes_ns = bucket->room_ns;
        at_ns = bucket->full_ns - (bucket->room_ns - takes_ns);
        return at_ns > now_ns ? at_ns : now_ns;
}

static inline void ed_limit_bucket_take(struct ed_limit_bucket *bucket, uint64_t amount,
                                        int64_t now_ns)
{
        if (bucket->full_ns < now_ns)
                bucket->full_ns = now_ns;
        bucket->full_ns = ed_time_after(bucket->full_ns, ed_limit_bucket_takes_ns(bucket, amount));
}

static inline void ed_limit_bucket_give_back(struct ed_limit_bucket *bucket, uint64_t amount)
{
        int64_t takes_ns = ed_limit_bucket_takes_ns(bucket, amount);

        bucket->full_ns = bucket->full_ns > takes_ns ? bucket->full_ns - takes_ns : 0;
}

#endif
