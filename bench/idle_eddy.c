/*
 * idle_eddy.c - idle HTTP connections, of a server and of a client's pool.
 *
 *     idle_eddy serve CONNECTIONS [CERT KEY]      answer each request at once
 *     idle_eddy together CONNECTIONS [CERT KEY]   answer when as many requests are under way
 *     idle_eddy hold SCHEME PORT CONNECTIONS      after one request, this many at once, to one origin
 *     idle_eddy visit SCHEME PORT CONNECTIONS     ... one after another, each to its own origin
 *
 * A server writes its port. The client writes a line when the first request is done, waits for a
 * line, and writes another when all are done. Both then wait to be killed, and their memory is
 * read from outside.
 */
#include <eddy/eddy.h>

#include "bench.h"

struct idle {
        char **argv;
        int argc;
        long count, under_way;
        bool together;
        bool visits;
        long asked;
        char override[64];
        int first_error;
        eddy_tls_config *config;
        eddy_http_client *client;
        eddy_event all_here;
};

static void write_line(const char *text)
{
        printf("%s\n", text);
        fflush(stdout);
}

/* ---- server -------------------------------------------------------------------- */

static int on_request(eddy_http_exchange *exchange, void *arg)
{
        struct idle *idle = arg;
        int err = 0;

        /* The first request of a client warms it up. */
        if (idle->together && idle->under_way++ > 0) {
                if (idle->under_way == idle->count + 1)
                        eddy_event_set(&idle->all_here);
                err = eddy_event_wait(&idle->all_here);
        }
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok\n", 3);
}

static int serve_main(void *arg)
{
        struct idle *idle = arg;
        struct eddy_tls_opts tls = { .flags = EDDY_TLS_SERVER };
        struct eddy_http_server_opts opts = { .connections_max = (uint32_t) idle->count + 10,
                                              .idle_timeout_ns = EDDY_SEC(3600) };
        eddy_listener *listener;
        char port[8];
        int err = 0;

        if (idle->argc == 5) {
                tls.cert_file = idle->argv[3];
                tls.key_file = idle->argv[4];
                err = eddy_tls_config_new(&tls, NULL, &idle->config);
        }
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);
        if (err < 0)
                return err;
        opts.tls = idle->config;
        snprintf(port, sizeof(port), "%u", eddy_listener_port(listener));
        write_line(port);
        return eddy_http_serve(listener, &opts, on_request, idle);
}

/* ---- client -------------------------------------------------------------------- */

static int ask(void *arg)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct idle *idle = arg;
        const void *data;
        size_t bytes;
        char url[128];
        int err;

        snprintf(url, sizeof(url), "%s://c%ld.bench.test:%s/", idle->argv[2],
                 idle->visits ? idle->asked++ : 0, idle->argv[3]);
        err = eddy_http_client_send(idle->client, &(struct eddy_http_request){ .url = url },
                                    &response);
        if (err == 0)
                err = eddy_http_response_body(response, &data, &bytes);
        if (err < 0 && idle->first_error == 0)
                idle->first_error = err;
        return 0;
}

static int ask_in_turn(struct idle *idle)
{
        for (long i = 0; i < idle->count; i++)
                (void) ask(idle);
        return 0;
}

static int ask_together(struct idle *idle)
{
        eddy_scope scope;
        int err = 0;

        eddy_scope_begin(&scope, NULL);
        for (long i = 0; i < idle->count && err == 0; i++)
                err = eddy_scope_start(&scope, ask, idle);
        (void) eddy_scope_end(&scope);
        return err;
}

static int hold_main(void *arg)
{
        struct idle *idle = arg;
        const char *override = idle->override;
        struct eddy_http_client_opts opts = { .connections_max = (uint32_t) idle->count + 1,
                                              .idle_timeout_ns = EDDY_SEC(3600),
                                              .resolve = &override,
                                              .resolve_count = 1 };
        char line[8];
        int err;

        snprintf(idle->override, sizeof(idle->override), "*:%s:127.0.0.1", idle->argv[3]);
        opts.timeouts.total_ns = EDDY_SEC(300);
        opts.timeouts.read_ns = EDDY_SEC(300);
        opts.timeouts.connect_ns = EDDY_SEC(300);
        err = eddy_http_client_new(&opts, &idle->client);
        if (err < 0)
                return err;
        (void) ask(idle);
        write_line("warm");
        if (!fgets(line, sizeof(line), stdin))
                return -EPIPE;
        err = idle->visits ? ask_in_turn(idle) : ask_together(idle);
        if (err == 0)
                err = idle->first_error;
        if (err < 0)
                return err;
        write_line("idle");
        return eddy_sleep(EDDY_SEC(3600));
}

int main(int argc, char **argv)
{
        struct idle idle = { .argv = argv, .argc = argc };
        const char *mode = argc > 1 ? argv[1] : "";
        bool asks = strcmp(mode, "hold") == 0 || strcmp(mode, "visit") == 0;
        int err;

        idle.together = strcmp(mode, "together") == 0;
        idle.visits = strcmp(mode, "visit") == 0;
        if (asks ? argc != 5 : argc != 3 && argc != 5)
                bench_die("usage", "idle_eddy serve|together|hold|visit ...");
        idle.count = bench_count(argv[asks ? 4 : 2], 100000);
        err = eddy_run(asks ? hold_main : serve_main, &idle, NULL);
        if (err < 0)
                bench_die("eddy_run", eddy_error_text(err));
        return 0;
}
