/*
 * 124-requests-at-once - an HTTP server in which a hundred slow requests are in progress at once.
 *
 * Each request has its own task, and its handler is a plain function that may wait.  Here each
 * handler waits until a hundred requests have arrived: a server that handles requests one by one
 * would never answer the first.  A request to /count is answered meanwhile.
 *
 *     124-requests-at-once [ADDRESS:PORT]
 *
 * Run: sh -c 'echo $$; exec 124-requests-at-once 127.0.0.1:0' | { read P; read U; curl -sZ --parallel-immediate --parallel-max 100 "$U/meet/[1-99]" 2>/dev/null | sort | uniq -c & until [ "$(curl -s $U/count)" = 99 ]; do sleep .05; done; echo 99 wait; curl -s $U/meet/100; wait; kill $P; }
 * Time: wall 0 s
 * Output:
 *     99 wait
 *     all hundred are here
 *          99 all hundred are here
 */
#include <stdio.h>

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

static int serve(eddy_http_router *router, void *arg)
{
        (void) arg;
        eddy_http_router_add(router, "GET /meet/{guest}", meet, NULL, NULL);
        eddy_http_router_add(router, "GET /count", count, NULL, NULL);
        puts(eddy_http_run_url(router));
        fflush(stdout);
        return eddy_http_run_serve(router, NULL);
}

int main(int argc, char **argv)
{
        const struct eddy_http_run_opts opts = { .listen = argc > 1 ? argv[1] : "127.0.0.1:8080" };

        return eddy_http_run(&opts, serve, NULL) < 0;
}
