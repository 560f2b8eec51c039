/*
 * test_https.c - HTTP over TLS: kept connections that the server ends, uploads whose tail TLS
 * holds, and clients that are slow.
 */
#include "../tls/tls_test.h"
#include "eddy/test_net.h"
#include "server_test.h"

#define HOST  "Host: h\r\n"
#define CLOSE "Connection: close\r\n"

/* A server's configuration for 127.0.0.1, and a client's that trusts it. */
static void configs_make(eddy_tls_config **ret_server, eddy_tls_config **ret_client)
{
        struct tls_files files;
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER }, client = { .flags = 0 };

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
        snprintf(rig.url, sizeof(rig.url), "https://127.0.0.1:%u",
                 eddy_listener_port(rig.peer.listener));
        CHECK_EQ(eddy_http_client_new(&opts, &rig.client), 0);
        call->fn(&rig);
        eddy_http_client_close(rig.client);
        eddy_scope_cancel(&peers);
        CHECK_EQ(eddy_scope_end(&peers), 0);
        peer_stop(&rig.peer);
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
                                           rig_##claim };                                          \
                http_run(https_main, &call);                                                       \
                http_run_real(https_main, &call);                                                  \
        }                                                                                          \
        static void rig_##claim(struct rig *rig)

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

/* ---- a server of eddy ------------------------------------------------------- */

static void site_prepare(struct site *site)
{
        configs_make(&site->opts.tls, &site->client_tls);
}

#define HTTPS_SITE_TEST(claim, options)                                                            \
        static void site_##claim(struct site *site);                                               \
        TEST(claim)                                                                                \
        {                                                                                          \
                site_run_prepared((options), false, site_prepare, site_##claim);                   \
        }                                                                                          \
        static void site_##claim(struct site *site)

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
