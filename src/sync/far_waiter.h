/*
 * sync/far_waiter.h - a task, or a thread without a loop, that waits for what
 * another thread may bring.
 *
 *     err = ed_far_waiter_init(&waiter, task, &lock, item);
 *     lock;
 *     if it can be done at once: do it, unlock, done;
 *     ed_far_waiter_push(line, &waiter);
 *     unlock;
 *     return ed_far_waiter_park(&waiter, "an item in a channel");
 *
 * Whoever ends the wait takes the waiter out of its line and completes the
 * operation under the lock, and wakes it when the lock is open again: by a
 * post to its loop, directly on that loop's own thread, or by a condition if
 * it is a thread.  A waiter that was taken stays where it is until it is woken,
 * and its task keeps its loop from closing; a cancel that comes in between is
 * too late.
 *
 * A waiter with 'ops' is one of several of its task, in lines under several
 * locks.  It is claimed when it is taken, so that of all of them one is served.
 */
#ifndef ED_SYNC_FAR_WAITER_H
#define ED_SYNC_FAR_WAITER_H

#include "loop/inbox.h"
#include "scope/waiters.h"

/* On the stack of its task, or in the choice of a select. */
struct ed_far_waiter {
        struct ed_waiter waiter; /* its task NULL: a thread's, see ed_far_waiter_block() */
        struct ed_post post;
        struct ed_inbox *inbox; /* of its loop; from the push on a reference, for who wakes it */
        struct ed_mutex *lock;  /* of the line */
        bool in_line;           /* guarded by the lock */
        int result;
};

/* Errors: -ENOMEM  the first time on a loop. */
int ed_far_waiter_init(struct ed_far_waiter *waiter, struct ed_task *task, struct ed_mutex *lock,
                       void *item);

/* With the lock held. */
void ed_far_waiter_push(void *line[2], struct ed_far_waiter *waiter);

/* With the lock open.  The result of the wait, or -ECANCELED. */
int ed_far_waiter_park(struct ed_far_waiter *waiter, const char *waits_for);

/* With the lock open: leave the line.  False: it had left, and is being woken or cannot be served. */
bool ed_far_waiter_leave(struct ed_far_waiter *waiter);

/*
 * Block this thread, which has no loop, in line until it is woken.  Returns the
 * result.  With the lock held, before and after.
 */
int ed_far_waiter_block(void *line[2], struct ed_mutex *lock, void *item);

/* Take the first one out that can be served, if there is one.  With the lock held, any thread. */
struct ed_far_waiter *ed_far_waiter_take(void *line[2], int result);

/* Wake one that was taken; NULL is fine.  With the lock open, any thread. */
void ed_far_waiter_wake(struct ed_far_waiter *waiter);

#endif
