/*
 * pg_eddy.c - eddy's client of PostgreSQL: queries by 64 tasks, rows one by one, and COPY.
 *
 *     pg_eddy CONNINFO query|pipeline|cursor|copy-in|copy-out COUNT
 */
#include <eddy/eddy.h>

#include "pg_bench.h"

static const char *conninfo;
static enum row row;
static long count, next_query, last_query;
static eddy_pool *pool;
static eddy_pg_pipeline *pipeline;

static int check(int err, const eddy_pg_result *result)
{
        bool is_found = err == 0 && eddy_pg_rows(result) == 1;

        return err == 0 && (!is_found || !eddy_pg_get_text(result, 0, 0, NULL)) ? -EIO : err;
}

static int query_one(eddy_pg *pg, long key)
{
        EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
        int err = eddy_pg_query(pg, SELECT_ONE, EDDY_PG_PARAMS(eddy_pg_int(key)), &result);

        return check(err, result);
}

/* Runs as 64 tasks, each of which borrows a connection for each query. */
static int query_task(void *arg)
{
        int err = 0;

        (void) arg;
        while (err == 0 && next_query < last_query) {
                EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
                long key = key_of(next_query++);

                err = eddy_pool_acquire(pool, &loan);
                if (err == 0)
                        err = query_one(loan.item, key);
        }
        return err;
}

/* Runs as 64 tasks on one connection. */
static int pipeline_task(void *arg)
{
        int err = 0;

        (void) arg;
        while (err == 0 && next_query < last_query) {
                EDDY_AUTO(eddy_pg_result) eddy_pg_result *result = NULL;
                long key = key_of(next_query++);

                err = eddy_pg_pipeline_read(pipeline, SELECT_ONE, EDDY_PG_PARAMS(eddy_pg_int(key)),
                                            &result);
                err = check(err, result);
        }
        return err;
}

static int run_queries(long n)
{
        eddy_scope scope;

        next_query = 0;
        last_query = n;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < TASKS; i++)
                eddy_scope_start(&scope, row == ROW_QUERY ? query_task : pipeline_task, NULL);
        return eddy_scope_end(&scope);
}

static int read_rows(eddy_pg *pg)
{
        EDDY_AUTO(eddy_pg_cursor) eddy_pg_cursor *cursor = NULL;
        eddy_pg_result *found;
        int64_t id;
        long rows = 0;
        int err = eddy_pg_cursor_open(pg, SELECT_ALL, NULL, 0, &cursor);

        while (err == 0 && (err = eddy_pg_cursor_next(cursor, &found)) == 1) {
                err = eddy_pg_get_int(found, 0, 0, &id);
                rows++;
        }
        return err == 0 && rows != ITEMS ? -EIO : err;
}

static int read_all(eddy_pg *pg)
{
        int err = 0;

        for (long i = 0; i < count && err == 0; i += ITEMS)
                err = read_rows(pg);
        return err;
}

static int copy_in(eddy_pg *pg)
{
        static char block[BLOCK_BYTES];
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        size_t bytes = block_fill(block);
        int err = eddy_pg_copy(pg, COPY_IN, &stream);

        for (long i = 0; i < count && err == 0; i += BLOCK_ROWS)
                err = eddy_stream_write(stream, block, bytes);
        if (err == 0)
                err = eddy_stream_shutdown(stream);
        return err == 0 && eddy_pg_copied(pg) != count ? -EIO : err;
}

static int copy_out(eddy_pg *pg)
{
        static char block[1 << 16];
        EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;
        char sql[128];
        int64_t n = 1;
        int err;

        snprintf(sql, sizeof(sql), COPY_OUT, count);
        err = eddy_pg_copy(pg, sql, &stream);
        while (err == 0 && n > 0)
                n = eddy_stream_read(stream, block, sizeof(block));
        if (err == 0 && n < 0)
                err = (int) n;
        return err == 0 && eddy_pg_copied(pg) != count ? -EIO : err;
}

static int prepare(eddy_pg *pg)
{
        if (row == ROW_QUERY || row == ROW_PIPELINE)
                return run_queries(WARM_UP);
        return row == ROW_COPY_IN ? eddy_pg_exec(pg, TRUNCATE) : 0;
}

static int measured(eddy_pg *pg)
{
        switch (row) {
        case ROW_QUERY:
        case ROW_PIPELINE:
                return run_queries(count);
        case ROW_CURSOR:
                return read_all(pg);
        case ROW_COPY_IN:
                return copy_in(pg);
        case ROW_COPY_OUT:
                return copy_out(pg);
        }
        return -EINVAL;
}

static int run(void *arg)
{
        struct eddy_pg_opts opts = { .conninfo = conninfo, .flags = EDDY_PG_KEEP_SESSION };
        struct eddy_pool_opts pool_opts = { .size = CONNECTIONS };
        EDDY_AUTO(eddy_pg) eddy_pg *pg = NULL;
        struct bench_span span;
        int err = eddy_pg_pool_new(&opts, &pool_opts, &pool);

        if (err == 0)
                err = eddy_pg_pipeline_new(&opts, NULL, &pipeline);
        if (err == 0)
                err = eddy_pg_connect(&opts, &pg);
        if (err == 0)
                err = prepare(pg);
        bench_span_begin(&span);
        if (err == 0)
                err = measured(pg);
        bench_span_end(&span);
        eddy_pg_pipeline_close(pipeline);
        eddy_pool_close(pool);
        if (err == 0)
                bench_core_print("eddy " EDDY_VERSION, arg, count, &span, NULL);
        return err;
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 4)
                bench_die("usage", "pg_eddy CONNINFO ROW COUNT");
        conninfo = argv[1];
        row = row_of(argv[2]);
        count = bench_count(argv[3], 100000000);
        if (row >= ROW_CURSOR)
                count = round_up(count, row == ROW_CURSOR ? ITEMS : BLOCK_ROWS);
        err = eddy_run(run, argv[2], NULL);
        if (err < 0)
                bench_die("pg_eddy", eddy_error_text(err));
        return 0;
}
