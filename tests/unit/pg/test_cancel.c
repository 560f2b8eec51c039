/*
 * Calls that are cancelled while the server answers: what was read is kept, and what is under way
 * reaches no other call.
 */
#include "eddy/pg_stream.h"
#include "pg_fake.h"
#include "pg_server.h"

/* A connection to a server whose answer to each command is 'script'. */
struct session {
        struct pg_fake fake;
        eddy_scope scope;
        eddy_pg *pg;
};

static struct pg_bytes script, begun;

static struct pg_bytes *begin(void)
{
        script.bytes = 0;
        return &script;
}

static void session_open(struct session *session, int64_t cancel_timeout_ns)
{
        struct eddy_pg_opts opts = { .flags = EDDY_PG_NO_STATEMENTS,
                                     .cancel_timeout_ns = cancel_timeout_ns };

        memset(session, 0, sizeof(*session));
        eddy_scope_begin(&session->scope, NULL);
        pg_fake_start(&session->fake, &session->scope);
        opts.conninfo = session->fake.conninfo;
        CHECK_EQ(eddy_pg_connect(&opts, &session->pg), 0);
        session->fake.answer = &script;
}

static void session_close(struct session *session)
{
        eddy_pg_close(session->pg);
        pg_fake_stop(&session->fake, &session->scope);
}

/* --- commits --- */

static int end_run(void *arg)
{
        return eddy_pg_end(arg, 0);
}

/* The answer to a COMMIT is the script. Its bytes from 'piece' on (0: none) come 200 ms later. */
static int commit(size_t piece, struct eddy_pg_fault *ret_fault)
{
        eddy_pg_transaction transaction;
        struct session session;
        int err;

        session_open(&session, EDDY_SEC(30));
        begun.bytes = 0;
        pg_put(&begun, 'C', "BEGIN", 6);
        pg_put_ready(&begun, 'T');
        session.fake.answer = &begun;
        CHECK_EQ(eddy_pg_begin(session.pg, NULL, &transaction), 0);
        session.fake.answer = &script;
        session.fake.piece = piece;
        session.fake.pause_ns = EDDY_MS(200);
        err = eddy_call_timeout(end_run, &transaction, piece ? EDDY_MS(100) : EDDY_SEC(60));
        *ret_fault = *eddy_pg_fault(session.pg);
        session_close(&session);
        return err;
}

static int late_commits_run(void *arg)
{
        struct eddy_pg_fault fault;

        (void) arg;
        pg_put_error(begin(), 'E', "ERROR", "23505", "deferred");
        pg_put_ready(&script, 'I');
        CHECK_EQ(commit(script.bytes - 6, &fault), EDDY_E_PG_SERVER);
        CHECK_STR(fault.sqlstate, "23505");
        pg_put(begin(), 'C', "COMMIT", 7);
        pg_put_ready(&script, 'I');
        CHECK_EQ(commit(script.bytes - 6, &fault), 0);
        pg_put(begin(), 'C', "ROLLBACK", 9);
        pg_put_ready(&script, 'I');
        CHECK_EQ(commit(script.bytes - 6, &fault), EDDY_E_PG_ROLLED_BACK);
        return 0;
}

TEST(a_cancelled_commit_keeps_the_result_it_has_read)
{
        io_run(late_commits_run);
}

static int odd_commits_run(void *arg)
{
        struct eddy_pg_fault fault;

        (void) arg;
        pg_put_ready(begin(), 'I');
        CHECK_EQ(commit(0, &fault), EDDY_E_PG_UNKNOWN);
        CHECK_STR(fault.text, "the server did not confirm a commit");
        pg_put(begin(), 'I', NULL, 0);
        pg_put_ready(&script, 'I');
        CHECK_EQ(commit(0, &fault), EDDY_E_PG_UNKNOWN);
        return 0;
}

TEST(a_commit_is_done_only_if_the_server_says_so)
{
        io_run(odd_commits_run);
}

/* --- rows --- */

struct taking {
        eddy_pg_cursor *cursor;
        eddy_pg_result *row;
};

static int take(void *arg)
{
        struct taking *taking = arg;

        return eddy_pg_cursor_next(taking->cursor, &taking->row);
}

static int cursor_run(void *arg)
{
        struct taking taking = { NULL, NULL };
        struct session session;

        (void) arg;
        session_open(&session, EDDY_SEC(30));
        pg_put(begin(), '1', NULL, 0);
        pg_put(&script, '2', NULL, 0);
        pg_put_columns(&script, 1);
        pg_put_row(&script, 1, "x");
        pg_put_error(&script, 'E', "ERROR", "22012", "division by zero");
        session.fake.piece = script.bytes;
        session.fake.pause_ns = EDDY_MS(300);
        pg_put_ready(&script, 'I');
        CHECK_EQ(eddy_pg_cursor_open(session.pg, "select 1", NULL, 0, &taking.cursor), 0);
        CHECK_EQ(take(&taking), 1);
        CHECK_EQ(eddy_call_timeout(take, &taking, EDDY_MS(50)), -ETIMEDOUT);
        CHECK_EQ(take(&taking), EDDY_E_PG_SERVER);
        CHECK_EQ(take(&taking), EDDY_E_PG_SERVER);
        CHECK_STR(eddy_pg_fault(session.pg)->sqlstate, "22012");
        eddy_pg_cursor_close(taking.cursor);
        session_close(&session);
        return 0;
}

TEST(a_cancelled_wait_for_the_end_of_rows_keeps_the_error_of_the_server)
{
        io_run(cursor_run);
}
