/*
 * test_pack.c - what is compressed is read again, for any split of input and output, and at sizes
 * around those of buffers; names; no memory.
 */
#include "common/pack.h"

#include <errno.h>

#include "common/unpack.h"
#include "eddy/alloc.h"
#include "starve.h"
#include "test.h"

enum { TEXT_MAX = 300000 };

static char text[TEXT_MAX], packed[2 * TEXT_MAX], again[TEXT_MAX + 1];

static void text_fill(void)
{
        uint32_t state = 1;

        for (size_t i = 0; i < TEXT_MAX; i++) {
                state = state * 1664525 + 1013904223;
                text[i] = (char) (i % 3 ? 'a' + (state >> 30) : state >> 24);
        }
}

/* Compress in pieces of 'piece' bytes, with 'room' bytes at a time. Returns the bytes, or an error. */
static int64_t pack_all(enum ed_pack_kind kind, size_t bytes, size_t piece, size_t room)
{
        struct ed_pack pack;
        size_t total = 0, at = 0, taken;
        int64_t n = ed_pack_init(&pack, kind);

        while (n >= 0 && at < bytes) {
                size_t held = bytes - at < piece ? bytes - at : piece;

                n = ed_pack_some(&pack, text + at, held, &taken, packed + total, room);
                CHECK(n != 0 || taken == held);
                CHECK(n < 0 || total + (size_t) n <= sizeof(packed) - room);
                at += n < 0 ? 0 : taken;
                total += n < 0 ? 0 : (size_t) n;
        }
        for (int64_t more = 1; n >= 0 && more > 0;) {
                more = n = ed_pack_some(&pack, NULL, 0, &taken, packed + total, room);
                CHECK_EQ(taken, 0);
                total += n < 0 ? 0 : (size_t) n;
        }
        if (n == 0)
                CHECK_EQ(ed_pack_some(&pack, NULL, 0, &taken, packed + total, room), 0);
        ed_pack_fini(&pack);
        return n < 0 ? n : (int64_t) total;
}

static void check_again(enum ed_pack_kind kind, size_t bytes, size_t piece, size_t room)
{
        int64_t packed_bytes = pack_all(kind, bytes, piece, room);
        struct ed_unpack unpack;
        size_t total = 0, at = 0, taken;
        int64_t n;

        CHECK(packed_bytes >= 0);
        ed_unpack_init(&unpack);
        do {
                bool at_end = at == (size_t) packed_bytes;

                n = ed_unpack_some(&unpack, at_end ? NULL : packed + at, (size_t) packed_bytes - at,
                                   &taken, again + total, sizeof(again) - total);
                CHECK(n >= 0);
                at += taken;
                total += (size_t) n;
                n += !at_end;
        } while (n > 0);
        if (kind != ED_PACK_PLAIN)
                CHECK_EQ(unpack.kind, kind == ED_PACK_GZIP ? ED_UNPACK_GZIP : ED_UNPACK_ZSTD);
        ed_unpack_fini(&unpack);
        CHECK_EQ(total, bytes);
        CHECK(memcmp(again, text, bytes) == 0);
}

TEST(text_is_read_again_for_any_split)
{
        static const size_t pieces[] = { 1, 7, 1000 }, rooms[] = { 1, 5, 1000 };

        text_fill();
        for (int kind = ED_PACK_PLAIN; kind <= ED_PACK_ZSTD; kind++)
                for (size_t i = 0; i < 3; i++)
                        for (size_t k = 0; k < 3; k++)
                                check_again((enum ed_pack_kind) kind, 3000, pieces[i], rooms[k]);
}

TEST(texts_of_sizes_around_those_of_buffers_are_read_again)
{
        text_fill();
        for (int kind = ED_PACK_GZIP; kind <= ED_PACK_ZSTD; kind++)
                for (size_t size = 1; size <= 1 << 18; size *= 4)
                        for (size_t bytes = size - 1; bytes <= size + 1; bytes++) {
                                check_again((enum ed_pack_kind) kind, bytes, 64 << 10, 64 << 10);
                                check_again((enum ed_pack_kind) kind, bytes, 64 << 10, 100);
                        }
}

TEST(name_decides_the_kind)
{
        CHECK_EQ(ed_pack_kind_of("a.csv"), ED_PACK_PLAIN);
        CHECK_EQ(ed_pack_kind_of("a.csv.gz"), ED_PACK_GZIP);
        CHECK_EQ(ed_pack_kind_of("a.csv.zst"), ED_PACK_ZSTD);
        CHECK_EQ(ed_pack_kind_of("gz"), ED_PACK_PLAIN);
        CHECK_EQ(ed_pack_kind_of("a.gz/b"), ED_PACK_PLAIN);
        CHECK_EQ(ed_pack_stem_bytes("a.csv.gz"), 5);
        CHECK_EQ(ed_pack_stem_bytes("a.zst"), 1);
        CHECK_EQ(ed_pack_stem_bytes("a.csv"), 5);
}

TEST(memory_that_is_short_is_returned)
{
        int64_t n = -ENOMEM;

        text_fill();
        eddy_alloc_set(starve, NULL);
        for (int left = 0; n < 0; left++) {
                allocations_left = left;
                n = pack_all(ED_PACK_GZIP, 1000, 1000, 1000);
                CHECK(n > 0 || n == -ENOMEM);
                CHECK(left < 100);
        }
}
