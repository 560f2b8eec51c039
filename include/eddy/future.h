/*
 * eddy/future.h - a result that comes later, set once, awaited by many.
 *
 * For the seam between callbacks and tasks.  Between tasks alone, a task's
 * own result, a queue or an event mostly serve better.  All on one loop; from
 * another thread, set it in a call made by eddy_loop_call_threadsafe().
 */
#ifndef EDDY_FUTURE_H
#define EDDY_FUTURE_H

#include "eddy/def.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

/* Private, but ready to use when zero: not done.  Never move a used one. */
typedef struct eddy_future {
        int result;
        uint32_t flags;
        void *value;
        void *waiters[2];
        void *callbacks[2];
        uintptr_t loop_number;
        uintptr_t reserved[3];
} eddy_future;

/*
 * A callback of a future; the caller's memory until it has run or was
 * removed.  Zero before its first use.
 */
typedef struct eddy_future_callback {
        uintptr_t opaque[16];
} eddy_future_callback;

/*
 * Finish it with a result, as a task's (below 0: a failure), and a value that
 * goes with it, which may be NULL and stays the caller's.
 *
 * Suspends: no.
 * Errors: -EALREADY  it is done
 *         EDDY_E_RUN_OTHER_LOOP  tasks or callbacks of another loop wait for it;
 *                                it is not set
 */
EDDY_API int eddy_future_set(eddy_future *future, int result, void *value);

/*
 * Finish it with -ECANCELED, if it is not done.  Counts as looking at its
 * result.  Returns 1 if it was finished by this, else 0.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_OTHER_LOOP  as above
 */
EDDY_API int eddy_future_cancel(eddy_future *future);

/*
 * Wait until it is done, and give its result.  The return value is the
 * caller's own: cancelling the wait does nothing to the future.  'ret_result'
 * may be NULL.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the caller was cancelled
 *         EDDY_E_RUN_OTHER_LOOP  as above
 */
EDDY_API EDDY_MUST_USE int eddy_future_wait(eddy_future *future, int *ret_result);

/* Whether it is done, and whether by eddy_future_cancel().  Suspends: no. */
EDDY_API int eddy_future_is_done(const eddy_future *future);
EDDY_API int eddy_future_is_cancelled(const eddy_future *future);

/*
 * Its result.
 *
 * Suspends: no.
 * Errors: EDDY_E_FUTURE_NOT_DONE; '*ret_result' is untouched then
 */
EDDY_API int eddy_future_result(eddy_future *future, int *ret_result);

/* The value it was set with, or NULL.  Suspends: no. */
EDDY_API void *eddy_future_value(const eddy_future *future);

/*
 * Call fn(arg) from the loop once the future is done: never inside this call
 * or eddy_future_set(), in the order added.  It sees the variables that the
 * caller has now (eddy/var.h), and must not suspend; what it returns below 0
 * is reported (EDDY_REPORT_CALLBACK).
 *
 * Suspends: no.
 * Errors: -EBUSY  'callback' is in use
 *         EDDY_E_RUN_NOT_RUNNING
 *         EDDY_E_RUN_OTHER_LOOP  as above
 * Owns: borrows 'callback' until it has run or was removed.  Once the loop has
 *       ended it never runs, and setting the future removes it.
 */
EDDY_API int eddy_future_add_callback(eddy_future *future, eddy_future_callback *callback,
                                      eddy_task_fn *fn, void *arg);
EDDY_API int eddy_future_add_callback_named(eddy_future *future, eddy_future_callback *callback,
                                            eddy_task_fn *fn, void *arg, const char *text);
#define eddy_future_add_callback(future, callback, ...)                                            \
        eddy_future_add_callback_named(future, callback, __VA_ARGS__, #__VA_ARGS__)

/*
 * Remove all callbacks with that fn and arg that have not run.  Returns how
 * many there were.  Looks at each callback of this future.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_OTHER_LOOP  as above; none is removed
 */
EDDY_API int eddy_future_remove_callback(eddy_future *future, eddy_task_fn *fn, void *arg);

/*
 * Make it ready for another use.  A failure (but -ECANCELED) that nobody
 * looked at is reported (EDDY_REPORT_UNHANDLED).  If a task waits for it, that
 * is reported (EDDY_REPORT_MISUSE) and the process aborted; callbacks that
 * have not run are removed.  NULL is fine.
 *
 * Suspends: no.
 */
EDDY_API void eddy_future_fini(eddy_future *future);

/* EDDY_AUTO(eddy_future) eddy_future answer = { 0 };  the variable is the future itself */
static inline void eddy_future_auto_release(eddy_future *future)
{
        eddy_future_fini(future);
}

EDDY_END_DECLS

#endif
