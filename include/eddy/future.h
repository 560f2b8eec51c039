/*
 * eddy/future.h - a result that is set once, and awaited by any number of tasks.
 *
 * Futures connect callbacks to tasks.  Between tasks, a task's result, a queue
 * or an event is usually simpler.  A future belongs to one loop; another thread
 * sets a future in a call made by eddy_loop_call_threadsafe().
 */
#ifndef EDDY_FUTURE_H
#define EDDY_FUTURE_H

#include "eddy/def.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

/* Private, but ready to use when zero: not done.  Never move a used future. */
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
 * A callback of a future, in memory of the caller that must remain valid until
 * the callback has run or was removed.  Zero before its first use.
 */
typedef struct eddy_future_callback {
        uintptr_t opaque[16];
} eddy_future_callback;

/*
 * Finish the future with a result, which is a failure if below 0, and a value,
 * which may be NULL and remains the caller's.
 *
 * Suspends: no.
 * Errors: -EALREADY  the future is done
 *         EDDY_E_RUN_OTHER_LOOP  tasks or callbacks of another loop wait for the
 *                                future; it is not set
 */
EDDY_API int eddy_future_set(eddy_future *future, int result, void *value);

/*
 * Finish the future with -ECANCELED, unless it is done.  Counts as reading its
 * result.  Returns 1 if this call finished the future, else 0.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_OTHER_LOOP  as above
 */
EDDY_API int eddy_future_cancel(eddy_future *future);

/*
 * Wait until the future is done, and store its result in '*ret_result', which
 * may be NULL.  The return value belongs to the caller: cancelling the wait does
 * not affect the future.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the caller was cancelled
 *         EDDY_E_RUN_OTHER_LOOP  as above
 */
EDDY_API EDDY_MUST_USE int eddy_future_wait(eddy_future *future, int *ret_result);

/* Whether the future is done, and whether eddy_future_cancel() did it.  Suspends: no. */
EDDY_API int eddy_future_is_done(const eddy_future *future);
EDDY_API int eddy_future_is_cancelled(const eddy_future *future);

/*
 * Store the result of the future in '*ret_result'.
 *
 * Suspends: no.
 * Errors: EDDY_E_FUTURE_NOT_DONE; '*ret_result' is then unchanged
 */
EDDY_API int eddy_future_result(eddy_future *future, int *ret_result);

/* Returns the value that the future was set with, or NULL.  Suspends: no. */
EDDY_API void *eddy_future_value(const eddy_future *future);

/*
 * Call fn(arg) from the loop after the future is done.  Callbacks run in the
 * order added, and never inside this call or eddy_future_set().  'fn' sees the
 * variables that the caller of this function has now (eddy/var.h), and must not
 * suspend; a result below 0 is reported (EDDY_REPORT_CALLBACK).
 *
 * Suspends: no.
 * Errors: -EBUSY  'callback' is in use
 *         EDDY_E_RUN_NOT_RUNNING
 *         EDDY_E_RUN_OTHER_LOOP  as above
 * Owns: borrows 'callback' until it has run or was removed.  After the loop has
 *       ended the callback never runs, and setting the future removes it.
 */
EDDY_API int eddy_future_add_callback(eddy_future *future, eddy_future_callback *callback,
                                      eddy_task_fn *fn, void *arg);
EDDY_API int eddy_future_add_callback_named(eddy_future *future, eddy_future_callback *callback,
                                            eddy_task_fn *fn, void *arg, const char *text);
#define eddy_future_add_callback(future, callback, ...)                                            \
        eddy_future_add_callback_named(future, callback, __VA_ARGS__, #__VA_ARGS__)

/*
 * Remove all callbacks with this fn and arg that have not run.  Returns how
 * many were removed.  Takes time in proportion to the callbacks of the future.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_OTHER_LOOP  as above; none is removed
 */
EDDY_API int eddy_future_remove_callback(eddy_future *future, eddy_task_fn *fn, void *arg);

/*
 * Reset the future for another use.  Callbacks that have not run are removed.
 * A failure other than -ECANCELED that was never read is reported
 * (EDDY_REPORT_UNHANDLED).  If a task waits for the future, that is reported
 * (EDDY_REPORT_MISUSE) and the process aborted.  NULL is ignored.
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
