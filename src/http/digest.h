/*
 * http/digest.h - the scheme Digest (RFC 7616): reads a server's challenge, and computes the answer.
 */
#ifndef ED_HTTP_DIGEST_H
#define ED_HTTP_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/def.h"
#include "tls/hash.h"
#include "wire/challenge.h"

enum {
        ED_DIGEST_TEXT_ROOM = 513,      /* of realm, nonce and opaque, with the NUL */
        ED_DIGEST_CNONCE_ROOM = 32 + 1, /* hexadecimal */
        ED_DIGEST_HEADER_MAX = 32 << 10,
};

/* A server's challenge. */
struct ed_digest {
        enum ed_hash_kind hash;
        bool is_session; /* "-sess": the nonces are part of the secret */
        bool has_algorithm;
        bool has_qop;  /* qop "auth"; otherwise the form of RFC 2069 */
        bool is_stale; /* only the nonce is too old */
        bool is_utf8;  /* the server reads UTF-8 */
        bool hashes_user;
        bool has_opaque;
        char realm[ED_DIGEST_TEXT_ROOM];
        char nonce[ED_DIGEST_TEXT_ROOM];
        char opaque[ED_DIGEST_TEXT_ROOM];
};

/* The request that is answered for. */
struct ed_digest_use {
        const char *user;
        const char *password;
        const char *method;
        const char *target; /* path and query, as sent */
        size_t target_bytes;
        const char *cnonce; /* the client's; the same for a nonce if 'is_session' */
        uint32_t count;     /* of the requests with this nonce, this one included */
};

/*
 * Read a challenge. Returns false if it is another scheme, lacks a nonce or a realm, or needs what is
 * not supported: qop without "auth", another algorithm, texts that are too long. Without 'allow_md5',
 * MD5 and challenges without qop are not supported.
 */
bool ed_digest_read(const struct ed_challenge *challenge, bool allow_md5,
                    struct ed_digest *ret_digest);

/*
 * Read "nextnonce" of the value of Authentication-Info (RFC 7616, 3.5). Returns false if it has none.
 */
bool ed_digest_read_next(const char *value, size_t bytes, char out[ED_DIGEST_TEXT_ROOM]);

/*
 * Append the value of Authorization, without a NUL. The hash of the password in it is a secret.
 *
 * Errors: -ENOMEM
 *         -EMSGSIZE    'out' would have more than its maximum
 *         -EOPNOTSUPP  OpenSSL forbids the hash
 */
EDDY_MUST_USE int ed_digest_write(const struct ed_digest *digest, const struct ed_digest_use *use,
                                  struct ed_buf *out);

#endif
