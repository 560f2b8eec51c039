/*
 * 19-gather-two - different functions at once; a failure does not affect the
 * other results.
 *
 * EDDY_GATHER_KEEP_GOING does what return_exceptions=True does in Python.  The
 * struct of each call has its return value, error or not, in the order of the
 * calls.  eddy_gather() itself fails only if the wait was cancelled or a call
 * could not be started.
 *
 * Run: 19-gather-two
 * Time: virtual 2 s
 * Output:
 *     ['Task 1 done', 'Task 2 done']
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int task1(void *arg)
{
        const char **ret_text = arg;
        int err = eddy_sleep(EDDY_SEC(1));

        if (err == 0)
                *ret_text = "Task 1 done";
        return err;
}

static int task2(void *arg)
{
        const char **ret_text = arg;
        int err = eddy_sleep(EDDY_SEC(2));

        if (err == 0)
                *ret_text = "Task 2 done";
        return err;
}

static int run(void *arg)
{
        const char *texts[2] = { NULL };
        struct eddy_call calls[] = { EDDY_CALL(task1, &texts[0]), EDDY_CALL(task2, &texts[1]) };
        int err = eddy_gather(calls, 2, EDDY_GATHER_KEEP_GOING);

        (void) arg;
        if (err < 0)
                return err;
        for (int i = 0; i < 2; i++)
                if (calls[i].result < 0)
                        texts[i] = eddy_error_text(calls[i].result);
        printf("['%s', '%s']\n", texts[0], texts[1]);
        return 0;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "19-gather-two: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
