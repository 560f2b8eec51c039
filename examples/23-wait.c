/*
 * 23-wait - what is ready after one and a half seconds, and what is not.
 *
 * The deadline of the inner scope ends the wait, not the tasks, which belong to the outer scope
 * and run on.  Then the program decides: it prints the results that are ready, and cancels the
 * rest.  Python also cancels the rest, without a message, when the loop ends.
 *
 * Run: 23-wait
 * Time: virtual 1.5 s
 * Output:
 *     Task 2 done
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

/* Waits for all, but no longer than 'timeout_ns', and prints the results that are there. */
static int print_what_is_ready(eddy_task **tasks, const char **texts, int64_t timeout_ns)
{
        int err;

        EDDY_SCOPE (scope, &err, .timeout_ns = timeout_ns) {
                err = eddy_wait(tasks, COUNT, EDDY_WAIT_ALL);
        }
        if (err < 0 && err != -ETIMEDOUT)
                return err;
        for (int i = 0; i < COUNT; i++)
                if (eddy_task_is_done(tasks[i]))
                        puts(texts[i]);
        return 0;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_task) eddy_task *first = NULL, *second = NULL;
        const char *texts[COUNT] = { NULL };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start_task(&scope, task1, &texts[0], NULL, &first);
        if (err == 0)
                err = eddy_scope_start_task(&scope, task2, &texts[1], NULL, &second);
        if (err == 0)
                err = print_what_is_ready((eddy_task *[]){ first, second }, texts, EDDY_MS(1500));
        eddy_scope_cancel(&scope);
        return eddy_scope_end_with(&scope, err);
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "23-wait: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
