/*
 * sqlite/database.c - a database: the pools of its connections, and their threads.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "scope/misuse.h"
#include "scope/task.h"
#include "sqlite/sqlite.h"

enum {
        READERS = 4,
        STATEMENTS = 64,
        ROW_BYTES = 16 << 20,
        ROW_BYTES_LEAST = 4096,
        PATH_MAX_BYTES = 4096
};

/* --- the pools' operations --- */

static int open_conn(void *arg, bool is_reader, void **ret_item)
{
        eddy_sqlite_conn *conn;
        int err;

        ((eddy_sqlite *) arg)->fault = ed_sqlite_no_fault;
        err = ed_sqlite_conn_open(arg, is_reader, &conn);
        if (err == 0)
                *ret_item = conn;
        return err;
}

static int open_writer(void *arg, void **ret_item)
{
        return open_conn(arg, false, ret_item);
}

static int open_reader(void *arg, void **ret_item)
{
        return open_conn(arg, true, ret_item);
}

static void fault_of_open(void *arg, struct eddy_pool_fault *ret_fault)
{
        const struct eddy_sqlite_fault *fault = &((const eddy_sqlite *) arg)->fault;

        _Static_assert(sizeof(ret_fault->text) >= sizeof(fault->text), "it is not cut");
        if (fault->code)
                snprintf(ret_fault->code, sizeof(ret_fault->code), "%d", fault->code);
        memcpy(ret_fault->text, fault->text, sizeof(fault->text));
}

static void close_item(void *arg, void *item)
{
        (void) arg;
        ed_sqlite_conn_close(item);
}

static int check_item(void *arg, void *item)
{
        const eddy_sqlite_conn *conn = item;

        (void) arg;
        if (conn->users > 0)
                return EDDY_POOL_BROKEN;
        if (conn->rows || conn->depth > 0 || !sqlite3_get_autocommit(conn->handle))
                return EDDY_POOL_USED;
        return EDDY_POOL_READY;
}

/* Job. */
static int reset_conn(eddy_sqlite_conn *conn, void *arg)
{
        (void) arg;
        if (conn->rows)
                ed_sqlite_rows_detach(conn, EDDY_E_SQLITE_ENDED);
        conn->depth = 0;
        return sqlite3_get_autocommit(conn->handle) ? 0 : ed_sqlite_undo(conn, "ROLLBACK");
}

static int reset_item(void *arg, void *item)
{
        eddy_sqlite_conn *conn = item;

        (void) arg;
        return ed_sqlite_call(conn, conn->rows, reset_conn, NULL);
}

static const struct eddy_pool_ops writer_ops = { .open = open_writer,
                                                 .close = close_item,
                                                 .reset = reset_item,
                                                 .check = check_item,
                                                 .fault = fault_of_open };
static const struct eddy_pool_ops reader_ops = { .open = open_reader,
                                                 .close = close_item,
                                                 .reset = reset_item,
                                                 .check = check_item,
                                                 .fault = fault_of_open };

/* --- databases --- */

void ed_sqlite_release(eddy_sqlite *db)
{
        if (--db->refs > 0)
                return;
        eddy_thread_pool_close(db->threads);
        ed_member_leave(&db->member);
        ed_free(db);
}

static int fill_in(struct eddy_sqlite_opts *opts)
{
        const uint32_t known =
                EDDY_SQLITE_READ_ONLY | EDDY_SQLITE_EXISTING | EDDY_SQLITE_SYNC_NORMAL;

        opts->readers_max = opts->readers_max ? opts->readers_max : READERS;
        opts->statements_max = opts->statements_max ? opts->statements_max : STATEMENTS;
        opts->row_bytes_max = opts->row_bytes_max ? opts->row_bytes_max : ROW_BYTES;
        opts->ret_fault = NULL;
        opts->schema = NULL;
        return opts->flags & ~known || opts->readers_max > EDDY_SQLITE_READERS_MAX ||
                               opts->statements_max > EDDY_SQLITE_STATEMENTS_MAX ||
                               opts->row_bytes_max < ROW_BYTES_LEAST ||
                               opts->row_bytes_max > EDDY_SQLITE_ROW_BYTES_MAX
                       ? -EINVAL
                       : 0;
}

/* A connection to a file is opened at once, but its locks may take as long as the caller waits. */
static int make_pools(eddy_sqlite *db)
{
        struct eddy_pool_opts writer = {
                .ops = &writer_ops, .arg = db, .size = 1, .open_timeout_ns = -1, .idle_max_ns = -1
        };
        struct eddy_pool_opts readers = {
                .ops = &reader_ops, .arg = db, .size = db->opts.readers_max, .open_timeout_ns = -1
        };
        struct eddy_thread_pool_opts threads = { .threads_max = db->opts.readers_max + 1 };
        bool is_read_only = db->opts.flags & EDDY_SQLITE_READ_ONLY;
        int err;

        err = eddy_thread_pool_new(&threads, &db->threads);
        if (err == 0 && !is_read_only)
                err = eddy_pool_new(&writer, &db->writer);
        if (err < 0)
                return err;
        if (db->is_memory)
                db->readers = db->writer;
        else
                err = eddy_pool_new(&readers, &db->readers);
        return err;
}

/* The first connection reports whether the file can be used, and makes the schema. */
static int open_first(eddy_sqlite *db, const char *schema)
{
        eddy_pool_loan loan = { .item = NULL };
        int err = eddy_pool_acquire(db->writer ? db->writer : db->readers, &loan);

        if (err == 0 && schema) {
                err = eddy_sqlite_script(loan.item, schema);
                if (err < 0)
                        db->fault = *eddy_sqlite_fault(loan.item);
        }
        (void) eddy_pool_release(&loan);
        return err;
}

int eddy_sqlite_open(const char *path, const struct eddy_sqlite_opts *opts, eddy_sqlite **ret_db)
{
        static const struct eddy_sqlite_opts none;
        size_t bytes = path ? strnlen(path, PATH_MAX_BYTES) + 1 : 0;
        struct eddy_sqlite_opts filled = opts ? *opts : none;
        const char *schema = filled.schema;
        eddy_sqlite *db;
        int err;

        if (schema && filled.flags & EDDY_SQLITE_READ_ONLY)
                return -EINVAL;
        if (bytes <= 1 || bytes > PATH_MAX_BYTES || !ret_db || fill_in(&filled) < 0)
                return -EINVAL;
        if (!ed_task_running())
                return EDDY_E_RUN_NOT_RUNNING;
        db = ed_alloc_zero(sizeof(*db) + bytes);
        if (!db)
                return -ENOMEM;
        ed_member_join(&db->member, ed_loop_current, NULL);
        memcpy(db->path, path, bytes);
        db->opts = filled;
        db->refs = 1;
        db->fault = ed_sqlite_no_fault;
        db->is_memory = strcmp(path, ":memory:") == 0;
        err = db->is_memory && filled.flags & EDDY_SQLITE_READ_ONLY ? -EINVAL : make_pools(db);
        if (err == 0)
                err = open_first(db, schema);
        if (err < 0) {
                if (opts && opts->ret_fault)
                        *opts->ret_fault = db->fault;
                eddy_sqlite_close(db);
                return err;
        }
        *ret_db = db;
        return 0;
}

eddy_pool *eddy_sqlite_writer(eddy_sqlite *db)
{
        return db ? db->writer : NULL;
}

eddy_pool *eddy_sqlite_readers(eddy_sqlite *db)
{
        return db ? db->readers : NULL;
}

void eddy_sqlite_close(eddy_sqlite *db)
{
        if (!db || !ed_misuse_may_close(&db->member, "a database of SQLite"))
                return;
        if (db->readers != db->writer)
                eddy_pool_close(db->readers);
        eddy_pool_close(db->writer);
        ed_sqlite_release(db);
}
