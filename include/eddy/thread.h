/*
 * eddy/thread.h - functions that would block the loop, on threads of their own.
 *
 * For code that cannot suspend: a library that blocks, a long computation.
 * The function runs on another thread: it must not touch tasks, scopes or
 * anything else of the loop, but by eddy_loop_call_threadsafe() and the like.
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
        uint32_t threads_max; /* 0: eddy_cpu_count() + 4, at most 32 */
        uint32_t slow_max; /* threads of the slow lane, besides; 0: a quarter of that, at least 1 */
        uint32_t queued_max; /* jobs that wait for a thread, in each lane; 0: 65,536 */
        uint32_t reserved32; /* zero */
        int64_t idle_ns;     /* a thread without work for that long ends; 0: 10 s */
        int64_t close_ns;    /* how long close waits for jobs; 0: 5 s; below 0: not at all */
        uintptr_t reserved[4];
};

enum {
        EDDY_THREAD_SLOW = 1 << 0,    /* in a lane of its own: cannot starve the quick jobs */
        EDDY_THREAD_ABANDON = 1 << 1, /* a cancelled caller does not wait for a running job */
};

/* All zero is the default. */
struct eddy_thread_opts {
        uint32_t flags;             /* EDDY_THREAD_* */
        uint32_t reserved32;        /* zero */
        void (*release)(void *arg); /* called once, whatever comes of the call: on the job's thread
                                       when 'fn' has returned, else, as it will not run, before the
                                       call returns */
        uintptr_t reserved[4];      /* zero */
};

/*
 * Run fn(arg) on a thread of the run's own pool and return its result.  It
 * sees the values that the caller has of variables (eddy/var.h).  That pool is
 * made at first use; it is closed when the run has no task left, and waits for
 * jobs as long as background tasks get (drain_ns).
 *
 * The job's thread blocks all signals but those of faults.  A program that the
 * job starts inherits that, unless the job sets another mask for it
 * (posix_spawnattr_setsigmask()).
 *
 * A cancelled caller's job is dropped if it waits for a thread (-ECANCELED;
 * 'fn' never runs).  If it runs, eddy_thread_is_stopping() tells it to stop,
 * and the caller waits for it, since it may borrow from the caller's frame;
 * its result is returned then.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the job did not run
 *         -EAGAIN     too many jobs wait, or no thread could be made
 *         -ENOMEM
 *         and what fn returns
 */
EDDY_API int eddy_to_thread(eddy_task_fn *fn, void *arg);
EDDY_API int eddy_to_thread_named(eddy_task_fn *fn, void *arg, const char *text);
#define eddy_to_thread(...) eddy_to_thread_named(__VA_ARGS__, #__VA_ARGS__)

/*
 * The same in a pool (NULL: the run's own), with options (NULL: none).
 *
 * With EDDY_THREAD_ABANDON a cancelled caller returns -ECANCELED at once; the
 * job runs on, told to stop, its result is dropped, and 'release' is called
 * when it is over: 'arg' must be its own, not the caller's.  It keeps its
 * thread of the pool until then.
 *
 * Suspends: yes.
 * Errors: as above, and
 *         EDDY_E_THREAD_POOL_CLOSED  before the call, or before a thread took
 *                                    the job
 *         -EINVAL                    a flag is not known, or the pool is
 *                                    another loop's
 */
EDDY_API int eddy_thread_pool_call(eddy_thread_pool *pool, eddy_task_fn *fn, void *arg,
                                   const struct eddy_thread_opts *opts);
EDDY_API int eddy_thread_pool_call_named(eddy_thread_pool *pool, eddy_task_fn *fn, void *arg,
                                         const struct eddy_thread_opts *opts, const char *text);
#define eddy_thread_pool_call(pool, ...)                                                           \
        eddy_thread_pool_call_named(pool, __VA_ARGS__, #__VA_ARGS__)

/*
 * On a thread of a pool: whether the caller of the job that runs there was
 * cancelled, or the pool closes and will not wait longer.  0 elsewhere.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API int eddy_thread_is_stopping(void);

/*
 * A pool of this loop.  Threads are made when a job finds none idle, up to
 * the maximum.  'opts' may be NULL.
 *
 * Suspends: no.
 * Errors: -EINVAL  a number is above its maximum
 *         -ENOMEM, EDDY_E_RUN_NOT_RUNNING
 * Owns: returns (owned) '*ret_pool', to be closed by eddy_thread_pool_close().
 */
EDDY_API EDDY_MUST_USE int eddy_thread_pool_new(const struct eddy_thread_pool_opts *opts,
                                                eddy_thread_pool **ret_pool);

/*
 * Accept no more jobs, wait close_ns for the present ones, and drop those that
 * still wait for a thread.  A job that still runs is asked to stop, abandoned
 * and reported (EDDY_REPORT_THREAD); a caller that waits for it waits on.
 * Returns how many jobs were abandoned.  Twice does nothing more.  NULL is fine.
 *
 * Suspends: yes.  Not a cancellation point, but a cancel ends the wait for
 *           jobs early.
 */
EDDY_API int eddy_thread_pool_shutdown(eddy_thread_pool *pool);

/*
 * Shut the pool down if that was not done, and free it.  While another task
 * shuts it down, nothing is done but a report (EDDY_REPORT_MISUSE).  A caller
 * that waits for an abandoned job waits on.  NULL is fine.  The end of the run shuts its pools down, without a wait; they must
 * be closed all the same.  In a child of fork() only memory is freed.
 *
 * Suspends: as eddy_thread_pool_shutdown().
 */
EDDY_API void eddy_thread_pool_close(eddy_thread_pool *pool);

/* What a pool is doing. */
struct eddy_thread_pool_info {
        uint32_t threads;   /* alive, both lanes */
        uint32_t running;   /* jobs */
        uint32_t queued;    /* jobs that wait for a thread */
        uint32_t abandoned; /* running jobs nobody waits for */
};
EDDY_API void eddy_thread_pool_info(const eddy_thread_pool *pool,
                                    struct eddy_thread_pool_info *ret_info);

/*
 * How many processors this process may use; 1 at least.
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
