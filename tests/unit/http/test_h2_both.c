/*
 * test_h2_both.c - eddy's client and server speak HTTP/2 with each other: chosen by ALPN, or without TLS.
 */
#include "../tls/tls_test.h"
#include "server_test.h"

enum { REQUESTS = 1000, AT_ONCE = 100, BIG = 3 << 20 };

static struct {
        eddy_http_client *client;
        char url[64];
        int left, done;
        bool is_client_off, is_server_off; /* the option */
        bool is_plain;
        bool hold; /* handlers wait until it is false */
} both;

/* Say the number of the path, so often that the number is the length, and sometimes after a while. */
static int say_number(eddy_http_exchange *exchange, const char *number)
{
        unsigned long n = strtoul(number, NULL, 10), sent = 0;
        size_t bytes = strlen(number);
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, -1);

        if (n % 3 == 0)
                (void) eddy_sleep(EDDY_MS((int64_t) n % 20));
        while (err >= 0 && sent < n) {
                err = eddy_http_exchange_write(exchange, number, bytes);
                sent += bytes;
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        if (strcmp(eddy_http_exchange_method(exchange), "POST") == 0)
                return http_echo(exchange, NULL);
        if (strlen(eddy_http_exchange_path(exchange)) > 1)
                return say_number(exchange, eddy_http_exchange_path(exchange) + 1);
        while (both.hold && eddy_sleep(EDDY_MS(10)) == 0)
                ;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static void prepare(struct site *site)
{
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER }, client = { .flags = 0 };
        struct eddy_http_client_opts opts = { .flags = 0 };
        struct tls_files files;

        site->handler = handle;
        site->opts.drain_ns = EDDY_SEC(30);
        site->opts.flags |= both.is_server_off ? EDDY_HTTP_SERVER_HTTP1_ONLY : 0;
        if (both.is_client_off)
                opts.flags = EDDY_HTTP_CLIENT_HTTP1_ONLY;
        else if (both.is_plain)
                opts.flags = EDDY_HTTP_CLIENT_H2C;
        if (!both.is_plain) {
                tls_files_make(&files, "127.0.0.1");
                server.cert_file = client.ca_file = files.cert;
                server.key_file = files.key;
                CHECK_EQ(eddy_tls_config_new(&server, NULL, &site->opts.tls), 0);
                CHECK_EQ(eddy_tls_config_new(&client, NULL, &site->client_tls), 0);
                opts.tls = site->client_tls;
        }
        CHECK_EQ(eddy_http_client_new(&opts, &both.client), 0);
}

static void run_and_close(struct site *site, site_fn *fn)
{
        snprintf(both.url, sizeof(both.url), "http%s://127.0.0.1:%u/", both.is_plain ? "" : "s",
                 site->port);
        fn(site);
        eddy_http_client_close(both.client);
}

/* BOTH_TEST(claim, settings of 'both') { ... site ... } */
#define BOTH_TEST(claim, ...)                                                                      \
        static void both_##claim(struct site *site);                                               \
        static void run_##claim(struct site *site)                                                 \
        {                                                                                          \
                run_and_close(site, both_##claim);                                                 \
        }                                                                                          \
        TEST(claim)                                                                                \
        {                                                                                          \
                for (int real = 0; real < 2; real++) {                                             \
                        memset(&both, 0, sizeof(both));                                            \
                        __VA_ARGS__;                                                               \
                        site_run_prepared(NULL, real == 1, prepare, run_##claim);                  \
                }                                                                                  \
        }                                                                                          \
        static void both_##claim(struct site *site)

/* Fetch once. Returns the version, or an error. */
static int fetch(void)
{
        struct eddy_http_request request = { .url = both.url };
        struct eddy_http_response_info info;
        eddy_http_response *response;
        const void *body;
        size_t bytes;
        int err = eddy_http_client_send(both.client, &request, &response);

        if (err < 0)
                return err;
        eddy_http_response_info(response, &info);
        err = eddy_http_response_body(response, &body, &bytes);
        if (err >= 0) {
                CHECK_EQ(bytes, 2);
                CHECK_STR(body, "ok");
        }
        eddy_http_response_close(response);
        return err < 0 ? err : info.version;
}

static int fetch_in_turn(void *arg)
{
        while (both.left > 0) {
                both.left--;
                CHECK_EQ(fetch(), *(int *) arg);
                both.done++;
        }
        return 0;
}

/* Returns the number of connections. */
static uint64_t fetch_many(int version)
{
        struct eddy_http_client_stats stats;
        eddy_scope scope;

        both.left = REQUESTS;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < AT_ONCE; i++)
                CHECK_EQ(eddy_scope_start(&scope, fetch_in_turn, &version), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(both.done, REQUESTS);
        eddy_http_client_stats(both.client, &stats);
        CHECK_EQ(stats.streams, 0);
        CHECK_EQ(stats.http2_connections, version == 20 ? stats.connections : 0);
        return stats.connections;
}

BOTH_TEST(a_thousand_requests_share_two_connections_by_alpn, both.is_plain = false)
{
        (void) site;
        CHECK_EQ(fetch(), 20);
        both.done = 0;
        CHECK(fetch_many(20) <= 2);
}

BOTH_TEST(a_thousand_requests_share_two_connections_with_prior_knowledge, both.is_plain = true)
{
        (void) site;
        CHECK(fetch_many(20) <= 2);
}

BOTH_TEST(server_that_speaks_http_1_only_gets_http_1, both.is_server_off = true)
{
        (void) site;
        CHECK(fetch_many(11) <= AT_ONCE);
}

BOTH_TEST(client_that_offers_http_1_only_gets_http_1, both.is_client_off = true)
{
        (void) site;
        CHECK_EQ(fetch(), 11);
}

BOTH_TEST(large_body_goes_both_ways, both.is_plain = false)
{
        char *body = eddy_malloc(BIG);
        struct eddy_http_request request = {
                .method = "POST", .url = both.url, .body = body, .body_bytes = BIG
        };
        eddy_http_response *response;
        const void *data;
        size_t bytes;

        (void) site;
        for (int i = 0; i < BIG; i++)
                body[i] = (char) (i % 251);
        CHECK_EQ(eddy_http_client_send(both.client, &request, &response), 0);
        CHECK_EQ(eddy_http_response_body(response, &data, &bytes), 0);
        CHECK_EQ(bytes, BIG);
        CHECK(memcmp(data, body, BIG) == 0);
        eddy_http_response_close(response);
        eddy_free(body);
}

static int fetch_held(void *arg)
{
        *(int *) arg = fetch();
        return 0;
}

/* The server's GOAWAY lets requests end that have begun. */
BOTH_TEST(server_that_stops_answers_what_has_begun, both.is_plain = false)
{
        struct eddy_scope_opts shield = { .flags = EDDY_SCOPE_SHIELD, .deadline_ns = INT64_MAX };
        int versions[10] = { 0 };
        eddy_scope scope;

        CHECK_EQ(fetch(), 20);
        both.hold = true;
        eddy_scope_begin(&scope, &shield);
        for (int i = 0; i < 10; i++)
                CHECK_EQ(eddy_scope_start(&scope, fetch_held, &versions[i]), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(100)), 0);
        eddy_scope_cancel(site->scope);
        CHECK_EQ(eddy_sleep(EDDY_MS(100)), 0);
        both.hold = false;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 10; i++)
                CHECK_EQ(versions[i], 20);
}

/* ---- random requests and cancels --------------------------------------------------- */

/* The second with EDDY_TEST_FULL. */
enum { RANDOM_REQUESTS = 1000, RANDOM_REQUESTS_ALL = 100000, RANDOM_TASKS = 40 };

static uint64_t state;

/* Returns a random number from 0 to n - 1. */
static unsigned draw(unsigned n)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (unsigned) (state >> 33) % n;
}

static struct {
        int whole, part, cancelled;
} ends;

/* The body so far must be the number, again and again. */
static void check_number(const char *body, size_t bytes, unsigned number)
{
        char text[16];
        int digits = snprintf(text, sizeof(text), "%u", number);

        for (size_t i = 0; i < bytes; i++)
                if (body[i] != text[i % (size_t) digits])
                        test_fail(__FILE__, __LINE__, "byte %zu of answer %u is of another", i,
                                  number);
}

static int ask_random(void *arg)
{
        unsigned number = 1 + draw(30000);
        char url[96], part[512];
        struct eddy_http_request request = { .url = url };
        eddy_http_response *response;
        const void *body;
        size_t bytes;
        int64_t n;
        int err;

        (void) arg;
        snprintf(url, sizeof(url), "%s%u", both.url, number);
        err = eddy_http_client_send(both.client, &request, &response);
        if (err < 0)
                return err;
        if (draw(3) == 0) {
                n = eddy_http_response_read(response, part, 1 + draw(sizeof(part)));
                check_number(part, n > 0 ? (size_t) n : 0, number);
                err = n < 0 ? (int) n : 0;
                ends.part += n > 0;
        } else {
                err = eddy_http_response_body(response, &body, &bytes);
                if (err >= 0) {
                        CHECK(bytes >= number);
                        check_number(body, bytes, number);
                        ends.whole++;
                }
        }
        eddy_http_response_close(response);
        return err;
}

static int ask_at_random(void *arg)
{
        int err;

        (void) arg;
        while (both.left > 0) {
                both.left--;
                err = draw(4) ? ask_random(NULL)
                              : eddy_call_timeout(ask_random, NULL, EDDY_US(draw(30000)));
                ends.cancelled += err == -ETIMEDOUT;
                if (err < 0 && err != -ETIMEDOUT)
                        test_fail(__FILE__, __LINE__, "%s", eddy_error_name(err));
        }
        return 0;
}

/* B8: P1, P2 */
BOTH_TEST(each_random_answer_is_its_callers_and_cancels_end_no_other, state = 88172645463325252)
{
        eddy_scope scope;

        (void) site;
        memset(&ends, 0, sizeof(ends));
        CHECK_EQ(fetch(), 20);
        both.left = getenv("EDDY_TEST_FULL") ? RANDOM_REQUESTS_ALL : RANDOM_REQUESTS;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < RANDOM_TASKS; i++)
                CHECK_EQ(eddy_scope_start(&scope, ask_at_random, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(ends.whole > 100 && ends.part > 100 && ends.cancelled > 0);
        CHECK_EQ(fetch(), 20);
        printf("# %d whole answers, %d in part, %d cancelled\n", ends.whole, ends.part,
               ends.cancelled);
}
