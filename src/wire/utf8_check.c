/*
 * wire/utf8_check.c - see utf8_check.h.
 */
#include "wire/utf8_check.h"

#include <string.h>

#include "base/utf8.h"
#include "wire/json_lanes.h"

enum { SEQUENCE_MAX = 4 };

/* Returns the length of the ASCII at the start, in whole vectors. */
static size_t ascii_bytes(const unsigned char *at, size_t bytes)
{
        size_t n = 0;

        while (bytes - n >= ED_JSON_BLOCK) {
                struct ed_block block = ed_block_at(at + n);
                ed_lanes any = block.parts[0] | block.parts[1] | block.parts[2] | block.parts[3];

                if (ed_lanes_bits(any < ed_lanes_of(0)) != 0)
                        break;
                n += ED_JSON_BLOCK;
        }
        return n;
}

/* Returns whether a sequence can begin with these bytes, which are fewer than it has. */
static bool is_cut(const unsigned char *at, size_t bytes)
{
        unsigned char whole[SEQUENCE_MAX] = { 0, 0x90, 0x80, 0x80 };

        if (at[0] == 0xe0)
                whole[1] = 0xa0;
        else if (at[0] == 0xf4)
                whole[1] = 0x80;
        memcpy(whole, at, bytes);
        return ed_utf8_length(whole, SEQUENCE_MAX) > bytes;
}

int64_t ed_utf8_check(const void *text, size_t bytes)
{
        const unsigned char *at = text;
        size_t i = 0, n;

        while (i < bytes) {
                if (at[i] < 0x80) {
                        i += ascii_bytes(at + i, bytes - i);
                        while (i < bytes && at[i] < 0x80)
                                i++;
                        continue;
                }
                n = ed_utf8_length(at + i, bytes - i);
                if (n == 0)
                        return bytes - i < SEQUENCE_MAX && is_cut(at + i, bytes - i) ? (int64_t) i
                                                                                     : -1;
                i += n;
        }
        return (int64_t) i;
}
