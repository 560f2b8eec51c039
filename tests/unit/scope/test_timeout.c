/*
 * test_timeout.c - deadlines in the corners: what happens in the same turn,
 * who moves them and when it is too late, and calls under a deadline.
 */
#include "loop/loop.h"
#include "sim_run.h"

/* --- a body that does not suspend --- */

static void spin_until(int64_t ns)
{
        while (eddy_now() < ns)
                continue;
}

static int spins(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = MS });
        spin_until(eddy_scope_deadline(&scope) + MS);
        /* Nobody has looked at the clock for it. */
        CHECK(!eddy_scope_is_cancelled(&scope));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(!eddy_scope_expired(&scope));
        /* And its timer is gone. */
        CHECK_EQ(timers_armed(), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        return 5;
}

/* A52: a body that keeps the loop past its deadline and does not suspend then is no timeout. */
TEST(a_busy_body_that_never_suspends_does_not_time_out)
{
        CHECK_EQ(eddy_run(spins, NULL, &(struct eddy_run_opts){ .flags = EDDY_RUN_NO_WATCHDOG }),
                 5);
}

/* A51: no deadline, by default and when it was taken away, arms nothing. */
SIM_TEST(no_deadline_arms_no_timer)
{
        uint64_t before = timers_armed();
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .deadline_ns = 0 });
        CHECK_EQ(timers_armed(), before);
        CHECK_EQ(eddy_scope_set_deadline(&scope, eddy_now() + MS), 0);
        CHECK_EQ(timers_armed(), before + 1);
        CHECK_EQ(eddy_scope_set_deadline(&scope, 0), 0);
        CHECK_EQ(timers_armed(), before);
        CHECK_EQ(eddy_sleep(EDDY_SEC(3600)), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* Else a deadlock of the tasks that it cancels would be reported when the first one comes. */
SIM_TEST(a_deadline_moved_before_now_leaves_no_timer)
{
        uint64_t before = timers_armed();
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(3600) });
        CHECK_EQ(timers_armed(), before + 1);
        CHECK_EQ(eddy_scope_set_deadline(&scope, eddy_now()), 0);
        CHECK_EQ(timers_armed(), before);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
}

/* A51: a deadline before all time, and one at this very moment, are over at once. */
SIM_TEST(a_deadline_that_is_now_or_before_is_over_at_once)
{
        const int64_t over[] = { eddy_now(), eddy_now() - 1, 1, -1, INT64_MIN };

        for (int i = 0; i < 5; i++) {
                eddy_scope scope;

                eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .deadline_ns = over[i] });
                CHECK(eddy_scope_expired(&scope));
                CHECK_EQ(eddy_sleep(MS), -ECANCELED);
                CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        }
}

/* --- the same turn --- */

/* Something that the loop does at a time, before the deadlines that are armed later. */
struct alarm {
        struct ed_timer timer;
        eddy_semaphore *sem;
        eddy_task *victim;
};

static void alarm_rings(struct ed_timer *timer)
{
        struct alarm *alarm = ed_container_of(timer, struct alarm, timer);

        if (alarm->sem)
                CHECK_EQ(eddy_semaphore_release(alarm->sem), 0);
        if (alarm->victim)
                eddy_task_cancel(alarm->victim);
}

static void alarm_set(struct alarm *alarm, int64_t at_ns)
{
        ed_timer_init(&alarm->timer, alarm_rings);
        ed_timer_arm(&ed_loop_current->timers, &alarm->timer, at_ns);
}

struct both {
        struct alarm alarm;
        bool cancel_first;
        int slept, end, later;
        bool expired;
};

static int meets_both(void *arg)
{
        struct both *both = arg;
        int64_t at = eddy_now() + 10 * MS;
        eddy_scope scope;

        both->alarm.victim = eddy_task_current();
        if (both->cancel_first)
                alarm_set(&both->alarm, at);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .deadline_ns = at });
        if (!both->cancel_first)
                alarm_set(&both->alarm, at);
        both->slept = eddy_sleep(EDDY_SEC(9));
        CHECK_EQ(eddy_now(), at);
        both->end = eddy_scope_end(&scope);
        both->expired = eddy_scope_expired(&scope);
        both->later = eddy_sleep(0);
        return both->later;
}

/* A55: deadline and cancel from outside in one turn, in both orders: a cancel, and it has expired. */
SIM_TEST(deadline_and_cancel_in_one_turn_are_a_cancel)
{
        for (int cancel_first = 0; cancel_first < 2; cancel_first++) {
                struct both both = { .cancel_first = cancel_first };
                eddy_scope scope;

                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_scope_start(&scope, meets_both, &both), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK_EQ(both.slept, -ECANCELED);
                CHECK_EQ(both.end, -ECANCELED);
                CHECK(both.expired);
                CHECK_EQ(both.later, -ECANCELED);
        }
}

static int takes_unit(void *arg)
{
        int err = eddy_semaphore_acquire(arg);

        return err < 0 ? err : 42;
}

/* A63: a result that comes in the turn of the deadline, before it, is delivered. */
SIM_TEST(a_result_just_before_the_deadline_wins)
{
        eddy_semaphore sem = { 0 };
        struct alarm alarm = { .sem = &sem };

        alarm_set(&alarm, eddy_now() + 10 * MS);
        CHECK_EQ(eddy_call_timeout(takes_unit, &sem, 10 * MS), 42);
        CHECK_EQ(eddy_semaphore_units(&sem), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
}

/* A63: one that comes after the deadline, in the same turn, is left where it is. */
SIM_TEST(a_result_just_after_the_deadline_is_not_taken)
{
        eddy_semaphore sem = { 0 };
        struct alarm alarm = { .sem = &sem };
        int64_t at = eddy_now() + 10 * MS;
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .deadline_ns = at });
        alarm_set(&alarm, at);
        CHECK_EQ(eddy_semaphore_acquire(&sem), -ECANCELED);
        CHECK_EQ(eddy_now(), at);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK_EQ(eddy_semaphore_units(&sem), 1);
}

/* A63: a result and a cancel from outside in one turn: the result, and the cancel at the next call. */
struct raced {
        struct alarm alarm;
        eddy_semaphore sem;
        int result, later;
};

static int waits_under_deadline(void *arg)
{
        struct raced *raced = arg;

        raced->alarm.victim = eddy_task_current();
        raced->result = eddy_call_timeout(takes_unit, &raced->sem, EDDY_SEC(1));
        raced->later = eddy_sleep(0);
        return raced->later;
}

SIM_TEST(a_result_just_before_a_cancel_wins_and_the_cancel_shows_next)
{
        struct raced raced = { .result = 1, .later = 1 };
        eddy_scope scope;

        raced.alarm.sem = &raced.sem;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, waits_under_deadline, &raced), 0);
        alarm_set(&raced.alarm, eddy_now() + MS);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(raced.result, 42);
        CHECK_EQ(raced.later, -ECANCELED);
}

struct failing {
        int64_t sleep_ns, until_ns;
        int slept;
};

static int fails_after(void *arg)
{
        struct failing *f = arg;

        f->until_ns = eddy_now() + f->sleep_ns;
        f->slept = eddy_sleep(f->sleep_ns);
        return -EIO;
}

/*
 * A58: a task whose wait was over in the turn of the deadline, before it, is
 * not cancelled; as nothing else was either, its failure is the result.
 */
SIM_TEST(a_failure_whose_wait_was_over_before_the_deadline_is_the_result)
{
        struct failing f = { 10 * MS, 0, 1 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, fails_after, &f), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_scope_set_deadline(&scope, f.until_ns), 0);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK(eddy_scope_expired(&scope));
        CHECK_EQ(f.slept, 0);
}

/* A58: kept going, a failure cancels nobody; it came before the deadline and is the result. */
SIM_TEST(kept_going_a_failure_before_the_deadline_is_the_result)
{
        struct failing early = { 5 * MS, 0, 1 }, late = { EDDY_SEC(9), 0, 1 };
        struct eddy_scope_errors errors;
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS,
                                                            .flags = EDDY_SCOPE_KEEP_GOING,
                                                            .errors = &errors });
        CHECK_EQ(eddy_scope_start(&scope, fails_after, &early), 0);
        CHECK_EQ(eddy_scope_start(&scope, fails_after, &late), 0);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK(eddy_scope_expired(&scope));
        CHECK_EQ(late.slept, -ECANCELED);
        CHECK_EQ(errors.count, 2);
}

SIM_TEST(a_failure_that_the_deadline_brought_about_is_listed)
{
        struct eddy_scope_errors errors;
        struct failing f = { 20 * MS, 0, 1 };
        eddy_scope scope;

        eddy_scope_begin(&scope,
                         &(struct eddy_scope_opts){ .timeout_ns = 10 * MS, .errors = &errors });
        CHECK_EQ(eddy_scope_start(&scope, fails_after, &f), 0);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK_EQ(f.slept, -ECANCELED);
        CHECK_EQ(errors.count, 1);
        CHECK_EQ(errors.list[0].result, -EIO);
}

/* --- nested --- */

/* A56: the outer deadline is earlier and armed later: both are reported correctly nevertheless. */
SIM_TEST(an_outer_deadline_that_is_earlier_is_named_by_the_outer_scope)
{
        eddy_scope outer, inner;

        eddy_scope_begin(&outer, NULL);
        eddy_scope_begin(&inner, &(struct eddy_scope_opts){ .timeout_ns = 30 * MS });
        CHECK_EQ(eddy_scope_set_deadline(&outer, eddy_now() + 10 * MS), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        CHECK(!eddy_scope_expired(&inner));
        CHECK_EQ(eddy_scope_end(&inner), -ECANCELED);
        CHECK(!eddy_scope_expired(&inner));
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), -ETIMEDOUT);
}

/* A56: equal deadlines of which the inner was armed first: the outer is named none the less. */
SIM_TEST(of_equal_deadlines_the_outer_is_named_in_whichever_order_they_were_armed)
{
        int64_t at = eddy_now() + 10 * MS;
        eddy_scope outer, inner;

        eddy_scope_begin(&outer, NULL);
        eddy_scope_begin(&inner, &(struct eddy_scope_opts){ .deadline_ns = at });
        CHECK_EQ(eddy_scope_set_deadline(&outer, at), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        CHECK(eddy_scope_expired(&inner) && eddy_scope_expired(&outer));
        CHECK_EQ(eddy_scope_end(&inner), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), -ETIMEDOUT);
}

static int busy_under_two(void *arg)
{
        eddy_scope outer, inner;

        (void) arg;
        eddy_scope_begin(&outer, &(struct eddy_scope_opts){ .timeout_ns = 2 * MS });
        eddy_scope_begin(&inner, &(struct eddy_scope_opts){ .timeout_ns = MS });
        spin_until(eddy_scope_deadline(&outer) + MS);
        spin_until(eddy_scope_deadline(&inner) + MS);
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        CHECK(eddy_scope_expired(&inner) && eddy_scope_expired(&outer));
        CHECK_EQ(eddy_scope_end(&inner), -ECANCELED);
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), -ETIMEDOUT);
        return 5;
}

/* A56: the loop was busy past two deadlines: it comes to both at once, and the outer is named. */
TEST(two_deadlines_passed_while_the_loop_was_busy_name_the_outer)
{
        CHECK_EQ(eddy_run(busy_under_two, NULL,
                          &(struct eddy_run_opts){ .flags = EDDY_RUN_NO_WATCHDOG }),
                 5);
}

static int cleans_up_under_deadlines(void *arg)
{
        int *ends = arg;
        eddy_scope plain, shield, limit;

        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        /* Unprotected, a deadline of its own gives a cancelled task nothing. */
        eddy_scope_begin(&plain, &(struct eddy_scope_opts){ .timeout_ns = MS });
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        ends[0] = eddy_scope_end(&plain);
        CHECK(!eddy_scope_expired(&plain));
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        eddy_scope_begin(&limit, &(struct eddy_scope_opts){ .timeout_ns = MS });
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
        ends[1] = eddy_scope_end(&limit);
        CHECK_EQ(eddy_sleep(MS), 0);
        ends[2] = eddy_scope_end(&shield);
        return -ECANCELED;
}

/* A56, A54: a deadline in the cleanup of a cancelled task: a cancel, but in a shield a timeout. */
SIM_TEST(a_deadline_in_cleanup_needs_a_shield)
{
        int ends[3] = { 1, 1, 1 };
        eddy_scope scope;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, cleans_up_under_deadlines, ends, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_task_cancel(task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(ends[0], -ECANCELED);
        CHECK_EQ(ends[1], -ETIMEDOUT);
        CHECK_EQ(ends[2], 0);
        eddy_task_release(task);
}

/* --- what the end says --- */

static int swallows(void *arg)
{
        *(int *) arg = eddy_sleep(EDDY_SEC(9));
        return 0;
}

/* A53, A57: the owner saw nothing and its task got over it: it is a timeout all the same. */
SIM_TEST(a_cancel_that_only_a_task_saw_is_a_timeout)
{
        eddy_scope scope;
        int slept = 1;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS });
        CHECK_EQ(eddy_scope_start(&scope, swallows, &slept), 0);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK_EQ(slept, -ECANCELED);
        CHECK_EQ(eddy_sleep(MS), 0);
}

static int shielded_to_the_end(void *arg)
{
        eddy_scope shield;

        (void) arg;
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        CHECK_EQ(eddy_sleep(20 * MS), 0);
        return eddy_scope_end(&shield);
}

/* A53, A52: the deadline passed but no call inside was cancelled: no timeout, though it expired. */
SIM_TEST(a_deadline_that_stopped_nothing_is_not_a_timeout)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS });
        CHECK_EQ(eddy_scope_start(&scope, shielded_to_the_end, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(eddy_scope_expired(&scope));
}

/* A53: nothing of a timeout is left behind, so a second block works like the first. */
SIM_TEST(one_timeout_after_another)
{
        int64_t begun = eddy_now();

        for (int i = 1; i <= 3; i++) {
                eddy_scope scope;

                eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS });
                CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
                CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
                CHECK_NS(eddy_now() - begun, i * 10 * MS);
        }
        CHECK_EQ(eddy_sleep(MS), 0);
}

/* --- moving --- */

/* A59: after the end it is too late, and nothing is armed in a frame that may be gone. */
SIM_TEST(a_deadline_cannot_be_moved_after_the_end)
{
        uint64_t before = timers_armed();
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_scope_set_deadline(&scope, eddy_now() + MS), -EALREADY);
        CHECK_EQ(eddy_scope_set_deadline(&scope, 1), -EALREADY);
        CHECK_EQ(eddy_scope_deadline(&scope), 0);
        CHECK(!eddy_scope_expired(&scope));
        CHECK_EQ(timers_armed(), before);
        CHECK_EQ(eddy_sleep(5 * MS), 0);
}

/* A59: nor once it has expired, not even to none, nor in a scope that is cancelled from outside. */
SIM_TEST(a_deadline_cannot_be_moved_when_it_is_over_or_the_scope_cancelled)
{
        eddy_scope outer, inner;

        eddy_scope_begin(&outer, NULL);
        eddy_scope_begin(&inner, &(struct eddy_scope_opts){ .timeout_ns = -1 });
        CHECK_EQ(eddy_scope_set_deadline(&inner, 0), -EALREADY);
        CHECK_EQ(eddy_scope_set_deadline(&inner, eddy_now() + MS), -EALREADY);
        CHECK_EQ(eddy_scope_end(&inner), 0);
        eddy_scope_begin(&inner, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(1) });
        eddy_scope_cancel(&outer);
        CHECK_EQ(eddy_scope_set_deadline(&inner, 0), -EALREADY);
        CHECK_EQ(eddy_scope_set_deadline(&inner, eddy_now()), -EALREADY);
        CHECK(!eddy_scope_expired(&inner));
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&inner), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), 0);
}

/* A59: that of a shield can be moved also while all around it is cancelled. */
SIM_TEST(a_shields_deadline_can_be_moved_in_a_cancelled_scope)
{
        eddy_scope scope, shield;
        int64_t begun = eddy_now();

        eddy_scope_begin(&scope, NULL);
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_set_deadline(&shield, begun + 10 * MS), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
        CHECK_EQ(eddy_now(), begun + 10 * MS);
        CHECK_EQ(eddy_scope_end(&shield), -ETIMEDOUT);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

struct mover {
        eddy_scope *scope;
        int64_t at_ns, to_ns;
        int moved;
};

static int moves(void *arg)
{
        struct mover *mover = arg;

        CHECK_EQ(eddy_sleep(mover->at_ns - eddy_now()), 0);
        mover->moved = eddy_scope_set_deadline(mover->scope, mover->to_ns);
        return 0;
}

/* A59: another task moves it while the owner waits inside: earlier, later, to now. */
SIM_TEST(a_deadline_can_be_moved_by_another_task)
{
        static const int64_t to_ms[] = { 20, 200, 10, -1 }, at_ms[] = { 20, 200, 10, 10 };

        for (int i = 0; i < 4; i++) {
                int64_t begun = eddy_now();
                struct mover mover = { .at_ns = begun + 10 * MS, .moved = 1 };
                eddy_scope movers, scope;

                mover.to_ns = to_ms[i] < 0 ? 1 : begun + to_ms[i] * MS;
                eddy_scope_begin(&movers, NULL);
                CHECK_EQ(eddy_scope_start(&movers, moves, &mover), 0);
                eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 100 * MS });
                mover.scope = &scope;
                CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
                CHECK_NS(eddy_now() - begun, at_ms[i] * MS);
                CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
                CHECK_EQ(mover.moved, 0);
                CHECK_EQ(eddy_scope_end(&movers), 0);
        }
}

/* A59: and while the owner waits in the scope's end, where it cancels the tasks. */
SIM_TEST(a_deadline_can_be_moved_while_the_scope_ends)
{
        int64_t begun = eddy_now();
        struct mover mover = { .at_ns = begun + 10 * MS, .to_ns = begun + 20 * MS, .moved = 1 };
        eddy_scope movers, scope;
        int slept = 1;

        eddy_scope_begin(&movers, NULL);
        CHECK_EQ(eddy_scope_start(&movers, moves, &mover), 0);
        eddy_scope_begin(&scope, NULL);
        mover.scope = &scope;
        CHECK_EQ(eddy_scope_start(&scope, swallows, &slept), 0);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK_NS(eddy_now() - begun, 20 * MS);
        CHECK_EQ(slept, -ECANCELED);
        CHECK_EQ(eddy_scope_end(&movers), 0);
}

/* A59: at the very instant it is due, who wakes for that instant comes too late to move it. */
SIM_TEST(a_deadline_is_over_for_a_task_that_wakes_at_its_instant)
{
        int64_t begun = eddy_now();
        struct mover mover = { .at_ns = begun + 10 * MS, .to_ns = begun + EDDY_SEC(1), .moved = 1 };
        eddy_scope movers, scope;

        eddy_scope_begin(&movers, NULL);
        CHECK_EQ(eddy_scope_start(&movers, moves, &mover), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .deadline_ns = begun + 10 * MS });
        mover.scope = &scope;
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        CHECK_EQ(eddy_scope_end(&movers), 0);
        CHECK_EQ(mover.moved, -EALREADY);
}

/* --- calls under a deadline --- */

struct call {
        int64_t sleep_ns;
        int slept, result;
        int cleanup_ms;
};

static int sleeps(void *arg)
{
        struct call *call = arg;
        eddy_scope shield;

        call->slept = eddy_sleep(call->sleep_ns);
        if (call->cleanup_ms) {
                eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
                CHECK_EQ(eddy_sleep(call->cleanup_ms * MS), 0);
                CHECK_EQ(eddy_scope_end(&shield), 0);
        }
        return call->result ? call->result : call->slept;
}

/* A61: it returns when the call has cleaned up, however long after the deadline. */
SIM_TEST(a_call_under_a_deadline_is_waited_for_while_it_cleans_up)
{
        struct call call = { EDDY_SEC(9), 1, 0, 500 };
        int64_t begun = eddy_now();

        CHECK_EQ(eddy_call_timeout(sleeps, &call, 10 * MS), -ETIMEDOUT);
        CHECK_NS(eddy_now() - begun, 510 * MS);
}

/* A62: a failure of the call is its own; so is -ECANCELED that nobody caused. */
SIM_TEST(the_result_of_a_call_is_returned)
{
        struct call call = { EDDY_SEC(9), 1, -EIO, 0 };

        CHECK_EQ(eddy_call_timeout(sleeps, &call, 10 * MS), -EIO);
        CHECK_EQ(call.slept, -ECANCELED);
        call = (struct call){ MS, 1, -ECANCELED, 0 };
        CHECK_EQ(eddy_call_timeout(sleeps, &call, 10 * MS), -ECANCELED);
        CHECK_EQ(call.slept, 0);
        call = (struct call){ MS, 1, -ETIMEDOUT, 0 };
        CHECK_EQ(eddy_call_timeout(sleeps, &call, 10 * MS), -ETIMEDOUT);
}

/* A60, A63: no time left and cancelled from outside: it starts, and the cancel is returned. */
SIM_TEST(a_call_without_time_in_a_cancelled_scope_is_cancelled)
{
        struct call call = { MS, 1, 0, 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_call_timeout(sleeps, &call, 0), -ECANCELED);
        CHECK_EQ(call.slept, -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* A60: timeouts of 0 and of all that is less are alike. */
SIM_TEST(a_call_without_time_runs_to_its_first_suspending_call)
{
        static const int64_t none[] = { 0, -1, INT64_MIN };

        for (int i = 0; i < 3; i++) {
                struct call call = { 0, 1, 7, 0 };
                int64_t begun = eddy_now();

                CHECK_EQ(eddy_call_timeout(sleeps, &call, none[i]), 7);
                CHECK_EQ(call.slept, -ECANCELED);
                CHECK_NS(eddy_now() - begun, 0);
        }
}
