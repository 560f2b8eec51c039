/*
 * eddy/remote.h - tasks started on another thread's loop.
 */
#ifndef EDDY_REMOTE_H
#define EDDY_REMOTE_H

#include "eddy/def.h"
#include "eddy/loop.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

typedef struct eddy_remote eddy_remote;

/*
 * Start fn(arg) as a background task of 'loop', or of the current loop if 'loop'
 * is NULL.  If 'ret_remote' is NULL, the task cannot be awaited, and its failure
 * is reported like that of any background task.
 *
 * Suspends: no.  Threads: any, including the loop's.
 * Errors: EDDY_E_LOOP_CLOSED, EDDY_E_LOOP_FORKED, -ENOMEM
 *         EDDY_E_RUN_NOT_RUNNING  'loop' is NULL, and no loop runs on this thread
 * Owns: returns (owned) '*ret_remote', to be released by eddy_remote_release();
 *       borrows 'arg' until the task has ended.
 */
EDDY_API EDDY_MUST_USE int eddy_loop_start_threadsafe(eddy_loop *loop, eddy_task_fn *fn, void *arg,
                                                      eddy_remote **ret_remote);
EDDY_API EDDY_MUST_USE int eddy_loop_start_threadsafe_named(eddy_loop *loop, eddy_task_fn *fn,
                                                            void *arg, eddy_remote **ret_remote,
                                                            const char *text);
#define eddy_loop_start_threadsafe(loop, ...)                                                      \
        eddy_loop_start_threadsafe_named(loop, __VA_ARGS__, #__VA_ARGS__)

/*
 * Wait until the task has ended, and store its result in '*ret_result', which may
 * be NULL; the result is -ECANCELED if the loop was closed before the task could
 * start.  A calling task suspends; a thread without a loop blocks, and
 * pthread_cancel() does not end the wait.  On the thread of a loop, outside its
 * tasks, the call does not wait: it succeeds only if the task has ended.  In a job
 * of a thread pool (eddy/thread.h) a request to stop ends the wait.  Cancelling
 * the wait never cancels the task.
 *
 * Suspends: yes.  Threads: any.
 * Errors: -ECANCELED  the caller was cancelled, or its job was asked to stop
 *         -EDEADLK    the task waits for itself, or has not ended and the caller is
 *                     on the thread of a loop outside its tasks
 *         -EINVAL     'remote' is NULL
 *         -ENOMEM     only in the first call on a loop
 *         EDDY_E_LOOP_FORKED
 */
EDDY_API EDDY_MUST_USE int eddy_remote_wait(eddy_remote *remote, int *ret_result);

/*
 * Ask the task to stop.  Returns at once.  NULL is ignored.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API void eddy_remote_cancel(eddy_remote *remote);

/*
 * Returns 1 if the task has ended, else 0.
 *
 * Suspends: no.  Threads: any.
 * Errors: -EINVAL  'remote' is NULL; true in an 'if', so no loop waits for ever
 */
EDDY_API int eddy_remote_is_done(const eddy_remote *remote);

/* Release the handle; the task continues.  NULL is ignored.  Suspends: no.  Threads: any. */
EDDY_API void eddy_remote_release(eddy_remote *remote);

static inline void eddy_remote_auto_release(eddy_remote **remote)
{
        eddy_remote_release(*remote);
}

EDDY_END_DECLS

#endif
