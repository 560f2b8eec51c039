/*
 * scope/run.h - a run is made, runs and ends: for eddy_run() and for the loops of eddy/loop.h.  Its
 * data: scope/run_state.h.
 */
#ifndef ED_SCOPE_RUN_H
#define ED_SCOPE_RUN_H

#include "scope/run_state.h"
#include "scope/scope.h"
#include "sys/sys.h"

/*
 * eddy_run_named() on the table 'sys', which is always freed at the end.  A table with a virtual
 * clock gets neither a watchdog nor signals.
 */
int ed_run_on(struct ed_sys *sys, eddy_task_fn *main_fn, void *arg,
              const struct eddy_run_opts *opts, const char *text);

/*
 * Makes the table of a run that uses the kernel.
 *
 * Errors: EDDY_E_RUN_NESTED  the thread is in a loop
 *         those of ed_sys_epoll_new()
 */
int ed_run_table(struct ed_sys **ret_sys);

/* From the first call on, counts forks; a child of fork() starts without a loop. */
ED_SHARED void ed_run_watch_forks(void);

/* Makes a run, which is not running yet.  Takes ownership of 'sys', even on failure. */
ED_SHARED int ed_run_open(struct ed_sys *sys, const struct eddy_run_opts *opts,
                          struct ed_run **ret_run);

/*
 * Lets the first SIGINT or SIGTERM cancel the main task, unless the options disable signals; _leave
 * undoes it.
 */
void ed_run_signals_join(struct ed_run *run);
void ed_run_signals_leave(struct ed_run *run);

/* As ed_run_signals_join(), for a further loop: 'first' keeps the signals until this call ends. */
void ed_run_signals_share(struct ed_run *run, const struct ed_run *first);

/* Returns true if a signal, or another loop of eddy_run_many(), cancels the main task. */
bool ed_run_is_stopped(const struct ed_run *run);

/* Records a signal for eddy_run_signal() on this thread, unless there is one. */
void ed_run_signal_note(int signo);
/* A run begins, or fails to: eddy_run_signal() on this thread no longer returns a former signal. */
void ed_run_signal_forget(void);

/* Runs a main task until the task ends or the run is stopped (EDDY_E_LOOP_STOPPED). */
ED_SHARED int ed_run_main(struct ed_run *run, eddy_task_fn *main_fn, void *arg);

/* Runs until the run is stopped; at least one turn. */
void ed_run_forever(struct ed_run *run);

/* Does the work that needs no waiting, for about a millisecond.  Returns true if more is left. */
bool ed_run_step(struct ed_run *run);

/*
 * Cancels the main task and lets the following steps drain the background; 'ended' is then set.  Does
 * nothing the second time.
 */
void ed_run_order_end(struct ed_run *run);

/* Ends the main task, drains the background and frees the run: ed_run_end(), then ed_run_free(). */
void ed_run_close(struct ed_run *run);
ED_SHARED void ed_run_end(struct ed_run *run);
ED_SHARED void ed_run_free(struct ed_run *run);

/*
 * Drops a run that was left by a jump or cannot end: frees its stacks and detaches it from this
 * thread.  The memory and the table remain; the caller takes them from the allocator.
 */
ED_SHARED void ed_run_drop(struct ed_run *run);

/*
 * The thread of a run ends before the run does.  Returns the process's signals and watchdog and
 * refuses calls from other threads.  The tasks never end; their stacks and all memory remain, since
 * other threads may use them.
 */
void ed_run_forsake(struct ed_run *run);

/*
 * Starts a task of the root scope, from the loop's thread.  'text' is the program's expression for
 * fn, or NULL; 'place' is for debug mode.
 * Errors: -ECANCELED  the run is ending; -ENOMEM
 */
ED_SHARED int ed_background_start(struct ed_loop *loop, eddy_task_fn *fn, void *arg,
                                  const char *text, const void *place, struct ed_task **ret_task);

#endif
