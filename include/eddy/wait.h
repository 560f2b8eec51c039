/*
 * eddy/wait.h - waiting for several tasks, all at once or as they finish.
 *
 * These functions neither cancel nor own the tasks.  To limit the wait, put it in
 * a scope with a deadline: when the deadline passes, the wait returns -ECANCELED,
 * the tasks run on in their own scope, and eddy_task_is_done() returns which have
 * finished.
 *
 * A task that fails cancels its scope, and thereby a wait inside that scope,
 * unless the scope has EDDY_SCOPE_KEEP_GOING.
 */
#ifndef EDDY_WAIT_H
#define EDDY_WAIT_H

#include "eddy/def.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

enum { EDDY_WAIT_TASKS_MAX = 1 << 24 };

enum {
        EDDY_WAIT_ALL = 0,
        EDDY_WAIT_FIRST_COMPLETED = 1,
        EDDY_WAIT_FIRST_FAILED = 2, /* a result below 0 other than -ECANCELED; or all */
};

/*
 * Wait until all of the 'n' tasks have finished, or the first, or the first that
 * failed.  Returns how many have finished, which may be more than requested.  A
 * task that is in the array twice counts twice.
 *
 * Suspends: yes, unless that is the case already.
 * Errors: -ECANCELED  the caller was cancelled
 *         -EINVAL     n is 0 or above EDDY_WAIT_TASKS_MAX, 'until' is not known, or
 *                     'tasks' or a task is NULL
 *         EDDY_E_RUN_OTHER_LOOP  a task belongs to another loop
 *         -EDEADLK    the caller is one of the tasks
 *         -ENOMEM
 * Owns: borrows the handles until it returns.
 */
EDDY_API EDDY_MUST_USE int eddy_wait(eddy_task *const *tasks, size_t n, int until);

/*
 * Gives tasks in the order they finish:
 *
 *     err = eddy_as_completed_begin(&done, tasks, n);
 *     while (err == 0 && (err = eddy_as_completed_next(&done, &task)) > 0) ...
 *     eddy_as_completed_end(&done);
 *
 * Private.  The handles in 'tasks' must live until the end, but the array need
 * not.  Never move the struct after its begin.
 */
typedef struct eddy_as_completed {
        uintptr_t opaque[8];
} eddy_as_completed;

/*
 * Begin.  A task that is in 'tasks' twice is returned once.  After a failure
 * eddy_as_completed_end() is not needed, but harmless.
 *
 * Suspends: no.
 * Errors: -ENOMEM
 *         -EINVAL  n is above EDDY_WAIT_TASKS_MAX, or 'tasks' (unless n is 0) or a
 *                  task is NULL
 *         EDDY_E_RUN_OTHER_LOOP  a task belongs to another loop
 *         -EDEADLK  the caller is one of the tasks
 *         EDDY_E_RUN_NOT_RUNNING
 */
EDDY_API EDDY_MUST_USE int eddy_as_completed_begin(eddy_as_completed *done, eddy_task *const *tasks,
                                                   size_t n);

/*
 * Wait for the next task to finish, whatever its result.  Returns 1 and stores its
 * handle, as given in 'tasks', in '*ret_task'; or 0 after all tasks were returned.
 * Several tasks may call this on the same struct.
 *
 * Suspends: yes, while no further task has finished.
 * Errors: -ECANCELED  the caller was cancelled; later calls return the remaining tasks
 */
EDDY_API EDDY_MUST_USE int eddy_as_completed_next(eddy_as_completed *done, eddy_task **ret_task);

/*
 * Stop waiting; the tasks continue.  If a task waits in 'done', that is reported
 * (EDDY_REPORT_MISUSE) and the process aborted.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_as_completed_end(eddy_as_completed *done);

/* EDDY_AUTO(eddy_as_completed) eddy_as_completed done = { 0 };  the variable is the struct */
static inline void eddy_as_completed_auto_release(eddy_as_completed *done)
{
        eddy_as_completed_end(done);
}

EDDY_END_DECLS

#endif
