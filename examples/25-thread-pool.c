/*
 * 25-thread-pool - a long computation, divided among the processors.
 *
 * The loop computes nothing itself and would be free for other tasks.  Each
 * part writes to its own struct, so the threads share nothing.
 * eddy_thread_is_stopping() lets a part end early when its caller is cancelled.
 *
 * Python needs processes for this, because its threads take turns.  Threads in
 * C run at the same time, and a pool of them needs no copying and no second
 * process.
 *
 * Run: 25-thread-pool
 * Time: wall 0 s
 * Output:
 *     333332833333500000
 */
#include <inttypes.h>
#include <stdio.h>

#include "eddy/eddy.h"

enum { PARTS = 4, COUNT = 1000000 };

struct part {
        eddy_thread_pool *pool;
        uint64_t from, to; /* 'to' is not in it */
        uint64_t sum;
};

/* On a thread of the pool. */
static int sum_squares(void *arg)
{
        struct part *part = arg;
        uint64_t sum = 0;

        for (uint64_t i = part->from; i < part->to; i++) {
                if (i % 65536 == 0 && eddy_thread_is_stopping())
                        return -ECANCELED;
                sum += i * i;
        }
        part->sum = sum;
        return 0;
}

static int sum_in_pool(void *arg)
{
        struct part *part = arg;

        return eddy_thread_pool_call(part->pool, sum_squares, part, NULL);
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_thread_pool) eddy_thread_pool *pool = NULL;
        struct eddy_thread_pool_opts opts = { .threads_max = eddy_cpu_count() };
        struct eddy_call calls[PARTS];
        struct part parts[PARTS];
        uint64_t sum = 0;
        int err = eddy_thread_pool_new(&opts, &pool);

        (void) arg;
        if (err < 0)
                return err;
        for (uint64_t i = 0; i < PARTS; i++) {
                parts[i] = (struct part){ pool, COUNT * i / PARTS, COUNT * (i + 1) / PARTS, 0 };
                calls[i] = EDDY_CALL(sum_in_pool, &parts[i]);
        }
        err = eddy_gather(calls, PARTS, 0);
        if (err < 0)
                return err;
        for (int i = 0; i < PARTS; i++)
                sum += parts[i].sum;
        printf("%" PRIu64 "\n", sum);
        return 0;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "25-thread-pool: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
