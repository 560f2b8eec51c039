/*
 * 27-service - a service that reports when it starts and stops, and why.
 *
 * The first Ctrl-C is not an exception that may occur anywhere: it cancels the
 * main task, whose work() returns -ECANCELED at its next wait and cleans up as
 * after any error.  eddy_run_signal() returns the signal.  A second Ctrl-C
 * would end the process at once.
 *
 * Runs may follow one another in a process; only a run inside a run is refused.
 *
 * Run: 27-service 2
 * Time: virtual 2 s
 * Output:
 *     Service started
 *     Service stopped cleanly
 * Run: timeout --foreground --preserve-status -s INT 3 27-service 3600
 * Time: wall 3 s
 * Output:
 *     Service started
 *     Stopped by Ctrl-C
 * Run: 27-service 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     27-service: the seconds of work are missing (usage: 27-service SECONDS)
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "eddy/eddy.h"

static int work(int64_t seconds)
{
        return eddy_sleep(EDDY_SEC(seconds));
}

static int service(void *seconds)
{
        int err;

        puts("Service started");
        err = work(strtol(seconds, NULL, 10));
        if (err == 0)
                puts("Service stopped cleanly");
        return err;
}

int main(int argc, char **argv)
{
        int err = argc == 2 ? eddy_run(service, argv[1], NULL) : -EINVAL;
        const char *reason =
                argc == 2 ? eddy_error_text(err)
                          : "the seconds of work are missing (usage: 27-service SECONDS)";

        if (err == -ECANCELED && eddy_run_signal() == SIGINT) {
                puts("Stopped by Ctrl-C");
                return 0;
        }
        if (err < 0)
                fprintf(stderr, "27-service: %s\n", reason);
        return err == 0 ? 0 : 1;
}
