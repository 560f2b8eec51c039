/*
 * test_database.c - databases of SQLite: opening, statements, transactions, loans, backups.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sqlite_test.h"

/* --- opening --- */

static int defaults(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan writer, reader;

        (void) arg;
        borrow(eddy_sqlite_writer(db), &writer);
        borrow(eddy_sqlite_readers(db), &reader);
        CHECK_EQ(int_of(writer.item, "PRAGMA foreign_keys"), 1);
        CHECK_EQ(int_of(writer.item, "PRAGMA synchronous"), 2);
        CHECK_EQ(int_of(reader.item, "PRAGMA query_only"), 1);
        CHECK_EQ(int_of(reader.item, "PRAGMA foreign_keys"), 1);
        CHECK_EQ(int_of(writer.item, "PRAGMA trusted_schema"), 0);
        CHECK_EQ(int_of(writer.item,
                        "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = "
                        "'wal'"),
                 1);
        CHECK_EQ(eddy_sqlite_exec(reader.item, "DELETE FROM log", NULL, 0), -EROFS);
        CHECK_EQ(eddy_sqlite_exec(writer.item, "SELECT \"no string\"", NULL, 0), EDDY_E_SQLITE_SQL);
        CHECK_EQ(eddy_sqlite_exec(writer.item, "INSERT INTO log VALUES (1, 'x', 99)", NULL, 0),
                 EDDY_E_SQLITE_CONSTRAINT);
        CHECK_EQ(eddy_sqlite_fault(writer.item)->code, SQLITE_CONSTRAINT_FOREIGNKEY);
        CHECK_EQ(eddy_sqlite_exec(writer.item, "PRAGMA writable_schema = 1", NULL, 0), 0);
        CHECK(eddy_sqlite_exec(writer.item, "DELETE FROM sqlite_schema", NULL, 0) < 0);
        CHECK_EQ(eddy_pool_release(&writer), 0);
        CHECK_EQ(eddy_pool_release(&reader), 0);
        return 0;
}

TEST(a_database_has_safe_defaults)
{
        run_in_folder(defaults);
}

static int failed_openings(void *arg)
{
        struct eddy_sqlite_fault fault = { 0 };
        struct eddy_sqlite_opts opts = { .flags = EDDY_SQLITE_EXISTING, .ret_fault = &fault };
        eddy_sqlite *db = NULL;
        FILE *file;

        (void) arg;
        CHECK_EQ(eddy_sqlite_open("none.db", &opts, &db), -ENOENT);
        CHECK(access("none.db", F_OK) < 0);
        CHECK_STR(fault.text, "unable to open database file");
        opts.flags = EDDY_SQLITE_READ_ONLY;
        CHECK_EQ(eddy_sqlite_open("none.db", &opts, &db), -ENOENT);
        CHECK_EQ(eddy_sqlite_open("none/none.db", NULL, &db), -ENOENT);
        CHECK_EQ(eddy_sqlite_open("", NULL, &db), -EINVAL);
        CHECK_EQ(eddy_sqlite_open(NULL, NULL, &db), -EINVAL);
        opts = (struct eddy_sqlite_opts){ .flags = 1u << 30 };
        CHECK_EQ(eddy_sqlite_open("x.db", &opts, &db), -EINVAL);
        opts = (struct eddy_sqlite_opts){ .readers_max = EDDY_SQLITE_READERS_MAX + 1 };
        CHECK_EQ(eddy_sqlite_open("x.db", &opts, &db), -EINVAL);
        file = fopen("text.db", "w");
        CHECK(file &&
              fputs("This is not a database, but it is long enough to look like one. And again: "
                    "this is not a database, but it is long enough to look like one.",
                    file) >= 0);
        fclose(file);
        opts = (struct eddy_sqlite_opts){ .ret_fault = &fault };
        CHECK_EQ(eddy_sqlite_open("text.db", &opts, &db), EDDY_E_SQLITE_CORRUPT);
        CHECK_EQ(fault.code, SQLITE_NOTADB);
        CHECK(db == NULL);
        CHECK_EQ(eddy_sqlite_open("file:x.db?mode=memory", NULL, &db), 0);
        CHECK(access("file:x.db?mode=memory", F_OK) == 0);
        eddy_sqlite_close(db);
        return 0;
}

TEST(a_database_that_cannot_be_opened_is_an_error)
{
        run_in_folder(failed_openings);
        CHECK_EQ(eddy_sqlite_open("x.db", NULL, &(eddy_sqlite *){ NULL }), EDDY_E_RUN_NOT_RUNNING);
}

static int schemas(void *arg)
{
        static const char schema[] = "CREATE TABLE IF NOT EXISTS a (id INTEGER PRIMARY KEY);"
                                     "CREATE TABLE IF NOT EXISTS b (id INTEGER PRIMARY KEY)";
        struct eddy_sqlite_fault fault = { 0 };
        struct eddy_sqlite_opts opts = { .schema = schema, .ret_fault = &fault };
        eddy_sqlite *db;
        eddy_pool_loan loan;

        (void) arg;
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(eddy_sqlite_open("new.db", &opts, &db), 0);
                borrow(eddy_sqlite_readers(db), &loan);
                CHECK_EQ(int_of(loan.item, "SELECT count(*) FROM sqlite_schema"), 2);
                CHECK_EQ(eddy_pool_release(&loan), 0);
                eddy_sqlite_close(db);
        }
        opts.schema = "CREATE TABLE c (id); CREATE TABEL d (id)";
        db = NULL;
        CHECK_EQ(eddy_sqlite_open("new.db", &opts, &db), EDDY_E_SQLITE_SQL);
        CHECK(strstr(fault.text, "TABEL"));
        CHECK(db == NULL);
        opts.flags = EDDY_SQLITE_READ_ONLY;
        CHECK_EQ(eddy_sqlite_open("new.db", &opts, &db), -EINVAL);
        opts = (struct eddy_sqlite_opts){ .schema = schema };
        CHECK_EQ(eddy_sqlite_open(":memory:", &opts, &db), 0);
        borrow(eddy_sqlite_readers(db), &loan);
        CHECK_EQ(int_of(loan.item, "SELECT count(*) FROM b"), 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        eddy_sqlite_close(db);
        return 0;
}

TEST(an_opening_makes_the_schema)
{
        run_in_folder(schemas);
}

static int later_openings(void *arg)
{
        struct eddy_pool_fault fault;
        eddy_pool_loan loan = { .ret_fault = &fault };
        eddy_sqlite *db;

        (void) arg;
        CHECK_EQ(eddy_sqlite_open("app.db", NULL, &db), 0);
        CHECK_EQ(rename("app.db", "moved.db"), 0);
        CHECK_EQ(eddy_pool_acquire(eddy_sqlite_readers(db), &loan), -ENOENT);
        CHECK_STR(fault.text, "unable to open database file");
        CHECK_STR(fault.code, "14"); /* SQLITE_CANTOPEN */
        CHECK_EQ(rename("moved.db", "app.db"), 0);
        CHECK_EQ(eddy_pool_acquire(eddy_sqlite_readers(db), &loan), 0);
        CHECK_STR(fault.text, "");
        CHECK_EQ(eddy_pool_release(&loan), 0);
        eddy_sqlite_close(db);
        return 0;
}

TEST(a_later_connection_that_cannot_be_opened_gives_its_loan_the_reason)
{
        run_in_folder(later_openings);
}

static int twice(struct sqlite3 *handle, void *arg)
{
        (void) handle;
        return *(int *) arg;
}

static int with_setup(void *arg)
{
        int result = 7;
        struct eddy_sqlite_opts opts = { .setup = twice, .arg = &result };
        eddy_sqlite *db = NULL;

        (void) arg;
        CHECK_EQ(eddy_sqlite_open("app.db", &opts, &db), 0);
        eddy_sqlite_close(db);
        result = -EPROTO;
        CHECK_EQ(eddy_sqlite_open("app.db", &opts, &db), -EPROTO);
        return 0;
}

TEST(setup_is_called_for_each_connection)
{
        run_in_folder(with_setup);
}

static int in_memory(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = NULL;
        eddy_pool_loan loan;

        (void) arg;
        CHECK_EQ(eddy_sqlite_open(":memory:", NULL, &db), 0);
        must(borrow(eddy_sqlite_writer(db), &loan), "CREATE TABLE t (i)");
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(int_of(borrow(eddy_sqlite_readers(db), &loan), "SELECT count(*) FROM t"), 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(eddy_sqlite_backup(db, "copy.db", NULL), 0);
        CHECK(access("copy.db", F_OK) == 0);
        return 0;
}

TEST(a_database_in_memory_has_one_connection)
{
        run_in_folder(in_memory);
}

static int read_only(void *arg)
{
        struct eddy_sqlite_opts opts = { .flags = EDDY_SQLITE_READ_ONLY };
        eddy_sqlite *db = open_app();
        eddy_pool_loan loan = { 0 };

        (void) arg;
        eddy_sqlite_close(db);
        CHECK_EQ(eddy_sqlite_open("app.db", &opts, &db), 0);
        CHECK(eddy_sqlite_writer(db) == NULL);
        CHECK_EQ(eddy_pool_acquire(eddy_sqlite_writer(db), &loan), -EINVAL);
        CHECK_EQ(int_of(borrow(eddy_sqlite_readers(db), &loan), "SELECT count(*) FROM users"), 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        eddy_sqlite_close(db);
        return 0;
}

TEST(a_read_only_database_has_no_writer)
{
        run_in_folder(read_only);
}

/* --- statements --- */

static int statements(void *arg)
{
        const struct eddy_sqlite_value odd = { .type = 99 };
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);

        (void) arg;
        CHECK_OK(eddy_sqlite_exec(conn, "INSERT INTO users VALUES (?, ?, ?, ?) -- and a comment",
                                  EDDY_SQLITE_BIND(eddy_sqlite_int(7), eddy_sqlite_text("Ann"),
                                                   eddy_sqlite_real(1.5),
                                                   eddy_sqlite_blob("\0x", 2))),
                 conn);
        CHECK_EQ(eddy_sqlite_changes(conn), 1);
        CHECK_EQ(eddy_sqlite_last_id(conn), 7);
        CHECK_EQ(eddy_sqlite_exec(conn, "INSERT INTO users (name) VALUES (?)",
                                  EDDY_SQLITE_BIND(eddy_sqlite_text("Ann"))),
                 EDDY_E_SQLITE_UNIQUE);
        CHECK_STR(eddy_sqlite_fault(conn)->text, "UNIQUE constraint failed: users.name");
        CHECK_EQ(eddy_sqlite_exec(conn, "SELEC 1", NULL, 0), EDDY_E_SQLITE_SQL);
        CHECK_EQ(eddy_sqlite_fault(conn)->offset, 0);
        CHECK_EQ(eddy_sqlite_exec(conn, "DELETE FROM users WHERE id = ?", NULL, 0),
                 EDDY_E_SQLITE_SQL);
        CHECK_STR(eddy_sqlite_fault(conn)->text,
                  "the statement has 1 parameters, but got 0 values");
        CHECK_EQ(eddy_sqlite_exec(conn, "SELECT ?", &odd, 1), -EINVAL);
        CHECK_EQ(eddy_sqlite_exec(conn, "SELECT 1; SELECT 2", NULL, 0), -EINVAL);
        CHECK_EQ(eddy_sqlite_exec(conn, " -- nothing", NULL, 0), -EINVAL);
        CHECK_EQ(eddy_sqlite_exec(conn, "", NULL, 0), -EINVAL);
        CHECK_EQ(eddy_sqlite_exec(conn, NULL, NULL, 0), -EINVAL);
        CHECK_EQ(eddy_sqlite_exec(NULL, "SELECT 1", NULL, 0), -EINVAL);
        CHECK_EQ(eddy_sqlite_script(conn,
                                    "INSERT INTO log VALUES (1, 'a', 7); oops; DELETE FROM log"),
                 EDDY_E_SQLITE_SQL);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 1);
        /* NULLs. */
        CHECK_OK(eddy_sqlite_exec(conn, "INSERT INTO users VALUES (?, ?, ?, ?)",
                                  EDDY_SQLITE_BIND(eddy_sqlite_null(), eddy_sqlite_text(NULL),
                                                   eddy_sqlite_text_n("ab", 1),
                                                   eddy_sqlite_blob(NULL, 0))),
                 conn);
        CHECK_EQ(int_of(conn,
                        "SELECT count(*) FROM users WHERE name IS NULL AND data IS NULL AND score "
                        "= 'a'"),
                 1);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(a_statement_takes_values_and_reports_failures)
{
        run_in_folder(statements);
}

static int limits(void *arg)
{
        struct eddy_sqlite_opts opts = { .row_bytes_max = 4096, .statements_max = 3 };
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = NULL;
        static char text[EDDY_SQLITE_SQL_MAX + 2];
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn;
        eddy_sqlite_rows *rows = NULL;

        (void) arg;
        CHECK_EQ(eddy_sqlite_open("app.db", &opts, &db), 0);
        conn = borrow(eddy_sqlite_writer(db), &loan);
        must(conn, "CREATE TABLE t (a, b)");
        memset(text, ' ', sizeof(text) - 1);
        CHECK_EQ(eddy_sqlite_exec(conn, text, NULL, 0), -EMSGSIZE);
        CHECK_EQ(eddy_sqlite_exec(conn, "INSERT INTO t VALUES (?, 1)",
                                  EDDY_SQLITE_BIND(eddy_sqlite_text_n(text, 5000))),
                 -EMSGSIZE);
        CHECK_EQ(eddy_sqlite_exec(conn, "SELECT zeroblob(5000)", NULL, 0), -EMSGSIZE);
        /* A row of many values may be longer than a row of a table. */
        CHECK_OK(eddy_sqlite_query(conn, "SELECT zeroblob(4000), zeroblob(4000)", NULL, 0, &rows),
                 conn);
        CHECK_EQ(eddy_sqlite_rows_next(rows), 1);
        eddy_sqlite_rows_close(rows);
        for (int i = 0; i < 40; i++) {
                char sql[64];

                snprintf(sql, sizeof(sql), "SELECT %d", i % 7);
                CHECK_EQ(int_of(conn, sql), i % 7);
        }
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(lengths_and_kept_statements_are_limited)
{
        run_in_folder(limits);
}

static int many(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        static struct eddy_sqlite_value values[2000];
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        eddy_sqlite_tx tx = { 0 };

        (void) arg;
        for (int i = 0; i < 1000; i++) {
                values[2 * i] = eddy_sqlite_int(i);
                values[2 * i + 1] = eddy_sqlite_text("text");
        }
        CHECK_OK(eddy_sqlite_exec_many(conn, "INSERT INTO log (id, text) VALUES (?, ?)", values, 2,
                                       1000),
                 conn);
        CHECK_EQ(eddy_sqlite_changes(conn), 1000);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 1000);
        /* All or none. */
        values[0] = eddy_sqlite_int(1001);
        CHECK_EQ(eddy_sqlite_exec_many(conn, "INSERT INTO log (id, text) VALUES (?, ?)", values, 2,
                                       1000),
                 EDDY_E_SQLITE_UNIQUE);
        CHECK_STR(eddy_sqlite_fault(conn)->text, "UNIQUE constraint failed: log.id");
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 1000);
        CHECK_OK(eddy_sqlite_begin(conn, &tx), conn);
        must(conn, "DELETE FROM log WHERE id < 500");
        CHECK_EQ(eddy_sqlite_exec_many(conn, "INSERT INTO log (id, text) VALUES (?, ?)", values, 2,
                                       1000),
                 EDDY_E_SQLITE_UNIQUE);
        CHECK_OK(eddy_sqlite_commit(&tx), conn);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 500);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(many_rows_of_values_are_stored_all_or_none)
{
        run_in_folder(many);
}

/* --- transactions --- */

static int transactions(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        eddy_sqlite_tx outer = { 0 }, inner = { 0 }, third = { 0 };

        (void) arg;
        CHECK_OK(eddy_sqlite_begin(conn, &outer), conn);
        CHECK_EQ(eddy_sqlite_begin(conn, &outer), -EBUSY);
        must(conn, "INSERT INTO log (text) VALUES ('outer')");
        CHECK_OK(eddy_sqlite_begin(conn, &inner), conn);
        must(conn, "INSERT INTO log (text) VALUES ('inner')");
        CHECK_OK(eddy_sqlite_begin(conn, &third), conn);
        must(conn, "INSERT INTO log (text) VALUES ('third')");
        CHECK_OK(eddy_sqlite_commit(&third), conn);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 3);
        eddy_sqlite_rollback(&inner);
        eddy_sqlite_rollback(&inner);
        CHECK_EQ(eddy_sqlite_commit(&inner), -EINVAL);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 1);
        CHECK_OK(eddy_sqlite_commit(&outer), conn);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 1);
        /* The outer one ends those inside. */
        CHECK_OK(eddy_sqlite_begin(conn, &outer), conn);
        CHECK_OK(eddy_sqlite_begin(conn, &inner), conn);
        must(conn, "DELETE FROM log");
        eddy_sqlite_rollback(&outer);
        CHECK_EQ(eddy_sqlite_commit(&inner), -EINVAL);
        eddy_sqlite_rollback(&inner);
        /* A commit in the wrong order. */
        inner = (eddy_sqlite_tx){ 0 };
        CHECK_OK(eddy_sqlite_begin(conn, &outer), conn);
        CHECK_OK(eddy_sqlite_begin(conn, &inner), conn);
        must(conn, "DELETE FROM log");
        CHECK_EQ(eddy_sqlite_commit(&outer), EDDY_E_SQLITE_STATE);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 1);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(transactions_nest_and_roll_back)
{
        run_in_folder(transactions);
}

static int ended_by_sqlite(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        eddy_sqlite_tx tx = { 0 };

        (void) arg;
        must(conn, "INSERT INTO users (id, name) VALUES (1, 'Ann')");
        CHECK_OK(eddy_sqlite_begin(conn, &tx), conn);
        CHECK_EQ(eddy_sqlite_exec(conn, "INSERT OR ROLLBACK INTO users (id) VALUES (1)", NULL, 0),
                 EDDY_E_SQLITE_UNIQUE);
        /* These statements would each be their own transaction. */
        CHECK_EQ(eddy_sqlite_exec(conn, "DELETE FROM users", NULL, 0), EDDY_E_SQLITE_ENDED);
        CHECK_EQ(eddy_sqlite_script(conn, "DELETE FROM users"), EDDY_E_SQLITE_ENDED);
        CHECK_EQ(eddy_sqlite_commit(&tx), EDDY_E_SQLITE_ENDED);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM users"), 1);
        CHECK_OK(eddy_sqlite_begin(conn, &tx), conn);
        must(conn, "DELETE FROM users");
        CHECK_OK(eddy_sqlite_commit(&tx), conn);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(a_transaction_that_sqlite_rolled_back_accepts_no_statement)
{
        run_in_folder(ended_by_sqlite);
}

static int fail_inside(eddy_sqlite_conn *conn)
{
        EDDY_AUTO(eddy_sqlite_tx) eddy_sqlite_tx tx = { 0 };
        int err = eddy_sqlite_begin(conn, &tx);

        if (err == 0)
                err = eddy_sqlite_exec(conn, "INSERT INTO log (text) VALUES ('x')", NULL, 0);
        return err < 0 ? err : -EPROTO;
}

static int resets(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool *pool = eddy_sqlite_writer(db);
        struct eddy_pool_stats stats;
        eddy_sqlite_rows *rows = NULL;
        eddy_sqlite_tx tx = { 0 };
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(pool, &loan);

        (void) arg;
        CHECK_EQ(fail_inside(conn), -EPROTO);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 0);
        /* Given back in a transaction and with rows. */
        CHECK_OK(eddy_sqlite_begin(conn, &tx), conn);
        must(conn, "INSERT INTO log (text) VALUES ('x')");
        CHECK_OK(eddy_sqlite_query(conn, ENDLESS_ROWS, NULL, 0, &rows), conn);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        conn = borrow(pool, &loan);
        CHECK_EQ(int_of(conn, "SELECT count(*) FROM log"), 0);
        eddy_sqlite_rollback(&tx);
        while (eddy_sqlite_rows_next(rows) > 0)
                ;
        CHECK_EQ(eddy_sqlite_rows_next(rows), EDDY_E_SQLITE_ENDED);
        eddy_sqlite_rows_close(rows);
        /* A transaction that SQL began. */
        must(conn, "BEGIN");
        CHECK_EQ(eddy_pool_release(&loan), 0);
        conn = borrow(pool, &loan);
        must(conn, "BEGIN");
        CHECK_EQ(eddy_pool_release(&loan), 0);
        eddy_pool_stats(pool, &stats);
        CHECK_EQ(stats.opened, 1);
        return 0;
}

TEST(a_connection_is_reset_before_its_next_loan)
{
        run_in_folder(resets);
}

/* --- several readers, one writer --- */

static int snapshots(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan writer, first, second;
        eddy_sqlite_tx tx = { 0 };

        (void) arg;
        borrow(eddy_sqlite_writer(db), &writer);
        borrow(eddy_sqlite_readers(db), &first);
        borrow(eddy_sqlite_readers(db), &second);
        CHECK_OK(eddy_sqlite_begin(first.item, &tx), first.item);
        CHECK_EQ(int_of(first.item, "SELECT count(*) FROM log"), 0);
        must(writer.item, "INSERT INTO log (text) VALUES ('x')");
        CHECK_EQ(int_of(first.item, "SELECT count(*) FROM log"), 0);
        CHECK_EQ(int_of(second.item, "SELECT count(*) FROM log"), 1);
        CHECK_OK(eddy_sqlite_commit(&tx), first.item);
        CHECK_EQ(int_of(first.item, "SELECT count(*) FROM log"), 1);
        /* What a transaction has read is too old to write. */
        must(writer.item, "BEGIN");
        CHECK_EQ(int_of(writer.item, "SELECT count(*) FROM log"), 1);
        must(second.item, "PRAGMA query_only = OFF");
        must(second.item, "INSERT INTO log (text) VALUES ('y')");
        CHECK_EQ(eddy_sqlite_exec(writer.item, "DELETE FROM log", NULL, 0), EDDY_E_SQLITE_BUSY);
        CHECK_EQ(eddy_sqlite_fault(writer.item)->code, SQLITE_BUSY_SNAPSHOT);
        CHECK_EQ(eddy_pool_release(&second), 0);
        CHECK_EQ(eddy_pool_release(&first), 0);
        CHECK_EQ(eddy_pool_release(&writer), 0);
        return 0;
}

TEST(readers_have_snapshots_while_the_writer_writes)
{
        run_in_folder(snapshots);
}

static int second_task(void *arg)
{
        eddy_sqlite_conn *conn = arg;
        eddy_sqlite_tx tx = { 0 };

        CHECK_EQ(eddy_sqlite_exec(conn, "SELECT 1", NULL, 0), EDDY_E_SQLITE_STATE);
        CHECK_EQ(eddy_sqlite_begin(conn, &tx), EDDY_E_SQLITE_STATE);
        return -EPROTO;
}

static int endless(void *arg)
{
        return eddy_sqlite_exec(arg, ENDLESS, NULL, 0);
}

static int shared(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        eddy_sqlite_rows *rows = NULL;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, endless, conn);
        eddy_scope_start(&scope, second_task, conn);
        CHECK_EQ(eddy_scope_end(&scope), -EPROTO);
        /* Rows are a call that goes on. */
        CHECK_OK(eddy_sqlite_query(conn, ENDLESS_ROWS, NULL, 0, &rows), conn);
        CHECK_EQ(eddy_sqlite_exec(conn, "SELECT 1", NULL, 0), EDDY_E_SQLITE_STATE);
        eddy_sqlite_rows_close(rows);
        CHECK_EQ(int_of(conn, "SELECT 1"), 1);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

/* D9: concurrent use is an error. */
TEST(a_connection_does_one_call_at_a_time)
{
        run_in_folder(shared);
}

static int give_back_early(void *arg)
{
        eddy_pool_loan *loan = arg;

        CHECK_EQ(eddy_pool_release(loan), 0);
        return -EPROTO;
}

static int given_back_in_a_call(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan, other;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, endless, conn);
        eddy_scope_start(&scope, give_back_early, &loan);
        CHECK_EQ(eddy_scope_end(&scope), -EPROTO);
        CHECK_EQ(int_of(borrow(eddy_sqlite_writer(db), &other), "SELECT 1"), 1);
        CHECK_EQ(eddy_pool_release(&other), 0);
        return 0;
}

TEST(a_connection_that_is_given_back_in_a_call_is_closed)
{
        run_in_folder(given_back_in_a_call);
}

static int own_transaction(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        eddy_sqlite_tx tx = { 0 };

        (void) arg;
        must(conn, "BEGIN");
        CHECK_EQ(eddy_sqlite_begin(conn, &tx), EDDY_E_SQLITE_STATE);
        CHECK(strstr(eddy_sqlite_fault(conn)->text, "began with SQL"));
        must(conn, "COMMIT");
        CHECK_OK(eddy_sqlite_begin(conn, &tx), conn);
        CHECK_OK(eddy_sqlite_commit(&tx), conn);
        return 0;
}

TEST(a_transaction_does_not_begin_inside_one_of_the_programs_own)
{
        run_in_folder(own_transaction);
}

static int faults(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        struct eddy_sqlite_fault fault = { 0 };
        struct eddy_sqlite_backup_opts opts = { .ret_fault = &fault };

        (void) arg;
        CHECK_EQ(eddy_sqlite_exec(conn, "SELECT none", NULL, 0), EDDY_E_SQLITE_SQL);
        CHECK(eddy_sqlite_fault(conn)->code != 0 && eddy_sqlite_fault(conn)->offset == 7);
        must(conn, "SELECT 1");
        CHECK_EQ(eddy_sqlite_fault(conn)->code, 0);
        CHECK_EQ(eddy_sqlite_fault(conn)->offset, -1);
        CHECK_STR(eddy_sqlite_fault(conn)->text, "");
        CHECK_EQ(eddy_sqlite_backup(db, "none/copy.db", &opts), -ENOENT);
        CHECK_EQ(fault.code, SQLITE_CANTOPEN);
        CHECK_STR(fault.text, "unable to open database file");
        return 0;
}

TEST(a_fault_is_that_of_the_last_call_or_of_the_backup)
{
        run_in_folder(faults);
}

static int secrets(void *arg)
{
        static const struct {
                const char *sql, *text;
        } wrong[] = {
                { "SELECT json_extract('{}', ?)", "SQL logic error" },
                { "ATTACH ? AS x", "unable to open database file" },
                { "SELECT * FROM found WHERE found MATCH ?", "SQL logic error" },
        };
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        const struct eddy_sqlite_fault *fault = eddy_sqlite_fault(conn);

        (void) arg;
        must(conn, "CREATE VIRTUAL TABLE found USING fts5 (text)");
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                CHECK(eddy_sqlite_exec(conn, wrong[i].sql,
                                       EDDY_SQLITE_BIND(eddy_sqlite_text("/none/hunter2"))) < 0);
                CHECK_STR(fault->text, wrong[i].text);
                CHECK(fault->detail[0]);
        }
        CHECK_EQ(eddy_sqlite_exec(conn, "SELECT json('{')", NULL, 0), EDDY_E_SQLITE_SQL);
        CHECK_STR(fault->text, "malformed JSON");
        CHECK_EQ(eddy_sqlite_exec(conn, "SELECT none", NULL, 0), EDDY_E_SQLITE_SQL);
        CHECK_STR(fault->text, "no such column: none");
        CHECK_STR(fault->detail, "");
        return 0;
}

TEST(the_text_of_a_fault_has_no_values)
{
        run_in_folder(secrets);
}

/* --- backups --- */

struct steps {
        eddy_sqlite *db;
        int count;
        eddy_scope *to_cancel;
};

static void on_step(void *arg, uint32_t left, uint32_t pages)
{
        struct steps *steps = arg;

        CHECK(left < pages);
        if (++steps->count == 3 && steps->to_cancel)
                eddy_scope_cancel(steps->to_cancel);
}

static int write_more(void *arg)
{
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(arg), &loan);

        for (int i = 0; i < 20; i++)
                must(conn, "INSERT INTO log (text) VALUES ('more')");
        return eddy_pool_release(&loan);
}

static int64_t count_in(const char *path)
{
        eddy_sqlite *db = NULL;
        eddy_pool_loan loan;
        int64_t n;

        CHECK_EQ(eddy_sqlite_open(path, NULL, &db), 0);
        n = int_of(borrow(eddy_sqlite_readers(db), &loan), "SELECT count(*) FROM log");
        CHECK_EQ(int_of(loan.item, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        eddy_sqlite_close(db);
        return n;
}

static int backups(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        struct steps steps = { .db = db };
        struct eddy_sqlite_backup_opts opts = { .step_pages = 4,
                                                .on_step = on_step,
                                                .arg = &steps };
        eddy_pool_loan loan;
        eddy_scope scope;

        (void) arg;
        CHECK_OK(eddy_sqlite_exec(
                         borrow(eddy_sqlite_writer(db), &loan),
                         "INSERT INTO log (text) SELECT hex(zeroblob(1000)) FROM (WITH "
                         "RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT "
                         "200) SELECT i FROM n)",
                         NULL, 0),
                 loan.item);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        /* A writer does not disturb it, and is not in it. */
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, write_more, db);
        CHECK_EQ(eddy_sqlite_backup(db, "copy.db", &opts), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(steps.count > 10);
        CHECK(count_in("copy.db") <= 220);
        CHECK_EQ(count_in("app.db"), 220);
        CHECK_EQ(eddy_sqlite_backup(db, "copy.db", NULL), 0);
        CHECK_EQ(count_in("copy.db"), 220);
        /* Cancelled, a new file is removed, and an old one unchanged. */
        CHECK_EQ(write_more(db), 0);
        for (int i = 0; i < 2; i++) {
                steps = (struct steps){ .to_cancel = &scope };
                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_sqlite_backup(db, i ? "copy.db" : "new.db", &opts), -ECANCELED);
                CHECK_EQ(eddy_scope_end(&scope), 0);
        }
        CHECK(access("new.db", F_OK) < 0);
        CHECK_EQ(count_in("copy.db"), 220);
        CHECK_EQ(eddy_sqlite_backup(db, "none/copy.db", NULL), -ENOENT);
        CHECK_EQ(eddy_sqlite_backup(db, "", NULL), -EINVAL);
        return 0;
}

TEST(a_backup_is_a_snapshot_and_ends_at_a_cancel)
{
        run_in_folder(backups);
}

/* --- closing --- */

static int closing(void *arg)
{
        eddy_sqlite *db = open_app();
        eddy_pool_loan loan, writer;
        int before = descriptors();
        eddy_scope scope;

        (void) arg;
        eddy_sqlite_close(db);
        CHECK(access("app.db-wal", F_OK) < 0);
        /* In a cancelled task it leaves the WAL, and the loan remains valid. */
        db = open_app();
        CHECK_EQ(descriptors(), before);
        borrow(eddy_sqlite_readers(db), &loan);
        must(borrow(eddy_sqlite_writer(db), &writer), "DELETE FROM log");
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        eddy_sqlite_close(db);
        (void) eddy_scope_end(&scope);
        CHECK_EQ(int_of(loan.item, "SELECT count(*) FROM log"), 0);
        CHECK_EQ(eddy_pool_release(&writer), 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        eddy_sqlite_close(NULL);
        return 0;
}

TEST(closing_waits_for_loans_unless_it_is_cancelled)
{
        run_in_folder(closing);
}

static int call_it(struct sqlite3 *handle, void *arg)
{
        *(int *) arg = sqlite3_get_autocommit(handle);
        return 5;
}

static int foreign(void *arg)
{
        EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = open_app();
        eddy_pool_loan loan;
        eddy_sqlite_conn *conn = borrow(eddy_sqlite_writer(db), &loan);
        int is_auto = 0;

        (void) arg;
        CHECK_EQ(eddy_sqlite_call(conn, call_it, &is_auto), 5);
        CHECK_EQ(is_auto, 1);
        CHECK_EQ(eddy_sqlite_call(conn, NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_sqlite_fault(NULL)->code, 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(a_function_gets_the_handle)
{
        run_in_folder(foreign);
}
