/*
 * scope/suspend.h - how a call suspends: the pattern of every waiting call in eddy.
 *
 *     err = ed_suspend_enter(&task);       fails if the task is cancelled
 *     if (err < 0)
 *             return err;
 *     if (it can be done at once) {
 *             do it;
 *             ed_suspend_passed(task);     yields now and then
 *             return 0;
 *     }
 *     put a waiter, on this stack, where the waker will find it;
 *     return ed_suspend_park(task, "a unit of a semaphore", take_back, &waiter);
 *
 * The waker removes the waiter, completes the operation, and calls ed_suspend_wake(task, result).
 * From then on the operation has happened, and a later cancel is returned by the next call.  An
 * earlier cancel calls take_back(), which undoes the wait and nothing else.
 */
#ifndef ED_SCOPE_SUSPEND_H
#define ED_SCOPE_SUSPEND_H

#include <errno.h>

#include "base/def.h"
#include "scope/task.h"

/*
 * The part of ed_suspend_enter() for a cancelled task, or a stack pointer below 'stack_low'.
 * Errors: -ECANCELED
 */
ED_SHARED __attribute__((cold, noinline)) int ed_suspend_enter_rarely(struct ed_task *task);

/*
 * Begins a suspending call.  Errors: EDDY_E_RUN_NOT_RUNNING; -ECANCELED, which was attributed and
 * has passed through the scheduler.
 */
static inline int ed_suspend_enter(struct ed_task **ret_task)
{
        struct ed_task *task = ed_task_running();

        if (ed_unlikely(!task))
                return EDDY_E_RUN_NOT_RUNNING;
        /* With a call between the two comparisons, the task's pointer would be read from memory. */
        if (ed_unlikely(ed_task_is_stack_low(task) || task->inner->flags & ED_NODE_CANCELLED) &&
            ed_suspend_enter_rarely(task) < 0)
                return -ECANCELED; /* a constant, so that the compiler knows this is a failure */
        *ret_task = task;
        return 0;
}

/* Counts a suspending call that did not need to park.  Yields after ED_TASK_BUDGET of them. */
static inline void ed_suspend_passed(struct ed_task *task)
{
        if (ed_unlikely(--task->fiber.ready.budget == 0))
                ed_suspend_give_way(task);
}

/*
 * A timer that ends a task's wait with 0; on the task's stack.  All other wakers of the wait call
 * ed_alarm_cancel() or ed_alarm_ring(), so that the alarm does not ring afterwards.
 */
struct ed_alarm {
        struct ed_timer timer;
        struct ed_task *task;
};

/* Sets an alarm, 'duration_ns' (0 or more) from now. */
void ed_alarm_set(struct ed_alarm *alarm, struct ed_task *task, int64_t duration_ns);

/* Ends the wait now, unless the alarm has rung or was cancelled. */
void ed_alarm_ring(struct ed_alarm *alarm);

/* Harmless if the alarm has rung. */
static inline void ed_alarm_cancel(struct ed_alarm *alarm)
{
        ed_timer_cancel(&alarm->task->loop->timers, &alarm->timer);
}

/* ed_suspend_park(), inlined for the hottest calls: saves one return after the switch. */
static inline __attribute__((always_inline)) int ed_suspend_park_here(struct ed_task *task,
                                                                      const char *waits_for,
                                                                      ed_abort_fn *abort, void *arg)
{
        int result;

        task->fiber.ready.budget = ED_TASK_BUDGET;
        if (ed_unlikely(ed_test_at_suspend))
                ed_test_at_suspend(task);
        ed_suspend_note(task, waits_for);
        result = ed_fiber_park(task->loop, waits_for, abort, arg);
        if (ed_unlikely(result == -ECANCELED && task->inner->flags & ED_NODE_CANCELLED))
                ed_node_attribute(task->inner);
        return result;
}

#endif
