/*
 * test_oom.c - every allocation made to fail: the Nth alone, and the Nth with
 * all after it.  The program goes on or says so; nothing crashes, leaks or
 * hangs.
 */
#include <errno.h>

#include "scenario.h"
#include "test.h"

enum { SAMPLE = 25 };

static void sweep(const char *name, eddy_task_fn *main_fn)
{
        struct setup setup = { 0 };
        uint64_t count, tried = 0, failed = 0, harmless = 0;
        struct outcome outcome;

        scenario_run(main_fn, &setup, &outcome);
        CHECK_EQ(outcome.result, 0);
        count = outcome.allocations;
        CHECK(count > 0);
        for (int forever = 0; forever < 2; forever++) {
                for (uint64_t n = 0; (n = sweep_next(n, count, SAMPLE));) {
                        setup.alloc_fail = n;
                        setup.alloc_forever = forever;
                        scenario_run(main_fn, &setup, &outcome);
                        /* The run is the same up to there. */
                        CHECK(outcome.alloc_failed > 0);
                        tried++;
                        if (outcome.result == 0)
                                harmless++;
                        else
                                failed++;
                        CHECK(outcome.result <= 0);
                }
        }
        CHECK(failed > 0);
        printf("# %s: %llu allocations, %llu runs, %llu failed and said so, %llu did without\n",
               name, (unsigned long long) count, (unsigned long long) tried,
               (unsigned long long) failed, (unsigned long long) harmless);
}

#define SWEEP(name)                                                                                \
        TEST(no_memory_in_##name)                                                                  \
        {                                                                                          \
                sweep(#name, scenario_##name);                                                     \
        }
SCENARIOS(SWEEP)
