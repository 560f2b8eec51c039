/*
 * 69-blocking-sleep - a sleep that suspends its task, and a sleep that blocks the
 * thread.
 *
 * Beside each sleep a task ticks every 0.3 s.  eddy_sleep() suspends only its own
 * task, so the ticks come on time.  clock_nanosleep() blocks the thread that the
 * loop runs on, so both ticks come after the sleep.  time.sleep() in a coroutine
 * does the same.
 *
 * The watchdog, on by default, reports a task that blocks the loop for longer
 * than 100 ms, or 500 ms as set here, and it does so during the sleep.  The
 * report goes to standard error unless the program has a function for reports, as
 * here.
 *
 * Run: 69-blocking-sleep
 * Time: wall 2.3 s
 * Output:
 *     a sleep that suspends:
 *       tick
 *       tick
 *       slept for a second
 *     a sleep that blocks:
 *       report: sleep_blocking has kept the loop from other tasks for <n> ms; it is blocked in the system call clock_nanosleep
 *       slept for a second
 *       tick
 *       tick
 */
#include <stdio.h>
#include <time.h>

#include "eddy/eddy.h"

static int sleep_suspending(void *arg)
{
        int err = eddy_sleep(EDDY_SEC(1));

        (void) arg;
        if (err == 0)
                puts("  slept for a second");
        return err;
}

static int sleep_blocking(void *arg)
{
        const struct timespec second = { .tv_sec = 1 };
        int err = clock_nanosleep(CLOCK_MONOTONIC, 0, &second, NULL);

        (void) arg;
        if (err == 0)
                puts("  slept for a second");
        return -err;
}

static int tick_twice(void *arg)
{
        int err = 0;

        (void) arg;
        for (int i = 0; i < 2 && err == 0; i++) {
                err = eddy_sleep(EDDY_MS(300));
                if (err == 0)
                        puts("  tick");
        }
        return err;
}

static int run(void *arg)
{
        struct eddy_call suspending[] = { EDDY_CALL(tick_twice, NULL),
                                          EDDY_CALL(sleep_suspending, NULL) };
        struct eddy_call blocking[] = { EDDY_CALL(tick_twice, NULL),
                                        EDDY_CALL(sleep_blocking, NULL) };
        int err;

        (void) arg;
        puts("a sleep that suspends:");
        err = eddy_gather(suspending, 2, 0);
        if (err < 0)
                return err;
        puts("a sleep that blocks:");
        return eddy_gather(blocking, 2, 0);
}

/* Called on the watchdog's thread. */
static void print_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        printf("  report: %s %s\n", report->task ? report->task : "eddy:", report->text);
}

int main(void)
{
        struct eddy_run_opts opts = { .watchdog_ns = EDDY_MS(500), .report = print_report };
        int err = eddy_run(run, NULL, &opts);

        if (err < 0)
                fprintf(stderr, "69-blocking-sleep: %s\n", eddy_error_text(err));
        return err < 0 ? 1 : 0;
}
