/*
 * middleware_test.c - see middleware_test.h.
 */
#include "middleware_test.h"

#include <stdlib.h>
#include <string.h>

#include "eddy/test.h"

struct guarded guarded;

/* ---- handlers -------------------------------------------------------------- */

static int ok(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        guarded.handled++;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static int result(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        guarded.handled++;
        return (int) strtol(eddy_http_exchange_param(exchange, "number"), NULL, 10);
}

static int body(eddy_http_exchange *exchange, void *arg)
{
        char piece[1000], text[30];
        size_t bytes = 0;
        int64_t n;

        (void) arg;
        guarded.handled++;
        while ((n = eddy_http_exchange_read(exchange, piece, sizeof(piece))) > 0)
                bytes += (size_t) n;
        if (n < 0)
                return (int) n;
        snprintf(text, sizeof(text), "%zu", bytes);
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, text, strlen(text));
}

static int late(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_http_exchange_begin(exchange, 200, NULL, 0, -1), 0);
        CHECK_EQ(eddy_http_exchange_write(exchange, "abc", 3), 0);
        return -EIO;
}

static int wait_long(eddy_http_exchange *exchange, void *arg)
{
        guarded.handled++;
        (void) exchange;
        (void) arg;
        return eddy_sleep(EDDY_SEC(60));
}

static int begun(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_http_exchange_begin(exchange, 200, NULL, 0, -1), 0);
        CHECK_EQ(eddy_http_exchange_write(exchange, "abc", 3), 0);
        return eddy_sleep(EDDY_SEC(60));
}

static int give_up(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        eddy_http_exchange_abort(exchange);
        return -EIO;
}

static int show(eddy_http_exchange *exchange, void *arg)
{
        return guarded.show(exchange, arg);
}

/* ---- the server ------------------------------------------------------------ */

static void (*build_middleware)(void);

static int route(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_router_handle(exchange, guarded.router);
}

static void prepare(struct site *site)
{
        struct eddy_log_opts opts = { .format = EDDY_LOG_JSON };
        eddy_http_router *router;

        CHECK_EQ(eddy_stream_pair(NULL, &guarded.near, &guarded.far), 0);
        opts.stream = guarded.near;
        CHECK_EQ(eddy_log_open(&opts, &guarded.log), 0);
        CHECK_EQ(eddy_http_router_new(&router), 0);
        guarded.router = router;
        guarded.handled = 0;
        build_middleware();
        CHECK_EQ(eddy_http_router_add(router, "GET /ok", ok, NULL, NULL), 0);
        CHECK_EQ(eddy_http_router_add(router, "/users/{id}", ok, NULL, NULL), 0);
        CHECK_EQ(eddy_http_router_add(router, "GET /result/{number}", result, NULL, NULL), 0);
        CHECK_EQ(eddy_http_router_add(router, "/body", body, NULL, NULL), 0);
        CHECK_EQ(eddy_http_router_add(router, "GET /late", late, NULL, NULL), 0);
        CHECK_EQ(eddy_http_router_add(router, "/wait", wait_long, NULL, NULL), 0);
        CHECK_EQ(eddy_http_router_add(router, "/begun", begun, NULL, NULL), 0);
        CHECK_EQ(eddy_http_router_add(router, "GET /abort", give_up, NULL, NULL), 0);
        CHECK_EQ(eddy_http_router_add(router, "/show", show, NULL, NULL), 0);
        CHECK_EQ(eddy_http_router_check(router, NULL), 0);
        site->handler = route;
}

static site_fn *guarded_fn;

static void run_and_close(struct site *site)
{
        guarded.site = site;
        guarded_fn(site);
        if (guarded.log)
                (void) guarded_lines();
        eddy_http_router_free(guarded.router);
}

void guarded_run(const struct eddy_http_server_opts *opts, void (*build)(void), site_fn *fn)
{
        build_middleware = build;
        guarded_fn = fn;
        site_run_prepared(opts, false, prepare, run_and_close);
}

static char lines[65536]; /* of the log */

/* Wait until the server has ended, so that no handler uses the log or the router, and read the lines. */
static void stop_and_read(void)
{
        size_t bytes = 0;
        int64_t n;

        eddy_scope_cancel(guarded.site->scope);
        while (guarded.site->ended_ns == 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_log_close(guarded.log);
        eddy_stream_close(guarded.near);
        do {
                n = eddy_stream_read(guarded.far, lines + bytes, sizeof(lines) - 1 - bytes);
                bytes += n > 0 ? (size_t) n : 0;
        } while (n > 0);
        lines[bytes] = '\0';
        eddy_stream_close(guarded.far);
        guarded.log = NULL;
}

const char *guarded_lines(void)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        stop_and_read();
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return lines;
}

const char *body_of(const struct answer *answer)
{
        const char *at = strstr(answer->text, "\r\n\r\n");

        CHECK(at);
        return at + 4;
}

/* ---- faults ---------------------------------------------------------------- */

int guarded_ask(eddy_http_router *router, const char *url, const struct eddy_http_header *headers,
                size_t headers_count)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        struct eddy_http_client_opts opts = { .handler = eddy_http_router_handle,
                                              .handler_arg = router };
        struct eddy_http_request request = { .url = url,
                                             .headers = headers,
                                             .headers_count = headers_count };
        int err = eddy_http_router_check(router, NULL);

        if (err >= 0)
                err = eddy_http_client_new(&opts, &client);
        if (err >= 0)
                err = eddy_http_client_send(client, &request, &response);
        return err < 0 ? err : eddy_http_response_status(response);
}

void guarded_sweep(int (*fn)(void *arg))
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], fn, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}
