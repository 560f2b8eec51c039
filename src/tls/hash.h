/*
 * tls/hash.h - hashes as hexadecimal text, computed by OpenSSL.
 */
#ifndef ED_TLS_HASH_H
#define ED_TLS_HASH_H

#include <stddef.h>

#include "base/def.h"

enum ed_hash_kind {
        ED_HASH_MD5,  /* for old servers' challenges only */
        ED_HASH_SHA1, /* for handshakes of WebSocket, which are public */
        ED_HASH_SHA256,
        ED_HASH_SHA512_256, /* SHA-512/256: other initial values, cut to 256 bits */
};

enum { ED_HASH_HEX_ROOM = 64 + 1 };

/* A hash of bytes that arrive in pieces. */
struct ed_hashing {
        void *context; /* NULL: it has failed */
};

/*
 * Errors: -ENOMEM
 *         -EOPNOTSUPP  OpenSSL's configuration forbids the hash, as FIPS does with MD5
 */
ED_SHARED EDDY_MUST_USE int ed_hashing_begin(struct ed_hashing *hashing, enum ed_hash_kind kind);

/* A failure is reported at the end. */
ED_SHARED void ed_hashing_add(struct ed_hashing *hashing, const void *data, size_t bytes);

/*
 * Write the hash in lower case with a NUL, and free the rest; NULL: only free. After an error the text
 * is empty.
 *
 * Errors: -EOPNOTSUPP  not with NULL
 */
ED_SHARED EDDY_MUST_USE int ed_hashing_end(struct ed_hashing *hashing, char *out);

struct ed_hash_part {
        const char *text;
        size_t bytes;
};

/*
 * Hash the parts, with a colon between them, and write the hash as ed_hashing_end() does.
 *
 * Errors: those of ed_hashing_begin()
 */
ED_SHARED EDDY_MUST_USE int ed_hash_hex(enum ed_hash_kind kind, const struct ed_hash_part *parts,
                                        size_t count, char out[ED_HASH_HEX_ROOM]);

#endif
