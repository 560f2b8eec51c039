/*
 * common/base64.c - base64 as bytes.
 */
#include "common/base64.h"

#include <errno.h>

/* Returns the six bits of a character; 64 if it has none. */
static uint32_t char_bits(char c)
{
        if (c >= 'A' && c <= 'Z')
                return (uint32_t) (c - 'A');
        if (c >= 'a' && c <= 'z')
                return (uint32_t) (c - 'a') + 26;
        if (c >= '0' && c <= '9')
                return (uint32_t) (c - '0') + 52;
        return c == '+' ? 62 : c == '/' ? 63 : 64;
}

int64_t ed_base64_decode(const char *text, size_t bytes, void *out)
{
        unsigned char *to = out;
        size_t padding = 0;

        if (bytes % 4 != 0)
                return -EINVAL;
        while (padding < 2 && padding < bytes && text[bytes - 1 - padding] == '=')
                padding++;
        for (size_t i = 0; i < bytes; i += 4) {
                size_t chars = i + 4 < bytes ? 4 : 4 - padding;
                uint32_t bits = 0;

                for (size_t k = 0; k < 4; k++) {
                        uint32_t six = k < chars ? char_bits(text[i + k]) : 0;

                        if (six > 63)
                                return -EINVAL;
                        bits = bits << 6 | six;
                }
                /* The bits that the padding leaves over are zero (RFC 4648, 3.5). */
                if ((bits & ((1u << (4 - chars) * 8) - 1)) != 0)
                        return -EINVAL;
                for (size_t k = 0; k + 1 < chars; k++)
                        *to++ = (unsigned char) (bits >> (16 - 8 * k));
        }
        return to - (unsigned char *) out;
}
