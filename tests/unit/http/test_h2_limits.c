/*
 * test_h2_limits.c - clients of HTTP/2 that cost a server more than themselves: each limit ends the
 * connection or the request with its code, and is counted.
 */
#include "eddy/http2_server.h"
#include "h2_raw.h"
#include "server_test.h"

static struct eddy_http2_server_stats stats;

static const struct eddy_http2_server_opts small = {
        .streams_max = 4,
        .resets_max = 20,
        .faults_max = 20,
        .settings_max = 20,
        .pings_max = 20,
        .others_max = 20,
        .empty_max = 20,
        .updates_max = 20,
        .stats = &stats,
};

static const struct eddy_http_server_opts options = { .http2 = &small, .head_bytes_max = 8 << 10 };

static void raw_begin(struct site *site)
{
        memset(&stats, 0, sizeof(stats));
        h2_raw_begin(site_connect(site));
}

/* The server must end the connection within two seconds, with a code. */
static void check_end(uint32_t code)
{
        int64_t since_ns = eddy_now();

        h2_raw_read_for(EDDY_SEC(60));
        CHECK(h2_raw.is_over);
        CHECK(eddy_now() - since_ns <= EDDY_SEC(2));
        CHECK_EQ(h2_raw.goaway, code + 1);
        h2_raw_end();
}

static void set_window(uint32_t window)
{
        unsigned char setting[6] = { 0,
                                     NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                     (unsigned char) (window >> 24),
                                     (unsigned char) (window >> 16),
                                     (unsigned char) (window >> 8),
                                     (unsigned char) window };

        h2_raw_send_frame(NGHTTP2_SETTINGS, 0, 0, setting, 6);
}

/* ---- floods --------------------------------------------------------------------------- */

enum { FLOOD = 100 };

SERVER_TEST(rapid_resets_end_the_connection, &options)
{
        raw_begin(site);
        for (uint32_t i = 0; i < FLOOD; i++) {
                h2_raw_send_get(2 * i + 1, "/slow", H2_END_STREAM | H2_END_HEADERS);
                h2_raw_send_number(NGHTTP2_RST_STREAM, 2 * i + 1, NGHTTP2_CANCEL);
        }
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.resets_ends, 1);
        CHECK(site->handled <= 20);
}

SERVER_TEST(resets_that_the_client_provokes_end_the_connection, &options)
{
        raw_begin(site);
        for (uint32_t i = 0; i < FLOOD; i++) {
                h2_raw_send_get(2 * i + 1, "/slow", H2_END_HEADERS);
                /* The window overflows. */
                h2_raw_send_number(NGHTTP2_WINDOW_UPDATE, 2 * i + 1, INT32_MAX);
                if (i % 4 == 3)
                        h2_raw_read_for(EDDY_MS(10));
        }
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.faults_ends + stats.updates_ends, 1);
}

static void check_flood(struct site *site, int type, const void *payload, size_t bytes,
                        const uint64_t *counter)
{
        raw_begin(site);
        for (int i = 0; i < FLOOD; i++)
                h2_raw_send_frame(type, 0, 0, payload, bytes);
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(*counter, 1);
        CHECK_EQ(stats.open, 0);
}

SERVER_TEST(floods_of_control_frames_end_the_connection, &options)
{
        check_flood(site, NGHTTP2_SETTINGS, NULL, 0, &stats.settings_ends);
        check_flood(site, NGHTTP2_PING, "12345678", 8, &stats.pings_ends);
        check_flood(site, 0x77, "unknown", 7, &stats.others_ends);
        check_flood(site, NGHTTP2_WINDOW_UPDATE, "\0\0\0\1", 4, &stats.updates_ends);
}

SERVER_TEST(a_flood_of_priorities_ends_the_connection, &options)
{
        raw_begin(site);
        for (uint32_t i = 0; i < FLOOD; i++)
                h2_raw_send_frame(NGHTTP2_PRIORITY, 0, 2 * i + 1, "\0\0\0\0\1", 5);
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.others_ends, 1);
}

SERVER_TEST(a_flood_of_empty_data_ends_the_connection, &options)
{
        raw_begin(site);
        h2_raw_send_get(1, "/echo", H2_END_HEADERS);
        for (int i = 0; i < FLOOD; i++)
                h2_raw_send_frame(NGHTTP2_DATA, 0, 1, NULL, 0);
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.empty_ends, 1);
}

SERVER_TEST(data_that_is_only_padding_is_empty, &options)
{
        raw_begin(site);
        h2_raw_send_get(1, "/echo", H2_END_HEADERS);
        for (int i = 0; i < FLOOD; i++)
                h2_raw_send_frame(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, "\3\0\0\0", 4);
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.empty_ends, 1);
}

SERVER_TEST(a_flood_of_continuations_ends_the_connection, &options)
{
        raw_begin(site);
        h2_raw_send_get(1, "/ok", H2_END_STREAM);
        for (int i = 0; i < FLOOD; i++)
                h2_raw_send_frame(NGHTTP2_CONTINUATION, 0, 1, NULL, 0);
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.continuations_ends, 1);
        CHECK_EQ(site->handled, 0);
}

/* ---- streams that have ended --------------------------------------------------------- */

static void check_strays(struct site *site, int type, const void *payload, size_t bytes)
{
        raw_begin(site);
        h2_raw_send_get(1, "/ok", H2_END_HEADERS);
        h2_raw_read_for(EDDY_MS(100));
        CHECK_EQ(h2_raw.resets, 1);
        for (int i = 0; i < FLOOD; i++)
                h2_raw_send_frame(type, H2_END_HEADERS, 1, payload, bytes);
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.others_ends, 1);
        CHECK_EQ(stats.open, 0);
}

SERVER_TEST(floods_of_frames_for_streams_that_have_ended_end_the_connection, &options)
{
        static const char data[127];

        check_strays(site, NGHTTP2_DATA, data, 1);
        check_strays(site, NGHTTP2_DATA, data, sizeof(data));
        check_strays(site, NGHTTP2_HEADERS, "\0\1a\1b", 5);
}

/* An upload of which the server needs no more: what is on its way is a window at most. */
SERVER_TEST(a_body_that_arrives_after_the_end_of_its_stream_ends_nothing, &options)
{
        static const char data[1 << 10];

        raw_begin(site);
        for (uint32_t i = 0; i < 10; i++) {
                h2_raw_send_get(2 * i + 1, "/ok", H2_END_HEADERS);
                h2_raw_read_for(EDDY_MS(1));
                CHECK_EQ(h2_raw.resets, i + 1);
                for (int n = 0; n < 60; n++)
                        h2_raw_send_frame(NGHTTP2_DATA, 0, 2 * i + 1, data, sizeof(data));
        }
        h2_raw_send_get(101, "/ok", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_read_for(EDDY_MS(100));
        CHECK(!h2_raw.is_over);
        CHECK_EQ(h2_raw.heads, 11);
        h2_raw_end();
}

/* The client opens its window by a byte for each byte that it gets. */
SERVER_TEST(a_response_that_is_taken_by_single_bytes_ends_the_connection, &options)
{
        raw_begin(site);
        set_window(1);
        h2_raw_send_get(1, "/long-flood", H2_END_STREAM | H2_END_HEADERS);
        for (int i = 0; i < FLOOD && !h2_raw.is_over && !h2_raw.is_broken; i++) {
                h2_raw_read_for(EDDY_MS(1));
                h2_raw_send_number(NGHTTP2_WINDOW_UPDATE, 1, 1);
        }
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.updates_ends, 1);
        CHECK(h2_raw.data < FLOOD / 2);
}

/* A client that opens its windows after each frame, though it is small. */
SERVER_TEST(small_responses_explain_frames_window_update, &options)
{
        raw_begin(site);
        for (uint32_t i = 0; i < FLOOD; i++) {
                h2_raw_send_get(2 * i + 1, "/ok", H2_END_STREAM | H2_END_HEADERS);
                h2_raw_read_for(EDDY_MS(1));
                h2_raw_send_number(NGHTTP2_WINDOW_UPDATE, 0, 2);
                h2_raw_send_number(NGHTTP2_WINDOW_UPDATE, 2 * i + 1, 2);
        }
        CHECK_EQ(h2_raw.heads, FLOOD);
        CHECK(!h2_raw.is_over);
        h2_raw_end();
}

/* ---- heads ------------------------------------------------------------------------------ */

/* A head with a field of 'value' bytes that enters the table, and references to it of a byte each. */
static size_t put_bomb(unsigned char *head, size_t value, size_t references)
{
        size_t n = h2_raw_put_head(head, "/ok");

        head[n++] = 0x40;
        head[n++] = 1;
        head[n++] = 'x';
        head[n++] = 0x7f; /* 127 and more */
        head[n++] = (unsigned char) (0x80 | ((value - 127) & 0x7f));
        head[n++] = (unsigned char) ((value - 127) >> 7);
        memset(head + n, 'a', value);
        n += value;
        memset(head + n, 0x80 | 62, references);
        return n + references;
}

SERVER_TEST(a_head_above_its_limit_is_answered_and_not_kept, &options)
{
        static unsigned char head[16384];
        size_t n = put_bomb(head, 3000, 4);

        raw_begin(site);
        h2_raw_send_frame(NGHTTP2_HEADERS, H2_END_STREAM | H2_END_HEADERS, 1, head, n);
        h2_raw_send_get(3, "/ok", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_read_for(EDDY_SEC(1));
        CHECK(!h2_raw.is_over);
        CHECK_EQ(h2_raw.heads, 2);
        CHECK_EQ(h2_raw.resets, 0);
        CHECK_EQ(site->handled, 1);
        h2_raw_end();
}

SERVER_TEST(a_head_that_is_decoded_far_above_its_limit_ends_the_connection, &options)
{
        static unsigned char head[16384];
        size_t n = put_bomb(head, 3000, 10000);

        raw_begin(site);
        h2_raw_send_frame(NGHTTP2_HEADERS, H2_END_STREAM | H2_END_HEADERS, 1, head, n);
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.head_ends, 1);
        CHECK_EQ(site->handled, 0);
}

SERVER_TEST(a_request_that_contradicts_itself_is_reset, &options)
{
        static const struct h2_raw_head heads[] = {
                H2_RAW_HEAD(
                        "\x82\x86\x84\x01\x01h\x0f\x17\x01i"), /* Host differs from ":authority" */
                H2_RAW_HEAD("\x82\x86\x84\x01\x03u@h"),        /* a user in ":authority" */
                H2_RAW_HEAD("\x82\x86\x84\x01\x01h\x00\x0a"
                            "connection\x05"
                            "close"),
                H2_RAW_HEAD("\x82\x86\x84\x01\x01h\x00\x02te\x04gzip"),
                H2_RAW_HEAD("\x82\x86\x84\x01\x01h\x00\x01"
                            "A\x01"
                            "b"),
                H2_RAW_HEAD("\x82\x86\x84\x01\x01h\x00\x01"
                            "a\x01\n"),
                H2_RAW_HEAD("\x82\x86\x04\x04/a#b\x01\x01h"), /* a fragment */
        };

        raw_begin(site);
        h2_raw_check_refused(heads, sizeof(heads) / sizeof(heads[0]));
        h2_raw_send_get(101, "/ok", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_read_for(EDDY_MS(100));
        CHECK_EQ(h2_raw.heads, 1);
        CHECK_EQ(site->handled, 1);
        h2_raw_end();
}

SERVER_TEST(an_id_that_was_left_out_is_not_used_later, &options)
{
        raw_begin(site);
        h2_raw_send_get(5, "/ok", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_send_get(3, "/ok", H2_END_STREAM | H2_END_HEADERS);
        check_end(NGHTTP2_PROTOCOL_ERROR);
        CHECK_EQ(stats.faulty_ends, 1);
}

SERVER_TEST(a_window_that_grows_by_nothing_ends_the_connection_also_after_the_stream, &options)
{
        for (int i = 0; i < 2; i++) {
                raw_begin(site);
                h2_raw_send_get(1, "/ok", H2_END_STREAM | H2_END_HEADERS);
                if (i == 1)
                        h2_raw_read_for(EDDY_MS(100));
                h2_raw_send_number(NGHTTP2_WINDOW_UPDATE, 1, 0);
                check_end(NGHTTP2_PROTOCOL_ERROR);
        }
}

/* ---- streams ------------------------------------------------------------------------------ */

SERVER_TEST(streams_and_handlers_at_once_are_limited, &options)
{
        raw_begin(site);
        /* The limit of the settings holds after the client has them, so the handlers' limit is met. */
        for (uint32_t i = 0; i < 4; i++)
                h2_raw_send_get(2 * i + 1, "/slow-echo", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_read_for(EDDY_MS(10));
        CHECK_EQ(site->handled, 4);
        h2_raw_send_get(9, "/slow", H2_END_STREAM | H2_END_HEADERS);
        h2_raw_read_for(EDDY_SEC(1));
        CHECK(h2_raw.is_over || h2_raw.reset == NGHTTP2_REFUSED_STREAM);
        CHECK_EQ(site->handled, 4);
        h2_raw_end();
}

/* ---- slow clients --------------------------------------------------------------------------- */

static void check_late(struct site *site)
{
        int64_t since_ns = eddy_now();

        h2_raw_read_for(EDDY_MIN(5));
        CHECK(h2_raw.is_over);
        CHECK_EQ((eddy_now() - since_ns + EDDY_SEC(1) / 2) / EDDY_SEC(1), 30);
        CHECK_EQ(stats.late_ends, 1);
        CHECK_EQ(site->handled, 0);
        h2_raw_end();
}

SERVER_TEST(a_preface_a_frame_and_a_head_have_a_time, &options)
{
        static const struct {
                int parts;
        } cases[] = { { 1 }, { 2 }, { 3 } };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                memset(&h2_raw, 0, sizeof(h2_raw));
                memset(&stats, 0, sizeof(stats));
                h2_raw.stream = site_connect(site);
                h2_raw_send_bytes(NGHTTP2_CLIENT_MAGIC,
                                  cases[i].parts == 1 ? 20 : NGHTTP2_CLIENT_MAGIC_LEN);
                if (cases[i].parts > 1)
                        h2_raw_send_frame(NGHTTP2_SETTINGS, 0, 0, NULL, 0);
                if (cases[i].parts == 2)
                        h2_raw_send_bytes("\0\0\4", 3);
                if (cases[i].parts == 3)
                        h2_raw_send_get(1, "/ok", H2_END_STREAM); /* its CONTINUATION is missing */
                check_late(site);
        }
}

/* A response that the client does not take: of a handler that waits, and of one that has ended. */
SERVER_TEST(a_client_without_a_window_loses_its_response, &options)
{
        static const char *const paths[] = { "/long-flood", "/ok" };

        for (size_t i = 0; i < 2; i++) {
                raw_begin(site);
                set_window(0);
                h2_raw_send_get(1, paths[i], H2_END_STREAM | H2_END_HEADERS);
                h2_raw_read_for(EDDY_SEC(31));
                CHECK(!h2_raw.is_over);
                CHECK_EQ(h2_raw.data, 0);
                CHECK_EQ(h2_raw.resets, 1);
                CHECK_EQ(h2_raw.reset, NGHTTP2_CANCEL);
                CHECK_EQ(stats.slow, 1);
                h2_raw_end();
        }
}

SERVER_TEST(a_client_that_opens_its_window_by_bytes_loses_its_response, &options)
{
        raw_begin(site);
        set_window(1);
        h2_raw_send_get(1, "/long-flood", H2_END_STREAM | H2_END_HEADERS);
        for (int i = 0; i < 40 && h2_raw.resets == 0; i++) {
                h2_raw_read_for(EDDY_SEC(2));
                h2_raw_send_number(NGHTTP2_WINDOW_UPDATE, 1, 1);
        }
        CHECK_EQ(h2_raw.resets, 1);
        CHECK(h2_raw.data < 30);
        CHECK_EQ(stats.slow, 1);
        h2_raw_end();
}

SERVER_TEST(a_client_that_sends_its_body_too_slowly_gets_a_408, &options)
{
        raw_begin(site);
        h2_raw_send_get(1, "/echo", H2_END_HEADERS);
        for (int i = 0; i < 30 && h2_raw.heads == 0; i++) {
                h2_raw_send_frame(NGHTTP2_DATA, 0, 1, "x", 1);
                h2_raw_read_for(EDDY_SEC(1));
        }
        CHECK_EQ(h2_raw.heads, 1);
        CHECK_ERR(site->failed, EDDY_E_NET_TIMED_OUT);
        h2_raw_end();
}
