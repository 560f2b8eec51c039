/*
 * calls_sqlite.c - the worlds of SQLite; see every_call.h.  On the real clock, because its threads
 * block in the system.
 */
#include "every_call.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
        eddy_sqlite *db;
        int64_t stored; /* rows whose commit has returned 0 */
} base;

static void empty_folder(const char *folder)
{
        DIR *dir = opendir(folder);
        struct dirent *entry;

        CHECK(dir != NULL);
        while ((entry = readdir(dir)))
                (void) unlinkat(dirfd(dir), entry->d_name, 0);
        closedir(dir);
}

struct row {
        int64_t id;
        char text[8];
};

static const struct eddy_field row_list[] = {
        EDDY_FIELD(struct row, id),
        EDDY_FIELD(struct row, text),
};
static const struct eddy_fields row_fields = EDDY_FIELDS(struct row, row_list, 0);

struct all {
        struct row *rows;
        size_t rows_count;
};

static const struct eddy_field all_list[] = {
        EDDY_FIELD_LIST_OF(struct all, rows, rows_count, &row_fields),
};
static const struct eddy_fields all_fields = EDDY_FIELDS(struct all, all_list, 0);

/* --- one call after the other, in a transaction --- */

static int nothing(struct sqlite3 *handle, void *arg)
{
        (void) arg;
        return sqlite3_get_autocommit(handle);
}

static int read_rows(eddy_sqlite_conn *conn)
{
        EDDY_AUTO(eddy_sqlite_rows) eddy_sqlite_rows *rows = NULL;
        struct all all = { 0 };
        int err =
                eddy_sqlite_query(conn,
                                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                                  "LIMIT 1100) SELECT i FROM n",
                                  NULL, 0, &rows);

        for (int i = 0; err == 0 && i < 1050 && (err = eddy_sqlite_rows_next(rows)) > 0; i++)
                err = 0;
        eddy_sqlite_rows_close(rows);
        rows = NULL;
        if (err == 0)
                err = eddy_sqlite_all(conn, "SELECT id, text FROM t ORDER BY id DESC LIMIT 2", NULL,
                                      0, &all_fields, &all);
        CHECK_EQ(all.rows_count, err == 0 ? 2 : 0);
        eddy_fields_fini(&all_fields, &all);
        return err;
}

static int store_three(void *arg)
{
        const struct eddy_sqlite_value texts[] = { eddy_sqlite_text("b"), eddy_sqlite_text("c") };
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        EDDY_AUTO(eddy_sqlite_tx) eddy_sqlite_tx tx = { 0 };
        struct row row;
        int err = eddy_pool_acquire(eddy_sqlite_writer(base.db), &loan);

        (void) arg;
        if (err == 0)
                err = eddy_sqlite_begin(loan.item, &tx);
        if (err == 0)
                err = eddy_sqlite_exec(loan.item, "INSERT INTO t (text) VALUES ('a')", NULL, 0);
        if (err == 0)
                err = eddy_sqlite_exec_many(loan.item, "INSERT INTO t (text) VALUES (?)", texts, 1,
                                            2);
        if (err == 0)
                err = eddy_sqlite_one(loan.item, "SELECT id, text FROM t ORDER BY id DESC LIMIT 1",
                                      NULL, 0, &row_fields, &row);
        if (err == 0)
                err = eddy_sqlite_one_or_none(loan.item, "SELECT id, text FROM t WHERE 0", NULL, 0,
                                              &row_fields, &row);
        if (err == 0)
                err = eddy_sqlite_script(loan.item, "SELECT 1; SELECT 2");
        if (err == 0)
                err = eddy_sqlite_call(loan.item, nothing, NULL);
        if (err == 0)
                err = read_rows(loan.item);
        if (err == 0)
                err = eddy_sqlite_commit(&tx);
        if (err == 0)
                base.stored += 3;
        return err;
}

static int store(void *arg)
{
        world_pause();
        (void) victim_call(store_three, arg);
        return 0;
}

static int64_t count_rows(void)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        struct row row = { .id = -1 };

        CHECK_EQ(eddy_pool_acquire(eddy_sqlite_writer(base.db), &loan), 0);
        CHECK_EQ(eddy_sqlite_one(loan.item, "SELECT count(*) AS id FROM t", NULL, 0, &row_fields,
                                 &row),
                 0);
        return row.id;
}

static int world_sqlite(void *arg)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        int n = 1 + (int) world_chance(3);
        struct eddy_pool_stats stats;

        base.stored = 0;
        CHECK_EQ(eddy_sqlite_open(":memory:", NULL, &base.db), 0);
        CHECK_EQ(eddy_pool_acquire(eddy_sqlite_writer(base.db), &loan), 0);
        CHECK_EQ(eddy_sqlite_exec(loan.item, "CREATE TABLE t (id INTEGER PRIMARY KEY, text)", NULL,
                                  0),
                 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        world_begin(n);
        world_run(store, arg, n);
        CHECK_EQ(count_rows(), base.stored);
        CHECK(base.stored >= 3 * (n - victims_cancelled()));
        eddy_pool_stats(eddy_sqlite_writer(base.db), &stats);
        CHECK(stats.opened == 1 && stats.broken == 0 && stats.lent == 0);
        eddy_sqlite_close(base.db);
        return 0;
}
EVERY_POINT_ON(sqlite, eddy_sqlite_exec, on_epoll)
ALSO(sqlite, eddy_sqlite_exec_many)
ALSO(sqlite, eddy_sqlite_script)
ALSO(sqlite, eddy_sqlite_call)
ALSO(sqlite, eddy_sqlite_begin)
ALSO(sqlite, eddy_sqlite_commit)
ALSO(sqlite, eddy_sqlite_rollback)
ALSO(sqlite, eddy_sqlite_query)
ALSO(sqlite, eddy_sqlite_rows_next)
ALSO(sqlite, eddy_sqlite_rows_close)
ALSO(sqlite, eddy_sqlite_one)
ALSO(sqlite, eddy_sqlite_all)
ALSO(sqlite, eddy_sqlite_one_or_none)

/* --- files --- */

static int open_and_copy(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = NULL;
        int err = eddy_sqlite_open("app.db", NULL, &db);

        (void) arg;
        if (err == 0)
                err = eddy_sqlite_backup(db, "copy.db", NULL);
        eddy_sqlite_close(db);
        db = NULL;
        return err;
}

static int open_one(void *arg)
{
        world_pause();
        (void) victim_call(open_and_copy, arg);
        return 0;
}

static int world_sqlite_file(void *arg)
{
        world_begin(2);
        world_run(open_one, arg, 2);
        CHECK_EQ(open_and_copy(NULL), 0);
        return 0;
}

TEST(cancel_at_every_point_of_sqlite_file)
{
        char folder[] = "/tmp/eddy-calls-sqlite-XXXXXX";

        CHECK(mkdtemp(folder));
        CHECK(chdir(folder) == 0);
        every_point("sqlite_file", world_sqlite_file, &on_epoll);
        empty_folder(folder);
        CHECK(rmdir(folder) == 0);
}
ALSO(sqlite_file, eddy_sqlite_open)
ALSO(sqlite_file, eddy_sqlite_close)
ALSO(sqlite_file, eddy_sqlite_backup)
