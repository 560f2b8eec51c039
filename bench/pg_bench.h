/*
 * pg_bench.h - the statements of the benchmarks of PostgreSQL; pg_rows.py makes the table.
 */
#ifndef PG_BENCH_H
#define PG_BENCH_H

#include "bench.h"

#define SELECT_ONE "select name, score from items where id = $1"
#define SELECT_ALL "select id, name, score from items"
#define TRUNCATE   "truncate loaded"
#define COPY_IN    "copy loaded from stdin"
#define COPY_OUT                                                                                   \
        "copy (select id, 'name of ' || id, id * 0.5 from generate_series(1, %ld) id) to stdout"

enum {
        ITEMS = 10000, /* rows of the table */
        CONNECTIONS = 10,
        TASKS = 64,
        WARM_UP = 640,     /* queries before the measured time */
        BLOCK_ROWS = 1000, /* rows of a write in a COPY */
        BLOCK_BYTES = BLOCK_ROWS * 40,
};

/* The measured row, from the second argument of the program. */
enum row { ROW_QUERY, ROW_PIPELINE, ROW_CURSOR, ROW_COPY_IN, ROW_COPY_OUT };

static inline enum row row_of(const char *name)
{
        static const char *const names[] = { "query", "pipeline", "cursor", "copy-in", "copy-out" };

        for (int i = 0; i < 5; i++)
                if (strcmp(name, names[i]) == 0)
                        return (enum row) i;
        bench_die("no such row", name);
}

/* Returns the multiple of 'unit' that is not below 'count'. */
static inline long round_up(long count, long unit)
{
        return (count + unit - 1) / unit * unit;
}

/* The key of the i-th query: all over the table. */
static inline long key_of(long i)
{
        return i * 7919 % ITEMS + 1;
}

/* Print the rows of a block of a COPY.  Returns its bytes. */
static inline size_t block_fill(char block[BLOCK_BYTES])
{
        size_t bytes = 0;

        for (int i = 1; i <= BLOCK_ROWS; i++)
                bytes += (size_t) snprintf(block + bytes, BLOCK_BYTES - bytes,
                                           "%d\tname of %d\t%d.5\n", i, i, i);
        return bytes;
}

#endif
