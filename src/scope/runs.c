/*
 * scope/runs.c - all runs of the process, for debuggers: they come from
 * nowhere, and need a place to begin.
 *
 * Only making and freeing a run takes the lock.  Nothing in the library goes
 * through the list.
 */
#include "scope/run.h"
#include "sys/process.h"
#include "sys/thread.h"

struct ed_runs {
        struct ed_list list;
        struct ed_mutex lock;
};

/* Its name and those of its members stand in tools/gdb/eddy-gdb.py. */
static struct ed_runs ed_runs = { .list = { &ed_runs.list, &ed_runs.list }, .lock = ED_MUTEX_INIT };

void ed_runs_add(struct ed_run *run)
{
        run->forks = ed_sys_forks();
        ed_mutex_lock(&ed_runs.lock);
        ed_list_push_back(&ed_runs.list, &run->link);
        ed_mutex_unlock(&ed_runs.lock);
}

void ed_runs_remove(struct ed_run *run)
{
        /* In a child of fork() its parent's runs stand in no list. */
        if (ed_sys_forked_since(run->forks))
                return;
        ed_mutex_lock(&ed_runs.lock);
        ed_list_remove(&run->link);
        ed_mutex_unlock(&ed_runs.lock);
}

void ed_runs_forget(void)
{
        /* The thread that had the lock may not be there. */
        ed_mutex_init(&ed_runs.lock);
        ed_list_init(&ed_runs.list);
}
