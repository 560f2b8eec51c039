/*
 * tls/sha256.h - SHA-256 of bytes that arrive in pieces, computed by OpenSSL.
 */
#ifndef ED_TLS_SHA256_H
#define ED_TLS_SHA256_H

#include <stddef.h>

#include "base/def.h"

enum { ED_SHA256_HEX_ROOM = 64 + 1 };

struct ed_sha256 {
        void *context; /* NULL: none, and all calls but ed_sha256_begin() do nothing */
};

/* Errors: -ENOMEM; -EOPNOTSUPP  OpenSSL's configuration forbids the hash */
ED_SHARED EDDY_MUST_USE int ed_sha256_begin(struct ed_sha256 *hash);
ED_SHARED void ed_sha256_add(struct ed_sha256 *hash, const void *data, size_t bytes);

/* Write the hash in lower case, with a NUL, and free it. NULL: only free it. */
ED_SHARED void ed_sha256_end(struct ed_sha256 *hash, char *out);

#endif
