/*
 * scope/waiters.h - a line of tasks that wait, first come, first served.
 *
 * The line is the head of a list, but its two pointers are zero when nobody
 * waits, so that a primitive can be ready to use when it is zeroed.  Waiters lie
 * on the stacks of their tasks.
 */
#ifndef ED_SCOPE_WAITERS_H
#define ED_SCOPE_WAITERS_H

#include "scope/suspend.h"

struct ed_waiter {
        struct ed_list link;             /* comes first: what a line points to is a waiter */
        struct ed_task *task;            /* on whose behalf */
        void *item;                      /* what is handed over, where something is */
        const struct ed_waiter_ops *ops; /* NULL: it is a task's and no more */
};

struct ed_waiter_ops {
        /* Called when what it waits for has come, out of the line already, instead of waking the task. */
        void (*granted)(struct ed_waiter *waiter, int result);
        /*
         * Called before it is served; false: another thread has served its task
         * already, and it leaves the line.  NULL: it can always be served.
         */
        bool (*claim)(struct ed_waiter *waiter);
};

enum { LINE_FIRST, LINE_LAST };

static inline struct ed_waiter *ed_waiters_first(void *const line[2])
{
        return line[LINE_FIRST];
}

/*
 * Whether the tasks that wait there are of another loop than 'loop', that of a
 * task which calls.  Finds a mistake, and cannot find each: only a line's own
 * thread may look at it.
 */
static inline bool ed_waiters_are_foreign(void *const line[2], const struct ed_loop *loop)
{
        const struct ed_waiter *first = ed_waiters_first(line);

        return ed_unlikely(first && first->task->loop != loop);
}

/* ed_waiters_are_foreign_here() where the first waiter's loop does not run here. */
__attribute__((cold)) bool ed_waiters_are_another_threads(void *const line[2]);

/*
 * The same for a caller that may run no loop, and be the thread of one that is
 * stopped.
 */
static inline bool ed_waiters_are_foreign_here(void *const line[2])
{
        return ed_unlikely(ed_waiters_are_foreign(line, ed_loop_current)) &&
               ed_waiters_are_another_threads(line);
}

/* How many runs of the process are in debug mode. */
extern _Atomic unsigned ed_debug_runs;

/* Whether ed_waiters_check_loop() has something to check. */
static inline bool ed_debug_has_runs(void)
{
        return ed_unlikely(atomic_load_explicit(&ed_debug_runs, memory_order_relaxed) != 0);
}

/* ed_waiters_check_loop() while there are such runs. */
__attribute__((cold)) int ed_debug_check_loop(uintptr_t *loop_number);

/*
 * At each call that changes an object tasks may wait for: '*loop_number' is the
 * object's.  In debug mode the object belongs to the first loop that uses it, for
 * as long as that loop is there.  Without debug mode nothing is noted, and
 * ed_waiters_are_foreign() has to do.
 *
 * Errors: EDDY_E_RUN_OTHER_LOOP
 */
static inline int ed_waiters_check_loop(uintptr_t *loop_number)
{
        return ed_debug_has_runs() ? ed_debug_check_loop(loop_number) : 0;
}

/*
 * Whether 'self' may wait for the end of a task.
 *
 * Errors: EDDY_E_RUN_OTHER_LOOP
 *         -EDEADLK  it is its own
 *         -EINVAL   there is none
 */
static inline int ed_waiters_check_join(const struct ed_task *self, const eddy_task *task)
{
        if (ed_unlikely(!task))
                return -EINVAL;
        if (ed_unlikely(task->loop != self->loop))
                return EDDY_E_RUN_OTHER_LOOP;
        return ed_unlikely(task->task == self) ? -EDEADLK : 0;
}

/* A waiter of a task, to be pushed. */
static inline void ed_waiter_init(struct ed_waiter *waiter, struct ed_task *task, void *item)
{
        waiter->task = task;
        waiter->item = item;
        waiter->ops = NULL;
}

static inline struct ed_list *ed_waiters_head(void *line[2])
{
        return (struct ed_list *) (void *) line;
}

/* Whether a waiter in line is the last one. */
static inline bool ed_waiters_is_last(const struct ed_waiter *waiter, void *const line[2])
{
        return waiter->link.next == (const void *) line;
}

static inline void ed_waiters_push(void *line[2], struct ed_waiter *waiter)
{
        struct ed_list *head = ed_waiters_head(line);

        if (head->next) {
                ed_list_push_back(head, &waiter->link);
                return;
        }
        waiter->link = (struct ed_list){ head, head };
        *head = (struct ed_list){ &waiter->link, &waiter->link };
}

static inline void ed_waiters_remove(struct ed_waiter *waiter)
{
        struct ed_list *next = waiter->link.next;

        if (next == waiter->link.prev) /* nobody else is there: both are the line */
                *next = (struct ed_list){ NULL, NULL };
        else
                ed_list_unlink(&waiter->link);
}

/* For the calls below, if the first waiter has 'ops'; apart, as most have none. */
__attribute__((cold)) struct ed_waiter *ed_waiters_claim(void *line[2]);
__attribute__((cold)) bool ed_waiters_claim_and_grant(void *line[2], int result);

/* The first in line that can be served, and has to be served now; or NULL. */
static inline struct ed_waiter *ed_waiters_next(void *line[2])
{
        struct ed_waiter *waiter = ed_waiters_first(line);

        return ed_likely(!waiter || !waiter->ops || !waiter->ops->claim) ? waiter
                                                                         : ed_waiters_claim(line);
}

/* End the wait of one that ed_waiters_next() gave. */
static inline void ed_waiters_serve(struct ed_waiter *waiter, int result)
{
        ed_waiters_remove(waiter);
        if (ed_unlikely(waiter->ops != NULL))
                waiter->ops->granted(waiter, result);
        else
                ed_suspend_wake(waiter->task, result);
}

/* End the wait of the first in line; false: no task waits. */
static inline bool ed_waiters_wake(void *line[2], int result)
{
        struct ed_waiter *waiter = ed_waiters_first(line);

        if (!waiter)
                return false;
        if (ed_unlikely(waiter->ops != NULL))
                return ed_waiters_claim_and_grant(line, result);
        ed_waiters_remove(waiter);
        ed_suspend_wake(waiter->task, result);
        return true;
}

/* For ed_suspend_park(): the waiter leaves the line. */
static inline bool ed_waiters_abort(void *arg)
{
        ed_waiters_remove(arg);
        return true;
}

#endif
