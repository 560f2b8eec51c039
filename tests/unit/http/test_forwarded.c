/*
 * test_forwarded.c - the client's address through proxies: only what trusted proxies have written counts.
 * The peer of each test is 127.0.0.1.
 */
#include <string.h>

#include "eddy/http_forwarded.h"
#include "middleware_test.h"

#define NETWORKS "127.0.0.0/8, 10.0.0.0/8,2001:db8:1::/48,192.0.2.7"

/* Answer with the client's address, scheme and host. */
static int show_client(eddy_http_exchange *exchange, void *arg)
{
        char text[500], client[EDDY_HTTP_CLIENT_BYTES], endpoint[EDDY_ENDPOINT_TEXT_BYTES];

        (void) arg;
        eddy_http_exchange_client_text(exchange, client);
        eddy_endpoint_format(eddy_http_exchange_client(exchange), endpoint);
        snprintf(text, sizeof(text), "%s %s %s%s", client, eddy_http_exchange_scheme(exchange),
                 eddy_http_exchange_client_host(exchange),
                 strstr(endpoint, ":4711") ? " 4711" : "");
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, text, strlen(text));
}

static void use(const char *networks, uint32_t flags)
{
        char copy[100];

        snprintf(copy, sizeof(copy), "%s", networks);
        guarded.show = show_client;
        CHECK_EQ(eddy_http_use_trusted_proxies(guarded.router,
                                               &(struct eddy_http_trusted_proxies_opts){
                                                       .networks = copy, .flags = flags }),
                 0);
        memset(copy, 'x', sizeof(copy));
}

struct seen {
        const char *fields; /* of the request */
        const char *client; /* and scheme and host */
};

static void check_all(struct site *site, const struct seen *cases, size_t count)
{
        static char request[70000];

        for (size_t i = 0; i < count; i++) {
                snprintf(request, sizeof(request), GET_WITH("/show", "%s"), cases[i].fields);
                CHECK_STR(body_of(ask(site, request)), cases[i].client);
        }
}

#define CHECK_ALL(site, cases) check_all((site), (cases), sizeof(cases) / sizeof((cases)[0]))
#define FOR(value)             "X-Forwarded-For: " value "\r\n"
#define IS(client)             client " http a"

/* ---- X-Forwarded-For ------------------------------------------------------- */

static void build(void)
{
        use(NETWORKS, 0);
}

GUARDED_TEST(the_client_is_the_rightmost_address_that_is_not_trusted, build)
{
        static const struct seen cases[] = {
                { "", IS("127.0.0.1") },
                { FOR("198.51.100.7"), IS("198.51.100.7") },
                { FOR("6.6.6.6, 198.51.100.7"), IS("198.51.100.7") },
                { FOR("6.6.6.6") FOR("198.51.100.7, 10.1.2.3"), IS("198.51.100.7") },
                { FOR("198.51.100.7, 10.0.0.1,192.0.2.7 , 127.3.3.3"), IS("198.51.100.7") },
                { FOR("198.51.100.7, 192.0.2.8"), IS("192.0.2.8") },
                { FOR("10.0.0.1, 10.0.0.2"), IS("10.0.0.1") },
                { FOR("2001:db8:2::5, 2001:DB8:1::1"), IS("2001:db8:2::5") },
                { FOR("198.51.100.7:4711"), IS("198.51.100.7") " 4711" },
                { FOR("[2001:db8::5]:4711"), IS("2001:db8::5") " 4711" },
                { FOR("[2001:db8::5]"), IS("2001:db8::5") },
                { FOR("198.51.100.7, ::ffff:10.0.0.1"), IS("198.51.100.7") },
                { FOR("::ffff:198.51.100.7"), IS("198.51.100.7") },
                { FOR(",, 198.51.100.7 ,"), IS("198.51.100.7") },
        };

        CHECK_ALL(site, cases);
}

GUARDED_TEST(an_item_that_is_not_an_address_ends_the_reading, build)
{
        static const struct seen cases[] = {
                { FOR("unknown"), IS("127.0.0.1") },
                { FOR("6.6.6.6, unknown"), IS("127.0.0.1") },
                { FOR("6.6.6.6, unknown, 10.0.0.9"), IS("10.0.0.9") },
                { FOR("6.6.6.6, 1.2.3, 10.0.0.9, 10.0.0.8"), IS("10.0.0.9") },
                { FOR("x, 198.51.100.7, 10.0.0.9"), IS("198.51.100.7") },
                { FOR("010.0.0.1"), IS("127.0.0.1") },
                { FOR("127.1"), IS("127.0.0.1") },
                { FOR("0x7f.0.0.1"), IS("127.0.0.1") },
                { FOR("[2001:db8::5"), IS("127.0.0.1") },
                { FOR("[2001:db8::5]4711"), IS("127.0.0.1") },
                { FOR("[]"), IS("127.0.0.1") },
                { FOR(":4711"), IS("127.0.0.1") },
                { FOR("localhost"), IS("127.0.0.1") },
                { FOR("6.6.6.6 198.51.100.7"), IS("127.0.0.1") },
                { FOR("\"198.51.100.7\""), IS("127.0.0.1") },
                { FOR(""), IS("127.0.0.1") },
        };

        CHECK_ALL(site, cases);
}

GUARDED_TEST(other_headers_of_a_client_are_not_read_without_their_flag, build)
{
        static const struct seen cases[] = {
                { "Forwarded: for=6.6.6.6;proto=https;host=evil.test\r\n", IS("127.0.0.1") },
                { "X-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.test\r\n", IS("127.0.0.1") },
                { "X-Real-IP: 6.6.6.6\r\n", IS("127.0.0.1") },
        };

        CHECK_ALL(site, cases);
}

static void build_with_all(void)
{
        use(NETWORKS, EDDY_HTTP_TRUST_PROTO | EDDY_HTTP_TRUST_HOST);
}

GUARDED_TEST(scheme_and_host_are_the_last_that_a_proxy_has_set, build_with_all)
{
        static const struct seen cases[] = {
                { "X-Forwarded-Proto: https\r\n", "127.0.0.1 https a" },
                { "X-Forwarded-Proto: https, HTTP\r\n", "127.0.0.1 http a" },
                { "X-Forwarded-Proto: http\r\nX-Forwarded-Proto: HTTPS\r\n", "127.0.0.1 https a" },
                { "X-Forwarded-Proto: javascript\r\n", "127.0.0.1 http a" },
                { "X-Forwarded-Host: b.test:8080\r\n", "127.0.0.1 http b.test:8080" },
                { "X-Forwarded-Host: b.test, [::1]:80\r\n", "127.0.0.1 http [::1]:80" },
                { "X-Forwarded-Host: b/x\r\n", "127.0.0.1 http a" },
                { "X-Forwarded-Host: a b\r\n", "127.0.0.1 http a" },
                { "X-Forwarded-Host: b@c\r\n", "127.0.0.1 http a" },
        };
        static char fields[1000];
        const struct seen large = { fields, "127.0.0.1 http a" };

        CHECK_ALL(site, cases);
        snprintf(fields, sizeof(fields), "X-Forwarded-Host: %0*d\r\n", 256, 0);
        check_all(site, &large, 1);
}

static void build_elsewhere(void)
{
        use("10.0.0.0/8,::/0", EDDY_HTTP_TRUST_PROTO | EDDY_HTTP_TRUST_HOST | EDDY_HTTP_TRUST_UNIX);
}

GUARDED_TEST(a_peer_that_is_not_trusted_is_the_client, build_elsewhere)
{
        static const struct seen cases[] = {
                { FOR("6.6.6.6") "X-Forwarded-Proto: https\r\nX-Forwarded-Host: b\r\n",
                  IS("127.0.0.1") },
        };

        CHECK_ALL(site, cases);
}

static void build_mapped(void)
{
        use("::ffff:127.0.0.0/104, ::ffff:10.1.2.3", 0);
}

GUARDED_TEST(a_network_of_mapped_addresses_is_that_of_ipv4, build_mapped)
{
        static const struct seen cases[] = {
                { FOR("198.51.100.7"), IS("198.51.100.7") },
                { FOR("198.51.100.7, 10.1.2.3"), IS("198.51.100.7") },
                { FOR("198.51.100.7, ::ffff:10.1.2.3"), IS("198.51.100.7") },
                { FOR("198.51.100.7, 10.1.2.4"), IS("10.1.2.4") },
        };

        check_all(site, cases, sizeof(cases) / sizeof(cases[0]));
}

static void build_nothing(void)
{
        guarded.show = show_client;
}

GUARDED_TEST(without_the_middleware_no_header_counts, build_nothing)
{
        static const struct seen cases[] = { { FOR("6.6.6.6"), IS("127.0.0.1") } };

        CHECK_ALL(site, cases);
        CHECK_EQ(eddy_http_use_trusted_proxies(guarded.router, NULL), 0);
}

/* ---- Forwarded ------------------------------------------------------------- */

#define FWD(value) "Forwarded: " value "\r\n"

static void build_forwarded(void)
{
        use(NETWORKS, EDDY_HTTP_TRUST_PROTO | EDDY_HTTP_TRUST_HOST | EDDY_HTTP_TRUST_FORWARDED);
}

GUARDED_TEST(forwarded_is_read_from_the_right_as_well, build_forwarded)
{
        static const struct seen cases[] = {
                { FWD("for=198.51.100.7"), IS("198.51.100.7") },
                { FWD("For=\"[2001:db8::5]:4711\""), IS("2001:db8::5") " 4711" },
                { FWD("for=\"198.51.100.7:_port\""), IS("198.51.100.7") },
                { FWD("for=6.6.6.6;proto=http, for=198.51.100.7;proto=https;host=b.test"),
                  "198.51.100.7 https b.test" },
                { FWD("for=198.51.100.7;proto=https;host=\"b.test:81\" , for=10.0.0.1;proto=http"),
                  "198.51.100.7 https b.test:81" },
                { FWD("proto=https; for=198.51.100.7 ; by=10.0.0.1"), "198.51.100.7 https a" },
                { FWD("for=6.6.6.6") FWD("for=198.51.100.7"), IS("198.51.100.7") },
                { FWD(",, for=198.51.100.7,"), IS("198.51.100.7") },
                { FWD("for=6.6.6.6;x=\"a,b;c\\\"d\", for=198.51.100.7"), IS("198.51.100.7") },
                { FOR("6.6.6.6"), IS("127.0.0.1") },
                { "X-Forwarded-Proto: https\r\n", IS("127.0.0.1") },
        };

        CHECK_ALL(site, cases);
}

GUARDED_TEST(a_forwarded_that_is_wrong_names_no_client, build_forwarded)
{
        static const struct seen cases[] = {
                { FWD("for=unknown"), IS("127.0.0.1") },
                { FWD("for=_hidden;proto=https"), IS("127.0.0.1") },
                { FWD("for=6.6.6.6, for=_hidden, for=10.0.0.5"), IS("10.0.0.5") },
                { FWD("proto=https"), IS("127.0.0.1") },
                { FWD("for=6.6.6.6, for=\""), IS("127.0.0.1") },
                { FWD("for=6.6.6.6, for=\"x, for=198.51.100.7"), IS("127.0.0.1") },
                { FWD("for=6.6.6.6, for=\"x\\"), IS("127.0.0.1") },
                { FWD("for=6.6.6.6;for=198.51.100.7"), IS("127.0.0.1") },
                { FWD("for=6.6.6.6 for=198.51.100.7"), IS("127.0.0.1") },
                { FWD("for =6.6.6.6"), IS("127.0.0.1") },
                { FWD("for=6.6.6.6\"x\""), IS("127.0.0.1") },
                { FWD("for=6.6.6.6;"), IS("127.0.0.1") },
                { FWD("=;="), IS("127.0.0.1") },
                { FWD("for="), IS("127.0.0.1") },
                { FWD("for"), IS("127.0.0.1") },
                { FWD(""), IS("127.0.0.1") },
                { FWD("for=\"x") FWD("for=198.51.100.7"), IS("198.51.100.7") },
        };
        static char fields[2000];
        const struct seen large = { fields, IS("127.0.0.1") };

        CHECK_ALL(site, cases);
        snprintf(fields, sizeof(fields), "Forwarded: for=6.6.6.6;x=%0*d\r\n", 256, 0);
        check_all(site, &large, 1);
}

/* ---- mistakes -------------------------------------------------------------- */

TEST(networks_that_are_not_valid_are_mistakes_of_the_router)
{
        static const char *const bad[] = {
                "10.0.0.0/33", "10.1.0.0/8",  "10.0.0.0/",   "10.0.0/8",    "::/129",
                "::1/64",      "/8",          "localhost",   "10.0.0.0/-1", "10.0.0.0/8 10.0.0.1",
                "fe80::1%2",   "10.0.0.0/8x", "010.0.0.0/8", "10.0.0.1, x", "10.0.0.0/+8",
        };
        const char *text;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                struct eddy_http_trusted_proxies_opts opts = { .networks = bad[i] };

                CHECK_EQ(eddy_http_router_new(&guarded.router), 0);
                CHECK_ERR(eddy_http_use_trusted_proxies(guarded.router, &opts), -EINVAL);
                CHECK_ERR(eddy_http_router_check(guarded.router, &text), -EINVAL);
                CHECK_HAS(text, "'networks'");
                eddy_http_router_free(guarded.router);
        }
}

static int build_and_ask(void *arg)
{
        static const struct eddy_http_header header = { "X-Forwarded-For", "198.51.100.7" };
        struct eddy_http_trusted_proxies_opts opts = { .networks = "10.0.0.0/8",
                                                       .flags = EDDY_HTTP_TRUST_UNIX };
        EDDY_AUTO(eddy_http_router) eddy_http_router *router = NULL;
        int err = eddy_http_router_new(&router);

        (void) arg;
        if (err < 0)
                return err;
        (void) eddy_http_use_trusted_proxies(router, &opts);
        (void) eddy_http_router_add(router, "GET /", show_client, NULL, NULL);
        err = guarded_ask(router, "http://a/", &header, 1);
        return err < 0 ? err : err == 200 || err == 500 ? 0 : -EPROTO;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        guarded_sweep(build_and_ask);
}
