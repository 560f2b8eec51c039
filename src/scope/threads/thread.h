/*
 * scope/threads/thread.h - jobs on other threads: the structs of jobs and pools.
 *
 * The loop's thread makes all decisions, without locks: which job goes to which thread, and when
 * threads start and end.  A thread (the table's worker) runs one job at a time and knows nothing
 * else.  Jobs are allocated, so an abandoned job can outlive its caller, its pool and its loop.
 */
#ifndef ED_SCOPE_THREADS_THREAD_H
#define ED_SCOPE_THREADS_THREAD_H

#include <stdatomic.h>

#include "eddy/thread.h"
#include "scope/task.h"
#include "scope/vars.h"
#include "sys/thread/thread.h"

struct ed_thread_job;
struct ed_thread_lane;

/* A task that waits for its job; on the task's stack. */
struct ed_thread_call {
        struct ed_task *task;
        struct ed_thread_job *job;
        bool begun;     /* a thread has the job, and calls 'release' itself */
        bool may_leave; /* EDDY_THREAD_ABANDON */
};

/*
 * A wait that blocks a thread.  In a job, a request to stop ends the wait.
 *
 *     put a waiter in line and unlock the line;
 *     ed_thread_wait_begin(&wait);
 *     block until the waiter is served, or taken back by stop();
 *     ed_thread_wait_end();
 */
struct ed_thread_wait {
        /* Takes the waiter back if it was not served.  Any thread, and more than one call. */
        void (*stop)(struct ed_thread_wait *wait);
};

struct ed_thread_job {
        struct ed_job base;
        eddy_task_fn *fn;
        const char *text; /* its text in the program's call, or NULL */
        void *arg;
        void (*release)(void *arg);
        struct ed_vars *vars;        /* the caller's variables */
        unsigned forks;              /* ed_sys_forks() when the job began */
        _Atomic bool stopping;       /* the job was asked to stop; set under the lock */
        struct ed_mutex lock;        /* protects 'wait'; taken before the lock of a line */
        struct ed_thread_wait *wait; /* what the job is blocked in, or NULL */
        int result;
        struct ed_thread_call *call; /* NULL: no task waits for the job */
        struct ed_list link;         /* in its lane's queue */
        struct ed_thread_lane *lane;
        struct ed_thread *thread; /* the thread that runs it; NULL: queued */
};

/* scope/threads/job.c: makes a job for a call.  Returns NULL if memory runs out. */
struct ed_thread_job *ed_thread_job_new(struct ed_thread_call *call, eddy_task_fn *fn,
                                        const char *text, void *arg,
                                        const struct eddy_thread_opts *opts);

void ed_thread_job_free(struct ed_thread_job *job);

/* Asks a job to stop, and ends its wait.  Threads: the loop's. */
void ed_thread_job_stop(struct ed_thread_job *job);

/* Calls stop() at once if this thread's job was asked to stop already.  The caller has no locks. */
ED_SHARED void ed_thread_wait_begin(struct ed_thread_wait *wait);

/* After this call no thread uses the wait.  The caller has no locks. */
ED_SHARED void ed_thread_wait_end(void);

/* A thread of a pool. */
struct ed_thread {
        struct ed_list link; /* in its lane's list of idle or busy threads */
        struct ed_worker *worker;
        struct ed_thread_lane *lane;
        struct ed_thread_job *job; /* NULL: idle */
        int64_t idle_since_ns;
};

/*
 * A queue of jobs and its threads.  A job is queued only while no thread is idle and at least one
 * is busy.
 */
struct ed_thread_lane {
        eddy_thread_pool *pool;
        const char *name; /* the name of its threads */
        struct ed_list queued;
        uint32_t queued_count;
        struct ed_list idle; /* the most recently busy thread is first */
        struct ed_list busy;
        uint32_t threads, threads_max;
};

enum { ED_LANE_QUICK, ED_LANE_SLOW, ED_LANES };

enum {
        ED_POOL_OPEN,
        ED_POOL_CLOSING, /* waiting for the current jobs */
        ED_POOL_CLOSED,  /* each job that still runs has a waiting caller */
};

struct ed_alarm;

struct eddy_thread_pool {
        struct ed_list link;  /* in its loop's list of pools */
        struct ed_loop *loop; /* invalid once the pool is closed and nothing runs */
        unsigned forks;       /* ed_sys_forks() when it was made */
        struct ed_thread_lane lanes[ED_LANES];
        uint32_t queued_max; /* per lane */
        int64_t idle_ns, close_ns;
        uint32_t running, abandoned;
        uint8_t state;              /* ED_POOL_* */
        bool freed;                 /* closed: the last job with a caller frees it */
        struct ed_timer idle_timer; /* for the thread that has been idle longest */
        struct ed_alarm *closer;    /* of the task that waits for the jobs to end, or NULL */
};

/* Returns the run's own pool, which is made at first use.  Errors: -ENOMEM. */
int ed_thread_pool_of_run(struct ed_loop *loop, eddy_thread_pool **ret_pool);

/*
 * Gives a job to a thread, or queues it.  Errors: -EAGAIN, -ENOMEM, EDDY_E_THREAD_POOL_CLOSED,
 * -EINVAL (another loop's pool); on failure the caller keeps the job.
 */
int ed_thread_pool_add(eddy_thread_pool *pool, unsigned lane, struct ed_thread_job *job);

/* Drops a queued job whose caller was cancelled. */
void ed_thread_pool_drop(struct ed_thread_job *job);

/* Detaches a running job from its caller, which was cancelled and does not wait. */
void ed_thread_pool_let_go(struct ed_thread_job *job);

/*
 * Returns true if this thread may block: it has no loop, and does not run a job of a simulation,
 * which runs on the thread of its loop.
 */
bool ed_thread_may_block(void);

/* A jump left the job of this thread: forgets the job. */
void ed_thread_job_forget(void);

/*
 * Closes all pools of a run at its end, from a task.  Waits 'close_ns' for the jobs of the run's
 * own pool, and does not wait for pools that the program did not close.
 */
void ed_thread_pools_end(struct ed_loop *loop, int64_t close_ns);

#endif
