/*
 * scope/far_waiter.h - a task that waits for what another thread may bring.
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
 * post to its loop, or directly on that loop's own thread.  A waiter that was
 * taken stays where it is until it is woken, and its task keeps its loop from
 * closing; a cancel that comes in between is too late.
 */
#ifndef ED_SCOPE_FAR_WAITER_H
#define ED_SCOPE_FAR_WAITER_H

#include "loop/inbox.h"
#include "scope/waiters.h"

/* Lies on the stack of its task. */
struct ed_far_waiter {
        struct ed_waiter waiter;
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

/* The first of a line, or NULL.  With the lock held, any thread. */
static inline struct ed_far_waiter *ed_far_waiter_first(void *const line[2])
{
        struct ed_waiter *first = ed_waiters_first(line);

        return first ? ed_container_of(first, struct ed_far_waiter, waiter) : NULL;
}

/* Take the first one out, if there is one.  With the lock held, any thread. */
struct ed_far_waiter *ed_far_waiter_take(void *line[2], int result);

/* Wake one that was taken; NULL is fine.  With the lock open, any thread. */
void ed_far_waiter_wake(struct ed_far_waiter *waiter);

#endif
