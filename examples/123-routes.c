/*
 * 123-routes - an HTTP server with routes: a handler for each method and path.
 *
 * A route is a method and a pattern.  {name} matches a segment of the path, and {path...} the whole
 * rest of the path.  "/users/me" takes precedence over "/users/{name}", whichever is added first.
 * The router answers 404 to a path without a route, and 405 if the path has routes only for other
 * methods.
 *
 *     123-routes [ADDRESS:PORT]
 *
 * Run: sh -c 'echo $$; exec 123-routes 127.0.0.1:0' | { read P; read U; for p in / /users/me /users/%D0%9E%D0%BB%D1%8F /files/2026/plan.txt; do curl -s $U$p; done; curl -s -d ann $U/users; for m in GET POST; do curl -so /dev/null -w "$m %{http_code}\n" -X $m $U/nothing; done; curl -so /dev/null -w '%{http_code}\n' -X DELETE $U/users; kill $P; }
 * Time: wall 0 s
 * Output:
 *     welcome
 *     you are ann
 *     user Оля
 *     file 2026/plan.txt
 *     new user ann
 *     GET 404
 *     POST 404
 *     405
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int welcome(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond_text(exchange, 200, "welcome\n");
}

static int show_me(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond_text(exchange, 200, "you are ann\n");
}

static int show_user(eddy_http_exchange *exchange, void *arg)
{
        char text[200];

        (void) arg;
        snprintf(text, sizeof(text), "user %s\n", eddy_http_exchange_param(exchange, "name"));
        return eddy_http_exchange_respond_text(exchange, 200, text);
}

static int make_user(eddy_http_exchange *exchange, void *arg)
{
        const void *name;
        char text[200];
        size_t bytes;
        int err = eddy_http_exchange_body(exchange, &name, &bytes);

        (void) arg;
        if (err < 0)
                return err;
        snprintf(text, sizeof(text), "new user %s\n", (const char *) name);
        return eddy_http_exchange_respond_text(exchange, 201, text);
}

static int show_file(eddy_http_exchange *exchange, void *arg)
{
        char text[200];

        (void) arg;
        snprintf(text, sizeof(text), "file %s\n", eddy_http_exchange_param(exchange, "path"));
        return eddy_http_exchange_respond_text(exchange, 200, text);
}

static int serve(eddy_http_router *router, void *arg)
{
        (void) arg;
        eddy_http_router_add(router, "GET /", welcome, NULL, NULL);
        eddy_http_router_add(router, "GET /users/{name}", show_user, NULL, NULL);
        eddy_http_router_add(router, "GET /users/me", show_me, NULL, NULL);
        eddy_http_router_add(router, "POST /users", make_user, NULL, NULL);
        eddy_http_router_add(router, "GET /files/{path...}", show_file, NULL, NULL);
        puts(eddy_http_run_url(router));
        fflush(stdout);
        return eddy_http_run_serve(router, NULL);
}

int main(int argc, char **argv)
{
        const struct eddy_http_run_opts opts = { .listen = argc > 1 ? argv[1] : "127.0.0.1:8080" };

        return eddy_http_run(&opts, serve, NULL) < 0;
}
