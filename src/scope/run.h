/*
 * scope/run.h - a run: a loop with its root scope and its supervisor, as
 * eddy_run() and the loops of eddy/loop.h have it.
 */
#ifndef ED_SCOPE_RUN_H
#define ED_SCOPE_RUN_H

#include "eddy/loop.h"
#include "eddy/run.h"
#include "scope/scope.h"
#include "sys/sys.h"
#include "sys/thread.h"
#include "sys/ticker.h"

struct ed_debug;

struct ed_run {
        struct ed_loop loop;
        struct ed_list link; /* in the process's list of runs */
        uintptr_t number;    /* of those that the process has made, from 1 on */
        unsigned forks;      /* ed_sys_forks() where it was made */
        struct eddy_run_opts opts;
        eddy_loop *face;    /* NULL: nobody has asked for it */
        eddy_scope root;    /* where background tasks live; the supervisor's */
        eddy_scope *ending; /* that a signal cancels when the run is closed */
        struct ed_task *supervisor;
        bool idle;      /* the supervisor waits for an order */
        bool main_due;  /* ordered: to run a main task */
        bool closing;   /* ordered: after that, to drain the background and end */
        bool main_held; /* ed_run_main() waits for the main task's end */
        bool stop;      /* ed_loop_run() is to return */
        bool ended;     /* the supervisor has */
        bool deadlocked;
        bool signals;                 /* SIGINT and SIGTERM come here */
        struct ed_exceptions outside; /* while it moves: those of the code that runs the loop */
        int quit_slot;                /* of SIGQUIT; below 0: it does not come here */
        struct ed_target quit;
        eddy_task_fn *main_fn; /* NULL: none is due or runs */
        const char *main_text; /* that the program wrote for it, or NULL */
        void *main_arg;
        eddy_task *main_task;   /* NULL: none runs */
        int result;             /* of the last main task */
        struct ed_list handles; /* scheduled ones of the loop's own thread, embed/callback.c */
        struct ed_faces faces;
        struct ed_debug *debug; /* NULL: not in debug mode */
        struct ed_ticker *watchdog;
        struct ed_stack_records *stack_records; /* NULL: not in debug mode */
        uint64_t watched_switches, watched_polls;
        int64_t watched_ns;
};

static inline struct ed_run *ed_run_of(struct ed_loop *loop)
{
        return ed_container_of(loop, struct ed_run, loop);
}

/*
 * eddy_run() on the table 'sys', which is freed at the end whatever comes.
 * A table with a virtual clock is given no watchdog and no signals.
 */
int ed_run_on(struct ed_sys *sys, eddy_task_fn *main_fn, void *arg,
              const struct eddy_run_opts *opts);

/*
 * Make the table that the options or the environment ask for.
 *
 * Errors: EDDY_E_RUN_NESTED  the thread is in a loop
 *         -EINVAL            there is no such table
 *         those of ed_sys_epoll_new()
 */
int ed_run_table(const struct eddy_run_opts *opts, struct ed_sys **ret_sys);

/* From the first run on, or before it: children of fork() are counted, and have no loop. */
ED_SHARED void ed_run_watch_forks(void);

/* Make a run, which stands still; takes 'sys' over whatever comes. */
ED_SHARED int ed_run_open(struct ed_sys *sys, const struct eddy_run_opts *opts,
                          struct ed_run **ret_run);

/* Let the first SIGINT or SIGTERM cancel the main task, unless the options say no; and no more. */
void ed_run_signals_join(struct ed_run *run);
void ed_run_signals_leave(struct ed_run *run);

/*
 * scope/runs.c: the process's list of runs, and what a child of fork() does with
 * it.  A thread that ends forsakes those of its runs that are in the list.
 */
void ed_runs_add(struct ed_run *run);
void ed_runs_remove(struct ed_run *run);
void ed_runs_forget(void);

/* Where the run of that number is, as the calling thread sees it.  Any thread. */
enum ed_run_place { ED_RUN_GONE, ED_RUN_HERE, ED_RUN_ELSEWHERE };
enum ed_run_place ed_runs_place(uintptr_t number);

/* Run a main task until it ends or the run is stopped (EDDY_E_LOOP_STOPPED). */
ED_SHARED int ed_run_main(struct ed_run *run, eddy_task_fn *main_fn, void *arg);

/* Run until the run is stopped; at least a turn. */
void ed_run_forever(struct ed_run *run);

/* Do what can be done without waiting, for about a millisecond; true: there is more. */
bool ed_run_step(struct ed_run *run);

/* End what runs, drain the background, and free it: the two that follow. */
void ed_run_close(struct ed_run *run);
ED_SHARED void ed_run_end(struct ed_run *run);
ED_SHARED void ed_run_free(struct ed_run *run);

/*
 * Give up a run that was left by a jump, or that nothing ends: its stacks go,
 * and this thread has no run.  All memory and the table remain; who calls this
 * takes it from the allocator.
 */
ED_SHARED void ed_run_drop(struct ed_run *run);

/*
 * The thread of a run ends, and the run does not: give back what it has of the
 * process (signals, the watchdog), and refuse calls of other threads.  Its
 * tasks never end; their stacks and all memory remain, since other threads may
 * use them.
 */
void ed_run_forsake(struct ed_run *run);

/*
 * Start a task of the root scope, from the loop's thread; 'text' is what the
 * program wrote for fn, or NULL; 'place' is for debug mode.
 * Errors: -ECANCELED  the run is ending; -ENOMEM
 */
int ed_background_start(struct ed_loop *loop, eddy_task_fn *fn, void *arg, const char *text,
                        const void *place, struct ed_task **ret_task);

/* The face that other threads may hold: made at first use.  NULL: no memory. */
eddy_loop *ed_run_face(struct ed_run *run);

/* No callback that is scheduled will run. */
void ed_run_drop_handles(struct ed_run *run);

/* scope/debug/report.c: what a run tells of. */
void ed_report_deadlock(struct ed_run *run);
void ed_report_dump(struct ed_run *run);
void ed_report_stacks(struct ed_run *run);
void ed_report_run(struct ed_run *run, int kind, int error, const char *task, const char *text);
void ed_report_watch(void *run, struct ed_ticker *watchdog);
bool ed_report_fault(const void *address);
extern ED_SHARED eddy_report_fn ed_report_to_stderr;

#endif
