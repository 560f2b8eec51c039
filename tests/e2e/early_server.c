/*
 * early_server.c - a server for tests with other programs, which answers each request with 413 at
 * once, without reading the body.
 *
 *     early_server
 *
 * The first line of output has the URL. It runs until a signal.
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
        eddy_listener *listener;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);

        (void) arg;
        if (err < 0)
                return err;
        printf("listening on http://127.0.0.1:%d\n", eddy_listener_port(listener));
        fflush(stdout);
        err = eddy_http_serve(listener, &opts, answer, NULL);
        eddy_listener_close(listener);
        return err;
}

int main(void)
{
        return eddy_run(serve, NULL, NULL) < 0;
}
