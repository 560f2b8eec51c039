/*
 * eddy/wait.h - waiting for several tasks, all at once or as they finish.
 *
 * Nothing here cancels what it waits for, nor owns it.  A limit of time is
 * the scope around the call: when its deadline passes, the wait returns
 * -ECANCELED, the tasks run on in their own scope, and eddy_task_is_done()
 * tells which have finished.
 *
 * A task that fails cancels its scope, and so a wait inside of that, unless
 * the scope has EDDY_SCOPE_KEEP_GOING.
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
        EDDY_WAIT_FIRST_FAILED = 2, /* a result below 0 but -ECANCELED; or all */
};

/*
 * Wait until all of the 'n' tasks have finished, or the first, or the first
 * that failed.  Returns how many have finished, which may be more than were
 * asked for.  The same task may stand there twice, and counts twice then.
 *
 * Suspends: yes, unless that is so already.
 * Errors: -ECANCELED  the caller was cancelled
 *         -EINVAL     n is 0 or above EDDY_WAIT_TASKS_MAX, or 'until' is not known
 *         EDDY_E_RUN_OTHER_LOOP  a task belongs to another loop
 *         -EDEADLK    the caller is among them
 *         -ENOMEM
 * Owns: borrows the handles until it returns.
 */
EDDY_API EDDY_MUST_USE int eddy_wait(eddy_task *const *tasks, size_t n, int until);

/*
 * Tasks in the order they finish:
 *
 *     err = eddy_as_completed_begin(&done, tasks, n);
 *     while (err == 0 && (err = eddy_as_completed_next(&done, &task)) > 0) ...
 *     eddy_as_completed_end(&done);
 *
 * Private; the handles in 'tasks' must live until its end, but the array need
 * not.  Never move one that has begun.
 */
typedef struct eddy_as_completed {
        uintptr_t opaque[8];
} eddy_as_completed;

/*
 * Begin.  A task that stands in 'tasks' twice is given once.  After a failure
 * there is nothing to end, but eddy_as_completed_end() is harmless.
 *
 * Suspends: no.
 * Errors: -ENOMEM
 *         -EINVAL  n is above EDDY_WAIT_TASKS_MAX
 *         EDDY_E_RUN_OTHER_LOOP  a task belongs to another loop
 *         -EDEADLK  the caller is among them
 *         EDDY_E_RUN_NOT_RUNNING
 */
EDDY_API EDDY_MUST_USE int eddy_as_completed_begin(eddy_as_completed *done, eddy_task *const *tasks,
                                                   size_t n);

/*
 * The next task to have finished: 1 and '*ret_task', one of the handles given;
 * 0 when all were given.  What the task came to does not matter here.
 * Several tasks may take from one.
 *
 * Suspends: yes, while none has finished.
 * Errors: -ECANCELED  the caller was cancelled; the rest can still be had
 */
EDDY_API EDDY_MUST_USE int eddy_as_completed_next(eddy_as_completed *done, eddy_task **ret_task);

/*
 * Stop; the tasks go on.  If a task waits in it, that is reported
 * (EDDY_REPORT_MISUSE) and the process aborted.  NULL is fine.
 *
 * Suspends: no.
 */
EDDY_API void eddy_as_completed_end(eddy_as_completed *done);

/* EDDY_AUTO(eddy_as_completed) eddy_as_completed done = { 0 };  the variable is the struct itself */
static inline void eddy_as_completed_auto_release(eddy_as_completed *done)
{
        eddy_as_completed_end(done);
}

EDDY_END_DECLS

#endif
