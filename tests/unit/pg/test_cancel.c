/*
 * Calls that are cancelled while the server answers: what was read is kept, and what is under way
 * reaches no other call.
 */
#include "eddy/pg_stream.h"
#include "fault_proxy.h"
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
        io_run_and_wait(late_commits_run);
}

static int odd_commits_run(void *arg)
{
        struct eddy_pg_fault fault;

        (void) arg;
        pg_put_ready(begin(), 'I');
        CHECK_EQ(commit(0, &fault), EDDY_E_PG_UNKNOWN);
        CHECK_STR(fault.text, "the server ended a command without an answer");
        pg_put(begin(), 'I', NULL, 0);
        pg_put_ready(&script, 'I');
        CHECK_EQ(commit(0, &fault), EDDY_E_PG_UNKNOWN);
        CHECK_STR(fault.text, "the server did not confirm a commit");
        return 0;
}

TEST(a_commit_is_done_only_if_the_server_says_so)
{
        io_run_and_wait(odd_commits_run);
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
        io_run_and_wait(cursor_run);
}

/* --- requests to cancel --- */

struct asking {
        eddy_pg *pg;
        const char *sql;
};

static int ask(void *arg)
{
        struct asking *asking = arg;

        return eddy_pg_exec(asking->pg, asking->sql);
}

/* After a request was left to its thread, whose socket is closed at its end. */
static void wait_for_fds(int fds)
{
        for (int i = 0; i < 10000 && io_open_fds() > fds; i++)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
}

/* The answer to a command comes late, but before the time for the cancel is over. */
static int stray_run(void *arg)
{
        struct asking asking = { .sql = "select 1" };
        struct session session;
        int fds = io_open_fds();

        (void) arg;
        pg_put(begin(), 'C', "SELECT 1", 9);
        pg_put_ready(&script, 'I');
        session_open(&session, EDDY_MS(100));
        session.fake.holds_cancels = true;
        session.fake.piece = script.bytes - 6;
        session.fake.pause_ns = EDDY_MS(100);
        asking.pg = session.pg;
        CHECK_EQ(eddy_call_timeout(ask, &asking, EDDY_MS(50)), -ETIMEDOUT);
        CHECK_EQ(eddy_sleep(EDDY_MS(200)), 0);
        /* The request was given up after 150 ms; if the server takes it now, it cancels this command. */
        CHECK_EQ(eddy_pg_exec(session.pg, "select 2"), EDDY_E_PG_CLOSED);
        CHECK_STR(eddy_pg_fault(session.pg)->text,
                  "the server did not end a cancelled command in time");
        session_close(&session);
        wait_for_fds(fds);
        return 0;
}

TEST(a_connection_is_lost_if_a_request_to_cancel_may_still_arrive)
{
        io_run_and_wait(stray_run);
}

static int quick_job(void *arg)
{
        (void) arg;
        return 7;
}

static int slow_call(void *arg)
{
        struct eddy_thread_opts opts = { .flags = EDDY_THREAD_SLOW };

        (void) arg;
        return eddy_thread_pool_call(NULL, quick_job, NULL, &opts);
}

enum { SILENT = 12 };

/* Requests to cancel that a server does not answer: each connection is lost, most of them at once. */
static int silent_run(void *arg)
{
        struct asking asking[SILENT], other = { .sql = "select pg_sleep(60)" };
        struct pg_fake fake = { .holds_cancels = true };
        struct eddy_pg_opts opts = { .conninfo = fake.conninfo,
                                     .flags = EDDY_PG_NO_STATEMENTS,
                                     .cancel_timeout_ns = EDDY_MS(100) };
        int fds = io_open_fds();
        eddy_scope scope, all;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        pg_fake_start(&fake, &scope);
        for (int i = 0; i < SILENT; i++) {
                asking[i].sql = "select 1";
                CHECK_EQ(eddy_pg_connect(&opts, &asking[i].pg), 0);
        }
        eddy_scope_begin(&all, NULL);
        for (int i = 0; i < SILENT; i++)
                CHECK_EQ(eddy_scope_start(&all, ask, &asking[i]), 0);
        /* A packet for each log-in and one for each command. */
        while (fake.packets < 2 * SILENT)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_scope_cancel(&all);
        CHECK_EQ(eddy_scope_end(&all), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(300)), 0);
        /* A job of the program, and a cancel of another server. */
        CHECK_EQ(eddy_call_timeout(slow_call, NULL, EDDY_SEC(60)), 7);
        other.pg = pg_open();
        CHECK_EQ(eddy_call_timeout(ask, &other, EDDY_MS(50)), -ETIMEDOUT);
        CHECK_EQ(pg_int(other.pg, "select 3"), 3);
        eddy_pg_close(other.pg);
        for (int i = 0; i < SILENT; i++) {
                CHECK_EQ(eddy_pg_exec(asking[i].pg, "select 2"), EDDY_E_PG_CLOSED);
                eddy_pg_close(asking[i].pg);
        }
        CHECK(fake.cancels <= 4);
        pg_fake_stop(&fake, &scope);
        wait_for_fds(fds);
        return 0;
}

TEST(a_server_that_does_not_answer_cancels_delays_no_other_job_or_server)
{
        pg_run(silent_run);
}

/* --- answers of the server that come late --- */

struct detour {
        struct fault_proxy proxy;
        eddy_scope scope;
        eddy_pg *pg;
};

static void detour_open(struct detour *detour, uint32_t statements_max)
{
        char text[200];
        struct eddy_pg_opts opts = { .conninfo = text,
                                     .statements_max = statements_max,
                                     .cancel_timeout_ns = EDDY_SEC(30) };

        memset(detour, 0, sizeof(*detour));
        detour->proxy.host = "127.0.0.1";
        detour->proxy.port = (uint16_t) pg_port;
        eddy_scope_begin(&detour->scope, NULL);
        fault_proxy_start(&detour->proxy, &detour->scope);
        snprintf(text, sizeof(text), "host=127.0.0.1 port=%d user=postgres dbname=postgres",
                 detour->proxy.own_port);
        CHECK_EQ(eddy_pg_connect(&opts, &detour->pg), 0);
}

static void detour_close(struct detour *detour)
{
        eddy_pg_close(detour->pg);
        eddy_scope_cancel(&detour->scope);
        (void) eddy_scope_end(&detour->scope);
        fault_proxy_stop(&detour->proxy);
}

/* Run 'fn' for 50 ms, with answers that come after 200 ms. */
static int call_late(struct detour *detour, eddy_task_fn *fn, void *arg)
{
        int err;

        detour->proxy.down.delay_ns = EDDY_MS(200);
        err = eddy_call_timeout(fn, arg, EDDY_MS(50));
        CHECK_EQ(eddy_sleep(EDDY_MS(300)), 0);
        detour->proxy.down.delay_ns = 0;
        return err;
}

static int query_second(void *arg)
{
        return eddy_pg_query(arg, "select 2", NULL, 0, NULL);
}

static int eviction_run(void *arg)
{
        eddy_pg_transaction transaction;
        struct detour detour;

        (void) arg;
        detour_open(&detour, 1);
        CHECK_EQ(eddy_pg_query(detour.pg, "select 1", NULL, 0, NULL), 0);
        /* In the middle of releasing the first statement. */
        CHECK_EQ(call_late(&detour, query_second, detour.pg), -ETIMEDOUT);
        CHECK_EQ(eddy_pg_begin(detour.pg, NULL, &transaction), 0);
        CHECK_EQ(eddy_pg_query(detour.pg, "select 3", NULL, 0, NULL), 0);
        CHECK_EQ(eddy_pg_end(&transaction, 0), 0);
        detour_close(&detour);
        return 0;
}

TEST(a_cancelled_release_of_a_statement_breaks_no_transaction)
{
        pg_run(eviction_run);
}

struct nesting {
        eddy_pg *pg;
        eddy_pg_transaction inner;
};

static int begin_inner(void *arg)
{
        struct nesting *nesting = arg;

        return eddy_pg_begin(nesting->pg, NULL, &nesting->inner);
}

static int savepoint_run(void *arg)
{
        eddy_pg_transaction outer;
        struct nesting nesting;
        struct detour detour;

        (void) arg;
        detour_open(&detour, 0);
        nesting.pg = detour.pg;
        CHECK_EQ(eddy_pg_begin(detour.pg, NULL, &outer), 0);
        CHECK_EQ(eddy_pg_exec(detour.pg, "create temp table t (n int) on commit drop"), 0);
        CHECK_EQ(call_late(&detour, begin_inner, &nesting), 0);
        CHECK_EQ(eddy_pg_exec(detour.pg, "insert into t values (1)"), 0);
        CHECK_EQ(call_late(&detour, end_run, &nesting.inner), 0);
        /* It was released. */
        CHECK_EQ(pg_int(detour.pg, "select count(*) from t"), 1);
        CHECK_EQ(call_late(&detour, begin_inner, &nesting), 0);
        CHECK_EQ(eddy_pg_exec(detour.pg, "insert into t values (2)"), 0);
        CHECK_EQ(eddy_pg_end(&nesting.inner, -1), -1);
        CHECK_EQ(pg_int(detour.pg, "select count(*) from t"), 1);
        CHECK_EQ(eddy_pg_end(&outer, 0), 0);
        detour_close(&detour);
        return 0;
}

TEST(a_cancel_while_a_savepoint_begins_or_ends_keeps_the_outer_transaction)
{
        pg_run(savepoint_run);
}
