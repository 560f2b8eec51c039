/*
 * test_calls.c - every call of the table that can fail made to fail, once
 * each with several errors.
 */
#include <errno.h>

#include "scenario.h"
#include "test.h"

enum { SAMPLE = 25 };

static void sweep(const char *name, eddy_task_fn *main_fn)
{
        static const int errors[] = { -ENOBUFS, -EMFILE, -ECONNRESET, -EIO };
        struct setup setup = { 0 };
        uint64_t count, tried = 0, failed = 0;
        struct outcome outcome;

        scenario_run(main_fn, &setup, &outcome);
        CHECK_EQ(outcome.result, 0);
        count = outcome.end.calls;
        CHECK(count > 0);
        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
                for (uint64_t n = 0; (n = sweep_next(n, count, SAMPLE));) {
                        setup.call_fail = n;
                        setup.call_error = errors[i];
                        scenario_run(main_fn, &setup, &outcome);
                        CHECK_EQ(outcome.end.faults, 1);
                        CHECK(outcome.result <= 0);
                        tried++;
                        failed += outcome.result < 0;
                }
        }
        CHECK(failed > 0);
        printf("# %s: %llu calls, %llu runs, %llu failed and said so\n", name,
               (unsigned long long) count, (unsigned long long) tried, (unsigned long long) failed);
}

#define SWEEP(name)                                                                                \
        TEST(failing_calls_in_##name)                                                              \
        {                                                                                          \
                sweep(#name, scenario_##name);                                                     \
        }
SWEEP(threads)
NET_SCENARIOS(SWEEP)
SIM_SCENARIOS(SWEEP)
