/*
 * sync/lock.h - what a condition needs of its lock.
 */
#ifndef ED_SYNC_LOCK_H
#define ED_SYNC_LOCK_H

#include "eddy/lock.h"
#include "scope/task.h"

/* In its flags: debug mode knows who holds it. */
#define ED_LOCK_DEBUG (UINT32_C(1) << 31)

/*
 * Release a lock that the running task holds, however often it took it, and
 * say how often.  Errors: EDDY_E_RUN_OTHER_LOOP, and it is held as before.
 */
int ed_lock_leave(eddy_lock *lock, uint32_t *ret_depth);

/* Take it again as often.  Waits if need be, and cannot be cancelled. */
void ed_lock_retake(eddy_lock *lock, struct ed_task *task, uint32_t depth);

/* What a task waits for, if that is a lock, or NULL. */
const eddy_lock *ed_lock_awaited(const struct ed_task *task);

/*
 * In a deadlock that no cancel has solved: of the tasks below 'top', let one
 * that cannot be cancelled have the lock that nobody releases any more.
 * False: there is none.
 */
bool ed_lock_seize(struct ed_node *top);

#endif
