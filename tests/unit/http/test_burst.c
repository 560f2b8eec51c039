/*
 * test_burst.c - many requests at once to an https origin of which nothing is known: ALPN, in a
 * real handshake, chooses a protocol of many slots or HTTP/1.1.
 */
#include "../tls/tls_test.h"
#include "fault_proxy.h"
#include "http/opening.h"
#include "http_test.h"
#include "many_server.h"

enum { BURST = 20, BURST_CONNECTIONS = (BURST + MANY_SLOTS - 1) / MANY_SLOTS };

static struct {
        struct many_server server;
        struct fault_proxy proxy;
        eddy_http_client *client;
        char url[64];
        int done;
        int64_t began_ns;
} world;

static int ask(void *arg)
{
        struct eddy_http_header header = { "X-Topic", "5" };
        eddy_http_response *response;
        const void *body;
        size_t bytes;

        (void) arg;
        CHECK_EQ(eddy_http_client_send(world.client,
                                       &(struct eddy_http_request){ .url = world.url,
                                                                    .headers = &header,
                                                                    .headers_count = 1 },
                                       &response),
                 0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK(bytes == 2 ? memcmp(body, "ok", 2) == 0 : memcmp(body, "1005", 4) == 0);
        eddy_http_response_close(response);
        world.done++;
        return 0;
}

static void burst_begin(eddy_scope *scope)
{
        world.done = 0;
        world.began_ns = eddy_now();
        eddy_scope_begin(scope, NULL);
        for (int i = 0; i < BURST; i++)
                CHECK_EQ(eddy_scope_start(scope, ask, NULL), 0);
}

static void burst_end(eddy_scope *scope)
{
        CHECK_EQ(eddy_scope_end(scope), 0);
        CHECK_EQ(world.done, BURST);
        CHECK_EQ(world.client->pool.in_use, 0);
        CHECK_EQ(world.client->pool.waiting, 0);
}

static void burst(void)
{
        eddy_scope scope;

        burst_begin(&scope);
        burst_end(&scope);
}

struct burst_call {
        const char *alpn; /* of the server */
        void (*fn)(void);
};

static void run_in(const struct burst_call *call, eddy_scope *scope)
{
        many_begin(scope);
        many_server_start(&world.server, scope);
        world.proxy.host = "127.0.0.1";
        world.proxy.port = eddy_listener_port(world.server.listener);
        fault_proxy_start(&world.proxy, scope);
        snprintf(world.url, sizeof(world.url), "https://127.0.0.1:%u/", world.proxy.own_port);
        many_offer(world.client, &ed_http1_protocol);
        call->fn();
        eddy_http_client_close(world.client);
        http_pause(EDDY_SEC(1));
        CHECK_EQ(many.readers, 0);
        eddy_scope_cancel(scope);
        CHECK_EQ(eddy_scope_end(scope), 0);
        many_server_stop(&world.server);
        fault_proxy_stop(&world.proxy);
}

static int burst_main(void *arg)
{
        const struct burst_call *call = arg;
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER, .alpn = call->alpn };
        struct eddy_tls_opts client = { .flags = 0 };
        eddy_tls_config *client_tls;
        struct tls_files files;
        eddy_scope scope;

        memset(&world, 0, sizeof(world));
        tls_files_make(&files, "127.0.0.1");
        server.cert_file = client.ca_file = files.cert;
        server.key_file = files.key;
        CHECK_EQ(eddy_tls_config_new(&server, NULL, &world.server.tls), 0);
        CHECK_EQ(eddy_tls_config_new(&client, NULL, &client_tls), 0);
        CHECK_EQ(eddy_http_client_new(OPTIONS(.tls = client_tls), &world.client), 0);
        eddy_scope_begin(&scope, NULL);
        run_in(call, &scope);
        eddy_tls_config_close(world.server.tls);
        eddy_tls_config_close(client_tls);
        return 0;
}

/* BURST_TEST(claim, ALPN of the server, also real) */
#define BURST_TEST(claim, alpn, real)                                                              \
        static void burst_##claim(void);                                                           \
        TEST(claim)                                                                                \
        {                                                                                          \
                struct burst_call call = { (alpn), burst_##claim };                                \
                http_run(burst_main, &call);                                                       \
                if (real)                                                                          \
                        http_run_real(burst_main, &call);                                          \
        }                                                                                          \
        static void burst_##claim(void)

/* On the simulated network the handshake takes less than a second, and the rest knows the slots. */
BURST_TEST(alpn_of_many_slots_gives_the_burst_few_connections, "many,http/1.1", false)
{
        burst();
        CHECK_EQ(world.server.accepted, BURST_CONNECTIONS);
        CHECK_EQ(world.server.many, BURST_CONNECTIONS);
        burst();
        CHECK_EQ(world.server.accepted, BURST_CONNECTIONS);
}

/* On the kernel the handshake may take longer: at most one connection for each request. */
BURST_TEST(burst_over_tls_ends_well_whatever_alpn_chooses_many, "many,http/1.1", true)
{
        burst();
        CHECK(world.server.accepted >= BURST_CONNECTIONS && world.server.accepted <= BURST);
        CHECK_EQ(world.server.many, world.server.accepted);
}

BURST_TEST(burst_over_tls_ends_well_whatever_alpn_chooses_http_1_1, "http/1.1", true)
{
        burst();
        CHECK(world.server.accepted >= 1 && world.server.accepted <= BURST);
        CHECK_EQ(world.server.many, 0);
}

/* The handshake ends at once: those that waited open their own connections then. */
BURST_TEST(alpn_of_one_slot_lets_all_open_after_the_handshake, "http/1.1", false)
{
        burst();
        CHECK_EQ(world.server.accepted, BURST);
        CHECK(eddy_now() - world.began_ns < ED_HTTP_OPENING_LENT_NS);
}

/* A server without ALPN is one of HTTP/1.1. */
BURST_TEST(server_without_alpn_lets_all_open_after_the_handshake, NULL, false)
{
        burst();
        CHECK_EQ(world.server.accepted, BURST);
        CHECK(eddy_now() - world.began_ns < ED_HTTP_OPENING_LENT_NS);
}

/* Let the handshake take seconds, and see who has connected before and after a second. */
static void slow_burst(void)
{
        int64_t alone_ns;
        eddy_scope scope;

        world.proxy.down.delay_ns = EDDY_SEC(1);
        burst_begin(&scope);
        CHECK_EQ(eddy_sleep(ED_HTTP_OPENING_LENT_NS - EDDY_MS(2)), 0);
        CHECK_EQ(world.proxy.accepted, 1);
        CHECK_EQ(eddy_sleep(EDDY_MS(4)), 0);
        CHECK_EQ(world.proxy.accepted, BURST);
        burst_end(&scope);
        alone_ns = eddy_now() - world.began_ns;
        /* Two round trips of TLS 1.3 and the answer, and not the first handshake before. */
        CHECK(alone_ns < ED_HTTP_OPENING_LENT_NS + EDDY_SEC(4));
}

BURST_TEST(burst_waits_at_most_a_second_for_a_slow_handshake_of_http_1_1, "http/1.1", false)
{
        slow_burst();
        CHECK_EQ(world.server.accepted, BURST);
        CHECK_EQ(world.server.many, 0);
        /* All are idle: another burst needs no handshake. */
        burst();
        CHECK_EQ(world.server.accepted, BURST);
}

BURST_TEST(burst_waits_at_most_a_second_for_a_slow_handshake_of_many_slots, "many", false)
{
        slow_burst();
        CHECK_EQ(world.server.many, world.server.accepted);
        burst();
        CHECK(world.server.accepted <= BURST);
}

/* While an origin's connections have one slot, a second burst does not wait at all. */
BURST_TEST(known_origin_of_one_slot_is_opened_to_at_once, "http/1.1", false)
{
        eddy_scope scope;

        CHECK_EQ(ask(NULL), 0);
        world.proxy.down.delay_ns = EDDY_SEC(1);
        burst_begin(&scope);
        CHECK_EQ(eddy_sleep(EDDY_MS(2)), 0);
        CHECK_EQ(world.proxy.accepted, BURST);
        burst_end(&scope);
}

/* Only HTTP/1 can change to another protocol: the request does not use the connection of the others. */
BURST_TEST(offer_of_an_upgrade_is_sent_by_http_1, "many,http/1.1", true)
{
        struct eddy_http_header headers[] = { { "Upgrade", "echo" }, { "Connection", "Upgrade" } };
        struct eddy_http_request request = { .url = world.url,
                                             .headers = headers,
                                             .headers_count = 2 };
        eddy_http_response *response;
        struct eddy_http_response_info info;

        CHECK_EQ(ask(NULL), 0);
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(eddy_http_client_send(world.client, &request, &response), 0);
                eddy_http_response_info(response, &info);
                CHECK_EQ(info.version, 11);
                eddy_http_response_close(response);
        }
        CHECK_EQ(ask(NULL), 0);
        CHECK_EQ(world.server.accepted, 2);
        CHECK_EQ(world.server.many, 1);
}
