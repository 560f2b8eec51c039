/*
 * test_unpack.c - gzip, zstd and plain input: any split of input and output, members in a row,
 * damage and early ends at every byte, and no memory.
 */
#include "test.h"

#include <errno.h>
#include <zlib.h>
#include <zstd.h>

#include "common/unpack.h"
#include "eddy/alloc.h"
#include "starve.h"

enum { TEXT_MAX = 1 << 20 };

TEST_ROOM(char, unpacked, TEXT_MAX);

/* Feeds pieces of 'piece' bytes, and takes at most 'room' at a time. Returns the bytes, or an error. */
static int64_t unpack_all(const void *in, size_t bytes, size_t piece, size_t room, char *out)
{
        struct ed_unpack unpack;
        const char *at = in, *end = at + bytes;
        int64_t total = 0, n;

        ed_unpack_init(&unpack);
        do {
                size_t held = (size_t) (end - at) < piece ? (size_t) (end - at) : piece;
                const char *next = at + held;
                bool at_end = held == 0;

                do {
                        size_t taken = 0;

                        CHECK(total + (int64_t) room <= TEXT_MAX);
                        n = ed_unpack_some(&unpack, at_end ? NULL : at, held, &taken, out + total,
                                           room);
                        if (n < 0)
                                goto out;
                        CHECK(taken <= held);
                        CHECK(n > 0 || taken == held);
                        at += taken;
                        held -= taken;
                        total += n;
                } while (n > 0 || held > 0); /* what is ready is written before more comes */
                CHECK(at == next);
                if (at_end)
                        break;
        } while (true);
out:
        ed_unpack_fini(&unpack);
        return n < 0 ? n : total;
}

static void check_unpacks(const void *in, size_t bytes, const char *text, size_t text_bytes)
{
        static const size_t rooms[] = { 1, 3, 1000, 60000 };

        for (size_t piece = 1; piece <= bytes + 1; piece += piece < 80 ? 1 : piece)
                for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
                        CHECK_EQ(unpack_all(in, bytes, piece, rooms[i], unpacked), text_bytes);
                        CHECK(memcmp(unpacked, text, text_bytes) == 0);
                }
}

static size_t gzip_pack(const char *text, size_t bytes, char *out, size_t room)
{
        z_stream stream = { 0 };

        CHECK_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
        stream.next_in = (Bytef *) (uintptr_t) text;
        stream.avail_in = (unsigned) bytes;
        stream.next_out = (Bytef *) out;
        stream.avail_out = (unsigned) room;
        CHECK_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
        CHECK_EQ(deflateEnd(&stream), Z_OK);
        return room - stream.avail_out;
}

static size_t zstd_pack(const char *text, size_t bytes, char *out, size_t room)
{
        size_t n = ZSTD_compress(out, room, text, bytes, 3);

        CHECK(!ZSTD_isError(n));
        return n;
}

typedef size_t pack_fn(const char *text, size_t bytes, char *out, size_t room);
static pack_fn *const packers[] = { gzip_pack, zstd_pack };

/* Text that is neither constant nor random. */
static void text_fill(char *text, size_t bytes)
{
        uint32_t state = 1;

        for (size_t i = 0; i < bytes; i++) {
                state = state * 1664525 + 1013904223;
                text[i] = (char) ('a' + (state >> 30));
        }
}

TEST(plain_input_passes_unchanged)
{
        static const struct {
                const char *text;
                size_t bytes;
        } inputs[] = {
                { "", 0 },
                { "x", 1 },
                { "{\"a\":1}\n", 8 },
                { "\x1f", 1 },
                { "\x1f\x8a...", 5 },
                { "\x28\xb5\x2f", 3 },
                { "\x28\xb5\x2f\xfe", 4 },
                { "P*M", 3 },
                { "P*M\x19", 4 },
                { "\0\0\0\0\0", 5 },
        };

        for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++)
                check_unpacks(inputs[i].text, inputs[i].bytes, inputs[i].text, inputs[i].bytes);
}

TEST(packed_input_is_unpacked_however_it_is_split)
{
        static char text[40000], packed[80000];
        size_t bytes;

        text_fill(text, sizeof(text));
        for (size_t i = 0; i < 2; i++) {
                bytes = packers[i](text, 3000, packed, sizeof(packed));
                check_unpacks(packed, bytes, text, 3000);
                bytes = packers[i]("", 0, packed, sizeof(packed));
                check_unpacks(packed, bytes, "", 0);
        }
}

TEST(one_packed_byte_may_become_many)
{
        static char text[600000], packed[8000];

        memset(text, 'x', sizeof(text));
        for (size_t i = 0; i < 2; i++) {
                size_t bytes = packers[i](text, sizeof(text), packed, sizeof(packed));

                CHECK_EQ(unpack_all(packed, bytes, 1, 4096, unpacked), sizeof(text));
                CHECK_EQ(unpack_all(packed, bytes, bytes, 1000, unpacked), sizeof(text));
                CHECK(memcmp(unpacked, text, sizeof(text)) == 0);
        }
}

TEST(members_in_a_row_are_one_text)
{
        /* A frame of zstd without text, with three bytes. */
        static const char skippable[] = "\x53\x2a\x4d\x18\x03\0\0\0abc";
        char packed[1000];
        size_t bytes;

        for (size_t i = 0; i < 2; i++) {
                bytes = packers[i]("one,", 4, packed, 300);
                bytes += packers[i]("", 0, packed + bytes, 300);
                bytes += packers[i]("two", 3, packed + bytes, 300);
                check_unpacks(packed, bytes, "one,two", 7);
        }
        memcpy(packed, skippable, 11);
        bytes = 11 + zstd_pack("text", 4, packed + 11, 300);
        memcpy(packed + bytes, skippable, 11);
        check_unpacks(packed, bytes + 11, "text", 4);
}

TEST(early_end_is_an_error_at_every_byte)
{
        char packed[1000];

        for (size_t i = 0; i < 2; i++) {
                size_t first = packers[i]("some text", 9, packed, 300);
                size_t bytes = first + packers[i]("more", 4, packed + first, 300);

                for (size_t cut = i == 0 ? 2 : 4; cut < bytes; cut++)
                        for (size_t piece = 1; piece <= cut; piece++)
                                CHECK_EQ(unpack_all(packed, cut, piece, 100, unpacked),
                                         cut == first ? 9 : -EINVAL);
        }
}

TEST(damage_is_an_error_or_another_text)
{
        static char text[300];
        char packed[1000];

        text_fill(text, sizeof(text));
        for (size_t i = 0; i < 2; i++) {
                size_t bytes = packers[i](text, sizeof(text), packed, sizeof(packed));

                for (size_t at = 0; at < 8 * bytes; at++) {
                        int64_t n;

                        packed[at / 8] ^= (char) (1 << at % 8);
                        n = unpack_all(packed, bytes, 7, 512, unpacked);
                        CHECK(n >= 0 || n == -EINVAL || n == -EFBIG);
                        packed[at / 8] ^= (char) (1 << at % 8);
                }
                memcpy(packed + bytes, "rest", 4);
                CHECK_EQ(unpack_all(packed, bytes + 4, 1, 512, unpacked), -EINVAL);
                CHECK_EQ(unpack_all(packed, bytes + 4, 1000, 512, unpacked), -EINVAL);
        }
}

TEST(window_beyond_the_maximum_is_refused)
{
        /* A header of zstd: no content size, a window of 2^28 bytes. */
        static const char header[] = "\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00";

        CHECK_EQ(unpack_all(header, sizeof(header) - 1, 100, 100, unpacked), -EFBIG);
        CHECK_EQ(unpack_all(header, sizeof(header) - 1, 1, 100, unpacked), -EFBIG);
}

TEST(lack_of_memory_is_an_error)
{
        static char text[3000];
        char packed[3100];
        size_t bytes;
        int64_t n = -ENOMEM;
        int tries = 0;

        text_fill(text, sizeof(text));
        bytes = gzip_pack(text, sizeof(text), packed, sizeof(packed));
        eddy_alloc_set(starve, NULL);
        for (; n < 0 && tries < 20; tries++) {
                allocations_left = tries;
                n = unpack_all(packed, bytes, 10, 100, unpacked);
                CHECK(n == -ENOMEM || n == sizeof(text));
        }
        CHECK(tries > 2);
        CHECK_EQ(n, sizeof(text));
        allocations_left = -1;
        eddy_alloc_set(NULL, NULL);
}
