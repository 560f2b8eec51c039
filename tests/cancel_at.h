/*
 * cancel_at.h - cancelling a scope at a given suspension.
 */
#ifndef ED_TEST_CANCEL_AT_H
#define ED_TEST_CANCEL_AT_H

#include <stdbool.h>

#include "eddy/scope.h"

/*
 * Run fn(arg) in a scope of its own that is cancelled at the n-th suspension
 * of this task inside (0: before it begins), after the events of that turn
 * were reported and before any task runs.  Returns its result; 'ret_reached' says
 * whether there was such a suspension.
 */
int cancel_at(int n, eddy_task_fn *fn, void *arg, bool *ret_reached);

/* Cancel the scope from the loop, before any timer that is due by then. */
void cancel_soon(eddy_scope *scope);

#endif
