/*
 * 22-as-completed - results in the order they come.
 *
 * A task of eddy returns an int; a larger result, here a text, goes into memory of the caller.
 * The loop gets the task that has finished, and uses its result at once, without waiting for the
 * slowest task.
 *
 * A failed task stops no other task: the others are still returned.  Handling a result may
 * suspend; tasks that finish meanwhile wait for their turn.
 *
 * Run: 22-as-completed
 * Time: virtual 2 s
 * Output:
 *     Task 2 done
 *     Task 1 done
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { COUNT = 2 };

static int task1(void *arg)
{
        const char **ret_text = arg;
        int err = eddy_sleep(EDDY_SEC(2));

        if (err == 0)
                *ret_text = "Task 1 done";
        return err;
}

static int task2(void *arg)
{
        const char **ret_text = arg;
        int err = eddy_sleep(EDDY_SEC(1));

        if (err == 0)
                *ret_text = "Task 2 done";
        return err;
}

static int print_as_they_come(eddy_task **tasks, const char **texts)
{
        EDDY_AUTO(eddy_as_completed) eddy_as_completed done = { 0 };
        int err = eddy_as_completed_begin(&done, tasks, COUNT);
        eddy_task *task;

        while (err >= 0 && (err = eddy_as_completed_next(&done, &task)) > 0) {
                int i = task == tasks[0] ? 0 : 1, result = 0;

                err = eddy_task_result(task, &result);
                puts(result < 0 ? eddy_error_text(result) : texts[i]);
        }
        return err;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_task) eddy_task *first = NULL, *second = NULL;
        const char *texts[COUNT] = { NULL };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        err = eddy_scope_start_task(&scope, task1, &texts[0], NULL, &first);
        if (err == 0)
                err = eddy_scope_start_task(&scope, task2, &texts[1], NULL, &second);
        if (err == 0)
                err = print_as_they_come((eddy_task *[]){ first, second }, texts);
        return eddy_scope_end_with(&scope, err);
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "22-as-completed: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
