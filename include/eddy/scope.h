/*
 * eddy/scope.h - scopes: they own tasks, a deadline and a cancellation.
 *
 * A scope lives in the frame of the function that opened it.  eddy_scope_end()
 * does not return while a task of the scope runs, so tasks may borrow from that
 * frame.
 *
 *     struct fetch a = { .url = "/a" }, b = { .url = "/b" };
 *     eddy_scope scope;
 *
 *     eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(5) });
 *     eddy_scope_start(&scope, fetch, &a);
 *     eddy_scope_start(&scope, fetch, &b);
 *     return eddy_scope_end(&scope);
 *
 * Between begin and end the owner's own calls are in the scope too.  By default
 * the first task to fail cancels the others.  A cancelled scope stays cancelled:
 * every suspending call inside returns -ECANCELED until the scope ends, so an
 * ignored return code cannot lose a cancel.  Calls in a shield continue to work,
 * and eddy_scope_end() still waits for the tasks.
 */
#ifndef EDDY_SCOPE_H
#define EDDY_SCOPE_H

#include "eddy/def.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

/* Private: set by begin, released by end.  Never copy or move a scope. */
typedef struct eddy_scope {
        uintptr_t opaque[40];
} eddy_scope;

enum { EDDY_SCOPE_ERRORS_MAX = 16, EDDY_SCOPE_ERROR_TASK_BYTES = 48 };

/* A failure: the task's result and its name. */
struct eddy_scope_error {
        int result;
        char task[EDDY_SCOPE_ERROR_TASK_BYTES];
};

/*
 * The first failures of a scope in the order they came, and the count of all.
 * The equivalent of Python's except* is a loop:
 *
 *     for (uint32_t i = 0; i < errors.listed; i++)
 *             if (eddy_error_facility(errors.list[i].result) == EDDY_E_HTTP) ...
 */
struct eddy_scope_errors {
        uint64_t count;
        uint32_t listed;
        uint32_t reserved;
        struct eddy_scope_error list[EDDY_SCOPE_ERRORS_MAX];
};

enum {
        EDDY_SCOPE_SHIELD = 1 << 0,     /* cancels from outside do not reach the scope */
        EDDY_SCOPE_KEEP_GOING = 1 << 1, /* a failing task does not cancel the others */
};

/* The default deadline of a shield. */
#define EDDY_SCOPE_SHIELD_NS ((int64_t) 5000000000)

/* All zero is the default. */
struct eddy_scope_opts {
        int64_t timeout_ns EDDY_UNSET;  /* from now; below 0: passed; 0: none (5 s in a shield) */
        int64_t deadline_ns EDDY_UNSET; /* eddy_now() clock; 0: none; the earlier one applies */
        uint32_t flags EDDY_UNSET;      /* EDDY_SCOPE_* */
        uint32_t tasks_max EDDY_UNSET;  /* running at once; 0: limited by memory only */
        /* the caller's; cleared by begin, then filled; or NULL */
        struct eddy_scope_errors *errors EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Open a scope inside the current one.  'opts' may be NULL.  Allocates nothing
 * and cannot fail.  Call it in a task.  The function that begins a scope must end
 * it, inner scopes first.
 *
 * Mistakes are reported (EDDY_REPORT_MISUSE) with the source line of the begin,
 * such as "chat.c:31".  After the report the process is aborted if
 *   - a function has left a scope open.  This is detected when the task's function
 *     returns or an outer scope ends, in debug mode also when a scope begins;
 *   - an outer scope is ended before an inner one;
 *   - an open scope is begun again.
 * Outside a task, begin is only reported, and the scope is not begun.
 *
 * Suspends: no.
 * Owns: borrows 'scope' until its end, 'opts' for the duration of the call.
 */
EDDY_API void eddy_scope_begin(eddy_scope *scope, const struct eddy_scope_opts *opts);
EDDY_API void eddy_scope_begin_at(eddy_scope *scope, const struct eddy_scope_opts *opts,
                                  const char *place);
#define eddy_scope_begin(scope, ...) eddy_scope_begin_at(scope, __VA_ARGS__, EDDY_PLACE)

/*
 * Wait for every task of the scope and close the scope.  If the caller is
 * cancelled, so are the tasks (unless the scope is a shield), and the call still
 * waits.  Returns the first of these that applies:
 *   1. -ETIMEDOUT if this scope's deadline came before all failures and a call
 *      inside returned -ECANCELED because of it;
 *   2. the first failure of a task;
 *   3. -ECANCELED if a cancel from outside was delivered inside;
 *   4. 0.
 *
 * Suspends: yes, while tasks run.  Not a cancellation point.
 * Errors: as above.  These errors leave everything unchanged:
 *         -EINVAL  the scope was never begun, has ended, or belongs to another
 *                  task; also reported
 *         EDDY_E_RUN_NOT_RUNNING  outside a task
 */
EDDY_API int eddy_scope_end(eddy_scope *scope);

/*
 * Like eddy_scope_end(), but also takes the result of the scope's own block.  A
 * result below 0 is recorded as a failure of the calling task.  The failure cancels
 * the tasks (unless EDDY_SCOPE_KEEP_GOING is set), is added to opts.errors, and is
 * returned unless another failure or this scope's deadline came first.  -ECANCELED
 * in a cancelled scope is not a failure; the call returns it only if the cancel
 * came from outside the scope.  A result of 0 or more is returned if
 * eddy_scope_end() would return 0.
 *
 * Suspends: yes, while tasks run.  Not a cancellation point.
 * Errors: as above.
 */
EDDY_API int eddy_scope_end_with(eddy_scope *scope, int result);

/*
 * Start 'fn(arg)' as a task of 'scope'.  The task first runs when the caller next
 * suspends, never inside this call.  A started task always runs, at least to its
 * first suspending call.
 *
 * A failure to start, except -ECANCELED, is also a failure of the scope and
 * cancels it, even with EDDY_SCOPE_KEEP_GOING: starting many tasks and checking
 * only eddy_scope_end() is correct.  A scope that was never begun records nothing.
 *
 * Suspends: no.
 * Errors: -ECANCELED  the scope has ended or is cancelled; this is not a failure.
 *                     For eddy_scope_end(), a cancel has stopped this call, as it
 *                     stops suspending calls inside the scope.
 *         -EAGAIN     tasks_max tasks are running
 *         -ENOMEM     no memory for a stack
 *         -EINVAL     the scope was never begun; also reported
 * Owns: borrows 'arg' until the scope's end.
 */
EDDY_API int eddy_scope_start(eddy_scope *scope, eddy_task_fn *fn, void *arg);
EDDY_API int eddy_scope_start_named(eddy_scope *scope, eddy_task_fn *fn, void *arg,
                                    const char *text);
#define eddy_scope_start(scope, ...) eddy_scope_start_named(scope, __VA_ARGS__, #__VA_ARGS__)

/*
 * Like eddy_scope_start(), but copies 'bytes' bytes from 'arg' to the task's stack
 * and passes the address of the copy.  Use it to start tasks in a C loop that
 * changes 'arg'.
 *
 * Suspends: no.
 * Errors: also -EINVAL  bytes is above EDDY_TASK_COPY_MAX
 */
enum { EDDY_TASK_COPY_MAX = 2048 };
EDDY_API int eddy_scope_start_copy(eddy_scope *scope, eddy_task_fn *fn, const void *arg,
                                   size_t bytes);
EDDY_API int eddy_scope_start_copy_named(eddy_scope *scope, eddy_task_fn *fn, const void *arg,
                                         size_t bytes, const char *text);
#define eddy_scope_start_copy(scope, ...)                                                          \
        eddy_scope_start_copy_named(scope, __VA_ARGS__, #__VA_ARGS__)

/*
 * Like eddy_scope_start(), but with options and a handle to join, cancel or query
 * the task.  'opts' may be NULL, and so may 'ret_task' if only the options matter.
 *
 * Suspends: no.
 * Owns: returns (owned) '*ret_task', to be released by eddy_task_release(); the
 *       handle stays valid after the scope's end.
 */
EDDY_API int eddy_scope_start_task(eddy_scope *scope, eddy_task_fn *fn, void *arg,
                                   const struct eddy_task_opts *opts, eddy_task **ret_task);
EDDY_API int eddy_scope_start_task_named(eddy_scope *scope, eddy_task_fn *fn, void *arg,
                                         const struct eddy_task_opts *opts, eddy_task **ret_task,
                                         const char *text);
#define eddy_scope_start_task(scope, ...)                                                          \
        eddy_scope_start_task_named(scope, __VA_ARGS__, #__VA_ARGS__)

/*
 * Like eddy_scope_start(), but waits until the task calls eddy_task_ready(), and
 * returns 0.  If the task ends first, eddy_scope_start_ready() returns the task's
 * result if it is below 0, else EDDY_E_TASK_NOT_READY; the scope does not fail.
 *
 * Suspends: yes.  Cancelling the wait does not cancel the task.
 * Errors: also -ECANCELED  the caller is cancelled: either no task was started, or
 *                          the task continues
 */
EDDY_API int eddy_scope_start_ready(eddy_scope *scope, eddy_task_fn *fn, void *arg);
EDDY_API int eddy_scope_start_ready_named(eddy_scope *scope, eddy_task_fn *fn, void *arg,
                                          const char *text);
#define eddy_scope_start_ready(scope, ...)                                                         \
        eddy_scope_start_ready_named(scope, __VA_ARGS__, #__VA_ARGS__)

/*
 * Ask the tasks of the scope and the owner's own calls to stop.  Returns at once;
 * eddy_scope_end() waits.  A cancel is not a failure.  A second cancel has no
 * effect.  After the scope's end a cancel also has no effect, but the scope's
 * memory must still exist.
 *
 * Suspends: no.
 */
EDDY_API void eddy_scope_cancel(eddy_scope *scope);

/*
 * Move the deadline to 'deadline_ns' (eddy_now() clock; 0: none; a time in the past
 * cancels at once).  A shield always has a deadline: 0 sets the default, and the
 * deadline is never later than that of an enclosing shield.
 *
 * Suspends: no.
 * Errors: -EALREADY  the deadline has passed, or the scope is cancelled or has ended
 *         -EINVAL    the scope was never begun; also reported
 */
EDDY_API int eddy_scope_set_deadline(eddy_scope *scope, int64_t deadline_ns);

/* Returns the deadline, or 0 without one.  Suspends: no. */
EDDY_API int64_t eddy_scope_deadline(const eddy_scope *scope);

/*
 * eddy_scope_is_cancelled() returns 1 if suspending calls inside now return
 * -ECANCELED for any cause, otherwise 0.  eddy_scope_expired() returns 1 if this
 * scope's own deadline has passed, otherwise 0; it may also be called after the
 * scope's end, while the scope's memory exists.
 *
 * Suspends: no.
 */
EDDY_API int eddy_scope_is_cancelled(const eddy_scope *scope);
EDDY_API int eddy_scope_expired(const eddy_scope *scope);

#if !defined(__cplusplus)
/*
 * EDDY_SCOPE(scope, &err, .timeout_ns = EDDY_SEC(5)) { ... }
 *
 * Runs the block in a scope and declares the scope under the name 'scope'.  Not
 * available in C++.  'err' is set to 0 first.  The scope ends on every way out
 * (break and return included): eddy_scope_end_with() takes the value that the block
 * has stored in 'err', and its result is stored in 'err'.  For example,
 *
 *     err = load(&page);
 *     if (err < 0)
 *             break;
 *
 * The break ends the block; because 'err' is negative, the tasks are cancelled, and
 * 'err' keeps the failure.  `return x` inside evaluates x before the tasks have
 * finished, and does not store x in 'err', so a negative x does not cancel the tasks.
 */
#define EDDY_SCOPE(scope, ...)                                                                     \
        for (int scope##_once = 1 + EDDY_SCOPE_CHECK(__VA_ARGS__, 0); scope##_once;)               \
                for (eddy_scope scope; scope##_once;)                                              \
                        for (struct eddy_scope_guard                                               \
                             __attribute__((cleanup(eddy_scope_guard_release), unused))            \
                             scope##_guard = eddy_scope_guard_begin(                               \
                                     &scope, EDDY_SCOPE_ERR(__VA_ARGS__, 0), &scope##_once,        \
                                     &(struct eddy_scope_opts){                                    \
                                             EDDY_SCOPE_OPTS(__VA_ARGS__, .reserved = { 0 }) },    \
                                     EDDY_PLACE);                                                  \
                             scope##_once; scope##_once = 0)

/* Private.  Before C23 a "..." may not be empty.  Options without 'err' begin with a period. */
#define EDDY_SCOPE_ERR(err, ...)     (err)
#define EDDY_SCOPE_OPTS(err, ...)    __VA_ARGS__
#define EDDY_SCOPE_HAS_ERR(err, ...) (sizeof(#err) > 1 && __builtin_strncmp(#err, ".", 1) != 0)
#define EDDY_SCOPE_CHECK(...)                                                                      \
        ((int) EDDY_CHECK_(EDDY_SCOPE_HAS_ERR(__VA_ARGS__, 0),                                     \
                           "EDDY_SCOPE: the second argument is not the address of an int",         \
                           second_argument_of_EDDY_SCOPE_is_not_the_address_of_an_int))

struct eddy_scope_guard {
        eddy_scope *scope;
        int *ret_err;
        int *once;
};

static inline struct eddy_scope_guard eddy_scope_guard_begin(eddy_scope *scope, int *ret_err,
                                                             int *once,
                                                             const struct eddy_scope_opts *opts,
                                                             const char *place)
{
        struct eddy_scope_guard guard = { scope, ret_err, once };

        *ret_err = 0;
        eddy_scope_begin_at(scope, opts, place);
        return guard;
}

static inline void eddy_scope_guard_release(struct eddy_scope_guard *guard)
{
        *guard->once = 0;
        *guard->ret_err = eddy_scope_end_with(guard->scope, *guard->ret_err);
}
#endif

EDDY_END_DECLS

#endif
