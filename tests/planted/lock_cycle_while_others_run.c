/*
 * lock_cycle_while_others_run.c - the same two, beside a task that has nothing
 * to do with them and goes on: debug mode finds the cycle when it closes, and
 * says where each lock was taken.
 *
 * Environment: EDDY_DEBUG=1
 * Says: eddy_test: both: these tasks wait for each other's locks:
 * Says:   salary, started at \S+, waits for a lock that rent took at transfer\S*
 * Says:   rent, started at \S+, waits for a lock that salary took at transfer\S*
 * Says: ended with EDDY_E_TEST_FOUND
 */
#include "lock_cycle.h"

static int tick(void *arg)
{
        int err = 0;

        for (int i = 0; err == 0 && i < 50; i++)
                err = eddy_sleep(EDDY_MS(1));
        (void) arg;
        return err;
}

static int both(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(100) });
        start(&scope, "clock", tick, NULL);
        start(&scope, "bank", transfers, NULL);
        (void) arg;
        return eddy_scope_end(&scope);
}

int main(void)
{
        const struct eddy_test_opts opts = { .name = "both" };

        return end(eddy_test_run(both, NULL, &opts, NULL));
}
