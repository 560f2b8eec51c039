/*
 * common/base64.h - base64 as bytes (RFC 4648, section 4).
 */
#ifndef ED_CMD_COMMON_BASE64_H
#define ED_CMD_COMMON_BASE64_H

#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

/* The number of bytes that 'bytes' characters can hold. */
#define ED_BASE64_DECODED_MAX(bytes) ((bytes) / 4 * 3)

/*
 * Decode the 'bytes' characters at 'text' to 'out', which has room for
 * ED_BASE64_DECODED_MAX(bytes) bytes and may be 'text'. Returns the number of bytes. Only the
 * form that an encoder writes is accepted: the standard alphabet, padded, without white space.
 *
 * Errors: -EINVAL  another form
 */
EDDY_MUST_USE int64_t ed_base64_decode(const char *text, size_t bytes, void *out);

#endif
