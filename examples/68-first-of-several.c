/*
 * 68-first-of-several - the first of several tasks to finish, and the others cancelled.
 *
 * eddy_wait() with EDDY_WAIT_FIRST_COMPLETED returns as soon as a task has finished.  The wait
 * neither owns nor cancels the tasks: the scope does.  After the scope's end, every task has ended,
 * and each handle has its result: 0 of the first, -ECANCELED of the others.
 *
 * A failed task has finished too, and in this scope it would cancel the others.  eddy_race()
 * ignores failures while another call may succeed, and does all of this in one call: example 48.
 * eddy_select() waits for the first of different events, such as an item of a queue or a signal.
 *
 * Run: 68-first-of-several
 * Time: virtual 1 s
 * Output:
 *     finished: 1 of 3
 *     Kyiv answered after 1 s
 *     Lviv was cancelled
 *     Odesa was cancelled
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { COUNT = 3 };

struct mirror {
        const char *name;
        int seconds;
};

static int ask(void *arg)
{
        const struct mirror *mirror = arg;

        return eddy_sleep(EDDY_SEC(mirror->seconds));
}

static void print_result(const struct mirror *mirror, const eddy_task *task)
{
        int result = 0;

        if (eddy_task_result(task, &result) < 0 || result < 0)
                printf("%s was cancelled\n", mirror->name);
        else
                printf("%s answered after %d s\n", mirror->name, mirror->seconds);
}

static int run(void *arg)
{
        struct mirror mirrors[COUNT] = { { "Kyiv", 1 }, { "Lviv", 3 }, { "Odesa", 2 } };
        eddy_task *tasks[COUNT] = { NULL };
        eddy_scope scope;
        int finished = 0, err = 0;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < COUNT && err == 0; i++)
                err = eddy_scope_start_task(&scope, ask, &mirrors[i], NULL, &tasks[i]);
        if (err == 0)
                finished = err = eddy_wait(tasks, COUNT, EDDY_WAIT_FIRST_COMPLETED);
        eddy_scope_cancel(&scope);
        err = eddy_scope_end_with(&scope, err);
        if (err >= 0)
                printf("finished: %d of %d\n", finished, COUNT);
        for (int i = 0; i < COUNT; i++) {
                if (err >= 0)
                        print_result(&mirrors[i], tasks[i]);
                eddy_task_release(tasks[i]);
        }
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "68-first-of-several: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
