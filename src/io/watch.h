/*
 * io/watch.h - a descriptor that tasks wait for.
 *
 * The table reports changes of readiness, not readiness, so what it said last
 * is remembered here: a flag for each direction says whether trying is worth
 * a system call.  It is set by an event and cleared by who finds the
 * descriptor drained (-EAGAIN, or less moved than was asked for; of a peer that
 * sends urgent data only -EAGAIN: a receive ends at each such byte).  Events are
 * handled between tasks, so nothing can come between a try that fails and the
 * wait that follows it.  A descriptor that never makes anybody wait is never
 * registered.
 */
#ifndef ED_IO_WATCH_H
#define ED_IO_WATCH_H

#include <errno.h>
#include <stdbool.h>

#include "scope/suspend.h"

struct ed_watch;

/* A task that waits; lies on its stack, and stands in the watch until it runs again. */
struct ed_watch_waiter {
        struct ed_watch *watch; /* NULL: taken out; the watch may be gone */
        struct ed_task *task;
        bool woken;
        bool deaf; /* events do not wake it */
};

enum ed_watch_side { ED_WATCH_READ, ED_WATCH_WRITE, ED_WATCH_SIDES };

struct ed_watch {
        struct ed_target target;
        struct ed_loop *loop;
        int fd;
        bool registered;
        bool always; /* of a kind that never waits */
        bool net;    /* a connection: a wait for it ought to have a deadline */
        bool ready[ED_WATCH_SIDES];
        bool ended;  /* the peer sends no more: reads will tell, and never drain it */
        bool urgent; /* the peer sends urgent data: a short read may leave bytes with no event */
        struct ed_watch_waiter *waiters[ED_WATCH_SIDES];
        void (*idle)(void *arg);
        void *idle_arg;
};

/* Nothing is known of 'fd' yet: both directions are taken for ready. */
void ed_watch_init(struct ed_watch *watch, struct ed_loop *loop, int fd);

/*
 * Wake who waits, with -ECANCELED, and forget the descriptor, which is to be
 * closed after this.  Not twice.
 */
void ed_watch_fini(struct ed_watch *watch);

/* Register the descriptor, if it is not.  Errors: -ENOMEM, -ENOSPC, -EBADF. */
EDDY_MUST_USE int ed_watch_register(struct ed_watch *watch);

/*
 * Wait until 'side' may be ready.  Nobody else may be waiting for it.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the task was cancelled or the watch is gone: after any
 *                     error the caller returns without touching it
 *         those of ed_watch_register()
 */
EDDY_MUST_USE int ed_watch_wait(struct ed_watch *watch, enum ed_watch_side side,
                                struct ed_task *task, const char *waits_for);

/*
 * Wait for 'duration_ns', in the place of who waits for 'side': the watch
 * stays taken, its events wake nobody.  Errors as ed_watch_wait().
 */
EDDY_MUST_USE int ed_watch_pause(struct ed_watch *watch, enum ed_watch_side side,
                                 struct ed_task *task, int64_t duration_ns, const char *waits_for);

/*
 * Call 'fn(arg)' once, from the loop, when reading would not wait; NULL takes
 * it back.  Errors: -EBUSY   a task waits to read
 *                   -EINVAL  the descriptor is always ready
 *                   those of ed_watch_register()
 */
EDDY_MUST_USE int ed_watch_set_idle(struct ed_watch *watch, void (*fn)(void *arg), void *arg);

/* Whether a task is in the middle of reading or writing. */
static inline bool ed_watch_is_busy(const struct ed_watch *watch, enum ed_watch_side side)
{
        return watch->waiters[side] || (side == ED_WATCH_READ && watch->idle);
}

/*
 * Begin a suspending call that moves something on 'side'.
 *
 * Errors: -EBUSY  a task is in the middle of such a call
 *         those of ed_suspend_enter()
 */
static inline int ed_watch_enter(const struct ed_watch *watch, enum ed_watch_side side,
                                 struct ed_task **ret_task)
{
        int err = ed_suspend_enter(ret_task);

        if (ed_unlikely(err < 0))
                return err;
        return ed_unlikely(ed_watch_is_busy(watch, side)) ? -EBUSY : 0;
}

/*
 * Whether a call that returned 'n' is to be made again after a wait: the
 * descriptor is drained.
 */
static inline bool ed_watch_again(struct ed_watch *watch, enum ed_watch_side side, int64_t n)
{
        if (ed_likely(n >= 0))
                return false;
        if (n != -EAGAIN)
                return false;
        watch->ready[side] = false;
        return true;
}

/* What the kernel says, as eddy says it: its -ETIMEDOUT is not a scope's. */
static inline int ed_io_error(int64_t error)
{
        return ed_unlikely(error == -ETIMEDOUT) ? EDDY_E_NET_TIMED_OUT : (int) error;
}

#endif
