/*
 * test_https.c - HTTP over TLS: kept connections that the server ends, uploads whose tail TLS
 * holds, and clients that are slow.
 */
#include "../tls/tls_test.h"
#include "eddy/test_net.h"
#include "fault_proxy.h"
#include "http/client.h"
#include "http/linger.h"
#include "server_test.h"

#define HOST  "Host: h\r\n"
#define CLOSE "Connection: close\r\n"

/* A server's configuration for 127.0.0.1, and a client's that trusts it. */
static struct tls_files fixed; /* if they were made before the run */

static void configs_make(eddy_tls_config **ret_server, eddy_tls_config **ret_client)
{
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER }, client = { .flags = 0 };
        struct tls_files files = fixed;

        if (!files.cert[0])
                tls_files_make(&files, "127.0.0.1");
        server.cert_file = client.ca_file = files.cert;
        server.key_file = files.key;
        CHECK_EQ(eddy_tls_config_new(&server, NULL, ret_server), 0);
        CHECK_EQ(eddy_tls_config_new(&client, NULL, ret_client), 0);
}

/* ---- a client of eddy against a script --------------------------------------- */

struct https_call {
        const struct script *scripts;
        size_t n;
        rig_fn *fn;
        struct fault_proxy *proxy; /* between both; NULL: none */
};

static int https_main(void *arg)
{
        struct https_call *call = arg;
        static struct rig rig;
        struct eddy_http_client_opts opts = { 0 };
        eddy_tls_config *server;
        eddy_scope peers;

        rig = (struct rig){ .status = 0 };
        configs_make(&server, &opts.tls);
        eddy_scope_begin(&peers, NULL);
        peer_start(&rig.peer, &peers, call->scripts, call->n);
        rig.peer.tls = server;
        if (call->proxy) {
                call->proxy->host = "127.0.0.1";
                call->proxy->port = eddy_listener_port(rig.peer.listener);
                fault_proxy_start(call->proxy, &peers);
        }
        snprintf(rig.url, sizeof(rig.url), "https://127.0.0.1:%u",
                 call->proxy ? call->proxy->own_port : eddy_listener_port(rig.peer.listener));
        CHECK_EQ(eddy_http_client_new(&opts, &rig.client), 0);
        call->fn(&rig);
        eddy_http_client_close(rig.client);
        eddy_scope_cancel(&peers);
        CHECK_EQ(eddy_scope_end(&peers), 0);
        peer_stop(&rig.peer);
        if (call->proxy)
                fault_proxy_stop(call->proxy);
        eddy_tls_config_close(server);
        eddy_tls_config_close(opts.tls);
        return 0;
}

#define HTTPS_TEST(claim, ...)                                                                     \
        static void rig_##claim(struct rig *rig);                                                  \
        TEST(claim)                                                                                \
        {                                                                                          \
                static const struct script scripts[] = { __VA_ARGS__ };                            \
                struct https_call call = { scripts, sizeof(scripts) / sizeof(scripts[0]),          \
                                           rig_##claim, NULL };                                    \
                http_run(https_main, &call);                                                       \
                http_run_real(https_main, &call);                                                  \
        }                                                                                          \
        static void rig_##claim(struct rig *rig)

enum { REQUESTS_TOGETHER = 8 };

static int get_one(void *arg)
{
        CHECK_EQ(rig_get(arg, "/"), 0);
        return 0;
}

static void get_together(struct rig *rig)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < REQUESTS_TOGETHER; i++)
                CHECK_EQ(eddy_scope_start(&scope, get_one, rig), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(rig->peer.accepted, REQUESTS_TOGETHER);
        CHECK_EQ(rig->client->http1_spares_count, REQUESTS_TOGETHER);
        CHECK_EQ(rig->client->http1_buffers_count, 1);
}

/* Session tickets come before the answers, which come a second after the requests. */
TEST(first_requests_over_tls_that_wait_have_no_buffer)
{
        static const struct script slow = SCRIPT("?", ".", "<" OK_2);
        struct https_call call = { &slow, 1, get_together, NULL };

        http_run(https_main, &call);
}

/* The server reads the second request, and ends the connection without close_notify. */
HTTPS_TEST(request_on_a_kept_connection_that_tls_cuts_is_sent_again, SCRIPT(OK_2, "?", "-"),
           SCRIPT(OK_2))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->status, 200);
        CHECK_EQ(rig->peer.accepted, 2);
        CHECK_EQ(rig->peer.requests, 3);
}

HTTPS_TEST(post_on_a_kept_connection_that_tls_cuts_is_not_sent_again, SCRIPT(OK_2, "?", "-"),
           SCRIPT(OK_2))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_ERR(rig_fetch(rig, &(struct eddy_http_request){ .url = "/", .method = "POST" }),
                  EDDY_E_TLS_TRUNCATED);
        CHECK_EQ(rig->peer.accepted, 1);
}

/* The task does not suspend between the end of the connection and the next request. */
HTTPS_TEST(kept_connection_that_the_server_has_ended_is_not_used_for_a_post, SCRIPT(OK_2),
           SCRIPT(OK_2))
{
        struct eddy_http_request post = { .url = "/", .body = "x", .body_bytes = 1 };

        CHECK_EQ(rig_fetch(rig, &post), 0);
        http_pause(EDDY_MS(10));
        CHECK_EQ(eddy_stream_shutdown(rig->peer.latest), 0);
        CHECK_EQ(eddy_stream_shutdown(rig->peer.latest_lower), 0);
        CHECK_EQ(rig_fetch(rig, &post), 0);
        CHECK_EQ(rig->peer.accepted, 2);
        CHECK_EQ(rig->peer.requests, 2);
}

static int answers_nothing(eddy_http_exchange *exchange, void *arg)
{
        (void) exchange;
        (void) arg;
        return 0;
}

/* The client offers HTTP/2 and HTTP/1.1; a list in a configuration would be another offer. */
HTTPS_TEST(server_of_other_protocols_is_an_error_of_its_own, SCRIPT(OK_2))
{
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER, .alpn = "imap" };
        struct eddy_tls_opts client = { .alpn = "h2,http/1.1" };
        eddy_tls_config *own = rig->peer.tls, *configs[2], *of_client;
        eddy_http_client *none = NULL;
        struct eddy_http_fault fault = { "" };
        eddy_http_response *response;
        struct eddy_tls_info info;
        struct tls_files files;

        tls_files_make(&files, "127.0.0.1");
        server.cert_file = client.ca_file = files.cert;
        server.key_file = files.key;
        CHECK_EQ(eddy_tls_config_new(&server, NULL, &configs[0]), 0);
        CHECK_EQ(eddy_tls_config_new(&client, NULL, &configs[1]), 0);
        rig->peer.tls = configs[0];
        CHECK_ERR(rig_send(rig, &(struct eddy_http_request){ .url = "/", .ret_fault = &fault },
                           &response),
                  EDDY_E_HTTP_ALPN);
        CHECK_STR(fault.text, eddy_error_text(EDDY_E_HTTP_ALPN));
        CHECK_EQ(eddy_http_client_new(OPTIONS(.tls = configs[1]), &none), -EINVAL);
        CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/", .tls = configs[1] },
                          &response),
                 -EINVAL);
        CHECK_EQ(eddy_http_serve(rig->peer.listener,
                                 &(struct eddy_http_server_opts){ .tls = configs[0] },
                                 answers_nothing, NULL),
                 -EINVAL);
        client.alpn = NULL;
        CHECK_EQ(eddy_tls_config_new(&client, NULL, &of_client), 0);
        CHECK_EQ(eddy_http_serve(rig->peer.listener,
                                 &(struct eddy_http_server_opts){ .tls = of_client },
                                 answers_nothing, NULL),
                 -EINVAL);
        eddy_tls_config_close(of_client);
        /* A server without a list is one of HTTP/1.1. */
        rig->peer.tls = own;
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(eddy_tls_info(rig->peer.latest, &info), 0);
        CHECK_STR(info.alpn, "");
        eddy_tls_config_close(configs[0]);
        eddy_tls_config_close(configs[1]);
}

static int get_root(void *arg)
{
        return rig_get(arg, "/");
}

/* The first connection is accepted, and never gets an answer to its handshake. */
HTTPS_TEST(silent_connection_does_not_block_its_origin, SCRIPT(NULL), SCRIPT(OK_2))
{
        eddy_tls_config *server = rig->peer.tls;

        rig->peer.tls = NULL;
        /* Longer than an opening is lent to others, also if it began a moment after the call. */
        CHECK_ERR(eddy_call_timeout(get_root, rig, EDDY_SEC(2)), -ETIMEDOUT);
        rig->peer.tls = server;
        CHECK_EQ(eddy_call_timeout(get_root, rig, EDDY_MIN(1)), 0);
        CHECK_EQ(rig->peer.accepted, 2);
}

/* B2: P1: a connection that was made without a check of the certificate carries no other request. */
HTTPS_TEST(connections_are_not_shared_between_tls_configurations, SCRIPT(OK_2, OK_2),
           SCRIPT(OK_2, OK_2))
{
        struct eddy_tls_opts insecure = { .flags = EDDY_TLS_INSECURE }, strict = { .flags = 0 };
        struct eddy_http_request request = { .url = "/" };
        eddy_tls_config *configs[2];

        CHECK_EQ(eddy_tls_config_new(&insecure, NULL, &configs[0]), 0);
        CHECK_EQ(eddy_tls_config_new(&strict, NULL, &configs[1]), 0);
        request.tls = configs[0];
        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK_STATS(rig->client, 1, 1, 0);
        request.tls = configs[1]; /* does not trust the server */
        CHECK_ERR(rig_fetch(rig, &request), EDDY_E_TLS_SELF_SIGNED);
        CHECK_STATS(rig->client, 1, 1, 0);
        request.tls = NULL; /* the client's, which does */
        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK_STATS(rig->client, 2, 2, 0);
        request.tls = configs[0];
        CHECK_EQ(rig_fetch(rig, &request), 0);
        CHECK_STATS(rig->client, 2, 2, 0);
        CHECK_EQ(rig->peer.accepted, 3);
        /* The idle connection holds a reference. */
        eddy_tls_config_close(configs[0]);
        eddy_tls_config_close(configs[1]);
}

HTTPS_TEST(duration_of_the_handshake_is_reported, SCRIPT(OK_2, OK_2))
{
        for (int i = 0; i < 2; i++) {
                eddy_http_response *response;
                struct eddy_http_response_info info;

                CHECK_EQ(rig_send(rig, &(struct eddy_http_request){ .url = "/" }, &response), 0);
                eddy_http_response_info(response, &info);
                CHECK_EQ(info.timings.tls_ns >= 0, i == 0);
                CHECK_EQ(eddy_http_response_discard(response), 0);
                eddy_http_response_close(response);
        }
}

/* ---- responses that are cut ------------------------------------------------ */

enum { TAP_BYTES = 8192, RECORDS_MAX = 64, HEADER_BYTES = 5 };

static int body_result;

static void fetch_body(struct rig *rig)
{
        body_result = rig_get(rig, "/");
        if (body_result == 0)
                CHECK_STR(rig->body, "onetwothree");
}

/* Run the script with the server's bytes cut; returns the client's result. */
static int fetch_cut(const struct script *script, struct fault_proxy *proxy)
{
        struct https_call call = { script, 1, fetch_body, proxy };

        body_result = 1;
        http_run(https_main, &call);
        CHECK(body_result <= 0);
        return body_result;
}

/* Store where the records of a flow end (RFC 8446, 5.1); returns their number. */
static size_t records_find(const unsigned char *flow, size_t bytes, size_t *ends)
{
        size_t n = 0, at = 0;

        while (at + HEADER_BYTES <= bytes) {
                at += HEADER_BYTES + (size_t) flow[at + 3] * 256 + flow[at + 4];
                CHECK(n < RECORDS_MAX);
                ends[n++] = at;
        }
        CHECK_EQ(at, bytes);
        return n;
}

/*
 * Cut at the end of each record, and a byte before and after. The last record is close_notify, the
 * last but one the end of the body.
 */
static void cut_at_records(const struct script *script, bool needs_close)
{
        static unsigned char flow[TAP_BYTES];
        size_t ends[RECORDS_MAX], n;
        struct fault_proxy whole = { .down = { .tap = flow, .tap_room = sizeof(flow) } };
        int failed = 0;

        CHECK_EQ(fetch_cut(script, &whole), 0);
        CHECK(whole.passed_down < sizeof(flow));
        n = records_find(flow, (size_t) whole.passed_down, ends);
        CHECK(n > 8);
        for (size_t i = 0; i < n; i++) {
                for (int shift = -1; shift <= 1; shift++) {
                        struct fault_proxy proxy = { .down = { .then = FAULT_END } };
                        size_t at = ends[i] + (size_t) shift;
                        bool is_whole = at >= ends[needs_close ? n - 1 : n - 2];
                        int err;

                        proxy.down.bytes = at;
                        err = fetch_cut(script, &proxy);
                        failed += err < 0;
                        if ((err == 0) != is_whole)
                                test_fail(__FILE__, __LINE__, "cut at byte %zu of record %zu: %s",
                                          at, i, eddy_error_name(err));
                }
        }
        printf("# %zu records, %zu cuts, %d failed and said so\n", n, 3 * n, failed);
}

/* S3 */
TEST(response_that_is_cut_at_a_record_is_an_error)
{
        static const struct script scripts[] = {
                SCRIPT("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", "+one", "+two", "+three",
                       "~"),
                SCRIPT("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "+3\r\none\r\n",
                       "+3\r\ntwo\r\n", "+5\r\nthree\r\n", "+0\r\n\r\n", "~"),
                SCRIPT("HTTP/1.1 200 OK\r\n\r\n", "+one", "+two", "+three", "~"),
        };

        tls_files_make_fixed(&fixed);
        cut_at_records(&scripts[0], false);
        cut_at_records(&scripts[1], false);
        cut_at_records(&scripts[2], true);
}

/* ---- a server of eddy ------------------------------------------------------- */

static void site_prepare(struct site *site)
{
        configs_make(&site->opts.tls, &site->client_tls);
}

#define HTTPS_SITE_TEST_ON(claim, options, real)                                                   \
        static void site_##claim(struct site *site);                                               \
        TEST(claim)                                                                                \
        {                                                                                          \
                site_run_prepared((options), false, site_prepare, site_##claim);                   \
                if (real)                                                                          \
                        site_run_prepared((options), true, site_prepare, site_##claim);            \
        }                                                                                          \
        static void site_##claim(struct site *site)
#define HTTPS_SITE_TEST(claim, options) HTTPS_SITE_TEST_ON(claim, options, false)

/* Connections of a small buffer: the sender soon waits. */
static void use_buffers(uint32_t bytes)
{
        CHECK_EQ(eddy_test_link_set(&(struct eddy_test_link){ .buffer_bytes = bytes }), 0);
}

/* The stream takes the last bytes, and holds them when the link is full. */
HTTPS_SITE_TEST(upload_whose_last_bytes_tls_holds_arrives_whole, NULL)
{
        static char body[300000];
        struct eddy_http_client_opts opts = { .tls = site->client_tls };
        eddy_http_client *client;
        char url[64];

        snprintf(url, sizeof(url), "https://127.0.0.1:%u/echo", site->port);
        memset(body, 'b', sizeof(body));
        CHECK_EQ(eddy_http_client_new(&opts, &client), 0);
        use_buffers(20000);
        for (size_t bytes = 1; bytes <= sizeof(body); bytes = bytes * 3 + 1) {
                struct eddy_http_request request = { .url = url, .body = body };
                eddy_http_response *response;

                request.body_bytes = bytes;
                CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
                CHECK_EQ(eddy_http_response_status(response), 200);
                eddy_http_response_close(response);
        }
        eddy_http_client_close(client);
}

HTTPS_SITE_TEST(body_over_tls_that_stops_or_trickles_is_answered_with_408, NULL)
{
        static const char head[] = "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\na";
        static struct answer got;

        for (int trickles = 0; trickles < 2; trickles++) {
                eddy_stream *stream = site_connect(site);
                int64_t before = eddy_now();

                site->failed = 0;
                CHECK_EQ(eddy_stream_write(stream, head, strlen(head)), 0);
                while (trickles && !eddy_stream_is_readable(stream)) {
                        http_pause(EDDY_SEC(1));
                        CHECK_EQ(eddy_stream_write(stream, "b", 1), 0);
                }
                read_answer(stream, &got);
                CHECK_EQ(got.status, 408);
                CHECK_ERR(site->failed, EDDY_E_NET_TIMED_OUT);
                CHECK(eddy_now() - before < EDDY_SEC(14));
                eddy_stream_close(stream);
        }
}

/*
 * Ask for the response, and take 1 byte each second until the server gives up. A response of one
 * piece is held by TLS, whatever its client takes.
 */
HTTPS_SITE_TEST(response_over_tls_that_is_taken_at_a_byte_a_second_is_reset, NULL)
{
        static const char *const heads[] = {
                "GET /flood HTTP/1.1\r\n" HOST CLOSE "\r\n",
                "POST /echo HTTP/1.1\r\n" HOST CLOSE "Content-Length: 40000\r\n\r\n",
        };
        static char buf[70000];

        use_buffers(4000);
        for (int i = 0; i < 2; i++) {
                eddy_stream *stream = site_connect(site);
                int64_t before = eddy_now(), n = 1;

                site->failed = 0;
                CHECK_EQ(eddy_stream_write(stream, heads[i], strlen(heads[i])), 0);
                if (i == 1)
                        CHECK_EQ(eddy_stream_write(stream, buf, 40000), 0);
                while (n > 0 && site->failed == 0 && eddy_now() - before < EDDY_SEC(60)) {
                        http_pause(EDDY_SEC(1));
                        n = eddy_stream_read(stream, buf, 1);
                }
                CHECK(eddy_now() - before >= EDDY_SEC(10) && eddy_now() - before < EDDY_SEC(25));
                CHECK_ERR(site->failed, EDDY_E_NET_TIMED_OUT);
                while (n > 0)
                        n = eddy_stream_read(stream, buf, sizeof(buf));
                CHECK(n == -ECONNRESET || n == EDDY_E_TLS_TRUNCATED);
                eddy_stream_close(stream);
        }
}

/* ---- clients without TLS -------------------------------------------------------- */

HTTPS_SITE_TEST_ON(request_without_tls_is_answered_with_a_400_that_names_https,
                   SERVER_OPTIONS(.body_bytes_max = UINT64_MAX), true)
{
        static const char *const requests[] = {
                "GET /ok HTTP/1.1\r\n" HOST "\r\n",
                "HEAD / HTTP/1.0\r\n\r\n",
                "POST /ok HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\nbody",
                "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
        };
        eddy_tls_config *tls = site->client_tls;
        const struct answer *got;

        site->client_tls = NULL;
        for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
                got = ask(site, requests[i]);
                CHECK_EQ(got->status, 400);
                CHECK_EQ(got->error, 0);
                CHECK_HAS(got->text, "\r\n\r\nThis port needs https, not http.\n");
        }
        send_all_then_read(site, "PUT /ok HTTP/1.1\r\n" HOST "Content-Length: 5000000\r\n\r\n",
                           5000000, 400);
        got = ask(site, "neither TLS nor a request of HTTP\r\n\r\n");
        CHECK_EQ(got->responses, 0);
        site->client_tls = tls;
        CHECK_EQ(site->handled, 0);
        CHECK_HAS(ask(site, "GET /ok HTTP/1.1\r\n" HOST CLOSE "\r\n")->text, "\r\n\r\nok");
}

/* ---- early answers --------------------------------------------------------- */

#define EARLY                                                                                      \
        SERVER_OPTIONS(.body_bytes_max = UINT64_MAX, .connections_max = 1, .drain_ns = EDDY_MS(100))

HTTPS_SITE_TEST_ON(early_answer_over_tls_reaches_a_client_that_sends_all_first, EARLY, true)
{
        send_all_then_read(site, "PUT /ok HTTP/1.1\r\n" HOST "Content-Length: 5000000\r\n\r\n",
                           5000000, 200);
}

HTTPS_SITE_TEST(silent_client_after_an_early_answer_over_tls_has_five_seconds, EARLY)
{
        eddy_stream *stream = site_connect(site), *next;
        int64_t since_ns;

        (void) say(stream, "POST /ok HTTP/1.1\r\n" HOST "Content-Length: 1000000000\r\n\r\n",
                   "\r\n\r\nok");
        since_ns = eddy_now();
        next = site_connect(site); /* accepted when the first connection has ended */
        (void) say(next, "GET /ok HTTP/1.1\r\n" HOST CLOSE "\r\n", "\r\n\r\nok");
        CHECK_EQ((eddy_now() - since_ns) / EDDY_SEC(1), ED_HTTP_LINGER_SILENCE_NS / EDDY_SEC(1));
        eddy_stream_close(next);
        eddy_stream_close(stream);
}
