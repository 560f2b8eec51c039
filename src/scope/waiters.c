/*
 * scope/waiters.c - the rare parts: lines of another thread, and waiters that are claimed before
 * they are served.  Joining, leaving and waking: waiters.h.
 */
#include "scope/waiters.h"

bool ed_waiters_are_another_threads(void *const line[2])
{
        return ed_loop_current || !ed_thread_is_self(ed_waiters_first(line)->task->loop->thread);
}

struct ed_waiter *ed_waiters_claim(void *line[2])
{
        struct ed_waiter *waiter;

        while ((waiter = ed_waiters_first(line)) && waiter->ops && waiter->ops->claim &&
               !waiter->ops->claim(waiter)) {
                ed_waiters_remove(waiter);
                waiter->link.next = NULL;
        }
        return waiter;
}

bool ed_waiters_claim_and_grant(void *line[2], int result)
{
        struct ed_waiter *waiter = ed_waiters_claim(line);

        if (waiter)
                ed_waiters_serve(waiter, result);
        return waiter != NULL;
}
