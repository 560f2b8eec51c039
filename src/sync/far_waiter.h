/*
 * sync/far_waiter.h - a task, or a thread without a loop, that waits for an action of another
 * thread.
 *
 *     err = ed_far_waiter_init(&waiter, task, &lock, item);
 *     lock;
 *     if it can be done at once: do it, unlock, done;
 *     ed_far_waiter_push(line, &waiter);
 *     unlock;
 *     return ed_far_waiter_park(&waiter, "an item in a channel");
 *
 * The waker takes the waiter out of its line and completes the operation under the lock, and wakes
 * the waiter after unlocking: with a post to the waiter's loop, directly if this is the loop's own
 * thread, or with a condition variable if the waiter is a thread.  A waiter that was taken remains
 * valid until it is woken, and its task keeps its loop from closing; a cancel in between is too
 * late.
 *
 * A waiter with 'ops' is one of several waiters of its task, in lines with different locks.  Taking
 * it claims the task, so only one of these waiters is served.
 */
#ifndef ED_SYNC_FAR_WAITER_H
#define ED_SYNC_FAR_WAITER_H

#include "loop/inbox.h"
#include "scope/waiters.h"

/* On the stack of its task, or in a choice of a select. */
struct ed_far_waiter {
        struct ed_waiter waiter; /* task NULL: a thread's, see ed_far_waiter_block() */
        struct ed_post post;
        struct ed_inbox *inbox; /* its loop's; from the push on a reference, for the waker */
        struct ed_mutex *lock;  /* the line's lock */
        bool in_line;           /* protected by the lock */
        int result;
};

/* Errors: -ENOMEM (only at the first use on a loop) */
int ed_far_waiter_init(struct ed_far_waiter *waiter, struct ed_task *task, struct ed_mutex *lock,
                       void *item);

/* Adds a waiter to a line.  The caller holds the lock. */
void ed_far_waiter_push(void *line[2], struct ed_far_waiter *waiter);

/* Waits; returns the result of the wait, or -ECANCELED.  The caller does not hold the lock. */
int ed_far_waiter_park(struct ed_far_waiter *waiter, const char *waits_for);

/*
 * Leaves the line.  Returns false if the waiter has left already: it is being woken, or cannot be
 * served.  The caller does not hold the lock.
 */
bool ed_far_waiter_leave(struct ed_far_waiter *waiter);

/*
 * Blocks this thread, which has no loop, in a line until it is woken.  Returns the result, or
 * -ECANCELED if the thread's job was asked to stop.  The caller holds the lock, which is free after
 * the call.
 */
int ed_far_waiter_block(void *line[2], struct ed_mutex *lock, void *item);

/*
 * Takes out the first waiter that can be served, or returns NULL.  The caller holds the lock.
 * Threads: any.
 */
struct ed_far_waiter *ed_far_waiter_take(void *line[2], int result);

/*
 * Wakes a waiter that was taken; NULL is fine.  The caller does not hold the lock.  Threads: any.
 */
void ed_far_waiter_wake(struct ed_far_waiter *waiter);

#endif
