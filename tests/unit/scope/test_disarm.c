/*
 * test_disarm.c - the deadline of a scope that is cancelled: nothing is left
 * for it to do, so it hides no deadlock, and it is reported nevertheless.
 */
#include "debug_test.h"
#include "scope/scope.h"

#define HOUR EDDY_SEC(3600)

static const struct eddy_scope_opts an_hour = { .timeout_ns = HOUR };
static const struct eddy_scope_opts endless_shield = { .flags = EDDY_SCOPE_SHIELD,
                                                       .deadline_ns = INT64_MAX };

static eddy_lock lock;
static eddy_condition condition;
static eddy_scope limited, around;

/* Without those that wake nobody, of which debug mode has one. */
static uint64_t timers_armed(void)
{
        return ed_loop_current->timers.count - ed_loop_current->quiet_timers;
}

/* --- what hangs in a cancelled scope --- */

/* Until it is cancelled; then for good, since no cancel ends the wait for the lock. */
static void hang(void)
{
        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        CHECK_EQ(eddy_condition_wait(&condition, &lock), -ECANCELED);
        eddy_lock_release(&lock);
}

static int hangs(void *arg)
{
        (void) arg;
        eddy_scope_begin(&limited, &an_hour);
        hang();
        return eddy_scope_end(&limited);
}

static int fails_later(void *arg)
{
        (void) arg;
        return eddy_sleep(5 * MS) < 0 ? -ECANCELED : -EIO;
}

static int hangs_beside_a_failure(void *arg)
{
        (void) arg;
        eddy_scope_begin(&limited, &an_hour);
        eddy_scope_start(&limited, fails_later, NULL);
        hang();
        CHECK_EQ(eddy_scope_end(&limited), -EIO);
        return 0;
}

static int hangs_in_a_scope_begun_cancelled(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_sleep(HOUR), -ECANCELED);
        eddy_scope_begin(&around, &an_hour);
        eddy_scope_begin(&limited, &endless_shield);
        hang();
        CHECK_EQ(eddy_scope_end(&limited), 0);
        return eddy_scope_end(&around);
}

struct hanging {
        eddy_task_fn *fn;
        bool cancels_task, cancels_scope;
};

/* Has the lock that it hangs for, and joins it. */
static int joins_what_hangs(void *arg)
{
        const struct hanging *hanging = arg;
        int64_t begin_ns = eddy_now();
        eddy_task *task;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        task = start_named(&scope, "hangs", hanging->fn, NULL);
        CHECK_EQ(eddy_sleep(MS), 0);
        if (hanging->fn == hangs_in_a_scope_begun_cancelled)
                eddy_task_cancel(task);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        if (hanging->cancels_task)
                eddy_task_cancel(task);
        if (hanging->cancels_scope)
                eddy_scope_cancel(&limited);
        (void) eddy_scope_end(&scope);
        /* The deadlock was found, and let it have the lock. */
        CHECK(eddy_now() - begin_ns < EDDY_SEC(1));
        eddy_task_release(task);
        (void) eddy_lock_release(&lock);
        return 0;
}

static void deadlock_is_found_at_once(struct hanging hanging)
{
        lock = (eddy_lock){ 0 };
        condition = (eddy_condition){ 0 };
        CHECK_EQ(debug_run(joins_what_hangs, &hanging), -EDEADLK);
        CHECK_EQ(last.count[EDDY_REPORT_DEADLOCK], 1);
}

TEST(a_hang_in_a_scope_that_was_cancelled_is_a_deadlock_before_its_deadline)
{
        deadlock_is_found_at_once((struct hanging){ .fn = hangs, .cancels_scope = true });
}

TEST(a_hang_in_a_scope_that_a_failure_cancelled_is_a_deadlock)
{
        deadlock_is_found_at_once((struct hanging){ .fn = hangs_beside_a_failure });
}

TEST(a_hang_in_a_scope_that_was_cancelled_from_outside_is_a_deadlock)
{
        deadlock_is_found_at_once((struct hanging){ .fn = hangs, .cancels_task = true });
}

TEST(a_hang_in_a_scope_that_began_cancelled_is_a_deadlock)
{
        deadlock_is_found_at_once(
                (struct hanging){ .fn = hangs_in_a_scope_begun_cancelled, .cancels_scope = true });
}

/* --- what goes on --- */

static int cancels_around(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_cancel(&around);
        return 0;
}

static int has_a_shield_with_a_deadline(void *arg)
{
        int64_t begin_ns = eddy_now();

        (void) arg;
        eddy_scope_begin(&around, &an_hour);
        eddy_scope_start(&around, cancels_around, NULL);
        eddy_scope_begin(&limited, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                              .timeout_ns = 10 * MS });
        CHECK_EQ(eddy_sleep(HOUR), -ECANCELED);
        CHECK_EQ(eddy_now() - begin_ns, 10 * MS);
        CHECK_EQ(eddy_scope_end(&limited), -ETIMEDOUT);
        CHECK_EQ(timers_armed(), 0);
        return eddy_scope_end(&around);
}

TEST(the_deadline_of_a_shield_in_a_cancelled_scope_comes)
{
        CHECK_EQ(debug_run(has_a_shield_with_a_deadline, NULL), 0);
}

static int moves_a_shield_around_a_cancelled_one(void *arg)
{
        struct eddy_scope_opts shield = { .flags = EDDY_SCOPE_SHIELD, .timeout_ns = 2 * HOUR };
        uint64_t before;

        (void) arg;
        eddy_scope_begin(&around, &shield);
        before = timers_armed();
        eddy_scope_begin(&limited, &shield);
        CHECK_EQ(timers_armed(), before + 1);
        ed_node_cancel(&ed_scope_of(&limited)->node);
        CHECK_EQ(timers_armed(), before);
        CHECK_EQ(eddy_scope_set_deadline(&around, eddy_now() + HOUR), 0);
        CHECK_EQ(eddy_scope_deadline(&limited), eddy_now() + HOUR);
        CHECK_EQ(timers_armed(), before);
        CHECK_EQ(eddy_scope_end(&limited), 0);
        return eddy_scope_end(&around);
}

TEST(a_cancelled_shield_is_not_armed_again_when_one_around_it_is_moved)
{
        CHECK_EQ(debug_run(moves_a_shield_around_a_cancelled_one, NULL), 0);
}

/* --- whether it has passed --- */

static int asks_whether_it_has_passed(void *arg)
{
        bool late = *(const bool *) arg;

        eddy_scope_begin(&limited, &(struct eddy_scope_opts){ .timeout_ns = 10 * MS });
        eddy_scope_cancel(&limited);
        eddy_scope_begin(&around, &endless_shield);
        CHECK_EQ(eddy_sleep(late ? 10 * MS : 10 * MS - 1), 0);
        CHECK_EQ(eddy_scope_end(&around), 0);
        CHECK_EQ(eddy_scope_expired(&limited), late);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        /* The cancel came first. */
        CHECK_EQ(eddy_scope_end(&limited), 0);
        CHECK_EQ(eddy_scope_expired(&limited), late);
        CHECK_EQ(eddy_sleep(HOUR), 0);
        CHECK_EQ(eddy_scope_expired(&limited), late);
        return 0;
}

TEST(a_deadline_that_passes_after_a_cancel_has_passed)
{
        for (int late = 0; late < 2; late++)
                CHECK_EQ(debug_run(asks_whether_it_has_passed, &(bool){ late }), 0);
}

static int begins_cancelled_with_a_deadline(void *arg)
{
        (void) arg;
        eddy_scope_begin(&around, NULL);
        eddy_scope_cancel(&around);
        eddy_scope_begin(&limited, &(struct eddy_scope_opts){ .timeout_ns = -1 });
        CHECK(eddy_scope_expired(&limited));
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&limited), -ECANCELED);
        CHECK(eddy_scope_expired(&limited));
        eddy_scope_begin(&limited, &an_hour);
        CHECK_EQ(eddy_scope_deadline(&limited), eddy_now() + HOUR);
        CHECK(!eddy_scope_expired(&limited));
        CHECK_EQ(eddy_scope_end(&limited), 0);
        CHECK(!eddy_scope_expired(&limited));
        return eddy_scope_end(&around);
}

TEST(a_scope_that_begins_cancelled_has_its_deadline)
{
        CHECK_EQ(debug_run(begins_cancelled_with_a_deadline, NULL), 0);
}
