/*
 * eddy/lock.h - a lock that one task of a loop holds at a time.
 *
 * First come, first served: a released lock goes straight to the task that
 * waits longest, and nobody passes it.  All on one loop.
 */
#ifndef EDDY_LOCK_H
#define EDDY_LOCK_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

enum { EDDY_LOCK_RECURSIVE = 1 << 0 }; /* its owner may take it again, and releases as often */

/* Private, but ready to use when zero.  Never move a used one. */
typedef struct eddy_lock {
        void *owner;
        uint64_t owner_number;
        uint32_t depth;
        uint32_t flags;
        void *waiters[2];
        uintptr_t loop_number;
        uintptr_t reserved[2];
} eddy_lock;

/* eddy_lock lock = EDDY_LOCK(EDDY_LOCK_RECURSIVE); */
#define EDDY_LOCK(flags)                                                                           \
        {                                                                                          \
                0, 0, 0, (flags), { 0, 0 }, 0,                                                     \
                {                                                                                  \
                        0, 0                                                                       \
                }                                                                                  \
        }

/* The same at run time.  Suspends: no. */
EDDY_API void eddy_lock_init(eddy_lock *lock, unsigned flags);

/*
 * Take the lock, waiting for it if need be.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the lock was not taken
 *         -EDEADLK    the caller holds it already, and it is not recursive
 *         -EOVERFLOW  recursive, and taken UINT32_MAX times
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait in line
 */
EDDY_API EDDY_MUST_USE int eddy_lock_acquire(eddy_lock *lock);

/*
 * Take the lock if nobody holds it.
 *
 * Suspends: no.
 * Errors: -EAGAIN     another task holds it
 *         -EDEADLK, -EOVERFLOW  as above
 *         EDDY_E_RUN_NOT_RUNNING  the caller is no task
 *         EDDY_E_RUN_OTHER_LOOP   in debug mode: another loop has used it
 */
EDDY_API EDDY_MUST_USE int eddy_lock_try_acquire(eddy_lock *lock);

/*
 * Give the lock up, to the longest waiter if there is one.  A plain lock may
 * be released by any task, a recursive one by its owner only.  Works in a
 * cancelled task.  NULL is fine.
 *
 * Suspends: no.
 * Errors: -EPERM  nobody holds it, or it is recursive and another task does
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait; it stays locked
 */
EDDY_API int eddy_lock_release(eddy_lock *lock);

/* Whether a task holds it, and whether the calling one does.  Suspends: no. */
EDDY_API int eddy_lock_is_locked(const eddy_lock *lock);
EDDY_API int eddy_lock_is_mine(const eddy_lock *lock);

/* EDDY_AUTO(eddy_lock) eddy_lock *held = NULL;  set it once acquired */
static inline void eddy_lock_auto_release(eddy_lock **lock)
{
        eddy_lock_release(*lock);
}

EDDY_END_DECLS

#endif
