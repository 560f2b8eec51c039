/*
 * task_left.c - a task in the background that outlives its request, shielded
 * from the end of the run for longer than a test may last.
 *
 * Says: eddy_test: request: it did not end within 3600000 ms of virtual time: audit waits for time to pass
 */
#include "planted.h"

int audit(void *arg);
int audit(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                            .timeout_ns = FAULT ? EDDY_MIN(600)
                                                                                : EDDY_SEC(1) });
        (void) eddy_sleep(EDDY_MIN(300));
        return eddy_scope_end(&scope) == -ETIMEDOUT ? 0 : -1;
}

static int request(void *arg)
{
        (void) arg;
        return eddy_background(audit, NULL);
}

int main(void)
{
        const struct eddy_test_opts opts = { .name = "request" };

        return end(eddy_test_run(request, NULL, &opts, NULL));
}
