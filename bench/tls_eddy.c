/*
 * tls_eddy.c - eddy's TLS as a program would use it.
 *
 *     tls_eddy full PORT HANDSHAKES WIDTH        connect, ask and close, WIDTH tasks
 *     tls_eddy resumed PORT HANDSHAKES WIDTH     the same, with sessions
 *     tls_eddy bulk URL BYTES                    one body, read in pieces
 *     tls_eddy serve CONNECTIONS CERT KEY        hold idle connections (eddy_serve())
 *     tls_eddy serve-http CONNECTIONS CERT KEY   the same with eddy_http_serve()
 *
 * Handshakes ask for "/reused", as those of tls_floor.c do.
 */
#include <eddy/eddy.h>

#include "bench.h"

enum { PIECE_BYTES = 64 << 10 };

static const char request[] = "GET /reused HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";

struct bench {
        char **argv;
        uint16_t port;
        long count, started, done, resumed;
        int first_error;
        eddy_tls_config *config;
        eddy_event all_done;
        struct bench_span span;
        eddy_listener *listener;
        bool is_http;
};

/* ---- handshakes ---------------------------------------------------------------- */

/* Returns the last byte of the answer, or an error. */
static int ask(eddy_stream *stream)
{
        char buf[4096];
        int64_t n;
        int last = 0, err;

        err = eddy_stream_write(stream, request, strlen(request));
        if (err < 0)
                return err;
        while ((n = eddy_stream_read(stream, buf, sizeof(buf))) > 0)
                last = buf[n - 1];
        return n < 0 ? (int) n : last;
}

static int handshake_one(struct bench *bench)
{
        EDDY_AUTO(eddy_stream) eddy_stream *secure = NULL;
        eddy_stream *stream;
        int err;

        err = eddy_tcp_connect("127.0.0.1", bench->port, NULL, &stream);
        if (err < 0)
                return err;
        err = eddy_tls_client(stream, bench->config, "127.0.0.1", NULL, &secure);
        if (err < 0) {
                eddy_stream_close(stream);
                return err;
        }
        return ask(secure);
}

static int handshake_loop(void *arg)
{
        struct bench *bench = arg;

        while (bench->started < bench->count) {
                int result;

                bench->started++;
                result = handshake_one(bench);
                if (result < 0 && bench->first_error == 0)
                        bench->first_error = result;
                bench->done += result >= 0;
                bench->resumed += result == 'r';
        }
        return 0;
}

static int handshakes_main(void *arg)
{
        struct bench *bench = arg;
        struct eddy_tls_opts opts = {
                .flags = strcmp(bench->argv[1], "full") == 0 ? EDDY_TLS_NO_RESUMPTION : 0,
        };
        long width = bench_count(bench->argv[4], 4096);
        eddy_scope scope;
        int err;

        bench->port = (uint16_t) bench_count(bench->argv[2], 65535);
        bench_span_begin(&bench->span);
        err = eddy_tls_config_new(&opts, NULL, &bench->config);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        for (long i = 0; i < width; i++)
                eddy_scope_start(&scope, handshake_loop, bench);
        err = eddy_scope_end(&scope);
        bench_span_end(&bench->span);
        eddy_tls_config_close(bench->config);
        return err;
}

/* ---- bulk ---------------------------------------------------------------------- */

static int bulk_main(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        static char buf[PIECE_BYTES];
        struct bench *bench = arg;
        int64_t n;
        int err;

        bench_span_begin(&bench->span);
        err = eddy_http_client_new(
                &(struct eddy_http_client_opts){ .body_bytes_max = (uint64_t) bench->count + 1 },
                &client);
        if (err == 0)
                err = eddy_http_client_send(
                        client, &(struct eddy_http_request){ .url = bench->argv[2] }, &response);
        if (err < 0)
                return err;
        while ((n = eddy_http_response_read(response, buf, sizeof(buf))) > 0)
                bench->done += (long) n;
        bench_span_end(&bench->span);
        return (int) n;
}

/* ---- idle connections ---------------------------------------------------------- */

static void answered(struct bench *bench)
{
        if (++bench->done == bench->count)
                eddy_event_set(&bench->all_done);
}

static int on_request(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok\n", 3);

        answered(arg);
        return err;
}

static int on_connection(eddy_stream *lower, void *arg)
{
        struct bench *bench = arg;
        eddy_stream *stream;
        char buf[512];
        int err;

        err = eddy_tls_server(lower, bench->config, NULL, &stream);
        if (err < 0) {
                eddy_stream_close(lower);
                return err;
        }
        while (err == 0 && eddy_stream_read(stream, buf, sizeof(buf)) > 0) {
                err = eddy_stream_write(stream, answer, strlen(answer));
                answered(bench);
        }
        eddy_stream_close(stream);
        return err;
}

static int serve(void *arg)
{
        struct bench *bench = arg;
        struct eddy_http_server_opts http_opts = { .connections_max = (uint32_t) bench->count,
                                                   .idle_timeout_ns = EDDY_SEC(3600),
                                                   .tls = bench->config };
        struct eddy_serve_opts opts = { .connections_max = (uint32_t) bench->count };

        return bench->is_http ? eddy_http_serve(bench->listener, &http_opts, on_request, bench)
                              : eddy_serve(bench->listener, &opts, on_connection, bench);
}

static int serve_main(void *arg)
{
        struct bench *bench = arg;
        struct eddy_tls_opts opts = { .flags = EDDY_TLS_SERVER,
                                      .cert_file = bench->argv[3],
                                      .key_file = bench->argv[4] };
        long before;
        int err;

        err = eddy_tls_config_new(&opts, NULL, &bench->config);
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", 0, NULL, &bench->listener);
        if (err < 0)
                return err;
        printf("%u\n", eddy_listener_port(bench->listener));
        fflush(stdout);
        before = bench_memory_kib(1);
        err = eddy_background(serve, bench);
        if (err == 0)
                err = eddy_event_wait(&bench->all_done);
        if (err == 0)
                err = eddy_sleep(EDDY_SEC(3)); /* the last ones are idle for some time */
        if (err < 0)
                return err;
        printf("{\"client\": \"eddy %s\", \"ok\": %ld, \"kib\": %ld}\n", eddy_version(),
               bench->done, bench_memory_kib(1) - before);
        fflush(stdout);
        _exit(0);
}

int main(int argc, char **argv)
{
        struct bench bench = { .argv = argv };
        const char *mode = argc > 1 ? argv[1] : "";
        eddy_task_fn *run = handshakes_main;
        int err;

        if (strcmp(mode, "bulk") == 0)
                run = bulk_main;
        else if (strncmp(mode, "serve", 5) == 0)
                run = serve_main;
        if (argc != (run == bulk_main ? 4 : 5))
                bench_die("usage", "tls_eddy full|resumed|bulk|serve|serve-http ...");
        bench.is_http = strcmp(mode, "serve-http") == 0;
        bench.count = bench_count(argv[run == serve_main ? 2 : 3], 100000000000);

        err = eddy_run(run, &bench, NULL);
        if (err < 0)
                bench_die("eddy_run", eddy_error_text(err));
        if (bench.first_error < 0)
                fprintf(stderr, "first failure: %s\n", eddy_error_text(bench.first_error));
        printf("{\"client\": \"eddy %s\", \"ok\": %ld, \"resumed\": %ld, \"cpu_ns\": %lld, "
               "\"wall_ns\": %lld}\n",
               eddy_version(), bench.done, bench.resumed, (long long) bench.span.cpu_ns,
               (long long) bench.span.wall_ns);
        return 0;
}
