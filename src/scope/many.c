/*
 * scope/many.c - the loops of eddy_run_many() stop together: the first failure stops all.
 */
#include "scope/many.h"

#include "eddy/error.h"
#include "scope/run_state.h"
#include "sys/process/fork.h"

bool ed_many_is_stopped(const struct ed_many *many)
{
        return atomic_load_explicit(&many->stopped, memory_order_acquire);
}

void ed_many_fail(struct ed_many *many, int err)
{
        if (many->err == 0)
                many->err = err;
        atomic_store_explicit(&many->stopped, true, memory_order_release);
        for (uint32_t i = 0; i < many->loops_count; i++) {
                struct ed_run *run = many->loops[i].run;

                if (run)
                        run->loop.sys->poll->wake(run->loop.sys);
        }
}

void ed_many_forsake(struct ed_run *run)
{
        struct ed_many *many = run->many;

        if (ed_sys_forked_since(many->forks))
                return;
        ed_mutex_lock(&many->lock);
        many->loops[run->many_index].run = NULL;
        ed_many_fail(many, EDDY_E_LOOP_CLOSED);
        ed_mutex_unlock(&many->lock);
}
