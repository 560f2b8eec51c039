/*
 * scope/run_list.h - the process's list of runs.  A child of fork() forgets the list.
 */
#ifndef ED_SCOPE_RUN_LIST_H
#define ED_SCOPE_RUN_LIST_H

#include <stdint.h>

struct ed_run;

/* Adds a run of this thread.  If the thread ends before ed_runs_remove(), it calls the function. */
void ed_runs_add(struct ed_run *run, void (*on_thread_end)(void));
void ed_runs_remove(struct ed_run *run);
void ed_runs_forget(void);

/* Returns a run of this thread, or NULL if it has none. */
struct ed_run *ed_runs_mine(void);

/* Calls 'fn' with each run of the process, without a lock: in a copy that has only this thread. */
void ed_runs_each(void (*fn)(struct ed_run *run));

/* Where the run with this number is, from the calling thread's view.  Any thread. */
enum ed_run_place { ED_RUN_GONE, ED_RUN_HERE, ED_RUN_ELSEWHERE };
enum ed_run_place ed_runs_place(uintptr_t number);

#endif
