/*
 * eddy/pool.h - a pool for things that are opened, lent and closed: connections to a
 * database, sessions, channels.
 *
 *     static const struct eddy_pool_ops ops = { .open = connect, .close = disconnect };
 *     struct eddy_pool_opts opts = { .ops = &ops, .size = 10, .overflow = 5 };
 *     int err = eddy_pool_new(&opts, &pool);
 *     ...
 *     EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
 *     int err = eddy_pool_acquire(pool, &loan);
 *
 *     if (err == 0)
 *             err = query(loan.item);
 *
 * First come, first served: an item that comes back goes to the task that has waited
 * longest.  To limit the wait, set a deadline.  Giving back never suspends; tasks of the
 * pool reset and close items.
 *
 * A pool belongs to one loop.  Calls on a NULL pool return -EINVAL.
 */
#ifndef EDDY_POOL_H
#define EDDY_POOL_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/time.h"

EDDY_BEGIN_DECLS

typedef struct eddy_pool eddy_pool;

/* The result of 'check'; any negative error also means EDDY_POOL_BROKEN. */
enum eddy_pool_state {
        EDDY_POOL_READY,      /* may be lent as it is */
        EDDY_POOL_USED,       /* needs 'reset' first, for example because of a transaction */
        EDDY_POOL_BROKEN = -1 /* must be closed */
};

/* The reason why an item could not be opened. */
struct eddy_pool_fault {
        char code[32];         /* the peer's, such as an SQLSTATE; "" if there is none */
        char text[400];        /* for a log; "" if the error says all that is known */
        uintptr_t reserved[2]; /* zero */
};

/*
 * The operations on items.  'open' and 'close' are required.  'arg' is that of the
 * pool's options.
 */
struct eddy_pool_ops {
        /* Open an item for the calling task.  May suspend.  If it fails, nothing remains open. */
        int (*open)(void *arg, void **ret_item) EDDY_UNSET;
        /*
         * Close an item and release its memory, even in a cancelled task, which cannot wait.
         * May suspend, and is cancelled after 'close_timeout_ns'.
         */
        void (*close)(void *arg, void *item) EDDY_UNSET;
        /*
         * Return an item to its initial state: end a transaction, forget settings.  May suspend.
         * After a failure the item is closed.  NULL: nothing to do.
         */
        int (*reset)(void *arg, void *item) EDDY_UNSET;
        /* Ask the peer for an answer.  May suspend.  After a failure the item is closed. */
        int (*ping)(void *arg, void *item) EDDY_UNSET;
        /*
         * Return the item's state, without a wait.  Called when an item is given back, and before
         * it is lent.  An item must not be READY if its user was cancelled between a request and
         * the end of the answer, or if its peer has closed it.  NULL: items are READY before
         * they are lent, and USED when they come back.
         */
        int (*check)(void *arg, void *item) EDDY_UNSET;
        /* The pool and its items are gone: release 'arg'.  Must not suspend.  NULL: nothing to do. */
        void (*release)(void *arg) EDDY_UNSET;
        /*
         * Store the reason why 'open' failed in '*ret_fault', whose texts are "" before.  Called
         * in the task in which 'open' has just returned.  Must not suspend.  Not called after
         * eddy_pool_close().  NULL: no reasons are stored.
         */
        void (*fault)(void *arg, struct eddy_pool_fault *ret_fault) EDDY_UNSET;
};

enum { EDDY_POOL_ITEMS_MAX = 1 << 16, EDDY_POOL_WAITERS_MAX = 1 << 20 };

/* All zero except 'ops' is the default. */
struct eddy_pool_opts {
        const struct eddy_pool_ops *ops EDDY_UNSET; /* not copied */
        void *arg EDDY_UNSET;
        uint32_t size EDDY_UNSET; /* items that stay open; 0: 10 */
        /* items above 'size', closed when they come back and no task waits; 0: none */
        uint32_t overflow EDDY_UNSET;
        uint32_t waiters_max EDDY_UNSET;     /* tasks that may wait; 0: EDDY_POOL_WAITERS_MAX */
        uint32_t opening_max EDDY_UNSET;     /* items that are opened at the same time; 0: 8 */
        int64_t opening_gap_ns EDDY_UNSET;   /* the least time between two openings; 0: none */
        int64_t open_timeout_ns EDDY_UNSET;  /* 0: 30 s; below 0: none */
        int64_t reset_timeout_ns EDDY_UNSET; /* of 'reset' and 'ping'; 0: 5 s */
        int64_t close_timeout_ns EDDY_UNSET; /* 0: 5 s */
        /* ping an item that was idle for longer; 0: 30 s; below 0: always */
        int64_t ping_after_ns EDDY_UNSET;
        /* close an item that is idle for longer; 0: 5 min; below 0: never */
        int64_t idle_max_ns EDDY_UNSET;
        int64_t age_max_ns EDDY_UNSET; /* do not lend an item that is older; 0: no limit */
        uint64_t loans_max EDDY_UNSET; /* close an item after this number of loans; 0: no limit */
        bool fifo EDDY_UNSET; /* lend the item that was idle longest; else the item used last */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Make a pool for the loop of the calling task.  Items are opened when they are needed.
 *
 * Suspends: no.
 * Errors: -EINVAL  no 'open' or 'close'; more than EDDY_POOL_ITEMS_MAX items; a time that may not
 *                  be negative
 *         -ENOMEM, EDDY_E_RUN_NOT_RUNNING
 * Owns: returns (owned) '*ret_pool', to be closed by eddy_pool_close().
 */
EDDY_API EDDY_MUST_USE int eddy_pool_new(const struct eddy_pool_opts *opts, eddy_pool **ret_pool);

/*
 * A borrowed item.  Zero: none.  A copy refers to the same loan.  The program sets 'ret_fault', or
 * leaves it NULL: if a call fails because no item could be opened for it, the reason is stored
 * there.  eddy sets the other members.
 */
typedef struct eddy_pool_loan {
        void *item EDDY_UNSET;
        eddy_pool *pool EDDY_UNSET;
        uint64_t number EDDY_UNSET;
        uint32_t index EDDY_UNSET;
        struct eddy_pool_fault *ret_fault EDDY_UNSET;
        uintptr_t reserved[1] EDDY_UNSET;
} eddy_pool_loan;

/*
 * Borrow an item.  Uses an idle one, opens one, or waits until one comes back.  An idle
 * item that is broken or too old, or does not answer a ping, is replaced without an error.  After
 * a failed ping, items that were opened before the ping are not lent again.
 *
 * The borrowing task opens the item; if the task is cancelled, the opening is cancelled too.  The
 * texts in 'loan->ret_fault' are "" after success, and after an error that is not of 'open'.
 *
 * Suspends: yes.
 * Errors: those of 'open'; see 'loan->ret_fault'
 *         -ETIMEDOUT            'open' took longer than 'open_timeout_ns'
 *         -EBUSY                '*loan' is a loan already
 *         EDDY_E_POOL_CLOSED
 *         EDDY_E_POOL_FULL      'waiters_max' tasks wait
 *         EDDY_E_RUN_OTHER_LOOP, -ECANCELED
 * Owns: fills in '*loan', to be given back by eddy_pool_release() or _discard().
 */
#define eddy_pool_acquire(pool, loan) eddy_pool_acquire_at(pool, loan, EDDY_PLACE)
EDDY_API EDDY_MUST_USE int eddy_pool_acquire_at(eddy_pool *pool, eddy_pool_loan *loan,
                                                const char *place);

/*
 * Give an item back, and clear '*loan', except 'ret_fault'.  An empty loan is ignored.  A task of
 * the pool resets an item that is USED before its next loan, and closes a broken one.  After the
 * run of the pool has ended, the item is closed.
 *
 * Suspends: no.
 * Errors: -EINVAL  given back before, by a copy of the loan
 *         EDDY_E_RUN_OTHER_LOOP
 */
EDDY_API int eddy_pool_release(eddy_pool_loan *loan);

/* Give back an item that is in an unknown state: the pool closes the item. */
EDDY_API int eddy_pool_discard(eddy_pool_loan *loan);

/*
 * Stop lending items that were opened before this call: idle items are closed now, and lent items
 * when they come back.
 *
 * Suspends: no.
 */
EDDY_API void eddy_pool_expire(eddy_pool *pool);

/* Counters since the pool was made, and the state of the pool. */
struct eddy_pool_stats {
        uint32_t open; /* items: lent, idle, being opened, reset or closed */
        uint32_t lent; /* including those that are being opened */
        uint32_t idle;
        uint32_t opening;
        uint32_t waiting; /* tasks */
        uint64_t loans;
        uint64_t waits;    /* loans whose tasks had to wait for their turn */
        int64_t waited_ns; /* the sum of these waits */
        int64_t waited_max_ns;
        uint64_t opened;
        uint64_t failed; /* openings */
        uint64_t closed;
        uint64_t expired; /* closed because of their age, loans, idle time, or eddy_pool_expire() */
        uint64_t broken;  /* closed because of 'check', 'ping', 'reset', or eddy_pool_discard() */
        uintptr_t reserved[4];
};

EDDY_API void eddy_pool_stats(const eddy_pool *pool, struct eddy_pool_stats *ret_stats);

/* A loan that was not given back, or a call that opens its item. */
struct eddy_pool_borrower {
        const char *place; /* FILE:LINE of eddy_pool_acquire() */
        int64_t since_ns;  /* eddy_now() clock */
        const char *task; /* in debug mode the name of the task, valid until the loan is given back;
                              otherwise "" */
};

/*
 * Store at most 'max' loans, in no particular order, and return the number of all loans.  Use it
 * for the logs of a program whose pool is exhausted, or takes long to close.
 *
 * Suspends: no.
 */
EDDY_API uint32_t eddy_pool_borrowers(const eddy_pool *pool, struct eddy_pool_borrower *borrowers,
                                      uint32_t max);

/*
 * Close the pool: waiting tasks fail with EDDY_E_POOL_CLOSED, idle items are closed, and
 * the call waits until lent items have come back.  The caller gives its own loans back first;
 * with EDDY_AUTO, declare the pool before the loans.  In a cancelled task the call does not wait:
 * lent items remain valid and are closed when they come back, and the last item releases the pool's
 * memory.  In debug mode a wait that takes long is reported, with the tasks that hold items.  NULL
 * is ignored.
 *
 * Suspends: yes, as long as items are lent, and then at most 'reset_timeout_ns' for a 'reset' that
 *           runs, and 'close_timeout_ns'.
 */
EDDY_API void eddy_pool_close(eddy_pool *pool);

static inline void eddy_pool_auto_release(eddy_pool **pool)
{
        eddy_pool_close(*pool);
}

static inline void eddy_pool_loan_auto_release(eddy_pool_loan *loan)
{
        (void) eddy_pool_release(loan);
}

EDDY_END_DECLS

#endif
