/*
 * calls_threads.c - the worlds of functions on other threads, of pools that
 * close, and of tasks started from elsewhere; see every_call.h.
 */
#include "every_call.h"
#include "loop/loop.h"

enum { JOBS = 16 };

/* Theirs, not the callers': they may be abandoned. */
struct job {
        int begun, released;
        uint32_t flags;
};

static struct {
        eddy_thread_pool *pool;
        struct job jobs[JOBS];
        int count, callers;
        bool closing, closed;
} plant;

static void plant_begin(void)
{
        memset(&plant, 0, sizeof(plant));
        ed_sim_job_ns(ed_loop_current->sys, EDDY_MS(1 + world_chance(2)));
}

static void plant_open(void)
{
        struct eddy_thread_pool_opts opts = {
                .threads_max = 1,
                .slow_max = 1,
                .close_ns = world_chance(4) == 0 ? -1 : world_delay_ns(),
        };

        plant_begin();
        CHECK_EQ(eddy_thread_pool_new(&opts, &plant.pool), 0);
}

/* Each job was called at most once. */
static void check_jobs(void)
{
        for (int i = 0; i < plant.count; i++)
                CHECK(plant.jobs[i].begun <= 1);
}

static int do_job(void *arg)
{
        struct job *job = arg;

        job->begun++;
        return eddy_thread_is_stopping() ? 2 : 1;
}

static void release_job(void *arg)
{
        struct job *job = arg;

        CHECK_EQ(++job->released, 1);
        jobs_released++;
}

/* --- the run's own pool --- */

static int call_thread(void *arg)
{
        struct job job = { 0 };
        int result = eddy_to_thread(do_job, &job);

        (void) arg;
        CHECK_EQ(job.begun, result > 0);
        CHECK(result == 1 || result == 2 || result == -ECANCELED);
        return result;
}

static int call_threads(void *arg)
{
        for (int i = 0; i < 2; i++) {
                world_pause();
                (void) victim_call(call_thread, arg);
        }
        return 0;
}

static int world_to_thread(void *arg)
{
        int n = 2 + (int) world_chance(3);

        plant_begin();
        world_begin(2 * n);
        world_run(call_threads, arg, n);
        return 0;
}
EVERY_POINT(to_thread, eddy_to_thread)

/* --- a pool of few threads, where jobs wait --- */

static int call_pool(void *arg)
{
        struct job *job = &plant.jobs[plant.count++];
        struct eddy_thread_opts opts = { .release = release_job };
        int result;

        (void) arg;
        CHECK(plant.count <= JOBS);
        opts.flags = (world_chance(2) ? EDDY_THREAD_ABANDON : 0) |
                     (world_chance(3) == 0 ? EDDY_THREAD_SLOW : 0);
        jobs_called++;
        result = eddy_thread_pool_call(plant.pool, do_job, job, &opts);
        if (result > 0)
                CHECK(job->begun == 1 && job->released == 1);
        else if (result == EDDY_E_THREAD_POOL_CLOSED)
                CHECK(plant.closing && job->begun == 0 && job->released == 1);
        else
                CHECK_EQ(result, -ECANCELED);
        /* What was not abandoned is over. */
        if (!(opts.flags & EDDY_THREAD_ABANDON))
                CHECK(job->released == 1 && job->begun == (result > 0));
        return result;
}

static int call_as_victim(void *arg)
{
        world_pause();
        (void) victim_call(call_pool, arg);
        plant.callers--;
        return 0;
}

static int call_as_partner(void *arg)
{
        world_pause();
        /* Who frees it while it is not yet called, is not to find it called. */
        if (!plant.closing)
                CHECK(call_pool(arg) != -ECANCELED);
        plant.callers--;
        return 0;
}

static int close_pool(void *arg)
{
        int n;

        (void) arg;
        plant.closing = true;
        n = eddy_thread_pool_shutdown(plant.pool);
        CHECK(n >= 0 && n <= 2);
        CHECK_EQ(eddy_thread_pool_shutdown(plant.pool), 0);
        plant.closed = true;
        return n;
}

static int close_some_time(void *arg)
{
        world_pause();
        (void) close_pool(arg);
        return 0;
}

static int world_pool_call(void *arg)
{
        int n = 1 + (int) world_chance(5);
        eddy_scope scope;

        plant_open();
        world_begin(n);
        plant.callers = n;
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, call_as_victim, arg, n);
        if (world_chance(3) == 0)
                world_start(&scope, close_some_time, NULL, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        plant.closing = true;
        eddy_thread_pool_close(plant.pool);
        check_jobs();
        return 0;
}
EVERY_POINT(pool_call, eddy_thread_pool_call)

static int close_as_victim(void *arg)
{
        world_pause();
        (void) victim_call(close_pool, arg);
        return 0;
}

/* Some of the callers are cancelled with it, at times, and none waits for ever. */
static int world_pool_close(void *arg)
{
        int n = 1 + (int) world_chance(4);
        eddy_scope scope;

        plant_open();
        world_begin(1);
        plant.callers = n;
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, close_as_victim, arg, 1);
        world_start(&scope, world_chance(2) ? call_as_partner : call_as_victim, arg, n);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(plant.closed);
        eddy_thread_pool_close(plant.pool);
        check_jobs();
        return 0;
}
EVERY_POINT(pool_close, eddy_thread_pool_shutdown)

static int free_pool(void *arg)
{
        (void) arg;
        plant.closing = true;
        eddy_thread_pool_close(plant.pool);
        plant.closed = true;
        return 0;
}

static int free_as_victim(void *arg)
{
        world_pause();
        (void) victim_call(free_pool, arg);
        return 0;
}

static int world_pool_free(void *arg)
{
        int n = 1 + (int) world_chance(4);
        eddy_scope scope;

        plant_open();
        world_begin(1);
        plant.callers = n;
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, free_as_victim, arg, 1);
        world_start(&scope, call_as_partner, arg, n);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(plant.closed);
        check_jobs();
        return 0;
}
EVERY_POINT(pool_free, eddy_thread_pool_close)

/* --- tasks started as if from another thread --- */

static struct {
        eddy_remote *remote;
        bool begun, ended, cancelled;
        int result;
} guest;

static int be_guest(void *arg)
{
        int err;

        (void) arg;
        guest.begun = true;
        err = eddy_sleep(world_delay_ns());
        guest.ended = true;
        guest.result = err < 0 ? err : 7;
        return guest.result;
}

static int await_guest(void *arg)
{
        int result = 1000, err = eddy_remote_wait(guest.remote, &result);

        (void) arg;
        if (err == 0)
                CHECK(guest.ended && result == guest.result);
        else
                CHECK_EQ(result, 1000);
        return err;
}

static int await_as_victim(void *arg)
{
        int err;

        world_pause();
        err = victim_call(await_guest, arg);
        CHECK(err == 0 || err == -ECANCELED);
        return 0;
}

static int cancel_guest(void *arg)
{
        (void) arg;
        world_pause();
        guest.cancelled = true;
        eddy_remote_cancel(guest.remote);
        return 0;
}

static int world_remote(void *arg)
{
        int n = 1 + (int) world_chance(3);
        eddy_scope scope;

        memset(&guest, 0, sizeof(guest));
        world_begin(n);
        CHECK_EQ(eddy_loop_start_threadsafe(eddy_loop_current(), be_guest, NULL, &guest.remote), 0);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, await_as_victim, arg, n);
        if (world_chance(3) == 0)
                world_start(&scope, cancel_guest, NULL, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(await_guest(NULL), 0);
        /* No cancel of a wait reached it. */
        CHECK(guest.result == 7 || guest.cancelled);
        eddy_remote_release(guest.remote);
        return 0;
}
EVERY_POINT(remote, eddy_remote_wait)
