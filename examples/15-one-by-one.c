/*
 * 15-one-by-one - three waits in a row take as long as their sum.
 *
 * A call that suspends lets other tasks run, but its caller continues only when
 * the call returns.  Nothing here runs at the same time, because no task was
 * started.  Calls with `await` in a row do the same in Python; the next example
 * starts tasks.
 *
 * Run: 15-one-by-one
 * Time: virtual 6 s
 * Output:
 *     delay (seconds=1) started
 *     delay (seconds=1) finished
 *     delay (seconds=3) started
 *     delay (seconds=3) finished
 *     delay (seconds=2) started
 *     delay (seconds=2) finished
 *     elapsed time: 6.0 seconds
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int delay(int seconds)
{
        int err;

        printf("delay (seconds=%d) started\n", seconds);
        err = eddy_sleep(EDDY_SEC(seconds));
        if (err == 0)
                printf("delay (seconds=%d) finished\n", seconds);
        return err;
}

static int run(void *arg)
{
        int64_t start_ns = eddy_now();
        int err = delay(1);

        (void) arg;
        if (err == 0)
                err = delay(3);
        if (err == 0)
                err = delay(2);
        if (err == 0)
                printf("elapsed time: %.1f seconds\n", (double) (eddy_now() - start_ns) / 1e9);
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "15-one-by-one: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
