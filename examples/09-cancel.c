/*
 * 09-cancel - asking a task to stop, and waiting until it has.
 *
 * slow_task() itself cleans up.  Its sleep returns -ECANCELED, it prints its
 * last line and passes the error on.  A join keeps two results apart: it
 * returns that of the wait, and stores that of the task.
 *
 * In Python, a task that catches CancelledError and returns loses the cancel,
 * and looks as if it had not been cancelled.  Here a cancel is a state, not an
 * exception: if slow_task() continued, its next wait would return -ECANCELED
 * again.
 *
 * Run: 09-cancel
 * Time: virtual 2 s
 * Output:
 *     Starting task
 *     Task was cancelled
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int slow_task(void *arg)
{
        int err;

        (void) arg;
        puts("Starting task");
        err = eddy_sleep(EDDY_SEC(5));
        if (err == 0)
                puts("Task completed successfully");
        else if (err == -ECANCELED)
                puts("Task was cancelled");
        return err;
}

/* Cancels the task after two seconds; 0 if that is how it ended. */
static int cancel_later(eddy_task *task)
{
        int result, err = eddy_sleep(EDDY_SEC(2));

        if (err < 0)
                return err;
        eddy_task_cancel(task);
        err = eddy_task_join(task, &result);
        if (err < 0)
                return err;
        return result == -ECANCELED ? 0 : -EINVAL;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_task) eddy_task *task = NULL;
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start_task(&scope, slow_task, NULL, NULL, &task);
        if (err == 0)
                err = cancel_later(task);
        return eddy_scope_end_with(&scope, err); /* a cancelled task is not a failure */
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "09-cancel: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
