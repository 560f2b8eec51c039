/*
 * eddy/condition.h - waiting for a change of what a lock protects.
 *
 *     err = eddy_lock_acquire(&lock);
 *     while (err == 0 && !there_is_work)
 *             err = eddy_condition_wait(&changed, &lock);
 *
 * The condition, its lock and all waiters belong to one loop.
 */
#ifndef EDDY_CONDITION_H
#define EDDY_CONDITION_H

#include "eddy/def.h"
#include "eddy/lock.h"

EDDY_BEGIN_DECLS

/* Private, but ready to use when zero.  Never move a used condition. */
typedef struct eddy_condition {
        eddy_lock *lock; /* of the waiters */
        void *waiters[2];
        uint32_t waiting;
        uint32_t reserved32;
        uintptr_t loop_number;
        uintptr_t reserved[1];
} eddy_condition;

/*
 * Release the lock, which the caller holds, wait for a notification, and take
 * the lock again.  The caller holds the lock when this function returns, also
 * with -ECANCELED.  A notification that came before the cancel wins: the result
 * is 0.  A recursive lock is released completely and taken again to the same
 * depth.
 *
 * Suspends: yes.  Taking the lock again is not a cancellation point.
 * Errors: -ECANCELED  the caller was not notified
 *         -EPERM      the caller does not hold the lock
 *         -EINVAL     other tasks wait for the condition with another lock
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait for the condition or the lock
 */
EDDY_API EDDY_MUST_USE int eddy_condition_wait(eddy_condition *condition, eddy_lock *lock);

/*
 * Wait until predicate(arg) is not 0.  The predicate is called first, and again
 * after each notification, with the lock held.
 *
 * Suspends: yes, unless the predicate holds.
 * Errors: as above
 */
EDDY_API EDDY_MUST_USE int eddy_condition_wait_for(eddy_condition *condition, eddy_lock *lock,
                                                   int (*predicate)(void *arg), void *arg);

/*
 * Wake the 'n' longest waiters, or all of them.  The caller holds their lock;
 * each waiter continues once it has taken the lock again.
 *
 * Suspends: no.
 * Errors: -EPERM  tasks wait and the caller does not hold their lock
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait
 */
EDDY_API int eddy_condition_notify(eddy_condition *condition, uint32_t n);
EDDY_API int eddy_condition_notify_all(eddy_condition *condition);

/* The number of tasks that wait for a notification.  Suspends: no. */
EDDY_API uint32_t eddy_condition_waiting(const eddy_condition *condition);

EDDY_END_DECLS

#endif
