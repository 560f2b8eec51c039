/*
 * sync/units.h - what the test kit is notified of: units of semaphores that are
 * taken and given back, and the end of queues.
 *
 * Without the kit, what has no flag costs one test of its flags.
 */
#ifndef ED_SYNC_UNITS_H
#define ED_SYNC_UNITS_H

#include <stdatomic.h>

#include "base/def.h"
#include "eddy/queue.h"
#include "eddy/semaphore.h"

/* In the flags of a semaphore, and of a queue; a queue's others are in queue.c. */
enum {
        ED_SEMAPHORE_WATCHED = 1 << 8,
        ED_QUEUE_WATCHED = 1 << 8,
        ED_QUEUE_COUNTED = 1 << 9, /* a watched one whose program says which items are done */
};

struct ed_units_watch {
        /* A unit was taken, by the task that runs, in a call from 'place'. */
        void (*taken)(const eddy_semaphore *sem, const void *place);
        void (*given)(const eddy_semaphore *sem);
        /* A watched queue is ended. */
        void (*queue_ends)(eddy_queue *queue);
};

/* NULL: there is no kit. */
extern const struct ed_units_watch *_Atomic ed_units_watch;

ED_SHARED void ed_units_watch_set(const struct ed_units_watch *watch);

/* For a semaphore or a queue that has a flag: the kit, or NULL. */
static inline const struct ed_units_watch *ed_units_watched(void)
{
        return atomic_load_explicit(&ed_units_watch, memory_order_acquire);
}

#endif
