/*
 * with_check.c - a test program with Check, which runs each case in a process
 * of its own; or in one, under CK_FORK=no.
 */
#include <check.h>
#include <stdlib.h>

#include "market.h"

START_TEST(takes_a_second)
{
        struct market market = { .transfer = market_transfer() };
        struct eddy_test_result result;

        ck_assert_int_eq(eddy_test_run(market_main, &market, &market_opts, &result), 0);
        ck_assert_int_ge(result.lasted_ns, EDDY_SEC(1));
        ck_assert_int_eq(market.accounts[0].amount, 60);
}
END_TEST

START_TEST(loses_nothing)
{
        struct market market = { .transfer = market_transfer() };

        for (int what = EDDY_TEST_SEEDS; what <= EDDY_TEST_ALLOC_FOREVER; what++)
                ck_assert_int_eq(eddy_test_sweep(what, market_main, &market, &market_opts, NULL),
                                 0);
}
END_TEST

static int finds_nothing(void *arg)
{
        int err = eddy_sleep(EDDY_MS(1));

        if (getenv("IN_TASK"))
                ck_assert_int_eq(err, 0);
        return market_main(arg);
}

START_TEST(fails_in_a_task)
{
        struct eddy_test_opts opts = market_opts;
        static struct market market = { .transfer = transfer };

        opts.name = "in_task";
        ck_assert_int_eq(eddy_test_sweep(EDDY_TEST_CANCEL, finds_nothing, &market, &opts, NULL), 0);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("market");
        TCase *cases = tcase_create("all");
        SRunner *runner = srunner_create(suite);
        int failed;

        tcase_add_test(cases, fails_in_a_task);
        tcase_add_test(cases, takes_a_second);
        tcase_add_test(cases, loses_nothing);
        suite_add_tcase(suite, cases);
        srunner_run_all(runner, CK_NORMAL);
        failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
