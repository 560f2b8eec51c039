/*
 * Inserts through a pool, while the server is stopped at once and started again, loses a process to
 * kill -9, and ends its connections: an insert that was acknowledged is in the table, one that was
 * refused is not, one in doubt is reported as such, and none is repeated.
 *
 * The server runs without fsync: what processes have written survives their end, but a loss of power
 * is not tried.
 */
#include <signal.h>

#include "pg_server.h"

enum { WORKERS = 8, IDS_MAX = 1 << 20 };

enum outcome { NOT_SENT, ACKNOWLEDGED, IN_DOUBT, REFUSED };

TEST_ROOM(unsigned char, outcomes, IDS_MAX);

struct load {
        eddy_pool *pool;
        bool is_over;
        int next;
        int counts[4];
        int64_t last_good_ns;
};

struct insert {
        struct load *load;
        int id;
};

static int insert_one(eddy_pg *pg, int id)
{
        return eddy_pg_query(pg, "insert into t values ($1)", EDDY_PG_PARAMS(eddy_pg_int(id)),
                             NULL);
}

/* Even numbers are transactions, odd ones are single commands. */
static int insert_run(void *arg)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        struct insert *insert = arg;
        unsigned char *outcome = &outcomes[insert->id];
        eddy_pg_transaction transaction;
        int err = eddy_pool_acquire(insert->load->pool, &loan);

        if (err < 0)
                return err;
        if (insert->id % 2 == 0) {
                err = eddy_pg_begin(loan.item, NULL, &transaction);
                if (err < 0)
                        return err;
                *outcome = REFUSED;
                err = eddy_pg_end(&transaction, insert_one(loan.item, insert->id));
                if (err == EDDY_E_PG_UNKNOWN)
                        *outcome = IN_DOUBT;
        } else {
                *outcome = IN_DOUBT;
                err = insert_one(loan.item, insert->id);
                if (err == EDDY_E_PG_SERVER)
                        *outcome = REFUSED;
        }
        if (err == 0) {
                *outcome = ACKNOWLEDGED;
                insert->load->last_good_ns = eddy_now();
        }
        return err;
}

static int worker_run(void *arg)
{
        struct load *load = arg;

        while (!load->is_over && load->next < IDS_MAX) {
                struct insert insert = { load, load->next++ };

                /* Never a second time. */
                if (eddy_call_timeout(insert_run, &insert, EDDY_SEC(2)) < 0)
                        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
                load->counts[outcomes[insert.id]]++;
        }
        return 0;
}

/* A connection of its own, when the server takes it. */
static eddy_pg *connect_again(void)
{
        struct eddy_pg_opts opts = { .conninfo = pg_unix, .cancel_timeout_ns = EDDY_SEC(30) };
        eddy_pg *pg = NULL;

        for (int i = 0; i < 3000 && eddy_pg_connect(&opts, &pg) < 0; i++)
                CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        CHECK(pg);
        return pg;
}

static void strike(int kind)
{
        static const char others[] = " from pg_stat_activity where backend_type = 'client backend'"
                                     " and pid <> pg_backend_pid()";
        char sql[200];
        eddy_pg *pg;

        if (kind == 0) {
                pg_kill(SIGQUIT); /* as pg_ctl stop -m immediate does */
                CHECK_EQ(eddy_sleep(EDDY_MS(20)), 0);
                pg_start();
                return;
        }
        pg = connect_again();
        if (kind == 1) {
                snprintf(sql, sizeof(sql), "select coalesce(max(pid), 0)%s", others);
                kind = (int) pg_int(pg, sql);
                if (kind > 0)
                        kill(kind, SIGKILL);
        } else {
                snprintf(sql, sizeof(sql), "select count(pg_terminate_backend(pid))%s", others);
                (void) pg_int(pg, sql);
        }
        eddy_pg_close(pg);
}

TEST_ROOM(unsigned char, found, IDS_MAX);

/* Read the table, and compare it with what the workers were told. */
static void compare(struct load *load)
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        EDDY_AUTO(eddy_pg) eddy_pg *pg = connect_again();
        int lost = 0, twice = 0, ghosts = 0;
        int64_t id;

        CHECK_EQ(eddy_pg_query(pg, "select n from t", NULL, 0, &result), 0);
        for (int i = 0; i < eddy_pg_rows(result); i++) {
                CHECK_EQ(eddy_pg_get_int(result, i, 0, &id), 0);
                CHECK(id >= 0 && id < load->next);
                twice += found[id];
                found[id] = 1;
        }
        for (int i = 0; i < load->next; i++) {
                lost += outcomes[i] == ACKNOWLEDGED && !found[i];
                ghosts += (outcomes[i] == REFUSED || outcomes[i] == NOT_SENT) && found[i];
        }
        printf("# %d acknowledged, %d in doubt, %d refused, %d not sent\n",
               load->counts[ACKNOWLEDGED], load->counts[IN_DOUBT], load->counts[REFUSED],
               load->counts[NOT_SENT]);
        if (lost || twice || ghosts)
                test_fail(__FILE__, __LINE__, "%d lost, %d twice, %d that were refused", lost,
                          twice, ghosts);
}

static int crash_run(void *arg)
{
        struct eddy_pg_opts opts = { .conninfo = pg_tcp, .flags = EDDY_PG_KEEP_SESSION };
        struct eddy_pool_opts pool_opts = { .size = 4, .opening_gap_ns = EDDY_MS(5) };
        struct load load = { .next = 0 };
        eddy_pg *pg = pg_open();
        eddy_scope scope;
        int rounds = test_is_full() ? 150 : 3;

        (void) arg;
        CHECK_EQ(eddy_pg_exec(pg, "create table t (n int)"), 0);
        eddy_pg_close(pg);
        CHECK_EQ(eddy_pg_pool_new(&opts, &pool_opts, &load.pool), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < WORKERS; i++)
                CHECK_EQ(eddy_scope_start(&scope, worker_run, &load), 0);
        for (int round = 0; round < rounds; round++) {
                int good = load.counts[ACKNOWLEDGED];

                /* Not before inserts work again. */
                for (int i = 0; i < 6000 && load.counts[ACKNOWLEDGED] < good + 20; i++)
                        CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
                CHECK(load.counts[ACKNOWLEDGED] >= good + 20);
                strike((round + 1) % 3); /* the restart last */
        }
        load.is_over = true;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_pool_close(load.pool);
        compare(&load);
        pg_kill(SIGKILL);
        return 0;
}

/* D10, D22: and no write is lost or repeated. */
TEST(zz_no_acknowledged_insert_is_lost_and_none_is_repeated)
{
        pg_run(crash_run);
}
