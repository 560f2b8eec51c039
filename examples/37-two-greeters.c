/*
 * 37-two-greeters - two greeters in the background of main, as tasks on a single
 * thread.
 *
 * "Task Done !" does not wait for the greeters.  The run then waits for background
 * tasks as Python waits for threads that are not daemons, but for at most drain_ns;
 * after that it cancels them.  With `drain_ns` below 0 they behave like daemons.  A
 * task runs until it waits, so no line is cut in two, and shared data needs no
 * lock.
 *
 * Threads print in any order, so the lines are sorted here.  Tasks have a fixed
 * order: main's line is the first.
 *
 * Run: 37-two-greeters | sed -n 1,3p | sort -V
 * Time: wall 10 to 15 s
 * Output:
 *     1 - Hello Ali
 *     1 - Hello Mohammad
 *     Task Done !
 * Run: 37-two-greeters | sort -V
 * Time: wall 10 to 15 s
 * Output:
 *     1 - Hello Ali
 *     1 - Hello Mohammad
 *     2 - Hello Ali
 *     2 - Hello Mohammad
 *     3 - Hello Ali
 *     3 - Hello Mohammad
 *     4 - Hello Ali
 *     4 - Hello Mohammad
 *     5 - Hello Ali
 *     5 - Hello Mohammad
 *     6 - Hello Ali
 *     6 - Hello Mohammad
 *     7 - Hello Ali
 *     7 - Hello Mohammad
 *     8 - Hello Ali
 *     8 - Hello Mohammad
 *     9 - Hello Ali
 *     9 - Hello Mohammad
 *     10 - Hello Ali
 *     10 - Hello Mohammad
 *     Task Done !
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int greeter(void *name)
{
        int err = 0;

        for (int i = 1; i <= 10 && err == 0; i++) {
                printf("%d - Hello %s\n", i, (const char *) name);
                err = eddy_sleep(EDDY_SEC(1));
        }
        return err;
}

static int run(void *arg)
{
        static char mohammad[] = "Mohammad", ali[] = "Ali";
        int err = eddy_background(greeter, mohammad);

        (void) arg;
        if (err == 0)
                err = eddy_background(greeter, ali);
        puts("Task Done !");
        return err;
}

int main(void)
{
        struct eddy_run_opts opts = { .drain_ns = EDDY_SEC(20) };
        int err = eddy_run(run, NULL, &opts);

        if (err < 0)
                fprintf(stderr, "37-two-greeters: %s\n", eddy_error_text(err));
        return err < 0;
}
