/*
 * http/session_text.h - the text of a session's cookie: what it holds, its signature and its check.
 *
 * The cookie is base64 of these bytes, in the only form that eddy_base64_encode() writes:
 *
 *      1  the version of this format
 *     16  the identifier of the session
 *      8  when it began, in seconds since 1970, the most significant byte first
 *      8  when it ends
 *      n  name NUL value NUL, for each value
 *     32  HMAC-SHA-256 of all bytes before
 *
 * The key of the HMAC is made of the program's key and the name of the cookie, so the cookie of another
 * program with the same key is not valid.
 */
#ifndef ED_HTTP_SESSION_TEXT_H
#define ED_HTTP_SESSION_TEXT_H

#include "eddy/base64.h"
#include "eddy/http_session.h"
#include "eddy/uuid.h"
#include "tls/hmac.h"

enum {
        ED_SESSION_HEAD_BYTES = 1 + 16 + 8 + 8,
        ED_SESSION_BYTES_MAX = ED_SESSION_HEAD_BYTES + EDDY_HTTP_SESSION_BYTES_MAX,
        /* A new value is appended before the former one is removed, and the signature is appended. */
        ED_SESSION_ROOM = ED_SESSION_BYTES_MAX + EDDY_HTTP_SESSION_BYTES_MAX + ED_HMAC_BYTES,
        ED_SESSION_TEXT_MAX = EDDY_BASE64_BYTES(ED_SESSION_BYTES_MAX + ED_HMAC_BYTES),
        ED_SESSION_KEYS_MAX = 2,
};

/* The keys of a cookie's name. The first signs. */
struct ed_session_keys {
        unsigned char key[ED_SESSION_KEYS_MAX][ED_HMAC_BYTES];
        size_t count;
};

/* Head and values of a session, without the signature. */
struct ed_session_text {
        unsigned char *data; /* of ED_SESSION_ROOM */
        size_t bytes;
};

/*
 * Make the next key of a cookie's name.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_session_keys_add(struct ed_session_keys *keys, const char *name,
                                      const void *key, size_t key_bytes);

/* Begin a session without values. */
void ed_session_text_begin(struct ed_session_text *text, const struct eddy_uuid *id,
                           int64_t begun_s, int64_t ends_s);

int64_t ed_session_text_begun(const struct ed_session_text *text);
int64_t ed_session_text_ends(const struct ed_session_text *text);
void ed_session_text_set_end(struct ed_session_text *text, int64_t ends_s);
void ed_session_text_id(const struct ed_session_text *text, struct eddy_uuid *ret_id);

/* Returns the value of a name, or NULL. */
const char *ed_session_text_get(const struct ed_session_text *text, const char *name);

/*
 * Set the value of a name; NULL: remove it. 'name' and 'value' may be in the text. Returns true if the
 * text was changed.
 *
 * Errors: -EMSGSIZE  the values have more than EDDY_HTTP_SESSION_BYTES_MAX bytes; nothing was changed
 */
EDDY_MUST_USE int ed_session_text_set(struct ed_session_text *text, const char *name,
                                      const char *value);

/*
 * Write the cookie's value with a NUL, signed by the first key.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_session_text_sign(const struct ed_session_text *text,
                                       const struct ed_session_keys *keys,
                                       char out[ED_SESSION_TEXT_MAX + 1]);

/*
 * Read the value of a cookie into 'text', whose 'data' is set. Returns the number of the key by which
 * it is signed, or -1 if it is signed by none of them, or is not of this format. Times are not checked.
 */
EDDY_MUST_USE int ed_session_text_verify(const char *cookie, size_t bytes,
                                         const struct ed_session_keys *keys,
                                         struct ed_session_text *text);

#endif
