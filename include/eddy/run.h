/*
 * eddy/run.h - running a program's main task, and reports during the run.
 */
#ifndef EDDY_RUN_H
#define EDDY_RUN_H

#include "eddy/def.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_REPORT_WATCHDOG = 1,   /* a task keeps other tasks from running */
        EDDY_REPORT_DEADLOCK = 2,   /* all tasks are parked and nothing can wake them */
        EDDY_REPORT_OVERFLOW = 3,   /* a task overflowed its stack; the process ends */
        EDDY_REPORT_BACKGROUND = 4, /* a background task failed */
        /* A task ignored 1,000 cancels in a row, or (debug mode) runs long after one. */
        EDDY_REPORT_IGNORED = 5,
        EDDY_REPORT_STACKS = 6,    /* all stacks, or those of further tasks, have no guard */
        EDDY_REPORT_UNHANDLED = 7, /* a failed future (debug mode: or task) was never read */
        EDDY_REPORT_CALLBACK = 8,  /* a callback of the loop failed */
        EDDY_REPORT_THREAD = 9,    /* a job of a thread pool was abandoned */
        EDDY_REPORT_DUMP = 10,     /* a line of a dump: eddy/dump.h, eddy/stack.h */
        /* Accepting pauses: descriptors or memory are short (EMFILE, ENFILE, ENOBUFS, ENOSPC,
         * ENOMEM).  Once per episode, which ends after a minute without such a failure. */
        EDDY_REPORT_ACCEPT = 15,

        /* In debug mode only. */
        EDDY_REPORT_LOCK = 11, /* a cycle of tasks and locks, or a lock left locked */
        EDDY_REPORT_WAIT = 12, /* a task waits long for the network without a deadline */
        EDDY_REPORT_LEFT = 13, /* objects left when the run ended */
        EDDY_REPORT_LAG = 14,  /* when the run ended: how late the loop was */

        /* A mistake in the program: a call was refused ('error' is its result), or, with 'error' 0,
         * memory that tasks use goes away; the process is aborted after that report. */
        EDDY_REPORT_MISUSE = 16,
        EDDY_REPORT_METRICS = 17, /* a metric was not made, or refused a series */
        EDDY_REPORT_TRACE = 18,   /* the file of a timeline could not be written */
        EDDY_REPORT_SERVER = 19,  /* eddy_http_run() failed */
};

struct eddy_report {
        int kind;         /* EDDY_REPORT_* */
        int error;        /* the error of the report, or 0 */
        const char *task; /* the task's name, or NULL */
        const char *text; /* the text to print: lines without a final newline */
};

/*
 * Receives reports.  Called on the loop's thread, except EDDY_REPORT_WATCHDOG (on
 * a thread of its own) and EDDY_REPORT_OVERFLOW (possibly in a signal handler).
 * Must not suspend.  The report is valid during the call.
 */
typedef void eddy_report_fn(const struct eddy_report *report, void *arg);

enum {
        EDDY_RUN_NO_SIGNALS = 1 << 0,  /* leave SIGINT and SIGTERM to the program */
        EDDY_RUN_NO_WATCHDOG = 1 << 1, /* no thread that watches for tasks that keep the loop */
        EDDY_RUN_DEBUG = 1 << 2,       /* debug mode on, whatever EDDY_DEBUG is */
        EDDY_RUN_NO_DEBUG = 1 << 3,    /* debug mode off, whatever EDDY_DEBUG is */
};

/* All zero is the default. */
struct eddy_run_opts {
        uint32_t flags EDDY_UNSET;      /* EDDY_RUN_* */
        uint32_t reserved32 EDDY_UNSET; /* zero */
        /* report a task that keeps the loop for longer; 0: 100 ms */
        int64_t watchdog_ns EDDY_UNSET;
        /* time for background tasks at the end; 0: 5 s; below 0: none */
        int64_t drain_ns EDDY_UNSET;
        eddy_report_fn *report EDDY_UNSET; /* NULL: a line on stderr; see eddy_run() */
        void *report_arg EDDY_UNSET;
        uintptr_t reserved_word EDDY_UNSET; /* zero */
        /* In debug mode: report a task that waits for the network without a deadline, or runs on
         * after a cancel, for longer than this; 0: 30 s. */
        int64_t debug_wait_ns EDDY_UNSET;
        /* a timeline of the run, see eddy/trace.h; NULL: see there */
        const char *trace_file EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Run main_fn(arg) as the main task on this thread, with all tasks it starts, and
 * return its result.  'opts' may be NULL.  A thread may run several times in
 * succession.
 *
 * The first SIGINT or SIGTERM cancels the main task; the second ends the process
 * at once, by that signal.  A cancelled main task usually returns -ECANCELED;
 * eddy_run_signal() then returns the signal, so a program can distinguish such a
 * stop from a failure.  A signal that is ignored or has a handler when the
 * run begins is left alone: a shell script starts its background commands ("&")
 * with SIGINT ignored.  If several threads run at the same time, the signals
 * belong to the run that began first; the loops of eddy_run_many() share them.
 *
 * The watchdog is a thread.  If a task keeps the loop for longer than
 * watchdog_ns, the watchdog reads the state of the loop's thread from /proc.  It
 * reports a blocked thread with the system call that blocks it, and without a
 * stack, because a signal would end that call early.  It requests the stack of a
 * running thread by a signal: SIGRTMAX - 3, or the next lower real-time signal
 * that the program does not handle, ignore or block.  The signal's handler is
 * installed before the first request, with SA_RESTART, and removed after the last
 * run.  Without /proc no stack is requested.
 *
 * A run handles SIGSEGV and SIGBUS, to name a task that overflows its stack;
 * other faults, and signals sent by a process, have the handling from before the
 * run.  Handlers run on an alternate stack: the thread's own if it has 32 KiB,
 * else one of the run.  At its end the run restores each previous handler and
 * stack, unless the program has replaced the run's own meanwhile.  An alternate
 * stack that a task sets must be larger than a signal's frame
 * (sysconf(_SC_SIGSTKSZ)).
 *
 * The default report raises no SIGPIPE.  It drops a report if standard error is
 * closed, or has no room for 200 ms.
 *
 * A thread that ends inside a run (pthread_exit() in a task), or before its loop
 * was closed, also restores all of this.  The tasks of that run do not continue,
 * their memory is lost, and calls of other threads return EDDY_E_LOOP_CLOSED.
 *
 * Errors: EDDY_E_RUN_NESTED  this thread already runs a loop
 *         -EDEADLK           all tasks were parked and nothing could wake them
 *         -EINVAL            an option is not valid, or main_fn is NULL
 *         -ENOMEM, -EMFILE, -EAGAIN  the loop or its watchdog could not be made
 *         and the result of main_fn
 * Threads: any; one loop per thread.
 */
EDDY_API int eddy_run(eddy_task_fn *main_fn, void *arg, const struct eddy_run_opts *opts);
EDDY_API int eddy_run_named(eddy_task_fn *main_fn, void *arg, const struct eddy_run_opts *opts,
                            const char *text);
#define eddy_run(...) eddy_run_named(__VA_ARGS__, #__VA_ARGS__)

/*
 * Returns the signal that cancelled the main task of this thread's present or
 * last run, or that arrived after the main task had ended: SIGINT, SIGTERM, or 0.
 *
 * Suspends: no.
 */
EDDY_API int eddy_run_signal(void);

/*
 * Start fn(arg) as a background task of this run, which may outlive the task that
 * starts it.  Its failure goes to the report.  When the main task has ended,
 * background tasks have drain_ns to finish and are then cancelled.
 *
 * Suspends: no.
 * Errors: -ECANCELED  the run is ending
 *         -ENOMEM
 * Owns: borrows 'arg' until the task ends.
 */
EDDY_API int eddy_background(eddy_task_fn *fn, void *arg);
EDDY_API int eddy_background_named(eddy_task_fn *fn, void *arg, const char *text);
#define eddy_background(...) eddy_background_named(__VA_ARGS__, #__VA_ARGS__)

enum {
        /* The task only serves others, such as the reader of a shared connection or an exporter
         * of metrics: it is cancelled as soon as the main task has ended. */
        EDDY_BACKGROUND_SERVICE = 1 << 0,
};

/* All zero is the default. */
struct eddy_background_opts {
        const char *name EDDY_UNSET;      /* copied, cut at 31 bytes; NULL: see eddy/task.h */
        uint32_t flags EDDY_UNSET;        /* EDDY_BACKGROUND_* */
        uint32_t task_flags EDDY_UNSET;   /* EDDY_TASK_* */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * eddy_background() with options; 'opts' may be NULL.
 *
 * A task with EDDY_BACKGROUND_SERVICE gets no time to drain: when the main task has
 * ended, it is cancelled at once, while other background tasks still have drain_ns.
 * These cannot use the service while they drain.  A service that they need must be
 * a plain background task that ends when its last user does.  In a loop
 * (eddy/loop.h), services end when the loop is closed.
 *
 * Suspends: no.
 * Errors: -ECANCELED  the run is ending; for a service: the main task has ended
 *         -EINVAL     an option is not valid
 *         -ENOMEM
 * Owns: borrows 'arg' until the task ends, 'opts' for the duration of the call.
 */
EDDY_API int eddy_background_with(eddy_task_fn *fn, void *arg,
                                  const struct eddy_background_opts *opts);
EDDY_API int eddy_background_with_named(eddy_task_fn *fn, void *arg,
                                        const struct eddy_background_opts *opts, const char *text);
#define eddy_background_with(...) eddy_background_with_named(__VA_ARGS__, #__VA_ARGS__)

/* Data about this thread's loop.  Strings are never NULL. */
struct eddy_run_info {
        const char *poller; /* "epoll", "sim" */
        const char *guard;  /* of stacks: "madvise", "mprotect" or "canary" */
        uint64_t tasks;     /* alive */
        uint64_t switches;  /* so far */
        uint64_t polls;     /* so far */
        uintptr_t reserved[1];
};
EDDY_API int eddy_run_info(struct eddy_run_info *ret_info);

enum { EDDY_LAG_BUCKETS = 40 };

/*
 * The duration of each turn of the loop: from one check for events to the next.
 * A task that became ready waited about as long, or several turns if more than
 * 128 tasks were ready.  Always recorded, at no cost per switch.
 *
 * Bucket 0 counts turns below 1,024 ns.  Above that each power of two has two
 * buckets of equal width: bucket 1 begins at 1,024 ns, bucket 2 at 1,536 ns,
 * bucket 3 at 2,048 ns, and the last bucket at 2^29 ns (half a second), without
 * an upper end.
 */
struct eddy_lag {
        uint64_t count; /* turns */
        int64_t max_ns; /* the longest one */
        uint64_t buckets[EDDY_LAG_BUCKETS];
        uint64_t sum_ns; /* of all */
};

/*
 * Store the lag of this thread's loop since the loop was made, without the
 * present turn.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_NOT_RUNNING  outside a run
 */
EDDY_API int eddy_run_lag(struct eddy_lag *ret_lag);

/*
 * Returns the time within which 'percent' of all turns ended (50, 99.9), as the
 * upper end of its bucket: at most 1.5 times the exact value (from 1,024 ns on).
 * Returns the maximum if that is less, in the last bucket, and if 'percent' is
 * 100 or more; 0 if there were no turns.
 *
 * Suspends: no.
 * Threads: any; only reads 'lag'.
 */
EDDY_API int64_t eddy_lag_percentile(const struct eddy_lag *lag, double percent);

EDDY_END_DECLS

#endif
