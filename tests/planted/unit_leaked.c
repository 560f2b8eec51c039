/*
 * unit_leaked.c - who is cancelled while it has a unit of a semaphore keeps it.
 *
 * Says: eddy_test: transfers: cancel=\d+: .*unit_leaked\.c:\d+: eddy_semaphore_units\(&units\) == 2
 * Says: eddy_test: again with EDDY_TEST_REPLAY='transfers:cancel=\d+'
 */
#include "planted.h"

static int transfer(void *arg)
{
        eddy_semaphore *units = arg;
        int err = eddy_semaphore_acquire(units);

        if (err < 0)
                return err;
        err = eddy_sleep(EDDY_MS(1));
        if (FAULT && err < 0)
                return err;
        eddy_semaphore_release(units);
        return err;
}

static int transfers(void *arg)
{
        eddy_semaphore units = EDDY_SEMAPHORE(2, 0);
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                start(&scope, "transfer", transfer, &units);
        err = eddy_scope_end(&scope);
        EDDY_TEST_CHECK(eddy_semaphore_units(&units) == 2);
        return err;
}

int main(void)
{
        const struct eddy_test_opts opts = { .name = "transfers" };

        return end(eddy_test_sweep(EDDY_TEST_CANCEL, transfers, NULL, &opts, NULL));
}
