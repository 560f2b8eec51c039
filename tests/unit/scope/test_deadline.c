/*
 * test_deadline.c - deadlines of scopes: who is named, what wins, moving them.
 */
#include "sim_run.h"

SIM_TEST(a_deadline_ends_a_sleep_in_its_nanosecond)
{
        int64_t begun = eddy_now();
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 50 * MS });
        CHECK_EQ(eddy_scope_deadline(&scope), begun + 50 * MS);
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        CHECK_EQ(eddy_now() - begun, 50 * MS);
        CHECK(eddy_scope_expired(&scope));
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK(eddy_scope_expired(&scope));
        CHECK_EQ(eddy_sleep(MS), 0);
}

/* A51: a deadline is a point in time; of a timeout and a deadline the earlier counts. */
SIM_TEST(of_timeout_and_deadline_the_earlier_counts)
{
        int64_t now = eddy_now();
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 50 * MS,
                                                            .deadline_ns = now + 20 * MS });
        CHECK_EQ(eddy_scope_deadline(&scope), now + 20 * MS);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS,
                                                            .deadline_ns = now + 20 * MS });
        CHECK_EQ(eddy_scope_deadline(&scope), now + 10 * MS);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* A51: no deadline never comes; one too far to count is as good as none. */
SIM_TEST(a_timeout_beyond_all_time_is_clamped)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = INT64_MAX });
        CHECK_EQ(eddy_scope_deadline(&scope), INT64_MAX);
        CHECK_EQ(eddy_sleep(EDDY_SEC(3600)), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* A60, A51: a timeout below 0 is over already: the first suspending call says so. */
SIM_TEST(a_timeout_below_zero_is_over_at_once)
{
        const int64_t over[] = { -1, INT64_MIN, -eddy_now(), -eddy_now() + 1 };

        for (int i = 0; i < 4; i++) {
                eddy_scope scope;

                eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = over[i] });
                CHECK(eddy_scope_expired(&scope));
                CHECK(eddy_scope_is_cancelled(&scope));
                CHECK(eddy_scope_deadline(&scope) != 0);
                CHECK_EQ(eddy_sleep(0), -ECANCELED);
                CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        }
}

/* A52: a body that does not suspend does not time out. */
SIM_TEST(an_expired_scope_without_a_suspending_call_ends_with_0)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = -1 });
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(eddy_scope_expired(&scope));
}

/* A54: a cancel from outside is no timeout while the deadline has not passed. */
static int under_deadline(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 50 * MS });
        (void) eddy_sleep(EDDY_SEC(9));
        *(int *) arg = eddy_scope_end(&scope);
        return eddy_sleep(0);
}

SIM_TEST(a_cancel_from_outside_before_the_deadline_is_no_timeout)
{
        eddy_scope scope;
        eddy_task *task;
        int end = 0;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, under_deadline, &end, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_task_cancel(task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(end, -ECANCELED);
        eddy_task_release(task);
}

/* A55: both before the task runs again: the outer cause is the one named, and it has expired. */
static int cancels_at_the_deadline(void *arg)
{
        eddy_task **victim = arg;
        int err = eddy_sleep(50 * MS);

        eddy_task_cancel(*victim);
        return err;
}

static int expires_and_is_cancelled(void *arg)
{
        eddy_scope scope;
        int end;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .deadline_ns = eddy_now() + 50 * MS });
        /* In a shield the cancels wait until both are there. */
        EDDY_SCOPE (shield, &end, .flags = EDDY_SCOPE_SHIELD) {
                CHECK_EQ(eddy_sleep(60 * MS), 0);
        }
        CHECK_EQ(end, 0);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK(eddy_scope_expired(&scope));
        CHECK_EQ(eddy_scope_end(&scope), -ECANCELED);
        return -ECANCELED;
}

SIM_TEST(deadline_and_cancel_from_outside_together_are_a_cancel)
{
        eddy_scope scope;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, expires_and_is_cancelled, NULL, NULL, &task), 0);
        eddy_scope_start(&scope, cancels_at_the_deadline, &task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(task);
}

/* A56: of two deadlines at the same instant the outer one is named; both have expired. */
SIM_TEST(of_two_equal_deadlines_the_outer_is_named)
{
        int64_t at = eddy_now() + 10 * MS;
        eddy_scope outer, inner;

        eddy_scope_begin(&outer, &(struct eddy_scope_opts){ .deadline_ns = at });
        eddy_scope_begin(&inner, &(struct eddy_scope_opts){ .deadline_ns = at });
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        CHECK(eddy_scope_expired(&inner) && eddy_scope_expired(&outer));
        CHECK_EQ(eddy_scope_end(&inner), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), -ETIMEDOUT);
}

SIM_TEST(of_two_deadlines_the_one_that_passed_is_named)
{
        eddy_scope outer, inner;

        eddy_scope_begin(&outer, &(struct eddy_scope_opts){ .timeout_ns = 30 * MS });
        eddy_scope_begin(&inner, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS });
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&inner), -ETIMEDOUT);
        CHECK(!eddy_scope_is_cancelled(&outer));
        /* A56: the outer one still interrupts a later wait. */
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), -ETIMEDOUT);
}

/* A57, A53: a body that carries on after its deadline has still timed out. */
SIM_TEST(carrying_on_after_the_deadline_is_still_a_timeout)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = MS });
        (void) eddy_sleep(EDDY_SEC(1));
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
}

struct failing {
        int64_t sleep_ns;
        int result;
};

static int fails_after(void *arg)
{
        struct failing *f = arg;

        (void) eddy_sleep(f->sleep_ns);
        return f->result;
}

/* A58: a failure before the deadline is the result. */
SIM_TEST(a_failure_before_the_deadline_wins)
{
        struct failing f = { 5 * MS, -EIO };
        eddy_scope scope, shield;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS });
        eddy_scope_start(&scope, fails_after, &f);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        CHECK_EQ(eddy_sleep(50 * MS), 0);
        CHECK_EQ(eddy_scope_end(&shield), 0);
        CHECK(eddy_scope_expired(&scope));
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
}

/* A58: one that comes after it is in the list of errors. */
SIM_TEST(a_failure_after_the_deadline_is_only_listed)
{
        struct eddy_scope_errors errors;
        struct failing f = { EDDY_SEC(9), -EIO };
        eddy_scope scope;

        eddy_scope_begin(&scope,
                         &(struct eddy_scope_opts){ .timeout_ns = 10 * MS, .errors = &errors });
        eddy_scope_start(&scope, fails_after, &f);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK_EQ(errors.count, 1);
        CHECK_EQ(errors.list[0].result, -EIO);
}

/* A61: the end waits for what takes its time to stop. */
static int takes_its_time(void *arg)
{
        int end;

        (void) arg;
        (void) eddy_sleep(EDDY_SEC(9));
        EDDY_SCOPE (shield, &end, .flags = EDDY_SCOPE_SHIELD) {
                (void) eddy_sleep(500 * MS);
        }
        return 0;
}

SIM_TEST(the_end_of_an_expired_scope_waits_for_cleanup)
{
        int64_t begun = eddy_now();
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS });
        eddy_scope_start(&scope, takes_its_time, NULL);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK_NS(eddy_now() - begun, 510 * MS);
}

/* --- moving --- */

/* A59: a deadline moves while it has not passed, and not after. */
SIM_TEST(a_deadline_can_be_moved_back_and_forth_and_taken_away)
{
        int64_t begun = eddy_now();
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS });
        CHECK_EQ(eddy_scope_set_deadline(&scope, begun + 50 * MS), 0);
        CHECK_EQ(eddy_sleep(20 * MS), 0);
        CHECK_EQ(eddy_scope_set_deadline(&scope, 0), 0);
        CHECK_EQ(eddy_scope_deadline(&scope), 0);
        CHECK_EQ(eddy_sleep(100 * MS), 0);
        CHECK_EQ(eddy_scope_set_deadline(&scope, eddy_now() + 5 * MS), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        CHECK_NS(eddy_now() - begun, 125 * MS);
        CHECK_EQ(eddy_scope_set_deadline(&scope, eddy_now() + EDDY_SEC(1)), -EALREADY);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
}

SIM_TEST(moving_the_deadline_into_the_past_expires_at_once)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_set_deadline(&scope, eddy_now() - 1), 0);
        CHECK(eddy_scope_expired(&scope));
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
}

SIM_TEST(a_cancelled_scope_keeps_its_deadline_as_it_is)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_set_deadline(&scope, eddy_now() + MS), -EALREADY);
        CHECK_EQ(eddy_scope_deadline(&scope), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* --- eddy_call_timeout --- */

static int sleeps_for(void *arg)
{
        return eddy_sleep(*(int64_t *) arg);
}

static int never_minds(void *arg)
{
        (void) eddy_sleep(*(int64_t *) arg);
        return 7;
}

static int fails_on_cancel(void *arg)
{
        return eddy_sleep(*(int64_t *) arg) < 0 ? -EIO : 0;
}

static int suspends_never(void *arg)
{
        (void) arg;
        return 3;
}

SIM_TEST(a_call_in_time_returns_its_result)
{
        int64_t ns = 10 * MS;

        CHECK_EQ(eddy_call_timeout(sleeps_for, &ns, 20 * MS), 0);
        CHECK_EQ(eddy_sleep(20 * MS), 0);
}

SIM_TEST(a_call_that_takes_too_long_times_out)
{
        int64_t ns = 10 * MS, begun = eddy_now();

        CHECK_EQ(eddy_call_timeout(sleeps_for, &ns, 5 * MS), -ETIMEDOUT);
        CHECK_NS(eddy_now() - begun, 5 * MS);
}

/* A62: a call that gets over its cancel and has a result returns that; its failure likewise. */
SIM_TEST(a_result_and_a_failure_of_the_call_win_over_the_deadline)
{
        int64_t ns = 10 * MS;

        CHECK_EQ(eddy_call_timeout(never_minds, &ns, 5 * MS), 7);
        CHECK_EQ(eddy_call_timeout(fails_on_cancel, &ns, 5 * MS), -EIO);
}

/* A60: with a timeout of 0 or less the call starts, and its first suspending call is cancelled. */
SIM_TEST(a_call_without_time_starts_all_the_same)
{
        int64_t ns = 1;

        CHECK_EQ(eddy_call_timeout(suspends_never, NULL, 0), 3);
        CHECK_EQ(eddy_call_timeout(sleeps_for, &ns, 0), -ETIMEDOUT);
        CHECK_EQ(eddy_call_timeout(sleeps_for, &ns, -5), -ETIMEDOUT);
}

/* A63: a cancel from outside is passed on as what it is. */
SIM_TEST(a_cancel_from_outside_is_no_timeout_of_the_call)
{
        int64_t ns = EDDY_SEC(9);
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS });
        CHECK_EQ(eddy_call_timeout(sleeps_for, &ns, EDDY_SEC(1)), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
}
