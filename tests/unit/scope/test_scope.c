/*
 * test_scope.c - what a scope comes to: it waits for its tasks, the first
 * failure cancels the rest and is its result, and errors are listed.
 */
#include "sim_run.h"

/* --- tasks of many cases --- */

struct worker {
        int64_t sleep_ns;
        int result;
        int slept; /* what the sleep returned */
        bool started, ended;
};

static int work(void *arg)
{
        struct worker *w = arg;

        w->started = true;
        w->slept = eddy_sleep(w->sleep_ns);
        w->ended = true;
        return w->slept < 0 && w->result >= 0 ? w->slept : w->result;
}

/* Ignores that it is cancelled. */
static int work_on(void *arg)
{
        struct worker *w = arg;

        w->started = true;
        w->slept = eddy_sleep(w->sleep_ns);
        w->ended = true;
        return w->result;
}

SIM_TEST(an_empty_scope_ends_with_0)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_deadline(&scope), 0);
        CHECK(!eddy_scope_is_cancelled(&scope));
        CHECK(!eddy_scope_expired(&scope));
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(end_waits_for_every_task)
{
        struct worker w[3] = { { 10 * MS }, { 30 * MS }, { 20 * MS } };
        int64_t begun = eddy_now();
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_scope_start(&scope, work, &w[i]), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_NS(eddy_now() - begun, 30 * MS);
        for (int i = 0; i < 3; i++)
                CHECK(w[i].ended);
}

/* A29: a task first runs when the starter suspends, and they run in the order started. */
static int log_id(void *arg)
{
        static int next;

        CHECK_EQ(*(int *) arg, next);
        next++;
        return 0;
}

SIM_TEST(tasks_run_in_the_order_started_and_never_inside_start)
{
        struct worker w = { 0 };
        int ids[5] = { 0, 1, 2, 3, 4 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, work, &w), 0);
        CHECK(!w.started);
        for (int i = 0; i < 5; i++)
                CHECK_EQ(eddy_scope_start(&scope, log_id, &ids[i]), 0);
        CHECK(!w.started);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK(w.started);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* A64: a failing task cancels its siblings, once, and the owner in the body. */
SIM_TEST(the_first_failure_cancels_the_rest_and_the_owner)
{
        struct worker bad = { 10 * MS, -EIO }, other = { EDDY_SEC(100), 0 };
        int64_t begun = eddy_now();
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, work, &other);
        eddy_scope_start(&scope, work, &bad);
        CHECK_EQ(eddy_sleep(EDDY_SEC(100)), -ECANCELED);
        CHECK(eddy_scope_is_cancelled(&scope));
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(other.slept, -ECANCELED);
        CHECK_NS(eddy_now() - begun, 10 * MS);
}

/* A69: what the scope did to its owner does not leak out of it. */
SIM_TEST(after_the_end_the_owner_is_not_cancelled)
{
        struct worker bad = { 1, -EIO };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, work, &bad);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(eddy_sleep(MS), 0);
}

/* A71: a body that goes on after the scope's cancel runs on; the failure is returned at the end. */
SIM_TEST(a_body_that_ignores_the_cancel_still_gets_the_failure_at_the_end)
{
        struct worker bad = { 1, -EIO };
        eddy_scope scope;
        int ran = 0;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, work, &bad);
        (void) eddy_sleep(MS);
        ran++;
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        ran++;
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(ran, 2);
}

SIM_TEST(of_two_failures_the_first_in_time_is_the_result)
{
        struct worker late = { 20 * MS, -EPERM }, early = { 10 * MS, -EIO };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, work_on, &late);
        eddy_scope_start(&scope, work_on, &early);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK(late.ended);
        CHECK_EQ(late.slept, -ECANCELED);
}

SIM_TEST(with_keep_going_a_failure_cancels_no_task)
{
        struct worker bad = { 1 * MS, -EIO }, good = { 20 * MS, 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        eddy_scope_start(&scope, work, &bad);
        eddy_scope_start(&scope, work, &good);
        CHECK_EQ(eddy_sleep(5 * MS), 0);
        CHECK(!eddy_scope_is_cancelled(&scope));
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(good.slept, 0);
}

/* A65, A37: a task that was cancelled and says so has not failed; one that succeeds has succeeded. */
SIM_TEST(a_cancelled_task_is_not_a_failure)
{
        struct worker w[2] = { { EDDY_SEC(9), 0 }, { EDDY_SEC(9), 7 } }, sibling = { 5 * MS, 0 };
        eddy_task *task[2];
        eddy_scope scope;
        int result;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, work, &w[0], NULL, &task[0]), 0);
        CHECK_EQ(eddy_scope_start_task(&scope, work_on, &w[1], NULL, &task[1]), 0);
        eddy_scope_start(&scope, work, &sibling);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_task_cancel(task[0]);
        eddy_task_cancel(task[1]);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(sibling.slept, 0);
        CHECK_EQ(eddy_task_result(task[0], &result), 0);
        CHECK_EQ(result, -ECANCELED);
        CHECK_EQ(eddy_task_result(task[1], &result), 0);
        CHECK_EQ(result, 7);
        eddy_task_release(task[0]);
        eddy_task_release(task[1]);
}

static int says_cancelled(void *arg)
{
        (void) arg;
        return -ECANCELED;
}

SIM_TEST(ecanceled_from_a_task_that_was_not_cancelled_is_a_failure)
{
        struct eddy_scope_errors errors;
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .errors = &errors });
        eddy_scope_start(&scope, says_cancelled, NULL);
        CHECK_EQ(eddy_scope_end(&scope), -ECANCELED);
        CHECK_EQ(errors.count, 1);
}

SIM_TEST(a_positive_result_is_not_a_failure)
{
        struct worker w = { 0, 12345 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, work, &w);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int fail_with(void *arg)
{
        return -(int) (intptr_t) arg;
}

SIM_TEST(the_first_sixteen_failures_are_listed_and_all_are_counted)
{
        struct eddy_scope_errors errors;
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_KEEP_GOING, .errors = &errors };
        eddy_scope scope;

        memset(&errors, 0xff, sizeof(errors));
        eddy_scope_begin(&scope, &opts);
        CHECK_EQ(errors.count, 0);
        for (int i = 1; i <= 40; i++) {
                struct eddy_task_opts named = { .name = i % 2 ? "odd" : "even" };
                eddy_task *task;

                CHECK_EQ(eddy_scope_start_task(&scope, fail_with, (void *) (intptr_t) i, &named,
                                               &task),
                         0);
                eddy_task_release(task);
        }
        CHECK_EQ(eddy_scope_end(&scope), -1);
        CHECK_EQ(errors.count, 40);
        CHECK_EQ(errors.listed, EDDY_SCOPE_ERRORS_MAX);
        for (int i = 0; i < EDDY_SCOPE_ERRORS_MAX; i++) {
                CHECK_EQ(errors.list[i].result, -(i + 1));
                CHECK_STR(errors.list[i].task, i % 2 ? "even" : "odd");
        }
}

SIM_TEST(a_cancelled_sibling_is_not_among_the_errors)
{
        struct eddy_scope_errors errors;
        struct worker bad = { MS, -EIO }, other = { EDDY_SEC(1), 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .errors = &errors });
        eddy_scope_start(&scope, work, &other);
        eddy_scope_start(&scope, work, &bad);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(errors.count, 1);
        CHECK_EQ(errors.list[0].result, -EIO);
}

/* --- cancelling a scope --- */

/* A75: cancelling a scope stops its tasks and its body, twice as well as once, and is no error. */
SIM_TEST(cancelling_a_scope_is_not_a_failure)
{
        struct worker w = { EDDY_SEC(9), 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, work, &w);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_cancel(&scope);
        eddy_scope_cancel(&scope);
        CHECK(eddy_scope_is_cancelled(&scope));
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(w.slept, -ECANCELED);
        CHECK(!eddy_scope_expired(&scope));
}

static eddy_scope of_who_has_ended;

static int begins_and_ends(void *arg)
{
        (void) arg;
        eddy_scope_begin(&of_who_has_ended, NULL);
        return eddy_scope_end(&of_who_has_ended);
}

SIM_TEST(calls_on_a_scope_after_its_end_change_nothing)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, begins_and_ends, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_scope_cancel(&of_who_has_ended);
        CHECK(!eddy_scope_is_cancelled(&of_who_has_ended));
        CHECK_EQ(eddy_scope_set_deadline(&of_who_has_ended, eddy_now()), -EALREADY);
        CHECK(!eddy_scope_expired(&of_who_has_ended));
        CHECK_EQ(eddy_scope_start(&of_who_has_ended, begins_and_ends, NULL), -ECANCELED);
}

SIM_TEST(a_deadline_that_passes_after_a_cancel_is_not_its_cause)
{
        eddy_scope scope, shield;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS });
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        CHECK_EQ(eddy_sleep(20 * MS), 0);
        CHECK_EQ(eddy_scope_end(&shield), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(eddy_scope_expired(&scope));
}

/* --- nesting --- */

struct tree {
        int depth, width;
        int *leaves, *cancelled;
};

static int grow_tree(void *arg)
{
        struct tree *tree = arg, below = *tree;
        eddy_scope scope;
        int err;

        if (tree->depth == 0) {
                (*tree->leaves)++;
                err = eddy_sleep(EDDY_SEC(100));
                *tree->cancelled += err == -ECANCELED;
                return err;
        }
        below.depth--;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < tree->width; i++)
                eddy_scope_start(&scope, grow_tree, &below);
        return eddy_scope_end(&scope);
}

/* A70: nested scopes that are cancelled at once end from the inside out, and none is lost. */
SIM_TEST(a_cancel_reaches_the_children_of_children)
{
        int leaves = 0, cancelled = 0;
        struct tree tree = { 4, 3, &leaves, &cancelled };
        struct worker bad = { 10 * MS, -EIO };
        int64_t begun = eddy_now();
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, grow_tree, &tree);
        eddy_scope_start(&scope, work, &bad);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(leaves, 81);
        CHECK_EQ(cancelled, 81);
        CHECK(eddy_now() - begun < 11 * MS);
}

SIM_TEST(a_cancel_of_an_inner_scope_stays_inside)
{
        struct worker outer_w = { 20 * MS, 0 }, inner_w = { 20 * MS, 0 };
        eddy_scope outer, inner;

        eddy_scope_begin(&outer, NULL);
        eddy_scope_start(&outer, work, &outer_w);
        eddy_scope_begin(&inner, NULL);
        eddy_scope_start(&inner, work, &inner_w);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_cancel(&inner);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&inner), 0);
        CHECK(!eddy_scope_is_cancelled(&outer));
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_scope_end(&outer), 0);
        CHECK_EQ(inner_w.slept, -ECANCELED);
        CHECK_EQ(outer_w.slept, 0);
}

/* --- cancelled from outside --- */

struct inner {
        int end, slept, later;
        bool suspends;
        int child_result;
        bool errors_win;
};

static int fails_when_cancelled(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_SEC(9)) < 0 ? -EIO : 0;
}

static int swallows(void *arg)
{
        (void) arg;
        (void) eddy_sleep(EDDY_SEC(9));
        return 0;
}

static int with_inner_scope(void *arg)
{
        struct inner *in = arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        if (in->errors_win)
                eddy_scope_start(&scope, fails_when_cancelled, NULL);
        if (in->suspends)
                in->slept = eddy_sleep(EDDY_SEC(9));
        else
                (void) eddy_sleep(5 * MS); /* over before the cancel comes */
        in->end = eddy_scope_end(&scope);
        in->later = eddy_sleep(MS);
        return in->later;
}

static void cancel_from_outside(struct inner *in)
{
        eddy_scope scope;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, with_inner_scope, in, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_task_cancel(task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(task);
}

/* A67: a cancel from outside that was seen inside is what the scope ends with. */
SIM_TEST(a_cancel_from_outside_that_was_delivered_is_the_result)
{
        struct inner in = { .suspends = true };

        cancel_from_outside(&in);
        CHECK_EQ(in.slept, -ECANCELED);
        CHECK_EQ(in.end, -ECANCELED);
        CHECK_EQ(in.later, -ECANCELED);
}

/* A68: a failure beats a cancel from outside, which is still there at the next call. */
SIM_TEST(a_failure_beats_a_cancel_from_outside_which_shows_at_the_next_call)
{
        struct inner in = { .suspends = true, .errors_win = true };

        cancel_from_outside(&in);
        CHECK_EQ(in.end, -EIO);
        CHECK_EQ(in.later, -ECANCELED);
}

static int ends_unaware(void *arg)
{
        struct inner *in = arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_task_cancel(eddy_task_current());
        in->end = eddy_scope_end(&scope);
        in->later = eddy_sleep(MS);
        return in->later;
}

SIM_TEST(a_cancel_from_outside_that_nothing_inside_met_is_not_the_result)
{
        struct inner in = { 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, ends_unaware, &in);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(in.end, 0);
        CHECK_EQ(in.later, -ECANCELED);
}

static int ends_with_stubborn_child(void *arg)
{
        struct worker *w = arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, swallows, NULL);
        eddy_scope_start(&scope, work_on, w);
        w->result = eddy_scope_end(&scope);
        return w->result;
}

/* A67: end is left only when the tasks have ended, however often the owner is cancelled. */
SIM_TEST(cancelling_the_waiter_in_end_cancels_the_tasks_and_goes_on_waiting)
{
        struct worker w = { EDDY_SEC(9), 0 };
        eddy_scope scope;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, ends_with_stubborn_child, &w, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_task_cancel(task);
        eddy_task_cancel(task);
        CHECK(!eddy_task_is_done(task));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(w.ended);
        CHECK_EQ(w.slept, -ECANCELED);
        CHECK_EQ(w.result, -ECANCELED);
        eddy_task_release(task);
}

static int ends_in_wrong_order(void *arg)
{
        eddy_scope outer, inner;

        (void) arg;
        eddy_scope_begin(&outer, NULL);
        eddy_scope_begin(&inner, NULL);
        return eddy_scope_end(&outer);
}

TEST_DIES(scopes_end_innermost_first, 6)
{
        (void) sim_run(ends_in_wrong_order, NULL);
}

static int leaves_scope_open(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        return 0;
}

TEST_DIES(a_task_that_leaves_a_scope_open_is_a_broken_invariant, 6)
{
        (void) sim_run(leaves_scope_open, NULL);
}
