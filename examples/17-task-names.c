/*
 * 17-task-names - cancelling the one task that would take too long, by its name.
 *
 * The names are given at the start, and copied.  The cancelled task is not
 * joined, and a cancel is not a failure.  The scope still waits until that task
 * has ended, which is at once, because a cancelled sleep returns at once.  In
 * Python nothing waits for such a task before the loop ends.
 *
 * Run: 17-task-names
 * Time: virtual 3 s
 * Output:
 *     delay(seconds=3) started
 *     delay(seconds=1) started
 *     delay(seconds=20000) started
 *     delay(seconds=1) finished
 *     delay(seconds=3) finished
 *     elapsed time: 3.0 seconds
 */
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { COUNT = 3 };

static int delay(void *arg)
{
        int seconds = *(const int *) arg, err;

        printf("delay(seconds=%d) started\n", seconds);
        err = eddy_sleep(EDDY_SEC(seconds));
        if (err == 0)
                printf("delay(seconds=%d) finished\n", seconds);
        return err;
}

static void start_all(eddy_scope *scope, int *seconds, eddy_task **tasks)
{
        for (int i = 0; i < COUNT; i++) {
                char name[32];

                snprintf(name, sizeof(name), "delay %d sec", seconds[i]);
                eddy_scope_start_task(scope, delay, &seconds[i],
                                      &(struct eddy_task_opts){ .name = name }, &tasks[i]);
        }
}

static void join_or_cancel(eddy_task **tasks)
{
        for (int i = 0; i < COUNT; i++) {
                if (!tasks[i]) /* not started; the scope knows why */
                        continue;
                if (strcmp(eddy_task_name(tasks[i]), "delay 20000 sec") == 0)
                        eddy_task_cancel(tasks[i]);
                else
                        (void) eddy_task_join(tasks[i], NULL);
        }
}

static int run(void *arg)
{
        int seconds[COUNT] = { 3, 1, 20000 }, err;
        eddy_task *tasks[COUNT] = { NULL };
        int64_t start_ns = eddy_now();
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        start_all(&scope, seconds, tasks);
        join_or_cancel(tasks);
        err = eddy_scope_end(&scope);
        for (int i = 0; i < COUNT; i++)
                eddy_task_release(tasks[i]);
        if (err == 0)
                printf("elapsed time: %.1f seconds\n", (double) (eddy_now() - start_ns) / 1e9);
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "17-task-names: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
