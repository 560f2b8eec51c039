/*
 * wire/url_quote.h - percent-encoding (RFC 3986, 2.1), both ways.
 */
#ifndef ED_WIRE_URL_QUOTE_H
#define ED_WIRE_URL_QUOTE_H

#include "base/hex.h"
#include "wire/url_sink.h"

/* Decode one byte at '*at', and move '*at' after it. Returns -1 for a '%' without two digits. */
static inline int ed_url_byte(const char *text, size_t bytes, size_t *at)
{
        int c = (unsigned char) text[(*at)++];

        if (c == '%') {
                int high = bytes - *at >= 2 ? ed_hex_digit(text[*at]) : -1;
                int low = high >= 0 ? ed_hex_digit(text[*at + 1]) : -1;

                if (low < 0)
                        return -1;
                *at += 2;
                c = high << 4 | low;
        }
        return c;
}

/* Write bytes quoted, with flags of EDDY_URL_*. */
void ed_url_quote_to(struct ed_url_sink *sink, const void *data, size_t bytes, unsigned flags);

#endif
