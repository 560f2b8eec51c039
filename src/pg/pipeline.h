/*
 * pg/pipeline.h - pipelines: what pipeline.c (calls, connections) and link.c (commands, answers) share.
 *
 * A link is a connection of a pipeline. Its commands are in one of two places: the list of those that
 * are not sent, on the stacks of the calling tasks, and a ring of those that are sent. The ring also
 * keeps the places of cancelled commands until their answers have come, so no answer can reach
 * another caller. No task belongs to a link: a call of the loop sends, another one takes answers.
 *
 * Commands between two Syncs are a group: one transaction of the server. Callers get their answers
 * at the end of the group.
 */
#ifndef ED_PG_PIPELINE_H
#define ED_PG_PIPELINE_H

#include "eddy/lock.h"
#include "eddy/loop.h"
#include "eddy/pg_pipeline.h"
#include "eddy/pool.h"
#include "pg/pg.h"
#include "scope/suspend.h"

/* A command, on the stack of its call. */
struct ed_pg_request {
        struct ed_list entry; /* of the list, if it is not sent */
        struct ed_pg_link *link;
        struct ed_task *task;
        const char *sql;
        const struct ed_pg_params *params;
        uint64_t place;     /* in the ring, if it is sent */
        uint32_t statement; /* its number, if it was sent by a prepared one */
        bool is_sent;
        bool is_alone;    /* in its group */
        bool is_plain;    /* not to be prepared */
        bool has_failed;  /* 'result' is the error */
        PGresult *result; /* owned */
};

struct ed_pg_place {
        struct ed_pg_request *request; /* NULL: was cancelled, or never had one */
        uint32_t prepares;             /* a Prepare of this statement is sent before; or 0 */
        bool is_own;                   /* a command of the link itself */
        bool ends_group;
};

struct ed_pg_link {
        uint32_t refs; /* the connection, and calls */
        eddy_pg_pipeline *pipeline;
        struct ed_list entry; /* of the pipeline's links */
        eddy_pool_loan loan;
        eddy_pg *pg; /* NULL: given back */
        struct ed_list unsent;
        uint32_t waiting; /* requests, sent or not */
        struct ed_pg_place *ring;
        uint64_t first, next, last; /* of the present group; to be answered next; to be sent */
        bool is_group_open;         /* the last one sent needs a Sync */
        bool has_group_failed;
        bool has_commit;   /* the group's commit has failed */
        bool has_prepared; /* the Prepare before the next command is answered */
        bool has_result;   /* of the next command, its end has not come */
        bool is_blocked;   /* libpq has bytes that the socket did not take */
        bool has_last_words;
        size_t bytes; /* handed to libpq since the last flush */
        int64_t heard_ns;
        unsigned watched; /* EDDY_LOOP_* */
        eddy_handle watch;
        struct ed_call sending;
        struct eddy_pg_fault fault; /* the last error of the server */
};

struct eddy_pg_pipeline {
        uint32_t refs; /* the owner, calls and links */
        uint32_t commands_max;
        int64_t silence_max_ns;
        struct ed_member member;
        eddy_pool *pool;
        eddy_lock connecting;
        uint64_t attempts;          /* to connect */
        int attempt_err;            /* of the last one */
        int64_t command_timeout_ns; /* 0: none */
        bool is_closed;
        struct ed_pg_link *link; /* for new commands; NULL: to be opened */
        struct ed_list links;    /* all that have a connection */
        struct eddy_pg_pipeline_stats stats;
        struct eddy_pg_fault fault;
};

/* ---- pipeline.c ---- */

void ed_pg_pipeline_unref(eddy_pg_pipeline *pipeline);

/* ---- link.c ---- */

/* Make a link of a loan, which it takes over if it succeeds. Errors: -ENOMEM, EDDY_E_PG_CLOSED */
EDDY_MUST_USE int ed_pg_link_new(eddy_pg_pipeline *pipeline, eddy_pool_loan *loan,
                                 struct ed_pg_link **ret_link);
void ed_pg_link_unref(struct ed_pg_link *link);

/* Whether a link can take a new command; if not, the pipeline has none any more. */
bool ed_pg_link_is_fit(struct ed_pg_link *link);

/*
 * Send a command and wait for the end of its group. The answer, or the error, is the request's
 * result, which may be NULL after an error.
 *
 * Errors: EDDY_E_PG_SERVER, EDDY_E_PG_CLOSED, EDDY_E_PG_TOO_LARGE, -ENOMEM, -ECANCELED
 */
EDDY_MUST_USE int ed_pg_link_run(struct ed_pg_link *link, struct ed_pg_request *request);

/* All its commands fail with 'err', and the connection is closed. */
void ed_pg_link_fail(struct ed_pg_link *link, int err);

/* Give the connection back to the pool, which ends the commands that are under way. */
void ed_pg_link_give_back(struct ed_pg_link *link);

#endif
