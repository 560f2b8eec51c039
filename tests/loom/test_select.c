/*
 * test_select.c - sync/select.c, channel.c and far_waiter.c in every order:
 * tasks that wait for the first of several events, of which other threads and
 * their own loop serve some at the same moment.  One choice is done, the others
 * are untouched, and no item is lost or comes twice.
 */
#include <eddy/eddy.h>
#include <errno.h>

#include "loom.h"
#include "scope/run.h"

static const struct eddy_run_opts quiet = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG };

static eddy_channel *channels[2];

/* Empty; or each full with one item, 10 and 11. */
static void begin(bool full)
{
        for (int i = 0; i < 2; i++) {
                int item = 10 + i;

                DFS_CHECK_EQ(eddy_channel_new(sizeof(int), 1, &channels[i]), 0);
                if (full)
                        DFS_CHECK_EQ(eddy_channel_try_put(channels[i], &item), 0);
        }
}

static void end(void)
{
        for (int i = 0; i < 2; i++)
                eddy_channel_release(channels[i]);
}

static void run_main(void *arg)
{
        eddy_task_fn **fn = arg;

        DFS_CHECK_EQ(ed_run_on(loom_table_new(), *fn, NULL, &quiet, NULL), 0);
}

/* What is in a channel, or 0. */
static int item_in(eddy_channel *channel)
{
        int item = 0;

        return eddy_channel_try_get(channel, &item) == 0 ? item : 0;
}

/* --- threads that serve --- */

static int put_results[2];

static void put_one(int i)
{
        int item = 1 + i;

        put_results[i] = eddy_channel_try_put(channels[i], &item);
}

static void put_into_first(void *arg)
{
        (void) arg;
        put_one(0);
}

static void put_into_second(void *arg)
{
        (void) arg;
        put_one(1);
}

static void put_into_both(void *arg)
{
        (void) arg;
        put_one(0);
        put_one(1);
}

/* --- gets from two channels --- */

static int done, got[2], local;

static int get_either(void *arg)
{
        struct eddy_choice choices[2];

        (void) arg;
        got[0] = got[1] = 0;
        for (int i = 0; i < 2; i++)
                choices[i] = eddy_choice_channel_get(channels[i], &got[i]);
        done = eddy_select(choices, 2);
        DFS_CHECK(done == 0 || done == 1);
        DFS_CHECK_EQ(choices[done].result, 0);
        DFS_CHECK_EQ(got[1 - done], 0);
        return 0;
}

LOOM_TEST(select, one_of_two_items_is_taken_and_the_other_stays)
{
        eddy_task_fn *getter = get_either;
        int putters[2];

        begin(false);
        putters[0] = dfs_thread(put_into_first, NULL);
        putters[1] = dfs_thread(put_into_second, NULL);
        run_main(&getter);
        dfs_join(putters[0]);
        dfs_join(putters[1]);
        for (int i = 0; i < 2; i++) {
                DFS_CHECK_EQ(put_results[i], 0);
                DFS_CHECK_EQ(got[i] + item_in(channels[i]), 1 + i);
        }
        end();
}

/* --- of two tasks on two loops --- */

static int sum;

static int add_either(void *arg)
{
        int items[2] = { 0, 0 };
        struct eddy_choice choices[2];
        int chosen;

        (void) arg;
        for (int i = 0; i < 2; i++)
                choices[i] = eddy_choice_channel_get(channels[i], &items[i]);
        chosen = eddy_select(choices, 2);
        DFS_CHECK(chosen == 0 || chosen == 1);
        DFS_CHECK_EQ(choices[chosen].result, 0);
        DFS_CHECK_EQ(items[chosen], 1 + chosen);
        DFS_CHECK_EQ(items[1 - chosen], 0);
        sum += items[chosen];
        return 0;
}

LOOM_TEST(select, two_tasks_get_an_item_each)
{
        eddy_task_fn *getter = add_either;
        int others[2];

        begin(false);
        sum = 0;
        others[0] = dfs_thread(run_main, &getter);
        others[1] = dfs_thread(put_into_both, NULL);
        run_main(&getter);
        dfs_join(others[0]);
        dfs_join(others[1]);
        DFS_CHECK_EQ(sum, 3);
        end();
}

/* --- beside what the loop itself serves --- */

static int get_in_time(void *arg)
{
        struct eddy_choice choices[2];

        (void) arg;
        got[0] = 0;
        choices[0] = eddy_choice_channel_get(channels[0], &got[0]);
        choices[1] = eddy_choice_after(1000);
        done = eddy_select(choices, 2);
        return 0;
}

LOOM_TEST(select, an_item_that_meets_a_time_is_taken_or_stays)
{
        eddy_task_fn *getter = get_in_time;
        int putter;

        begin(false);
        putter = dfs_thread(put_into_first, NULL);
        run_main(&getter);
        dfs_join(putter);
        DFS_CHECK(done == 0 || done == 1);
        DFS_CHECK_EQ(got[0], done == 0 ? 1 : 0);
        DFS_CHECK_EQ(item_in(channels[0]), done == 0 ? 0 : 1);
        end();
}

static int get_before_deadline(void *arg)
{
        struct eddy_choice choices[2];
        eddy_scope scope;

        (void) arg;
        got[0] = 0;
        choices[0] = eddy_choice_channel_get(channels[0], &got[0]);
        choices[1] = eddy_choice_channel_get(channels[1], &got[1]);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 1000 });
        done = eddy_select(choices, 2);
        DFS_CHECK_EQ(eddy_scope_end(&scope), done == -ECANCELED ? -ETIMEDOUT : 0);
        return 0;
}

LOOM_TEST(select, an_item_that_meets_a_cancel_is_taken_or_stays)
{
        eddy_task_fn *getter = get_before_deadline;
        int putter;

        begin(false);
        putter = dfs_thread(put_into_first, NULL);
        run_main(&getter);
        dfs_join(putter);
        DFS_CHECK(done == 0 || done == -ECANCELED);
        DFS_CHECK_EQ(got[0], done == 0 ? 1 : 0);
        DFS_CHECK_EQ(item_in(channels[0]), done == 0 ? 0 : 1);
        end();
}

/* A queue, an event and a future of the loop, served by a task of it. */
static struct {
        eddy_queue queue;
        eddy_event event;
        eddy_future future;
} near;

static int serve_near(void *arg)
{
        int item = 5;

        (void) arg;
        DFS_CHECK_EQ(eddy_sleep(1000), 0);
        DFS_CHECK_EQ(eddy_queue_try_put(&near.queue, &item), 0);
        DFS_CHECK_EQ(eddy_event_set(&near.event), 0);
        DFS_CHECK_EQ(eddy_future_set(&near.future, -EIO, NULL), 0);
        return 0;
}

static int get_near_or_far(void *arg)
{
        struct eddy_choice choices[4];
        eddy_scope scope;
        int item = 0;

        (void) arg;
        memset(&near, 0, sizeof(near));
        got[0] = local = 0;
        DFS_CHECK_EQ(eddy_queue_init(&near.queue, sizeof(int), 1), 0);
        choices[0] = eddy_choice_channel_get(channels[0], &got[0]);
        choices[1] = eddy_choice_get(&near.queue, &local);
        choices[2] = eddy_choice_event(&near.event);
        choices[3] = eddy_choice_future(&near.future);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve_near, NULL);
        done = eddy_select(choices, 4);
        DFS_CHECK_EQ(eddy_scope_end(&scope), 0);
        DFS_CHECK(done == 0 || done == 1);
        DFS_CHECK_EQ(local, done == 1 ? 5 : 0);
        DFS_CHECK_EQ(eddy_queue_try_get(&near.queue, &item), done == 1 ? -EAGAIN : 0);
        /* Its failure was not looked at. */
        DFS_CHECK_EQ(eddy_future_cancel(&near.future), 0);
        eddy_future_fini(&near.future);
        eddy_queue_fini(&near.queue);
        return 0;
}

LOOM_TEST(select, an_item_that_meets_one_of_the_loop_stays_or_the_other_does)
{
        eddy_task_fn *getter = get_near_or_far;
        int putter;

        begin(false);
        putter = dfs_thread(put_into_first, NULL);
        run_main(&getter);
        dfs_join(putter);
        DFS_CHECK_EQ(put_results[0], 0);
        DFS_CHECK_EQ(got[0], done == 0 ? 1 : 0);
        DFS_CHECK_EQ(item_in(channels[0]), done == 0 ? 0 : 1);
        end();
}

/* --- puts --- */

static int put_either(void *arg)
{
        int items[2] = { 1, 2 };
        struct eddy_choice choices[2];

        (void) arg;
        for (int i = 0; i < 2; i++)
                choices[i] = eddy_choice_channel_put(channels[i], &items[i]);
        done = eddy_select(choices, 2);
        DFS_CHECK(done == 0 || done == 1);
        DFS_CHECK_EQ(choices[done].result, 0);
        return 0;
}

static void get_from_first(void *arg)
{
        (void) arg;
        got[0] = item_in(channels[0]);
}

static void get_from_second(void *arg)
{
        (void) arg;
        got[1] = item_in(channels[1]);
}

LOOM_TEST(select, one_of_two_items_is_put)
{
        eddy_task_fn *putter = put_either;
        int getters[2];

        begin(true);
        getters[0] = dfs_thread(get_from_first, NULL);
        getters[1] = dfs_thread(get_from_second, NULL);
        run_main(&putter);
        dfs_join(getters[0]);
        dfs_join(getters[1]);
        for (int i = 0; i < 2; i++) {
                DFS_CHECK_EQ(got[i], 10 + i);
                DFS_CHECK_EQ(item_in(channels[i]), done == i ? 1 + i : 0);
        }
        end();
}

/* --- shutting down --- */

static void shut_first(void *arg)
{
        (void) arg;
        eddy_channel_shutdown(channels[0]);
}

static int get_either_or_end(void *arg)
{
        struct eddy_choice choices[2];

        (void) arg;
        got[0] = got[1] = 0;
        for (int i = 0; i < 2; i++)
                choices[i] = eddy_choice_channel_get(channels[i], &got[i]);
        done = eddy_select(choices, 2);
        DFS_CHECK(done == 0 || done == 1);
        DFS_CHECK_EQ(choices[done].result, done == 0 ? -EPIPE : 0);
        DFS_CHECK_EQ(got[0], 0);
        return 0;
}

LOOM_TEST(select, a_shutdown_is_a_choice_that_is_done)
{
        eddy_task_fn *getter = get_either_or_end;
        int others[2];

        begin(false);
        others[0] = dfs_thread(shut_first, NULL);
        others[1] = dfs_thread(put_into_second, NULL);
        run_main(&getter);
        dfs_join(others[0]);
        dfs_join(others[1]);
        DFS_CHECK_EQ(got[1] + item_in(channels[1]), 2);
        end();
}
