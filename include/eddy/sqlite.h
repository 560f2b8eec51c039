/*
 * eddy/sqlite.h - SQLite databases: one writer and several readers on threads.  In libeddy-sqlite.
 *
 *     EDDY_AUTO(eddy_sqlite) eddy_sqlite *db = NULL;
 *     EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
 *
 *     err = eddy_sqlite_open("app.db", NULL, &db);
 *     if (err == 0)
 *             err = eddy_pool_acquire(eddy_sqlite_writer(db), &loan);
 *     if (err == 0)
 *             err = eddy_sqlite_exec(loan.item, "INSERT INTO users (id, name) VALUES (?, ?)",
 *                                    EDDY_SQLITE_BIND(eddy_sqlite_int(7), eddy_sqlite_text("Ann")));
 *
 * A connection is the item of a loan (eddy/pool.h).  There is one connection that writes, and up to
 * readers_max connections that only read; in WAL mode they do not wait for each other.  Each call
 * runs on a thread, and the loop continues.
 *
 * A cancel or a deadline interrupts the running statement, and no other.  If another process has
 * locked the database, the call waits until the lock is free or the call's scope is cancelled; a
 * busy database is not an error, except EDDY_E_SQLITE_BUSY, if waiting would not help.
 *
 * A connection runs one call at a time; while rows are open (eddy/sqlite_rows.h), it runs no other
 * call.  Calls of a second task return EDDY_E_SQLITE_STATE.
 *
 * Errors of all calls that run SQL, in addition to those that each call names:
 *         EDDY_E_SQLITE_SQL         the statement, or the number of values, is wrong
 *         EDDY_E_SQLITE_UNIQUE      a row with this key exists
 *         EDDY_E_SQLITE_CONSTRAINT  any other constraint
 *         EDDY_E_SQLITE_BUSY        the snapshot of a transaction that only read is too old to write
 *         EDDY_E_SQLITE_CORRUPT     not a database, or damaged
 *         EDDY_E_SQLITE_STATE       the connection is in use
 *         EDDY_E_SQLITE_ENDED       SQLite has rolled back the transaction; nothing was done
 *         EDDY_E_SQLITE_FAILED      any other failure; eddy_sqlite_fault() names it
 *         -EACCES, -EROFS, -ENOSPC, -EIO, -ENOENT, -EMSGSIZE (a value, row or statement is above
 *         its limit), -EINVAL (also: an empty text, or more than one statement), -ENOMEM, -EAGAIN (no
 *         thread), -ECANCELED
 */
#ifndef EDDY_SQLITE_H
#define EDDY_SQLITE_H

#include "eddy/def.h"
#include "eddy/pool.h"
#include "eddy/sqlite_value.h"

EDDY_BEGIN_DECLS

typedef struct eddy_sqlite eddy_sqlite;
typedef struct eddy_sqlite_conn eddy_sqlite_conn;
struct sqlite3; /* of <sqlite3.h> */

/*
 * The reason for a failure.  'text' may contain parts of the statement and names of the schema, but no
 * values, except a number that a table of fields refuses; it may be logged.  SQLite's own message is
 * in 'detail' if it may contain values, such as a wrong JSON path, or if a function of the program
 * made it; 'text' is then the general sentence for the code.
 */
struct eddy_sqlite_fault {
        int code;       /* SQLite's extended result code; 0: the failure is not SQLite's */
        int offset;     /* of the wrong part of the statement, in bytes; -1: unknown */
        char text[256]; /* one sentence or less */
        char detail[256];
};

/* ---- databases ------------------------------------------------------------------------------- */

enum {
        EDDY_SQLITE_READ_ONLY = 1 << 0,   /* no connection writes; the file must exist */
        EDDY_SQLITE_EXISTING = 1 << 1,    /* do not create the file */
        EDDY_SQLITE_SYNC_NORMAL = 1 << 2, /* see eddy_sqlite_open() */
};

enum {
        EDDY_SQLITE_READERS_MAX = 256,
        EDDY_SQLITE_STATEMENTS_MAX = 4096, /* kept by a connection */
        EDDY_SQLITE_SQL_MAX = 1 << 20,     /* bytes of a statement */
        EDDY_SQLITE_ROW_BYTES_MAX = 1 << 29,
        EDDY_SQLITE_STEP_PAGES_MAX = 1 << 20, /* of a backup */
        EDDY_SQLITE_DEPTH_MAX = 16,           /* nested transactions */
};

/* All zero is the default. */
struct eddy_sqlite_opts {
        uint32_t flags EDDY_UNSET;          /* EDDY_SQLITE_* */
        uint32_t readers_max EDDY_UNSET;    /* connections that read; 0: 4 */
        uint32_t statements_max EDDY_UNSET; /* prepared statements that a connection keeps; 0: 64 */
        uint32_t row_bytes_max EDDY_UNSET;  /* of a value, and of a row; 4,096 or more; 0: 16 MiB */
        /*
         * Called on a thread for each new connection, for example to add SQL functions or run
         * PRAGMAs.  If it returns a negative value, the opening fails with this error.
         */
        int (*setup)(struct sqlite3 *handle, void *arg) EDDY_UNSET;
        void *arg EDDY_UNSET;
        /* statements that eddy_sqlite_open() runs as eddy_sqlite_script() does, such as
         * "CREATE TABLE IF NOT EXISTS ..."; NULL: none.  Not with EDDY_SQLITE_READ_ONLY. */
        const char *schema EDDY_UNSET;
        /* filled in if eddy_sqlite_open() fails; or NULL */
        struct eddy_sqlite_fault *ret_fault EDDY_UNSET;
        uintptr_t reserved[5] EDDY_UNSET; /* zero */
};

/*
 * Open a database file, or create it, with one connection that writes.  Connections that read are
 * opened when they are needed.  'opts' may be NULL.
 *
 * The file is in WAL mode.  A commit is on the disk when the call returns (synchronous = FULL); with
 * EDDY_SQLITE_SYNC_NORMAL the last commits before a power failure may be lost, but not those before a
 * crash of the program, and the database is never damaged.  Foreign keys are enforced.  SQL cannot
 * change the file's inner structures (defensive), call unsafe functions from the schema
 * (trusted_schema off), or write a string in double quotes.
 *
 * The path ":memory:" opens a database in memory, with a single connection for both kinds of loans.
 * The database ends when that connection is closed: do not discard the connection.  A path that
 * begins with "file:" is a file's name and not a URI.
 *
 * Suspends: yes.
 * Errors: those of SQL, and of 'setup'
 *         EDDY_E_SQLITE_FAILED  also: the file system has no WAL mode
 *         EDDY_E_RUN_NOT_RUNNING
 * Owns: returns (owned) '*ret_db', to be closed by eddy_sqlite_close().
 */
EDDY_API EDDY_MUST_USE int eddy_sqlite_open(const char *path, const struct eddy_sqlite_opts *opts,
                                            eddy_sqlite **ret_db);

/*
 * Return the pools of connections, for eddy_pool_acquire().  A connection that comes back in a
 * transaction or with open rows is reset.  With EDDY_SQLITE_READ_ONLY there is no writer, and
 * eddy_sqlite_writer() returns NULL.  The writer is lent first come, first served.  If a connection
 * cannot be opened, the loan's 'ret_fault' has the reason, with the extended result code as 'code'.
 *
 * Suspends: no.
 * Owns: borrows; do not close them.
 */
EDDY_API eddy_pool *eddy_sqlite_writer(eddy_sqlite *db);
EDDY_API eddy_pool *eddy_sqlite_readers(eddy_sqlite *db);

/*
 * Close the database: wait until loans have come back, as eddy_pool_close() does.  The last
 * connection of all processes moves the WAL into the database; in a cancelled task, the WAL remains
 * for the next opening, which finds all commits there.  NULL is ignored.
 *
 * Suspends: yes.
 */
EDDY_API void eddy_sqlite_close(eddy_sqlite *db);

/* All zero is the default. */
struct eddy_sqlite_backup_opts {
        /* pages copied between two points of cancellation; 0: 256 */
        uint32_t step_pages EDDY_UNSET;
        uint32_t reserved32 EDDY_UNSET; /* zero */
        /* Called on the loop after each step, but not if a single step makes the backup. */
        void (*on_step)(void *arg, uint32_t pages_left, uint32_t pages) EDDY_UNSET;
        void *arg EDDY_UNSET;
        struct eddy_sqlite_fault *ret_fault EDDY_UNSET; /* filled in if the call fails; or NULL */
        uintptr_t reserved[3] EDDY_UNSET;               /* zero */
};

/*
 * Copy the database, as it is now, into the file 'path', while the database is in use: neither
 * readers nor the writer wait, and later changes are not in the copy.  The call borrows a reader.
 * An existing database at 'path' is replaced in one transaction; after a failure or a cancel it is
 * unchanged, and a new file is removed.  'opts' may be NULL.
 *
 * Suspends: yes.
 * Errors: those of SQL and of eddy_pool_acquire()
 */
EDDY_API EDDY_MUST_USE int eddy_sqlite_backup(eddy_sqlite *db, const char *path,
                                              const struct eddy_sqlite_backup_opts *opts);

/* ---- statements ------------------------------------------------------------------------------ */

/*
 * Run a statement to its end and drop its rows.  'values' are for its parameters: the first value
 * is for ?1 or the first ?.  The connection keeps the prepared statement.
 *
 * If the call is cancelled before the statement ends, the statement has no effect, and the call
 * returns -ECANCELED.  SQLite may then have rolled back the whole transaction; later calls in the
 * transaction return EDDY_E_SQLITE_ENDED.
 *
 * Suspends: yes.
 * Errors: those of SQL
 */
EDDY_API EDDY_MUST_USE int eddy_sqlite_exec(eddy_sqlite_conn *conn, const char *sql,
                                            const struct eddy_sqlite_value *values, size_t count);

/*
 * Run a statement once for each of 'rows' rows of 'columns' values.  All rows take effect, or none.
 * The rows are one job on the thread and one transaction, which is much faster than a call for each
 * row.
 *
 * Suspends: yes.
 * Errors: those of SQL
 */
EDDY_API EDDY_MUST_USE int eddy_sqlite_exec_many(eddy_sqlite_conn *conn, const char *sql,
                                                 const struct eddy_sqlite_value *values,
                                                 size_t columns, size_t rows);

/*
 * Run several statements without parameters, such as a schema.  The first failure ends the script;
 * to get the effect of all statements or none, use a transaction.
 *
 * Suspends: yes.
 * Errors: those of SQL
 */
EDDY_API EDDY_MUST_USE int eddy_sqlite_script(eddy_sqlite_conn *conn, const char *sql);

/*
 * Returns the number of rows that the last successful call inserted, changed or deleted, and the
 * id of the row that the connection inserted last.
 *
 * Suspends: no.
 */
EDDY_API int64_t eddy_sqlite_changes(const eddy_sqlite_conn *conn);
EDDY_API int64_t eddy_sqlite_last_id(const eddy_sqlite_conn *conn);

/*
 * Returns the reason for the failure of this connection's last call; 'code' 0 and an empty text if
 * the call did not fail, or has no more to say than its result.  Never NULL; valid until the next
 * call.
 *
 * Suspends: no.
 */
EDDY_API const struct eddy_sqlite_fault *eddy_sqlite_fault(const eddy_sqlite_conn *conn);

/*
 * Run fn(handle, arg) on a thread and return its result, for features of SQLite that this header
 * does not offer.  'fn' must leave no statement active, and must not close the handle.
 *
 * Suspends: yes.
 * Errors: EDDY_E_SQLITE_STATE, -ENOMEM, -EAGAIN, -ECANCELED (before 'fn' has begun), and the result
 */
EDDY_API int eddy_sqlite_call(eddy_sqlite_conn *conn, int (*fn)(struct sqlite3 *handle, void *arg),
                              void *arg);

/* ---- transactions ---------------------------------------------------------------------------- */

/*
 * A transaction, or a savepoint inside a transaction.  With EDDY_AUTO, a transaction that was not
 * committed is rolled back on every way out of the block:
 *
 *     EDDY_AUTO(eddy_sqlite_tx) eddy_sqlite_tx tx = { 0 };
 *     int err = eddy_sqlite_begin(conn, &tx);
 *
 *     if (err == 0)
 *             err = eddy_sqlite_exec(conn, ...);
 *     return err < 0 ? err : eddy_sqlite_commit(&tx);
 */
typedef struct eddy_sqlite_tx {
        eddy_sqlite_conn *conn;
        uint64_t number;
        uint32_t depth;
        uint32_t reserved32;
} eddy_sqlite_tx;

/*
 * Begin a transaction, or a savepoint if a transaction is open.  On the writer the transaction is
 * immediate: this call waits for the lock, so no later statement has to wait.  On a reader, the
 * first statement fixes the snapshot.  End the transaction before the connection is given back.
 *
 * Suspends: yes.
 * Errors: those of SQL; -EBUSY  '*tx' is a transaction already
 *         -E2BIG  EDDY_SQLITE_DEPTH_MAX reached
 *         EDDY_E_SQLITE_STATE  also: the program began a transaction with SQL
 */
EDDY_API EDDY_MUST_USE int eddy_sqlite_begin(eddy_sqlite_conn *conn, eddy_sqlite_tx *tx);

/*
 * Commit.  On failure, even in a cancelled task, the transaction is rolled back.  If the call
 * returns 0, the changes are in the database, or those of a savepoint are part of the outer
 * transaction.
 *
 * Suspends: yes.
 * Errors: those of SQL
 *         EDDY_E_SQLITE_STATE  rows are open, or an inner transaction has not ended
 *         -EINVAL              '*tx' is not a transaction, or has ended
 */
EDDY_API EDDY_MUST_USE int eddy_sqlite_commit(eddy_sqlite_tx *tx);

/*
 * Roll back the transaction and all transactions inside it.  Open rows end with an error.  An ended
 * or empty '*tx' is ignored.
 *
 * Suspends: yes.  Not a cancellation point: the rollback is done in a cancelled task too.
 */
EDDY_API void eddy_sqlite_rollback(eddy_sqlite_tx *tx);

static inline void eddy_sqlite_auto_release(eddy_sqlite **db)
{
        eddy_sqlite_close(*db);
}

static inline void eddy_sqlite_tx_auto_release(eddy_sqlite_tx *tx)
{
        eddy_sqlite_rollback(tx);
}

EDDY_END_DECLS

#endif
