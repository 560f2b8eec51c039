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

static int time_out_often(void *arg)
{
        enum { ROUNDS = 400, TIMEOUT_NS = 20000 };

        (void) arg;
        for (int i = 0; i < ROUNDS; i++) {
                int64_t begun = eddy_now();
                eddy_scope scope;

                eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = TIMEOUT_NS });
                CHECK(eddy_scope_deadline(&scope) >= begun + TIMEOUT_NS);
                /* Many that are not waited for in between. */
                for (int j = 0; j < i % 64; j++) {
                        eddy_scope inner;

                        eddy_scope_begin(&inner,
                                         &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(5) });
                        CHECK(eddy_scope_deadline(&inner) >= begun + EDDY_SEC(5));
                        CHECK_EQ(eddy_scope_end(&inner), 0);
                }
                CHECK_EQ(eddy_sleep(EDDY_SEC(60)), -ECANCELED);
                CHECK(eddy_now() - begun >= TIMEOUT_NS);
                CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        }
        return 0;
}

/* There the time for a deadline is not read each time. */
TEST(a_timeout_on_the_kernels_clock_is_never_early)
{
        CHECK_EQ(eddy_run(time_out_often, NULL, NULL), 0);
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

SIM_TEST(a_cancel_from_outside_before_the_deadline_is_not_a_timeout)
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
SIM_TEST(a_cancel_from_outside_is_not_a_timeout_of_the_call)
{
        int64_t ns = EDDY_SEC(9);
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS });
        CHECK_EQ(eddy_call_timeout(sleeps_for, &ns, EDDY_SEC(1)), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
}

/* --- deadlines and calls of the loop --- */

struct late {
        eddy_scope scope;
        eddy_future future;
        int result;
};

static int sets_future(void *arg)
{
        struct late *late = arg;

        return eddy_future_set(&late->future, 7, NULL);
}

static int waits_for_future(void *arg)
{
        struct late *late = arg;
        int err, ended;

        eddy_scope_begin(&late->scope, &(struct eddy_scope_opts){ .timeout_ns = 40 * MS });
        err = eddy_future_wait(&late->future, &late->result);
        ended = eddy_scope_end(&late->scope);
        return err < 0 ? ended : late->result;
}

/* What the wait comes to when the call is armed before the deadline, or after it. */
static int call_at_the_deadline(eddy_task_fn *fn, bool before)
{
        struct late late = { 0 };
        eddy_handle handle = { 0 };
        eddy_scope scope;
        eddy_task *task;
        int result;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        if (before)
                CHECK_EQ(eddy_loop_call_later(NULL, &handle, 40 * MS, fn, &late), 0);
        CHECK_EQ(eddy_scope_start_task(&scope, waits_for_future, &late, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        if (!before)
                CHECK_EQ(eddy_loop_call_later(NULL, &handle, 40 * MS, fn, &late), 0);
        CHECK_EQ(eddy_task_join(task, &result), 0);
        eddy_handle_cancel(&handle);
        eddy_task_release(task);
        (void) eddy_scope_end(&scope);
        eddy_future_fini(&late.future);
        return result;
}

/* A7, A63: of a call and a deadline at the same time, what was armed first comes first. */
SIM_TEST(a_call_and_a_deadline_of_the_same_time_keep_their_order)
{
        CHECK_EQ(call_at_the_deadline(sets_future, true), 7);
        CHECK_EQ(call_at_the_deadline(sets_future, false), -ETIMEDOUT);
}

static int moves_deadline(void *arg)
{
        struct late *late = arg;

        return eddy_scope_set_deadline(&late->scope, eddy_now() + 20 * MS);
}

static int takes_deadline_away(void *arg)
{
        struct late *late = arg;
        static eddy_handle handle;

        CHECK_EQ(eddy_loop_call_later(NULL, &handle, 99 * MS, sets_future, arg), 0);
        return eddy_scope_set_deadline(&late->scope, 0);
}

static int ends_deadline(void *arg)
{
        struct late *late = arg;

        return eddy_scope_set_deadline(&late->scope, eddy_now() - 1);
}

/* A59: a call that comes just before the deadline can still move it. */
SIM_TEST(a_call_before_the_deadline_can_move_it)
{
        int64_t begun = eddy_now();

        CHECK_EQ(call_at_the_deadline(moves_deadline, true), -ETIMEDOUT);
        CHECK_NS(eddy_now() - begun, 60 * MS);
        CHECK_EQ(call_at_the_deadline(takes_deadline_away, true), 7);
        CHECK_NS(eddy_now() - begun, 60 * MS + 139 * MS);
        CHECK_EQ(call_at_the_deadline(ends_deadline, true), -ETIMEDOUT);
}

static int cancels_handle(void *arg)
{
        return eddy_handle_cancel(arg) == 1 ? 0 : -EIO;
}

static int counts(void *arg)
{
        ++*(int *) arg;
        return 0;
}

/* A9: a call that is cancelled by the one before it, at a deadline's time, is not made. */
SIM_TEST(calls_at_a_deadline_can_cancel_each_other)
{
        eddy_handle handles[5] = { 0 };
        int made = 0, cancelled_made = 0;
        eddy_scope scope;

        CHECK_EQ(eddy_loop_call_later(NULL, &handles[0], MS, counts, &made), 0);
        CHECK_EQ(eddy_loop_call_later(NULL, &handles[1], MS, cancels_handle, &handles[2]), 0);
        CHECK_EQ(eddy_loop_call_later(NULL, &handles[2], MS, counts, &cancelled_made), 0);
        CHECK_EQ(eddy_loop_call_later(NULL, &handles[3], MS, counts, &made), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = MS });
        CHECK_EQ(eddy_loop_call_later(NULL, &handles[4], MS, counts, &made), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
        CHECK_EQ(made, 2);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(made, 3);
        CHECK_EQ(cancelled_made, 0);
}

static eddy_handle spinner;

static int spins(void *arg)
{
        return eddy_loop_call_soon(NULL, &spinner, spins, arg);
}

/* A9: the one that is cancelled may stand in line from the turn before. */
SIM_TEST(a_call_at_a_deadline_can_cancel_one_that_was_ready)
{
        eddy_handle handles[2] = { 0 };
        eddy_scope scope;
        int made = 0;

        CHECK_EQ(spins(NULL), 0);
        CHECK_EQ(eddy_loop_call_later(NULL, &handles[0], MS, cancels_handle, &spinner), 0);
        CHECK_EQ(eddy_loop_call_later(NULL, &handles[1], MS, counts, &made), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = MS });
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
        CHECK_EQ(made, 1);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(made, 1);
}
