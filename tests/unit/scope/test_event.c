/*
 * test_event.c - a flag: who waits when it is set is woken, whatever becomes
 * of it then.
 */
#include "line.h"
#include "other_loop.h"
#include "random_run.h"

static int waits(void *arg)
{
        struct waiter *w = arg;
        eddy_event *event = w->thing;

        w->err = eddy_event_wait(event);
        if (w->err < 0)
                return w->err;
        w->saw = eddy_event_is_set(event);
        order[order_count++] = w->id;
        return 0;
}

static void line_up(eddy_scope *scope, struct waiter *waiters, eddy_event *event)
{
        line_start(scope, waiters, waits, event);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(order_count, 0);
}

/* A90: setting wakes all who wait, in the order they came, and once. */
SIM_TEST(setting_wakes_all_waiters)
{
        eddy_event event = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &event);
        CHECK(!eddy_event_is_set(&event));
        CHECK_EQ(eddy_event_set(&event), 0);
        CHECK_EQ(eddy_event_set(&event), 0);
        CHECK(eddy_event_is_set(&event));
        CHECK_EQ(order_count, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        check_all_went_on_in_order();
        for (int i = 0; i < WAITERS; i++)
                CHECK_EQ(waiters[i].saw, 1);
        let_go(waiters);
}

/* A90: set and cleared before they run, they are woken still, and see it cleared. */
SIM_TEST(a_waiter_at_the_set_is_woken_though_it_is_cleared)
{
        eddy_event event = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &event);
        CHECK_EQ(eddy_event_set(&event), 0);
        eddy_event_clear(&event);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(order_count, WAITERS);
        for (int i = 0; i < WAITERS; i++)
                CHECK_EQ(waiters[i].saw, 0);
        let_go(waiters);
}

static int looks_at_order(void *arg)
{
        (void) arg;
        order_count++;
        return 0;
}

static int waits_for_it(void *arg)
{
        return eddy_event_wait(arg);
}

static int sets(void *arg)
{
        return eddy_event_set(arg);
}

/* A90: set, nobody waits; cleared, the next one waits for the next set. */
SIM_TEST(a_set_event_lets_all_pass_until_it_is_cleared)
{
        eddy_event event = { 0 };
        eddy_scope scope;

        CHECK_EQ(eddy_event_set(&event), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, looks_at_order, NULL);
        CHECK_EQ(eddy_event_wait(&event), 0);
        CHECK_EQ(eddy_event_wait(&event), 0);
        /* Neither let another task run. */
        CHECK_EQ(order_count, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_event_clear(&event);
        eddy_event_clear(&event);
        CHECK(!eddy_event_is_set(&event));
        CHECK_EQ(eddy_call_timeout(waits_for_it, &event, MS), -ETIMEDOUT);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, sets, &event);
        CHECK_EQ(eddy_event_wait(&event), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* A90: who is cancelled leaves the line, and the others are woken. */
SIM_TEST(cancelled_waiters_leave_the_line)
{
        for (int who = 0; who < WAITERS; who++) {
                eddy_event event = { 0 };
                struct waiter waiters[WAITERS];
                eddy_scope scope;

                order_count = 0;
                eddy_scope_begin(&scope, NULL);
                line_up(&scope, waiters, &event);
                eddy_task_cancel(waiters[who].task);
                CHECK_EQ(eddy_event_set(&event), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                check_all_went_on_but(waiters, who);
                let_go(waiters);
        }
}

/* The nth order of all that WAITERS tasks can leave in. */
static void leaving_order(int n, int *ret_ids)
{
        int left[WAITERS];

        for (int i = 0; i < WAITERS; i++)
                left[i] = i;
        for (int i = 0, many = WAITERS; many > 0; i++, many--) {
                int at = n % many;

                n /= many;
                ret_ids[i] = left[at];
                left[at] = left[many - 1];
        }
}

/* Nobody points to it then: it may be moved, and serves again elsewhere. */
SIM_TEST(in_any_order_of_leaving_an_event_without_waiters_is_as_it_was)
{
        for (int n = 0; n < 120; n++) {
                eddy_event event = { 0 };
                struct waiter waiters[WAITERS];
                int ids[WAITERS];
                eddy_scope scope;

                leaving_order(n, ids);
                eddy_scope_begin(&scope, NULL);
                line_up(&scope, waiters, &event);
                for (int i = 0; i < WAITERS; i++) {
                        CHECK(memcmp(&event, &(eddy_event){ 0 }, sizeof(event)) != 0);
                        eddy_task_cancel(waiters[ids[i]].task);
                        CHECK_EQ(eddy_sleep(0), 0);
                        CHECK_EQ(waiters[ids[i]].err, -ECANCELED);
                }
                event.loop_number = 0; /* debug mode's */
                CHECK(memcmp(&event, &(eddy_event){ 0 }, sizeof(event)) == 0);
                (void) eddy_scope_end(&scope);
                let_go(waiters);
        }
}

/* A90: woken by the set, and cancelled before it runs: it was woken. */
SIM_TEST(a_cancel_after_the_set_comes_too_late_for_the_wait)
{
        eddy_event event = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &event);
        CHECK_EQ(eddy_event_set(&event), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(order_count, WAITERS);
        let_go(waiters);
}

SIM_TEST(in_a_cancelled_scope_no_task_passes_a_set_event)
{
        eddy_event event = { 0 };
        eddy_scope scope;

        CHECK_EQ(eddy_event_set(&event), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_event_wait(&event), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_event_wait(&event), 0);
}

static int passes_128(void *arg)
{
        eddy_event event = { 0 };
        eddy_scope scope;
        int calls = 0;

        (void) arg;
        CHECK_EQ(eddy_event_set(&event), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, looks_at_order, NULL);
        for (; order_count == 0; calls++)
                CHECK_EQ(eddy_event_wait(&event), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return calls;
}

/* Fairness: after 128 calls that need not wait, another task has its turn. */
TEST(calls_that_never_wait_give_way_after_128)
{
        CHECK_EQ(sim_run(passes_128, NULL), 128);
}

TEST(outside_a_task_an_event_can_be_set_but_not_waited_for)
{
        eddy_event event = { 0 };

        CHECK_EQ(eddy_event_wait(&event), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_event_set(&event), 0);
        CHECK_EQ(sim_run(waits_for_it, &event), 0);
}

/* --- two loops --- */

static int uses_elsewhere(void *arg)
{
        CHECK_EQ(eddy_event_wait(arg), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_event_set(arg), EDDY_E_RUN_OTHER_LOOP);
        return 7;
}

/* A96: while tasks of one loop wait, another loop can neither wait nor set. */
SIM_TEST(an_event_that_tasks_of_another_loop_wait_for_is_refused)
{
        eddy_event event = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &event);
        CHECK_EQ(on_other_loop(uses_elsewhere, &event), 7);
        CHECK(!eddy_event_is_set(&event));
        CHECK_EQ(eddy_event_set(&event), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(order_count, WAITERS);
        let_go(waiters);
}

/* --- in any order --- */

struct world {
        struct random_run random;
        eddy_event event;
        int sets; /* how often it was set */
        bool over;
};

static int waits_often(void *arg)
{
        struct world *w = arg;

        while (!w->over) {
                int was_set = eddy_event_is_set(&w->event), sets_before = w->sets;
                int err = eddy_event_wait(&w->event);

                if (err < 0)
                        return err;
                CHECK(was_set || w->sets > sets_before);
                err = random_pause(&w->random);
                if (err < 0)
                        return err;
        }
        return 0;
}

static int sets_often(void *arg)
{
        struct world *w = arg;

        for (int i = 0; i < 10; i++) {
                w->sets++;
                CHECK_EQ(eddy_event_set(&w->event), 0);
                CHECK_EQ(random_pause(&w->random), 0);
                eddy_event_clear(&w->event);
                CHECK_EQ(random_pause(&w->random), 0);
        }
        /* Who waits now is woken by this one, though it does not last; nobody waits any more. */
        w->over = true;
        w->sets++;
        CHECK_EQ(eddy_event_set(&w->event), 0);
        eddy_event_clear(&w->event);
        return 0;
}

static int event_world(void *arg)
{
        struct world w = { .sets = 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        random_begin(&w.random, *(uint64_t *) arg, &scope, waits_often, &w);
        eddy_scope_start(&scope, sets_often, &w);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        random_end(&w.random);
        return w.random.cancelled;
}

/* A90: in each order of things nobody is woken without a set, and no set is missed. */
TEST(no_set_is_missed_in_many_schedules_with_cancels)
{
        random_run_all(event_world);
}
