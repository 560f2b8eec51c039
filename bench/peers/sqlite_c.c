/*
 * sqlite_c.c - the inserts and reads of sqlite_eddy.c by SQLite's own interface, on one thread.
 */
#include <sqlite3.h>

#include "../sqlite_bench.h"

static sqlite3 *db;

static void must(int rc, int wanted)
{
        if (rc != wanted)
                bench_die("sqlite_c", sqlite3_errmsg(db));
}

static void run(const char *sql)
{
        must(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static sqlite3_stmt *prepare(const char *sql)
{
        sqlite3_stmt *stmt;

        must(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL), SQLITE_OK);
        return stmt;
}

static void insert(long rows)
{
        sqlite3_stmt *stmt = prepare(INSERT);

        for (long i = 0; i < rows; i++) {
                must(sqlite3_bind_text(stmt, 1, "name", 4, SQLITE_STATIC), SQLITE_OK);
                must(sqlite3_bind_double(stmt, 2, 1.5), SQLITE_OK);
                must(sqlite3_step(stmt), SQLITE_DONE);
                must(sqlite3_reset(stmt), SQLITE_OK);
        }
        sqlite3_finalize(stmt);
}

static void read_each(long count)
{
        sqlite3_stmt *stmt = prepare(SELECT);

        for (long i = 0; i < count; i++) {
                must(sqlite3_bind_int64(stmt, 1, key_of(i)), SQLITE_OK);
                must(sqlite3_step(stmt), SQLITE_ROW);
                if (!sqlite3_column_text(stmt, 0))
                        bench_die("sqlite_c", "no text");
                must(sqlite3_step(stmt), SQLITE_DONE);
                must(sqlite3_reset(stmt), SQLITE_OK);
        }
        sqlite3_finalize(stmt);
}

int main(int argc, char **argv)
{
        struct bench_span span;
        enum row row;
        long count;

        if (argc != 4)
                bench_die("usage", "sqlite_c FILE ROW COUNT");
        row = row_of(argv[2]);
        count = bench_count(argv[3], 10000000);
        must(sqlite3_open_v2(argv[1], &db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                             NULL),
             SQLITE_OK);
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = FULL");
        run("PRAGMA foreign_keys = ON");
        run(TABLE);
        run("BEGIN");
        if (row == ROW_READS)
                insert(ROWS_READ);
        run("COMMIT");
        bench_span_begin(&span);
        if (row == ROW_INSERTS || row == ROW_MANY)
                run("BEGIN IMMEDIATE");
        if (row == ROW_READS)
                read_each(count);
        else
                insert(count);
        if (row == ROW_INSERTS || row == ROW_MANY)
                run("COMMIT");
        bench_span_end(&span);
        sqlite3_close(db);
        bench_core_print("SQLite " SQLITE_VERSION, argv[2], count, &span, NULL);
        return 0;
}
