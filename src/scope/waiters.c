/*
 * scope/waiters.c - the rare parts: lines of another thread, and waiters that are claimed before
 * they are served.  Joining, leaving and waking: waiters.h.
 */
#include "scope/waiters.h"

#include "scope/run_list.h"
#include "scope/run_state.h"

_Atomic unsigned ed_debug_runs;

int ed_waiters_check_loop_number(uintptr_t *loop_number)
{
        struct ed_loop *loop = ed_loop_current;
        uintptr_t mine = loop ? ed_run_of(loop)->number : 0;

        if (*loop_number != 0 && *loop_number != mine) {
                enum ed_run_place place = ed_runs_place(*loop_number);

                /* The thread of a loop may use the loop's objects between two of its runs. */
                if (place == ED_RUN_ELSEWHERE || (place == ED_RUN_HERE && loop))
                        return EDDY_E_RUN_OTHER_LOOP;
        }
        if (loop && loop->debug)
                *loop_number = mine;
        return 0;
}

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
