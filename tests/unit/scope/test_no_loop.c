/*
 * test_no_loop.c - what threads that run no loop may do with the things that
 * tasks wait for: nothing while tasks wait, unless the loop is theirs and stands
 * still; in debug mode nothing while the loop is there that uses the thing.
 */
#include <pthread.h>

#include "sim_run.h"

/* One of each. */
struct things {
        eddy_event event;
        eddy_semaphore semaphore;
        eddy_lock lock;
        eddy_condition condition;
        eddy_barrier barrier;
        eddy_future future;
        eddy_queue queue;
};

static const struct things fresh = { .barrier = EDDY_BARRIER(2), .queue = { .items_max = 1 } };

static int wait_for_event(struct things *things)
{
        return eddy_event_wait(&things->event);
}

static int set_event(struct things *things)
{
        return eddy_event_set(&things->event);
}

static int wait_for_unit(struct things *things)
{
        return eddy_semaphore_acquire(&things->semaphore);
}

static int release_unit(struct things *things)
{
        return eddy_semaphore_release(&things->semaphore);
}

static int wait_for_lock(struct things *things)
{
        int err = eddy_lock_acquire(&things->lock);

        return err < 0 ? err : eddy_lock_release(&things->lock);
}

static int release_lock(struct things *things)
{
        return eddy_lock_release(&things->lock);
}

static int wait_for_condition(struct things *things)
{
        int err = eddy_lock_acquire(&things->lock);

        if (err < 0)
                return err;
        err = eddy_condition_wait(&things->condition, &things->lock);
        CHECK_EQ(eddy_lock_release(&things->lock), 0);
        return err;
}

static int notify(struct things *things)
{
        return eddy_condition_notify(&things->condition, 1);
}

static int notify_all(struct things *things)
{
        return eddy_condition_notify_all(&things->condition);
}

static int wait_at_barrier(struct things *things)
{
        return eddy_barrier_wait(&things->barrier);
}

static int abort_barrier(struct things *things)
{
        return eddy_barrier_abort(&things->barrier);
}

static int reset_barrier(struct things *things)
{
        return eddy_barrier_reset(&things->barrier);
}

static int wait_for_future(struct things *things)
{
        return eddy_future_wait(&things->future, NULL);
}

static int set_future(struct things *things)
{
        return eddy_future_set(&things->future, 0, NULL);
}

static int cancel_future(struct things *things)
{
        return eddy_future_cancel(&things->future);
}

static int remove_callbacks(struct things *things)
{
        return eddy_future_remove_callback(&things->future, NULL, NULL);
}

static int get_item(struct things *things)
{
        void *item;

        return eddy_queue_get(&things->queue, &item);
}

static int try_put_item(struct things *things)
{
        void *item = NULL;

        return eddy_queue_try_put(&things->queue, &item);
}

static int put_two_items(struct things *things)
{
        void *item = NULL;
        int err = eddy_queue_put(&things->queue, &item);

        return err < 0 ? err : eddy_queue_put(&things->queue, &item);
}

static int try_get_item(struct things *things)
{
        void *item;

        return eddy_queue_try_get(&things->queue, &item);
}

static int shut_queue(struct things *things)
{
        return eddy_queue_shutdown(&things->queue, 0);
}

static int put_and_join(struct things *things)
{
        int err = try_put_item(things);

        return err < 0 ? err : eddy_queue_join(&things->queue);
}

static int finish_item(struct things *things)
{
        return eddy_queue_task_done(&things->queue);
}

/* How a task waits for each, and the calls that end such waits; 'held': by the main task. */
static const struct use {
        int (*wait)(struct things *things);
        int (*change)(struct things *things);
        bool held;
} uses[] = {
        { wait_for_event, set_event },
        { wait_for_unit, release_unit },
        { wait_for_lock, release_lock, .held = true },
        { wait_for_condition, notify },
        { wait_for_condition, notify_all },
        { wait_at_barrier, abort_barrier },
        { wait_at_barrier, reset_barrier },
        { wait_for_future, set_future },
        { wait_for_future, cancel_future },
        { wait_for_future, remove_callbacks },
        { get_item, try_put_item },
        { get_item, shut_queue },
        { put_two_items, try_get_item },
        { put_two_items, shut_queue },
        { put_and_join, finish_item },
};

struct call {
        const struct use *use;
        struct things *things;
        int result;
};

static void *change_on_thread(void *arg)
{
        struct call *call = arg;

        call->result = call->use->change(call->things);
        return NULL;
}

/* The result of a change by a thread without a loop; the loop stands still meanwhile. */
static int change_elsewhere(const struct use *use, struct things *things)
{
        struct call call = { use, things, 0 };
        pthread_t thread;

        CHECK_EQ(pthread_create(&thread, NULL, change_on_thread, &call), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        return call.result;
}

static int wait_in_task(void *arg)
{
        struct call *call = arg;

        call->result = call->use->wait(call->things);
        return 0;
}

/* --- while tasks wait --- */

static void check_refused_while_a_task_waits(const struct use *use)
{
        struct things things = fresh;
        struct call call = { use, &things, 1 };
        eddy_scope scope;

        if (use->held)
                CHECK_EQ(eddy_lock_acquire(&things.lock), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, wait_in_task, &call);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(change_elsewhere(use, &things), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(call.result, 1);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(call.result, -ECANCELED);
        if (use->held)
                CHECK_EQ(eddy_lock_release(&things.lock), 0);
        eddy_queue_fini(&things.queue);
        eddy_future_fini(&things.future);
}

SIM_TEST(a_thread_without_a_loop_changes_nothing_that_tasks_wait_for)
{
        for (size_t i = 0; i < ed_array_count(uses); i++)
                check_refused_while_a_task_waits(&uses[i]);
}

/* --- while the loop stands still --- */

static int main_starts_waiter(void *arg)
{
        CHECK_EQ(eddy_background(wait_in_task, arg), 0);
        return eddy_sleep(MS);
}

/* The loop's own thread may, between two runs; and no other may. */
static void check_persistent(const struct use *use, unsigned flags)
{
        struct eddy_run_opts opts = { .flags = flags | EDDY_RUN_NO_SIGNALS, .drain_ns = -1 };
        struct things things = fresh;
        struct call call = { use, &things, 1 };
        eddy_loop *loop;
        int err;

        CHECK_EQ(eddy_loop_new(&opts, &loop), 0);
        CHECK_EQ(eddy_loop_run(loop, main_starts_waiter, &call), 0);
        CHECK_EQ(change_elsewhere(use, &things), EDDY_E_RUN_OTHER_LOOP);
        err = use->change(&things);
        CHECK(err >= 0 || err == -EPERM); /* of a condition, by who has not its lock */
        if (err == 0 && use->change != remove_callbacks)
                while (call.result == 1)
                        CHECK(eddy_loop_step(loop) >= 0);
        CHECK_EQ(eddy_loop_close(loop), 0);
        eddy_queue_fini(&things.queue);
        eddy_future_fini(&things.future);
}

TEST(between_steps_the_thread_of_a_loop_may_wake_its_tasks)
{
        for (size_t i = 0; i < ed_array_count(uses); i++) {
                if (uses[i].held)
                        continue;
                check_persistent(&uses[i], EDDY_RUN_NO_DEBUG);
                check_persistent(&uses[i], EDDY_RUN_DEBUG);
        }
}

/* --- while nobody waits --- */

/* Each thing is used once by the loop, and by the thread at two times. */
struct use_once {
        const struct use *use;
        struct things things;
};

static int use(struct use_once *once)
{
        struct call call = { once->use, &once->things, 1 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, wait_in_task, &call);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return call.result;
}

static int main_uses_once(void *arg)
{
        struct use_once *once = arg;

        (void) use(once);
        CHECK_EQ(change_elsewhere(once->use, &once->things), EDDY_E_RUN_OTHER_LOOP);
        return 0;
}

static int main_uses_again(void *arg)
{
        CHECK(use(arg) != EDDY_E_RUN_OTHER_LOOP);
        return 0;
}

static void drop_report(const struct eddy_report *report, void *arg)
{
        (void) report;
        (void) arg;
}

static const struct eddy_run_opts debug = { .flags = EDDY_RUN_DEBUG, .report = drop_report };

TEST(in_debug_mode_a_thread_changes_nothing_that_a_loop_has_used)
{
        for (size_t i = 0; i < ed_array_count(uses); i++) {
                struct use_once once = { &uses[i], fresh };
                int err;

                CHECK_EQ(eddy_run(main_uses_once, &once, &debug), 0);
                /* The loop has gone, and the thing is anybody's. */
                err = change_elsewhere(&uses[i], &once.things);
                CHECK(err != EDDY_E_RUN_OTHER_LOOP);
                CHECK_EQ(eddy_run(main_uses_again, &once, &debug), 0);
                eddy_queue_fini(&once.things.queue);
                eddy_future_fini(&once.things.future);
        }
}

static int main_is_first_used_elsewhere(void *arg)
{
        struct use_once *once = arg;
        int err = change_elsewhere(once->use, &once->things);

        CHECK(err != EDDY_E_RUN_OTHER_LOOP);
        return 0;
}

TEST(in_debug_mode_a_thread_may_prepare_an_object_that_no_loop_has_used)
{
        for (size_t i = 0; i < ed_array_count(uses); i++) {
                struct use_once once = { &uses[i], fresh };

                CHECK_EQ(eddy_run(main_is_first_used_elsewhere, &once, &debug), 0);
                eddy_queue_fini(&once.things.queue);
                eddy_future_fini(&once.things.future);
        }
}

/* --- a future whose loop has ended --- */

static int never(void *arg)
{
        (void) arg;
        test_fail(__FILE__, __LINE__, "a callback of a run that has ended was made");
}

static eddy_future_callback callback;

static int main_adds_callback(void *arg)
{
        return eddy_future_add_callback(arg, &callback, never, NULL);
}

static int main_sets(void *arg)
{
        CHECK_EQ(eddy_future_set(arg, 1, NULL), 0);
        return eddy_sleep(MS);
}

TEST(a_future_may_be_set_after_the_run_of_its_callbacks)
{
        eddy_future future = { 0 };

        CHECK_EQ(sim_run(main_adds_callback, &future), 0);
        CHECK_EQ(eddy_future_set(&future, 1, NULL), 0);
        eddy_future_fini(&future);
        /* By another run, too; the callback's memory is the program's again. */
        CHECK_EQ(sim_run(main_adds_callback, &future), 0);
        CHECK_EQ(sim_run(main_sets, &future), 0);
        eddy_future_fini(&future);
}
