/*
 * loop.c - in which order things happen, and what becomes of callbacks.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "trace.h"

static int starts_goes_on_ends(void *arg)
{
        int i = *(int *) arg;

        trace("%d starts", i);
        CHECK_EQ(eddy_sleep(0), 0);
        trace("%d goes on", i);
        CHECK_EQ(eddy_sleep(0), 0);
        trace("%d ends", i);
        return 0;
}

/* A29: tasks run first in the order they were started, and then in turn. */
TRACE_TEST(E19_tasks_run_in_turn)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                eddy_scope_start_copy(&scope, starts_goes_on_ends, &i, sizeof(i));
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int says(void *arg)
{
        trace("%s", (const char *) arg);
        return 0;
}

static eddy_handle nested;

static int asks_for_a_call(void *arg)
{
        return eddy_loop_call_soon(NULL, &nested, says, arg);
}

/* A1, A2, A3, A6: calls in the order asked for, late timers by their times, then the next turn. */
TRACE_TEST(E20_calls_have_their_order)
{
        eddy_handle handles[5] = { 0 };

        CHECK_EQ(eddy_loop_call_soon(NULL, &handles[0], says, (void *) "soon, the first"), 0);
        CHECK_EQ(eddy_loop_call_later(NULL, &handles[1], 0, says, (void *) "later by 0"), 0);
        CHECK_EQ(eddy_loop_call_soon(NULL, &handles[2], says, (void *) "soon, the second"), 0);
        CHECK_EQ(
                eddy_loop_call_later(NULL, &handles[3], -EDDY_SEC(5), says, (void *) "later by -5"),
                0);
        CHECK_EQ(eddy_loop_call_soon(NULL, &handles[4], asks_for_a_call,
                                     (void *) "soon, asked for by a call"),
                 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
}

/* A24: callbacks of a future never run inside the call that sets it, and in their order. */
TRACE_TEST(E21_callbacks_never_run_inline)
{
        eddy_future_callback first = { 0 }, second = { 0 };
        eddy_future future = { 0 };

        CHECK_EQ(eddy_future_add_callback(&future, &first, says, (void *) "first callback"), 0);
        CHECK_EQ(eddy_future_add_callback(&future, &second, says, (void *) "second callback"), 0);
        CHECK_EQ(eddy_future_set(&future, 0, NULL), 0);
        trace("the future is set");
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_future_fini(&future);
}

static int fails(void *arg)
{
        (void) arg;
        return -EIO;
}

static int main_with_a_failing_callback(void *arg)
{
        eddy_handle handle = { 0 };

        (void) arg;
        CHECK_EQ(eddy_loop_call_soon(NULL, &handle, fails, NULL), 0);
        trace("main: %s", word(eddy_sleep(EDDY_MS(10))));
        return 1;
}

/* A17: a callback that fails is reported, and the loop goes on. */
TRACE_TEST_OUTSIDE(S5_a_failing_callback_is_reported)
{
        trace_run_whole(main_with_a_failing_callback, NULL, 0);
}

static int main_with_a_failing_task(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_background(fails, NULL), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        return 1;
}

/* A26: the failure of a task that nobody waits for is reported. */
TRACE_TEST_OUTSIDE(S6_a_failure_without_a_waiter_is_reported)
{
        trace_run_whole(main_with_a_failing_task, NULL, 0);
}

static int main_with_a_failed_future(void *arg)
{
        eddy_future future = { 0 };

        (void) arg;
        CHECK_EQ(eddy_future_set(&future, -EIO, NULL), 0);
        eddy_future_fini(&future);
        return 1;
}

/* A26: the failure of a future that nobody looked at is reported. */
TRACE_TEST_OUTSIDE(S6b_a_failed_future_that_was_never_read_is_reported)
{
        trace_run_whole(main_with_a_failed_future, NULL, 0);
}

static int main_cancels_what_has_failed(void *arg)
{
        eddy_future future = { 0 };
        eddy_scope scope;
        eddy_task *task;
        int err;

        (void) arg;
        scope_begin(&scope);
        task = task_start(&scope, fails, NULL);
        CHECK_EQ(eddy_task_join(task, NULL), 0);
        eddy_task_cancel(task);
        eddy_task_release(task);
        err = eddy_scope_end(&scope);
        trace("scope: %s", word(err));
        trace("the task is forgotten");
        CHECK_EQ(eddy_future_set(&future, -EIO, NULL), 0);
        CHECK_EQ(eddy_future_cancel(&future), 0);
        eddy_future_fini(&future);
        trace("the future is forgotten");
        return 1;
}

/* A26: who cancels a failed future knows of it; a task's failure is its scope's all the same. */
TRACE_TEST_OUTSIDE(S6c_cancelling_a_failed_future)
{
        trace_run_whole(main_cancels_what_has_failed, NULL, 0);
}

/* --- on the real clock, and other threads --- */

static _Atomic bool hog_reported;

static void on_hog(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind == EDDY_REPORT_WATCHDOG)
                hog_reported = true;
}

static int keeps_the_loop(void *arg)
{
        int64_t until_ns = eddy_now() + EDDY_SEC(30);

        (void) arg;
        while (!hog_reported && eddy_now() < until_ns)
                continue;
        if (hog_reported)
                trace("report: a task keeps the loop");
        return 1;
}

/* A20: a task that keeps the loop is reported, while it does. */
TRACE_TEST_OUTSIDE(S7_a_task_that_keeps_the_loop_is_reported)
{
        struct eddy_run_opts opts = { .report = on_hog, .watchdog_ns = EDDY_MS(5) };

        trace("run: %s", value(eddy_run(keeps_the_loop, NULL, &opts)));
}

static void *calls_foreign_loop(void *arg)
{
        eddy_handle handle = { 0 };

        trace("call_soon: %s",
              word(eddy_loop_call_soon(arg, &handle, says, (void *) "the call is made")));
        return NULL;
}

static int main_with_a_thread(void *arg)
{
        pthread_t thread;

        (void) arg;
        CHECK_EQ(pthread_create(&thread, NULL, calls_foreign_loop, eddy_loop_current()), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        return 1;
}

/* A20: a call of the loop that is asked for on another thread is refused. */
TRACE_TEST_OUTSIDE(S8_a_call_from_another_thread_is_refused)
{
        trace_run_whole(main_with_a_thread, NULL, 0);
}
