/*
 * deadline.c - a deadline that passes, beside a result, a cancel or another one.
 */
#include "trace.h"

/* --- a deadline and a result in the same turn --- */

static int waits_for_future(void *arg)
{
        int result, err = eddy_future_wait(arg, &result);

        return err < 0 ? err : result;
}

static int waits_with_deadline(void *arg)
{
        trace("wait_for: %s", value(eddy_call_timeout(waits_for_future, arg, EDDY_MS(40))));
        return 0;
}

static int sets_future(void *arg)
{
        return eddy_future_set(arg, 7, NULL);
}

/* The result's time and the deadline are the same: what was armed first comes first. */
static void race(bool result_first)
{
        eddy_future future = { 0 };
        eddy_handle handle = { 0 };
        eddy_scope scope;
        eddy_task *task;
        int result;

        scope_begin(&scope);
        if (result_first)
                CHECK_EQ(eddy_loop_call_later(NULL, &handle, EDDY_MS(40), sets_future, &future), 0);
        task = task_start(&scope, waits_with_deadline, &future);
        CHECK_EQ(eddy_sleep(0), 0);
        if (!result_first)
                CHECK_EQ(eddy_loop_call_later(NULL, &handle, EDDY_MS(40), sets_future, &future), 0);
        task_end(task);
        CHECK_EQ(eddy_future_wait(&future, &result), 0);
        trace("future: %d", result);
        eddy_scope_end(&scope);
}

/* A32, A63: a result that came before the deadline of the same turn is delivered. */
TRACE_TEST(E9_a_result_beats_the_deadline_of_its_turn)
{
        race(true);
}

/* A38, A63: the deadline of a wait does nothing to what is waited for. */
TRACE_TEST(E9b_a_deadline_leaves_the_future_alone)
{
        race(false);
}

/* --- bodies that do not listen --- */

static void in_timeout(int64_t timeout_ns, void body(void))
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = timeout_ns });
        body();
        trace("scope: %s", word(eddy_scope_end(&scope)));
        trace("expired: %s", yes(eddy_scope_expired(&scope)));
}

static void computes(void)
{
        int64_t until_ns = eddy_now() + EDDY_MS(2);

        while (eddy_now() < until_ns)
                continue;
}

static int computes_past_the_deadline(void *arg)
{
        (void) arg;
        in_timeout(EDDY_MS(1), computes);
        trace("next call: %s", word(eddy_sleep(0)));
        return 0;
}

/* A52: a deadline that passes while nothing suspends is none. */
TRACE_TEST_OUTSIDE(E10_a_deadline_that_no_call_met)
{
        CHECK_EQ(eddy_run(computes_past_the_deadline, NULL, NULL), 0);
}

static void swallows(void)
{
        trace("sleep: %s", word(eddy_sleep(EDDY_SEC(1))));
}

/* A53, A57: the scope says that its deadline stopped something, also if the body carried on. */
TRACE_TEST(E11_a_body_cannot_swallow_its_deadline)
{
        in_timeout(EDDY_MS(10), swallows);
        trace("next call: %s", word(eddy_sleep(0)));
}

static void does_nothing(void)
{
}

/* A52, A60: a deadline of now stops nothing that does not suspend. */
TRACE_TEST(E12_a_deadline_of_now_stops_no_computing)
{
        in_timeout(-1, does_nothing);
}

/* --- two at once --- */

static int in_two_deadlines(void *arg)
{
        eddy_scope outer, inner;
        int err;

        (void) arg;
        eddy_scope_begin(&outer, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(20) });
        eddy_scope_begin(&inner, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(500) });
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&inner), -ECANCELED);
        err = eddy_scope_end(&outer);
        trace("outer scope: %s; expired: outer %s, inner %s", word(err),
              yes(eddy_scope_expired(&outer)), yes(eddy_scope_expired(&inner)));
        trace("next call: %s", word(eddy_sleep(0)));
        return 0;
}

static int in_one_deadline(void *arg)
{
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(20) });
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
        err = eddy_scope_end(&scope);
        trace("scope: %s; expired: %s", word(err), yes(eddy_scope_expired(&scope)));
        return err;
}

static int cancels_task(void *arg)
{
        eddy_task_cancel(arg);
        return 0;
}

/* A53, A55, A56: the outer of two deadlines is named; a deadline that was delivered is no cancel. */
TRACE_TEST(S13_a_deadline_that_was_delivered_remains)
{
        eddy_handle handle = { 0 };
        eddy_scope scope;
        eddy_task *task;

        scope_begin(&scope);
        task_end(task_start(&scope, in_two_deadlines, NULL));
        task = task_start(&scope, in_one_deadline, NULL);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_loop_call_later(NULL, &handle, EDDY_MS(20), cancels_task, task), 0);
        trace("task: %s", value(task_end(task)));
        eddy_scope_end(&scope);
}
