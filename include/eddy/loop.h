/*
 * eddy/loop.h - the loop itself: callbacks, and a loop inside another program.
 *
 * eddy_run() makes a loop, runs one main task on it and ends it; most programs
 * do not need this header.  A loop made by eddy_loop_new() can run repeatedly,
 * for ever, or step by step inside another library's loop.
 *
 * A loop belongs to the thread that made it.  A child of fork() has no loop:
 * calls on a loop of the parent return EDDY_E_LOOP_FORKED there.
 */
#ifndef EDDY_LOOP_H
#define EDDY_LOOP_H

#include "eddy/def.h"
#include "eddy/run.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

typedef struct eddy_loop eddy_loop;

/*
 * Returns the loop that runs on this thread, or NULL if none does.  The first call
 * allocates what other threads need to use the loop, and returns NULL if the
 * allocation fails.  From then on a run whose tasks all wait is not a deadlock:
 * another thread may wake them.
 *
 * Suspends: no.
 * Owns: borrowed; eddy_loop_ref() keeps it.
 */
EDDY_API eddy_loop *eddy_loop_current(void);

/*
 * Take a handle of a loop, and release it.  The memory of a closed loop is valid
 * until its last handle is released: calls fail with EDDY_E_LOOP_CLOSED.  NULL is
 * ignored.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API eddy_loop *eddy_loop_ref(eddy_loop *loop);
EDDY_API void eddy_loop_release(eddy_loop *loop);

/* --- callbacks --- */

/*
 * A scheduled callback, in memory of the caller that must remain valid until the
 * callback has run or was cancelled.  Zero before its first use.  After that it
 * may be used again, also by its own callback.
 */
typedef struct eddy_handle {
        uintptr_t opaque[24];
} eddy_handle;

/*
 * Call fn(arg) from the loop: after everything that is ready now; after a delay;
 * or at a time of eddy_now()'s clock.  Callbacks run in the order requested, also
 * at equal times.  A 'loop' of NULL is the current one.  'fn' must not suspend;
 * it sees the caller's variables (eddy/var.h).  A result below 0 is reported
 * (EDDY_REPORT_CALLBACK) and the loop continues.
 *
 * Suspends: no.  Threads: the loop's.
 * Errors: -EBUSY  the handle is scheduled already
 *         EDDY_E_LOOP_CLOSED, EDDY_E_LOOP_FORKED
 *         EDDY_E_RUN_NOT_RUNNING  'loop' is NULL and no loop runs on this thread, or
 *                                 'loop' belongs to another thread
 * Owns: borrows 'handle' until it has run or was cancelled.
 */
EDDY_API int eddy_loop_call_soon(eddy_loop *loop, eddy_handle *handle, eddy_task_fn *fn, void *arg);
EDDY_API int eddy_loop_call_later(eddy_loop *loop, eddy_handle *handle, int64_t delay_ns,
                                  eddy_task_fn *fn, void *arg);
EDDY_API int eddy_loop_call_at(eddy_loop *loop, eddy_handle *handle, int64_t when_ns,
                               eddy_task_fn *fn, void *arg);
EDDY_API int eddy_loop_call_soon_named(eddy_loop *loop, eddy_handle *handle, eddy_task_fn *fn,
                                       void *arg, const char *text);
EDDY_API int eddy_loop_call_later_named(eddy_loop *loop, eddy_handle *handle, int64_t delay_ns,
                                        eddy_task_fn *fn, void *arg, const char *text);
EDDY_API int eddy_loop_call_at_named(eddy_loop *loop, eddy_handle *handle, int64_t when_ns,
                                     eddy_task_fn *fn, void *arg, const char *text);
#define eddy_loop_call_soon(loop, handle, ...)                                                     \
        eddy_loop_call_soon_named(loop, handle, __VA_ARGS__, #__VA_ARGS__)
#define eddy_loop_call_later(loop, handle, delay_ns, ...)                                          \
        eddy_loop_call_later_named(loop, handle, delay_ns, __VA_ARGS__, #__VA_ARGS__)
#define eddy_loop_call_at(loop, handle, when_ns, ...)                                              \
        eddy_loop_call_at_named(loop, handle, when_ns, __VA_ARGS__, #__VA_ARGS__)

/*
 * Like eddy_loop_call_soon(), but from any thread: wakes the loop, which runs these
 * callbacks in the order requested.  Keep the loop (eddy_loop_ref()) as long as you
 * may cancel the handle.
 *
 * Suspends: no.  Threads: any.
 * Errors: as above; -ENOMEM  'loop' is NULL, and eddy_loop_current() has no memory
 */
EDDY_API int eddy_loop_call_threadsafe(eddy_loop *loop, eddy_handle *handle, eddy_task_fn *fn,
                                       void *arg);
EDDY_API int eddy_loop_call_threadsafe_named(eddy_loop *loop, eddy_handle *handle, eddy_task_fn *fn,
                                             void *arg, const char *text);
#define eddy_loop_call_threadsafe(loop, handle, ...)                                               \
        eddy_loop_call_threadsafe_named(loop, handle, __VA_ARGS__, #__VA_ARGS__)

enum { EDDY_LOOP_READ = 1 << 0, EDDY_LOOP_WRITE = 1 << 1 };

/*
 * Call fn(arg) whenever 'fd' can be read or written (EDDY_LOOP_*), until the
 * handle is cancelled.  For descriptors of other libraries.  A descriptor may
 * have one watch; cancel the watch before closing the descriptor.
 *
 * Suspends: no.  Threads: the loop's.
 * Errors: as eddy_loop_call_soon(); -EINVAL  'events' is 0
 *         -EEXIST  the descriptor is watched already
 *         -EPERM   the descriptor is always ready, such as a regular file
 *         -EBADF, -ENOMEM, -ENOSPC
 */
EDDY_API int eddy_loop_watch(eddy_loop *loop, eddy_handle *handle, int fd, unsigned events,
                             eddy_task_fn *fn, void *arg);
EDDY_API int eddy_loop_watch_named(eddy_loop *loop, eddy_handle *handle, int fd, unsigned events,
                                   eddy_task_fn *fn, void *arg, const char *text);
#define eddy_loop_watch(loop, handle, fd, events, ...)                                             \
        eddy_loop_watch_named(loop, handle, fd, events, __VA_ARGS__, #__VA_ARGS__)

/*
 * Prevent the callback from running.  Returns 1 if it was scheduled and now
 * never runs, 0 if it has run, was cancelled, or was never scheduled.  When this
 * function returns, the handle's memory is the caller's again: if the callback is
 * running and the caller is another thread, the call waits for its end.  Called
 * inside the callback, it returns 0, or 1 for a watch.
 *
 * Suspends: no; may block threads other than the loop's.
 * Threads: any for a handle of eddy_loop_call_threadsafe(), else the loop's.
 * Errors: EDDY_E_RUN_OTHER_LOOP  this is not the loop's thread, and the handle is not of
 *                                eddy_loop_call_threadsafe(); nothing is done, and the
 *                                callback may run
 */
EDDY_API int eddy_handle_cancel(eddy_handle *handle);

/* Returns 1 if the callback is still going to be called, else 0.  Threads: any. */
EDDY_API int eddy_handle_is_scheduled(const eddy_handle *handle);

/* The time of the callback (eddy_now() clock), or 0 if it has none.  Threads: the loop's. */
EDDY_API int64_t eddy_handle_when(const eddy_handle *handle);

/* --- loops of the program --- */

/*
 * Make a loop on this thread.  'opts' as for eddy_run().  Its tasks, timers and
 * callbacks make progress only while the loop is run or stepped.
 *
 * Errors: EDDY_E_RUN_NESTED, -EINVAL, -ENOMEM, -EMFILE, -EAGAIN
 * Owns: returns (owned) '*ret_loop', to be closed by eddy_loop_close().
 */
EDDY_API EDDY_MUST_USE int eddy_loop_new(const struct eddy_run_opts *opts, eddy_loop **ret_loop);

/*
 * Run main_fn(arg) as the main task until it has ended, and return its result.
 * Background tasks continue in the next run.
 *
 * Errors: EDDY_E_RUN_NESTED, EDDY_E_LOOP_FORKED
 *         -EINVAL              'loop' or main_fn is NULL
 *         EDDY_E_LOOP_STOPPED  eddy_loop_stop() was called before the main task
 *                              ended.  The task continues when the loop is run
 *                              for ever or stepped; closing the loop cancels the
 *                              task and waits for its end.
 *         EDDY_E_LOOP_CLOSED   the loop is closed, or eddy_loop_try_close() was called
 *         -EBUSY               an earlier, stopped main task has not ended yet
 *         and the result of main_fn
 */
EDDY_API int eddy_loop_run(eddy_loop *loop, eddy_task_fn *main_fn, void *arg);
EDDY_API int eddy_loop_run_named(eddy_loop *loop, eddy_task_fn *main_fn, void *arg,
                                 const char *text);
#define eddy_loop_run(loop, ...) eddy_loop_run_named(loop, __VA_ARGS__, #__VA_ARGS__)

/*
 * Run until eddy_loop_stop() or, unless the options leave signals alone, until
 * SIGINT or SIGTERM.  Returns 0.  If eddy_loop_stop() was called before, runs for
 * one turn.
 *
 * Errors: as above
 */
EDDY_API int eddy_loop_run_forever(eddy_loop *loop);

/*
 * End the run after the present turn.  Tasks stay as they are.  Between two runs
 * the call applies to the next run.  NULL is ignored.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API void eddy_loop_stop(eddy_loop *loop);

/*
 * Returns a descriptor for poll(), epoll or another library's loop.  It becomes
 * readable when eddy_loop_step() has work: a task, a timer or a callback that is
 * ready, also if another thread, or this thread between two steps, has made it
 * ready.  It stays readable until the steps have done that work.  Each call
 * returns the same descriptor, which the loop owns.
 *
 * Errors: EDDY_E_LOOP_CLOSED, EDDY_E_LOOP_FORKED, -EMFILE
 *         -EINVAL  'loop' is NULL
 */
EDDY_API int eddy_loop_fd(eddy_loop *loop);

/*
 * Do the work that is ready now, without waiting, for at most about a
 * millisecond.  Returns 1 if more work is ready (the descriptor is then
 * readable), else 0.  A task that does not suspend makes the step longer; the
 * watchdog reports it.  Steps leave SIGINT and SIGTERM to the program.
 *
 * Errors: EDDY_E_RUN_NESTED, EDDY_E_LOOP_CLOSED, EDDY_E_LOOP_FORKED
 *         -EINVAL  'loop' is NULL
 */
EDDY_API int eddy_loop_step(eddy_loop *loop);

/*
 * End the loop: cancel the main task that a stopped run left, give background
 * tasks drain_ns, then cancel and await them.  Scheduled callbacks never run.  On
 * success the handle that eddy_loop_new() returned is released, so 'loop' must not
 * be used again: unless eddy_loop_ref() made another handle, its memory is freed.  A
 * holder of another handle may close the loop again, which does nothing.  NULL is
 * ignored.
 *
 * Errors: -EBUSY  the loop runs
 *         EDDY_E_RUN_NESTED  another loop runs on this thread
 */
EDDY_API int eddy_loop_close(eddy_loop *loop);

/*
 * Like eddy_loop_close(), but without waiting, for a loop that is stepped.  The first
 * call cancels and begins to drain, eddy_loop_step() does the rest, and a later
 * call closes the loop.  Call it after each step until it returns 0.  It has then
 * released the handle, as eddy_loop_close() does: use 'loop' in no further call.
 *
 * Errors: -EAGAIN  tasks have not ended yet; step on when the descriptor of
 *                  eddy_loop_fd() is readable
 *         and those of eddy_loop_close()
 */
EDDY_API EDDY_MUST_USE int eddy_loop_try_close(eddy_loop *loop);

/* EDDY_AUTO(eddy_loop) eddy_loop *loop = NULL;  closes a loop of eddy_loop_new() */
static inline void eddy_loop_auto_release(eddy_loop **loop)
{
        eddy_loop_close(*loop);
}

/* EDDY_AUTO(eddy_loop_ref) eddy_loop *loop = NULL;  releases a handle of eddy_loop_ref() */
static inline void eddy_loop_ref_auto_release(eddy_loop **loop)
{
        eddy_loop_release(*loop);
}

EDDY_END_DECLS

#endif
