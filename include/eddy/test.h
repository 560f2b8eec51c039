/*
 * eddy/test.h - runs of a program's tasks in a world of their own, where time
 * passes by itself, chance comes from a seed, and anything can be made to fail.
 *
 *     assert(eddy_test_run(main_fn, NULL, NULL, NULL) == 0);
 *     assert(eddy_test_sweep(EDDY_TEST_CANCEL, main_fn, NULL, NULL, NULL) == 0);
 *
 * In such a run the clock jumps to the next deadline as soon as all tasks are
 * parked, sockets and names are in memory (eddy/test_net.h), threads' jobs
 * take simulated time, and the order of tasks follows from the seed: the same
 * seed and program give the same run, to the last decision.  At its end the
 * kit looks for what is left: tasks, timers, descriptors, memory.
 *
 * Library eddy-test (pkg-config eddy-test).  Works under plain assert(), under
 * Check and under cmocka: what fails in a run may end the process, or leave
 * the run by longjmp(); the next run of the thread then clears away what that
 * one left.  eddy/eddy.h does not include this header.
 */
#ifndef EDDY_TEST_H
#define EDDY_TEST_H

#include "eddy/def.h"
#include "eddy/queue.h"
#include "eddy/run.h"
#include "eddy/semaphore.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

/* What is done to a run.  All zero: nothing is random, nothing goes wrong. */
struct eddy_test_opts {
        const char *name; /* in what is told; NULL: that of the main function */
        uint64_t seed;    /* 0: the first in goes first; else who is next follows from it */

        /* What goes wrong: at most one of each, counted from 1; 0: none. */
        uint64_t cancel_at;   /* the main task is cancelled at that suspension point */
        uint64_t cancel_task; /* not main: that task, 1 main, then in the order of starting, at that
                                 point of its own: 1 before it has begun; 2, 4 ... as it begins to
                                 wait, 3, 5 ... when it was woken and has not gone on yet */
        uint64_t alloc_at;    /* that allocation by eddy_malloc() fails, eddy's own or not */
        int alloc_forever;    /* and all after it */
        uint64_t alloc_again; /* and, of those after it, this one alone, the next being 1 */
        uint64_t call_at;     /* that system call that can fail fails */
        int call_error;       /* with this one: -ENOBUFS, -EAGAIN ...; EDDY_TEST_SHORT */

        /* Of virtual time; 0: an hour.  Beyond it, or 20 million suspension points, the run is
           given up, its tasks where they are.  Below 0: there is no limit, of either. */
        int64_t limit_ns;

        /* Before and after each run, outside of it; may be NULL.  'after' below 0: it failed. */
        void (*before)(void *arg);
        int (*after)(void *arg, int result);

        const struct eddy_run_opts *run; /* NULL: the defaults; without signals and watchdog */
        const char *cancel_named; /* EDDY_TEST_CANCEL_TASK: only tasks of that name; NULL: all */
        uintptr_t reserved[8];    /* zero */
};

/* For call_error: the transfer moves a part of what it could, one byte at least. */
enum { EDDY_TEST_SHORT = -0xffff };

/* What a run came to. */
struct eddy_test_result {
        int result;           /* of the main task */
        uint64_t trace;       /* a hash of all that was decided and moved */
        uint64_t points;      /* suspension points: a task is chosen, or the loop looks outside */
        uint64_t allocations; /* by eddy_malloc(): eddy's own and the program's */
        uint64_t calls;       /* system calls that can fail */
        int64_t lasted_ns;    /* of virtual time */
        struct {
                uint64_t tasks, timers, descriptors, allocations, bytes, units, items;
        } left;             /* at the end; units and items as eddy_test_watch_semaphore() says */
        int was_cancelled;  /* by cancel_at */
        int was_failed;     /* an allocation or call was made to fail */
        char problem[1024]; /* what the kit found, a line or more; or "" */
        uintptr_t reserved[8];
};

/*
 * Run main_fn(arg) as eddy_run() does, in a world of its own.  'opts' and
 * 'ret_result' may be NULL.  Returns what main_fn returns, unless the kit
 * finds something; then that is told too, as a line on stderr that says how
 * to have the same run in a sweep (see eddy_test_sweep()).  A run that is asked
 * for here is made whatever the environment says.
 *
 * What it finds: tasks, timers, descriptors or memory left at the end; a
 * deadlock; a run that goes on beyond its limit.  Descriptors are those of the
 * world and of the process; memory is what came from eddy_malloc().  Tasks are
 * those of the background that did not end in the time that they are given
 * after the main task (eddy_run_opts.drain_ns; none are left if that is below
 * 0).  Memory and descriptors of the process that 'after' gives back are not left.
 *
 * A run that ends the process (assert(), exit(), a signal), or that was left by
 * a jump, is told too, by the next line that can be.
 *
 * Suspends: no; it is called where eddy_run() would be.
 * Errors: EDDY_E_TEST_FOUND  the kit found something: 'problem' says what
 *         -EBUSY             another thread's run is under way, or was left by a
 *                            jump: that thread clears it away, by its next run
 *                            or when it ends
 *         EDDY_E_RUN_NESTED  the same where the C library has no backtrace(): that
 *                            thread cannot clear it away by its next run
 *         -EINVAL            call_at is given, and call_error is no error
 *         and those of eddy_run()
 * Threads: any, one at a time in a process.
 */
EDDY_API int eddy_test_run(eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts,
                           struct eddy_test_result *ret_result);

/* What a sweep does to the run, one thing at a time. */
enum {
        EDDY_TEST_SEEDS = 1,         /* other orders of tasks, seed 1 .. EDDY_TEST_SEEDS_RUN */
        EDDY_TEST_CANCEL = 2,        /* cancel the main task at the Nth suspension point */
        EDDY_TEST_ALLOC = 3,         /* fail the Nth allocation */
        EDDY_TEST_ALLOC_FOREVER = 4, /* and all after it */
        EDDY_TEST_CALLS = 5,         /* fail the Nth system call, by each error that it may give */
        EDDY_TEST_ALLOC_TWICE = 6, /* the Nth allocation; and with it each one after it, in turn */
        EDDY_TEST_CANCEL_TASK = 7, /* cancel one task, each in turn, at the Nth point of its own */
};

enum { EDDY_TEST_SEEDS_RUN = 200 };

/* What a sweep came to. */
struct eddy_test_sweep {
        uint64_t count;    /* points (of all tasks), allocations, calls or seeds that there were */
        uint64_t tried;    /* of them; 'runs' has how often, where it was in several ways */
        uint64_t runs;     /* in all */
        uint64_t failed;   /* runs that gave an error because of what was done */
        uint64_t distinct; /* traces */
        uint64_t tasks;    /* EDDY_TEST_CANCEL_TASK: whose points were tried */
        uintptr_t reserved[3];
};

/*
 * Run main_fn once as 'opts' says, and then with each N = 1, 2, ... until all
 * were tried; each run is looked at as by eddy_test_run().  Stops at the first
 * run in which something is found.
 *
 * A run may end with 0 or more, whatever was done.  If something was done, it
 * may also end with an error: if main was cancelled that must be -ECANCELED,
 * else any.  EINTR, EAGAIN and short transfers are no failures: the run must
 * end as without them.  Whatever else must hold is for 'after' to say.
 *
 * EDDY_TEST_CANCEL_TASK cancels one task alone, as eddy_task_cancel() does: its
 * own -ECANCELED fails no scope, and all others go on.  If they wait then for
 * what that task was to do, that is a deadlock, and a finding.  A program whose
 * tasks are never cancelled alone names those that may be (opts.cancel_named).
 *
 * On a finding it prints a line such as
 *
 *     eddy_test: transfer: cancel=31: 1 task left: worker waits for a lock
 *     eddy_test: transfer: cancel=31: main was cancelled in eddy_sleep+0x1f <- pay+0x2a
 *     eddy_test: again with EDDY_TEST_REPLAY='transfer:cancel=31'
 *
 * (in full 'NAME:seed=N,task=N,cancel=N,alloc=N,call=N/ENOBUFS', in any part; "+"
 * behind the allocation's number stands for all after it, "+3" for the third).
 * With that in the environment, eddy_test_sweep() makes only this run of the
 * main function or opts.name in front of the colon (for a call, after one in
 * which none fails, to compare with), and skips all others.  It
 * is a finding if nothing of what the string names is there any more; and in a
 * sweep, if a run does not come to what was counted in the first, or fails with
 * nothing done to it: for that there is no string, and it says so.
 * EDDY_TEST_SEEDS=N changes how many seeds are tried; EDDY_TEST_SAMPLE=N tries
 * at most N points, allocations and calls, spread evenly with the first and
 * the last (1: the first alone; under EDDY_TEST_ALLOC_TWICE so many of those
 * after each, too); EDDY_TEST_VERBOSE=1 prints a line before each run.
 *
 * Suspends: no; it is called where eddy_run() would be.
 * Errors: EDDY_E_TEST_FOUND  something was found, and printed
 *         -EINVAL            no such sweep, or EDDY_TEST_REPLAY is not valid
 *         -ENOMEM            for what is noted of the runs
 *         those of eddy_test_run(), and what the run without anything done
 *         returned, if below 0
 * Threads: as eddy_test_run().
 */
EDDY_API int eddy_test_sweep(int what, eddy_task_fn *main_fn, void *arg,
                             const struct eddy_test_opts *opts, struct eddy_test_sweep *ret_sweep);

/*
 * Of the run under way, for the program's own checks in it: the seed's chance,
 * 0 .. n-1 (always 0 without a seed), so that a test may draw its own sizes
 * and delays and still be replayed.
 *
 * Suspends: no.  Outside of a run it gives 0, and on threads of the program's own.
 */
EDDY_API uint64_t eddy_test_chance(uint64_t n);

/*
 * Say that the run has failed, in words: it goes on, and eddy_test_run()
 * returns EDDY_E_TEST_FOUND.  For checks in tasks where a framework's own
 * assertion would end the process.  The macro gives file, line and condition.
 *
 * Suspends: no.  In 'before' and 'after' it works too; elsewhere outside of a
 * run it does nothing.  In a child of fork() it is only printed.
 * Threads:  any: it counts for the run that is under way in the process.
 */
EDDY_API EDDY_PRINTF(1, 2) void eddy_test_fail(const char *format, ...);
#define EDDY_TEST_CHECK(cond)                                                                      \
        ((cond) ? (void) 0 : eddy_test_fail("%s:%d: %s", __FILE__, __LINE__, #cond))

/* As many of each may be watched at a time; one more is a finding. */
enum { EDDY_TEST_SEMAPHORES_MAX = 64, EDDY_TEST_QUEUES_MAX = 64 };

/*
 * Have the units of a semaphore looked at in the run under way: a unit that was
 * taken and not given back by the end of the run is a finding, with the task and
 * the place of the call that took it.  A semaphore with EDDY_SEMAPHORE_BOUNDED
 * is looked at without being named.  To be called before the semaphore's first
 * use; it may be gone at the end of the run.
 *
 * Suspends: no.  Outside of a run it does nothing.
 */
EDDY_API void eddy_test_watch_semaphore(eddy_semaphore *sem);

/*
 * Have a queue looked at when it is ended, by eddy_queue_fini() or with the run:
 * items that are left in it are a finding, and, if eddy_queue_task_done() or
 * eddy_queue_join() was called for it, items that were not done.
 *
 * Suspends: no.  Outside of a run it does nothing.
 * Owns: borrows 'queue' until eddy_queue_fini(), else until the run has ended.
 */
EDDY_API void eddy_test_watch_queue(eddy_queue *queue);

/*
 * Called by the kit whenever it does what was asked for, on the stack on which
 * the allocation or call fails; at a cancel on that of whoever suspended last.
 * 'what': "cancel", "allocation" or "call".  It does nothing: it is the place
 * for a debugger to stop at (see docs/testing.md).
 *
 * Suspends: no.
 */
EDDY_API void eddy_test_strike(const char *what);

EDDY_END_DECLS

#endif
