/*
 * eddy/concurrency.h - a limit of concurrent calls that adapts to the capacity of a
 * service.
 *
 *     int ticket = eddy_concurrency_acquire(&slots);
 *
 *     if (ticket < 0)
 *             return ticket;
 *     status = call_the_service();
 *     eddy_concurrency_release(&slots, ticket, status == 429 || status == 503 ?
 *                                              EDDY_CONCURRENCY_OVERLOAD : EDDY_CONCURRENCY_OK);
 *
 * The limit grows while calls succeed and all slots are in use.  If the service
 * reports an overload (429, 503, a timeout), the limit falls back to the last limit that
 * worked, or by a third if that limit fails too.  Near a limit that failed, the limit grows
 * rarely and by 1, so the service refuses few calls.
 */
#ifndef EDDY_CONCURRENCY_H
#define EDDY_CONCURRENCY_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* The highest value of 'max'. */
enum { EDDY_CONCURRENCY_MAX = 1 << 20 };

/* All zero is the default. */
struct eddy_concurrency_opts {
        uint32_t start EDDY_UNSET; /* slots at the beginning; 0: 8, or 'max' if that is less */
        uint32_t min EDDY_UNSET;   /* 0: 1 */
        uint32_t max EDDY_UNSET;   /* 0: 1,000; at most EDDY_CONCURRENCY_MAX */
        /* successes before a limit that failed is tried again; 0: 10 times the limit, and at
         * least 400 */
        uint32_t patience EDDY_UNSET;
        uintptr_t reserved[2] EDDY_UNSET; /* zero */
};

enum eddy_concurrency_result {
        EDDY_CONCURRENCY_OK,
        EDDY_CONCURRENCY_OVERLOAD, /* the service refused the call, or was too slow */
        EDDY_CONCURRENCY_UNKNOWN,  /* such as a cancelled call: does not count */
};

/* Private, but ready to use when zero: with the defaults.  Never move a used one. */
typedef struct eddy_concurrency {
        struct eddy_concurrency_opts opts;
        uint32_t limit;
        uint32_t in_use;
        uint32_t waiting;
        uint32_t worked;
        uint32_t proven;
        uint32_t ceiling;
        uint32_t epoch;
        uint32_t overloads;
        void *waiters[2];
        uintptr_t loop_number;
        uintptr_t reserved[2];
} eddy_concurrency;

/*
 * Initialise at run time.  'opts' may be NULL.
 *
 * Suspends: no.
 * Errors: -EINVAL  an option is out of its range, or min <= start <= max does not hold
 */
EDDY_API EDDY_MUST_USE int eddy_concurrency_init(eddy_concurrency *slots,
                                                 const struct eddy_concurrency_opts *opts);

/*
 * Take a slot, waiting for one if necessary.  First come, first served.  Returns a
 * ticket of 0 or more for eddy_concurrency_release(), which must follow on every way
 * out.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  no slot was taken
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait in line
 */
EDDY_API EDDY_MUST_USE int eddy_concurrency_acquire(eddy_concurrency *slots);

/*
 * Take a slot if one is free and no task waits for one.
 *
 * Suspends: no.
 * Errors: -EAGAIN
 *         EDDY_E_RUN_OTHER_LOOP  in debug mode: another loop has used the object
 */
EDDY_API EDDY_MUST_USE int eddy_concurrency_try_acquire(eddy_concurrency *slots);

/*
 * Give a slot back and report the result of its call.  Results of calls that began
 * before the limit last fell do not count.  Works in a cancelled task.
 *
 * Suspends: no.
 * Errors: -EINVAL  all slots were given back already
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait in line
 */
EDDY_API int eddy_concurrency_release(eddy_concurrency *slots, int ticket,
                                      enum eddy_concurrency_result result);

/* The present limit, the slots in use, and the number of waiting tasks.  Suspends: no. */
EDDY_API uint32_t eddy_concurrency_limit(const eddy_concurrency *slots);
EDDY_API uint32_t eddy_concurrency_in_use(const eddy_concurrency *slots);
EDDY_API uint32_t eddy_concurrency_waiting(const eddy_concurrency *slots);

EDDY_END_DECLS

#endif
