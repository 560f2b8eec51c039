/*
 * test_pool_debug.c - debug mode names the tasks that hold items of a pool that cannot close.
 */
#include "debug_test.h"

static int number_open(void *arg, void **ret_item)
{
        *ret_item = arg;
        return 0;
}

static void number_close(void *arg, void *item)
{
        CHECK(arg == item);
}

static const struct eddy_pool_ops number_ops = { .open = number_open, .close = number_close };

struct keeper {
        eddy_pool *pool;
        const char *place;
        int64_t keeps_ns;
};

static int keep(void *arg)
{
        const struct keeper *keeper = arg;
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };

        CHECK_EQ(eddy_pool_acquire_at(keeper->pool, &loan, keeper->place), 0);
        return eddy_sleep(keeper->keeps_ns);
}

static eddy_pool *numbers(void)
{
        static int number;
        eddy_pool *pool;

        CHECK_EQ(eddy_pool_new(&(struct eddy_pool_opts){ .ops = &number_ops, .arg = &number },
                               &pool),
                 0);
        return pool;
}

static int closes_slowly(void *arg)
{
        eddy_pool *pool = numbers();
        struct keeper keepers[] = { { pool, "app.c:7", EDDY_SEC(10) },
                                    { pool, "app.c:9", EDDY_MS(500) } };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_task_release(start_named(&scope, "writer", keep, &keepers[0]));
        eddy_task_release(start_named(&scope, "reader", keep, &keepers[1]));
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_pool_close(pool);
        return eddy_scope_end(&scope);
}

TEST(a_pool_that_waits_long_for_its_end_names_the_tasks_that_hold_items)
{
        CHECK_EQ(debug_run_with(closes_slowly, NULL,
                                (struct eddy_run_opts){ .debug_wait_ns = EDDY_SEC(1) }),
                 0);
        CHECK_EQ(last.count[EDDY_REPORT_WAIT], 1);
        /* The reader has given its item back. */
        CHECK(strstr(reported,
                     "eddy: task main: has waited 1000 ms for the end of a pool, whose items are "
                     "lent to writer at app.c:7, without a deadline, started at program+0x1234; "
                     "it is in "));
}

static int closes_its_own(void *arg)
{
        eddy_pool *pool = numbers();
        eddy_pool_loan loans[6] = { { 0 } };

        (void) arg;
        for (int i = 0; i < 6; i++)
                CHECK_EQ(eddy_pool_acquire_at(pool, &loans[i], "app.c:5"), 0);
        eddy_pool_close(pool);
        for (int i = 0; i < 6; i++)
                CHECK_EQ(eddy_pool_release(&loans[i]), 0);
        return 0;
}

TEST(so_does_a_pool_that_can_never_close)
{
        CHECK_EQ(debug_run(closes_its_own, NULL), -EDEADLK);
        CHECK_EQ(last.count[EDDY_REPORT_DEADLOCK], 1);
        CHECK(strstr(reported, "waits for the end of a pool, whose items are lent to "));
        CHECK(strstr(reported, " at app.c:5, "));
        CHECK(strstr(reported, " and 2 more"));
}

static int lends(void *arg)
{
        eddy_pool *pool = numbers();
        struct keeper keeper = { pool, "app.c:7", EDDY_SEC(1) };
        struct eddy_pool_borrower borrower;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_task_release(start_named(&scope, "writer", keep, &keeper));
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_pool_borrowers(pool, &borrower, 1), 1);
        CHECK_STR(borrower.task, "writer");
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_pool_close(pool);
        return 0;
}

TEST(a_borrower_has_the_name_of_its_task_in_debug_mode)
{
        CHECK_EQ(debug_run(lends, NULL), 0);
        CHECK_STR(reported, "");
}
