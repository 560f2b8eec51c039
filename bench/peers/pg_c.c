/*
 * pg_c.c - libpq in a bare epoll loop, without tasks: what the client library itself costs.
 *
 *     pg_c CONNINFO query|pipeline|cursor|copy-in|copy-out COUNT
 *
 * "query" keeps a query under way on each of 10 connections; "pipeline" sends 16 queries at a time
 * on each of 4, which makes 64 queries that are under way.
 */
#include <libpq-fe.h>
#include <stdbool.h>
#include <sys/epoll.h>

#include "../pg_bench.h"

enum { PIPELINES = 4, PIPELINED = 16 };

static const char *conninfo;
static long count, sent, done, last;
static int epoll_fd;

static void fail(PGconn *conn)
{
        bench_die("pg_c", PQerrorMessage(conn));
}

static void must(PGconn *conn, int is_good)
{
        if (!is_good)
                fail(conn);
}

static PGconn *connect_one(void)
{
        PGconn *conn = PQconnectdb(conninfo);
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = conn };
        PGresult *result;

        must(conn, PQstatus(conn) == CONNECTION_OK);
        result = PQprepare(conn, "one", SELECT_ONE, 0, NULL);
        must(conn, PQresultStatus(result) == PGRES_COMMAND_OK);
        PQclear(result);
        must(conn, PQsetnonblocking(conn, 1) == 0);
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, PQsocket(conn), &event);
        return conn;
}

static void flush(PGconn *conn)
{
        if (PQflush(conn) != 0)
                bench_die("pg_c", "the server does not read");
}

/* --- queries --- */

static void send_one(PGconn *conn)
{
        char key[24];
        const char *values[] = { key };

        snprintf(key, sizeof(key), "%ld", key_of(sent++));
        must(conn, PQsendQueryPrepared(conn, "one", 1, values, NULL, NULL, 0));
}

static void send_some(PGconn *conn, bool is_pipeline)
{
        int n = is_pipeline ? PIPELINED : 1;

        for (int i = 0; i < n && sent < last; i++)
                send_one(conn);
        if (is_pipeline)
                must(conn, PQpipelineSync(conn));
        flush(conn);
}

/* Take results.  Returns whether the answer has ended. */
static bool take(PGconn *conn, bool is_pipeline)
{
        must(conn, PQconsumeInput(conn));
        while (!PQisBusy(conn)) {
                PGresult *result = PQgetResult(conn);
                ExecStatusType status = result ? PQresultStatus(result) : PGRES_EMPTY_QUERY;

                if (!result && !is_pipeline)
                        return true;
                if (status == PGRES_TUPLES_OK && PQntuples(result) == 1)
                        done++;
                else if (result && status != PGRES_PIPELINE_SYNC)
                        fail(conn);
                PQclear(result);
                if (status == PGRES_PIPELINE_SYNC)
                        return true;
        }
        return false;
}

static void run_queries(PGconn **conns, int n, long queries, bool is_pipeline)
{
        struct epoll_event events[CONNECTIONS];

        sent = done = 0;
        last = queries;
        for (int i = 0; i < n; i++)
                send_some(conns[i], is_pipeline);
        while (done < last) {
                int ready = epoll_wait(epoll_fd, events, CONNECTIONS, -1);

                for (int i = 0; i < ready; i++)
                        if (take(events[i].data.ptr, is_pipeline) && sent < last)
                                send_some(events[i].data.ptr, is_pipeline);
        }
}

static void queries(struct bench_span *span, bool is_pipeline)
{
        PGconn *conns[CONNECTIONS];
        int n = is_pipeline ? PIPELINES : CONNECTIONS;

        for (int i = 0; i < n; i++) {
                conns[i] = connect_one();
                must(conns[i], !is_pipeline || PQenterPipelineMode(conns[i]));
        }
        run_queries(conns, n, WARM_UP, is_pipeline);
        bench_span_begin(span);
        run_queries(conns, n, count, is_pipeline);
        bench_span_end(span);
}

/* --- rows and COPY --- */

static void wait_for(PGconn *conn, unsigned events)
{
        struct epoll_event event = { .events = events };

        epoll_ctl(epoll_fd, EPOLL_CTL_MOD, PQsocket(conn), &event);
        epoll_wait(epoll_fd, &event, 1, -1);
}

/* Returns the next result; NULL after the last one. */
static PGresult *next(PGconn *conn)
{
        struct epoll_event event;

        while (PQisBusy(conn)) {
                epoll_wait(epoll_fd, &event, 1, -1);
                must(conn, PQconsumeInput(conn));
        }
        return PQgetResult(conn);
}

static void send_query(PGconn *conn, const char *sql, ExecStatusType wanted)
{
        PGresult *result;

        must(conn, PQsendQuery(conn, sql));
        flush(conn);
        result = next(conn);
        must(conn, PQresultStatus(result) == wanted);
        PQclear(result);
}

static void finish(PGconn *conn)
{
        PGresult *result;

        while ((result = next(conn)) != NULL) {
                must(conn, PQresultStatus(result) == PGRES_COMMAND_OK);
                PQclear(result);
        }
}

static void read_rows(PGconn *conn)
{
        PGresult *result;
        long rows = 0;

        must(conn, PQsendQueryParams(conn, SELECT_ALL, 0, NULL, NULL, NULL, NULL, 0));
        must(conn, PQsetSingleRowMode(conn));
        flush(conn);
        while ((result = next(conn)) != NULL) {
                if (PQresultStatus(result) == PGRES_SINGLE_TUPLE)
                        rows += strtol(PQgetvalue(result, 0, 0), NULL, 10) > 0;
                PQclear(result);
        }
        must(conn, rows == ITEMS);
}

static void copy_in(PGconn *conn)
{
        static char block[BLOCK_BYTES];
        size_t bytes = block_fill(block);

        send_query(conn, COPY_IN, PGRES_COPY_IN);
        for (long i = 0; i < count; i += BLOCK_ROWS) {
                must(conn, PQputCopyData(conn, block, (int) bytes) == 1);
                while (PQflush(conn) > 0)
                        wait_for(conn, EPOLLOUT);
        }
        must(conn, PQputCopyEnd(conn, NULL) == 1);
        while (PQflush(conn) > 0)
                wait_for(conn, EPOLLOUT);
        wait_for(conn, EPOLLIN);
        finish(conn);
}

static void copy_out(PGconn *conn)
{
        struct epoll_event event;
        char sql[128], *data;
        long rows = 0;
        int n;

        snprintf(sql, sizeof(sql), COPY_OUT, count);
        send_query(conn, sql, PGRES_COPY_OUT);
        while ((n = PQgetCopyData(conn, &data, 1)) >= 0) {
                if (n > 0) {
                        rows++;
                        PQfreemem(data);
                        continue;
                }
                epoll_wait(epoll_fd, &event, 1, -1);
                must(conn, PQconsumeInput(conn));
        }
        finish(conn);
        must(conn, rows == count);
}

static void streams(struct bench_span *span, enum row row)
{
        PGconn *conn = connect_one();

        if (row == ROW_COPY_IN) {
                send_query(conn, TRUNCATE, PGRES_COMMAND_OK);
                finish(conn);
        }
        bench_span_begin(span);
        if (row == ROW_COPY_IN)
                copy_in(conn);
        else if (row == ROW_COPY_OUT)
                copy_out(conn);
        for (long i = 0; row == ROW_CURSOR && i < count; i += ITEMS)
                read_rows(conn);
        bench_span_end(span);
}

int main(int argc, char **argv)
{
        struct bench_span span;
        char name[32];
        enum row row;

        if (argc != 4)
                bench_die("usage", "pg_c CONNINFO ROW COUNT");
        conninfo = argv[1];
        row = row_of(argv[2]);
        count = bench_count(argv[3], 100000000);
        epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (row >= ROW_CURSOR) {
                count = round_up(count, row == ROW_CURSOR ? ITEMS : BLOCK_ROWS);
                streams(&span, row);
        } else {
                queries(&span, row == ROW_PIPELINE);
        }
        snprintf(name, sizeof(name), "libpq %d.%d", PQlibVersion() / 10000, PQlibVersion() % 10000);
        bench_core_print(name, argv[2], count, &span, NULL);
        return 0;
}
