/*
 * sync/future.h - what lies in an eddy_future, for those who wait for one
 * among other things.
 *
 * Its line 'waiters' holds ed_waiters whose item is an int * for the result,
 * or NULL.  Who is handed a result, or takes it, marks the future as seen.
 */
#ifndef ED_SYNC_FUTURE_H
#define ED_SYNC_FUTURE_H

#include "eddy/future.h"

/* In its flags. */
enum { ED_FUTURE_DONE = 1, ED_FUTURE_SEEN = 2, ED_FUTURE_CANCELLED = 4 };

#endif
