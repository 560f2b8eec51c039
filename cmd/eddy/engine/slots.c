/*
 * engine/slots.c - see slots.h.
 */
#include "engine/slots.h"

#include "eddy/time.h"

enum { SLOTS_FIRST = 16, SLOTS_STEPS = 50 };

int ed_slots_init(struct ed_slots *slots, bool adapts, uint32_t most, int64_t ramp_ns)
{
        *slots = (struct ed_slots){ .adapts = adapts, .most = most };
        if (adapts)
                return eddy_concurrency_init(&slots->adaptive,
                                             &(struct eddy_concurrency_opts){ .max = most });
        slots->open = ramp_ns > 0 && most > SLOTS_FIRST ? SLOTS_FIRST : most;
        eddy_semaphore_init(&slots->fixed, slots->open, 0);
        return 0;
}

int ed_slots_open(void *arg)
{
        struct ed_slots_ramp *ramp = arg;
        struct ed_slots *slots = ramp->slots;

        for (int step = 1; step <= SLOTS_STEPS && !slots->adapts; step++) {
                uint32_t open = (uint32_t) ((uint64_t) slots->most * (uint64_t) step / SLOTS_STEPS);

                if (eddy_sleep(ramp->ramp_ns / SLOTS_STEPS) < 0)
                        return 0;
                for (; slots->open < open; slots->open++)
                        eddy_semaphore_release(&slots->fixed);
        }
        return 0;
}

int ed_slots_take(struct ed_slots *slots)
{
        return slots->adapts ? eddy_concurrency_acquire(&slots->adaptive)
                             : eddy_semaphore_acquire(&slots->fixed);
}

void ed_slots_give(struct ed_slots *slots, int ticket, enum eddy_concurrency_result result)
{
        if (slots->adapts)
                eddy_concurrency_release(&slots->adaptive, ticket, result);
        else
                eddy_semaphore_release(&slots->fixed);
}

uint32_t ed_slots_limit(const struct ed_slots *slots)
{
        return slots->adapts ? eddy_concurrency_limit(&slots->adaptive) : slots->open;
}
