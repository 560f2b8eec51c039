/*
 * scenario.h - small whole programs that use everything, and ways to run them
 * with something going wrong.
 *
 * A scenario checks its own results.  Whatever is done to it, it ends; and
 * what it took it gives back.  It returns 0 only if all of it was done.
 */
#ifndef ED_SCENARIO_H
#define ED_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "eddy/task.h"
#include "eddy/test.h"
#include "sim/sim.h"

/* The name of each; its main task is scenario_<name>(). */
#define CORE_SCENARIOS(X)                                                                          \
        X(nothing)                                                                                 \
        X(scopes)                                                                                  \
        X(copies)                                                                                  \
        X(timeouts)                                                                                \
        X(failures)                                                                                \
        X(handles)                                                                                 \
        X(queue)                                                                                   \
        X(bounded_queue)                                                                           \
        X(gather)                                                                                  \
        X(race)                                                                                    \
        X(blocks)                                                                                  \
        X(background)                                                                              \
        X(semaphore)                                                                               \
        X(threads)

#define SYNC_SCENARIOS(X)                                                                          \
        X(locks)                                                                                   \
        X(events)                                                                                  \
        X(conditions)                                                                              \
        X(barriers)

#define WAIT_SCENARIOS(X)                                                                          \
        X(select)                                                                                  \
        X(waits)                                                                                   \
        X(completed)                                                                               \
        X(priority_queue)

#define VALUE_SCENARIOS(X)                                                                         \
        X(futures)                                                                                 \
        X(generators)                                                                              \
        X(variables)

#define CROSS_SCENARIOS(X)                                                                         \
        X(callbacks)                                                                               \
        X(channel)                                                                                 \
        X(remote)

#define NET_SCENARIOS(X)                                                                           \
        X(echo)                                                                                    \
        X(names)                                                                                   \
        X(resets)                                                                                  \
        X(idle)                                                                                    \
        X(half_closed)                                                                             \
        X(datagrams)                                                                               \
        X(http)                                                                                    \
        X(http_hasty)                                                                              \
        X(http_both_ways)

/* Those that need what only a simulation has: names and addresses of their own. */
#define SIM_SCENARIOS(X)                                                                           \
        X(races)                                                                                   \
        X(served)                                                                                  \
        X(routed)                                                                                  \
        X(descriptors)                                                                             \
        X(signals)                                                                                 \
        X(files)                                                                                   \
        X(service)                                                                                 \
        X(https)

#define SCENARIOS(X)                                                                               \
        CORE_SCENARIOS(X)                                                                          \
        SYNC_SCENARIOS(X)                                                                          \
        WAIT_SCENARIOS(X)                                                                          \
        VALUE_SCENARIOS(X)                                                                         \
        CROSS_SCENARIOS(X)                                                                         \
        NET_SCENARIOS(X)                                                                           \
        SIM_SCENARIOS(X)

/* Letters: byte 'i' of them all is 'a' + i % 26. Write those from 'at' on; whether they are those from 'at' on. */
void letters_fill(char *buf, size_t at, size_t n);
bool letters_are(const char *buf, size_t at, size_t n);

/* The bytes that each client of 'http_both_ways' sends, and gets back at the same time. */
extern size_t scenario_upload_bytes;

#define SCENARIO_DECLARE(name) eddy_task_fn scenario_##name;
SCENARIOS(SCENARIO_DECLARE)
#undef SCENARIO_DECLARE

/* What is done to a scenario.  All zero: nothing. */
struct setup {
        const char *name; /* NULL: "scenario" */
        struct ed_sim_opts sim;
        bool on_epoll; /* else on the simulation */
        size_t transfer_max;
        uint64_t alloc_fail; /* fail that allocation, 1 the first */
        bool alloc_forever;  /* and all after it */
        uint64_t call_fail;  /* fail that fallible call of the table */
        int call_error;
        uint64_t cancel_at;                   /* cancel the main task at that scheduling point */
        bool (*at_point)(void);               /* called at each; whether it made something ready */
        void (*at_table)(struct ed_sys *sys); /* called when the table is made */
        int cut;                              /* ED_SIM_CUT_*: each connection */
        bool cut_server;    /* counting what who accepted sends, else who connected */
        uint64_t cut_bytes; /* after so many bytes */
};

/* What came of it. */
struct outcome {
        int result;
        uint64_t allocations;  /* asked for */
        uint64_t alloc_failed; /* of them */
        uint64_t points;       /* scheduling points: a task is chosen, or the loop polls */
        uint64_t parks;        /* calls that had to wait */
        uint64_t order;        /* a hash of what was chosen at each point, whenever that was */
        struct ed_sim_end end; /* of the simulation */
};

/* Run main_fn and check what holds whatever happens: it ends, and nothing is left. */
void scenario_run(eddy_task_fn *main_fn, const struct setup *setup, struct outcome *ret_outcome);

/*
 * A sweep of the kit over a scenario, printed in a line: EDDY_TEST_CANCEL and so
 * on, at most 'sample' of what there is.  Stops the case when it finds
 * something.  Returns what it came to.
 */
struct eddy_test_sweep scenario_sweep(const char *name, eddy_task_fn *main_fn, int what,
                                      struct ed_sim_opts sim, uint64_t sample);

/* Whether all of a sweep is asked for (EDDY_TEST_FULL, without EDDY_TEST_QUICK). */
bool sweep_is_full(void);

/*
 * The points of a sweep over 1 .. count: all, or 'sample' of them spread
 * evenly with the first and the last.  Begin with 0; returns 0 at the end.
 */
uint64_t sweep_next(uint64_t at, uint64_t count, uint64_t sample);

/*
 * Whether one task of the run was cancelled alone (EDDY_TEST_CANCEL_TASK): what
 * that one was to do need not be done, though nothing else went wrong.
 */
bool one_was_cancelled(void);

/* Whether something is made to go wrong in the run: a cancel, an allocation, a call or a cut. */
bool is_disturbed(void);

/* Tasks that began and ended, of all scopes of the scenario; both 0 at its begin. */
extern int tasks_begun, tasks_ended;

/* Jobs that were asked for, and that were over and done with, on whatever thread; likewise. */
extern _Atomic int jobs_called, jobs_released;

#endif
