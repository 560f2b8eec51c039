/*
 * test_refused.c - a server of many slots refuses requests before it does anything with them: each is
 * sent once more, whatever its method, and no other request notices.
 */
#include "http_test.h"
#include "many_server.h"

static struct {
        struct many_server server;
        eddy_http_client *client;
        char url[64];
} world;

static int ask(const char *method)
{
        struct eddy_http_header header = { "X-Topic", "5" };
        eddy_http_response *response;
        int err = eddy_http_client_send(world.client,
                                        &(struct eddy_http_request){ .method = method,
                                                                     .url = world.url,
                                                                     .headers = &header,
                                                                     .headers_count = 1 },
                                        &response);

        if (err < 0)
                return err;
        CHECK_EQ(eddy_http_response_status(response), 200);
        eddy_http_response_close(response);
        return 0;
}

static int ask_slowly(void *arg)
{
        world.server.answer_ns = EDDY_SEC(4);
        *(int *) arg = ask("GET");
        return 0;
}

static int refused_main(void *arg)
{
        void (*const *fn)(void) = arg;
        eddy_scope scope;

        memset(&world, 0, sizeof(world));
        CHECK_EQ(eddy_http_client_new(NULL, &world.client), 0);
        eddy_scope_begin(&scope, NULL);
        many_begin(&scope);
        many_server_start(&world.server, &scope);
        snprintf(world.url, sizeof(world.url), "http://127.0.0.1:%u/",
                 eddy_listener_port(world.server.listener));
        many_offer(world.client, NULL);
        (*fn)();
        CHECK_STATS(world.client, 1, 1, 0);
        eddy_http_client_close(world.client);
        http_pause(EDDY_SEC(1));
        CHECK_EQ(many.readers, 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        many_server_stop(&world.server);
        return 0;
}

/* REFUSED_TEST(claim) { ... world ... } */
#define REFUSED_TEST(claim)                                                                        \
        static void refused_##claim(void);                                                         \
        TEST(claim)                                                                                \
        {                                                                                          \
                void (*fn)(void) = refused_##claim;                                                \
                http_run(refused_main, &fn);                                                       \
        }                                                                                          \
        static void refused_##claim(void)

REFUSED_TEST(refused_request_is_repeated_whatever_its_method)
{
        static const char *const methods[] = { "GET", "POST", "PATCH" };
        struct eddy_http_client_stats stats;

        for (int i = 0; i < 3; i++) {
                world.server.refuses = 1;
                CHECK_EQ(ask(methods[i]), 0);
        }
        eddy_http_client_stats(world.client, &stats);
        CHECK_EQ(stats.requests, 6);
        CHECK_EQ(world.server.accepted, 1);
}

REFUSED_TEST(second_refusal_is_the_callers)
{
        struct eddy_http_client_stats stats;

        world.server.refuses = 3;
        CHECK_ERR(ask("GET"), EDDY_E_HTTP_CLOSED);
        eddy_http_client_stats(world.client, &stats);
        CHECK_EQ(stats.requests, 2);
        CHECK_EQ(world.server.refuses, 1);
        CHECK_EQ(ask("GET"), 0);
        CHECK_EQ(world.server.accepted, 1);
}

/* B8: A refusal leaves the connection to the others. */
REFUSED_TEST(refusal_ends_no_other_request_of_its_connection)
{
        eddy_scope scope;
        int err = -1;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, ask_slowly, &err), 0);
        http_pause(EDDY_MS(500));
        world.server.refuses = 1;
        CHECK_EQ(ask("POST"), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(err, 0);
        CHECK_EQ(world.server.accepted, 1);
}
