/*
 * 84-fifty-million-roots - the square roots of 1 to 50,000,000, one by one and then
 * divided among the processors, in threads and in processes.
 *
 * All ways give the same sum.  Threads in C compute at the same time, so with two free
 * processors the second way takes about half as long.  Python's threads take turns:
 * there the second way takes as long as the first, and only processes are faster.  In all
 * three ways the loop remains free for other tasks.
 *
 * Run: 84-fifty-million-roots
 * Time: wall 0.1 s
 * Output:
 *     one by one: the sum is 2.357022639e+11, in <n> s
 *     in <n> threads: the sum is 2.357022639e+11, in <n> s
 *     in <n> processes: the sum is 2.357022639e+11, in <n> s
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

enum { PARTS_MAX = 32 };

struct part {
        uint64_t from, to; /* 'to' is not in it */
};

static struct part parts[PARTS_MAX];
static double sums[PARTS_MAX];

/* In a thread or in a worker process. */
static int sum_roots(const struct part *part, double *ret_sum)
{
        double sum = 0;

        for (uint64_t i = part->from; i < part->to; i++) {
                if (i % 65536 == 0 && eddy_thread_is_stopping())
                        return -ECANCELED;
                sum += sqrt((double) i);
        }
        *ret_sum = sum;
        return 0;
}

static void cut(uint64_t count, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                parts[i] = (struct part){ 1 + count * i / n, 1 + count * (i + 1) / n };
}

static void show_sum(const char *how, uint32_t n, int64_t start_ns)
{
        double seconds = (double) (eddy_now() - start_ns) / 1e9, sum = 0;

        for (uint32_t i = 0; i < n; i++)
                sum += sums[i];
        printf("%s: the sum is %.10g, in %.2f s\n", how, sum, seconds);
}

/* --- threads --- */

static int sum_in_thread(void *arg)
{
        const struct part *part = arg;

        return sum_roots(part, &sums[part - parts]);
}

static int sum_part(void *part)
{
        return eddy_to_thread(sum_in_thread, part);
}

static int use_threads(const char *how, uint64_t count, uint32_t n)
{
        struct eddy_call calls[PARTS_MAX];
        int64_t start_ns = eddy_now();
        int err;

        cut(count, n);
        for (uint32_t i = 0; i < n; i++)
                calls[i] = EDDY_CALL(sum_part, &parts[i]);
        err = eddy_gather(calls, n, 0);
        if (err == 0)
                show_sum(how, n, start_ns);
        return err;
}

/* --- processes --- */

/* In a worker process.  The part arrives as bytes, and the sum is returned as bytes. */
static int sum_in_worker(eddy_process_work *work)
{
        double sum = 0;
        int err = sum_roots(eddy_process_work_input(work), &sum);

        return err < 0 ? err : eddy_process_work_reply(work, &sum, sizeof(sum));
}

static int use_processes(const char *how, uint64_t count, uint32_t n)
{
        struct eddy_process_map map = { .fn = sum_in_worker,
                                        .items = parts,
                                        .item_bytes = sizeof(parts[0]),
                                        .count = n,
                                        .results = sums,
                                        .result_bytes = sizeof(sums[0]),
                                        .chunk = 1 };
        EDDY_AUTO(eddy_process_pool) eddy_process_pool *pool = NULL;
        int64_t start_ns = eddy_now();
        int err = eddy_process_pool_open(NULL, &pool);

        if (err < 0)
                return err;
        cut(count, n);
        err = eddy_process_pool_map(pool, &map);
        if (err == 0)
                show_sum(how, n, start_ns);
        return err;
}

static int run(void *arg)
{
        const uint64_t *count = arg;
        char how[32];
        uint32_t n = eddy_cpu_count() < PARTS_MAX ? eddy_cpu_count() : PARTS_MAX;
        int err = use_threads("one by one", *count, 1);

        if (err < 0)
                return err;
        snprintf(how, sizeof(how), "in %u threads", (unsigned) n);
        err = use_threads(how, *count, n);
        if (err < 0)
                return err;
        snprintf(how, sizeof(how), "in %u processes", (unsigned) n);
        return use_processes(how, *count, n);
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
        err = eddy_process_pool_prepare();
        if (err == 0)
                err = eddy_run(run, &count, NULL);
        stopped = err == -ECANCELED && eddy_run_signal() == SIGINT;
        if (err < 0)
                fprintf(stderr, "84-fifty-million-roots: %s %s\n",
                        stopped ? "stopped by Ctrl-C" : eddy_error_text(err), usage);
        return err == 0 ? 0 : stopped ? 130 : 1;
}
