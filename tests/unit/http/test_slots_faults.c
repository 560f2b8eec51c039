/*
 * test_slots_faults.c - connections of many slots on a network that cuts, resets, stalls, delays
 * and damages them at each byte, with and without TLS: each answer is right or an error, no slot is
 * lost, and the next request gets a connection that works.
 */
#include <stdlib.h>

#include "../tls/tls_test.h"
#include "fault_proxy.h"
#include "http_test.h"
#include "many_server.h"

enum { CALLERS = 12, ROUNDS = 2, STEP_PLAIN = 7, STEP_TLS = 211 };

static struct {
        struct tls_files files;
        bool is_tls;
        struct fault_way up, down; /* the fault */
        bool is_whole;             /* each request must succeed */
        int right, failed;
        uint64_t up_bytes, down_bytes; /* that the last conversation passed */

        eddy_http_client *client;
        char url[64];
} world;

/* ---- requests -------------------------------------------------------------------- */

/* A request must be answered with its own number, if it is answered. */
static int ask(void *arg)
{
        uint64_t topic = *(const uint64_t *) arg;
        char text[24], wanted[24];
        struct eddy_http_header header = { "X-Topic", text };
        struct eddy_http_request request = { .url = world.url,
                                             .headers = &header,
                                             .headers_count = 1 };
        eddy_http_response *response;
        const void *body;
        size_t bytes;
        int err;

        snprintf(text, sizeof(text), "%llu", (unsigned long long) topic);
        snprintf(wanted, sizeof(wanted), "%llu", (unsigned long long) topic + MANY_ANSWERED);
        err = eddy_http_client_send(world.client, &request, &response);
        if (err < 0)
                return err;
        CHECK_EQ(eddy_http_response_status(response), 200);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_STR(body, wanted);
        eddy_http_response_close(response);
        return 0;
}

static int caller_run(void *arg)
{
        uint64_t topic = *(const uint64_t *) arg;

        for (int i = 0; i < ROUNDS; i++) {
                int err = eddy_call_timeout(ask, &topic, EDDY_SEC(20));

                world.right += err == 0;
                world.failed += err < 0;
                topic += CALLERS;
        }
        return 0;
}

static void ask_all(void)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (uint64_t i = 1; i <= CALLERS; i++)
                CHECK_EQ(eddy_scope_start_copy(&scope, caller_run, &i, sizeof(i)), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* ---- a conversation ---------------------------------------------------------------- */

/* After the fault, connections that are still there work, unless they are silent for ever. */
static void ask_again(struct fault_proxy *proxy)
{
        uint64_t topic = 77;
        bool stalls = proxy->up.then == FAULT_STALL || proxy->down.then == FAULT_STALL;

        proxy->up = proxy->down = (struct fault_way){ .delay_ns = 0 };
        http_pause(EDDY_SEC(1));
        if (!stalls)
                CHECK_EQ(eddy_call_timeout(ask, &topic, EDDY_SEC(20)), 0);
}

static void converse(eddy_scope *scope, eddy_tls_config *server_tls, eddy_tls_config *client_tls)
{
        struct many_server server = { .tls = server_tls, .answer_ns = EDDY_MS(4) };
        struct fault_proxy proxy = { .host = "127.0.0.1", .up = world.up, .down = world.down };

        many_begin(scope);
        many_server_start(&server, scope);
        proxy.port = eddy_listener_port(server.listener);
        fault_proxy_start(&proxy, scope);
        CHECK_EQ(eddy_http_client_new(OPTIONS(.per_host_max = 2, .tls = client_tls), &world.client),
                 0);
        many_offer(world.client, NULL);
        snprintf(world.url, sizeof(world.url), "%s://127.0.0.1:%u/",
                 world.is_tls ? "https" : "http", proxy.own_port);
        ask_all();
        world.up_bytes = proxy.passed_up;
        world.down_bytes = proxy.passed_down;
        CHECK_EQ(world.client->pool.in_use, 0);
        CHECK_EQ(world.client->pool.waiting, 0);
        ask_again(&proxy);
        CHECK_EQ(world.client->pool.in_use, 0);
        eddy_http_client_close(world.client);
        http_pause(EDDY_SEC(1));
        CHECK_EQ(many.readers, 0);
        eddy_scope_cancel(scope);
        CHECK_EQ(eddy_scope_end(scope), 0);
        many_server_stop(&server);
        fault_proxy_stop(&proxy);
}

static int converse_main(void *arg)
{
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER,
                                        .cert_file = world.files.cert,
                                        .key_file = world.files.key,
                                        .alpn = "many" };
        struct eddy_tls_opts client = { .ca_file = world.files.cert };
        eddy_tls_config *configs[2] = { NULL, NULL };
        eddy_scope scope;

        (void) arg;
        if (world.is_tls) {
                CHECK_EQ(eddy_tls_config_new(&server, NULL, &configs[0]), 0);
                CHECK_EQ(eddy_tls_config_new(&client, NULL, &configs[1]), 0);
        }
        world.right = world.failed = 0;
        eddy_scope_begin(&scope, NULL);
        converse(&scope, configs[0], configs[1]);
        eddy_tls_config_close(configs[0]);
        eddy_tls_config_close(configs[1]);
        return 0;
}

static void try_fault(const char *name, bool is_whole)
{
        http_run(converse_main, NULL);
        CHECK_EQ(world.right + world.failed, CALLERS * ROUNDS);
        if (is_whole && world.failed > 0)
                test_fail(__FILE__, __LINE__, "%s: %d requests failed", name, world.failed);
        world.up = world.down = (struct fault_way){ .delay_ns = 0 };
}

/* ---- the matrix --------------------------------------------------------------------- */

static void prepare(bool is_tls)
{
        if (!world.files.cert[0])
                tls_files_make_fixed(&world.files);
        world.is_tls = is_tls;
}

static void try_delays(bool is_tls)
{
        static const struct fault_way ways[] = {
                { .delay_ns = EDDY_MS(80) },
                { .delay_ns = EDDY_MS(5), .jitter_ns = EDDY_MS(100) },
                { .bytes_per_s = 4000 },
                { .piece_bytes = 1 },
                { .piece_bytes = 7, .delay_ns = EDDY_US(100) },
                { .end_delay_ns = EDDY_SEC(3) },
        };

        prepare(is_tls);
        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
                world.up = ways[i];
                try_fault("up", true);
                world.down = ways[i];
                try_fault("down", true);
                world.up = world.down = ways[i];
                try_fault("both", true);
        }
}

/* P4 */
TEST(delays_and_pieces_leave_each_answer_right)
{
        try_delays(false);
        try_delays(true);
}

/* Each fault at each byte, or some of them; also one at the first byte that never comes. */
static void try_places(bool is_tls)
{
        static const enum fault_then thens[] = { FAULT_END, FAULT_RESET, FAULT_STALL,
                                                 FAULT_DAMAGE };
        uint64_t step = getenv("EDDY_TEST_FULL") ? 1 : is_tls ? STEP_TLS : STEP_PLAIN;
        uint64_t bytes[2];
        int n = 0, right = 0, failed = 0, damaged = 0;

        prepare(is_tls);
        try_fault("none", true);
        bytes[0] = world.up_bytes;
        bytes[1] = world.down_bytes;
        CHECK(bytes[0] > 0 && bytes[1] > 0);
        for (size_t i = 0; i < sizeof(thens) / sizeof(thens[0]); i++) {
                for (int down = 0; down < 2; down++) {
                        for (uint64_t at = 0; at <= bytes[down]; at += step) {
                                struct fault_way *way = down ? &world.down : &world.up;

                                way->then = thens[i];
                                way->bytes = at;
                                try_fault("a place", false);
                                n++;
                                right += world.right;
                                failed += world.failed;
                                damaged += many.broken;
                        }
                }
        }
        CHECK(right > 0 && failed > 0);
        /* TLS passes on no byte that was changed. */
        CHECK(is_tls ? damaged == 0 : damaged > 0);
        printf("# %s: %d faults: %d answers right, %d errors\n", is_tls ? "TLS" : "plain", n, right,
               failed);
}

/* P4 */
TEST(cuts_and_damage_at_each_byte_mix_no_answers_and_lose_no_slot)
{
        try_places(false);
}

TEST(cuts_and_damage_at_each_byte_of_tls_mix_no_answers_and_lose_no_slot)
{
        try_places(true);
}
