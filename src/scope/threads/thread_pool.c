/*
 * scope/threads/thread_pool.c - assigns jobs to threads, and starts and ends the threads.
 */
#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"
#include "scope/debug/debug.h"
#include "scope/misuse.h"
#include "scope/report.h"
#include "scope/suspend.h"
#include "scope/threads/thread.h"
#include "sys/fault/symbol.h"
#include "sys/process/fork.h"

#define IDLE_NS  EDDY_SEC(10)
#define CLOSE_NS EDDY_SEC(5)

enum { THREADS_SPARE = 4, THREADS_DEFAULT_MAX = 32, SLOW_SHARE = 4, QUEUED = 65536 };

/* --- threads --- */

uint32_t eddy_cpu_count(void)
{
        struct ed_loop *loop = ed_loop_current;

        return loop ? loop->sys->worker->cpu_count(loop->sys) : ed_sys_cpu_count();
}

/* Starts a thread.  Errors: -ENOMEM; -EAGAIN for all other errors of the table. */
static int thread_new(struct ed_thread_lane *lane, struct ed_thread **ret_thread)
{
        struct ed_sys *sys = lane->pool->loop->sys;
        struct ed_thread *thread = ed_alloc_zero(sizeof(*thread));
        int err;

        if (!thread)
                return -ENOMEM;
        err = sys->worker->start(sys, lane->name, &thread->worker);
        if (err < 0) {
                ed_free(thread);
                return err == -ENOMEM ? -ENOMEM : -EAGAIN;
        }
        ed_list_init(&thread->link);
        thread->lane = lane;
        lane->threads++;
        *ret_thread = thread;
        return 0;
}

/* Removes a thread from its list and frees its struct. */
static void thread_forget(struct ed_thread *thread)
{
        ed_list_remove(&thread->link);
        thread->lane->threads--;
        ed_free(thread);
}

static void thread_free(struct ed_thread *thread)
{
        struct ed_sys *sys = thread->lane->pool->loop->sys;

        sys->worker->end(sys, thread->worker);
        thread_forget(thread);
}

/* --- idle threads --- */

static void thread_idle(struct ed_thread *thread)
{
        eddy_thread_pool *pool = thread->lane->pool;

        thread->idle_since_ns = ed_loop_now(pool->loop);
        ed_list_push_front(&thread->lane->idle, &thread->link);
        if (!pool->idle_timer.armed)
                ed_quiet_timer_arm(pool->loop, &pool->idle_timer,
                                   ed_time_after(thread->idle_since_ns, pool->idle_ns));
}

/* Ends threads that were idle for idle_ns.  Returns when the next one is due, or INT64_MAX. */
static int64_t lane_end_idle(struct ed_thread_lane *lane, int64_t now_ns)
{
        while (!ed_list_is_empty(&lane->idle)) {
                struct ed_thread *thread = ed_container_of(lane->idle.prev, struct ed_thread, link);
                int64_t at_ns = ed_time_after(thread->idle_since_ns, lane->pool->idle_ns);

                if (at_ns > now_ns)
                        return at_ns;
                thread_free(thread);
        }
        return INT64_MAX;
}

static void on_idle(struct ed_timer *timer)
{
        eddy_thread_pool *pool = ed_container_of(timer, eddy_thread_pool, idle_timer);
        int64_t now_ns = ed_loop_now(pool->loop), next_ns = INT64_MAX;

        ed_quiet_timer_fired(pool->loop);
        for (int i = 0; i < ED_LANES; i++) {
                int64_t at_ns = lane_end_idle(&pool->lanes[i], now_ns);

                next_ns = at_ns < next_ns ? at_ns : next_ns;
        }
        if (next_ns < INT64_MAX)
                ed_quiet_timer_arm(pool->loop, &pool->idle_timer, next_ns);
}

/* --- jobs --- */

static void on_done(struct ed_target *target, unsigned events);

static struct ed_thread_job *unqueue(struct ed_list *link)
{
        struct ed_thread_job *job = ed_container_of(link, struct ed_thread_job, link);

        ed_list_remove(&job->link);
        job->lane->queued_count--;
        return job;
}

static void thread_run(struct ed_thread *thread, struct ed_thread_job *job)
{
        eddy_thread_pool *pool = thread->lane->pool;
        struct ed_sys *sys = pool->loop->sys;

        thread->job = job;
        ed_list_push_back(&thread->lane->busy, &thread->link);
        job->thread = thread;
        job->call->begun = true;
        pool->running++;
        pool->loop->waits++;
        sys->worker->run(sys, thread->worker, &job->base);
}

/* Returns an idle or a new thread.  Errors: -EAGAIN, -ENOMEM. */
static int thread_get(struct ed_thread_lane *lane, struct ed_thread **ret_thread)
{
        struct ed_list *link = ed_list_pop_front(&lane->idle);

        if (link) {
                *ret_thread = ed_container_of(link, struct ed_thread, link);
                return 0;
        }
        return lane->threads < lane->threads_max ? thread_new(lane, ret_thread) : -EAGAIN;
}

int ed_thread_pool_add(eddy_thread_pool *pool, unsigned which, struct ed_thread_job *job)
{
        struct ed_thread_lane *lane = &pool->lanes[which];
        struct ed_thread *thread;
        int err = 0;

        if (pool->state != ED_POOL_OPEN)
                return EDDY_E_THREAD_POOL_CLOSED;
        if (pool->loop != job->call->task->loop)
                return EDDY_E_RUN_OTHER_LOOP;
        job->lane = lane;
        job->base.done.on_events = on_done;
        ed_list_push_back(&lane->queued, &job->link);
        lane->queued_count++;
        /* If starting a thread failed earlier, older jobs are in the queue and go first. */
        while (!ed_list_is_empty(&lane->queued) && (err = thread_get(lane, &thread)) == 0)
                thread_run(thread, unqueue(lane->queued.next));
        if (lane->threads > 0 && lane->queued_count <= pool->queued_max)
                return 0;
        (void) unqueue(&job->link);
        return lane->threads > 0 ? -EAGAIN : err;
}

void ed_thread_pool_drop(struct ed_thread_job *job)
{
        (void) unqueue(&job->link);
        ed_thread_job_free(job);
}

/* --- closing --- */

/* A cancel ends the wait for jobs, but the wait still returns 0. */
static bool close_abort(void *arg)
{
        ed_alarm_ring(arg);
        return false;
}

static void wait_for_jobs(eddy_thread_pool *pool, int64_t close_ns)
{
        struct ed_task *task = ed_task_running();
        struct ed_alarm alarm;

        if (!task || task->inner->flags & ED_NODE_CANCELLED)
                return;
        ed_alarm_set(&alarm, task, close_ns);
        pool->closer = &alarm;
        (void) ed_suspend_park(task, "the jobs of a thread pool that closes", close_abort, &alarm);
        pool->closer = NULL;
}

/* Drops the jobs that have not started. */
static void drop_queued(struct ed_thread_lane *lane)
{
        while (!ed_list_is_empty(&lane->queued)) {
                struct ed_thread_job *job = unqueue(lane->queued.next);

                ed_suspend_wake(job->call->task, EDDY_E_THREAD_POOL_CLOSED);
                ed_thread_job_free(job);
        }
}

static void report_abandoned(struct ed_loop *loop, const struct ed_thread_job *job)
{
        char name[64], text[192];

        ed_sys_function((const void *) job->fn, job->text, name, sizeof(name));
        snprintf(text, sizeof(text),
                 "the job %s did not stop when its thread pool closed, and was abandoned; let it "
                 "check eddy_thread_is_stopping()",
                 name);
        ed_report_task(loop, EDDY_REPORT_THREAD, 0, NULL, text);
}

/* Abandons a thread with its job, which has no waiting caller. */
static void thread_leave(struct ed_thread *thread)
{
        eddy_thread_pool *pool = thread->lane->pool;
        struct ed_sys *sys = pool->loop->sys;

        pool->loop->waits--;
        pool->running--;
        pool->abandoned--;
        sys->worker->abandon(sys, thread->worker);
        thread_forget(thread);
}

/* Asks running jobs to stop, and abandons those without a waiting caller.  Returns their number. */
static int stop_running(struct ed_thread_lane *lane)
{
        int n = 0;

        ed_list_each_safe (link, &lane->busy) {
                struct ed_thread *thread = ed_container_of(link, struct ed_thread, link);
                struct ed_thread_job *job = thread->job;

                ed_thread_job_stop(job);
                report_abandoned(lane->pool->loop, job);
                n++;
                if (!job->call)
                        thread_leave(thread);
        }
        return n;
}

/* Closes a pool; does not wait for jobs if 'close_ns' is 0 or less. */
static int pool_close(eddy_thread_pool *pool, int64_t close_ns)
{
        int n = 0;

        pool->state = ED_POOL_CLOSING;
        ed_quiet_timer_cancel(pool->loop, &pool->idle_timer);
        for (int i = 0; i < ED_LANES; i++)
                (void) lane_end_idle(&pool->lanes[i], INT64_MAX);
        if (pool->running > 0 && close_ns > 0)
                wait_for_jobs(pool, close_ns);
        for (int i = 0; i < ED_LANES; i++) {
                drop_queued(&pool->lanes[i]);
                n += stop_running(&pool->lanes[i]);
        }
        pool->state = ED_POOL_CLOSED;
        return n;
}

/* A child of fork() does not have the pool's threads, so the pool must not be touched. */
static bool is_forked(const eddy_thread_pool *pool)
{
        return ed_sys_forked_since(pool->forks);
}

int eddy_thread_pool_shutdown(eddy_thread_pool *pool)
{
        ed_task_check_stack_here();
        if (!pool || is_forked(pool))
                return 0;
        return pool->state == ED_POOL_OPEN ? pool_close(pool, pool->close_ns) : 0;
}

static void pool_destroy(eddy_thread_pool *pool)
{
        ed_list_remove(&pool->link);
        ed_free(pool);
}

void eddy_thread_pool_close(eddy_thread_pool *pool)
{
        if (!pool || is_forked(pool))
                return;
        if (pool->state != ED_POOL_CLOSED && !ed_thread_is_self(pool->loop->thread)) {
                ed_misuse_closed_elsewhere("a thread pool");
                return;
        }
        if (pool->state == ED_POOL_CLOSING) {
                (void) ed_misuse_refuse(pool->loop, ed_task_running(),
                                        "called eddy_thread_pool_close() while another task shuts "
                                        "the pool down");
                return;
        }
        ed_debug_gone(pool);
        (void) eddy_thread_pool_shutdown(pool);
        pool->freed = true;
        if (pool->running == 0)
                pool_destroy(pool);
}

void ed_thread_pool_let_go(struct ed_thread_job *job)
{
        eddy_thread_pool *pool = job->lane->pool;

        job->call = NULL;
        pool->abandoned++;
        if (pool->state != ED_POOL_CLOSED)
                return;
        thread_leave(job->thread);
        if (pool->freed && pool->running == 0)
                pool_destroy(pool);
}

/* A job has ended: the thread takes the next one. */
static void on_done(struct ed_target *target, unsigned events)
{
        struct ed_job *base = ed_container_of(target, struct ed_job, done);
        struct ed_thread_job *job = ed_container_of(base, struct ed_thread_job, base);
        struct ed_thread *thread = job->thread;
        struct ed_thread_lane *lane = thread->lane;
        eddy_thread_pool *pool = lane->pool;

        (void) events;
        pool->running--;
        pool->loop->waits--;
        ed_list_remove(&thread->link);
        thread->job = NULL;
        if (job->call)
                ed_suspend_wake(job->call->task, job->result);
        else
                pool->abandoned--;
        ed_thread_job_free(job);
        if (!ed_list_is_empty(&lane->queued))
                thread_run(thread, unqueue(lane->queued.next));
        else if (pool->state != ED_POOL_OPEN)
                thread_free(thread);
        else
                thread_idle(thread);
        if (pool->running > 0)
                return;
        if (pool->closer)
                ed_alarm_ring(pool->closer);
        if (pool->freed)
                pool_destroy(pool);
}

/* --- the pools of a loop --- */

struct pools {
        struct ed_loop_local local;
        struct ed_list all;
        eddy_thread_pool *own; /* the run's own pool; NULL: not made yet */
};

static const char pools_key;

static void pools_free(struct ed_loop_local *local)
{
        ed_free(ed_container_of(local, struct pools, local));
}

static struct pools *pools_find(struct ed_loop *loop)
{
        struct ed_loop_local *local = ed_loop_local_find(loop, &pools_key);

        return local ? ed_container_of(local, struct pools, local) : NULL;
}

/* Like pools_find(), but makes the struct at first use.  Returns NULL if memory runs out. */
static struct pools *pools_get(struct ed_loop *loop)
{
        struct pools *pools = pools_find(loop);

        if (pools)
                return pools;
        pools = ed_alloc_zero(sizeof(*pools));
        if (!pools)
                return NULL;
        pools->local.key = &pools_key;
        pools->local.free = pools_free;
        ed_list_init(&pools->all);
        ed_loop_local_add(loop, &pools->local);
        return pools;
}

static void lane_init(struct ed_thread_lane *lane, eddy_thread_pool *pool, const char *name,
                      uint32_t threads_max)
{
        lane->pool = pool;
        lane->name = name;
        lane->threads_max = threads_max;
        ed_list_init(&lane->queued);
        ed_list_init(&lane->idle);
        ed_list_init(&lane->busy);
}

static uint32_t threads_default(void)
{
        uint32_t n = eddy_cpu_count() + THREADS_SPARE;

        return n < THREADS_DEFAULT_MAX ? n : THREADS_DEFAULT_MAX;
}

static void pool_init(eddy_thread_pool *pool, struct ed_loop *loop,
                      const struct eddy_thread_pool_opts *opts)
{
        uint32_t threads_max = opts->threads_max ? opts->threads_max : threads_default();
        uint32_t slow_max = opts->slow_max ? opts->slow_max : threads_max / SLOW_SHARE;

        pool->loop = loop;
        pool->forks = ed_sys_forks();
        pool->queued_max = opts->queued_max ? opts->queued_max : QUEUED;
        pool->idle_ns = opts->idle_ns ? opts->idle_ns : IDLE_NS;
        pool->close_ns = opts->close_ns ? opts->close_ns : CLOSE_NS;
        lane_init(&pool->lanes[ED_LANE_QUICK], pool, "eddy-job", threads_max);
        lane_init(&pool->lanes[ED_LANE_SLOW], pool, "eddy-slow-job", slow_max ? slow_max : 1);
        ed_timer_init(&pool->idle_timer, on_idle);
}

int eddy_thread_pool_new(const struct eddy_thread_pool_opts *opts, eddy_thread_pool **ret_pool)
{
        static const struct eddy_thread_pool_opts none;
        struct ed_loop *loop = ed_loop_current;
        eddy_thread_pool *pool;
        struct pools *pools;

        if (!opts)
                opts = &none;
        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        if (opts->threads_max > EDDY_THREADS_MAX || opts->slow_max > EDDY_THREADS_MAX ||
            opts->queued_max > EDDY_THREAD_QUEUED_MAX || opts->idle_ns < 0)
                return -EINVAL;
        pools = pools_get(loop);
        pool = pools ? ed_alloc_zero(sizeof(*pool)) : NULL;
        if (!pool)
                return -ENOMEM;
        pool_init(pool, loop, opts);
        ed_list_push_back(&pools->all, &pool->link);
        ed_debug_made(pool, ED_DEBUG_POOL);
        *ret_pool = pool;
        return 0;
}

int ed_thread_pool_of_run(struct ed_loop *loop, eddy_thread_pool **ret_pool)
{
        struct pools *pools = pools_get(loop);
        int err = 0;

        if (!pools)
                return -ENOMEM;
        if (!pools->own)
                err = eddy_thread_pool_new(NULL, &pools->own);
        if (err == 0)
                *ret_pool = pools->own;
        return err;
}

void ed_thread_pools_end(struct ed_loop *loop, int64_t close_ns)
{
        struct pools *pools = pools_find(loop);
        struct ed_list *link;

        if (!pools)
                return;
        if (pools->own) {
                (void) pool_close(pools->own, close_ns);
                eddy_thread_pool_close(pools->own);
                pools->own = NULL;
        }
        /* The program must still free these pools. */
        while ((link = ed_list_pop_front(&pools->all))) {
                eddy_thread_pool *pool = ed_container_of(link, eddy_thread_pool, link);

                if (pool->state == ED_POOL_OPEN)
                        (void) pool_close(pool, -1);
        }
}

static void info_add(const eddy_thread_pool *pool, struct eddy_thread_pool_info *info)
{
        info->running += pool->running;
        info->abandoned += pool->abandoned;
        for (int i = 0; i < ED_LANES; i++) {
                info->threads += pool->lanes[i].threads;
                info->queued += pool->lanes[i].queued_count;
        }
}

void eddy_thread_pool_info(const eddy_thread_pool *pool, struct eddy_thread_pool_info *ret_info)
{
        struct pools *pools = pool || !ed_loop_current ? NULL : pools_find(ed_loop_current);

        *ret_info = (struct eddy_thread_pool_info){ 0 };
        if (pool)
                info_add(pool, ret_info);
        for (struct ed_list *link = pools ? pools->all.next : NULL; link && link != &pools->all;
             link = link->next)
                info_add(ed_container_of(link, eddy_thread_pool, link), ret_info);
}
