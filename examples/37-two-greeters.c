/*
 * 37-two-greeters - the cure for threads that only wait: two tasks in the
 * background, on one thread.
 *
 * Main's task ends first, as "Task Done !" shows, and the tasks that it started
 * in the background are waited for, as Python's threads are; here no longer
 * than drain_ns, after which they are cancelled.  A `drain_ns` below 0 makes
 * daemons of them.  The two take turns only when they wait, so no line is ever
 * torn, and what they share needs no lock.
 *
 * Run: 37-two-greeters
 * Time: virtual 10 s
 * Output:
 *     Task Done !
 *     1 - Hello Mohammad
 *     1 - Hello Ali
 *     2 - Hello Mohammad
 *     2 - Hello Ali
 *     3 - Hello Mohammad
 *     3 - Hello Ali
 *     4 - Hello Mohammad
 *     4 - Hello Ali
 *     5 - Hello Mohammad
 *     5 - Hello Ali
 *     6 - Hello Mohammad
 *     6 - Hello Ali
 *     7 - Hello Mohammad
 *     7 - Hello Ali
 *     8 - Hello Mohammad
 *     8 - Hello Ali
 *     9 - Hello Mohammad
 *     9 - Hello Ali
 *     10 - Hello Mohammad
 *     10 - Hello Ali
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

        return eddy_run(run, NULL, &opts) == 0 ? 0 : 1;
}
