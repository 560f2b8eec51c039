/*
 * eddy/event.h - a flag that tasks of one loop wait for.
 */
#ifndef EDDY_EVENT_H
#define EDDY_EVENT_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* Private, but ready to use when zero: not set.  Never move a used event. */
typedef struct eddy_event {
        uint32_t set;
        uint32_t reserved32;
        void *waiters[2];
        uintptr_t loop_number;
        uintptr_t reserved[1];
} eddy_event;

/*
 * Set the event and wake all waiters, which return 0 even if the event is
 * cleared before they run.  Setting an event that is set has no effect.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait; the event is not set
 */
EDDY_API int eddy_event_set(eddy_event *event);

/* Clear the event: later waits wait for the next set.  Suspends: no. */
EDDY_API void eddy_event_clear(eddy_event *event);

/* Returns whether the event is set.  Suspends: no. */
EDDY_API int eddy_event_is_set(const eddy_event *event);

/*
 * Wait until the event is set; returns at once if it is set already.
 *
 * Suspends: yes.
 * Errors: -ECANCELED
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait already
 */
EDDY_API EDDY_MUST_USE int eddy_event_wait(eddy_event *event);

EDDY_END_DECLS

#endif
