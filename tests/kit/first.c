/*
 * first.c - the program that docs/testing.md begins with.
 */
#undef NDEBUG
#include <assert.h>

#include "eddy/eddy.h"
#include "eddy/test.h"

/* What is tested: an amount moves, and the bank takes a second to say that it may. */
static int accounts[2];

static int transfer(void *arg)
{
        int amount = *(int *) arg, err;

        accounts[0] -= amount;
        err = eddy_sleep(EDDY_SEC(1));
        accounts[err < 0 ? 0 : 1] += amount;
        return err;
}

/* A main task that uses it. */
static int transfers(void *arg)
{
        static int amounts[] = { 10, 20, 30 };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                eddy_scope_start(&scope, transfer, &amounts[i]);
        return eddy_scope_end(&scope);
}

/* Before and after each run. */
static void open_accounts(void *arg)
{
        (void) arg;
        accounts[0] = accounts[1] = 100;
}

static int sum_is_the_same(void *arg, int result)
{
        (void) arg;
        (void) result;
        return accounts[0] + accounts[1] == 200 ? 0 : -1;
}

int main(void)
{
        struct eddy_test_opts opts = {
                .name = "transfers",
                .before = open_accounts,
                .after = sum_is_the_same,
        };
        struct eddy_test_result result;

        /* A second of the bank's, and none of ours. */
        assert(eddy_test_run(transfers, NULL, &opts, &result) == 0);
        assert(accounts[1] == 160 && result.lasted_ns >= EDDY_SEC(1));

        /* In 200 orders; cancelled at each point; without memory; with calls that fail. */
        for (int what = EDDY_TEST_SEEDS; what <= EDDY_TEST_CALLS; what++)
                assert(eddy_test_sweep(what, transfers, NULL, &opts, NULL) == 0);
        return 0;
}
