/*
 * base/base64.c - base64, both ways.
 */
#include "eddy/base64.h"

#include <errno.h>

size_t eddy_base64_encode(const void *data, size_t bytes, char *out)
{
        static const char digits[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const unsigned char *in = data;
        char *start = out;

        for (size_t i = 0; i < bytes; i += 3) {
                uint32_t group = (uint32_t) in[i] << 16;

                if (bytes - i > 1)
                        group |= (uint32_t) in[i + 1] << 8;
                if (bytes - i > 2)
                        group |= in[i + 2];
                *out++ = digits[group >> 18];
                *out++ = digits[group >> 12 & 63];
                *out++ = bytes - i > 1 ? digits[group >> 6 & 63] : '=';
                *out++ = bytes - i > 2 ? digits[group & 63] : '=';
        }
        return (size_t) (out - start);
}

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

int64_t eddy_base64_decode(const char *text, size_t chars, void *out)
{
        unsigned char *to = out;
        size_t padding = 0;

        if (chars % 4 != 0)
                return -EINVAL;
        while (padding < 2 && padding < chars && text[chars - 1 - padding] == '=')
                padding++;
        for (size_t i = 0; i < chars; i += 4) {
                size_t digits = i + 4 < chars ? 4 : 4 - padding;
                uint32_t bits = 0;

                for (size_t k = 0; k < 4; k++) {
                        uint32_t six = k < digits ? char_bits(text[i + k]) : 0;

                        if (six > 63)
                                return -EINVAL;
                        bits = bits << 6 | six;
                }
                /* The bits that the padding leaves over are zero (RFC 4648, 3.5). */
                if ((bits & ((1u << (4 - digits) * 8) - 1)) != 0)
                        return -EINVAL;
                for (size_t k = 0; k + 1 < digits; k++)
                        *to++ = (unsigned char) (bits >> (16 - 8 * k));
        }
        return to - (unsigned char *) out;
}
