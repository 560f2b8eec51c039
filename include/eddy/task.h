/*
 * eddy/task.h - tasks: functions that run side by side on one loop.
 *
 * Any int f(void *arg) can be one.  It may suspend anywhere, at any depth.
 * Tasks are started in scopes (eddy/scope.h).  A negative return is a
 * failure, except -ECANCELED when the task or its scope was cancelled.
 *
 * Names.  Dumps, reports and lists of errors call a task by the name in its
 * options, else by its function: as the program exports it, else as it was
 * written in the call that started the task ("serve_client", "net::serve"), else
 * by its place, "program+0x1234", as addr2line takes it.
 *
 * For this, eddy_scope_start() and each other call that takes a function is also
 * a macro of that name, which calls the function NAME_named() with the text of
 * its arguments.  The library keeps the pointer: the text must be static.  Where
 * a macro is in the way, as for arguments with #if in them, call the function:
 * (eddy_scope_start)(&scope, fn, arg).
 *
 * Floating-point settings (the rounding mode, the exception masks and flags of
 * <fenv.h>; MXCSR and the x87 control word, FPCR) belong to the thread, and all
 * its tasks share them.  A task that changes a setting puts the old value back
 * before its next suspending call.
 *
 * C++: a lambda without captures is a task, and a destructor may end a scope.
 * Each task has its own exceptions: it may suspend in a handler, and in a
 * destructor while an exception passes.  An exception must not leave a function
 * that eddy calls; one that leaves a task calls std::terminate() where it is
 * thrown.  A C++ library that dlopen() loads during a run is known from the next
 * run on, or eddy_loop_run(), so load such libraries before.
 */
#ifndef EDDY_TASK_H
#define EDDY_TASK_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

typedef struct eddy_task eddy_task;
typedef int eddy_task_fn(void *arg);

/* All zero is the default. */
struct eddy_task_opts {
        const char *name;      /* copied, cut at 31 bytes; NULL: as said above */
        uint32_t flags;        /* EDDY_TASK_* */
        uint32_t reserved32;   /* zero */
        uintptr_t reserved[4]; /* zero */
};

enum {
        EDDY_TASK_STACK_64K = 1 << 0, /* the small class; default is 256 KiB of address space */
};

/*
 * Wait until the task has finished, and give its result.  Several tasks may
 * join one.  The return value is the caller's own: cancelling a join never
 * cancels the task.  'ret_result' may be NULL.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the caller was cancelled
 *         -EDEADLK    a task joins itself
 *         EDDY_E_RUN_OTHER_LOOP  the task belongs to another loop
 */
EDDY_API int eddy_task_join(eddy_task *task, int *ret_result);

/*
 * Ask the task to stop: every suspending call in it returns -ECANCELED from
 * now on.  No failure of its scope.  A finished task is left alone.
 *
 * Suspends: no.
 */
EDDY_API void eddy_task_cancel(eddy_task *task);

/* Whether the task's function has returned.  Suspends: no. */
EDDY_API int eddy_task_is_done(const eddy_task *task);

/*
 * What the task's function returned.
 *
 * Suspends: no.
 * Errors: EDDY_E_TASK_NOT_DONE; '*ret_result' is untouched then
 */
EDDY_API int eddy_task_result(const eddy_task *task, int *ret_result);

/* The task's name; valid as long as the handle.  Suspends: no. */
EDDY_API const char *eddy_task_name(const eddy_task *task);

/*
 * The task that calls this, or NULL outside of one.  Borrowed: valid until
 * the task ends, and not to be released.
 *
 * Suspends: no.
 */
EDDY_API eddy_task *eddy_task_current(void);

/*
 * Tell eddy_scope_start_ready() that this task is ready.  Does nothing when
 * nobody waits for that.
 *
 * Suspends: no.
 */
EDDY_API void eddy_task_ready(void);

/*
 * Give the handle back; the task itself goes on.  NULL is fine.
 *
 * Suspends: no.
 */
EDDY_API void eddy_task_release(eddy_task *task);

static inline void eddy_task_auto_release(eddy_task **task)
{
        eddy_task_release(*task);
}

EDDY_END_DECLS

#endif
