/*
 * eddy/process_pool.h - calls of functions in worker processes.
 *
 * For code that must not run in this process: code that may crash, hang, leak memory or
 * change global state, or that is not safe in threads.  For other computations a pool of
 * threads (eddy/thread.h) is simpler, and as fast.
 *
 *     static int sum_up(eddy_process_work *work)
 *     {
 *             struct range range;
 *             double sum = 0;
 *
 *             memcpy(&range, eddy_process_work_input(work), sizeof(range));
 *             for (uint64_t i = range.from; i < range.to; i++)
 *                     sum += sqrt((double) i);
 *             return eddy_process_work_reply(work, &sum, sizeof(sum));
 *     }
 *
 *     static int compute(void *arg)
 *     {
 *             EDDY_AUTO(eddy_process_pool) eddy_process_pool *pool = NULL;
 *             struct range range = { 1, 1000000 };
 *             double sum;
 *             struct eddy_process_call call = { .fn = sum_up,
 *                                               .input = &range,
 *                                               .input_bytes = sizeof(range),
 *                                               .result = &sum,
 *                                               .result_bytes_max = sizeof(sum) };
 *             int err = eddy_process_pool_open(NULL, &pool);
 *
 *             return err < 0 ? err : eddy_process_pool_call(pool, &call);
 *     }
 *
 *     int main(void)
 *     {
 *             int err = eddy_process_pool_prepare();
 *
 *             return err < 0 || eddy_run(compute, NULL, NULL) < 0;
 *     }
 *
 * Workers are forks of the process as it was in eddy_process_pool_prepare(), so they
 * have the program, libraries, global variables, open descriptors and limits
 * (setrlimit(2)) of that time, and nothing that was added later.  A function is passed
 * as its address, which is valid in all workers; it must be in the program or in a
 * library that was loaded by then.  Inputs and results are passed as bytes; pointers in
 * them have no meaning in another process.  For large ones see eddy/process_buffer.h.
 *
 * eddy_process_pool_prepare() forks a child that starts the workers and ends with its
 * parent.  If a program waits for all its children by wait(2), it waits for this child
 * for ever.  Workers ignore SIGINT, SIGTERM, SIGHUP and SIGQUIT, and are killed when
 * the program ends, however it ends.  After each call a worker flushes its <stdio.h> streams.
 *
 * Only the loop that opened a pool may use it; other loops and threads get
 * EDDY_E_RUN_OTHER_LOOP.  In a child of fork() calls return EDDY_E_LOOP_FORKED.  Calls
 * on a NULL pool return -EINVAL, unless their comment says otherwise.
 */
#ifndef EDDY_PROCESS_POOL_H
#define EDDY_PROCESS_POOL_H

#include "eddy/def.h"
#include "eddy/process.h"
#include "eddy/process_buffer.h"

EDDY_BEGIN_DECLS

typedef struct eddy_process_pool eddy_process_pool;
typedef struct eddy_process_work eddy_process_work;

/* --- in a worker --- */

/*
 * A function that a worker calls.  Its return value, 0 or more or a negative error, is the
 * result of eddy_process_pool_call().  eddy_process_work_reply() returns bytes.
 */
typedef int eddy_process_work_fn(eddy_process_work *work);

/*
 * Returns the input of the call, aligned for any type, and its size.  Valid until the
 * function returns.  Never NULL.
 *
 * Suspends: no.
 */
EDDY_API const void *eddy_process_work_input(const eddy_process_work *work);
EDDY_API size_t eddy_process_work_input_bytes(const eddy_process_work *work);

/*
 * Returns the memory of the call's buffer 'i', shared with the caller, and stores its
 * size ('ret_bytes' may be NULL).  Returns NULL if the call has no such buffer.  Valid until
 * the function returns.
 *
 * Suspends: no.
 */
EDDY_API void *eddy_process_work_buffer(const eddy_process_work *work, uint32_t i,
                                        size_t *ret_bytes);

/*
 * Append bytes to the result of the call.  After an error the call fails with that error,
 * unless the function returns another one.
 *
 * Suspends: no.
 * Errors: EDDY_E_PROCESS_POOL_TOO_LARGE  the caller has less room
 *         -ENOMEM
 */
EDDY_API int eddy_process_work_reply(eddy_process_work *work, const void *data, size_t bytes);

/* --- in the parent --- */

/*
 * Fork the process that will start all workers.  Call this function at the beginning of
 * main, before any thread is started and any loop runs: a fork of a process with threads
 * may inherit locks that nothing unlocks.  <stdio.h> output is flushed before the fork.
 * Further calls do nothing.
 *
 * Suspends: no.
 * Errors: EDDY_E_PROCESS_POOL_LATE  a thread was started before, or a loop runs
 *         -EAGAIN, -EMFILE, -ENFILE, -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_process_pool_prepare(void);

enum {
        EDDY_PROCESS_WORKERS_MAX = 256, /* of a pool; all pools of the process: 1,024 */
        EDDY_PROCESS_QUEUED_MAX = 1 << 24,
        EDDY_PROCESS_BUFFERS_MAX = 8,         /* of a call */
        EDDY_PROCESS_CALL_BYTES_MAX = 1 << 30 /* of an input, and of a result */
};

/* All zero is the default. */
struct eddy_process_pool_opts {
        uint32_t workers_max EDDY_UNSET; /* 0: eddy_cpu_count() */
        uint32_t queued_max EDDY_UNSET;  /* calls waiting for a worker; 0: 65,536 */
        /* a worker is replaced after this number of calls; 0: no limit */
        uint32_t calls_max EDDY_UNSET;
        uint32_t reserved32 EDDY_UNSET; /* zero */
        /*
         * Address space that a worker may add to its initial one (RLIMIT_AS); 0: no limit.  If
         * there was no /proc in eddy_process_pool_prepare(), calls fail with -ENOTSUP.
         */
        uint64_t memory_bytes_max EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Make a pool.  A worker is started when a call finds no idle worker, up to the maximum.
 * After 16 workers in succession that died before they had answered a call, each start waits
 * for 10 ms, until a call is answered.  'opts' may be NULL.
 *
 * Suspends: no.
 * Errors: EDDY_E_PROCESS_POOL_NOT_PREPARED  eddy_process_pool_prepare() was not called
 *         EDDY_E_PROCESS_SIMULATED          in a simulated run
 *         -EINVAL  a number is above its maximum
 *         -ENOMEM, EDDY_E_RUN_NOT_RUNNING
 * Owns: returns (owned) '*ret_pool', to be closed by eddy_process_pool_close().
 */
EDDY_API EDDY_MUST_USE int eddy_process_pool_open(const struct eddy_process_pool_opts *opts,
                                                  eddy_process_pool **ret_pool);

/* A call.  Set 'fn'; all other zeros are defaults. */
struct eddy_process_call {
        eddy_process_work_fn *fn EDDY_UNSET;
        const void *input EDDY_UNSET;
        size_t input_bytes EDDY_UNSET;
        void *result EDDY_UNSET;                        /* room for the result */
        size_t result_bytes_max EDDY_UNSET;             /* the size of that room */
        eddy_process_buffer *const *buffers EDDY_UNSET; /* shared with the function */
        uint32_t buffers_count EDDY_UNSET;              /* at most EDDY_PROCESS_BUFFERS_MAX */
        uint32_t reserved32 EDDY_UNSET;                 /* zero */
        /* Outputs. */
        size_t result_bytes EDDY_UNSET;
        /* with EDDY_E_PROCESS_POOL_DIED; code -1 and signo 0: unknown */
        struct eddy_process_exit exit EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Call a function in a worker and return its result.  If all workers are busy, the call
 * waits for one, first come, first served.
 *
 * If the caller is cancelled while the call waits for a worker, nothing is called.  If the
 * function already runs, its worker is killed.  When the call has returned, the function
 * no longer runs; after a failure the result and the buffers may be incomplete.
 *
 * Suspends: yes.
 * Errors: the result of the function
 *         EDDY_E_PROCESS_POOL_DIED    the worker ended before the function returned; another
 *                                     worker will take its place
 *         EDDY_E_PROCESS_POOL_TOO_LARGE  the result is larger than the room for it
 *         EDDY_E_PROCESS_POOL_CLOSED  the pool was shut down before the call, or terminated
 *         EDDY_E_PROCESS_POOL_LOST    the process that starts the workers was killed; no
 *                                     pool of this process can start workers again
 *         -EAGAIN     too many calls wait for a worker, or no process can be started
 *         -EINVAL     no function, or a size above its maximum
 *         -EMFILE     no descriptor is free in this process, in the process that starts the
 *                     workers, or in the worker, for its buffers
 *         -ENFILE, -ENOMEM, -ENOSPC, -ECANCELED
 * Owns: borrows all parts of the call until it returns.
 */
EDDY_API EDDY_MUST_USE int eddy_process_pool_call(eddy_process_pool *pool,
                                                  struct eddy_process_call *call);

/*
 * Called in a task of the map with the number of an item whose result has arrived.  An
 * error ends the map.  If the function suspends, further calls may begin meanwhile, except
 * with EDDY_PROCESS_MAP_IN_ORDER.
 */
typedef int eddy_process_map_fn(void *arg, size_t item);

enum {
        EDDY_PROCESS_MAP_IN_ORDER = 1 << 0, /* 'each' gets the items in order */
};

/* Calls of a function for each item of an array.  Set 'fn', 'items', 'item_bytes', 'count'. */
struct eddy_process_map {
        eddy_process_work_fn *fn EDDY_UNSET;
        const void *items EDDY_UNSET;
        size_t item_bytes EDDY_UNSET, count EDDY_UNSET;
        void *results EDDY_UNSET; /* room for 'count' results, in the order of the items */
        /* room for each result; a shorter one is followed by zeros */
        size_t result_bytes EDDY_UNSET;
        size_t chunk EDDY_UNSET; /* items per message; 0: about four messages for each worker */
        /*
         * Room for the result of each item's function, or NULL.  With it a failure of an item
         * is stored and does not end the map.  If a worker dies, all items of its message fail.
         */
        int *errors EDDY_UNSET;
        eddy_process_map_fn *each EDDY_UNSET; /* NULL: none */
        void *arg EDDY_UNSET;
        uint32_t flags EDDY_UNSET;        /* EDDY_PROCESS_MAP_* */
        uint32_t reserved32 EDDY_UNSET;   /* zero */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Call a function for each item, in all workers, several items per message.  Returns after
 * all items, or after the first failure if 'errors' is NULL: other functions that still run
 * are then killed.
 *
 * Suspends: yes.
 * Errors: the first failure: those of eddy_process_pool_call(), and of 'each'
 * Owns: borrows all parts of the map until it returns.
 */
EDDY_API EDDY_MUST_USE int eddy_process_pool_map(eddy_process_pool *pool,
                                                 const struct eddy_process_map *map);

/*
 * Accept no more calls; accepted ones continue.  A second shutdown has no effect.  NULL is
 * ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_process_pool_shutdown(eddy_process_pool *pool);

/*
 * Wait until a pool that was shut down has no calls left.
 *
 * Suspends: yes.
 * Errors: -EBUSY      the pool accepts calls
 *         -ECANCELED
 */
EDDY_API EDDY_MUST_USE int eddy_process_pool_join(eddy_process_pool *pool);

/*
 * Accept no more calls, and kill all workers.  Accepted calls return
 * EDDY_E_PROCESS_POOL_CLOSED.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_process_pool_terminate(eddy_process_pool *pool);

/*
 * Terminate the pool, wait until its calls have returned and its workers were collected,
 * and free it.  The end of the run terminates its pools without waiting; they must still be
 * closed.  Do not close a pool in 'each' of one of its maps.  In a child of fork() only memory
 * and descriptors are released.  NULL is ignored.
 *
 * Suspends: yes, for at most about a second, and until 'each' of a map has returned.  Not a
 *           cancellation point.
 */
EDDY_API void eddy_process_pool_close(eddy_process_pool *pool);

/* Counters of a pool. */
struct eddy_process_pool_info {
        uint32_t workers;  /* processes */
        uint32_t running;  /* calls in a worker */
        uint32_t queued;   /* calls waiting for a worker */
        uint32_t reserved; /* zero */
        uint64_t started;  /* workers, since the pool was opened */
        uint64_t died;     /* workers that ended by themselves or were killed by others */
};
EDDY_API void eddy_process_pool_info(const eddy_process_pool *pool,
                                     struct eddy_process_pool_info *ret_info);

static inline void eddy_process_pool_auto_release(eddy_process_pool **pool)
{
        eddy_process_pool_close(*pool);
}

EDDY_END_DECLS

#endif
