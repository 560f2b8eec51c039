/*
 * sync/condition.c - waiting while a lock is released.
 *
 * A notified task leaves the line, is woken, and waits for the lock in order.  That second wait
 * cannot be cancelled, so the lock is held on every way out.
 */
#include "eddy/condition.h"

#include <errno.h>

#include "scope/waiters.h"
#include "sync/lock.h"

static bool abort_wait(void *arg)
{
        struct ed_waiter *waiter = arg;

        ((eddy_condition *) waiter->item)->waiting--;
        ed_waiters_remove(waiter);
        return true;
}

/* Releases the lock if the task may wait here. */
static int begin_wait(eddy_condition *condition, eddy_lock *lock, const struct ed_task *task,
                      uint32_t *ret_depth)
{
        if (!eddy_lock_is_mine(lock))
                return -EPERM;
        if (condition->waiting > 0 && condition->lock != lock)
                return -EINVAL;
        if (ed_unlikely(ed_waiters_are_foreign(condition->waiters, task->loop)))
                return EDDY_E_RUN_OTHER_LOOP;
        return ed_lock_leave(lock, ret_depth);
}

int eddy_condition_wait(eddy_condition *condition, eddy_lock *lock)
{
        struct ed_waiter waiter;
        struct ed_task *task;
        uint32_t depth;
        int err;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        err = ed_waiters_check_loop(&condition->loop_number);
        if (err == 0)
                err = begin_wait(condition, lock, task, &depth);
        if (err < 0) {
                ed_suspend_passed(task);
                return err;
        }
        condition->lock = lock;
        condition->waiting++;
        ed_waiter_init(&waiter, task, condition);
        ed_waiters_push(condition->waiters, &waiter);
        err = ed_suspend_park(task, "a condition", abort_wait, &waiter);
        ed_lock_retake(lock, task, depth);
        return err;
}

int eddy_condition_wait_for(eddy_condition *condition, eddy_lock *lock, int (*predicate)(void *arg),
                            void *arg)
{
        int err;

        ed_task_check_stack_here();
        if (!eddy_lock_is_mine(lock))
                return -EPERM;
        while (!predicate(arg)) {
                err = eddy_condition_wait(condition, lock);
                if (err < 0)
                        return err;
        }
        return 0;
}

int eddy_condition_notify(eddy_condition *condition, uint32_t n)
{
        int err = ed_waiters_check_loop(&condition->loop_number);

        if (err < 0)
                return err;
        if (condition->waiting == 0)
                return 0;
        if (ed_unlikely(ed_waiters_are_foreign_here(condition->waiters)))
                return EDDY_E_RUN_OTHER_LOOP;
        if (!eddy_lock_is_mine(condition->lock))
                return -EPERM;
        for (; n > 0 && condition->waiting > 0; n--) {
                condition->waiting--;
                (void) ed_waiters_wake(condition->waiters, 0);
        }
        return 0;
}

int eddy_condition_notify_all(eddy_condition *condition)
{
        return eddy_condition_notify(condition, UINT32_MAX);
}

uint32_t eddy_condition_waiting(const eddy_condition *condition)
{
        return condition->waiting;
}
