/*
 * test_hints.c - early hints (103).
 *
 * - They come before the response, at once; never after it has begun, and never to HTTP/1.0.
 * - Headers that end or frame a message are refused, and nothing is sent.
 * - eddy's client skips them; a shortage of memory or a cancel at each point leaves nothing.
 */
#include <string.h>

#include "eddy/test.h"
#include "server_test.h"

#define SAY(method, version) method " / HTTP/" version "\r\nHost: a\r\nConnection: close\r\n\r\n"
#define HINT                 "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"

static const struct eddy_http_header link_a = { "Link", "</a>; rel=preload" };

static int hint_twice(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_exchange_add_header(exchange, "X-Id", "7");

        (void) arg;
        for (int i = 0; i < 2 && err == 0; i++) {
                err = eddy_http_exchange_early_hints(exchange, &link_a, 1);
                if (err == 0)
                        err = eddy_sleep(EDDY_SEC(1));
        }
        if (err == 0)
                err = eddy_http_exchange_early_hints(exchange, NULL, 0);
        if (err == 0)
                err = eddy_http_exchange_respond(exchange, 200, &link_a, 1, "ok", 2);
        CHECK(err < 0 || eddy_http_exchange_early_hints(exchange, &link_a, 1) == EDDY_E_HTTP_STATE);
        return err;
}

static void prepare_twice(struct site *site)
{
        site->handler = hint_twice;
}

static void see_hints(struct site *site)
{
        static char buf[4096];
        eddy_stream *stream = site_connect(site);
        int64_t began_ns = eddy_now();
        const char *request = SAY("GET", "1.1");
        const struct answer *got;

        CHECK_EQ(eddy_stream_write(stream, request, strlen(request)), 0);
        CHECK(read_until(stream, buf, sizeof(buf), "\r\n\r\n"));
        CHECK_STR(buf, HINT);
        CHECK(eddy_now() - began_ns < EDDY_SEC(1));
        eddy_stream_close(stream);
        got = ask(site, request);
        CHECK(strncmp(got->text, HINT HINT "HTTP/1.1 200 OK\r\nX-Id: 7\r\nLink: ",
                      strlen(HINT HINT "HTTP/1.1 200 OK\r\nX-Id: 7\r\nLink: ")) == 0);
        CHECK_EQ(got->responses, 1);
        CHECK_HAS(got->text, "\r\n\r\nok");
        CHECK_HAS(ask(site, SAY("HEAD", "1.1"))->text, HINT HINT "HTTP/1.1 200 OK\r\n");
        got = ask(site, SAY("GET", "1.0"));
        CHECK_HAS_NOT(got->text, "103");
        CHECK_HAS(got->text, "HTTP/1.1 200 OK\r\n");
}

TEST(hints_come_at_once_before_the_response_and_not_to_http_1_0)
{
        site_run_prepared(NULL, false, prepare_twice, see_hints);
}

static int hint_wrong(eddy_http_exchange *exchange, void *arg)
{
        static char large[17000];
        const struct eddy_http_header wrong[] = {
                { "Content-Length", "0" },
                { "Transfer-Encoding", "chunked" },
                { "Connection", "close" },
                { "Link", "a\r\nb" },
                { "a b", "c" },
                { NULL, "a" },
                { "Link", NULL },
                { "Link", large },
        };

        (void) arg;
        memset(large, 'a', sizeof(large) - 1);
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                const struct eddy_http_header two[] = { link_a, wrong[i] };

                CHECK_ERR(eddy_http_exchange_early_hints(exchange, two, 2),
                          EDDY_E_HTTP_INVALID_ANSWER);
        }
        CHECK_EQ(eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2), 0);
        return 0;
}

static void prepare_wrong(struct site *site)
{
        site->handler = hint_wrong;
}

static void see_none(struct site *site)
{
        CHECK(strncmp(ask(site, SAY("GET", "1.1"))->text, "HTTP/1.1 200 OK\r\n", 17) == 0);
}

TEST(hints_that_would_break_the_message_are_refused_and_not_sent)
{
        site_run_prepared(NULL, false, prepare_wrong, see_none);
}

static int ask_for_hints(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        const void *body;
        size_t bytes;
        int err = eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = hint_twice },
                                       &client);

        (void) arg;
        if (err >= 0)
                err = eddy_http_client_send(
                        client, &(struct eddy_http_request){ .url = "http://a/" }, &response);
        if (err >= 0 && eddy_http_response_status(response) == 200) {
                CHECK_STR(eddy_http_response_header(response, "X-Id"), "7");
                err = eddy_http_response_body(response, &body, &bytes);
                if (err >= 0)
                        CHECK_EQ(bytes, 2);
        }
        return err;
}

TEST(the_client_skips_hints_and_a_cancel_or_a_shortage_at_any_point_leaves_nothing)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], ask_for_hints, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}
