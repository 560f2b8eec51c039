/*
 * eddy/test.h - deterministic runs: virtual time, an order of tasks that follows
 * from a seed, and faults on request.
 *
 *     assert(eddy_test_run(main_fn, NULL, NULL, NULL) == 0);
 *     assert(eddy_test_sweep(EDDY_TEST_CANCEL, main_fn, NULL, NULL, NULL) == 0);
 *
 * In such a run the clock jumps to the next deadline as soon as all tasks are
 * parked, sockets and DNS are in memory (eddy/test_net.h), jobs of threads take
 * simulated time, and the order of tasks follows from the seed: the same seed and
 * program make the same run, decision by decision.  At the end of a run the kit
 * looks for leftover tasks, timers, descriptors and memory.
 *
 * Library eddy-test (pkg-config eddy-test).  Works under plain assert(), Check and
 * cmocka: a failure in a run may end the process, or leave the run by longjmp();
 * the thread's next run then cleans up after the abandoned one.  eddy/eddy.h does
 * not include this header.
 */
#ifndef EDDY_TEST_H
#define EDDY_TEST_H

#include "eddy/def.h"
#include "eddy/queue.h"
#include "eddy/run.h"
#include "eddy/semaphore.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

/* The order of a run and its faults.  All zero: no randomness and no faults. */
struct eddy_test_opts {
        const char *name EDDY_UNSET; /* in messages; NULL: the name of the main function */
        /* 0: tasks run first in, first out; else in an order from the seed */
        uint64_t seed EDDY_UNSET;

        /* Faults: at most one of each, counted from 1; 0: none. */
        uint64_t cancel_at EDDY_UNSET; /* cancel the main task at this suspension point */
        /* cancel this task instead (1: main, then in the order of starting), at this point of
         * its own: 1 before it has begun; 2, 4 ... as it begins to wait; 3, 5 ... after it was
         * woken, before it runs */
        uint64_t cancel_task EDDY_UNSET;
        uint64_t alloc_at EDDY_UNSET; /* fail this allocation by eddy_malloc(), eddy's own or not */
        int alloc_forever EDDY_UNSET; /* and all later ones */
        uint64_t alloc_again EDDY_UNSET; /* and only this later one; the next allocation is 1 */
        uint64_t call_at EDDY_UNSET;     /* fail this one of the system calls that can fail */
        int call_error EDDY_UNSET; /* with this error: -ENOBUFS, -EAGAIN ...; or EDDY_TEST_SHORT */

        /* Limit of virtual time; 0: an hour; below 0: no limit.  Beyond the limit, or beyond 20
           million suspension points unless the limit is below 0, the run is abandoned, with its
           tasks where they are. */
        int64_t limit_ns EDDY_UNSET;

        /* Called before and after each run; may be NULL.  'after' below 0: the run has failed. */
        void (*before)(void *arg) EDDY_UNSET;
        int (*after)(void *arg, int result) EDDY_UNSET;

        /* NULL: the defaults, without signals and watchdog */
        const struct eddy_run_opts *run EDDY_UNSET;
        /* EDDY_TEST_CANCEL_TASK: only tasks with this name; NULL: all */
        const char *cancel_named EDDY_UNSET;
        /* "3/2.7/3": at choice point 3 the second of the ready tasks runs, at 7 the third, else
         * the first, whatever the seed; "0": always the first; NULL: the seed decides (see
         * eddy/test_explore.h) */
        const char *order EDDY_UNSET;
        uintptr_t reserved[7] EDDY_UNSET; /* zero */
};

/* For call_error: the call transfers only a part of the bytes, at least one. */
enum { EDDY_TEST_SHORT = -0xffff };

/* The result of a run. */
struct eddy_test_result {
        int result;      /* of the main task */
        uint64_t trace;  /* a hash of all decisions and transfers */
        uint64_t points; /* suspension points: a task is chosen, or the loop checks for events */
        uint64_t allocations; /* by eddy_malloc(): eddy's own and the program's */
        uint64_t calls;       /* system calls that can fail */
        int64_t lasted_ns;    /* virtual time */
        struct {
                uint64_t tasks, timers, descriptors, allocations, bytes, units, items;
        } left; /* at the end; units and items: see eddy_test_watch_semaphore(), _queue() */
        int was_cancelled;  /* by cancel_at */
        int was_failed;     /* a fault of an allocation or call was injected */
        char problem[1024]; /* findings, one or more lines; or "" */
        uintptr_t reserved[8];
};

/*
 * Run main_fn(arg) as eddy_run() does, in a simulated world.  'opts' and
 * 'ret_result' may be NULL.  Returns the result of main_fn, unless the kit finds
 * a problem; the kit then also prints a line on stderr that says how to repeat the
 * run in a sweep (see eddy_test_sweep()).  EDDY_TEST_REPLAY never skips a run of
 * this function.
 *
 * Findings are tasks, timers, descriptors or memory left at the end, a deadlock,
 * a run beyond its limit, and a choice point of 'order' that was not reached.  Descriptors are those of the simulated world and of
 * the process; memory is memory from eddy_malloc().  Leftover tasks are background
 * tasks that did not end within eddy_run_opts.drain_ns after the main task (none
 * count if drain_ns is below 0).  Memory and descriptors of the process that
 * 'after' releases are not leftovers.
 *
 * If a run ends the process (assert(), exit(), a signal), or is left by a jump,
 * the kit also reports that, at the next opportunity.
 *
 * Suspends: no; called where eddy_run() would be.
 * Errors: EDDY_E_TEST_FOUND  the kit found a problem, described in 'problem'
 *         -EBUSY             another thread's run is in progress, or was left by a
 *                            jump: that thread cleans it up in its next run, or
 *                            when it ends
 *         EDDY_E_RUN_NESTED  as -EBUSY, if the C library has no backtrace(): that
 *                            thread cannot clean it up in its next run
 *         -EINVAL            call_at is given, and call_error is not an error;
 *                            'order' is not valid; or main_fn is NULL
 *         and those of eddy_run()
 * Threads: any, one at a time in a process.
 */
EDDY_API int eddy_test_run(eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts,
                           struct eddy_test_result *ret_result);

/* The kinds of sweep: each run of a sweep has one of these changes. */
enum {
        EDDY_TEST_SEEDS = 1,  /* another order of tasks, from seed 1 .. EDDY_TEST_SEEDS_RUN */
        EDDY_TEST_CANCEL = 2, /* cancel the main task at the Nth suspension point */
        EDDY_TEST_ALLOC = 3,  /* fail the Nth allocation */
        EDDY_TEST_ALLOC_FOREVER = 4, /* and all later ones */
        EDDY_TEST_CALLS = 5,       /* fail the Nth system call, with each error that it can have */
        EDDY_TEST_ALLOC_TWICE = 6, /* fail the Nth allocation and one later one, each in turn */
        EDDY_TEST_CANCEL_TASK = 7, /* cancel one task, each in turn, at its own Nth point */
};

enum { EDDY_TEST_SEEDS_RUN = 200 };

/* The result of a sweep. */
struct eddy_test_sweep {
        uint64_t count;    /* existing points (of all tasks), allocations, calls or seeds */
        uint64_t tried;    /* tried ones of these; one may take several runs */
        uint64_t runs;     /* in all */
        uint64_t failed;   /* runs that returned an error because of the fault */
        uint64_t distinct; /* different traces */
        uint64_t tasks;    /* EDDY_TEST_CANCEL_TASK: tasks whose points were tried */
        uintptr_t reserved[3];
};

/*
 * Run main_fn once as in 'opts', and then with each N = 1, 2, ... until all were
 * tried; each run is checked as by eddy_test_run().  Stops at the first run with
 * a finding.
 *
 * A run may always end with 0 or more.  After a fault the run may also end with
 * an error: with -ECANCELED if main was cancelled, else with any.  EINTR, EAGAIN
 * and short transfers are not failures: the run must end as without them.  'after'
 * checks any other conditions.
 *
 * EDDY_TEST_CANCEL_TASK cancels only one task, as eddy_task_cancel() does: its
 * -ECANCELED does not fail a scope, and all other tasks continue.  If they then
 * wait for work of that task, that is a deadlock, and a finding.  If a program's
 * tasks are never cancelled alone, name those that may be (opts.cancel_named).
 *
 * A finding is printed in lines such as
 *
 *     eddy_test: transfer: cancel=31: 1 task left: worker waits for a lock
 *     eddy_test: transfer: cancel=31: main was cancelled in eddy_sleep+0x1f <- pay+0x2a
 *     eddy_test: again with EDDY_TEST_REPLAY='transfer:cancel=31'
 *
 * The replay string is 'NAME:seed=N,task=N,cancel=N,alloc=N,call=N/ENOBUFS,order=N/N.N/N'
 * with any of these parts; "+" after the allocation's number means all later ones too,
 * "+3" the third later one.  NAME is the main function or opts.name.
 *
 * In the environment:
 *   EDDY_TEST_REPLAY=STRING  eddy_test_sweep() makes only this run (for a call,
 *                            after a run without faults, to compare with), and
 *                            skips all other sweeps.  If nothing in the string is
 *                            reached any more, that is a finding.
 *   EDDY_TEST_SEEDS=N        the number of seeds
 *   EDDY_TEST_SAMPLE=N       try at most N points, allocations and calls, spread
 *                            evenly, including the first and the last (1: only the
 *                            first); for EDDY_TEST_ALLOC_TWICE also at most N of
 *                            those after each
 *   EDDY_TEST_VERBOSE=1      print a line before each run
 *   EDDY_TEST_OUTCOMES=N     the sweep EDDY_TEST_SEEDS runs all orders with at most N
 *                            deviations instead, and prints each outcome, as
 *                            eddy_test_explore() does; all other sweeps are skipped
 *
 * It is also a finding if a run of a sweep does not reach a point that the first
 * run counted, or fails without a fault; such a finding has no replay string, and
 * the message says so.
 *
 * Suspends: no; called where eddy_run() would be.
 * Errors: EDDY_E_TEST_FOUND  there was a finding, and it was printed
 *         -EINVAL            'what' is not a sweep, or EDDY_TEST_REPLAY is not valid
 *         -ENOMEM            no memory for records of the runs
 *         those of eddy_test_run(), and the result of the run without faults, if
 *         below 0
 * Threads: as eddy_test_run().
 */
EDDY_API int eddy_test_sweep(int what, eddy_task_fn *main_fn, void *arg,
                             const struct eddy_test_opts *opts, struct eddy_test_sweep *ret_sweep);

/*
 * Returns a random number 0 .. n-1 from the seed of the present run, always 0
 * without a seed: a test can choose sizes and delays and still be replayed.
 *
 * Suspends: no.  Returns 0 outside a run, and on threads of the program's own.
 */
EDDY_API uint64_t eddy_test_chance(uint64_t n);

/*
 * Report a failure of the run in words: the run continues, and eddy_test_run()
 * returns EDDY_E_TEST_FOUND.  For checks in tasks, where a framework's own
 * assertion would end the process.  The macro adds file, line and condition.
 *
 * Suspends: no.  Works in 'before' and 'after' too; elsewhere outside a run it
 * does nothing.  In a child of fork() it only prints.
 * Threads:  any: the failure counts for the run in progress in the process.
 */
EDDY_API EDDY_PRINTF(1, 2) void eddy_test_fail(const char *format, ...);
#define EDDY_TEST_CHECK(cond)                                                                      \
        ((cond) ? (void) 0 : eddy_test_fail("%s:%d: %s", __FILE__, __LINE__, #cond))

/* The maximum of each watched at a time; one more is a finding. */
enum { EDDY_TEST_SEMAPHORES_MAX = 64, EDDY_TEST_QUEUES_MAX = 64 };

/*
 * Watch the units of a semaphore in the present run: a unit that was taken and not
 * given back by the end of the run is a finding, with the task and the place of
 * the call that took it.  Semaphores with EDDY_SEMAPHORE_BOUNDED are always
 * watched.  Must be called before the semaphore's first use; the semaphore need
 * not exist at the end of the run.
 *
 * Suspends: no.  Does nothing outside a run.
 */
EDDY_API void eddy_test_watch_semaphore(eddy_semaphore *sem);

/*
 * Check a queue when it is ended, by eddy_queue_fini() or with the run: items left
 * in the queue are a finding, and so are unprocessed items if
 * eddy_queue_task_done() or eddy_queue_join() was called for the queue.
 *
 * Suspends: no.  Does nothing outside a run.
 * Owns: borrows 'queue' until eddy_queue_fini(), else until the run has ended.
 */
EDDY_API void eddy_test_watch_queue(eddy_queue *queue);

/*
 * Called by the kit at each fault, and does nothing: a place for a debugger's
 * breakpoint (see docs/testing.md).  'what' is "cancel", "allocation" or "call".
 * The stack is that of the failing allocation or call; for a cancel, that of the
 * task that suspended last.
 *
 * Suspends: no.
 */
EDDY_API void eddy_test_strike(const char *what);

EDDY_END_DECLS

#endif
