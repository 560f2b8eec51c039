/*
 * A deadline that never comes wakes nobody: tasks that wait under one for what
 * nobody will do are a deadlock, and are reported, where the loop waited for
 * ever.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "test.h"

static int deadlocks;

static void count(const struct eddy_report *report, void *arg)
{
        (void) arg;
        deadlocks += report->kind == EDDY_REPORT_DEADLOCK;
}

static int wait_in(const struct eddy_scope_opts *opts)
{
        eddy_semaphore none = EDDY_SEMAPHORE(0, 0);
        eddy_scope scope;

        eddy_scope_begin(&scope, opts);
        CHECK_EQ(eddy_semaphore_acquire(&none), -ECANCELED);
        CHECK(!eddy_scope_expired(&scope));
        return eddy_scope_end(&scope);
}

static int wait_endlessly(void *arg)
{
        (void) arg;
        return wait_in(&(struct eddy_scope_opts){ .timeout_ns = INT64_MAX });
}

static int wait_until_the_end(void *arg)
{
        (void) arg;
        return wait_in(&(struct eddy_scope_opts){ .deadline_ns = INT64_MAX });
}

static void run(eddy_task_fn *fn)
{
        struct eddy_run_opts opts = { .report = count };

        CHECK_EQ(eddy_run(fn, NULL, &opts), -EDEADLK);
        CHECK_EQ(deadlocks, 1);
}

TEST(a_wait_under_an_endless_timeout_is_a_deadlock)
{
        run(wait_endlessly);
}

TEST(a_wait_under_an_endless_deadline_is_a_deadlock)
{
        run(wait_until_the_end);
}
