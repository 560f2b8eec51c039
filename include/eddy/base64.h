/*
 * eddy/base64.h - bytes as text, and back (RFC 4648, section 4).
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

/* The most bytes that 'chars' characters can encode. */
#define EDDY_BASE64_DECODED_MAX(chars) ((chars) / 4 * 3)

/*
 * Decode the 'chars' characters at 'text' to 'out', which has room for
 * EDDY_BASE64_DECODED_MAX(chars) bytes and may be 'text' itself.  Returns the number
 * of bytes.  Only the form that eddy_base64_encode() writes is accepted: the standard
 * alphabet, padded with '=', unused bits zero, no white space.  Each sequence of
 * bytes therefore has exactly one text.
 *
 * Suspends: no.
 * Threads:  any.
 * Errors:   -EINVAL  another form; 'out' may have been written to
 */
EDDY_API EDDY_MUST_USE int64_t eddy_base64_decode(const char *text, size_t chars, void *out);

EDDY_END_DECLS

#endif
