/*
 * eddy/pg.h - connections to PostgreSQL, on libpq.  In libeddy-pg.
 *
 *     struct user user = { 0 };
 *     EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL;
 *     int err = eddy_pg_connect(&(struct eddy_pg_opts){ .conninfo = "dbname=shop" }, &pg);
 *
 *     if (err == 0)
 *             err = eddy_pg_one(pg, "select name, age from users where id = $1",
 *                               EDDY_PG_PARAMS(eddy_pg_int(7)), &user_fields, &user);
 *
 * Results are in eddy/pg_result.h.
 *
 * A connection, with its cursors, copies and transactions, belongs to one loop (eddy/def.h) and runs
 * one call at a time: a second call returns EDDY_E_PG_BUSY.  If a call is cancelled, eddy asks the
 * server to cancel the command, and the next call first waits for the rest of the cancelled
 * command's answer, at most 'cancel_timeout_ns'; a connection that is not ready by then counts as
 * lost.
 */
#ifndef EDDY_PG_H
#define EDDY_PG_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/each.h"
#include "eddy/fields.h"

EDDY_BEGIN_DECLS

typedef struct eddy_pg eddy_pg;
typedef struct eddy_pg_result eddy_pg_result;

/*
 * Why a call failed.  No member contains a password of the connection.  eddy does not add
 * parameters, but the server's sentences can quote values, as in: invalid input syntax for type
 * integer: "x".  A longer text is truncated; control characters are replaced by spaces.
 */
struct eddy_pg_fault {
        char sqlstate[8]; /* such as "23505"; "" if the server did not report the error */
        char text[400];   /* a sentence for a log; the server's may quote a value */
        char detail[400]; /* the server's; may contain values */
        char hint[200];
        char context[200]; /* such as "COPY users, line 7, column age: ..."; may contain values */
        char schema[64], table[64], column[64], constraint[64];
        uint32_t position;     /* of the error in the command: characters from 1; 0: unknown */
        uintptr_t reserved[2]; /* zero */
};

enum {
        /* Prepare no statements: needed with pgbouncer before 1.21 in transaction mode. */
        EDDY_PG_NO_STATEMENTS = 1 << 0,
};

enum {
        EDDY_PG_STATEMENTS_MAX = 10000,
        EDDY_PG_PARAMS_MAX = 65535,
        EDDY_PG_ADDRESSES_MAX = 64, /* tried by eddy_pg_connect() */
};

/* All zero is the default. */
struct eddy_pg_opts {
        /* "host=db.example dbname=shop" or "postgresql://..."; NULL: "" */
        const char *conninfo EDDY_UNSET;
        uint32_t flags EDDY_UNSET; /* EDDY_PG_* */
        /* prepared statements that a connection keeps, but in a transaction up to twice this
         * number; 0: 100 */
        uint32_t statements_max EDDY_UNSET;
        uint64_t result_max EDDY_UNSET; /* bytes of a result, with notices; 0: 256 MiB; one row
                                     of up to 1 GiB may be in memory before it is refused */
        int64_t cancel_timeout_ns EDDY_UNSET; /* 0: 1 s */
        /* of eddy_pg_connect(); written on failure; or NULL */
        struct eddy_pg_fault *ret_fault EDDY_UNSET;
        /* limit for a command, each row of a cursor, and a command of a pipeline, but not for
         * COPY and eddy_pg_notified(); 0: none */
        int64_t command_timeout_ns EDDY_UNSET;
        uintptr_t reserved[5] EDDY_UNSET; /* zero */
};

/*
 * Connect.  'conninfo', the environment (PGHOST and others), services and the password file are
 * read as by libpq, except:
 *   - names are looked up by eddy_dns_lookup(), and all addresses of all hosts are tried in order
 *   - without an sslmode, connections to other hosts use TLS with full verification; those to
 *     Unix sockets and loopback addresses use sslmode=prefer
 *   - without an sslrootcert or a file ~/.postgresql/root.crt, the system's certificates are trusted
 *   - without a gssencmode, it is "disable"
 *   - client_encoding is UTF8, and connect_timeout has no effect: use a scope
 *   - the server sends at most 512 KiB before the log-in has ended
 * An sslmode or gssencmode "prefer" in a service counts as not given.
 *
 * libpq computes SCRAM's iterations on the loop's thread, as many as the server requests.
 *
 * 'opts' may be NULL.
 *
 * Suspends: yes.
 * Errors: EDDY_E_PG_CONNECT  the server cannot be reached or refuses the connection; or TLS failed
 *         -EINVAL            'conninfo' or an option is not valid
 *         -ECANCELED, -ENOMEM, and those of eddy_dns_lookup() if no host has an address
 * Owns: returns (owned) '*ret_pg', to be closed by eddy_pg_close().
 */
EDDY_API EDDY_MUST_USE int eddy_pg_connect(const struct eddy_pg_opts *opts, eddy_pg **ret_pg);

/*
 * Close the connection; the server rolls back an open transaction.  No call may use the connection
 * at that time or later.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_pg_close(eddy_pg *pg);

/*
 * Returns the reason why the last call on the connection failed.  Valid until the next call.
 * 'text' is "" if the error code says all that is known, as for -ECANCELED, EDDY_E_PG_BUSY and
 * EDDY_E_PG_NO_ROW: print eddy_error_text() too.
 *
 * Suspends: no.
 */
EDDY_API const struct eddy_pg_fault *eddy_pg_fault(const eddy_pg *pg);

/* ---- parameters ------------------------------------------------------------------------------ */

enum eddy_pg_kind {
        EDDY_PG_NULL,
        EDDY_PG_BOOL,
        EDDY_PG_INT,
        EDDY_PG_DOUBLE,
        EDDY_PG_TEXT,
        EDDY_PG_BYTES
};

/*
 * A parameter, made by the functions below.  The server infers its type from the command, so a text
 * may be a numeric, a timestamp, a uuid, json or an array; write $1::int8 if the type does not
 * follow from the command.
 */
struct eddy_pg_value {
        int kind; /* enum eddy_pg_kind */
        int64_t number;
        double real;
        const void *data; /* borrowed during the call */
        size_t bytes;
};

static inline struct eddy_pg_value eddy_pg_null(void)
{
        struct eddy_pg_value value = { EDDY_PG_NULL, 0, 0, NULL, 0 };

        return value;
}

static inline struct eddy_pg_value eddy_pg_bool(bool truth)
{
        struct eddy_pg_value value = { EDDY_PG_BOOL, truth, 0, NULL, 0 };

        return value;
}

static inline struct eddy_pg_value eddy_pg_int(int64_t number)
{
        struct eddy_pg_value value = { EDDY_PG_INT, number, 0, NULL, 0 };

        return value;
}

static inline struct eddy_pg_value eddy_pg_double(double real)
{
        struct eddy_pg_value value = { EDDY_PG_DOUBLE, 0, real, NULL, 0 };

        return value;
}

/* A text that ends in a NUL.  NULL is the value NULL. */
static inline struct eddy_pg_value eddy_pg_text(const char *text)
{
        struct eddy_pg_value value = { text ? EDDY_PG_TEXT : EDDY_PG_NULL, 0, 0, text, 0 };

        return value;
}

/* A bytea. */
static inline struct eddy_pg_value eddy_pg_bytes(const void *data, size_t bytes)
{
        struct eddy_pg_value value = { EDDY_PG_BYTES, 0, 0, data, bytes };

        return value;
}

#if !defined(__cplusplus)
/* An array of values and its length: two arguments.  In C++, pass an array. */
#define EDDY_PG_VALUE_ONLY_(value) EDDY_ONLY(struct eddy_pg_value, value)
#define EDDY_PG_VALUES_(...)                                                                       \
        (const struct eddy_pg_value[])                                                             \
        {                                                                                          \
                EDDY_EACH(EDDY_PG_VALUE_ONLY_, __VA_ARGS__)                                        \
        }
#define EDDY_PG_PARAMS(...)                                                                        \
        EDDY_PG_VALUES_(__VA_ARGS__),                                                              \
                sizeof(EDDY_PG_VALUES_(__VA_ARGS__)) / sizeof(struct eddy_pg_value)
#endif

/* ---- commands -------------------------------------------------------------------------------- */

/*
 * Run one command with its parameters, which may be NULL if 'n' is 0.  'ret_result' may be NULL.
 *
 * Suspends: yes.
 * Errors: EDDY_E_PG_SERVER     the server reports an error: see eddy_pg_fault()
 *         EDDY_E_PG_RETRY      a serialization failure or a deadlock: repeat the transaction
 *         EDDY_E_PG_CLOSED     the connection is lost; the command may have taken effect
 *         EDDY_E_PG_TIMED_OUT  no answer within 'command_timeout_ns': the command is cancelled, as
 *                              after -ECANCELED
 *         EDDY_E_PG_BUSY       another call uses the connection
 *         EDDY_E_PG_STATE      the command is a COPY
 *         EDDY_E_PG_TOO_LARGE  more than 'result_max'; the connection is lost
 *         -EINVAL              more than EDDY_PG_PARAMS_MAX parameters, or more than 1 GiB of them
 *         -ECANCELED, -ENOMEM
 * Owns: returns (owned) '*ret_result', to be freed by eddy_pg_result_free().
 */
EDDY_API EDDY_MUST_USE int eddy_pg_query(eddy_pg *pg, const char *sql,
                                         const struct eddy_pg_value *params, size_t n,
                                         eddy_pg_result **ret_result);

/*
 * Run one or more commands without parameters, separated by semicolons, such as those of a file.
 * Outside a transaction, the commands form one transaction.
 *
 * Suspends: yes.
 * Errors: as eddy_pg_query()
 */
EDDY_API EDDY_MUST_USE int eddy_pg_exec(eddy_pg *pg, const char *sql);

/*
 * Run a command whose result is one row, and read the row into the struct at 'out', by the names of
 * its columns.  On failure the struct is not changed.
 *
 * eddy_pg_one_or_none() returns 1, or 0 if there is no row.
 *
 * Suspends: yes.
 * Errors: EDDY_E_PG_NO_ROW     eddy_pg_one(): there is no row
 *         EDDY_E_PG_MANY_ROWS  there is more than one row
 *         those of eddy_pg_query() and eddy_pg_row()
 * Owns: as eddy_json_read()
 */
EDDY_API EDDY_MUST_USE int eddy_pg_one(eddy_pg *pg, const char *sql,
                                       const struct eddy_pg_value *params, size_t n,
                                       const struct eddy_fields *fields, void *out);
EDDY_API EDDY_MUST_USE int eddy_pg_one_or_none(eddy_pg *pg, const char *sql,
                                               const struct eddy_pg_value *params, size_t n,
                                               const struct eddy_fields *fields, void *out);

static inline void eddy_pg_auto_release(eddy_pg **pg)
{
        eddy_pg_close(*pg);
}

EDDY_END_DECLS

#endif
