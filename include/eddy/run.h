/*
 * eddy/run.h - running a program's main task, and what is reported meanwhile.
 */
#ifndef EDDY_RUN_H
#define EDDY_RUN_H

#include "eddy/def.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_REPORT_WATCHDOG = 1,   /* a task keeps the loop from the others */
        EDDY_REPORT_DEADLOCK = 2,   /* all tasks are parked and nothing can wake them */
        EDDY_REPORT_OVERFLOW = 3,   /* a task overflowed its stack; the process ends */
        EDDY_REPORT_BACKGROUND = 4, /* a background task failed */
        EDDY_REPORT_IGNORED =
                5, /* a task ignored 1,000 cancels in a row, or (debug mode) goes on long after one */
        EDDY_REPORT_STACKS = 6,    /* stacks, or those of further tasks, are not guarded here */
        EDDY_REPORT_UNHANDLED = 7, /* a failed future (debug mode: or task) nobody looked at */
        EDDY_REPORT_CALLBACK = 8,  /* a callback of the loop failed */
        EDDY_REPORT_THREAD = 9,    /* a job of a thread pool was abandoned */
        EDDY_REPORT_DUMP = 10,     /* a line of what the run does: eddy/dump.h, eddy/stack.h */
        /* Accepting pauses: descriptors or memory are short (EMFILE, ENFILE, ENOBUFS, ENOSPC, ENOMEM).
         * Once per episode, which is over after a minute without such a failure. */
        EDDY_REPORT_ACCEPT = 15,

        /* In debug mode only. */
        EDDY_REPORT_LOCK = 11, /* a cycle of tasks and locks, or one left locked */
        EDDY_REPORT_WAIT = 12, /* a task waits for the network, under no deadline, for long */
        EDDY_REPORT_LEFT = 13, /* what was left when the run ended */
        EDDY_REPORT_LAG = 14,  /* when the run ended: how late the loop was */

        /* A mistake of the program: a call was refused ('error' is what it returns), or (0) the
         * memory that tasks use goes away, and the process is aborted after the report. */
        EDDY_REPORT_MISUSE = 16,
};

struct eddy_report {
        int kind;         /* EDDY_REPORT_* */
        int error;        /* what goes with it, or 0 */
        const char *task; /* the task's name, or NULL */
        const char *text; /* what to print: lines without a final newline */
};

/*
 * Called on the loop's thread, except EDDY_REPORT_WATCHDOG (a thread of its
 * own) and EDDY_REPORT_OVERFLOW (a signal handler).  Must not suspend.
 * The report is valid during the call.
 */
typedef void eddy_report_fn(const struct eddy_report *report, void *arg);

enum {
        EDDY_RUN_NO_SIGNALS = 1 << 0,  /* leave SIGINT and SIGTERM to the program */
        EDDY_RUN_NO_WATCHDOG = 1 << 1, /* no thread that watches for hogs */
        EDDY_RUN_DEBUG = 1 << 2,       /* debug mode, whatever EDDY_DEBUG says */
        EDDY_RUN_NO_DEBUG = 1 << 3,    /* none, whatever EDDY_DEBUG says */
};

/* All zero is the default. */
struct eddy_run_opts {
        uint32_t flags;         /* EDDY_RUN_* */
        uint32_t reserved32;    /* zero */
        int64_t watchdog_ns;    /* report a task that runs longer; 0: 100 ms */
        int64_t drain_ns;       /* what background tasks get at the end; 0: 5 s; below 0: none */
        eddy_report_fn *report; /* NULL: a line on stderr; see eddy_run() */
        void *report_arg;
        const char *poller; /* "epoll", or NULL: EDDY_POLLER or the best there is */
        /* In debug mode: report a task that waits for the network under no deadline, or goes on
         * after a cancel, for longer than this; 0: 30 s. */
        int64_t debug_wait_ns;
        uintptr_t reserved[5]; /* zero */
};

/*
 * Run main_fn(arg) as the main task, and all it starts, on this thread;
 * return its result.  'opts' may be NULL.  Runs one after another work.
 *
 * The first SIGINT or SIGTERM cancels the main task; the second ends the
 * process at once, by that signal.  A signal that is ignored or has a handler
 * when the run begins is left alone: a shell's script starts what it puts in
 * the background ("&") with SIGINT ignored.  Of runs at the same time, on
 * several threads, the first has the signals.
 *
 * The watchdog is a thread.  If a task keeps the loop for longer than
 * watchdog_ns, it looks up the state of the loop's thread in /proc.  A thread
 * that is blocked is reported with the system call that blocks it, and without
 * a stack: a signal would end that call early.  A thread that runs is asked
 * for its stack by a signal: SIGRTMAX - 3, or the next lower real-time signal
 * that the program neither handles, ignores nor blocks.  The handler is
 * installed before the first question, with SA_RESTART, and removed after the
 * last run.  Without /proc nothing is asked.
 *
 * A run handles SIGSEGV and SIGBUS, to name a task that overflows its stack; a
 * fault elsewhere, and a signal that was sent, get the handling from before
 * the run.  Handlers run on an alternate stack: the thread's own if it has
 * 32 KiB, else one of the run.  What a run has installed is put back at its
 * end, unless the program has installed something else meanwhile: that stays.
 * An alternate stack that a task sets must be larger than a signal's frame
 * (sysconf(_SC_SIGSTKSZ)).
 *
 * The default report raises no SIGPIPE.  If standard error is closed, or has no
 * room for 200 ms, the report is dropped.
 *
 * A thread that ends inside of a run (pthread_exit() in a task), or before its
 * loop was closed, gives back all of this.  The tasks of the run do not go on,
 * their memory is lost, and calls of other threads return EDDY_E_LOOP_CLOSED.
 *
 * Errors: EDDY_E_RUN_NESTED  this thread already runs a loop
 *         -EDEADLK           all tasks were parked and nothing could wake them
 *         -EINVAL            an option is not valid
 *         -ENOMEM, -EMFILE, -EAGAIN  the loop or its watchdog could not be made
 *         and what main_fn returns
 * Threads: any; one loop per thread.
 */
EDDY_API int eddy_run(eddy_task_fn *main_fn, void *arg, const struct eddy_run_opts *opts);
EDDY_API int eddy_run_named(eddy_task_fn *main_fn, void *arg, const struct eddy_run_opts *opts,
                            const char *text);
#define eddy_run(...) eddy_run_named(__VA_ARGS__, #__VA_ARGS__)

/*
 * The signal that cancelled the main task of this thread's last or present
 * run, or came when that had ended: SIGINT, SIGTERM, or 0.
 *
 * Suspends: no.
 */
EDDY_API int eddy_run_signal(void);

/*
 * Start fn(arg) in the background of this run.  It may outlive the task that
 * starts it.  Its failure goes to the report.  When the main task has ended,
 * background tasks have drain_ns to finish and are cancelled then.
 *
 * Suspends: no.
 * Errors: -ECANCELED  the run is ending
 *         -ENOMEM
 * Owns: borrows 'arg' until the task ends.
 */
EDDY_API int eddy_background(eddy_task_fn *fn, void *arg);
EDDY_API int eddy_background_named(eddy_task_fn *fn, void *arg, const char *text);
#define eddy_background(...) eddy_background_named(__VA_ARGS__, #__VA_ARGS__)

/* What the loop of this thread is made of.  Never NULL inside a run. */
struct eddy_run_info {
        const char *poller; /* "epoll", "sim" */
        const char *guard;  /* what guards stacks: "madvise", "mprotect" or "canary" */
        uint64_t tasks;     /* alive */
        uint64_t switches;  /* so far */
        uint64_t polls;     /* so far */
};
EDDY_API int eddy_run_info(struct eddy_run_info *ret_info);

enum { EDDY_LAG_BUCKETS = 40 };

/*
 * How long each turn of the loop took: what ran between two looks at the
 * world outside.  A task that became ready waited about as long, so this is
 * how late the loop is; where more than 128 tasks are ready at a time, one may
 * wait for several turns.  Kept always; it costs nothing per switch.
 *
 * Bucket 0 counts turns below 1,024 ns.  Then each power of two has two of
 * equal width: 1 counts from 1,024 ns on, 2 from 1,536, 3 from 2,048, and so
 * on.  The last one counts all from 2^29 ns (half a second) on.
 */
struct eddy_lag {
        uint64_t count; /* turns */
        int64_t max_ns; /* the longest one */
        uint64_t buckets[EDDY_LAG_BUCKETS];
};

/*
 * The lag of this thread's loop since it began, without the present turn.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_NOT_RUNNING  outside of a run
 */
EDDY_API int eddy_run_lag(struct eddy_lag *ret_lag);

/*
 * The time within which 'percent' of all turns ended (50, 99.9): the end of
 * its bucket, which is at most half as much again (from 1,024 ns on), or the
 * maximum where that is less, or in the last bucket.  100 and above give the
 * maximum; without turns it is 0.
 *
 * Suspends: no.
 * Threads: any; it only reads 'lag'.
 */
EDDY_API int64_t eddy_lag_percentile(const struct eddy_lag *lag, double percent);

EDDY_END_DECLS

#endif
