/*
 * 24-to-thread - a function that blocks, on a thread of its own.
 *
 * blocking_task() does not use eddy and keeps its thread for two seconds; the
 * loop continues meanwhile, as the ticks show.  Called directly, it would stop
 * every task of the loop, and the watchdog would report it.
 *
 * Run: 24-to-thread
 * Time: wall 2 s
 * Output:
 *     Start blocking task
 *     tick
 *     tick
 *     tick
 *     Completed
 */
#include <stdio.h>
#include <time.h>

#include "eddy/eddy.h"

static int blocking_task(void *arg)
{
        const char **ret_text = arg;
        struct timespec two_seconds = { .tv_sec = 2 };

        nanosleep(&two_seconds, NULL);
        *ret_text = "Completed";
        return 0;
}

static int tick(void *arg)
{
        int err = 0;

        (void) arg;
        for (int i = 0; i < 3 && err == 0; i++) {
                err = eddy_sleep(EDDY_MS(500));
                if (err == 0)
                        puts("tick");
        }
        return err;
}

static int run(void *arg)
{
        const char *text = NULL;
        eddy_scope scope;
        int err;

        (void) arg;
        puts("Start blocking task");
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, tick, NULL);
        err = eddy_to_thread(blocking_task, &text);
        err = eddy_scope_end_with(&scope, err);
        if (err == 0)
                puts(text);
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "24-to-thread: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
