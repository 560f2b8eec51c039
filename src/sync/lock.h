/*
 * sync/lock.h - what a condition needs of its lock.
 */
#ifndef ED_SYNC_LOCK_H
#define ED_SYNC_LOCK_H

#include "eddy/lock.h"
#include "scope/task.h"

/*
 * Release a lock that the running task holds, however often it took it, and
 * say how often.  Errors: EDDY_E_RUN_OTHER_LOOP, and it is held as before.
 */
int ed_lock_leave(eddy_lock *lock, uint32_t *ret_depth);

/* Take it again as often.  Waits if need be, and cannot be cancelled. */
void ed_lock_retake(eddy_lock *lock, struct ed_task *task, uint32_t depth);

#endif
