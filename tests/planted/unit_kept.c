/*
 * unit_kept.c - a task that is cancelled alone keeps its unit of a bounded
 * semaphore.  The others go on with the unit that is left, and it is not noticed.
 *
 * Says: eddy_test: transfers: task=2,cancel=2: 1 unit of a semaphore not given back: transfer took one at transfer\+0x[0-9a-f]+
 * Says: eddy_test: transfers: task=2,cancel=2: task 2, transfer, was cancelled in eddy_sleep.* <- transfer\+0x[0-9a-f]+.*
 * Says: eddy_test: again with EDDY_TEST_REPLAY='transfers:task=2,cancel=2'
 */
#include "planted.h"

static eddy_semaphore units;

int transfer(void *arg);
int transfer(void *arg)
{
        int err = eddy_semaphore_acquire(&units);

        (void) arg;
        if (err < 0)
                return err;
        err = eddy_sleep(EDDY_MS(1));
        if (FAULT && err < 0)
                return err;
        eddy_semaphore_release(&units);
        return err;
}

static int transfers(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_semaphore_init(&units, 2, EDDY_SEMAPHORE_BOUNDED);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                start(&scope, "transfer", transfer, NULL);
        return eddy_scope_end(&scope);
}

int main(void)
{
        const struct eddy_test_opts opts = { .name = "transfers" };

        return end(eddy_test_sweep(EDDY_TEST_CANCEL_TASK, transfers, NULL, &opts, NULL));
}
