/*
 * tls/hash.c - see hash.h.
 */
#include "tls/hash.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdbool.h>

static const EVP_MD *function_of(enum ed_hash_kind kind)
{
        switch (kind) {
        case ED_HASH_MD5:
                return EVP_md5();
        case ED_HASH_SHA1:
                return EVP_sha1();
        case ED_HASH_SHA512_256:
                return EVP_sha512_256();
        default:
                return EVP_sha256();
        }
}

static void forget(struct ed_hashing *hashing)
{
        EVP_MD_CTX_free(hashing->context); /* clears what it was given */
        hashing->context = NULL;
}

int ed_hashing_begin(struct ed_hashing *hashing, enum ed_hash_kind kind)
{
        bool is_begun;

        ERR_set_mark();
        hashing->context = EVP_MD_CTX_new();
        is_begun = hashing->context &&
                   EVP_DigestInit_ex(hashing->context, function_of(kind), NULL) == 1;
        ERR_pop_to_mark();
        if (is_begun)
                return 0;
        if (!hashing->context)
                return -ENOMEM;
        forget(hashing);
        return -EOPNOTSUPP;
}

void ed_hashing_add(struct ed_hashing *hashing, const void *data, size_t bytes)
{
        ERR_set_mark();
        if (hashing->context && EVP_DigestUpdate(hashing->context, data, bytes) != 1)
                forget(hashing);
        ERR_pop_to_mark();
}

int ed_hashing_end(struct ed_hashing *hashing, char *out)
{
        unsigned char hash[EVP_MAX_MD_SIZE];
        unsigned bytes = 0;
        int err = 0;

        ERR_set_mark();
        if (out && (!hashing->context || EVP_DigestFinal_ex(hashing->context, hash, &bytes) != 1))
                err = -EOPNOTSUPP;
        ERR_pop_to_mark();
        forget(hashing);
        if (!out)
                return 0;
        for (unsigned i = 0; err == 0 && i < bytes; i++) {
                *out++ = "0123456789abcdef"[hash[i] >> 4];
                *out++ = "0123456789abcdef"[hash[i] & 15];
        }
        *out = '\0';
        OPENSSL_cleanse(hash, sizeof(hash));
        return err;
}

int ed_hash_hex(enum ed_hash_kind kind, const struct ed_hash_part *parts, size_t count,
                char out[ED_HASH_HEX_ROOM])
{
        struct ed_hashing hashing;
        int err = ed_hashing_begin(&hashing, kind);

        if (err < 0)
                return err;
        for (size_t i = 0; i < count; i++) {
                if (i > 0)
                        ed_hashing_add(&hashing, ":", 1);
                ed_hashing_add(&hashing, parts[i].text, parts[i].bytes);
        }
        return ed_hashing_end(&hashing, out);
}
