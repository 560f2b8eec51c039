/*
 * test_coding_chain.c - the content codings of responses: each coding, chains of them, and coded
 * data that is cut, damaged or made to exhaust memory or time.
 */
#include <errno.h>
#include <zstd.h>

#include "base/alloc.h"
#include "coded.h"
#include "counted.h"
#include "eddy/error.h"
#include "http/coding_chain.h"
#include "test.h"

enum { PLAIN_BYTES = 50000, CODED_MAX = 4 << 20, OUT_MAX = 1 << 20, NO_LIMIT = 1 << 30 };

static const struct {
        const char *name;
        struct data (*code)(struct data plain);
        bool is_single; /* no data may follow */
} codings[] = {
        { "gzip", gzip_code, false },   { "deflate", deflate_code, true },
        { "deflate", bare_code, true }, { "br", brotli_code, true },
        { "zstd", zstd_code, false },
};

enum { CODINGS = sizeof(codings) / sizeof(codings[0]) };

/* ---- decoding -------------------------------------------------------------------- */

static struct ed_coding_chain *decoder_of(const char *value, uint64_t bytes_max)
{
        struct ed_coding_list list = { .n = 0 };
        struct ed_coding_chain *decoder;

        CHECK_EQ(ed_coding_list_add(&list, value), 0);
        decoder = ed_coding_chain_new(&list, bytes_max);
        CHECK(decoder != NULL);
        return decoder;
}

/* Decode 'coded', given in pieces of 'in' bytes and read in pieces of 'out'. Returns the bytes. */
static int64_t decode(struct ed_coding_chain *decoder, struct data coded, size_t in, size_t out,
                      unsigned char *plain)
{
        size_t at = 0, made = 0, room;
        int64_t n;
        void *to;

        for (;;) {
                CHECK(made + out <= OUT_MAX);
                n = ed_coding_chain_read(decoder, plain + made, out);
                if (n == -EAGAIN)
                        continue;
                if (n < 0)
                        return n;
                made += (size_t) n;
                if (n > 0)
                        continue;
                if (at == coded.n) {
                        n = ed_coding_chain_finish(decoder);
                        return n < 0 ? n : (int64_t) made;
                }
                to = ed_coding_chain_room(decoder, &room);
                CHECK(room > 0);
                room = room < in ? room : in;
                room = room < coded.n - at ? room : coded.n - at;
                memcpy(to, coded.bytes + at, room);
                ed_coding_chain_fed(decoder, room);
                at += room;
        }
}

TEST_ROOM(unsigned char, result, OUT_MAX);

static int64_t decode_once(const char *value, struct data coded, size_t in, size_t out)
{
        struct ed_coding_chain *decoder = decoder_of(value, NO_LIMIT);
        int64_t n = decode(decoder, coded, in, out, result);

        ed_coding_chain_free(decoder);
        return n;
}

/* Check that 'coded' decodes to 'plain'. */
static void check_decodes(const char *value, struct data coded, size_t in, size_t out,
                          struct data plain)
{
        CHECK_EQ(decode_once(value, coded, in, out), plain.n);
        CHECK(memcmp(result, plain.bytes, plain.n) == 0);
}

/* B45: "deflate" with and without the wrapper of zlib. */
TEST(each_coding_is_decoded_in_pieces_of_any_size)
{
        static const size_t sizes[] = { 1, 7, 4096, 60000 };
        struct data plain = plain_new(PLAIN_BYTES);

        for (unsigned c = 0; c < CODINGS; c++) {
                struct data coded = codings[c].code(plain);

                for (unsigned i = 0; i < 4; i++)
                        for (unsigned o = 0; o < 4; o++)
                                check_decodes(codings[c].name, coded, sizes[i], sizes[o], plain);
                free(coded.bytes);
        }
        free(plain.bytes);
}

TEST(no_bytes_and_coded_nothing_are_both_empty)
{
        struct data nothing = { result, 0 };

        for (unsigned c = 0; c < CODINGS; c++) {
                struct data coded = codings[c].code(nothing);

                CHECK_EQ(decode_once(codings[c].name, nothing, 1, 10), 0);
                CHECK_EQ(decode_once(codings[c].name, coded, 1, 10), 0);
                free(coded.bytes);
        }
}

/* B44: All members and frames are decoded. */
TEST(members_of_gzip_and_frames_of_zstd_are_joined_and_other_codings_have_one_part)
{
        struct data plain = plain_new(3000), twice = data_join(plain, plain);

        for (unsigned c = 0; c < CODINGS; c++) {
                struct data coded = codings[c].code(plain), both = data_join(coded, coded);

                for (size_t in = 1; in < 5000; in = in * 3 + 1) {
                        if (codings[c].is_single)
                                CHECK_EQ(decode_once(codings[c].name, both, in, 100),
                                         EDDY_E_HTTP_CODING_INVALID);
                        else
                                check_decodes(codings[c].name, both, in, 100, twice);
                }
                free(coded.bytes);
                free(both.bytes);
        }
        free(plain.bytes);
        free(twice.bytes);
}

TEST(bytes_after_the_coded_data_are_an_error)
{
        struct data plain = plain_new(3000), tail = { (unsigned char *) "<html>", 6 };

        for (unsigned c = 0; c < CODINGS; c++) {
                struct data coded = codings[c].code(plain), both = data_join(coded, tail);

                for (size_t in = 1; in < 5000; in = in * 3 + 1)
                        CHECK_EQ(decode_once(codings[c].name, both, in, 100),
                                 EDDY_E_HTTP_CODING_INVALID);
                free(coded.bytes);
                free(both.bytes);
        }
        free(plain.bytes);
}

/* B45: Coded data that is cut is an error. */
TEST(data_that_is_cut_at_any_byte_is_an_error)
{
        struct data plain = plain_new(400);

        for (unsigned c = 0; c < CODINGS; c++) {
                struct data coded = codings[c].code(plain);

                for (size_t n = 1; n < coded.n; n++) {
                        struct data cut = { coded.bytes, n };

                        CHECK_EQ(decode_once(codings[c].name, cut, 100, 100),
                                 EDDY_E_HTTP_CODING_INVALID);
                }
                free(coded.bytes);
        }
        free(plain.bytes);
}

/* Codings without a checksum may decode to other bytes, but never read or write elsewhere. */
TEST(each_damaged_bit_is_an_error_or_other_bytes_of_bounded_number)
{
        struct data plain = plain_new(400);

        for (unsigned c = 0; c < CODINGS; c++) {
                struct data coded = codings[c].code(plain);

                for (size_t bit = 0; bit < coded.n * 8; bit++) {
                        int64_t n;

                        coded.bytes[bit / 8] ^= (unsigned char) (1 << bit % 8);
                        n = decode_once(codings[c].name, coded, 50, 100);
                        coded.bytes[bit / 8] ^= (unsigned char) (1 << bit % 8);
                        CHECK(n >= 0 || n == EDDY_E_HTTP_CODING_INVALID);
                        if (n >= 0 && codings[c].code == gzip_code)
                                CHECK(n == 400 && memcmp(result, plain.bytes, 400) == 0);
                }
                free(coded.bytes);
        }
        free(plain.bytes);
}

/* ---- names and chains ------------------------------------------------------------ */

/* B43: The limit counts the codings of all fields. */
TEST(a_chain_of_five_codings_over_several_fields_is_decoded_and_six_are_refused)
{
        struct ed_coding_list list = { .n = 0 };
        struct data plain = plain_new(PLAIN_BYTES), coded = plain;
        struct ed_coding_chain *decoder;

        for (unsigned c = 0; c < CODINGS; c++) {
                struct data inner = coded;

                coded = codings[c].code(inner);
                if (inner.bytes != plain.bytes)
                        free(inner.bytes);
        }
        CHECK_EQ(ed_coding_list_add(&list, "GZip, ,identity,deflate"), 0);
        CHECK_EQ(ed_coding_list_add(&list, ""), 0);
        CHECK_EQ(ed_coding_list_add(&list, "\tdeflate , br,"), 0);
        CHECK_EQ(ed_coding_list_add(&list, "zstd"), 0);
        CHECK_EQ(list.n, 5);
        decoder = ed_coding_chain_new(&list, NO_LIMIT);
        CHECK_EQ(decode(decoder, coded, 100, 1000, result), PLAIN_BYTES);
        CHECK(memcmp(result, plain.bytes, PLAIN_BYTES) == 0);
        ed_coding_chain_free(decoder);
        free(coded.bytes);
        free(plain.bytes);
        CHECK_EQ(ed_coding_list_add(&list, "identity"), 0);
        CHECK_EQ(ed_coding_list_add(&list, "gzip"), EDDY_E_HTTP_CODING_UNKNOWN);
}

TEST(an_unknown_coding_is_refused)
{
        static const char *const values[] = { "compress", "gzi", "gzipp", "gzip;q=1",
                                              "gzip br",  "dcb", "*" };

        for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
                struct ed_coding_list list = { .n = 0 };

                CHECK_EQ(ed_coding_list_add(&list, values[i]), EDDY_E_HTTP_CODING_UNKNOWN);
        }
}

/* ---- exhaustion ------------------------------------------------------------------ */

/* 100 MiB of zeros, a thousandth of it coded. */
static struct data bomb_new(struct data (*code)(struct data))
{
        struct data zeros = { calloc(100, 1 << 20), 100 << 20 }, coded;

        coded = code(zeros);
        free(zeros.bytes);
        return coded;
}

/* B42: In each coding. */
TEST(a_bomb_takes_the_memory_of_a_window_and_stops_at_the_limit)
{
        enum { LIMIT = 5 << 20 };

        eddy_alloc_set(count_bytes, NULL);
        for (unsigned c = 0; c < CODINGS; c++) {
                /* zstd's memory is not eddy's; the window of brotli is that of the data: 4 MiB. */
                size_t window = codings[c].code == brotli_code ? 4 << 20 : 32 << 10;
                struct data coded = bomb_new(codings[c].code);
                struct ed_coding_chain *decoder = decoder_of(codings[c].name, LIMIT);
                size_t at = 0, total = 0, room;
                int64_t n;

                used_most = used;
                while ((n = ed_coding_chain_read(decoder, result, OUT_MAX)) >= 0) {
                        void *to;

                        total += (size_t) n;
                        CHECK(total <= LIMIT);
                        if (n > 0)
                                continue;
                        to = ed_coding_chain_room(decoder, &room);
                        room = room < coded.n - at ? room : coded.n - at;
                        CHECK(room > 0);
                        memcpy(to, coded.bytes + at, room);
                        ed_coding_chain_fed(decoder, room);
                        at += room;
                }
                CHECK_EQ(n, EDDY_E_HTTP_TOO_LARGE);
                CHECK(used_most < window + (256 << 10));
                ed_coding_chain_free(decoder);
                CHECK_EQ(used, 0);
                free(coded.bytes);
        }
}

TEST(a_body_of_exactly_the_limit_is_decoded)
{
        struct data plain = plain_new(1000);

        for (unsigned c = 0; c < CODINGS; c++) {
                struct data coded = codings[c].code(plain);
                struct ed_coding_chain *decoder = decoder_of(codings[c].name, 1000);

                CHECK_EQ(decode(decoder, coded, 10, 100, result), 1000);
                ed_coding_chain_free(decoder);
                decoder = decoder_of(codings[c].name, 999);
                CHECK_EQ(decode(decoder, coded, 10, 100, result), EDDY_E_HTTP_TOO_LARGE);
                ed_coding_chain_free(decoder);
                free(coded.bytes);
        }
        free(plain.bytes);
}

/* B42, B44: Blocks of stored bytes without a byte: 5 bytes each, of which a gzip needs a thousandth. */
TEST(codings_that_decode_to_nothing_let_other_tasks_run_and_end_at_the_limit)
{
        struct data empty = { calloc(5, 10 << 20), 50 << 20 }, once, twice;
        struct ed_coding_chain *decoder = decoder_of("deflate, gzip, gzip", 20 << 20);
        int64_t n;
        size_t at = 0, room, yields = 0;

        for (size_t i = 0; i < empty.n; i += 5)
                memcpy(empty.bytes + i, "\0\0\0\xff\xff", 5);
        once = gzip_code(empty);
        twice = gzip_code(once);
        while ((n = ed_coding_chain_read(decoder, result, 100)) == 0 || n == -EAGAIN) {
                void *to = ed_coding_chain_room(decoder, &room);

                yields += n == -EAGAIN;
                if (n == -EAGAIN)
                        continue;
                room = room < twice.n - at ? room : twice.n - at;
                CHECK(room > 0);
                memcpy(to, twice.bytes + at, room);
                ed_coding_chain_fed(decoder, room);
                at += room;
        }
        CHECK_EQ(n, EDDY_E_HTTP_TOO_LARGE);
        CHECK(yields > 20);
        ed_coding_chain_free(decoder);
        free(empty.bytes);
        free(once.bytes);
        free(twice.bytes);
}

/* B44: Members and frames have a limit. */
TEST(many_parts_without_output_are_an_error)
{
        struct data nothing = { result, 0 }, skipped = data_new(8);

        /* A frame that decoders skip (RFC 8878, 3.1.2), of no bytes. */
        memcpy(skipped.bytes, "\x50\x2a\x4d\x18\0\0\0", 8);
        for (unsigned i = 0; i < 3; i++) {
                struct data part = i == 0   ? gzip_code(nothing)
                                   : i == 1 ? zstd_code(nothing)
                                            : skipped;
                const char *name = i == 0 ? "gzip" : "zstd";
                struct data all = data_new(part.n * 2000), most;

                for (size_t k = 0; k < 2000; k++)
                        memcpy(all.bytes + k * part.n, part.bytes, part.n);
                most = (struct data){ all.bytes, part.n * ED_CODING_CHAIN_EMPTY_MAX };
                CHECK_EQ(decode_once(name, most, 1000, 10), 0);
                CHECK_EQ(decode_once(name, all, 1000, 10), EDDY_E_HTTP_CODING_INVALID);
                free(part.bytes);
                free(all.bytes);
        }
}

TEST(a_window_of_zstd_above_8_mib_is_refused)
{
        struct data plain = { calloc(20, 1 << 20), 20 << 20 };

        for (int log = 23; log <= 24; log++) {
                ZSTD_CCtx *context = ZSTD_createCCtx();
                struct data coded = data_new(CODED_MAX);
                ZSTD_inBuffer in = { plain.bytes, plain.n, 0 };
                ZSTD_outBuffer out = { coded.bytes, coded.n, 0 };
                struct ed_coding_chain *decoder = decoder_of("zstd", OUT_MAX / 2);
                int64_t n;

                /* By pieces: a frame that states its size needs no larger window. */
                ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, log);
                ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
                while (in.pos < in.size)
                        CHECK(!ZSTD_isError(
                                ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue)));
                CHECK_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0);
                coded.n = out.pos;
                n = decode(decoder, coded, 1000, 1000, result);
                CHECK_EQ(n, log == 23 ? EDDY_E_HTTP_TOO_LARGE : EDDY_E_HTTP_CODING_INVALID);
                ed_coding_chain_free(decoder);
                ZSTD_freeCCtx(context);
                free(coded.bytes);
        }
        free(plain.bytes);
}

static int allocations_left;

static void *fail_later(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        return allocations_left-- > 0 ? realloc(ptr, bytes) : NULL;
}

TEST(each_allocation_that_fails_is_an_error_and_leaks_nothing)
{
        struct data plain = plain_new(PLAIN_BYTES);

        eddy_alloc_set(fail_later, NULL);
        for (unsigned c = 0; c < CODINGS; c++) {
                struct data coded = codings[c].code(plain);
                struct ed_coding_list list = { .n = 0 };
                int64_t n = -ENOMEM;

                CHECK_EQ(ed_coding_list_add(&list, codings[c].name), 0);
                for (int i = 0; n < 0; i++) {
                        struct ed_coding_chain *decoder;

                        CHECK(i < 100);
                        allocations_left = i;
                        decoder = ed_coding_chain_new(&list, NO_LIMIT);
                        if (decoder)
                                n = decode(decoder, coded, 1000, 1000, result);
                        ed_coding_chain_free(decoder);
                        CHECK(n == PLAIN_BYTES || n == -ENOMEM);
                }
                free(coded.bytes);
        }
        free(plain.bytes);
}
