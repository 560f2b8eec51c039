/*
 * test_process_map.c - a function for each item of an array, in worker processes.
 */
#include <poll.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "pool_test.h"

enum { ITEMS = 1000 };

static int items[ITEMS], squares[ITEMS], errors[ITEMS], seen[ITEMS];
static size_t seen_count;

static int item_of(eddy_process_work *work)
{
        int item = -1;

        if (eddy_process_work_input_bytes(work) == sizeof(item))
                memcpy(&item, eddy_process_work_input(work), sizeof(item));
        return item;
}

static int squares_item(eddy_process_work *work)
{
        int item = item_of(work), square = item * item;

        return eddy_process_work_reply(work, &square, sizeof(square));
}

static struct eddy_process_map map_of(eddy_process_work_fn *fn, size_t count)
{
        struct eddy_process_map map = { .fn = fn,
                                        .items = items,
                                        .item_bytes = sizeof(items[0]),
                                        .count = count,
                                        .results = squares,
                                        .result_bytes = sizeof(squares[0]) };

        for (int i = 0; i < ITEMS; i++) {
                items[i] = i;
                squares[i] = -1;
                errors[i] = 99;
                seen[i] = -1;
        }
        seen_count = 0;
        return map;
}

POOL_TEST(results_are_in_the_order_of_the_items)
{
        static const size_t counts[] = { 0, 1, 2, 3, 7, 8, 9, 100, ITEMS };
        static const size_t chunks[] = { 0, 1, 3, ITEMS, SIZE_MAX };
        eddy_process_pool *pool = open_workers(2);

        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
                for (size_t j = 0; j < sizeof(chunks) / sizeof(chunks[0]); j++) {
                        struct eddy_process_map map = map_of(squares_item, counts[i]);

                        map.chunk = chunks[j];
                        CHECK_EQ(eddy_process_pool_map(pool, &map), 0);
                        for (int n = 0; n < ITEMS; n++)
                                CHECK_EQ(squares[n], (size_t) n < counts[i] ? n * n : -1);
                }
        }
        eddy_process_pool_close(pool);
}

/* --- as they come, and in order --- */

static int records(void *arg, size_t item)
{
        (void) arg;
        CHECK_EQ(squares[item], items[item] * items[item]);
        CHECK_EQ(seen[item], -1);
        seen[item] = (int) seen_count++;
        return 1;
}

static int records_and_sleeps(void *arg, size_t item)
{
        CHECK_EQ(seen_count, item);
        (void) records(arg, item);
        return item % 50 == 0 ? eddy_sleep(EDDY_MS(1)) : 0;
}

POOL_TEST(each_result_is_passed_on_once)
{
        eddy_process_pool *pool = open_workers(3);
        struct eddy_process_map map = map_of(squares_item, ITEMS);

        map.each = records;
        map.chunk = 10;
        CHECK_EQ(eddy_process_pool_map(pool, &map), 0);
        CHECK_EQ(seen_count, ITEMS);
        map = map_of(squares_item, ITEMS);
        map.each = records_and_sleeps;
        map.chunk = 7;
        map.flags = EDDY_PROCESS_MAP_IN_ORDER;
        CHECK_EQ(eddy_process_pool_map(pool, &map), 0);
        CHECK_EQ(seen_count, ITEMS);
        eddy_process_pool_close(pool);
}

/* How many results have come. A page that all workers share: it is made before the zygote is forked. */
static _Atomic int *shared_count;

__attribute__((constructor)) static void shares_a_page(void)
{
        shared_count = mmap(NULL, sizeof(*shared_count), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* The first message takes until another result has come, however late its worker starts. */
static int first_is_slow(eddy_process_work *work)
{
        if (item_of(work) == 0)
                for (int ms = 0; ms < 20000 && *shared_count == 0; ms++)
                        (void) poll(NULL, 0, 1);
        return squares_item(work);
}

static int records_and_counts(void *arg, size_t item)
{
        (void) records(arg, item);
        ++*shared_count;
        return 0;
}

POOL_TEST(results_come_as_they_are_ready)
{
        eddy_process_pool *pool = open_workers(2);
        struct eddy_process_map map = map_of(first_is_slow, 10);

        map.each = records_and_counts;
        map.chunk = 1;
        CHECK(shared_count != MAP_FAILED);
        CHECK_EQ(eddy_process_pool_map(pool, &map), 0);
        CHECK(seen[0] > 0);
        eddy_process_pool_close(pool);
}

static int refuses_5(void *arg, size_t item)
{
        (void) arg;
        return item == 5 ? -EDOM : 0;
}

POOL_TEST(an_error_of_each_ends_the_map)
{
        eddy_process_pool *pool = open_workers(2);
        struct eddy_process_map map = map_of(squares_item, ITEMS);

        map.each = refuses_5;
        CHECK_EQ(eddy_process_pool_map(pool, &map), -EDOM);
        map.flags = EDDY_PROCESS_MAP_IN_ORDER;
        map.chunk = 1;
        CHECK_EQ(eddy_process_pool_map(pool, &map), -EDOM);
        CHECK_EQ(call_echo(pool, 10), 0);
        eddy_process_pool_close(pool);
}

static int others_are_slow(eddy_process_work *work)
{
        if (item_of(work) > 0)
                (void) poll(NULL, 0, 20);
        return squares_item(work);
}

/* The next result arrives meanwhile, before the map ends. */
static int refuses_after_a_while(void *arg, size_t item)
{
        (void) item;
        ++*(int *) arg;
        (void) poll(NULL, 0, 100);
        return -EDOM;
}

POOL_TEST(each_is_not_called_again_after_it_has_failed)
{
        static const uint32_t flags[] = { 0, EDDY_PROCESS_MAP_IN_ORDER };
        eddy_process_pool *pool = open_workers(2);

        for (size_t i = 0; i < 2; i++) {
                struct eddy_process_map map = map_of(others_are_slow, 8);
                int calls = 0;

                map.chunk = 1;
                map.flags = flags[i];
                map.each = refuses_after_a_while;
                map.arg = &calls;
                CHECK_EQ(eddy_process_pool_map(pool, &map), -EDOM);
                CHECK_EQ(calls, 1);
        }
        eddy_process_pool_close(pool);
}

/* --- failures --- */

static int fails_at_100(eddy_process_work *work)
{
        return item_of(work) % 100 == 99 ? -EBADMSG : squares_item(work);
}

POOL_TEST(the_first_failure_ends_the_map)
{
        eddy_process_pool *pool = open_workers(2);
        struct eddy_process_map map = map_of(fails_at_100, ITEMS);

        CHECK_EQ(eddy_process_pool_map(pool, &map), -EBADMSG);
        CHECK_EQ(call_echo(pool, 10), 0);
        eddy_process_pool_close(pool);
}

POOL_TEST(with_errors_all_items_run)
{
        eddy_process_pool *pool = open_workers(2);
        struct eddy_process_map map = map_of(fails_at_100, ITEMS);

        map.errors = errors;
        map.chunk = 30;
        CHECK_EQ(eddy_process_pool_map(pool, &map), 0);
        for (int i = 0; i < ITEMS; i++) {
                CHECK_EQ(errors[i], i % 100 == 99 ? -EBADMSG : 0);
                if (errors[i] == 0)
                        CHECK_EQ(squares[i], i * i);
        }
        eddy_process_pool_close(pool);
}

static int dies_at_100(eddy_process_work *work)
{
        if (item_of(work) % 100 == 99)
                (void) raise(SIGKILL);
        return squares_item(work);
}

POOL_TEST(a_dead_worker_fails_the_items_of_its_message)
{
        eddy_process_pool *pool = open_workers(2);
        struct eddy_process_map map = map_of(dies_at_100, ITEMS);
        struct eddy_process_pool_info info;

        map.errors = errors;
        map.chunk = 10;
        CHECK_EQ(eddy_process_pool_map(pool, &map), 0);
        for (int i = 0; i < ITEMS; i++)
                CHECK_EQ(errors[i], i % 100 >= 90 ? EDDY_E_PROCESS_POOL_DIED : 0);
        eddy_process_pool_info(pool, &info);
        CHECK_EQ(info.died, 10);
        map.errors = NULL;
        CHECK_EQ(eddy_process_pool_map(pool, &map), EDDY_E_PROCESS_POOL_DIED);
        eddy_process_pool_close(pool);
}

static int replies_more(eddy_process_work *work)
{
        int square[2] = { 1, 2 };

        return eddy_process_work_reply(work, square, sizeof(square));
}

static int replies_less(eddy_process_work *work)
{
        char byte = 1;

        return eddy_process_work_reply(work, &byte, 1);
}

POOL_TEST(results_have_the_size_of_their_room)
{
        eddy_process_pool *pool = open_workers(2);
        struct eddy_process_map map = map_of(replies_more, 10);

        CHECK_EQ(eddy_process_pool_map(pool, &map), EDDY_E_PROCESS_POOL_TOO_LARGE);
        map = map_of(replies_less, 10);
        CHECK_EQ(eddy_process_pool_map(pool, &map), 0);
        for (int i = 0; i < 10; i++)
                CHECK(memcmp(&squares[i], (char[]){ 1, 0, 0, 0 }, sizeof(int)) == 0);
        map.item_bytes = 0;
        CHECK_EQ(eddy_process_pool_map(pool, &map), -EINVAL);
        map = map_of(squares_item, 10);
        map.flags = 8;
        CHECK_EQ(eddy_process_pool_map(pool, &map), -EINVAL);
        map = map_of(squares_item, SIZE_MAX);
        CHECK_EQ(eddy_process_pool_map(pool, &map), -EINVAL);
        eddy_process_pool_close(pool);
}

static int sleeps(eddy_process_work *work)
{
        (void) work;
        while (pause() < 0)
                continue;
        return 0;
}

static int maps_sleeping(void *arg)
{
        struct eddy_process_map map = map_of(sleeps, ITEMS);

        return eddy_process_pool_map(arg, &map);
}

POOL_TEST(a_map_can_be_cancelled)
{
        eddy_process_pool *pool = open_workers(2);
        struct eddy_process_map map = map_of(squares_item, ITEMS);

        CHECK_EQ(eddy_call_timeout(maps_sleeping, pool, EDDY_MS(10)), -ETIMEDOUT);
        CHECK_EQ(workers_left(), 0);
        CHECK_EQ(eddy_process_pool_map(pool, &map), 0);
        CHECK_EQ(squares[ITEMS - 1], (ITEMS - 1) * (ITEMS - 1));
        eddy_process_pool_close(pool);
}

static int maps(void *arg)
{
        static int results[ITEMS];
        struct eddy_process_map map = { .fn = squares_item,
                                        .items = items,
                                        .item_bytes = sizeof(items[0]),
                                        .count = ITEMS,
                                        .chunk = 5,
                                        .results = results,
                                        .result_bytes = sizeof(results[0]) };

        return eddy_process_pool_map(arg, &map);
}

/* All messages of an accepted map are accepted. */
POOL_TEST(a_map_goes_on_after_the_shutdown)
{
        eddy_process_pool *pool = open_workers(2);
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, maps, pool);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_process_pool_shutdown(pool);
        CHECK_EQ(maps(pool), EDDY_E_PROCESS_POOL_CLOSED);
        CHECK_EQ(eddy_process_pool_join(pool), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_process_pool_close(pool);
}
