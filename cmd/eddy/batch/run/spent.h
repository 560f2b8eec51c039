/*
 * batch/run/spent.h - the tokens that the answers of a run report, and their cost.
 */
#ifndef ED_CMD_BATCH_RUN_SPENT_H
#define ED_CMD_BATCH_RUN_SPENT_H

#include <stdint.h>

#include "batch/answer/usage.h"
#include "batch/request/tokens.h"

struct ed_answer_seen;

struct ed_batch_spent {
        struct ed_usage usage;
        struct ed_usage before;     /* of earlier runs of the shard, in its files; else zero */
        uint64_t cost;              /* micro-units */
        struct ed_tokens_mean mean; /* of output tokens */
};

/* Count a line of an earlier run: the tokens of "x_meta", or, without that, those of the body. */
void ed_spent_note(struct ed_batch_spent *spent, const struct ed_answer_seen *seen);

/* Returns the cost of this run and of the earlier ones that were noted, as ed_tokens_cost() does. */
uint64_t ed_spent_cost(const struct ed_batch_spent *spent, const struct ed_price *price);

#endif
