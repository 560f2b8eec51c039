/*
 * obs_eddy.c - what a metric and a line of a log cost, and what a slow reader of the log and slow
 * files do to the loop.
 *
 *     obs_eddy ROW COUNT
 *
 * Rows: counter, histogram and series (a look-up by two labels) are nanoseconds of CPU per operation; line is
 * a line of a log with three values to /dev/null, with its writing; slow-pipe logs COUNT lines beside
 * a task that sleeps, to a pipe that a thread reads at 1 MB/s, and prints the lag of the loop;
 * slow-files reads COUNT times 4 KiB in eight tasks, from FIFOs that a thread fills every 20 ms.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "eddy/eddy.h"

static long count;

static void print_each(const char *row, int64_t begin_ns)
{
        printf("%s: %.2f ns of CPU\n", row, (double) (bench_cpu_ns() - begin_ns) / (double) count);
}

/* --- metrics --- */

static const char *const labels[] = { "endpoint", "status", NULL };
static const char *const values[] = { "/users", "200", NULL };

static int row_counter(void *arg)
{
        eddy_metrics *metrics;
        eddy_series *series;
        int64_t begin_ns;
        int err = eddy_metrics_new(NULL, &metrics);

        (void) arg;
        if (err < 0)
                return err;
        series = eddy_metric_series(eddy_metrics_counter(metrics, "a_total", NULL, labels), values);
        begin_ns = bench_cpu_ns();
        for (long i = 0; i < count; i++) {
                eddy_series_add(series, 1);
                __asm__ volatile("" : "+r"(series)::"memory"); /* each is an operation of its own */
        }
        print_each("counter", begin_ns);
        eddy_metrics_close(metrics);
        return 0;
}

static int row_histogram(void *arg)
{
        eddy_metrics *metrics;
        eddy_series *series;
        int64_t begin_ns;
        int err = eddy_metrics_new(NULL, &metrics);

        (void) arg;
        if (err < 0)
                return err;
        series = eddy_metric_series(eddy_metrics_histogram(metrics, "a", NULL, labels), values);
        begin_ns = bench_cpu_ns();
        for (long i = 0; i < count; i++)
                eddy_series_observe(series, (double) (i % 1024) / 256);
        print_each("histogram", begin_ns);
        eddy_metrics_close(metrics);
        return 0;
}

static int row_series(void *arg)
{
        eddy_metrics *metrics;
        eddy_metric *metric;
        int64_t begin_ns;
        int err = eddy_metrics_new(NULL, &metrics);

        (void) arg;
        if (err < 0)
                return err;
        metric = eddy_metrics_counter(metrics, "a_total", NULL, labels);
        begin_ns = bench_cpu_ns();
        for (long i = 0; i < count; i++)
                eddy_series_add(eddy_metric_series(metric, values), 1);
        print_each("series", begin_ns);
        eddy_metrics_close(metrics);
        return 0;
}

/* --- the log --- */

static void log_line(eddy_log *log, long i)
{
        eddy_log_info(log, "request served", eddy_log_str("path", "/users"),
                      eddy_log_int("status", 200), eddy_log_int("number", i));
}

static int row_line(void *arg)
{
        const struct eddy_log_opts opts = { .path = "/dev/null" };
        struct eddy_log_stats stats;
        int64_t begin_ns;
        eddy_log *log;
        int err = eddy_log_open(&opts, &log);

        (void) arg;
        if (err < 0)
                return err;
        begin_ns = bench_cpu_ns();
        for (long i = 0; i < count && err == 0; i++) {
                log_line(log, i);
                if (i % 1000 == 999)
                        err = eddy_log_flush(log);
        }
        print_each("line", begin_ns);
        eddy_log_stats(log, &stats);
        printf("line: %" PRIu64 " lines, %" PRIu64 " dropped\n", stats.lines, stats.dropped);
        eddy_log_close(log);
        return err;
}

static int pipe_fds[2];

static void *read_slowly(void *arg)
{
        char buf[10000];

        while (read(pipe_fds[0], buf, sizeof(buf)) > 0)
                nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
        return arg;
}

static int load(void *log)
{
        int err = 0;

        for (long i = 0; i < count && err == 0; i++) {
                log_line(log, i);
                if (i % 100 == 99)
                        err = i % 1000 == 999 ? eddy_sleep(EDDY_MS(1)) : eddy_sleep(0);
        }
        return err;
}

static void print_lag(void)
{
        struct eddy_lag lag;

        if (eddy_run_lag(&lag) < 0)
                return;
        printf("turns of the loop: p50 %.3f ms, p99 %.3f ms, longest %.3f ms\n",
               (double) eddy_lag_percentile(&lag, 50) / 1e6,
               (double) eddy_lag_percentile(&lag, 99) / 1e6, (double) lag.max_ns / 1e6);
}

static int sleep_on(void *arg)
{
        (void) arg;
        while (eddy_sleep(EDDY_MS(1)) == 0)
                continue;
        return -ECANCELED;
}

static int row_slow_pipe(void *arg)
{
        struct eddy_log_opts opts = { .format = EDDY_LOG_JSON };
        struct eddy_log_stats stats;
        eddy_scope scope;
        eddy_log *log;
        pthread_t reader;
        int err = pipe2(pipe_fds, O_CLOEXEC) < 0 ? -errno : 0;

        (void) arg;
        if (err == 0)
                err = -pthread_create(&reader, NULL, read_slowly, NULL);
        if (err == 0)
                err = eddy_stream_from_fd(pipe_fds[1], EDDY_STREAM_OWN_FD, &opts.stream);
        if (err == 0)
                err = eddy_log_open(&opts, &log);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, sleep_on, NULL);
        err = load(log);
        eddy_scope_cancel(&scope);
        err = eddy_scope_end_with(&scope, err);
        eddy_log_stats(log, &stats);
        printf("slow-pipe: %" PRIu64 " lines, %" PRIu64 " dropped; ", stats.lines, stats.dropped);
        print_lag();
        eddy_log_close(log);
        eddy_stream_close(opts.stream);
        pthread_join(reader, NULL);
        close(pipe_fds[0]);
        return stats.lines + stats.dropped == (uint64_t) count ? err : -EPROTO;
}

/* --- slow files --- */

enum { FILES = 8, PIECE_BYTES = 4096 };

static struct {
        char paths[FILES][64];
        int fds[FILES]; /* to write */
        atomic_bool ended;
} slow;

static void *fill_slowly(void *arg)
{
        static const char piece[PIECE_BYTES];

        while (!slow.ended) {
                nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
                for (int i = 0; i < FILES; i++)
                        if (write(slow.fds[i], piece, sizeof(piece)) < 0)
                                continue; /* full */
        }
        return arg;
}

static int make_fifos(void)
{
        for (int i = 0; i < FILES; i++) {
                snprintf(slow.paths[i], sizeof(slow.paths[i]), "/tmp/eddy-bench-%ld-%d",
                         (long) getpid(), i);
                if (mkfifo(slow.paths[i], 0600) < 0)
                        return -errno;
                slow.fds[i] = open(slow.paths[i], O_RDWR | O_CLOEXEC | O_NONBLOCK);
                if (slow.fds[i] < 0)
                        return -errno;
        }
        return 0;
}

static int read_slow_file(void *path)
{
        char buf[PIECE_BYTES];
        eddy_file *file;
        int64_t n = 1;
        int err = eddy_file_open(path, EDDY_FILE_READ, 0, &file);

        if (err < 0)
                return err;
        for (long i = 0; i < count / FILES && n > 0; i++)
                n = eddy_file_read(file, buf, sizeof(buf));
        eddy_file_close(file);
        return n < 0 ? (int) n : 0;
}

static int read_slow_files(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < FILES; i++)
                eddy_scope_start(&scope, read_slow_file, slow.paths[i]);
        return eddy_scope_end(&scope);
}

static int row_slow_files(void *arg)
{
        eddy_scope scope;
        pthread_t writer;
        int err = make_fifos();

        if (err == 0)
                err = -pthread_create(&writer, NULL, fill_slowly, NULL);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, sleep_on, NULL);
        err = read_slow_files(arg);
        eddy_scope_cancel(&scope);
        err = eddy_scope_end_with(&scope, err);
        printf("slow-files: %ld reads; ", count);
        print_lag();
        slow.ended = true;
        pthread_join(writer, NULL);
        for (int i = 0; i < FILES; i++) {
                close(slow.fds[i]);
                unlink(slow.paths[i]);
        }
        return err;
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                eddy_task_fn *fn;
        } rows[] = { { "counter", row_counter },     { "histogram", row_histogram },
                     { "series", row_series },       { "line", row_line },
                     { "slow-pipe", row_slow_pipe }, { "slow-files", row_slow_files } };

        count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && count > 0; i++)
                if (strcmp(argv[1], rows[i].name) == 0)
                        return eddy_run(rows[i].fn, NULL, NULL) == 0 ? 0 : 1;
        fprintf(stderr,
                "usage: obs_eddy counter|histogram|series|line|slow-pipe|slow-files COUNT\n");
        return 2;
}
