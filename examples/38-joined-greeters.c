/*
 * 38-joined-greeters - two greeters that main waits for: "Task Done !" is last.
 *
 * A scope replaces the list of threads, the loop that starts them and the loop
 * that joins them.  No join can be forgotten, and the arguments of the tasks may
 * be in the frame of the function that starts them.  The lines are sorted
 * because threads print in any order.
 *
 * Run: 38-joined-greeters | tail -n 1
 * Time: wall 10 to 15 s
 * Output:
 *     Task Done !
 * Run: 38-joined-greeters | sort -V
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
        char names[][16] = { "Mohammad", "Ali" };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 2; i++)
                eddy_scope_start(&scope, greeter, names[i]);
        err = eddy_scope_end(&scope);
        if (err == 0)
                puts("Task Done !");
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "38-joined-greeters: %s\n", eddy_error_text(err));
        return err < 0;
}
