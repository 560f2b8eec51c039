/*
 * 33-future - a result that is set later, by other code.
 *
 * A new future is all zero.  It is set once, and any number of tasks may wait
 * for it.  A wait keeps two results apart, as a join does: it returns that of
 * the wait, and stores that of the future.  Between tasks, the result of a task
 * is usually the better choice; futures are for callbacks.
 *
 * Run: 33-future
 * Time: virtual 1 s
 * Output:
 *     Is my future done? False
 *     Is my future done? True
 *     42
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int set_later(void *arg)
{
        eddy_future *future = arg;
        int err = eddy_sleep(EDDY_SEC(1));

        return err < 0 ? err : eddy_future_set(future, 42, NULL);
}

static void say_whether_done(const eddy_future *future)
{
        printf("Is my future done? %s\n", eddy_future_is_done(future) ? "True" : "False");
}

static int run(void *arg)
{
        eddy_future future = { 0 };
        int result = 0, err;

        (void) arg;
        EDDY_SCOPE (scope, &err) {
                eddy_scope_start(&scope, set_later, &future);
                say_whether_done(&future);
                err = eddy_future_wait(&future, &result);
        }
        if (err == 0) {
                say_whether_done(&future);
                printf("%d\n", result);
        }
        eddy_future_fini(&future);
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "33-future: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
