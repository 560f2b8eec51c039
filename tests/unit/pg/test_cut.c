/*
 * The connection to a real server is ended and reset after each byte of its answers, in each state. A call
 * ends with a documented error or the right value; what connects again by itself works again.
 */
#include "../../cut.h"
#include "eddy/pg_pipeline.h"
#include "eddy/pg_pool.h"
#include "eddy/pg_stream.h"
#include "eddy/pg_transaction.h"
#include "pg_server.h"

static eddy_pg *direct; /* past the proxy */
static char conninfo[200];

static const struct eddy_pg_opts *opts_of(const struct cut *cut)
{
        static struct eddy_pg_opts opts;

        snprintf(conninfo, sizeof(conninfo),
                 "host=127.0.0.1 port=%d user=postgres dbname=postgres sslmode=disable",
                 cut->proxy.own_port);
        opts = (struct eddy_pg_opts){ .conninfo = conninfo };
        return &opts;
}

static eddy_pg *open_and_arm(struct cut *cut)
{
        eddy_pg *pg;

        CHECK_EQ(eddy_pg_connect(opts_of(cut), &pg), 0);
        cut_arm(cut);
        return pg;
}

static int64_t number_of(const eddy_pg_result *result)
{
        int64_t number;

        CHECK_EQ(eddy_pg_rows(result), 1);
        CHECK_EQ(eddy_pg_get_int(result, 0, 0, &number), 0);
        return number;
}

/* --- one connection --- */

static const int connect_errors[] = { EDDY_E_PG_CONNECT, 0 };
static const int closed_errors[] = { EDDY_E_PG_CLOSED, 0 };

static int connect_cut(void *arg)
{
        struct cut *cut = arg;
        EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL;

        cut_arm(cut);
        return eddy_pg_connect(opts_of(cut), &pg);
}

static int exec_cut(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = open_and_arm(arg);

        return eddy_pg_exec(pg, "select 1; select 2; select generate_series(1, 3)");
}

/* It is prepared, and then run again. */
static int params_cut(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = open_and_arm(arg);

        for (int64_t i = 0; i < 2; i++) {
                EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
                int err = eddy_pg_query(pg, "select $1::int8 + 1", EDDY_PG_PARAMS(eddy_pg_int(i)),
                                        &result);

                if (err < 0)
                        return err;
                CHECK_EQ(number_of(result), i + 1);
        }
        return 0;
}

static int cursor_cut(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = open_and_arm(arg);
        EDDY_AUTO(eddy_pg_cursor) eddy_pg_cursor *cursor = NULL;
        eddy_pg_result *row;
        int64_t count = 0;
        int found = eddy_pg_cursor_open(pg, "select generate_series(1, 5)", NULL, 0, &cursor);

        if (found < 0)
                return found;
        while ((found = eddy_pg_cursor_next(cursor, &row)) == 1)
                CHECK_EQ(number_of(row), ++count);
        if (found == 0)
                CHECK_EQ(count, 5);
        return found;
}

static int copy_out_cut(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = open_and_arm(arg);
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        char buf[64] = "";
        int64_t n = eddy_pg_copy(pg, "copy (select generate_series(1, 5)) to stdout", &stream);
        size_t held = 0;

        if (n < 0)
                return (int) n;
        while ((n = eddy_stream_read(stream, buf + held, sizeof(buf) - 1 - held)) > 0)
                held += (size_t) n;
        if (n == 0)
                CHECK_STR(buf, "1\n2\n3\n4\n5\n");
        return (int) n;
}

static int copy_in_cut(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = open_and_arm(arg);
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        int64_t before = pg_int(direct, "select count(*) from cuts");
        int err = eddy_pg_copy(pg, "copy cuts from stdin", &stream);

        if (err == 0)
                err = eddy_stream_write(stream, "1\n2\n3\n", 6);
        if (err == 0)
                err = eddy_stream_shutdown(stream);
        if (err == 0)
                CHECK_EQ(pg_int(direct, "select count(*) from cuts"), before + 3);
        return err;
}

static int notified_cut(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = open_and_arm(arg);
        struct eddy_pg_notification notification = { .payload = NULL };
        int err = eddy_pg_exec(pg, "listen news");

        if (err < 0)
                return err;
        CHECK_EQ(eddy_pg_exec(direct, "notify news, 'a text'"), 0);
        err = eddy_pg_notified(pg, &notification);
        if (err == 0)
                CHECK_STR(notification.payload, "a text");
        eddy_pg_notification_fini(&notification);
        return err;
}

/* Others see the rows that are committed. */
static int commit_cut(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL;
        EDDY_AUTO(eddy_pg_transaction) eddy_pg_transaction transaction = { .pg = NULL };
        int64_t before = pg_int(direct, "select count(*) from cuts");
        int64_t after;
        int err;

        pg = open_and_arm(arg);
        err = eddy_pg_begin(pg, NULL, &transaction);
        if (err == 0)
                err = eddy_pg_exec(pg, "insert into cuts values (1)");
        if (err < 0)
                return eddy_pg_end(&transaction, err);
        err = eddy_pg_end(&transaction, 0);
        after = pg_int(direct, "select count(*) from cuts");
        if (err != EDDY_E_PG_UNKNOWN)
                CHECK_EQ(after - before, err == 0);
        return err;
}

static int sleep_long(void *arg)
{
        return eddy_pg_exec(arg, "select pg_sleep(100)");
}

/* A command is cancelled, and the next one drops the rest of its answer. */
static int cancelled_cut(void *arg)
{
        EDDY_AUTO(eddy_pg) eddy_pg *pg = open_and_arm(arg);
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        int err = eddy_call_timeout(sleep_long, pg, EDDY_MS(2));

        if (err != -ETIMEDOUT)
                return err;
        err = eddy_pg_query(pg, "select 7", NULL, 0, &result);
        if (err == 0)
                CHECK_EQ(number_of(result), 7);
        return err;
}

/* --- pools and pipelines --- */

static int query_of_pool(eddy_pool *pool)
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { .item = NULL };
        int err = eddy_pool_acquire(pool, &loan);

        if (err == 0)
                err = eddy_pg_query(loan.item, "select 8", NULL, 0, &result);
        if (err == 0)
                CHECK_EQ(number_of(result), 8);
        return err;
}

static const int pool_errors[] = { EDDY_E_PG_CONNECT, EDDY_E_PG_CLOSED, 0 };

/* A loan, the reset of its connection, and the next loan. */
static int pool_cut(void *arg)
{
        struct cut *cut = arg;
        struct eddy_pool_opts pool_opts = { .size = 1 };
        EDDY_AUTO(eddy_pool) eddy_pool *pool = NULL;
        int err;

        CHECK_EQ(eddy_pg_pool_new(opts_of(cut), &pool_opts, &pool), 0);
        cut_arm(cut);
        err = query_of_pool(pool);
        if (err == 0)
                err = query_of_pool(pool);
        cut_heal(cut);
        CHECK_EQ(query_of_pool(pool), 0);
        return err;
}

static int read_of_pipeline(eddy_pg_pipeline *pipeline, int64_t number)
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        int err = eddy_pg_pipeline_read(pipeline, "select $1::int8",
                                        EDDY_PG_PARAMS(eddy_pg_int(number)), &result);

        if (err == 0)
                CHECK_EQ(number_of(result), number);
        return err;
}

struct reading {
        eddy_pg_pipeline *pipeline;
        int64_t number;
};

static int read_one(void *arg)
{
        const struct reading *reading = arg;

        return read_of_pipeline(reading->pipeline, reading->number);
}

static int read_three(eddy_pg_pipeline *pipeline)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        for (int64_t i = 0; i < 3; i++)
                eddy_scope_start_copy(&scope, read_one, &(struct reading){ pipeline, i },
                                      sizeof(struct reading));
        return eddy_scope_end(&scope);
}

/* Connected, by a first read. */
static eddy_pg_pipeline *pipeline_open(struct cut *cut)
{
        eddy_pg_pipeline *pipeline;

        CHECK_EQ(eddy_pg_pipeline_new(opts_of(cut), NULL, &pipeline), 0);
        CHECK_EQ(read_of_pipeline(pipeline, 5), 0);
        cut_arm(cut);
        return pipeline;
}

static int pipeline_cut(void *arg)
{
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = pipeline_open(arg);
        int err = read_three(pipeline);

        if (err == 0)
                err = read_three(pipeline);
        cut_heal(arg);
        CHECK_EQ(read_three(pipeline), 0);
        return err;
}

static int read_long(void *arg)
{
        return eddy_pg_pipeline_read(arg, "select pg_sleep(100)", NULL, 0, NULL);
}

/* The only command is cancelled: the pool drops what the pipeline is owed. */
static int drained_cut(void *arg)
{
        EDDY_AUTO(eddy_pg_pipeline) eddy_pg_pipeline *pipeline = pipeline_open(arg);
        int err = eddy_call_timeout(read_long, pipeline, EDDY_MS(2));

        if (err == -ETIMEDOUT)
                err = read_three(pipeline);
        cut_heal(arg);
        CHECK_EQ(read_three(pipeline), 0);
        return err;
}

static const int commit_errors[] = { EDDY_E_PG_CLOSED, EDDY_E_PG_UNKNOWN, 0 };

static const struct cut_state states[] = {
        { "connect", connect_cut, connect_errors },
        { "simple query", exec_cut, closed_errors },
        { "query with parameters", params_cut, closed_errors },
        { "cursor", cursor_cut, closed_errors },
        { "copy out", copy_out_cut, closed_errors },
        { "copy in", copy_in_cut, closed_errors },
        { "notification", notified_cut, closed_errors },
        { "commit", commit_cut, commit_errors },
        { "cancelled query", cancelled_cut, closed_errors },
        { "pool", pool_cut, pool_errors },
        { "pipeline", pipeline_cut, pool_errors },
        { "cancelled pipeline", drained_cut, pool_errors },
        { .name = NULL },
};

static int cuts_run(void *arg)
{
        struct cut cut = { .proxy = { .host = "127.0.0.1", .port = (uint16_t) pg_port } };

        (void) arg;
        direct = pg_open();
        CHECK_EQ(eddy_pg_exec(direct, "create table cuts (number int)"), 0);
        cut_sweep(&cut, states);
        CHECK_EQ(eddy_pg_exec(direct, "drop table cuts"), 0);
        eddy_pg_close(direct);
        return 0;
}

TEST(a_connection_that_ends_at_any_byte_is_an_error_or_gives_the_right_value)
{
        pg_run(cuts_run);
}
