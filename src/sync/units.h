/*
 * sync/units.h - notifications for the test kit: units of semaphores that are acquired and
 * released, and the end of queues.
 *
 * Without the kit, an object without flags costs one test of its flags.
 */
#ifndef ED_SYNC_UNITS_H
#define ED_SYNC_UNITS_H

#include <stdatomic.h>

#include "base/def.h"
#include "eddy/queue.h"
#include "eddy/semaphore.h"

/* Flags of semaphores and queues.  queue.c has the other flags of queues. */
enum {
        ED_SEMAPHORE_WATCHED = 1 << 8,
        ED_QUEUE_WATCHED = 1 << 8,
        ED_QUEUE_COUNTED = 1 << 9, /* watched, and the program uses task_done or join */
};

struct ed_units_watch {
        /* The running task acquired a unit, in a call at 'place'. */
        void (*taken)(const eddy_semaphore *sem, const void *place);
        void (*given)(const eddy_semaphore *sem);
        /* A watched queue is about to be freed. */
        void (*queue_ends)(eddy_queue *queue);
};

/* NULL: no kit. */
extern const struct ed_units_watch *_Atomic ed_units_watch;

ED_SHARED void ed_units_watch_set(const struct ed_units_watch *watch);

/* Returns the kit or NULL, for a semaphore or queue that has a flag. */
static inline const struct ed_units_watch *ed_units_watched(void)
{
        return atomic_load_explicit(&ed_units_watch, memory_order_acquire);
}

#endif
