/*
 * scope/threads/job.c - a job: its thread runs it, and the loop makes, stops and frees it.
 */
#include "base/alloc.h"
#include "scope/threads/thread.h"
#include "sys/process/fork.h"

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

struct ed_thread_job *ed_thread_job_new(struct ed_thread_call *call, eddy_task_fn *fn,
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
