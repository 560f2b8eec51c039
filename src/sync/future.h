/*
 * sync/future.h - the contents of an eddy_future, for waits for several objects.
 *
 * Its line 'waiters' holds ed_waiters whose item is an int * for the result, or NULL.  Code that
 * takes or hands over a result sets ED_FUTURE_SEEN.
 */
#ifndef ED_SYNC_FUTURE_H
#define ED_SYNC_FUTURE_H

#include "eddy/future.h"

/* A future's flags. */
enum { ED_FUTURE_DONE = 1, ED_FUTURE_SEEN = 2, ED_FUTURE_CANCELLED = 4 };

#endif
