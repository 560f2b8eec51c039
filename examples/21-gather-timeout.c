/*
 * 21-gather-timeout - five seconds for two calls together.
 *
 * A deadline covers all that is called inside, so no waiting call needs a timeout of its own.
 * If both calls are ready in time, both results are used.  If the deadline passes, the call that
 * is not ready is cancelled, and has ended before the block is left.
 *
 * The second time, f() is ready after 4 seconds, and its result can still be used.  In Python
 * this needs a task for each call, because wait_for() drops the results of gather().
 *
 * Run: 21-gather-timeout
 * Time: virtual 7 s
 * Output:
 *     f took 1 s, g took 2 s
 *     oops took longer than 5s!
 *     f took 4 s, g was cancelled
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct job {
        int seconds;
        char result[16];
};

static int work(void *arg)
{
        struct job *job = arg;
        int err = eddy_sleep(EDDY_SEC(job->seconds));

        if (err == 0)
                snprintf(job->result, sizeof(job->result), "took %d s", job->seconds);
        return err;
}

static int both_within_five(int f_seconds, int g_seconds)
{
        struct job f = { f_seconds, "was cancelled" }, g = { g_seconds, "was cancelled" };
        struct eddy_call calls[] = { EDDY_CALL(work, &f), EDDY_CALL(work, &g) };
        int err;

        EDDY_SCOPE (scope, &err, .timeout_ns = EDDY_SEC(5)) {
                err = eddy_gather(calls, 2, 0);
        }
        if (err == -ETIMEDOUT)
                puts("oops took longer than 5s!");
        else if (err < 0)
                return err;
        printf("f %s, g %s\n", f.result, g.result);
        return 0;
}

static int run(void *arg)
{
        int err = both_within_five(1, 2);

        (void) arg;
        return err < 0 ? err : both_within_five(4, 6);
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "21-gather-timeout: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
