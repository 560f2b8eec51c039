/*
 * 67-callbacks - functions that the loop calls: soon, later, and when a result is ready.
 *
 * A callback is not a task: it runs in the loop itself, must not suspend, and returns to
 * the loop.  A task that needs the result of a callback waits for an event or a future
 * that the callback sets.  The handle of a callback is in memory of the caller, here of
 * run(), which must not return while a callback is scheduled.
 *
 * Most programs need no callbacks: a task that sleeps and then continues replaces
 * call_later(), and the line after a call replaces a callback.
 *
 * Run: 67-callbacks
 * Time: virtual 1 s
 * Output:
 *     run: the callbacks are scheduled
 *     callback: soon
 *     callback: half a second later
 *     callback: downloaded 5000 bytes
 *     run: the last callback is cancelled
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct download {
        eddy_future bytes;
        eddy_event reported;
};

static int download(void *arg)
{
        struct download *download = arg;
        int err = eddy_sleep(EDDY_SEC(1));

        return err < 0 ? err : eddy_future_set(&download->bytes, 5000, NULL);
}

static int on_downloaded(void *arg)
{
        struct download *download = arg;
        int bytes, err = eddy_future_result(&download->bytes, &bytes);

        if (err < 0)
                return err;
        printf("callback: downloaded %d bytes\n", bytes);
        return eddy_event_set(&download->reported);
}

static int say(void *text)
{
        printf("callback: %s\n", (const char *) text);
        return 0;
}

static int run(void *arg)
{
        char soon_text[] = "soon", later_text[] = "half a second later", last_text[] = "last";
        eddy_handle soon = { 0 }, later = { 0 }, last = { 0 };
        eddy_future_callback downloaded = { 0 };
        struct download page = { 0 };
        int err;

        (void) arg;
        EDDY_SCOPE (scope, &err) {
                eddy_loop_call_soon(NULL, &soon, say, soon_text);
                eddy_loop_call_later(NULL, &later, EDDY_MS(500), say, later_text);
                eddy_loop_call_later(NULL, &last, EDDY_SEC(2), say, last_text);
                eddy_future_add_callback(&page.bytes, &downloaded, on_downloaded, &page);
                eddy_scope_start(&scope, download, &page);
                puts("run: the callbacks are scheduled");
                err = eddy_event_wait(&page.reported);
        }
        if (eddy_handle_cancel(&last) == 1)
                puts("run: the last callback is cancelled");
        eddy_handle_cancel(&later);
        eddy_handle_cancel(&soon);
        eddy_future_fini(&page.bytes); /* removes its callback, if that has not run */
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "67-callbacks: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
