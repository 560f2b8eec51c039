/*
 * 128-request-timeout - an HTTP server that gives each request half a second.
 *
 * A handler that waits longer is cancelled: its calls return -ECANCELED, the handler releases its
 * lock and returns, and the client gets a 503.  The next request uses the same connection.
 *
 *     128-request-timeout [ADDRESS:PORT]
 *
 * Run: sh -c 'echo $$; exec 128-request-timeout 127.0.0.1:0' | { read P; read U; w='%{http_code}, new connections: %{num_connects}\n'; curl -so /dev/null -w "$w" $U/slow --next -so /dev/null -w "$w" $U/fast; kill $P; cat; }
 * Time: wall 0.5 s
 * Output:
 *     503, new connections: 1
 *     200, new connections: 0
 *     /slow has the printer
 *     /slow is cancelled, and leaves the printer
 *     /fast has the printer
 */
#include <stdio.h>

#include "eddy/eddy.h"

static eddy_lock printer; /* one request at a time uses it */

/* Takes the printer, then waits for a minute: too long. */
static int slow(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_lock_acquire(&printer);

        (void) arg;
        if (err < 0)
                return err;
        puts("/slow has the printer");
        err = eddy_sleep(EDDY_SEC(60));
        if (err == -ECANCELED)
                puts("/slow is cancelled, and leaves the printer");
        eddy_lock_release(&printer);
        return err < 0 ? err : eddy_http_exchange_respond_text(exchange, 200, "printed\n");
}

static int fast(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_lock_acquire(&printer);

        (void) arg;
        if (err < 0)
                return err;
        puts("/fast has the printer");
        eddy_lock_release(&printer);
        return eddy_http_exchange_respond_text(exchange, 200, "printed\n");
}

static int serve(eddy_http_router *router, void *arg)
{
        (void) arg;
        eddy_http_use_timeout(router, EDDY_MS(500));
        eddy_http_router_add(router, "GET /slow", slow, NULL, NULL);
        eddy_http_router_add(router, "GET /fast", fast, NULL, NULL);
        puts(eddy_http_run_url(router));
        fflush(stdout);
        return eddy_http_run_serve(router, NULL);
}

int main(int argc, char **argv)
{
        const struct eddy_http_run_opts opts = { .listen = argc > 1 ? argv[1] : "127.0.0.1:8080" };

        return eddy_http_run(&opts, serve, NULL) < 0;
}
