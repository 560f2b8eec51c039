/*
 * eddy/pg_pipeline.h - one connection to PostgreSQL that many tasks use at the same time.
 *
 *     EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = NULL;
 *     int err = eddy_pg_pipeline_new(&(struct eddy_pg_opts){ .conninfo = "dbname=shop" }, NULL,
 *                                    &pipeline);
 *     ...
 *     EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
 *     int err = eddy_pg_pipeline_read(pipeline, "select name from users where id = $1",
 *                                     EDDY_PG_PARAMS(eddy_pg_int(7)), &result);
 *
 * The commands of all tasks that are ready are sent together, and answered in order.  Use a
 * pipeline for short commands: a slow command delays those that were sent after it.  Transactions,
 * COPY, cursors, notifications and settings need a connection of their own.
 *
 * The first command connects.  When the connection is lost, all waiting commands fail, and the next
 * command connects again.  A pipeline has at most EDDY_PG_PIPELINE_CONNECTIONS connections at a
 * time: the current one, and those on which cancelled commands are ending.
 *
 * The answer to a cancelled command is dropped and never reaches another caller.  If no other task
 * waits for an answer, the server is asked to cancel the command.
 *
 * A pipeline belongs to one loop.  Calls on a NULL pipeline return -EINVAL.
 */
#ifndef EDDY_PG_PIPELINE_H
#define EDDY_PG_PIPELINE_H

#include "eddy/def.h"
#include "eddy/pg.h"

EDDY_BEGIN_DECLS

typedef struct eddy_pg_pipeline eddy_pg_pipeline;

enum { EDDY_PG_PIPELINE_MAX = 65536, EDDY_PG_PIPELINE_CONNECTIONS = 4 };

/* All zero is the default. */
struct eddy_pg_pipeline_opts {
        uint32_t commands_max EDDY_UNSET; /* sent and not yet answered; further ones wait; 0: 256 */
        uint32_t reserved32 EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Make a pipeline.  'opts' are the options of its connections; strings are copied, and 'ret_fault'
 * is not used.  'pipeline_opts' may be NULL.
 *
 * Suspends: no.
 * Errors: -EINVAL  an option is not valid; a wrong 'conninfo' is reported by the first command
 *         -ENOMEM, EDDY_E_RUN_NOT_RUNNING
 * Owns: returns (owned) '*ret_pipeline', to be closed by eddy_pg_pipeline_close().
 */
EDDY_API EDDY_MUST_USE int eddy_pg_pipeline_new(const struct eddy_pg_opts *opts,
                                                const struct eddy_pg_pipeline_opts *pipeline_opts,
                                                eddy_pg_pipeline **ret_pipeline);

/*
 * Close the pipeline: waiting commands fail with EDDY_E_PG_CLOSED.  NULL is ignored.
 *
 * Suspends: yes, as eddy_pool_close().
 */
EDDY_API void eddy_pg_pipeline_close(eddy_pg_pipeline *pipeline);

/*
 * Run one SELECT, VALUES, TABLE, SHOW, EXPLAIN, INSERT, UPDATE, DELETE or MERGE, which may begin with
 * WITH.  'ret_result' may be NULL.
 *
 * eddy_pg_pipeline_read() is for commands that only read.  Reads that are sent together are one
 * transaction on the server.  If a read fails, the others are sent again, each alone; a caller
 * gets its answer after the end of the transaction.  Therefore even a command that writes is
 * neither lost nor applied twice, but side effects that a rollback does not undo, such as
 * nextval(), may happen twice.
 *
 * eddy_pg_pipeline_write() is for all other commands.  Each is a transaction of its own, and its
 * answer comes after the commit.
 *
 * Suspends: yes.
 * Errors: EDDY_E_PG_SERVER     the server reports an error: see eddy_pg_pipeline_fault()
 *         EDDY_E_PG_RETRY      a serialization failure or a deadlock: repeat the command
 *         EDDY_E_PG_CLOSED     the connection is lost; the command may have taken effect; or the
 *                              pipeline is closed
 *         EDDY_E_PG_STATE      the command is none of those above; it was not sent
 *         EDDY_E_PG_TIMED_OUT  no answer within 'command_timeout_ns'
 *         EDDY_E_PG_TOO_LARGE  the result exceeds 'result_max'; the connection is lost
 *         -EINVAL              more than EDDY_PG_PARAMS_MAX parameters, or more than 1 GiB of them
 *         EDDY_E_RUN_OTHER_LOOP, -ECANCELED, -ENOMEM
 *         and those of eddy_pg_connect(); the command was not sent
 * Owns: returns (owned) '*ret_result', to be freed by eddy_pg_result_free().
 */
EDDY_API EDDY_MUST_USE int eddy_pg_pipeline_read(eddy_pg_pipeline *pipeline, const char *sql,
                                                 const struct eddy_pg_value *params, size_t n,
                                                 eddy_pg_result **ret_result);
EDDY_API EDDY_MUST_USE int eddy_pg_pipeline_write(eddy_pg_pipeline *pipeline, const char *sql,
                                                  const struct eddy_pg_value *params, size_t n,
                                                  eddy_pg_result **ret_result);

/*
 * Returns the last failure of the pipeline.  A failed call sets it before it returns; another
 * task's call may replace it when the calling task suspends.
 *
 * Suspends: no.
 */
EDDY_API const struct eddy_pg_fault *eddy_pg_pipeline_fault(const eddy_pg_pipeline *pipeline);

/* Counters since the pipeline was made, and its state. */
struct eddy_pg_pipeline_stats {
        uint64_t commands;      /* sent, including those sent again */
        uint64_t syncs;         /* transactions: commands / syncs is the gain of the pipeline */
        uint64_t repeated;      /* sent again */
        uint64_t dropped;       /* answers to cancelled commands */
        uint64_t connects;      /* connections that were opened, or used again after a cancel */
        uint64_t lost;          /* connections that ended by an error */
        uint32_t commands_sent; /* on the current connection, and not yet answered */
        uint32_t commands_sent_most;
        uintptr_t reserved[4];
};

EDDY_API void eddy_pg_pipeline_stats(const eddy_pg_pipeline *pipeline,
                                     struct eddy_pg_pipeline_stats *ret_stats);

static inline void eddy_pg_pipeline_auto_release(eddy_pg_pipeline **pipeline)
{
        eddy_pg_pipeline_close(*pipeline);
}

EDDY_END_DECLS

#endif
