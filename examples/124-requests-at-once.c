/*
 * 124-requests-at-once - an HTTP server in which a hundred slow requests are in progress at once.
 *
 * Each request has its own task, and its handler is a plain function that may wait.  Here each
 * handler waits until a hundred requests have arrived: a server that handles requests one by one
 * would never answer the first.  A request to /count is answered meanwhile.
 *
 *     124-requests-at-once [PORT]
 *
 * Run: sh -c 'echo $$; exec 124-requests-at-once' | { read P; read U; curl -sZ --parallel-immediate --parallel-max 100 "$U/meet/[1-99]" 2>/dev/null | sort | uniq -c & until [ "$(curl -s $U/count)" = 99 ]; do sleep .05; done; echo 99 wait; curl -s $U/meet/100; wait; kill $P; }
 * Time: wall 0 s
 * Output:
 *     99 wait
 *     all hundred are here
 *          99 all hundred are here
 */
#include <stdio.h>
#include <stdlib.h>

#include "eddy/eddy.h"

enum { GUESTS = 100 };

static eddy_event all_are_here;
static int guests;

static int meet(eddy_http_exchange *exchange, void *arg)
{
        int err;

        (void) arg;
        if (++guests == GUESTS)
                eddy_event_set(&all_are_here);
        err = eddy_event_wait(&all_are_here); /* other handlers run meanwhile */
        if (err < 0)
                return err; /* the client has left, or the server stops */
        return eddy_http_exchange_respond_text(exchange, 200, "all hundred are here\n");
}

static int count(eddy_http_exchange *exchange, void *arg)
{
        char text[20];

        (void) arg;
        snprintf(text, sizeof(text), "%d\n", guests);
        return eddy_http_exchange_respond_text(exchange, 200, text);
}

static int serve(void *port)
{
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        int err = eddy_tcp_listen("127.0.0.1", *(uint16_t *) port, NULL, &listener);

        if (err == 0)
                err = eddy_http_router_new(&router);
        if (err < 0)
                return err;
        eddy_http_router_add(router, "GET /meet/{guest}", meet, NULL, NULL);
        eddy_http_router_add(router, "GET /count", count, NULL, NULL);
        printf("http://127.0.0.1:%u\n", eddy_listener_port(listener));
        fflush(stdout);
        return eddy_http_serve(listener, NULL, eddy_http_router_handle, router);
}

int main(int argc, char **argv)
{
        uint16_t port = argc > 1 ? (uint16_t) strtoul(argv[1], NULL, 10) : 0;
        int err = eddy_run(serve, &port, NULL);

        if (err != -ECANCELED) /* by SIGTERM or Ctrl-C */
                fprintf(stderr, "124-requests-at-once: %s\n", eddy_error_text(err));
        return err != -ECANCELED;
}
