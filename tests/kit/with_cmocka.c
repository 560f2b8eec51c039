/*
 * with_cmocka.c - a test program with cmocka.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "market.h"

static void takes_a_second(void **state)
{
        struct market market = { .transfer = market_transfer() };
        struct eddy_test_result result;

        (void) state;
        assert_int_equal(eddy_test_run(market_main, &market, &market_opts, &result), 0);
        assert_in_range(result.lasted_ns, EDDY_SEC(1), EDDY_SEC(1) + EDDY_MS(1));
        assert_int_equal(market.accounts[0].amount, 60);
}

static void loses_nothing(void **state)
{
        struct market market = { .transfer = market_transfer() };

        (void) state;
        for (int what = EDDY_TEST_SEEDS; what <= EDDY_TEST_ALLOC_FOREVER; what++)
                assert_int_equal(eddy_test_sweep(what, market_main, &market, &market_opts, NULL),
                                 0);
}

/* An assertion in a task jumps out of the run, which the next one clears away. */
static int finds_nothing(void *arg)
{
        int err = eddy_sleep(EDDY_MS(1));

        if (getenv("IN_TASK"))
                assert_int_equal(err, 0);
        return market_main(arg);
}

static void fails_in_a_task(void **state)
{
        struct eddy_test_opts opts = market_opts;
        /* What tasks point to is still there when the next run frees them. */
        static struct market market = { .transfer = transfer };

        (void) state;
        opts.name = "in_task";
        assert_int_equal(eddy_test_sweep(EDDY_TEST_CANCEL, finds_nothing, &market, &opts, NULL), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(fails_in_a_task),
                cmocka_unit_test(takes_a_second),
                cmocka_unit_test(loses_nothing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
