/*
 * scope/runs.c - all runs of the process, for debuggers: they come from
 * nowhere, and need a place to begin.  And those of a thread, for its end.
 *
 * The library itself goes through the list only to find out whether a run that
 * is not the caller's is still there: for debug mode, and for a future whose
 * callbacks are another run's.
 *
 * A call takes the lock that makes or frees a run or asks for one, as does the end
 * of a thread that has not freed its runs.
 */
#include "scope/run.h"
#include "sys/fork.h"
#include "sys/thread.h"
#include "sys/thread_end.h"

struct ed_runs {
        struct ed_list list;
        struct ed_mutex lock;
        uintptr_t made;
};

/* Its name and those of its members stand in tools/gdb/eddy-gdb.py. */
static struct ed_runs ed_runs = { .list = { &ed_runs.list, &ed_runs.list }, .lock = ED_MUTEX_INIT };

/* How many of them are this thread's. */
static __thread unsigned runs_here __attribute__((tls_model("initial-exec")));

static struct ed_run *find_mine(void)
{
        struct ed_run *mine = NULL;

        ed_mutex_lock(&ed_runs.lock);
        ed_list_each (link, &ed_runs.list) {
                struct ed_run *run = ed_container_of(link, struct ed_run, link);

                if (ed_thread_is_self(run->loop.thread))
                        mine = run;
        }
        ed_mutex_unlock(&ed_runs.lock);
        return mine;
}

/* By pthread_exit() in a task, or with a loop that was not closed. */
static void on_thread_end(void)
{
        while (runs_here > 0)
                ed_run_forsake(find_mine());
}

void ed_runs_add(struct ed_run *run)
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
        /* In a child of fork() its parent's runs stand in no list. */
        if (ed_sys_forked_since(run->forks))
                return;
        ed_mutex_lock(&ed_runs.lock);
        ed_list_remove(&run->link);
        ed_mutex_unlock(&ed_runs.lock);
        if (--runs_here == 0)
                ed_sys_thread_end_watch(ED_THREAD_END_RUNS, NULL);
}

void ed_runs_forget(void)
{
        /* The thread that had the lock may not be there. */
        ed_mutex_init(&ed_runs.lock);
        ed_list_init(&ed_runs.list);
        runs_here = 0;
        ed_sys_thread_end_watch(ED_THREAD_END_RUNS, NULL);
}
