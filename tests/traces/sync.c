/*
 * sync.c - locks, semaphores, queues, events, conditions and barriers: who
 * comes first, and who is woken.
 */
#include "trace.h"

static int takes_lock(void *arg)
{
        CHECK_EQ(eddy_lock_acquire(arg), 0);
        trace("other: has the lock");
        return eddy_lock_release(arg);
}

/* A83: nobody passes the task that waits for a lock. */
TRACE_TEST(S14_a_lock_is_not_taken_past_a_waiter)
{
        eddy_lock lock = { 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        eddy_scope_start(&scope, takes_lock, &lock);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_lock_release(&lock), 0);
        CHECK_EQ(eddy_lock_acquire(&lock), 0);
        trace("main: has the lock");
        CHECK_EQ(eddy_lock_release(&lock), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int takes_unit(void *arg)
{
        CHECK_EQ(eddy_semaphore_acquire(arg), 0);
        trace("other: has the unit");
        return eddy_semaphore_release(arg);
}

/* A86: nobody passes the task that waits for a unit. */
TRACE_TEST(S15_a_unit_is_not_taken_past_a_waiter)
{
        eddy_semaphore sem = EDDY_SEMAPHORE(1, 0);
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_semaphore_acquire(&sem), 0);
        eddy_scope_start(&scope, takes_unit, &sem);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_semaphore_release(&sem), 0);
        trace("a unit is free: %s", yes(eddy_semaphore_units(&sem) > 0));
        CHECK_EQ(eddy_semaphore_acquire(&sem), 0);
        trace("main: has the unit");
        CHECK_EQ(eddy_semaphore_release(&sem), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int takes_item(void *arg)
{
        const char *item = NULL;

        CHECK_EQ(eddy_queue_get(arg, &item), 0);
        trace("other: %s", item);
        return 0;
}

/* A98: an item goes to the task that waits for one; a call that does not wait cannot take it. */
TRACE_TEST(S16_an_item_is_not_taken_from_a_waiter)
{
        const char *x = "x", *y = "y", *item = NULL;
        eddy_queue queue = { 0 };
        eddy_scope scope;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        task = task_start(&scope, takes_item, &queue);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_queue_try_put(&queue, &x), 0);
        trace("main: %s", eddy_queue_try_get(&queue, &item) < 0 ? "nothing there" : item);
        CHECK_EQ(eddy_sleep(0), 0);
        trace("other has ended: %s", yes(eddy_task_is_done(task)));
        CHECK_EQ(eddy_queue_try_put(&queue, &y), 0);
        task_end(task);
        trace("left: %u", eddy_queue_count(&queue));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_queue_fini(&queue);
}

static int waits_for_event(void *arg)
{
        CHECK_EQ(eddy_event_wait(arg), 0);
        trace("other: woken; the event is set: %s", yes(eddy_event_is_set(arg)));
        return 0;
}

/* A90: who waited is woken, even if the event is cleared before it runs. */
TRACE_TEST(S17_an_event_that_is_cleared_at_once_has_woken)
{
        eddy_event event = { 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, waits_for_event, &event);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_event_set(&event);
        eddy_event_clear(&event);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* --- a barrier --- */

static eddy_barrier two = EDDY_BARRIER(2);

static int waits_at_barrier(void *arg)
{
        int party = eddy_barrier_wait(&two);

        trace("%s: %s", (const char *) arg, value(party));
        return 0;
}

/* A93, A94, A95: a cancelled waiter just leaves; abort breaks the barrier until it is reset. */
TRACE_TEST(S18_a_barrier_is_broken_by_abort_alone)
{
        eddy_scope scope;
        eddy_task *task, *other;

        eddy_scope_begin(&scope, NULL);
        task = task_start(&scope, waits_at_barrier, (void *) "a");
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_task_cancel(task);
        task_end(task);
        trace("waiting: %u, broken: %s", eddy_barrier_waiting(&two),
              yes(eddy_barrier_is_broken(&two)));
        task = task_start(&scope, waits_at_barrier, (void *) "b");
        other = task_start(&scope, waits_at_barrier, (void *) "c");
        task_end(task);
        task_end(other);
        task = task_start(&scope, waits_at_barrier, (void *) "d");
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_barrier_abort(&two);
        task_end(task);
        waits_at_barrier((void *) "e");
        eddy_barrier_reset(&two);
        trace("broken: %s", yes(eddy_barrier_is_broken(&two)));
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* --- misuse --- */

/* A91: to wait on a condition one must hold its lock. */
TRACE_TEST(S19_a_condition_wants_its_lock)
{
        eddy_condition condition = { 0 };
        eddy_lock lock = { 0 };

        trace("wait: %s", word(eddy_condition_wait(&condition, &lock)));
}

/* A89: a bounded semaphore takes no more units than it began with. */
TRACE_TEST(S20_a_unit_too_many_is_refused)
{
        eddy_semaphore sem = EDDY_SEMAPHORE(1, EDDY_SEMAPHORE_BOUNDED);

        trace("release: %s", word(eddy_semaphore_release(&sem)));
}
