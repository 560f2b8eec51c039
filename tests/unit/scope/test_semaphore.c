/*
 * test_semaphore.c - units: first come, first served, whoever is cancelled.
 */
#include "line.h"
#include "other_loop.h"

static int takes(void *arg)
{
        struct waiter *w = arg;
        eddy_semaphore *sem = w->thing;

        w->err = eddy_semaphore_acquire(sem);
        if (w->err == 0)
                order[order_count++] = w->id;
        return w->err;
}

static void line_up(eddy_scope *scope, struct waiter *waiters, eddy_semaphore *sem)
{
        line_start(scope, waiters, takes, sem);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_semaphore_waiting(sem), WAITERS);
}

/* A86: units go out in the order of the line. */
SIM_TEST(units_go_to_the_longest_waiter)
{
        eddy_semaphore sem = EDDY_SEMAPHORE(0, 0);
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &sem);
        for (int i = 0; i < WAITERS; i++)
                CHECK_EQ(eddy_semaphore_release(&sem), 0);
        /* A88: several released at once wake several; handed over, so none is there to take. */
        CHECK_EQ(eddy_semaphore_waiting(&sem), 0);
        CHECK_EQ(eddy_semaphore_units(&sem), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        check_all_went_on_in_order();
        let_go(waiters);
}

/* A83, A86: nobody passes the line, not even who released. */
SIM_TEST(no_task_passes_the_line)
{
        eddy_semaphore sem = EDDY_SEMAPHORE(1, 0);
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        CHECK_EQ(eddy_semaphore_acquire(&sem), 0);
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &sem);
        CHECK_EQ(eddy_semaphore_release(&sem), 0);
        CHECK_EQ(eddy_semaphore_try_acquire(&sem), -EAGAIN);
        for (int i = 1; i < WAITERS; i++)
                CHECK_EQ(eddy_semaphore_release(&sem), 0);
        CHECK_EQ(eddy_semaphore_try_acquire(&sem), -EAGAIN);
        CHECK_EQ(eddy_semaphore_release(&sem), 0);
        CHECK_EQ(eddy_semaphore_try_acquire(&sem), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        let_go(waiters);
}

/* A84, A87: cancelled waiters leave the line, wherever they stand; units go to the others. */
SIM_TEST(cancelled_waiters_leave_the_line)
{
        for (int who = 0; who < WAITERS; who++) {
                eddy_semaphore sem = { 0 };
                struct waiter waiters[WAITERS];
                eddy_scope scope;

                order_count = 0;
                eddy_scope_begin(&scope, NULL);
                line_up(&scope, waiters, &sem);
                eddy_task_cancel(waiters[who].task);
                CHECK_EQ(eddy_semaphore_waiting(&sem), WAITERS - 1);
                for (int i = 0; i < WAITERS - 1; i++)
                        CHECK_EQ(eddy_semaphore_release(&sem), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK_EQ(eddy_semaphore_units(&sem), 0);
                check_all_went_on_but(waiters, who);
                for (int i = 1; i < WAITERS - 1; i++)
                        CHECK(order[i - 1] < order[i]);
                let_go(waiters);
        }
}

/*
 * A87: a unit that was handed over before the cancel is kept; the cancel shows
 * at the next call, and released the unit goes to the next in line.
 */
SIM_TEST(a_task_that_was_handed_a_unit_and_is_cancelled_has_it)
{
        eddy_semaphore sem = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &sem);
        CHECK_EQ(eddy_semaphore_release(&sem), 0);
        eddy_task_cancel(waiters[0].task);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(waiters[0].err, 0);
        CHECK_EQ(waiters[1].err, 1);
        /* A88: what it gives back, and what comes besides, wakes the others. */
        for (int i = 1; i < WAITERS; i++)
                CHECK_EQ(eddy_semaphore_release(&sem), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(order_count, WAITERS);
        CHECK_EQ(eddy_semaphore_units(&sem), 0);
        let_go(waiters);
}

static int acquires(void *arg)
{
        return eddy_semaphore_acquire(arg);
}

/* A87: a deadline takes its own waiter away; no unit is missing after it. */
SIM_TEST(a_deadline_leaves_the_line_and_takes_nothing)
{
        eddy_semaphore sem = EDDY_SEMAPHORE(0, 0);

        CHECK_EQ(eddy_call_timeout(acquires, &sem, MS), -ETIMEDOUT);
        CHECK_EQ(eddy_semaphore_waiting(&sem), 0);
        CHECK_EQ(eddy_semaphore_release(&sem), 0);
        CHECK_EQ(eddy_semaphore_units(&sem), 1);
        /* In a cancelled scope not even a unit that is there is taken. */
        CHECK_EQ(eddy_call_timeout(acquires, &sem, -1), -ETIMEDOUT);
        CHECK_EQ(eddy_semaphore_units(&sem), 1);
        CHECK_EQ(eddy_call_timeout(acquires, &sem, MS), 0);
}

SIM_TEST(when_all_in_line_are_cancelled_the_next_unit_stays)
{
        eddy_semaphore sem = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &sem);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_semaphore_waiting(&sem), 0);
        CHECK_EQ(eddy_semaphore_release(&sem), 0);
        CHECK_EQ(eddy_semaphore_units(&sem), 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_semaphore_acquire(&sem), 0);
        let_go(waiters);
}

/* A89: giving back more than there ever were is refused where that is asked for. */
SIM_TEST(a_bounded_semaphore_refuses_a_unit_too_many)
{
        eddy_semaphore sem;

        eddy_semaphore_init(&sem, 2, EDDY_SEMAPHORE_BOUNDED);
        CHECK_EQ(eddy_semaphore_release(&sem), -EINVAL);
        CHECK_EQ(eddy_semaphore_acquire(&sem), 0);
        CHECK_EQ(eddy_semaphore_release(&sem), 0);
        CHECK_EQ(eddy_semaphore_release(&sem), -EINVAL);
        CHECK_EQ(eddy_semaphore_units(&sem), 2);
        eddy_semaphore_init(&sem, 2, 0);
        CHECK_EQ(eddy_semaphore_release(&sem), 0);
        CHECK_EQ(eddy_semaphore_units(&sem), 3);
}

/* A89: also while tasks wait for the units that are out. */
SIM_TEST(a_bounded_semaphore_hands_on_returned_units)
{
        eddy_semaphore sem = EDDY_SEMAPHORE(1, EDDY_SEMAPHORE_BOUNDED);
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        CHECK_EQ(eddy_semaphore_acquire(&sem), 0);
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &sem);
        for (int i = 0; i <= WAITERS; i++)
                CHECK_EQ(eddy_semaphore_release(&sem), 0);
        CHECK_EQ(eddy_semaphore_release(&sem), -EINVAL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_semaphore_units(&sem), 1);
        let_go(waiters);
}

SIM_TEST(units_do_not_overflow)
{
        eddy_semaphore sem = EDDY_SEMAPHORE(UINT32_MAX, 0);

        CHECK_EQ(eddy_semaphore_release(&sem), -EOVERFLOW);
        CHECK_EQ(eddy_semaphore_units(&sem), UINT32_MAX);
        CHECK_EQ(eddy_semaphore_acquire(&sem), 0);
        CHECK_EQ(eddy_semaphore_release(&sem), 0);
}

SIM_TEST(a_zero_semaphore_is_ready_and_has_no_units)
{
        static eddy_semaphore sem;

        CHECK_EQ(eddy_semaphore_try_acquire(&sem), -EAGAIN);
        CHECK_EQ(eddy_semaphore_release(&sem), 0);
        CHECK_EQ(eddy_semaphore_acquire(&sem), 0);
        CHECK_EQ(eddy_semaphore_units(&sem), 0);
}

/* Fairness: after 128 calls that need not wait, another task has its turn. */
static int looks(void *arg)
{
        *(int *) arg = 1;
        return 0;
}

SIM_TEST(calls_that_never_wait_give_way_after_128)
{
        eddy_semaphore sem = EDDY_SEMAPHORE(1000, 0);
        eddy_scope scope;
        int seen = 0, calls = 0;

        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, looks, &seen);
        while (!seen) {
                CHECK_EQ(eddy_semaphore_acquire(&sem), 0);
                calls++;
        }
        CHECK_EQ(calls, 128);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int uses_elsewhere(void *arg)
{
        CHECK_EQ(eddy_semaphore_acquire(arg), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_semaphore_release(arg), EDDY_E_RUN_OTHER_LOOP);
        return 7;
}

/* A96: while tasks of one loop wait, another loop can neither take nor give. */
SIM_TEST(a_semaphore_that_tasks_of_another_loop_wait_for_is_refused)
{
        eddy_semaphore sem = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &sem);
        CHECK_EQ(on_other_loop(uses_elsewhere, &sem), 7);
        CHECK_EQ(eddy_semaphore_waiting(&sem), WAITERS);
        CHECK_EQ(eddy_semaphore_units(&sem), 0);
        for (int i = 0; i < WAITERS; i++)
                CHECK_EQ(eddy_semaphore_release(&sem), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(order_count, WAITERS);
        let_go(waiters);
}
