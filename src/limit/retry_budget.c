/*
 * limit/retry_budget.c - a token bucket in one number: the time at which it will be full.
 *
 * A token takes 'cost_ns' to refill.  Taking one moves the time on by that much, and fails if the time
 * would be further away than a whole bucket takes.  Work that begins moves the time back by a part of
 * a token.  A single number can be changed atomically, so threads share a budget without a lock.
 */
#include "limit/retry_budget.h"

#include "eddy/time.h"

enum { PER_SECOND_DEFAULT = 10, PERCENT_DEFAULT = 20 };

#define KEPT_NS EDDY_SEC(10)

static int64_t cost_ns(const eddy_retry_budget *budget)
{
        int64_t cost = EDDY_SEC(1) / (budget->per_second ? budget->per_second : PER_SECOND_DEFAULT);

        return cost > 0 ? cost : 1;
}

void ed_retry_budget_add(eddy_retry_budget *budget)
{
        uint32_t percent;

        /* A full bucket stays full. The time must not fall without end while nothing is taken. */
        if (!budget || __atomic_load_n(&budget->full_ns, __ATOMIC_RELAXED) <= 0)
                return;
        percent = budget->percent ? budget->percent : PERCENT_DEFAULT;
        __atomic_fetch_sub(&budget->full_ns, cost_ns(budget) * percent / 100, __ATOMIC_RELAXED);
}

bool ed_retry_budget_take(eddy_retry_budget *budget, int64_t now_ns)
{
        int64_t before_ns, after_ns;

        if (!budget)
                return true;
        before_ns = __atomic_load_n(&budget->full_ns, __ATOMIC_RELAXED);
        do {
                after_ns = (before_ns > now_ns ? before_ns : now_ns) + cost_ns(budget);
                if (after_ns > now_ns + KEPT_NS)
                        return false;
        } while (!__atomic_compare_exchange_n(&budget->full_ns, &before_ns, after_ns, true,
                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        return true;
}
