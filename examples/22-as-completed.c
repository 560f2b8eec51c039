/*
 * 22-as-completed - results in the order they come.
 *
 * The loop gets the tasks themselves, so it knows which task has finished.  A
 * failed task stops nothing: the others are still returned.  Handling a result
 * may suspend; tasks that finish meanwhile wait for their turn.
 *
 * Run: 22-as-completed
 * Time: virtual 2 s
 * Output:
 *     Task 2 done
 *     Task 1 done
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

static int say_as_they_come(eddy_task **tasks, size_t n)
{
        eddy_as_completed done;
        eddy_task *task;
        int result, err = eddy_as_completed_begin(&done, tasks, n);

        if (err < 0)
                return err;
        while ((err = eddy_as_completed_next(&done, &task)) > 0)
                if (eddy_task_result(task, &result) == 0)
                        printf("%s %s\n", eddy_task_name(task), result == 0 ? "done" : "failed");
        eddy_as_completed_end(&done);
        return err;
}

static int run(void *arg)
{
        struct eddy_task_opts first = { .name = "Task 1" }, second = { .name = "Task 2" };
        eddy_task *tasks[2] = { NULL };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        err = eddy_scope_start_task(&scope, task1, NULL, &first, &tasks[0]);
        if (err == 0)
                err = eddy_scope_start_task(&scope, task2, NULL, &second, &tasks[1]);
        if (err == 0)
                err = say_as_they_come(tasks, 2);
        err = eddy_scope_end_with(&scope, err);
        eddy_task_release(tasks[0]);
        eddy_task_release(tasks[1]);
        return err;
}

int main(void)
{
        return eddy_run(run, NULL, NULL) == 0 ? 0 : 1;
}
