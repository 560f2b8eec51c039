/*
 * test_debug_lock.c - debug mode: cycles of locks while others still run, and
 * locks that are left locked.
 */
#include "debug_test.h"
#include "scope/handler.h"

static eddy_lock locks[3];

struct crossing {
        eddy_lock *first, *second;
};

static int locks_both(void *arg)
{
        const struct crossing *crossing = arg;
        int err = eddy_lock_acquire(crossing->first);

        if (err < 0)
                return err;
        err = eddy_sleep(MS);
        if (err == 0)
                err = eddy_lock_acquire(crossing->second);
        if (err == 0)
                eddy_lock_release(crossing->second);
        eddy_lock_release(crossing->first);
        return err;
}

static int serves(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_SEC(10));
}

/* --- cycles --- */

static int crosses_while_another_serves(void *arg)
{
        struct crossing ways[] = { { &locks[0], &locks[1] }, { &locks[1], &locks[0] } };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(5) });
        eddy_task_release(start_named(&scope, "server", serves, NULL));
        eddy_task_release(start_named(&scope, "rent", locks_both, &ways[0]));
        eddy_task_release(start_named(&scope, "salary", locks_both, &ways[1]));
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        return 0;
}

TEST(a_cycle_of_locks_is_reported_while_others_still_run)
{
        CHECK_EQ(debug_run(crosses_while_another_serves, NULL), 0);
        CHECK_STR(reported,
                  "eddy: these tasks wait for each other's locks:\n"
                  "  salary, started at program+0x1234, waits for a lock that rent took at "
                  "program+0x1234\n"
                  "  rent, started at program+0x1234, waits for a lock that salary took at "
                  "program+0x1234\n");
        CHECK_EQ(last.count[EDDY_REPORT_LOCK], 1);
}

static int crosses_in_three(void *arg)
{
        struct crossing ways[] = { { &locks[0], &locks[1] },
                                   { &locks[1], &locks[2] },
                                   { &locks[2], &locks[0] },
                                   { &locks[0], &locks[2] } };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        /* The fourth waits for the cycle, and is not in it. */
        for (int i = 0; i < 4; i++)
                eddy_task_release(start_named(&scope, i < 3 ? "in" : "out", locks_both, &ways[i]));
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        CHECK_EQ(last.count[EDDY_REPORT_LOCK], 1);
        CHECK(strstr(reported, "  out") == NULL);
        eddy_scope_cancel(&scope);
        return eddy_scope_end(&scope);
}

TEST(a_cycle_of_three_is_reported_once_and_not_for_its_waiters)
{
        CHECK_EQ(debug_run(crosses_in_three, NULL), 0);
}

static int in_one_order(void *arg)
{
        struct crossing way = { &locks[0], &locks[1] };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 50; i++)
                eddy_scope_start(&scope, locks_both, &way);
        return eddy_scope_end(&scope);
}

TEST(locks_that_are_taken_in_one_order_make_no_cycle)
{
        for (uint64_t seed = 0; seed < 20; seed++)
                CHECK_EQ(debug_run_seed(in_one_order, NULL, seed), 0);
        CHECK_STR(reported, "");
}

/* The lock goes from hand to hand: its new owner is the one that counts. */
static int hands_over(void *arg)
{
        struct crossing ways[] = { { &locks[0], &locks[1] }, { &locks[0], &locks[2] } };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_lock_acquire(&locks[0]), 0);
        eddy_task_release(start_named(&scope, "next", locks_both, &ways[1]));
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_lock_acquire(&locks[2]), 0);
        CHECK_EQ(eddy_lock_release(&locks[0]), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        /* "next" holds 0 and waits for 2, which main holds. */
        CHECK_EQ(last.count[EDDY_REPORT_LOCK], 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_lock_try_acquire(&locks[0]), -EAGAIN);
        CHECK_EQ(eddy_lock_release(&locks[2]), 0);
        return eddy_scope_end(&scope);
}

TEST(a_lock_that_is_handed_over_is_its_new_owners)
{
        CHECK_EQ(debug_run(hands_over, NULL), 0);
        CHECK_STR(reported, "");
}

static int wait_in_turn(void *arg)
{
        struct crossing way = { &locks[0], &locks[2] };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_lock_acquire(&locks[0]), 0);
        eddy_task_release(start_named(&scope, "next", locks_both, &way));
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_lock_acquire(&locks[2]), 0);
        CHECK_EQ(eddy_lock_release(&locks[0]), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        CHECK_EQ(eddy_lock_acquire(&locks[0]), -ECANCELED);
        CHECK_EQ(eddy_lock_release(&locks[2]), 0);
        return eddy_scope_end(&scope);
}

static int cancels_who_waits_in_turn(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(1) });
        eddy_task_release(start_named(&scope, "first", wait_in_turn, arg));
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        return 0;
}

TEST(a_cycle_is_found_through_a_lock_that_was_handed_over)
{
        CHECK_EQ(debug_run(cancels_who_waits_in_turn, NULL), 0);
        CHECK_EQ(last.count[EDDY_REPORT_LOCK], 1);
        CHECK(strstr(reported,
                     "  first, started at program+0x1234, waits for a lock that next took at "
                     "program+0x1234\n") != NULL);
}

/* --- left locked --- */

static int forgets_to_release(void *arg)
{
        return eddy_lock_acquire(arg);
}

static int leaves_a_lock(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_task_release(start_named(&scope, "careless", forgets_to_release, &locks[0]));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return eddy_lock_release(&locks[0]);
}

TEST(a_lock_that_is_left_locked_is_reported_with_where_it_was_taken)
{
        CHECK_EQ(debug_run(leaves_a_lock, NULL), 0);
        CHECK_STR(reported, "eddy: task careless: ended without releasing the lock that it took at "
                            "program+0x1234\n");
}

static int handles(void *arg)
{
        struct ed_handler_call call;
        int err;

        (void) arg;
        ed_handler_begin(&call);
        err = eddy_lock_acquire(&locks[0]);
        ed_handler_end(&call);
        CHECK_EQ(last.count[EDDY_REPORT_LOCK], 1);
        CHECK_EQ(eddy_lock_release(&locks[0]), 0);
        return err;
}

TEST(a_lock_that_a_handler_leaves_locked_is_reported_when_it_returns)
{
        CHECK_EQ(debug_run(handles, NULL), 0);
        CHECK_STR(reported, "eddy: task main: returned from a handler without releasing the lock "
                            "that it took at program+0x1234\n");
}

static int leaves_many(void *arg)
{
        static eddy_lock many[25];
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 25; i++)
                eddy_scope_start(&scope, forgets_to_release, &many[i]);
        return eddy_scope_end(&scope);
}

TEST(beyond_twenty_locks_are_counted)
{
        CHECK_EQ(debug_run(leaves_many, NULL), 0);
        CHECK_EQ(last.count[EDDY_REPORT_LOCK], 20);
        CHECK(strstr(reported,
                     "eddy: left when the run ended:\n  and 5 more findings about locks\n") !=
              NULL);
}

static int releases_all(void *arg)
{
        eddy_lock recursive = EDDY_LOCK(EDDY_LOCK_RECURSIVE);

        (void) arg;
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_lock_acquire(&recursive), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_lock_release(&recursive), 0);
        CHECK_EQ(eddy_lock_release(&recursive), -EPERM);
        CHECK_EQ(eddy_lock_try_acquire(&locks[0]), 0);
        CHECK_EQ(eddy_lock_release(&locks[0]), 0);
        CHECK_EQ(eddy_lock_release(&locks[0]), -EPERM);
        return 0;
}

static int releases_anothers(void *arg)
{
        return eddy_lock_release(arg);
}

static int has_it_released(void *arg)
{
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(releases_all(NULL), 0);
        CHECK_EQ(eddy_lock_acquire(&locks[0]), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, releases_anothers, &locks[0]);
        return eddy_scope_end(&scope);
}

TEST(locks_that_were_released_are_not_reported)
{
        CHECK_EQ(debug_run(has_it_released, NULL), 0);
        CHECK_STR(reported, "");
}

static int waits_for_condition(void *arg)
{
        static eddy_condition condition;
        int err = eddy_lock_acquire(arg);

        if (err == 0) {
                CHECK_EQ(eddy_condition_wait(&condition, arg), -ECANCELED);
                eddy_lock_release(arg);
        }
        return err;
}

static int waits_and_is_cancelled(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, waits_for_condition, &locks[0]);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_lock_acquire(&locks[0]), 0);
        eddy_scope_cancel(&scope);
        eddy_lock_release(&locks[0]);
        return eddy_scope_end(&scope);
}

TEST(a_conditions_lock_is_given_up_and_taken_again)
{
        CHECK_EQ(debug_run(waits_and_is_cancelled, NULL), 0);
        CHECK_STR(reported, "");
}

/* --- between loops of a thread --- */

static int holds_for_a_second(void *arg)
{
        CHECK_EQ(eddy_lock_acquire(arg), 0);
        return eddy_sleep(EDDY_SEC(1));
}

static int has_a_holder(void *arg)
{
        CHECK_EQ(eddy_background(holds_for_a_second, arg), 0);
        return eddy_sleep(MS);
}

static int hands_it_on(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, forgets_to_release, arg);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_lock_release(arg), 0);
        return eddy_scope_end(&scope);
}

/* A loop that stands still has a lock; its thread releases it. */
TEST(a_lock_of_a_paused_loop_that_its_thread_releases_is_not_reported)
{
        struct ed_run *run = debug_run_still(has_a_holder, &locks[0]);

        CHECK_EQ(eddy_lock_release(&locks[0]), 0);
        ed_run_close(run);
        CHECK_STR(reported, "");
}

static int is_refused(void *arg)
{
        CHECK_EQ(eddy_lock_release(arg), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_lock_acquire(arg), EDDY_E_RUN_OTHER_LOOP);
        return 7;
}

/* In debug mode it is the first loop's for as long as that is there, also on the same thread. */
TEST(a_lock_of_a_paused_loop_is_not_released_in_another_run)
{
        struct eddy_run_opts opts = { .report = keep_report, .report_arg = reported };
        struct ed_run *run = debug_run_still(has_a_holder, &locks[0]);

        opts.flags = EDDY_RUN_DEBUG;
        CHECK_EQ(eddy_run(is_refused, &locks[0], &opts), 7);
        CHECK_EQ(eddy_lock_release(&locks[0]), 0);
        ed_run_close(run);
        CHECK_STR(reported, "");
        /* Now it is that of the next. */
        CHECK_EQ(eddy_run(hands_it_on, &locks[0], &opts), 0);
}
