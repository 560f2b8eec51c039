/*
 * test_websocket_frames.c - a WebSocket beside a peer of raw bytes, which may break each rule, be cut
 * at each byte, send without reading, and be silent.
 */
#include <string.h>

#include "eddy/reader.h"
#include "http/websocket.h"
#include "server_test.h"

enum { OUT_BYTES = 4096 };

#define M "\0\0\0\0" /* a mask that changes nothing */

struct world {
        eddy_websocket *websocket;
        eddy_stream *raw;
};

static struct world world_begin(const struct eddy_websocket_opts *opts, bool is_server,
                                size_t buffer_bytes)
{
        struct eddy_stream_pair_opts pair = { .buffer_bytes = buffer_bytes };
        static const struct eddy_websocket_opts none;
        struct world world;
        eddy_stream *stream;

        CHECK_EQ(eddy_stream_pair(&pair, &stream, &world.raw), 0);
        CHECK_EQ(ed_websocket_new(opts ? opts : &none, "", is_server, &world.websocket), 0);
        world.websocket->stream = stream;
        return world;
}

/* ---- each row whole, and cut at each byte ------------------------------------------- */

static const struct row {
        const char *bytes;
        size_t count;
        bool is_server;
        const char *summary; /* messages, the result, and the frames that were sent */
} rows[] = {
#define ROW(text) text, sizeof(text) - 1
#define BYE       "\x88\x82" M "\x03\xe8"
        { ROW("\x81\x85" M "Hello" BYE), true, "T'Hello' OK 1000'' 8'1000'" },
        { ROW("\x01\x83" M "Hel\x89\x81" M "x\x00\x80" M "\x80\x82" M "lo\x88\x80" M), true,
          "T'Hello' OK 1005'' 10'x'8''" },
        { ROW("\x82\x80" M "\x81\x80" M "\x88\x85" M "\x0f\xa0"
              "bye"),
          true, "B''T'' EDDY_E_WEBSOCKET_CLOSED 4000'bye' 8'4000'" },
        { ROW("\x89\x80" M "\x89\x82" M "hi\x8a\x81" M "x" BYE), true,
          " OK 1000'' 10''10'hi'8'1000'" },
        { ROW("\x88\x82" M "\x03\xe9"), true, " OK 1001'' 8'1001'" },
        { ROW("\x88\x82" M "\x03\xf3"), true, " EDDY_E_WEBSOCKET_CLOSED 1011'' 8'1011'" },
        { ROW("\x81\x05Hello\x88\x02\x03\xe8"), false, "T'Hello' OK 1000'' 8'1000'" },
        { ROW("\x01\x01"
              "a\x89\x01"
              "b\x80\x01"
              "c\x88\x00"),
          false, "T'ac' OK 1005'' 10'b'8''" },
        /* the protocol */
        { ROW("\x81\x05Hello"), true,
          " EDDY_E_WEBSOCKET_PROTOCOL 1002'a client's frame without a mask' "
          "8'1002a client's frame without a mask'" },
        { ROW("\x81\x81" M "a\x81\x80" M "\x01\x80" M "\x81\x80" M), true,
          "T'a'T'' EDDY_E_WEBSOCKET_PROTOCOL 1002'a message inside another' "
          "8'1002a message inside another'" },
        { ROW("\x89\x81" M "p\xc1\x80" M), true,
          " EDDY_E_WEBSOCKET_PROTOCOL 1002'a reserved bit is set' "
          "10'p'8'1002a reserved bit is set'" },
        { ROW("\x81\x85" M "Hello"), false,
          " EDDY_E_WEBSOCKET_PROTOCOL 1002'a server's frame with a mask' "
          "8'1002a server's frame with a mask'" },
        { ROW("\x88\x81" M "\x03"), true,
          " EDDY_E_WEBSOCKET_PROTOCOL 1002'a close of one byte' 8'1002a close of one byte'" },
        { ROW("\x88\x82" M "\x03\xed"), true,
          " EDDY_E_WEBSOCKET_PROTOCOL 1002'a code of a close that is not valid' "
          "8'1002a code of a close that is not valid'" },
        { ROW("\x88\x83" M "\x03\xe8\xff"), true,
          " EDDY_E_WEBSOCKET_UTF8 1007'a reason that is not UTF-8' "
          "8'1007a reason that is not UTF-8'" },
        /* texts */
        { ROW("\x81\x83" M "\xe2\x82\xac"
              "\x01\x81" M "\xc3"
              "\x80\x81" M "\xa9" BYE),
          true, "T'\xe2\x82\xac'T'\xc3\xa9' OK 1000'' 8'1000'" },
        { ROW("\x82\x82" M "\xff\xc3" BYE), true, "B'\xff\xc3' OK 1000'' 8'1000'" },
        { ROW("\x81\x82" M "\xc3"
              "a" BYE),
          true,
          " EDDY_E_WEBSOCKET_UTF8 1007'a text that is not UTF-8' 8'1007a text that is not UTF-8'" },
        { ROW("\x81\x81" M "\xc3" BYE), true,
          " EDDY_E_WEBSOCKET_UTF8 1007'a text that is not UTF-8' 8'1007a text that is not UTF-8'" },
        { ROW("\x01\x81" M "\xed"
              "\x00\x81" M "\xa0"),
          true, /* before its last fragment */
          " EDDY_E_WEBSOCKET_UTF8 1007'a text that is not UTF-8' 8'1007a text that is not UTF-8'" },
        /* sizes: at most 10 bytes */
        { ROW("\x82\x8a" M "0123456789" BYE), true, "B'0123456789' OK 1000'' 8'1000'" },
        { ROW("\x82\x8b" M), true,
          " EDDY_E_WEBSOCKET_TOO_LARGE 1009'the message is too large' "
          "8'1009the message is too large'" },
        { ROW("\x02\x86" M "012345\x80\x85" M), true,
          " EDDY_E_WEBSOCKET_TOO_LARGE 1009'the message is too large' "
          "8'1009the message is too large'" },
        { ROW("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff" M), true,
          " EDDY_E_WEBSOCKET_TOO_LARGE 1009'the message is too large' "
          "8'1009the message is too large'" },
        /* the end without a close */
        { ROW(""), true, " EDDY_E_WEBSOCKET_LOST 1006'' " },
        { ROW("\x81"), true, " EDDY_E_WEBSOCKET_LOST 1006'' " },
        { ROW("\x81\x85" M "Hell"), true, " EDDY_E_WEBSOCKET_LOST 1006'' " },
        { ROW("\x81\x81" M "a"), true, "T'a' EDDY_E_WEBSOCKET_LOST 1006'' " },
        { ROW("\x01\x81" M "a"), true, " EDDY_E_WEBSOCKET_LOST 1006'' " },
#undef ROW
};

struct feed {
        const struct row *row;
        size_t cut;
        eddy_stream *raw;
        unsigned char out[OUT_BYTES];
        size_t out_bytes;
};

/* Send the row, its end, and keep what comes. */
static int feed_row(void *arg)
{
        struct feed *feed = arg;
        int64_t n;

        CHECK_EQ(eddy_stream_write(feed->raw, feed->row->bytes, feed->cut), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        n = eddy_stream_write(feed->raw, feed->row->bytes + feed->cut,
                              feed->row->count - feed->cut);
        CHECK(n == 0 || n == -EPIPE || n == -ECONNRESET); /* the peer may have seen enough */
        (void) eddy_stream_shutdown(feed->raw);
        while ((n = eddy_stream_read(feed->raw, feed->out + feed->out_bytes,
                                     OUT_BYTES - feed->out_bytes)) > 0)
                feed->out_bytes += (size_t) n;
        return 0;
}

/* Write the frames that were sent, unmasked; a close's code as a number. */
static size_t describe(const struct feed *feed, char *out, size_t room)
{
        size_t at = 0, n = 0;

        while (at < feed->out_bytes) {
                struct ed_websocket_head head;
                unsigned char data[ED_WEBSOCKET_CONTROL_MAX + 1];
                const char *why = "cut";
                int bytes = ed_websocket_head_read(feed->out + at, feed->out_bytes - at,
                                                   !feed->row->is_server, 0, &head, &why);
                size_t skip = 0;

                if (bytes <= 0)
                        test_fail(__FILE__, __LINE__, "a wrong frame was sent: %s", why);
                at += (size_t) bytes;
                ed_websocket_mask(data, feed->out + at, head.bytes, head.mask, 0);
                data[head.bytes] = '\0';
                at += head.bytes;
                n += (size_t) snprintf(out + n, room - n, "%d'", head.opcode);
                if (head.opcode == ED_WEBSOCKET_CLOSE && head.bytes > 0) {
                        n += (size_t) snprintf(out + n, room - n, "%d", data[0] << 8 | data[1]);
                        skip = 2;
                }
                n += (size_t) snprintf(out + n, room - n, "%s'", data + skip);
        }
        return n;
}

static int read_row(void *arg)
{
        static const struct eddy_websocket_opts small = { .message_bytes_max = 10 };
        struct feed *feed = arg;
        struct world world = world_begin(&small, feed->row->is_server, 0);
        struct eddy_websocket_message message = { .bytes = 0 };
        char summary[OUT_BYTES] = "";
        size_t n = 0;
        eddy_scope scope;
        int err;

        feed->raw = world.raw;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, feed_row, feed), 0);
        while ((err = eddy_websocket_read(world.websocket, &message)) > 0) {
                CHECK_EQ(message.data[message.bytes], '\0');
                CHECK_EQ(strlen(message.data), message.bytes);
                n += (size_t) snprintf(summary + n, sizeof(summary) - n, "%c'%s'",
                                       message.kind == EDDY_WEBSOCKET_TEXT ? 'T' : 'B',
                                       message.data);
        }
        CHECK_EQ(eddy_websocket_read(world.websocket, &message), err); /* also later */
        n += (size_t) snprintf(summary + n, sizeof(summary) - n, " %s %d'%s' ",
                               eddy_error_name(err), eddy_websocket_close_code(world.websocket),
                               eddy_websocket_close_reason(world.websocket));
        eddy_websocket_close(world.websocket, 4001, "too late");
        CHECK_EQ(eddy_scope_end(&scope), 0);
        describe(feed, summary + n, sizeof(summary) - n);
        if (strcmp(summary, feed->row->summary) != 0)
                test_fail(__FILE__, __LINE__, "row %zd cut at %zu:\n%s\nis not\n%s",
                          feed->row - rows, feed->cut, summary, feed->row->summary);
        eddy_stream_close(world.raw);
        return 0;
}

TEST(each_rule_holds_with_the_bytes_cut_anywhere)
{
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                for (size_t cut = 0; cut <= rows[i].count; cut++) {
                        struct feed feed = { .row = &rows[i], .cut = cut };

                        http_run(read_row, &feed);
                }
        }
}

/* ---- peers that do not follow ------------------------------------------------------- */

/* Read whole frames of a side until one has this opcode. Returns false at the end. */
static bool await_frame(eddy_stream *raw, uint8_t opcode, bool from_client)
{
        unsigned char head[8], payload[ED_WEBSOCKET_CONTROL_MAX];
        size_t head_bytes = from_client ? 6 : 2;

        for (;;) {
                size_t n = 0;

                while (n < head_bytes) {
                        int64_t got = eddy_stream_read(raw, head + n, head_bytes - n);

                        if (got <= 0)
                                return false;
                        n += (size_t) got;
                }
                for (n = 0; n < (head[1] & 127U);) {
                        int64_t got = eddy_stream_read(raw, payload + n, (head[1] & 127U) - n);

                        if (got <= 0)
                                return false;
                        n += (size_t) got;
                }
                if ((head[0] & 15) == opcode)
                        return true;
        }
}

static int64_t started_ns;

static int64_t seconds(void)
{
        return (eddy_now() - started_ns) / EDDY_SEC(1);
}

static int answer_twice(void *arg)
{
        eddy_stream *raw = arg;

        for (int i = 0; i < 2; i++) {
                CHECK(await_frame(raw, ED_WEBSOCKET_PING, true));
                CHECK_EQ(seconds(), 20 * (i + 1));
                CHECK_EQ(eddy_stream_write(raw, "\x8a\x00", 2), 0);
        }
        CHECK(await_frame(raw, ED_WEBSOCKET_PING, true));
        CHECK_EQ(seconds(), 60);
        CHECK(!await_frame(raw, ED_WEBSOCKET_PING, true));
        return 0;
}

static int wait_in_silence(void *arg)
{
        struct world world = world_begin(NULL, false, 0);
        struct eddy_websocket_message message;
        eddy_scope scope;

        (void) arg;
        started_ns = eddy_now();
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, answer_twice, world.raw), 0);
        CHECK_ERR(eddy_websocket_read(world.websocket, &message), EDDY_E_NET_TIMED_OUT);
        CHECK_EQ(seconds(), 80);
        CHECK_EQ(eddy_websocket_close_code(world.websocket), EDDY_WEBSOCKET_LOST);
        eddy_websocket_close(world.websocket, 0, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_stream_close(world.raw);
        return 0;
}

TEST(a_silent_peer_gets_a_ping_and_is_lost_if_it_does_not_answer)
{
        http_run(wait_in_silence, NULL);
}

/* Pings without a read. */
static int ping_without_end(void *arg)
{
        unsigned char ping[6 + ED_WEBSOCKET_CONTROL_MAX] = { 0x89,
                                                             0x80 | ED_WEBSOCKET_CONTROL_MAX };
        int err = 0, sent = 0;

        while (err == 0) {
                err = eddy_stream_write(arg, ping, sizeof(ping));
                sent += err == 0;
        }
        CHECK(sent < 1000);
        return 0;
}

static int face_a_flood(void *arg)
{
        struct world world = world_begin(NULL, true, 4096);
        struct eddy_websocket_message message;
        eddy_scope scope;

        (void) arg;
        started_ns = eddy_now();
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, ping_without_end, world.raw), 0);
        CHECK_ERR(eddy_websocket_read(world.websocket, &message), EDDY_E_NET_TIMED_OUT);
        CHECK_EQ(seconds(), 20);
        CHECK(world.websocket->message.memory == NULL);
        eddy_websocket_close(world.websocket, 0, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_stream_close(world.raw);
        return 0;
}

TEST(a_peer_that_pings_and_reads_nothing_is_lost_after_the_time_of_a_pong)
{
        http_run(face_a_flood, NULL);
}

/* Many pings while a task writes: the writer sends the last one's answer after its frame. */
static int write_large(void *arg)
{
        static const char zeros[200000];

        CHECK_EQ(eddy_websocket_write(arg, EDDY_WEBSOCKET_BINARY, zeros, sizeof(zeros)), 0);
        return 0;
}

static int read_to_end(void *arg)
{
        struct eddy_websocket_message message;

        CHECK_EQ(eddy_websocket_read(arg, &message), 0);
        return 0;
}

static int ping_a_writer(void *arg)
{
        struct world world = world_begin(NULL, true, 0);
        unsigned char frame[6 + 5];
        char *all = malloc(300000);
        size_t bytes = 0;
        eddy_scope scope;
        int64_t n;

        (void) arg;
        CHECK(all != NULL);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, write_large, world.websocket), 0);
        CHECK_EQ(eddy_scope_start(&scope, read_to_end, world.websocket), 0);
        for (int i = 0; i < 1000; i++) {
                memcpy(frame, "\x89\x85" M, 6);
                snprintf((char *) frame + 6, 5, "%04d", i);
                frame[10] = '.';
                CHECK_EQ(eddy_stream_write(world.raw, frame, sizeof(frame)), 0);
        }
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0); /* all were read */
        CHECK_EQ(eddy_stream_write(world.raw, "\x88\x80" M, 6), 0);
        while ((n = eddy_stream_read(world.raw, all + bytes, 300000 - bytes)) > 0) {
                bytes += (size_t) n;
                if (bytes > 10 && memcmp(all + bytes - 2, "\x88\x00", 2) == 0)
                        break;
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(bytes > 200010 + 9 && bytes < 200010 + ED_WEBSOCKET_PONGS_BYTES + 2);
        CHECK(memcmp(all + bytes - 9,
                     "\x8a\x05"
                     "0999.\x88\x00",
                     9) == 0);
        CHECK(memcmp(all + 200010, "\x8a\x05", 2) == 0);
        free(all);
        eddy_websocket_close(world.websocket, 0, NULL);
        eddy_stream_close(world.raw);
        return 0;
}

TEST(pings_during_a_long_message_do_not_enter_it_and_the_last_is_answered_after_it)
{
        http_run(ping_a_writer, NULL);
}

/* ---- memory ------------------------------------------------------------------------- */

static int declare_much(void *arg)
{
        static const struct eddy_websocket_opts large = { .message_bytes_max = (size_t) 1 << 40 };
        struct world world = world_begin(&large, false, 0);
        struct eddy_websocket_message message;
        char data[5000] = "";

        (void) arg;
        CHECK_EQ(eddy_stream_write(world.raw, "\x82\x7f\0\0\0\xff\0\0\0\0", 10), 0);
        CHECK_EQ(eddy_stream_write(world.raw, data, sizeof(data)), 0);
        CHECK_EQ(eddy_stream_shutdown(world.raw), 0);
        CHECK_ERR(eddy_websocket_read(world.websocket, &message), EDDY_E_WEBSOCKET_LOST);
        CHECK_EQ(ed_buf_bytes(&world.websocket->message), sizeof(data));
        CHECK(world.websocket->message.room <= 10 * sizeof(data));
        eddy_websocket_close(world.websocket, 0, NULL);
        eddy_stream_close(world.raw);
        return 0;
}

TEST(memory_follows_the_bytes_that_came_and_not_the_length_that_was_declared)
{
        http_run(declare_much, NULL);
}

static int send_fragments(void *arg)
{
        enum { TURNS = 2200, AT_ONCE = 60 };
        unsigned char fragments[6 * AT_ONCE] = { 0 };
        int err = eddy_stream_write(arg, "\x01\x80" M, 6);

        for (int i = 0; i < AT_ONCE; i++)
                fragments[6 * i + 1] = 0x80;
        for (int i = 0; i < TURNS && err == 0; i++)
                err = eddy_stream_write(arg, fragments, sizeof(fragments));
        (void) eddy_stream_shutdown(arg);
        return 0;
}

static int face_fragments(void *arg)
{
        struct world world = world_begin(NULL, true, 0);
        struct eddy_websocket_message message;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, send_fragments, world.raw), 0);
        CHECK_ERR(eddy_websocket_read(world.websocket, &message), EDDY_E_WEBSOCKET_TOO_LARGE);
        CHECK_STR(eddy_websocket_close_reason(world.websocket), "the message has too many frames");
        CHECK(world.websocket->message.room <= 8192);
        eddy_websocket_close(world.websocket, 0, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_stream_close(world.raw);
        return 0;
}

TEST(a_message_of_empty_fragments_is_refused_at_its_limit)
{
        http_run(face_fragments, NULL);
}

/* ---- cancelled writes ---------------------------------------------------------------- */

static int write_twelve(void *arg)
{
        return eddy_websocket_write(arg, EDDY_WEBSOCKET_TEXT, "0123456789ab", 12);
}

static int write_to_full_stream(void *arg)
{
        static const struct eddy_websocket_opts fragments = { .fragment_bytes = 4 };
        struct world world = world_begin(&fragments, true, 32);
        char filler[32] = "", got[32];
        const struct eddy_slice slice = { filler, sizeof(filler) };

        (void) arg;
        CHECK_EQ(eddy_stream_try_writev(world.websocket->stream, &slice, 1), sizeof(filler));
        CHECK_ERR(eddy_call_timeout(write_twelve, world.websocket, EDDY_SEC(1)), -ETIMEDOUT);
        CHECK_EQ(eddy_stream_read(world.raw, got, sizeof(got)), sizeof(filler));
        CHECK_EQ(write_twelve(world.websocket), 0);
        CHECK_EQ(eddy_stream_read(world.raw, got, sizeof(got)), 18);
        CHECK(memcmp(got,
                     "\x01\x04"
                     "0123\x00\x04"
                     "4567\x80\x04"
                     "89ab",
                     18) == 0);

        CHECK_EQ(eddy_stream_try_writev(world.websocket->stream, &slice, 1), sizeof(filler));
        CHECK_EQ(eddy_stream_read(world.raw, got, 6), 6); /* room for the first frame */
        CHECK_ERR(eddy_call_timeout(write_twelve, world.websocket, EDDY_SEC(1)), -ETIMEDOUT);
        CHECK_ERR(write_twelve(world.websocket), EDDY_E_STREAM_BROKEN);
        CHECK_ERR(eddy_websocket_ping(world.websocket, NULL, 0), EDDY_E_STREAM_BROKEN);
        eddy_websocket_close(world.websocket, 0, NULL);
        eddy_stream_close(world.raw);
        return 0;
}

TEST(a_write_that_is_cancelled_before_its_first_byte_changes_nothing_and_later_ends_the_sending)
{
        http_run(write_to_full_stream, NULL);
}

/* ---- closes ------------------------------------------------------------------------- */

static int close_silent(void *arg)
{
        struct world world = world_begin(NULL, false, 0);
        int64_t before = eddy_now();

        (void) arg;
        eddy_websocket_close(world.websocket, 0, NULL);
        CHECK_EQ(eddy_now() - before, EDDY_SEC(1));
        CHECK(await_frame(world.raw, ED_WEBSOCKET_CLOSE, true));
        eddy_stream_close(world.raw);

        world = world_begin(NULL, true, 16); /* the close has no room */
        CHECK_EQ(eddy_stream_try_writev(world.websocket->stream,
                                        &(struct eddy_slice){ "0123456789abcdef", 16 }, 1),
                 16);
        before = eddy_now();
        eddy_websocket_close(world.websocket, 4000, "x");
        CHECK_EQ(eddy_now() - before, EDDY_SEC(1));
        eddy_stream_close(world.raw);
        return 0;
}

TEST(a_close_waits_one_second_for_a_peer_that_does_not_answer)
{
        http_run(close_silent, NULL);
}

static int close_with(void *arg)
{
        static const struct {
                int code;
                const char *reason;
                size_t bytes; /* of the close's payload */
        } closes[] = { { 0, NULL, 2 },         { 1000, "", 2 }, { 4999, "bye", 5 },
                       { 1005, "x", 0 },       { 1006, "", 0 }, { 5000, "", 0 },
                       { 999, "", 0 },         { -1, "", 0 },   { 1001, "\xff", 2 },
                       { 1001, NULL, 2 + 122 } };
        char reason[300];

        (void) arg;
        memset(reason, 'a', sizeof(reason));
        memcpy(reason + 122, "\xc3\xa9", 2); /* is cut before this */
        reason[299] = '\0';
        for (size_t i = 0; i < sizeof(closes) / sizeof(closes[0]); i++) {
                struct world world = world_begin(NULL, true, 0);
                unsigned char frame[200];
                const char *text = i == 9 ? reason : closes[i].reason;
                size_t n = 0;
                int64_t got;

                CHECK_EQ(eddy_stream_write(world.raw, "\x88\x80" M, 6), 0);
                eddy_websocket_close(world.websocket, closes[i].code, text);
                while ((got = eddy_stream_read(world.raw, frame + n, sizeof(frame) - n)) > 0)
                        n += (size_t) got;
                CHECK_EQ(n, 2 + closes[i].bytes);
                CHECK_EQ(frame[0], 0x88);
                CHECK_EQ(frame[1], closes[i].bytes);
                if (closes[i].bytes > 0)
                        CHECK_EQ(frame[2] << 8 | frame[3], closes[i].code ? closes[i].code : 1000);
                eddy_stream_close(world.raw);
        }
        eddy_websocket_close(NULL, 0, NULL);
        return 0;
}

TEST(a_close_has_a_valid_code_or_none_and_a_reason_that_fits)
{
        http_run(close_with, NULL);
}

/* ---- masks -------------------------------------------------------------------------- */

static int draw_masks(void *arg)
{
        enum { MASKS = 1000000 };
        static uint32_t counts[ED_WEBSOCKET_MASK_BYTES][256];
        struct world world = world_begin(NULL, false, 0);
        unsigned char mask[ED_WEBSOCKET_MASK_BYTES], last[ED_WEBSOCKET_MASK_BYTES] = { 0 };
        int repeated = 0;

        (void) arg;
        memset(counts, 0, sizeof(counts));
        for (int i = 0; i < MASKS; i++) {
                ed_websocket_draw_mask(world.websocket, mask);
                for (size_t at = 0; at < sizeof(mask); at++)
                        counts[at][mask[at]]++;
                repeated += memcmp(mask, last, sizeof(mask)) == 0;
                memcpy(last, mask, sizeof(mask));
        }
        CHECK(repeated < 3);
        for (size_t at = 0; at < sizeof(mask); at++) {
                double chi = 0, mean = MASKS / 256.0;

                for (size_t value = 0; value < 256; value++)
                        chi += (counts[at][value] - mean) * (counts[at][value] - mean) / mean;
                /* 255 degrees of freedom: 255 with a deviation of 22.6; outside once in 10^8 */
                CHECK(chi > 140 && chi < 410);
        }
        eddy_stream_close(world.websocket->stream);
        ed_websocket_free(world.websocket);
        eddy_stream_close(world.raw);
        return 0;
}

TEST(a_million_masks_are_evenly_distributed)
{
        http_run_real(draw_masks, NULL);
}
