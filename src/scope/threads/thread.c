/*
 * scope/threads/thread.c - calls that run on another thread, and the state that a job sees there.
 */
#include "scope/threads/thread.h"

#include <errno.h>

#include "base/alloc.h"
#include "scope/suspend.h"
#include "sys/fork.h"

/* The job that runs on this thread, or NULL. */
static __thread struct ed_thread_job *job_here __attribute__((tls_model("initial-exec")));

/* Simulation only: this thread's loop, which waits until the job has returned; or NULL. */
static __thread struct ed_loop *loop_beneath __attribute__((tls_model("initial-exec")));

/* --- on the job's thread --- */

static struct ed_thread_job *job_of(struct ed_job *base)
{
        return ed_container_of(base, struct ed_thread_job, base);
}

static void job_run(struct ed_job *base)
{
        struct ed_thread_job *job = job_of(base), *outer_job = job_here;
        struct ed_vars *outer_vars = ed_vars_enter(job->vars);
        struct ed_loop *outer_loop = ed_loop_current, *outer_beneath = loop_beneath;

        job->forks = ed_sys_forks();
        /* In a simulation this is a loop's own thread.  The job must not notice the loop. */
        ed_loop_current = NULL;
        if (outer_loop)
                loop_beneath = outer_loop;
        job_here = job;
        job->result = job->fn(job->arg);
        ed_assert(!ed_sys_forked_since(job->forks),
                  "a child of fork() returned from a job of its parent: end it with _exit()");
        if (job->release)
                job->release(job->arg);
        job_here = outer_job;
        ed_loop_current = outer_loop;
        loop_beneath = outer_beneath;
        ed_vars_leave(outer_vars);
}

static void job_leave(struct ed_job *base)
{
        ed_thread_job_free(job_of(base));
}

int eddy_thread_is_stopping(void)
{
        return job_here && atomic_load_explicit(&job_here->stopping, memory_order_acquire);
}

bool ed_thread_may_block(void)
{
        return !ed_loop_current && !loop_beneath;
}

/* In a child of fork(), a thread that does not exist there may hold the job's lock. */
static struct ed_thread_job *job_of_wait(void)
{
        return job_here && !ed_sys_forked_since(job_here->forks) ? job_here : NULL;
}

void ed_thread_wait_begin(struct ed_thread_wait *wait)
{
        struct ed_thread_job *job = job_of_wait();

        if (!job)
                return;
        ed_mutex_lock(&job->lock);
        job->wait = wait;
        if (eddy_thread_is_stopping())
                wait->stop(wait);
        ed_mutex_unlock(&job->lock);
}

void ed_thread_wait_end(void)
{
        struct ed_thread_job *job = job_of_wait();

        if (!job)
                return;
        ed_mutex_lock(&job->lock);
        job->wait = NULL;
        ed_mutex_unlock(&job->lock);
}

void ed_thread_job_forget(void)
{
        job_here = NULL;
        loop_beneath = NULL;
}

/* --- on the loop's thread --- */

static struct ed_thread_job *job_new(struct ed_thread_call *call, eddy_task_fn *fn,
                                     const char *text, void *arg,
                                     const struct eddy_thread_opts *opts)
{
        struct ed_thread_job *job = ed_alloc_zero(sizeof(*job));

        if (!job)
                return NULL;
        job->base.run = job_run;
        job->base.leave = job_leave;
        job->fn = fn;
        job->text = text;
        job->arg = arg;
        job->release = opts->release;
        job->vars = ed_vars_take();
        ed_mutex_init(&job->lock);
        ed_list_init(&job->link);
        job->call = call;
        call->job = job;
        return job;
}

void ed_thread_job_free(struct ed_thread_job *job)
{
        ed_vars_drop(job->vars);
        ed_mutex_fini(&job->lock);
        ed_free(job);
}

void ed_thread_job_stop(struct ed_thread_job *job)
{
        ed_mutex_lock(&job->lock);
        atomic_store_explicit(&job->stopping, true, memory_order_release);
        if (job->wait)
                job->wait->stop(job->wait);
        ed_mutex_unlock(&job->lock);
}

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
        job = job_new(call, fn, text, arg, opts);
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

uint32_t eddy_cpu_count(void)
{
        struct ed_loop *loop = ed_loop_current;

        return loop ? loop->sys->ops->cpu_count(loop->sys) : ed_sys_cpu_count();
}
