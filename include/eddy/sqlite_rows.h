/*
 * eddy/sqlite_rows.h - rows of SQLite: one by one, or into C structs.  In libeddy-sqlite.
 *
 *     EDDY_AUTO(eddy_sqlite_rows) eddy_sqlite_rows *rows = NULL;
 *     int err = eddy_sqlite_query(conn, "SELECT id, name FROM users WHERE age > ?",
 *                                 EDDY_SQLITE_BIND(eddy_sqlite_int(30)), &rows);
 *
 *     while (err == 0 && (err = eddy_sqlite_rows_next(rows)) > 0) {
 *             err = eddy_sqlite_rows_int(rows, 0, &id);
 *             ...
 *     }
 *
 * Rows are read on the thread in batches of at most 64 KiB (or one longer row), 1,024 rows and
 * about 10 ms; between batches SQLite does not run.
 *
 * eddy_sqlite_one() reads a row into a struct that a table describes (eddy/fields.h), and
 * eddy_sqlite_all() reads all rows into a list of such structs.  A column is
 * stored in the field with its name ("SELECT full_name AS name"): 0 and 1 in a bool, text in
 * strings and enums, and text that is JSON in raw fields, nested structs, lists and maps.  A row is not
 * a tagged union.
 */
#ifndef EDDY_SQLITE_ROWS_H
#define EDDY_SQLITE_ROWS_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/fields.h"
#include "eddy/sqlite.h"

EDDY_BEGIN_DECLS

typedef struct eddy_sqlite_rows eddy_sqlite_rows;

enum { EDDY_SQLITE_BATCH_BYTES = 1 << 16, EDDY_SQLITE_BATCH_ROWS = 1024 };

/*
 * Run a statement and read its first rows.  Until the rows are closed, or eddy_sqlite_rows_next()
 * has returned 0 or an error, calls of the connection return EDDY_E_SQLITE_STATE. A statement
 * that changes rows and returns them (RETURNING) has changed all of them when this call returns.
 * All rows that such a statement returns are in memory, so together they must not be longer than
 * row_bytes_max (16 MiB); if they are, the call returns -EMSGSIZE, and nothing has changed.
 *
 * Suspends: yes.
 * Errors: those of SQL (eddy/sqlite.h)
 * Owns: returns (owned) '*ret_rows', to be closed by eddy_sqlite_rows_close(), before the connection
 *       is given back.
 */
EDDY_API EDDY_MUST_USE int eddy_sqlite_query(eddy_sqlite_conn *conn, const char *sql,
                                             const struct eddy_sqlite_value *values, size_t count,
                                             eddy_sqlite_rows **ret_rows);

/*
 * Go to the next row.  Returns 1, or 0 after the last row.  After a failure there are no more rows,
 * and later calls return the same error.  A cancel while the statement runs ends the rows too.
 *
 * Suspends: yes.
 * Errors: those of SQL
 *         EDDY_E_SQLITE_ENDED  an earlier call was cancelled, the connection was given back, its
 *                              transaction was rolled back, or the rows were closed meanwhile
 *         EDDY_E_SQLITE_STATE  another task's call runs; the rows remain open
 */
EDDY_API EDDY_MUST_USE int eddy_sqlite_rows_next(eddy_sqlite_rows *rows);

/*
 * Close the rows; those that were not read are dropped.  NULL is ignored.  While another task's call
 * uses the rows or their connection, this returns at once, and the rows end with that call.
 *
 * Suspends: yes, if rows are left.  Not a cancellation point.
 */
EDDY_API void eddy_sqlite_rows_close(eddy_sqlite_rows *rows);

/* ---- columns of the current row; numbers begin at 0 ------------------------------------------ */

/* Returns the number of columns.  Suspends: no. */
EDDY_API int eddy_sqlite_rows_columns(const eddy_sqlite_rows *rows);

/* Returns the name of a column, valid as long as 'rows', or NULL.  Suspends: no. */
EDDY_API const char *eddy_sqlite_rows_name(const eddy_sqlite_rows *rows, int column);

/* Returns the first column with this name, or -ENOENT.  Suspends: no. */
EDDY_API EDDY_MUST_USE int eddy_sqlite_rows_column(const eddy_sqlite_rows *rows, const char *name);

/* Returns the type of the value (enum eddy_sqlite_type), or -EINVAL.  Suspends: no. */
EDDY_API int eddy_sqlite_rows_type(const eddy_sqlite_rows *rows, int column);

/*
 * Read the value of a column.  Integers can be read as a double.  Texts are followed by a NUL, and
 * may contain NULs; 'ret_bytes' may be NULL.
 *
 * Suspends: no.
 * Errors: EDDY_E_FIELD_TYPE  a value of another type, or NULL
 *         -EINVAL            no current row, or no column with this number
 * Owns: texts and blobs are valid until the next call of eddy_sqlite_rows_next() or _close().
 */
EDDY_API EDDY_MUST_USE int eddy_sqlite_rows_int(const eddy_sqlite_rows *rows, int column,
                                                int64_t *ret_integer);
EDDY_API EDDY_MUST_USE int eddy_sqlite_rows_real(const eddy_sqlite_rows *rows, int column,
                                                 double *ret_real);
EDDY_API EDDY_MUST_USE int eddy_sqlite_rows_text(const eddy_sqlite_rows *rows, int column,
                                                 const char **ret_text, size_t *ret_bytes);
EDDY_API EDDY_MUST_USE int eddy_sqlite_rows_blob(const eddy_sqlite_rows *rows, int column,
                                                 const void **ret_data, size_t *ret_bytes);

/* ---- structs --------------------------------------------------------------------------------- */

/*
 * Read the current row into the struct at 'out', as eddy_json_read() does: NULL is a missing field,
 * and a failure changes nothing.  A scalar or char [N] whose column is NULL, or is not in the result,
 * keeps its value: set '*out' to its defaults before each row, or use EDDY_FIELD_REQUIRED.  A blob
 * cannot be read.  'ret_fault' (or NULL) names the wrong field.
 *
 * Suspends: no.
 * Errors: those of eddy_json_read()
 *         EDDY_E_FIELD_TYPE  also: a blob; a REAL that is infinite
 *         -EINVAL            no current row
 *         -EMSGSIZE          the row as JSON is longer than 32 MiB
 * Owns: returns strings and lists (owned), until eddy_fields_fini().
 */
EDDY_API EDDY_MUST_USE int eddy_sqlite_rows_read(const eddy_sqlite_rows *rows,
                                                 const struct eddy_fields *fields, void *out,
                                                 struct eddy_sqlite_fault *ret_fault);

/*
 * Run a statement and read its only row into a struct.  eddy_sqlite_one_or_none() returns 1, or 0
 * if there is no row; the struct is then not changed.  A statement that changes rows (RETURNING) has
 * changed them also if its row cannot be read (EDDY_E_FIELD_*): a transaction that is then rolled back
 * undoes that.
 *
 * Suspends: yes.
 * Errors: those of SQL, and of eddy_sqlite_rows_read(), except -EINVAL
 *         EDDY_E_SQLITE_NO_ROW     eddy_sqlite_one(): there is no row
 *         EDDY_E_SQLITE_MANY_ROWS  there is more than one row
 * Owns: as eddy_sqlite_rows_read()
 */
EDDY_API EDDY_MUST_USE int eddy_sqlite_one(eddy_sqlite_conn *conn, const char *sql,
                                           const struct eddy_sqlite_value *values, size_t count,
                                           const struct eddy_fields *fields, void *out);
EDDY_API EDDY_MUST_USE int eddy_sqlite_one_or_none(eddy_sqlite_conn *conn, const char *sql,
                                                   const struct eddy_sqlite_value *values,
                                                   size_t count, const struct eddy_fields *fields,
                                                   void *out);

/*
 * Run a statement and read all its rows into a list.  'fields' is a table whose only field is the
 * list, such as
 *
 *     static const struct eddy_field page_list[] = {
 *             EDDY_FIELD_LIST_OF(struct page, users, users_count, &user_fields) };
 *
 * Limit the number of rows in the statement.  More rows than the list can have (EDDY_FIELD_LENGTH),
 * or more than 32 MiB as JSON, are an error; read such results row by row
 * (eddy_sqlite_rows_read()).
 *
 * Suspends: yes.
 * Errors: those of SQL, and of eddy_sqlite_rows_read(), except -EINVAL
 *         EDDY_E_FIELD_TABLE   also: the only field of 'fields' is not a list; nothing was run
 *         EDDY_E_FIELD_LENGTH  also: more rows than the list can have
 *         -EINVAL              'conn', 'fields' or 'out' is NULL
 * Owns: as eddy_sqlite_rows_read()
 */
EDDY_API EDDY_MUST_USE int eddy_sqlite_all(eddy_sqlite_conn *conn, const char *sql,
                                           const struct eddy_sqlite_value *values, size_t count,
                                           const struct eddy_fields *fields, void *out);

static inline void eddy_sqlite_rows_auto_release(eddy_sqlite_rows **rows)
{
        eddy_sqlite_rows_close(*rows);
}

EDDY_END_DECLS

#endif
