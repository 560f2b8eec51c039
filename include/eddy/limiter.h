/*
 * eddy/limiter.h - rate limits for requests and tokens, shared by the tasks of a loop.
 *
 *     struct eddy_limiter_limit limits[] = {
 *             { EDDY_LIMITER_REQUESTS, 600, EDDY_MIN(1) },
 *             { EDDY_LIMITER_TOKENS, 90000, EDDY_MIN(1) },
 *     };
 *     struct eddy_limiter_opts opts = { .limits = limits, .limits_count = 2 };
 *     ...
 *     err = eddy_limiter_reserve(limiter, 1, estimate, &reservation);
 *     ... the request ...
 *     eddy_limiter_reconcile(limiter, &reservation, 1, tokens_used);
 *
 * Any window of a limit's length, at any position and with both its ends, holds at
 * most the limit's amount of reservations.  Reservations are not all granted at the
 * beginning of a window: see 'burst_ns'.  The rate is at most 0.5 % below the limit, unless
 * single reservations are a large part of it.
 *
 * First come, first served: a small reservation does not overtake a large one that
 * waits.  If failed requests are retried, reserve each attempt.  Calls on a NULL limiter
 * return -EINVAL.  A limiter belongs to one loop.  eddy/breaker.h and eddy/concurrency.h
 * limit calls by their results.
 */
#ifndef EDDY_LIMITER_H
#define EDDY_LIMITER_H

#include "eddy/breaker.h"
#include "eddy/concurrency.h"
#include "eddy/def.h"
#include "eddy/ratelimit.h"
#include "eddy/time.h"

EDDY_BEGIN_DECLS

typedef struct eddy_limiter eddy_limiter;

/* The unit that a limit counts. */
enum eddy_limiter_unit { EDDY_LIMITER_REQUESTS, EDDY_LIMITER_TOKENS };

enum { EDDY_LIMITER_LIMITS_MAX = 16 };

/* The largest amount of a limit and of a reservation: 2^48. */
#define EDDY_LIMITER_AMOUNT_MAX ((uint64_t) 1 << 48)

struct eddy_limiter_limit {
        enum eddy_limiter_unit unit EDDY_UNSET;
        uint64_t amount EDDY_UNSET; /* in each window: 1 to EDDY_LIMITER_AMOUNT_MAX */
        /* EDDY_SEC(1), EDDY_MIN(1), EDDY_MIN(24 * 60): 1 ms to 366 days */
        int64_t window_ns EDDY_UNSET;
};

/* All zero: no limit; the limiter only counts and pauses. */
struct eddy_limiter_opts {
        const struct eddy_limiter_limit *limits EDDY_UNSET; /* all apply; copied */
        size_t limits_count EDDY_UNSET;                     /* at most EDDY_LIMITER_LIMITS_MAX */
        /* How much of a limit may be granted at once: the share of this time.  0: a second; below
         * 0: the whole window.  Requests: no period of this length has more than its share, so with
         * 600 in a minute any second has at most 10.  Shares are rounded up; if a share is below 1,
         * reservations are evenly spaced.  Tokens: a bucket that holds the share and refills evenly;
         * a reservation above the share waits until the bucket is full.  A whole window never holds
         * more than its amount. */
        int64_t burst_ns EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Make a limiter for the loop of the calling task.  'opts' may be NULL.
 *
 * Suspends: no.
 * Errors: -ENOMEM
 *         -EINVAL  a limit is out of its range, or there are too many
 *         EDDY_E_RUN_NOT_RUNNING
 * Owns: returns (owned) '*ret_limiter', to be closed by eddy_limiter_close().
 */
EDDY_API EDDY_MUST_USE int eddy_limiter_new(const struct eddy_limiter_opts *opts,
                                            eddy_limiter **ret_limiter);

/*
 * Free a limiter.  Waiting calls fail with EDDY_E_LIMITER_CLOSED.  Works in a
 * cancelled task, and after the run.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_limiter_close(eddy_limiter *limiter);

/* A granted reservation.  Zero: nothing is reserved.  The limiter keeps no pointer to it. */
struct eddy_reservation {
        int64_t at_ns; /* when it was granted, eddy_now() clock */
        uint64_t requests;
        uint64_t tokens;
        uintptr_t reserved[1];
};

/*
 * Wait until all limits allow 'requests' and 'tokens' more, and the limiter is not
 * paused, and count them.  Either may be 0.  'ret_reservation' may be NULL.  A
 * cancelled call has reserved nothing.  If the cancel comes after the reservation was
 * granted, the call returns 0, and the next suspending call returns
 * -ECANCELED.
 *
 * Suspends: yes.
 * Errors: EDDY_E_LIMITER_AMOUNT  more than a limit allows in a whole window; returned
 *                                at once, or when eddy_limiter_set_limit() lowers a limit
 *         EDDY_E_LIMITER_CLOSED  eddy_limiter_close() was called meanwhile
 *         EDDY_E_RUN_OTHER_LOOP
 *         -ECANCELED
 */
EDDY_API EDDY_MUST_USE int eddy_limiter_reserve(eddy_limiter *limiter, uint64_t requests,
                                                uint64_t tokens,
                                                struct eddy_reservation *ret_reservation);

/*
 * Reserve if that is possible now and no task waits.
 *
 * Suspends: no.
 * Errors: -EAGAIN
 *         EDDY_E_LIMITER_AMOUNT, EDDY_E_RUN_OTHER_LOOP  as eddy_limiter_reserve()
 */
EDDY_API EDDY_MUST_USE int eddy_limiter_try_reserve(eddy_limiter *limiter, uint64_t requests,
                                                    uint64_t tokens,
                                                    struct eddy_reservation *ret_reservation);

/*
 * Replace the amounts of a reservation by the amounts that were used.  Unused amounts
 * become free for other tasks, unless the window has passed.  If more was used, the limiter
 * may be in debt: it then grants nothing until enough of the window has passed.  May be
 * called any number of times.
 *
 * Suspends: no.
 * Errors: -EINVAL                an amount is above EDDY_LIMITER_AMOUNT_MAX
 *         EDDY_E_RUN_OTHER_LOOP
 */
EDDY_API int eddy_limiter_reconcile(eddy_limiter *limiter, struct eddy_reservation *reservation,
                                    uint64_t requests, uint64_t tokens);

/*
 * Give back a reservation for which no request was sent.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_OTHER_LOOP
 */
EDDY_API int eddy_limiter_release(eddy_limiter *limiter, struct eddy_reservation *reservation);

/*
 * Grant nothing until 'until_ns' (eddy_now() clock; INT64_MAX: until it is resumed).  A
 * second call never makes a pause shorter; eddy_limiter_resume() ends a pause.  A pause stops
 * all tasks, so check a server's Retry-After first: eddy_retry_next() refuses one above the
 * policy's 'wait_max_ns'.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_OTHER_LOOP
 */
EDDY_API int eddy_limiter_pause(eddy_limiter *limiter, int64_t until_ns);
EDDY_API int eddy_limiter_resume(eddy_limiter *limiter);

/*
 * Change the amount of the limit with this unit and window, or of all such limits, or
 * add it.  An amount of 0 removes it.  Earlier reservations still count.
 *
 * Suspends: no.
 * Errors: -EINVAL  out of range; -ENOSPC  EDDY_LIMITER_LIMITS_MAX limits exist; -ENOMEM
 *         EDDY_E_RUN_OTHER_LOOP
 */
EDDY_API EDDY_MUST_USE int eddy_limiter_set_limit(eddy_limiter *limiter,
                                                  const struct eddy_limiter_limit *limit);

/*
 * Follow what a server reports about its own limit: until 'seen->reset_ns' has passed,
 * the limiter grants at most 'seen->remaining' more of the unit, plus the amount that
 * refills meanwhile.  Without 'remaining' and 'reset_ns' nothing changes.  A report
 * about the same window that counts fewer requests than the limiter has granted does
 * not raise the number.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_OTHER_LOOP
 */
EDDY_API int eddy_limiter_learn(eddy_limiter *limiter, enum eddy_limiter_unit unit,
                                const struct eddy_ratelimit *seen);

/* Counters for display. */
struct eddy_limiter_stats {
        uint64_t waiting;        /* calls that wait now */
        uint64_t granted;        /* reservations granted so far */
        uint64_t released;       /* of these, given back */
        uint64_t requests;       /* reserved so far, as reconciled */
        uint64_t tokens;         /* reserved so far, as reconciled */
        uint64_t pauses;         /* calls of eddy_limiter_pause() that made a pause longer */
        int64_t paused_until_ns; /* eddy_now() clock; 0: not paused */
        int64_t next_ns;         /* when the first waiting call may be granted; 0: none waits */
};

/* Zeros for a NULL limiter.  Suspends: no. */
EDDY_API void eddy_limiter_stats(const eddy_limiter *limiter, struct eddy_limiter_stats *ret_stats);

static inline void eddy_limiter_auto_release(eddy_limiter **limiter)
{
        eddy_limiter_close(*limiter);
}

EDDY_END_DECLS

#endif
