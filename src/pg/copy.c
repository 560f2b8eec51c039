/*
 * pg/copy.c - COPY in both directions, as a stream.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/fd.h"
#include "eddy/pg_stream.h"
#include "eddy/scope.h"
#include "eddy/stream_ops.h"
#include "pg/pg.h"

enum {
        CHUNK_BYTES = 1 << 16, /* that libpq holds, at most */
        RESULTS_MAX = 10000,   /* after a COPY: those of the commands that follow in its text */
};

/* On the stack of a task in wait_for(). */
struct copy_waiter {
        eddy_scope scope;
        bool is_closed; /* by another task: the stream is gone */
};

struct copy {
        eddy_stream stream;
        eddy_pg *pg;
        bool is_in;                   /* FROM STDIN */
        bool has_all_rows;            /* TO STDOUT: the server's verdict follows */
        bool is_over;                 /* the connection is free */
        int err;                      /* of the server; the result when it is over */
        unsigned results;             /* after the rows */
        char *row;                    /* of libpq; NULL: none */
        size_t row_bytes, row_at;     /* of it, and returned already */
        struct copy_waiter *waits[2]; /* by side; NULL: none */
};

static struct copy *copy_of(const eddy_stream *stream)
{
        return ed_container_of(stream, struct copy, stream);
}

/* The answer has ended: let the connection go. Returns 'err'. */
static int over(struct copy *copy, int err)
{
        copy->is_over = true;
        copy->err = ed_pg_leave(copy->pg, err);
        return err;
}

static void count(struct copy *copy, PGresult *result)
{
        copy->pg->copied = strtoll(PQcmdTuples(result), NULL, 10);
}

/* The server's verdict, without a wait. Returns 0 at the end, -EAGAIN or an error. */
static int confirm(struct copy *copy)
{
        eddy_pg *pg = copy->pg;

        while (!PQisBusy(pg->conn)) {
                PGresult *result = ed_pg_get(pg);
                bool is_again;

                if (!result && PQstatus(pg->conn) == CONNECTION_BAD) {
                        pg->is_lost = true;
                        copy->err = EDDY_E_PG_CLOSED;
                }
                if (!result && copy->results == 0)
                        copy->err = ed_pg_lose_unanswered(pg);
                if (!result)
                        return over(copy, copy->err);
                if (copy->err == 0)
                        copy->err = ed_pg_take(pg, result);
                if (copy->err == 0)
                        count(copy, result);
                is_again = ++copy->results > RESULTS_MAX || ed_pg_is_copy(result);
                PQclear(result);
                if (is_again)
                        return over(copy, ed_pg_lose(pg));
        }
        return -EAGAIN;
}

/* --- TO STDOUT --- */

/* Returns 1 with a row, 0 at the end, -EAGAIN or an error. */
static int row_get(struct copy *copy)
{
        int n;

        if (copy->is_over)
                return copy->err;
        if (copy->row)
                return 1;
        if (copy->has_all_rows)
                return confirm(copy);
        n = PQgetCopyData(copy->pg->conn, &copy->row, 1);
        if (n > 0) {
                copy->pg->received = 0;
                copy->row_bytes = (size_t) n;
                copy->row_at = 0;
                return 1;
        }
        if (n < -1)
                return over(copy, ed_pg_lose(copy->pg));
        if (n == 0)
                return -EAGAIN;
        copy->has_all_rows = true;
        return confirm(copy);
}

/* Copy what fits of the row, and free it at its end.  Returns the bytes. */
static size_t row_copy(struct copy *copy, char *buf, size_t bytes)
{
        size_t n = copy->row_bytes - copy->row_at;

        if (n > bytes)
                n = bytes;
        memcpy(buf, copy->row + copy->row_at, n);
        copy->row_at += n;
        if (copy->row_at == copy->row_bytes) {
                PQfreemem(copy->row);
                copy->row = NULL;
        }
        return n;
}

/* As many rows as fit, without a wait. An end or an error after a row is left to the next call. */
static int64_t copy_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct copy *copy = copy_of(stream);
        size_t n = 0;
        int found = copy->is_in ? -ENOTSUP : row_get(copy);

        while (found == 1 && n < bytes) {
                n += row_copy(copy, (char *) buf + n, bytes - n);
                if (n < bytes)
                        found = row_get(copy);
        }
        return found == 1 || n > 0 ? (int64_t) n : found;
}

static bool copy_is_readable(eddy_stream *stream)
{
        struct copy *copy = copy_of(stream);

        return copy->is_in || row_get(copy) != -EAGAIN;
}

/* --- FROM STDIN --- */

/* Returns 0, or -EAGAIN while libpq holds bytes. */
static int copy_flush(eddy_stream *stream)
{
        struct copy *copy = copy_of(stream);
        int left;

        if (copy->is_over)
                return copy->err < 0 ? copy->err : -EPIPE;
        left = PQflush(copy->pg->conn);
        if (left > 0)
                return -EAGAIN;
        return left == 0 ? 0 : over(copy, ed_pg_lose(copy->pg));
}

static int64_t copy_try_writev(eddy_stream *stream, const struct eddy_slice *slices, size_t n)
{
        struct copy *copy = copy_of(stream);
        size_t bytes = slices[0].bytes < CHUNK_BYTES ? slices[0].bytes : CHUNK_BYTES;
        int err = copy->is_in ? copy_flush(stream) : -ENOTSUP;

        (void) n;
        if (err < 0)
                return err;
        if (PQputCopyData(copy->pg->conn, slices[0].data, (int) bytes) != 1)
                return over(copy, ed_pg_lose(copy->pg));
        return (int64_t) bytes;
}

/* --- both --- */

/* Wait for EDDY_FD_*. '*ret_is_closed': another task has closed the stream, so 'copy' is gone. */
static int wait_for(struct copy *copy, enum eddy_stream_side side, unsigned events,
                    bool *ret_is_closed)
{
        struct copy_waiter wait = { .is_closed = false };
        int err;

        eddy_scope_begin(&wait.scope, NULL);
        copy->waits[side] = &wait;
        err = ed_pg_turn(copy->pg, events);
        if (!wait.is_closed)
                copy->waits[side] = NULL;
        err = eddy_scope_end_with(&wait.scope, err);
        *ret_is_closed = wait.is_closed;
        return wait.is_closed ? -ECANCELED : err;
}

/* Send what libpq holds, and wait for the server's verdict. */
static int wait_verdict(struct copy *copy)
{
        eddy_pg *pg = copy->pg;
        bool is_closed = false;

        for (;;) {
                int left = PQflush(pg->conn), err;

                /* The answer says why the connection has ended, if there is one. */
                if (left < 0 && (PQstatus(pg->conn) != CONNECTION_BAD || PQisBusy(pg->conn)))
                        return over(copy, ed_pg_lose(pg));
                err = left > 0 ? -EAGAIN : confirm(copy);
                if (err != -EAGAIN)
                        return err;
                err = wait_for(copy, EDDY_STREAM_WRITING,
                               left > 0 ? EDDY_FD_READABLE | EDDY_FD_WRITABLE : EDDY_FD_READABLE,
                               &is_closed);
                if (is_closed)
                        return err;
                if (err < 0)
                        return over(copy, err);
        }
}

static int copy_shutdown(eddy_stream *stream)
{
        struct copy *copy = copy_of(stream);

        if (!copy->is_in)
                return -ENOTSUP;
        if (copy->is_over)
                return copy->err;
        if (PQputCopyEnd(copy->pg->conn, NULL) != 1)
                return over(copy, ed_pg_lose(copy->pg));
        return wait_verdict(copy);
}

static int copy_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        bool is_closed;

        return wait_for(copy_of(stream), side,
                        side == EDDY_STREAM_WRITING ? EDDY_FD_READABLE | EDDY_FD_WRITABLE
                                                    : EDDY_FD_READABLE,
                        &is_closed);
}

static void copy_close(eddy_stream *stream, unsigned flags)
{
        struct copy *copy = copy_of(stream);

        (void) flags;
        for (int side = 0; side < 2; side++) {
                if (!copy->waits[side])
                        continue;
                copy->waits[side]->is_closed = true;
                eddy_scope_cancel(&copy->waits[side]->scope);
        }
        PQfreemem(copy->row);
        if (!copy->is_over)
                (void) ed_pg_leave(copy->pg, -ECANCELED);
        ed_free(copy);
}

static const struct eddy_stream_ops copy_ops = {
        .kind = "copy",
        .try_read = copy_try_read,
        .try_writev = copy_try_writev,
        .flush = copy_flush,
        .wait = copy_wait,
        .is_readable = copy_is_readable,
        .shutdown = copy_shutdown,
        .close = copy_close,
};

/* Send the command. Returns 1 for FROM STDIN, 0 for TO STDOUT. */
static int begin(eddy_pg *pg, const char *sql)
{
        PGresult *result = NULL;
        ExecStatusType status;
        int err;

        if (!PQsendQuery(pg->conn, sql))
                return ed_pg_lose(pg);
        err = ed_pg_flush(pg);
        if (err == 0)
                err = ed_pg_next(pg, &result);
        if (err < 0)
                return err;
        status = PQresultStatus(result);
        if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT) {
                PQclear(result);
                return status == PGRES_COPY_IN;
        }
        err = ed_pg_take(pg, result);
        PQclear(result);
        if (err == 0) {
                ed_pg_fault_set(&pg->fault, "the command is not a COPY");
                err = EDDY_E_PG_STATE;
        }
        return err;
}

int eddy_pg_copy(eddy_pg *pg, const char *sql, eddy_stream **ret_stream)
{
        struct copy *copy;
        int kind;

        if (!sql)
                return -EINVAL;
        kind = ed_pg_enter(pg);
        if (kind < 0)
                return kind;
        copy = ed_alloc_zero(sizeof(*copy));
        kind = copy ? begin(pg, sql) : -ENOMEM;
        if (kind < 0) {
                ed_free(copy);
                /* The rest of the answer is dropped by the next call. */
                (void) ed_pg_leave(pg, -ECANCELED);
                return kind;
        }
        pg->copied = 0;
        copy->pg = pg;
        copy->is_in = kind;
        pg->is_used = true;
        eddy_stream_init(&copy->stream, &copy_ops);
        copy->stream.member = &pg->member;
        *ret_stream = &copy->stream;
        return 0;
}

int64_t eddy_pg_copied(const eddy_pg *pg)
{
        return pg ? pg->copied : 0;
}
