/*
 * http/accept_encoding.h - the coding that a client prefers (RFC 9110, 12.5.3).
 */
#ifndef ED_HTTP_ACCEPT_ENCODING_H
#define ED_HTTP_ACCEPT_ENCODING_H

#include <stdbool.h>

#include "http/encoder.h"

/* Qualities in thousandths, as the fields Accept-Encoding of a request give them. */
struct ed_accept_encoding {
        int16_t gzip, zstd, identity, any; /* -1: not given */
};

void ed_accept_encoding_init(struct ed_accept_encoding *accept);

/* Add the value of a field. Items that are not well-formed are ignored. */
void ed_accept_encoding_add(struct ed_accept_encoding *accept, const char *value);

/* Returns true if the client refuses an answer without a coding. */
bool ed_accept_encoding_needs_coding(const struct ed_accept_encoding *accept);

/* Which codings may be used. */
enum { ED_ACCEPT_GZIP = 1 << 0, ED_ACCEPT_ZSTD = 1 << 1 };

/*
 * Returns the coding with the highest quality, of equal ones zstd before gzip; NULL: none is
 * accepted, or the client prefers an answer without a coding.
 */
const struct ed_encoder *ed_accept_encoding_choose(const struct ed_accept_encoding *accept,
                                                   unsigned codings);

#endif
