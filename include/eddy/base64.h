/*
 * eddy/base64.h - bytes as text (RFC 4648, section 4).
 */
#ifndef EDDY_BASE64_H
#define EDDY_BASE64_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* The number of characters that encode 'bytes' bytes, without a NUL. */
#define EDDY_BASE64_BYTES(bytes) (((bytes) + 2) / 3 * 4)

/*
 * Write the 'bytes' bytes at 'data' to 'out' in base64: the standard alphabet,
 * padded with '='.  'out' has room for EDDY_BASE64_BYTES(bytes) characters and does
 * not overlap 'data'; no NUL is written.  Returns the number of characters
 * written.  Cannot fail.
 *
 * Suspends: no.
 * Threads:  any.
 */
EDDY_API size_t eddy_base64_encode(const void *data, size_t bytes, char *out);

EDDY_END_DECLS

#endif
