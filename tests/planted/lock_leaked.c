/*
 * lock_leaked.c - who is cancelled while it has a lock leaves it locked.  Debug
 * mode says who, and where it took it.
 *
 * Environment: EDDY_DEBUG=1
 * Says: eddy_test: updates: cancel=\d+: clerk ended without releasing the lock that it took at \w*update\S*
 * Says: eddy_test: again with EDDY_TEST_REPLAY='updates:cancel=\d+'
 */
#include "planted.h"

int update(void *arg);
int update(void *arg)
{
        eddy_lock *ledger = arg;
        int err = eddy_lock_acquire(ledger);

        if (err < 0)
                return err;
        err = eddy_sleep(EDDY_MS(1));
        if (FAULT && err < 0)
                return err;
        eddy_lock_release(ledger);
        return err;
}

static int updates(void *arg)
{
        eddy_lock ledger = EDDY_LOCK(0);
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        start(&scope, "clerk", update, &ledger);
        start(&scope, "clerk", update, &ledger);
        return eddy_scope_end(&scope);
}

int main(void)
{
        const struct eddy_test_opts opts = { .name = "updates" };

        return end(eddy_test_sweep(EDDY_TEST_CANCEL, updates, NULL, &opts, NULL));
}
