/*
 * 89-close-and-join - computations in worker processes, which print and return no results.
 *
 * Each call has a worker process of its own.  eddy_process_pool_shutdown() refuses further
 * calls and lets the accepted ones continue; eddy_process_pool_join() returns when they have
 * ended.  Each line appears as a whole, because a worker flushes its output after each call.
 *
 * Run: 89-close-and-join | sort
 * Time: wall 0 to 60 s
 * Output:
 *     1 to 12500000: done
 *     12500001 to 25000000: done
 *     25000001 to 37500000: done
 *     37500001 to 50000000: done
 *     all have ended
 *     no more calls: the process pool is closed
 */
#include <math.h>
#include <stdio.h>

#include "eddy/eddy.h"

enum { PARTS = 4, COUNT = 50000000 };

/* In a worker process. */
static int do_math(eddy_process_work *work)
{
        const int *part = eddy_process_work_input(work);
        int from = COUNT / PARTS * *part + 1, to = COUNT / PARTS * (*part + 1);
        volatile double root;

        for (int i = from; i <= to; i++)
                root = sqrt(i);
        (void) root;
        printf("%d to %d: done\n", from, to);
        return 0;
}

struct job {
        eddy_process_pool *pool;
        int part;
};

static int call(void *arg)
{
        struct job *job = arg;
        struct eddy_process_call call = { .fn = do_math,
                                          .input = &job->part,
                                          .input_bytes = sizeof(job->part) };

        return eddy_process_pool_call(job->pool, &call);
}

static int close_and_join(eddy_process_pool *pool)
{
        struct job late = { pool, 0 };
        int err;

        eddy_process_pool_shutdown(pool);
        printf("no more calls: %s\n", eddy_error_text(call(&late)));
        err = eddy_process_pool_join(pool);
        if (err == 0)
                puts("all have ended");
        return err;
}

static int run(void *arg)
{
        struct eddy_process_pool_opts opts = { .workers_max = PARTS };
        EDDY_AUTO(eddy_process_pool) eddy_process_pool *pool = NULL;
        struct job jobs[PARTS];
        int err = eddy_process_pool_open(&opts, &pool);

        (void) arg;
        if (err < 0)
                return err;
        EDDY_SCOPE (scope, &err) {
                for (int i = 0; i < PARTS; i++) {
                        jobs[i] = (struct job){ pool, i };
                        eddy_scope_start(&scope, call, &jobs[i]);
                }
                err = eddy_sleep(0); /* let the calls begin */
                if (err == 0)
                        err = close_and_join(pool);
        }
        return err;
}

int main(void)
{
        int err = eddy_process_pool_prepare();

        if (err == 0)
                err = eddy_run(run, NULL, NULL);
        if (err < 0)
                fprintf(stderr, "89-close-and-join: %s\n", eddy_error_text(err));
        return err < 0;
}
