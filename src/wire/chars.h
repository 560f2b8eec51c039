/*
 * wire/chars.h - classes of characters, and scanning runs of them. For src/wire only.
 */
#ifndef ED_WIRE_CHARS_H
#define ED_WIRE_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/def.h"

enum {
        ED_CHAR_TOKEN = 1 << 0,  /* RFC 9110, 5.6.2 */
        ED_CHAR_VALUE = 1 << 1,  /* all but control characters; includes tab and bytes above 0x7F */
        ED_CHAR_TARGET = 1 << 2, /* in a URL or request target; see url.h */
        ED_CHAR_HOST = 1 << 3,   /* letters, digits, '-', '.', '_' */
        ED_CHAR_HEX = 1 << 4,
        ED_CHAR_DIGIT = 1 << 5,
};

extern const uint8_t ed_chars[256];

static inline bool ed_char_is(char c, unsigned classes)
{
        return ed_chars[(uint8_t) c] & classes;
}

/* Returns the first position from 'at' on whose character is not in the classes, or 'end'. */
static inline uint32_t ed_chars_run(const char *data, uint32_t at, uint32_t end, unsigned classes)
{
        while (at < end && ed_char_is(data[at], classes))
                at++;
        return at;
}

/*
 * As ed_chars_run() for ED_CHAR_VALUE, eight bytes at a time: the high bit of a byte in 'odd' is
 * set if the byte is below 0x20 or is 0x7F. A borrow can set a wrong bit only above a correct one,
 * so the lowest set bit is exact.
 */
static inline uint32_t ed_chars_value_run(const char *data, uint32_t at, uint32_t end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        const uint64_t ones = 0x0101010101010101;

        while (end - at >= 8) {
                uint64_t word, below, delete, odd;

                memcpy(&word, data + at, 8);
                delete = word ^ (ones * 0x7F);
                below = (word - ones * 0x20) & ~word;
                odd = (below | ((delete - ones) & ~delete)) & (ones * 0x80);
                if (odd) {
                        at += (uint32_t) __builtin_ctzll(odd) >> 3;
                        if (data[at] != '\t')
                                return at;
                        at++;
                        continue;
                }
                at += 8;
        }
#endif
        return ed_chars_run(data, at, end, ED_CHAR_VALUE);
}

/*
 * Returns true if a token equals 'lower', ignoring case; 'lower' may contain letters, digits and
 * '-'.
 */
static inline bool ed_token_is(const char *token, size_t bytes, const char *lower,
                               size_t lower_bytes)
{
        if (bytes != lower_bytes)
                return false;
        for (size_t i = 0; i < bytes; i++)
                if ((token[i] >= 'A' && token[i] <= 'Z' ? token[i] | 0x20 : token[i]) != lower[i])
                        return false;
        return true;
}

#define ED_TOKEN_IS(token, bytes, lower) ed_token_is(token, bytes, lower, sizeof(lower) - 1)

#endif
