/*
 * outcomes.c - the program of the section "Outcomes" of docs/testing.md.
 */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>

#include "eddy/eddy.h"
#include "eddy/test_explore.h"

static int seats;

/* A buyer looks for a seat, asks the bank, and takes the seat. */
static int buy(void *arg)
{
        int err = 0;

        (void) arg;
        if (seats > 0) {
                err = eddy_sleep(0);
                seats--;
        }
        return err;
}

static int sell(void *arg)
{
        eddy_scope scope;
        int err;

        seats = 1;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < *(int *) arg; i++)
                eddy_scope_start(&scope, buy, NULL);
        err = eddy_scope_end(&scope);
        printf("seats %d\n", seats);
        return err;
}

int main(void)
{
        struct eddy_test_opts opts = { .name = "sell" };
        struct eddy_test_explored all;
        int buyers = 3;

        assert(eddy_test_explore(sell, &buyers, &opts, NULL, &all) == 0);
        eddy_test_explored_fini(&all);
        return 0;
}
