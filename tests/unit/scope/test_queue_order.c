/*
 * test_queue_order.c - queues that are not first in, first out: the last put
 * first, and the smallest first.
 */
#include "sim_run.h"

struct job {
        int priority;
        int number;
};

static int by_priority(const void *a, const void *b)
{
        const struct job *x = a, *y = b;

        return (x->priority > y->priority) - (x->priority < y->priority);
}

static eddy_queue jobs_of(uint32_t items_max)
{
        eddy_queue queue;

        CHECK_EQ(eddy_queue_init_priority(&queue, sizeof(struct job), items_max, by_priority), 0);
        return queue;
}

static void put_job(eddy_queue *queue, int priority, int number)
{
        struct job job = { priority, number };

        CHECK_EQ(eddy_queue_put(queue, &job), 0);
}

static void check_next(eddy_queue *queue, int priority, int number)
{
        struct job job = { -1, -1 };

        CHECK_EQ(eddy_queue_get(queue, &job), 0);
        CHECK_EQ(job.priority, priority);
        CHECK_EQ(job.number, number);
}

struct user {
        eddy_queue *queue;
        struct job job;
        int err;
        eddy_task *task;
};

static int puts_job(void *arg)
{
        struct user *u = arg;

        return u->err = eddy_queue_put(u->queue, &u->job);
}

static int gets_job(void *arg)
{
        struct user *u = arg;

        return u->err = eddy_queue_get(u->queue, &u->job);
}

static void start_user(eddy_scope *scope, struct user *u, eddy_task_fn *fn)
{
        CHECK_EQ(eddy_scope_start_task(scope, fn, u, NULL, &u->task), 0);
        CHECK_EQ(eddy_sleep(0), 0);
}

/* A97: last in, first out, through growth. */
SIM_TEST(the_last_put_is_taken_first)
{
        eddy_queue queue;
        int item;

        CHECK_EQ(eddy_queue_init_lifo(&queue, sizeof(int), 0), 0);
        for (int i = 0; i < 100; i++)
                CHECK_EQ(eddy_queue_put(&queue, &i), 0);
        for (int i = 99; i >= 50; i--) {
                CHECK_EQ(eddy_queue_get(&queue, &item), 0);
                CHECK_EQ(item, i);
        }
        for (int i = 200; i < 300; i++)
                CHECK_EQ(eddy_queue_try_put(&queue, &i), 0);
        for (int i = 299; i >= 200; i--) {
                CHECK_EQ(eddy_queue_try_get(&queue, &item), 0);
                CHECK_EQ(item, i);
        }
        for (int i = 49; i >= 0; i--) {
                CHECK_EQ(eddy_queue_get(&queue, &item), 0);
                CHECK_EQ(item, i);
        }
        CHECK_EQ(eddy_queue_try_get(&queue, &item), -EAGAIN);
        eddy_queue_fini(&queue);
}

static int puts_int(void *arg)
{
        return eddy_queue_put(arg, &(int){ 3 });
}

/* A97, A98: room that comes free is the waiting putter's, whose item is the last put then. */
SIM_TEST(a_waiting_putters_item_is_the_last_put)
{
        static const int expected[] = { 2, 3, 1 };
        eddy_queue queue;
        eddy_scope scope;
        int item = 4;

        CHECK_EQ(eddy_queue_init_lifo(&queue, sizeof(int), 2), 0);
        for (int i = 1; i <= 2; i++)
                CHECK_EQ(eddy_queue_put(&queue, &i), 0);
        CHECK_EQ(eddy_queue_try_put(&queue, &item), -EAGAIN);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, puts_int, &queue), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_queue_get(&queue, &item), 0);
                CHECK_EQ(item, expected[i]);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_queue_fini(&queue);
}

/* A97: the smallest first. */
SIM_TEST(the_smallest_is_taken_first)
{
        static const int order[] = { 5, 3, 8, 1, 9, 2, 7, 4, 6, 0, 11, 10 };
        eddy_queue queue = jobs_of(0);

        for (int i = 0; i < 12; i++)
                put_job(&queue, order[i], order[i]);
        for (int i = 0; i < 6; i++)
                check_next(&queue, i, i);
        put_job(&queue, -1, 100);
        put_job(&queue, 100, 101);
        check_next(&queue, -1, 100);
        for (int i = 6; i < 12; i++)
                check_next(&queue, i, i);
        check_next(&queue, 100, 101);
        CHECK_EQ(eddy_queue_count(&queue), 0);
        eddy_queue_fini(&queue);
}

/* A97: equal ones come in the order they were put, and only compare() looks at items. */
SIM_TEST(equal_ones_are_taken_in_the_order_they_were_put)
{
        enum { N = 300, PRIORITIES = 3 };

        eddy_queue queue = jobs_of(0);
        int last[PRIORITIES] = { -1, -1, -1 }, taken = 0, lowest;
        struct job job;
        uint32_t x = 12345;

        for (int i = 0; i < N; i++) {
                x = x * 1664525 + 1013904223;
                put_job(&queue, (int) (x >> 16) % PRIORITIES, i);
                if (i % 3 == 0) {
                        CHECK_EQ(eddy_queue_get(&queue, &job), 0);
                        CHECK(job.number > last[job.priority]);
                        last[job.priority] = job.number;
                        taken++;
                }
        }
        for (lowest = 0; eddy_queue_try_get(&queue, &job) == 0; taken++) {
                CHECK(job.priority >= lowest);
                CHECK(job.number > last[job.priority]);
                lowest = job.priority;
                last[job.priority] = job.number;
        }
        CHECK_EQ(taken, N);
        eddy_queue_fini(&queue);
}

/* A97, A98: a getter that waits gets the next put, whatever its priority. */
SIM_TEST(a_waiting_getter_gets_the_next_put_of_any_priority)
{
        eddy_queue queue = jobs_of(0);
        struct user u = { .queue = &queue };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_user(&scope, &u, gets_job);
        put_job(&queue, 9, 1);
        put_job(&queue, 1, 2);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(u.job.number, 1);
        check_next(&queue, 1, 2);
        eddy_task_release(u.task);
        eddy_queue_fini(&queue);
}

/* A97, A99: a full one holds so many; waiting putters come in line, cancelled ones leave nothing. */
SIM_TEST(putters_of_a_full_heap_come_in_line)
{
        eddy_queue queue = jobs_of(1);
        struct user u[3];
        eddy_scope scope;

        put_job(&queue, 5, 5);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++) {
                u[i] = (struct user){ .queue = &queue, .job = { 2 - i, i } };
                start_user(&scope, &u[i], puts_job);
        }
        CHECK_EQ(eddy_queue_try_put(&queue, &u[0].job), -EAGAIN);
        eddy_task_cancel(u[1].task);
        check_next(&queue, 5, 5);
        check_next(&queue, 2, 0);
        check_next(&queue, 0, 2);
        CHECK_EQ(eddy_queue_count(&queue), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(u[1].err, -ECANCELED);
        for (int i = 0; i < 3; i++)
                eddy_task_release(u[i].task);
        eddy_queue_fini(&queue);
}

static int by_first_byte(const void *a, const void *b)
{
        return *(const unsigned char *) a - *(const unsigned char *) b;
}

static int by_long_double(const void *a, const void *b)
{
        const long double *x = a, *y = b;

        CHECK((uintptr_t) x % _Alignof(long double) == 0);
        CHECK((uintptr_t) y % _Alignof(long double) == 0);
        return (*x > *y) - (*x < *y);
}

/* A97: items of any size keep their bytes, and are where their type may lie. */
SIM_TEST(items_of_a_heap_are_copied_whole_and_aligned)
{
        static unsigned char in[EDDY_QUEUE_ITEM_BYTES_MAX], out[EDDY_QUEUE_ITEM_BYTES_MAX + 1];
        const uint32_t sizes[] = { 1, 3, 8, 17, 1000, EDDY_QUEUE_ITEM_BYTES_MAX };
        long double number;
        eddy_queue queue;

        for (int s = 0; s < 6; s++) {
                CHECK_EQ(eddy_queue_init_priority(&queue, sizes[s], 0, by_first_byte), 0);
                for (int i = 20; i > 0; i--) {
                        memset(in, i, sizes[s]);
                        CHECK_EQ(eddy_queue_put(&queue, in), 0);
                }
                for (int i = 1; i <= 20; i++) {
                        memset(out, 0, sizeof(out));
                        CHECK_EQ(eddy_queue_get(&queue, out), 0);
                        for (uint32_t b = 0; b < sizes[s]; b++)
                                CHECK_EQ(out[b], i);
                        CHECK_EQ(out[sizes[s]], 0);
                }
                eddy_queue_fini(&queue);
        }
        CHECK_EQ(eddy_queue_init_priority(&queue, sizeof(number), 0, by_long_double), 0);
        for (int i = 20; i > 0; i--) {
                number = i;
                CHECK_EQ(eddy_queue_put(&queue, &number), 0);
        }
        for (int i = 1; i <= 20; i++) {
                CHECK_EQ(eddy_queue_get(&queue, &number), 0);
                CHECK(number == i);
        }
        eddy_queue_fini(&queue);
}

SIM_TEST(a_freed_queue_keeps_its_order_and_is_open_again)
{
        eddy_queue heap = jobs_of(2), lifo;

        eddy_queue_shutdown(&heap, 0);
        eddy_queue_fini(&heap);
        put_job(&heap, 2, 2);
        put_job(&heap, 1, 1);
        check_next(&heap, 1, 1);
        check_next(&heap, 2, 2);
        eddy_queue_fini(&heap);
        CHECK_EQ(eddy_queue_init_lifo(&lifo, sizeof(struct job), 2), 0);
        eddy_queue_shutdown(&lifo, 0);
        eddy_queue_fini(&lifo);
        put_job(&lifo, 2, 2);
        put_job(&lifo, 1, 1);
        check_next(&lifo, 1, 1);
        eddy_queue_fini(&lifo);
}

/* A97, A102: a shut one drains in its order. */
SIM_TEST(a_shut_heap_drains_in_its_order)
{
        eddy_queue queue = jobs_of(0);
        struct job job = { 0, 0 };

        for (int i = 5; i > 0; i--)
                put_job(&queue, i, i);
        eddy_queue_shutdown(&queue, 0);
        CHECK_EQ(eddy_queue_try_put(&queue, &job), -EPIPE);
        for (int i = 1; i <= 5; i++)
                check_next(&queue, i, i);
        CHECK_EQ(eddy_queue_get(&queue, &job), -EPIPE);
        eddy_queue_fini(&queue);
}

TEST(options_that_make_no_queue_are_refused)
{
        eddy_queue queue;

        CHECK_EQ(eddy_queue_init_priority(&queue, 4, 0, NULL), -EINVAL);
        CHECK_EQ(eddy_queue_init_priority(&queue, EDDY_QUEUE_ITEM_BYTES_MAX + 1, 0, by_priority),
                 -EINVAL);
        CHECK_EQ(eddy_queue_init_lifo(&queue, EDDY_QUEUE_ITEM_BYTES_MAX + 1, 0), -EINVAL);
        CHECK_EQ(eddy_queue_init_lifo(&queue, 4, EDDY_QUEUE_ITEMS_MAX + 1), -EINVAL);
}
