/*
 * sqlite/sqlite.h - what the files of the library share.
 *
 * A connection does one call at a time, as a job on a thread of the database's thread pool, which has
 * a thread for each connection. The task waits for the job's end, so the job may use all of the
 * connection and borrow from the caller's frame, without locks. Functions with "Job" in their comment
 * run there; all others run on the loop's thread, while no job of the connection runs.
 */
#ifndef ED_SQLITE_SQLITE_H
#define ED_SQLITE_SQLITE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/list.h"
#include "eddy/error.h"
#include "eddy/sqlite.h"
#include "eddy/sqlite_rows.h"
#include "eddy/thread.h"
#include "loop/member.h"

struct eddy_sqlite {
        struct ed_member member;
        struct eddy_sqlite_opts opts; /* with the defaults filled in */
        eddy_pool *writer;            /* NULL: read-only */
        eddy_pool *readers;           /* the writer's, if the database is in memory */
        eddy_thread_pool *threads;
        uint32_t refs;                  /* the program's, and one of each connection */
        struct eddy_sqlite_fault fault; /* of the last opening of a connection */
        bool is_memory;
        char path[];
};

/* A prepared statement; in the connection's list, or used by a call or by rows. */
struct ed_sqlite_statement {
        struct ed_list link;
        sqlite3_stmt *handle;
        size_t bytes;
        char sql[];
};

struct eddy_sqlite_conn {
        eddy_sqlite *db;
        sqlite3 *handle;
        bool is_reader;
        bool is_calling;        /* a job runs or is about to */
        bool is_orphaned;       /* closed by the pool meanwhile: the last user closes it */
        uint32_t users;         /* functions that use the connection, and may suspend */
        eddy_sqlite_rows *rows; /* that are open: neither closed nor read to their end; or NULL */
        uint32_t depth;         /* of transactions */
        uint64_t number;        /* of the last transaction */
        uint64_t numbers[EDDY_SQLITE_DEPTH_MAX];
        int64_t changes, last_id;
        struct ed_list statements; /* the last one used is first */
        uint32_t statements_count;
        struct eddy_sqlite_fault fault;
};

/* --- calls --- */

typedef int ed_sqlite_fn(eddy_sqlite_conn *conn, void *arg);

/*
 * Run fn(conn, arg) as a job. A cancel interrupts SQLite in it, and ends its waits for locks; once the
 * call has returned, no interrupt of it is left. Without a running task, 'fn' is called here.
 *
 * Errors: EDDY_E_RUN_OTHER_LOOP
 *         EDDY_E_SQLITE_STATE  another task's call runs; rows are open, unless 'rows' are given
 */
int ed_sqlite_call(eddy_sqlite_conn *conn, const eddy_sqlite_rows *rows, ed_sqlite_fn *fn,
                   void *arg);

/* The same in a shield, for steps that a cancelled task must do too, even with open rows. */
int ed_sqlite_call_shielded(eddy_sqlite_conn *conn, ed_sqlite_fn *fn, void *arg);

/*
 * Keep the connection, in a function that uses the connection after a call: the pool may close it
 * during the call, because another task gave it back.
 */
void ed_sqlite_hold(eddy_sqlite_conn *conn);
void ed_sqlite_let_go(eddy_sqlite_conn *conn);

/* Job. Wait after SQLITE_BUSY, the longer the higher 'count' is. Returns false after a cancel. */
bool ed_sqlite_pause(int count);

/* --- failures --- */

extern const struct eddy_sqlite_fault ed_sqlite_no_fault;

/* Job. Store SQLite's last failure as the connection's fault. Returns the error for 'code'. */
int ed_sqlite_fail(eddy_sqlite_conn *conn, int code);

/* Job. As above, for a statement that could not be prepared: the message has no values. */
int ed_sqlite_fail_sql(eddy_sqlite_conn *conn, int code);

/* Job. As ed_sqlite_fail(), but for a connection that is not the caller's own. */
int ed_sqlite_fail_of(sqlite3 *handle, int code, struct eddy_sqlite_fault *ret_fault);

/* Store a failure that SQLite does not know. Returns 'error'. */
int ed_sqlite_refuse(eddy_sqlite_conn *conn, int error, const char *format, ...) EDDY_PRINTF(3, 4);

/* --- connections --- */

int ed_sqlite_conn_open(eddy_sqlite *db, bool is_reader, eddy_sqlite_conn **ret_conn);

/* Close a connection; 'now': leave the WAL to others. */
void ed_sqlite_conn_close(eddy_sqlite_conn *conn);

/* Job. Copy the settings of a database's connections to 'handle'. */
int ed_sqlite_secure(sqlite3 *handle, const struct eddy_sqlite_opts *opts);

/* Job. Let a cancel of the job interrupt the handle's statements. */
void ed_sqlite_watch(sqlite3 *handle);

/* Release a reference. */
void ed_sqlite_release(eddy_sqlite *db);

/* --- statements --- */

/* Values for a statement. */
struct ed_sqlite_run {
        const char *sql;
        const struct eddy_sqlite_value *values;
        size_t count; /* of one run */
        size_t times; /* eddy_sqlite_exec_many(): runs */
};

/*
 * Job. Take the prepared statement for a text from the connection, or prepare it.
 *
 * Errors: those of SQL; EDDY_E_SQLITE_ENDED
 */
int ed_sqlite_take(eddy_sqlite_conn *conn, const char *sql,
                   struct ed_sqlite_statement **ret_statement);

/* Job. Give a statement back: reset it, and keep it for the next call. */
void ed_sqlite_give(eddy_sqlite_conn *conn, struct ed_sqlite_statement *statement);

/* Job. Finalize all statements that are kept. */
void ed_sqlite_forget(eddy_sqlite_conn *conn);

/* Returns the field with this name in JSON and SQL, or NULL. */
const struct eddy_field *ed_sqlite_field(const struct eddy_fields *fields, const char *name);

/* Job. Bind values; 'copy': they are used after this job. */
int ed_sqlite_bind(eddy_sqlite_conn *conn, struct ed_sqlite_statement *statement,
                   const struct eddy_sqlite_value *values, size_t count, bool copy);

/* Job. The first step of a statement: waits for locks. Returns SQLite's code. */
int ed_sqlite_step_first(eddy_sqlite_conn *conn, sqlite3_stmt *handle);

/* Job. Run one statement without values. */
int ed_sqlite_run(eddy_sqlite_conn *conn, const char *sql);

/* Job. Roll back, also after a cancel. */
int ed_sqlite_undo(eddy_sqlite_conn *conn, const char *sql);

/* Steps that take effect together: a transaction, or a savepoint in a transaction that is open. */
struct ed_sqlite_group {
        bool is_nested;
};

/* Job. */
int ed_sqlite_group_begin(eddy_sqlite_conn *conn, struct ed_sqlite_group *group);

/* Job. Undoes the steps if 'err' is a failure, or if they cannot be committed. Returns the failure. */
int ed_sqlite_group_end(eddy_sqlite_conn *conn, const struct ed_sqlite_group *group, int err);

/* --- rows --- */

/* Job, or no job runs. End open rows: the statement is given back. */
void ed_sqlite_rows_detach(eddy_sqlite_conn *conn, int error);

/* A call that used the rows is over. Returns whether it was the last one, and freed closed rows. */
bool ed_sqlite_rows_settle(eddy_sqlite_rows *rows);

#endif
