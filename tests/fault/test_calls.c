/*
 * test_calls.c - every call of the table that can fail made to fail, once with
 * each error that such a call may give.  An error is said or done without;
 * what passes (an interruption, a wake for nothing, a short transfer) is not
 * to be noticed.
 */
#include <errno.h>

#include "scenario.h"
#include "test.h"

enum { CALLS_MAX = 16384, SEEDS_FULL = 8 };

struct sum {
        uint64_t calls, pairs, failed, unnoticed, without;
};

/* Run it with call 'n' failing by 'error'. */
static void fail_call(eddy_task_fn *main_fn, const struct ed_sim_opts *sim, uint64_t n,
                      enum ed_sim_call call, int error, struct sum *sum)
{
        struct setup setup = { .sim = *sim, .call_fail = n, .call_error = error };
        struct outcome outcome;

        scenario_run(main_fn, &setup, &outcome);
        CHECK_EQ(outcome.end.faults, 1);
        CHECK(outcome.result <= 0);
        sum->pairs++;
        if (ed_sim_is_passing(call, error)) {
                CHECK_EQ(outcome.result, 0);
                sum->unnoticed++;
        } else if (outcome.result < 0) {
                sum->failed++;
        } else {
                sum->without++;
        }
}

/* All calls of a run that is as 'sim' says. */
static void sweep_calls(eddy_task_fn *main_fn, const struct ed_sim_opts *sim, struct sum *sum)
{
        static uint8_t kinds[CALLS_MAX];
        struct setup setup = { .sim = *sim };
        struct outcome outcome;

        setup.sim.kinds = kinds;
        setup.sim.kinds_max = CALLS_MAX;
        scenario_run(main_fn, &setup, &outcome);
        CHECK_EQ(outcome.result, 0);
        CHECK(outcome.end.calls <= CALLS_MAX);
        sum->calls += outcome.end.calls;
        for (uint64_t n = 1; n <= outcome.end.calls; n++) {
                enum ed_sim_call call = (enum ed_sim_call) kinds[n - 1];
                const int *errors = ed_sim_call_errors(call);

                for (int i = 0; errors[i]; i++)
                        fail_call(main_fn, sim, n, call, errors[i], sum);
        }
}

static void sweep(const char *name, eddy_task_fn *main_fn)
{
        struct ed_sim_opts sim = { 0 };
        struct sum sum = { 0 };

        sweep_calls(main_fn, &sim, &sum);
        for (sim.seed = 1; sim.seed <= SEEDS_FULL && sweep_is_full(); sim.seed++) {
                sim.latency_ns = (int64_t) sim.seed * 300000;
                sim.jitter_ns = 1000000;
                sim.chop = true;
                sweep_calls(main_fn, &sim, &sum);
        }
        printf("# R2: %s: %llu calls, %llu pairs of call and error, %llu failed and said so, "
               "%llu did without, %llu passed unnoticed\n",
               name, (unsigned long long) sum.calls, (unsigned long long) sum.pairs,
               (unsigned long long) sum.failed, (unsigned long long) sum.without,
               (unsigned long long) sum.unnoticed);
}

#define SWEEP(name)                                                                                \
        TEST(failing_calls_in_##name)                                                              \
        {                                                                                          \
                sweep(#name, scenario_##name);                                                     \
        }
SCENARIOS(SWEEP)
