/*
 * scope/waiters.h - a queue of waiting tasks, first come, first served.
 *
 * The queue ("line") is the head of a list, but its two pointers are zero while no task waits, so a
 * zeroed primitive is ready to use.  Waiters are on the stacks of their tasks.
 */
#ifndef ED_SCOPE_WAITERS_H
#define ED_SCOPE_WAITERS_H

#include "scope/suspend.h"

struct ed_waiter {
        struct ed_list link;             /* must be first: a line points to its first waiter */
        struct ed_task *task;            /* the task that waits */
        void *item;                      /* the item to hand over, if any */
        const struct ed_waiter_ops *ops; /* NULL: only wake the task */
};

struct ed_waiter_ops {
        /* Called instead of waking the task, after the waiter has left the line. */
        void (*granted)(struct ed_waiter *waiter, int result);
        /*
         * Called before the waiter is served.  Returns false if another thread has already served
         * the task; the waiter then leaves the line.  NULL: the waiter can always be served.
         */
        bool (*claim)(struct ed_waiter *waiter);
};

enum { LINE_FIRST, LINE_LAST };

static inline struct ed_waiter *ed_waiters_first(void *const line[2])
{
        return line[LINE_FIRST];
}

/*
 * Returns true if the tasks that wait belong to another loop than 'loop', the
 * calling task's.  Detects mistakes, but not all: only a line's own thread may
 * read it.
 */
static inline bool ed_waiters_are_foreign(void *const line[2], const struct ed_loop *loop)
{
        const struct ed_waiter *first = ed_waiters_first(line);

        return ed_unlikely(first && first->task->loop != loop);
}

/* ed_waiters_are_foreign_here() if the first waiter's loop does not run here. */
__attribute__((cold)) bool ed_waiters_are_another_threads(void *const line[2]);

/*
 * ed_waiters_are_foreign() for a caller that may be outside of a loop, or on the
 * thread of a loop between two of its runs.
 */
static inline bool ed_waiters_are_foreign_here(void *const line[2])
{
        return ed_unlikely(ed_waiters_are_foreign(line, ed_loop_current)) &&
               ed_waiters_are_another_threads(line);
}

/* The number of the process's runs in debug mode. */
extern _Atomic unsigned ed_debug_runs;

/* Returns true if the process has runs in debug mode, so ed_waiters_check_loop() must check. */
static inline bool ed_debug_has_runs(void)
{
        return ed_unlikely(atomic_load_explicit(&ed_debug_runs, memory_order_relaxed) != 0);
}

/* ed_waiters_check_loop() if there are runs in debug mode. */
__attribute__((cold)) int ed_waiters_check_loop_number(uintptr_t *loop_number);

/*
 * Checks the loop of each call that changes an object that tasks may wait for; '*loop_number' is
 * the object's.  In debug mode an object belongs to the first loop that uses it, for the life of
 * that loop.  Without debug mode nothing is recorded and only ed_waiters_are_foreign() detects
 * mistakes.
 *
 * Errors: EDDY_E_RUN_OTHER_LOOP
 */
static inline int ed_waiters_check_loop(uintptr_t *loop_number)
{
        return ed_debug_has_runs() ? ed_waiters_check_loop_number(loop_number) : 0;
}

/* Begins a suspending call on an object.  Errors: as both functions that it calls. */
static inline int ed_waiters_enter(uintptr_t *loop_number, struct ed_task **ret_task)
{
        int err = ed_suspend_enter(ret_task);

        return err == 0 ? ed_waiters_check_loop(loop_number) : err;
}

/*
 * Checks if 'self' may wait for the end of 'task'.
 *
 * Errors: EDDY_E_RUN_OTHER_LOOP
 *         -EDEADLK  'task' is 'self'
 *         -EINVAL   'task' is NULL
 */
static inline int ed_waiters_check_join(const struct ed_task *self, const eddy_task *task)
{
        if (ed_unlikely(!task))
                return -EINVAL;
        if (ed_unlikely(task->loop != self->loop))
                return EDDY_E_RUN_OTHER_LOOP;
        return ed_unlikely(task->task == self) ? -EDEADLK : 0;
}

/* Initialises a task's waiter before ed_waiters_push(). */
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

/* Returns true if a waiter in the line is the last one. */
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

        if (next == waiter->link.prev) /* the only waiter: both links are the line */
                *next = (struct ed_list){ NULL, NULL };
        else
                ed_list_unlink(&waiter->link);
}

/* Slow paths of the calls below, for a first waiter with 'ops'.  Most waiters have none. */
__attribute__((cold)) struct ed_waiter *ed_waiters_claim(void *line[2]);
__attribute__((cold)) bool ed_waiters_claim_and_grant(void *line[2], int result);

/* Returns the first waiter that can be served, which the caller must serve now; or NULL. */
static inline struct ed_waiter *ed_waiters_next(void *line[2])
{
        struct ed_waiter *waiter = ed_waiters_first(line);

        return ed_likely(!waiter || !waiter->ops || !waiter->ops->claim) ? waiter
                                                                         : ed_waiters_claim(line);
}

/* Ends the wait of a waiter that ed_waiters_next() returned. */
static inline void ed_waiters_serve(struct ed_waiter *waiter, int result)
{
        ed_waiters_remove(waiter);
        if (ed_unlikely(waiter->ops != NULL))
                waiter->ops->granted(waiter, result);
        else
                ed_suspend_wake(waiter->task, result);
}

/* Ends the wait of the first waiter.  Returns false if no task waits. */
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

/* Abort function for ed_suspend_park(): the waiter leaves the line. */
static inline bool ed_waiters_abort(void *arg)
{
        ed_waiters_remove(arg);
        return true;
}

#endif
