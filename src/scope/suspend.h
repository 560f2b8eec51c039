/*
 * scope/suspend.h - how a call suspends: what every waiting call of eddy is
 * made of.
 *
 *     err = ed_suspend_enter(&task);       cancelled: says so, and is the result
 *     if (err < 0)
 *             return err;
 *     if (it can be done at once) {
 *             do it;
 *             ed_suspend_passed(task);     gives way now and then
 *             return 0;
 *     }
 *     put a waiter, on this stack, where the waker will find it;
 *     return ed_suspend_park(task, "a unit of a semaphore", take_back, &waiter);
 *
 * Whoever ends the wait takes the waiter out, completes the operation, and
 * calls ed_suspend_wake(task, result): from then on the operation has
 * happened, and a cancel that comes later shows at the next call.  A cancel
 * that comes before calls take_back(), which undoes the waiting and nothing
 * else.
 */
#ifndef ED_SCOPE_SUSPEND_H
#define ED_SCOPE_SUSPEND_H

#include <errno.h>

#include "base/def.h"
#include "scope/task.h"

/*
 * Begin a suspending call.  Errors: EDDY_E_RUN_NOT_RUNNING; -ECANCELED, which
 * has been attributed and has passed through the scheduler.
 */
static inline int ed_suspend_enter(struct ed_task **ret_task)
{
        struct ed_task *task = ed_task_running();

        if (ed_unlikely(!task))
                return EDDY_E_RUN_NOT_RUNNING;
        if (ed_unlikely(task->inner->flags & ED_NODE_CANCELLED)) {
                (void) ed_cancel_deliver(task);
                return -ECANCELED; /* spelled out: the compiler sees that it is no success */
        }
        *ret_task = task;
        return 0;
}

/* A suspending call that did not need to park: after 128 of them give way. */
static inline void ed_suspend_passed(struct ed_task *task)
{
        if (ed_unlikely(--task->fiber.ready.budget == 0))
                ed_suspend_give_way(task);
}

/*
 * ed_suspend_park() in the place of the call, where each nanosecond counts: it
 * is a return less after the switch.
 */
static inline __attribute__((always_inline)) int ed_suspend_park_here(struct ed_task *task,
                                                                      const char *waits_for,
                                                                      ed_abort_fn *abort, void *arg)
{
        int result;

        task->fiber.ready.budget = ED_TASK_BUDGET;
        if (ed_unlikely(ed_test_at_suspend))
                ed_test_at_suspend(task);
        ed_suspend_note(task);
        result = ed_fiber_park(task->loop, waits_for, abort, arg);
        if (ed_unlikely(result == -ECANCELED && task->inner->flags & ED_NODE_CANCELLED))
                ed_node_attribute(task->inner);
        return result;
}

#endif
