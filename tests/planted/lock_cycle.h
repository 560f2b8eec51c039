/*
 * lock_cycle.h - two transfers that take two locks, each its own first.
 */
#ifndef LOCK_CYCLE_H
#define LOCK_CYCLE_H

#include "planted.h"

static eddy_lock accounts[2];

int transfer(void *arg);
int transfer(void *arg)
{
        int own = FAULT ? *(const int *) arg : 0;
        int err = eddy_lock_acquire(&accounts[own]);

        if (err < 0)
                return err;
        err = eddy_sleep(EDDY_MS(1));
        if (err == 0)
                err = eddy_lock_acquire(&accounts[1 - own]);
        if (err == 0)
                eddy_lock_release(&accounts[1 - own]);
        eddy_lock_release(&accounts[own]);
        return err;
}

static inline int transfers(void *arg)
{
        static const int own[] = { 0, 1 };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        start(&scope, "rent", transfer, (void *) &own[0]);
        start(&scope, "salary", transfer, (void *) &own[1]);
        return eddy_scope_end(&scope);
}

#endif
