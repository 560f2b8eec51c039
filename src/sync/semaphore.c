/*
 * sync/semaphore.c - units; a released unit goes directly to the first waiter.
 */
#include "eddy/semaphore.h"

#include <errno.h>

#include "scope/waiters.h"
#include "sync/units.h"

const struct ed_units_watch *_Atomic ed_units_watch;

void ed_units_watch_set(const struct ed_units_watch *watch)
{
        atomic_store_explicit(&ed_units_watch, watch, memory_order_release);
}

void eddy_semaphore_init(eddy_semaphore *sem, uint32_t units, unsigned flags)
{
        *sem = (eddy_semaphore) EDDY_SEMAPHORE(units, flags);
}

static bool abort_wait(void *arg)
{
        struct ed_waiter *waiter = arg;

        ((eddy_semaphore *) waiter->item)->waiting--;
        ed_waiters_remove(waiter);
        return true;
}

/* Not inlined, so that acquiring an available unit needs no frame. */
static __attribute__((noinline)) int wait_for_unit(eddy_semaphore *sem, struct ed_task *task)
{
        struct ed_waiter waiter;

        if (ed_waiters_are_foreign(sem->waiters, task->loop))
                return EDDY_E_RUN_OTHER_LOOP;
        ed_waiter_init(&waiter, task, sem);
        sem->waiting++;
        ed_waiters_push(sem->waiters, &waiter);
        return ed_suspend_park(task, "a unit of a semaphore", abort_wait, &waiter);
}

static inline __attribute__((always_inline)) int acquire(eddy_semaphore *sem)
{
        struct ed_task *task;
        int err;

        err = ed_waiters_enter(&sem->loop_number, &task);
        if (err < 0)
                return err;
        /* There are no units while tasks wait: release hands units over. */
        if (ed_likely(sem->units > 0)) {
                sem->units--;
                ed_suspend_passed(task);
                return 0;
        }
        return wait_for_unit(sem, task);
}

/*
 * Notifies the test kit that a call at 'place' acquired a unit.  Only for semaphores with a flag.
 */
static __attribute__((noinline)) void note_taken(const eddy_semaphore *sem, const void *place)
{
        const struct ed_units_watch *watch = ed_units_watched();

        if (watch)
                watch->taken(sem, place);
}

static __attribute__((noinline)) int acquire_noted(eddy_semaphore *sem, const void *place)
{
        int err = acquire(sem);

        if (err == 0)
                note_taken(sem, place);
        return err;
}

int eddy_semaphore_acquire(eddy_semaphore *sem)
{
        if (ed_unlikely(sem->flags))
                return acquire_noted(sem, __builtin_return_address(0));
        return acquire(sem);
}

int eddy_semaphore_try_acquire(eddy_semaphore *sem)
{
        int err = ed_waiters_check_loop(&sem->loop_number);

        if (ed_unlikely(err < 0))
                return err;
        if (sem->units == 0)
                return -EAGAIN;
        sem->units--;
        if (ed_unlikely(sem->flags))
                note_taken(sem, __builtin_return_address(0));
        return 0;
}

static __attribute__((noinline)) int hand_over(eddy_semaphore *sem)
{
        if (ed_waiters_are_foreign_here(sem->waiters))
                return EDDY_E_RUN_OTHER_LOOP;
        sem->waiting--;
        (void) ed_waiters_wake(sem->waiters, 0);
        return 0;
}

static inline __attribute__((always_inline)) int release(eddy_semaphore *sem)
{
        if (sem->units == UINT32_MAX)
                return -EOVERFLOW;
        if (ed_unlikely(sem->waiting > 0))
                return hand_over(sem);
        sem->units++;
        return 0;
}

static __attribute__((noinline)) int release_noted(eddy_semaphore *sem)
{
        const struct ed_units_watch *watch = ed_units_watched();
        int err;

        if (sem->flags & EDDY_SEMAPHORE_BOUNDED && sem->units >= sem->start)
                return -EINVAL;
        err = release(sem);
        if (err == 0 && watch)
                watch->given(sem);
        return err;
}

int eddy_semaphore_release(eddy_semaphore *sem)
{
        int err;

        if (!sem)
                return 0;
        err = ed_waiters_check_loop(&sem->loop_number);
        if (ed_unlikely(err < 0))
                return err;
        if (ed_unlikely(sem->flags))
                return release_noted(sem);
        return release(sem);
}

uint32_t eddy_semaphore_units(const eddy_semaphore *sem)
{
        return sem->units;
}

uint32_t eddy_semaphore_waiting(const eddy_semaphore *sem)
{
        return sem->waiting;
}
