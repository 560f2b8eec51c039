/*
 * scope/deadlock.h - the end of a deadlock.
 */
#ifndef ED_SCOPE_DEADLOCK_H
#define ED_SCOPE_DEADLOCK_H

#include <stdbool.h>

struct ed_loop;

/*
 * The loop's tasks all wait, and nothing can wake them.  Reports this once and cancels the run; then
 * takes locks and generators from tasks that no cancel ends.  Returns false if no task can go on.
 */
bool ed_deadlock_end(struct ed_loop *loop);

#endif
