/*
 * test_threads.c - a router that serves on several loops at once: its limits count the requests of all,
 * the first document is written once for all, and no middleware shares more than it may.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/alloc.h"
#include "eddy/http2_server.h"
#include "eddy/http_middleware.h"
#include "eddy/http_server_metrics.h"
#include "eddy/openapi.h"
#include "eddy/run.h"
#include "eddy/run_many.h"
#include "server_test.h"

enum {
        LOOPS = 3,
        ROUNDS = 200,
        LIMIT = 300, /* fewer than LOOPS * ROUNDS */
        DOCUMENTS = 20,
};

static _Atomic uint32_t arrived, allowed, limited;

/* Wait until all loops are here for the n-th time, from 1. */
static void meet(uint32_t n)
{
        atomic_fetch_add(&arrived, 1);
        while (atomic_load(&arrived) < n * LOOPS)
                sched_yield();
}

/* Run 'fn' on all loops. */
static void run_loops(eddy_task_fn *fn, void *arg)
{
        arrived = allowed = limited = 0;
        CHECK_EQ(eddy_run_many_with(LOOPS, fn, arg,
                                    &(struct eddy_run_opts){ .flags = EDDY_RUN_NO_WATCHDOG }),
                 0);
}

static eddy_http_client *client_of(eddy_http_router *router)
{
        const struct eddy_http_client_opts opts = { .handler = eddy_http_router_handle,
                                                    .handler_arg = router };
        eddy_http_client *client;

        CHECK_EQ(eddy_http_client_new(&opts, &client), 0);
        return client;
}

/* Returns the status of a URL. 'key' is the header X-Key. */
static int status_of(eddy_http_client *client, const char *url, const char *key)
{
        const struct eddy_http_header header = { "X-Key", key };
        const struct eddy_http_request request = { .url = url,
                                                   .headers = &header,
                                                   .headers_count = 1 };
        eddy_http_response *response;
        int status;

        CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
        status = eddy_http_response_status(response);
        eddy_http_response_close(response);
        return status;
}

static const char *key_of(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_header(exchange, "X-Key");
}

struct place {
        int64_t id;
};

static const struct eddy_field place_list[] = { EDDY_FIELD(struct place, id, EDDY_FIELD_MAX(999)) };
static const struct eddy_fields place_fields = EDDY_FIELDS(struct place, place_list, 0);
static const struct eddy_http_route_doc place_doc = { .params = &place_fields };

static int show_place(eddy_http_exchange *exchange, void *arg)
{
        const struct place *place = eddy_http_exchange_input(exchange, EDDY_HTTP_PATH);

        CHECK_EQ(place->id, strtol(eddy_http_exchange_param(exchange, "id"), NULL, 10));
        CHECK(eddy_http_exchange_request_id(exchange)[0]);
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, arg, strlen(arg));
}

/* A router with all middleware that may be on several loops. */
static eddy_http_router *router_new(uint32_t clients_max)
{
        const struct eddy_http_trusted_proxies_opts trust = { .networks = "127.0.0.0/8, ::1" };
        const struct eddy_http_cors_opts cors = { .origins = "https://a.example" };
        const struct eddy_http_rate_limit_opts limit = { .requests = LIMIT,
                                                         .window_ns = EDDY_MIN(60 * 24 * 366),
                                                         .clients_max = clients_max,
                                                         .key = key_of };
        eddy_http_router *router, *sub;

        CHECK_EQ(eddy_http_router_new(&router), 0);
        CHECK_EQ(eddy_http_router_new(&sub), 0);
        CHECK_EQ(eddy_http_use_trusted_proxies(router, &trust), 0);
        CHECK_EQ(eddy_http_use_request_id(router, NULL), 0);
        CHECK_EQ(eddy_http_use_cors(router, &cors), 0);
        CHECK_EQ(eddy_http_use_rate_limit(router, &limit), 0);
        CHECK_EQ(eddy_http_use_timeout(router, EDDY_MIN(10)), 0);
        CHECK_EQ(eddy_http_use_body_limit(router, 1000), 0);
        CHECK_EQ(eddy_http_router_add(sub, "GET /{id}", show_place, (void *) (uintptr_t) "ok",
                                      &place_doc),
                 0);
        CHECK_EQ(eddy_http_router_mount(router, "/places", sub), 0);
        CHECK_EQ(eddy_openapi_serve(router, NULL), 0);
        CHECK_EQ(eddy_http_router_check(router, NULL), 0);
        return router;
}

/* ---- a rate limit ---------------------------------------------------------- */

static int ask_first(void *router)
{
        eddy_http_client *client = client_of(router);

        CHECK_EQ(status_of(client, "http://a/places/1", "same"), 200);
        eddy_http_client_close(client);
        return 0;
}

static int ask_same(void *router)
{
        eddy_http_client *client = client_of(router);

        meet(1);
        for (int i = 0; i < ROUNDS; i++) {
                int status = status_of(client, "http://a/places/7", "same");

                CHECK(status == 200 || status == 429);
                atomic_fetch_add(status == 200 ? &allowed : &limited, 1);
        }
        eddy_http_client_close(client);
        return 0;
}

TEST(a_limit_of_several_loops_lets_as_many_requests_through_as_that_of_one)
{
        eddy_http_router *router = router_new(0);

        CHECK_EQ(eddy_run(ask_first, router, NULL), 0);
        run_loops(ask_same, router);
        CHECK_EQ(allowed, LIMIT - 1);
        CHECK_EQ(limited, LOOPS * ROUNDS - (LIMIT - 1));
        eddy_http_router_free(router);
}

static int ask_many(void *router)
{
        eddy_http_client *client = client_of(router);
        char key[20];

        meet(1);
        for (int i = 0; i < ROUNDS; i++) {
                snprintf(key, sizeof(key), "k%d", i % 20);
                CHECK_EQ(status_of(client, "http://a/places/8", key), 200);
                CHECK_EQ(status_of(client, "http://a/places/1000", key), 422);
                CHECK_EQ(status_of(client, "http://a/none", key), 404);
        }
        eddy_http_client_close(client);
        return 0;
}

/* 20 clients share 8 places; each has 3 * LOOPS * ROUNDS / 20 requests, which are fewer than the limit. */
TEST(clients_that_replace_each_other_on_several_loops_are_never_limited_too_early)
{
        eddy_http_router *router = router_new(8);

        run_loops(ask_many, router);
        eddy_http_router_free(router);
}

/* ---- documents ------------------------------------------------------------- */

static eddy_http_router *routers[DOCUMENTS];
static char *documents[LOOPS][DOCUMENTS];

static int ask_documents(void *arg)
{
        (void) arg;
        for (uint32_t i = 0; i < DOCUMENTS; i++) {
                eddy_http_client *client = client_of(routers[i]);
                const struct eddy_http_request request = { .url = "http://a/openapi.json" };
                eddy_http_response *response;
                const void *data;
                size_t bytes;

                meet(i + 1);
                CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
                CHECK_EQ(eddy_http_response_status(response), 200);
                CHECK_EQ(eddy_http_response_body(response, &data, &bytes), 0);
                documents[eddy_run_index()][i] = strndup(data, bytes);
                eddy_http_response_close(response);
                eddy_http_client_close(client);
        }
        return 0;
}

TEST(the_first_documents_of_several_loops_are_the_same)
{
        for (uint32_t i = 0; i < DOCUMENTS; i++)
                routers[i] = router_new(0);
        run_loops(ask_documents, NULL);
        for (uint32_t i = 0; i < DOCUMENTS; i++) {
                CHECK_HAS(documents[0][0], "\"/places/{id}\"");
                for (uint32_t loop = 0; loop < LOOPS; loop++) {
                        CHECK_STR(documents[loop][i], documents[0][0]);
                        if (loop + i > 0)
                                free(documents[loop][i]);
                }
                eddy_http_router_free(routers[i]);
        }
        free(documents[0][0]);
}

/* ---- metrics --------------------------------------------------------------- */

/* The metrics and the router of a loop, whose handler is that of the router of all. */
static int measure(void *inner)
{
        const struct eddy_metrics_opts own = { .without_process = true, .without_loop = true };
        eddy_http_server_metrics *measured;
        eddy_http_router *router;
        eddy_http_client *client;
        eddy_metrics *metrics;
        char line[100], key[20], *page;
        size_t bytes;

        snprintf(key, sizeof(key), "loop %u", eddy_run_index());
        CHECK_EQ(eddy_metrics_new(&own, &metrics), 0);
        CHECK_EQ(eddy_http_server_metrics_new(metrics, &measured), 0);
        CHECK_EQ(eddy_http_router_new(&router), 0);
        CHECK_EQ(eddy_http_router_use(router, eddy_http_measure, measured), 0);
        CHECK_EQ(eddy_http_router_add(router, "/{rest...}", eddy_http_router_handle, inner, NULL),
                 0);
        client = client_of(router);
        meet(1);
        for (int i = 0; i < ROUNDS; i++)
                CHECK_EQ(status_of(client, "http://a/places/9", key), 200);
        CHECK_EQ(eddy_metrics_write(metrics, &page, &bytes), 0);
        snprintf(line, sizeof(line),
                 "http_requests_total{route=\"/{rest...}\",status=\"2xx\"} %d\n", ROUNDS);
        CHECK_HAS(page, line);
        eddy_free(page);
        eddy_http_client_close(client);
        eddy_http_router_free(router);
        eddy_http_server_metrics_free(measured);
        eddy_metrics_close(metrics);
        return 0;
}

TEST(metrics_of_each_loop_count_its_requests_to_a_router_of_all)
{
        eddy_http_router *router = router_new(0);

        run_loops(measure, router);
        eddy_http_router_free(router);
}

/* ---- HTTP/2 ---------------------------------------------------------------- */

static struct eddy_http2_server_stats h2_stats;

static int answer_ok(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond_text(exchange, 200, "ok");
}

static int serve_h2(void *listener)
{
        static const struct eddy_http2_server_opts http2 = { .stats = &h2_stats };
        static const struct eddy_http_server_opts opts = { .http2 = &http2 };

        return eddy_http_serve(listener, &opts, answer_ok, NULL);
}

/* Requests of a loop to a server on it. */
static int ask_h2(void *arg)
{
        const struct eddy_http_client_opts opts = { .flags = EDDY_HTTP_CLIENT_H2C };
        eddy_http_client *client;
        eddy_listener *listener;
        eddy_scope scope;
        char url[40];

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        snprintf(url, sizeof(url), "http://127.0.0.1:%u/", eddy_listener_port(listener));
        CHECK_EQ(eddy_http_client_new(&opts, &client), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve_h2, listener), 0);
        meet(1);
        for (int i = 0; i < ROUNDS; i++)
                CHECK_EQ(status_of(client, url, "any"), 200);
        eddy_http_client_close(client);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(listener);
        return 0;
}

TEST(servers_of_several_loops_count_their_requests_by_http2_together)
{
        memset(&h2_stats, 0, sizeof(h2_stats));
        run_loops(ask_h2, NULL);
        CHECK_EQ(h2_stats.connections, LOOPS);
        CHECK_EQ(h2_stats.streams, LOOPS * ROUNDS);
        CHECK_EQ(h2_stats.open, 0);
}
