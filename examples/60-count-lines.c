/*
 * 60-count-lines - the lines and bytes of files, counted at the same time.
 *
 * Each file is read line by line through an eddy_reader, without blocking the loop.
 * The results replace a file as a whole: a reader of it, or a crash of the machine,
 * sees the former results or the new ones.
 *
 * Run: d=$(mktemp -d); printf 'a\nb\n' >$d/1; printf c >$d/2; 60-count-lines $d/n $d/1 $d/2; cat $d/n; rm -r $d
 * Time: wall 0 s
 * Output:
 *     counted 2 files
 *     2 4 1
 *     1 1 2
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

enum { LINE_MAX_BYTES = 64 * 1024, ROW_BYTES = 256 };

struct count {
        const char *path;
        int64_t lines, bytes;
};

struct program {
        const char *to;
        char **paths;
        int n;
};

static int count_lines(eddy_stream *stream, struct count *count)
{
        char *buf = malloc(LINE_MAX_BYTES), *line;
        eddy_reader reader;
        size_t bytes;
        int64_t n;

        if (!buf)
                return -ENOMEM;
        eddy_reader_init(&reader, stream, buf, LINE_MAX_BYTES);
        while ((n = eddy_reader_line(&reader, &line, &bytes)) > 0) {
                count->lines++;
                count->bytes += n;
        }
        free(buf);
        return (int) n;
}

static int count_file(void *arg)
{
        EDDY_AUTO(eddy_file) eddy_file *file = NULL;
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL; /* closed before the file */
        struct count *count = arg;
        int err = eddy_file_open(count->path, EDDY_FILE_READ, 0, &file);

        if (err == 0)
                err = eddy_file_stream(file, 0, &stream);
        return err < 0 ? err : count_lines(stream, count);
}

static const char *name_of(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

static int write_counts(const char *path, const struct count *counts, int n)
{
        char *text = malloc((size_t) n * ROW_BYTES);
        size_t bytes = 0;
        int err;

        if (!text)
                return -ENOMEM;
        for (int i = 0; i < n; i++)
                bytes += (size_t) snprintf(text + bytes, ROW_BYTES, "%lld %lld %.200s\n",
                                           (long long) counts[i].lines, (long long) counts[i].bytes,
                                           name_of(counts[i].path));
        err = eddy_file_replace(path, text, bytes, 0);
        free(text);
        return err;
}

static int count_all(void *arg)
{
        const struct program *program = arg;
        struct count *counts = calloc((size_t) program->n, sizeof(*counts));
        eddy_scope scope;
        int err;

        if (!counts)
                return -ENOMEM;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < program->n; i++) {
                counts[i].path = program->paths[i];
                eddy_scope_start(&scope, count_file, &counts[i]);
        }
        err = eddy_scope_end(&scope);
        if (err == 0)
                err = write_counts(program->to, counts, program->n);
        free(counts);
        return err;
}

int main(int argc, char **argv)
{
        struct program program = { argv[1], argv + 2, argc - 2 };
        int err;

        if (argc < 3) {
                fprintf(stderr, "usage: 60-count-lines RESULTS FILE...\n");
                return 2;
        }
        err = eddy_run(count_all, &program, NULL);
        if (err < 0) {
                fprintf(stderr, "60-count-lines: %s\n", eddy_error_text(err));
                return 1;
        }
        printf("counted %d files\n", program.n);
        return 0;
}
