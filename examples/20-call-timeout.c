/*
 * 20-call-timeout - a call with a limit of one second that would take two.
 *
 * eddy_call_timeout() does what wait_for() does, and needs no task: the
 * function runs in the caller's task.  A result that is ready when the time is
 * up is returned, not dropped because of the deadline.
 *
 * Run: 20-call-timeout
 * Time: virtual 1 s
 * Output:
 *     Task did not complete within the specified time.
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int my_task(void *arg)
{
        const char **ret_text = arg;
        int err = eddy_sleep(EDDY_SEC(2));

        if (err == 0)
                *ret_text = "Task done";
        return err;
}

static int run(void *arg)
{
        const char *text = NULL;
        int err = eddy_call_timeout(my_task, &text, EDDY_SEC(1));

        (void) arg;
        if (err == -ETIMEDOUT)
                text = "Task did not complete within the specified time.";
        else if (err < 0)
                return err;
        puts(text);
        return 0;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "20-call-timeout: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
