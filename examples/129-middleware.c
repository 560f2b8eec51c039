/*
 * 129-middleware - an HTTP server with middleware: code before and after the handlers.
 *
 * Middleware is a function that calls the next function; the last function is the handler.
 * log_requests() is the outermost, so it also logs the answers of sign_in() and of the router.
 * sign_in() finds the user and passes the name to the handler, or answers 401 without calling the
 * handler.
 *
 *     129-middleware [ADDRESS:PORT]
 *
 * Run: sh -c 'echo $$; exec 129-middleware 127.0.0.1:0' | { read P; read U; c() { curl -sw '%{http_code} %header{x-server}\n' "$@"; }; c -H 'Authorization: Bearer ann-1' $U/; c -o /dev/null $U/; c -o /dev/null -H 'Authorization: Bearer ann-1' $U/nothing; kill $P; cat; }
 * Time: wall 0 s
 * Output:
 *     hello ann
 *     200 eddy
 *     401 eddy
 *     404 eddy
 *     before GET /
 *     after GET /: 200
 *     before GET /
 *     after GET /: 401
 *     before GET /nothing
 *     after GET /nothing: 404
 */
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

static const char user_key[] = "user";

static int log_requests(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        const char *method = eddy_http_exchange_method(exchange);
        const char *path = eddy_http_exchange_path(exchange);
        struct eddy_http_exchange_info info;
        int err;

        (void) arg;
        printf("before %s %s\n", method, path);
        err = eddy_http_next(exchange, next);
        eddy_http_exchange_info(exchange, &info);
        printf("after %s %s: %d\n", method, path,
               info.status ? info.status : eddy_http_error_status(exchange, err));
        return err;
}

static int name_server(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        int err = eddy_http_exchange_add_header(exchange, "X-Server", "eddy");

        (void) arg;
        return err < 0 ? err : eddy_http_next(exchange, next);
}

static int sign_in(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        static char ann[] = "ann";
        const char *secret = eddy_http_exchange_header(exchange, "Authorization");
        int err;

        (void) arg;
        if (!secret || strcmp(secret, "Bearer ann-1") != 0)
                return eddy_http_exchange_fail(exchange, 401, "sign in first");
        err = eddy_http_exchange_set(exchange, user_key, ann, NULL);
        return err < 0 ? err : eddy_http_next(exchange, next);
}

static int hello(eddy_http_exchange *exchange, void *arg)
{
        char text[64];

        (void) arg;
        snprintf(text, sizeof(text), "hello %s\n",
                 (const char *) eddy_http_exchange_get(exchange, user_key));
        return eddy_http_exchange_respond_text(exchange, 200, text);
}

static int serve(eddy_http_router *router, void *arg)
{
        (void) arg;
        eddy_http_router_use(router, log_requests, NULL); /* the first added is the outermost */
        eddy_http_router_use(router, name_server, NULL);
        eddy_http_router_use(router, sign_in, NULL);
        eddy_http_router_add(router, "GET /", hello, NULL, NULL);
        puts(eddy_http_run_url(router));
        fflush(stdout);
        return eddy_http_run_serve(router, NULL);
}

int main(int argc, char **argv)
{
        const struct eddy_http_run_opts opts = { .listen = argc > 1 ? argv[1] : "127.0.0.1:8080" };

        return eddy_http_run(&opts, serve, NULL) < 0;
}
