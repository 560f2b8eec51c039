/*
 * eddy/semaphore.h - units that tasks take and give back.
 *
 * First come, first served: a released unit goes to the task that waits longest,
 * and no other task can take it first.  A semaphore belongs to one loop.
 */
#ifndef EDDY_SEMAPHORE_H
#define EDDY_SEMAPHORE_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

enum { EDDY_SEMAPHORE_BOUNDED = 1 << 0 }; /* releasing above the initial units fails */

/* Private, but ready to use when zero: without units.  Never move a used semaphore. */
typedef struct eddy_semaphore {
        uint32_t units;
        uint32_t start;
        uint32_t flags;
        uint32_t waiting;
        void *waiters[2];
        uintptr_t loop_number;
        uintptr_t reserved[1];
} eddy_semaphore;

/* eddy_semaphore sem = EDDY_SEMAPHORE(10, 0); */
#define EDDY_SEMAPHORE(units, flags)                                                               \
        {                                                                                          \
                (units), (units), (flags), 0, { 0, 0 }, 0,                                         \
                {                                                                                  \
                        0                                                                          \
                }                                                                                  \
        }

/* Initialise a semaphore at run time.  Suspends: no. */
EDDY_API void eddy_semaphore_init(eddy_semaphore *sem, uint32_t units, unsigned flags);

/*
 * Take a unit, waiting for one if necessary.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  no unit was taken
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait in line
 */
EDDY_API EDDY_MUST_USE int eddy_semaphore_acquire(eddy_semaphore *sem);

/*
 * Take a unit if one is free and no task waits for one.
 *
 * Suspends: no.
 * Errors: -EAGAIN
 *         EDDY_E_RUN_OTHER_LOOP  in debug mode: another loop has used the semaphore
 */
EDDY_API EDDY_MUST_USE int eddy_semaphore_try_acquire(eddy_semaphore *sem);

/*
 * Give a unit back, or hand it to the longest waiter.  Works in a cancelled task.
 * NULL is ignored.
 *
 * Suspends: no.
 * Errors: -EINVAL     the semaphore is bounded and has all its units already
 *         -EOVERFLOW  there would be more than UINT32_MAX units
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait in line
 */
EDDY_API int eddy_semaphore_release(eddy_semaphore *sem);

/* The number of free units, and of waiting tasks.  Suspends: no. */
EDDY_API uint32_t eddy_semaphore_units(const eddy_semaphore *sem);
EDDY_API uint32_t eddy_semaphore_waiting(const eddy_semaphore *sem);

/* EDDY_AUTO(eddy_semaphore) eddy_semaphore *unit = NULL;  set it once acquired */
static inline void eddy_semaphore_auto_release(eddy_semaphore **sem)
{
        eddy_semaphore_release(*sem);
}

EDDY_END_DECLS

#endif
