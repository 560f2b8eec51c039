/*
 * wire/json_lanes.h - runs of bytes in a JSON text, sixteen or 64 at a time.
 *
 * Vectors of gcc and clang exist for every processor. Only their conversion to bits is faster with
 * the instructions of one.
 */
#ifndef ED_WIRE_JSON_LANES_H
#define ED_WIRE_JSON_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__AARCH64EL__)
#include <arm_neon.h>
#endif

typedef unsigned char ed_byte;
typedef signed char ed_lanes __attribute__((vector_size(16)));

enum { ED_JSON_LANES = 16, ED_JSON_BLOCK = 4 * ED_JSON_LANES };

static inline ed_lanes ed_lanes_of(signed char c)
{
        return (ed_lanes){ c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c };
}

static inline ed_lanes ed_lanes_at(const ed_byte *at)
{
        ed_lanes word;

        memcpy(&word, at, sizeof(word));
        return word;
}

/* Returns a bit for each lane. All bits of a lane are equal. */
static inline uint32_t ed_lanes_bits(ed_lanes set)
{
#if defined(__SSE2__)
        return (uint32_t) _mm_movemask_epi8((__m128i) set);
#elif defined(__AARCH64EL__)
        const uint8x16_t weights = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
        uint8x16_t bits = vandq_u8((uint8x16_t) set, weights);

        return vaddv_u8(vget_low_u8(bits)) | (uint32_t) vaddv_u8(vget_high_u8(bits)) << 8;
#else
        uint32_t bits = 0;

        for (int i = 0; i < ED_JSON_LANES; i++)
                bits |= (uint32_t) (set[i] & 1) << i;
        return bits;
#endif
}

/* 64 bytes, of which functions return masks: bit 0 is for the first byte. */
struct ed_block {
        ed_lanes parts[4];
};

static inline struct ed_block ed_block_at(const ed_byte *at)
{
        return (struct ed_block){ { ed_lanes_at(at), ed_lanes_at(at + ED_JSON_LANES),
                                    ed_lanes_at(at + 2 * ED_JSON_LANES),
                                    ed_lanes_at(at + 3 * ED_JSON_LANES) } };
}

/* Returns a bit for each byte that is 'c'. */
static inline uint64_t ed_block_is(const struct ed_block *block, signed char c)
{
        const ed_lanes *parts = block->parts, all = ed_lanes_of(c);

        return ed_lanes_bits((ed_lanes) (parts[0] == all)) |
               (uint64_t) ed_lanes_bits((ed_lanes) (parts[1] == all)) << 16 |
               (uint64_t) ed_lanes_bits((ed_lanes) (parts[2] == all)) << 32 |
               (uint64_t) ed_lanes_bits((ed_lanes) (parts[3] == all)) << 48;
}

/* Returns a bit for each byte below 'c' or above 0x7F. */
static inline uint64_t ed_block_below(const struct ed_block *block, signed char c)
{
        const ed_lanes *parts = block->parts, all = ed_lanes_of(c);

        return ed_lanes_bits((ed_lanes) (parts[0] < all)) |
               (uint64_t) ed_lanes_bits((ed_lanes) (parts[1] < all)) << 16 |
               (uint64_t) ed_lanes_bits((ed_lanes) (parts[2] < all)) << 32 |
               (uint64_t) ed_lanes_bits((ed_lanes) (parts[3] < all)) << 48;
}

static inline bool ed_json_is_digit(ed_byte c)
{
        return c >= '0' && c <= '9';
}

static inline bool ed_json_is_space(ed_byte c)
{
        return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Returns the first byte that is not white space, or 'end'. */
static inline const ed_byte *ed_json_space_run(const ed_byte *at, const ed_byte *end)
{
        while (end - at >= ED_JSON_LANES) {
                ed_lanes word = ed_lanes_at(at);
                uint32_t bits = ed_lanes_bits(
                        (ed_lanes) ((word != ed_lanes_of(' ')) & (word != ed_lanes_of('\n')) &
                                    (word != ed_lanes_of('\r')) & (word != ed_lanes_of('\t'))));

                if (bits)
                        return at + __builtin_ctz(bits);
                at += ED_JSON_LANES;
        }
        while (at < end && ed_json_is_space(*at))
                at++;
        return at;
}

/*
 * Returns a bit for each of sixteen bytes that a string cannot have as it is: quote, backslash,
 * control characters, bytes above 0x7F, which are below 0 as signed ones, and 'also'.
 */
static inline uint32_t ed_json_plain_stops(const ed_byte *at, signed char also)
{
        ed_lanes word = ed_lanes_at(at);

        return ed_lanes_bits((ed_lanes) ((word < ed_lanes_of(0x20)) | (word == ed_lanes_of('"')) |
                                         (word == ed_lanes_of('\\')) |
                                         (word == ed_lanes_of(also))));
}

/* Returns the first byte that a string cannot have as it is, or 'end'. */
static inline const ed_byte *ed_json_plain_run(const ed_byte *at, const ed_byte *end,
                                               signed char also)
{
        while (end - at >= ED_JSON_LANES) {
                uint32_t bits = ed_json_plain_stops(at, also);

                if (bits)
                        return at + __builtin_ctz(bits);
                at += ED_JSON_LANES;
        }
        while (at < end && *at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\' && *at != also)
                at++;
        return at;
}

/* Returns the first quote or backslash, or 'end'. */
static inline const ed_byte *ed_json_string_run(const ed_byte *at, const ed_byte *end)
{
        while (end - at >= ED_JSON_LANES) {
                ed_lanes word = ed_lanes_at(at);
                uint32_t bits = ed_lanes_bits(
                        (ed_lanes) ((word == ed_lanes_of('"')) | (word == ed_lanes_of('\\'))));

                if (bits)
                        return at + __builtin_ctz(bits);
                at += ED_JSON_LANES;
        }
        while (at < end && *at != '"' && *at != '\\')
                at++;
        return at;
}

/* Returns the first quote, brace or bracket, or 'end'. A bracket and a brace differ in one bit. */
static inline const ed_byte *ed_json_nest_run(const ed_byte *at, const ed_byte *end)
{
        while (end - at >= ED_JSON_LANES) {
                ed_lanes word = ed_lanes_at(at), lower = word | ed_lanes_of(0x20);
                uint32_t bits = ed_lanes_bits((ed_lanes) ((word == ed_lanes_of('"')) |
                                                          (lower == ed_lanes_of('{')) |
                                                          (lower == ed_lanes_of('}'))));

                if (bits)
                        return at + __builtin_ctz(bits);
                at += ED_JSON_LANES;
        }
        while (at < end && *at != '"' && (*at | 0x20) != '{' && (*at | 0x20) != '}')
                at++;
        return at;
}

#endif
