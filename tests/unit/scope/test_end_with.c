/*
 * test_end_with.c - eddy_scope_end_with(): the block's own result beside
 * failures, deadlines and cancels of its scope.
 */
#include "sim_run.h"

struct child {
        int64_t sleep_ns;
        int result; /* 0: that of the sleep */
        int slept;
};

static int child_run(void *arg)
{
        struct child *child = arg;

        child->slept = eddy_sleep(child->sleep_ns);
        return child->result ? child->result : child->slept;
}

static struct child patient(void)
{
        return (struct child){ EDDY_SEC(9), 0, 1 };
}

static void begin(eddy_scope *scope, uint32_t flags, struct eddy_scope_errors *errors)
{
        eddy_scope_begin(scope, &(struct eddy_scope_opts){ .flags = flags, .errors = errors });
}

/* --- all goes well --- */

SIM_TEST(a_result_that_is_not_a_failure_is_returned_when_all_went_well)
{
        struct child child = { 2 * MS, 0, 1 };
        eddy_scope scope;

        for (int result = 0; result < 3; result++) {
                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_scope_start(&scope, child_run, &child), 0);
                CHECK_EQ(eddy_scope_end_with(&scope, result), result);
                CHECK_EQ(child.slept, 0);
        }
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_end_with(&scope, 7), 7);
        CHECK_EQ(eddy_sleep(0), 0);
}

SIM_TEST(a_good_result_gives_way_to_a_failure_of_a_task)
{
        struct child bad = { 2 * MS, -EIO, 1 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, child_run, &bad), 0);
        CHECK_EQ(eddy_scope_end_with(&scope, 7), -EIO);
}

SIM_TEST(a_good_result_gives_way_to_a_deadline_that_stopped_a_task)
{
        struct child child = patient();
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = MS });
        CHECK_EQ(eddy_scope_start(&scope, child_run, &child), 0);
        CHECK_EQ(eddy_scope_end_with(&scope, 7), -ETIMEDOUT);
}

SIM_TEST(a_good_result_of_a_scope_that_cancelled_itself_is_returned)
{
        struct child child = patient();
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, child_run, &child), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end_with(&scope, 7), 7);
        CHECK_EQ(child.slept, -ECANCELED);
}

/* --- the block fails --- */

/* A66: as an exception in the body of a TaskGroup does. */
SIM_TEST(a_block_that_fails_cancels_the_tasks_waits_for_them_and_is_the_first_failure)
{
        struct child quiet = patient(), loud = { EDDY_SEC(9), -EPERM, 1 };
        struct eddy_scope_errors errors;
        int64_t begun = eddy_now();
        eddy_scope scope;

        begin(&scope, 0, &errors);
        CHECK_EQ(eddy_scope_start(&scope, child_run, &quiet), 0);
        CHECK_EQ(eddy_scope_start(&scope, child_run, &loud), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_scope_end_with(&scope, -EIO), -EIO);
        CHECK_NS(eddy_now() - begun, MS);
        CHECK_EQ(quiet.slept, -ECANCELED);
        CHECK_EQ(loud.slept, -ECANCELED);
        CHECK_EQ(errors.count, 2);
        CHECK_EQ(errors.list[0].result, -EIO);
        CHECK_STR(errors.list[0].task, "main");
        CHECK_EQ(errors.list[1].result, -EPERM);
        CHECK_EQ(eddy_sleep(0), 0);
}

SIM_TEST(a_block_that_fails_in_a_scope_that_keeps_going_cancels_no_task)
{
        struct child child = { 5 * MS, 0, 1 }, bad = { 2 * MS, -EPERM, 1 };
        struct eddy_scope_errors errors;
        eddy_scope scope;

        begin(&scope, EDDY_SCOPE_KEEP_GOING, &errors);
        CHECK_EQ(eddy_scope_start(&scope, child_run, &child), 0);
        CHECK_EQ(eddy_scope_start(&scope, child_run, &bad), 0);
        CHECK_EQ(eddy_scope_end_with(&scope, -EIO), -EIO);
        CHECK_EQ(child.slept, 0);
        CHECK_EQ(bad.slept, 0);
        CHECK_EQ(errors.count, 2);
        CHECK_EQ(errors.list[0].result, -EIO);
        CHECK_STR(errors.list[0].task, "main");
}

static int fails_in_its_block(void *arg)
{
        eddy_scope scope;

        begin(&scope, 0, arg);
        return eddy_scope_end_with(&scope, -EIO);
}

SIM_TEST(the_failure_is_under_the_name_of_the_task_whose_block_it_is)
{
        struct eddy_scope_errors errors;
        struct eddy_task_opts named = { .name = "loader" };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, fails_in_its_block, &errors, &named, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(errors.count, 1);
        CHECK_STR(errors.list[0].task, "loader");
}

SIM_TEST(a_task_that_failed_before_the_block_wins_and_both_are_listed)
{
        struct child bad = { MS, -EPERM, 1 };
        struct eddy_scope_errors errors;

        for (uint32_t flags = 0; flags <= EDDY_SCOPE_KEEP_GOING; flags += EDDY_SCOPE_KEEP_GOING) {
                eddy_scope scope;

                begin(&scope, flags, &errors);
                CHECK_EQ(eddy_scope_start(&scope, child_run, &bad), 0);
                CHECK_EQ(eddy_sleep(2 * MS), flags ? 0 : -ECANCELED);
                CHECK_EQ(eddy_scope_end_with(&scope, -EIO), -EPERM);
                CHECK_EQ(errors.count, 2);
                CHECK_EQ(errors.list[0].result, -EPERM);
                CHECK_EQ(errors.list[1].result, -EIO);
        }
}

SIM_TEST(the_block_wins_over_a_task_that_fails_after_it)
{
        struct child bad = { MS, -EPERM, 1 };
        eddy_scope scope;

        begin(&scope, EDDY_SCOPE_KEEP_GOING, NULL);
        CHECK_EQ(eddy_scope_start(&scope, child_run, &bad), 0);
        CHECK_EQ(eddy_scope_end_with(&scope, -EIO), -EIO);
        CHECK_EQ(bad.slept, 0);
}

static int opens_a_block_in_time(void *arg)
{
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = MS });
        err = eddy_sleep(EDDY_SEC(1));
        return eddy_scope_end_with(&scope, err);
}

SIM_TEST(a_timeout_of_a_scope_inside_is_a_failure_of_the_block_around_it)
{
        struct child child = patient();
        struct eddy_scope_errors errors;
        eddy_scope scope;

        begin(&scope, 0, &errors);
        CHECK_EQ(eddy_scope_start(&scope, child_run, &child), 0);
        CHECK_EQ(eddy_scope_end_with(&scope, opens_a_block_in_time(NULL)), -ETIMEDOUT);
        CHECK(!eddy_scope_expired(&scope));
        CHECK_EQ(errors.count, 1);
        CHECK_EQ(errors.list[0].result, -ETIMEDOUT);
}

/* --- beside the scope's own deadline --- */

SIM_TEST(a_deadline_that_stopped_the_block_is_a_timeout_and_not_listed)
{
        struct eddy_scope_errors errors;
        struct eddy_scope_opts opts = { .timeout_ns = MS, .errors = &errors };
        struct child child = patient();
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, &opts);
        CHECK_EQ(eddy_scope_start(&scope, child_run, &child), 0);
        err = eddy_sleep(EDDY_SEC(1));
        CHECK_EQ(err, -ECANCELED);
        CHECK_EQ(eddy_scope_end_with(&scope, err), -ETIMEDOUT);
        CHECK_EQ(errors.count, 0);
}

SIM_TEST(a_failure_after_the_deadline_is_listed_and_the_deadline_wins)
{
        struct eddy_scope_errors errors;
        struct eddy_scope_opts opts = { .timeout_ns = MS, .errors = &errors };
        eddy_scope scope;

        eddy_scope_begin(&scope, &opts);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
        CHECK_EQ(eddy_scope_end_with(&scope, -EIO), -ETIMEDOUT);
        CHECK_EQ(errors.count, 1);
        CHECK_EQ(errors.list[0].result, -EIO);
}

static int shielded_sleep(void *arg)
{
        eddy_scope shield;

        begin(&shield, EDDY_SCOPE_SHIELD, NULL);
        ((struct child *) arg)->slept = eddy_sleep(5 * MS);
        return eddy_scope_end(&shield);
}

SIM_TEST(a_failure_before_the_deadline_wins_though_a_task_takes_longer)
{
        struct eddy_scope_opts opts = { .timeout_ns = 2 * MS };
        struct child child = { 0, 0, 1 };
        int64_t begun = eddy_now();
        eddy_scope scope;

        eddy_scope_begin(&scope, &opts);
        CHECK_EQ(eddy_scope_start(&scope, shielded_sleep, &child), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_scope_end_with(&scope, -EIO), -EIO);
        CHECK_NS(eddy_now() - begun, 5 * MS);
        CHECK_EQ(child.slept, 0);
}

/* It once waited until the deadline: the tasks were not cancelled. */
SIM_TEST(a_block_that_fails_does_not_wait_for_the_deadline)
{
        struct child child = patient();
        int64_t begun = eddy_now();
        int err;

        EDDY_SCOPE (scope, &err, .timeout_ns = EDDY_SEC(2)) {
                CHECK_EQ(eddy_scope_start(&scope, child_run, &child), 0);
                err = -EIO;
                break;
        }
        CHECK_EQ(err, -EIO);
        CHECK_NS(eddy_now() - begun, 0);
}

/* --- a block that was cancelled --- */

SIM_TEST(a_block_that_was_stopped_by_its_own_cancel_ends_with_0)
{
        struct eddy_scope_errors errors;
        eddy_scope scope;

        begin(&scope, 0, &errors);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end_with(&scope, eddy_sleep(MS)), 0);
        CHECK_EQ(errors.count, 0);
        begin(&scope, 0, &errors);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end_with(&scope, -ECANCELED), 0);
        CHECK_EQ(errors.count, 0);
}

struct inner {
        bool calls; /* else the block looks whether it is cancelled, and says so */
        uint32_t flags;
        int result;
        uint64_t listed;
};

static int ends_cancelled(void *arg)
{
        struct inner *inner = arg;
        struct eddy_scope_errors errors;
        eddy_scope scope;
        int err;

        begin(&scope, inner->flags, &errors);
        eddy_task_cancel(eddy_task_current());
        err = inner->calls ? eddy_sleep(MS) : eddy_scope_is_cancelled(&scope) ? -ECANCELED : 0;
        inner->result = eddy_scope_end_with(&scope, err);
        inner->listed = errors.count;
        return inner->result;
}

SIM_TEST(a_block_that_was_stopped_from_outside_says_so_whether_a_call_did_or_not)
{
        for (int i = 0; i < 4; i++) {
                struct inner inner = { i & 1, i & 2 ? EDDY_SCOPE_KEEP_GOING : 0, 1, 9 };
                eddy_scope scope;

                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_scope_start(&scope, ends_cancelled, &inner), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK_EQ(inner.result, -ECANCELED);
                CHECK_EQ(inner.listed, 0);
        }
}

/* The cancel of something else is a failure like others, in a shield too. */
SIM_TEST(a_cancel_of_something_else_is_a_failure_of_the_block)
{
        for (uint32_t flags = 0; flags <= EDDY_SCOPE_SHIELD; flags++) {
                struct eddy_scope_errors errors;
                struct child child = patient();
                eddy_future future = { 0 };
                eddy_scope scope;
                int result = 1;

                begin(&scope, flags, &errors);
                CHECK_EQ(eddy_scope_start(&scope, child_run, &child), 0);
                CHECK_EQ(eddy_future_cancel(&future), 1);
                CHECK_EQ(eddy_future_wait(&future, &result), 0);
                CHECK_EQ(eddy_scope_end_with(&scope, result), -ECANCELED);
                CHECK_EQ(child.slept, -ECANCELED);
                CHECK_EQ(errors.count, 1);
                CHECK_EQ(errors.list[0].result, -ECANCELED);
                CHECK_EQ(eddy_sleep(0), 0);
                eddy_future_fini(&future);
        }
}

SIM_TEST(a_failure_beats_a_cancel_from_outside)
{
        struct child child = patient();
        eddy_scope outer, scope;

        eddy_scope_begin(&outer, NULL);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, child_run, &child), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_cancel(&outer);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end_with(&scope, -EIO), -EIO);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), 0);
}

/* --- as a block --- */

static int fails(void *arg)
{
        (void) arg;
        return -EIO;
}

SIM_TEST(the_value_that_a_block_stores_is_its_result)
{
        int err = 99;

        EDDY_SCOPE (scope, &err) {
                CHECK_EQ(err, 0);
        }
        CHECK_EQ(err, 0);
        EDDY_SCOPE (scope, &err) {
                err = 7;
        }
        CHECK_EQ(err, 7);
        EDDY_SCOPE (scope, &err) {
                err = fails(NULL);
                if (err < 0)
                        break;
                err = 7;
        }
        CHECK_EQ(err, -EIO);
        EDDY_SCOPE (scope, &err) {
                eddy_scope_start(&scope, fails, NULL);
                err = 7;
        }
        CHECK_EQ(err, -EIO);
}

static int returns_from_inside(int store, int *ret_err)
{
        EDDY_SCOPE (scope, ret_err) {
                *ret_err = store;
                return 5;
        }
        return -1;
}

SIM_TEST(a_return_leaves_the_values_that_the_block_stored)
{
        int err = 99;

        CHECK_EQ(returns_from_inside(0, &err), 5);
        CHECK_EQ(err, 0);
        CHECK_EQ(returns_from_inside(-EIO, &err), 5);
        CHECK_EQ(err, -EIO);
}

SIM_TEST(a_failure_goes_out_through_blocks_in_blocks)
{
        struct child outside = patient(), inside = patient();
        int outer_err = 99, err = 99;

        EDDY_SCOPE (outer, &outer_err) {
                eddy_scope_start(&outer, child_run, &outside);
                EDDY_SCOPE (inner, &err) {
                        eddy_scope_start(&inner, child_run, &inside);
                        CHECK_EQ(eddy_sleep(MS), 0);
                        err = -EIO;
                }
                CHECK_EQ(err, -EIO);
                CHECK_EQ(inside.slept, -ECANCELED);
                CHECK_EQ(outside.slept, 1);
                outer_err = err;
        }
        CHECK_EQ(outer_err, -EIO);
        CHECK_EQ(outside.slept, -ECANCELED);
}

/* --- debug mode --- */

/* Whoever ends the scope has the failure in hand. */
SIM_TEST_AS(debug_mode_does_not_report_a_failure_of_a_block_as_unread, EDDY_RUN_DEBUG)
{
        struct child bad = { MS, -EPERM, 1 };
        struct ed_run *run = ed_run_of(ed_loop_current);
        struct reports reports = { 0 };
        eddy_scope scope;

        run->opts.report = reports_add;
        run->opts.report_arg = &reports;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, child_run, &bad), 0);
        CHECK_EQ(eddy_sleep(2 * MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end_with(&scope, -EIO), -EPERM);
        CHECK_EQ(reports.count[EDDY_REPORT_UNHANDLED], 0);
        run->opts.report = ed_report_to_stderr;
}
