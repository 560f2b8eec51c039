/*
 * tls/sha256.c - see sha256.h.
 */
#include "tls/sha256.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>

int ed_sha256_begin(struct ed_sha256 *hash)
{
        int err = 0;

        ERR_set_mark();
        hash->context = EVP_MD_CTX_new();
        if (!hash->context)
                err = -ENOMEM;
        else if (EVP_DigestInit_ex(hash->context, EVP_sha256(), NULL) != 1)
                err = -EOPNOTSUPP;
        ERR_pop_to_mark();
        if (err < 0)
                ed_sha256_end(hash, NULL);
        return err;
}

void ed_sha256_add(struct ed_sha256 *hash, const void *data, size_t bytes)
{
        /* Cannot fail for SHA-256 with a context that was begun. */
        if (hash->context)
                (void) EVP_DigestUpdate(hash->context, data, bytes);
}

void ed_sha256_end(struct ed_sha256 *hash, char *out)
{
        unsigned char bytes[EVP_MAX_MD_SIZE];
        unsigned n = 0;

        if (out && hash->context && EVP_DigestFinal_ex(hash->context, bytes, &n) == 1)
                for (unsigned i = 0; i < n; i++) {
                        *out++ = "0123456789abcdef"[bytes[i] >> 4];
                        *out++ = "0123456789abcdef"[bytes[i] & 15];
                }
        if (out)
                *out = '\0';
        EVP_MD_CTX_free(hash->context);
        hash->context = NULL;
}
