/*
 * pg/pg.h - a connection: what the files of this folder share.
 *
 * Calls enter a connection and leave it, so that no two run at the same time. A call that was
 * cancelled between its command and the end of the answer leaves it owing: the next call to enter
 * first waits until the server has cancelled the command, and drops the answer.
 */
#ifndef ED_PG_PG_H
#define ED_PG_PG_H

#include <libpq-fe.h>
#include <stdbool.h>

#include "base/hash_table.h"
#include "base/list.h"
#include "eddy/error.h"
#include "eddy/pg.h"
#include "eddy/pg_result.h"
#include "io/fd_watch.h"
#include "loop/member.h"

struct ed_pg_cancel;

struct ed_pg_statement {
        struct ed_list link;      /* of all, the last one used first */
        struct ed_hash_node node; /* of all, by text */
        uint32_t number;
        size_t bytes;
        char sql[];
};

enum { ED_PG_NAME_BYTES = 24 };

struct ed_pg_statements {
        struct ed_list list;
        uint32_t count, max, last_number;
        struct ed_hash_table table;
};

struct eddy_pg {
        struct ed_member member;
        PGconn *conn;
        struct ed_fd_watch watch; /* of its socket, once connected */
        uint32_t flags;
        uint64_t result_max, received; /* by the present call */
        uint32_t unwaited;             /* results since the last wait */
        uint32_t results_after_end;    /* of the connection */
        int64_t cancel_timeout_ns, command_timeout_ns;
        bool is_busy;                /* a call runs */
        bool owes;                   /* an answer that no call waits for is under way */
        bool is_lost;                /* cannot be used any more */
        bool has_ended;              /* the socket: nothing more can be received */
        bool is_fresh;               /* no check since the last answer */
        bool is_expected;            /* an answer of which nothing has come */
        bool is_used;                /* since the last reset, a command has run ... */
        bool is_touched;             /* ... that may have changed the session */
        bool must_roll_back;         /* to 'depth', before anything else */
        uint32_t depth;              /* of transactions and savepoints that are open */
        bool is_stray;               /* the server sent what it may not send */
        int64_t copied;              /* rows of the last COPY */
        struct ed_pg_cancel *cancel; /* under way, or done and not looked at */
        struct ed_pg_statements statements;
        struct eddy_pg_fault fault;
};

/* ---- connect.c ---- */

bool ed_pg_opts_are_valid(const struct eddy_pg_opts *opts);

/* The notice receiver of all connections: libpq's own would print. 'arg' is a bool to be set. */
void ed_pg_on_notice(void *arg, const PGresult *notice);

/* ---- hosts.c: the servers of a connection ---- */

enum { ED_PG_OVERRIDES_MAX = 16 };

/* Options that replace those of the connection string. */
struct ed_pg_plan {
        const char *keys[ED_PG_OVERRIDES_MAX + 1];
        const char *values[ED_PG_OVERRIDES_MAX + 1];
        int count;
        char *hosts, *addresses, *ports; /* owned */
        bool is_passfile_open;           /* others may read it, so it is not used */
};

/*
 * Look up the hosts of 'conninfo', and choose the options that it leaves open.
 *
 * Suspends: yes.
 * Errors: -EINVAL, those of eddy_dns_lookup()
 */
int ed_pg_plan_make(struct ed_pg_plan *plan, const char *conninfo, struct eddy_pg_fault *fault);
void ed_pg_plan_fini(struct ed_pg_plan *plan);

/* ---- fault.c ---- */

void ed_pg_fault_set(struct eddy_pg_fault *fault, const char *text);

/* Keep the error of the connection itself. */
void ed_pg_fault_of_conn(struct eddy_pg_fault *fault, const PGconn *conn);

/* Keep the server's error and return it as one of eddy's. */
int ed_pg_fault_of_result(struct eddy_pg_fault *fault, const PGresult *result);

/* ---- params.c ---- */

enum { ED_PG_PARAMS_FEW = 8, ED_PG_NUMBER_BYTES = 64 };

/* Parameters in libpq's form. */
struct ed_pg_params {
        int count;
        size_t bytes; /* of all values, about */
        const char **values;
        int *lengths, *formats;
        void *memory; /* NULL: the few below suffice */
        const char *few_values[ED_PG_PARAMS_FEW];
        int few_lengths[ED_PG_PARAMS_FEW], few_formats[ED_PG_PARAMS_FEW];
        char few_numbers[ED_PG_PARAMS_FEW][ED_PG_NUMBER_BYTES];
};

/* Errors: -EINVAL, -ENOMEM */
EDDY_MUST_USE int ed_pg_params_init(struct ed_pg_params *params, const struct eddy_pg_value *values,
                                    size_t n);
void ed_pg_params_fini(struct ed_pg_params *params);

/* ---- query.c ---- */

/*
 * Begin a call, and wait for the end of a cancelled one.
 *
 * Errors: EDDY_E_PG_BUSY, EDDY_E_PG_CLOSED, -EINVAL, -ECANCELED
 */
EDDY_MUST_USE int ed_pg_enter(eddy_pg *pg);

/* End a call. Returns 'result'; after -ECANCELED the connection owes. */
int ed_pg_leave(eddy_pg *pg, int result);

/* The connection cannot be used any more. Returns EDDY_E_PG_CLOSED. */
int ed_pg_lose(eddy_pg *pg);

/* The same, if the end of an answer came before any result. */
int ed_pg_lose_unanswered(eddy_pg *pg);

/* Returns whether OpenSSL holds bytes that libpq has not taken: the socket does not become readable. */
bool ed_pg_has_decrypted(const eddy_pg *pg);

/* Take what has arrived, without a wait. Errors: EDDY_E_PG_TOO_LARGE, EDDY_E_PG_CLOSED */
EDDY_MUST_USE int ed_pg_consume(eddy_pg *pg);

/*
 * Add the bytes that have arrived to those of the call, before libpq reads them: how much it reads is
 * not known otherwise. Returns whether they are at most 'max'.
 */
bool ed_pg_count(eddy_pg *pg, uint64_t max);

/* Wait for one of 'events' (EDDY_FD_*), and take what has arrived. */
EDDY_MUST_USE int ed_pg_turn(eddy_pg *pg, unsigned events);

/* Send what libpq holds. */
EDDY_MUST_USE int ed_pg_flush(eddy_pg *pg);

/* PQgetResult(), which after the end of the connection returns NULL at last. */
PGresult *ed_pg_get(eddy_pg *pg);

/* Wait for the next result; NULL after the last one. */
EDDY_MUST_USE int ed_pg_next(eddy_pg *pg, PGresult **ret_result);

/* After a send: the last result or the first error. 'ret_result' may be NULL. */
EDDY_MUST_USE int ed_pg_collect(eddy_pg *pg, PGresult **ret_result);

/*
 * The same, but a cancel ends the wait only after 'cancel_timeout_ns'. '*ret_result' becomes NULL if
 * the server's answer has no result.
 */
EDDY_MUST_USE int ed_pg_collect_shielded(eddy_pg *pg, PGresult **ret_result);

/* Note the effects of a command on the session. Returns the error of its result. */
EDDY_MUST_USE int ed_pg_take(eddy_pg *pg, const PGresult *result);

/* Whether the result is the beginning of a COPY: libpq returns it until the COPY has ended. */
bool ed_pg_is_copy(const PGresult *result);

/* Hand a command to libpq, in a call; 'statement' may be NULL. */
EDDY_MUST_USE int ed_pg_send(eddy_pg *pg, const char *sql, const struct ed_pg_params *params,
                             const struct ed_pg_statement *statement);

/* Whether the server has no such statement any more, or its result has another form now. */
bool ed_pg_is_stale(const eddy_pg *pg, int err);
bool ed_pg_is_stale_state(const char *sqlstate);

/* Send and collect, in a call. */
EDDY_MUST_USE int ed_pg_simple(eddy_pg *pg, const char *sql, PGresult **ret_result);
EDDY_MUST_USE int ed_pg_extended(eddy_pg *pg, const char *sql, const struct eddy_pg_value *params,
                                 size_t n, PGresult **ret_result);

/* Returns whether the server has ended the connection, or sent what it may not send. No wait. */
bool ed_pg_is_broken(eddy_pg *pg);

/* ---- statements.c ---- */

void ed_pg_statements_init(struct ed_pg_statements *statements, uint32_t max);
void ed_pg_statements_fini(struct ed_pg_statements *statements);

/*
 * Find or prepare the statement of 'sql', in a call; NULL: it is not to be prepared. May drop others,
 * except in a transaction.
 */
EDDY_MUST_USE int ed_pg_statement_get(eddy_pg *pg, const char *sql,
                                      struct ed_pg_statement **ret_statement);
/* Drop statements until at most 'max' remain, in a call and outside a transaction. */
EDDY_MUST_USE int ed_pg_statements_trim(eddy_pg *pg, uint32_t max);
void ed_pg_statement_drop(eddy_pg *pg, struct ed_pg_statement *statement);

/* The parts of it that do not wait: whether it is to be prepared, ... */
bool ed_pg_statement_is_wanted(const struct ed_pg_statements *statements, const char *sql);
/* ... the statement, as the one used last, ... */
struct ed_pg_statement *ed_pg_statement_find(struct ed_pg_statements *statements, const char *sql);
/* ... the one to be dropped before another one is added, or NULL, ... */
struct ed_pg_statement *ed_pg_statement_surplus(const struct ed_pg_statements *statements);
/* ... and a new one, or NULL without memory. */
struct ed_pg_statement *ed_pg_statement_add(struct ed_pg_statements *statements, const char *sql);

void ed_pg_statement_name(const struct ed_pg_statement *statement, char name[ED_PG_NAME_BYTES]);

/* ---- cancel.c ---- */

/* Ask the server to cancel the command, without a wait. */
void ed_pg_cancel_begin(eddy_pg *pg);

/*
 * Wait until the server has taken the request.
 *
 * Errors: EDDY_E_PG_CLOSED  the request may still arrive, or could not be sent: the connection must not
 *                           be used any more
 *         -ECANCELED
 */
EDDY_MUST_USE int ed_pg_cancel_wait(eddy_pg *pg);
void ed_pg_cancel_drop(eddy_pg *pg);

/* ---- value.c: the text of values ---- */

EDDY_MUST_USE int ed_pg_time_parse(const char *text, int64_t *ret_time_ns);

/* Begin a walk over the text of an array. */
EDDY_MUST_USE int ed_pg_array_begin(const char *text, char separator,
                                    struct eddy_pg_array *ret_array);

#endif
