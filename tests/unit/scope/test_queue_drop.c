/*
 * test_queue_drop.c - puts that drop the oldest item of a full queue: which one
 * it is, whose it is then, and what counts as done.
 */
#include "other_loop.h"
#include "starve.h"

enum { NOT_DROPPED = -1 };

static eddy_queue queue_of(uint32_t items_max)
{
        eddy_queue queue;

        CHECK_EQ(eddy_queue_init(&queue, sizeof(int), items_max), 0);
        return queue;
}

static void put_dropping(eddy_queue *queue, int item, int dropped)
{
        int was_dropped = NOT_DROPPED;

        CHECK_EQ(eddy_queue_put_dropping(queue, &item, &was_dropped), dropped != NOT_DROPPED);
        CHECK_EQ(was_dropped, dropped);
}

static void check_next(eddy_queue *queue, int item)
{
        int got = -1;

        CHECK_EQ(eddy_queue_try_get(queue, &got), 0);
        CHECK_EQ(got, item);
}

SIM_TEST(a_full_queue_drops_the_oldest_and_gives_it_back)
{
        const uint32_t sizes[] = { 1, 2, 7, 8, 9, 100 };

        for (int s = 0; s < 6; s++) {
                int max = (int) sizes[s], item = 0;
                eddy_queue queue = queue_of(sizes[s]);

                for (; item < 3 * max + 1; item++) {
                        put_dropping(&queue, item, item < max ? NOT_DROPPED : item - max);
                        CHECK_EQ(eddy_queue_count(&queue), item < max ? item + 1 : max);
                }
                for (int i = item - max; i < item; i++)
                        check_next(&queue, i);
                CHECK_EQ(eddy_queue_count(&queue), 0);
                put_dropping(&queue, item, NOT_DROPPED);
                check_next(&queue, item);
                eddy_queue_fini(&queue);
        }
}

SIM_TEST(the_item_that_is_dropped_may_go_where_the_new_one_was_or_nowhere)
{
        eddy_queue queue = queue_of(1);
        int item = 1;

        CHECK_EQ(eddy_queue_put_dropping(&queue, &item, &item), 0);
        CHECK_EQ(item, 1);
        item = 2;
        CHECK_EQ(eddy_queue_put_dropping(&queue, &item, &item), 1);
        CHECK_EQ(item, 1);
        CHECK_EQ(eddy_queue_put_dropping(&queue, &item, NULL), 1);
        check_next(&queue, 1);
        eddy_queue_fini(&queue);
}

/* Whose memory an item is, follows the item: none is lost, none freed twice. */
SIM_TEST(memory_in_a_dropped_item_is_the_putters_again)
{
        eddy_queue queue;
        int *number;

        CHECK_EQ(eddy_queue_init(&queue, 0, 3), 0);
        for (int i = 0; i < 20; i++) {
                number = malloc(sizeof(*number));
                *number = i;
                if (eddy_queue_put_dropping(&queue, &number, &number) == 1) {
                        CHECK_EQ(*number, i - 3);
                        free(number);
                }
        }
        while (eddy_queue_try_get(&queue, &number) == 0)
                free(number);
        eddy_queue_fini(&queue);
}

/* The top is taken next, so the bottom is dropped. */
SIM_TEST(last_in_first_out_drops_the_first_item)
{
        eddy_queue queue;

        CHECK_EQ(eddy_queue_init_lifo(&queue, sizeof(int), 3), 0);
        for (int i = 0; i < 5; i++)
                put_dropping(&queue, i, i < 3 ? NOT_DROPPED : i - 3);
        check_next(&queue, 4);
        put_dropping(&queue, 5, NOT_DROPPED);
        put_dropping(&queue, 6, 2);
        check_next(&queue, 6);
        check_next(&queue, 5);
        check_next(&queue, 3);
        CHECK_EQ(eddy_queue_count(&queue), 0);
        eddy_queue_fini(&queue);
}

static int by_number(const void *a, const void *b)
{
        return *(const int *) a - *(const int *) b;
}

SIM_TEST(a_queue_of_priorities_refuses_to_drop)
{
        eddy_queue queue;
        int item = 3, dropped = 7;

        CHECK_EQ(eddy_queue_init_priority(&queue, sizeof(int), 1, by_number), 0);
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(eddy_queue_put_dropping(&queue, &item, &dropped), -EINVAL);
                CHECK_EQ(eddy_queue_count(&queue), i);
                CHECK_EQ(eddy_queue_try_put(&queue, &item), i == 0 ? 0 : -EAGAIN);
        }
        CHECK_EQ(dropped, 7);
        eddy_queue_fini(&queue);
}

SIM_TEST(large_items_are_exchanged_whole)
{
        static unsigned char in[EDDY_QUEUE_ITEM_BYTES_MAX], out[EDDY_QUEUE_ITEM_BYTES_MAX];
        eddy_queue queue;

        CHECK_EQ(eddy_queue_init(&queue, sizeof(in), 2), 0);
        for (int i = 0; i < 6; i++) {
                memset(in, i + 1, sizeof(in));
                CHECK_EQ(eddy_queue_put_dropping(&queue, in, out), i >= 2);
                for (size_t k = 0; k < sizeof(out); k++)
                        CHECK_EQ(out[k], i < 2 ? 0 : i - 1);
        }
        eddy_queue_fini(&queue);
}

SIM_TEST(a_queue_that_is_shut_drops_nothing)
{
        eddy_queue queue = queue_of(1);
        int item = 2, dropped = 7;

        put_dropping(&queue, 1, NOT_DROPPED);
        CHECK_EQ(eddy_queue_shutdown(&queue, 0), 0);
        CHECK_EQ(eddy_queue_put_dropping(&queue, &item, &dropped), -EPIPE);
        CHECK_EQ(dropped, 7);
        check_next(&queue, 1);
        eddy_queue_fini(&queue);
}

/* --- waiters --- */

struct user {
        eddy_queue *queue;
        int item, err;
};

static int puts_one(void *arg)
{
        struct user *u = arg;

        u->err = eddy_queue_put(u->queue, &u->item);
        return 0;
}

static int gets_one(void *arg)
{
        struct user *u = arg;

        u->err = eddy_queue_get(u->queue, &u->item);
        return 0;
}

SIM_TEST(a_getter_that_waits_gets_the_item)
{
        eddy_queue queue = queue_of(1);
        struct user getter = { &queue, -1, 1 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, gets_one, &getter), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        put_dropping(&queue, 5, NOT_DROPPED);
        CHECK_EQ(eddy_queue_count(&queue), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(getter.err, 0);
        CHECK_EQ(getter.item, 5);
        eddy_queue_fini(&queue);
}

SIM_TEST(putters_that_wait_wait_on_and_keep_their_turns)
{
        eddy_queue queue = queue_of(2);
        struct user putters[2] = { { &queue, 10, 1 }, { &queue, 11, 1 } };
        eddy_scope scope;

        put_dropping(&queue, 1, NOT_DROPPED);
        put_dropping(&queue, 2, NOT_DROPPED);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_scope_start(&scope, puts_one, &putters[i]), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        put_dropping(&queue, 3, 1);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(putters[0].err, 1);
        check_next(&queue, 2);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(putters[0].err, 0);
        CHECK_EQ(putters[1].err, 1);
        check_next(&queue, 3);
        check_next(&queue, 10);
        check_next(&queue, 11);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(putters[1].err, 0);
        eddy_queue_fini(&queue);
}

/* --- what is done --- */

static int joins(void *arg)
{
        struct user *u = arg;

        u->err = eddy_queue_join(u->queue);
        return 0;
}

SIM_TEST(a_dropped_item_is_done_and_the_new_one_is_not)
{
        eddy_queue queue = queue_of(2);
        struct user joiner = { &queue, 0, 1 };
        eddy_scope scope;

        for (int i = 0; i < 5; i++)
                put_dropping(&queue, i, i < 2 ? NOT_DROPPED : i - 2);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, joins, &joiner), 0);
        for (int i = 3; i < 5; i++) {
                CHECK_EQ(eddy_sleep(0), 0);
                CHECK_EQ(joiner.err, 1);
                check_next(&queue, i);
                CHECK_EQ(eddy_queue_task_done(&queue), 0);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(joiner.err, 0);
        CHECK_EQ(eddy_queue_task_done(&queue), -EINVAL);
        eddy_queue_fini(&queue);
}

/* Said to be done while it was still in the queue: it is not done twice. */
SIM_TEST(an_item_that_was_done_before_it_is_dropped_counts_once)
{
        eddy_queue queue = queue_of(1);

        put_dropping(&queue, 1, NOT_DROPPED);
        CHECK_EQ(eddy_queue_task_done(&queue), 0);
        put_dropping(&queue, 2, 1);
        check_next(&queue, 2);
        CHECK_EQ(eddy_queue_task_done(&queue), 0);
        CHECK_EQ(eddy_queue_task_done(&queue), -EINVAL);
        CHECK_EQ(eddy_queue_join(&queue), 0);
        eddy_queue_fini(&queue);
}

/* --- where it works --- */

static int put_in_callback(void *arg)
{
        put_dropping(arg, 2, 1);
        return 0;
}

SIM_TEST(it_works_in_a_cancelled_task_and_in_a_callback)
{
        eddy_queue queue = queue_of(1);
        eddy_handle handle = { 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        put_dropping(&queue, 1, NOT_DROPPED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_loop_call_soon(NULL, &handle, put_in_callback, &queue), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        check_next(&queue, 2);
        eddy_queue_fini(&queue);
}

static int puts_without_memory(void *arg)
{
        eddy_queue queue = queue_of(1);
        int item = 1, dropped = 7;

        (void) arg;
        allocations_left = 0;
        CHECK_EQ(eddy_queue_put_dropping(&queue, &item, &dropped), -ENOMEM);
        allocations_left = -1;
        CHECK_EQ(eddy_queue_count(&queue), 0);
        CHECK_EQ(dropped, 7);
        put_dropping(&queue, 1, NOT_DROPPED);
        /* To drop needs none. */
        allocations_left = 0;
        put_dropping(&queue, 2, 1);
        allocations_left = -1;
        eddy_queue_fini(&queue);
        return 0;
}

TEST(without_memory_nothing_is_put_and_dropping_needs_none)
{
        eddy_alloc_set(starve, NULL);
        CHECK_EQ(sim_run(puts_without_memory, NULL), 0);
}

static int puts_on_another_loop(void *arg)
{
        int item = 3, dropped = 7;

        CHECK_EQ(eddy_queue_put_dropping(arg, &item, &dropped), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(dropped, 7);
        return 0;
}

SIM_TEST(while_tasks_of_another_loop_wait_nothing_is_dropped)
{
        eddy_queue queue = queue_of(1);
        struct user putter = { &queue, 2, 1 };
        eddy_scope scope;

        put_dropping(&queue, 1, NOT_DROPPED);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, puts_one, &putter), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(on_other_loop(puts_on_another_loop, &queue), 0);
        check_next(&queue, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        check_next(&queue, 2);
        eddy_queue_fini(&queue);
}
