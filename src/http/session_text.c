/*
 * http/session_text.c - see session_text.h.
 */
#include "http/session_text.h"

#include <errno.h>
#include <string.h>

enum {
        VERSION = 1,
        ID_AT = 1,
        BEGUN_AT = 17,
        ENDS_AT = 25,
};

/* ---- keys ------------------------------------------------------------------ */

int ed_session_keys_add(struct ed_session_keys *keys, const char *name, const void *key,
                        size_t key_bytes)
{
        static const char purpose[] = "eddy session cookie ";
        char about[sizeof(purpose) + EDDY_HTTP_SESSION_NAME_MAX + sizeof("__Host-")];
        const size_t purpose_bytes = sizeof(purpose) - 1, name_bytes = strlen(name);
        int err;

        memcpy(about, purpose, purpose_bytes);
        memcpy(about + purpose_bytes, name, name_bytes);
        err = ed_hmac_sha256(key, key_bytes, about, purpose_bytes + name_bytes,
                             keys->key[keys->count]);
        if (err == 0)
                keys->count++;
        return err;
}

/* ---- the head -------------------------------------------------------------- */

static void put_number(unsigned char *at, int64_t number)
{
        for (int i = 7; i >= 0; i--, number >>= 8)
                at[i] = (unsigned char) number;
}

static int64_t number_at(const unsigned char *at)
{
        uint64_t number = 0;

        for (int i = 0; i < 8; i++)
                number = number << 8 | at[i];
        return (int64_t) number;
}

void ed_session_text_begin(struct ed_session_text *text, const struct eddy_uuid *id,
                           int64_t begun_s, int64_t ends_s)
{
        text->data[0] = VERSION;
        memcpy(text->data + ID_AT, id->bytes, sizeof(id->bytes));
        put_number(text->data + BEGUN_AT, begun_s);
        put_number(text->data + ENDS_AT, ends_s);
        text->bytes = ED_SESSION_HEAD_BYTES;
}

int64_t ed_session_text_begun(const struct ed_session_text *text)
{
        return number_at(text->data + BEGUN_AT);
}

int64_t ed_session_text_ends(const struct ed_session_text *text)
{
        return number_at(text->data + ENDS_AT);
}

void ed_session_text_set_end(struct ed_session_text *text, int64_t ends_s)
{
        put_number(text->data + ENDS_AT, ends_s);
}

void ed_session_text_id(const struct ed_session_text *text, struct eddy_uuid *ret_id)
{
        memcpy(ret_id->bytes, text->data + ID_AT, sizeof(ret_id->bytes));
}

/* ---- values ---------------------------------------------------------------- */

/* Returns the place of a name and its value, or the end; stores the bytes of both with their NULs. */
static size_t find(const struct ed_session_text *text, const char *name, size_t *ret_bytes)
{
        size_t at = ED_SESSION_HEAD_BYTES;

        while (at < text->bytes) {
                const char *found = (const char *) text->data + at;
                size_t name_bytes = strlen(found) + 1;

                *ret_bytes = name_bytes + strlen(found + name_bytes) + 1;
                if (strcmp(found, name) == 0)
                        return at;
                at += *ret_bytes;
        }
        *ret_bytes = 0;
        return at;
}

const char *ed_session_text_get(const struct ed_session_text *text, const char *name)
{
        size_t bytes, at = find(text, name, &bytes);

        return bytes ? (const char *) text->data + at + strlen(name) + 1 : NULL;
}

int ed_session_text_set(struct ed_session_text *text, const char *name, const char *value)
{
        const size_t name_bytes = strlen(name) + 1, value_bytes = value ? strlen(value) + 1 : 0;
        size_t old_bytes, at = find(text, name, &old_bytes);
        unsigned char *end = text->data + text->bytes;

        if (!value && old_bytes == 0)
                return 0;
        if (value) {
                const char *old = (const char *) text->data + at + name_bytes;

                if (old_bytes && strcmp(old, value) == 0)
                        return 0;
                if (name_bytes > EDDY_HTTP_SESSION_BYTES_MAX ||
                    value_bytes > EDDY_HTTP_SESSION_BYTES_MAX ||
                    text->bytes - old_bytes + name_bytes + value_bytes > ED_SESSION_BYTES_MAX)
                        return -EMSGSIZE;
                memcpy(end, name, name_bytes);
                memcpy(end + name_bytes, value, value_bytes);
                text->bytes += name_bytes + value_bytes;
        }
        text->bytes -= old_bytes;
        memmove(text->data + at, text->data + at + old_bytes, text->bytes - at);
        return 1;
}

/* Returns true if the values are names and values, each with its NUL. */
static bool values_are_whole(const struct ed_session_text *text)
{
        size_t at = ED_SESSION_HEAD_BYTES, strings = 0;

        while (at < text->bytes) {
                const unsigned char *end = memchr(text->data + at, '\0', text->bytes - at);

                if (!end)
                        return false;
                at = (size_t) (end - text->data) + 1;
                strings++;
        }
        return strings % 2 == 0;
}

/* ---- the signature --------------------------------------------------------- */

int ed_session_text_sign(const struct ed_session_text *text, const struct ed_session_keys *keys,
                         char out[ED_SESSION_TEXT_MAX + 1])
{
        int err = ed_hmac_sha256(keys->key[0], ED_HMAC_BYTES, text->data, text->bytes,
                                 text->data + text->bytes);

        if (err == 0)
                out[eddy_base64_encode(text->data, text->bytes + ED_HMAC_BYTES, out)] = '\0';
        return err;
}

/* Returns the number of the key that has signed the text, whose signature comes after it, or -1. */
static int signer_of(const struct ed_session_text *text, const struct ed_session_keys *keys)
{
        unsigned char code[ED_HMAC_BYTES];

        for (size_t i = 0; i < keys->count; i++)
                if (ed_hmac_sha256(keys->key[i], ED_HMAC_BYTES, text->data, text->bytes, code) ==
                            0 &&
                    ed_hmac_equals(code, text->data + text->bytes))
                        return (int) i;
        return -1;
}

int ed_session_text_verify(const char *cookie, size_t bytes, const struct ed_session_keys *keys,
                           struct ed_session_text *text)
{
        int64_t n;
        int signer;

        if (bytes > ED_SESSION_TEXT_MAX)
                return -1;
        n = eddy_base64_decode(cookie, bytes, text->data);
        if (n < ED_SESSION_HEAD_BYTES + ED_HMAC_BYTES || n > ED_SESSION_BYTES_MAX + ED_HMAC_BYTES)
                return -1;
        text->bytes = (size_t) n - ED_HMAC_BYTES;
        signer = signer_of(text, keys);
        return signer >= 0 && text->data[0] == VERSION && values_are_whole(text) ? signer : -1;
}
