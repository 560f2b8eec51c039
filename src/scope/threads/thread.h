/*
 * scope/threads/thread.h - jobs on other threads: what lies in a job and in a pool.
 *
 * All that is decided is decided on the loop's thread, without locks: which
 * job goes to which thread, when a thread is made or ended.  A thread (the
 * table's worker) runs one job at a time and knows nothing else.  Jobs are
 * allocated, so that one that is left behind outlives its caller, its pool
 * and its loop.
 */
#ifndef ED_SCOPE_THREADS_THREAD_H
#define ED_SCOPE_THREADS_THREAD_H

#include <stdatomic.h>

#include "eddy/thread.h"
#include "scope/task.h"
#include "scope/vars.h"

struct ed_thread_job;
struct ed_thread_lane;

/* A task that waits for its job; lies on its stack. */
struct ed_thread_call {
        struct ed_task *task;
        struct ed_thread_job *job;
        bool begun;     /* the job was given to a thread, and calls 'release' itself */
        bool may_leave; /* EDDY_THREAD_ABANDON */
};

struct ed_thread_job {
        struct ed_job base;
        eddy_task_fn *fn;
        const char *text; /* that the program wrote for it, or NULL */
        void *arg;
        void (*release)(void *arg);
        struct ed_vars *vars;  /* of who asked for it */
        _Atomic bool stopping; /* it is told to stop */
        int result;
        struct ed_thread_call *call; /* NULL: nobody waits for it any more */
        struct ed_list link;         /* in its lane's queue */
        struct ed_thread_lane *lane;
        struct ed_thread *thread; /* that runs it; NULL: it is queued */
};

void ed_thread_job_free(struct ed_thread_job *job);

/* One of a pool's threads. */
struct ed_thread {
        struct ed_list link; /* among its lane's idle or busy ones */
        struct ed_worker *worker;
        struct ed_thread_lane *lane;
        struct ed_thread_job *job; /* NULL: it is idle */
        int64_t idle_since_ns;
};

/*
 * A queue and its threads.  A job is queued only while no thread is idle and
 * at least one is busy.
 */
struct ed_thread_lane {
        eddy_thread_pool *pool;
        const char *name; /* of its threads */
        struct ed_list queued;
        uint32_t queued_count;
        struct ed_list idle; /* the one that was busy last is the first */
        struct ed_list busy;
        uint32_t threads, threads_max;
};

enum { ED_LANE_QUICK, ED_LANE_SLOW, ED_LANES };

enum {
        ED_POOL_OPEN,
        ED_POOL_CLOSING, /* waiting for the jobs there are */
        ED_POOL_CLOSED,  /* what still runs has a caller who waits for it */
};

struct ed_thread_closer;

struct eddy_thread_pool {
        struct ed_list link;  /* among those of its loop */
        struct ed_loop *loop; /* not to be used when the pool is closed and nothing runs */
        unsigned forks;       /* ed_sys_forks() where it was made */
        struct ed_thread_lane lanes[ED_LANES];
        uint32_t queued_max; /* in each lane */
        int64_t idle_ns, close_ns;
        uint32_t running, abandoned;
        uint8_t state;                   /* ED_POOL_* */
        bool freed;                      /* as soon as nobody waits for a job of it */
        struct ed_timer idle_timer;      /* for the thread that is idle longest */
        struct ed_thread_closer *closer; /* who waits for its jobs to be over */
};

/* The pool that belongs to the run itself, made if need be.  Errors: -ENOMEM. */
int ed_thread_pool_of_run(struct ed_loop *loop, eddy_thread_pool **ret_pool);

/*
 * Give a job to a thread, or queue it.  Errors: -EAGAIN, -ENOMEM,
 * EDDY_E_THREAD_POOL_CLOSED; the job is the caller's then.
 */
int ed_thread_pool_add(eddy_thread_pool *pool, unsigned lane, struct ed_thread_job *job);

/* Its caller is cancelled: drop a queued job. */
void ed_thread_pool_drop(struct ed_thread_job *job);

/* Its caller is cancelled and does not wait: a running job is nobody's from now on. */
void ed_thread_pool_let_go(struct ed_thread_job *job);

/*
 * Whether this thread may block: it has no loop, and is not in a job of a
 * simulation, which is called on the thread of its loop.
 */
bool ed_thread_may_block(void);

/* A job was left by a jump: none runs on this thread. */
void ed_thread_job_forget(void);

/*
 * At the end of a run, in a task: close its own pool, waiting 'close_ns' for
 * jobs, and those that the program did not free, not waiting.
 */
void ed_thread_pools_end(struct ed_loop *loop, int64_t close_ns);

#endif
