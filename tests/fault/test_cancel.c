/*
 * test_cancel.c - the main task cancelled at every scheduling point: whenever
 * a task is chosen to run, and whenever the loop polls.  That is at each wait,
 * before it begins, while it lasts, and between its end and the task's turn.
 */
#include <errno.h>

#include "scenario.h"
#include "test.h"

enum { SAMPLE = 100 };

static void sweep(const char *name, eddy_task_fn *main_fn, struct ed_sim_opts sim)
{
        struct setup setup = { .sim = sim };
        struct outcome outcome;
        struct eddy_test_sweep figures;

        scenario_run(main_fn, &setup, &outcome);
        CHECK_EQ(outcome.result, 0);
        /*
         * A result that was there wins; else it was asked to stop, and nothing
         * else went wrong because of that.
         */
        figures = scenario_sweep(name, main_fn, EDDY_TEST_CANCEL, sim, SAMPLE);
        printf("# %s: %llu scheduling points, %llu waits, cancelled at %llu, stopped by %llu\n",
               name, (unsigned long long) figures.count, (unsigned long long) outcome.parks,
               (unsigned long long) figures.tried, (unsigned long long) figures.failed);
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
