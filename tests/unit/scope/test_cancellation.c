/*
 * test_cancellation.c - cancelling in the corners: what the one who is
 * cancelled sees, that no other task is affected, and where the result is returned.
 */
#include "loop/loop.h"
#include "sim_run.h"

/* --- order --- */

struct trace {
        char text[256];
};

static void note(struct trace *trace, const char *what)
{
        size_t used = strlen(trace->text);

        snprintf(trace->text + used, sizeof(trace->text) - used, "%s ", what);
}

struct step {
        struct trace *trace;
        const char *words[3];
};

static int steps(void *arg)
{
        const struct step *step = arg;

        for (int i = 0; i < 3; i++) {
                note(step->trace, step->words[i]);
                if (i < 2)
                        CHECK_EQ(eddy_sleep(0), 0);
        }
        return 0;
}

/* A29, A48: tasks begin in the order started, not inside start, and take turns at each wait. */
SIM_TEST(tasks_take_turns_in_the_order_started)
{
        struct trace trace = { "" };
        struct step step[3] = { { &trace, { "start0", "mid0", "end0" } },
                                { &trace, { "start1", "mid1", "end1" } },
                                { &trace, { "start2", "mid2", "end2" } } };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_scope_start(&scope, steps, &step[i]), 0);
        CHECK_STR(trace.text, "");
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_STR(trace.text, "start0 start1 start2 mid0 mid1 mid2 end0 end1 end2 ");
}

static int counts(void *arg)
{
        ++*(int *) arg;
        return 0;
}

/* A48: not even starting more tasks than run in a turn runs one of them. */
SIM_TEST(starting_many_runs_none_before_the_starter_suspends)
{
        eddy_scope scope;
        int ran = 0;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 300; i++) {
                CHECK_EQ(eddy_scope_start(&scope, counts, &ran), 0);
                CHECK_EQ(ran, 0);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(ran, 300);
}

/* --- who is cancelled --- */

struct waiter {
        eddy_semaphore sem;
        eddy_task *other;
        int waited, again, result;
        int64_t woken_ns;
};

static int waits_for_unit(void *arg)
{
        struct waiter *w = arg;

        w->waited = eddy_semaphore_acquire(&w->sem);
        w->woken_ns = eddy_now();
        w->again = eddy_sleep(MS);
        return w->result;
}

/* A31: a wait is taken back at the cancel, in the same turn; what is waited for is as it was. */
SIM_TEST(a_cancelled_wait_is_taken_back_at_once)
{
        struct waiter w = { .waited = 1, .result = -ECANCELED };
        eddy_scope scope;
        eddy_task *task;
        int64_t cancelled_ns;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, waits_for_unit, &w, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_semaphore_waiting(&w.sem), 1);
        eddy_task_cancel(task);
        cancelled_ns = eddy_now();
        /* Out of the line before it ran: the unit that comes now is for others. */
        CHECK_EQ(eddy_semaphore_waiting(&w.sem), 0);
        CHECK(!eddy_task_is_done(task));
        CHECK_EQ(eddy_semaphore_release(&w.sem), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(w.waited, -ECANCELED);
        CHECK_EQ(w.woken_ns, cancelled_ns);
        CHECK_EQ(eddy_semaphore_units(&w.sem), 1);
        eddy_task_release(task);
}

/* A33, A35, A40: caught once, the cancel is still there at each later call; nothing takes it back. */
SIM_TEST(a_cancel_that_was_caught_is_still_there)
{
        struct waiter w = { .waited = 1, .again = 1, .result = 3 };
        eddy_scope scope;
        eddy_task *task;
        int result;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, waits_for_unit, &w, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_task_cancel(task);
        CHECK_EQ(eddy_task_join(task, &result), 0);
        CHECK_EQ(w.waited, -ECANCELED);
        CHECK_EQ(w.again, -ECANCELED);
        CHECK_EQ(result, 3);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(task);
}

static int cancels_itself_and_returns(void *arg)
{
        eddy_task_cancel(eddy_task_current());
        return (int) (intptr_t) arg;
}

/* A37: a task that cancels itself and returns a result has succeeded with it. */
SIM_TEST(a_task_that_cancels_itself_and_has_a_result_has_succeeded)
{
        eddy_scope scope;
        eddy_task *task;
        int result = 0;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, cancels_itself_and_returns, (void *) 3, NULL, &task),
                 0);
        CHECK_EQ(eddy_task_join(task, &result), 0);
        CHECK_EQ(result, 3);
        CHECK(!eddy_scope_is_cancelled(&scope));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(task);
}

/* A37: one that cancels itself and fails has failed, and takes its scope with it. */
SIM_TEST(a_task_that_cancels_itself_and_fails_has_failed)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, cancels_itself_and_returns, (void *) (intptr_t) -EIO), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
}

static int sleeps_well(void *arg)
{
        struct waiter *w = arg;

        w->again = eddy_sleep(10 * MS);
        return w->again;
}

static int cancels_itself_and_joins(void *arg)
{
        struct waiter *w = arg;

        eddy_task_cancel(eddy_task_current());
        w->waited = eddy_task_join(w->other, &w->result);
        return w->waited;
}

/* A38: who was cancelled and then joins another task does that one no harm. */
SIM_TEST(joining_while_cancelled_does_not_cancel_the_other)
{
        struct waiter w = { .waited = 1, .again = 1, .result = 77 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, sleeps_well, &w, NULL, &w.other), 0);
        CHECK_EQ(eddy_scope_start(&scope, cancels_itself_and_joins, &w), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(w.waited, -ECANCELED);
        CHECK_EQ(w.result, 77);
        CHECK_EQ(w.again, 0);
        eddy_task_release(w.other);
}

static int joins(void *arg)
{
        struct waiter *w = arg;

        w->waited = eddy_task_join(w->other, &w->result);
        return w->waited;
}

/* A39: cancelling a task and the one that waits for it, in either order, is one cancel of each. */
SIM_TEST(cancelling_a_task_and_its_joiner_are_two_cancels_of_their_own)
{
        for (int joiner_first = 0; joiner_first < 2; joiner_first++) {
                struct waiter w = { .waited = 1, .again = 1, .result = 77 };
                eddy_task *joiner;
                eddy_scope scope;
                int result;

                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_scope_start_task(&scope, sleeps_well, &w, NULL, &w.other), 0);
                CHECK_EQ(eddy_scope_start_task(&scope, joins, &w, NULL, &joiner), 0);
                CHECK_EQ(eddy_sleep(MS), 0);
                eddy_task_cancel(joiner_first ? joiner : w.other);
                eddy_task_cancel(joiner_first ? w.other : joiner);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                /* Neither had ended when the joiner was cancelled. */
                CHECK_EQ(w.waited, -ECANCELED);
                CHECK_EQ(w.result, 77);
                CHECK_EQ(w.again, -ECANCELED);
                CHECK_EQ(eddy_task_result(w.other, &result), 0);
                CHECK_EQ(result, -ECANCELED);
                eddy_task_release(joiner);
                eddy_task_release(w.other);
        }
}

/* A41: cancelling what has ended changes nothing: a task, and a scope whose tasks have ended. */
SIM_TEST(cancelling_an_ended_task_is_harmless)
{
        eddy_scope scope;
        eddy_task *task;
        int ran = 0, result = -1;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, counts, &ran, NULL, &task), 0);
        CHECK_EQ(eddy_task_join(task, NULL), 0);
        eddy_task_cancel(task);
        eddy_task_cancel(task);
        CHECK_EQ(eddy_task_result(task, &result), 0);
        CHECK_EQ(result, 0);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_cancel(task);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_task_release(task);
}

/* --- which scope it was --- */

struct nest {
        int cancel; /* which of the three is cancelled: 0 is the outermost */
        int ends[3];
        int between[2]; /* after the inner ends */
};

static void cancel_one_of_three(struct nest *nest)
{
        eddy_scope scopes[3];

        for (int i = 0; i < 3; i++)
                eddy_scope_begin(&scopes[i], NULL);
        eddy_scope_cancel(&scopes[nest->cancel]);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        for (int i = 2; i >= 0; i--) {
                nest->ends[i] = eddy_scope_end(&scopes[i]);
                if (i > 0)
                        nest->between[i - 1] = eddy_sleep(MS);
        }
}

/*
 * A42, A43: each scope knows by identity whether it was cancelled itself (0),
 * from outside (-ECANCELED), or not at all (0, and calls work after the inner
 * one's end).
 */
SIM_TEST(each_of_three_scopes_knows_whose_cancel_it_was)
{
        for (int cancelled = 0; cancelled < 3; cancelled++) {
                struct nest nest = { .cancel = cancelled };

                cancel_one_of_three(&nest);
                for (int i = 0; i < 3; i++)
                        CHECK_EQ(nest.ends[i], i > cancelled ? -ECANCELED : 0);
                for (int i = 0; i < 2; i++)
                        CHECK_EQ(nest.between[i], i >= cancelled ? -ECANCELED : 0);
                CHECK_EQ(eddy_sleep(MS), 0);
        }
}

/* A42: the inner deadline came first and was reported; the outer scope reports its own cancel. */
SIM_TEST(a_deadline_and_a_later_cancel_are_each_reported_by_their_own_scope)
{
        eddy_scope outer, inner;

        eddy_scope_begin(&outer, NULL);
        eddy_scope_begin(&inner, &(struct eddy_scope_opts){ .timeout_ns = MS });
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        eddy_scope_cancel(&outer);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&inner), -ETIMEDOUT);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), 0);
}

/* A43: who ended a wait is asked of the scopes: the deadline expired, or it did not. */
SIM_TEST(expired_distinguishes_a_deadline_from_a_cancel)
{
        for (int cancel = 0; cancel < 2; cancel++) {
                eddy_scope scope;

                eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = MS });
                if (cancel)
                        eddy_scope_cancel(&scope);
                CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
                CHECK_EQ(eddy_scope_expired(&scope), !cancel);
                CHECK_EQ(eddy_scope_end(&scope), cancel ? 0 : -ETIMEDOUT);
        }
}

/* --- what keeps a task --- */

static int cleans_up(void *arg)
{
        int err = eddy_sleep(20 * MS);

        *(int *) arg = err == 0 ? 1 : -1;
        return err;
}

static int forgets(void *arg)
{
        eddy_scope scope;
        eddy_task *task;

        /* Without a handle, with one given back at once, and in the background. */
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, cleans_up, (int *) arg), 0);
        CHECK_EQ(eddy_scope_start_task(&scope, cleans_up, (int *) arg + 1, NULL, &task), 0);
        eddy_task_release(task);
        CHECK_EQ(eddy_background(cleans_up, (int *) arg + 2), 0);
        return eddy_scope_end(&scope);
}

/* A47: the loop owns its tasks; none vanishes because nobody holds it. */
TEST(tasks_that_are_not_held_run_to_their_end)
{
        int ended[3] = { 0 };

        CHECK_EQ(sim_run(forgets, ended), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(ended[i], 1);
}

/* --- sleeping --- */

static int sleeps_long(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_SEC(3600));
}

/* A8, A50: a cancelled sleep takes its timer with it, at once. */
SIM_TEST(cancelling_a_sleep_takes_its_timer_away)
{
        uint64_t before = timers_armed();
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 100; i++)
                CHECK_EQ(eddy_scope_start(&scope, sleeps_long, NULL), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(timers_armed(), before + 100);
        eddy_scope_cancel(&scope);
        CHECK_EQ(timers_armed(), before);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* --- every nesting, at random --- */

/*
 * What holds for each scope, whatever is cancelled, expires or fails and in
 * which order: see check_end().
 */
struct chance {
        uint64_t state;
        int scopes, timeouts, cancels, failures;
};

static uint64_t draw(struct chance *chance, uint64_t below)
{
        chance->state = chance->state * 6364136223846793005u + 1442695040888963407u;
        return (chance->state >> 33) % below;
}

struct leaf {
        int64_t sleep_ns;
        int result;
};

static int leaf_runs(void *arg)
{
        const struct leaf *leaf = arg;
        int err = eddy_sleep(leaf->sleep_ns);

        return err < 0 && leaf->result >= 0 ? err : leaf->result;
}

static void check_end(struct chance *chance, const eddy_scope *scope, const eddy_scope *outer,
                      const struct eddy_scope_errors *errors, int end)
{
        chance->scopes++;
        chance->timeouts += end == -ETIMEDOUT;
        chance->cancels += end == -ECANCELED;
        chance->failures += end == -EIO;
        /* It names its own deadline only if that passed, and a failure only if there was one. */
        CHECK(end != -ETIMEDOUT || eddy_scope_expired(scope));
        CHECK_EQ(errors->count > 0 && end != -ETIMEDOUT, end == -EIO);
        /* A cancel from outside is still there outside. */
        CHECK(end != -ECANCELED || eddy_scope_is_cancelled(outer));
        /* And the next call says so if it is, and only then. */
        if (!eddy_scope_is_cancelled(outer))
                CHECK_EQ(draw(chance, 8) ? 0 : eddy_sleep(0), 0);
        else
                CHECK_EQ(eddy_sleep(0), -ECANCELED);
}

static void nest_at_random(struct chance *chance, const eddy_scope *outer, int depth)
{
        struct eddy_scope_errors errors;
        struct eddy_scope_opts opts = { .errors = &errors,
                                        .flags = draw(chance, 4) ? 0 : EDDY_SCOPE_KEEP_GOING };
        eddy_scope scope;
        int end;

        if (draw(chance, 2))
                opts.timeout_ns = (int64_t) (draw(chance, 6) + 1) * MS;
        eddy_scope_begin(&scope, &opts);
        for (uint64_t i = draw(chance, 3); i > 0; i--) {
                struct leaf leaf = { (int64_t) draw(chance, 6) * MS, draw(chance, 6) ? 0 : -EIO };

                (void) eddy_scope_start_copy(&scope, leaf_runs, &leaf, sizeof(leaf));
        }
        if (draw(chance, 4) == 0)
                eddy_scope_cancel(draw(chance, 2) ? &scope : (eddy_scope *) outer);
        if (depth > 0)
                nest_at_random(chance, &scope, depth - 1);
        if (draw(chance, 2))
                (void) eddy_sleep((int64_t) draw(chance, 4) * MS);
        end = eddy_scope_end(&scope);
        check_end(chance, &scope, outer, &errors, end);
}

static int nests_at_random(void *arg)
{
        eddy_scope outer;

        eddy_scope_begin(&outer, NULL);
        nest_at_random(arg, &outer, 3);
        (void) eddy_scope_end(&outer);
        /* Nothing of it is left. */
        CHECK_EQ(eddy_sleep(0), 0);
        return 0;
}

/* A42, A53, A54, A67, A69, A70, A75: of every nesting these hold, in every order. */
TEST(in_every_nesting_each_scope_reports_its_own_end)
{
        struct chance chance = { 0 };

        for (uint64_t seed = 1; seed <= 2000; seed++) {
                chance.state = seed * 0x9e3779b97f4a7c15u;
                CHECK_EQ(sim_run_with(nests_at_random, &chance, seed % 3 ? seed : 0,
                                      (struct eddy_run_opts){ 0 }),
                         0);
        }
        /* All of them were seen, and not seldom. */
        CHECK_EQ(chance.scopes, 8000);
        CHECK(chance.timeouts > 200 && chance.cancels > 200 && chance.failures > 200);
}

/* --- several causes, one after another --- */

/* Each cancel is put down to its own cause, although a call inside was stopped before. */
SIM_TEST(a_cancel_farther_out_is_reported_after_one_inside_was_delivered)
{
        eddy_scope outer, middle, inner;

        eddy_scope_begin(&outer, NULL);
        eddy_scope_begin(&middle, NULL);
        eddy_scope_begin(&inner, NULL);
        eddy_scope_cancel(&inner);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        eddy_scope_cancel(&middle);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&inner), -ECANCELED);
        eddy_scope_cancel(&outer);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&middle), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), 0);
}

SIM_TEST(a_cancel_that_stopped_nothing_farther_in_is_not_reported_there)
{
        eddy_scope outer, inner;

        eddy_scope_begin(&outer, NULL);
        eddy_scope_begin(&inner, NULL);
        eddy_scope_cancel(&inner);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        eddy_scope_cancel(&outer);
        CHECK_EQ(eddy_scope_end(&inner), 0);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), 0);
}

SIM_TEST(a_cancel_inside_a_shield_is_reported_on_its_own_side)
{
        struct eddy_scope_opts shielded = { .flags = EDDY_SCOPE_SHIELD };
        eddy_scope outer, shield, inner;

        eddy_scope_begin(&outer, NULL);
        eddy_scope_begin(&shield, &shielded);
        eddy_scope_begin(&inner, NULL);
        eddy_scope_cancel(&outer);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_cancel(&inner);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        eddy_scope_cancel(&shield);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&inner), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&shield), 0);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), 0);
}
