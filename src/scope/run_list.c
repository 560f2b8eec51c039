/*
 * scope/run_list.c - the list of all runs of the process, and the runs of each thread.
 *
 * Debuggers start from this list.  The library itself searches the list only to find out if a run
 * of another thread still exists: for debug mode, and for a future whose callbacks belong to
 * another run.
 *
 * The list's lock is taken only to make, free or look up a run, and at the end of a thread that has
 * not freed its runs.
 */
#include "scope/run_list.h"

#include "scope/run_state.h"
#include "sys/process/fork.h"
#include "sys/thread/thread.h"
#include "sys/thread/thread_end.h"

struct ed_runs {
        struct ed_list list;
        struct ed_mutex lock;
        uintptr_t made;
};

/* tools/gdb/eddy-gdb.py uses the names of this variable and its members. */
static struct ed_runs ed_runs = { .list = { &ed_runs.list, &ed_runs.list }, .lock = ED_MUTEX_INIT };

/* The number of runs in the list that belong to this thread. */
static __thread unsigned runs_here __attribute__((tls_model("initial-exec")));

struct ed_run *ed_runs_mine(void)
{
        struct ed_run *mine = NULL;

        if (runs_here == 0)
                return NULL;
        ed_mutex_lock(&ed_runs.lock);
        ed_list_each (link, &ed_runs.list) {
                struct ed_run *run = ed_container_of(link, struct ed_run, link);

                if (ed_thread_is_self(run->loop.thread))
                        mine = run;
        }
        ed_mutex_unlock(&ed_runs.lock);
        return mine;
}

void ed_runs_add(struct ed_run *run, void (*on_thread_end)(void))
{
        runs_here++;
        ed_mutex_lock(&ed_runs.lock);
        run->number = ++ed_runs.made;
        ed_list_push_back(&ed_runs.list, &run->link);
        ed_mutex_unlock(&ed_runs.lock);
        ed_sys_thread_end_watch(ED_THREAD_END_RUNS, on_thread_end);
}

enum ed_run_place ed_runs_place(uintptr_t number)
{
        enum ed_run_place place = ED_RUN_GONE;

        ed_mutex_lock(&ed_runs.lock);
        ed_list_each (link, &ed_runs.list) {
                struct ed_run *run = ed_container_of(link, struct ed_run, link);

                if (run->number != number)
                        continue;
                place = ed_thread_is_self(run->loop.thread) ? ED_RUN_HERE : ED_RUN_ELSEWHERE;
                break;
        }
        ed_mutex_unlock(&ed_runs.lock);
        return place;
}

void ed_runs_remove(struct ed_run *run)
{
        /* The list of a child of fork() does not contain its parent's runs. */
        if (ed_sys_forked_since(run->forks))
                return;
        ed_mutex_lock(&ed_runs.lock);
        ed_list_remove(&run->link);
        ed_mutex_unlock(&ed_runs.lock);
        if (--runs_here == 0)
                ed_sys_thread_end_watch(ED_THREAD_END_RUNS, NULL);
}

void ed_runs_each(void (*fn)(struct ed_run *run))
{
        ed_list_each (link, &ed_runs.list)
                fn(ed_container_of(link, struct ed_run, link));
}

void ed_runs_forget(void)
{
        /* The thread that held the lock may not exist in the child. */
        ed_mutex_init(&ed_runs.lock);
        ed_list_init(&ed_runs.list);
        runs_here = 0;
        ed_sys_thread_end_watch(ED_THREAD_END_RUNS, NULL);
}
