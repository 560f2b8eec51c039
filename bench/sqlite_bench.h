/*
 * sqlite_bench.h - the table and the statements of the benchmarks of SQLite.
 */
#ifndef SQLITE_BENCH_H
#define SQLITE_BENCH_H

#include "bench.h"

#define TABLE  "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, score REAL)"
#define INSERT "INSERT INTO t (name, score) VALUES (?, ?)"
#define SELECT "SELECT name, score FROM t WHERE id = ?"

enum { ROWS_READ = 10000 }; /* in the table, for reads */

/* The measured row, from the second argument of the program. */
enum row { ROW_COMMITS, ROW_INSERTS, ROW_MANY, ROW_READS };

static inline enum row row_of(const char *name)
{
        static const char *const names[] = { "commits", "inserts", "many", "reads" };

        for (int i = 0; i < 4; i++)
                if (strcmp(name, names[i]) == 0)
                        return (enum row) i;
        bench_die("no such row", name);
}

/* The key of the i-th read: all over the table. */
static inline int64_t key_of(long i)
{
        return (int64_t) i * 7919 % ROWS_READ + 1;
}

#endif
