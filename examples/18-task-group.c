/*
 * 18-task-group - a block that ends when all its tasks have ended.
 *
 * EDDY_SCOPE is to C what `async with TaskGroup()` is to Python.  The tasks run
 * when the block waits for them at its end, so "All tasks created" comes first.
 * If a task failed, the others would be cancelled, and `err` would have the
 * reason.
 *
 * Run: 18-task-group
 * Time: virtual 3 s
 * Output:
 *     All tasks created
 *     Task A completed after 1 seconds
 *     Task B completed after 2 seconds
 *     Task C completed after 3 seconds
 *     All tasks completed
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct job {
        char name;
        int seconds;
};

static int task(void *arg)
{
        const struct job *job = arg;
        int err = eddy_sleep(EDDY_SEC(job->seconds));

        if (err == 0)
                printf("Task %c completed after %d seconds\n", job->name, job->seconds);
        return err;
}

static int run(void *arg)
{
        struct job a = { 'A', 1 }, b = { 'B', 2 }, c = { 'C', 3 };
        int err = 0;

        (void) arg;
        EDDY_SCOPE (group, &err) {
                eddy_scope_start(&group, task, &a);
                eddy_scope_start(&group, task, &b);
                eddy_scope_start(&group, task, &c);
                puts("All tasks created");
        }
        if (err == 0)
                puts("All tasks completed");
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "18-task-group: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
