/*
 * test_modes.c - debug mode changes nothing that is counted: each scenario has
 * the same suspension points, allocations, calls and order of tasks with it and
 * without, as it is, under seeds, and when something is done to it.  So a
 * string for EDDY_TEST_REPLAY means the same run in both.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "scenario.h"
#include "test.h"

enum { SEEDS = 5, TIMES = 7 };

static unsigned runs;

static struct outcome run_in(const char *mode, eddy_task_fn *fn, const struct setup *setup)
{
        struct outcome outcome;

        CHECK_EQ(setenv("EDDY_DEBUG", mode, 1), 0);
        scenario_run(fn, setup, &outcome);
        runs++;
        return outcome;
}

/* Returns what both came to. */
static struct outcome same_in_both(eddy_task_fn *fn, const struct setup *setup)
{
        struct outcome plain = run_in("0", fn, setup), debug = run_in("1", fn, setup);

        CHECK_EQ(debug.result, plain.result);
        CHECK_EQ(debug.points, plain.points);
        CHECK_EQ(debug.allocations, plain.allocations);
        CHECK_EQ(debug.alloc_failed, plain.alloc_failed);
        CHECK_EQ(debug.parks, plain.parks);
        CHECK_EQ(debug.order, plain.order);
        CHECK_EQ(debug.end.calls, plain.end.calls);
        CHECK_EQ(debug.end.trace, plain.end.trace);
        CHECK_EQ(debug.end.lasted_ns, plain.end.lasted_ns);
        return plain;
}

static void sweep(const char *name, eddy_task_fn *fn)
{
        struct setup setup = { .name = name };
        struct outcome as_it_is = same_in_both(fn, &setup);

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                struct setup seeded = { .name = name, .sim.seed = seed };

                (void) same_in_both(fn, &seeded);
        }
        for (uint64_t n = 0; (n = sweep_next(n, as_it_is.points, TIMES));) {
                struct setup cancelled = { .name = name, .cancel_at = n };

                (void) same_in_both(fn, &cancelled);
        }
        for (uint64_t n = 0; (n = sweep_next(n, as_it_is.allocations, TIMES));) {
                struct setup starved = { .name = name, .alloc_fail = n, .alloc_forever = n % 2 };

                (void) same_in_both(fn, &starved);
        }
        for (uint64_t n = 0; (n = sweep_next(n, as_it_is.end.calls, TIMES));) {
                struct setup failed = { .name = name, .call_fail = n, .call_error = -ENOBUFS };

                (void) same_in_both(fn, &failed);
        }
        printf("# %s: %u runs\n", name, runs);
}

#define SAME(name)                                                                                 \
        TEST(debug_mode_changes_no_number_of_##name)                                               \
        {                                                                                          \
                sweep(#name, scenario_##name);                                                     \
        }
SCENARIOS(SAME)
