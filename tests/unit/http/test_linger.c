/*
 * test_linger.c - answers to requests whose body is not read: they reach a client
 * that first sends all of its body, and the connection ends in a bounded time.
 */
#include "http/linger.h"
#include "server_test.h"

#define HOST "Host: h\r\n"
#define LONG "POST /ok HTTP/1.1\r\n" HOST "Content-Length: 1000000000\r\n\r\n"
#define LAST "GET /ok HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"

static const struct eddy_http_server_opts one_connection = { .connections_max = 1,
                                                             .body_bytes_max = UINT64_MAX };

/* The time from the answer to the end of the connection, after which the next one is served. */
static int64_t next_served_after(struct site *site, int64_t since_ns)
{
        eddy_stream *next = site_connect(site);

        (void) say(next, LAST, "\r\n\r\nok");
        eddy_stream_close(next);
        return eddy_now() - since_ns;
}

SERVER_TEST(a_client_that_is_silent_after_an_early_answer_has_five_seconds, &one_connection)
{
        eddy_stream *stream = site_connect(site);
        int64_t since_ns;

        (void) say(stream, LONG, "\r\n\r\nok");
        since_ns = eddy_now();
        CHECK_EQ(next_served_after(site, since_ns) / EDDY_MS(10),
                 ED_HTTP_LINGER_SILENCE_NS / EDDY_MS(10));
        eddy_stream_close(stream);
}

/* Send some bytes each second, until the connection is gone. */
static int send_for_ever(void *arg)
{
        eddy_stream *stream = arg;
        int64_t begun_ns = eddy_now();

        while (eddy_stream_write(stream, "abc", 3) == 0 && eddy_now() - begun_ns < EDDY_MIN(10))
                http_pause(EDDY_SEC(1));
        return 0;
}

SERVER_TEST(a_client_that_sends_for_ever_after_an_early_answer_has_thirty_seconds, &one_connection)
{
        eddy_stream *stream = site_connect(site);
        int64_t since_ns;
        eddy_scope scope;

        (void) say(stream, LONG, "\r\n\r\nok");
        since_ns = eddy_now();
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, send_for_ever, stream), 0);
        CHECK_EQ(next_served_after(site, since_ns) / EDDY_MS(10), ED_HTTP_LINGER_NS / EDDY_MS(10));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(eddy_now() - since_ns < ED_HTTP_LINGER_NS + EDDY_SEC(3));
        eddy_stream_close(stream);
}

SERVER_TEST(a_client_that_closes_ends_the_wait, &one_connection)
{
        eddy_stream *stream = site_connect(site);
        int64_t since_ns;

        (void) say(stream, LONG, "\r\n\r\nok");
        since_ns = eddy_now();
        eddy_stream_close(stream);
        CHECK(next_served_after(site, since_ns) < EDDY_SEC(1));
}

static void check_stop(struct site *site, int64_t expected_ns)
{
        eddy_stream *stream = site_connect(site);
        int64_t since_ns;

        (void) say(stream, LONG, "\r\n\r\nok");
        http_pause(EDDY_SEC(1));
        since_ns = eddy_now();
        eddy_scope_cancel(site->scope);
        while (site->ended_ns == 0)
                http_pause(EDDY_MS(1));
        CHECK_EQ((site->ended_ns - since_ns) / EDDY_MS(10), expected_ns / EDDY_MS(10));
        eddy_stream_close(stream);
}

static void stop_soon(struct site *site)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD, .timeout_ns = EDDY_MIN(1) };
        eddy_scope scope;

        eddy_scope_begin(&scope, &opts);
        check_stop(site, site->opts.drain_ns);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SERVER_TEST(a_stop_of_the_server_ends_the_wait, &one_connection)
{
        stop_soon(site);
}

SERVER_TEST(a_stop_that_drains_lets_the_wait_continue_for_that_time,
            SERVER_OPTIONS(.drain_ns = EDDY_SEC(2), .body_bytes_max = UINT64_MAX))
{
        stop_soon(site);
}

/* ---- large bodies ---------------------------------------------------------- */

SERVER_TEST_BOTH(an_early_answer_reaches_a_client_that_sends_all_first,
                 SERVER_OPTIONS(.body_bytes_max = UINT64_MAX))
{
        send_all_then_read(site, "PUT /ok HTTP/1.1\r\n" HOST "Content-Length: 5000000\r\n\r\n",
                           5000000, 200);
}

SERVER_TEST_BOTH(the_answer_to_a_body_above_its_limit_reaches_the_client, NULL)
{
        send_all_then_read(site, "PUT /ok HTTP/1.1\r\n" HOST "Content-Length: 20000000\r\n\r\n",
                           20000000, 413);
}

/* The request after the last one is not read: the connection ends. */
SERVER_TEST_ON(the_last_answer_reaches_a_client_that_sends_more, NULL, true)
{
        send_all_then_read(site, LAST, 5000000, 200);
}
