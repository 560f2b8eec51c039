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
        static const int ways[] = { EDDY_TEST_ALLOC, EDDY_TEST_ALLOC_FOREVER };
        struct eddy_test_sweep told = { 0 };
        uint64_t tried = 0, failed = 0;

        for (int i = 0; i < 2; i++) {
                told = scenario_sweep(name, main_fn, ways[i], (struct ed_sim_opts){ 0 }, SAMPLE);
                tried += told.tried;
                failed += told.failed;
        }
        CHECK(failed > 0 || getenv("EDDY_TEST_REPLAY"));
        printf("# %s: %llu allocations, %llu runs, %llu failed and said so, %llu did without\n",
               name, (unsigned long long) told.count, (unsigned long long) tried,
               (unsigned long long) failed, (unsigned long long) (tried - failed));
}

#define SWEEP(name)                                                                                \
        TEST(no_memory_in_##name)                                                                  \
        {                                                                                          \
                sweep(#name, scenario_##name);                                                     \
        }
SCENARIOS(SWEEP)
