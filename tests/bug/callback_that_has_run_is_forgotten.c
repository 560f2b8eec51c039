/*
 * A callback that was scheduled before the run began is not touched once it
 * has run.  A deadline that passed in the first turn looked at it again, and
 * called it again if its memory was still there.
 */
#include <eddy/eddy.h>
#include <errno.h>

#include "test.h"

static int count_up(void *arg)
{
        ++*(int *) arg;
        return 0;
}

static int misses_a_deadline(void *arg)
{
        struct eddy_scope_opts opts = { .timeout_ns = 1 };
        int64_t begin_ns = eddy_now();
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, &opts);
        while (eddy_now() < begin_ns + EDDY_US(10))
                continue;
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
        return eddy_scope_end(&scope);
}

TEST(a_callback_from_before_the_run_is_made_once)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_WATCHDOG };
        eddy_handle handles[2] = { 0 };
        eddy_loop *loop;
        int calls = 0;

        CHECK_EQ(eddy_loop_new(&opts, &loop), 0);
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_loop_call_soon(loop, &handles[i], count_up, &calls), 0);
        CHECK_EQ(eddy_loop_run(loop, misses_a_deadline, NULL), -ETIMEDOUT);
        CHECK_EQ(calls, 2);
        CHECK_EQ(eddy_loop_close(loop), 0);
}
