/*
 * test_h2_limits.c - clients of HTTP/2 that cost a server more than themselves: each limit ends the
 * connection or the request with its code, and is counted.
 */
#include "eddy/http2_server.h"
#include "http/h2.h"
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

static const struct eddy_http_server_opts options = { .flags = EDDY_HTTP_SERVER_HTTP2,
                                                      .http2 = &small,
                                                      .head_bytes_max = 8 << 10 };

/* ---- a client of raw frames --------------------------------------------------------- */

static struct {
        eddy_stream *stream;
        char in[1 << 16];
        size_t bytes;
        int goaway;     /* its code and 1; 0: none came */
        int resets;     /* frames RST_STREAM of the server */
        int reset;      /* the code of the last */
        int heads;      /* frames HEADERS */
        uint64_t data;  /* bytes of DATA */
        bool is_over;   /* the server has ended the connection */
        bool is_broken; /* a write has failed */
} raw;

static void send_bytes(const void *data, size_t bytes)
{
        if (eddy_stream_write(raw.stream, data, bytes) < 0)
                raw.is_broken = true;
}

static void send_frame(int type, int flags, uint32_t id, const void *payload, size_t bytes)
{
        unsigned char frame[9 + 16384] = { (unsigned char) (bytes >> 16),
                                           (unsigned char) (bytes >> 8),
                                           (unsigned char) bytes,
                                           (unsigned char) type,
                                           (unsigned char) flags,
                                           (unsigned char) (id >> 24),
                                           (unsigned char) (id >> 16),
                                           (unsigned char) (id >> 8),
                                           (unsigned char) id };

        CHECK(bytes <= 16384);
        if (bytes > 0)
                memcpy(frame + 9, payload, bytes);
        send_bytes(frame, 9 + bytes);
}

static void send_number(int type, uint32_t id, uint32_t number)
{
        unsigned char payload[4] = { (unsigned char) (number >> 24), (unsigned char) (number >> 16),
                                     (unsigned char) (number >> 8), (unsigned char) number };

        send_frame(type, 0, id, payload, 4);
}

/* GET of a path, of which HPACK needs no table. */
static size_t put_head(unsigned char *head, const char *path)
{
        size_t n = strlen(path);

        memcpy(head, "\x82\x86\x01\x01h\x04", 6); /* GET, http, ":authority: h", ":path" */
        head[6] = (unsigned char) n;
        memcpy(head + 7, path, n);
        return 7 + n;
}

enum { END_STREAM = 1, END_HEADERS = 4 };

static void send_get(uint32_t id, const char *path, int flags)
{
        unsigned char head[64];
        size_t n = put_head(head, path);

        send_frame(NGHTTP2_HEADERS, flags, id, head, n);
}

static uint32_t number_at(const char *at)
{
        const unsigned char *bytes = (const unsigned char *) at;

        return (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 |
               bytes[3];
}

static void note_frame(const char *frame, size_t payload)
{
        switch (frame[3]) {
        case NGHTTP2_GOAWAY:
                raw.goaway = (int) number_at(frame + 13) + 1;
                break;
        case NGHTTP2_RST_STREAM:
                raw.resets++;
                raw.reset = (int) number_at(frame + 9);
                break;
        case NGHTTP2_HEADERS:
                raw.heads++;
                break;
        case NGHTTP2_DATA:
                raw.data += payload;
                break;
        default:
                break;
        }
}

/* Read what the server sends for a time, or until the end. */
static int read_frames(void *arg)
{
        int64_t n;

        (void) arg;
        while ((n = eddy_stream_read(raw.stream, raw.in + raw.bytes, sizeof(raw.in) - raw.bytes)) >
               0) {
                raw.bytes += (size_t) n;
                for (;;) {
                        size_t payload = raw.bytes < 9 ? 0 : number_at(raw.in) >> 8;

                        if (raw.bytes < 9 + payload)
                                break;
                        note_frame(raw.in, payload);
                        raw.bytes -= 9 + payload;
                        memmove(raw.in, raw.in + 9 + payload, raw.bytes);
                }
        }
        raw.is_over = n != -ECANCELED;
        return n < 0 ? (int) n : 0;
}

static void read_for(int64_t ns)
{
        (void) eddy_call_timeout(read_frames, NULL, ns);
}

static void raw_begin(struct site *site)
{
        memset(&raw, 0, sizeof(raw));
        memset(&stats, 0, sizeof(stats));
        raw.stream = site_connect(site);
        send_bytes(NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
        send_frame(NGHTTP2_SETTINGS, 0, 0, NULL, 0);
        send_frame(NGHTTP2_SETTINGS, 1, 0, NULL, 0);
}

static void raw_end(void)
{
        eddy_stream_close(raw.stream);
}

/* The server must end the connection within two seconds, with a code. */
static void check_end(uint32_t code)
{
        int64_t since_ns = eddy_now();

        read_for(EDDY_SEC(60));
        CHECK(raw.is_over);
        CHECK(eddy_now() - since_ns <= EDDY_SEC(2));
        CHECK_EQ(raw.goaway, code + 1);
        raw_end();
}

/* ---- floods --------------------------------------------------------------------------- */

enum { FLOOD = 100 };

SERVER_TEST(rapid_resets_end_the_connection, &options)
{
        raw_begin(site);
        for (uint32_t i = 0; i < FLOOD; i++) {
                send_get(2 * i + 1, "/slow", END_STREAM | END_HEADERS);
                send_number(NGHTTP2_RST_STREAM, 2 * i + 1, NGHTTP2_CANCEL);
        }
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.resets_ends, 1);
        CHECK(site->handled <= 20);
}

SERVER_TEST(resets_that_the_client_provokes_end_the_connection, &options)
{
        raw_begin(site);
        for (uint32_t i = 0; i < FLOOD; i++) {
                send_get(2 * i + 1, "/slow", END_HEADERS);
                /* The window overflows. */
                send_number(NGHTTP2_WINDOW_UPDATE, 2 * i + 1, INT32_MAX);
                if (i % 4 == 3)
                        read_for(EDDY_MS(10));
        }
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.faults_ends + stats.updates_ends, 1);
}

static void check_flood(struct site *site, int type, const void *payload, size_t bytes,
                        const uint64_t *counter)
{
        raw_begin(site);
        for (int i = 0; i < FLOOD; i++)
                send_frame(type, 0, 0, payload, bytes);
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
                send_frame(NGHTTP2_PRIORITY, 0, 2 * i + 1, "\0\0\0\0\1", 5);
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.others_ends, 1);
}

SERVER_TEST(a_flood_of_empty_data_ends_the_connection, &options)
{
        raw_begin(site);
        send_get(1, "/echo", END_HEADERS);
        for (int i = 0; i < FLOOD; i++)
                send_frame(NGHTTP2_DATA, 0, 1, NULL, 0);
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.empty_ends, 1);
}

SERVER_TEST(data_that_is_only_padding_is_empty, &options)
{
        raw_begin(site);
        send_get(1, "/echo", END_HEADERS);
        for (int i = 0; i < FLOOD; i++)
                send_frame(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, "\3\0\0\0", 4);
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.empty_ends, 1);
}

SERVER_TEST(a_flood_of_continuations_ends_the_connection, &options)
{
        raw_begin(site);
        send_get(1, "/ok", END_STREAM);
        for (int i = 0; i < FLOOD; i++)
                send_frame(NGHTTP2_CONTINUATION, 0, 1, NULL, 0);
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.continuations_ends, 1);
        CHECK_EQ(site->handled, 0);
}

/* ---- heads ------------------------------------------------------------------------------ */

/* A head with a field of 'value' bytes that enters the table, and references to it of a byte each. */
static size_t put_bomb(unsigned char *head, size_t value, size_t references)
{
        size_t n = put_head(head, "/ok");

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
        send_frame(NGHTTP2_HEADERS, END_STREAM | END_HEADERS, 1, head, n);
        send_get(3, "/ok", END_STREAM | END_HEADERS);
        read_for(EDDY_SEC(1));
        CHECK(!raw.is_over);
        CHECK_EQ(raw.heads, 2);
        CHECK_EQ(raw.resets, 0);
        CHECK_EQ(site->handled, 1);
        raw_end();
}

SERVER_TEST(a_head_that_is_decoded_far_above_its_limit_ends_the_connection, &options)
{
        static unsigned char head[16384];
        size_t n = put_bomb(head, 3000, 10000);

        raw_begin(site);
        send_frame(NGHTTP2_HEADERS, END_STREAM | END_HEADERS, 1, head, n);
        check_end(NGHTTP2_ENHANCE_YOUR_CALM);
        CHECK_EQ(stats.head_ends, 1);
        CHECK_EQ(site->handled, 0);
}

SERVER_TEST(a_request_that_contradicts_itself_is_reset, &options)
{
#define HEAD(text)                                                                                 \
        {                                                                                          \
                (text), sizeof(text) - 1                                                           \
        }
        static const struct {
                const char *text;
                size_t bytes;
        } heads[] = {
                HEAD("\x82\x86\x84\x01\x01h\x0f\x17\x01i"), /* Host differs from ":authority" */
                HEAD("\x82\x86\x84\x01\x03u@h"),            /* a user in ":authority" */
                HEAD("\x82\x86\x84\x01\x01h\x00\x0a"
                     "connection\x05"
                     "close"),
                HEAD("\x82\x86\x84\x01\x01h\x00\x02te\x04gzip"),
                HEAD("\x82\x86\x84\x01\x01h\x00\x01"
                     "A\x01"
                     "b"),
                HEAD("\x82\x86\x84\x01\x01h\x00\x01"
                     "a\x01\n"),
                HEAD("\x82\x86\x04\x04/a#b\x01\x01h"), /* a fragment */
        };

        raw_begin(site);
        for (uint32_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
                send_frame(NGHTTP2_HEADERS, END_STREAM | END_HEADERS, 2 * i + 1, heads[i].text,
                           heads[i].bytes);
                read_for(EDDY_MS(100));
                CHECK_EQ(raw.resets, i + 1);
                CHECK_EQ(raw.reset, NGHTTP2_PROTOCOL_ERROR);
        }
        send_get(101, "/ok", END_STREAM | END_HEADERS);
        read_for(EDDY_MS(100));
        CHECK_EQ(raw.heads, 1);
        CHECK_EQ(site->handled, 1);
        raw_end();
}

SERVER_TEST(an_id_that_was_left_out_is_not_used_later, &options)
{
        raw_begin(site);
        send_get(5, "/ok", END_STREAM | END_HEADERS);
        send_get(3, "/ok", END_STREAM | END_HEADERS);
        check_end(NGHTTP2_PROTOCOL_ERROR);
        CHECK_EQ(stats.faulty_ends, 1);
}

/* ---- streams ------------------------------------------------------------------------------ */

SERVER_TEST(streams_and_handlers_at_once_are_limited, &options)
{
        raw_begin(site);
        /* The limit of the settings holds after the client has them, so the handlers' limit is met. */
        for (uint32_t i = 0; i < 4; i++)
                send_get(2 * i + 1, "/slow-echo", END_STREAM | END_HEADERS);
        read_for(EDDY_MS(10));
        CHECK_EQ(site->handled, 4);
        send_get(9, "/slow", END_STREAM | END_HEADERS);
        read_for(EDDY_SEC(1));
        CHECK(raw.is_over || raw.reset == NGHTTP2_REFUSED_STREAM);
        CHECK_EQ(site->handled, 4);
        raw_end();
}

/* ---- slow clients --------------------------------------------------------------------------- */

static void check_late(struct site *site)
{
        int64_t since_ns = eddy_now();

        read_for(EDDY_MIN(5));
        CHECK(raw.is_over);
        CHECK_EQ((eddy_now() - since_ns + EDDY_SEC(1) / 2) / EDDY_SEC(1), 30);
        CHECK_EQ(stats.late_ends, 1);
        CHECK_EQ(site->handled, 0);
        raw_end();
}

SERVER_TEST(a_preface_a_frame_and_a_head_have_a_time, &options)
{
        static const struct {
                int parts;
        } cases[] = { { 1 }, { 2 }, { 3 } };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                memset(&raw, 0, sizeof(raw));
                memset(&stats, 0, sizeof(stats));
                raw.stream = site_connect(site);
                send_bytes(NGHTTP2_CLIENT_MAGIC,
                           cases[i].parts == 1 ? 20 : NGHTTP2_CLIENT_MAGIC_LEN);
                if (cases[i].parts > 1)
                        send_frame(NGHTTP2_SETTINGS, 0, 0, NULL, 0);
                if (cases[i].parts == 2)
                        send_bytes("\0\0\4", 3);
                if (cases[i].parts == 3)
                        send_get(1, "/ok", END_STREAM); /* its CONTINUATION is missing */
                check_late(site);
        }
}

static void set_window(uint32_t window)
{
        unsigned char setting[6] = { 0,
                                     NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                     (unsigned char) (window >> 24),
                                     (unsigned char) (window >> 16),
                                     (unsigned char) (window >> 8),
                                     (unsigned char) window };

        send_frame(NGHTTP2_SETTINGS, 0, 0, setting, 6);
}

/* A response that the client does not take: of a handler that waits, and of one that has ended. */
SERVER_TEST(a_client_without_a_window_loses_its_response, &options)
{
        static const char *const paths[] = { "/long-flood", "/ok" };

        for (size_t i = 0; i < 2; i++) {
                raw_begin(site);
                set_window(0);
                send_get(1, paths[i], END_STREAM | END_HEADERS);
                read_for(EDDY_SEC(31));
                CHECK(!raw.is_over);
                CHECK_EQ(raw.data, 0);
                CHECK_EQ(raw.resets, 1);
                CHECK_EQ(raw.reset, NGHTTP2_CANCEL);
                CHECK_EQ(stats.slow, 1);
                raw_end();
        }
}

SERVER_TEST(a_client_that_opens_its_window_by_bytes_loses_its_response, &options)
{
        raw_begin(site);
        set_window(1);
        send_get(1, "/long-flood", END_STREAM | END_HEADERS);
        for (int i = 0; i < 40 && raw.resets == 0; i++) {
                read_for(EDDY_SEC(2));
                send_number(NGHTTP2_WINDOW_UPDATE, 1, 1);
        }
        CHECK_EQ(raw.resets, 1);
        CHECK(raw.data < 30);
        CHECK_EQ(stats.slow, 1);
        raw_end();
}

SERVER_TEST(a_client_that_sends_its_body_too_slowly_gets_a_408, &options)
{
        raw_begin(site);
        send_get(1, "/echo", END_HEADERS);
        for (int i = 0; i < 30 && raw.heads == 0; i++) {
                send_frame(NGHTTP2_DATA, 0, 1, "x", 1);
                read_for(EDDY_SEC(1));
        }
        CHECK_EQ(raw.heads, 1);
        CHECK_ERR(site->failed, EDDY_E_NET_TIMED_OUT);
        raw_end();
}
