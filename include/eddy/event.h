/*
 * eddy/event.h - a flag that tasks of a loop wait for.
 */
#ifndef EDDY_EVENT_H
#define EDDY_EVENT_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* Private, but ready to use when zero: not set.  Never move a used one. */
typedef struct eddy_event {
        uint32_t set;
        uint32_t reserved32;
        void *waiters[2];
        uintptr_t loop_number;
        uintptr_t reserved[1];
} eddy_event;

/*
 * Set it, and wake all who wait; they are woken even if it is cleared before
 * they run.  Setting it twice does nothing more.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait; it is not set
 */
EDDY_API int eddy_event_set(eddy_event *event);

/* Who waits from now on waits for the next set.  Suspends: no. */
EDDY_API void eddy_event_clear(eddy_event *event);

/* Whether it is set now.  Suspends: no. */
EDDY_API int eddy_event_is_set(const eddy_event *event);

/*
 * Wait until it is set; returns at once if it is.
 *
 * Suspends: yes.
 * Errors: -ECANCELED
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait already
 */
EDDY_API EDDY_MUST_USE int eddy_event_wait(eddy_event *event);

EDDY_END_DECLS

#endif
