/*
 * 16-tasks - the same three waits as tasks take as long as the longest.
 *
 * A started task does not run at once, but only when its starter suspends, here
 * in the first join, so "before first await" comes before any "started".
 * create_task() does the same.  Joining in order takes no extra time: the third
 * task has finished before its join.  A handle outlives its task, until it is
 * released.
 *
 * Run: 16-tasks
 * Time: virtual 3 s
 * Output:
 *     before first await
 *     delay (seconds=1) started
 *     delay (seconds=3) started
 *     delay (seconds=2) started
 *     delay (seconds=1) finished
 *     after first_task
 *     delay (seconds=2) finished
 *     delay (seconds=3) finished
 *     after second_task
 *     elapsed time: 3.0 seconds
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int delay(void *arg)
{
        int seconds = *(const int *) arg, err;

        printf("delay (seconds=%d) started\n", seconds);
        err = eddy_sleep(EDDY_SEC(seconds));
        if (err == 0)
                printf("delay (seconds=%d) finished\n", seconds);
        return err;
}

/* Failures of the tasks need no look here: they cancel the scope, and end it. */
static void join_in_order(eddy_task *first, eddy_task *second, eddy_task *third)
{
        puts("before first await");
        if (eddy_task_join(first, NULL) == 0)
                puts("after first_task");
        if (eddy_task_join(second, NULL) == 0)
                puts("after second_task");
        (void) eddy_task_join(third, NULL);
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_task) eddy_task *first = NULL, *second = NULL, *third = NULL;
        int one = 1, two = 2, three = 3, err;
        int64_t start_ns = eddy_now();
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        if (eddy_scope_start_task(&scope, delay, &one, NULL, &first) == 0 &&
            eddy_scope_start_task(&scope, delay, &three, NULL, &second) == 0 &&
            eddy_scope_start_task(&scope, delay, &two, NULL, &third) == 0)
                join_in_order(first, second, third);
        err = eddy_scope_end(&scope);
        if (err == 0)
                printf("elapsed time: %.1f seconds\n", (double) (eddy_now() - start_ns) / 1e9);
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "16-tasks: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
