/*
 * base/utf8.h - well-formed UTF-8.
 */
#ifndef ED_BASE_UTF8_H
#define ED_BASE_UTF8_H

#include <stddef.h>

/*
 * Returns the length of the UTF-8 sequence at 'p', with 'bytes' bytes, at least 1, to the end of the
 * text, or 0 if it is not valid. RFC 3629, 4: the table of well-formed sequences.
 */
static inline size_t ed_utf8_length(const unsigned char *p, size_t bytes)
{
        unsigned char low = 0x80, high = 0xbf;
        size_t length;

        if (p[0] < 0x80)
                return 1;
        if (p[0] < 0xc2 || p[0] > 0xf4)
                return 0;
        length = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
        if (bytes < length)
                return 0;
        if (p[0] == 0xe0)
                low = 0xa0; /* otherwise two bytes would suffice */
        else if (p[0] == 0xed)
                high = 0x9f; /* surrogates follow */
        else if (p[0] == 0xf0)
                low = 0x90; /* otherwise three would suffice */
        else if (p[0] == 0xf4)
                high = 0x8f; /* the last code point is U+10FFFF */
        if (p[1] < low || p[1] > high)
                return 0;
        for (size_t i = 2; i < length; i++)
                if (p[i] < 0x80 || p[i] > 0xbf)
                        return 0;
        return length;
}

#endif
