/*
 * eddy/thread.h - threads for functions that would block the loop.
 *
 * For code that cannot suspend: a library that blocks, a long computation.  The
 * function runs on another thread.  It must not use tasks, scopes or other objects
 * of the loop, except through functions for any thread, such as
 * eddy_loop_call_threadsafe().
 */
#ifndef EDDY_THREAD_H
#define EDDY_THREAD_H

#include "eddy/def.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

typedef struct eddy_thread_pool eddy_thread_pool;

enum { EDDY_THREADS_MAX = 1024, EDDY_THREAD_QUEUED_MAX = 1 << 24 };

/* All zero is the default. */
struct eddy_thread_pool_opts {
        uint32_t threads_max EDDY_UNSET; /* 0: eddy_cpu_count() + 4, at most 32 */
        /* more threads, for the slow lane; 0: threads_max / 4, at least 1 */
        uint32_t slow_max EDDY_UNSET;
        uint32_t queued_max EDDY_UNSET; /* jobs waiting for a thread, in each lane; 0: 65,536 */
        uint32_t reserved32 EDDY_UNSET; /* zero */
        int64_t idle_ns EDDY_UNSET;     /* an idle thread ends after this time; 0: 10 s */
        int64_t close_ns EDDY_UNSET;    /* time that close waits for jobs; 0: 5 s; below 0: none */
        uintptr_t reserved[4] EDDY_UNSET;
};

enum {
        EDDY_THREAD_SLOW = 1 << 0,    /* in a separate lane, which cannot starve quick jobs */
        EDDY_THREAD_ABANDON = 1 << 1, /* a cancelled caller does not wait for a running job */
};

/* All zero is the default. */
struct eddy_thread_opts {
        uint32_t flags EDDY_UNSET;      /* EDDY_THREAD_* */
        uint32_t reserved32 EDDY_UNSET; /* zero */
        /* called once, whatever the result: on the job's thread after 'fn' has returned; or, if
         * 'fn' will not run, before the call returns */
        void (*release)(void *arg) EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Run fn(arg) on a thread of the run's own pool and return its result.  'fn' sees
 * the caller's values of variables (eddy/var.h).  The first call makes the pool.
 * The pool is closed when the run has no task left, and waits for jobs as long as
 * for background tasks (drain_ns).
 *
 * The job's thread blocks all signals except those of faults.  A program started
 * by the job inherits that mask, unless the job sets another one
 * (posix_spawnattr_setsigmask()).
 *
 * If the caller is cancelled while the job waits for a thread, the job is dropped:
 * 'fn' never runs and the result is -ECANCELED.  If the job runs already,
 * eddy_thread_is_stopping() returns 1 in it, and the caller waits for it and
 * returns its result, because the job may borrow from the caller's frame.  If the
 * job is blocked in eddy_channel_put(), eddy_channel_get() or eddy_remote_wait(),
 * that call returns -ECANCELED; no other blocking call ends early.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the job did not run
 *         -EAGAIN     too many jobs wait, or no thread could be made
 *         -ENOMEM
 *         and the result of fn
 */
EDDY_API int eddy_to_thread(eddy_task_fn *fn, void *arg);
EDDY_API int eddy_to_thread_named(eddy_task_fn *fn, void *arg, const char *text);
#define eddy_to_thread(...) eddy_to_thread_named(__VA_ARGS__, #__VA_ARGS__)

/*
 * Like eddy_to_thread(), but in a pool (NULL: the run's own), with options (NULL:
 * none).
 *
 * With EDDY_THREAD_ABANDON a cancelled caller returns -ECANCELED at once.  The job
 * runs on in its thread, with eddy_thread_is_stopping() set; its result is
 * dropped, and 'release' is called at its end.  'arg' must therefore belong to
 * the job, not to the caller.
 *
 * Suspends: yes.
 * Errors: as above, and
 *         EDDY_E_THREAD_POOL_CLOSED  before the call, or before a thread took
 *                                    the job
 *         -EINVAL                    a flag is not known
 *         EDDY_E_RUN_OTHER_LOOP      the pool belongs to another loop
 */
EDDY_API int eddy_thread_pool_call(eddy_thread_pool *pool, eddy_task_fn *fn, void *arg,
                                   const struct eddy_thread_opts *opts);
EDDY_API int eddy_thread_pool_call_named(eddy_thread_pool *pool, eddy_task_fn *fn, void *arg,
                                         const struct eddy_thread_opts *opts, const char *text);
#define eddy_thread_pool_call(pool, ...)                                                           \
        eddy_thread_pool_call_named(pool, __VA_ARGS__, #__VA_ARGS__)

/*
 * Returns 1 on a thread of a pool if the caller of the present job was cancelled,
 * or the pool closes and will not wait longer; else 0.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API int eddy_thread_is_stopping(void);

/*
 * Make a pool for this loop.  A thread is made when a job finds no idle thread, up
 * to the maximum.  'opts' may be NULL.
 *
 * Suspends: no.
 * Errors: -EINVAL  a number is above its maximum
 *         -ENOMEM, EDDY_E_RUN_NOT_RUNNING
 * Owns: returns (owned) '*ret_pool', to be closed by eddy_thread_pool_close().
 */
EDDY_API EDDY_MUST_USE int eddy_thread_pool_new(const struct eddy_thread_pool_opts *opts,
                                                eddy_thread_pool **ret_pool);

/*
 * Accept no more jobs, wait close_ns for the present ones, and drop the jobs that
 * then still wait for a thread.  A job that still runs is asked to stop, abandoned
 * and reported (EDDY_REPORT_THREAD); a caller that waits for the job continues to
 * wait.  Returns the number of abandoned jobs.  A second call has no effect.  NULL
 * is ignored.
 *
 * Suspends: yes.  Not a cancellation point, but a cancel ends the wait for
 *           jobs early.
 */
EDDY_API int eddy_thread_pool_shutdown(eddy_thread_pool *pool);

/*
 * Shut the pool down if that was not done, and free it.  If another task is
 * shutting the pool down, the call only reports that (EDDY_REPORT_MISUSE).  A
 * caller that waits for an abandoned job continues to wait.  The end of the run
 * shuts down its pools without waiting; they must still be closed.  In a child of
 * fork() only memory is freed.  NULL is ignored.
 *
 * Suspends: as eddy_thread_pool_shutdown().
 */
EDDY_API void eddy_thread_pool_close(eddy_thread_pool *pool);

/* Counters of a pool, or, for NULL, the sums of all pools of this thread's loop. */
struct eddy_thread_pool_info {
        uint32_t threads;   /* alive, both lanes */
        uint32_t running;   /* jobs on a thread */
        uint32_t queued;    /* jobs waiting for a thread */
        uint32_t abandoned; /* running jobs that no caller waits for */
};
EDDY_API void eddy_thread_pool_info(const eddy_thread_pool *pool,
                                    struct eddy_thread_pool_info *ret_info);

/*
 * Returns the number of processors that this process may use, at least 1.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API uint32_t eddy_cpu_count(void);

static inline void eddy_thread_pool_auto_release(eddy_thread_pool **pool)
{
        eddy_thread_pool_close(*pool);
}

EDDY_END_DECLS

#endif
