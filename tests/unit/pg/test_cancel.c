/*
 * Calls that are cancelled while the server answers: what was read is kept, and what is under way
 * reaches no other call.
 */
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
