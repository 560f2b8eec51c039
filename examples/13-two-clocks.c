/*
 * 13-two-clocks - two tasks that print the date and the time, with random pauses, for fifty
 * seconds.
 *
 * eddy_run() makes the loop, runs it, and returns when its work is done: 49 to 54 seconds after
 * the start.  The program of the course gets a loop by hand and runs it for ever, long after both
 * tasks have ended; from Python 3.14 on it does not start at all.
 *
 * The time of day is read once.  The loop's clock, which never goes back, counts from there.  The
 * pauses are random; the argument, which only the tests use, makes them the same in each run.
 *
 * Run: 13-two-clocks 1
 * Time: virtual 53 s
 * Output:
 *     Loop: 1 Time: <n>-<n>-<n> <n>:<n>:<n>
 *     Loop: 2 Time: <n>-<n>-<n> <n>:<n>:<n>
 *     ...
 *     Loop: 1 Time: <n>-<n>-<n> <n>:<n>:<n>
 *     Loop: 2 Time: <n>-<n>-<n> <n>:<n>:<n>
 *
 * Run: 13-two-clocks 2 | sort -sc -k 4 && echo no time is before the one above it
 * Time: virtual 49 s
 * Output:
 *     no time is before the one above it
 *
 * Run: e=$(mktemp); for seed in "" "" 2; do 13-two-clocks $seed 2>$e | cut -c -7 | cksum; done | sort -u | wc -l; cat $e >&2; rm $e
 * Time: virtual 49 s
 * Output:
 *     3
 *
 * Run: timeout --foreground --preserve-status -s INT 3 13-two-clocks
 * Exit: 130
 * Time: wall 3 s
 * Output:
 *     Loop: 1 Time: <n>-<n>-<n> <n>:<n>:<n>
 *     Loop: 2 Time: <n>-<n>-<n> <n>:<n>:<n>
 *     ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "eddy/eddy.h"

static const char usage[] = "(usage: 13-two-clocks [SEED])";
static int64_t began_day_ns, began_ns; /* by the time of day, and by the loop's clock */

static void print_time(int number)
{
        int64_t day_ns = began_day_ns + eddy_now() - began_ns;
        time_t seconds = (time_t) (day_ns / EDDY_SEC(1));
        struct tm parts;
        char text[32];

        localtime_r(&seconds, &parts);
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
        printf("Loop: %d Time: %s.%06d\n", number, text, (int) (day_ns % EDDY_SEC(1) / 1000));
}

static int display_date(void *arg)
{
        int number = *(const int *) arg, err = 0;
        int64_t end_ns = eddy_now() + EDDY_SEC(50);

        while (err == 0) {
                print_time(number);
                if (eddy_now() + EDDY_SEC(1) >= end_ns)
                        break;
                err = eddy_sleep(EDDY_SEC(lrand48() % 6));
        }
        return err;
}

static int run(void *arg)
{
        int first = 1, second = 2;
        struct eddy_call calls[] = { EDDY_CALL(display_date, &first),
                                     EDDY_CALL(display_date, &second) };

        (void) arg;
        began_day_ns = eddy_time_of_day();
        began_ns = eddy_now();
        return eddy_gather(calls, 2, 0);
}

int main(int argc, char **argv)
{
        char *end = NULL;
        long seed = 0;
        int err;

        if (argc > 1)
                seed = strtol(argv[1], &end, 10);
        else if (getrandom(&seed, sizeof(seed), 0) < 0)
                seed = (long) eddy_time_of_day();
        if (end && *end) {
                fprintf(stderr, "13-two-clocks: %s is not a number %s\n", argv[1], usage);
                return 1;
        }
        srand48(seed);
        err = eddy_run(run, NULL, NULL);
        if (err == 0)
                return 0;
        fflush(stdout);
        fprintf(stderr, "13-two-clocks: %s %s\n",
                err == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(err), usage);
        return err == -ECANCELED ? 130 : 1;
}
