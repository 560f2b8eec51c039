/*
 * 04-gather - three calls at the same time, results in the order of the calls.
 *
 * Three waits of a second take one second, not three.  The argument and the
 * result of a call are in a struct of the caller, which is safe because
 * eddy_gather() does not return before all three calls have.  If a call failed,
 * the other two would be cancelled and eddy_gather() would return the failure.
 * In Python the failure would be raised, and the other two would run on.
 *
 * Run: 04-gather
 * Time: virtual 1 s
 * Output:
 *     ['Task 1 done', 'Task 2 done', 'Task 3 done']
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct job {
        int n;
        char result[32];
};

static int task(void *arg)
{
        struct job *job = arg;
        int err = eddy_sleep(EDDY_SEC(1));

        if (err < 0)
                return err;
        snprintf(job->result, sizeof(job->result), "Task %d done", job->n);
        return 0;
}

static int run_three(void *arg)
{
        struct job jobs[] = { { .n = 1 }, { .n = 2 }, { .n = 3 } };
        struct eddy_call calls[] = { EDDY_CALL(task, &jobs[0]), EDDY_CALL(task, &jobs[1]),
                                     EDDY_CALL(task, &jobs[2]) };
        int err = eddy_gather(calls, 3, 0);

        (void) arg;
        if (err < 0)
                return err;
        printf("['%s', '%s', '%s']\n", jobs[0].result, jobs[1].result, jobs[2].result);
        return 0;
}

int main(void)
{
        int err = eddy_run(run_three, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "04-gather: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
