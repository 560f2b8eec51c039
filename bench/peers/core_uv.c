/*
 * core_uv.c - libuv, measured as core_eddy.c does: it has callbacks, no tasks.
 *
 *     core_uv ROW COUNT [TASKS]
 *
 * Its timers know milliseconds, and take the time of the loop's turn.
 */
#include <pthread.h>
#include <semaphore.h>
#include <uv.h>

#include "../bench.h"

static long count, extra, done;
static struct bench_span span;
static uv_loop_t loop;

static uv_timer_t *timers_new(long n)
{
        uv_timer_t *timers = calloc((size_t) n, sizeof(*timers));

        if (!timers)
                bench_die("timers", "no memory");
        for (long i = 0; i < n; i++)
                uv_timer_init(&loop, &timers[i]);
        return timers;
}

static void on_timer(uv_timer_t *timer)
{
        (void) timer;
        done++;
}

/* deadline-among: start a timer of 5 s and stop it, while TASKS others run. */
static void row_deadline(void)
{
        uv_timer_t *others = timers_new(extra), timer;

        for (long i = 0; i < extra; i++)
                uv_timer_start(&others[i], on_timer, 1000000, 0);
        uv_timer_init(&loop, &timer);
        bench_span_begin(&span);
        for (; done < count; done++) {
                uv_timer_start(&timer, on_timer, 5000, 0);
                uv_timer_stop(&timer);
        }
        bench_span_end(&span);
}

static void row_timers_cancel(void)
{
        uv_timer_t *timers = timers_new(extra);

        bench_span_begin(&span);
        while (done < count) {
                for (long i = 0; i < extra; i++)
                        uv_timer_start(&timers[i], on_timer, 10000, 0);
                for (long i = 0; i < extra; i++)
                        uv_timer_stop(&timers[i]);
                done += extra;
        }
        bench_span_end(&span);
}

static void row_timers_fire(void)
{
        uv_timer_t *timers = timers_new(extra);

        bench_span_begin(&span);
        while (done < count) {
                uv_update_time(&loop);
                for (long i = 0; i < extra; i++)
                        uv_timer_start(&timers[i], on_timer, (uint64_t) (2 + extra / 500), 0);
                uv_run(&loop, UV_RUN_DEFAULT);
        }
        bench_span_end(&span);
}

/* threadsafe: uv_async_send() from a thread, which waits for a semaphore. */
static sem_t made;
static uv_async_t async;
static int over;

static void on_async(uv_async_t *handle)
{
        if (over)
                uv_close((uv_handle_t *) handle, NULL);
        sem_post(&made);
}

static void *send_again(void *arg)
{
        for (; done < count; done++) {
                uv_async_send(&async);
                sem_wait(&made);
        }
        over = 1;
        uv_async_send(&async);
        return arg;
}

static void row_threadsafe(void)
{
        pthread_t thread;

        sem_init(&made, 0, 0);
        uv_async_init(&loop, &async, on_async);
        bench_span_begin(&span);
        if (pthread_create(&thread, NULL, send_again, NULL))
                bench_die("threadsafe", "no thread");
        uv_run(&loop, UV_RUN_DEFAULT);
        pthread_join(thread, NULL);
        bench_span_end(&span);
}

/* --- files --- */

enum { PIECE_BYTES = 4096 };

static char path[64], piece[PIECE_BYTES];

struct job {
        uv_fs_t fs;
        char buf[PIECE_BYTES];
        uv_file fd;
};

static void make_file(void)
{
        FILE *file;

        snprintf(path, sizeof(path), "/tmp/eddy-bench-%ld", (long) getpid());
        file = fopen(path, "we");
        if (!file || fwrite(piece, PIECE_BYTES, 1, file) != 1 || fclose(file) != 0)
                bench_die("file", "no file");
}

static void on_read_again(uv_fs_t *fs);

static void read_again(struct job *job, uv_fs_cb fn)
{
        uv_buf_t buf = uv_buf_init(job->buf, PIECE_BYTES);

        uv_fs_read(&loop, &job->fs, job->fd, &buf, 1, 0, fn);
}

static void on_read_again(uv_fs_t *fs)
{
        if (fs->result != PIECE_BYTES)
                bench_die("file-read", "no bytes");
        uv_fs_req_cleanup(fs);
        if (++done < count)
                read_again((struct job *) fs, on_read_again);
}

/* file-read: uv_fs_read(), which always uses a thread. */
static void row_file_read(void)
{
        static struct job job;

        make_file();
        job.fd = uv_fs_open(&loop, &job.fs, path, UV_FS_O_RDONLY, 0, NULL);
        uv_fs_req_cleanup(&job.fs);
        bench_span_begin(&span);
        read_again(&job, on_read_again);
        uv_run(&loop, UV_RUN_DEFAULT);
        bench_span_end(&span);
        unlink(path);
}

static void on_closed(uv_fs_t *fs)
{
        uv_fs_req_cleanup(fs);
        done++;
}

static void on_read_once(uv_fs_t *fs)
{
        struct job *job = (struct job *) fs;

        if (fs->result != PIECE_BYTES)
                bench_die("file-many", "no bytes");
        uv_fs_req_cleanup(fs);
        uv_fs_close(&loop, fs, job->fd, on_closed);
}

static void on_opened(uv_fs_t *fs)
{
        struct job *job = (struct job *) fs;

        job->fd = (uv_file) fs->result;
        uv_fs_req_cleanup(fs);
        read_again(job, on_read_once);
}

static void row_file_many(void)
{
        struct job *jobs = calloc((size_t) extra, sizeof(*jobs));

        if (!jobs)
                bench_die("file-many", "no memory");
        make_file();
        bench_span_begin(&span);
        while (done < count) {
                for (long i = 0; i < extra; i++)
                        uv_fs_open(&loop, &jobs[i].fs, path, UV_FS_O_RDONLY, 0, on_opened);
                uv_run(&loop, UV_RUN_DEFAULT);
        }
        bench_span_end(&span);
        unlink(path);
        free(jobs);
}

static const struct {
        const char *name;
        void (*run)(void);
} rows[] = {
        { "file-read", row_file_read },         { "file-many", row_file_many },
        { "deadline", row_deadline },           { "deadline-among", row_deadline },
        { "timers-cancel", row_timers_cancel }, { "timers-fire", row_timers_fire },
        { "threadsafe", row_threadsafe },
};

int main(int argc, char **argv)
{
        char name[64];
        size_t i = 0;

        if (argc < 3 || argc > 4)
                bench_die("usage", "core_uv ROW COUNT [TASKS]");
        count = bench_count(argv[2], 2000000000);
        extra = argc == 4 ? bench_count(argv[3], 100000000) : 1;
        while (i < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[i].name, argv[1]) != 0)
                i++;
        if (i == sizeof(rows) / sizeof(rows[0]))
                bench_die(argv[1], "no such row");
        uv_loop_init(&loop);
        rows[i].run();
        snprintf(name, sizeof(name), "libuv %s", uv_version_string());
        bench_core_print(name, argv[1], done, &span, "");
        return 0;
}
