/*
 * sync/barrier.c - a barrier; the last task to arrive assigns the indexes.
 *
 * All waiters leave the line at that moment, so the barrier is empty and the next task to arrive is
 * the first of the next round, however late the others run.
 */
#include "eddy/barrier.h"

#include "scope/waiters.h"

void eddy_barrier_init(eddy_barrier *barrier, uint32_t parties)
{
        *barrier = (eddy_barrier) EDDY_BARRIER(parties);
}

static bool abort_wait(void *arg)
{
        struct ed_waiter *waiter = arg;

        ((eddy_barrier *) waiter->item)->waiting--;
        ed_waiters_remove(waiter);
        return true;
}

/* All tasks have arrived: wakes the others and returns the index of the last. */
static int let_go(eddy_barrier *barrier)
{
        int index = 0;

        barrier->waiting = 0;
        while (ed_waiters_wake(barrier->waiters, index))
                index++;
        return index;
}

int eddy_barrier_wait(eddy_barrier *barrier)
{
        struct ed_waiter waiter;
        struct ed_task *task;
        int err;

        err = ed_waiters_enter(&barrier->loop_number, &task);
        if (err < 0)
                return err;
        if (ed_unlikely(ed_waiters_are_foreign(barrier->waiters, task->loop)))
                return EDDY_E_RUN_OTHER_LOOP;
        if (barrier->broken || barrier->waiting + 1 >= barrier->parties) {
                err = barrier->broken ? EDDY_E_SYNC_BROKEN : let_go(barrier);
                ed_suspend_passed(task);
                return err;
        }
        barrier->waiting++;
        ed_waiter_init(&waiter, task, barrier);
        ed_waiters_push(barrier->waiters, &waiter);
        return ed_suspend_park(task, "the others at a barrier", abort_wait, &waiter);
}

/* Fails all waiters and sets whether the barrier is broken for later tasks. */
static int begin_anew(eddy_barrier *barrier, bool broken)
{
        int err = ed_waiters_check_loop(&barrier->loop_number);

        if (err < 0)
                return err;
        if (ed_waiters_are_foreign_here(barrier->waiters))
                return EDDY_E_RUN_OTHER_LOOP;
        barrier->broken = broken;
        barrier->waiting = 0;
        while (ed_waiters_wake(barrier->waiters, EDDY_E_SYNC_BROKEN))
                continue;
        return 0;
}

int eddy_barrier_abort(eddy_barrier *barrier)
{
        return begin_anew(barrier, true);
}

int eddy_barrier_reset(eddy_barrier *barrier)
{
        return begin_anew(barrier, false);
}

uint32_t eddy_barrier_waiting(const eddy_barrier *barrier)
{
        return barrier->waiting;
}

int eddy_barrier_is_broken(const eddy_barrier *barrier)
{
        return barrier->broken != 0;
}
