/*
 * market.h - a main task for the examples: three transfers at a time between
 * two accounts, and what must hold after it, however it ended.
 */
#ifndef MARKET_H
#define MARKET_H

#include <stdlib.h>

#include "eddy/test.h"
#include "transfer.h"

typedef int transfer_fn(struct account *from, struct account *to, int64_t amount);

struct market {
        transfer_fn *transfer;
        struct account accounts[2];
};

static inline int market_there(void *arg)
{
        struct market *market = arg;

        return market->transfer(&market->accounts[0], &market->accounts[1], 30);
}

static inline int market_back(void *arg)
{
        struct market *market = arg;

        return market->transfer(&market->accounts[1], &market->accounts[0], 20);
}

static inline int market_main(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, market_there, arg);
        eddy_scope_start(&scope, market_back, arg);
        eddy_scope_start(&scope, market_there, arg);
        return eddy_scope_end(&scope);
}

/* Before each run: a hundred in either account. */
static inline void market_open(void *arg)
{
        struct market *market = arg;

        for (int i = 0; i < 2; i++)
                market->accounts[i] = (struct account){ .amount = 100 };
}

/* After it: none was lost, none was made. */
static inline int market_close(void *arg, int result)
{
        struct market *market = arg;

        (void) result;
        return market->accounts[0].amount + market->accounts[1].amount == 200 ? 0 : -EINVAL;
}

static const struct eddy_test_opts market_opts = {
        .name = "market",
        .before = market_open,
        .after = market_close,
};

/* CARELESS=1: the one with the mistake, to see how it is reported. */
static inline transfer_fn *market_transfer(void)
{
        return getenv("CARELESS") ? transfer_careless : transfer;
}

#endif
