/*
 * pg/transaction.c - transactions and savepoints.
 *
 * The connection counts the open ones. A rollback is recorded on the connection ('must_roll_back')
 * and done by the next call that enters, so a cancelled task need not wait.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "eddy/pg_transaction.h"
#include "pg/pg.h"

static int begin_text(const struct eddy_pg_transaction_opts *opts, char *sql, size_t room)
{
        static const char *const levels[] = { "", " ISOLATION LEVEL READ COMMITTED",
                                              " ISOLATION LEVEL REPEATABLE READ",
                                              " ISOLATION LEVEL SERIALIZABLE" };

        if (opts && (opts->isolation < 0 || opts->isolation > EDDY_PG_SERIALIZABLE))
                return -EINVAL;
        snprintf(sql, room, "BEGIN%s%s%s", levels[opts ? opts->isolation : 0],
                 opts && opts->read_only ? " READ ONLY" : "",
                 opts && opts->deferrable ? " DEFERRABLE" : "");
        return 0;
}

/*
 * Set or release a savepoint. A cancel of the command would end the outer transaction with an error, so
 * a cancelled task waits for the answer too.
 */
static int run_savepoint(eddy_pg *pg, const char *verb, uint32_t number)
{
        char sql[64];

        snprintf(sql, sizeof(sql), "%s eddy_%u", verb, number);
        return PQsendQuery(pg->conn, sql) ? ed_pg_collect_shielded(pg, NULL) : ed_pg_lose(pg);
}

static int begin(eddy_pg *pg, const struct eddy_pg_transaction_opts *opts)
{
        bool is_open = PQtransactionStatus(pg->conn) != PQTRANS_IDLE;
        char sql[128];
        int err;

        if (is_open != (pg->depth > 0))
                return EDDY_E_PG_STATE;
        if (is_open && opts)
                return -EINVAL;
        if (is_open)
                return run_savepoint(pg, "SAVEPOINT", pg->depth);
        err = begin_text(opts, sql, sizeof(sql));
        /* Those that the last transaction has added. */
        if (err == 0)
                err = ed_pg_statements_trim(pg, pg->statements.max);
        return err < 0 ? err : ed_pg_simple(pg, sql, NULL);
}

int eddy_pg_begin(eddy_pg *pg, const struct eddy_pg_transaction_opts *opts,
                  eddy_pg_transaction *ret_transaction)
{
        int err = ed_pg_enter(pg);

        if (err < 0)
                return err;
        err = begin(pg, opts);
        /* It may have begun. */
        if (err == -ECANCELED || err == EDDY_E_PG_TIMED_OUT)
                pg->must_roll_back = true;
        (void) ed_pg_leave(pg, err);
        if (err < 0)
                return err;
        pg->depth++;
        *ret_transaction = (eddy_pg_transaction){ .pg = pg, .depth = pg->depth };
        return 0;
}

/* Only the tag says whether the transaction has been committed. */
static int judge_commit(PGresult *result)
{
        const char *tag = result ? PQcmdStatus(result) : "";

        if (strcmp(tag, "COMMIT") == 0)
                return 0;
        return strcmp(tag, "ROLLBACK") == 0 ? EDDY_E_PG_ROLLED_BACK : EDDY_E_PG_UNKNOWN;
}

/* A commit that was sent cannot be undone, so a cancelled task waits for the answer too. */
static int commit(eddy_pg *pg)
{
        PGresult *result = NULL;
        int err;

        if (!PQsendQuery(pg->conn, "COMMIT"))
                return ed_pg_lose(pg);
        err = ed_pg_collect_shielded(pg, &result);
        if (err == 0)
                err = judge_commit(result);
        PQclear(result);
        if (err == 0 || err == EDDY_E_PG_ROLLED_BACK || err == EDDY_E_PG_SERVER ||
            err == EDDY_E_PG_RETRY)
                return err;
        if (!pg->is_lost)
                ed_pg_fault_set(&pg->fault, err == EDDY_E_PG_UNKNOWN
                                                    ? "the server did not confirm a commit"
                                                    : "the server did not answer a commit in time");
        pg->is_lost = true;
        return EDDY_E_PG_UNKNOWN;
}

/* Undo, now if possible. */
static void undo(eddy_pg *pg)
{
        struct eddy_pg_fault fault = pg->fault;

        pg->must_roll_back = true;
        if (ed_pg_enter(pg) == 0)
                (void) ed_pg_leave(pg, 0);
        if (!pg->is_lost)
                pg->fault = fault;
}

int eddy_pg_end(eddy_pg_transaction *transaction, int result)
{
        eddy_pg *pg = transaction->pg;
        bool is_entered;
        int err = 0;

        if (!pg)
                return result;
        err = ed_member_check(&pg->member);
        if (err < 0)
                return err;
        transaction->pg = NULL;
        if (transaction->depth != pg->depth)
                err = EDDY_E_PG_STATE;
        is_entered = err == 0 && result >= 0;
        /* It may have to undo an inner transaction, but not this one. */
        if (is_entered) {
                err = ed_pg_enter(pg);
                is_entered = err == 0;
        }
        if (pg->depth >= transaction->depth)
                pg->depth = transaction->depth - 1;
        if (is_entered) {
                err = pg->depth > 0 ? run_savepoint(pg, "RELEASE SAVEPOINT", pg->depth)
                                    : commit(pg);
                (void) ed_pg_leave(pg, err);
                if (pg->depth == 0 && err != -ECANCELED)
                        return err < 0 ? err : result;
        }
        if (err == 0 && result >= 0)
                return result;
        undo(pg);
        return result < 0 ? result : err;
}
