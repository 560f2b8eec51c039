/*
 * 84-fifty-million-roots - the square roots of 1 to 50,000,000, one by one and then
 * divided among the processors.
 *
 * Both ways give the same sum.  Threads in C compute at the same time, so with two free
 * processors the second way takes about half as long.  Python's threads take turns:
 * there the second way takes as long as the first.  The loop computes nothing in either
 * way and is free for other tasks.
 *
 * Run: 84-fifty-million-roots
 * Time: wall 0.1 s
 * Output:
 *     one by one: the sum is 2.357022639e+11, in <n> s
 *     cut into <n>: the sum is 2.357022639e+11, in <n> s
 * Run: 84-fifty-million-roots many 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     84-fifty-million-roots: not a number from 1 to 1000000000000 (usage: 84-fifty-million-roots [COUNT])
 * Run: timeout --foreground --preserve-status -s INT 1 84-fifty-million-roots 1000000000000 2>&1
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     84-fifty-million-roots: stopped by Ctrl-C (usage: 84-fifty-million-roots [COUNT])
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "eddy/eddy.h"

enum { THREADS_MAX = 32 };

struct part {
        uint64_t from, to; /* 'to' is not in it */
        double sum;
};

/* On a thread of the run's pool. */
static int sum_roots(void *arg)
{
        struct part *part = arg;
        double sum = 0;

        for (uint64_t i = part->from; i < part->to; i++) {
                if (i % 65536 == 0 && eddy_thread_is_stopping())
                        return -ECANCELED;
                sum += sqrt((double) i);
        }
        part->sum = sum;
        return 0;
}

static int sum_in_thread(void *part)
{
        return eddy_to_thread(sum_roots, part);
}

/* Print the sum of the roots of 1 to 'count', computed in 'threads' threads. */
static int show_sum(const char *how, uint64_t count, uint32_t threads)
{
        struct eddy_call calls[THREADS_MAX];
        struct part parts[THREADS_MAX];
        int64_t start_ns = eddy_now();
        double sum = 0;
        int err;

        for (uint32_t i = 0; i < threads; i++) {
                parts[i] =
                        (struct part){ 1 + count * i / threads, 1 + count * (i + 1) / threads, 0 };
                calls[i] = EDDY_CALL(sum_in_thread, &parts[i]);
        }
        err = eddy_gather(calls, threads, 0);
        if (err < 0)
                return err;
        for (uint32_t i = 0; i < threads; i++)
                sum += parts[i].sum;
        printf("%s: the sum is %.10g, in %.2f s\n", how, sum,
               (double) (eddy_now() - start_ns) / 1e9);
        return 0;
}

static int run(void *arg)
{
        const uint64_t *count = arg;
        char how[32];
        uint32_t threads = eddy_cpu_count() < THREADS_MAX ? eddy_cpu_count() : THREADS_MAX;
        int err = show_sum("one by one", *count, 1);

        if (err < 0)
                return err;
        snprintf(how, sizeof(how), "cut into %u", (unsigned) threads);
        return show_sum(how, *count, threads);
}

int main(int argc, char **argv)
{
        static const char usage[] = "(usage: 84-fifty-million-roots [COUNT])";
        char *end = NULL;
        uint64_t count = argc > 1 ? strtoull(argv[1], &end, 10) : 50000000;
        int err, stopped;

        if (count < 1 || count > 1000000000000 || (end && *end)) {
                fprintf(stderr, "84-fifty-million-roots: not a number from 1 to 1000000000000 %s\n",
                        usage);
                return 1;
        }
        err = eddy_run(run, &count, NULL);
        stopped = err == -ECANCELED && eddy_run_signal() == SIGINT;
        if (err < 0)
                fprintf(stderr, "84-fifty-million-roots: %s %s\n",
                        stopped ? "stopped by Ctrl-C" : eddy_error_text(err), usage);
        return err == 0 ? 0 : stopped ? 130 : 1;
}
