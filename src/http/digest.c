/*
 * http/digest.c - see digest.h.
 */
#include "http/digest.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- the challenge --------------------------------------------------------- */

static bool is_word(const char *text, size_t bytes, const char *word)
{
        return bytes == strlen(word) && strncasecmp(text, word, bytes) == 0;
}

static bool read_algorithm(const struct ed_auth_param *param, struct ed_digest *digest)
{
        static const struct {
                const char *name;
                enum ed_hash_kind hash;
                bool is_session;
        } list[] = {
                { "MD5", ED_HASH_MD5, false },
                { "MD5-sess", ED_HASH_MD5, true },
                { "SHA-256", ED_HASH_SHA256, false },
                { "SHA-256-sess", ED_HASH_SHA256, true },
                { "SHA-512-256", ED_HASH_SHA512_256, false },
                { "SHA-512-256-sess", ED_HASH_SHA512_256, true },
        };

        for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
                if (is_word(param->value, param->value_bytes, list[i].name)) {
                        digest->hash = list[i].hash;
                        digest->is_session = list[i].is_session;
                        digest->has_algorithm = true;
                        return true;
                }
        return false;
}

/* Returns true if "auth" is in the list of qop. */
static bool read_qop(const struct ed_auth_param *param, struct ed_digest *digest)
{
        const char *at = param->value, *end = at + param->value_bytes;

        digest->has_qop = true;
        while (at < end) {
                size_t bytes = 0;

                while (at < end && (*at == ' ' || *at == ',' || *at == '\t'))
                        at++;
                while (at + bytes < end && !strchr(" ,\t", at[bytes]))
                        bytes++;
                if (is_word(at, bytes, "auth"))
                        return true;
                at += bytes;
        }
        return false;
}

static bool is_true(const struct ed_auth_param *param)
{
        return is_word(param->value, param->value_bytes, "true");
}

static bool read_param(const struct ed_auth_param *param, struct ed_digest *digest)
{
        if (ed_auth_param_is(param, "realm"))
                return ed_auth_param_copy(param, digest->realm, sizeof(digest->realm));
        if (ed_auth_param_is(param, "nonce"))
                return ed_auth_param_copy(param, digest->nonce, sizeof(digest->nonce));
        if (ed_auth_param_is(param, "opaque")) {
                digest->has_opaque = true;
                return ed_auth_param_copy(param, digest->opaque, sizeof(digest->opaque));
        }
        if (ed_auth_param_is(param, "algorithm"))
                return read_algorithm(param, digest);
        if (ed_auth_param_is(param, "qop"))
                return read_qop(param, digest);
        if (ed_auth_param_is(param, "stale"))
                digest->is_stale = is_true(param);
        else if (ed_auth_param_is(param, "userhash"))
                digest->hashes_user = is_true(param);
        else if (ed_auth_param_is(param, "charset"))
                digest->is_utf8 = is_word(param->value, param->value_bytes, "UTF-8");
        return true;
}

bool ed_digest_read(const struct ed_challenge *challenge, bool allow_md5,
                    struct ed_digest *ret_digest)
{
        struct ed_auth_text params = challenge->params;
        struct ed_auth_param param;
        bool has_realm = false;
        int err;

        if (!is_word(challenge->scheme, challenge->scheme_bytes, "Digest"))
                return false;
        *ret_digest = (struct ed_digest){ .hash = ED_HASH_MD5 };
        while ((err = ed_auth_param_next(&params, &param)) > 0) {
                if (!read_param(&param, ret_digest))
                        return false;
                has_realm |= ed_auth_param_is(&param, "realm");
        }
        if (err < 0 || !has_realm || !ret_digest->nonce[0])
                return false;
        /* Without qop the client adds nothing of its own to what is hashed, so a server can choose it
         * all (RFC 7616, 5.9). */
        return allow_md5 || (ret_digest->hash != ED_HASH_MD5 && ret_digest->has_qop);
}

bool ed_digest_read_next(const char *value, size_t bytes, char out[ED_DIGEST_TEXT_ROOM])
{
        struct ed_auth_text text = { value, value + bytes };
        struct ed_auth_param param;

        while (ed_auth_param_next(&text, &param) > 0)
                if (ed_auth_param_is(&param, "nextnonce"))
                        return param.value_bytes > 0 &&
                               ed_auth_param_copy(&param, out, ED_DIGEST_TEXT_ROOM);
        return false;
}

/* ---- the answer ------------------------------------------------------------ */

static struct ed_hash_part part(const char *text)
{
        return (struct ed_hash_part){ text, strlen(text) };
}

/* H(A1), the secret (RFC 7616, 3.4.2). */
static int hash_secret(const struct ed_digest *digest, const struct ed_digest_use *use,
                       char out[ED_HASH_HEX_ROOM])
{
        const struct ed_hash_part a1[] = { part(use->user), part(digest->realm),
                                           part(use->password) };
        int err = ed_hash_hex(digest->hash, a1, 3, out);
        char first[ED_HASH_HEX_ROOM];

        if (err < 0 || !digest->is_session)
                return err;
        memcpy(first, out, sizeof(first));
        err = ed_hash_hex(digest->hash,
                          (const struct ed_hash_part[]){ part(first), part(digest->nonce),
                                                         part(use->cnonce) },
                          3, out);
        explicit_bzero(first, sizeof(first));
        return err;
}

/* The response (RFC 7616, 3.4.1; without qop RFC 2069, 2.1.2). */
static int hash_response(const struct ed_digest *digest, const struct ed_digest_use *use,
                         const char *count, char out[ED_HASH_HEX_ROOM])
{
        const struct ed_hash_part a2[] = { part(use->method), { use->target, use->target_bytes } };
        char secret[ED_HASH_HEX_ROOM], what[ED_HASH_HEX_ROOM];
        int err = hash_secret(digest, use, secret);

        if (err >= 0)
                err = ed_hash_hex(digest->hash, a2, 2, what);
        if (err >= 0 && digest->has_qop)
                err = ed_hash_hex(digest->hash,
                                  (const struct ed_hash_part[]){ part(secret), part(digest->nonce),
                                                                 part(count), part(use->cnonce),
                                                                 part("auth"), part(what) },
                                  6, out);
        else if (err >= 0)
                err = ed_hash_hex(digest->hash,
                                  (const struct ed_hash_part[]){ part(secret), part(digest->nonce),
                                                                 part(what) },
                                  3, out);
        explicit_bzero(secret, sizeof(secret));
        return err;
}

static int put(struct ed_buf *out, const char *text)
{
        return ed_buf_append(out, text, strlen(text));
}

/* Append 'name' and a text in quotes. */
static int put_quoted(struct ed_buf *out, const char *name, const char *text, size_t bytes)
{
        int err = put(out, name);

        if (err >= 0)
                err = put(out, "=\"");
        for (size_t i = 0; i < bytes && err >= 0; i++) {
                if (text[i] == '"' || text[i] == '\\')
                        err = put(out, "\\");
                if (err >= 0)
                        err = ed_buf_append(out, &text[i], 1);
        }
        return err < 0 ? err : put(out, "\"");
}

static bool is_ascii(const char *text)
{
        for (; *text; text++)
                if ((unsigned char) *text > 0x7F)
                        return false;
        return true;
}

/* A user that is not ASCII, as an extended value (RFC 8187, 3.2.1). */
static int put_extended_user(struct ed_buf *out, const char *user)
{
        int err = put(out, "username*=UTF-8''");
        char coded[4];

        for (; *user && err >= 0; user++) {
                unsigned c = (unsigned char) *user;

                if ((c | 0x20) - 'a' < 26 || c - '0' < 10 || (c && strchr("-._~", (int) c)))
                        err = ed_buf_append(out, user, 1);
                else if (snprintf(coded, sizeof(coded), "%%%02X", c) > 0)
                        err = put(out, coded);
        }
        return err;
}

static int put_user(const struct ed_digest *digest, const struct ed_digest_use *use,
                    struct ed_buf *out)
{
        char hashed[ED_HASH_HEX_ROOM];
        int err;

        if (digest->hashes_user) {
                err = ed_hash_hex(
                        digest->hash,
                        (const struct ed_hash_part[]){ part(use->user), part(digest->realm) }, 2,
                        hashed);
                if (err >= 0)
                        err = put_quoted(out, "username", hashed, strlen(hashed));
                return err < 0 ? err : put(out, ", userhash=true");
        }
        if (digest->is_utf8 && !is_ascii(use->user))
                return put_extended_user(out, use->user);
        return put_quoted(out, "username", use->user, strlen(use->user));
}

static const char *algorithm_of(const struct ed_digest *digest)
{
        switch (digest->hash) {
        case ED_HASH_MD5:
                return digest->is_session ? ", algorithm=MD5-sess" : ", algorithm=MD5";
        case ED_HASH_SHA512_256:
                return digest->is_session ? ", algorithm=SHA-512-256-sess"
                                          : ", algorithm=SHA-512-256";
        default:
                return digest->is_session ? ", algorithm=SHA-256-sess" : ", algorithm=SHA-256";
        }
}

int ed_digest_write(const struct ed_digest *digest, const struct ed_digest_use *use,
                    struct ed_buf *out)
{
        char response[ED_HASH_HEX_ROOM], count[9], rest[160];
        int err;

        snprintf(count, sizeof(count), "%08x", (unsigned) use->count);
        err = hash_response(digest, use, count, response);
        if (err >= 0)
                err = put(out, "Digest ");
        if (err >= 0)
                err = put_user(digest, use, out);
        if (err >= 0)
                err = put_quoted(out, ", realm", digest->realm, strlen(digest->realm));
        if (err >= 0)
                err = put_quoted(out, ", nonce", digest->nonce, strlen(digest->nonce));
        if (err >= 0)
                err = put_quoted(out, ", uri", use->target, use->target_bytes);
        if (err >= 0 && digest->has_algorithm)
                err = put(out, algorithm_of(digest));
        if (err < 0)
                return err;
        snprintf(rest, sizeof(rest), ", response=\"%s\"", response);
        err = put(out, rest);
        if (err >= 0 && digest->has_opaque)
                err = put_quoted(out, ", opaque", digest->opaque, strlen(digest->opaque));
        if (err >= 0 && (digest->has_qop || digest->is_session)) {
                snprintf(rest, sizeof(rest), "%s, cnonce=\"%s\"",
                         digest->has_qop ? ", qop=auth" : "", use->cnonce);
                err = put(out, rest);
        }
        if (err >= 0 && digest->has_qop) {
                snprintf(rest, sizeof(rest), ", nc=%s", count);
                err = put(out, rest);
        }
        return err;
}
