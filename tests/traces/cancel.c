/*
 * cancel.c - what a task sees of its cancelling, and what becomes of its result.
 */
#include "trace.h"

/* --- cancelled by others --- */

static int sleeps_and_says_so(void *arg)
{
        int err;

        (void) arg;
        trace("the body runs");
        err = eddy_sleep(EDDY_SEC(1));
        trace("sleep: %s", word(err));
        return err;
}

/* A30: a task that is cancelled before its first run runs to its first suspending call. */
TRACE_TEST(E1_a_started_task_always_runs)
{
        eddy_scope scope;
        eddy_task *task;

        scope_begin(&scope);
        task = task_start(&scope, sleeps_and_says_so, NULL);
        eddy_task_cancel(task);
        trace("done at once: %s", yes(eddy_task_is_done(task)));
        trace("task: %s", value(task_end(task)));
        eddy_scope_end(&scope);
}

static int waits_for_future(void *arg)
{
        int result, err;

        err = eddy_future_wait(arg, &result);
        trace("wait: %s", err < 0 ? word(err) : value(result));
        if (err < 0)
                return err;
        err = eddy_sleep(0);
        trace("next call: %s", word(err));
        return err;
}

/* A31, A32: a cancel that comes after the result does not take it away. */
TRACE_TEST(E2_a_ready_value_wins_over_a_cancel)
{
        eddy_future future = { 0 };
        eddy_scope scope;
        eddy_task *task;
        int result;

        scope_begin(&scope);
        task = task_start(&scope, waits_for_future, &future);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_future_set(&future, 5, NULL);
        eddy_task_cancel(task);
        task_end(task);
        CHECK_EQ(eddy_future_result(&future, &result), 0);
        trace("future: %d", result);
        eddy_scope_end(&scope);
}

static int sleeps_three_times(void *arg)
{
        (void) arg;
        for (int i = 0; i < 3; i++)
                trace("sleep %d: %s", i, word(eddy_sleep(EDDY_SEC(1))));
        return 7;
}

/* A33, A34, A35: cancelled is a state: once or three times, every later call says so. */
TRACE_TEST(E3_cancels_do_not_count)
{
        eddy_scope scope;
        eddy_task *task;

        scope_begin(&scope);
        task = task_start(&scope, sleeps_three_times, NULL);
        CHECK_EQ(eddy_sleep(0), 0);
        for (int i = 0; i < 3; i++)
                eddy_task_cancel(task);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        for (int i = 0; i < 2; i++) {
                trace("main: cancels again");
                eddy_task_cancel(task);
                CHECK_EQ(eddy_sleep(0), 0);
        }
        trace("task: %s", value(task_end(task)));
        eddy_scope_end(&scope);
}

static int goes_on(void *arg)
{
        (void) arg;
        trace("sleep: %s", word(eddy_sleep(EDDY_SEC(10))));
        trace("second sleep: %s", word(eddy_sleep(EDDY_MS(10))));
        return 1;
}

/* A33: a cancel that was ignored shows again. */
TRACE_TEST(E4_an_ignored_cancel_is_not_lost)
{
        eddy_scope scope;
        eddy_task *task;

        scope_begin(&scope);
        task = task_start(&scope, goes_on, NULL);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_task_cancel(task);
        trace("task: %s", value(task_end(task)));
        eddy_scope_end(&scope);
}

/* --- cancelled by itself --- */

static int cancel_self(void *arg)
{
        eddy_task_cancel(eddy_task_current());
        return (int) (intptr_t) arg;
}

/* What a task of that function comes to. */
static int result_of(eddy_task_fn *fn, void *arg)
{
        eddy_scope scope;
        int result;

        scope_begin(&scope);
        result = task_end(task_start(&scope, fn, arg));
        eddy_scope_end(&scope);
        return result;
}

/* A37: a task that was cancelled and returns a result has succeeded with it. */
TRACE_TEST(E5_a_cancelled_task_keeps_its_result)
{
        trace("task: %s", value(result_of(cancel_self, (void *) 3)));
}

/* A37: the failure of a task that was cancelled is a failure. */
TRACE_TEST(E6_a_cancelled_task_keeps_its_failure)
{
        trace("task: %s", value(result_of(cancel_self, (void *) -EIO)));
}

static int cancels_itself_and_yields(void *arg)
{
        cancel_self(arg);
        trace("sleep of 0: %s", word(eddy_sleep(0)));
        return 0;
}

/* A36: a task that cancels itself sees it at its next suspending call. */
TRACE_TEST(E7_a_self_cancel_shows_at_a_yield)
{
        result_of(cancels_itself_and_yields, NULL);
}

struct ready_things {
        eddy_lock lock;
        eddy_queue queue;
        eddy_event event;
        eddy_future future;
};

static int cancels_itself_and_calls(void *arg)
{
        struct ready_things *things = arg;
        void *item;

        cancel_self(NULL);
        trace("free lock: %s", word(eddy_lock_acquire(&things->lock)));
        trace("queue with an item: %s", word(eddy_queue_get(&things->queue, &item)));
        trace("event that is set: %s", word(eddy_event_wait(&things->event)));
        trace("future that is done: %s", word(eddy_future_wait(&things->future, NULL)));
        trace("sleep of 0: %s", word(eddy_sleep(0)));
        return 0;
}

/* A36: in a cancelled task no suspending call does anything, even if it need not wait. */
TRACE_TEST(E8_a_cancelled_task_takes_nothing)
{
        struct ready_things things = { 0 };
        void *item = &things;

        CHECK_EQ(eddy_queue_try_put(&things.queue, &item), 0);
        eddy_event_set(&things.event);
        eddy_future_set(&things.future, 1, NULL);
        result_of(cancels_itself_and_calls, &things);
        CHECK(!eddy_lock_is_locked(&things.lock));
        CHECK_EQ(eddy_queue_count(&things.queue), 1);
        eddy_queue_fini(&things.queue);
        eddy_future_fini(&things.future);
}
