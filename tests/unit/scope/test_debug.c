/*
 * test_debug.c - debug mode: failures that nobody looked at, and what is left
 * when the run ends.
 */
#include "debug_test.h"
#include "scope/debug/debug.h"

static int fails(void *arg)
{
        return eddy_sleep(MS) < 0 ? -ECANCELED : -(int) (intptr_t) arg;
}

#define FAILS_BY(error) ((void *) (intptr_t) (error))

/* --- a run without findings --- */

static int does_all_right(void *arg)
{
        struct eddy_call calls[2] = { { .fn = fails, .arg = FAILS_BY(EIO) },
                                      { .fn = fails, .arg = FAILS_BY(EPIPE) } };
        eddy_scope scope;
        eddy_task *task;
        int result = 0;

        (void) arg;
        /* The results of a gather are its caller's. */
        CHECK_EQ(eddy_gather(calls, 2, EDDY_GATHER_KEEP_GOING), 0);
        eddy_scope_begin(&scope, NULL);
        task = start_named(&scope, "one", fails, FAILS_BY(EIO));
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(eddy_task_result(task, &result), 0);
        CHECK_EQ(result, -EIO);
        eddy_task_release(task);
        return 0;
}

TEST(a_run_that_leaves_nothing_reports_its_lag_only)
{
        CHECK_EQ(debug_run(does_all_right, NULL), 0);
        CHECK_STR(reported, "");
        CHECK_EQ(last.count[EDDY_REPORT_LAG], 1);
        CHECK(strstr(last.text, " turns of the loop: half within ") != NULL);
        CHECK(strstr(last.text, " us, 99 % within ") != NULL);
        CHECK(strstr(last.text, " us, the longest ") != NULL);
}

/* --- failures --- */

static int two_fail(void *arg)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_KEEP_GOING, .errors = arg };
        eddy_scope scope;

        eddy_scope_begin(&scope, &opts);
        eddy_task_release(start_named(&scope, "first", fails, FAILS_BY(EPIPE)));
        eddy_task_release(start_named(&scope, "second", fails, FAILS_BY(EIO)));
        CHECK_EQ(eddy_scope_end(&scope), -EPIPE);
        return 0;
}

/* A20: tasks remember where they were started. */
TEST(a_failure_that_its_scope_does_not_return_is_reported)
{
        CHECK_EQ(debug_run(two_fail, NULL), 0);
        CHECK_STR(reported, "eddy: task second: failed, and its result was never read; it was "
                            "started at program+0x1234: " EIO_TEXT "\n");
}

TEST(a_scope_that_lists_its_failures_has_looked_at_them)
{
        struct eddy_scope_errors errors;

        CHECK_EQ(debug_run(two_fail, &errors), 0);
        CHECK_EQ(errors.count, 2);
        CHECK_STR(reported, "");
}

static int two_fail_without_handles(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        for (int i = 0; i < 30; i++)
                eddy_scope_start(&scope, fails, FAILS_BY(EPIPE));
        CHECK_EQ(eddy_scope_end(&scope), -EPIPE);
        return 0;
}

TEST(beyond_twenty_failures_are_counted)
{
        CHECK_EQ(debug_run(two_fail_without_handles, NULL), 0);
        CHECK_EQ(last.count[EDDY_REPORT_UNHANDLED], 20);
        CHECK(strstr(reported, "eddy: left when the run ended:\n"
                               "  and 9 more failures that were never read\n") != NULL);
}

/* Somebody asks for the result of the second, in the way that 'arg' says. */
static int asks_for_the_second(void *arg)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_KEEP_GOING };
        eddy_task *first, *second;
        eddy_scope scope;
        int way = *(int *) arg, result = 0;

        eddy_scope_begin(&scope, &opts);
        first = start_named(&scope, "first", fails, FAILS_BY(EPIPE));
        second = start_named(&scope, "second", fails, FAILS_BY(EIO));
        if (way == 1)
                CHECK_EQ(eddy_task_join(second, &result), 0);
        CHECK_EQ(eddy_scope_end(&scope), -EPIPE);
        if (way == 2)
                CHECK_EQ(eddy_task_join(second, &result), 0);
        if (way == 3)
                CHECK_EQ(eddy_task_result(second, &result), 0);
        if (way == 4)
                CHECK_EQ(eddy_task_join(second, NULL), 0);
        eddy_task_release(first);
        eddy_task_release(second);
        return result;
}

TEST(a_caller_that_asks_for_the_result_has_read_it)
{
        for (int way = 0; way <= 4; way++) {
                bool asks = way >= 1 && way <= 3;

                CHECK_EQ(debug_run(asks_for_the_second, &way), asks ? -EIO : 0);
                CHECK_EQ(last.count[EDDY_REPORT_UNHANDLED], !asks);
        }
}

static int deadline_comes_first(void *arg)
{
        struct eddy_scope_opts opts = { .timeout_ns = MS / 2 };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, &opts);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
        eddy_scope_cancel(&scope);
        return eddy_scope_end(&scope);
}

static int cleans_up_and_fails(void *arg)
{
        (void) arg;
        (void) eddy_sleep(EDDY_SEC(1));
        return -EIO;
}

static int fails_behind_a_deadline(void *arg)
{
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(deadline_comes_first(NULL), -ETIMEDOUT);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = MS });
        eddy_task_release(start_named(&scope, "late", cleans_up_and_fails, NULL));
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        return 0;
}

TEST(a_failure_after_the_deadline_is_reported_since_the_scope_says_that)
{
        CHECK_EQ(debug_run(fails_behind_a_deadline, NULL), 0);
        CHECK_STR(reported, "eddy: task late: failed, and its result was never read; it was "
                            "started at program+0x1234: " EIO_TEXT "\n");
}

static int leaves_a_failure_behind(void *arg)
{
        return eddy_background(fails, arg);
}

TEST(a_failure_in_the_background_is_reported_with_where_it_was_started)
{
        CHECK_EQ(debug_run(leaves_a_failure_behind, FAILS_BY(EIO)), 0);
        CHECK_STR(reported,
                  "eddy: task fails: failed in the background, started at program+0x1234: " EIO_TEXT
                  "\n");
}

/* --- what is left --- */

static eddy_task *kept[30];

static int keeps_handles(void *arg)
{
        int n = *(int *) arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        for (int i = 0; i < n; i++)
                kept[i] = start_named(&scope, i == 0 ? "worker" : "writer", fails,
                                      FAILS_BY(i == 2 ? EIO : 0));
        (void) eddy_scope_end(&scope);
        return 0;
}

static void release_kept(int n)
{
        for (int i = 0; i < n; i++)
                eddy_task_release(kept[i]);
}

TEST(handles_that_are_left_are_reported_in_the_order_of_their_start)
{
        int n = 2;

        CHECK_EQ(debug_run(keeps_handles, &n), 0);
        release_kept(n);
        CHECK_STR(reported, "eddy: left when the run ended:\n"
                            "  the handle of task worker, started at program+0x1234\n"
                            "  the handle of task writer, started at program+0x1234\n");
}

static int releases_kept(void *arg)
{
        release_kept(*(int *) arg);
        return 0;
}

TEST(handles_are_released_between_steps_of_their_loop_or_by_another)
{
        struct eddy_run_opts no_debug = { .flags = EDDY_RUN_NO_DEBUG };
        struct ed_run *run;
        int n = 3;

        run = debug_run_still(keeps_handles, &n);
        release_kept(n);
        ed_run_close(run);
        CHECK_STR(reported, "");

        run = debug_run_still(keeps_handles, &n);
        CHECK_EQ(eddy_run(releases_kept, &n, &no_debug), 0);
        ed_run_close(run);
        CHECK_STR(reported, "");
}

static int has_one_failed(void *arg)
{
        (void) arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        eddy_task_release(start_named(&scope, "first", fails, FAILS_BY(EPIPE)));
        kept[0] = start_named(&scope, "second", fails, FAILS_BY(EIO));
        CHECK_EQ(eddy_scope_end(&scope), -EPIPE);
        return 0;
}

TEST(a_failure_is_reported_when_the_handle_goes_between_steps_of_its_loop)
{
        struct ed_run *run = debug_run_still(has_one_failed, NULL);

        CHECK_STR(reported, "");
        release_kept(1);
        CHECK_STR(reported, "eddy: task second: failed, and its result was never read; it was "
                            "started at program+0x1234: " EIO_TEXT "\n");
        ed_run_close(run);
}

static void released_when_left(const struct eddy_report *report, void *arg)
{
        if (report->kind == EDDY_REPORT_LEFT)
                release_kept(1);
        keep_report(report, arg);
}

TEST(a_failure_that_is_reported_as_left_is_not_reported_when_the_report_releases_its_handle)
{
        struct ed_run *run = debug_run_still(has_one_failed, NULL);

        run->opts.report = released_when_left;
        ed_run_close(run);
        CHECK_STR(reported,
                  "eddy: left when the run ended:\n"
                  "  the handle of task second, started at program+0x1234, which failed: " EIO_TEXT
                  "\n");
}

TEST(beyond_twenty_handles_are_counted)
{
        int n = 30;

        CHECK_EQ(debug_run(keeps_handles, &n), 0);
        release_kept(n);
        CHECK(strstr(reported, "\n  and 10 more\n") != NULL);
}

static int polls_for_ever(void *arg)
{
        while (eddy_sleep(EDDY_SEC(1)) == 0)
                ;
        (void) arg;
        return -ECANCELED;
}

static int leaves_tasks_in_the_background(void *arg)
{
        (void) arg;
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_background(polls_for_ever, NULL), 0);
        CHECK_EQ(eddy_background(fails, FAILS_BY(0)), 0);
        return 0;
}

TEST(tasks_that_the_end_of_the_run_cancels_are_reported)
{
        struct eddy_run_opts at_once = { .drain_ns = -1 };

        CHECK_EQ(debug_run(leaves_tasks_in_the_background, NULL), 0);
        CHECK_EQ(last.count[EDDY_REPORT_LEFT], 1);
        CHECK_STR(reported, "eddy: left when the run ended:\n"
                            "  task polls_for_ever, cancelled by the end of the run, started at "
                            "program+0x1234\n"
                            "  task polls_for_ever, cancelled by the end of the run, started at "
                            "program+0x1234\n");
        CHECK_EQ(debug_run_with(leaves_tasks_in_the_background, NULL, at_once), 0);
        CHECK_EQ(last.count[EDDY_REPORT_LEFT], 1);
}

/* Of each kind of things thirty, which are none, and as many handles and tasks. */
static int keeps_much(void *arg)
{
        static char things[ED_DEBUG_KINDS][30];

        for (int kind = ED_DEBUG_HANDLE + 1; kind < ED_DEBUG_KINDS; kind++)
                for (int i = 0; i < 30; i++)
                        ed_debug_note(ed_loop_current, &things[kind][i], kind, &things[kind][i]);
        for (int i = 0; i < 30; i++)
                CHECK_EQ(eddy_background(polls_for_ever, NULL), 0);
        return keeps_handles(arg);
}

TEST(all_kinds_are_reported_and_counted_however_many_there_are)
{
        const char *at = reported;
        int n = 30, counts = 0;

        CHECK_EQ(debug_run(keeps_much, &n), 0);
        release_kept(n);
        for (; (at = strstr(at, "\n  and 10 more\n")); at++)
                counts++;
        CHECK_EQ(counts, ED_DEBUG_KINDS + 1);
}

/* --- the deadlock's report --- */

static int waits_for_nothing(void *arg)
{
        return eddy_event_wait(arg);
}

static int waits_in_vain(void *arg)
{
        static eddy_event event;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_task_release(start_named(&scope, "waiter", waits_for_nothing, &event));
        return eddy_scope_end(&scope);
}

TEST(a_deadlock_in_debug_mode_is_reported_with_stacks)
{
        CHECK_EQ(debug_run(waits_in_vain, NULL), -EDEADLK);
        CHECK(strstr(reported, "\n      waiter waits for an event; parked 0 ms\n        in ") !=
              NULL);
        CHECK(strstr(reported, " <- ") != NULL);
}
