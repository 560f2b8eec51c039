/*
 * sync/lock.h - a lock's interface for conditions.
 */
#ifndef ED_SYNC_LOCK_H
#define ED_SYNC_LOCK_H

#include "eddy/lock.h"
#include "scope/task.h"

/*
 * Releases a lock that the running task holds, including all nested acquires, and returns their
 * number.  Errors: EDDY_E_RUN_OTHER_LOOP; the lock is then still held.
 */
int ed_lock_leave(eddy_lock *lock, uint32_t *ret_depth);

/* Acquires the lock again with 'depth' nested acquires.  May wait, and cannot be cancelled. */
void ed_lock_retake(eddy_lock *lock, struct ed_task *task, uint32_t depth);

#endif
