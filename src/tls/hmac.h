/*
 * tls/hmac.h - HMAC-SHA-256 (RFC 2104), computed by OpenSSL.
 */
#ifndef ED_TLS_HMAC_H
#define ED_TLS_HMAC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/def.h"

enum { ED_HMAC_BYTES = 32 };

/*
 * Compute the HMAC of the data.
 *
 * Errors: -ENOMEM  OpenSSL could not compute it
 */
ED_SHARED EDDY_MUST_USE int ed_hmac_sha256(const void *key, size_t key_bytes, const void *data,
                                           size_t bytes, unsigned char out[ED_HMAC_BYTES]);

/* Returns true if the HMACs are equal. Takes the same time wherever they differ. */
ED_SHARED bool ed_hmac_equals(const unsigned char a[ED_HMAC_BYTES],
                              const unsigned char b[ED_HMAC_BYTES]);

#endif
