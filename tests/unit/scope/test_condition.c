/*
 * test_condition.c - waiting with a lock let go: it is held again on every
 * way out, and no notification is lost.
 */
#include "line.h"
#include "other_loop.h"
#include "random_run.h"

struct shared {
        eddy_lock lock;
        eddy_condition changed;
};

static int waits(void *arg)
{
        struct waiter *w = arg;
        struct shared *shared = w->thing;
        eddy_lock *lock = &shared->lock;

        CHECK_EQ(eddy_lock_acquire(lock), 0);
        w->err = eddy_condition_wait(&shared->changed, lock);
        /* A91: held, also when it was cancelled. */
        CHECK(eddy_lock_is_mine(lock));
        if (w->err == 0)
                order[order_count++] = w->id;
        CHECK_EQ(eddy_lock_release(lock), 0);
        return w->err;
}

static void line_up(eddy_scope *scope, struct waiter *waiters, struct shared *shared)
{
        line_start(scope, waiters, waits, shared);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_condition_waiting(&shared->changed), WAITERS);
        CHECK(!eddy_lock_is_locked(&shared->lock));
}

static void notify(struct shared *shared, uint32_t n)
{
        CHECK_EQ(eddy_lock_acquire(&shared->lock), 0);
        CHECK_EQ(eddy_condition_notify(&shared->changed, n), 0);
        CHECK_EQ(eddy_lock_release(&shared->lock), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
}

static int locks_and_holds(void *arg)
{
        CHECK_EQ(eddy_lock_acquire(arg), 0);
        (void) eddy_sleep(MS);
        return eddy_lock_release(arg);
}

/* A91: waiting takes the lock to be held, by the caller. */
SIM_TEST(waiting_without_the_lock_is_refused)
{
        struct shared s = { 0 };
        eddy_scope scope;

        CHECK_EQ(eddy_condition_wait(&s.changed, &s.lock), -EPERM);
        CHECK_EQ(eddy_condition_wait_for(&s.changed, &s.lock, NULL, NULL), -EPERM);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, locks_and_holds, &s.lock);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK(eddy_lock_is_locked(&s.lock));
        CHECK_EQ(eddy_condition_wait(&s.changed, &s.lock), -EPERM);
        CHECK(eddy_lock_is_locked(&s.lock));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_condition_waiting(&s.changed), 0);
}

/* A91: let go while it waits; a notified one goes on when the notifier has released the lock. */
SIM_TEST(a_notified_task_goes_on_when_it_has_the_lock)
{
        struct shared s = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &s);
        CHECK_EQ(eddy_lock_acquire(&s.lock), 0);
        CHECK_EQ(eddy_condition_notify_all(&s.changed), 0);
        CHECK_EQ(eddy_condition_waiting(&s.changed), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(order_count, 0);
        CHECK_EQ(eddy_lock_release(&s.lock), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        check_all_went_on_in_order();
        CHECK(!eddy_lock_is_locked(&s.lock));
        let_go(waiters);
}

/* A92: so many as asked for are notified, those who wait longest. */
SIM_TEST(the_longest_waiters_are_notified)
{
        struct shared s = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &s);
        notify(&s, 0);
        CHECK_EQ(order_count, 0);
        notify(&s, 2);
        CHECK_EQ(order_count, 2);
        CHECK_EQ(eddy_condition_waiting(&s.changed), WAITERS - 2);
        notify(&s, 1);
        CHECK_EQ(order_count, 3);
        notify(&s, 100);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        check_all_went_on_in_order();
        let_go(waiters);
}

/* A92: who notifies holds the lock of those who wait; where nobody waits there is none to hold. */
SIM_TEST(notifying_without_the_lock_is_refused)
{
        struct shared s = { 0 };
        struct waiter waiters[WAITERS];
        eddy_lock other = { 0 };
        eddy_scope scope;

        CHECK_EQ(eddy_condition_notify(&s.changed, 1), 0);
        CHECK_EQ(eddy_condition_notify_all(&s.changed), 0);
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &s);
        CHECK_EQ(eddy_lock_acquire(&other), 0);
        CHECK_EQ(eddy_condition_notify(&s.changed, 1), -EPERM);
        CHECK_EQ(eddy_condition_notify_all(&s.changed), -EPERM);
        CHECK_EQ(eddy_condition_waiting(&s.changed), WAITERS);
        notify(&s, WAITERS);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(order_count, WAITERS);
        CHECK_EQ(eddy_lock_release(&other), 0);
        let_go(waiters);
}

SIM_TEST(all_waiters_wait_with_the_same_lock)
{
        struct shared s = { 0 };
        struct waiter waiters[WAITERS];
        eddy_lock other = { 0 };
        eddy_scope scope;

        CHECK_EQ(eddy_lock_acquire(&other), 0);
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &s);
        CHECK_EQ(eddy_condition_wait(&s.changed, &other), -EINVAL);
        CHECK_EQ(eddy_lock_release(&other), 0);
        notify(&s, WAITERS);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        let_go(waiters);
}

/* --- cancels --- */

/* A91: cancelled while it waits, it takes the lock again first, however long that takes. */
SIM_TEST(a_cancelled_waiter_comes_back_with_the_lock)
{
        struct shared s = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &s);
        CHECK_EQ(eddy_lock_acquire(&s.lock), 0);
        eddy_task_cancel(waiters[1].task);
        CHECK_EQ(eddy_condition_waiting(&s.changed), WAITERS - 1);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(waiters[1].err, 1);
        /* A91: further cancels, from further out too, end the wait for the lock no sooner. */
        eddy_task_cancel(waiters[1].task);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        CHECK_EQ(waiters[1].err, 1);
        CHECK_EQ(eddy_lock_release(&s.lock), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < WAITERS; i++)
                CHECK_EQ(waiters[i].err, -ECANCELED);
        CHECK(!eddy_lock_is_locked(&s.lock));
        CHECK_EQ(eddy_condition_waiting(&s.changed), 0);
        let_go(waiters);
}

/* A92: a notification goes to who still waits, not to who was cancelled before it. */
SIM_TEST(a_notification_passes_over_the_cancelled)
{
        for (int who = 0; who < WAITERS; who++) {
                struct shared s = { 0 };
                struct waiter waiters[WAITERS];
                eddy_scope scope;

                order_count = 0;
                eddy_scope_begin(&scope, NULL);
                line_up(&scope, waiters, &s);
                CHECK_EQ(eddy_lock_acquire(&s.lock), 0);
                eddy_task_cancel(waiters[who].task);
                CHECK_EQ(eddy_condition_notify(&s.changed, WAITERS - 1), 0);
                CHECK_EQ(eddy_lock_release(&s.lock), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                check_all_went_on_but(waiters, who);
                let_go(waiters);
        }
}

/*
 * A91, A92: notified, and cancelled before it runs or while it waits for the
 * lock: the notification was received, and is not lost.
 */
SIM_TEST(a_cancel_after_the_notification_comes_too_late_for_the_wait)
{
        for (int later = 0; later < 2; later++) {
                struct shared s = { 0 };
                struct waiter waiters[WAITERS];
                eddy_scope scope;

                order_count = 0;
                eddy_scope_begin(&scope, NULL);
                line_up(&scope, waiters, &s);
                CHECK_EQ(eddy_lock_acquire(&s.lock), 0);
                CHECK_EQ(eddy_condition_notify(&s.changed, 1), 0);
                if (later)
                        CHECK_EQ(eddy_sleep(MS), 0);
                eddy_task_cancel(waiters[0].task);
                CHECK_EQ(eddy_lock_release(&s.lock), 0);
                CHECK_EQ(eddy_sleep(MS), 0);
                CHECK_EQ(waiters[0].err, 0);
                CHECK_EQ(order_count, 1);
                eddy_scope_cancel(&scope);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                let_go(waiters);
        }
}

SIM_TEST(a_cancelled_task_does_not_wait_and_keeps_the_lock)
{
        struct shared s = { 0 };
        eddy_scope scope;

        CHECK_EQ(eddy_lock_acquire(&s.lock), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_condition_wait(&s.changed, &s.lock), -ECANCELED);
        CHECK(eddy_lock_is_mine(&s.lock));
        CHECK_EQ(eddy_condition_waiting(&s.changed), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_lock_release(&s.lock), 0);
}

static int waits_holding(void *arg)
{
        struct shared *s = arg;
        int err = eddy_condition_wait(&s->changed, &s->lock);

        CHECK(eddy_lock_is_mine(&s->lock));
        return err;
}

/* A92: a deadline inside the block; its own scope reports it, and the lock is unchanged. */
SIM_TEST(a_deadline_inside_leaves_the_lock_held)
{
        struct shared s = { 0 };
        eddy_scope scope;
        int64_t begin;

        CHECK_EQ(eddy_lock_acquire(&s.lock), 0);
        CHECK_EQ(eddy_call_timeout(waits_holding, &s, MS), -ETIMEDOUT);
        CHECK(eddy_lock_is_mine(&s.lock));
        /* Also when another has it when the deadline passes. */
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, locks_and_holds, &s.lock);
        begin = eddy_now();
        CHECK_EQ(eddy_call_timeout(waits_holding, &s, MS / 2), -ETIMEDOUT);
        CHECK_NS(eddy_now() - begin, MS);
        CHECK(eddy_lock_is_mine(&s.lock));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_lock_release(&s.lock), 0);
        CHECK_EQ(eddy_condition_waiting(&s.changed), 0);
}

/* --- predicates --- */

struct number {
        struct shared shared;
        int value, asked;
};

static int is_three(void *arg)
{
        struct number *n = arg;

        CHECK(eddy_lock_is_mine(&n->shared.lock));
        n->asked++;
        return n->value == 3;
}

static int waits_for_three(void *arg)
{
        struct number *n = arg;
        int err;

        CHECK_EQ(eddy_lock_acquire(&n->shared.lock), 0);
        err = eddy_condition_wait_for(&n->shared.changed, &n->shared.lock, is_three, n);
        CHECK(eddy_lock_is_mine(&n->shared.lock));
        CHECK_EQ(eddy_lock_release(&n->shared.lock), 0);
        return err;
}

/* A92: the predicate is asked first and after each notification, with the lock held. */
SIM_TEST(waiting_for_a_predicate_ends_when_it_holds)
{
        struct number n = { 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, waits_for_three, &n);
        CHECK_EQ(eddy_sleep(MS), 0);
        for (int i = 1; i <= 3; i++) {
                CHECK_EQ(n.asked, i);
                CHECK_EQ(eddy_condition_waiting(&n.shared.changed), 1);
                n.value = i;
                notify(&n.shared, 1);
        }
        CHECK_EQ(n.asked, 4);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        /* It holds already: no wait, not even to be cancelled. */
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_lock_acquire(&n.shared.lock), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_condition_wait_for(&n.shared.changed, &n.shared.lock, is_three, &n), 0);
        n.value = 0;
        CHECK_EQ(eddy_condition_wait_for(&n.shared.changed, &n.shared.lock, is_three, &n),
                 -ECANCELED);
        CHECK_EQ(eddy_lock_release(&n.shared.lock), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_call_timeout(waits_for_three, &n, MS), -ETIMEDOUT);
}

/* --- recursive locks --- */

static int takes(void *arg)
{
        CHECK_EQ(eddy_lock_acquire(arg), 0);
        return eddy_lock_release(arg);
}

/* A91: released as often as it was taken, and taken as often again, cancelled or not. */
SIM_TEST(a_recursive_lock_is_as_deep_after_as_before)
{
        struct shared s = { .lock = EDDY_LOCK(EDDY_LOCK_RECURSIVE) };
        eddy_scope scope;

        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_lock_acquire(&s.lock), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, takes, &s.lock);
        eddy_scope_start(&scope, locks_and_holds, &s.lock);
        CHECK_EQ(eddy_call_timeout(waits_holding, &s, MS / 2), -ETIMEDOUT);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 3; i++) {
                CHECK(eddy_lock_is_mine(&s.lock));
                CHECK_EQ(eddy_lock_release(&s.lock), 0);
        }
        CHECK(!eddy_lock_is_locked(&s.lock));
}

/* --- a lock that nobody releases any more --- */

static int takes_and_ends(void *arg)
{
        CHECK_EQ(eddy_lock_acquire(arg), 0);
        return 0;
}

static int all_wait_for_a_lock_left_locked(void *arg)
{
        struct shared *s = arg;
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, s);
        eddy_scope_start(&scope, takes_and_ends, &s->lock);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_lock_release(&s->lock), 0);
        notify(s, 1);
        eddy_scope_start(&scope, takes_and_ends, &s->lock);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_task_cancel(waiters[1].task);
        eddy_task_cancel(waiters[2].task);
        CHECK_EQ(eddy_scope_end(&scope), -ECANCELED);
        for (int i = 0; i < WAITERS; i++)
                CHECK_EQ(waiters[i].err, i == 0 ? 0 : -ECANCELED);
        CHECK(!eddy_lock_is_locked(&s->lock));
        let_go(waiters);
        return 0;
}

/* A91: who must have the lock again, and for whom no cancel helps, gets it when all else waits. */
TEST(a_lock_that_is_never_released_is_a_deadlock_that_ends)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };
        struct shared s = { 0 };

        CHECK_EQ(sim_run_with(all_wait_for_a_lock_left_locked, &s, 0, opts), -EDEADLK);
        CHECK_EQ(reports.count[EDDY_REPORT_DEADLOCK], 1);
        CHECK(strstr(reports.text, "waits for the lock of a condition, left locked by") != NULL);
}

static int waits_for_change(void *arg)
{
        struct shared *s = arg;

        CHECK_EQ(eddy_lock_acquire(&s->lock), 0);
        return eddy_condition_wait(&s->changed, &s->lock);
}

static int notifies_and_keeps_the_lock(void *arg)
{
        struct shared *s = arg;

        CHECK_EQ(eddy_lock_acquire(&s->lock), 0);
        return eddy_condition_notify_all(&s->changed);
}

static int waits_for_nobody_who_can_be_cancelled(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, waits_for_change, arg);
        eddy_scope_start(&scope, notifies_and_keeps_the_lock, arg);
        return eddy_scope_end(&scope);
}

/* A91: the same where the cancel of a deadlock ends no wait at all. */
TEST(a_deadlock_in_which_no_wait_can_be_cancelled_ends)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };
        struct shared s = { 0 };

        CHECK_EQ(sim_run_with(waits_for_nobody_who_can_be_cancelled, &s, 0, opts), -EDEADLK);
        CHECK_EQ(reports.count[EDDY_REPORT_DEADLOCK], 1);
}

/* --- two loops --- */

static int uses_elsewhere(void *arg)
{
        struct shared *s = arg;

        /* The lock is free: only debug mode can see that it is another loop's. */
        if (ed_loop_current->debug) {
                CHECK_EQ(eddy_lock_acquire(&s->lock), EDDY_E_RUN_OTHER_LOOP);
                CHECK_EQ(eddy_condition_notify(&s->changed, 1), EDDY_E_RUN_OTHER_LOOP);
                return 7;
        }
        CHECK_EQ(eddy_lock_acquire(&s->lock), 0);
        CHECK_EQ(eddy_condition_wait(&s->changed, &s->lock), EDDY_E_RUN_OTHER_LOOP);
        CHECK(eddy_lock_is_mine(&s->lock));
        CHECK_EQ(eddy_condition_notify(&s->changed, 1), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_lock_release(&s->lock), 0);
        return 7;
}

/* A96: while tasks of one loop wait, another loop can neither wait nor notify. */
SIM_TEST(a_condition_that_tasks_of_another_loop_wait_for_is_refused)
{
        struct shared s = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &s);
        CHECK_EQ(on_other_loop(uses_elsewhere, &s), 7);
        CHECK_EQ(eddy_condition_waiting(&s.changed), WAITERS);
        notify(&s, WAITERS);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(order_count, WAITERS);
        let_go(waiters);
}

/* --- in any order --- */

struct world {
        struct random_run random;
        struct shared shared;
        int items, put, got, inside;
        bool over;
};

static int there_is_something(void *arg)
{
        struct world *w = arg;

        CHECK_EQ(w->inside, 0);
        return w->items > 0 || w->over;
}

static int consumes(void *arg)
{
        struct world *w = arg;
        struct shared *s = &w->shared;

        for (;;) {
                int err = eddy_lock_acquire(&s->lock);
                bool over;

                if (err < 0)
                        return err;
                err = eddy_condition_wait_for(&s->changed, &s->lock, there_is_something, w);
                CHECK(eddy_lock_is_mine(&s->lock));
                CHECK_EQ(++w->inside, 1);
                over = w->items == 0;
                if (err == 0 && !over) {
                        w->items--;
                        w->got++;
                        err = random_pause(&w->random);
                }
                w->inside--;
                CHECK_EQ(eddy_lock_release(&s->lock), 0);
                if (err < 0 || over)
                        return err;
        }
}

static int produces(void *arg)
{
        struct world *w = arg;
        struct shared *s = &w->shared;

        for (int i = 0; i < 20; i++) {
                CHECK_EQ(random_pause(&w->random), 0);
                CHECK_EQ(eddy_lock_acquire(&s->lock), 0);
                CHECK_EQ(++w->inside, 1);
                w->items++;
                w->put++;
                CHECK_EQ(eddy_condition_notify(&s->changed, 1), 0);
                w->inside--;
                CHECK_EQ(eddy_lock_release(&s->lock), 0);
        }
        /* When nothing moves any more, nobody waits for what is there. */
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        CHECK(w->items == 0 || eddy_condition_waiting(&s->changed) == 0);
        CHECK_EQ(eddy_lock_acquire(&s->lock), 0);
        w->over = true;
        CHECK_EQ(eddy_condition_notify_all(&s->changed), 0);
        return eddy_lock_release(&s->lock);
}

static int condition_world(void *arg)
{
        struct world w = { .items = 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        random_begin(&w.random, *(uint64_t *) arg, &scope, consumes, &w);
        eddy_scope_start(&scope, produces, &w);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        random_end(&w.random);
        CHECK_EQ(w.got + w.items, w.put);
        CHECK(!eddy_lock_is_locked(&w.shared.lock));
        CHECK_EQ(eddy_condition_waiting(&w.shared.changed), 0);
        return w.random.cancelled;
}

/* A91, A92: in each order of things no notification is lost, and one holds the lock at a time. */
TEST(no_notification_is_lost_in_many_schedules_with_cancels)
{
        random_run_all(condition_world);
}
