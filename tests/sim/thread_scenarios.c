/*
 * thread_scenarios.c - programs that call functions on other threads.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "scenario.h"
#include "test.h"

enum { CALLERS = 8 };

/* Runs on a thread of its own where there are such. */
static int do_job(void *arg)
{
        (void) arg;
        return eddy_thread_is_stopping() ? 2 : 1;
}

static void release_job(void *arg)
{
        (void) arg;
        jobs_released++;
}

struct caller {
        eddy_thread_pool *pool;
        uint32_t flags;
};

static int call_job(void *arg)
{
        const struct caller *caller = arg;
        struct eddy_thread_opts opts = { .flags = caller->flags, .release = release_job };
        int result;

        tasks_begun++;
        jobs_called++;
        result = eddy_thread_pool_call(caller->pool, do_job, NULL, &opts);
        tasks_ended++;
        if (result >= 0)
                CHECK(result == 1 || result == 2);
        return result;
}

/* More at once than there are threads, in both lanes. */
static int call_many(eddy_thread_pool *pool)
{
        struct eddy_scope_opts opts = { .timeout_ns = EDDY_MIN(1) };
        int started = 0, err;
        eddy_scope scope;

        eddy_scope_begin(&scope, &opts);
        for (int i = 0; i < CALLERS; i++) {
                struct caller caller = { pool, i % 3 == 0 ? EDDY_THREAD_SLOW : 0 };

                started += eddy_scope_start_copy(&scope, call_job, &caller, sizeof(caller)) == 0;
        }
        err = eddy_scope_end(&scope);
        return err == 0 && started < CALLERS ? -ECANCELED : err;
}

static int call_in_pool(eddy_thread_pool *pool)
{
        struct caller leaving = { pool, EDDY_THREAD_ABANDON };
        int err;

        err = call_many(pool);
        if (err < 0)
                return err;
        err = eddy_call_timeout(call_job, &leaving, EDDY_US(500));
        return err == -ETIMEDOUT || err > 0 ? 0 : err;
}

int scenario_threads(void *arg)
{
        struct eddy_thread_pool_opts opts = { .threads_max = 2, .slow_max = 1 };
        struct caller own = { 0 };
        eddy_thread_pool *pool;
        int err;

        (void) arg;
        err = call_job(&own);
        if (err < 0)
                return err;
        err = eddy_thread_pool_new(&opts, &pool);
        if (err < 0)
                return err;
        err = call_in_pool(pool);
        /* Only a cancelled task leaves jobs behind: it does not wait for them. */
        if (err == 0 && eddy_thread_pool_shutdown(pool) > 0)
                err = -ECANCELED;
        eddy_thread_pool_close(pool);
        return err;
}
