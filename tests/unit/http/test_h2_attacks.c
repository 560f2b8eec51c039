/*
 * test_h2_attacks.c - clients of HTTP/2 that do not read, that leave streams open, and whose heads mean
 * one thing to HTTP/2 and another to HTTP/1.
 */
#include "eddy/http2_server.h"
#include "h2_raw.h"
#include "http/h2.h"
#include "server_test.h"

static struct eddy_http2_server_stats stats;

static const struct eddy_http2_server_opts counted = { .stats = &stats };

static const struct eddy_http_server_opts options = { .http2 = &counted,
                                                      .head_bytes_max = 8 << 10 };

static void raw_begin(struct site *site)
{
        memset(&stats, 0, sizeof(stats));
        h2_raw_begin(site_connect(site));
}

/* ---- clients that do not read ----------------------------------------------------- */

/* Begin a response that fills all buffers of the network, and do not read. Its stream is 1. */
static void stop_reading(struct site *site)
{
        memset(&stats, 0, sizeof(stats));
        memset(&h2_raw, 0, sizeof(h2_raw));
        h2_raw.stream = site_connect(site);
        h2_raw_send_bytes(NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
        h2_raw_send_frame(NGHTTP2_SETTINGS, 0, 0, "\0\4\x7f\xff\xff\xff", 6);
        h2_raw_send_number(NGHTTP2_WINDOW_UPDATE, 0, INT32_MAX - 65535);
        h2_raw_send_get(1, "/long-flood", H2_END_STREAM | H2_END_HEADERS);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
}

static int send_heads(void *arg)
{
        uint32_t *sent = arg;

        for (; *sent < 100000 && !h2_raw.is_broken; ++*sent)
                h2_raw_send_frame(NGHTTP2_HEADERS, H2_END_STREAM | H2_END_HEADERS, 3 + 2 * *sent,
                                  NULL, 0);
        return 0;
}

/* Each head costs the client nine bytes, and the server a frame RST_STREAM that it cannot send. */
SERVER_TEST(frames_that_wait_for_a_client_that_does_not_read_are_limited, &options)
{
        uint32_t sent = 0;

        stop_reading(site);
        (void) eddy_call_timeout(send_heads, &sent, EDDY_SEC(2));
        CHECK_EQ(stats.faults_ends, 1);
        CHECK_EQ(stats.open, 0);
        h2_raw_end();
}

static const struct eddy_http_server_opts briefly = { .http2 = &counted,
                                                      .idle_timeout_ns = EDDY_SEC(5) };

SERVER_TEST(a_client_is_idle_when_its_last_response_has_left, &briefly)
{
        raw_begin(site);
        h2_raw_read_for(EDDY_MS(100));
        h2_raw_send_get(1, "/slow", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_read_for(EDDY_SEC(7));
        CHECK_EQ(h2_raw.data, 4);
        CHECK(!h2_raw.is_over);
        h2_raw_read_for(EDDY_SEC(2));
        CHECK(h2_raw.is_over);
        CHECK_EQ(h2_raw.goaway, NGHTTP2_NO_ERROR + 1);
        h2_raw_end();
}

/* The last frames do not leave, and the time without requests passes. */
SERVER_TEST(a_client_that_does_not_read_is_idle_too, &briefly)
{
        stop_reading(site);
        h2_raw_send_number(NGHTTP2_RST_STREAM, 1, NGHTTP2_CANCEL);
        CHECK_EQ(eddy_sleep(EDDY_SEC(4)), 0);
        CHECK_EQ(stats.open, 1);
        CHECK_EQ(eddy_sleep(EDDY_SEC(4)), 0);
        CHECK_EQ(stats.open, 0);
        h2_raw_end();
}

enum { STREAM_KEEPS = ED_H2_KEPT_BYTES_MAX, CONNECTION_KEEPS = ED_H2_KEPT_ALL_BYTES_MAX };

/* "/events": events with a comment each second. Else a body of a byte less than the connection keeps. */
static int fill_or_comment(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_sse_begin_opts each_second = { .comment_ns = EDDY_SEC(1) };
        static char body[STREAM_KEEPS];
        const char *path = eddy_http_exchange_path(exchange);
        int err;

        (void) arg;
        if (strcmp(path, "/events") == 0) {
                CHECK_EQ(eddy_http_exchange_sse_begin(exchange, &each_second), 0);
                return eddy_sleep(EDDY_SEC(60));
        }
        err = eddy_http_exchange_begin(exchange, 200, NULL, 0, -1);
        if (err == 0)
                err = eddy_http_exchange_write(exchange, body,
                                               strcmp(path, "/a") == 0
                                                       ? STREAM_KEEPS
                                                       : CONNECTION_KEEPS - STREAM_KEEPS - 1);
        return err < 0 ? err : eddy_sleep(EDDY_SEC(60));
}

static void set_fill_or_comment(struct site *site)
{
        site->handler = fill_or_comment;
}

static void leave_a_byte(struct site *site)
{
        raw_begin(site);
        h2_raw_send_frame(NGHTTP2_SETTINGS, 0, 0, "\0\4\0\0\0", 6);
        h2_raw_send_get(1, "/a", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_send_get(3, "/b", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_send_get(5, "/events", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_read_for(EDDY_MS(1500));
        CHECK_EQ(h2_raw.heads, 3);
        h2_raw_send_number(NGHTTP2_WINDOW_UPDATE, 5, 1000);
        h2_raw_read_for(EDDY_MS(100));
        CHECK_EQ(h2_raw.data, 0);
        h2_raw_send_number(NGHTTP2_WINDOW_UPDATE, 0, STREAM_KEEPS);
        h2_raw_send_number(NGHTTP2_WINDOW_UPDATE, 1, STREAM_KEEPS);
        h2_raw_read_for(EDDY_SEC(1));
        CHECK_EQ(h2_raw.data, STREAM_KEEPS + 3);
        h2_raw_end();
}

/* A byte of the comment would make a comment of the next event. */
TEST(a_comment_between_events_leaves_whole_or_not_at_all)
{
        site_run_prepared(&options, false, set_fill_or_comment, leave_a_byte);
}

/* ---- streams that remain ------------------------------------------------------------ */

static int answer_then_rest(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_exchange_respond_text(exchange, 200, "early");

        (void) arg;
        return err < 0 ? err : eddy_sleep(EDDY_SEC(1));
}

static void set_rest(struct site *site)
{
        site->handler = answer_then_rest;
}

static void send_unended(struct site *site)
{
        raw_begin(site);
        h2_raw_send_get(1, "/", H2_END_HEADERS);
        h2_raw_read_for(EDDY_SEC(3));
        CHECK_EQ(h2_raw.heads, 1);
        CHECK_EQ(h2_raw.data, 5);
        CHECK_EQ(h2_raw.resets, 1);
        CHECK_EQ(h2_raw.reset, NGHTTP2_NO_ERROR);
        h2_raw_end();
}

TEST(a_request_without_an_end_ends_with_its_handler)
{
        site_run_prepared(&options, false, set_rest, send_unended);
}

/* ---- credit -------------------------------------------------------------------------- */

enum { BODY_BYTES = 16 << 10, BODIES = 200 };

/* A body on the stream, which goes on after what is sent between both parts. */
static void send_bodies(struct site *site, const char *path, int flags,
                        void (*between)(uint32_t id))
{
        static unsigned char body[BODY_BYTES];

        raw_begin(site);
        body[0] = 255; /* bytes of padding */
        for (uint32_t i = 0; i < BODIES && !h2_raw.is_over && !h2_raw.is_broken; i++) {
                uint32_t id = 2 * i + 1;

                h2_raw_send_get(id, path, H2_END_HEADERS);
                h2_raw_send_frame(NGHTTP2_DATA, flags, id, body, sizeof(body));
                h2_raw_read_for(EDDY_MS(1));
                between(id);
                h2_raw_send_frame(NGHTTP2_DATA, flags, id, body, sizeof(body));
                h2_raw_send_number(NGHTTP2_RST_STREAM, id, NGHTTP2_CANCEL);
                h2_raw_read_for(EDDY_MS(1));
        }
        CHECK_EQ(h2_raw.goaway, 0);
        CHECK(!h2_raw.is_over && !h2_raw.is_broken);
        h2_raw_end();
        CHECK_EQ(eddy_sleep(EDDY_SEC(4)), 0);
        CHECK_EQ(stats.open, 0);
}

static void send_nothing(uint32_t id)
{
        (void) id;
}

static void send_overflow(uint32_t id)
{
        h2_raw_send_number(NGHTTP2_WINDOW_UPDATE, id, INT32_MAX);
}

/* A hundred connection windows of bytes that no handler reads. */
SERVER_TEST(credit_for_bodies_of_requests_that_end_early_comes_back, &options)
{
        send_bodies(site, "/slow", 0, send_nothing);
        send_bodies(site, "/slow", NGHTTP2_FLAG_PADDED, send_nothing);
        send_bodies(site, "/ok", 0, send_nothing);
        send_bodies(site, "/ok", NGHTTP2_FLAG_PADDED, send_nothing);
        send_bodies(site, "/slow", 0, send_overflow);
        send_bodies(site, "/echo", NGHTTP2_FLAG_PADDED, send_overflow);
}

/* ---- calls after the end -------------------------------------------------------------- */

static int hint_late(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_header hint = { "Link", "</a.css>; rel=preload" };
        char byte;

        (void) arg;
        CHECK_EQ(eddy_sleep(EDDY_SEC(2)), 0);
        CHECK(eddy_http_exchange_early_hints(exchange, &hint, 1) < 0);
        CHECK(eddy_http_exchange_read(exchange, &byte, 1) < 0);
        CHECK(eddy_http_exchange_respond_text(exchange, 200, "late") < 0);
        return 0;
}

static void set_late(struct site *site)
{
        site->handler = hint_late;
}

static void leave_early(struct site *site)
{
        static const char head[] = "\x83\x86\x84\x01\x01h\x00\x06"
                                   "expect\x0c"
                                   "100-continue";

        raw_begin(site);
        h2_raw_send_frame(NGHTTP2_HEADERS, H2_END_HEADERS, 1, head, sizeof(head) - 1);
        h2_raw_read_for(EDDY_MS(100));
        h2_raw_send_number(NGHTTP2_RST_STREAM, 1, NGHTTP2_CANCEL);
        h2_raw_read_for(EDDY_MS(100));
        h2_raw_end();
        CHECK_EQ(eddy_sleep(EDDY_SEC(3)), 0);
        CHECK_EQ(stats.open, 0);
        CHECK_EQ(site->handled, 1);
}

static const struct eddy_http_server_opts finish = {
        .flags = EDDY_HTTP_SERVER_FINISH,
        .http2 = &counted,
};

TEST(a_handler_that_runs_on_after_its_connection_keeps_no_memory)
{
        site_run_prepared(&finish, false, set_late, leave_early);
}

/* ---- heads ---------------------------------------------------------------------------- */

enum { HUGE_HEAD = 17 << 20 };

TEST_ROOM(char, long_value, HUGE_HEAD);

/* A head of 100 KiB, and one that is larger than this side sends. */
static int send_long_head(eddy_http_exchange *exchange, void *arg)
{
        const struct eddy_http_header header = { "X-Long", long_value };
        bool is_huge = eddy_http_exchange_path(exchange)[1] == 'h';

        (void) arg;
        memset(long_value, 'v', HUGE_HEAD);
        long_value[is_huge ? HUGE_HEAD - 1 : 100 << 10] = '\0';
        return eddy_http_exchange_respond(exchange, 200, &header, 1, "long", 4);
}

static void set_long_head(struct site *site)
{
        site->handler = send_long_head;
}

static void get_long_heads(struct site *site)
{
        raw_begin(site);
        h2_raw_send_get(1, "/long", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_read_for(EDDY_SEC(3));
        CHECK_EQ(h2_raw.heads, 1);
        CHECK_EQ(h2_raw.data, 4);
        CHECK_EQ(h2_raw.resets, 0);
        h2_raw_send_get(3, "/huge", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_read_for(EDDY_SEC(3));
        CHECK_EQ(h2_raw.heads, 1);
        CHECK_EQ(h2_raw.resets, 1);
        CHECK_EQ(h2_raw.reset, NGHTTP2_INTERNAL_ERROR);
        h2_raw_end();
}

TEST(a_response_has_a_head_as_long_as_by_http1_or_is_reset)
{
        site_run_prepared(&options, false, set_long_head, get_long_heads);
}

SERVER_TEST(a_head_that_http1_refuses_is_reset, &options)
{
        static const struct h2_raw_head heads[] = {
                H2_RAW_HEAD("\x82\x06\x03"
                            "ftp"
                            "\x04\x0bhttp://e/ok"
                            "\x01\x01h"), /* not a path */
                H2_RAW_HEAD("\x82\x06\x03"
                            "ftp"
                            "\x04\x02ok"
                            "\x01\x01h"),
                H2_RAW_HEAD("\x82\x06\x03"
                            "ftp"
                            "\x04\x00"
                            "\x01\x01h"),
                H2_RAW_HEAD("\x82\x06\x03"
                            "ftp"
                            "\x04\x01*"
                            "\x01\x01h"),
                H2_RAW_HEAD("\x82\x86\x84\x01\x03h/x"), /* not an authority */
                H2_RAW_HEAD("\x82\x86\x84\x01\x03h?x"),
                H2_RAW_HEAD("\x82\x86\x84\x01\x03h#x"),
                H2_RAW_HEAD("\x82\x86\x84\x01\x03h:x"),
                H2_RAW_HEAD("\x82\x86\x84\x01\x03h\\x"),
                H2_RAW_HEAD("\x82\x86\x84\x01\x03h,x"),
                H2_RAW_HEAD("\x82\x86\x84\x01\x03[:x"),
                H2_RAW_HEAD("\x82\x86\x84\x01\x03h%x"),
                H2_RAW_HEAD("\x82\x86\x84"),
        };

        raw_begin(site);
        h2_raw_check_refused(heads, sizeof(heads) / sizeof(heads[0]));
        h2_raw_end();
        CHECK_EQ(site->handled, 0);
}

/* The settings of the server do not offer ":protocol" (RFC 8441). */
SERVER_TEST(connect_with_a_protocol_is_reset, &options)
{
        static const struct h2_raw_head heads[] = {
                H2_RAW_HEAD("\x02\x07"
                            "CONNECT"
                            "\x00\x09:protocol\x09websocket"
                            "\x86\x04\x05/chat\x01\x01h"),
                H2_RAW_HEAD("\x82\x86\x84\x01\x01h\x00\x09:protocol\x09websocket"),
                H2_RAW_HEAD("\x02\x07"
                            "CONNECT"
                            "\x86\x84\x01\x05h:443"), /* a scheme and a path */
                H2_RAW_HEAD("\x02\x07"
                            "CONNECT"
                            "\x01\x01h"), /* no port */
                H2_RAW_HEAD("\x02\x07"
                            "CONNECT"),
        };

        raw_begin(site);
        h2_raw_check_refused(heads, sizeof(heads) / sizeof(heads[0]));
        h2_raw_end();
        CHECK_EQ(site->handled, 0);
}

static eddy_http_router *connect_router;

static int route_connect(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        CHECK_STR(eddy_http_exchange_method(exchange), "CONNECT");
        CHECK_STR(eddy_http_exchange_target(exchange), "h:443");
        return eddy_http_router_handle(exchange, connect_router);
}

static void set_connect(struct site *site)
{
        CHECK_EQ(eddy_http_router_new(&connect_router), 0);
        CHECK_EQ(eddy_http_router_add(connect_router, "/{rest...}", answer_then_rest, NULL, NULL),
                 0);
        site->handler = route_connect;
}

static void send_connect(struct site *site)
{
        static const char head[] = "\x02\x07"
                                   "CONNECT"
                                   "\x01\x05h:443";

        raw_begin(site);
        h2_raw_send_frame(NGHTTP2_HEADERS, H2_END_HEADERS, 1, head, sizeof(head) - 1);
        h2_raw_read_for(EDDY_MS(100));
        CHECK_EQ(h2_raw.heads, 1);
        CHECK(h2_raw.data > 0);
        h2_raw_end();
        eddy_http_router_free(connect_router);
}

/* No router has a route for its target. */
TEST(connect_is_a_request_that_routers_answer_with_an_error)
{
        site_run_prepared(&options, false, set_connect, send_connect);
}

static int see_cookie(eddy_http_exchange *exchange, void *arg)
{
        const char *cookie = eddy_http_exchange_header(exchange, "Cookie");

        (void) arg;
        CHECK(cookie != NULL);
        CHECK_STR(cookie, "a=1; b=2");
        return eddy_http_exchange_respond_text(exchange, 200, "ok");
}

static void set_see_cookie(struct site *site)
{
        site->handler = see_cookie;
}

static void send_crumbs(struct site *site)
{
        static const char head[] = "\x82\x86\x84\x01\x01h\x0f\x11\x00\x0f\x11\x03"
                                   "a=1\x0f\x11\x00\x0f\x11\x03"
                                   "b=2";

        raw_begin(site);
        h2_raw_send_frame(NGHTTP2_HEADERS, H2_END_STREAM | H2_END_HEADERS, 1, head,
                          sizeof(head) - 1);
        h2_raw_read_for(EDDY_MS(100));
        CHECK_EQ(h2_raw.heads, 1);
        h2_raw_end();
}

TEST(an_empty_crumb_hides_no_cookie)
{
        site_run_prepared(&options, false, set_see_cookie, send_crumbs);
}

/* Two references of a byte each are trailers of 8,000 bytes. */
SERVER_TEST(trailers_of_requests_whose_handlers_run_are_limited_together, &options)
{
        static unsigned char first[4096] = "\x40\x01x\x7f\xa1\x1e"; /* of 4,000 bytes */

        raw_begin(site);
        memset(first + 6, 'v', 4000);
        for (uint32_t i = 0; i < 100; i++) {
                h2_raw_send_get(2 * i + 1, "/slow-echo", H2_END_HEADERS);
                if (i == 0)
                        h2_raw_send_frame(NGHTTP2_HEADERS, H2_END_STREAM | H2_END_HEADERS, 1, first,
                                          4006);
                else
                        h2_raw_send_frame(NGHTTP2_HEADERS, H2_END_STREAM | H2_END_HEADERS,
                                          2 * i + 1, "\xbe\xbe", 2);
                h2_raw_read_for(EDDY_MS(1));
        }
        CHECK_EQ(h2_raw.goaway, 0);
        CHECK(h2_raw.resets >= 60);
        CHECK(h2_raw.resets < 95);
        CHECK(stats.refused >= 60);
        h2_raw_end();
}

SERVER_TEST(a_flood_of_goaway_ends_the_connection, &options)
{
        raw_begin(site);
        h2_raw_send_get(1, "/slow-echo", H2_END_STREAM | H2_END_HEADERS);
        for (int i = 0; i < 3000 && !h2_raw.is_broken; i++)
                h2_raw_send_frame(NGHTTP2_GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0", 8);
        h2_raw_read_for(EDDY_SEC(2));
        CHECK(h2_raw.is_over || h2_raw.is_broken);
        CHECK_EQ(stats.others_ends, 1);
        h2_raw_end();
}

/* ---- ends by the client ----------------------------------------------------------------- */

static void send_goaway(void)
{
        h2_raw_send_frame(NGHTTP2_GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0", 8);
}

SERVER_TEST(a_goaway_of_the_client_lets_requests_end_and_then_the_connection, &options)
{
        int64_t since_ns;

        raw_begin(site);
        send_goaway();
        since_ns = eddy_now();
        h2_raw_read_for(EDDY_SEC(10));
        CHECK(h2_raw.is_over);
        CHECK(eddy_now() - since_ns <= EDDY_SEC(2));
        h2_raw_end();

        raw_begin(site);
        h2_raw_send_get(1, "/slow", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_send_get(3, "/echo", H2_END_HEADERS);
        send_goaway();
        h2_raw_send_frame(NGHTTP2_DATA, H2_END_STREAM, 3, "echo", 4);
        since_ns = eddy_now();
        h2_raw_read_for(EDDY_SEC(10));
        CHECK(h2_raw.is_over);
        CHECK(eddy_now() - since_ns <= EDDY_SEC(5));
        CHECK_EQ(h2_raw.heads, 2);
        CHECK_EQ(h2_raw.data, 8);
        CHECK_EQ(h2_raw.resets, 0);
        h2_raw_end();
}

/* The client says no more, and reads on. */
SERVER_TEST(a_client_that_half_closes_ends_its_connection, &options)
{
        raw_begin(site);
        h2_raw_send_get(1, "/slow", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_read_for(EDDY_MS(100));
        CHECK_EQ(eddy_stream_shutdown(h2_raw.stream), 0);
        h2_raw_read_for(EDDY_SEC(10));
        CHECK(h2_raw.is_over);
        CHECK_EQ(stats.open, 0);
        h2_raw_end();
}

/* ---- small pieces ------------------------------------------------------------------------ */

static size_t put_frame(char *at, int type, int flags, uint32_t id, const char *payload,
                        size_t bytes)
{
        const char head[9] = { 0, 0, (char) bytes, (char) type, (char) flags, 0, 0, 0, (char) id };

        memcpy(at, head, 9);
        memcpy(at + 9, payload, bytes);
        return 9 + bytes;
}

SERVER_TEST(frames_may_come_by_single_bytes, &options)
{
        static char talk[1024];
        size_t n = sizeof(NGHTTP2_CLIENT_MAGIC) - 1;

        memset(&stats, 0, sizeof(stats));
        memset(&h2_raw, 0, sizeof(h2_raw));
        memcpy(talk, NGHTTP2_CLIENT_MAGIC, n);
        n += put_frame(talk + n, NGHTTP2_SETTINGS, 0, 0, "\0\1\0\0\0\0", 6); /* no table */
        n += put_frame(talk + n, NGHTTP2_HEADERS, 0, 1, "\x83\x86\x04", 3);
        n += put_frame(talk + n, NGHTTP2_CONTINUATION, 0, 1, "\x05/echo", 6);
        n += put_frame(talk + n, NGHTTP2_CONTINUATION, H2_END_HEADERS, 1, "\x01\x01h", 3);
        n += put_frame(talk + n, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, "", 0);
        n += put_frame(talk + n, NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, "\3abc\0\0\0", 7);
        n += put_frame(talk + n, NGHTTP2_PING, 0, 0, "12345678", 8);
        n += put_frame(talk + n, NGHTTP2_SETTINGS, 0, 0, "\0\1\0\1\0\0", 6); /* a large one */
        n += put_frame(talk + n, NGHTTP2_DATA, 0, 1, "de", 2);
        n += put_frame(talk + n, NGHTTP2_HEADERS, H2_END_STREAM | H2_END_HEADERS, 1, "\0\1a\1b", 5);
        n += put_frame(talk + n, NGHTTP2_HEADERS, H2_END_STREAM | H2_END_HEADERS, 3,
                       "\x82\x86\x04\x03/ok\x01\x01h", 10);
        h2_raw.stream = site_connect(site);
        for (size_t i = 0; i < n; i++) {
                h2_raw_send_bytes(talk + i, 1);
                h2_raw_read_for(EDDY_MS(1));
        }
        h2_raw_read_for(EDDY_MS(100));
        CHECK_EQ(h2_raw.heads, 2);
        CHECK_EQ(h2_raw.data, 7);
        CHECK_EQ(h2_raw.resets, 0);
        CHECK(!h2_raw.is_over);
        h2_raw_end();
}

/* ---- a stop -------------------------------------------------------------------------------- */

struct stopped {
        eddy_stream *stream;
        eddy_scope scope;
        int result;
        int64_t ended_ns;
};

static int write_on(eddy_http_exchange *exchange, void *arg)
{
        static char piece[10000];
        int err = eddy_http_exchange_begin(exchange, 200, NULL, 0, -1);

        (void) arg;
        while (err == 0)
                err = eddy_http_exchange_write(exchange, piece, sizeof(piece));
        return err;
}

static int serve_unread(void *arg)
{
        struct stopped *server = arg;

        eddy_scope_begin(&server->scope, NULL);
        server->result = eddy_http_serve_stream(
                server->stream, SERVER_OPTIONS(.drain_ns = EDDY_SEC(10)), write_on, NULL);
        server->ended_ns = eddy_now();
        (void) eddy_scope_end(&server->scope);
        return 0;
}

static void stop_unread(bool has_request)
{
        struct stopped server = { .stream = NULL };
        int64_t since_ns;
        eddy_scope scope;

        memset(&h2_raw, 0, sizeof(h2_raw));
        CHECK_EQ(eddy_stream_pair(NULL, &h2_raw.stream, &server.stream), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve_unread, &server), 0);
        h2_raw_send_bytes(NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
        h2_raw_send_frame(NGHTTP2_SETTINGS, 0, 0, "\0\4\x7f\xff\xff\xff", 6);
        h2_raw_send_number(NGHTTP2_WINDOW_UPDATE, 0, INT32_MAX - 65535);
        h2_raw_send_get(1, "/", H2_END_STREAM | H2_END_HEADERS);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        if (!has_request)
                h2_raw_send_number(NGHTTP2_RST_STREAM, 1, NGHTTP2_CANCEL);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        since_ns = eddy_now();
        eddy_scope_cancel(&server.scope);
        CHECK_EQ(eddy_sleep(EDDY_SEC(15)), 0);
        CHECK(server.ended_ns > 0);
        CHECK(server.ended_ns - since_ns <= EDDY_SEC(12));
        CHECK_ERR(server.result, -ECANCELED);
        h2_raw_end();
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int stop_unread_main(void *arg)
{
        (void) arg;
        stop_unread(true);
        stop_unread(false);
        return 0;
}

TEST(a_client_that_does_not_read_delays_a_stop_by_the_drain_time_only)
{
        http_run(stop_unread_main, NULL);
}

/* ---- any frames ---------------------------------------------------------------------------- */

static uint64_t state;

static uint32_t any(uint32_t n)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (uint32_t) (state >> 32) % n;
}

static void send_any(uint32_t id)
{
        static const char *const paths[] = { "/ok",     "/slow",       "/echo",      "/flood",
                                             "/inject", "/long-flood", "/slow-echo", "/chunked",
                                             "/short",  "/fail-late",  "/abort",     "/unended" };
        static const uint32_t windows[] = { 0, 1, 1000, 65535, 1 << 20, INT32_MAX };
        static const char body[5000] = { 20 };
        unsigned char setting[6] = { 0,
                                     (unsigned char) any(8),
                                     0,
                                     (unsigned char) any(2),
                                     (unsigned char) any(256),
                                     (unsigned char) any(256) };
        int end = any(2) ? H2_END_STREAM : 0;

        switch (any(12)) {
        case 0:
        case 1:
        case 2:
        case 3:
                h2_raw_send_get(id, paths[any(sizeof(paths) / sizeof(paths[0]))],
                                end | (any(20) ? H2_END_HEADERS : 0));
                break;
        case 4:
        case 5:
        case 6:
                h2_raw_send_frame(NGHTTP2_DATA, end | (any(2) ? NGHTTP2_FLAG_PADDED : 0), id, body,
                                  21 + any(sizeof(body) - 21));
                break;
        case 7:
                h2_raw_send_number(NGHTTP2_RST_STREAM, id, any(14));
                break;
        case 8:
                h2_raw_send_number(NGHTTP2_WINDOW_UPDATE, any(2) ? id : 0,
                                   windows[any(sizeof(windows) / sizeof(windows[0]))]);
                break;
        case 9:
                h2_raw_send_frame(NGHTTP2_SETTINGS, 0, 0, setting, 6);
                break;
        case 10:
                h2_raw_send_frame(NGHTTP2_HEADERS, H2_END_STREAM | H2_END_HEADERS, id, "\0\1a\1b",
                                  5);
                break;
        default:
                if (any(20) == 0)
                        h2_raw_send_frame(NGHTTP2_GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0", 8);
                else
                        h2_raw_send_frame(NGHTTP2_PING, 0, 0, body, 8);
        }
}

static void send_anything(struct site *site)
{
        memset(&stats, 0, sizeof(stats));
        for (int i = 0; i < 100; i++) {
                uint32_t id = 1;

                h2_raw_begin(site_connect(site));
                for (uint32_t frames = any(60); frames > 0 && !h2_raw.is_broken; frames--) {
                        if (any(3) == 0)
                                id += 2;
                        send_any(any(4) || id < 7 ? id : id - 2 * any(3));
                        if (any(3) == 0)
                                h2_raw_read_for(any(4) ? EDDY_MS(any(3)) : EDDY_SEC(any(3)));
                }
                if (any(2))
                        h2_raw_read_for(EDDY_SEC(1));
                h2_raw_end();
        }
        CHECK_EQ(eddy_sleep(EDDY_SEC(100)), 0);
        CHECK_EQ(stats.open, 0);
        CHECK_EQ(ask(site, "GET /ok HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")->status,
                 200);
}

TEST(any_frames_of_clients_leave_nothing)
{
        state = 88172645463325252;
        for (int i = 0; i < (test_is_full() ? 100 : 1); i++) {
                site_run(&options, false, send_anything);
                site_run(&finish, false, send_anything);
        }
}
