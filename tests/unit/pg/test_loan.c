/*
 * A loan inherits nothing from the one before, also if the network ends, resets or stalls the
 * connection after any byte of a log-in or an answer.
 */
#include "eddy/pg_stream.h"
#include "fault_proxy.h"
#include "pg_server.h"

static struct fault_proxy proxy;

struct question {
        eddy_pool *pool;
        int64_t number;
};

static int ask(void *arg)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        struct question *question = arg;
        int64_t own = ++question->number, got;
        int err = eddy_pool_acquire(question->pool, &loan);

        if (err == 0)
                err = eddy_pg_query(loan.item, "select $1::int8, repeat('x', 200)",
                                    EDDY_PG_PARAMS(eddy_pg_int(own)), &result);
        if (err < 0)
                return err;
        CHECK_EQ(eddy_pg_get_int(result, 0, 0, &got), 0);
        CHECK_EQ(got, own);
        return 0;
}

/*
 * A pool of one connection, which is cut after so many bytes from the server, or to it. The proxy is new
 * each time: a stalled connection keeps one of the server's.
 */
static void cut(enum fault_then then, uint64_t bytes, bool is_up, int64_t number)
{
        char conninfo[100];
        struct eddy_pg_opts opts = { .conninfo = conninfo,
                                     .flags = EDDY_PG_KEEP_SESSION,
                                     .cancel_timeout_ns = EDDY_MS(50) };
        struct question question = { .number = number };
        struct eddy_pool_stats stats;
        struct fault_way way = { .then = then, .bytes = bytes };
        eddy_scope scope;
        int err = -1;

        proxy = (struct fault_proxy){ .host = "127.0.0.1", .port = (uint16_t) pg_port };
        *(is_up ? &proxy.up : &proxy.down) = way;
        eddy_scope_begin(&scope, NULL);
        fault_proxy_start(&proxy, &scope);
        snprintf(conninfo, sizeof(conninfo), "host=127.0.0.1 port=%u user=postgres dbname=postgres",
                 proxy.own_port);
        CHECK_EQ(eddy_pg_pool_new(&opts, &(struct eddy_pool_opts){ .size = 1 }, &question.pool), 0);
        for (int i = 0; i < 3; i++)
                (void) eddy_call_timeout(ask, &question, EDDY_MS(100));
        proxy.up.then = proxy.down.then = FAULT_NOTHING;
        for (int i = 0; i < 10 && err < 0; i++)
                err = eddy_call_timeout(ask, &question, EDDY_SEC(5));
        CHECK_EQ(err, 0);
        eddy_pool_stats(question.pool, &stats);
        CHECK_EQ(stats.lent, 0);
        CHECK(stats.open <= 1);
        eddy_pool_close(question.pool);
        eddy_scope_cancel(&scope);
        err = eddy_scope_end(&scope);
        CHECK(err == 0 || err == -ECANCELED);
        fault_proxy_stop(&proxy);
}

static int cuts_run(void *arg)
{
        uint64_t step = test_is_full() ? 1 : 47, n = 0;

        (void) arg;
        io_clock_advance(0); /* a stall costs no error but the deadline's */
        for (uint64_t at = 0; at < 900; at += step, n++)
                cut(FAULT_END + (int) (n % 3), at, n / 3 % 2, (int64_t) (1000 * n));
        return 0;
}

/* D22, D33: at each byte. */
TEST(a_cut_at_any_byte_gives_no_answer_to_another_and_keeps_the_pool)
{
        pg_run(cuts_run);
}

static int wait_notified(void *arg)
{
        struct eddy_pg_notification notification;

        return eddy_pg_notified(arg, &notification);
}

static int notified_run(void *arg)
{
        struct eddy_pg_opts opts = { .conninfo = pg_unix, .flags = EDDY_PG_KEEP_SESSION };
        eddy_pool_loan loan = { 0 };
        eddy_pool *pool;

        (void) arg;
        CHECK_EQ(eddy_pg_pool_new(&opts, &(struct eddy_pool_opts){ .size = 1 }, &pool), 0);
        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        CHECK_EQ(eddy_pg_exec(loan.item, "listen news"), 0);
        CHECK_EQ(eddy_pg_exec(loan.item, "notify news, 'old'"), 0);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        CHECK_EQ(eddy_pool_acquire(pool, &loan), 0);
        CHECK_EQ(eddy_call_timeout(wait_notified, loan.item, EDDY_MS(20)), -ETIMEDOUT);
        CHECK_EQ(eddy_pool_release(&loan), 0);
        eddy_pool_close(pool);
        return 0;
}

/* D4: also what libpq keeps. */
TEST(a_loan_has_no_notifications_of_the_one_before)
{
        pg_run(notified_run);
}
