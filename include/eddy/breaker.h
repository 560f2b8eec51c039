/*
 * eddy/breaker.h - a circuit breaker: stops calls to a service that fails.
 *
 *     int ticket = eddy_breaker_enter(&breaker);
 *
 *     if (ticket < 0)
 *             return ticket;
 *     err = call_the_service();
 *     eddy_breaker_leave(&breaker, ticket, err < 0 ? EDDY_BREAKER_FAILED : EDDY_BREAKER_WORKED);
 *
 * A closed breaker lets all calls through and counts the failures among the last calls.
 * If there are too many, the breaker opens and refuses calls for a time.  Then it is
 * half-open: it lets a number of trial calls through.  If too many of these fail too,
 * the breaker opens again; otherwise it closes.
 */
#ifndef EDDY_BREAKER_H
#define EDDY_BREAKER_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

enum { EDDY_BREAKER_CALLS_MAX = 256 };

/* All zero is the default. */
struct eddy_breaker_opts {
        /* opens if this share of the calls failed; 1 to 100; 0: 50 */
        uint32_t failed_percent EDDY_UNSET;
        uint32_t calls EDDY_UNSET;        /* how many of the last calls count; 0: 100; at most
                                    EDDY_BREAKER_CALLS_MAX */
        uint32_t calls_min EDDY_UNSET;    /* opens only after this number of calls; 0: 'calls' */
        uint32_t trials EDDY_UNSET;       /* trial calls; 0: 10; at most EDDY_BREAKER_CALLS_MAX */
        int64_t open_ns EDDY_UNSET;       /* how long it stays open; 0: a minute */
        uintptr_t reserved[2] EDDY_UNSET; /* zero */
};

enum eddy_breaker_state { EDDY_BREAKER_CLOSED, EDDY_BREAKER_OPEN, EDDY_BREAKER_HALF_OPEN };

enum eddy_breaker_result {
        EDDY_BREAKER_WORKED,
        EDDY_BREAKER_FAILED,
        EDDY_BREAKER_UNKNOWN, /* such as a cancelled call: does not count */
};

/* Private, but ready to use when zero: with the defaults.  For one loop at a time. */
typedef struct eddy_breaker {
        struct eddy_breaker_opts opts;
        uint64_t outcomes[EDDY_BREAKER_CALLS_MAX / 64];
        uint32_t next;
        uint32_t counted;
        uint32_t failed;
        uint32_t entered;
        uint32_t epoch;
        uint32_t state;
        int64_t until_ns;
        uint64_t opened;
        uint64_t refused;
        uintptr_t reserved[2];
} eddy_breaker;

/*
 * Initialise a breaker at run time.  'opts' may be NULL.
 *
 * Suspends: no.
 * Errors: -EINVAL  an option is out of its range
 */
EDDY_API EDDY_MUST_USE int eddy_breaker_init(eddy_breaker *breaker,
                                             const struct eddy_breaker_opts *opts);

/*
 * Ask to make a call.  Returns a ticket of 0 or more for eddy_breaker_leave(), which
 * must follow on every way out.
 *
 * Suspends: no.
 * Errors: EDDY_E_BREAKER_OPEN  refused: the breaker is open, or all trial calls are in
 *                              progress
 */
EDDY_API EDDY_MUST_USE int eddy_breaker_enter(eddy_breaker *breaker);

/*
 * Report the result of a call.  Results of calls that began before the breaker last
 * changed its state do not count.
 *
 * Suspends: no.
 */
EDDY_API void eddy_breaker_leave(eddy_breaker *breaker, int ticket,
                                 enum eddy_breaker_result result);

/* Counters for display. */
struct eddy_breaker_stats {
        enum eddy_breaker_state state;
        int64_t until_ns; /* end of the open state, eddy_now() clock; 0: not open */
        uint32_t counted; /* calls that count now */
        uint32_t failed;  /* of these */
        uint64_t opened;  /* how often it has opened */
        uint64_t refused; /* calls */
};

/* Suspends: no. */
EDDY_API void eddy_breaker_stats(const eddy_breaker *breaker, struct eddy_breaker_stats *ret_stats);

EDDY_END_DECLS

#endif
