/*
 * with_assert.c - a test program with nothing but assert().
 */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>

#include "market.h"

/* Two seconds of the bank's, and none of ours. */
static void takes_a_second(void)
{
        struct market market = { .transfer = market_transfer() };
        struct eddy_test_result result;

        assert(eddy_test_run(market_main, &market, &market_opts, &result) == 0);
        assert(result.lasted_ns >= EDDY_SEC(1) && result.lasted_ns < EDDY_SEC(1) + EDDY_MS(1));
        assert(market.accounts[0].amount == 60 && market.accounts[1].amount == 140);
}

/* In other orders, without memory, cancelled: no money is lost, and nothing is left. */
static void loses_nothing(void)
{
        struct market market = { .transfer = market_transfer() };

        for (int what = EDDY_TEST_SEEDS; what <= EDDY_TEST_ALLOC_FOREVER; what++)
                assert(eddy_test_sweep(what, market_main, &market, &market_opts, NULL) == 0);
}

/* An assertion in a task ends the process, and says in which run. */
static int finds_nothing(void *arg)
{
        struct market *market = arg;
        int err = eddy_sleep(EDDY_MS(1));

        assert(err == 0 || !getenv("IN_TASK"));
        return market_main(market);
}

static void fails_in_a_task(void)
{
        struct eddy_test_opts opts = market_opts;
        struct market market = { .transfer = transfer };

        opts.name = "in_task";
        assert(eddy_test_sweep(EDDY_TEST_CANCEL, finds_nothing, &market, &opts, NULL) == 0);
}

int main(void)
{
        takes_a_second();
        loses_nothing();
        fails_in_a_task();
        puts("ok");
        return 0;
}
