/*
 * A cancelled command does not reach the next user; a connection has one user; loans come back as
 * new; the pool survives servers that are stopped, killed and started again.
 */
#include <signal.h>
#include <unistd.h>

#include "pg_server.h"

static int sleep_query(void *arg)
{
        return eddy_pg_exec(arg, "select pg_sleep(30)");
}

static int cancel_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        int64_t began_ns = eddy_now();

        CHECK_EQ(eddy_call_timeout(sleep_query, pg, EDDY_MS(30)), -ETIMEDOUT);
        CHECK_EQ(pg_int(pg, "select 7"), 7);
        CHECK_EQ(eddy_call_timeout(sleep_query, pg, EDDY_MS(30)), -ETIMEDOUT);
        CHECK_EQ(pg_int(pg, "select 8"), 8);
        CHECK(eddy_now() - began_ns < EDDY_SEC(20));
        return 0;
}

/* D5, D29: over a second connection, and the next call waits for it. */
TEST(a_cancelled_command_ends_on_the_server)
{
        pg_run(cancel_run);
}

static int busy_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, sleep_query, pg), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_pg_exec(pg, "select 1"), EDDY_E_PG_BUSY);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_pg_exec(pg, "select 1"), EDDY_E_PG_BUSY);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(pg_int(pg, "select 9"), 9);
        return 0;
}

/* D9: an error, and the first call goes on. */
TEST(a_second_call_at_the_same_time_is_refused)
{
        pg_run(busy_run);
}

static eddy_pool *make_pool(uint32_t size, uint32_t flags)
{
        struct eddy_pg_opts opts = { .conninfo = pg_tcp,
                                     .flags = flags,
                                     .cancel_timeout_ns = EDDY_SEC(5) };
        struct eddy_pool_opts pool_opts = { .size = size };
        eddy_pool *pool;

        CHECK_EQ(eddy_pg_pool_new(&opts, &pool_opts, &pool), 0);
        return pool;
}

static int reset_with(uint32_t flags)
{
        EDDY_AUTO(eddy_pool) eddy_pool *pool = make_pool(1, flags);
        eddy_pool_loan loan = { 0 };
        int64_t pid, still;

        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        pid = pg_int(loan.item, "select pg_backend_pid()");
        CHECK_EQ(eddy_pg_exec(loan.item, "set statement_timeout = 12345; listen x; begin;"
                                         "select pg_advisory_lock(5)"),
                 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        still = pg_int(loan.item, "select pg_backend_pid()");
        CHECK_EQ(still, pid);
        CHECK_EQ(pg_int(loan.item, "select count(*) from pg_locks where locktype = 'advisory'"), 0);
        CHECK_EQ(pg_int(loan.item, "select count(*) from pg_listening_channels()"), 0);
        CHECK_EQ(pg_int(loan.item,
                        "select count(*) from pg_settings where name = 'statement_timeout'"
                        " and setting = '12345'"),
                 0);
        /* In the middle of a command. */
        CHECK_EQ(eddy_call_timeout(sleep_query, loan.item, EDDY_MS(20)), -ETIMEDOUT);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        CHECK_EQ(pg_int(loan.item, "select pg_backend_pid()"), pid);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

static int reset_run(void *arg)
{
        reset_with(0);
        reset_with(EDDY_PG_KEEP_SESSION);
        return 0;
}

/* D4, D14: rolled back, and settings forgotten. */
TEST(loans_come_back_as_new)
{
        pg_run(reset_run);
}

static int options_run(void *arg)
{
        struct eddy_pg_opts wrong[] = { { .flags = 1 << 15 },
                                        { .cancel_timeout_ns = -1 },
                                        { .statements_max = EDDY_PG_STATEMENTS_MAX + 1 } };
        eddy_pg_pipeline *pipeline;
        eddy_pool *pool;

        (void) arg;
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_pg_pool_new(&wrong[i], NULL, &pool), -EINVAL);
                CHECK_EQ(eddy_pg_pipeline_new(&wrong[i], NULL, &pipeline), -EINVAL);
        }
        return 0;
}

TEST(options_are_checked_before_the_first_connection)
{
        io_run_and_wait(options_run);
}

static int roles_run(void *arg)
{
        EDDY_AUTO(eddy_pool) eddy_pool *pool = make_pool(1, EDDY_PG_KEEP_SESSION);
        static const char *const changes[] = {
                "set role tenant", "set session authorization tenant",
                "set session authorization tenant; set role tenant"
        };
        eddy_pool_loan loan = { 0 };

        (void) arg;
        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        CHECK_EQ(eddy_pg_exec(loan.item, "create role tenant"), 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
                CHECK_EQ(eddy_pg_exec(loan.item, changes[i]), 0);
                CHECK_EQ(eddy_pool_release(&loan), 0);
                CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
                CHECK_EQ(pg_int(loan.item, "select (current_user = 'postgres'"
                                           " and session_user = 'postgres')::int"),
                         1);
                CHECK_EQ(eddy_pool_release(&loan), 0);
        }
        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        CHECK_EQ(eddy_pg_exec(loan.item, "drop role tenant"), 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        return 0;
}

TEST(a_role_does_not_reach_the_next_borrower)
{
        pg_run(roles_run);
}

static int gone_run(void *arg)
{
        EDDY_AUTO(eddy_pool) eddy_pool *pool = make_pool(1, EDDY_PG_KEEP_SESSION);
        EDDY_AUTO(eddy_pg) eddy_pg *other = pg_open();
        eddy_pool_loan loan = { 0 };
        struct eddy_pool_stats stats;
        char sql[100];

        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        snprintf(sql, sizeof(sql), "select pg_terminate_backend(%d, 5000)",
                 (int) pg_int(loan.item, "select pg_backend_pid()"));
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(eddy_pg_exec(other, sql), 0);
        /* Closed while it was idle: replaced without an error. */
        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        CHECK_EQ(pg_int(loan.item, "select 4"), 4);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        eddy_pool_stats(pool, &stats);
        CHECK_EQ(stats.broken, 1);
        return 0;
}

static int refused_run(void *arg)
{
        struct eddy_pg_fault shared = { .text = "" };
        char conninfo[300];
        struct eddy_pg_opts opts = { .conninfo = conninfo, .ret_fault = &shared };
        struct eddy_pool_fault fault;
        eddy_pool_loan loan = { .ret_fault = &fault };
        EDDY_AUTO(eddy_pool) eddy_pool *pool = NULL;

        snprintf(conninfo, sizeof(conninfo), "%s dbname=missing", pg_unix);
        CHECK_EQ(eddy_pg_pool_new(&opts, NULL, &pool), 0);
        CHECK_EQ(eddy_pool_acquire(pool, &loan), EDDY_E_PG_CONNECT);
        CHECK(strstr(fault.text, "database \"missing\" does not exist"));
        CHECK_STR(shared.text, fault.text);
        return 0;
}

TEST(a_connection_that_is_refused_gives_its_loan_the_reason)
{
        pg_run(refused_run);
}

/* D10, D23: noticed before the loan. */
TEST(an_idle_connection_that_was_closed_is_replaced)
{
        pg_run(gone_run);
}

struct storm {
        eddy_pool *pool;
        uint64_t *random;
        int64_t nonce;
        int answers, cancels, cancelled_queries;
};

static uint32_t next_random(uint64_t *state)
{
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t) (*state >> 33);
}

static int ask(void *arg)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        struct storm *storm = arg;
        int64_t own = ++storm->nonce, got;
        int err = eddy_pool_acquire(storm->pool, &loan);

        if (err == 0) {
                err = eddy_pg_query(loan.item, "select $1::int8, repeat('x', 2000)",
                                    EDDY_PG_PARAMS(eddy_pg_int(own)), &result);
                storm->cancelled_queries += err == -ECANCELED;
        }
        if (err == 0) {
                CHECK_EQ(eddy_pg_get_int(result, 0, 0, &got), 0);
                CHECK_EQ(got, own);
                storm->answers++;
        } else {
                CHECK_EQ(err, -ECANCELED);
                storm->cancels++;
        }
        return 0;
}

static int asker(void *arg)
{
        struct storm *storm = arg;
        int rounds = 40, cancels = test_is_full() ? 1000000 : 0;

        for (int i = 0; i < rounds || storm->cancels < cancels; i++) {
                /* At most 50 us to 51 ms: some cancels meet the queue, others a query. */
                int64_t limit_ns = 1 + next_random(storm->random) % (EDDY_US(50) << i % 11);

                (void) eddy_call_timeout(ask, storm, i % 8 == 0 ? EDDY_MIN(1) : limit_ns);
        }
        return 0;
}

static int storm_run(void *arg)
{
        EDDY_AUTO(eddy_pool) eddy_pool *pool = make_pool(4, EDDY_PG_KEEP_SESSION);
        uint64_t random = 42;
        struct storm storm = { .pool = pool, .random = &random };
        struct eddy_pool_stats stats;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 8; i++)
                CHECK_EQ(eddy_scope_start(&scope, asker, &storm), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(storm.cancelled_queries > 0);
        CHECK(storm.answers >= (storm.answers + storm.cancels) / 9);
        eddy_pool_stats(pool, &stats);
        CHECK(stats.open <= 4);
        CHECK_EQ(stats.lent, 0);
        printf("# P2: %d answers, %d cancels, %d of them in a query\n", storm.answers,
               storm.cancels, storm.cancelled_queries);
        return 0;
}

/* D33: the pool keeps its size. */
TEST(after_random_cancels_each_answer_reaches_its_caller)
{
        pg_run(storm_run);
}

static int quick_query(void *arg)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        int err = eddy_pool_acquire(arg, &loan);

        return err < 0 ? err : eddy_pg_exec(loan.item, "select 1");
}

static int stopped_run(void *arg)
{
        EDDY_AUTO(eddy_pool) eddy_pool *pool = make_pool(2, EDDY_PG_KEEP_SESSION);
        int err = -1;

        CHECK_EQ(quick_query(pool), 0);
        pg_signal_all(SIGSTOP);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_call_timeout(quick_query, pool, EDDY_MS(50)), -ETIMEDOUT);
        pg_signal_all(SIGCONT);
        for (int i = 0; i < 100 && err < 0; i++)
                err = eddy_call_timeout(quick_query, pool, EDDY_SEC(5));
        CHECK_EQ(err, 0);
        return 0;
}

TEST(a_stopped_server_costs_no_more_than_the_deadline)
{
        pg_run(stopped_run);
}

static int restarted_run(void *arg)
{
        EDDY_AUTO(eddy_pool) eddy_pool *pool = make_pool(2, EDDY_PG_KEEP_SESSION);
        int err = 0;

        CHECK_EQ(quick_query(pool), 0);
        pg_kill(SIGKILL);
        /* The end of its socket may come later than that of the server. */
        for (int i = 0; i < 10 && err != EDDY_E_PG_CONNECT; i++)
                err = eddy_call_timeout(quick_query, pool, EDDY_SEC(5));
        CHECK_EQ(err, EDDY_E_PG_CONNECT);
        pg_start();
        CHECK_EQ(eddy_call_timeout(quick_query, pool, EDDY_SEC(20)), 0);
        pg_kill(SIGQUIT);
        return 0;
}

/* The last case: the server is gone after it. */
TEST(zz_a_server_that_is_killed_and_started_again)
{
        pg_run(restarted_run);
}
