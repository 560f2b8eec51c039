/*
 * pg/cursor.c - rows that are taken one by one, in libpq's single-row mode.
 */
#include <errno.h>

#include "base/alloc.h"
#include "eddy/pg_stream.h"
#include "eddy/scope.h"
#include "pg/pg.h"
#include "scope/misuse.h"

struct eddy_pg_cursor {
        eddy_pg *pg;
        PGresult *next, *row; /* not returned yet; returned last */
        int verdict;          /* of the server */
        bool has_verdict;
        int err; /* that is returned at the end */
        bool is_at_end;
};

/* Take the rest of an answer after its verdict, also if that is cancelled and repeated. */
static int finish(eddy_pg_cursor *cursor)
{
        eddy_pg *pg = cursor->pg;
        int err;

        do {
                PGresult *result = NULL;

                err = ed_pg_next(pg, &result);
                if (err == 0 && !result)
                        return cursor->verdict;
                /* It cannot follow another result, and libpq returns it for ever. */
                if (err == 0 && ed_pg_is_copy(result))
                        err = ed_pg_lose(pg);
                if (err == 0 && cursor->verdict == 0)
                        cursor->verdict = ed_pg_take(pg, result);
                PQclear(result);
        } while (err == 0);
        return err;
}

/* Returns 1 with the next row at 'cursor->next', or 0 at the end. */
static int fetch(eddy_pg_cursor *cursor)
{
        eddy_pg *pg = cursor->pg;
        PGresult *result = NULL;
        int err;

        pg->received = 0;
        if (cursor->has_verdict)
                return finish(cursor);
        err = ed_pg_next(pg, &result);
        if (err == 0 && !result)
                err = ed_pg_lose_unanswered(pg);
        if (err < 0)
                return err;
        if (PQresultStatus(result) == PGRES_SINGLE_TUPLE) {
                cursor->next = result;
                return 1;
        }
        err = ed_pg_take(pg, result);
        PQclear(result);
        if (err == EDDY_E_PG_STATE) /* a COPY: left to the next call */
                return err;
        cursor->has_verdict = true;
        cursor->verdict = err;
        return finish(cursor);
}

/* fetch(), within 'command_timeout_ns'. */
static int fetch_in_time(eddy_pg_cursor *cursor)
{
        struct eddy_scope_opts limit = { .timeout_ns = cursor->pg->command_timeout_ns };
        eddy_scope scope;
        int found;

        if (limit.timeout_ns == 0)
                return fetch(cursor);
        eddy_scope_begin(&scope, &limit);
        found = eddy_scope_end_with(&scope, fetch(cursor));
        return found == -ETIMEDOUT ? EDDY_E_PG_TIMED_OUT : found;
}

static int send(eddy_pg_cursor *cursor, const char *sql, const struct ed_pg_params *params,
                struct ed_pg_statement *statement)
{
        int err = ed_pg_send(cursor->pg, sql, params, statement);

        cursor->has_verdict = false;
        if (err == 0 && !PQsetSingleRowMode(cursor->pg->conn))
                err = ed_pg_lose(cursor->pg);
        if (err == 0)
                err = ed_pg_flush(cursor->pg);
        return err == 0 ? fetch_in_time(cursor) : err;
}

/* As eddy_pg_cursor_next(), up to the first row. */
static int begin(eddy_pg_cursor *cursor, const char *sql, const struct eddy_pg_value *values,
                 size_t n)
{
        eddy_pg *pg = cursor->pg;
        struct ed_pg_statement *statement;
        struct ed_pg_params params;
        int found = ed_pg_params_init(&params, values, n);

        if (found < 0)
                return found;
        found = ed_pg_statement_get(pg, sql, &statement);
        if (found == 0) {
                found = send(cursor, sql, &params, statement);
                if (statement && ed_pg_is_stale(pg, found)) {
                        ed_pg_statement_drop(pg, statement);
                        if (PQtransactionStatus(pg->conn) == PQTRANS_IDLE)
                                found = send(cursor, sql, &params, NULL);
                }
        }
        ed_pg_params_fini(&params);
        return found;
}

/* Let the connection go, if the answer has ended or failed. */
static void end(eddy_pg_cursor *cursor, int found)
{
        cursor->is_at_end = true;
        cursor->err = found;
        if (found == EDDY_E_PG_STATE)
                found = -ECANCELED; /* the answer has not ended */
        (void) ed_pg_leave(cursor->pg, found);
}

int eddy_pg_cursor_open(eddy_pg *pg, const char *sql, const struct eddy_pg_value *params, size_t n,
                        eddy_pg_cursor **ret_cursor)
{
        eddy_pg_cursor *cursor;
        int found;

        if (!sql)
                return -EINVAL;
        found = ed_pg_enter(pg);
        if (found < 0)
                return found;
        cursor = ed_alloc_zero(sizeof(*cursor));
        if (!cursor)
                return ed_pg_leave(pg, -ENOMEM);
        cursor->pg = pg;
        found = begin(cursor, sql, params, n);
        if (found <= 0)
                end(cursor, found);
        if (found < 0)
                eddy_pg_cursor_close(cursor);
        else
                *ret_cursor = cursor;
        return found < 0 ? found : 0;
}

int eddy_pg_cursor_next(eddy_pg_cursor *cursor, eddy_pg_result **ret_row)
{
        int err;

        if (!cursor)
                return -EINVAL;
        err = ed_member_check(&cursor->pg->member);
        if (err < 0)
                return err;
        PQclear(cursor->row);
        cursor->row = cursor->next;
        cursor->next = NULL;
        if (!cursor->row && !cursor->is_at_end) {
                int found = fetch_in_time(cursor);

                if (found == -ECANCELED)
                        return found;
                cursor->row = cursor->next;
                cursor->next = NULL;
                if (found <= 0)
                        end(cursor, found);
        }
        if (!cursor->row)
                return cursor->err;
        if (ret_row)
                *ret_row = (eddy_pg_result *) cursor->row;
        return 1;
}

int eddy_pg_cursor_into(eddy_pg_cursor *cursor, const struct eddy_fields *fields, void *out)
{
        struct eddy_json_error wrong = { .error = 0 };
        eddy_pg_result *row;
        int found = eddy_pg_cursor_next(cursor, &row), err;

        if (found <= 0)
                return found;
        err = eddy_pg_row(row, 0, fields, out, &wrong);
        if (err < 0)
                ed_pg_fault_set(&cursor->pg->fault, wrong.text);
        return err < 0 ? err : 1;
}

void eddy_pg_cursor_close(eddy_pg_cursor *cursor)
{
        if (!cursor || !ed_misuse_may_close(&cursor->pg->member, "a cursor"))
                return;
        PQclear(cursor->row);
        PQclear(cursor->next);
        if (!cursor->is_at_end)
                (void) ed_pg_leave(cursor->pg, -ECANCELED);
        ed_free(cursor);
}
