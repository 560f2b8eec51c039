/*
 * sync/event.c - a flag; setting it ends all current waits.
 */
#include "eddy/event.h"

#include "scope/waiters.h"

int eddy_event_set(eddy_event *event)
{
        int err = ed_waiters_check_loop(&event->loop_number);

        if (ed_unlikely(err < 0))
                return err;
        if (ed_unlikely(ed_waiters_are_foreign_here(event->waiters)))
                return EDDY_E_RUN_OTHER_LOOP;
        event->set = 1;
        while (ed_waiters_wake(event->waiters, 0))
                continue;
        return 0;
}

void eddy_event_clear(eddy_event *event)
{
        event->set = 0;
}

int eddy_event_is_set(const eddy_event *event)
{
        return event->set != 0;
}

int eddy_event_wait(eddy_event *event)
{
        struct ed_waiter waiter;
        struct ed_task *task;
        int err;

        err = ed_waiters_enter(&event->loop_number, &task);
        if (err < 0)
                return err;
        if (event->set) {
                ed_suspend_passed(task);
                return 0;
        }
        if (ed_unlikely(ed_waiters_are_foreign(event->waiters, task->loop)))
                return EDDY_E_RUN_OTHER_LOOP;
        ed_waiter_init(&waiter, task, event);
        ed_waiters_push(event->waiters, &waiter);
        return ed_suspend_park_here(task, "an event", ed_waiters_abort, &waiter);
}
