/*
 * test_cancel_task.c - one task of a scenario cancelled alone, each task in
 * turn: before it has begun, as it begins to wait, and between the end of its
 * wait and its turn.  All others go on; what that task was to do they do without
 * or do not wait for.
 */
#include "scenario.h"
#include "test.h"

enum { SAMPLE = 100, SEEDS_FULL = 8 };

static void sweep(const char *name, eddy_task_fn *main_fn, struct ed_sim_opts sim)
{
        struct eddy_test_sweep figures =
                scenario_sweep(name, main_fn, EDDY_TEST_CANCEL_TASK, sim, SAMPLE);

        printf("# %s: %llu points of %llu tasks, cancelled at %llu, %llu ended main with an error, "
               "%llu distinct traces\n",
               name, (unsigned long long) figures.count, (unsigned long long) figures.tasks,
               (unsigned long long) figures.tried, (unsigned long long) figures.failed,
               (unsigned long long) figures.distinct);
        CHECK(figures.tasks > 0 && figures.tried > 0);
}

/* In full, by several orders of tasks. */
static void sweep_seeds(const char *name, eddy_task_fn *main_fn, struct ed_sim_opts sim)
{
        for (sim.seed = 1; sim.seed <= (sweep_is_full() ? SEEDS_FULL : 1); sim.seed++)
                sweep(name, main_fn, sim);
}

#define SWEEP(name)                                                                                \
        TEST(cancel_each_task_of_##name)                                                           \
        {                                                                                          \
                sweep(#name, scenario_##name, (struct ed_sim_opts){ 0 });                          \
        }                                                                                          \
        TEST(cancel_each_task_of_late_and_chopped_##name)                                          \
        {                                                                                          \
                sweep_seeds(#name, scenario_##name,                                                \
                            (struct ed_sim_opts){                                                  \
                                    .latency_ns = 1000000, .jitter_ns = 5000000, .chop = true });  \
        }
SCENARIOS(SWEEP)
