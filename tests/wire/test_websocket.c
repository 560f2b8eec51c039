/*
 * test_websocket.c - frames of WebSocket: each rule of RFC 6455, 5 and 7.4, heads cut at each byte,
 * masks, and texts in UTF-8 that arrive in pieces.
 */
#include "eddy/error.h"
#include "test.h"
#include "wire/utf8_check.h"
#include "wire/websocket.h"

/* ---- heads ------------------------------------------------------------------------ */

enum { SERVER = true, CLIENT = false, HEAD = ED_WEBSOCKET_HEAD_MAX };

#define MASK "\x01\x02\x03\x04"

static const struct {
        const char *bytes;
        size_t count;
        bool by_server;
        uint8_t opcode;  /* of the message before */
        const char *why; /* NULL: the head is valid */
        size_t wrong_at; /* the number of bytes that suffice to refuse the head */
} heads[] = {
#define ROW(text) text, sizeof(text) - 1
        { ROW("\x81\x80" MASK), SERVER, 0, NULL, 0 },
        { ROW("\x82\x80" MASK), SERVER, 0, NULL, 0 },
        { ROW("\x01\xfe\x00\x7e" MASK), SERVER, 0, NULL, 0 },
        { ROW("\x00\xff\x00\x00\x00\x00\x00\x01\x00\x00" MASK), SERVER, 1, NULL, 0 },
        { ROW("\x80\x05"), CLIENT, 2, NULL, 0 },
        { ROW("\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff"), CLIENT, 0, NULL, 0 },
        { ROW("\x88\xfd" MASK), SERVER, 0, NULL, 0 },
        { ROW("\x89\x7d"), CLIENT, 1, NULL, 0 }, /* between two fragments */
        { ROW("\x8a\x00"), CLIENT, 2, NULL, 0 },
        { ROW("\xc1\x80" MASK), SERVER, 0, "a reserved bit is set", 1 },
        { ROW("\xa1\x80" MASK), SERVER, 0, "a reserved bit is set", 1 },
        { ROW("\x91\x80" MASK), SERVER, 0, "a reserved bit is set", 1 },
        { ROW("\xc9\x80" MASK), SERVER, 0, "a reserved bit is set", 1 },
        { ROW("\x83\x80" MASK), SERVER, 0, "an unknown opcode", 1 },
        { ROW("\x87\x80" MASK), SERVER, 0, "an unknown opcode", 1 },
        { ROW("\x8b\x80" MASK), SERVER, 0, "an unknown opcode", 1 },
        { ROW("\x8f\x80" MASK), SERVER, 0, "an unknown opcode", 1 },
        { ROW("\x80\x80" MASK), SERVER, 0, "a continuation without a message", 1 },
        { ROW("\x00\x80" MASK), SERVER, 0, "a continuation without a message", 1 },
        { ROW("\x81\x80" MASK), SERVER, 1, "a message inside another", 1 },
        { ROW("\x02\x80" MASK), SERVER, 1, "a message inside another", 1 },
        { ROW("\x08\x80" MASK), SERVER, 0, "a control frame in fragments", 1 },
        { ROW("\x09\x80" MASK), SERVER, 0, "a control frame in fragments", 1 },
        { ROW("\x0a\x80" MASK), SERVER, 0, "a control frame in fragments", 1 },
        { ROW("\x81\x00"), SERVER, 0, "a client's frame without a mask", 2 },
        { ROW("\x88\x00"), SERVER, 0, "a client's frame without a mask", 2 },
        { ROW("\x81\x80" MASK), CLIENT, 0, "a server's frame with a mask", 2 },
        { ROW("\x89\x80" MASK), CLIENT, 0, "a server's frame with a mask", 2 },
        { ROW("\x89\xfe\x00\x7e" MASK), SERVER, 0, "a control frame of more than 125 bytes", 2 },
        { ROW("\x88\x7f\0\0\0\0\0\1\0\0"), CLIENT, 0, "a control frame of more than 125 bytes", 2 },
        { ROW("\x82\x7f\x80\0\0\0\0\0\0\0"), CLIENT, 0, "a length above 2^63-1", 3 },
        { ROW("\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff"), CLIENT, 0, "a length above 2^63-1", 3 },
        { ROW("\x82\x7e\0\x7d"), CLIENT, 0, "a length that is not in its shortest form", 4 },
        { ROW("\x82\x7e\0\0"), CLIENT, 0, "a length that is not in its shortest form", 4 },
        { ROW("\x82\x7f\0\0\0\0\0\0\xff\xff"), CLIENT, 0,
          "a length that is not in its shortest form", 10 },
#undef ROW
};

/* Read a head in memory of its own size. */
static int read_exact(const char *bytes, size_t count, bool by_server, uint8_t opcode,
                      struct ed_websocket_head *ret_head, const char **ret_why)
{
        char *exact = malloc(count > 0 ? count : 1);
        int n;

        CHECK(exact != NULL);
        memcpy(exact, bytes, count);
        n = ed_websocket_head_read(exact, count, by_server, opcode, ret_head, ret_why);
        free(exact);
        return n;
}

TEST(each_rule_of_a_head_is_checked_at_its_first_wrong_byte)
{
        for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
                size_t count = heads[i].count;

                for (size_t n = 0; n <= count; n++) {
                        struct ed_websocket_head head = { .opcode = 77 };
                        const char *why = "";
                        int got = read_exact(heads[i].bytes, n, heads[i].by_server, heads[i].opcode,
                                             &head, &why);

                        if (heads[i].why && n >= heads[i].wrong_at) {
                                CHECK_EQ(got, EDDY_E_WEBSOCKET_PROTOCOL);
                                CHECK_STR(why, heads[i].why);
                        } else {
                                CHECK_EQ(got, n == count ? (int) n : 0);
                        }
                        if (got <= 0)
                                CHECK_EQ(head.opcode, 77); /* unchanged */
                }
        }
}

TEST(a_head_that_is_written_is_read_as_it_was_in_its_shortest_form)
{
        static const uint64_t lengths[] = { 0,     1,     124,   125,       126,      127,
                                            65534, 65535, 65536, 1U << 31U, INT64_MAX };

        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
                for (int masked = 0; masked < 2; masked++) {
                        struct ed_websocket_head head = { .bytes = lengths[i],
                                                          .opcode = ED_WEBSOCKET_BINARY,
                                                          .is_last = i % 2,
                                                          .is_masked = masked };
                        struct ed_websocket_head got = { 0 };
                        unsigned char out[HEAD];
                        const char *why;
                        size_t n;

                        if (masked)
                                memcpy(head.mask, MASK, 4);
                        n = ed_websocket_head_write(&head, out);
                        CHECK_EQ(n, (lengths[i] < 126     ? 2U
                                     : lengths[i] < 65536 ? 4U
                                                          : 10U) +
                                            (masked ? 4U : 0U));
                        CHECK_EQ(ed_websocket_head_read(out, n, masked, 0, &got, &why), (int) n);
                        CHECK_EQ(got.bytes, head.bytes);
                        CHECK_EQ(got.opcode, head.opcode);
                        CHECK_EQ(got.is_last, head.is_last);
                        CHECK(memcmp(got.mask, head.mask, 4) == 0);
                }
        }
}

/* ---- masks ------------------------------------------------------------------------ */

TEST(a_mask_is_the_same_in_place_in_pieces_and_at_each_address)
{
        enum { BYTES = 150, ROOM = BYTES + 40 };
        static const unsigned char mask[4] = { 0xa1, 0x02, 0x7f, 0xf0 };
        unsigned char from[ROOM], to[ROOM];

        for (size_t bytes = 0; bytes <= BYTES; bytes++) {
                for (size_t shift = 0; shift < 20; shift++) {
                        uint64_t at = shift % 7;
                        size_t cut = bytes * shift / 20;

                        for (size_t i = 0; i < ROOM; i++)
                                from[i] = to[i] = (unsigned char) (i * 31 + bytes);
                        ed_websocket_mask(to + shift, from + 3, bytes, mask, at);
                        for (size_t i = 0; i < bytes; i++)
                                CHECK_EQ(to[shift + i], from[3 + i] ^ mask[(at + i) % 4]);
                        CHECK_EQ(to[shift + bytes], (unsigned char) ((shift + bytes) * 31 + bytes));
                        ed_websocket_mask(to + shift, to + shift, cut, mask, at);
                        ed_websocket_mask(to + shift + cut, to + shift + cut, bytes - cut, mask,
                                          at + cut);
                        CHECK(memcmp(to + shift, from + 3, bytes) == 0);
                }
        }
}

/* ---- closes ----------------------------------------------------------------------- */

TEST(only_codes_that_a_frame_may_carry_are_valid)
{
        static const unsigned valid[] = { 1000, 1001, 1002, 1003, 1007, 1008,
                                          1009, 1010, 1011, 1012, 1013, 1014 };
        unsigned count = 0;

        for (size_t i = 0; i < sizeof(valid) / sizeof(valid[0]); i++)
                CHECK(ed_websocket_code_is_valid(valid[i]));
        for (unsigned code = 0; code <= UINT16_MAX; code++)
                count += ed_websocket_code_is_valid(code);
        CHECK_EQ(count, sizeof(valid) / sizeof(valid[0]) + 2000);
        CHECK(ed_websocket_code_is_valid(3000) && ed_websocket_code_is_valid(4999));
}

TEST(the_payload_of_a_close_is_nothing_or_a_valid_code_and_a_reason_in_utf8)
{
        unsigned code = 7;
        const char *why = "";

        CHECK_EQ(ed_websocket_close_read("", 0, &code, &why), 0);
        CHECK_EQ(code, 1005);
        CHECK_EQ(ed_websocket_close_read("\x03\xe8", 2, &code, &why), 0);
        CHECK_EQ(code, 1000);
        CHECK_EQ(ed_websocket_close_read("\x0f\xa0zu Ende: \xc3\xa4", 13, &code, &why), 0);
        CHECK_EQ(code, 4000);
        CHECK_EQ(ed_websocket_close_read("\x03", 1, &code, &why), EDDY_E_WEBSOCKET_PROTOCOL);
        CHECK_STR(why, "a close of one byte");
        CHECK_EQ(ed_websocket_close_read("\x03\xed", 2, &code, &why), EDDY_E_WEBSOCKET_PROTOCOL);
        CHECK_STR(why, "a code of a close that is not valid");
        CHECK_EQ(ed_websocket_close_read("\x03\xe8\xc3", 3, &code, &why), EDDY_E_WEBSOCKET_UTF8);
        CHECK_EQ(ed_websocket_close_read("\x03\xe8\xff", 3, &code, &why), EDDY_E_WEBSOCKET_UTF8);
        CHECK_EQ(code, 4000);
}

/* ---- UTF-8 in pieces -------------------------------------------------------------- */

/* Returns the sequence's length by its code point; 0: not valid; -1: cut, but valid so far. */
static int decode(const unsigned char *at, size_t bytes)
{
        static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
        int length = at[0] < 0x80           ? 1
                     : (at[0] >> 5) == 0x06 ? 2
                     : (at[0] >> 4) == 0x0e ? 3
                     : (at[0] >> 3) == 0x1e ? 4
                                            : 0;
        uint32_t low = length == 1 ? at[0] : length ? at[0] & (0x7fU >> length) : 0, high;

        if (length < 2)
                return length;
        high = low;
        for (int i = 1; i < length; i++) {
                if ((size_t) i < bytes && (at[i] & 0xc0) != 0x80)
                        return 0;
                low = low << 6 | ((size_t) i < bytes ? at[i] & 0x3fU : 0);
                high = high << 6 | ((size_t) i < bytes ? at[i] & 0x3fU : 0x3fU);
        }
        /* From 'low' to 'high' are the code points that can still follow. */
        if (high < smallest[length] || low > 0x10ffff || (low >= 0xd800 && high <= 0xdfff))
                return 0;
        return (size_t) length <= bytes ? length : -1;
}

static int64_t expected(const unsigned char *text, size_t bytes)
{
        size_t at = 0;

        while (at < bytes) {
                int n = decode(text + at, bytes - at);

                if (n <= 0)
                        return n < 0 ? (int64_t) at : -1;
                at += (size_t) n;
        }
        return (int64_t) at;
}

TEST(each_row_of_four_bytes_at_the_edges_of_utf8_is_judged_as_by_its_code_points)
{
        static const unsigned char edges[] = { 0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                               0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed,
                                               0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf7,
                                               0xf8, 0xfb, 0xfc, 0xfd, 0xfe, 0xff };
        enum { EDGES = sizeof(edges) };

        for (unsigned i = 0; i < EDGES * EDGES * EDGES * EDGES; i++) {
                const unsigned char text[] = { edges[i % EDGES], edges[i / EDGES % EDGES],
                                               edges[i / EDGES / EDGES % EDGES],
                                               edges[i / EDGES / EDGES / EDGES] };

                for (size_t n = 1; n <= sizeof(text); n++)
                        if (ed_utf8_check(text, n) != expected(text, n))
                                test_fail(__FILE__, __LINE__, "%02x %02x %02x %02x, %zu bytes",
                                          text[0], text[1], text[2], text[3], n);
        }
}

TEST(a_text_that_arrives_byte_by_byte_is_valid_up_to_its_first_wrong_byte)
{
        static const char good[] = "caf\xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e \xef\xbf\xbf.";
        char text[300];

        for (size_t before = 0; before < 200; before++) {
                size_t bytes = before + sizeof(good) - 1, done = 0;

                memset(text, 'a', before);
                memcpy(text + before, good, sizeof(good));
                for (size_t n = 0; n <= bytes; n++) {
                        int64_t more = ed_utf8_check(text + done, n - done);

                        CHECK(more >= 0);
                        done += (size_t) more;
                        CHECK(n - done < 4);
                }
                CHECK_EQ(done, bytes);
                text[before + 4] = 'x'; /* the second byte of a sequence */
                CHECK_EQ(ed_utf8_check(text, before + 4), before + 3);
                CHECK_EQ(ed_utf8_check(text, before + 5), -1);
                CHECK_EQ(ed_utf8_check(text, bytes), -1);
        }
}
