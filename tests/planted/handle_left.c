/*
 * handle_left.c - the handle of a task, which nobody releases.  Debug mode says
 * whose it is, and where the task was started.
 *
 * Environment: EDDY_DEBUG=1
 * Ends: 0
 * Says: eddy: left when the run ended:
 * Says:   the handle of task newsletter, started at start_newsletter\S*
 */
#include "planted.h"

static int newsletter(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_MS(1));
}

__attribute__((noinline)) eddy_task *start_newsletter(eddy_scope *scope);
eddy_task *start_newsletter(eddy_scope *scope)
{
        const struct eddy_task_opts opts = { .name = "newsletter" };
        eddy_task *task = NULL;

        (void) eddy_scope_start_task(scope, newsletter, NULL, &opts, &task);
        return task;
}

static int send_all(void *arg)
{
        eddy_scope scope;
        eddy_task *task;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        task = start_newsletter(&scope);
        if (!FAULT)
                eddy_task_release(task);
        return eddy_scope_end(&scope);
}

int main(void)
{
        return end(eddy_run(send_all, NULL, NULL));
}
