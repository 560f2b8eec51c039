/*
 * 21-gather-timeout - five seconds for two calls together.
 *
 * A deadline covers all that is called inside, so no way to wait needs a
 * timeout of its own.  When the deadline passes, both calls are cancelled, and
 * have ended before the block is left.  f() was ready in time: its result can
 * still be used.
 *
 * Run: 21-gather-timeout
 * Time: virtual 5 s
 * Output:
 *     oops took longer than 5s!
 *     f was ready, g was not
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int f(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_SEC(4));
}

static int g(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_SEC(6));
}

static int run(void *arg)
{
        struct eddy_call calls[] = { EDDY_CALL(f, NULL), EDDY_CALL(g, NULL) };
        int err;

        (void) arg;
        EDDY_SCOPE (scope, &err, .timeout_ns = EDDY_SEC(5)) {
                err = eddy_gather(calls, 2, 0);
        }
        if (err != -ETIMEDOUT)
                return err;
        puts("oops took longer than 5s!");
        printf("f %s ready, g %s\n", calls[0].result == 0 ? "was" : "was not",
               calls[1].result == 0 ? "was" : "was not");
        return 0;
}

int main(void)
{
        return eddy_run(run, NULL, NULL) == 0 ? 0 : 1;
}
