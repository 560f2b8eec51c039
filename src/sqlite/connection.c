/*
 * sqlite/connection.c - opening, configuring and closing connections.
 */
#include <string.h>

#include "base/alloc.h"
#include "scope/task.h"
#include "scope/threads/thread.h"
#include "sqlite/sqlite.h"

enum { PROGRESS_STEPS = 1000, WAL_BYTES = 64 << 20 };

/* --- settings --- */

static int on_busy(void *arg, int count)
{
        (void) arg;
        return ed_sqlite_pause(count);
}

static int on_progress(void *arg)
{
        (void) arg;
        return eddy_thread_is_stopping();
}

void ed_sqlite_watch(sqlite3 *handle)
{
        sqlite3_progress_handler(handle, PROGRESS_STEPS, on_progress, NULL);
}

int ed_sqlite_secure(sqlite3 *handle, const struct eddy_sqlite_opts *opts)
{
        static const struct {
                int name, value;
        } settings[] = {
                { SQLITE_DBCONFIG_DEFENSIVE, 1 },   { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
                { SQLITE_DBCONFIG_DQS_DML, 0 },     { SQLITE_DBCONFIG_DQS_DDL, 0 },
                { SQLITE_DBCONFIG_ENABLE_FKEY, 1 }, { SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
        };

        for (size_t i = 0; i < ed_array_count(settings); i++) {
                int rc = sqlite3_db_config(handle, settings[i].name, settings[i].value, NULL);

                if (rc != SQLITE_OK)
                        return rc;
        }
        (void) sqlite3_extended_result_codes(handle, 1);
        (void) sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, (int) opts->row_bytes_max);
        (void) sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, EDDY_SQLITE_SQL_MAX);
        ed_sqlite_watch(handle);
        return sqlite3_busy_handler(handle, on_busy, NULL);
}

/* Job. The mode is a property of the file, but whether the file can have it is not. */
static int set_wal(eddy_sqlite_conn *conn)
{
        struct ed_sqlite_statement *statement;
        const char *mode = "";
        int err, rc;

        err = ed_sqlite_take(conn, "PRAGMA journal_mode = WAL", &statement);
        if (err < 0)
                return err;
        rc = ed_sqlite_step_first(conn, statement->handle);
        if (rc == SQLITE_ROW)
                mode = (const char *) sqlite3_column_text(statement->handle, 0);
        if (rc != SQLITE_ROW)
                err = ed_sqlite_fail(conn, rc);
        else if (!mode)
                err = -ENOMEM;
        else if (strcmp(mode, "wal") != 0)
                err = ed_sqlite_refuse(conn, EDDY_E_SQLITE_FAILED,
                                       "the file system of the database has no WAL mode");
        ed_sqlite_give(conn, statement);
        return err;
}

/* Job. */
static int configure(eddy_sqlite_conn *conn, void *arg)
{
        const struct eddy_sqlite_opts *opts = &conn->db->opts;
        int rc = ed_sqlite_secure(conn->handle, opts);
        int err = rc == SQLITE_OK ? 0 : ed_sqlite_fail(conn, rc);
        char limit[64];

        (void) arg;
        sqlite3_snprintf(sizeof(limit), limit, "PRAGMA journal_size_limit = %d", WAL_BYTES);
        if (err == 0 && !conn->is_reader && !conn->db->is_memory)
                err = set_wal(conn);
        if (err == 0)
                err = ed_sqlite_run(conn, opts->flags & EDDY_SQLITE_SYNC_NORMAL
                                                  ? "PRAGMA synchronous = NORMAL"
                                                  : "PRAGMA synchronous = FULL");
        if (err == 0)
                err = ed_sqlite_run(conn, limit);
        if (err == 0 && opts->setup)
                err = opts->setup(conn->handle, opts->arg);
        if (err >= 0 && conn->is_reader)
                err = ed_sqlite_run(conn, "PRAGMA query_only = ON");
        return err < 0 ? err : 0;
}

/* --- opening and closing --- */

/* Job.  A name that begins with "file:" would be taken for a URI. */
static int open_handle(eddy_sqlite_conn *conn, void *arg)
{
        const eddy_sqlite *db = conn->db;
        bool is_read_only = db->opts.flags & EDDY_SQLITE_READ_ONLY;
        bool exists = conn->is_reader || db->opts.flags & EDDY_SQLITE_EXISTING;
        int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
        const char *path = db->path;
        char *copy = NULL;
        int err, rc;

        (void) arg;
        flags |= is_read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
        if (!is_read_only && !exists)
                flags |= SQLITE_OPEN_CREATE;
        if (strncmp(path, "file:", 5) == 0)
                path = copy = sqlite3_mprintf("./%s", path);
        if (!path)
                return -ENOMEM;
        rc = sqlite3_open_v2(path, &conn->handle, flags, NULL);
        sqlite3_free(copy);
        if (rc == SQLITE_OK)
                return 0;
        err = ed_sqlite_fail(conn, rc);
        (void) sqlite3_close_v2(conn->handle);
        conn->handle = NULL;
        return err;
}

/* Job. */
static int close_handle(eddy_sqlite_conn *conn, void *arg)
{
        if (conn->rows)
                ed_sqlite_rows_detach(conn, EDDY_E_SQLITE_ENDED);
        ed_sqlite_forget(conn);
        ed_thread_wait_end(); /* no interrupt may come while the handle is freed, or after that */
        if (arg)
                (void) sqlite3_db_config(conn->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        (void) sqlite3_close_v2(conn->handle);
        conn->handle = NULL;
        return 0;
}

void ed_sqlite_conn_close(eddy_sqlite_conn *conn)
{
        struct ed_task *task = ed_task_running();
        bool now = task && task->inner->flags & ED_NODE_CANCELLED;

        if (conn->users > 0) {
                conn->is_orphaned = true;
                return;
        }
        conn->is_orphaned = false;
        /* A thread is missing only if there is no memory for the job. */
        if (conn->handle && ed_sqlite_call_shielded(conn, close_handle, now ? conn : NULL) < 0 &&
            conn->handle)
                (void) close_handle(conn, conn);
        ed_sqlite_release(conn->db);
        ed_free(conn);
}

int ed_sqlite_conn_open(eddy_sqlite *db, bool is_reader, eddy_sqlite_conn **ret_conn)
{
        eddy_sqlite_conn *conn = ed_alloc_zero(sizeof(*conn));
        int err;

        if (!conn)
                return -ENOMEM;
        conn->db = db;
        db->refs++;
        conn->is_reader = is_reader;
        conn->fault = ed_sqlite_no_fault;
        ed_list_init(&conn->statements);
        err = ed_sqlite_call(conn, NULL, open_handle, NULL);
        if (err == 0)
                err = ed_sqlite_call(conn, NULL, configure, NULL);
        if (err < 0) {
                struct eddy_sqlite_fault fault = conn->fault;

                db->refs++;
                ed_sqlite_conn_close(conn); /* may suspend, and another opening fail */
                db->fault = fault;
                ed_sqlite_release(db);
                return err;
        }
        *ret_conn = conn;
        return 0;
}
