/*
 * eddy/pg_transaction.h - transactions and savepoints of PostgreSQL.
 *
 *     eddy_pg_transaction transaction;
 *     int err = eddy_pg_begin(pg, NULL, &transaction);
 *
 *     if (err < 0)
 *             return err;
 *     err = transfer(pg);
 *     return eddy_pg_end(&transaction, err);
 *
 * A transaction that begins inside another one is a savepoint.  Inner transactions end first.
 */
#ifndef EDDY_PG_TRANSACTION_H
#define EDDY_PG_TRANSACTION_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/pg.h"

EDDY_BEGIN_DECLS

enum eddy_pg_isolation {
        EDDY_PG_DEFAULT, /* the server's default_transaction_isolation */
        EDDY_PG_READ_COMMITTED,
        EDDY_PG_REPEATABLE_READ,
        EDDY_PG_SERIALIZABLE
};

/* All zero is the default. */
struct eddy_pg_transaction_opts {
        int isolation EDDY_UNSET; /* enum eddy_pg_isolation */
        bool read_only EDDY_UNSET;
        bool deferrable EDDY_UNSET; /* with read_only and serializable: wait instead of failing */
        uintptr_t reserved[2] EDDY_UNSET; /* zero */
};

/* Filled in by eddy_pg_begin().  Do not move it. */
typedef struct eddy_pg_transaction {
        eddy_pg *pg; /* NULL: the transaction has ended */
        uint32_t depth;
        uintptr_t reserved[2];
} eddy_pg_transaction;

/*
 * Begin a transaction, or set a savepoint in the current one; for a savepoint 'opts' must be NULL.
 * The current transaction must have been begun by this function, not by eddy_pg_exec(pg, "begin").
 *
 * Suspends: yes.
 * Errors: -EINVAL          an option is not valid
 *         EDDY_E_PG_STATE  the program has begun a transaction by a command of its own
 *         those of eddy_pg_exec()
 * Owns: fills in '*ret_transaction', to be ended by eddy_pg_end() before the connection is closed or
 *       given back.
 */
EDDY_API EDDY_MUST_USE int eddy_pg_begin(eddy_pg *pg, const struct eddy_pg_transaction_opts *opts,
                                         eddy_pg_transaction *ret_transaction);

/*
 * End a transaction or savepoint: commit or release it if 'result' is not negative and the task is
 * not cancelled, else roll it back.  Returns 'result', or the error of the commit if the commit
 * fails.  The transaction ends in any case; a second call returns 'result'.
 *
 * In a cancelled task, the next call on the connection, or the pool, rolls the transaction back.  A
 * cancel during the commit or release does not stop the command, but the call then waits for at most
 * 'cancel_timeout_ns'.
 *
 * Suspends: yes.
 * Errors: EDDY_E_PG_UNKNOWN      the connection was lost during the commit, which may have taken
 *                                effect; do not simply repeat the transaction
 *         EDDY_E_PG_ROLLED_BACK  a command of the transaction had failed, although 'result' was not an
 *                                error
 *         EDDY_E_PG_SERVER, EDDY_E_PG_RETRY  the server refused the commit: nothing has taken effect;
 *                                or a command inside the savepoint had failed, although 'result'
 *                                was not an error: the savepoint is rolled back
 *         EDDY_E_PG_CLOSED       the connection was lost before the commit: nothing has taken effect
 *         EDDY_E_PG_STATE        an inner transaction is open; both are rolled back
 *         EDDY_E_PG_BUSY         another call uses the connection; the transaction is rolled back
 *         -ECANCELED             rolled back
 */
EDDY_API EDDY_MUST_USE int eddy_pg_end(eddy_pg_transaction *transaction, int result);

/* EDDY_AUTO(eddy_pg_transaction): a transaction that has not ended is rolled back. */
static inline void eddy_pg_transaction_auto_release(eddy_pg_transaction *transaction)
{
        if (eddy_pg_end(transaction, -1) != -1)
                return;
}

EDDY_END_DECLS

#endif
