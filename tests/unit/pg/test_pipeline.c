/*
 * Many tasks share a connection: each answer reaches its caller, also if others are cancelled or fail;
 * writes are kept; limits hold; a lost connection is an error of all that wait, and is replaced.
 */
#include <signal.h>

#include "fault_proxy.h"
#include "pg_server.h"

static eddy_pg_pipeline *make(const struct eddy_pg_opts *opts, uint32_t commands_max)
{
        struct eddy_pg_opts own = { .conninfo = pg_tcp, .cancel_timeout_ns = EDDY_SEC(5) };
        struct eddy_pg_pipeline_opts limits = { .commands_max = commands_max };
        eddy_pg_pipeline *pipeline;

        CHECK_EQ(eddy_pg_pipeline_new(opts ? opts : &own, &limits, &pipeline), 0);
        return pipeline;
}

static int read_int(eddy_pg_pipeline *pipeline, const char *sql, int64_t *ret_number)
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        int err = eddy_pg_pipeline_read(pipeline, sql, NULL, 0, &result);

        return err < 0 ? err : eddy_pg_get_int(result, 0, 0, ret_number);
}

static int64_t int_of(eddy_pg_pipeline *pipeline, const char *sql)
{
        int64_t number = -1;
        int err = read_int(pipeline, sql, &number);

        if (err < 0)
                test_fail(__FILE__, __LINE__, "%s: %s: %s", sql, eddy_error_name(err),
                          eddy_pg_pipeline_fault(pipeline)->text);
        return number;
}

static void exec(const char *sql)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();

        CHECK_EQ(eddy_pg_exec(pg, sql), 0);
}

/* --- many tasks --- */

struct crowd {
        eddy_pg_pipeline *pipeline;
        int64_t nonce;
        int rounds, answers;
};

static int echo(eddy_pg_pipeline *pipeline, int64_t number, const char *sql)
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        int64_t got;
        int err =
                eddy_pg_pipeline_read(pipeline, sql, EDDY_PG_PARAMS(eddy_pg_int(number)), &result);

        if (err < 0)
                return err;
        CHECK_EQ(eddy_pg_get_int(result, 0, 0, &got), 0);
        CHECK_EQ(got, number);
        return 0;
}

static int echo_often(void *arg)
{
        struct crowd *crowd = arg;

        for (int i = 0; i < crowd->rounds; i++) {
                CHECK_EQ(echo(crowd->pipeline, ++crowd->nonce, "select $1::int8"), 0);
                crowd->answers++;
        }
        return 0;
}

static void crowd_run(struct crowd *crowd, int tasks)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < tasks; i++)
                CHECK_EQ(eddy_scope_start(&scope, echo_often, crowd), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int share_run(void *arg)
{
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = make(NULL, 0);
        struct crowd crowd = { .pipeline = pipeline, .rounds = 20 };
        struct eddy_pg_pipeline_stats stats;

        (void) arg;
        crowd_run(&crowd, 64);
        CHECK_EQ(crowd.answers, 64 * 20);
        eddy_pg_pipeline_stats(pipeline, &stats);
        CHECK_EQ(stats.connects, 1);
        CHECK_EQ(stats.commands, 64 * 20);
        CHECK(stats.syncs < 64 * 20 / 4);
        CHECK_EQ(stats.repeated, 0);
        CHECK_EQ(stats.commands_sent, 0);
        CHECK(stats.commands_sent_most > 16 && stats.commands_sent_most <= 64);
        CHECK_EQ(int_of(pipeline, "select count(*) from pg_stat_activity"
                                  " where client_port > 0 and pid = pg_backend_pid()"),
                 1);
        return 0;
}

TEST(many_tasks_share_a_connection)
{
        pg_run(share_run);
}

/* --- errors of neighbours --- */

struct ask {
        eddy_pg_pipeline *pipeline;
        const char *sql;
        bool is_write;
        int err;
        char sqlstate[8];
};

static int ask_run(void *arg)
{
        struct ask *ask = arg;

        ask->err = ask->is_write ? eddy_pg_pipeline_write(ask->pipeline, ask->sql, NULL, 0, NULL)
                                 : eddy_pg_pipeline_read(ask->pipeline, ask->sql, NULL, 0, NULL);
        if (ask->err < 0)
                snprintf(ask->sqlstate, sizeof(ask->sqlstate), "%s",
                         eddy_pg_pipeline_fault(ask->pipeline)->sqlstate);
        return 0;
}

/* Sent in the same turn. */
static void ask_all(eddy_pg_pipeline *pipeline, struct ask *asks, int n)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < n; i++) {
                asks[i].pipeline = pipeline;
                CHECK_EQ(eddy_scope_start(&scope, ask_run, &asks[i]), 0);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

#define ASK_ALL(pipeline, asks) ask_all(pipeline, asks, (int) (sizeof(asks) / sizeof((asks)[0])))

static int neighbours_run(void *arg)
{
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = make(NULL, 0);
        struct eddy_pg_pipeline_stats stats;
        static const char wrong[] = "select 1 / (select 0)";
        static const char insert[] = "insert into kept values (1)";

        (void) arg;
        exec("create table kept (n int)");
        for (int round = 0; round < 3; round++) {
                struct ask asks[] = { { .sql = "select 1" },
                                      { .sql = insert, .is_write = true },
                                      { .sql = wrong },
                                      { .sql = "select 2" },
                                      { .sql = insert }, /* although it writes */
                                      { .sql = "select 1" },
                                      { .sql = wrong },
                                      { .sql = insert, .is_write = true },
                                      { .sql = "no command" } };

                ASK_ALL(pipeline, asks);
                for (int i = 0; i < 8; i++) {
                        CHECK_EQ(asks[i].err, asks[i].sql == wrong ? EDDY_E_PG_SERVER : 0);
                        CHECK_STR(asks[i].sqlstate, asks[i].sql == wrong ? "22012" : "");
                }
                CHECK_EQ(asks[8].err, EDDY_E_PG_STATE);
                CHECK_EQ(int_of(pipeline, "select count(*) from kept"), 3 * (round + 1));
        }
        eddy_pg_pipeline_stats(pipeline, &stats);
        CHECK(stats.repeated > 0);
        CHECK_EQ(stats.connects, 1);
        return 0;
}

/* An INSERT that has reported success is not rolled back, nor done twice. */
TEST(an_error_reaches_its_caller_only_and_writes_are_kept)
{
        pg_run(neighbours_run);
}

static int commit_run(void *arg)
{
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = make(NULL, 0);
        static const char wrong[] = "insert into once values (1), (1)";

        (void) arg;
        exec("create table once (n int unique deferrable initially deferred)");
        for (int round = 0; round < 3; round++) {
                struct ask asks[] = { { .sql = "insert into once values (2)", .is_write = true },
                                      { .sql = wrong, .is_write = true },
                                      { .sql = "select 1" },
                                      { .sql = wrong },
                                      { .sql = "select 2" } };

                ASK_ALL(pipeline, asks);
                CHECK_EQ(asks[0].err, round == 0 ? 0 : EDDY_E_PG_SERVER);
                CHECK_EQ(asks[1].err, EDDY_E_PG_SERVER);
                CHECK_STR(asks[1].sqlstate, "23505");
                CHECK_EQ(asks[2].err, 0);
                CHECK_EQ(asks[3].err, EDDY_E_PG_SERVER);
                CHECK_STR(asks[3].sqlstate, "23505");
                CHECK_EQ(asks[4].err, 0);
                CHECK_EQ(int_of(pipeline, "select count(*) from once"), 1);
        }
        return 0;
}

TEST(an_error_at_the_commit_is_that_of_the_command)
{
        pg_run(commit_run);
}

/* --- commands and limits --- */

static int refused_run(void *arg)
{
        static const char *const refused[] = { "begin",
                                               " BEGIN",
                                               "/* x */ begin",
                                               "-- x\n commit",
                                               "set x = 1",
                                               "copy t to stdout",
                                               "listen x",
                                               "selection",
                                               "",
                                               "/*",
                                               "/* /* */ select */ begin",
                                               "--\rbegin /*\nselect */",
                                               "do $$ begin end $$",
                                               "call f()",
                                               "(-- x",
                                               "selec",
                                               "prepare p as select 1" };
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = make(NULL, 0);
        struct eddy_pg_pipeline_stats stats;

        (void) arg;
        for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
                CHECK_EQ(eddy_pg_pipeline_write(pipeline, refused[i], NULL, 0, NULL),
                         EDDY_E_PG_STATE);
        CHECK(strstr(eddy_pg_pipeline_fault(pipeline)->text, "connection of its own"));
        eddy_pg_pipeline_stats(pipeline, &stats);
        CHECK_EQ(stats.connects, 0);
        CHECK_EQ(int_of(pipeline, "-- x\n /* y */ ( SELECT 5)"), 5);
        CHECK_EQ(int_of(pipeline, "with x as (select 6) table x"), 6);
        CHECK_EQ(int_of(pipeline, "/* a /* b **/ c */ -- d\rselect 7"), 7);
        CHECK_EQ(eddy_pg_pipeline_read(pipeline, "select 1; select 2", NULL, 0, NULL),
                 EDDY_E_PG_SERVER);
        CHECK_EQ(eddy_pg_pipeline_read(pipeline, "select $1::int8", NULL, 70000, NULL), -EINVAL);
        CHECK_EQ(eddy_pg_pipeline_read(pipeline, NULL, NULL, 0, NULL), -EINVAL);
        CHECK_EQ(eddy_pg_pipeline_read(NULL, "select 1", NULL, 0, NULL), -EINVAL);
        CHECK_STR(eddy_pg_pipeline_fault(NULL)->text, "");
        eddy_pg_pipeline_stats(NULL, &stats);
        CHECK_EQ(stats.commands, 0);
        eddy_pg_pipeline_close(NULL);
        return 0;
}

TEST(commands_that_need_a_connection_of_their_own_are_refused)
{
        pg_run(refused_run);
}

static int options_run(void *arg)
{
        struct eddy_pg_pipeline_opts limits = { .commands_max = EDDY_PG_PIPELINE_MAX + 1 };
        struct eddy_pg_opts opts = { .conninfo = "host=127.0.0.1 port=1 user=x" };
        eddy_pg_pipeline *pipeline;

        (void) arg;
        CHECK_EQ(eddy_pg_pipeline_new(NULL, &limits, &pipeline), -EINVAL);
        CHECK_EQ(eddy_pg_pipeline_new(NULL, NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_pg_pipeline_new(&opts, NULL, &pipeline), 0);
        CHECK_EQ(eddy_pg_pipeline_read(pipeline, "select 1", NULL, 0, NULL), EDDY_E_PG_CONNECT);
        CHECK(eddy_pg_pipeline_fault(pipeline)->text[0]);
        eddy_pg_pipeline_close(pipeline);
        return 0;
}

TEST(options_are_checked)
{
        pg_run(options_run);
}

static int mixed(void *arg)
{
        struct crowd *crowd = arg;
        char sql[64];

        for (int i = 0; i < crowd->rounds; i++) {
                int64_t number = ++crowd->nonce;

                snprintf(sql, sizeof(sql), "select $1::int8 + %d", (int) (number % 7));
                CHECK_EQ(echo(crowd->pipeline, number, "select $1::int8"), 0);
                snprintf(sql, sizeof(sql), "select $1::int8, %d", (int) (number % 7));
                CHECK_EQ(echo(crowd->pipeline, number, sql), 0);
        }
        return 0;
}

static void mix(uint32_t commands_max, uint32_t statements_max, uint32_t flags)
{
        struct eddy_pg_opts opts = { .conninfo = pg_unix,
                                     .statements_max = statements_max,
                                     .flags = flags };
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = make(&opts, commands_max);
        struct crowd crowd = { .pipeline = pipeline, .rounds = 8 };
        struct eddy_pg_pipeline_stats stats;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 10; i++)
                CHECK_EQ(eddy_scope_start(&scope, mixed, &crowd), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_pg_pipeline_stats(pipeline, &stats);
        CHECK(commands_max == 0 || stats.commands_sent_most <= commands_max);
        CHECK_EQ(stats.connects, 1);
        CHECK(int_of(pipeline, "select count(*) from pg_prepared_statements") <=
              (flags ? 0 : statements_max));
}

static int limits_run(void *arg)
{
        (void) arg;
        mix(1, 1, 0);
        mix(2, 3, 0);
        mix(3, 100, EDDY_PG_NO_STATEMENTS);
        mix(0, 2, 0);
        return 0;
}

TEST(tiny_limits_hold)
{
        pg_run(limits_run);
}

static int stale_run(void *arg)
{
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = make(NULL, 0);

        (void) arg;
        exec("create table changing (a int); insert into changing values (7)");
        CHECK_EQ(int_of(pipeline, "select * from changing"), 7);
        exec("alter table changing add b int");
        {
                struct ask asks[] = { { .sql = "select * from changing" },
                                      { .sql = "select 1" },
                                      { .sql = "select * from changing" } };

                ASK_ALL(pipeline, asks);
                for (int i = 0; i < 3; i++)
                        CHECK_EQ(asks[i].err, 0);
        }
        /* A statement that is not valid is not kept; those that rely on it are prepared again. */
        {
                struct ask asks[] = { { .sql = "select * from missing" },
                                      { .sql = "select * from missing" },
                                      { .sql = "select 1" } };

                ASK_ALL(pipeline, asks);
                CHECK_STR(asks[0].sqlstate, "42P01");
                CHECK_STR(asks[1].sqlstate, "42P01");
                CHECK_EQ(asks[2].err, 0);
        }
        exec("create table missing as select 8 as a");
        CHECK_EQ(int_of(pipeline, "select * from missing"), 8);
        return 0;
}

TEST(statements_that_are_stale_are_prepared_again)
{
        pg_run(stale_run);
}

enum { LARGE = 1 << 20 };

static int large_echo(void *arg)
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        char *text = malloc(LARGE + 1);
        size_t bytes = 0;

        CHECK(text);
        memset(text, 'x', LARGE);
        text[LARGE] = '\0';
        CHECK_EQ(eddy_pg_pipeline_read(arg, "select $1::text", EDDY_PG_PARAMS(eddy_pg_text(text)),
                                       &result),
                 0);
        (void) eddy_pg_get_text(result, 0, 0, &bytes);
        CHECK_EQ(bytes, LARGE);
        free(text);
        return 0;
}

static int large_run(void *arg)
{
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = make(NULL, 0);
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 16; i++)
                CHECK_EQ(eddy_scope_start(&scope, large_echo, pipeline), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return 0;
}

/* Neither side waits for the other. */
TEST(large_commands_and_answers_at_the_same_time)
{
        pg_run(large_run);
}

static int too_large_run(void *arg)
{
        struct eddy_pg_opts opts = { .conninfo = pg_tcp, .result_max = 1 << 20 };
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = make(&opts, 0);
        struct ask asks[] = { { .sql = "select 1" },
                              { .sql = "select repeat('x', 10000000)" },
                              { .sql = "select 2" } };
        static const char rows[] = "select repeat('x', 1000) from generate_series(1, 4000)";
        EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL;

        (void) arg;
        ASK_ALL(pipeline, asks);
        CHECK_EQ(asks[0].err, 0);
        CHECK_EQ(asks[1].err, EDDY_E_PG_TOO_LARGE);
        CHECK_EQ(asks[2].err, EDDY_E_PG_CLOSED);
        CHECK(strstr(eddy_pg_pipeline_fault(pipeline)->text, "result_max"));
        CHECK_EQ(int_of(pipeline, "select 3"), 3);
        /* Bytes that wait are not counted twice. */
        opts.result_max = 8 << 20;
        CHECK_EQ(eddy_pg_connect(&opts, &pg), 0);
        CHECK_EQ(eddy_pg_query(pg, rows, NULL, 0, NULL), 0);
        eddy_pg_pipeline_close(pipeline);
        pipeline = make(&opts, 0);
        CHECK_EQ(eddy_pg_pipeline_read(pipeline, rows, NULL, 0, NULL), 0);
        return 0;
}

TEST(a_result_has_a_limit)
{
        pg_run(too_large_run);
}

/* --- cancels --- */

static int slow_read(void *arg)
{
        return eddy_pg_pipeline_read(arg, "select pg_sleep(30)", NULL, 0, NULL);
}

static int short_read(void *arg)
{
        return eddy_pg_pipeline_read(arg, "select pg_sleep(0.3)", NULL, 0, NULL);
}

static int cancel_run(void *arg)
{
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = make(NULL, 0);
        struct eddy_pg_pipeline_stats stats;
        struct crowd crowd = { .pipeline = pipeline, .rounds = 3 };
        int64_t began_ns = eddy_now();
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(int_of(pipeline, "select 1"), 1);
        /* Others wait: only the answer is dropped. */
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 4; i++)
                CHECK_EQ(eddy_scope_start(&scope, echo_often, &crowd), 0);
        CHECK_EQ(eddy_call_timeout(short_read, pipeline, EDDY_MS(20)), -ETIMEDOUT);
        for (int i = 0; i < 4; i++)
                CHECK_EQ(eddy_scope_start(&scope, echo_often, &crowd), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(crowd.answers, 24);
        eddy_pg_pipeline_stats(pipeline, &stats);
        CHECK_EQ(stats.repeated, 0);
        /* None waits: the command ends on the server. */
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_call_timeout(slow_read, pipeline, EDDY_MS(20)), -ETIMEDOUT);
                CHECK_EQ(int_of(pipeline, "select 2"), 2);
        }
        while (int_of(pipeline, "select count(*) from pg_stat_activity where state = 'active'"
                                " and query like 'select pg_sleep%'") > 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(10)), 0);
        CHECK(eddy_now() - began_ns < EDDY_SEC(25));
        return 0;
}

/* D5, D29: a cancel does not reach the commands of others. */
TEST(a_cancelled_command_costs_others_nothing)
{
        pg_run(cancel_run);
}

struct storm {
        eddy_pg_pipeline *pipeline;
        uint64_t *random;
        int64_t nonce;
        int answers, cancels;
};

static uint32_t next_random(uint64_t *state)
{
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t) (*state >> 33);
}

/* Some fail, and some write. */
static int storm_ask(void *arg)
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        struct storm *storm = arg;
        int64_t own = ++storm->nonce, got;
        int err;

        if (own % 16 == 0)
                err = eddy_pg_pipeline_write(storm->pipeline,
                                             "update counter set n = n + 1 returning $1::int8",
                                             EDDY_PG_PARAMS(eddy_pg_int(own)), &result);
        else
                err = eddy_pg_pipeline_read(storm->pipeline,
                                            own % 32 == 1 ? "select $1::int8, 1 / (select 0)"
                                                          : "select $1::int8, repeat('x', 200)",
                                            EDDY_PG_PARAMS(eddy_pg_int(own)), &result);
        if (err == 0) {
                CHECK_EQ(eddy_pg_get_int(result, 0, 0, &got), 0);
                CHECK_EQ(got, own);
                CHECK(own % 32 != 1);
                storm->answers++;
        } else if (err == EDDY_E_PG_SERVER) {
                CHECK_STR(eddy_pg_pipeline_fault(storm->pipeline)->sqlstate, "22012");
                CHECK_EQ(own % 32, 1);
        } else {
                CHECK_EQ(err, -ECANCELED);
                storm->cancels++;
        }
        return 0;
}

static int storm_task(void *arg)
{
        struct storm *storm = arg;
        int rounds = test_is_full() ? 300000 : 40;

        for (int i = 0; i < rounds; i++) {
                int64_t limit_ns = 1 + next_random(storm->random) % (EDDY_US(50) << i % 11);

                /* Some are never cancelled, so a slow machine sees answers too. */
                (void) eddy_call_timeout(storm_ask, storm, i % 8 == 0 ? EDDY_MIN(1) : limit_ns);
        }
        return 0;
}

/* Cancelled at random: eddy_pg_pipeline_read(), eddy_pg_pipeline_write(), eddy_pg_pipeline_close() */
static int storm_run(void *arg)
{
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = make(NULL, 8);
        uint64_t random = 42;
        struct storm storm = { .pipeline = pipeline, .random = &random };
        struct eddy_pg_pipeline_stats stats;
        eddy_scope scope;

        (void) arg;
        exec("create table counter as select 0 as n");
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 16; i++)
                CHECK_EQ(eddy_scope_start(&scope, storm_task, &storm), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(storm.cancels > 0 && storm.answers > 0);
        CHECK_EQ(int_of(pipeline, "select 77"), 77);
        eddy_pg_pipeline_stats(pipeline, &stats);
        CHECK_EQ(stats.commands_sent, 0);
        CHECK_EQ(stats.lost, 0);
        CHECK(stats.commands_sent_most <= 8);
        if (test_is_full())
                printf("# %d answers, %d cancels, %d dropped, %d connects\n", storm.answers,
                       storm.cancels, (int) stats.dropped, (int) stats.connects);
        return 0;
}

/* D33: no answer reaches another caller. */
TEST(after_random_cancels_each_answer_reaches_its_caller)
{
        pg_run(storm_run);
}

/* --- losses --- */

static int lost_run(void *arg)
{
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = make(NULL, 0);
        struct eddy_pg_pipeline_stats stats;
        struct ask asks[] = { { .sql = "select 1" },
                              { .sql = "select pg_terminate_backend(pg_backend_pid())" },
                              { .sql = "select pg_sleep(30)" },
                              { .sql = "insert into kept values (1)", .is_write = true } };
        char sql[100];

        (void) arg;
        for (int i = 0; i < 3; i++) {
                ASK_ALL(pipeline, asks);
                for (int k = 1; k < 4; k++)
                        CHECK_EQ(asks[k].err, EDDY_E_PG_CLOSED);
                CHECK_STR(asks[1].sqlstate, "57P01");
                CHECK_STR(asks[3].sqlstate, "57P01");
                CHECK_EQ(int_of(pipeline, "select 2"), 2);
        }
        /* While it is idle: replaced without an error. */
        snprintf(sql, sizeof(sql), "select pg_terminate_backend(%d, 5000)",
                 (int) int_of(pipeline, "select pg_backend_pid()"));
        exec(sql);
        CHECK_EQ(int_of(pipeline, "select 3"), 3);
        eddy_pg_pipeline_stats(pipeline, &stats);
        CHECK_EQ(stats.lost, 4);
        CHECK_EQ(stats.connects, 5);
        return 0;
}

TEST(a_lost_connection_is_an_error_of_all_and_is_replaced)
{
        pg_run(lost_run);
}

static uint64_t first_bytes;

/* The answers end after 'bytes', in small pieces. Returns the number of commands that failed. */
static int cut_after(struct fault_proxy *proxy, uint64_t bytes, int *kept)
{
        struct eddy_pg_opts opts = { .flags = bytes % 2 ? EDDY_PG_NO_STATEMENTS : 0 };
        struct ask asks[] = { { .sql = "select 1" },
                              { .sql = "insert into acknowledged values (1)", .is_write = true },
                              { .sql = "select 1 / (select 0)" },
                              { .sql = "select 2" } };
        eddy_pg_pipeline *pipeline;
        char text[100];
        int lost = 0;

        snprintf(text, sizeof(text), "host=127.0.0.1 port=%d user=postgres dbname=postgres",
                 proxy->own_port);
        opts.conninfo = text;
        pipeline = make(&opts, 0);
        proxy->down = (struct fault_way){ .bytes = bytes,
                                          .piece_bytes = 1 + (uint32_t) bytes % 7,
                                          .then = bytes % 3 ? FAULT_END : FAULT_RESET };
        CHECK_EQ(int_of(pipeline, "select 3"), 3);
        first_bytes = proxy->passed_down;
        ASK_ALL(pipeline, asks);
        for (int i = 0; i < 4; i++) {
                bool is_lost = asks[i].err == EDDY_E_PG_CLOSED;

                if (!is_lost)
                        CHECK_EQ(asks[i].err, i == 2 ? EDDY_E_PG_SERVER : 0);
                lost += is_lost;
        }
        *kept += asks[1].err == 0;
        proxy->down = (struct fault_way){ .piece_bytes = 0 };
        CHECK_EQ(int_of(pipeline, "select 4"), 4);
        eddy_pg_pipeline_close(pipeline);
        return lost;
}

static int cut_run(void *arg)
{
        struct fault_proxy proxy = { .host = "127.0.0.1", .port = (uint16_t) pg_port };
        EDDY_AUTO(eddy_pg) eddy_pg *pg = pg_open();
        int lost, kept = 0, rounds = 0;
        uint64_t bytes = 1 << 20;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_pg_exec(pg, "create table acknowledged (n int)"), 0);
        eddy_scope_begin(&scope, NULL);
        fault_proxy_start(&proxy, &scope);
        /* How many bytes a connection and the first answer have. */
        CHECK_EQ(cut_after(&proxy, bytes, &kept), 0);
        bytes = first_bytes;
        do {
                bytes += 13;
                lost = cut_after(&proxy, bytes, &kept);
                rounds++;
        } while (lost > 0);
        CHECK(rounds > 15);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        fault_proxy_stop(&proxy);
        CHECK(kept > 0 && pg_int(pg, "select count(*) from acknowledged") >= kept);
        return 0;
}

/* An answer is right or an error, and no acknowledged write is lost. */
TEST(answers_that_are_cut_after_any_byte)
{
        pg_run(cut_run);
}

static int closed_ask(void *arg)
{
        struct ask *ask = arg;

        ask->err = eddy_pg_pipeline_read(ask->pipeline, ask->sql, NULL, 0, NULL);
        return 0;
}

static int close_run(void *arg)
{
        eddy_pg_pipeline *pipeline = make(NULL, 0);
        struct ask asks[] = { { .sql = "select pg_sleep(30)", .pipeline = pipeline },
                              { .sql = "select 1", .pipeline = pipeline } };
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(int_of(pipeline, "select 1"), 1);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, closed_ask, &asks[0]), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(50)), 0);
        CHECK_EQ(eddy_scope_start(&scope, closed_ask, &asks[1]), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_pg_pipeline_close(pipeline);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(asks[0].err, EDDY_E_PG_CLOSED);
        CHECK_EQ(asks[1].err, EDDY_E_PG_CLOSED);
        /* In a cancelled task, and before the connection is made. */
        pipeline = make(NULL, 0);
        asks[0] = asks[1] = (struct ask){ .sql = "select 1", .pipeline = pipeline };
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, closed_ask, &asks[0]), 0);
        CHECK_EQ(eddy_scope_start(&scope, closed_ask, &asks[1]), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_cancel(&scope);
        eddy_pg_pipeline_close(pipeline);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(asks[0].err == -ECANCELED || asks[0].err == EDDY_E_PG_CLOSED);
        CHECK(asks[1].err == -ECANCELED || asks[1].err == EDDY_E_PG_CLOSED);
        /* The command of the server is cancelled in the background. */
        while (ed_loop_current->waits > 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        return 0;
}

TEST(closing_is_an_error_of_those_that_wait)
{
        pg_run(close_run);
}

static int one_read(void *arg)
{
        return eddy_pg_pipeline_read(arg, "select 1", NULL, 0, NULL);
}

static int one_write(void *arg)
{
        return eddy_pg_pipeline_write(arg, "select 1", NULL, 0, NULL);
}

static int stopped_run(void *arg)
{
        struct eddy_pg_opts opts = { .conninfo = pg_tcp, .cancel_timeout_ns = EDDY_MS(200) };
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = make(&opts, 0);
        struct eddy_pg_pipeline_stats stats;
        eddy_scope scope;
        int err = -1;

        (void) arg;
        CHECK_EQ(one_read(pipeline), 0);
        pg_signal_all(SIGSTOP);
        /* A task without a deadline keeps the connection, and new commands go to another one. */
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, one_read, pipeline), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(300)), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_call_timeout(i % 2 ? one_write : one_read, pipeline, EDDY_MS(50)),
                         -ETIMEDOUT);
        pg_signal_all(SIGCONT);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 100 && err < 0; i++)
                err = eddy_call_timeout(one_read, pipeline, EDDY_SEC(5));
        CHECK_EQ(err, 0);
        eddy_pg_pipeline_stats(pipeline, &stats);
        CHECK_EQ(stats.connects, 2);
        return 0;
}

TEST(a_stopped_server_costs_no_more_than_the_deadline)
{
        pg_run(stopped_run);
}

/* --- memory --- */

static int memory_once(eddy_pg_pipeline *pipeline)
{
        struct ask asks[] = { { .sql = "select 1" },
                              { .sql = "select 2", .is_write = true },
                              { .sql = "select 1" } };

        ASK_ALL(pipeline, asks);
        for (int i = 0; i < 3; i++)
                if (asks[i].err < 0)
                        return asks[i].err;
        return 0;
}

static int memory_run(void *arg)
{
        int failures = 0;

        (void) arg;
        for (int n = 0; n < 200; n++) {
                struct eddy_pg_opts opts = { .conninfo = pg_unix };
                eddy_pg_pipeline *pipeline = NULL;
                int err;

                io_fail_allocations(n);
                err = eddy_pg_pipeline_new(&opts, NULL, &pipeline);
                if (err == 0)
                        err = memory_once(pipeline);
                io_fail_allocations(-1);
                CHECK(err == 0 || err == -ENOMEM);
                failures += err < 0;
                if (pipeline)
                        CHECK_EQ(memory_once(pipeline), 0);
                eddy_pg_pipeline_close(pipeline);
                if (err == 0 && n > 0)
                        break;
        }
        CHECK(failures >= 5);
        return 0;
}

TEST(each_allocation_may_fail)
{
        pg_run(memory_run);
}

/* --- a server that is killed --- */

struct work {
        eddy_pg_pipeline *pipeline;
        bool is_over;
        int answers, errors;
};

static int work_run(void *arg)
{
        struct work *work = arg;

        while (!work->is_over) {
                int err = one_read(work->pipeline);

                CHECK(err == 0 || err == EDDY_E_PG_CLOSED || err == EDDY_E_PG_CONNECT);
                work->answers += err == 0;
                work->errors += err < 0;
                if (err < 0)
                        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        }
        return 0;
}

/* Wait until 'count' has grown to 'least'. */
static void wait_for(const struct work *work, const int *count, int least)
{
        int64_t began_ns = eddy_now();

        while (*count < least) {
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
                if (eddy_now() - began_ns > EDDY_SEC(60))
                        test_fail(__FILE__, __LINE__, "%d answers, %d errors, the last one: %s",
                                  work->answers, work->errors,
                                  eddy_pg_pipeline_fault(work->pipeline)->text);
        }
}

static int killed_run(void *arg)
{
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = make(NULL, 0);
        struct work work = { .pipeline = pipeline };
        eddy_scope scope;
        int before;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 8; i++)
                CHECK_EQ(eddy_scope_start(&scope, work_run, &work), 0);
        wait_for(&work, &work.answers, 100);
        pg_kill(SIGKILL);
        wait_for(&work, &work.errors, 8);
        pg_start();
        before = work.answers;
        wait_for(&work, &work.answers, before + 100);
        work.is_over = true;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        pg_kill(SIGQUIT);
        return 0;
}

/* The last case: the server is gone after it. */
TEST(zz_a_server_that_is_killed_and_started_again)
{
        pg_run(killed_run);
}
