/*
 * io/watch.h - a descriptor that tasks wait for.
 *
 * The table reports changes of readiness, so the last state is kept here: a flag for each
 * direction, which means that a system call is worth trying. An event sets the flag; a call that
 * finds the descriptor drained clears it (-EAGAIN, or fewer bytes moved than requested; with urgent
 * data only -EAGAIN, because a receive ends at each urgent byte). Events are handled between tasks,
 * so no event can occur between a failed try and the following wait. A descriptor for which no task
 * ever waits is never registered.
 */
#ifndef ED_IO_WATCH_H
#define ED_IO_WATCH_H

#include <errno.h>
#include <stdbool.h>

#include "loop/long_wait.h"
#include "loop/member.h"
#include "scope/suspend.h"

struct ed_watch;

/*
 * A waiting task's entry, on the task's stack; registered in the watch until the task runs again.
 */
struct ed_watch_waiter {
        struct ed_watch *watch; /* NULL: unregistered; the watch may be gone */
        struct ed_task *task;
        struct ed_alarm *alarm; /* if not NULL: the task pauses, and events do not wake it */
        struct ed_long_wait long_wait;
        bool woken; /* not used in a pause */
};

enum ed_watch_side { ED_WATCH_READ, ED_WATCH_WRITE, ED_WATCH_SIDES };

struct ed_watch {
        struct ed_target target;
        struct ed_member member;
        int fd;           /* -1: none, or closed */
        bool is_borrowed; /* the descriptor stays open at the end */
        bool registered;
        bool always; /* this kind of descriptor never blocks */
        bool net;    /* a connection: waits for it should have a deadline */
        bool ready[ED_WATCH_SIDES];
        bool ended; /* the peer ended the stream: reads return it and never drain it */
        bool urgent; /* urgent data may have been sent: a short read may leave bytes without an event */
        struct ed_watch_waiter *waiters[ED_WATCH_SIDES];
        void (*idle)(void *arg);
        void *idle_arg;
        bool hung_up; /* the connection was reset, or both directions have ended */
        void (*hangup)(void *arg);
        void *hangup_arg;
        void (*before_close)(struct ed_watch *watch); /* NULL: nothing to do */
};

/*
 * The state of 'fd' is unknown: both directions count as ready. When the loop ends, the descriptor is
 * closed as by ed_watch_close().
 */
void ed_watch_init(struct ed_watch *watch, struct ed_loop *loop, int fd);

/*
 * Wake the waiters with -ECANCELED, and close the descriptor, with a reset if 'abort'. Can be
 * repeated.
 */
void ed_watch_shut(struct ed_watch *watch, bool abort);

/* ed_watch_shut(), and leave the loop. Does nothing if the loop has ended. */
void ed_watch_close(struct ed_watch *watch, bool abort);

/* Register the descriptor, unless it is registered. Errors: -ENOMEM, -ENOSPC, -EBADF. */
EDDY_MUST_USE int ed_watch_register(struct ed_watch *watch);

/*
 * Wait until 'side' may be ready. The side must not have another waiter.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the task was cancelled or the watch is gone: after any
 *                     error the caller returns without touching it
 *         those of ed_watch_register()
 */
EDDY_MUST_USE int ed_watch_wait(struct ed_watch *watch, enum ed_watch_side side,
                                struct ed_task *task, const char *waits_for);

/*
 * Wait for 'duration_ns' as the waiter of 'side': the side stays busy, and its events do not wake
 * the task. Errors as ed_watch_wait().
 */
EDDY_MUST_USE int ed_watch_pause(struct ed_watch *watch, enum ed_watch_side side,
                                 struct ed_task *task, int64_t duration_ns, const char *waits_for);

/*
 * Call 'fn(arg)' once, from the loop, when reading would not wait; NULL cancels this. Errors:
 * -EBUSY   a task waits to read
 *                   -EINVAL  the descriptor is always ready
 *                   those of ed_watch_register()
 */
EDDY_MUST_USE int ed_watch_set_idle(struct ed_watch *watch, void (*fn)(void *arg), void *arg);

/*
 * Call 'fn(arg)' once, from the loop, when the connection was reset or both directions have ended;
 * NULL cancels this. Tasks may wait meanwhile. Errors:
 * -EALREADY  that has happened
 *                   those of ed_watch_register()
 */
EDDY_MUST_USE int ed_watch_set_hangup(struct ed_watch *watch, void (*fn)(void *arg), void *arg);

/* Returns true if a task is reading or writing. */
static inline bool ed_watch_is_busy(const struct ed_watch *watch, enum ed_watch_side side)
{
        return watch->waiters[side] || (side == ED_WATCH_READ && watch->idle);
}

/*
 * Begin a suspending call that moves bytes on 'side'.
 *
 * Errors: -EBUSY                 another task is in such a call
 *         EDDY_E_RUN_OTHER_LOOP
 *         those of ed_suspend_enter()
 */
static inline int ed_watch_enter(const struct ed_watch *watch, enum ed_watch_side side,
                                 struct ed_task **ret_task)
{
        int err = ed_suspend_enter(ret_task);

        if (ed_unlikely(err < 0))
                return err;
        if (ed_unlikely(watch->member.loop != (*ret_task)->loop))
                return EDDY_E_RUN_OTHER_LOOP;
        return ed_unlikely(ed_watch_is_busy(watch, side)) ? -EBUSY : 0;
}

/* Convert the kernel's error: its -ETIMEDOUT is not a scope's. */
static inline int ed_io_error(int64_t error)
{
        return ed_unlikely(error == -ETIMEDOUT) ? EDDY_E_NET_TIMED_OUT : (int) error;
}

#endif
