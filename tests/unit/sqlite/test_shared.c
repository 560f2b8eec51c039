/*
 * test_shared.c - connections of SQLite that more than one task uses, or that are given back in a call.
 */
#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>

#include "sqlite_test.h"

/* --- connections that are given back in a call --- */

static _Atomic bool is_given_back;

static void wait_until_given_back(void)
{
        while (!is_given_back)
                (void) sqlite3_sleep(1);
}

/* The SQL function wait(): returns 1, after the connection was given back. */
static void wait_sql(sqlite3_context *context, int count, sqlite3_value **values)
{
        (void) count, (void) values;
        wait_until_given_back();
        sqlite3_result_int(context, 1);
}

static int add_wait(struct sqlite3 *handle, void *arg)
{
        int rc =
                sqlite3_create_function(handle, "wait", 0, SQLITE_UTF8, NULL, wait_sql, NULL, NULL);

        (void) arg;
        return rc == SQLITE_OK ? 0 : -EIO;
}

struct number {
        int64_t n;
};

static const struct eddy_field number_list[] = { EDDY_FIELD(struct number, n) };
static const struct eddy_fields number_fields = EDDY_FIELDS(struct number, number_list, 0);

static int read_one(eddy_sqlite_conn *conn, const char *sql)
{
        struct number number = { 0 };
        int err = eddy_sqlite_one(conn, sql, NULL, 0, &number_fields, &number);

        return err < 0 ? err : (int) number.n;
}

static void query_rows(eddy_sqlite_conn *conn)
{
        EDDY_AUTO(eddy_sqlite_rows) eddy_sqlite_rows *rows = NULL;

        CHECK_EQ(eddy_sqlite_query(conn, "SELECT wait() UNION ALL SELECT * FROM (" ENDLESS_ROWS ")",
                                   NULL, 0, &rows),
                 0);
        CHECK_EQ(eddy_sqlite_rows_next(rows), EDDY_E_SQLITE_ENDED);
}

static void query_one(eddy_sqlite_conn *conn)
{
        CHECK_EQ(read_one(conn, "SELECT wait() AS n"), 1);
}

static void query_none(eddy_sqlite_conn *conn)
{
        CHECK_EQ(read_one(conn, "SELECT 1 AS n WHERE wait() = 0"), EDDY_E_SQLITE_NO_ROW);
}

static void query_many(eddy_sqlite_conn *conn)
{
        CHECK_EQ(read_one(conn, "SELECT wait() AS n UNION ALL SELECT * FROM (" ENDLESS_ROWS ")"),
                 EDDY_E_SQLITE_MANY_ROWS);
}

static void begin(eddy_sqlite_conn *conn)
{
        EDDY_AUTO(eddy_sqlite_tx) eddy_sqlite_tx tx = { 0 };

        CHECK_EQ(eddy_sqlite_begin(conn, &tx), EDDY_E_SQLITE_ENDED);
        CHECK(!tx.conn);
}

/* Holds the lock of the database. */
static void *hold_lock(void *arg)
{
        sqlite3 *handle;

        CHECK_EQ(sqlite3_open("app.db", &handle), SQLITE_OK);
        CHECK_EQ(sqlite3_exec(handle, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
        *(_Atomic bool *) arg = true;
        wait_until_given_back();
        CHECK_EQ(sqlite3_close(handle), SQLITE_OK);
        return NULL;
}

struct user {
        eddy_sqlite_conn *conn;
        void (*call)(eddy_sqlite_conn *conn);
};

static int call_as_user(void *arg)
{
        const struct user *user = arg;

        user->call(user->conn);
        return 0;
}

/* Borrow the writer, and give it back during the call of another task. */
static void give_back_during(eddy_sqlite *db, void (*call)(eddy_sqlite_conn *conn))
{
        struct user user = { .call = call };
        eddy_pool_loan loan;
        eddy_scope scope;

        user.conn = borrow(eddy_sqlite_writer(db), &loan);
        is_given_back = false;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, call_as_user, &user);
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0); /* the pool closes the connection */
        is_given_back = true;
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int given_back(void *arg)
{
        static void (*const calls[])(eddy_sqlite_conn * conn) = { query_rows, query_one, query_none,
                                                                  query_many };
        struct eddy_sqlite_opts opts = { .setup = add_wait };
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = NULL;

        (void) arg;
        CHECK_EQ(eddy_sqlite_open("app.db", &opts, &db), 0);
        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
                give_back_during(db, calls[i]);
        return 0;
}

TEST(a_call_returns_its_result_after_its_connection_was_given_back)
{
        run_in_folder(given_back);
}

static int given_back_in_begin(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        _Atomic bool is_locked = false;
        eddy_pool_loan loan;
        pthread_t thread;

        (void) arg;
        is_given_back = false;
        CHECK_EQ(pthread_create(&thread, NULL, hold_lock, (void *) &is_locked), 0);
        while (!is_locked)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        give_back_during(db, begin);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(int_of(borrow(eddy_sqlite_writer(db), &loan), "SELECT 1"), 1);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(a_transaction_does_not_begin_on_a_connection_that_was_given_back)
{
        run_in_folder(given_back_in_begin);
}

/* --- rows --- */

static void check_refused(eddy_sqlite_conn *conn)
{
        eddy_sqlite_rows *rows = NULL;
        eddy_sqlite_tx tx = { 0 };

        CHECK_EQ(eddy_sqlite_exec(conn, "SELECT 1", NULL, 0), EDDY_E_SQLITE_STATE);
        CHECK_EQ(eddy_sqlite_query(conn, "SELECT 1", NULL, 0, &rows), EDDY_E_SQLITE_STATE);
        CHECK_EQ(eddy_sqlite_script(conn, "SELECT 1"), EDDY_E_SQLITE_STATE);
        CHECK_EQ(eddy_sqlite_begin(conn, &tx), EDDY_E_SQLITE_STATE);
        CHECK(strstr(eddy_sqlite_fault(conn)->text, "rows are open"));
}

/* The number of rows in the first batch is above 'count', or all rows are there. */
static void read_some(eddy_sqlite_conn *conn, const char *sql, int count)
{
        eddy_sqlite_rows *rows = NULL;

        CHECK_OK(eddy_sqlite_query(conn, sql, NULL, 0, &rows), conn);
        check_refused(conn);
        for (int i = 0; i < count; i++)
                CHECK_EQ(eddy_sqlite_rows_next(rows), 1);
        check_refused(conn);
        eddy_sqlite_rows_close(rows);
        must(conn, "SELECT 1");
}

static void read_to_end(eddy_sqlite_conn *conn, const char *sql)
{
        eddy_sqlite_rows *rows = NULL;
        int err;

        CHECK_OK(eddy_sqlite_query(conn, sql, NULL, 0, &rows), conn);
        while ((err = eddy_sqlite_rows_next(rows)) > 0)
                continue;
        CHECK_EQ(err, 0);
        must(conn, "SELECT 1");
        CHECK_EQ(eddy_sqlite_rows_next(rows), 0);
        eddy_sqlite_rows_close(rows);
        must(conn, "SELECT 1");
}

static int open_rows(void *arg)
{
        static const char *const queries[] = { "SELECT 1 WHERE 0", "SELECT 1",
                                               ENDLESS_ROWS " LIMIT 5000" };
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);

        (void) arg;
        for (int i = 0; i < 3; i++) {
                read_some(conn, queries[i], i > 0);
                read_to_end(conn, queries[i]);
        }
        read_some(conn, "INSERT INTO log (text) VALUES ('a'), ('b') RETURNING id", 2);
        return 0;
}

TEST(open_rows_refuse_other_calls_whatever_the_size_of_the_result)
{
        run_in_folder(open_rows);
}

static int small_rows_end(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        eddy_sqlite_rows *rows = NULL;
        eddy_sqlite_tx tx = { 0 };

        (void) arg;
        CHECK_OK(eddy_sqlite_begin(conn, &tx), conn);
        CHECK_OK(eddy_sqlite_query(conn, "SELECT 1", NULL, 0, &rows), conn);
        CHECK_EQ(eddy_sqlite_commit(&tx), EDDY_E_SQLITE_STATE); /* rolls back */
        CHECK_EQ(eddy_sqlite_rows_next(rows), EDDY_E_SQLITE_ENDED);
        eddy_sqlite_rows_close(rows);
        CHECK_OK(eddy_sqlite_query(conn, "SELECT 1", NULL, 0, &rows), conn);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(int_of(borrow(eddy_sqlite_writer(db), &loan), "SELECT 1"), 1);
        CHECK_EQ(eddy_sqlite_rows_next(rows), EDDY_E_SQLITE_ENDED);
        eddy_sqlite_rows_close(rows);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(rows_in_memory_end_with_their_transaction_and_their_loan)
{
        run_in_folder(small_rows_end);
}

struct readers {
        eddy_sqlite_rows *rows;
        int64_t count, refused;
};

static int read_with_others(void *arg)
{
        struct readers *readers = arg;
        int err;

        while ((err = eddy_sqlite_rows_next(readers->rows)) != 0) {
                CHECK(err == 1 || err == EDDY_E_SQLITE_STATE);
                readers->count += err == 1;
                readers->refused += err < 0;
                if (err < 0 || readers->count % 1000 == 0)
                        CHECK_EQ(eddy_sleep(EDDY_US(50)), 0);
        }
        return 0;
}

static int shared_rows(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        struct readers readers = { 0 };
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_sqlite_query(borrow(eddy_sqlite_readers(db), &loan),
                                   ENDLESS_ROWS " LIMIT 50000", NULL, 0, &readers.rows),
                 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_with_others, &readers);
        eddy_scope_start(&scope, read_with_others, &readers);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(readers.count, 50000);
        CHECK(readers.refused > 0);
        eddy_sqlite_rows_close(readers.rows);
        return 0;
}

TEST(two_tasks_that_read_the_same_rows_lose_none)
{
        run_in_folder(shared_rows);
}

struct closing {
        eddy_sqlite_rows *rows;
        eddy_sqlite_tx tx;
        bool is_in_call;
        int result;
};

static int read_until_closed(void *arg)
{
        struct closing *closing = arg;

        do {
                closing->is_in_call = true;
                closing->result = eddy_sqlite_rows_next(closing->rows);
                closing->is_in_call = false;
        } while (closing->result == 1);
        return 0;
}

static int roll_back(void *arg)
{
        struct closing *closing = arg;

        closing->is_in_call = true;
        eddy_sqlite_rollback(&closing->tx);
        closing->is_in_call = false;
        return 0;
}

/* Closes rows while another task is in a call that uses them. */
static void close_beside(eddy_task_fn *other, struct closing *closing, eddy_sqlite_conn *conn)
{
        eddy_scope scope;

        CHECK_OK(eddy_sqlite_begin(conn, &closing->tx), conn);
        CHECK_OK(eddy_sqlite_query(conn, ENDLESS_ROWS, NULL, 0, &closing->rows), conn);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, other, closing);
        while (!closing->is_in_call)
                CHECK_EQ(eddy_sleep(0), 0);
        eddy_sqlite_rows_close(closing->rows);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_sqlite_rollback(&closing->tx);
        CHECK_EQ(int_of(conn, "SELECT 1"), 1);
}

static int close_shared(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);

        (void) arg;
        for (int i = 0; i < 20; i++) {
                struct closing closing = { 0 };

                close_beside(read_until_closed, &closing, conn);
                CHECK_EQ(closing.result, EDDY_E_SQLITE_ENDED);
                closing = (struct closing){ 0 };
                close_beside(roll_back, &closing, conn);
        }
        return 0;
}

TEST(rows_may_be_closed_while_another_task_reads_them_or_rolls_back)
{
        run_in_folder(close_shared);
}
