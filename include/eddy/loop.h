/*
 * eddy/loop.h - the loop itself: callbacks, and living inside another program.
 *
 * eddy_run() makes a loop, runs one main task on it and ends it; most programs
 * need nothing of what is here.  A loop that is made with eddy_loop_new() can
 * run again and again, for ever, or step by step inside somebody else's loop.
 *
 * A loop belongs to the thread that made it.  A child of fork() has none: a
 * loop of the parent answers EDDY_E_LOOP_FORKED there.
 */
#ifndef EDDY_LOOP_H
#define EDDY_LOOP_H

#include "eddy/def.h"
#include "eddy/run.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

typedef struct eddy_loop eddy_loop;

/*
 * The loop that runs on this thread; NULL if none does, or if there is no
 * memory for what other threads may hold of it, which the first call makes.
 * From then on the run is taken to have friends on other threads: that all
 * tasks wait is no deadlock.
 *
 * Suspends: no.
 * Owns: borrowed; eddy_loop_ref() keeps it.
 */
EDDY_API eddy_loop *eddy_loop_current(void);

/*
 * Take a handle of a loop, and release it.  The memory of a closed loop stays
 * valid until its last handle is released: calls fail with EDDY_E_LOOP_CLOSED.
 * NULL is fine.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API eddy_loop *eddy_loop_ref(eddy_loop *loop);
EDDY_API void eddy_loop_release(eddy_loop *loop);

/* --- callbacks --- */

/*
 * A callback that is to run; the caller's memory until it has run or was
 * cancelled.  Zero before its first use; may be used again after that, also
 * by its own callback.
 */
typedef struct eddy_handle {
        uintptr_t opaque[24];
} eddy_handle;

/*
 * Call fn(arg) from the loop: as soon as what is ready now has had its turn;
 * after a time; at a point of eddy_now()'s clock.  In the order asked for;
 * equal times too.  'loop' NULL: the current one.  'fn' must not suspend; it
 * sees the caller's variables (eddy/var.h); what it returns below 0 is
 * reported (EDDY_REPORT_CALLBACK) and the loop goes on.
 *
 * Suspends: no.  Threads: the loop's.
 * Errors: -EBUSY  the handle is scheduled already
 *         EDDY_E_LOOP_CLOSED, EDDY_E_LOOP_FORKED
 *         EDDY_E_RUN_NOT_RUNNING  there is no current loop, or this is not its thread
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
 * The same from any thread, as soon as the loop looks, in the order asked for
 * among such calls; wakes the loop.  Keep the loop (eddy_loop_ref()) as long
 * as you may cancel the handle.
 *
 * Suspends: no.  Threads: any.
 * Errors: as above; -ENOMEM  'loop' is NULL, and eddy_loop_current() has none
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
 * handle is cancelled.  For descriptors of other libraries; a descriptor may
 * be watched once.  Cancel before the descriptor is closed.
 *
 * Suspends: no.  Threads: the loop's.
 * Errors: as eddy_loop_call_soon(); -EINVAL  no event is asked for
 *         -EEXIST  the descriptor is watched already
 *         -EBADF, -EPERM (it is always ready), -ENOMEM, -ENOSPC
 */
EDDY_API int eddy_loop_watch(eddy_loop *loop, eddy_handle *handle, int fd, unsigned events,
                             eddy_task_fn *fn, void *arg);
EDDY_API int eddy_loop_watch_named(eddy_loop *loop, eddy_handle *handle, int fd, unsigned events,
                                   eddy_task_fn *fn, void *arg, const char *text);
#define eddy_loop_watch(loop, handle, fd, events, ...)                                             \
        eddy_loop_watch_named(loop, handle, fd, events, __VA_ARGS__, #__VA_ARGS__)

/*
 * See to it that the callback does not run any more.  Returns 1 if it was
 * scheduled and now never runs, 0 if it has run, was cancelled, or was never
 * scheduled.  Exact: called on another thread than the loop's while the
 * callback runs, it returns after the callback has; in any case the handle's
 * memory is the caller's again.  In the callback itself: 0, or 1 for a watch.
 *
 * Suspends: no; may block another thread than the loop's.
 * Threads: any for a handle of eddy_loop_call_threadsafe(), else the loop's.
 */
EDDY_API int eddy_handle_cancel(eddy_handle *handle);

/* Whether the callback is still to run.  Threads: as eddy_handle_cancel(). */
EDDY_API int eddy_handle_is_scheduled(const eddy_handle *handle);

/* When it is to run (eddy_now() clock), or 0 when it has no time.  Threads: the loop's. */
EDDY_API int64_t eddy_handle_when(const eddy_handle *handle);

/* --- a loop of one's own --- */

/*
 * Make a loop on this thread.  'opts' as for eddy_run().  Its tasks, timers
 * and callbacks stand still unless it is run or stepped.
 *
 * Errors: EDDY_E_RUN_NESTED, -EINVAL, -ENOMEM, -EMFILE, -EAGAIN
 * Owns: returns (owned) '*ret_loop': to be closed by eddy_loop_close().
 */
EDDY_API EDDY_MUST_USE int eddy_loop_new(const struct eddy_run_opts *opts, eddy_loop **ret_loop);

/*
 * Run main_fn(arg) as the main task until it has ended, and return its result.
 * Background tasks go on with the next run.
 *
 * Errors: EDDY_E_RUN_NESTED, EDDY_E_LOOP_CLOSED, EDDY_E_LOOP_FORKED
 *         EDDY_E_LOOP_STOPPED  eddy_loop_stop() came before its end: it goes on
 *                              when the loop is run for ever or stepped, and
 *                              is cancelled and awaited when it is closed
 *         -EBUSY               such a main task has not ended yet
 *         and what main_fn returns
 */
EDDY_API int eddy_loop_run(eddy_loop *loop, eddy_task_fn *main_fn, void *arg);
EDDY_API int eddy_loop_run_named(eddy_loop *loop, eddy_task_fn *main_fn, void *arg,
                                 const char *text);
#define eddy_loop_run(loop, ...) eddy_loop_run_named(loop, __VA_ARGS__, #__VA_ARGS__)

/*
 * Run until eddy_loop_stop() or, unless the options leave signals alone, until
 * SIGINT or SIGTERM.  Returns 0.  Stopped before: one turn.
 *
 * Errors: as above
 */
EDDY_API int eddy_loop_run_forever(eddy_loop *loop);

/*
 * Let the run end after the present turn.  Tasks stay as they are.  Between
 * two runs it is for the next.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API void eddy_loop_stop(eddy_loop *loop);

/*
 * A descriptor that can be read whenever eddy_loop_step() has something to
 * do: for poll(), epoll or another library's loop.  Owned by the loop.
 *
 * Errors: EDDY_E_LOOP_CLOSED, EDDY_E_LOOP_FORKED, -EMFILE
 */
EDDY_API int eddy_loop_fd(eddy_loop *loop);

/*
 * Do what can be done now, without waiting, and at most for about a
 * millisecond.  Returns 1 if there is more to do at once (the descriptor says
 * so too), else 0.
 *
 * Errors: EDDY_E_RUN_NESTED, EDDY_E_LOOP_CLOSED, EDDY_E_LOOP_FORKED
 */
EDDY_API int eddy_loop_step(eddy_loop *loop);

/*
 * End the loop: cancel what a stopped run left, give the background drain_ns,
 * cancel it, wait for it.  Callbacks that are still scheduled never run.  On
 * success the handle that eddy_loop_new() returned is released; who holds
 * another one may close again, which does nothing.  NULL is fine.
 *
 * Errors: -EBUSY  the loop runs
 *         EDDY_E_RUN_NESTED  another loop runs on this thread
 */
EDDY_API int eddy_loop_close(eddy_loop *loop);

static inline void eddy_loop_auto_release(eddy_loop **loop)
{
        eddy_loop_close(*loop);
}

EDDY_END_DECLS

#endif
