/*
 * test_cancel.c - the main task cancelled at every scheduling point: whenever
 * a task is chosen to run, and whenever the loop polls.  That is at each wait,
 * before it begins, while it lasts, and between its end and the task's turn.
 */
#include <errno.h>

#include "scenario.h"
#include "test.h"

enum { SAMPLE = 400 };

static void sweep(const char *name, eddy_task_fn *main_fn, struct ed_sim_opts sim)
{
        struct setup setup = { .sim = sim };
        uint64_t count, parks, tried = 0, cancelled = 0;
        struct outcome outcome;

        scenario_run(main_fn, &setup, &outcome);
        CHECK_EQ(outcome.result, 0);
        count = outcome.points;
        parks = outcome.parks;
        for (uint64_t n = 0; (n = sweep_next(n, count, SAMPLE));) {
                setup.cancel_at = n;
                scenario_run(main_fn, &setup, &outcome);
                /*
                 * What was there already wins; else it was told to stop, and
                 * nothing else went wrong because of that.
                 */
                CHECK(outcome.result == 0 || outcome.result == -ECANCELED);
                tried++;
                cancelled += outcome.result == -ECANCELED;
        }
        printf("# %s: %llu scheduling points, %llu waits, cancelled at %llu, stopped by %llu\n",
               name, (unsigned long long) count, (unsigned long long) parks,
               (unsigned long long) tried, (unsigned long long) cancelled);
}

#define SWEEP(name)                                                                                \
        TEST(cancel_at_every_point_of_##name)                                                      \
        {                                                                                          \
                sweep(#name, scenario_##name, (struct ed_sim_opts){ 0 });                          \
        }                                                                                          \
        TEST(cancel_at_every_point_of_late_and_chopped_##name)                                     \
        {                                                                                          \
                sweep(#name, scenario_##name,                                                      \
                      (struct ed_sim_opts){ .seed = 1,                                             \
                                            .latency_ns = 1000000,                                 \
                                            .jitter_ns = 5000000,                                  \
                                            .chop = true });                                       \
        }
SCENARIOS(SWEEP)
