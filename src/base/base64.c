/*
 * base/base64.c - base64 encoding.
 */
#include "eddy/base64.h"

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
