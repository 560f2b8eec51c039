/*
 * A libpq that makes no progress: from some call on, a function of it returns the same value for ever. Each
 * call of eddy ends with an error or by its deadline, and the loop turns meanwhile.
 */
#include <errno.h>

#include "../../turning.h"
#include "eddy/pg_pipeline.h"
#include "eddy/pg_stream.h"
#include "eddy/pg_transaction.h"
#include "pg_fake.h"
#include "tls/pending.h"

#include <libpq-fe.h>

/* The part that is stuck. */
enum stuck {
        NOTHING,
        BUSY,        /* an answer is never complete */
        NO_RESULT,   /* there is none, and it is complete */
        ERRORS,      /* results without end, ... */
        LOST_ERRORS, /* ... on a connection that has ended */
        COPIES,      /* the beginning of a COPY, again and again */
        ROWS,        /* of a COPY */
        NO_ROWS,
        FULL,      /* nothing is sent */
        NO_END,    /* the end of the connection is not noticed by the other functions */
        DECRYPTED, /* bytes remain in OpenSSL */
        KINDS,
};

static const char *const names[] = { "nothing",     "busy",   "no result", "errors",
                                     "lost errors", "copies", "rows",      "no rows",
                                     "full",        "no end", "decrypted" };

static enum stuck stuck;

int __real_PQisBusy(PGconn *conn);
int __wrap_PQisBusy(PGconn *conn);
PGresult *__real_PQgetResult(PGconn *conn);
PGresult *__wrap_PQgetResult(PGconn *conn);
ConnStatusType __real_PQstatus(const PGconn *conn);
ConnStatusType __wrap_PQstatus(const PGconn *conn);
int __real_PQgetCopyData(PGconn *conn, char **buffer, int async);
int __wrap_PQgetCopyData(PGconn *conn, char **buffer, int async);
int __real_PQflush(PGconn *conn);
int __wrap_PQflush(PGconn *conn);
int __real_PQconsumeInput(PGconn *conn);
int __wrap_PQconsumeInput(PGconn *conn);
int __real_PQsslInUse(PGconn *conn);
int __wrap_PQsslInUse(PGconn *conn);
bool __real_ed_tls_has_pending(const void *ssl);
bool __wrap_ed_tls_has_pending(const void *ssl);
uint64_t __real_ed_tls_taken(const void *ssl);
uint64_t __wrap_ed_tls_taken(const void *ssl);

int __wrap_PQisBusy(PGconn *conn)
{
        if (stuck == BUSY || stuck == DECRYPTED)
                return 1;
        return stuck == NOTHING || stuck == FULL ? __real_PQisBusy(conn) : 0;
}

PGresult *__wrap_PQgetResult(PGconn *conn)
{
        switch (stuck) {
        case NO_RESULT:
        case NO_END:
                return NULL;
        case ERRORS:
        case LOST_ERRORS:
                return PQmakeEmptyPGresult(conn, PGRES_FATAL_ERROR);
        case COPIES:
                return PQmakeEmptyPGresult(conn, PGRES_COPY_IN);
        case ROWS:
        case NO_ROWS:
                return PQmakeEmptyPGresult(conn, PGRES_COPY_OUT);
        default:
                return __real_PQgetResult(conn);
        }
}

ConnStatusType __wrap_PQstatus(const PGconn *conn)
{
        return stuck == LOST_ERRORS ? CONNECTION_BAD : __real_PQstatus(conn);
}

int __wrap_PQgetCopyData(PGconn *conn, char **buffer, int async)
{
        if (stuck == ROWS) {
                *buffer = PQescapeLiteral(conn, "x", 1); /* freed by PQfreemem() */
                return 1;
        }
        return stuck == NOTHING   ? __real_PQgetCopyData(conn, buffer, async)
               : stuck == NO_ROWS ? 0
                                  : -1;
}

int __wrap_PQflush(PGconn *conn)
{
        int left = __real_PQflush(conn);

        return stuck == FULL ? 1 : left;
}

int __wrap_PQconsumeInput(PGconn *conn)
{
        return stuck == NOTHING || stuck == FULL ? __real_PQconsumeInput(conn) : stuck != NO_END;
}

int __wrap_PQsslInUse(PGconn *conn)
{
        return stuck == DECRYPTED || __real_PQsslInUse(conn);
}

bool __wrap_ed_tls_has_pending(const void *ssl)
{
        return stuck == DECRYPTED || __real_ed_tls_has_pending(ssl);
}

uint64_t __wrap_ed_tls_taken(const void *ssl)
{
        return stuck == DECRYPTED ? 1 : __real_ed_tls_taken(ssl);
}

/* --- the calls --- */

static struct pg_bytes script;

struct client {
        struct pg_fake fake;
        enum stuck kind;
        eddy_pg *pg;
};

static void open_client(struct client *client)
{
        struct eddy_pg_opts opts = { .conninfo = client->fake.conninfo,
                                     .flags = EDDY_PG_NO_STATEMENTS,
                                     .cancel_timeout_ns = EDDY_MS(20) };

        CHECK_EQ(eddy_pg_connect(&opts, &client->pg), 0);
}

static int exec(void *arg)
{
        struct client *client = arg;

        stuck = client->kind;
        return eddy_pg_exec(client->pg, "select 1");
}

static int rows(void *arg)
{
        struct client *client = arg;
        EDDY_AUTO(eddy_pg_cursor) eddy_pg_cursor *cursor = NULL;
        int found;

        stuck = client->kind;
        found = eddy_pg_cursor_open(client->pg, "select 1", NULL, 0, &cursor);
        while (found >= 0 && (found = eddy_pg_cursor_next(cursor, NULL)) > 0)
                continue;
        return found;
}

static int copy(struct client *client, const char *sql)
{
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        char buf[64] = "";
        int64_t n;
        int err = eddy_pg_copy(client->pg, sql, &stream);

        if (err < 0)
                return err;
        stuck = client->kind;
        do {
                n = strstr(sql, "stdin") ? eddy_stream_write(stream, buf, sizeof(buf))
                                         : eddy_stream_read(stream, buf, sizeof(buf));
        } while (n > 0);
        if (n == 0 && strstr(sql, "stdin"))
                n = eddy_stream_shutdown(stream);
        return (int) n;
}

static int copy_in(void *arg)
{
        return copy(arg, "copy t from stdin");
}

static int copy_out(void *arg)
{
        return copy(arg, "copy t to stdout");
}

static int listen_for(void *arg)
{
        struct client *client = arg;
        struct eddy_pg_notification notification;

        stuck = client->kind;
        return eddy_pg_notified(client->pg, &notification);
}

static int exec_as_it_is(void *arg)
{
        const struct client *client = arg;

        return eddy_pg_exec(client->pg, "select 1");
}

/* A command is cancelled, and the next call drops its answer. */
static int drain(void *arg)
{
        struct client *client = arg;

        client->fake.answer = NULL;
        CHECK_EQ(eddy_call_timeout(exec_as_it_is, client, EDDY_MS(5)), -ETIMEDOUT);
        return exec(client);
}

static const struct {
        const char *name;
        eddy_task_fn *fn;
        char answer; /* 'C': rows and their end, 'G', 'H': a COPY begins */
} calls[] = {
        { "exec", exec, 'C' },         { "rows", rows, 'C' },         { "copy in", copy_in, 'G' },
        { "copy out", copy_out, 'H' }, { "listen", listen_for, 'C' }, { "drain", drain, 'C' },
};

/* Returns the result of a call that is stuck. */
static int call_stuck(size_t which, enum stuck kind)
{
        struct client client = { .fake = { .answer = &script }, .kind = kind };
        eddy_scope scope;
        int err;

        script.bytes = 0;
        if (calls[which].answer == 'C') {
                pg_put(&script, 'C', "SELECT 1", 9);
                pg_put_ready(&script, 'I');
        } else {
                pg_put(&script, calls[which].answer, "\0\0\0", 3);
        }
        eddy_scope_begin(&scope, NULL);
        pg_fake_start(&client.fake, &scope);
        open_client(&client);
        err = eddy_call_timeout(calls[which].fn, &client, EDDY_MS(50));
        eddy_pg_close(client.pg);
        stuck = NOTHING;
        pg_fake_stop(&client.fake, &scope);
        return err;
}

static int stuck_run(void *arg)
{
        int ends = 0, deadlines = 0;

        (void) arg;
        for (size_t which = 0; which < sizeof(calls) / sizeof(calls[0]); which++) {
                for (enum stuck kind = BUSY; kind < KINDS; kind++) {
                        int err = call_stuck(which, kind);

                        if (err >= 0)
                                test_fail(__FILE__, __LINE__, "%s, %s: a success",
                                          calls[which].name, names[kind]);
                        ends += err != -ETIMEDOUT;
                        deadlines += err == -ETIMEDOUT;
                }
        }
        printf("# %d calls ended with an error, %d by their deadline\n", ends, deadlines);
        return 0;
}

TEST(a_libpq_that_makes_no_progress_does_not_hold_the_loop)
{
        turning_watch();
        io_run_and_wait(stuck_run);
}
