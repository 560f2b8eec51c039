/*
 * core_eddy_file.c - rows of core_eddy.c about files.
 */
#include "core_eddy.h"

enum { PIECE_BYTES = 4096 };

/* The path of a file of 4 KiB, which the row removes. */
static int make_file(char *path, size_t bytes)
{
        static char piece[PIECE_BYTES];

        snprintf(path, bytes, "/tmp/eddy-bench-%ld", (long) getpid());
        return eddy_file_write_whole(path, piece, sizeof(piece), 0);
}

static int read_again(struct bench *bench, eddy_file *file)
{
        static char buf[PIECE_BYTES];

        bench_span_begin(&bench->span);
        for (; bench->done < bench->count; bench->done++) {
                int64_t n = eddy_file_read_at(file, buf, sizeof(buf), 0);

                if (n != PIECE_BYTES)
                        return n < 0 ? (int) n : -EIO;
        }
        bench_span_end(&bench->span);
        return 0;
}

/* file-read: read 4 KiB that the kernel has in its cache. */
int row_file_read(struct bench *bench)
{
        eddy_file *file;
        char path[64];
        int err = make_file(path, sizeof(path));

        if (err == 0)
                err = eddy_file_open(path, EDDY_FILE_READ, 0, &file);
        if (err < 0)
                return err;
        err = read_again(bench, file);
        eddy_file_close(file);
        return err < 0 ? err : eddy_path_remove(path);
}

static struct bench *shared;
static char shared_path[64];

static int read_once(void *arg)
{
        char *buf = malloc(PIECE_BYTES);
        eddy_file *file;
        int64_t n;
        int err = eddy_file_open(shared_path, EDDY_FILE_READ, 0, &file);

        (void) arg;
        if (err == 0) {
                n = eddy_file_read(file, buf, PIECE_BYTES);
                err = n == PIECE_BYTES ? 0 : -EIO;
                eddy_file_close(file);
        }
        free(buf);
        shared->done += err == 0;
        return err;
}

/* file-many: open a file, read 4 KiB and close the file, in TASKS tasks at once. */
int row_file_many(struct bench *bench)
{
        int err = make_file(shared_path, sizeof(shared_path));

        shared = bench;
        bench_span_begin(&bench->span);
        while (bench->done < bench->count && err == 0) {
                eddy_scope scope;

                eddy_scope_begin(&scope, NULL);
                for (long i = 0; i < bench->extra; i++)
                        eddy_scope_start(&scope, read_once, NULL);
                err = eddy_scope_end(&scope);
        }
        bench_span_end(&bench->span);
        return err < 0 ? err : eddy_path_remove(shared_path);
}
