/*
 * poller_eddy.c - eddy's two pollers side by side: the rows of docs/design/uring.md.
 *
 *     poller_eddy [RUNS]
 *
 * Each row alternates between epoll and io_uring, in this one process. The figures are medians of
 * RUNS (7) runs per operation: microseconds of wall time, and of CPU time with the kernel's threads.
 * A ratio is the median of those of neighbouring runs. Files are in the current folder.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "eddy/endpoint.h"
#include "eddy/error.h"
#include "eddy/file.h"
#include "eddy/listener.h"
#include "eddy/run.h"
#include "eddy/scope.h"
#include "eddy/stream.h"
#include "eddy/tcp.h"
#include "eddy/time.h"

enum { RUNS_MAX = 99, PIECE = 4096, MESSAGE = 512, COLD_PIECES = 16384, TASKS_MAX = 1000 };

struct row {
        const char *name;
        int (*body)(void *arg);
        int tasks, operations; /* operations of all tasks */
};

static const char path[] = "eddy-bench-poller";
static const struct row *now;
static eddy_file *file;
static char buf[TASKS_MAX][PIECE];
static int next_task, next_cold;
static int64_t took_ns, took_cpu_ns;

/* Time and CPU time of what is measured, from begin to end. */
static int64_t cpu_now(void)
{
        struct timespec ts;

        (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
        return (int64_t) ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void span_begin(void)
{
        took_ns = -eddy_now();
        took_cpu_ns = -cpu_now();
}

static void span_end(void)
{
        took_ns += eddy_now();
        took_cpu_ns += cpu_now();
}

static int begin_task(void)
{
        return next_task++;
}

/* --- files --- */

static int read_cached(void *arg)
{
        char *own = buf[begin_task()];
        int64_t n = PIECE;

        (void) arg;
        for (int i = 0; i < now->operations / now->tasks && n == PIECE; i++)
                n = eddy_file_read_at(file, own, PIECE, 0);
        return n == PIECE ? 0 : -EIO;
}

static int read_cold(void *arg)
{
        char *own = buf[begin_task()];
        int64_t n = PIECE;

        (void) arg;
        for (int i = 0; i < now->operations / now->tasks && n == PIECE; i++) {
                /* A step that is prime to the number of pieces: no piece twice. */
                next_cold = (next_cold + 6007) % COLD_PIECES;
                n = eddy_file_read_at(file, own, PIECE, (int64_t) next_cold * PIECE);
        }
        return n == PIECE ? 0 : -EIO;
}

static int write_pieces(void *arg)
{
        int task = begin_task(), err = 0;

        (void) arg;
        for (int i = 0; i < now->operations / now->tasks && err == 0; i++)
                err = eddy_file_write_at(file, buf[task], PIECE, (int64_t) task * PIECE);
        return err;
}

static int write_synced(void *arg)
{
        int task = begin_task(), err = 0;

        (void) arg;
        for (int i = 0; i < now->operations / now->tasks && err == 0; i++) {
                err = eddy_file_write_at(file, buf[task], PIECE, (int64_t) task * PIECE);
                if (err == 0)
                        err = eddy_file_sync(file, EDDY_FILE_DATA_ONLY);
        }
        return err;
}

static int open_and_close(void *arg)
{
        eddy_file *own;
        int err = 0;

        (void) arg;
        for (int i = 0; i < now->operations / now->tasks && err == 0; i++) {
                err = eddy_file_open(path, EDDY_FILE_READ, 0, &own);
                if (err == 0)
                        eddy_file_close(own);
        }
        return err;
}

/* --- sockets --- */

static eddy_stream *clients[TASKS_MAX], *servers[TASKS_MAX];

static int echo(void *arg)
{
        eddy_stream *stream = arg;
        char own[MESSAGE];
        int64_t n;

        while ((n = eddy_stream_read(stream, own, sizeof(own))) > 0)
                if (eddy_stream_write(stream, own, (size_t) n) < 0)
                        return -EIO;
        return n < 0 ? (int) n : 0;
}

static int ask(void *arg)
{
        eddy_stream *stream = arg;
        char own[MESSAGE] = { 0 };
        int err = 0;

        for (int i = 0; i < now->operations / now->tasks && err == 0; i++) {
                int64_t have = 0, n = 1;

                err = eddy_stream_write(stream, own, sizeof(own));
                while (err == 0 && have < MESSAGE && n > 0) {
                        n = eddy_stream_read(stream, own, sizeof(own));
                        have += n;
                }
                if (n <= 0)
                        err = -EIO;
        }
        eddy_stream_close(stream);
        return err;
}

static int connect_all(void)
{
        eddy_listener *listener;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);

        if (err < 0)
                return err;
        for (int i = 0; i < now->tasks && err == 0; i++) {
                err = eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL,
                                       &clients[i]);
                if (err == 0)
                        err = eddy_listener_accept(listener, &servers[i]);
        }
        eddy_listener_close(listener);
        return err;
}

static int echo_main(void)
{
        eddy_scope scope;
        int err = connect_all();

        if (err < 0)
                return err;
        span_begin();
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < now->tasks; i++) {
                eddy_scope_start(&scope, echo, servers[i]);
                eddy_scope_start(&scope, ask, clients[i]);
        }
        err = eddy_scope_end(&scope);
        span_end();
        for (int i = 0; i < now->tasks; i++)
                eddy_stream_close(servers[i]);
        return err;
}

/* --- runs --- */

/* The file's bytes on the disk, and not in memory. */
static int make_cold(void)
{
        int err = 0;

        for (int i = 0; i < COLD_PIECES && err == 0; i += TASKS_MAX)
                err = eddy_file_write_at(file, buf, sizeof(buf), (int64_t) i * PIECE);
        if (err == 0)
                err = eddy_file_sync(file, 0);
        (void) posix_fadvise(eddy_file_fd(file), 0, 0, POSIX_FADV_DONTNEED);
        (void) posix_fadvise(eddy_file_fd(file), 0, 0, POSIX_FADV_RANDOM);
        return err;
}

static int main_task(void *arg)
{
        eddy_scope scope;
        int err;

        (void) arg;
        if (now->body == echo)
                return echo_main();
        err = eddy_file_open(path, EDDY_FILE_READ | EDDY_FILE_WRITE | EDDY_FILE_CREATE, 0600,
                             &file);
        if (err == 0)
                err = eddy_file_write_at(file, buf, PIECE, 0);
        if (err == 0 && now->body == read_cold)
                err = make_cold();
        if (err < 0)
                return err;
        next_task = 0;
        span_begin();
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < now->tasks; i++)
                eddy_scope_start(&scope, now->body, NULL);
        err = eddy_scope_end(&scope);
        span_end();
        eddy_file_close(file);
        return err;
}

static int compare(const void *a, const void *b)
{
        double x = *(const double *) a, y = *(const double *) b;

        return x < y ? -1 : x > y;
}

static double median(double *figures, int n)
{
        qsort(figures, (size_t) n, sizeof(double), compare);
        return figures[n / 2];
}

/* Wall and CPU time, by poller, and their ratios. */
static struct figures {
        double us[2][RUNS_MAX], ratio[RUNS_MAX];
} wall, cpu;

static void figures_add(struct figures *figures, int poller, int run, int64_t ns)
{
        figures->us[poller][run] = (double) ns / 1e3 / now->operations;
        figures->ratio[run] = figures->us[poller][run] / figures->us[0][run];
}

static void figures_print(struct figures *figures, int runs)
{
        printf(" %.2f | %.2f | %.2f |", median(figures->us[0], runs), median(figures->us[1], runs),
               median(figures->ratio, runs));
}

static int measure(const struct row *row, int runs)
{
        static const char *const pollers[] = { "epoll", "uring" };

        now = row;
        for (int i = 0; i < runs * 2; i++) {
                struct eddy_run_opts opts = { .poller = pollers[i % 2] };
                int err = eddy_run(main_task, NULL, &opts);

                if (err < 0) {
                        fprintf(stderr, "poller_eddy: %s: %s\n", row->name, eddy_error_text(err));
                        return 1;
                }
                figures_add(&wall, i % 2, i / 2, took_ns);
                figures_add(&cpu, i % 2, i / 2, took_cpu_ns);
        }
        printf("| %s | %d |", row->name, row->tasks);
        figures_print(&wall, runs);
        figures_print(&cpu, runs);
        puts("");
        fflush(stdout);
        return 0;
}

static const struct row rows[] = {
        { "512-byte echo", echo, 1, 5000 },
        { "512-byte echo", echo, 64, 20000 },
        { "512-byte echo", echo, 1000, 20000 },
        { "read 4 KiB, cached", read_cached, 1, 100000 },
        { "read 4 KiB, from the disk", read_cold, 1, 500 },
        { "read 4 KiB, from the disk", read_cold, 64, 4096 },
        { "write 4 KiB", write_pieces, 1, 4000 },
        { "write 4 KiB", write_pieces, 64, 12800 },
        { "write 4 KiB, fdatasync", write_synced, 1, 30 },
        { "write 4 KiB, fdatasync", write_synced, 64, 640 },
        { "open, close", open_and_close, 1, 4000 },
        { "open, close", open_and_close, 64, 12800 },
};

int main(int argc, char **argv)
{
        int runs = argc > 1 ? (int) strtol(argv[1], NULL, 10) : 7, status = 0;

        if (runs < 1 || runs > RUNS_MAX)
                runs = 7;
        puts("| operation | tasks | epoll, us | uring, us | ratio | CPU epoll | CPU uring | ratio "
             "|\n"
             "|---|---|---|---|---|---|---|---|");
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && status == 0; i++)
                status = measure(&rows[i], runs);
        (void) unlink(path);
        return status;
}
