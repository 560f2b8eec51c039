/*
 * routes_eddy.c - requests to a router in this process; bench/routes counts the instructions.
 *
 *     routes_eddy ROUTES REQUESTS   /api/r000/{id} and so on, in turn; 0: a handler without a router
 *
 * The requests go through a pair of streams in memory, so they need no system call.
 */
#include <eddy/eddy.h>
#include <errno.h>

#include "bench.h"

enum { ROUTES_MAX = 1000, ANSWER_MAX = 1024 };

static long routes, requests, answers;

static int respond(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        answers++;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok\n", 3);
}

static int respond_item(eddy_http_exchange *exchange, void *arg)
{
        const char *id = eddy_http_exchange_param(exchange, "id");

        return id && strcmp(id, "42") == 0 ? respond(exchange, arg) : -EINVAL;
}

static int serve(void *arg)
{
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        const char *text;
        int err = eddy_http_router_new(&router);

        for (long i = 0; i < routes && err == 0; i++) {
                char pattern[48];

                snprintf(pattern, sizeof(pattern), "GET /api/r%03ld/{id}", i);
                err = eddy_http_router_add(router, pattern, respond_item, NULL, NULL);
        }
        if (err == 0)
                err = eddy_http_router_check(router, &text);
        if (err < 0)
                return err;
        return eddy_http_serve_stream(arg, NULL, routes > 0 ? eddy_http_router_handle : respond,
                                      router);
}

/* Send a request and read its answer, which is as long as the first, 'bytes' (0: the first). */
static int64_t ask(eddy_stream *stream, long route, int64_t bytes)
{
        char text[128], answer[ANSWER_MAX];
        int n = snprintf(text, sizeof(text), "GET /api/r%03ld/42 HTTP/1.1\r\nHost: a\r\n\r\n",
                         route);
        int64_t got = eddy_stream_write(stream, text, (size_t) n), read = 0;

        while (got >= 0 && (read == 0 || read < bytes)) {
                got = eddy_stream_read(stream, answer, sizeof(answer));
                if (got <= 0 || (read == 0 && memcmp(answer, "HTTP/1.1 200", 12) != 0))
                        bench_die("answer", "not as it should be");
                read += got;
        }
        return got < 0 ? got : read;
}

static int run(void *arg)
{
        eddy_stream *ends[2];
        eddy_scope scope;
        int64_t bytes = 0;
        int err = eddy_stream_pair(NULL, &ends[0], &ends[1]);

        (void) arg;
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve, ends[0]);
        for (long i = 0; i < requests && bytes >= 0; i++)
                bytes = ask(ends[1], routes > 0 ? i % routes : 0, bytes);
        eddy_stream_close(ends[1]);
        err = eddy_scope_end(&scope);
        return bytes < 0 ? (int) bytes : err;
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 3)
                bench_die("usage", "routes_eddy ROUTES REQUESTS");
        routes = strcmp(argv[1], "0") == 0 ? 0 : bench_count(argv[1], ROUTES_MAX);
        requests = bench_count(argv[2], 10000000);
        err = eddy_run(run, NULL, NULL);
        if (err < 0)
                bench_die("eddy_run", eddy_error_text(err));
        printf("{\"ops\": %ld}\n", answers);
        return answers != requests;
}
