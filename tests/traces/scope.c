/*
 * scope.c - groups of tasks: who is cancelled by whom, and what a scope says.
 */
#include "trace.h"

static int fails(void *arg)
{
        (void) arg;
        return -EIO;
}

static int fails_when_cancelled(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_SEC(10)) < 0 ? -ENOENT : 0;
}

/* A64, A66, A69: both failures are reported, and no cancel is left when the scope has ended. */
TRACE_TEST(E22_a_failure_in_cleanup_is_reported_too)
{
        struct eddy_scope_errors errors;
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .errors = &errors });
        eddy_scope_start(&scope, fails, NULL);
        eddy_scope_start(&scope, fails_when_cancelled, NULL);
        trace("body: %s", word(eddy_sleep(EDDY_SEC(10))));
        err = eddy_scope_end(&scope);
        CHECK_EQ(errors.count, 2);
        CHECK_EQ(err, errors.list[0].result);
        trace("scope: %s, %s", word(err), word(errors.list[1].result));
        trace("next call: %s", word(eddy_sleep(0)));
}

/* A33, A71: a body that goes on is cancelled again, and the failure is the scope's result. */
TRACE_TEST(E23_a_body_cannot_swallow_the_cancel_of_its_scope)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, fails, NULL);
        trace("sleep: %s", word(eddy_sleep(EDDY_SEC(10))));
        trace("second sleep: %s", word(eddy_sleep(EDDY_MS(10))));
        trace("scope: %s", word(eddy_scope_end(&scope)));
}

static int swallows(void *arg)
{
        (void) arg;
        trace("sleep: %s", word(eddy_sleep(EDDY_SEC(10))));
        return 1;
}

static int waits_for_stubborn(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, swallows, NULL);
        return eddy_scope_end(&scope);
}

/* A67: a cancel of who waits shows, even if its task swallowed it. */
TRACE_TEST(E24_a_task_cannot_hide_the_cancel_of_its_parent)
{
        eddy_scope scope;
        eddy_task *task;

        scope_begin(&scope);
        task = task_start(&scope, waits_for_stubborn, NULL);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_task_cancel(task);
        trace("parent: %s", word(task_end(task)));
        eddy_scope_end(&scope);
}

static int sleeps(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_SEC(10));
}

/* A65: a task that is cancelled by itself is no failure. */
TRACE_TEST(E25_cancelling_one_task_harms_no_other)
{
        eddy_scope scope;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        task = task_start(&scope, sleeps, NULL);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_task_cancel(task);
        trace("task: %s", word(task_end(task)));
        trace("body: %s", word(eddy_sleep(0)));
        trace("scope: %s", word(eddy_scope_end(&scope)));
}

static int sleeps_in_a_shield(void *arg)
{
        eddy_scope shield;
        int err;

        (void) arg;
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        err = eddy_sleep(EDDY_MS(20));
        if (err == 0)
                trace("inner: done");
        CHECK_EQ(eddy_scope_end(&shield), 0);
        return eddy_sleep(0);
}

/* A82: a shield protects the code in it; who called it waits for it. */
TRACE_TEST(E26_a_shield_is_waited_for)
{
        eddy_scope scope;
        eddy_task *task;

        scope_begin(&scope);
        task = task_start(&scope, sleeps_in_a_shield, NULL);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_task_cancel(task);
        trace("outer: %s", word(task_end(task)));
        eddy_scope_end(&scope);
}
