/*
 * test_gather.c - eddy_gather(): order, failing fast, keeping going, cancel.
 */
#include "sim_run.h"
#include "starve.h"

struct call {
        int64_t sleep_ns;
        int result;
};

static int run(void *arg)
{
        const struct call *call = arg;
        int err = eddy_sleep(call->sleep_ns);

        return err < 0 ? err : call->result;
}

static int run_on(void *arg)
{
        const struct call *call = arg;

        (void) eddy_sleep(call->sleep_ns);
        return call->result;
}

/* A76: none is fine; results stand in the order of the calls, however they finish. */
SIM_TEST(results_are_in_the_order_of_the_calls)
{
        struct call args[3] = { { 30 * MS, 1 }, { 10 * MS, 2 }, { 20 * MS, 3 } };
        struct eddy_call calls[3];
        int64_t begun = eddy_now();

        CHECK_EQ(eddy_gather(NULL, 0, 0), 0);
        CHECK_EQ(eddy_gather(NULL, 0, EDDY_GATHER_KEEP_GOING), 0);
        for (int i = 0; i < 3; i++)
                calls[i] = (struct eddy_call){ .fn = run, .arg = &args[i] };
        CHECK_EQ(eddy_gather(calls, 3, 0), 0);
        CHECK_NS(eddy_now() - begun, 30 * MS);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(calls[i].result, i + 1);
}

/* A77: the first failure cancels the others and is returned. */
SIM_TEST(the_first_failure_ends_all)
{
        struct call args[3] = { { EDDY_SEC(30), 1 }, { 10 * MS, -EIO }, { 5 * MS, 3 } };
        struct eddy_call calls[3];
        int64_t begun = eddy_now();

        for (int i = 0; i < 3; i++)
                calls[i] = (struct eddy_call){ .fn = run, .arg = &args[i] };
        CHECK_EQ(eddy_gather(calls, 3, 0), -EIO);
        CHECK_NS(eddy_now() - begun, 10 * MS);
        CHECK_EQ(calls[0].result, -ECANCELED);
        CHECK_EQ(calls[1].result, -EIO);
        CHECK_EQ(calls[2].result, 3);
        CHECK_EQ(eddy_sleep(MS), 0);
}

/* A77, A78: kept going, failures and cancels are results like others. */
SIM_TEST(kept_going_all_run_to_their_end)
{
        struct call args[3] = { { 30 * MS, 1 }, { 10 * MS, -EIO }, { 20 * MS, -ECANCELED } };
        struct eddy_call calls[3];

        for (int i = 0; i < 3; i++)
                calls[i] = (struct eddy_call){ .fn = run, .arg = &args[i] };
        CHECK_EQ(eddy_gather(calls, 3, EDDY_GATHER_KEEP_GOING), 0);
        CHECK_EQ(calls[0].result, 1);
        CHECK_EQ(calls[1].result, -EIO);
        CHECK_EQ(calls[2].result, -ECANCELED);
}

/* A79: whoever is cancelled while it gathers gets that, kept going or not; the calls are its own. */
SIM_TEST(cancelled_while_waiting_the_calls_are_cancelled_too)
{
        for (unsigned flags = 0; flags <= EDDY_GATHER_KEEP_GOING; flags++) {
                struct call args[2] = { { EDDY_SEC(9), 1 }, { EDDY_SEC(9), 2 } };
                struct eddy_call calls[2] = { { run, &args[0], 0 }, { run_on, &args[1], 0 } };
                eddy_scope scope;

                eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS });
                CHECK_EQ(eddy_gather(calls, 2, flags), -ECANCELED);
                CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
                CHECK_EQ(calls[0].result, -ECANCELED);
                CHECK_EQ(calls[1].result, 2);
        }
}

SIM_TEST(in_a_cancelled_scope_no_call_starts)
{
        struct call arg = { 0, 5 };
        struct eddy_call calls[2] = { { run, &arg, 7 }, { run, &arg, 7 } };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_gather(calls, 2, 0), -ECANCELED);
        CHECK_EQ(calls[0].result, -ECANCELED);
        CHECK_EQ(calls[1].result, -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int gathers_too_many(void *arg)
{
        enum { MANY = 3000 };
        struct call call = { EDDY_SEC(1), 5 };
        struct eddy_call *calls = calloc(MANY, sizeof(*calls));

        for (unsigned flags = 0; flags <= EDDY_GATHER_KEEP_GOING; flags++) {
                for (int i = 0; i < MANY; i++)
                        calls[i] = (struct eddy_call){ run, &call, 7 };
                allocations_left = 0;
                CHECK_EQ(eddy_gather(calls, MANY, flags), -ENOMEM);
                allocations_left = -1;
                for (int i = 0; i < MANY; i++)
                        CHECK_EQ(calls[i].result, -ECANCELED);
        }
        free(calls);
        (void) arg;
        return 0;
}

TEST(no_memory_for_all_calls_is_enomem_and_cancels_those_that_started)
{
        eddy_alloc_set(starve, NULL);
        CHECK_EQ(sim_run(gathers_too_many, NULL), 0);
}

/* --- in the corners --- */

static int cancels_itself(void *arg)
{
        (void) arg;
        eddy_task_cancel(eddy_task_current());
        return eddy_sleep(MS);
}

/* A78: a call that is cancelled by itself is no failure: it stands in its result, the others go on. */
SIM_TEST(a_call_that_is_cancelled_by_itself_is_not_a_failure)
{
        for (unsigned flags = 0; flags <= EDDY_GATHER_KEEP_GOING; flags++) {
                struct call arg = { 10 * MS, 7 };
                struct eddy_call calls[2] = { { cancels_itself, NULL, 1 }, { run, &arg, 1 } };

                CHECK_EQ(eddy_gather(calls, 2, flags), 0);
                CHECK_EQ(calls[0].result, -ECANCELED);
                CHECK_EQ(calls[1].result, 7);
        }
}

struct gatherer {
        struct call arg;
        unsigned flags;
        eddy_task *self;
        bool cancels;
        int result, later;
};

static int ends_gather(void *arg)
{
        struct gatherer *g = arg;

        CHECK_EQ(eddy_sleep(10 * MS), 0);
        if (g->cancels)
                eddy_task_cancel(g->self);
        return 5;
}

static int gathers(void *arg)
{
        struct gatherer *g = arg;
        struct eddy_call call = { ends_gather, g, 1 };

        g->self = eddy_task_current();
        g->result = eddy_gather(&call, 1, g->flags);
        CHECK_EQ(call.result, 5);
        g->later = eddy_sleep(0);
        return g->later;
}

/* A79, A32: all calls were done when the cancel came: too late for it, which shows at the next call. */
SIM_TEST(a_cancel_after_the_last_call_has_ended_comes_too_late)
{
        for (unsigned flags = 0; flags <= EDDY_GATHER_KEEP_GOING; flags++) {
                struct gatherer g = { .flags = flags, .cancels = true, .result = 1, .later = 1 };
                eddy_scope scope;

                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_scope_start(&scope, gathers, &g), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK_EQ(g.result, 0);
                CHECK_EQ(g.later, -ECANCELED);
        }
}

static int counts(void *arg)
{
        ++*(int *) arg;
        return 0;
}

/* A76: calls, not awaitables: the same function and argument twice is called twice. */
SIM_TEST(the_same_call_twice_is_made_twice)
{
        int times = 0;
        struct eddy_call calls[2] = { { counts, &times, 1 }, { counts, &times, 1 } };

        CHECK_EQ(eddy_gather(calls, 2, 0), 0);
        CHECK_EQ(times, 2);
}

/* A77: failures after the first, kept going or not, are reported in the calls and nowhere else. */
SIM_TEST(later_failures_are_in_their_calls)
{
        struct call args[2] = { { MS, -EIO }, { EDDY_SEC(9), -EPERM } };
        struct eddy_call calls[2] = { { run, &args[0], 1 }, { run_on, &args[1], 1 } };

        CHECK_EQ(eddy_gather(calls, 2, 0), -EIO);
        CHECK_EQ(calls[1].result, -EPERM);
        CHECK_EQ(eddy_sleep(MS), 0);
}

/* A79, A68: a call that fails in the cleanup of a cancel: fail fast gives that, kept going the cancel. */
SIM_TEST(a_failure_in_cleanup_beats_the_cancel_unless_kept_going)
{
        for (unsigned flags = 0; flags <= EDDY_GATHER_KEEP_GOING; flags++) {
                struct call arg = { EDDY_SEC(9), -EIO };
                struct eddy_call call = { run_on, &arg, 1 };
                eddy_scope scope;

                eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS });
                CHECK_EQ(eddy_gather(&call, 1, flags), flags ? -ECANCELED : -EIO);
                CHECK_EQ(call.result, -EIO);
                CHECK_EQ(eddy_sleep(0), -ECANCELED);
                CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        }
}
