/*
 * Objects of PostgreSQL that outlive their run, or are used in the run of another thread.
 */
#include "../../outlived.h"
#include "eddy/pg_pipeline.h"
#include "eddy/pg_pool.h"
#include "eddy/pg_stream.h"
#include "eddy/pg_transaction.h"
#include "pg_server.h"

/* --- a connection --- */

static void *make_pg(void)
{
        return pg_open();
}

static int64_t use_exec(void *pg)
{
        return eddy_pg_exec(pg, "select 1");
}

static int64_t use_query(void *pg)
{
        return eddy_pg_query(pg, "select 1", NULL, 0, NULL);
}

static int64_t use_cursor_open(void *pg)
{
        eddy_pg_cursor *cursor;

        return eddy_pg_cursor_open(pg, "select 1", NULL, 0, &cursor);
}

static int64_t use_copy_begin(void *pg)
{
        eddy_stream *stream;

        return eddy_pg_copy(pg, "copy (select 1) to stdout", &stream);
}

static int64_t use_notified(void *pg)
{
        struct eddy_pg_notification notification;

        return eddy_pg_notified(pg, &notification);
}

static int64_t use_begin(void *pg)
{
        eddy_pg_transaction transaction;

        return eddy_pg_begin(pg, NULL, &transaction);
}

static void close_pg(void *pg)
{
        eddy_pg_close(pg);
}

/* --- what a connection is used for --- */

struct used {
        eddy_pg *pg;
        eddy_pg_cursor *cursor;
        eddy_stream *stream;
        eddy_pg_transaction transaction;
};

static struct used *used_new(void)
{
        static struct used used;

        used = (struct used){ .pg = pg_open() };
        return &used;
}

static int64_t use_busy(void *used)
{
        return use_exec(((struct used *) used)->pg);
}

static void close_used(void *arg)
{
        struct used *used = arg;

        eddy_pg_cursor_close(used->cursor);
        eddy_stream_close(used->stream);
        eddy_pg_close(used->pg);
}

/* With a row that was read ahead. */
static void *make_cursor(void)
{
        struct used *used = used_new();

        CHECK_EQ(eddy_pg_cursor_open(used->pg, "select generate_series(1, 9)", NULL, 0,
                                     &used->cursor),
                 0);
        return used;
}

static int64_t use_cursor_next(void *used)
{
        return eddy_pg_cursor_next(((struct used *) used)->cursor, NULL);
}

static void *make_copy_out(void)
{
        struct used *used = used_new();

        CHECK_EQ(eddy_pg_copy(used->pg, "copy (select 1) to stdout", &used->stream), 0);
        return used;
}

static void *make_copy_in(void)
{
        struct used *used = used_new();

        CHECK_EQ(eddy_pg_exec(used->pg, "create temporary table taken (number int)"), 0);
        CHECK_EQ(eddy_pg_copy(used->pg, "copy taken from stdin", &used->stream), 0);
        return used;
}

static int64_t use_stream_read(void *used)
{
        char byte;

        return eddy_stream_try_read(((struct used *) used)->stream, &byte, 1);
}

static int64_t use_stream_write(void *used)
{
        struct eddy_slice slice = { "1\n", 2 };

        return eddy_stream_try_writev(((struct used *) used)->stream, &slice, 1);
}

static int64_t use_stream_shutdown(void *used)
{
        return eddy_stream_shutdown(((struct used *) used)->stream);
}

static void *make_transaction(void)
{
        struct used *used = used_new();

        CHECK_EQ(eddy_pg_begin(used->pg, NULL, &used->transaction), 0);
        return used;
}

static int64_t use_end(void *used)
{
        return eddy_pg_end(&((struct used *) used)->transaction, 0);
}

/* --- pipelines and pools --- */

static void *make_pipeline(void)
{
        eddy_pg_pipeline *pipeline;

        CHECK_EQ(eddy_pg_pipeline_new(&(struct eddy_pg_opts){ .conninfo = pg_unix }, NULL,
                                      &pipeline),
                 0);
        CHECK_EQ(eddy_pg_pipeline_read(pipeline, "select 1", NULL, 0, NULL), 0);
        return pipeline;
}

static int64_t use_pipeline_read(void *pipeline)
{
        return eddy_pg_pipeline_read(pipeline, "select 1", NULL, 0, NULL);
}

static int64_t use_pipeline_write(void *pipeline)
{
        return eddy_pg_pipeline_write(pipeline, "select 1", NULL, 0, NULL);
}

static void close_pipeline(void *pipeline)
{
        eddy_pg_pipeline_close(pipeline);
}

struct lent {
        eddy_pool *pool;
        eddy_pool_loan loan;
};

/* With a connection that is lent, and an idle one. */
static void *make_pool(void)
{
        static struct lent lent;
        eddy_pool_loan idle = { .item = NULL };

        lent = (struct lent){ .pool = NULL };
        CHECK_EQ(eddy_pg_pool_new(&(struct eddy_pg_opts){ .conninfo = pg_unix }, NULL, &lent.pool),
                 0);
        CHECK_EQ(eddy_pool_acquire(lent.pool, &lent.loan), 0);
        CHECK_EQ(eddy_pool_acquire(lent.pool, &idle), 0);
        CHECK_EQ(eddy_pool_release(&idle), 0);
        return &lent;
}

static int64_t use_acquire(void *lent)
{
        eddy_pool_loan loan = { .item = NULL };

        return eddy_pool_acquire(((struct lent *) lent)->pool, &loan);
}

static int64_t use_lent(void *lent)
{
        return use_exec(((struct lent *) lent)->loan.item);
}

static void close_pool(void *lent)
{
        (void) eddy_pool_release(&((struct lent *) lent)->loan);
        eddy_pool_close(((struct lent *) lent)->pool);
}

static const struct outlived kinds[] = {
        { "a connection",
          make_pg,
          { use_exec, use_query, use_cursor_open, use_copy_begin, use_notified, use_begin },
          close_pg },
        { "a cursor", make_cursor, { use_cursor_next, use_busy }, close_used },
        { "a COPY to the client", make_copy_out, { use_stream_read, use_busy }, close_used },
        { "a COPY from the client",
          make_copy_in,
          { use_stream_write, use_stream_shutdown, use_busy },
          close_used },
        { "a transaction", make_transaction, { use_end, use_busy }, close_used },
        { "a pipeline", make_pipeline, { use_pipeline_read, use_pipeline_write }, close_pipeline },
        { "a pool", make_pool, { use_acquire, use_lent }, close_pool },
};

TEST(objects_of_postgresql_are_refused_by_other_runs_and_can_be_closed)
{
        pg_server_needed();
        outlived_check_all(kinds, sizeof(kinds) / sizeof(kinds[0]));
}
