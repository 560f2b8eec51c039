/*
 * test_rate_limit.c - limits of requests: their rate by client, the time of handlers, and their bodies.
 */
#include <string.h>

#include "eddy/http_answer.h"
#include "eddy/http_middleware.h"
#include "http/exchange.h"
#include "http/forwarded.h"
#include "middleware_test.h"

#define POST(fields) "POST /body HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" fields "\r\n"

/* ---- rate ------------------------------------------------------------------ */

static struct eddy_http_rate_limit_opts rate;

static void build_rate(void)
{
        struct eddy_http_trusted_proxies_opts proxies = { .networks = "127.0.0.1" };

        CHECK_EQ(eddy_http_use_trusted_proxies(guarded.router, &proxies), 0);
        CHECK_EQ(eddy_http_use_rate_limit(guarded.router, &rate), 0);
}

static void build_three(void)
{
        rate = (struct eddy_http_rate_limit_opts){ .requests = 3 };
        build_rate();
}

static int ask_from(struct site *site, const char *client)
{
        static char request[300];

        snprintf(request, sizeof(request), GET_WITH("/ok", "X-Forwarded-For: %s\r\n"), client);
        return ask(site, request)->status;
}

GUARDED_TEST(a_client_beyond_its_rate_is_refused_until_its_bucket_has_refilled, build_three)
{
        const struct answer *answer;

        for (int i = 0; i < 3; i++)
                CHECK_EQ(ask_from(site, "198.51.100.7"), 200);
        answer = ask(site, GET_WITH("/none", "X-Forwarded-For: 198.51.100.7\r\n"));
        CHECK_EQ(answer->status, 429);
        CHECK_HAS(answer->text, "Retry-After: 20\r\n");
        CHECK_HAS(answer->text, "{\"title\":\"Too Many Requests\",\"status\":429}");
        CHECK_EQ(guarded.handled, 3);
        CHECK_EQ(ask_from(site, "198.51.100.8"), 200);
        CHECK_EQ(eddy_sleep(EDDY_SEC(19)), 0);
        CHECK_EQ(ask_from(site, "198.51.100.7"), 429);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        CHECK_EQ(ask_from(site, "198.51.100.7"), 200);
        CHECK_EQ(ask_from(site, "198.51.100.7"), 429);
        CHECK_EQ(eddy_sleep(EDDY_SEC(80)), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(ask_from(site, "198.51.100.7"), 200);
        CHECK_EQ(ask_from(site, "198.51.100.7"), 429);
}

GUARDED_TEST(addresses_of_an_ipv6_network_are_a_client, build_three)
{
        CHECK_EQ(ask_from(site, "2001:db8::1"), 200);
        CHECK_EQ(ask_from(site, "2001:db8::ffff:1"), 200);
        CHECK_EQ(ask_from(site, "[2001:db8::2]:80"), 200);
        CHECK_EQ(ask_from(site, "2001:db8::3"), 429);
        CHECK_EQ(ask_from(site, "2001:db8:0:1::3"), 200);
}

/* Give the request the peer that a listener of "::" reports for the IPv4 address in its header. */
static int map_peer(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        struct ed_http_forwarded mapped = { .scheme = NULL };
        char text[EDDY_ENDPOINT_TEXT_BYTES];
        int result;

        (void) arg;
        snprintf(text, sizeof(text), "[::ffff:%s]:4711",
                 eddy_http_exchange_header(exchange, "X-Forwarded-For"));
        CHECK_EQ(eddy_endpoint_parse(text, &mapped.client), 0);
        exchange->forwarded = &mapped;
        result = eddy_http_next(exchange, next);
        exchange->forwarded = NULL;
        return result;
}

static int show_client(eddy_http_exchange *exchange, void *arg)
{
        char client[EDDY_HTTP_CLIENT_BYTES];

        (void) arg;
        eddy_http_exchange_client_text(exchange, client);
        return eddy_http_exchange_respond_text(exchange, 200, client);
}

static void build_mapped(void)
{
        rate = (struct eddy_http_rate_limit_opts){ .requests = 2 };
        guarded.show = show_client;
        CHECK_EQ(eddy_http_router_use(guarded.router, map_peer, NULL), 0);
        CHECK_EQ(eddy_http_use_rate_limit(guarded.router, &rate), 0);
}

GUARDED_TEST(clients_with_ipv4_at_a_listener_of_ipv6_are_different_clients, build_mapped)
{
        CHECK_STR(body_of(ask(site, GET_WITH("/show", "X-Forwarded-For: 198.51.100.7\r\n"))),
                  "198.51.100.7");
        CHECK_EQ(ask_from(site, "198.51.100.7"), 200);
        CHECK_EQ(ask_from(site, "198.51.100.7"), 429);
        CHECK_EQ(ask_from(site, "198.51.100.8"), 200);
}

static void build_burst(void)
{
        rate = (struct eddy_http_rate_limit_opts){ .requests = 10,
                                                   .burst = 1,
                                                   .window_ns = EDDY_SEC(1) };
        build_rate();
}

GUARDED_TEST(a_burst_is_smaller_than_the_requests_of_a_window, build_burst)
{
        for (int i = 0; i < 20; i++) {
                CHECK_EQ(ask_from(site, "198.51.100.7"), 200);
                CHECK_HAS(ask(site, GET_WITH("/ok", "X-Forwarded-For: 198.51.100.7\r\n"))->text,
                          "Retry-After: 1\r\n");
                CHECK_EQ(eddy_sleep(EDDY_MS(100)), 0);
        }
}

static void build_few(void)
{
        rate = (struct eddy_http_rate_limit_opts){ .requests = 1, .clients_max = 1 };
        build_rate();
}

GUARDED_TEST(more_clients_than_places_are_never_refused_for_others, build_few)
{
        char client[30];

        for (int i = 1; i < 30; i++) {
                snprintf(client, sizeof(client), "198.51.100.%d", i);
                CHECK_EQ(ask_from(site, client), 200);
        }
        CHECK_EQ(ask_from(site, "198.51.100.29"), 429);
        CHECK_EQ(ask_from(site, "198.51.100.1"), 200);
}

static const char *key_of(eddy_http_exchange *exchange, void *arg)
{
        CHECK(arg == &rate);
        return eddy_http_exchange_header(exchange, "X-User");
}

static void build_keys(void)
{
        rate = (struct eddy_http_rate_limit_opts){ .requests = 1, .key = key_of, .key_arg = &rate };
        build_rate();
}

GUARDED_TEST(requests_can_be_counted_by_any_text, build_keys)
{
        CHECK_EQ(ask(site, GET_WITH("/ok", "X-User: a\r\n"))->status, 200);
        CHECK_EQ(ask(site, GET_WITH("/ok", "X-User: b\r\n"))->status, 200);
        CHECK_EQ(ask(site, GET_WITH("/ok", "X-User: a\r\n"))->status, 429);
        CHECK_EQ(ask(site, GET("/ok"))->status, 200);
        CHECK_EQ(ask(site, GET("/ok"))->status, 200);
}

/* ---- time ------------------------------------------------------------------ */

static void build_timeout(void)
{
        CHECK_EQ(eddy_http_use_timeout(guarded.router, EDDY_SEC(10)), 0);
}

GUARDED_TEST_WITH(a_handler_that_takes_too_long_is_cancelled, SERVER_OPTIONS(.upload_rate_min = -1),
                  build_timeout)
{
        const struct answer *answer = ask(site, GET("/wait"));

        CHECK_EQ(answer->status, 503);
        CHECK_EQ(answer->lasted_ns / EDDY_SEC(1), 10);
        CHECK_EQ(ask(site, GET("/ok"))->status, 200);
        CHECK_EQ(ask(site, GET("/result/-5"))->status, 500);
        answer = ask(site, "GET /begun HTTP/1.1\r\nHost: a\r\n\r\n");
        CHECK_EQ(answer->status, 200);
        CHECK_EQ(answer->lasted_ns / EDDY_SEC(1), 10);
        CHECK_HAS_NOT(answer->text, "\r\n0\r\n");
        answer = ask(site, POST("Content-Length: 5\r\n") "abc");
        CHECK_EQ(answer->status, 503);
}

/* ---- bodies ---------------------------------------------------------------- */

static void build_body(void)
{
        CHECK_EQ(eddy_http_use_body_limit(guarded.router, 8), 0);
}

#define CHUNKED POST("Transfer-Encoding: chunked\r\n")

GUARDED_TEST(a_body_of_known_length_is_refused_without_the_handler, build_body)
{
        CHECK_STR(body_of(ask(site, POST("Content-Length: 8\r\n") "12345678")), "8");
        CHECK_EQ(ask(site, GET("/ok"))->status, 200);
        CHECK_EQ(guarded.handled, 2);
        CHECK_HAS(ask(site, POST("Content-Length: 9\r\n") "123456789")->text,
                  "\"status\":413,\"detail\":\"the body is too large\"");
        CHECK_HAS_NOT(ask(site, POST("Content-Length: 9\r\nExpect: 100-continue\r\n"))->text,
                      "100 Continue");
        CHECK_EQ(guarded.handled, 2);
}

GUARDED_TEST(another_body_is_refused_while_it_is_read, build_body)
{
        CHECK_STR(body_of(ask(site, CHUNKED "3\r\nabc\r\n5\r\nabcde\r\n0\r\n\r\n")), "8");
        CHECK_EQ(ask(site, CHUNKED "9\r\nabcdefghi\r\n0\r\n\r\n")->status, 413);
        CHECK_EQ(ask(site, CHUNKED "3\r\nabc\r\n6\r\nabcdef\r\n0\r\n\r\n")->status, 413);
        CHECK_EQ(ask(site, CHUNKED "7fffffffffffffff\r\n")->status, 413);
}

static void build_more(void)
{
        CHECK_EQ(eddy_http_use_body_limit(guarded.router, UINT64_MAX), 0);
}

GUARDED_TEST_WITH(a_limit_above_the_servers_changes_nothing, SERVER_OPTIONS(.body_bytes_max = 4),
                  build_more)
{
        CHECK_EQ(ask(site, CHUNKED "5\r\nabcde\r\n0\r\n\r\n")->status, 413);
        CHECK_STR(body_of(ask(site, CHUNKED "4\r\nabcd\r\n0\r\n\r\n")), "4");
}

/* ---- mistakes -------------------------------------------------------------- */

TEST(limits_that_are_out_of_range_are_mistakes_of_the_router)
{
        static const struct eddy_http_rate_limit_opts bad[] = {
                { .requests = 0 },
                { .requests = 1, .burst = 2 },
                { .requests = 1, .window_ns = -1 },
                { .requests = 1, .window_ns = INT64_MAX },
                { .requests = 1, .clients_max = UINT32_MAX },
        };
        const char *text;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                CHECK_EQ(eddy_http_router_new(&guarded.router), 0);
                CHECK_ERR(eddy_http_use_rate_limit(guarded.router, &bad[i]), -EINVAL);
                CHECK_ERR(eddy_http_router_check(guarded.router, &text), -EINVAL);
                CHECK_HAS(text, "eddy_http_use_rate_limit()");
                eddy_http_router_free(guarded.router);
        }
        CHECK_EQ(eddy_http_router_new(&guarded.router), 0);
        CHECK_ERR(eddy_http_use_rate_limit(guarded.router, NULL), -EINVAL);
        CHECK_ERR(eddy_http_use_timeout(guarded.router, 0), -EINVAL);
        eddy_http_router_free(guarded.router);
}

static int answer_ok(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static void build_mounted(void)
{
        eddy_http_router *api;

        CHECK_EQ(eddy_http_router_new(&api), 0);
        CHECK_EQ(eddy_http_use_body_limit(api, 4), 0);
        CHECK_EQ(eddy_http_router_add(api, "POST /ok", answer_ok, NULL, NULL), 0);
        CHECK_EQ(eddy_http_router_mount(guarded.router, "/api", api), 0);
}

#define POST_API(fields) SAY("POST", "/api/ok", fields)

/* The way of a server with large uploads. */
GUARDED_TEST_WITH(the_limit_of_a_mounted_router_leaves_the_routes_beside_it,
                  SERVER_OPTIONS(.body_bytes_max = 8), build_mounted)
{
        CHECK_STR(body_of(ask(site, POST("Content-Length: 8\r\n") "12345678")), "8");
        CHECK_EQ(ask(site, POST("Content-Length: 9\r\n") "123456789")->status, 413);
        CHECK_EQ(ask(site, POST_API("Content-Length: 4\r\n") "1234")->status, 200);
        CHECK_EQ(ask(site, POST_API("Content-Length: 5\r\n") "12345")->status, 413);
}

static int build_and_ask(void *arg)
{
        struct eddy_http_rate_limit_opts opts = { .requests = 1, .clients_max = 8 };
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        int err = eddy_http_router_new(&router);

        (void) arg;
        if (err < 0)
                return err;
        (void) eddy_http_use_rate_limit(router, &opts);
        (void) eddy_http_use_timeout(router, EDDY_SEC(1));
        (void) eddy_http_use_body_limit(router, 10);
        (void) eddy_http_router_add(router, "GET /", answer_ok, NULL, NULL);
        err = guarded_ask(router, "http://a/", NULL, 0);
        if (err == 200)
                err = guarded_ask(router, "http://a/", NULL, 0);
        return err < 0 ? err : err == 429 || err == 500 ? 0 : -EPROTO;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        guarded_sweep(build_and_ask);
}
