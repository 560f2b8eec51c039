/*
 * eddy/pg_stream.h - rows of PostgreSQL one by one, COPY as a stream, and notifications.
 *
 *     EDDY_AUTO(eddy_pg_cursor) eddy_pg_cursor *cursor = NULL;
 *     eddy_pg_result *row;
 *     int err = eddy_pg_cursor_open(pg, "select id from users", NULL, 0, &cursor);
 *
 *     while (err == 0 && (err = eddy_pg_cursor_next(cursor, &row)) == 1)
 *             err = eddy_pg_get_int(row, 0, 0, &id);
 *
 * The connection is in use until the rows or the copy end: other calls return EDDY_E_PG_BUSY.
 */
#ifndef EDDY_PG_STREAM_H
#define EDDY_PG_STREAM_H

#include "eddy/def.h"
#include "eddy/fields.h"
#include "eddy/pg.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct eddy_pg_cursor eddy_pg_cursor;

/*
 * Begin a command whose rows are read one by one.  Memory holds one row and the bytes that libpq
 * has read ahead; 'result_max' limits a row.
 *
 * Suspends: yes.
 * Errors: as eddy_pg_query()
 * Owns: returns (owned) '*ret_cursor', to be closed by eddy_pg_cursor_close() before the connection.
 */
EDDY_API EDDY_MUST_USE int eddy_pg_cursor_open(eddy_pg *pg, const char *sql,
                                               const struct eddy_pg_value *params, size_t n,
                                               eddy_pg_cursor **ret_cursor);

/*
 * Read the next row.  Returns 1, or 0 after the last row.  '*ret_row' (borrowed) is a result with
 * one row, valid until the next call.  A cancelled call can be repeated.
 *
 * Suspends: yes.
 * Errors: as eddy_pg_query(); each further call returns the error again
 */
EDDY_API EDDY_MUST_USE int eddy_pg_cursor_next(eddy_pg_cursor *cursor, eddy_pg_result **ret_row);

/*
 * Read the next row into the struct at 'out', as eddy_pg_row() does.  Returns 1, or 0 after the last.
 * If a column is NULL, a scalar or char [N] keeps the value of the previous row: set '*out' to its
 * defaults before each call.
 *
 * Suspends: yes.
 * Errors: those of eddy_pg_cursor_next() and eddy_pg_row()
 * Owns: as eddy_json_read(): call eddy_fields_fini() after each row
 */
EDDY_API EDDY_MUST_USE int eddy_pg_cursor_into(eddy_pg_cursor *cursor,
                                               const struct eddy_fields *fields, void *out);

/*
 * Close the cursor.  If rows are left, the server is asked to cancel the command, and the next call
 * on the connection waits for the end of the command.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_pg_cursor_close(eddy_pg_cursor *cursor);

static inline void eddy_pg_cursor_auto_release(eddy_pg_cursor **cursor)
{
        eddy_pg_cursor_close(*cursor);
}

/* ---- COPY ------------------------------------------------------------------------------------ */

/*
 * Begin a COPY, as in "copy users from stdin (format csv)" or "copy users to stdout".  The stream
 * takes or gives the bytes in the format of the command; eddy_stream_copy() (eddy/reader.h) moves them
 * from and to files.
 *
 * FROM STDIN: eddy_stream_shutdown() ends the data and returns the server's result, with the errors
 * of eddy_pg_query(), also for wrong data that was written earlier.  A stream that is closed
 * without a shutdown copies nothing.  If the shutdown is cancelled, the copy may have taken effect.
 * TO STDOUT: the stream ends when the server has confirmed that all rows were sent.
 *
 * Close the stream before the connection; closing does not wait.
 *
 * Suspends: yes.
 * Errors: as eddy_pg_query(); EDDY_E_PG_STATE  the command is not a COPY
 * Owns: returns (owned) '*ret_stream', to be closed by eddy_stream_close().
 */
EDDY_API EDDY_MUST_USE int eddy_pg_copy(eddy_pg *pg, const char *sql, eddy_stream **ret_stream);

/* Returns the number of rows of the connection's last COPY that has ended, or 0.  Suspends: no. */
EDDY_API int64_t eddy_pg_copied(const eddy_pg *pg);

/* ---- notifications --------------------------------------------------------------------------- */

/* A NOTIFY by any connection, on a channel that this connection listens to. */
struct eddy_pg_notification {
        char *payload;    /* owned; never NULL */
        char channel[64]; /* names have at most 63 bytes */
        int pid;          /* of the server's process that sent it */
        uintptr_t reserved[2];
};

/*
 * Wait for the next notification.  First listen, with eddy_pg_exec(pg, "listen news").
 * Notifications that arrive during other calls are kept; their bytes count towards 'result_max' of
 * the call.
 *
 * Notifications that are sent while the connection is lost never arrive: after a new connection and
 * "listen", check the data itself.
 *
 * Suspends: yes.
 * Errors: EDDY_E_PG_CLOSED, EDDY_E_PG_BUSY, -ECANCELED, -ENOMEM
 * Owns: fills in '*ret_notification', to be released by eddy_pg_notification_fini().
 */
EDDY_API EDDY_MUST_USE int eddy_pg_notified(eddy_pg *pg,
                                            struct eddy_pg_notification *ret_notification);
EDDY_API void eddy_pg_notification_fini(struct eddy_pg_notification *notification);

EDDY_END_DECLS

#endif
