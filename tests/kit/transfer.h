/*
 * transfer.h - the program that the examples test: money that moves from one
 * account to another while other tasks do the same.
 */
#ifndef TRANSFER_H
#define TRANSFER_H

#include <stdint.h>

#include "eddy/eddy.h"

struct account {
        eddy_lock lock;
        int64_t amount;
};

/* Move an amount; asking the bank takes a second.  Errors: -ENOSPC  there is not as much. */
int transfer(struct account *from, struct account *to, int64_t amount);

/* The same with a mistake: a cancel while the bank is asked loses the amount. */
int transfer_careless(struct account *from, struct account *to, int64_t amount);

#endif
