/*
 * eddy/barrier.h - a point where tasks of one loop wait for each other.
 *
 * When all parties wait, the barrier releases them and can be used again.  A
 * cancelled waiter leaves the barrier; the other tasks continue to wait.
 */
#ifndef EDDY_BARRIER_H
#define EDDY_BARRIER_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* Private, but ready to use when zero: one party, no waiter.  Never move a used barrier. */
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

/* Initialise a barrier at run time.  Suspends: no. */
EDDY_API void eddy_barrier_init(eddy_barrier *barrier, uint32_t parties);

/*
 * Wait until all parties have arrived.  Returns the caller's place in the
 * order of arrival: 0 to parties - 1.
 *
 * Suspends: yes, except for the last party.
 * Errors: -ECANCELED           the caller left; that does not break the barrier
 *         EDDY_E_SYNC_BROKEN   the barrier was aborted, or reset while the caller waited
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait already
 */
EDDY_API EDDY_MUST_USE int eddy_barrier_wait(eddy_barrier *barrier);

/*
 * eddy_barrier_abort() breaks the barrier: present waiters fail, and so does
 * each later wait until the next reset.  eddy_barrier_reset() fails present
 * waiters only; later tasks wait again.  Neither affects parties that the last
 * arrival has already released.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait; nothing is done
 */
EDDY_API int eddy_barrier_abort(eddy_barrier *barrier);
EDDY_API int eddy_barrier_reset(eddy_barrier *barrier);

/* The number of waiters, and whether the barrier is broken.  Suspends: no. */
EDDY_API uint32_t eddy_barrier_waiting(const eddy_barrier *barrier);
EDDY_API int eddy_barrier_is_broken(const eddy_barrier *barrier);

EDDY_END_DECLS

#endif
