/*
 * http/h2_limits.h - how much of each kind of frame a peer may send that costs it nothing.
 *
 * Each kind has a bucket: full at first, and filled again at a steady rate in ED_H2_REFILL_NS. A
 * frame takes one from its bucket; the connection ends with ENHANCE_YOUR_CALM when the bucket is
 * empty.
 */
#ifndef ED_HTTP_H2_LIMITS_H
#define ED_HTTP_H2_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "eddy/def.h"
#include "eddy/time.h"

enum ed_h2_limit {
        ED_H2_RESETS,        /* RST_STREAM of the peer */
        ED_H2_FAULTS,        /* resets that a frame of the peer made this side send */
        ED_H2_SETTINGS,      /* SETTINGS */
        ED_H2_PINGS,         /* PING */
        ED_H2_OTHERS,        /* PRIORITY, GOAWAY, PRIORITY_UPDATE and unknown frames */
        ED_H2_EMPTY,         /* DATA without bytes and without an end */
        ED_H2_UPDATES,       /* WINDOW_UPDATE; each frame of DATA that is sent adds some */
        ED_H2_STRAYS,        /* HEADERS, and DATA of few bytes, for streams that have ended */
        ED_H2_CONTINUATIONS, /* of one head: not a bucket */
        ED_H2_HEAD,          /* decoded bytes of one head: not a bucket */
        ED_H2_LIMITS
};

#define ED_H2_REFILL_NS EDDY_SEC(30)

struct ed_h2_bucket {
        uint32_t max; /* 0: no limit */
        uint32_t left;
        int64_t at_ns; /* when 'left' was right */
};

void ed_h2_bucket_init(struct ed_h2_bucket *bucket, uint32_t max, int64_t now_ns);

/* Take one. Returns false if there is none. */
bool ed_h2_bucket_take(struct ed_h2_bucket *bucket, int64_t now_ns);

/* Put some back, up to the maximum. */
void ed_h2_bucket_add(struct ed_h2_bucket *bucket, uint32_t n);

#endif
