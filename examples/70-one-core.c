/*
 * 70-one-core - an endless loop keeps a single core busy, and all other tasks of
 * its loop waiting.
 *
 * The counting never waits, so the event loop cannot run the other task.  The
 * watchdog reports this while it happens, with the stack; Python's debug mode
 * reports it afterwards.  More cores do not help: a loop runs on one thread.
 *
 * On a thread of its own the same counting does no harm.  Both countings end after
 * a second of the process's time on processors, so that this program ends; other
 * threads, as the watchdog's, use a little of it.
 *
 * Run: 70-one-core
 * Time: wall 1.8 s
 * Output:
 *     1 of <n> processors counted from 10 to <n>
 *     the other task ran 0 times meanwhile
 *     a thread counted from 10 to <n>
 *     the other task ran meanwhile
 * Run: 70-one-core 2>&1 >/dev/null | grep -o -m 1 'task main: has kept the loop' 2>&1
 * Time: wall 0 s
 * Output:
 *     task main: has kept the loop
 */
#include <stdio.h>
#include <time.h>

#include "eddy/eddy.h"

static int times; /* that the other task ran */

static int other_task(void *arg)
{
        int err = 0;

        (void) arg;
        while (err == 0) {
                err = eddy_sleep(EDDY_MS(50));
                if (err == 0)
                        times++;
        }
        return err;
}

/* An endless loop, if it had no limit: a second of processor time of all threads. */
static int count(void *arg)
{
        clock_t end = clock() + CLOCKS_PER_SEC;
        uint64_t *x = arg;

        while (clock() < end)
                ++*x;
        return 0;
}

static int count_twice(void)
{
        uint64_t x = 10;
        int err = eddy_sleep(0); /* the other task starts */

        if (err < 0)
                return err;
        count(&x);
        printf("1 of %u processors counted from 10 to %llu\n", eddy_cpu_count(),
               (unsigned long long) x);
        printf("the other task ran %d times meanwhile\n", times);

        x = 10;
        err = eddy_to_thread(count, &x);
        if (err < 0)
                return err;
        printf("a thread counted from 10 to %llu\n", (unsigned long long) x);
        puts(times > 0 ? "the other task ran meanwhile" : "the other task had to wait");
        return 0;
}

static int run(void *arg)
{
        int err;

        (void) arg;
        EDDY_SCOPE (scope, &err) {
                eddy_scope_start(&scope, other_task, NULL);
                err = count_twice();
                eddy_scope_cancel(&scope); /* the other task has no end of its own */
        }
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "70-one-core: %s\n", eddy_error_text(err));
        return err < 0;
}
