/*
 * 73-stop-thread - a thread that is stopped from outside.
 *
 * A thread cannot be cancelled like a task: it has to check again and again
 * whether it should stop.  A Python program uses a threading.Event.  A job of
 * eddy_to_thread() calls eddy_thread_is_stopping(), which returns 1 after the
 * caller was cancelled.
 *
 * The cancelled caller waits for the job, because the job may use the caller's
 * variables.  After the scope the thread has cleaned up and no longer works.
 *
 * Run: 73-stop-thread
 * Time: wall 1 s
 * Output:
 *     worker: started
 *     main: stops the worker
 *     worker: cleans up
 *     main: the worker has ended
 */
#include <stdio.h>
#include <time.h>

#include "eddy/eddy.h"

static int work(void *arg)
{
        struct timespec piece_of_work = { .tv_nsec = 50000000 };

        (void) arg;
        puts("worker: started");
        while (!eddy_thread_is_stopping())
                nanosleep(&piece_of_work, NULL);
        puts("worker: cleans up");
        return 0;
}

static int worker(void *arg)
{
        return eddy_to_thread(work, arg);
}

static int run(void *arg)
{
        int err;

        (void) arg;
        EDDY_SCOPE (scope, &err) {
                eddy_scope_start(&scope, worker, NULL);
                err = eddy_sleep(EDDY_SEC(1));
                puts("main: stops the worker");
                eddy_scope_cancel(&scope);
        }
        if (err == 0)
                puts("main: the worker has ended");
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "73-stop-thread: %s\n", eddy_error_text(err));
        return err < 0;
}
