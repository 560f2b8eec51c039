/*
 * eddy/pg_pool.h - a pool of connections to PostgreSQL: an eddy_pool whose items are eddy_pg.
 *
 *     EDDY_AUTO(eddy_pool) eddy_pool *pool = NULL;
 *     int err = eddy_pg_pool_new(&(struct eddy_pg_opts){ .conninfo = "dbname=shop" }, NULL, &pool);
 *     ...
 *     EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
 *     int err = eddy_pool_acquire(pool, &loan);
 *
 *     if (err == 0)
 *             err = eddy_pg_exec(loan.item, "select 1");
 *
 * When a connection is given back, a task of the pool first ends a cancelled command, rolls back an
 * open transaction, resets roles (SET ROLE, SET SESSION AUTHORIZATION) and settings, releases advisory
 * locks, closes cursors, and ends LISTEN.  Temporary tables remain, and statements that the program
 * has prepared by PREPARE: DEALLOCATE ALL would drop those of eddy too.
 */
#ifndef EDDY_PG_POOL_H
#define EDDY_PG_POOL_H

#include "eddy/def.h"
#include "eddy/pg.h"
#include "eddy/pool.h"

EDDY_BEGIN_DECLS

enum {
        /*
         * A flag of eddy_pg_opts for pools: reset a connection only if a command was cancelled, a
         * transaction is open, or the loan ran a command other than select, insert, update, delete,
         * merge, copy and transaction commands.  This saves a round trip for each loan; use the
         * flag if no SQL function that the program calls leaves a setting or an advisory lock in
         * the session.
         */
        EDDY_PG_KEEP_SESSION = 1 << 1,
};

/*
 * Make a pool.  'opts' are the options of its connections; strings are copied.  If a connection
 * cannot be opened, the reason is stored in the loan's 'ret_fault' (the SQLSTATE in 'code') and in
 * the 'ret_fault' of 'opts', which must remain valid as long as the pool.  Each 'ret_fault' may be
 * NULL.  'pool_opts' may be NULL; its 'ops' and 'arg' are not used.
 *
 * Suspends: no.
 * Errors: -EINVAL  an option is not valid; a wrong 'conninfo' is reported when a connection is opened
 *         -ENOMEM, EDDY_E_RUN_NOT_RUNNING
 * Owns: returns (owned) '*ret_pool', to be closed by eddy_pool_close(); its connections must not be
 *       closed by eddy_pg_close().
 */
EDDY_API EDDY_MUST_USE int eddy_pg_pool_new(const struct eddy_pg_opts *opts,
                                            const struct eddy_pool_opts *pool_opts,
                                            eddy_pool **ret_pool);

EDDY_END_DECLS

#endif
