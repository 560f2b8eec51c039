/*
 * 126-cookies - an HTTP server that counts the visits of each browser in a cookie.
 *
 * A cookie is a text that a server gives to a browser, and that the browser sends back with each
 * request.  By default scripts of a page cannot read the cookie, forms of other sites do not send
 * it, and browsers send it over https only.  This server uses http, so it sets the flag
 * EDDY_HTTP_SET_COOKIE_INSECURE; a server with https leaves the flag out.
 *
 *     126-cookies [ADDRESS:PORT]
 *
 * Run: J=$(mktemp); sh -c 'echo $$; exec 126-cookies 127.0.0.1:0' | { read P; read U; for p in / / / /forget /; do curl -s -b $J -c $J $U$p; done; grep -c '^#HttpOnly_127.0.0.1.*visits' $J; curl -s -b visits=many $U; kill $P; }; rm $J
 * Time: wall 0 s
 * Output:
 *     visit 1
 *     visit 2
 *     visit 3
 *     forgotten
 *     visit 1
 *     1
 *     visit 1
 */
#include <stdio.h>
#include <stdlib.h>

#include "eddy/eddy.h"

/* Returns the number of visits so far; 0 without the cookie, or if it is not a number. */
static long visits_of(eddy_http_exchange *exchange)
{
        const char *value;
        char text[8];
        size_t bytes;
        long visits;

        if (eddy_http_exchange_cookie(exchange, "visits", &value, &bytes) < 0)
                return 0;
        snprintf(text, sizeof(text), "%.*s", (int) bytes, value); /* 'value' has no NUL */
        visits = strtol(text, NULL, 10);
        return visits > 0 ? visits : 0;
}

static int visit(eddy_http_exchange *exchange, void *arg)
{
        char number[24], text[40];
        int err;

        (void) arg;
        snprintf(number, sizeof(number), "%ld", visits_of(exchange) + 1);
        snprintf(text, sizeof(text), "visit %s\n", number);
        err = eddy_http_exchange_set_cookie(
                exchange, &(struct eddy_http_set_cookie){ .name = "visits",
                                                          .value = number,
                                                          .max_age_s = 30 * 24 * 3600,
                                                          .flags = EDDY_HTTP_SET_COOKIE_INSECURE });
        return err < 0 ? err : eddy_http_exchange_respond_text(exchange, 200, text);
}

static int forget(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_exchange_set_cookie(
                exchange, &(struct eddy_http_set_cookie){ .name = "visits",
                                                          .flags = EDDY_HTTP_SET_COOKIE_INSECURE });

        (void) arg;
        return err < 0 ? err : eddy_http_exchange_respond_text(exchange, 200, "forgotten\n");
}

static int serve(eddy_http_router *router, void *arg)
{
        (void) arg;
        eddy_http_router_add(router, "GET /", visit, NULL, NULL);
        eddy_http_router_add(router, "GET /forget", forget, NULL, NULL);
        puts(eddy_http_run_url(router));
        fflush(stdout);
        return eddy_http_run_serve(router, NULL);
}

int main(int argc, char **argv)
{
        const struct eddy_http_run_opts opts = { .listen = argc > 1 ? argv[1] : "127.0.0.1:8080" };

        return eddy_http_run(&opts, serve, NULL) < 0;
}
