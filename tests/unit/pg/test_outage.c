/*
 * A server that is stopped, silent, reset or gone, while a connection is made, lent, used or given
 * back: an error at the deadline, at most 50 ms later; the pool works again within a second of the
 * server's return; and no more than its limit of new connections is tried.
 *
 * In the short form the loop's clock goes by its waits only, so a loaded machine is not late. In the
 * long one (EDDY_TEST_FULL) it is the system's, for a machine without other work.
 */
#include <signal.h>

#include "fault_proxy.h"
#include "pg_server.h"

#define LIMIT_NS EDDY_MS(100)
#define LATE_NS  EDDY_MS(50)

static int64_t late_max_ns = INT64_MIN, recovery_max_ns;

static void choose_clock(void)
{
        if (!test_is_full())
                io_clock_advance(0);
}

enum fault { STOPPED, SILENT, RESET, FAULTS };
enum phase { CONNECTING, ACQUIRING, QUERYING, RELEASING, PHASES };

static struct fault_proxy proxy;
static char conninfo[256];
static struct eddy_pg_opts opts = { .conninfo = conninfo,
                                    .flags = EDDY_PG_KEEP_SESSION,
                                    .cancel_timeout_ns = EDDY_MS(300) };

static void set_fault(int fault, bool is_on)
{
        enum fault_then then = is_on ? fault == RESET ? FAULT_RESET : FAULT_STALL : FAULT_NOTHING;

        if (fault == STOPPED) {
                pg_signal_all(is_on ? SIGSTOP : SIGCONT);
                return;
        }
        proxy.is_down = is_on && fault == RESET;
        proxy.up.then = proxy.down.then = then;
}

struct attempt {
        eddy_pool *pool;
        eddy_pool_loan loan;
};

static int connect_one(void *arg)
{
        eddy_pg *pg = NULL;
        int err = eddy_pg_connect(&opts, &pg);

        (void) arg;
        eddy_pg_close(pg);
        return err;
}

static int query_loan(void *arg)
{
        struct attempt *attempt = arg;

        return eddy_pg_exec(attempt->loan.item, "select pg_sleep(0)");
}

static int acquire_and_query(void *arg)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        struct attempt *attempt = arg;
        int err = eddy_pool_acquire(attempt->pool, &loan);

        return err < 0 ? err : eddy_pg_exec(loan.item, "select 1");
}

/* Fail in this phase; returns how long it took. */
static int64_t fail_in(struct attempt *attempt, int phase, int fault)
{
        int64_t began_ns;
        int err;

        if (phase == QUERYING || phase == RELEASING)
                CHECK_EQ(eddy_pool_acquire(attempt->pool, &attempt->loan), 0);
        if (phase == RELEASING)
                CHECK_EQ(eddy_pg_exec(attempt->loan.item, "begin"), 0);
        set_fault(fault, true);
        began_ns = eddy_now();
        if (phase == CONNECTING) {
                err = eddy_call_timeout(connect_one, NULL, LIMIT_NS);
        } else if (phase == QUERYING) {
                err = eddy_call_timeout(query_loan, attempt, LIMIT_NS);
        } else {
                CHECK_EQ(eddy_pool_release(&attempt->loan), 0);
                CHECK(eddy_now() - began_ns < LATE_NS);
                err = eddy_call_timeout(acquire_and_query, attempt, LIMIT_NS);
        }
        began_ns = eddy_now() - began_ns;
        if (fault == RESET ? err >= 0 : err != -ETIMEDOUT)
                test_fail(__FILE__, __LINE__, "fault %d in phase %d: %s", fault, phase,
                          eddy_error_name(err));
        CHECK_EQ(eddy_pool_release(&attempt->loan), 0);
        return began_ns;
}

/* Returns how long it takes until a command succeeds. */
static int64_t recover(struct attempt *attempt)
{
        int64_t began_ns = eddy_now();

        while (eddy_call_timeout(acquire_and_query, attempt, EDDY_MS(200)) < 0 &&
               eddy_now() - began_ns < EDDY_SEC(20))
                CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        began_ns = eddy_now() - began_ns;
        recovery_max_ns = began_ns > recovery_max_ns ? began_ns : recovery_max_ns;
        return began_ns;
}

static void start_proxy(eddy_scope *scope)
{
        proxy = (struct fault_proxy){ .host = "127.0.0.1", .port = (uint16_t) pg_port };
        fault_proxy_start(&proxy, scope);
        snprintf(conninfo, sizeof(conninfo), "host=127.0.0.1 port=%u user=postgres dbname=postgres",
                 proxy.own_port);
}

static void stop_proxy(eddy_scope *scope)
{
        int err;

        eddy_scope_cancel(scope);
        err = eddy_scope_end(scope);
        CHECK(err == 0 || err == -ECANCELED);
        fault_proxy_stop(&proxy);
}

/* With a proxy of its own: a silent one keeps its connections to the server. */
static void one_outage(int fault, int phase)
{
        struct eddy_pool_opts pool_opts = { .size = 3, .opening_gap_ns = EDDY_MS(5) };
        struct attempt attempt = { .pool = NULL };
        struct eddy_pool_stats stats;
        int64_t late_ns, recovery_ns;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_proxy(&scope);
        CHECK_EQ(eddy_pg_pool_new(&opts, &pool_opts, &attempt.pool), 0);
        if (phase != ACQUIRING)
                CHECK_EQ(recover(&attempt) < EDDY_SEC(20), 1);
        late_ns = fail_in(&attempt, phase, fault) - LIMIT_NS;
        set_fault(fault, false);
        recovery_ns = recover(&attempt);
        late_max_ns = late_ns > late_max_ns ? late_ns : late_max_ns;
        if (late_ns > LATE_NS || recovery_ns > EDDY_SEC(1))
                test_fail(__FILE__, __LINE__, "fault %d in phase %d: %lld us late, back in %lld us",
                          fault, phase, (long long) late_ns / 1000, (long long) recovery_ns / 1000);
        eddy_pool_stats(attempt.pool, &stats);
        CHECK_EQ(stats.lent, 0);
        CHECK(stats.open <= 3);
        eddy_pool_close(attempt.pool);
        stop_proxy(&scope);
}

static int outages_run(void *arg)
{
        int rounds = test_is_full() ? 50 : 1;

        (void) arg;
        choose_clock();
        for (int i = 0; i < rounds * FAULTS * PHASES; i++)
                one_outage(i % FAULTS, i / FAULTS % PHASES);
        printf("# %d outages: at most %lld ms late, back in at most %lld ms\n",
               rounds * FAULTS * PHASES, (long long) late_max_ns / 1000000,
               (long long) recovery_max_ns / 1000000);
        return 0;
}

/* D31: at the deadline. */
TEST(an_outage_costs_the_deadline_and_no_more_than_a_second_after_it)
{
        pg_run(outages_run);
}

struct herd {
        struct attempt attempt;
        uint32_t answers;
        bool is_over;
};

static int acquire(void *arg)
{
        struct attempt *attempt = arg;

        return eddy_pool_acquire(attempt->pool, &attempt->loan);
}

static int herd_run(void *arg)
{
        struct herd *herd = arg;
        struct attempt attempt = { .pool = herd->attempt.pool };

        while (!herd->is_over) {
                /* A query has no limit of time: a cancel is one more connection. */
                if (eddy_call_timeout(acquire, &attempt, EDDY_MS(50)) == 0 &&
                    eddy_pg_exec(attempt.loan.item, "select 1") == 0)
                        herd->answers++;
                CHECK_EQ(eddy_pool_release(&attempt.loan), 0);
                CHECK_EQ(eddy_sleep(EDDY_MS(20)), 0);
        }
        return 0;
}

static int storm_run(void *arg)
{
        struct eddy_pool_opts pool_opts = { .size = 20, .opening_gap_ns = EDDY_MS(20) };
        struct herd herd = { .is_over = false };
        eddy_scope scope, tasks;
        int64_t began_ns;
        uint32_t before, tried, most;

        (void) arg;
        choose_clock();
        eddy_scope_begin(&scope, NULL);
        start_proxy(&scope);
        CHECK_EQ(eddy_pg_pool_new(&opts, &pool_opts, &herd.attempt.pool), 0);
        proxy.is_down = true;
        proxy.down.delay_ns = EDDY_MS(5);
        eddy_scope_begin(&tasks, NULL);
        for (int i = 0; i < 60; i++)
                CHECK_EQ(eddy_scope_start(&tasks, herd_run, &herd), 0);
        began_ns = eddy_now();
        before = proxy.accepted;
        CHECK_EQ(eddy_sleep(EDDY_MS(500)), 0);
        proxy.is_down = false;
        CHECK_EQ(eddy_sleep(EDDY_MS(300)), 0);
        herd.is_over = true;
        /* Each opening is at most one connection. */
        tried = proxy.accepted - before;
        most = (uint32_t) ((eddy_now() - began_ns) / EDDY_MS(20)) + 2;
        printf("# %u connections, of at most %u; %u answers\n", tried, most, herd.answers);
        CHECK(tried >= 5 && tried <= most);
        CHECK_EQ(eddy_scope_end(&tasks), 0);
        CHECK(recover(&herd.attempt) < EDDY_SEC(1));
        eddy_pool_close(herd.attempt.pool);
        stop_proxy(&scope);
        return 0;
}

TEST(a_server_that_comes_back_is_not_overrun)
{
        pg_run(storm_run);
}

static int killed_run(void *arg)
{
        struct eddy_pool_opts pool_opts = { .size = 3, .opening_gap_ns = EDDY_MS(5) };
        struct attempt attempt = { .pool = NULL };
        int64_t began_ns;

        (void) arg;
        choose_clock();
        snprintf(conninfo, sizeof(conninfo), "%s", pg_tcp);
        CHECK_EQ(eddy_pg_pool_new(&opts, &pool_opts, &attempt.pool), 0);
        CHECK(recover(&attempt) < EDDY_SEC(1));
        pg_kill(SIGQUIT);
        for (int i = 0; i < 5; i++) {
                began_ns = eddy_now();
                CHECK(eddy_call_timeout(acquire_and_query, &attempt, LIMIT_NS) < 0);
                CHECK(eddy_now() - began_ns <= LIMIT_NS + LATE_NS);
        }
        pg_start();
        CHECK(recover(&attempt) < EDDY_SEC(1));
        eddy_pool_close(attempt.pool);
        pg_kill(SIGKILL);
        return 0;
}

TEST(zz_a_server_that_is_gone_costs_no_more_than_the_deadline)
{
        pg_run(killed_run);
}
