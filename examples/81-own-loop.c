/*
 * 81-own-loop - a loop that the program makes, runs three times and closes.
 *
 * eddy_run() does all of this in one call, and is enough for most programs.  A
 * loop of one's own can run repeatedly, for ever until it is stopped, or step by
 * step inside another library's loop.  Tasks and callbacks make progress only
 * during a run.
 *
 * Asking for the loop never makes one.  Outside a run eddy_loop_current()
 * returns NULL, and calls that need a loop return EDDY_E_RUN_NOT_RUNNING.
 *
 * Run: 81-own-loop
 * Time: wall 0.3 s
 * Output:
 *     at first: no loop runs
 *     made: no loop runs
 *     first run: a loop runs
 *     second run: a loop runs
 *     stopped by a callback: a loop runs
 *     closed: no loop runs
 */
#include <stdio.h>

#include "eddy/eddy.h"

static void say_whether_a_loop_runs(const char *when)
{
        printf("%s: %s\n", when, eddy_loop_current() ? "a loop runs" : "no loop runs");
}

static int wait_a_little(void *when)
{
        say_whether_a_loop_runs(when);
        return eddy_sleep(EDDY_MS(100));
}

static int stop(void *loop)
{
        say_whether_a_loop_runs("stopped by a callback");
        eddy_loop_stop(loop);
        return 0;
}

static int run_thrice(eddy_loop *loop)
{
        char first[] = "first run", second[] = "second run";
        eddy_handle timer = { 0 };
        int err = eddy_loop_run(loop, wait_a_little, first);

        if (err == 0)
                err = eddy_loop_run(loop, wait_a_little, second);
        if (err == 0)
                err = eddy_loop_call_later(loop, &timer, EDDY_MS(100), stop, loop);
        if (err == 0)
                err = eddy_loop_run_forever(loop);
        eddy_handle_cancel(&timer); /* Ctrl-C also ends the run */
        return err;
}

int main(void)
{
        eddy_loop *loop;
        int err;

        say_whether_a_loop_runs("at first");
        err = eddy_loop_new(NULL, &loop);
        if (err == 0) {
                say_whether_a_loop_runs("made");
                err = run_thrice(loop);
                eddy_loop_close(loop);
                say_whether_a_loop_runs("closed");
        }
        if (err < 0)
                fprintf(stderr, "81-own-loop: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
