/*
 * limit/retry_budget.h - the budget of retries.
 */
#ifndef ED_LIMIT_RETRY_BUDGET_H
#define ED_LIMIT_RETRY_BUDGET_H

#include <stdbool.h>

#include "eddy/retry.h"

/* A piece of work begins.  NULL is ignored. */
void ed_retry_budget_add(eddy_retry_budget *budget);

/* Takes a retry.  Returns false if the budget is empty.  A NULL budget is never empty. */
bool ed_retry_budget_take(eddy_retry_budget *budget, int64_t now_ns);

#endif
