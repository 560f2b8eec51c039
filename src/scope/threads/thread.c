/*
 * scope/threads/thread.c - calls that run on another thread.
 */
#include "scope/threads/thread.h"

#include <errno.h>

#include "scope/suspend.h"

static bool abort_call(void *arg)
{
        struct ed_thread_call *call = arg;

        if (!call->begun) {
                ed_thread_pool_drop(call->job);
                return true;
        }
        ed_thread_job_stop(call->job);
        if (call->may_leave)
                ed_thread_pool_let_go(call->job);
        return call->may_leave;
}

static int pool_call(struct ed_thread_call *call, eddy_thread_pool *pool, eddy_task_fn *fn,
                     const char *text, void *arg, const struct eddy_thread_opts *opts)
{
        unsigned lane = opts->flags & EDDY_THREAD_SLOW ? ED_LANE_SLOW : ED_LANE_QUICK;
        struct ed_thread_job *job;
        int err;

        err = ed_suspend_enter(&call->task);
        if (err < 0)
                return err;
        if (opts->flags & ~(uint32_t) (EDDY_THREAD_SLOW | EDDY_THREAD_ABANDON))
                return -EINVAL;
        if (!pool) {
                err = ed_thread_pool_of_run(call->task->loop, &pool);
                if (err < 0)
                        return err;
        }
        job = ed_thread_job_new(call, fn, text, arg, opts);
        if (!job)
                return -ENOMEM;
        call->may_leave = opts->flags & EDDY_THREAD_ABANDON;
        err = ed_thread_pool_add(pool, lane, job);
        if (err < 0) {
                ed_thread_job_free(job);
                return err;
        }
        return ed_suspend_park(call->task, "a job on another thread", abort_call, call);
}

int eddy_thread_pool_call_named(eddy_thread_pool *pool, eddy_task_fn *fn, void *arg,
                                const struct eddy_thread_opts *opts, const char *text)
{
        static const struct eddy_thread_opts none;
        struct ed_thread_call call = { 0 };
        int result;

        if (!opts)
                opts = &none;
        result = pool_call(&call, pool, fn, text, arg, opts);
        if (!call.begun && opts->release)
                opts->release(arg);
        return result;
}

#undef eddy_thread_pool_call
int eddy_thread_pool_call(eddy_thread_pool *pool, eddy_task_fn *fn, void *arg,
                          const struct eddy_thread_opts *opts)
{
        return eddy_thread_pool_call_named(pool, fn, arg, opts, NULL);
}

int eddy_to_thread_named(eddy_task_fn *fn, void *arg, const char *text)
{
        return eddy_thread_pool_call_named(NULL, fn, arg, NULL, text);
}

#undef eddy_to_thread
int eddy_to_thread(eddy_task_fn *fn, void *arg)
{
        return eddy_thread_pool_call_named(NULL, fn, arg, NULL, NULL);
}
