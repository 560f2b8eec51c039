/*
 * sync/lock.c - a lock; release hands it to the first waiter before the waiter runs.
 *
 * The owner is identified by address and number: a task may end and leave the lock held, and its
 * address is then reused for the next task.
 */
#include "sync/lock.h"

#include <errno.h>

#include "scope/hooks.h"
#include "scope/lock_wait.h"
#include "scope/waiters.h"

void eddy_lock_init(eddy_lock *lock, unsigned flags)
{
        *lock = (eddy_lock) EDDY_LOCK(flags);
}

static bool is_owner(const eddy_lock *lock, const struct ed_task *task)
{
        return lock->owner == task && lock->owner_number == task->number;
}

static void hold(eddy_lock *lock, struct ed_task *task)
{
        lock->owner = task;
        lock->owner_number = task->number;
        lock->depth = 1;
}

static bool abort_wait(void *arg)
{
        return ed_waiters_abort(arg);
}

/* The task must get the lock: a release will wake it. */
static bool abort_retake(void *arg)
{
        (void) arg;
        return false;
}

/* Acquires again, by the owner. */
static int take_again(eddy_lock *lock)
{
        if (!(lock->flags & EDDY_LOCK_RECURSIVE))
                return -EDEADLK;
        if (lock->depth == UINT32_MAX)
                return -EOVERFLOW;
        lock->depth++;
        return 0;
}

/* Not inlined, so that acquiring a free lock needs no frame. */
static __attribute__((noinline)) int acquire_held(eddy_lock *lock, struct ed_task *task)
{
        struct ed_waiter waiter;
        int err;

        if (is_owner(lock, task)) {
                err = take_again(lock);
                ed_suspend_passed(task);
                return err;
        }
        if (ed_waiters_are_foreign(lock->waiters, task->loop))
                return EDDY_E_RUN_OTHER_LOOP;
        if (ed_unlikely(task->loop->debug))
                ed_hooks()->lock_awaited(lock, task);
        ed_waiter_init(&waiter, task, lock);
        ed_waiters_push(lock->waiters, &waiter);
        return ed_suspend_park(task, "a lock", abort_wait, &waiter);
}

/* For debug mode and cancelled tasks. */
static __attribute__((cold, noinline)) int acquire_slowly(eddy_lock *lock, const void *place)
{
        struct ed_task *task;
        int err;

        err = ed_waiters_enter(&lock->loop_number, &task);
        if (err < 0)
                return err;
        if (!lock->owner) {
                hold(lock, task);
                ed_suspend_passed(task);
        } else {
                err = acquire_held(lock, task);
        }
        if (err == 0 && lock->depth == 1)
                ed_hooks()->lock_held(lock, task, place);
        return err;
}

/* Both begin a cache line: elsewhere the same instructions take 5 % longer. */
__attribute__((aligned(64))) int eddy_lock_acquire(eddy_lock *lock)
{
        struct ed_task *task = ed_task_running();

        if (ed_unlikely(!task))
                return EDDY_E_RUN_NOT_RUNNING;
        ed_task_check_stack(task);
        if (ed_unlikely(task->inner->flags & (ED_NODE_CANCELLED | ED_NODE_DEBUG)))
                return acquire_slowly(lock, __builtin_return_address(0));
        /* A lock with waiters has an owner: release hands the lock over. */
        if (ed_likely(!lock->owner)) {
                hold(lock, task);
                ed_suspend_passed(task);
                return 0;
        }
        return acquire_held(lock, task);
}

int eddy_lock_try_acquire(eddy_lock *lock)
{
        struct ed_task *task = ed_task_running();
        int err;

        if (!task)
                return EDDY_E_RUN_NOT_RUNNING;
        err = ed_waiters_check_loop(&lock->loop_number);
        if (err < 0)
                return err;
        if (lock->owner)
                return is_owner(lock, task) ? take_again(lock) : -EAGAIN;
        hold(lock, task);
        if (ed_unlikely(task->loop->debug))
                ed_hooks()->lock_held(lock, task, __builtin_return_address(0));
        return 0;
}

/* Clears debug mode's record of the holder, which any loop of this thread may have made. */
static void forget_holder(eddy_lock *lock)
{
        if (!(lock->flags & ED_LOCK_DEBUG))
                return;
        lock->flags &= ~ED_LOCK_DEBUG;
        ed_hooks()->lock_released(lock);
}

static __attribute__((noinline)) int hand_over(eddy_lock *lock)
{
        struct ed_task *task = ed_waiters_first(lock->waiters)->task;

        if (ed_waiters_are_foreign_here(lock->waiters))
                return EDDY_E_RUN_OTHER_LOOP;
        forget_holder(lock);
        hold(lock, task);
        if (ed_unlikely(task->loop->debug))
                ed_hooks()->lock_held(lock, task, NULL);
        (void) ed_waiters_wake(lock->waiters, 0);
        return 0;
}

static inline int let_go(eddy_lock *lock)
{
        if (ed_waiters_first(lock->waiters))
                return hand_over(lock);
        lock->owner = NULL;
        return 0;
}

/* Releases a recursive lock, or any lock if there are runs in debug mode. */
static __attribute__((noinline)) int release_slowly(eddy_lock *lock)
{
        int err = ed_waiters_check_loop(&lock->loop_number);

        if (err < 0)
                return err;
        if (!lock->owner)
                return -EPERM;
        if (lock->flags & EDDY_LOCK_RECURSIVE) {
                if (!eddy_lock_is_mine(lock))
                        return -EPERM;
                if (lock->depth > 1) {
                        lock->depth--;
                        return 0;
                }
        }
        if (!ed_waiters_first(lock->waiters))
                forget_holder(lock);
        return let_go(lock);
}

__attribute__((aligned(64))) int eddy_lock_release(eddy_lock *lock)
{
        if (!lock)
                return 0;
        if (lock->flags & (EDDY_LOCK_RECURSIVE | ED_LOCK_DEBUG) || ed_debug_has_runs())
                return release_slowly(lock);
        return lock->owner ? let_go(lock) : -EPERM;
}

int ed_lock_leave(eddy_lock *lock, uint32_t *ret_depth)
{
        uint32_t depth = lock->depth;
        int err;

        lock->depth = 1;
        err = eddy_lock_release(lock);
        if (err < 0)
                lock->depth = depth;
        else
                *ret_depth = depth;
        return err;
}

void ed_lock_retake(eddy_lock *lock, struct ed_task *task, uint32_t depth)
{
        struct ed_waiter waiter;

        if (lock->owner) {
                if (ed_unlikely(task->loop->debug))
                        ed_hooks()->lock_awaited(lock, task);
                ed_waiter_init(&waiter, task, lock);
                ed_waiters_push(lock->waiters, &waiter);
                (void) ed_suspend_park(task, "the lock of a condition", abort_retake, &waiter);
        } else {
                hold(lock, task);
        }
        if (ed_unlikely(task->loop->debug))
                ed_hooks()->lock_held(lock, task, NULL);
        lock->depth = depth;
}

static const eddy_lock *awaited(const struct ed_task *task)
{
        const struct ed_fiber *fiber = &task->fiber;

        if (fiber->ready.state != ED_FIBER_PARKED ||
            (fiber->abort != abort_wait && fiber->abort != abort_retake))
                return NULL;
        return ((const struct ed_waiter *) fiber->abort_arg)->item;
}

static bool seize(struct ed_node *top)
{
        struct ed_node *node = top;

        while ((node = ed_node_next(top, node, false))) {
                const struct ed_task *task = node->owner;
                const eddy_lock *lock = ed_node_is_task(node) ? awaited(task) : NULL;

                /* Waiters that can be cancelled have already left the line. */
                if (lock)
                        return hand_over((eddy_lock *) lock) == 0;
        }
        return false;
}

const struct ed_lock_wait_ops ed_lock_wait_ops = { .awaited = awaited, .seize = seize };

int eddy_lock_is_locked(const eddy_lock *lock)
{
        return lock->owner != NULL;
}

int eddy_lock_is_mine(const eddy_lock *lock)
{
        const struct ed_task *task = ed_task_running();

        return task && is_owner(lock, task);
}
