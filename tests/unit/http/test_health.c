/*
 * test_health.c - the handlers that report whether a server lives and is ready.
 */
#include <string.h>

#include "eddy/http_health.h"
#include "eddy/serve.h"
#include "middleware_test.h"

static int results[2], calls;

static int check_result(void *arg)
{
        const int *result = arg;

        calls++;
        return *result == -EAGAIN ? eddy_sleep(EDDY_SEC(60)) : *result;
}

static const struct eddy_http_check checks[] = { { "database", check_result, &results[0] },
                                                 { NULL, check_result, &results[1] } };
static struct eddy_http_ready_opts ready = { .checks = checks, .checks_count = 2 };

static int show_ready(eddy_http_exchange *exchange, void *arg)
{
        const char *query = eddy_http_exchange_query(exchange);

        (void) arg;
        guarded.handled++;
        if (strcmp(query, "live") == 0)
                return eddy_http_handle_live(exchange, NULL);
        while (strcmp(query, "stop") == 0 && !eddy_serve_is_stopping())
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        return eddy_http_handle_ready(exchange, strcmp(query, "none") == 0 ? NULL : &ready);
}

static void build(void)
{
        guarded.show = show_ready;
        calls = results[0] = results[1] = 0;
}

#define NOT_READY(reason)                                                                          \
        "{\"title\":\"Service Unavailable\",\"status\":503,\"detail\":\"" reason "\"}"

GUARDED_TEST(a_server_is_ready_if_all_checks_succeed_in_time, build)
{
        const struct answer *answer = ask(site, GET("/show?live"));

        CHECK_EQ(answer->status, 200);
        CHECK_STR(body_of(answer), "ok\n");
        CHECK_HAS(answer->text, "Cache-Control: no-store\r\n");
        CHECK_EQ(ask(site, GET("/show?none"))->status, 200);
        CHECK_EQ(calls, 0);
        CHECK_EQ(ask(site, GET("/show"))->status, 200);
        CHECK_EQ(calls, 2);
        results[1] = -EIO;
        answer = ask(site, GET("/show"));
        CHECK_EQ(answer->status, 503);
        CHECK_STR(body_of(answer), NOT_READY("a check failed"));
        CHECK_HAS(answer->text, "Cache-Control: no-store\r\n");
        results[0] = -EIO;
        CHECK_STR(body_of(ask(site, GET("/show"))), NOT_READY("database failed"));
        CHECK_EQ(calls, 5);
        results[0] = -EAGAIN;
        answer = ask(site, GET("/show"));
        CHECK_EQ(answer->lasted_ns / EDDY_SEC(1), 1);
        CHECK_STR(body_of(answer), NOT_READY("database took too long"));
        CHECK_EQ(ask(site, SAY("HEAD", "/show", ""))->status, 503);
        CHECK_EQ(ask(site, GET("/show?live"))->status, 200);
}

GUARDED_TEST_WITH(a_server_that_drains_is_not_ready, SERVER_OPTIONS(.drain_ns = EDDY_SEC(3)), build)
{
        static struct answer answer;
        eddy_stream *stream = site_connect(site);
        eddy_scope scope;

        CHECK_EQ(eddy_stream_write(stream, GET("/show?stop"), strlen(GET("/show?stop"))), 0);
        while (guarded.handled == 0)
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        eddy_scope_cancel(site->scope);
        read_answer(stream, &answer);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_stream_close(stream);
        CHECK_EQ(answer.status, 503);
        CHECK_STR(body_of(&answer), NOT_READY("the server stops"));
        CHECK_EQ(calls, 0);
}

static int build_and_ask(void *arg)
{
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        int err = eddy_http_router_new(&router);

        (void) arg;
        if (err < 0)
                return err;
        build();
        (void) eddy_http_router_add(router, "GET /", eddy_http_handle_ready, &ready, NULL);
        err = guarded_ask(router, "http://a/", NULL, 0);
        results[0] = -EIO;
        if (err == 200)
                err = guarded_ask(router, "http://a/", NULL, 0);
        return err < 0 ? err : err == 503 || err == 500 ? 0 : -EPROTO;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        guarded_sweep(build_and_ask);
}
