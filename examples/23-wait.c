/*
 * 23-wait - what is ready after one and a half seconds, and what is not.
 *
 * The deadline of the inner scope ends the wait, not the tasks, which belong to
 * the outer scope and run on.  Then the program decides: it prints the results
 * that are there, and cancels the rest.  Python cancels the rest too, silently,
 * when the loop ends.
 *
 * Run: 23-wait
 * Time: virtual 1.5 s
 * Output:
 *     Task 2 done
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int task1(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_SEC(2));
}

static int task2(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_SEC(1));
}

/* Wait for all, but no longer than that; being late is not an error. */
static int wait_a_while(eddy_task **tasks, size_t n, int64_t timeout_ns)
{
        int err;

        EDDY_SCOPE (scope, &err, .timeout_ns = timeout_ns) {
                err = eddy_wait(tasks, n, EDDY_WAIT_ALL);
        }
        return err == -ETIMEDOUT || err > 0 ? 0 : err;
}

static int run(void *arg)
{
        struct eddy_task_opts first = { .name = "Task 1" }, second = { .name = "Task 2" };
        eddy_task *tasks[2] = { NULL };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start_task(&scope, task1, NULL, &first, &tasks[0]);
        if (err == 0)
                err = eddy_scope_start_task(&scope, task2, NULL, &second, &tasks[1]);
        if (err == 0)
                err = wait_a_while(tasks, 2, EDDY_MS(1500));
        for (int i = 0; i < 2 && err == 0; i++)
                if (eddy_task_is_done(tasks[i]))
                        printf("%s done\n", eddy_task_name(tasks[i]));
        eddy_scope_cancel(&scope);
        err = eddy_scope_end_with(&scope, err);
        eddy_task_release(tasks[0]);
        eddy_task_release(tasks[1]);
        return err;
}

int main(void)
{
        return eddy_run(run, NULL, NULL) == 0 ? 0 : 1;
}
