/*
 * eddy/test_explore.h - every outcome of a program: what it does in each order of its tasks.
 *
 *     struct eddy_test_explored all;
 *
 *     assert(eddy_test_explore(buy_seats, NULL, NULL, NULL, &all) == 0);
 *     assert(all.complete && all.outcomes_count == 1);
 *     eddy_test_explored_fini(&all);
 *
 * Tasks run until they suspend, so an order is the choices at the choice points: the points
 * of a run at which more than one task, or callback of the loop, is ready.  By default the
 * first of them runs, which has been ready longest.  A schedule is a list of deviations, of
 * choice points at which another one runs.  The exploration runs the schedule without
 * deviations, then all with one, then all with two, and so on.
 *
 * Library eddy-test; see eddy/test.h for runs, their options and replay.
 */
#ifndef EDDY_TEST_EXPLORE_H
#define EDDY_TEST_EXPLORE_H

#include "eddy/def.h"
#include "eddy/task.h"
#include "eddy/test.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_TEST_DEVIATIONS_MAX = 32,      /* in a schedule */
        EDDY_TEST_OUTCOMES_MAX = 256,       /* outcomes; runs with others are only counted */
        EDDY_TEST_OUTPUT_MAX = 65536,       /* bytes of output that are compared */
        EDDY_TEST_CHOICE_POINTS_MAX = 4096, /* of a run; at later ones the first runs */
        EDDY_TEST_CHOICES_MAX = 8, /* entries to choose among: the first 8 that are ready */
        EDDY_TEST_SCHEDULES_BYTES = 1 << 25, /* memory for schedules that may be extended */
};

/* All zero is the default. */
struct eddy_test_explore_opts {
        uint32_t deviations_max EDDY_UNSET; /* 0: 3; at most EDDY_TEST_DEVIATIONS_MAX */
        int quiet EDDY_UNSET;               /* print nothing */
        uint64_t runs_max EDDY_UNSET;       /* of schedules; 0: 10,000 */
        uint64_t seeds EDDY_UNSET; /* then this number of runs in random orders, from seed 1 on */

        /*
         * Called at the end of each run, after 'after': the program writes a string that names the
         * outcome, instead of the run's output.  May be NULL.  'buf' holds the empty string and
         * has room for 'bytes'.
         */
        void (*outcome)(void *arg, char *buf, size_t bytes) EDDY_UNSET;
        uintptr_t reserved[8] EDDY_UNSET; /* zero */
};

/* An outcome: runs with equal 'text', 'result' and 'problem'. */
struct eddy_test_outcome {
        const char *text; /* output on stdout, or named by 'outcome'; a NUL follows */
        size_t text_bytes;
        const char *problem; /* the findings of the kit, as in eddy_test_result; or "" */
        int result;          /* of the main task */
        uint64_t runs;       /* that had this outcome */

        /* The first of the shortest schedules that have this outcome. */
        uint32_t deviations, choices; /* number of deviations, and of choice points in the run */
        char replay[512];             /* its replay string */
        uintptr_t reserved[4];
};

struct eddy_test_explored {
        struct eddy_test_outcome *outcomes; /* in the order in which they were found */
        size_t outcomes_count;
        uint64_t runs;       /* in all */
        uint64_t schedules;  /* of them, runs of schedules; the others had seeds */
        uint64_t other_runs; /* of them, with outcomes beyond EDDY_TEST_OUTCOMES_MAX */
        uint64_t choices;    /* the most choice points in a run */
        uint32_t deviations; /* all schedules with at most this number were run */
        int complete;        /* all schedules were run: no limit has cut any */
        int is_replay;       /* EDDY_TEST_REPLAY is set: these are the numbers of one run or none */
        uintptr_t reserved[8];
};

/*
 * Run main_fn in many orders of its tasks, and group the runs by their outcomes: what a
 * run wrote to standard output (descriptor 1, stdout is flushed), the result of main_fn, and
 * the findings of the kit (a deadlock, a failed EDDY_TEST_CHECK(), a leak ...), which are
 * outcomes like others and do not stop the exploration.  The first EDDY_TEST_OUTPUT_MAX
 * bytes of the output count, and are not written to standard output.
 *
 * 'opts', 'explore_opts' and 'ret_explored' may be NULL.  opts->order is ignored;
 * opts->seed decides randomness other than the order; faults happen in each run.  The
 * program must be the same in each run: let opts->before reset its state.  Equal programs
 * and options give equal results and lines.
 *
 * Prints a line on standard error for each outcome, and one for all:
 *
 *     eddy_test: race: outcome 2 of 2, in 4 of 6 runs: "seats -1": again with
 *             EDDY_TEST_REPLAY='race:order=2/2'        (on the same line)
 *     eddy_test: race: 2 outcomes in 6 runs: all schedules
 *
 * A replay string 'NAME:order=3/2.7/3' means: at choice point 3 the second of the ready
 * tasks runs, at point 7 the third, and the first at all others.  'NAME:order=0' is the
 * schedule without deviations.  An outcome that only a seed has is replayed by that
 * seed.  If a run ends the process (assert(), a signal), its replay string and its output are
 * printed.
 *
 * With EDDY_TEST_REPLAY this function makes only that run, and prints its outcome; it makes
 * none if the string has another name.  eddy_test_sweep() accepts these strings too, and
 * eddy_test_run() accepts such an order in its options.
 *
 * Suspends: no; called where eddy_run() would be.
 * Owns: the caller calls eddy_test_explored_fini(), unless an error is returned.
 * Errors: EDDY_E_TEST_FOUND  a choice point of an earlier run was not reached again: the
 *                            program is not deterministic, or not the one of EDDY_TEST_REPLAY
 *         -EINVAL            deviations_max or EDDY_TEST_REPLAY is not valid
 *         -ENOMEM
 *         those of eddy_test_run() before the run, and of memfd_create(2)
 * Threads: as eddy_test_run().
 */
EDDY_API int eddy_test_explore(eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts,
                               const struct eddy_test_explore_opts *explore_opts,
                               struct eddy_test_explored *ret_explored);

/* Free the outcomes.  NULL and a zeroed struct are fine.  Suspends: no. */
EDDY_API void eddy_test_explored_fini(struct eddy_test_explored *explored);

EDDY_END_DECLS

#endif
