/*
 * orders.c - a race and a lock cycle, and their cures, in each order of their tasks.
 */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>

#include "eddy/eddy.h"
#include "eddy/test_explore.h"

enum { SEATS = 2 };

static eddy_lock lock, locks[2];
static int seats, balances[2];

static int pay(void)
{
        return eddy_sleep(0);
}

/* --- the race --- */

static int book(void *arg)
{
        int err = 0;

        (void) arg;
        if (seats >= SEATS) {
                err = pay(); /* others check here, and see the same seats */
                if (err == 0)
                        seats -= SEATS;
        }
        return err;
}

static int book_with_lock(void *arg)
{
        EDDY_AUTO(eddy_lock) eddy_lock *held = NULL;
        int err = eddy_lock_acquire(&lock);

        if (err < 0)
                return err;
        held = &lock;
        return book(arg);
}

static int sell(void *arg)
{
        eddy_task_fn *customer = *(eddy_task_fn **) arg;
        eddy_scope scope;
        int err;

        seats = SEATS;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                eddy_scope_start(&scope, customer, NULL);
        err = eddy_scope_end(&scope);
        printf("seats %d\n", seats);
        return err;
}

/* --- the lock cycle --- */

struct transfer {
        int first, second; /* the accounts, as they are locked */
        int amounts[2];    /* for each account */
};

static int transfer(void *arg)
{
        EDDY_AUTO(eddy_lock) eddy_lock *first = NULL;
        EDDY_AUTO(eddy_lock) eddy_lock *second = NULL;
        const struct transfer *transfer = arg;
        int err = eddy_lock_acquire(&locks[transfer->first]);

        if (err < 0)
                return err;
        first = &locks[transfer->first];
        err = pay();
        if (err == 0)
                err = eddy_lock_acquire(&locks[transfer->second]);
        if (err < 0)
                return err;
        second = &locks[transfer->second];
        balances[0] += transfer->amounts[0];
        balances[1] += transfer->amounts[1];
        return 0;
}

static int transfer_both(void *arg)
{
        struct transfer *transfers = arg;
        eddy_scope scope;
        int err;

        balances[0] = balances[1] = 100;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, transfer, &transfers[0]);
        eddy_scope_start(&scope, transfer, &transfers[1]);
        err = eddy_scope_end(&scope);
        if (err == 0)
                printf("balances %d and %d\n", balances[0], balances[1]);
        return err;
}

/* --- all orders --- */

static size_t outcomes_of(const char *name, eddy_task_fn *program, void *arg)
{
        struct eddy_test_explore_opts how = { .deviations_max = EDDY_TEST_DEVIATIONS_MAX };
        struct eddy_test_opts opts = { .name = name };
        struct eddy_test_explored all;
        size_t count;

        assert(eddy_test_explore(program, arg, &opts, &how, &all) == 0);
        assert(all.complete || all.is_replay);
        count = all.outcomes_count;
        eddy_test_explored_fini(&all);
        return count;
}

int main(void)
{
        eddy_task_fn *race = book, *cured = book_with_lock;
        struct transfer cycle[] = { { 0, 1, { -30, 30 } }, { 1, 0, { 50, -50 } } };
        struct transfer ordered[] = { { 0, 1, { -30, 30 } }, { 0, 1, { 50, -50 } } };

        outcomes_of("race", sell, &race);
        outcomes_of("lock", sell, &cured);
        outcomes_of("cycle", transfer_both, cycle);
        outcomes_of("order", transfer_both, ordered);
        return 0;
}
