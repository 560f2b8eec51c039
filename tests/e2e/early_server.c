/*
 * early_server.c - a server for tests with other programs, which answers each request with 413 at
 * once, without reading the body.
 *
 *     early_server [CERT KEY]
 *
 * With CERT and KEY it speaks https. The first line of output has the URL. It runs until a signal.
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int answer(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond(exchange, 413, NULL, 0, "no\n", 3);
}

static int serve(void *arg)
{
        struct eddy_http_server_opts opts = { .body_bytes_max = UINT64_MAX };
        char **files = arg;
        struct eddy_tls_opts tls = { .flags = EDDY_TLS_SERVER,
                                     .cert_file = files[0],
                                     .key_file = files[0] ? files[1] : NULL };
        eddy_listener *listener;
        int err = files[0] ? eddy_tls_config_new(&tls, NULL, &opts.tls) : 0;

        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);
        if (err == 0) {
                printf("listening on http%s://127.0.0.1:%d\n", opts.tls ? "s" : "",
                       eddy_listener_port(listener));
                fflush(stdout);
                err = eddy_http_serve(listener, &opts, answer, NULL);
                eddy_listener_close(listener);
        }
        eddy_tls_config_close(opts.tls);
        return err;
}

int main(int argc, char **argv)
{
        (void) argc;
        return eddy_run(serve, argv + 1, NULL) < 0;
}
