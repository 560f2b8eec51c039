/*
 * test_channel.c - sync/channel.c and sync/far_waiter.c in every order: items
 * between tasks of two loops and threads without one, where a wait may be
 * cancelled, its deadline may pass and the channel may be shut meanwhile.  No
 * item is lost or comes twice, and no waiter sleeps on.
 */
#include <eddy/eddy.h>
#include <errno.h>

#include "loom.h"
#include "scope/run.h"

static const struct eddy_run_opts quiet = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG };

static eddy_channel *channel;

static void begin(uint32_t items_max)
{
        DFS_CHECK_EQ(eddy_channel_new(sizeof(int), items_max, &channel), 0);
}

static void run_main(void *arg)
{
        eddy_task_fn **fn = arg;

        DFS_CHECK_EQ(ed_run_on(loom_table_new(), *fn, NULL, &quiet, NULL), 0);
}

/* --- hand-over --- */

static int got[2];

static int get_two(void *arg)
{
        (void) arg;
        for (int i = 0; i < 2; i++)
                DFS_CHECK_EQ(eddy_channel_get(channel, &got[i]), 0);
        return 0;
}

static int put_two(void *arg)
{
        (void) arg;
        for (int item = 1; item <= 2; item++)
                DFS_CHECK_EQ(eddy_channel_put(channel, &item), 0);
        return 0;
}

LOOM_TEST(channel, items_go_over_in_order_and_nobody_sleeps_on)
{
        eddy_task_fn *getter = get_two, *putter = put_two;
        int other;

        begin(1);
        other = dfs_thread(run_main, &putter);
        run_main(&getter);
        dfs_join(other);
        DFS_CHECK_EQ(got[0] * 10 + got[1], 12);
        eddy_channel_release(channel);
}

/* --- a wait that ends otherwise --- */

static int result;

static int get_in_time(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 1000 });
        result = eddy_channel_get(channel, &got[0]);
        DFS_CHECK_EQ(eddy_scope_end(&scope), result == -ECANCELED ? -ETIMEDOUT : 0);
        return 0;
}

static int put_result;

static void try_put_one(void *arg)
{
        int item = 7;

        (void) arg;
        put_result = eddy_channel_try_put(channel, &item);
        eddy_channel_release(channel);
}

LOOM_TEST(channel, an_item_that_meets_a_deadline_is_delivered_or_stays)
{
        eddy_task_fn *getter = get_in_time;
        int putter;

        begin(1);
        got[0] = 0;
        putter = dfs_thread(try_put_one, eddy_channel_ref(channel));
        run_main(&getter);
        dfs_join(putter);
        DFS_CHECK_EQ(put_result, 0);
        DFS_CHECK(result == 0 || result == -ECANCELED);
        DFS_CHECK_EQ(got[0], result == 0 ? 7 : 0);
        DFS_CHECK_EQ(eddy_channel_count(channel), result == 0 ? 0 : 1);
        eddy_channel_release(channel);
}

static void shut(void *arg)
{
        (void) arg;
        eddy_channel_shutdown(channel);
}

/* A putter that waits for room, a getter on a plain thread, and a shutdown. */
static int put_third(void *arg)
{
        int item = 2;

        (void) arg;
        result = eddy_channel_put(channel, &item);
        return 0;
}

static int try_result, tried;

static void try_get_one(void *arg)
{
        (void) arg;
        try_result = eddy_channel_try_get(channel, &tried);
}

LOOM_TEST(channel, a_shutdown_ends_a_wait_and_keeps_what_was_put)
{
        eddy_task_fn *putter = put_third;
        int others[2], item = 1, left = 0;

        begin(1);
        DFS_CHECK_EQ(eddy_channel_try_put(channel, &item), 0);
        others[0] = dfs_thread(shut, NULL);
        others[1] = dfs_thread(try_get_one, NULL);
        run_main(&putter);
        dfs_join(others[0]);
        dfs_join(others[1]);
        DFS_CHECK(result == 0 || result == -EPIPE);
        DFS_CHECK_EQ(try_result, 0);
        DFS_CHECK_EQ(tried, 1);
        while (eddy_channel_try_get(channel, &item) == 0)
                left += item;
        DFS_CHECK_EQ(left, result == 0 ? 2 : 0);
        eddy_channel_release(channel);
}

/* --- threads without a loop --- */

static void get_two_blocked(void *arg)
{
        (void) get_two(arg);
}

static void put_two_blocked(void *arg)
{
        (void) put_two(arg);
}

LOOM_TEST(channel, items_go_over_between_two_blocked_threads)
{
        int other;

        begin(1);
        other = dfs_thread(put_two_blocked, NULL);
        get_two_blocked(NULL);
        dfs_join(other);
        DFS_CHECK_EQ(got[0] * 10 + got[1], 12);
        eddy_channel_release(channel);
}

LOOM_TEST(channel, items_go_over_from_a_task_to_a_blocked_thread)
{
        eddy_task_fn *putter = put_two;
        int other;

        begin(1);
        other = dfs_thread(get_two_blocked, NULL);
        run_main(&putter);
        dfs_join(other);
        DFS_CHECK_EQ(got[0] * 10 + got[1], 12);
        eddy_channel_release(channel);
}

LOOM_TEST(channel, items_go_over_from_a_blocked_thread_to_a_task)
{
        eddy_task_fn *getter = get_two;
        int other;

        begin(1);
        other = dfs_thread(put_two_blocked, NULL);
        run_main(&getter);
        dfs_join(other);
        DFS_CHECK_EQ(got[0] * 10 + got[1], 12);
        eddy_channel_release(channel);
}

static int blocked_result;

static void get_one_blocked(void *arg)
{
        (void) arg;
        blocked_result = eddy_channel_get(channel, &got[0]);
}

LOOM_TEST(channel, a_shutdown_ends_the_wait_of_a_thread)
{
        int getter, putter;

        begin(1);
        got[0] = 0;
        getter = dfs_thread(get_one_blocked, NULL);
        putter = dfs_thread(try_put_one, eddy_channel_ref(channel));
        eddy_channel_shutdown(channel);
        dfs_join(getter);
        dfs_join(putter);
        DFS_CHECK(put_result == 0 || put_result == -EPIPE);
        DFS_CHECK_EQ(blocked_result, put_result);
        DFS_CHECK_EQ(got[0], put_result == 0 ? 7 : 0);
        eddy_channel_release(channel);
}

/* A thread and a task whose deadline may pass wait for the same item. */
LOOM_TEST(channel, an_item_goes_to_the_thread_if_the_task_has_left)
{
        eddy_task_fn *getter = get_in_time;
        int other, item = 0;

        begin(1);
        got[0] = blocked_result = 0;
        other = dfs_thread(try_put_one, eddy_channel_ref(channel));
        run_main(&getter);
        DFS_CHECK(result == 0 || result == -ECANCELED);
        if (result < 0)
                DFS_CHECK_EQ(eddy_channel_get(channel, &item), 0);
        dfs_join(other);
        DFS_CHECK_EQ(result == 0 ? got[0] : item, 7);
        DFS_CHECK_EQ(eddy_channel_count(channel), 0);
        eddy_channel_release(channel);
}

/* --- dropping --- */

static int dropped[2];

static void put_two_dropping(void *arg)
{
        (void) arg;
        for (int item = 1; item <= 2; item++)
                if (eddy_channel_put_dropping(channel, &item, &dropped[item - 1]) == 0)
                        dropped[item - 1] = 0;
}

LOOM_TEST(channel, a_put_that_drops_loses_no_item_and_leaves_the_newest)
{
        int other, item = 0, sum = 0, last = 0;

        begin(1);
        dropped[0] = dropped[1] = 0;
        other = dfs_thread(put_two_dropping, NULL);
        while (last != 2) {
                DFS_CHECK_EQ(eddy_channel_get(channel, &item), 0);
                DFS_CHECK(item > last);
                last = item;
                sum += item;
        }
        dfs_join(other);
        DFS_CHECK_EQ(dropped[0], 0);
        DFS_CHECK_EQ(sum + dropped[1], 3);
        eddy_channel_release(channel);
}
