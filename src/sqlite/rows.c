/*
 * sqlite/rows.c - rows of a query, in batches.
 *
 * A job steps the statement and copies rows into a buffer; the task then walks over the buffer. In
 * the buffer, a row is a struct row with its cells, followed by their bytes. Between two batches
 * the statement is active, so no other call is allowed (conn->rows). Rows that are all in the buffer
 * refuse other calls too: what is allowed must not depend on the size of the result. All rows of a statement that
 * changes the database are in the first batch, so the statement is complete or undone when its call
 * returns.
 */
#include <string.h>

#include "base/alloc.h"
#include "scope/misuse.h"
#include "scope/suspend.h"
#include "sqlite/rows.h"
#include "sys/sys.h"

#define BATCH_NS EDDY_MS(10)

enum { NAMES_MAX = 1 << 20, SPARE_BYTES = 1 << 17 };

/* --- a job: rows into the buffer --- */

static int type_of(sqlite3_stmt *handle, int column)
{
        switch (sqlite3_column_type(handle, column)) {
        case SQLITE_INTEGER:
                return EDDY_SQLITE_INT;
        case SQLITE_FLOAT:
                return EDDY_SQLITE_REAL;
        case SQLITE_TEXT:
                return EDDY_SQLITE_TEXT;
        case SQLITE_BLOB:
                return EDDY_SQLITE_BLOB;
        default:
                return EDDY_SQLITE_NULL;
        }
}

/* Fills in a cell, except for the bytes. Returns them, or NULL if there are none. */
static const void *cell_read(sqlite3_stmt *handle, int column, struct ed_sqlite_cell *cell)
{
        const void *data = NULL;

        *cell = (struct ed_sqlite_cell){ .type = (uint32_t) type_of(handle, column) };
        if (cell->type == EDDY_SQLITE_INT)
                cell->as.integer = sqlite3_column_int64(handle, column);
        else if (cell->type == EDDY_SQLITE_REAL)
                cell->as.real = sqlite3_column_double(handle, column);
        else if (cell->type == EDDY_SQLITE_TEXT)
                data = sqlite3_column_text(handle, column);
        else if (cell->type == EDDY_SQLITE_BLOB)
                data = sqlite3_column_blob(handle, column);
        if (data)
                cell->bytes = (uint32_t) sqlite3_column_bytes(handle, column);
        return data;
}

static int refuse_row(eddy_sqlite_rows *rows)
{
        return ed_sqlite_refuse(rows->conn, -EMSGSIZE,
                                "the rows of a batch are longer than %u bytes",
                                rows->conn->db->opts.row_bytes_max);
}

/* The row in the statement. Addresses in the buffer may change with each reservation. */
static int append_row(eddy_sqlite_rows *rows, sqlite3_stmt *handle)
{
        size_t at = ed_buf_bytes(&rows->batch), bytes = sizeof(struct ed_sqlite_row);
        char *room;
        int err;

        bytes += (size_t) rows->columns * sizeof(struct ed_sqlite_cell);
        err = ed_buf_reserve(&rows->batch, bytes, &room);
        if (err < 0)
                return err == -EMSGSIZE ? refuse_row(rows) : err;
        ed_buf_grow(&rows->batch, bytes);
        for (int i = 0; i < rows->columns; i++) {
                struct ed_sqlite_cell cell;
                const void *data = cell_read(handle, i, &cell);
                size_t padded = data ? (cell.bytes + 1 + 7) & ~(size_t) 7 : 0;

                if (!data && (cell.type == EDDY_SQLITE_TEXT || cell.type == EDDY_SQLITE_BLOB) &&
                    sqlite3_errcode(rows->conn->handle) == SQLITE_NOMEM)
                        return ed_sqlite_fail(rows->conn, SQLITE_NOMEM);
                err = ed_buf_reserve(&rows->batch, padded, &room);
                if (err < 0)
                        return err == -EMSGSIZE ? refuse_row(rows) : err;
                if (data) {
                        cell.as.offset = (int64_t) bytes;
                        memcpy(room, data, cell.bytes);
                        memset(room + cell.bytes, 0, padded - cell.bytes);
                }
                ed_buf_grow(&rows->batch, padded);
                bytes += padded;
                ((struct ed_sqlite_row *) (void *) (ed_buf_data(&rows->batch) + at))->cells[i] =
                        cell;
        }
        ((struct ed_sqlite_row *) (void *) (ed_buf_data(&rows->batch) + at))->bytes = bytes;
        return 0;
}

/* The statement is done, and is given back. */
static int finish(eddy_sqlite_rows *rows, int err)
{
        ed_sqlite_give(rows->conn, rows->statement);
        rows->statement = NULL;
        return err;
}

/*
 * End a statement before its last row. Its changes are undone: a reset alone would commit the
 * changes. In a transaction, the savepoint of query() undoes them.
 */
static int abandon(eddy_sqlite_rows *rows, int err)
{
        sqlite3_stmt *handle = rows->statement->handle;
        sqlite3 *conn = rows->conn->handle;

        if (sqlite3_stmt_busy(handle) && !sqlite3_stmt_readonly(handle) &&
            sqlite3_get_autocommit(conn)) {
                sqlite3_interrupt(conn);
                (void) sqlite3_step(handle);
        }
        return finish(rows, err);
}

/* A query for one row has a batch of two, whatever their size. */
static bool is_full(const eddy_sqlite_rows *rows, uint32_t count, int64_t until_ns)
{
        return count >= rows->batch_rows ||
               (rows->batch_rows == EDDY_SQLITE_BATCH_ROWS &&
                (ed_buf_bytes(&rows->batch) >= EDDY_SQLITE_BATCH_BYTES || ed_sys_now() > until_ns));
}

static int fetch(eddy_sqlite_rows *rows, int rc)
{
        sqlite3_stmt *handle = rows->statement->handle;
        bool is_whole = !sqlite3_stmt_readonly(handle);
        int64_t until_ns = ed_sys_now() + BATCH_NS;
        uint32_t count = 0;

        for (; rc == SQLITE_ROW; rc = sqlite3_step(handle)) {
                int err = append_row(rows, handle);

                if (err < 0)
                        return abandon(rows, err);
                count++;
                if (!is_whole && is_full(rows, count, until_ns))
                        return 0;
        }
        return finish(rows, rc == SQLITE_DONE ? 0 : ed_sqlite_fail(rows->conn, rc));
}

static int copy_names(eddy_sqlite_rows *rows)
{
        sqlite3_stmt *handle = rows->statement->handle;

        rows->columns = sqlite3_column_count(handle);
        for (int i = 0; i < rows->columns; i++) {
                const char *name = sqlite3_column_name(handle, i);
                int err = name ? ed_buf_append(&rows->names, name, strlen(name) + 1) : -ENOMEM;

                if (err < 0)
                        return ed_sqlite_refuse(rows->conn, err,
                                                "the names of the columns need too much memory");
        }
        return 0;
}

struct query {
        eddy_sqlite_rows *rows;
        const struct ed_sqlite_run *run;
};

/* The statement has its values. */
static int run_first(eddy_sqlite_rows *rows)
{
        int rc = ed_sqlite_step_first(rows->conn, rows->statement->handle);
        int err = rc == SQLITE_ROW || rc == SQLITE_DONE ? copy_names(rows) : 0;

        return err < 0 ? abandon(rows, err) : fetch(rows, rc);
}

/* A statement in a transaction that changes the database and returns rows. */
static bool needs_group(const eddy_sqlite_rows *rows)
{
        sqlite3_stmt *handle = rows->statement->handle;

        return !sqlite3_get_autocommit(rows->conn->handle) && !sqlite3_stmt_readonly(handle) &&
               sqlite3_column_count(handle) > 0;
}

/* Job. */
static int query(eddy_sqlite_conn *conn, void *arg)
{
        int64_t before = sqlite3_total_changes64(conn->handle);
        const struct query *q = arg;
        eddy_sqlite_rows *rows = q->rows;
        struct ed_sqlite_group group;
        bool is_group;
        int err;

        err = ed_sqlite_take(conn, q->run->sql, &rows->statement);
        if (err < 0)
                return err;
        err = ed_sqlite_bind(conn, rows->statement, q->run->values, q->run->count, true);
        is_group = err == 0 && needs_group(rows);
        if (is_group)
                err = ed_sqlite_group_begin(conn, &group);
        if (err < 0)
                return finish(rows, err);
        err = run_first(rows);
        if (is_group)
                err = ed_sqlite_group_end(conn, &group, err);
        if (err == 0) {
                conn->changes = sqlite3_total_changes64(conn->handle) - before;
                conn->last_id = sqlite3_last_insert_rowid(conn->handle);
        }
        return err;
}

/* Job. */
static int next_batch(eddy_sqlite_conn *conn, void *arg)
{
        eddy_sqlite_rows *rows = arg;

        (void) conn;
        return fetch(rows, sqlite3_step(rows->statement->handle));
}

/* Job. */
static int end_rows(eddy_sqlite_conn *conn, void *arg)
{
        ed_sqlite_rows_detach(conn, *(int *) arg);
        return 0;
}

void ed_sqlite_rows_detach(eddy_sqlite_conn *conn, int error)
{
        eddy_sqlite_rows *rows = conn->rows;

        rows->error = error;
        if (rows->statement)
                (void) finish(rows, 0);
        rows->is_open = false;
        conn->rows = NULL;
}

/* --- walking over them --- */

static void rows_free(eddy_sqlite_rows *rows)
{
        ed_member_leave(&rows->member);
        ed_buf_fini(&rows->batch);
        ed_buf_fini(&rows->names);
        ed_free(rows);
}

/* No statement is active, and the connection may run other calls. */
static void leave(eddy_sqlite_rows *rows)
{
        if (rows->is_open)
                rows->conn->rows = NULL;
        rows->is_open = false;
}

static struct ed_sqlite_row *row_at(const eddy_sqlite_rows *rows, size_t at)
{
        return (struct ed_sqlite_row *) (void *) (ed_buf_data(&rows->batch) + at);
}

/* End rows whose statement is active.  The connection may be gone after this. */
static void end(eddy_sqlite_rows *rows, int error)
{
        if (ed_sqlite_call_shielded(rows->conn, end_rows, &error) < 0 && rows->statement &&
            !rows->conn->is_calling)
                ed_sqlite_rows_detach(rows->conn, error); /* no memory for a job */
}

/*
 * Run a job that fills the buffer. If it was cancelled after its last step, an interrupt may be left in
 * the active statement, whose rows then end here.
 */
static int fill(eddy_sqlite_rows *rows, ed_sqlite_fn *fn, void *arg)
{
        eddy_sqlite_conn *conn = rows->conn;
        struct ed_task *task;
        int err;

        rows->next = 0;
        rows->present = NULL;
        ed_buf_consume(&rows->batch, ed_buf_bytes(&rows->batch));
        ed_sqlite_hold(conn);
        err = ed_sqlite_call(conn, rows, fn, arg);
        if (err == 0 && rows->statement)
                err = ed_suspend_enter(&task);
        if (err == 0 || rows->statement) {
                conn->rows = rows;
                rows->is_open = true;
        }
        if (err < 0 && rows->statement)
                end(rows, err);
        else if (err < 0)
                leave(rows);
        ed_sqlite_let_go(conn);
        return err;
}

int ed_sqlite_rows_open(eddy_sqlite_conn *conn, const struct ed_sqlite_run *run,
                        uint32_t batch_rows, eddy_sqlite_rows **ret_rows)
{
        eddy_sqlite_rows *rows;
        struct query q;
        int err;

        if (!conn || !run->sql || (!run->values && run->count > 0) || !ret_rows)
                return -EINVAL;
        err = ed_member_check(&conn->db->member);
        if (err < 0)
                return err;
        rows = ed_alloc_zero(sizeof(*rows));
        if (!rows)
                return -ENOMEM;
        ed_member_join(&rows->member, conn->db->member.loop, NULL);
        rows->conn = conn;
        rows->batch_rows = batch_rows;
        ed_buf_init(&rows->batch, (size_t) conn->db->opts.row_bytes_max + SPARE_BYTES);
        ed_buf_init(&rows->names, NAMES_MAX);
        q = (struct query){ rows, run };
        err = fill(rows, query, &q);
        if (err < 0) {
                rows_free(rows);
                return err;
        }
        *ret_rows = rows;
        return 0;
}

int eddy_sqlite_query(eddy_sqlite_conn *conn, const char *sql,
                      const struct eddy_sqlite_value *values, size_t count,
                      eddy_sqlite_rows **ret_rows)
{
        struct ed_sqlite_run run = { sql, values, count, 1 };

        return ed_sqlite_rows_open(conn, &run, EDDY_SQLITE_BATCH_ROWS, ret_rows);
}

int ed_sqlite_rows_advance(eddy_sqlite_rows *rows)
{
        rows->present = NULL;
        if (rows->error < 0)
                return rows->error;
        if (rows->next == ed_buf_bytes(&rows->batch)) {
                leave(rows);
                return 0;
        }
        rows->present = row_at(rows, rows->next);
        rows->next += rows->present->bytes;
        return 1;
}

static bool needs_batch(const eddy_sqlite_rows *rows)
{
        return rows->next == ed_buf_bytes(&rows->batch) && rows->statement;
}

static int next(struct ed_task *task, eddy_sqlite_rows *rows)
{
        int err;

        /* First: another task that runs here may take the last row, and ask for more. */
        if (!rows->is_in_job && !needs_batch(rows))
                ed_suspend_passed(task);
        if (rows->is_in_job)
                return EDDY_E_SQLITE_STATE;
        if (needs_batch(rows)) {
                err = fill(rows, next_batch, rows);
                if (err < 0) {
                        /* Later calls are not cancelled. */
                        rows->error = err == -ECANCELED ? EDDY_E_SQLITE_ENDED : err;
                        return err;
                }
        }
        return ed_sqlite_rows_advance(rows);
}

int eddy_sqlite_rows_next(eddy_sqlite_rows *rows)
{
        struct ed_task *task;
        int err;

        if (!rows)
                return -EINVAL;
        err = ed_member_check(&rows->member);
        if (err == 0)
                err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        rows->users++;
        err = next(task, rows);
        rows->users--;
        return ed_sqlite_rows_settle(rows) ? EDDY_E_SQLITE_ENDED : err;
}

bool ed_sqlite_rows_settle(eddy_sqlite_rows *rows)
{
        if (!rows->is_closed || rows->is_in_job || rows->users > 0)
                return false;
        rows->is_closed = false;
        eddy_sqlite_rows_close(rows);
        return true;
}

void eddy_sqlite_rows_close(eddy_sqlite_rows *rows)
{
        if (!rows || !ed_misuse_may_close(&rows->member, "rows of SQLite"))
                return;
        if (rows->is_in_job || rows->users > 0) {
                rows->is_closed = true;
                return;
        }
        if (rows->statement)
                end(rows, EDDY_E_SQLITE_ENDED);
        else
                leave(rows);
        rows_free(rows);
}

/* --- columns --- */

int eddy_sqlite_rows_columns(const eddy_sqlite_rows *rows)
{
        return rows ? rows->columns : 0;
}

const char *eddy_sqlite_rows_name(const eddy_sqlite_rows *rows, int column)
{
        const char *name;

        if (!rows || column < 0 || column >= rows->columns)
                return NULL;
        name = ed_buf_data(&rows->names);
        while (column-- > 0)
                name += strlen(name) + 1;
        return name;
}

int eddy_sqlite_rows_column(const eddy_sqlite_rows *rows, const char *name)
{
        const char *own = rows ? ed_buf_data(&rows->names) : NULL;

        for (int i = 0; rows && name && i < rows->columns; i++, own += strlen(own) + 1)
                if (strcmp(own, name) == 0)
                        return i;
        return -ENOENT;
}

static const struct ed_sqlite_cell *cell_of(const eddy_sqlite_rows *rows, int column)
{
        if (!rows || !rows->present || column < 0 || column >= rows->columns)
                return NULL;
        return &rows->present->cells[column];
}

int eddy_sqlite_rows_type(const eddy_sqlite_rows *rows, int column)
{
        const struct ed_sqlite_cell *cell = cell_of(rows, column);

        return cell ? (int) cell->type : -EINVAL;
}

int eddy_sqlite_rows_int(const eddy_sqlite_rows *rows, int column, int64_t *ret_integer)
{
        const struct ed_sqlite_cell *cell = cell_of(rows, column);

        if (!cell || !ret_integer)
                return -EINVAL;
        if (cell->type != EDDY_SQLITE_INT)
                return EDDY_E_FIELD_TYPE;
        *ret_integer = cell->as.integer;
        return 0;
}

int eddy_sqlite_rows_real(const eddy_sqlite_rows *rows, int column, double *ret_real)
{
        const struct ed_sqlite_cell *cell = cell_of(rows, column);

        if (!cell || !ret_real)
                return -EINVAL;
        if (cell->type != EDDY_SQLITE_INT && cell->type != EDDY_SQLITE_REAL)
                return EDDY_E_FIELD_TYPE;
        *ret_real = cell->type == EDDY_SQLITE_INT ? (double) cell->as.integer : cell->as.real;
        return 0;
}

static int bytes_of(const eddy_sqlite_rows *rows, int column, uint32_t type, const void **ret_data,
                    size_t *ret_bytes)
{
        const struct ed_sqlite_cell *cell = cell_of(rows, column);

        if (!cell || !ret_data)
                return -EINVAL;
        if (cell->type != type)
                return EDDY_E_FIELD_TYPE;
        *ret_data = ed_sqlite_cell_data(rows->present, cell);
        if (ret_bytes)
                *ret_bytes = cell->bytes;
        return 0;
}

int eddy_sqlite_rows_text(const eddy_sqlite_rows *rows, int column, const char **ret_text,
                          size_t *ret_bytes)
{
        const void *data;
        int err = ret_text ? bytes_of(rows, column, EDDY_SQLITE_TEXT, &data, ret_bytes) : -EINVAL;

        if (err == 0)
                *ret_text = data;
        return err;
}

int eddy_sqlite_rows_blob(const eddy_sqlite_rows *rows, int column, const void **ret_data,
                          size_t *ret_bytes)
{
        return bytes_of(rows, column, EDDY_SQLITE_BLOB, ret_data, ret_bytes);
}
