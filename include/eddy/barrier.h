/*
 * eddy/barrier.h - a place where tasks of a loop wait for each other.
 *
 * When as many as it has parties have come, all go on, and the barrier begins
 * anew.  A waiter that is cancelled just leaves; the others wait on.
 */
#ifndef EDDY_BARRIER_H
#define EDDY_BARRIER_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* Private, but ready to use when zero: one party, nobody waits.  Never move a used one. */
typedef struct eddy_barrier {
        uint32_t parties;
        uint32_t waiting;
        uint32_t broken;
        uint32_t reserved32;
        void *waiters[2];
        uintptr_t loop_number;
        uintptr_t reserved[1];
} eddy_barrier;

/* eddy_barrier barrier = EDDY_BARRIER(3); */
#define EDDY_BARRIER(parties)                                                                      \
        {                                                                                          \
                (parties), 0, 0, 0, { 0, 0 }, 0,                                                   \
                {                                                                                  \
                        0                                                                          \
                }                                                                                  \
        }

/* The same at run time.  Suspends: no. */
EDDY_API void eddy_barrier_init(eddy_barrier *barrier, uint32_t parties);

/*
 * Wait until all parties have come.  Returns which of them the caller was,
 * in the order they came: 0 to parties - 1.
 *
 * Suspends: yes; the last to come does not.
 * Errors: -ECANCELED           the caller left; the barrier is not broken by that
 *         EDDY_E_SYNC_BROKEN   it was aborted, or reset while the caller waited
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait already
 */
EDDY_API EDDY_MUST_USE int eddy_barrier_wait(eddy_barrier *barrier);

/*
 * Break the barrier: who waits, and who comes before the next reset, fails.
 * And begin anew: who waits fails, who comes later waits.  Those whom the
 * last to come has let go on are not concerned.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait; nothing is done
 */
EDDY_API int eddy_barrier_abort(eddy_barrier *barrier);
EDDY_API int eddy_barrier_reset(eddy_barrier *barrier);

/* How many wait now, and whether it is broken.  Suspends: no. */
EDDY_API uint32_t eddy_barrier_waiting(const eddy_barrier *barrier);
EDDY_API int eddy_barrier_is_broken(const eddy_barrier *barrier);

EDDY_END_DECLS

#endif
