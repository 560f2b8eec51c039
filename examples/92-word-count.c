/*
 * 92-word-count - lines, words and bytes of many files, counted in worker processes.
 *
 * eddy_process_pool_map() sends several paths per message, and uses all processors.  Rows
 * appear in the order of the files, each as soon as it and all before it are known.  A file
 * that cannot be read has an error of its own and does not stop the others.
 *
 *     92-word-count FILE...
 *
 * Run: d=$(mktemp -d); for i in 1 2 3; do seq -s ' ' $((i * 1000)) >$d/$i; done; 92-word-count $d/1 $d/2 $d/none $d/3 2>&1 | sed "s|$d/||"; rm -r $d
 * Time: wall 0 s
 * Output:
 *           1    1000    3893 1
 *           1    2000    8893 2
 *     none: No such file or directory
 *           1    3000   13893 3
 *           3    6000   26679 total
 * Run: 92-word-count 2>&1
 * Exit: 2
 * Time: wall 0 s
 * Output:
 *     usage: 92-word-count FILE...
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

enum { PATH_BYTES = 1024 };

struct count {
        long lines, words, bytes;
};

struct program {
        char **paths;
        size_t n;
        char (*items)[PATH_BYTES];
        struct count *counts, total;
        int *errors;
        int failed;
};

/* --- in a worker process, where blocking calls hold up nothing else --- */

static void count_in(FILE *file, struct count *count)
{
        int c, before = ' ';

        while ((c = getc_unlocked(file)) != EOF) {
                count->bytes++;
                count->lines += c == '\n';
                count->words += isspace(before) && !isspace(c);
                before = c;
        }
}

static int count_words(eddy_process_work *work)
{
        struct count count = { 0, 0, 0 };
        FILE *file = fopen(eddy_process_work_input(work), "r");
        int err;

        if (!file)
                return -errno;
        count_in(file, &count);
        err = ferror(file) ? -EIO : 0;
        fclose(file);
        return err < 0 ? err : eddy_process_work_reply(work, &count, sizeof(count));
}

/* --- in the parent --- */

static void show(const struct count *count, const char *name)
{
        printf("%7ld %7ld %7ld %s\n", count->lines, count->words, count->bytes, name);
}

/* Called for each file, in their order. */
static int show_file(void *arg, size_t i)
{
        struct program *program = arg;
        const struct count *count = &program->counts[i];

        if (program->errors[i] < 0) {
                fflush(stdout);
                fprintf(stderr, "%s: %s\n", program->paths[i], eddy_error_text(program->errors[i]));
                program->failed = 1;
                return 0;
        }
        show(count, program->paths[i]);
        program->total.lines += count->lines;
        program->total.words += count->words;
        program->total.bytes += count->bytes;
        return 0;
}

static int count_files(void *arg)
{
        struct program *program = arg;
        struct eddy_process_map map = { .fn = count_words,
                                        .items = program->items,
                                        .item_bytes = PATH_BYTES,
                                        .count = program->n,
                                        .results = program->counts,
                                        .result_bytes = sizeof(program->counts[0]),
                                        .errors = program->errors,
                                        .each = show_file,
                                        .arg = program,
                                        .flags = EDDY_PROCESS_MAP_IN_ORDER };
        EDDY_AUTO(eddy_process_pool) eddy_process_pool *pool = NULL;
        int err = eddy_process_pool_open(NULL, &pool);

        if (err == 0)
                err = eddy_process_pool_map(pool, &map);
        if (err == 0)
                show(&program->total, "total");
        return err;
}

static int run(struct program *program)
{
        program->items = calloc(program->n, sizeof(program->items[0]));
        program->counts = calloc(program->n, sizeof(program->counts[0]));
        program->errors = calloc(program->n, sizeof(program->errors[0]));
        if (!program->items || !program->counts || !program->errors)
                return -ENOMEM;
        for (size_t i = 0; i < program->n; i++) {
                if (strlen(program->paths[i]) >= PATH_BYTES)
                        return -ENAMETOOLONG;
                snprintf(program->items[i], PATH_BYTES, "%s", program->paths[i]);
        }
        return eddy_run(count_files, program, NULL);
}

int main(int argc, char **argv)
{
        struct program program = { .paths = argv + 1, .n = (size_t) argc - 1 };
        int err;

        if (argc < 2) {
                fputs("usage: 92-word-count FILE...\n", stderr);
                return 2;
        }
        err = eddy_process_pool_prepare();
        if (err == 0)
                err = run(&program);
        if (err < 0)
                fprintf(stderr, "92-word-count: %s\n", eddy_error_text(err));
        free(program.items);
        free(program.counts);
        free(program.errors);
        return err < 0 || program.failed;
}
