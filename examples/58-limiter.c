/*
 * 58-limiter - fifty tasks, never more than ten in any second.
 *
 * All tasks share one limiter.  Each reserves a request before it begins, first
 * come, first served.  A cancelled task has reserved nothing.
 *
 * Run: 58-limiter
 * Time: virtual 4 s
 * Output:
 *     second 0: 10 requests
 *     second 1: 10 requests
 *     second 2: 10 requests
 *     second 3: 10 requests
 *     second 4: 10 requests
 */
#include <stdio.h>

#include "eddy/eddy.h"

static eddy_limiter *limiter;
static int64_t start_ns;
static int requests[10];

static int request(void *arg)
{
        int err = eddy_limiter_reserve(limiter, 1, 0, NULL);

        (void) arg;
        if (err == 0)
                requests[(eddy_now() - start_ns) / EDDY_SEC(1)]++;
        return err;
}

static int start_all(void *arg)
{
        struct eddy_limiter_limit ten = { EDDY_LIMITER_REQUESTS, 10, EDDY_SEC(1) };
        struct eddy_limiter_opts opts = { .limits = &ten, .limits_count = 1 };
        eddy_scope scope;
        int err = eddy_limiter_new(&opts, &limiter);

        (void) arg;
        if (err < 0)
                return err;
        start_ns = eddy_now();
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 50; i++)
                eddy_scope_start(&scope, request, NULL);
        err = eddy_scope_end(&scope);
        for (int i = 0; requests[i] > 0; i++)
                printf("second %d: %d requests\n", i, requests[i]);
        eddy_limiter_close(limiter);
        return err;
}

int main(void)
{
        return eddy_run(start_all, NULL, NULL) == 0 ? 0 : 1;
}
