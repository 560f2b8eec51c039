/*
 * eddy/remote.h - a task that was started on another thread's loop.
 */
#ifndef EDDY_REMOTE_H
#define EDDY_REMOTE_H

#include "eddy/def.h"
#include "eddy/loop.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

typedef struct eddy_remote eddy_remote;

/*
 * Start fn(arg) as a background task of 'loop'; NULL: of the current one.
 * 'ret_remote' NULL: nobody waits for it, and its failure is reported as any
 * background task's.
 *
 * Suspends: no.  Threads: any; the loop's own too.
 * Errors: EDDY_E_LOOP_CLOSED, EDDY_E_LOOP_FORKED, -ENOMEM
 *         EDDY_E_RUN_NOT_RUNNING  'loop' is NULL, and there is no current one
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
 * Wait until the task has ended, and give its result.  In a task it suspends;
 * on a thread without a loop it blocks that thread, and pthread_cancel() does
 * not end the wait.  Cancelling the wait never cancels the task.  'ret_result' may be NULL; it is -ECANCELED when the loop
 * was closed before the task could start.
 *
 * Suspends: yes.  Threads: any but that of a loop outside its tasks.
 * Errors: -ECANCELED  the caller was cancelled
 *         -EDEADLK    in that task itself; on the thread of a loop outside of its tasks
 *         -ENOMEM     only the first time on a loop
 *         EDDY_E_LOOP_FORKED
 */
EDDY_API EDDY_MUST_USE int eddy_remote_wait(eddy_remote *remote, int *ret_result);

/*
 * Ask the task to stop.  Returns at once.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API void eddy_remote_cancel(eddy_remote *remote);

/* Whether it has ended.  Suspends: no.  Threads: any. */
EDDY_API int eddy_remote_is_done(const eddy_remote *remote);

/* Give it back; the task goes on.  NULL is fine.  Suspends: no.  Threads: any. */
EDDY_API void eddy_remote_release(eddy_remote *remote);

static inline void eddy_remote_auto_release(eddy_remote **remote)
{
        eddy_remote_release(*remote);
}

EDDY_END_DECLS

#endif
