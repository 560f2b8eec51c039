/*
 * core_eddy_io.c - rows of core_eddy.c about files and sockets.  Files are in the current folder.
 */
#include <arpa/inet.h>

#include "core_eddy.h"

enum { PIECE_BYTES = 4096, FILE_TASKS_MAX = 1000, MESSAGE_MAX = 1024 };

static struct bench *shared;
static char path[64];
static eddy_file *file;
static char pieces[FILE_TASKS_MAX][PIECE_BYTES];
static long next_task, begun;

/* --- files: one operation of a task --- */

static int whole(int64_t n)
{
        return n == PIECE_BYTES ? 0 : n < 0 ? (int) n : -EIO;
}

/* file-read: 4 KiB that the kernel has in its cache. */
static int read_cached(long task)
{
        return whole(eddy_file_read_at(file, pieces[task], PIECE_BYTES, 0));
}

/* file-write: each task its own 4 KiB of the file. */
static int write_piece(long task)
{
        return eddy_file_write_at(file, pieces[task], PIECE_BYTES, task * PIECE_BYTES);
}

/* file-sync: the same, and a sync after each. */
static int write_synced(long task)
{
        int err = write_piece(task);

        return err < 0 ? err : eddy_file_sync(file, 0);
}

/* file-open: open, read 4 KiB, close. */
static int open_and_read(long task)
{
        eddy_file *own;
        int err = eddy_file_open(path, EDDY_FILE_READ, 0, &own);

        if (err < 0)
                return err;
        err = whole(eddy_file_read(own, pieces[task], PIECE_BYTES));
        eddy_file_close(own);
        return err;
}

static const struct file_row {
        const char *name;
        int (*operation)(long task);
} file_rows[] = {
        { "file-read", read_cached },
        { "file-write", write_piece },
        { "file-sync", write_synced },
        { "file-open", open_and_read },
};

static const struct file_row *file_row_now(void)
{
        const struct file_row *row = file_rows;

        while (strcmp(row->name, shared->row) != 0)
                row++;
        return row;
}

/* --- files: their tasks --- */

static int repeat(void *arg)
{
        const struct file_row *row = arg;
        long task = next_task++;
        int err = 0;

        while (err == 0 && begun < shared->count) {
                begun++;
                err = row->operation(task);
                shared->done += err == 0;
        }
        return err;
}

static int run_tasks(const struct file_row *row)
{
        eddy_scope scope;
        int err;

        bench_span_begin(&shared->span);
        eddy_scope_begin(&scope, NULL);
        for (long i = 0; i < shared->extra; i++)
                eddy_scope_start(&scope, repeat, (void *) row);
        err = eddy_scope_end(&scope);
        bench_span_end(&shared->span);
        return err;
}

/* COUNT operations on files by TASKS tasks. */
int row_file(struct bench *bench)
{
        const struct file_row *row;
        int err;

        if (bench->extra > FILE_TASKS_MAX)
                return -EINVAL;
        shared = bench;
        row = file_row_now();
        snprintf(path, sizeof(path), "eddy-bench-%ld", (long) getpid());
        err = eddy_file_open(path, EDDY_FILE_READ | EDDY_FILE_WRITE | EDDY_FILE_CREATE, 0600,
                             &file);
        if (err < 0)
                return err;
        err = eddy_file_write_at(file, pieces, (size_t) bench->extra * PIECE_BYTES, 0);
        if (err == 0)
                err = run_tasks(row);
        eddy_file_close(file);
        (void) unlink(path);
        return err;
}

/* --- sockets --- */

static int echo(void *arg)
{
        EDDY_AUTO(eddy_stream) eddy_stream *stream = arg;
        char buf[MESSAGE_MAX];
        int64_t n;

        while ((n = eddy_stream_read(stream, buf, sizeof(buf))) > 0) {
                int64_t err = eddy_stream_write(stream, buf, (size_t) n);

                if (err < 0)
                        return (int) err;
                shared->done++;
        }
        return (int) n;
}

/* echo: a server of COUNT connections, which prints its port; server_load.c measures it. */
int row_echo(struct bench *bench)
{
        eddy_listener *listener;
        eddy_scope scope;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);

        if (err < 0)
                return err;
        shared = bench;
        printf("%u\n", eddy_listener_port(listener));
        fflush(stdout);
        eddy_scope_begin(&scope, NULL);
        for (long i = 0; i < bench->count && err == 0; i++) {
                eddy_stream *stream;

                err = eddy_listener_accept(listener, &stream);
                if (err == 0)
                        eddy_scope_start(&scope, echo, stream);
        }
        eddy_listener_close(listener);
        return eddy_scope_end_with(&scope, err);
}
