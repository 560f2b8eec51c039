/*
 * wait.c - waiting for several calls or tasks: gather, wait, as_completed.
 */
#include "trace.h"

static int fails(void *arg)
{
        (void) arg;
        return -EIO;
}

static int returns_one(void *arg)
{
        int err = eddy_sleep(EDDY_MS(10));

        (void) arg;
        return err < 0 ? err : 1;
}

static int sleeps_and_says_so(void *arg)
{
        int err = eddy_sleep(EDDY_MS(50));

        (void) arg;
        trace("slow call: %s", word(err));
        return err;
}

/* A77: the first failure cancels the other calls and is returned. */
TRACE_TEST(E13_gather_fails_fast)
{
        struct eddy_call calls[] = { { fails, NULL, 0 }, { sleeps_and_says_so, NULL, 0 } };

        trace("gather: %s", word(eddy_gather(calls, 2, 0)));
}

/* A76, A77: a gather that keeps going gives all results in order. */
TRACE_TEST(E14_gather_keeps_going)
{
        struct eddy_call calls[] = { { fails, NULL, 0 }, { returns_one, NULL, 0 } };

        CHECK_EQ(eddy_gather(calls, 2, EDDY_GATHER_KEEP_GOING), 0);
        trace("gather: %s, %s", value(calls[0].result), value(calls[1].result));
}

static int gathers_two(void *arg)
{
        struct eddy_call calls[] = { { returns_one, NULL, 0 }, { returns_one, NULL, 0 } };

        (void) arg;
        return eddy_gather(calls, 2, EDDY_GATHER_KEEP_GOING);
}

static void cancelled_after_its_start(eddy_task_fn *fn, void *arg, const char *what)
{
        eddy_scope scope;
        eddy_task *task;

        scope_begin(&scope);
        task = task_start(&scope, fn, arg);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_task_cancel(task);
        trace("%s: %s", what, word(task_end(task)));
        eddy_scope_end(&scope);
}

/* A79: a cancel shows even if the gather would return no failure. */
TRACE_TEST(E15_gather_that_keeps_going_can_be_cancelled)
{
        cancelled_after_its_start(gathers_two, NULL, "gather");
}

static int swallows(void *arg)
{
        (void) arg;
        trace("call: %s", word(eddy_sleep(EDDY_SEC(1))));
        return 1;
}

static int gathers_stubborn(void *arg)
{
        struct eddy_call calls[] = { { swallows, NULL, 0 }, { swallows, NULL, 0 } };

        (void) arg;
        return eddy_gather(calls, 2, 0);
}

/* A79: calls that swallow the cancel do not hide it from who gathers. */
TRACE_TEST(E16_gather_is_cancelled_whatever_its_calls_return)
{
        cancelled_after_its_start(gathers_stubborn, NULL, "gather");
}

static int sleeps_a_while(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_MS(200));
}

/* A80: when the time of a wait is over, the task goes on. */
TRACE_TEST(E17_a_wait_that_times_out_cancels_nothing)
{
        eddy_scope tasks, limit;
        eddy_task *task;
        int err;

        scope_begin(&tasks);
        task = task_start(&tasks, sleeps_a_while, NULL);
        eddy_scope_begin(&limit, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(10) });
        err = eddy_wait(&task, 1, EDDY_WAIT_ALL);
        CHECK_EQ(eddy_scope_end(&limit), -ETIMEDOUT);
        trace("done: %d, pending: %d", err < 0 ? eddy_task_is_done(task) : err,
              !eddy_task_is_done(task));
        trace("task: %s", word(task_end(task)));
        eddy_scope_end(&tasks);
}

static int waits(void *arg)
{
        return eddy_wait(arg, 1, EDDY_WAIT_ALL);
}

/* A80: cancelling a wait leaves what is waited for alone. */
TRACE_TEST(E18_a_cancelled_wait_cancels_nothing)
{
        eddy_scope tasks;
        eddy_task *task;

        scope_begin(&tasks);
        task = task_start(&tasks, sleeps_a_while, NULL);
        cancelled_after_its_start(waits, &task, "wait");
        trace("task: %s", word(task_end(task)));
        eddy_scope_end(&tasks);
}

static int returns_two_late(void *arg)
{
        int err = eddy_sleep(EDDY_SEC(1));

        (void) arg;
        return err < 0 ? err : 2;
}

/* A81: what has completed by the deadline is given, the rest goes on. */
TRACE_TEST(E27_as_completed_that_times_out_cancels_nothing)
{
        eddy_task *tasks[2], *task;
        eddy_as_completed done;
        eddy_scope scope, limit;
        int result;

        scope_begin(&scope);
        tasks[0] = task_start(&scope, returns_one, NULL);
        tasks[1] = task_start(&scope, returns_two_late, NULL);
        eddy_scope_begin(&limit, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(50) });
        CHECK_EQ(eddy_as_completed_begin(&done, tasks, 2), 0);
        while (eddy_as_completed_next(&done, &task) > 0)
                if (eddy_task_result(task, &result) == 0)
                        trace("completed: %s", value(result));
        eddy_as_completed_end(&done);
        trace("as_completed: %s", word(eddy_scope_end(&limit)));
        trace("other task: %s", value(task_end(tasks[1])));
        eddy_task_release(tasks[0]);
        eddy_scope_end(&scope);
}
