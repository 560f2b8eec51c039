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

/* --- files, in the current folder --- */

enum { PIECE_BYTES = 4096, MESSAGE_MAX = 1024 };

static char path[64];
static uv_file shared_fd;
static long begun;

/* A task: its operations, one after another. */
struct job {
        uv_fs_t fs;
        void (*begin)(struct job *job);
        long task;
        uv_file fd;
        char buf[PIECE_BYTES];
};

static void job_next(struct job *job)
{
        if (begun < count) {
                begun++;
                job->begin(job);
        }
}

static void result_check(uv_fs_t *fs, ssize_t wanted)
{
        if (fs->result < 0 || (wanted > 0 && fs->result != wanted))
                bench_die("file",
                          fs->result < 0 ? uv_strerror((int) fs->result) : "a short result");
        uv_fs_req_cleanup(fs);
}

static void on_done(uv_fs_t *fs)
{
        result_check(fs, 0);
        done++;
        job_next((struct job *) fs);
}

static void on_piece(uv_fs_t *fs)
{
        result_check(fs, PIECE_BYTES);
        done++;
        job_next((struct job *) fs);
}

static void read_begin(struct job *job)
{
        uv_buf_t buf = uv_buf_init(job->buf, PIECE_BYTES);

        uv_fs_read(&loop, &job->fs, shared_fd, &buf, 1, 0, on_piece);
}

static void write_begin_with(struct job *job, uv_fs_cb fn)
{
        uv_buf_t buf = uv_buf_init(job->buf, PIECE_BYTES);

        uv_fs_write(&loop, &job->fs, shared_fd, &buf, 1, job->task * PIECE_BYTES, fn);
}

static void write_begin(struct job *job)
{
        write_begin_with(job, on_piece);
}

static void on_written(uv_fs_t *fs)
{
        result_check(fs, PIECE_BYTES);
        uv_fs_fsync(&loop, fs, shared_fd, on_done);
}

static void sync_begin(struct job *job)
{
        write_begin_with(job, on_written);
}

static void on_read_once(uv_fs_t *fs)
{
        struct job *job = (struct job *) fs;

        result_check(fs, PIECE_BYTES);
        uv_fs_close(&loop, fs, job->fd, on_done);
}

static void on_opened(uv_fs_t *fs)
{
        struct job *job = (struct job *) fs;
        uv_buf_t buf = uv_buf_init(job->buf, PIECE_BYTES);

        job->fd = (uv_file) fs->result;
        result_check(fs, 0);
        uv_fs_read(&loop, fs, job->fd, &buf, 1, 0, on_read_once);
}

static void open_begin(struct job *job)
{
        uv_fs_open(&loop, &job->fs, path, UV_FS_O_RDONLY, 0, on_opened);
}

/* COUNT operations by TASKS jobs. */
static void repeat(void (*begin)(struct job *job))
{
        struct job *jobs = calloc((size_t) extra, sizeof(*jobs));
        uv_fs_t fs;

        if (!jobs)
                bench_die("file", "no memory");
        snprintf(path, sizeof(path), "eddy-bench-%ld", (long) getpid());
        shared_fd = uv_fs_open(&loop, &fs, path, UV_FS_O_RDWR | UV_FS_O_CREAT, 0600, NULL);
        result_check(&fs, 0);
        for (long i = 0; i < extra; i++) {
                uv_buf_t buf = uv_buf_init(jobs[i].buf, PIECE_BYTES);

                uv_fs_write(&loop, &fs, shared_fd, &buf, 1, i * PIECE_BYTES, NULL);
                result_check(&fs, PIECE_BYTES);
                jobs[i].task = i;
                jobs[i].begin = begin;
        }
        bench_span_begin(&span);
        for (long i = 0; i < extra; i++)
                job_next(&jobs[i]);
        uv_run(&loop, UV_RUN_DEFAULT);
        bench_span_end(&span);
        unlink(path);
        free(jobs);
}

static void row_file_read(void)
{
        repeat(read_begin);
}

static void row_file_write(void)
{
        repeat(write_begin);
}

static void row_file_sync(void)
{
        repeat(sync_begin);
}

static void row_file_open(void)
{
        repeat(open_begin);
}

/* --- echo --- */

static long accepted;

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
        static char bytes[MESSAGE_MAX];

        (void) handle;
        (void) size;
        *buf = uv_buf_init(bytes, sizeof(bytes));
}

static void on_bytes(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
        uv_buf_t back = uv_buf_init(buf->base, n > 0 ? (unsigned) n : 0);

        if (n == 0)
                return;
        if (n < 0)
                uv_close((uv_handle_t *) stream, NULL);
        else if (uv_try_write(stream, &back, 1) != n)
                bench_die("echo", "the socket's buffer is full");
        else
                done++;
}

static void on_connection(uv_stream_t *listener, int status)
{
        uv_tcp_t *stream = calloc(1, sizeof(*stream));

        if (status < 0 || !stream || uv_tcp_init(&loop, stream) < 0 ||
            uv_accept(listener, (uv_stream_t *) stream) < 0)
                bench_die("echo", "no connection");
        uv_tcp_nodelay(stream, 1);
        uv_read_start((uv_stream_t *) stream, on_alloc, on_bytes);
        if (++accepted == count)
                uv_close((uv_handle_t *) listener, NULL);
}

/* echo: a server of COUNT connections; each answer is one uv_try_write(). */
static void row_echo(void)
{
        struct sockaddr_in at;
        int bytes = sizeof(at);
        uv_tcp_t listener;

        uv_ip4_addr("127.0.0.1", 0, &at);
        uv_tcp_init(&loop, &listener);
        if (uv_tcp_bind(&listener, (struct sockaddr *) &at, 0) < 0 ||
            uv_listen((uv_stream_t *) &listener, 1024, on_connection) < 0 ||
            uv_tcp_getsockname(&listener, (struct sockaddr *) &at, &bytes) < 0)
                bench_die("echo", "cannot listen");
        printf("%u\n", ntohs(at.sin_port));
        fflush(stdout);
        uv_run(&loop, UV_RUN_DEFAULT);
}

static const struct {
        const char *name;
        void (*run)(void);
} rows[] = {
        { "file-read", row_file_read },
        { "file-write", row_file_write },
        { "file-sync", row_file_sync },
        { "file-open", row_file_open },
        { "echo", row_echo },
        { "deadline", row_deadline },
        { "deadline-among", row_deadline },
        { "timers-cancel", row_timers_cancel },
        { "timers-fire", row_timers_fire },
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
