/*
 * thread_test.h - jobs that count what became of them, and tasks that call them.
 */
#ifndef THREAD_TEST_H
#define THREAD_TEST_H

#include "loop/loop.h"
#include "sim_run.h"

/* A job, and a call of it. */
struct work {
        eddy_thread_pool *pool;
        unsigned flags;
        int result; /* of the job */
        int runs, stops, releases;
        int64_t ended_ns; /* when the call returned */
        int returned;
        bool over;
};

static inline int work_do(void *arg)
{
        struct work *work = arg;

        work->runs++;
        work->stops += eddy_thread_is_stopping();
        return work->result;
}

static inline void work_release(void *arg)
{
        ((struct work *) arg)->releases++;
}

static inline int work_call(struct work *work)
{
        struct eddy_thread_opts opts = { .flags = work->flags, .release = work_release };

        work->returned = eddy_thread_pool_call(work->pool, work_do, work, &opts);
        work->ended_ns = eddy_now();
        work->over = true;
        return work->returned;
}

/* A task that calls it; its result is the call's. */
static inline int work_task(void *arg)
{
        return work_call(arg);
}

/* Start a task for each of 'n'; failures of one do not concern the others. */
static inline void works_begin(eddy_scope *scope, struct work *works, int n)
{
        eddy_scope_begin(scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        for (int i = 0; i < n; i++)
                CHECK_EQ(eddy_scope_start(scope, work_task, &works[i]), 0);
        CHECK_EQ(eddy_sleep(0), 0);
}

/* How long the jobs of this simulation last from now on. */
static inline void jobs_last(int64_t job_ns)
{
        ed_sim_job_ns(ed_loop_current->sys, job_ns);
}

static inline eddy_thread_pool *pool_new(struct eddy_thread_pool_opts opts)
{
        eddy_thread_pool *pool;

        CHECK_EQ(eddy_thread_pool_new(&opts, &pool), 0);
        return pool;
}

static inline struct eddy_thread_pool_info info_of(const eddy_thread_pool *pool)
{
        struct eddy_thread_pool_info info;

        eddy_thread_pool_info(pool, &info);
        return info;
}

#endif
