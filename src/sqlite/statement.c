/*
 * sqlite/statement.c - prepared statements: a bounded list of them, and calls that need no rows.
 */
#include <string.h>

#include "base/alloc.h"
#include "sqlite/sqlite.h"

enum { KEPT_SQL_MAX = 1 << 14 }; /* bytes of a text that is kept */

/* --- the list --- */

static void statement_free(struct ed_sqlite_statement *statement)
{
        (void) sqlite3_finalize(statement->handle);
        ed_free(statement);
}

static struct ed_sqlite_statement *find(eddy_sqlite_conn *conn, const char *sql, size_t bytes)
{
        ed_list_each_safe (link, &conn->statements) {
                struct ed_sqlite_statement *statement =
                        ed_container_of(link, struct ed_sqlite_statement, link);

                if (statement->bytes != bytes || memcmp(statement->sql, sql, bytes) != 0)
                        continue;
                ed_list_remove(link);
                conn->statements_count--;
                return statement;
        }
        return NULL;
}

/* SQLite's own retries of a busy schema end early, if they could block each other for ever. */
static int prepare(eddy_sqlite_conn *conn, const char *sql, int bytes, unsigned flags,
                   sqlite3_stmt **ret_handle, const char **ret_tail)
{
        for (int count = 0;; count++) {
                int rc = sqlite3_prepare_v3(conn->handle, sql, bytes, flags, ret_handle, ret_tail);

                if ((rc & 0xff) != SQLITE_BUSY || !sqlite3_get_autocommit(conn->handle) ||
                    !ed_sqlite_pause(count))
                        return rc;
        }
}

/* The text after a statement may have comments, but not a statement. */
static int check_tail(eddy_sqlite_conn *conn, const char *tail)
{
        sqlite3_stmt *next = NULL;

        tail += strspn(tail, " \t\r\n;");
        if (*tail == '\0')
                return 0;
        if (sqlite3_prepare_v2(conn->handle, tail, -1, &next, NULL) == SQLITE_OK && !next)
                return 0;
        (void) sqlite3_finalize(next);
        return ed_sqlite_refuse(conn, -EINVAL,
                                "the text has more than one statement; use eddy_sqlite_script()");
}

static int prepare_new(eddy_sqlite_conn *conn, struct ed_sqlite_statement *statement)
{
        unsigned flags = statement->bytes <= KEPT_SQL_MAX ? SQLITE_PREPARE_PERSISTENT : 0;
        const char *tail;
        int rc = prepare(conn, statement->sql, (int) statement->bytes + 1, flags,
                         &statement->handle, &tail);

        if (rc != SQLITE_OK)
                return ed_sqlite_fail_sql(conn, rc);
        if (!statement->handle)
                return ed_sqlite_refuse(conn, -EINVAL, "the text has no statement");
        return check_tail(conn, tail);
}

static int refuse_ended(eddy_sqlite_conn *conn)
{
        return ed_sqlite_refuse(conn, EDDY_E_SQLITE_ENDED,
                                "the transaction has ended already, or SQLite rolled it back");
}

int ed_sqlite_take(eddy_sqlite_conn *conn, const char *sql,
                   struct ed_sqlite_statement **ret_statement)
{
        size_t bytes = strnlen(sql, EDDY_SQLITE_SQL_MAX + 1);
        struct ed_sqlite_statement *statement;
        int err;

        if (conn->depth > 0 && sqlite3_get_autocommit(conn->handle))
                return refuse_ended(conn);
        if (bytes > EDDY_SQLITE_SQL_MAX)
                return ed_sqlite_refuse(conn, -EMSGSIZE, "the statement is longer than %d bytes",
                                        EDDY_SQLITE_SQL_MAX);
        statement = find(conn, sql, bytes);
        if (statement) {
                *ret_statement = statement;
                return 0;
        }
        statement = ed_alloc_zero(sizeof(*statement) + bytes + 1);
        if (!statement)
                return ed_sqlite_refuse(conn, -ENOMEM, "no memory for a statement");
        memcpy(statement->sql, sql, bytes);
        statement->bytes = bytes;
        err = prepare_new(conn, statement);
        if (err < 0) {
                statement_free(statement);
                return err;
        }
        *ret_statement = statement;
        return 0;
}

void ed_sqlite_give(eddy_sqlite_conn *conn, struct ed_sqlite_statement *statement)
{
        (void) sqlite3_reset(statement->handle);
        (void) sqlite3_clear_bindings(statement->handle);
        if (statement->bytes > KEPT_SQL_MAX) {
                statement_free(statement);
                return;
        }
        ed_list_push_front(&conn->statements, &statement->link);
        if (++conn->statements_count <= conn->db->opts.statements_max)
                return;
        statement = ed_container_of(conn->statements.prev, struct ed_sqlite_statement, link);
        ed_list_remove(&statement->link);
        conn->statements_count--;
        statement_free(statement);
}

void ed_sqlite_forget(eddy_sqlite_conn *conn)
{
        struct ed_list *link;

        while ((link = ed_list_pop_front(&conn->statements)))
                statement_free(ed_container_of(link, struct ed_sqlite_statement, link));
        conn->statements_count = 0;
}

/* --- running --- */

int ed_sqlite_step_first(eddy_sqlite_conn *conn, sqlite3_stmt *handle)
{
        for (int count = 0;; count++) {
                int rc = sqlite3_step(handle);

                if ((rc & 0xff) != SQLITE_BUSY || rc == SQLITE_BUSY_SNAPSHOT ||
                    !sqlite3_get_autocommit(conn->handle))
                        return rc;
                (void) sqlite3_reset(handle);
                if (!ed_sqlite_pause(count))
                        return rc;
        }
}

static int run_to_end(eddy_sqlite_conn *conn, sqlite3_stmt *handle)
{
        int rc = ed_sqlite_step_first(conn, handle);

        while (rc == SQLITE_ROW)
                rc = sqlite3_step(handle);
        return rc == SQLITE_DONE ? 0 : ed_sqlite_fail(conn, rc);
}

static void note_changes(eddy_sqlite_conn *conn, int64_t before)
{
        conn->changes = sqlite3_total_changes64(conn->handle) - before;
        conn->last_id = sqlite3_last_insert_rowid(conn->handle);
}

/* Job. */
static int exec(eddy_sqlite_conn *conn, void *arg)
{
        int64_t before = sqlite3_total_changes64(conn->handle);
        const struct ed_sqlite_run *run = arg;
        struct ed_sqlite_statement *statement;
        int err = ed_sqlite_take(conn, run->sql, &statement);

        if (err < 0)
                return err;
        err = ed_sqlite_bind(conn, statement, run->values, run->count, false);
        if (err == 0)
                err = run_to_end(conn, statement->handle);
        ed_sqlite_give(conn, statement);
        if (err == 0)
                note_changes(conn, before);
        return err;
}

int ed_sqlite_run(eddy_sqlite_conn *conn, const char *sql)
{
        struct ed_sqlite_run run = { .sql = sql };

        return exec(conn, &run);
}

int eddy_sqlite_exec(eddy_sqlite_conn *conn, const char *sql,
                     const struct eddy_sqlite_value *values, size_t count)
{
        struct ed_sqlite_run run = { sql, values, count, 1 };

        return conn && sql && (values || count == 0) ? ed_sqlite_call(conn, NULL, exec, &run)
                                                     : -EINVAL;
}

/* --- a statement for many rows of values --- */

static int run_many(eddy_sqlite_conn *conn, const struct ed_sqlite_run *run)
{
        struct ed_sqlite_statement *statement;
        int err = ed_sqlite_take(conn, run->sql, &statement);

        if (err < 0)
                return err;
        for (size_t i = 0; i < run->times && err == 0; i++) {
                err = ed_sqlite_bind(conn, statement, run->values + i * run->count, run->count,
                                     false);
                if (err == 0)
                        err = run_to_end(conn, statement->handle);
                (void) sqlite3_reset(statement->handle);
                if (err == 0 && eddy_thread_is_stopping())
                        err = -ECANCELED;
        }
        ed_sqlite_give(conn, statement);
        return err;
}

int ed_sqlite_undo(eddy_sqlite_conn *conn, const char *sql)
{
        int rc;

        /* A cancel calls sqlite3_interrupt() at most a few times, and its flag ends with each try. */
        sqlite3_progress_handler(conn->handle, 0, NULL, NULL);
        do {
                rc = sqlite3_exec(conn->handle, sql, NULL, NULL, NULL);
        } while (rc == SQLITE_INTERRUPT);
        ed_sqlite_watch(conn->handle);
        return rc == SQLITE_OK ? 0 : ed_sqlite_fail(conn, rc);
}

int ed_sqlite_group_begin(eddy_sqlite_conn *conn, struct ed_sqlite_group *group)
{
        group->is_nested = !sqlite3_get_autocommit(conn->handle);
        return ed_sqlite_run(conn, group->is_nested ? "SAVEPOINT eddy_group" : "BEGIN IMMEDIATE");
}

int ed_sqlite_group_end(eddy_sqlite_conn *conn, const struct ed_sqlite_group *group, int err)
{
        struct eddy_sqlite_fault fault;

        if (err == 0)
                err = ed_sqlite_run(conn, group->is_nested ? "RELEASE eddy_group" : "COMMIT");
        if (err == 0)
                return 0;
        fault = conn->fault;
        if (!sqlite3_get_autocommit(conn->handle))
                (void) ed_sqlite_undo(conn, group->is_nested
                                                    ? "ROLLBACK TO eddy_group; RELEASE eddy_group"
                                                    : "ROLLBACK");
        conn->fault = fault;
        return err;
}

/* Job. */
static int exec_many(eddy_sqlite_conn *conn, void *arg)
{
        int64_t before = sqlite3_total_changes64(conn->handle);
        struct ed_sqlite_group group;
        int err = ed_sqlite_group_begin(conn, &group);

        if (err < 0)
                return err;
        err = ed_sqlite_group_end(conn, &group, run_many(conn, arg));
        if (err == 0)
                note_changes(conn, before);
        return err;
}

int eddy_sqlite_exec_many(eddy_sqlite_conn *conn, const char *sql,
                          const struct eddy_sqlite_value *values, size_t columns, size_t rows)
{
        struct ed_sqlite_run run = { sql, values, columns, rows };

        if (!conn || !sql || !values || columns == 0)
                return -EINVAL;
        return ed_sqlite_call(conn, NULL, exec_many, &run);
}

/* --- scripts --- */

/* Job. */
static int script(eddy_sqlite_conn *conn, void *arg)
{
        int64_t before = sqlite3_total_changes64(conn->handle);
        const char *sql = arg;
        sqlite3_stmt *handle;
        int err = 0;

        if (conn->depth > 0 && sqlite3_get_autocommit(conn->handle))
                return refuse_ended(conn);
        while (err == 0 && *sql != '\0') {
                int rc = prepare(conn, sql, -1, 0, &handle, &sql);

                if (rc != SQLITE_OK)
                        err = ed_sqlite_fail_sql(conn, rc);
                else if (handle)
                        err = run_to_end(conn, handle);
                (void) sqlite3_finalize(rc == SQLITE_OK ? handle : NULL);
                if (err == 0 && *sql != '\0' && eddy_thread_is_stopping())
                        err = -ECANCELED;
        }
        if (err == 0)
                note_changes(conn, before);
        return err;
}

int eddy_sqlite_script(eddy_sqlite_conn *conn, const char *sql)
{
        if (!conn || !sql)
                return -EINVAL;
        return ed_sqlite_call(conn, NULL, script, (void *) (uintptr_t) sql);
}

int64_t eddy_sqlite_changes(const eddy_sqlite_conn *conn)
{
        return conn ? conn->changes : 0;
}

int64_t eddy_sqlite_last_id(const eddy_sqlite_conn *conn)
{
        return conn ? conn->last_id : 0;
}
