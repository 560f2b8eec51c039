/*
 * pg/query.c - calls on a connection: commands, waits, and the remaining answers to cancelled
 * commands.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/scope.h"
#include "loop/loop.h"
#include "pg/pg.h"
#include "scope/suspend.h"
#include "sys/socket/sockets.h"
#include "tls/pending.h"

enum {
        READ_LEAST = 8192, /* libpq's buffer has at least this room for a read */

        /*
         * The ends of eddy's loops do not depend on libpq's state: after some results without a wait the
         * loop turns, so that a cancel or a deadline ends the call; and after the end of the connection
         * there are only the results that libpq had received.
         */
        UNWAITED_MAX = 128,
        RESULTS_AFTER_END_MAX = 10000,
};

#define CANCEL_AGAIN_NS EDDY_MS(20)

static const char no_savepoint_state[] = "3B001";

/* --- waits --- */

int ed_pg_lose_unanswered(eddy_pg *pg)
{
        if (PQstatus(pg->conn) == CONNECTION_OK) {
                ed_pg_fault_set(&pg->fault, "the server ended a command without an answer");
                pg->is_lost = true;
        }
        return ed_pg_lose(pg);
}

int ed_pg_lose(eddy_pg *pg)
{
        if (!pg->is_lost)
                ed_pg_fault_of_conn(&pg->fault, pg->conn);
        if (!*pg->fault.text)
                ed_pg_fault_set(&pg->fault, "the server sent an unexpected message");
        pg->is_lost = true;
        return EDDY_E_PG_CLOSED;
}

static int too_large(eddy_pg *pg)
{
        ed_pg_fault_set(&pg->fault, "the result is larger than result_max");
        pg->is_lost = true;
        return EDDY_E_PG_TOO_LARGE;
}

bool ed_pg_has_decrypted(const eddy_pg *pg)
{
        return PQsslInUse(pg->conn) && ed_tls_has_pending(PQsslStruct(pg->conn, "OpenSSL"));
}

/* A single read of libpq, which takes at least READ_LEAST bytes if there are any. */
static int consume(eddy_pg *pg)
{
        size_t before, after;
        bool is_read;

        /* Most answers come in one piece; libpq's buffer limits what this may miss. */
        if (pg->received == 0) {
                pg->received = 1;
                return PQconsumeInput(pg->conn) ? 0 : EDDY_E_PG_CLOSED;
        }
        before = ed_sockets_arrived(PQsocket(pg->conn));
        is_read = PQconsumeInput(pg->conn);
        /* libpq does not say how much it has read, and more may have arrived since. */
        if (before > READ_LEAST) {
                after = ed_sockets_arrived(PQsocket(pg->conn));
                before = before > after + READ_LEAST ? before - after : READ_LEAST;
        }
        pg->received += before;
        if (pg->received > pg->result_max)
                return too_large(pg);
        return is_read ? 0 : EDDY_E_PG_CLOSED;
}

/* A record of TLS has up to 16 KiB, so a part of it may remain in OpenSSL. Each read takes some of it. */
int ed_pg_consume(eddy_pg *pg)
{
        uint64_t taken = 0, before;
        int err;

        do {
                before = taken;
                err = consume(pg);
                if (err < 0 || !ed_pg_has_decrypted(pg))
                        return err;
                taken = ed_tls_taken(PQsslStruct(pg->conn, "OpenSSL"));
        } while (taken > before);
        return EDDY_E_PG_CLOSED;
}

bool ed_pg_count(eddy_pg *pg, uint64_t max)
{
        pg->received += ed_sockets_arrived(PQsocket(pg->conn));
        return pg->received <= max;
}

/* libpq had something without a wait. */
static int pass_unwaited(eddy_pg *pg)
{
        if (++pg->unwaited < UNWAITED_MAX)
                return 0;
        pg->unwaited = 0;
        return eddy_sleep(0);
}

/* Notifications stay with libpq, which has no limit for them: it is that of the answer's bytes. */
int ed_pg_turn(eddy_pg *pg, unsigned events)
{
        int fd = PQsocket(pg->conn);
        bool is_expected = pg->is_expected;
        int ready, err;

        pg->is_expected = false;
        if (fd < 0)
                return ed_pg_lose(pg);
        /* While libpq sends, it also reads. */
        if (!ed_pg_has_decrypted(pg)) {
                ready = is_expected ? ed_fd_watch_wait_next(&pg->watch, fd, events)
                                    : ed_fd_watch_wait(&pg->watch, fd, events);
                if (ready < 0)
                        return ready;
                pg->unwaited = 0;
                if (!(ready & EDDY_FD_READABLE))
                        return 0;
        } else {
                err = pass_unwaited(pg);
                if (err < 0)
                        return err;
        }
        err = ed_pg_consume(pg);
        if (err != EDDY_E_PG_CLOSED)
                return err;
        /* Bytes from before the end of the connection are still to be read, but none come after it. */
        if (pg->has_ended || PQisBusy(pg->conn))
                return ed_pg_lose(pg);
        pg->has_ended = true;
        return 0;
}

int ed_pg_flush(eddy_pg *pg)
{
        int err = 0, left = PQflush(pg->conn);

        while (err == 0 && left > 0) {
                /* A server that has much to send may read only after that. */
                err = ed_pg_turn(pg, EDDY_FD_READABLE | EDDY_FD_WRITABLE);
                left = err == 0 ? PQflush(pg->conn) : 0;
        }
        if (err == 0 && left < 0 && PQstatus(pg->conn) == CONNECTION_BAD && !PQisBusy(pg->conn))
                return 0; /* the answer says why */
        return err == 0 && left < 0 ? ed_pg_lose(pg) : err;
}

PGresult *ed_pg_get(eddy_pg *pg)
{
        bool is_over = PQstatus(pg->conn) == CONNECTION_BAD;

        if (is_over && pg->results_after_end == RESULTS_AFTER_END_MAX)
                return NULL;
        pg->results_after_end += is_over;
        return PQgetResult(pg->conn);
}

int ed_pg_next(eddy_pg *pg, PGresult **ret_result)
{
        int err = pass_unwaited(pg);

        while (err == 0 && PQisBusy(pg->conn))
                err = ed_pg_turn(pg, EDDY_FD_READABLE);
        if (err < 0)
                return err;
        *ret_result = ed_pg_get(pg);
        /* While libpq reads, more may arrive than was counted. */
        if (*ret_result && PQresultMemorySize(*ret_result) > pg->result_max) {
                PQclear(*ret_result);
                return too_large(pg);
        }
        return 0;
}

/* --- the beginning and the end of a call --- */

/* Drop the rows of a COPY. */
static int drop_rows(eddy_pg *pg)
{
        int err = 0;

        while (err == 0) {
                char *row = NULL;
                int got = PQgetCopyData(pg->conn, &row, 1);

                PQfreemem(row);
                if (got == -1)
                        return 0;
                if (got < -1)
                        err = ed_pg_lose(pg);
                else
                        err = got == 0 ? ed_pg_turn(pg, EDDY_FD_READABLE) : pass_unwaited(pg);
        }
        return err;
}

/*
 * Drop the rest of an answer, or those of a pipeline, and end a COPY. In a pipeline libpq returns
 * NULL after the answer to each command, and for ever after the end of the connection: the second
 * NULL in a row ends this loop whatever libpq's state is.
 */
static int drain(eddy_pg *pg)
{
        PGresult *result = NULL;
        int err = ed_pg_flush(pg);
        unsigned ends = 0;

        while (err == 0) {
                ExecStatusType status;

                err = ed_pg_next(pg, &result);
                if (err < 0 || (!result && PQpipelineStatus(pg->conn) == PQ_PIPELINE_OFF))
                        break;
                ends = result ? 0 : ends + 1;
                if (ends > 1)
                        err = ed_pg_lose(pg);
                status = PQresultStatus(result);
                PQclear(result);
                /* After the last Sync of a pipeline. */
                if (status == PGRES_PIPELINE_SYNC && PQexitPipelineMode(pg->conn))
                        break;
                /* It belongs to replication; libpq returns it for ever. */
                if (status == PGRES_COPY_BOTH)
                        err = ed_pg_lose(pg);
                if (status == PGRES_COPY_IN && PQputCopyEnd(pg->conn, "cancelled") < 0)
                        err = ed_pg_lose(pg);
                if (status == PGRES_COPY_IN && err == 0)
                        err = ed_pg_flush(pg);
                if (status == PGRES_COPY_OUT && err == 0)
                        err = drop_rows(pg);
        }
        if (err == 0 && PQstatus(pg->conn) == CONNECTION_BAD)
                err = ed_pg_lose(pg);
        return err;
}

/*
 * Cancel the command of the server and drop the answer. The server ignores a request that arrives
 * before it has read the command, so the request is sent again until the answer has ended.
 */
static int cancel_and_drain(eddy_pg *pg)
{
        struct eddy_scope_opts pause = { .timeout_ns = CANCEL_AGAIN_NS };
        int err;

        do {
                eddy_scope scope;

                err = ed_pg_cancel_wait(pg);
                if (err < 0)
                        return err;
                eddy_scope_begin(&scope, &pause);
                err = eddy_scope_end_with(&scope, drain(pg));
                pause.timeout_ns *= 2;
        } while (err == -ETIMEDOUT);
        return err;
}

/* Wait for the end of a call that was cancelled. */
static int settle(eddy_pg *pg)
{
        struct eddy_scope_opts limit = { .timeout_ns = pg->cancel_timeout_ns };
        eddy_scope scope;
        int err;

        pg->received = 0;
        eddy_scope_begin(&scope, &limit);
        err = eddy_scope_end_with(&scope, cancel_and_drain(pg));
        if (err == 0) {
                pg->owes = false;
        } else if (err != -ECANCELED) {
                if (!pg->is_lost)
                        ed_pg_fault_set(&pg->fault,
                                        "the server did not end a cancelled command in time");
                pg->is_lost = true;
                err = EDDY_E_PG_CLOSED;
        }
        return err;
}

/* Undo what a transaction or savepoint has done that failed or was cancelled. */
static int roll_back(eddy_pg *pg)
{
        char sql[96] = "ROLLBACK";
        int err;

        /* The savepoint would remain, and be taken for the next one if that one fails to begin. */
        if (pg->depth > 0)
                snprintf(sql, sizeof(sql),
                         "ROLLBACK TO SAVEPOINT eddy_%u; RELEASE SAVEPOINT eddy_%u", pg->depth,
                         pg->depth);
        err = PQtransactionStatus(pg->conn) == PQTRANS_IDLE ? 0 : ed_pg_simple(pg, sql, NULL);
        /* The error for a savepoint that does not exist also ends the outer transaction, once. */
        if (err == 0 ||
            (err == EDDY_E_PG_SERVER && strcmp(pg->fault.sqlstate, no_savepoint_state) == 0))
                pg->must_roll_back = false;
        return err;
}

int ed_pg_enter(eddy_pg *pg)
{
        struct ed_task *task;
        int err;

        if (!pg)
                return -EINVAL;
        err = ed_member_check(&pg->member);
        if (err < 0)
                return err;
        if (pg->is_busy)
                return EDDY_E_PG_BUSY;
        if (pg->is_lost)
                return EDDY_E_PG_CLOSED;
        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        pg->is_busy = true;
        if (pg->owes)
                err = settle(pg);
        if (err == 0 && pg->must_roll_back)
                err = ed_pg_leave(pg, roll_back(pg));
        pg->is_busy = true;
        if (err < 0) {
                pg->is_busy = false;
                return err;
        }
        pg->received = 0;
        memset(&pg->fault, 0, sizeof(pg->fault));
        return 0;
}

int ed_pg_leave(eddy_pg *pg, int result)
{
        pg->is_busy = false;
        pg->is_expected = false;
        pg->is_fresh = result == 0;
        /* The call has succeeded by a repetition, or in spite of an error. */
        if (result == 0 && *pg->fault.text)
                memset(&pg->fault, 0, sizeof(pg->fault));
        if ((result == -ECANCELED || result == EDDY_E_PG_TIMED_OUT) && !pg->is_lost &&
            PQtransactionStatus(pg->conn) == PQTRANS_ACTIVE) {
                pg->owes = true;
                pg->is_touched = true;
                ed_pg_cancel_begin(pg);
        }
        return result;
}

bool ed_pg_is_broken(eddy_pg *pg)
{
        struct ed_sys *sys;

        if (pg->is_lost || pg->is_stray || PQstatus(pg->conn) != CONNECTION_OK)
                return true;
        if (pg->is_busy || pg->owes || !ed_loop_current)
                return false;
        /* A pool checks a connection that comes back, and again before it lends it. */
        if (pg->is_fresh) {
                pg->is_fresh = false;
                return false;
        }
        sys = ed_loop_current->sys;
        if (sys->poll->ready(sys, PQsocket(pg->conn), EDDY_FD_READABLE) <= 0)
                return false;
        /* Notices, notifications and settings may come at any time. */
        return ed_pg_consume(pg) < 0 || PQisBusy(pg->conn) || pg->is_stray;
}

/* --- commands --- */

/* Returns the error of a result, and keeps its details. */
static int judge(eddy_pg *pg, const PGresult *result)
{
        switch (PQresultStatus(result)) {
        case PGRES_EMPTY_QUERY:
        case PGRES_COMMAND_OK:
        case PGRES_TUPLES_OK:
        case PGRES_SINGLE_TUPLE:
                return 0;
        case PGRES_COPY_IN:
        case PGRES_COPY_OUT:
        case PGRES_COPY_BOTH:
                ed_pg_fault_set(&pg->fault, "the command is a COPY");
                return EDDY_E_PG_STATE;
        default:
                return ed_pg_fault_of_result(&pg->fault, result);
        }
}

bool ed_pg_is_copy(const PGresult *result)
{
        ExecStatusType status = PQresultStatus(result);

        return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

/* Whether a command may have changed more of the session than its transaction, by its tag. */
static bool touches(const char *tag)
{
        static const char *const harmless[] = { "SELECT", "INSERT",   "UPDATE",    "DELETE",
                                                "MERGE",  "COPY",     "BEGIN",     "COMMIT",
                                                "START",  "ROLLBACK", "SAVEPOINT", "RELEASE" };

        for (size_t i = 0; i < ed_array_count(harmless); i++)
                if (strncmp(tag, harmless[i], strlen(harmless[i])) == 0)
                        return false;
        return *tag != '\0';
}

int ed_pg_take(eddy_pg *pg, const PGresult *result)
{
        pg->is_used = true;
        pg->is_touched |= touches(PQcmdStatus((PGresult *) result));
        return judge(pg, result);
}

/* The part of an answer that was read. A collection that was cancelled can go on with it. */
struct answer {
        PGresult *last; /* owned */
        int verdict;
};

/* Returns the verdict at the end of the answer. */
static int collect(eddy_pg *pg, struct answer *answer)
{
        PGresult *result;
        int err = ed_pg_flush(pg);

        pg->is_expected = err == 0 && pg->received == 0;
        while (err == 0) {
                result = NULL;
                err = ed_pg_next(pg, &result);
                if (err == 0 && !result && !answer->last)
                        err = ed_pg_lose_unanswered(pg);
                if (err < 0 || !result)
                        break;
                /* A later result does not replace an error. */
                if (answer->verdict == 0)
                        answer->verdict = ed_pg_take(pg, result);
                PQclear(answer->last);
                answer->last = result;
                /* libpq returns it for ever. The rest is dropped by the next call. */
                if (ed_pg_is_copy(result)) {
                        pg->owes = true;
                        ed_pg_cancel_begin(pg);
                        break;
                }
        }
        if (err == 0)
                err = answer->verdict;
        if (PQstatus(pg->conn) == CONNECTION_BAD) {
                /* The server's last words are a better reason. */
                pg->is_lost = true;
                err = err == -ECANCELED || err == EDDY_E_PG_TOO_LARGE ? err : EDDY_E_PG_CLOSED;
        }
        return err;
}

/* Store the last result, if the answer is a success. Returns 'err'. */
static int hand_over(struct answer *answer, int err, PGresult **ret_result)
{
        if (err == 0 && ret_result)
                *ret_result = answer->last;
        else
                PQclear(answer->last);
        return err;
}

/* collect(), within 'command_timeout_ns'. */
static int collect_in_time(eddy_pg *pg, struct answer *answer)
{
        struct eddy_scope_opts limit = { .timeout_ns = pg->command_timeout_ns };
        eddy_scope scope;
        int err;

        if (limit.timeout_ns == 0)
                return collect(pg, answer);
        eddy_scope_begin(&scope, &limit);
        err = eddy_scope_end_with(&scope, collect(pg, answer));
        return err == -ETIMEDOUT ? EDDY_E_PG_TIMED_OUT : err;
}

int ed_pg_collect(eddy_pg *pg, PGresult **ret_result)
{
        struct answer answer = { .last = NULL };

        return hand_over(&answer, collect_in_time(pg, &answer), ret_result);
}

int ed_pg_collect_shielded(eddy_pg *pg, PGresult **ret_result)
{
        struct eddy_scope_opts limit = { .timeout_ns = pg->cancel_timeout_ns,
                                         .flags = EDDY_SCOPE_SHIELD };
        struct answer answer = { .last = NULL };
        int err = collect_in_time(pg, &answer);
        eddy_scope scope;

        if (err == -ECANCELED) {
                eddy_scope_begin(&scope, &limit);
                err = eddy_scope_end_with(&scope, collect(pg, &answer));
                err = err == -ETIMEDOUT ? -ECANCELED : err;
        }
        return hand_over(&answer, err, ret_result);
}

int ed_pg_simple(eddy_pg *pg, const char *sql, PGresult **ret_result)
{
        if (!PQsendQuery(pg->conn, sql))
                return ed_pg_lose(pg);
        return ed_pg_collect(pg, ret_result);
}

bool ed_pg_is_stale_state(const char *sqlstate)
{
        return strcmp(sqlstate, "26000") == 0 || strcmp(sqlstate, "0A000") == 0;
}

bool ed_pg_is_stale(const eddy_pg *pg, int err)
{
        return err == EDDY_E_PG_SERVER && ed_pg_is_stale_state(pg->fault.sqlstate);
}

int ed_pg_send(eddy_pg *pg, const char *sql, const struct ed_pg_params *params,
               const struct ed_pg_statement *statement)
{
        char name[ED_PG_NAME_BYTES];
        int sent;

        if (statement) {
                ed_pg_statement_name(statement, name);
                sent = PQsendQueryPrepared(pg->conn, name, params->count, params->values,
                                           params->lengths, params->formats, 0);
        } else {
                sent = PQsendQueryParams(pg->conn, sql, params->count, NULL, params->values,
                                         params->lengths, params->formats, 0);
        }
        return sent ? 0 : ed_pg_lose(pg);
}

static int run(eddy_pg *pg, const char *sql, const struct ed_pg_params *params,
               PGresult **ret_result)
{
        struct ed_pg_statement *statement;
        int err = ed_pg_statement_get(pg, sql, &statement);

        if (err < 0)
                return err;
        err = ed_pg_send(pg, sql, params, statement);
        if (err == 0)
                err = ed_pg_collect(pg, ret_result);
        if (!statement || !ed_pg_is_stale(pg, err))
                return err;
        ed_pg_statement_drop(pg, statement);
        if (PQtransactionStatus(pg->conn) != PQTRANS_IDLE)
                return err;
        err = ed_pg_send(pg, sql, params, NULL);
        return err == 0 ? ed_pg_collect(pg, ret_result) : err;
}

int ed_pg_extended(eddy_pg *pg, const char *sql, const struct eddy_pg_value *values, size_t n,
                   PGresult **ret_result)
{
        struct ed_pg_params params;
        int err = ed_pg_params_init(&params, values, n);

        if (err < 0)
                return err;
        err = run(pg, sql, &params, ret_result);
        ed_pg_params_fini(&params);
        return err;
}

int eddy_pg_query(eddy_pg *pg, const char *sql, const struct eddy_pg_value *params, size_t n,
                  eddy_pg_result **ret_result)
{
        PGresult *result = NULL;
        int err;

        if (!sql)
                return -EINVAL;
        err = ed_pg_enter(pg);
        if (err < 0)
                return err;
        err = ed_pg_leave(pg, ed_pg_extended(pg, sql, params, n, &result));
        if (err == 0 && ret_result)
                *ret_result = (eddy_pg_result *) result;
        else
                PQclear(result);
        return err;
}

int eddy_pg_exec(eddy_pg *pg, const char *sql)
{
        int err;

        if (!sql)
                return -EINVAL;
        err = ed_pg_enter(pg);
        return err < 0 ? err : ed_pg_leave(pg, ed_pg_simple(pg, sql, NULL));
}

int eddy_pg_one_or_none(eddy_pg *pg, const char *sql, const struct eddy_pg_value *params, size_t n,
                        const struct eddy_fields *fields, void *out)
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        int err = eddy_pg_query(pg, sql, params, n, &result);
        struct eddy_json_error wrong = { .error = 0 };

        if (err < 0)
                return err;
        if (eddy_pg_rows(result) > 1)
                return EDDY_E_PG_MANY_ROWS;
        if (eddy_pg_rows(result) == 0)
                return 0;
        err = eddy_pg_row(result, 0, fields, out, &wrong);
        if (err < 0)
                ed_pg_fault_set(&pg->fault, wrong.text);
        return err < 0 ? err : 1;
}

int eddy_pg_one(eddy_pg *pg, const char *sql, const struct eddy_pg_value *params, size_t n,
                const struct eddy_fields *fields, void *out)
{
        int found = eddy_pg_one_or_none(pg, sql, params, n, fields, out);

        if (found < 0)
                return found;
        return found ? 0 : EDDY_E_PG_NO_ROW;
}
