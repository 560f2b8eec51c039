/*
 * sqlite/transaction.c - transactions and savepoints.
 *
 * A connection counts its open transactions; each has a depth and a number, so a transaction that
 * has ended in another way (the connection was reset, an outer one rolled back) is recognised.
 * While the count is above 0 and SQLite is not in a transaction, SQLite has rolled the transaction
 * back: in that case no statement runs (ed_sqlite_take()), since each would be its own transaction.
 */
#include "scope/misuse.h"
#include "sqlite/sqlite.h"

enum { SQL_BYTES = 96 };

static bool is_open(const eddy_sqlite_tx *tx)
{
        return tx && tx->conn && tx->depth > 0 && tx->depth <= tx->conn->depth &&
               tx->conn->numbers[tx->depth - 1] == tx->number;
}

/* Job. */
static int begin(eddy_sqlite_conn *conn, void *arg)
{
        char sql[SQL_BYTES];
        int err;

        (void) arg;
        if (conn->depth == 0 && !sqlite3_get_autocommit(conn->handle))
                return ed_sqlite_refuse(conn, EDDY_E_SQLITE_STATE,
                                        "a transaction is open that the program began with SQL");
        if (conn->depth == 0) {
                err = ed_sqlite_run(conn, conn->is_reader ? "BEGIN" : "BEGIN IMMEDIATE");
        } else {
                sqlite3_snprintf(SQL_BYTES, sql, "SAVEPOINT eddy_%u", conn->depth);
                err = ed_sqlite_run(conn, sql);
        }
        if (err < 0)
                return err;
        conn->numbers[conn->depth++] = ++conn->number;
        return 0;
}

int eddy_sqlite_begin(eddy_sqlite_conn *conn, eddy_sqlite_tx *tx)
{
        int err;

        if (!conn || !tx)
                return -EINVAL;
        err = ed_member_check(&conn->db->member);
        if (err < 0)
                return err;
        if (is_open(tx))
                return -EBUSY;
        if (conn->depth == EDDY_SQLITE_DEPTH_MAX)
                return -E2BIG;
        ed_sqlite_hold(conn);
        err = ed_sqlite_call(conn, NULL, begin, NULL);
        if (err == 0 && conn->is_orphaned)
                err = EDDY_E_SQLITE_ENDED; /* given back by another task: closing rolls back */
        if (err == 0)
                *tx = (eddy_sqlite_tx){ .conn = conn,
                                        .number = conn->number,
                                        .depth = conn->depth };
        ed_sqlite_let_go(conn);
        return err;
}

/* Job. */
static int commit(eddy_sqlite_conn *conn, void *arg)
{
        char sql[SQL_BYTES] = "COMMIT";
        int err;

        (void) arg;
        if (conn->depth > 1)
                sqlite3_snprintf(SQL_BYTES, sql, "RELEASE eddy_%u", conn->depth - 1);
        err = ed_sqlite_run(conn, sql);
        if (err == 0)
                conn->depth--;
        return err;
}

int eddy_sqlite_commit(eddy_sqlite_tx *tx)
{
        eddy_sqlite_conn *conn;
        int err;

        if (!is_open(tx))
                return -EINVAL;
        conn = tx->conn;
        err = ed_member_check(&conn->db->member);
        if (err < 0)
                return err;
        ed_sqlite_hold(conn);
        if (tx->depth < conn->depth)
                err = EDDY_E_SQLITE_STATE;
        else
                err = ed_sqlite_call(conn, NULL, commit, NULL);
        if (err < 0)
                eddy_sqlite_rollback(tx);
        ed_sqlite_let_go(conn);
        *tx = (eddy_sqlite_tx){ .conn = NULL };
        return err;
}

/* Job. The fault of an earlier failure is kept. */
static int rollback(eddy_sqlite_conn *conn, void *arg)
{
        const eddy_sqlite_tx *tx = arg;
        struct eddy_sqlite_fault fault = conn->fault;
        char sql[SQL_BYTES] = "ROLLBACK";
        int err = 0;

        if (conn->rows)
                ed_sqlite_rows_detach(conn, EDDY_E_SQLITE_ENDED);
        if (tx->depth > 1)
                sqlite3_snprintf(SQL_BYTES, sql, "ROLLBACK TO eddy_%u; RELEASE eddy_%u",
                                 tx->depth - 1, tx->depth - 1);
        if (!sqlite3_get_autocommit(conn->handle))
                err = ed_sqlite_undo(conn, sql);
        if (err == 0)
                conn->depth = tx->depth - 1;
        conn->fault = fault;
        return err;
}

void eddy_sqlite_rollback(eddy_sqlite_tx *tx)
{
        if (!is_open(tx) || !ed_misuse_may_close(&tx->conn->db->member, "a transaction of SQLite"))
                return;
        /* If it fails, the pool resets or closes the connection. */
        (void) ed_sqlite_call_shielded(tx->conn, rollback, tx);
        *tx = (eddy_sqlite_tx){ .conn = NULL };
}
