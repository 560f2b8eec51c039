/*
 * Transactions and savepoints take effect only if their functions succeed and are not cancelled; a
 * commit whose answer is lost is reported as unknown.
 */
#include "fault_proxy.h"
#include "pg_server.h"

static int insert(eddy_pg *pg, int64_t n)
{
        return eddy_pg_query(pg, "insert into t values ($1)", EDDY_PG_PARAMS(eddy_pg_int(n)), NULL);
}

static eddy_pg *open_table(void)
{
        eddy_pg *pg = pg_open();

        CHECK_EQ(eddy_pg_exec(pg, "drop table if exists t; create table t (n int unique deferrable"
                                  " initially deferred)"),
                 0);
        return pg;
}

static int sleep_query(void *arg)
{
        return eddy_pg_exec(arg, "select pg_sleep(30)");
}

static int ends_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = open_table();
        struct eddy_pg_transaction_opts serializable = { .isolation = EDDY_PG_SERIALIZABLE,
                                                         .read_only = true,
                                                         .deferrable = true };
        eddy_pg_transaction outer, inner;

        CHECK_EQ(eddy_pg_begin(pg, NULL, &outer), 0);
        CHECK_EQ(insert(pg, 1), 0);
        CHECK_EQ(eddy_pg_end(&outer, 5), 5);
        CHECK_EQ(eddy_pg_end(&outer, 6), 6);
        CHECK_EQ(eddy_pg_begin(pg, NULL, &outer), 0);
        CHECK_EQ(insert(pg, 2), 0);
        CHECK_EQ(eddy_pg_end(&outer, -EIO), -EIO);
        CHECK_EQ(pg_int(pg, "select sum(n) from t"), 1);
        /* A savepoint that fails, and one that does not. */
        CHECK_EQ(eddy_pg_begin(pg, NULL, &outer), 0);
        CHECK_EQ(insert(pg, 10), 0);
        CHECK_EQ(eddy_pg_begin(pg, NULL, &inner), 0);
        CHECK_EQ(eddy_pg_exec(pg, "select 1/0"), EDDY_E_PG_SERVER);
        CHECK_EQ(eddy_pg_end(&inner, EDDY_E_PG_SERVER), EDDY_E_PG_SERVER);
        CHECK_STR(eddy_pg_fault(pg)->sqlstate, "22012");
        CHECK_EQ(eddy_pg_begin(pg, NULL, &inner), 0);
        CHECK_EQ(insert(pg, 100), 0);
        CHECK_EQ(eddy_pg_end(&inner, 0), 0);
        CHECK_EQ(eddy_pg_end(&outer, 0), 0);
        CHECK_EQ(pg_int(pg, "select sum(n) from t"), 111);
        /* An error that was ignored; one that comes with the commit. */
        CHECK_EQ(eddy_pg_begin(pg, NULL, &outer), 0);
        CHECK_EQ(eddy_pg_exec(pg, "select 1/0"), EDDY_E_PG_SERVER);
        CHECK_EQ(eddy_pg_end(&outer, 0), EDDY_E_PG_ROLLED_BACK);
        CHECK_EQ(eddy_pg_begin(pg, NULL, &outer), 0);
        CHECK_EQ(insert(pg, 1), 0);
        CHECK_EQ(eddy_pg_end(&outer, 0), EDDY_E_PG_SERVER);
        CHECK_STR(eddy_pg_fault(pg)->sqlstate, "23505");
        /* Out of order, options, a transaction of the program. */
        CHECK_EQ(eddy_pg_begin(pg, NULL, &outer), 0);
        CHECK_EQ(eddy_pg_begin(pg, &serializable, &inner), -EINVAL);
        CHECK_EQ(eddy_pg_begin(pg, NULL, &inner), 0);
        CHECK_EQ(insert(pg, 1000), 0);
        CHECK_EQ(eddy_pg_end(&outer, 0), EDDY_E_PG_STATE);
        CHECK_EQ(eddy_pg_end(&inner, 0), EDDY_E_PG_STATE);
        CHECK_EQ(eddy_pg_begin(pg, &serializable, &outer), 0);
        CHECK_EQ(insert(pg, 1000), EDDY_E_PG_SERVER);
        CHECK_EQ(eddy_pg_end(&outer, -1), -1);
        CHECK_EQ(eddy_pg_exec(pg, "begin"), 0);
        CHECK_EQ(eddy_pg_begin(pg, NULL, &outer), EDDY_E_PG_STATE);
        CHECK_EQ(eddy_pg_exec(pg, "rollback"), 0);
        CHECK_EQ(pg_int(pg, "select sum(n) from t"), 111);
        return 0;
}

TEST(transactions_and_savepoints)
{
        pg_run(ends_run);
}

/* A transaction of this connection; it ends after its time, which begins after an insert. */
static int times_out(eddy_pg *pg, int (*call)(eddy_pg *pg, eddy_pg_transaction *transaction))
{
        struct eddy_scope_opts limit = { .timeout_ns = EDDY_MS(50) };
        eddy_pg_transaction transaction;
        eddy_scope scope;

        CHECK_EQ(eddy_pg_begin(pg, NULL, &transaction), 0);
        CHECK_EQ(insert(pg, 2), 0);
        eddy_scope_begin(&scope, &limit);
        return eddy_scope_end_with(&scope, call(pg, &transaction));
}

static int queries(eddy_pg *pg, eddy_pg_transaction *transaction)
{
        return eddy_pg_end(transaction, sleep_query(pg));
}

static int ignores_cancel(eddy_pg *pg, eddy_pg_transaction *transaction)
{
        (void) pg;
        CHECK_EQ(eddy_sleep(EDDY_SEC(30)), -ECANCELED);
        CHECK_EQ(eddy_pg_end(transaction, 0), -ECANCELED);
        return -ECANCELED;
}

static int cancelled_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = open_table();

        (void) arg;
        CHECK_EQ(times_out(pg, queries), -ETIMEDOUT);
        CHECK_EQ(pg_int(pg, "select count(*) from t"), 0);
        CHECK_EQ(times_out(pg, ignores_cancel), -ETIMEDOUT);
        CHECK_EQ(pg_int(pg, "select count(*) from t"), 0);
        return 0;
}

TEST(a_cancelled_transaction_is_rolled_back)
{
        pg_run(cancelled_run);
}

static int savepoint_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = open_table();
        eddy_pg_transaction outer;

        CHECK_EQ(eddy_pg_begin(pg, NULL, &outer), 0);
        CHECK_EQ(insert(pg, 1), 0);
        CHECK_EQ(times_out(pg, queries), -ETIMEDOUT);
        CHECK_EQ(eddy_pg_end(&outer, 0), 0);
        CHECK_EQ(pg_int(pg, "select count(*) from t"), 1);
        return 0;
}

TEST(a_commit_right_after_a_cancelled_savepoint_keeps_the_rest)
{
        pg_run(savepoint_run);
}

static int gone_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = open_table();
        eddy_pg_transaction outer, inner;

        CHECK_EQ(eddy_pg_begin(pg, NULL, &outer), 0);
        CHECK_EQ(eddy_pg_begin(pg, NULL, &inner), 0);
        CHECK_EQ(eddy_pg_end(&inner, -1), -1);
        CHECK_EQ(insert(pg, 1), 0);
        CHECK_EQ(eddy_pg_exec(pg, "rollback to savepoint eddy_1"), EDDY_E_PG_SERVER);
        CHECK_STR(eddy_pg_fault(pg)->sqlstate, "3B001");
        CHECK_EQ(eddy_pg_end(&outer, 0), EDDY_E_PG_ROLLED_BACK);
        return 0;
}

TEST(a_savepoint_that_was_undone_is_gone)
{
        pg_run(gone_run);
}

static int failed_savepoint_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = open_table();
        eddy_pg_transaction outer, inner;

        (void) arg;
        CHECK_EQ(eddy_pg_begin(pg, NULL, &outer), 0);
        CHECK_EQ(insert(pg, 1), 0);
        CHECK_EQ(eddy_pg_begin(pg, NULL, &inner), 0);
        CHECK_EQ(insert(pg, 2), 0);
        CHECK_EQ(eddy_pg_exec(pg, "select 1/0"), EDDY_E_PG_SERVER);
        CHECK_EQ(eddy_pg_end(&inner, 0), EDDY_E_PG_SERVER);
        CHECK_EQ(eddy_pg_end(&outer, 0), 0);
        CHECK_EQ(pg_int(pg, "select sum(n) from t"), 1);
        return 0;
}

TEST(a_savepoint_with_a_failed_command_is_rolled_back)
{
        pg_run(failed_savepoint_run);
}

static int missing_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = open_table();
        eddy_pg_transaction outer, inner;

        (void) arg;
        CHECK_EQ(eddy_pg_begin(pg, NULL, &outer), 0);
        CHECK_EQ(eddy_pg_begin(pg, NULL, &inner), 0);
        CHECK_EQ(eddy_pg_exec(pg, "release savepoint eddy_1"), 0);
        CHECK_EQ(eddy_pg_end(&inner, -1), -1);
        /* The error has ended the outer one: what the inner one has done may not remain. */
        CHECK_EQ(insert(pg, 1), EDDY_E_PG_SERVER);
        CHECK_STR(eddy_pg_fault(pg)->sqlstate, "25P02");
        CHECK_EQ(eddy_pg_end(&outer, 0), EDDY_E_PG_ROLLED_BACK);
        CHECK_EQ(insert(pg, 1), 0);
        return 0;
}

TEST(a_savepoint_that_cannot_be_undone_ends_the_outer_transaction_once)
{
        pg_run(missing_run);
}

struct commit {
        eddy_pg_transaction transaction;
        eddy_scope *proxy;
};

static int commit_run(void *arg)
{
        return eddy_pg_end(&((struct commit *) arg)->transaction, 0);
}

/* End the connection while the commit waits for its answer. */
static int cut_run(void *arg)
{
        int err = eddy_sleep(EDDY_MS(50));

        eddy_scope_cancel(((struct commit *) arg)->proxy);
        return err;
}

/* A transaction through the proxy, whose commit arrives, and whose answer does not. */
static int lose(eddy_pg *direct, bool by_deadline)
{
        struct fault_proxy proxy = { .host = "127.0.0.1", .port = (uint16_t) pg_port };
        EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL;
        struct eddy_pg_opts opts = { .cancel_timeout_ns = EDDY_MS(100) };
        struct commit commit;
        eddy_scope scope, cutter;
        char text[200];
        int err;

        eddy_scope_begin(&scope, NULL);
        commit.proxy = &scope;
        fault_proxy_start(&proxy, &scope);
        snprintf(text, sizeof(text), "host=127.0.0.1 port=%d user=postgres dbname=postgres",
                 proxy.own_port);
        opts.conninfo = text;
        CHECK_EQ(eddy_pg_connect(&opts, &pg), 0);
        CHECK_EQ(eddy_pg_exec(direct, "truncate t"), 0);
        CHECK_EQ(eddy_pg_begin(pg, NULL, &commit.transaction), 0);
        CHECK_EQ(insert(pg, 1), 0);
        proxy.down.delay_ns = EDDY_SEC(1000);
        eddy_scope_begin(&cutter, NULL);
        if (!by_deadline)
                CHECK_EQ(eddy_scope_start(&cutter, cut_run, &commit), 0);
        err = by_deadline ? eddy_call_timeout(commit_run, &commit, EDDY_MS(50))
                          : commit_run(&commit);
        (void) eddy_scope_end(&cutter);
        CHECK_EQ(eddy_pg_exec(pg, "select 1"), EDDY_E_PG_CLOSED);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        fault_proxy_stop(&proxy);
        for (int i = 0; i < 500 && pg_int(direct, "select count(*) from t") == 0; i++)
                CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        CHECK_EQ(pg_int(direct, "select count(*) from t"), 1);
        return err;
}

static int lost_run(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *direct = open_table();
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        eddy_pg_transaction transaction;
        char sql[80];

        CHECK_EQ(lose(direct, true), EDDY_E_PG_UNKNOWN);
        CHECK_EQ(lose(direct, false), EDDY_E_PG_UNKNOWN);
        /* Lost before the commit. */
        snprintf(sql, sizeof(sql), "select pg_terminate_backend(%d, 5000)",
                 (int) pg_int(pg, "select pg_backend_pid()"));
        CHECK_EQ(eddy_pg_begin(pg, NULL, &transaction), 0);
        CHECK_EQ(eddy_pg_exec(direct, sql), 0);
        CHECK_EQ(insert(pg, 2), EDDY_E_PG_CLOSED);
        CHECK_EQ(eddy_pg_end(&transaction, 0), EDDY_E_PG_CLOSED);
        return 0;
}

TEST(a_commit_without_an_answer_is_unknown)
{
        pg_run(lost_run);
}
