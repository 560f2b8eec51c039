/*
 * batch/run/own_refusal.h - detects a request that its server refuses each time, although it answers
 * others: then the refusal is about the request, and not about the pace of the run. No I/O.
 *
 * Under a limit that is for all, the probability that a request is refused is about the share of
 * others that are refused. The refusals of a request make a number: the product of these shares, each
 * for the time between two of its refusals. If the product is small enough, it is not bad luck. If no
 * others are left, a refusal after half a minute counts too.
 */
#ifndef ED_CMD_BATCH_RUN_OWN_REFUSAL_H
#define ED_CMD_BATCH_RUN_OWN_REFUSAL_H

#include <stdbool.h>
#include <stdint.h>

/* The product is at most 1 / 2^20: the probability that such a request has only had bad luck. */
enum { ED_OWN_REFUSAL_BITS = 20 };

/* The answers of a group of endpoints. All zero is the start. */
struct ed_refusal_counts {
        uint64_t answered; /* requests that began after the last refusal before their answer */
        uint64_t refused;
};

/* The refusals of a request. All zero is the start. */
struct ed_own_refusal {
        struct ed_refusal_counts seen; /* at its last refusal */
        int64_t at_ns;                 /* the time of that refusal; 0: it was not refused */
        unsigned bits;                 /* the product so far is 1 / 2^bits */
};

/*
 * A request is refused at 'now_ns'. Counts that as a refusal of the group, and returns false, or returns true if
 * the refusal is about the request.
 */
bool ed_own_refusal_add(struct ed_own_refusal *own, struct ed_refusal_counts *counts,
                        int64_t now_ns);

#endif
