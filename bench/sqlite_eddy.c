/*
 * sqlite_eddy.c - inserts and reads of SQLite by eddy, from one task.
 *
 *     sqlite_eddy FILE commits|inserts|many|reads COUNT
 */
#include "eddy/eddy.h"
#include "sqlite_bench.h"

static const char *path, *row_name;
static long count;

static int insert_each(eddy_sqlite_conn *conn)
{
        int err = 0;

        for (long i = 0; i < count && err == 0; i++)
                err = eddy_sqlite_exec(
                        conn, INSERT,
                        EDDY_SQLITE_BIND(eddy_sqlite_text("name"), eddy_sqlite_real(1.5)));
        return err;
}

static int insert_in_one(eddy_sqlite_conn *conn)
{
        EDDY_AUTO(eddy_sqlite_tx) eddy_sqlite_tx tx = { 0 };
        int err = eddy_sqlite_begin(conn, &tx);

        if (err == 0)
                err = insert_each(conn);
        return err < 0 ? err : eddy_sqlite_commit(&tx);
}

static int insert_many(eddy_sqlite_conn *conn, long rows)
{
        struct eddy_sqlite_value *values = malloc((size_t) rows * 2 * sizeof(*values));
        int err;

        if (!values)
                return -ENOMEM;
        for (long i = 0; i < rows; i++) {
                values[2 * i] = eddy_sqlite_text("name");
                values[2 * i + 1] = eddy_sqlite_real(1.5);
        }
        err = eddy_sqlite_exec_many(conn, INSERT, values, 2, (size_t) rows);
        free(values);
        return err;
}

static int read_one(eddy_sqlite_conn *conn, int64_t key)
{
        EDDY_AUTO(eddy_sqlite_rows) eddy_sqlite_rows *rows = NULL;
        const char *name;
        int err = eddy_sqlite_query(conn, SELECT, EDDY_SQLITE_BIND(eddy_sqlite_int(key)), &rows);

        if (err == 0)
                err = eddy_sqlite_rows_next(rows) == 1 ? 0 : -EIO;
        return err == 0 ? eddy_sqlite_rows_text(rows, 0, &name, NULL) : err;
}

static int read_each(eddy_sqlite_conn *conn)
{
        int err = 0;

        for (long i = 0; i < count && err == 0; i++)
                err = read_one(conn, key_of(i));
        return err;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = NULL;
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        enum row row = row_of(row_name);
        struct bench_span span;
        int err = eddy_sqlite_open(path, NULL, &db);

        (void) arg;
        if (err == 0)
                err = eddy_pool_acquire(eddy_sqlite_writer(db), &loan);
        if (err == 0)
                err = eddy_sqlite_exec(loan.item, TABLE, NULL, 0);
        if (err == 0 && row == ROW_READS)
                err = insert_many(loan.item, ROWS_READ);
        if (err < 0)
                return err;
        bench_span_begin(&span);
        if (row == ROW_COMMITS)
                err = insert_each(loan.item);
        else if (row == ROW_INSERTS)
                err = insert_in_one(loan.item);
        else if (row == ROW_MANY)
                err = insert_many(loan.item, count);
        else
                err = read_each(loan.item);
        bench_span_end(&span);
        if (err == 0)
                bench_core_print("eddy " EDDY_VERSION, row_name, count, &span, NULL);
        return err;
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 4)
                bench_die("usage", "sqlite_eddy FILE ROW COUNT");
        path = argv[1];
        row_name = argv[2];
        count = bench_count(argv[3], 10000000);
        err = eddy_run(run, NULL, NULL);
        if (err < 0)
                bench_die("sqlite_eddy", eddy_error_text(err));
        return 0;
}
