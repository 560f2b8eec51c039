/*
 * scope/lock_wait.h - waits for locks, for dumps, debug mode and deadlocks.  src/sync, which
 * implements the locks, defines the table.
 */
#ifndef ED_SCOPE_LOCK_WAIT_H
#define ED_SCOPE_LOCK_WAIT_H

#include "eddy/lock.h"
#include "scope/task.h"

/* A flag of locks: debug mode records the holder. */
#define ED_LOCK_DEBUG (UINT32_C(1) << 31)

struct ed_lock_wait_ops {
        /* Returns the lock that a task waits for; NULL if it does not wait for a lock. */
        const eddy_lock *(*awaited)(const struct ed_task *task);
        /*
         * Resolves a deadlock that no cancel has resolved: gives a lock that no task will release
         * to one task below 'top' that waits for it and cannot be cancelled.  Returns false if
         * there is none.
         */
        bool (*seize)(struct ed_node *top);
};

extern const struct ed_lock_wait_ops ed_lock_wait_ops;

#endif
