/*
 * http/session_text.h - the format of a session's cookie: writing, signing and verifying.
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
 * The key of the HMAC is derived from the program's key and the name of the cookie, so a cookie of
 * another name, signed with the same key, is not valid.
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
        /* Room for a new value while the former one is still there, and for the signature. */
        ED_SESSION_ROOM = ED_SESSION_BYTES_MAX + EDDY_HTTP_SESSION_BYTES_MAX + ED_HMAC_BYTES,
        ED_SESSION_TEXT_MAX = EDDY_BASE64_BYTES(ED_SESSION_BYTES_MAX + ED_HMAC_BYTES),
        ED_SESSION_KEYS_MAX = 2,
};

/* The derived keys of one cookie name. The first signs, all verify. */
struct ed_session_keys {
        unsigned char key[ED_SESSION_KEYS_MAX][ED_HMAC_BYTES];
        size_t count;
};

/* The head and the values of a session, without the signature. */
struct ed_session_text {
        unsigned char *data; /* of ED_SESSION_ROOM */
        size_t bytes;
};

/*
 * Derive a key for the cookie 'name', and append it to 'keys'.
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
 * Set the value of a name; a NULL 'value' removes the name. 'name' and 'value' may point into the
 * text. Returns 1 if the text was changed, else 0.
 *
 * Errors: -EMSGSIZE  names and values would have more than EDDY_HTTP_SESSION_BYTES_MAX bytes;
 *                    nothing was changed
 */
EDDY_MUST_USE int ed_session_text_set(struct ed_session_text *text, const char *name,
                                      const char *value);

/*
 * Write the cookie's value with a NUL, signed with the first key.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_session_text_sign(const struct ed_session_text *text,
                                       const struct ed_session_keys *keys,
                                       char out[ED_SESSION_TEXT_MAX + 1]);

/*
 * Read the value of a cookie into 'text', whose 'data' is set. Returns the index of the key that
 * verifies the signature, or -1 if no key does or the format is wrong. Times are not checked.
 */
EDDY_MUST_USE int ed_session_text_verify(const char *cookie, size_t bytes,
                                         const struct ed_session_keys *keys,
                                         struct ed_session_text *text);

#endif
