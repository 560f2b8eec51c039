/*
 * 32-shield - waiting five seconds for a task that needs ten, and then for its
 * end.
 *
 * The deadline belongs to the wait, not to the task.  When the deadline passes,
 * the join returns and the task runs on, in the scope that owns it.  Python's
 * wait_for() would cancel the task unless it is wrapped in shield(); in eddy
 * cancelling a wait never cancels the task.
 *
 * EDDY_SCOPE_SHIELD has another purpose: cleanup that must continue in a task
 * that is itself cancelled.
 *
 * Run: 32-shield
 * Time: virtual 10 s
 * Output:
 *     sleeping for 10 second(s)
 *     Task took longer than five seconds, it will finish soon!
 *     finished sleeping for 10 second(s)
 *     10
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int delay(void *arg)
{
        int seconds = *(const int *) arg, err;

        printf("sleeping for %d second(s)\n", seconds);
        err = eddy_sleep(EDDY_SEC(seconds));
        if (err < 0)
                return err;
        printf("finished sleeping for %d second(s)\n", seconds);
        return seconds;
}

static int join_within(eddy_task *task, int64_t timeout_ns, int *ret_result)
{
        int err;

        EDDY_SCOPE (scope, &err, .timeout_ns = timeout_ns) {
                err = eddy_task_join(task, ret_result);
        }
        return err;
}

static int wait_twice(eddy_task *task)
{
        int result, err = join_within(task, EDDY_SEC(5), &result);

        if (err == -ETIMEDOUT) {
                puts("Task took longer than five seconds, it will finish soon!");
                err = eddy_task_join(task, &result);
        }
        if (err == 0)
                printf("%d\n", result);
        return err;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_task) eddy_task *task = NULL;
        int seconds = 10, err;

        (void) arg;
        EDDY_SCOPE (scope, &err) {
                err = eddy_scope_start_task(&scope, delay, &seconds, NULL, &task);
                if (err == 0)
                        err = wait_twice(task);
        }
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "32-shield: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
