/*
 * 10-cancel-all - stopping a group of tasks at once.
 *
 * The group is a scope, and cancelling it is one call, however many tasks it
 * has.  eddy_scope_end_with() returns when the last task has cleaned up.  A
 * Python program keeps a list, cancels each task in it, and has to gather the
 * tasks afterwards; otherwise asyncio.run() cancels them a second time, which
 * interrupts a cleanup that waits.
 *
 * eddy_scope_start_copy() gives each task its own copy of the loop's variable.
 *
 * Run: 10-cancel-all
 * Time: virtual 1 s
 * Output:
 *     Starting 0
 *     Starting 1
 *     Starting 2
 *     Cancelled 0
 *     Cancelled 1
 *     Cancelled 2
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int fetch(void *arg)
{
        const int *n = arg;
        int err;

        printf("Starting %d\n", *n);
        err = eddy_sleep(EDDY_SEC(3));
        printf("%s %d\n", err == 0 ? "Finished" : "Cancelled", *n);
        return err;
}

static int stop_early(void *arg)
{
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                eddy_scope_start_copy(&scope, fetch, &i, sizeof(i));
        err = eddy_sleep(EDDY_SEC(1));
        eddy_scope_cancel(&scope);
        return eddy_scope_end_with(&scope, err);
}

int main(void)
{
        int err = eddy_run(stop_early, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "10-cancel-all: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
