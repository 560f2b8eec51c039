/*
 * Objects of SQLite that outlive their run, or are used in the run of another thread.
 */
#include "../../outlived.h"
#include "eddy/sqlite.h"
#include "eddy/sqlite_rows.h"
#include "sqlite_test.h"

struct used {
        eddy_sqlite *db;
        eddy_pool_loan loan;
        eddy_sqlite_rows *rows;
        eddy_sqlite_tx tx;
        pthread_t thread;
};

/* With its writer that is lent, and a reader that is idle. */
static struct used *used_new(void)
{
        static struct used used;
        eddy_pool_loan idle;

        used = (struct used){ .db = open_app(), .thread = pthread_self() };
        (void) borrow(eddy_sqlite_writer(used.db), &used.loan);
        (void) borrow(eddy_sqlite_readers(used.db), &idle);
        CHECK_EQ(eddy_pool_release(&idle), 0);
        return &used;
}

static eddy_sqlite_conn *conn_of(void *used)
{
        return ((struct used *) used)->loan.item;
}

static void *make_database(void)
{
        return used_new();
}

static int64_t use_acquire(void *used)
{
        eddy_pool_loan loan = { .item = NULL };

        return eddy_pool_acquire(eddy_sqlite_readers(((struct used *) used)->db), &loan);
}

static int64_t use_backup(void *used)
{
        return eddy_sqlite_backup(((struct used *) used)->db, "copy.db", NULL);
}

static int64_t use_exec(void *used)
{
        return eddy_sqlite_exec(conn_of(used), "SELECT 1", NULL, 0);
}

static int64_t use_script(void *used)
{
        return eddy_sqlite_script(conn_of(used), "SELECT 1");
}

static int64_t use_query(void *used)
{
        eddy_sqlite_rows *rows;

        return eddy_sqlite_query(conn_of(used), "SELECT 1", NULL, 0, &rows);
}

static int64_t use_begin(void *used)
{
        eddy_sqlite_tx tx = { .conn = NULL };

        return eddy_sqlite_begin(conn_of(used), &tx);
}

static int call_nothing(struct sqlite3 *handle, void *arg)
{
        (void) handle;
        (void) arg;
        test_fail(__FILE__, __LINE__, "a refused call was made");
}

static int64_t use_call(void *used)
{
        return eddy_sqlite_call(conn_of(used), call_nothing, NULL);
}

/* In the middle of a batch, after which there are more. */
static void *make_rows(void)
{
        struct used *used = used_new();

        CHECK_EQ(eddy_sqlite_query(conn_of(used), ENDLESS_ROWS, NULL, 0, &used->rows), 0);
        CHECK_EQ(eddy_sqlite_rows_next(used->rows), 1);
        return used;
}

static int64_t use_next(void *used)
{
        return eddy_sqlite_rows_next(((struct used *) used)->rows);
}

static void *make_transaction(void)
{
        struct used *used = used_new();

        CHECK_EQ(eddy_sqlite_begin(conn_of(used), &used->tx), 0);
        return used;
}

static int64_t use_commit(void *used)
{
        return eddy_sqlite_commit(&((struct used *) used)->tx);
}

static void close_used(void *arg)
{
        struct used *used = arg;
        bool is_open = used->tx.conn;

        eddy_sqlite_rows_close(used->rows);
        eddy_sqlite_rollback(&used->tx);
        if (!pthread_equal(used->thread, pthread_self()))
                CHECK_EQ(used->tx.conn != NULL, is_open);
        (void) eddy_pool_release(&used->loan);
        eddy_sqlite_close(used->db);
}

static const struct outlived kinds[] = {
        { "a database",
          make_database,
          { use_acquire, use_backup, use_exec, use_script, use_query, use_begin, use_call },
          close_used },
        { "rows", make_rows, { use_next, use_exec }, close_used },
        { "a transaction", make_transaction, { use_commit, use_exec }, close_used },
};

TEST(objects_of_sqlite_are_refused_by_other_runs_and_can_be_closed)
{
        enter_folder();
        outlived_check_all(kinds, sizeof(kinds) / sizeof(kinds[0]));
}
