/*
 * wire/json_lanes.h - runs of bytes in a JSON text, sixteen at a time.
 *
 * Vectors of gcc and clang exist for every processor, so none is named here.
 */
#ifndef ED_WIRE_JSON_LANES_H
#define ED_WIRE_JSON_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef unsigned char ed_byte;
typedef signed char ed_lanes __attribute__((vector_size(16)));

enum { ED_JSON_LANES = 16 };

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

/* Returns the number of the first lane that is set, or 16. */
static inline unsigned ed_lanes_first(ed_lanes mask)
{
        uint64_t half[2];

        memcpy(half, &mask, sizeof(half));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        if (half[0])
                return (unsigned) __builtin_ctzll(half[0]) / 8;
        return half[1] ? 8 + (unsigned) __builtin_ctzll(half[1]) / 8 : ED_JSON_LANES;
#else
        if (half[0])
                return (unsigned) __builtin_clzll(half[0]) / 8;
        return half[1] ? 8 + (unsigned) __builtin_clzll(half[1]) / 8 : ED_JSON_LANES;
#endif
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
                unsigned n = ed_lanes_first(
                        (ed_lanes) ((word != ed_lanes_of(' ')) & (word != ed_lanes_of('\n')) &
                                    (word != ed_lanes_of('\r')) & (word != ed_lanes_of('\t'))));

                at += n;
                if (n < ED_JSON_LANES)
                        return at;
        }
        while (at < end && ed_json_is_space(*at))
                at++;
        return at;
}

/*
 * Returns the first byte that a string cannot have as it is, or 'end': quote, backslash, control
 * characters, bytes above 0x7F, which are below 0 as signed ones, and 'also'.
 */
static inline const ed_byte *ed_json_plain_run(const ed_byte *at, const ed_byte *end,
                                               signed char also)
{
        while (end - at >= ED_JSON_LANES) {
                ed_lanes word = ed_lanes_at(at);
                unsigned n = ed_lanes_first(
                        (ed_lanes) ((word < ed_lanes_of(0x20)) | (word == ed_lanes_of('"')) |
                                    (word == ed_lanes_of('\\')) | (word == ed_lanes_of(also))));

                at += n;
                if (n < ED_JSON_LANES)
                        return at;
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
                unsigned n = ed_lanes_first(
                        (ed_lanes) ((word == ed_lanes_of('"')) | (word == ed_lanes_of('\\'))));

                at += n;
                if (n < ED_JSON_LANES)
                        return at;
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
                unsigned n = ed_lanes_first((ed_lanes) ((word == ed_lanes_of('"')) |
                                                        (lower == ed_lanes_of('{')) |
                                                        (lower == ed_lanes_of('}'))));

                at += n;
                if (n < ED_JSON_LANES)
                        return at;
        }
        while (at < end && *at != '"' && (*at | 0x20) != '{' && (*at | 0x20) != '}')
                at++;
        return at;
}

#endif
