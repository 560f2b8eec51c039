/*
 * http2_eddy.c - eddy's HTTP client by HTTP/2, as a program would use it.
 *
 *     http2_eddy URL REQUESTS CONNECTIONS STREAMS
 *
 * CONNECTIONS clients have a connection each, which STREAMS tasks share; each task takes the next
 * request until none is left.  http: with prior knowledge; https: by ALPN, without a check of the
 * certificate, as h2load.  Only the public headers, the default options of eddy_run().
 */
#include <eddy/eddy.h>

#include "bench.h"

enum { CLIENTS_MAX = 1024 };

static struct {
        const char *url;
        long requests, streams, clients_count;
        long started;
        size_t body_bytes; /* of every body, learned from the first */
        int first_error;
        eddy_http_client *clients[CLIENTS_MAX];
        struct bench_http_result result;
} bench;

/* Sends a request.  Returns 0 if the response is right, 1 if not, or an error. */
static int fetch_one(eddy_http_client *client)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = bench.url };
        struct eddy_http_response_info info;
        const void *body;
        size_t bytes;
        int err;

        err = eddy_http_client_send(client, &request, &response);
        if (err < 0)
                return err;
        err = eddy_http_response_body(response, &body, &bytes);
        if (err < 0)
                return err;
        if (bench.result.ok == 0) {
                eddy_http_response_info(response, &info);
                if (info.version != 20)
                        bench_die("the server", "does not speak HTTP/2");
                bench.body_bytes = bytes;
        }
        return eddy_http_response_status(response) != 200 || bytes != bench.body_bytes;
}

static int fetch_loop(void *arg)
{
        while (bench.started < bench.requests) {
                int err;

                bench.started++;
                err = fetch_one(arg);
                bench.result.requests++;
                if (err == 0)
                        bench.result.ok++;
                else if (err < 0 && bench.first_error == 0)
                        bench.first_error = err;
        }
        return 0;
}

static int bench_main(void *arg)
{
        struct eddy_tls_opts tls = { .flags = EDDY_TLS_INSECURE };
        struct eddy_http_client_opts opts = { .connections_max = 1 };
        struct eddy_http_client_stats stats;
        eddy_scope scope;
        int err = 0;

        (void) arg;
        bench_span_begin(&bench.result.span);
        if (strncmp(bench.url, "https:", 6) == 0)
                err = eddy_tls_config_new(&tls, NULL, &opts.tls);
        else
                opts.flags = EDDY_HTTP_CLIENT_H2C;
        eddy_scope_begin(&scope, NULL);
        for (long i = 0; err == 0 && i < bench.clients_count; i++) {
                err = eddy_http_client_new(&opts, &bench.clients[i]);
                for (long j = 0; err == 0 && j < bench.streams; j++)
                        eddy_scope_start(&scope, fetch_loop, bench.clients[i]);
        }
        if (err < 0)
                eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        bench_span_end(&bench.result.span);
        bench.result.rss_end_kib = bench_memory_kib(0);
        for (long i = 0; i < bench.clients_count; i++) {
                eddy_http_client_stats(bench.clients[i], &stats);
                bench.result.connections += (long) stats.connections;
                eddy_http_client_close(bench.clients[i]);
        }
        eddy_tls_config_close(opts.tls);
        return err;
}

int main(int argc, char **argv)
{
        char name[64];
        int err;

        if (argc != 5)
                bench_die("usage", "http2_eddy URL REQUESTS CONNECTIONS STREAMS");
        bench.result.rss_early_kib = -1;
        bench.url = argv[1];
        bench.requests = bench_count(argv[2], 1000000000);
        bench.clients_count = bench_count(argv[3], CLIENTS_MAX);
        bench.streams = bench_count(argv[4], 100);
        err = eddy_run(bench_main, NULL, NULL);
        if (err < 0)
                bench_die("eddy_run", eddy_error_text(err));
        if (bench.first_error < 0)
                fprintf(stderr, "first failure: %s\n", eddy_error_text(bench.first_error));
        snprintf(name, sizeof(name), "eddy %s", eddy_version());
        bench.result.client = name;
        bench_http_print(&bench.result);
        return 0;
}
