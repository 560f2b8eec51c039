/*
 * test_lock.c - a lock: one at a time, first come, first served, whoever is
 * cancelled.
 */
#include "line.h"
#include "other_loop.h"
#include "random_run.h"

static int takes(void *arg)
{
        struct waiter *w = arg;
        eddy_lock *lock = w->thing;

        w->err = eddy_lock_acquire(lock);
        if (w->err < 0)
                return w->err;
        CHECK(eddy_lock_is_mine(lock));
        order[order_count++] = w->id;
        return eddy_lock_release(lock);
}

static void line_up(eddy_scope *scope, struct waiter *waiters, eddy_lock *lock)
{
        line_start(scope, waiters, takes, lock);
        CHECK_EQ(eddy_sleep(0), 0);
}

/* A83: first come, first served; who releases and takes again stands behind those who wait. */
SIM_TEST(no_task_passes_the_line_not_even_the_releaser)
{
        eddy_lock lock = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &lock);
        CHECK_EQ(order_count, 0);
        CHECK_EQ(eddy_lock_release(&lock), 0);
        /* The first of the line owns it, although it has not run yet. */
        CHECK(eddy_lock_is_locked(&lock));
        CHECK(!eddy_lock_is_mine(&lock));
        CHECK_EQ(eddy_lock_try_acquire(&lock), -EAGAIN);
        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        check_all_went_on_in_order();
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_lock_release(&lock), 0);
        CHECK(!eddy_lock_is_locked(&lock));
        let_go(waiters);
}

/* A83: when all who waited are cancelled, the lock is free again for anybody. */
SIM_TEST(when_all_in_line_are_cancelled_a_released_lock_is_free)
{
        eddy_lock lock = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &lock);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_lock_release(&lock), 0);
        CHECK(!eddy_lock_is_locked(&lock));
        CHECK_EQ(eddy_lock_try_acquire(&lock), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_lock_release(&lock), 0);
        CHECK_EQ(order_count, 0);
        let_go(waiters);
}

/* A84: cancelled waiters leave the line, wherever they stand; the others get the lock. */
SIM_TEST(cancelled_waiters_leave_the_line)
{
        for (int who = 0; who < WAITERS; who++) {
                eddy_lock lock = { 0 };
                struct waiter waiters[WAITERS];
                eddy_scope scope;

                order_count = 0;
                CHECK_EQ(eddy_lock_acquire(&lock), 0);
                eddy_scope_begin(&scope, NULL);
                line_up(&scope, waiters, &lock);
                eddy_task_cancel(waiters[who].task);
                CHECK_EQ(eddy_lock_release(&lock), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                check_all_went_on_but(waiters, who);
                for (int i = 1; i < WAITERS - 1; i++)
                        CHECK(order[i - 1] < order[i]);
                CHECK(!eddy_lock_is_locked(&lock));
                let_go(waiters);
        }
}

/*
 * A84: a waiter that was handed the lock and is then cancelled keeps it; the
 * cancel shows at its next call, and its release wakes the next in line.
 */
SIM_TEST(a_task_that_was_handed_the_lock_and_is_cancelled_passes_it_on)
{
        eddy_lock lock = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &lock);
        CHECK_EQ(eddy_lock_release(&lock), 0);
        eddy_task_cancel(waiters[0].task);
        eddy_task_cancel(waiters[1].task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(waiters[0].err, 0);
        CHECK_EQ(waiters[1].err, -ECANCELED);
        CHECK_EQ(order_count, WAITERS - 1);
        CHECK_EQ(order[0], 0);
        CHECK_EQ(order[1], 2);
        CHECK(!eddy_lock_is_locked(&lock));
        let_go(waiters);
}

SIM_TEST(a_cancelled_task_does_not_take_the_lock_but_can_release_it)
{
        eddy_lock lock = { 0 }, other = { 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_lock_acquire(&other), -ECANCELED);
        CHECK(!eddy_lock_is_locked(&other));
        CHECK_EQ(eddy_lock_try_acquire(&other), 0);
        CHECK_EQ(eddy_lock_release(&other), 0);
        CHECK_EQ(eddy_lock_release(&lock), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(!eddy_lock_is_locked(&lock));
}

static int releases(void *arg)
{
        return eddy_lock_release(arg);
}

/* A85: what nobody holds cannot be released; a plain lock may be by any task. */
SIM_TEST(any_task_releases_a_plain_lock_but_not_one_that_is_free)
{
        eddy_lock lock = { 0 };
        eddy_scope scope;

        CHECK_EQ(eddy_lock_release(&lock), -EPERM);
        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        CHECK(eddy_lock_is_mine(&lock));
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, releases, &lock);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(!eddy_lock_is_locked(&lock));
        CHECK(!eddy_lock_is_mine(&lock));
        CHECK_EQ(eddy_lock_release(&lock), -EPERM);
}

/* A85: a plain lock is not taken twice by its owner; asyncio waits for ever there. */
SIM_TEST(taking_ones_own_plain_lock_again_is_a_deadlock_said_at_once)
{
        eddy_lock lock = { 0 };

        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        CHECK_EQ(eddy_lock_acquire(&lock), -EDEADLK);
        CHECK_EQ(eddy_lock_try_acquire(&lock), -EDEADLK);
        CHECK(eddy_lock_is_mine(&lock));
        CHECK_EQ(eddy_lock_release(&lock), 0);
        CHECK(!eddy_lock_is_locked(&lock));
        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        CHECK_EQ(eddy_lock_release(&lock), 0);
}

/* A85: a recursive one is, and is released as often, by its owner only. */
SIM_TEST(a_recursive_lock_is_released_as_often_as_it_was_taken)
{
        eddy_lock lock = EDDY_LOCK(EDDY_LOCK_RECURSIVE);
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        CHECK_EQ(eddy_lock_try_acquire(&lock), 0);
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &lock);
        CHECK_EQ(eddy_lock_release(&lock), 0);
        CHECK_EQ(eddy_lock_release(&lock), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(order_count, 0);
        CHECK(eddy_lock_is_mine(&lock));
        CHECK_EQ(eddy_lock_release(&lock), 0);
        CHECK(!eddy_lock_is_mine(&lock));
        CHECK_EQ(eddy_lock_release(&lock), -EPERM);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(order_count, WAITERS);
        let_go(waiters);
}

static int cannot_release(void *arg)
{
        CHECK_EQ(eddy_lock_release(arg), -EPERM);
        CHECK_EQ(eddy_lock_try_acquire(arg), -EAGAIN);
        return 0;
}

SIM_TEST(no_other_task_releases_a_recursive_lock)
{
        eddy_lock lock;
        eddy_scope scope;

        eddy_lock_init(&lock, EDDY_LOCK_RECURSIVE);
        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, cannot_release, &lock);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(eddy_lock_is_mine(&lock));
        CHECK_EQ(eddy_lock_release(&lock), 0);
}

SIM_TEST(a_recursive_lock_is_not_taken_more_often_than_can_be_counted)
{
        eddy_lock lock = EDDY_LOCK(EDDY_LOCK_RECURSIVE);

        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        lock.depth = UINT32_MAX - 1;
        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        CHECK_EQ(eddy_lock_acquire(&lock), -EOVERFLOW);
        CHECK_EQ(eddy_lock_try_acquire(&lock), -EOVERFLOW);
        CHECK_EQ(eddy_lock_release(&lock), 0);
        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        lock.depth = 1;
        CHECK_EQ(eddy_lock_release(&lock), 0);
        CHECK(!eddy_lock_is_locked(&lock));
}

TEST(outside_a_task_nothing_is_taken)
{
        eddy_lock lock = { 0 };

        CHECK_EQ(eddy_lock_acquire(&lock), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_lock_try_acquire(&lock), EDDY_E_RUN_NOT_RUNNING);
        CHECK(!eddy_lock_is_locked(&lock));
        CHECK(!eddy_lock_is_mine(&lock));
        CHECK_EQ(eddy_lock_release(&lock), -EPERM);
}

static int takes_and_ends(void *arg)
{
        return eddy_lock_acquire(arg);
}

/* The address of a task that has ended goes to the next: it owns nothing of that one's. */
SIM_TEST_NO_DEBUG(a_lock_left_by_a_task_that_ended_is_not_the_next_tasks)
{
        eddy_lock lock = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, takes_and_ends, &lock);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(eddy_lock_is_locked(&lock));
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &lock);
        CHECK_EQ(waiters[0].err, 1);
        CHECK_EQ(order_count, 0);
        CHECK_EQ(eddy_lock_release(&lock), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(order_count, WAITERS);
        let_go(waiters);
}

static int leaves_early(eddy_lock *lock, bool early)
{
        EDDY_AUTO(eddy_lock) eddy_lock *held = NULL;
        int err = eddy_lock_acquire(lock);

        if (err < 0)
                return err;
        held = lock;
        return early ? -EIO : 0;
}

SIM_TEST(a_held_lock_is_released_on_every_way_out)
{
        eddy_lock lock = { 0 };

        CHECK_EQ(leaves_early(&lock, true), -EIO);
        CHECK(!eddy_lock_is_locked(&lock));
        CHECK_EQ(leaves_early(&lock, false), 0);
        CHECK(!eddy_lock_is_locked(&lock));
        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        /* What was not taken is not released. */
        CHECK_EQ(leaves_early(&lock, false), -EDEADLK);
        CHECK_EQ(eddy_lock_release(&lock), 0);
}

static int looks(void *arg)
{
        *(int *) arg = 1;
        return 0;
}

/* Fairness: after 128 calls that need not wait, another task has its turn. */
SIM_TEST(calls_that_never_wait_give_way_after_128)
{
        eddy_lock lock = { 0 };
        eddy_scope scope;
        int seen = 0, calls = 0;

        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, looks, &seen);
        while (!seen) {
                CHECK_EQ(eddy_lock_acquire(&lock), 0);
                /* Held at that time, or not; and -EDEADLK counts as well. */
                CHECK_EQ(eddy_lock_acquire(&lock), -EDEADLK);
                CHECK_EQ(eddy_lock_release(&lock), 0);
                calls += 2;
        }
        CHECK_EQ(calls, 128);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* --- deadlocks --- */

static struct reports reports;

static int run_reported(eddy_task_fn *main_fn)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_DEBUG,
                                      .report = reports_add,
                                      .report_arg = &reports };

        return sim_run_with(main_fn, NULL, 0, opts);
}

static void start_named(eddy_scope *scope, const char *name, eddy_task_fn *fn, void *arg)
{
        struct eddy_task_opts opts = { .name = name };
        eddy_task *task;

        CHECK_EQ(eddy_scope_start_task(scope, fn, arg, &opts, &task), 0);
        eddy_task_release(task);
}

struct crossed {
        eddy_lock locks[2];
        int id;
};

static int takes_both(void *arg)
{
        struct crossed *c = *(struct crossed **) arg;
        int first = c->id++ % 2, err;

        CHECK_EQ(eddy_lock_acquire(&c->locks[first]), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        err = eddy_lock_acquire(&c->locks[!first]);
        CHECK_EQ(err, -ECANCELED);
        CHECK_EQ(eddy_lock_release(&c->locks[first]), 0);
        return err;
}

static int crosses_locks(void *arg)
{
        struct crossed crossed = { .id = 0 }, *c = &crossed;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        start_named(&scope, "left", takes_both, &c);
        start_named(&scope, "right", takes_both, &c);
        CHECK_EQ(eddy_scope_end(&scope), -ECANCELED);
        CHECK(!eddy_lock_is_locked(&crossed.locks[0]));
        CHECK(!eddy_lock_is_locked(&crossed.locks[1]));
        return 0;
}

TEST(a_cycle_of_locks_is_reported_with_the_holder_of_each)
{
        CHECK_EQ(run_reported(crosses_locks), -EDEADLK);
        CHECK_EQ(reports.count[EDDY_REPORT_DEADLOCK], 1);
        CHECK(strstr(reports.text, "left waits for a lock, held by right\n") != NULL);
        CHECK(strstr(reports.text, "right waits for a lock, held by left") != NULL);
}

static int acquires(void *arg)
{
        return eddy_lock_acquire(arg);
}

static int waits_for_one_left_locked(void *arg)
{
        eddy_lock lock = { 0 };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, takes_and_ends, &lock);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        /* At the address of the one that has ended. */
        eddy_scope_begin(&scope, NULL);
        start_named(&scope, "heir", acquires, &lock);
        CHECK_EQ(eddy_scope_end(&scope), -ECANCELED);
        return 0;
}

TEST(a_lock_left_locked_is_reported_as_that)
{
        CHECK_EQ(run_reported(waits_for_one_left_locked), -EDEADLK);
        CHECK(strstr(reports.text, "heir waits for a lock, left locked by a task that has") !=
              NULL);
}

/* --- two loops --- */

static int acquires_elsewhere(void *arg)
{
        CHECK_EQ(eddy_lock_acquire(arg), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_lock_try_acquire(arg), refused_in_debug_mode(-EAGAIN));
        CHECK_EQ(eddy_lock_release(arg), EDDY_E_RUN_OTHER_LOOP);
        return 7;
}

/* A96: while tasks of one loop wait, those of another get an error; nothing happens to the lock. */
SIM_TEST(a_lock_that_tasks_of_another_loop_wait_for_is_refused)
{
        eddy_lock lock = { 0 };
        struct waiter waiters[WAITERS];
        eddy_scope scope;

        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        eddy_scope_begin(&scope, NULL);
        line_up(&scope, waiters, &lock);
        CHECK_EQ(on_other_loop(acquires_elsewhere, &lock), 7);
        CHECK(eddy_lock_is_mine(&lock));
        CHECK_EQ(eddy_lock_release(&lock), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(order_count, WAITERS);
        let_go(waiters);
}

/* --- in any order --- */

struct world {
        struct random_run random;
        eddy_lock lock;
        int inside, visits;
};

static int visits(void *arg)
{
        struct world *w = arg;
        int err = 0;

        for (int i = 0; i < 10 && err == 0; i++) {
                bool recursive = w->lock.flags & EDDY_LOCK_RECURSIVE;

                err = eddy_lock_acquire(&w->lock);
                if (err < 0)
                        break;
                CHECK_EQ(++w->inside, 1);
                CHECK_EQ(eddy_lock_try_acquire(&w->lock), recursive ? 0 : -EDEADLK);
                err = random_pause(&w->random);
                if (recursive)
                        CHECK_EQ(eddy_lock_release(&w->lock), 0);
                CHECK(eddy_lock_is_mine(&w->lock));
                w->inside--;
                w->visits++;
                CHECK_EQ(eddy_lock_release(&w->lock), 0);
        }
        return err;
}

static int lock_world(void *arg)
{
        uint64_t seed = *(uint64_t *) arg;
        eddy_scope scope;
        struct world w;

        w.inside = w.visits = 0;
        eddy_lock_init(&w.lock, seed % 2 ? EDDY_LOCK_RECURSIVE : 0);
        eddy_scope_begin(&scope, NULL);
        random_begin(&w.random, seed, &scope, visits, &w);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        random_end(&w.random);
        CHECK(!eddy_lock_is_locked(&w.lock));
        CHECK(w.visits > 0);
        return w.random.cancelled;
}

/* A83, A84: in each order of things one is inside at a time, and at the end nobody. */
TEST(one_at_a_time_in_many_schedules_with_cancels)
{
        random_run_all(lock_world);
}
