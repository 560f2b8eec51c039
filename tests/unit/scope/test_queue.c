/*
 * test_queue.c - the queue: order, bounds, hand-over, shutdown, cancel.
 */
#include "sim_run.h"
#include "starve.h"

struct user {
        eddy_queue *queue;
        int item, err;
        eddy_task *task;
};

static int puts_one(void *arg)
{
        struct user *u = arg;

        u->err = eddy_queue_put(u->queue, &u->item);
        return u->err == -EPIPE ? 0 : u->err;
}

static int gets_one(void *arg)
{
        struct user *u = arg;

        u->err = eddy_queue_get(u->queue, &u->item);
        return u->err == -EPIPE ? 0 : u->err;
}

static void start_users(eddy_scope *scope, struct user *users, int n, eddy_queue *queue,
                        eddy_task_fn *fn)
{
        for (int i = 0; i < n; i++) {
                users[i] = (struct user){ .queue = queue, .item = i, .err = 1 };
                CHECK_EQ(eddy_scope_start_task(scope, fn, &users[i], NULL, &users[i].task), 0);
        }
        CHECK_EQ(eddy_sleep(0), 0);
}

static void let_go(struct user *users, int n)
{
        for (int i = 0; i < n; i++)
                eddy_task_release(users[i].task);
}

static eddy_queue queue_of(uint32_t items_max)
{
        eddy_queue queue;

        CHECK_EQ(eddy_queue_init(&queue, sizeof(int), items_max), 0);
        return queue;
}

/* A97: first in, first out, through growth and wrapping. */
SIM_TEST(items_come_out_in_order_through_growth_and_wrap_around)
{
        eddy_queue queue = queue_of(0);
        int in = 0, out = 0, item;

        for (int round = 1; round < 60; round++) {
                for (int i = 0; i < round; i++, in++)
                        CHECK_EQ(eddy_queue_put(&queue, &in), 0);
                for (int i = 0; i < round / 2 + 1; i++, out++) {
                        CHECK_EQ(eddy_queue_get(&queue, &item), 0);
                        CHECK_EQ(item, out);
                }
                CHECK_EQ(eddy_queue_count(&queue), in - out);
        }
        while (eddy_queue_try_get(&queue, &item) == 0)
                CHECK_EQ(item, out++);
        CHECK_EQ(out, in);
        eddy_queue_fini(&queue);
        eddy_queue_fini(&queue);
}

/* A97: a full queue takes no more until one is taken. */
SIM_TEST(a_bounded_queue_holds_exactly_that_many)
{
        const uint32_t sizes[] = { 1, 2, 7, 8, 9, 100 };

        for (int s = 0; s < 6; s++) {
                eddy_queue queue = queue_of(sizes[s]);
                int item = 5;

                for (uint32_t i = 0; i < sizes[s]; i++)
                        CHECK_EQ(eddy_queue_try_put(&queue, &item), 0);
                CHECK_EQ(eddy_queue_try_put(&queue, &item), -EAGAIN);
                CHECK_EQ(eddy_queue_try_get(&queue, &item), 0);
                CHECK_EQ(eddy_queue_try_put(&queue, &item), 0);
                CHECK_EQ(eddy_queue_count(&queue), sizes[s]);
                eddy_queue_fini(&queue);
        }
}

/* A98, A100: a put item is the longest waiter's at once; try_get cannot take it. */
SIM_TEST(an_item_goes_straight_to_the_longest_getter)
{
        eddy_queue queue = queue_of(1);
        struct user getters[3];
        eddy_scope scope;
        int item;

        eddy_scope_begin(&scope, NULL);
        start_users(&scope, getters, 3, &queue, gets_one);
        for (item = 10; item < 13; item++)
                CHECK_EQ(eddy_queue_try_put(&queue, &item), 0);
        CHECK_EQ(eddy_queue_try_get(&queue, &item), -EAGAIN);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(getters[i].item, 10 + i);
        let_go(getters, 3);
        eddy_queue_fini(&queue);
}

SIM_TEST(room_goes_straight_to_the_longest_putter)
{
        eddy_queue queue = queue_of(1);
        struct user putters[3];
        eddy_scope scope;
        int item = 99;

        CHECK_EQ(eddy_queue_put(&queue, &item), 0);
        eddy_scope_begin(&scope, NULL);
        start_users(&scope, putters, 3, &queue, puts_one);
        CHECK_EQ(eddy_queue_try_get(&queue, &item), 0);
        CHECK_EQ(item, 99);
        CHECK_EQ(eddy_queue_try_put(&queue, &item), -EAGAIN);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_queue_try_get(&queue, &item), 0);
                CHECK_EQ(item, i);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        let_go(putters, 3);
        eddy_queue_fini(&queue);
}

/* A99: cancelled getters and putters leave; the rest get what comes, in order. */
SIM_TEST(cancelled_waiters_leave_and_lose_nothing)
{
        for (int who = 0; who < 3; who++) {
                eddy_queue queue = queue_of(1);
                struct user u[3];
                eddy_scope scope;
                int item, expected = 50;

                eddy_scope_begin(&scope, NULL);
                start_users(&scope, u, 3, &queue, gets_one);
                eddy_task_cancel(u[who].task);
                for (item = 50; item < 52; item++)
                        CHECK_EQ(eddy_queue_try_put(&queue, &item), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                for (int i = 0; i < 3; i++) {
                        CHECK_EQ(u[i].err, i == who ? -ECANCELED : 0);
                        CHECK_EQ(u[i].item, i == who ? i : expected++);
                }
                let_go(u, 3);

                CHECK_EQ(eddy_queue_try_put(&queue, &item), 0);
                eddy_scope_begin(&scope, NULL);
                start_users(&scope, u, 3, &queue, puts_one);
                eddy_task_cancel(u[who].task);
                CHECK_EQ(eddy_queue_try_get(&queue, &item), 0);
                for (int i = 0; i < 3; i++)
                        if (i != who) {
                                CHECK_EQ(eddy_queue_try_get(&queue, &item), 0);
                                CHECK_EQ(item, i);
                        }
                CHECK_EQ(eddy_queue_count(&queue), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                let_go(u, 3);
                eddy_queue_fini(&queue);
        }
}

/* A99: what was handed over before the cancel is kept, and its line moves on as if there were none. */
SIM_TEST(a_task_that_was_served_and_is_then_cancelled_keeps_its_item)
{
        eddy_queue queue = queue_of(1);
        struct user u[3];
        eddy_scope scope;
        int item = 50;

        eddy_scope_begin(&scope, NULL);
        start_users(&scope, u, 3, &queue, gets_one);
        CHECK_EQ(eddy_queue_try_put(&queue, &item), 0);
        eddy_task_cancel(u[0].task);
        item++;
        CHECK_EQ(eddy_queue_try_put(&queue, &item), 0);
        eddy_task_cancel(u[2].task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(u[i].err, i < 2 ? 0 : -ECANCELED);
                CHECK_EQ(u[i].item, i < 2 ? 50 + i : 2);
        }
        let_go(u, 3);

        CHECK_EQ(eddy_queue_put(&queue, &item), 0);
        eddy_scope_begin(&scope, NULL);
        start_users(&scope, u, 2, &queue, puts_one);
        CHECK_EQ(eddy_queue_try_get(&queue, &item), 0);
        eddy_task_cancel(u[0].task);
        CHECK_EQ(eddy_queue_try_get(&queue, &item), 0);
        CHECK_EQ(item, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(u[0].err, 0);
        CHECK_EQ(eddy_queue_try_get(&queue, &item), 0);
        CHECK_EQ(item, 1);
        let_go(u, 2);
        eddy_queue_fini(&queue);
}

enum { CROWD = 5, ROUNDS = 20 };

static int puts_many(void *arg)
{
        int err = 0;

        for (int i = 0; i < ROUNDS && err == 0; i++)
                err = eddy_queue_put(arg, &i);
        return err;
}

static int gets_many(void *arg)
{
        int item, err = 0;

        for (int i = 0; i < ROUNDS && err == 0; i++)
                err = eddy_queue_get(arg, &item);
        return err;
}

static int crowds_at_one_place(void *arg)
{
        eddy_queue queue = queue_of(1);
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < CROWD; i++) {
                eddy_scope_start(&scope, puts_many, &queue);
                eddy_scope_start(&scope, gets_many, &queue);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_queue_count(&queue), 0);
        eddy_queue_fini(&queue);
        return 0;
}

/* A100: many on both sides of a queue for one item: none is left waiting, in any order. */
TEST(many_on_both_sides_of_one_place_all_get_through)
{
        for (uint64_t seed = 0; seed < 100; seed++)
                CHECK_EQ(sim_run_with(crowds_at_one_place, NULL, seed, (struct eddy_run_opts){ 0 }),
                         0);
}

/* A102: after the shutdown puts fail, gets drain and fail then. */
SIM_TEST(a_shut_queue_drains_and_then_says_so)
{
        eddy_queue queue = queue_of(0);
        int item = 1;

        CHECK_EQ(eddy_queue_put(&queue, &item), 0);
        item = 2;
        CHECK_EQ(eddy_queue_put(&queue, &item), 0);
        eddy_queue_shutdown(&queue, 0);
        eddy_queue_shutdown(&queue, 0);
        CHECK_EQ(eddy_queue_put(&queue, &item), -EPIPE);
        CHECK_EQ(eddy_queue_try_put(&queue, &item), -EPIPE);
        CHECK_EQ(eddy_queue_get(&queue, &item), 0);
        CHECK_EQ(item, 1);
        CHECK_EQ(eddy_queue_try_get(&queue, &item), 0);
        CHECK_EQ(item, 2);
        item = 77;
        CHECK_EQ(eddy_queue_get(&queue, &item), -EPIPE);
        CHECK_EQ(eddy_queue_try_get(&queue, &item), -EPIPE);
        CHECK_EQ(item, 77);
        eddy_queue_fini(&queue);
}

/* A102: those who wait on either side are woken. */
SIM_TEST(a_shutdown_wakes_both_sides)
{
        eddy_queue empty = queue_of(1), full = queue_of(1);
        struct user getters[2], putters[2];
        eddy_scope scope;
        int item = 5;

        CHECK_EQ(eddy_queue_put(&full, &item), 0);
        eddy_scope_begin(&scope, NULL);
        start_users(&scope, getters, 2, &empty, gets_one);
        start_users(&scope, putters, 2, &full, puts_one);
        eddy_queue_shutdown(&empty, 0);
        eddy_queue_shutdown(&full, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(getters[i].err, -EPIPE);
                CHECK_EQ(putters[i].err, -EPIPE);
        }
        CHECK_EQ(eddy_queue_count(&full), 1);
        let_go(getters, 2);
        let_go(putters, 2);
        eddy_queue_fini(&empty);
        eddy_queue_fini(&full);
}

SIM_TEST(a_zero_queue_carries_pointers)
{
        static eddy_queue queue;
        int a, b;
        int *pointers[] = { &a, &b, NULL }, *got;

        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_queue_put(&queue, &pointers[i]), 0);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_queue_get(&queue, &got), 0);
                CHECK(got == pointers[i]);
        }
        eddy_queue_fini(&queue);
}

SIM_TEST(items_of_every_size_are_copied_whole)
{
        static unsigned char in[EDDY_QUEUE_ITEM_BYTES_MAX], out[EDDY_QUEUE_ITEM_BYTES_MAX + 1];
        const uint32_t sizes[] = { 1, 3, 8, 24, 1000, EDDY_QUEUE_ITEM_BYTES_MAX };
        eddy_queue queue;

        for (int s = 0; s < 6; s++) {
                CHECK_EQ(eddy_queue_init(&queue, sizes[s], 0), 0);
                for (int i = 0; i < 20; i++) {
                        memset(in, i + 1, sizes[s]);
                        CHECK_EQ(eddy_queue_put(&queue, in), 0);
                }
                for (int i = 0; i < 20; i++) {
                        memset(out, 0, sizeof(out));
                        CHECK_EQ(eddy_queue_get(&queue, out), 0);
                        CHECK(out[0] == i + 1 && out[sizes[s] - 1] == i + 1);
                        CHECK_EQ(out[sizes[s]], 0);
                }
                eddy_queue_fini(&queue);
        }
        CHECK_EQ(eddy_queue_init(&queue, EDDY_QUEUE_ITEM_BYTES_MAX + 1, 0), -EINVAL);
        CHECK_EQ(eddy_queue_init(&queue, 1, EDDY_QUEUE_ITEMS_MAX + 1), -EINVAL);
}

static int puts_without_memory(void *arg)
{
        eddy_queue queue = queue_of(0);
        int item = 3;

        (void) arg;
        allocations_left = 0;
        CHECK_EQ(eddy_queue_put(&queue, &item), -ENOMEM);
        CHECK_EQ(eddy_queue_try_put(&queue, &item), -ENOMEM);
        CHECK_EQ(eddy_queue_count(&queue), 0);
        allocations_left = -1;
        CHECK_EQ(eddy_queue_put(&queue, &item), 0);
        eddy_queue_fini(&queue);
        return 0;
}

TEST(no_memory_appends_nothing)
{
        eddy_alloc_set(starve, NULL);
        CHECK_EQ(sim_run(puts_without_memory, NULL), 0);
}
