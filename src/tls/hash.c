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
        case ED_HASH_SHA512_256:
                return EVP_sha512_256();
        default:
                return EVP_sha256();
        }
}

int ed_hash_hex(enum ed_hash_kind kind, const struct ed_hash_part *parts, size_t count,
                char out[ED_HASH_HEX_ROOM])
{
        unsigned char hash[EVP_MAX_MD_SIZE];
        EVP_MD_CTX *context = EVP_MD_CTX_new();
        unsigned bytes = 0;
        bool is_done;

        if (!context)
                return -ENOMEM;
        ERR_set_mark();
        is_done = EVP_DigestInit_ex(context, function_of(kind), NULL) == 1;
        for (size_t i = 0; i < count && is_done; i++)
                is_done = (i == 0 || EVP_DigestUpdate(context, ":", 1) == 1) &&
                          EVP_DigestUpdate(context, parts[i].text, parts[i].bytes) == 1;
        is_done = is_done && EVP_DigestFinal_ex(context, hash, &bytes) == 1;
        ERR_pop_to_mark();
        EVP_MD_CTX_free(context); /* clears what it was given */
        if (!is_done)
                return -EOPNOTSUPP;
        for (unsigned i = 0; i < bytes; i++) {
                out[2 * i] = "0123456789abcdef"[hash[i] >> 4];
                out[2 * i + 1] = "0123456789abcdef"[hash[i] & 15];
        }
        out[2 * bytes] = '\0';
        OPENSSL_cleanse(hash, sizeof(hash));
        return 0;
}
