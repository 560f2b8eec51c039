/*
 * http_eddy.c - eddy's HTTP client as a program would use it.
 *
 *     http_eddy URL REQUESTS CONNECTIONS [RSS_AT]
 *
 * CONNECTIONS tasks in one scope share one client; each takes the next
 * request until none is left.  Only the public headers, the default options
 * of eddy_run() (signals and watchdog on).  With RSS_AT, resident memory is
 * noted after that many responses, and at the end while all is still open:
 * the soak test's figures.
 */
#include <eddy/eddy.h>

#include "bench.h"

struct bench {
        const char *url;
        long requests;
        long connections;
        long rss_at;
        long started;
        size_t body_bytes; /* of every body, learned from the first */
        int first_error;
        eddy_http_client *client;
        struct bench_http_result result;
};

/* Sends a request.  Returns 0 if the response is right, 1 if not, or an error. */
static int fetch_one(struct bench *bench)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = bench->url };
        const void *body;
        size_t bytes;
        int err;

        err = eddy_http_client_send(bench->client, &request, &response);
        if (err < 0)
                return err;
        err = eddy_http_response_body(response, &body, &bytes);
        if (err < 0)
                return err;
        if (bench->result.ok == 0)
                bench->body_bytes = bytes;
        return eddy_http_response_status(response) != 200 || bytes != bench->body_bytes;
}

static int fetch_loop(void *arg)
{
        struct bench *bench = arg;

        while (bench->started < bench->requests) {
                int err;

                bench->started++;
                err = fetch_one(bench);
                bench->result.requests++;
                if (err == 0)
                        bench->result.ok++;
                else if (err < 0 && bench->first_error == 0)
                        bench->first_error = err;
                if (bench->result.requests == bench->rss_at)
                        bench->result.rss_early_kib = bench_memory_kib(0);
        }
        return 0;
}

static int bench_main(void *arg)
{
        struct bench *bench = arg;
        struct eddy_http_client_stats stats;
        eddy_scope scope;
        int err;

        bench_span_begin(&bench->result.span);
        err = eddy_http_client_new(
                &(struct eddy_http_client_opts){ .connections_max = (uint32_t) bench->connections },
                &bench->client);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        for (long i = 0; i < bench->connections; i++)
                eddy_scope_start(&scope, fetch_loop, bench);
        err = eddy_scope_end(&scope);
        bench_span_end(&bench->result.span);

        bench->result.rss_end_kib = bench_memory_kib(0);
        eddy_http_client_stats(bench->client, &stats);
        bench->result.connections = (long) stats.connections;
        eddy_http_client_close(bench->client);
        return err;
}

int main(int argc, char **argv)
{
        struct bench bench = { .result = { .rss_early_kib = -1 } };
        char name[64];
        int err;

        if (argc != 4 && argc != 5)
                bench_die("usage", "http_eddy URL REQUESTS CONNECTIONS [RSS_AT]");
        bench.url = argv[1];
        bench.requests = bench_count(argv[2], 1000000000);
        bench.connections = bench_count(argv[3], 65536);
        bench.rss_at = argc == 5 ? bench_count(argv[4], 1000000000) : -1;

        err = eddy_run(bench_main, &bench, NULL);
        if (err < 0)
                bench_die("eddy_run", eddy_error_text(err));
        if (bench.first_error < 0)
                fprintf(stderr, "first failure: %s\n", eddy_error_text(bench.first_error));
        snprintf(name, sizeof(name), "eddy %s", eddy_version());
        bench.result.client = name;
        bench_http_print(&bench.result);
        return 0;
}
