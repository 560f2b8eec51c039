/*
 * engine/slots.h - limits the number of requests in flight: to a fixed number, which is reached
 * gradually, or to a number that adapts to the servers.
 */
#ifndef ED_CMD_ENGINE_SLOTS_H
#define ED_CMD_ENGINE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "eddy/concurrency.h"
#include "eddy/semaphore.h"

struct ed_slots {
        bool adapts;
        uint32_t most;
        uint32_t open; /* fixed number: slots that are open so far */
        eddy_semaphore fixed;
        eddy_concurrency adaptive;
};

/* Errors: -EINVAL */
int ed_slots_init(struct ed_slots *slots, bool adapts, uint32_t most, int64_t ramp_ns);

/* The argument of ed_slots_open(), a task that opens the slots over 'ramp_ns'. */
struct ed_slots_ramp {
        struct ed_slots *slots;
        int64_t ramp_ns;
};
int ed_slots_open(void *ramp);

/* Take a slot. Returns a ticket. Errors: -ECANCELED */
int ed_slots_take(struct ed_slots *slots);
void ed_slots_give(struct ed_slots *slots, int ticket, enum eddy_concurrency_result result);

/* Returns the number of slots now. */
uint32_t ed_slots_limit(const struct ed_slots *slots);

#endif
