/*
 * batch/run/spent.h - the tokens that the answers of a run report, and their cost.
 */
#ifndef ED_CMD_BATCH_RUN_SPENT_H
#define ED_CMD_BATCH_RUN_SPENT_H

#include <stdint.h>

#include "batch/answer/usage.h"
#include "batch/request/tokens.h"

struct ed_batch_spent {
        struct ed_usage usage;
        uint64_t cost;              /* micro-units */
        struct ed_tokens_mean mean; /* of output tokens */
};

#endif
