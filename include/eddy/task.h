/*
 * eddy/task.h - tasks: functions that run side by side on one loop.
 *
 * Any int f(void *arg) can be a task, and may suspend anywhere, at any depth.
 * Tasks are started in scopes (eddy/scope.h).  A negative result is a failure,
 * except -ECANCELED when the task or its scope was cancelled.
 *
 * Names.  Dumps, reports and lists of errors identify a task by the name in its
 * options; else by its function, as exported by the program; else by the text of
 * the call that started the task ("serve_client", "net::serve"); else by the
 * function's place, "program+0x1234", which addr2line accepts.
 *
 * For this purpose, eddy_scope_start() and each other call that takes a function
 * is also a macro, which calls NAME_named() with the text of its arguments.  The
 * library keeps the pointer: the text must be static.  To bypass the macro, for
 * example for arguments that contain #if, write
 * (eddy_scope_start)(&scope, fn, arg).
 *
 * Stacks.  A task has 256 KiB of stack, or 64 KiB (EDDY_TASK_STACK_64K), less 17 KiB;
 * a thread usually has 8 MiB.  Allocate large buffers on the heap.  A task that
 * overflows its stack ends the process with a report (EDDY_REPORT_OVERFLOW), by
 * SIGSEGV at the guard below the stack.  This requires the compiler's option
 * -fstack-clash-protection, which pkg-config and CMake give to programs.  Without
 * the option, a frame of more than 16 KiB may jump over the guard into the stack of
 * another task.  Each suspending call compares the stack pointer with the task's
 * stack, and aborts if the pointer is outside, since other tasks' memory may have
 * changed.  A function that writes to another stack and returns before any suspending
 * call is not detected.
 *
 * Floating-point settings (the rounding mode, the exception masks and flags of
 * <fenv.h>; MXCSR and the x87 control word, FPCR) belong to the thread, and all
 * its tasks share them.  A task that changes a setting must restore it before its
 * next suspending call.
 *
 * C++: a lambda without captures can be a task, and a destructor may end a scope;
 * eddy/cpp.hpp has a class for that, and starts tasks from any callable.
 * Each task has its own exceptions: it may suspend in a handler, and in a
 * destructor while an exception passes.  An exception must not leave a function
 * that eddy calls; an exception that leaves a task calls std::terminate() where
 * it is thrown.  If a task loads a C++ library with dlopen(), exceptions are
 * supported in that library only from the next run or eddy_loop_run() on; load it
 * before the run.
 */
#ifndef EDDY_TASK_H
#define EDDY_TASK_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

typedef struct eddy_task eddy_task;
typedef int eddy_task_fn(void *arg);

/* All zero is the default. */
struct eddy_task_opts {
        const char *name EDDY_UNSET;      /* copied, cut at 31 bytes; NULL: see "Names" above */
        uint32_t flags EDDY_UNSET;        /* EDDY_TASK_* */
        uint32_t reserved32 EDDY_UNSET;   /* zero */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

enum {
        EDDY_TASK_STACK_64K = 1 << 0, /* 64 KiB of address space instead of 256 KiB */
};

/*
 * Wait until the task has finished, and store its result in '*ret_result', which
 * may be NULL.  Several tasks may join a task.  The return value belongs to the
 * caller: cancelling a join never cancels the task.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the caller was cancelled
 *         -EDEADLK    a task joins itself
 *         -EINVAL     'task' is NULL
 *         EDDY_E_RUN_OTHER_LOOP  the task belongs to another loop
 */
EDDY_API int eddy_task_join(eddy_task *task, int *ret_result);

/*
 * Ask the task to stop: every suspending call in the task returns -ECANCELED from
 * now on.  A cancel is not a failure of the task's scope.  Has no effect on a
 * finished task.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_task_cancel(eddy_task *task);

/*
 * Returns 1 if the task's function has returned, else 0.
 *
 * Suspends: no.
 * Errors: -EINVAL  'task' is NULL; true in an 'if', so no loop waits for ever
 */
EDDY_API int eddy_task_is_done(const eddy_task *task);

/*
 * Store the result of the task's function in '*ret_result'.
 *
 * Suspends: no.
 * Errors: EDDY_E_TASK_NOT_DONE, or -EINVAL if 'task' is NULL; '*ret_result' is then
 *         unchanged
 */
EDDY_API int eddy_task_result(const eddy_task *task, int *ret_result);

/* Returns the task's name, valid as long as the handle; "" for NULL.  Suspends: no. */
EDDY_API const char *eddy_task_name(const eddy_task *task);

/*
 * Returns the calling task, or NULL outside a task.  Borrowed: valid until the
 * task ends, and not to be released.
 *
 * Suspends: no.
 */
EDDY_API eddy_task *eddy_task_current(void);

/*
 * Notify eddy_scope_start_ready() that this task is ready.  Does nothing if no
 * call waits for that.
 *
 * Suspends: no.
 */
EDDY_API void eddy_task_ready(void);

/*
 * Release the handle; the task itself continues.  NULL is ignored.
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
