/*
 * test_upgrade.c - a client takes its connection for another protocol: no byte after the 101 is
 * lost, the pool has its place back, and any other answer is a response as usual.
 */
#include "eddy/test.h"
#include "http_test.h"

#define ACCEPTED "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n"

static const struct eddy_http_header offered[] = { { "Upgrade", "echo" } };

static int upgrade(eddy_http_client *client, const char *url, eddy_http_response **response,
                   eddy_stream **stream)
{
        struct eddy_http_request request = { .url = url, .headers = offered, .headers_count = 1 };

        return eddy_http_client_upgrade(client, &request, response, stream);
}

/* ---- a server that follows a script -------------------------------------------------- */

CLIENT_TEST_ON(stream_begins_with_the_bytes_after_the_101, OPTIONS(.connections_max = 1), true,
               SCRIPT(ACCEPTED "early", "late"),
               SCRIPT("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
{
        struct eddy_http_request plain = { .url = rig->url };
        eddy_http_response *response, *other;
        struct eddy_endpoint peer;
        eddy_stream *stream;
        char text[64], c;

        CHECK_EQ(upgrade(rig->client, rig->url, &response, &stream), 0);
        CHECK(strstr(rig->peer.last, "\r\nConnection: Upgrade\r\n") != NULL);
        CHECK_EQ(eddy_http_response_status(response), 101);
        CHECK_STR(eddy_http_response_header(response, "upgrade"), "echo");
        CHECK_EQ(eddy_http_response_read(response, text, sizeof(text)), 0);
        CHECK_STATS(rig->client, 0, 0, 0); /* the connection has left the pool */
        CHECK_EQ(eddy_http_client_send(rig->client, &plain, &other), 0);
        CHECK_EQ(eddy_http_response_status(other), 200);
        eddy_http_response_close(other);
        eddy_http_response_close(response);
        eddy_http_client_close(rig->client);
        rig->client = NULL;
        CHECK_EQ(eddy_stream_peer(stream, &peer), 0);
        CHECK_EQ(eddy_stream_is_readable(stream), 1);
        for (const char *at = "early"; *at; at++) {
                CHECK_EQ(eddy_stream_read(stream, &c, 1), 1);
                CHECK_EQ(c, *at);
        }
        CHECK_EQ(eddy_stream_write(stream, "ping\r\n\r\n", 8), 0);
        CHECK(read_until(stream, text, sizeof(text), "late"));
        CHECK_EQ(eddy_stream_shutdown(stream), 0);
        CHECK_EQ(eddy_stream_read(stream, text, sizeof(text)), 0);
        eddy_stream_close(stream);
}

CLIENT_TEST_ON(other_answer_is_a_response, OPTIONS(.connections_max = 1), true,
               SCRIPT("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno",
                      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
{
        eddy_http_response *response;
        eddy_stream *stream;
        const void *data;
        size_t bytes;

        for (int i = 0; i < 2; i++) {
                CHECK_EQ(upgrade(rig->client, rig->url, &response, &stream), 0);
                CHECK(stream == NULL);
                CHECK_EQ(eddy_http_response_status(response), i == 0 ? 426 : 200);
                CHECK_EQ(eddy_http_response_body(response, &data, &bytes), 0);
                CHECK_STR(data, i == 0 ? "no" : "ok");
                eddy_http_response_close(response);
        }
        CHECK_EQ(rig->peer.accepted, 1);
}

/* B13: A 101 ends HTTP only if it is valid. */
CLIENT_TEST_ON(answer_101_that_names_no_protocol_is_not_valid, OPTIONS(.connections_max = 1), false,
               SCRIPT("HTTP/1.1 101 S\r\nConnection: upgrade\r\n\r\n"),
               SCRIPT("HTTP/1.1 101 S\r\nUpgrade: echo\r\n\r\n"),
               SCRIPT("HTTP/1.0 101 S\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n"),
               SCRIPT(ACCEPTED))
{
        const struct eddy_http_header closing[] = { { "Upgrade", "echo" },
                                                    { "Connection", "close" } };
        struct eddy_http_request request = { .url = rig->url,
                                             .headers = closing,
                                             .headers_count = 2 };
        eddy_http_response *response;
        eddy_stream *stream;

        for (int i = 0; i < 3; i++)
                CHECK_ERR(upgrade(rig->client, rig->url, &response, &stream),
                          EDDY_E_HTTP_INVALID_RESPONSE);
        CHECK_ERR(eddy_http_client_upgrade(rig->client, &request, &response, &stream),
                  EDDY_E_HTTP_INVALID_RESPONSE);
        CHECK_EQ(rig->peer.accepted, 4);
}

CLIENT_TEST_ON(request_without_an_offer_is_not_sent, OPTIONS(.connections_max = 1), false,
               SCRIPT(ACCEPTED))
{
        struct eddy_http_fault fault;
        struct eddy_http_request request = { .url = rig->url, .ret_fault = &fault };
        eddy_http_response *response;
        eddy_stream *stream;

        CHECK_ERR(eddy_http_client_upgrade(rig->client, &request, &response, &stream),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(fault.text, "an upgrade needs the header Upgrade, and has no body");
        request.headers = offered;
        request.headers_count = 1;
        request.body = "x";
        request.body_bytes = 1;
        CHECK_ERR(eddy_http_client_upgrade(rig->client, &request, &response, &stream),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_EQ(eddy_http_client_upgrade(NULL, &request, &response, &stream), -EINVAL);
        CHECK_EQ(eddy_http_client_upgrade(rig->client, NULL, &response, &stream), -EINVAL);
        CHECK_EQ(eddy_http_client_upgrade(rig->client, &request, NULL, &stream), -EINVAL);
        CHECK_EQ(eddy_http_client_upgrade(rig->client, &request, &response, NULL), -EINVAL);
        CHECK_EQ(rig->peer.accepted, 0);
}

/* ---- the server of the library ------------------------------------------------------- */

enum { TALKS = 3 };

/* Send a greeting directly after the 101, and then all bytes back. */
static int echo(eddy_http_exchange *exchange, void *arg)
{
        eddy_stream *stream;
        const void *early;
        size_t early_bytes;
        char buf[64];
        int64_t n;
        int err;

        (void) arg;
        err = eddy_http_exchange_upgrade(exchange, offered, 1, &stream, &early, &early_bytes);
        if (err < 0)
                return err;
        n = eddy_stream_write(stream, "hi", 2);
        while (n >= 0 && (n = eddy_stream_read(stream, buf, sizeof(buf))) > 0)
                n = eddy_stream_write(stream, buf, (size_t) n);
        eddy_stream_close(stream);
        return (int) n;
}

static int talk(eddy_stream *stream)
{
        char text[8] = "";
        size_t at = 0;
        int64_t n = eddy_stream_write(stream, "there", 5);

        while (n >= 0 && at < 7 && (n = eddy_stream_read(stream, text + at, 7 - at)) > 0)
                at += (size_t) n;
        if (n < 0)
                return (int) n;
        CHECK_STR(text, "hithere");
        return 0;
}

static int talk_upgraded(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        int err = eddy_http_client_new(OPTIONS(.handler = echo, .connections_max = 1), &client);

        (void) arg;
        for (int i = 0; i < TALKS && err == 0; i++) {
                EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
                EDDY_AUTO(eddy_stream) eddy_stream *stream = NULL;

                err = upgrade(client, "http://a/", &response, &stream);
                if (err == 0 && stream)
                        err = talk(stream);
        }
        return err;
}

TEST(cancel_or_shortage_at_any_point_of_an_upgrade_leaves_nothing)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER };

        http_run_real(talk_upgraded, NULL);
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], talk_upgraded, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}
