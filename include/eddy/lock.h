/*
 * eddy/lock.h - a lock that one task of a loop holds at a time.
 *
 * First come, first served: a released lock goes to the task that waits longest,
 * and no other task can take it first.  A lock belongs to one loop.
 */
#ifndef EDDY_LOCK_H
#define EDDY_LOCK_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

enum { EDDY_LOCK_RECURSIVE = 1 << 0 }; /* the owner may take it again; each take needs a release */

/* Private, but ready to use when zero.  Never move a used lock. */
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

/* Initialise a lock at run time.  Suspends: no. */
EDDY_API void eddy_lock_init(eddy_lock *lock, unsigned flags);

/*
 * Take the lock, waiting for it if necessary.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the lock was not taken
 *         -EDEADLK    the caller holds the lock already, and it is not recursive
 *         -EOVERFLOW  the lock is recursive and was taken UINT32_MAX times
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait in line
 */
EDDY_API EDDY_MUST_USE int eddy_lock_acquire(eddy_lock *lock);

/*
 * Take the lock if it is free.
 *
 * Suspends: no.
 * Errors: -EAGAIN     another task holds the lock
 *         -EDEADLK, -EOVERFLOW  as above
 *         EDDY_E_RUN_NOT_RUNNING  the caller is not a task
 *         EDDY_E_RUN_OTHER_LOOP   in debug mode: another loop has used the lock
 */
EDDY_API EDDY_MUST_USE int eddy_lock_try_acquire(eddy_lock *lock);

/*
 * Release the lock, or hand it to the longest waiter.  Any task may release a
 * plain lock; only the owner may release a recursive lock.  Works in a cancelled
 * task.  NULL is ignored.
 *
 * Suspends: no.
 * Errors: -EPERM  the lock is not held, or it is recursive and another task holds it
 *         EDDY_E_RUN_OTHER_LOOP  tasks of another loop wait; the lock stays locked
 */
EDDY_API int eddy_lock_release(eddy_lock *lock);

/* Whether a task holds the lock, and whether the calling task does.  Suspends: no. */
EDDY_API int eddy_lock_is_locked(const eddy_lock *lock);
EDDY_API int eddy_lock_is_mine(const eddy_lock *lock);

/* EDDY_AUTO(eddy_lock) eddy_lock *held = NULL;  set it once acquired */
static inline void eddy_lock_auto_release(eddy_lock **lock)
{
        eddy_lock_release(*lock);
}

EDDY_END_DECLS

#endif
