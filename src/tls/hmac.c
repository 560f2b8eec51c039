/*
 * tls/hmac.c - see hmac.h.
 */
#include "tls/hmac.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

int ed_hmac_sha256(const void *key, size_t key_bytes, const void *data, size_t bytes,
                   unsigned char out[ED_HMAC_BYTES])
{
        unsigned n = 0;
        bool is_done;

        ERR_set_mark();
        is_done = HMAC(EVP_sha256(), key, (int) key_bytes, data, bytes, out, &n) &&
                  n == ED_HMAC_BYTES;
        ERR_pop_to_mark();
        return is_done ? 0 : -ENOMEM;
}

bool ed_hmac_equals(const unsigned char a[ED_HMAC_BYTES], const unsigned char b[ED_HMAC_BYTES])
{
        return CRYPTO_memcmp(a, b, ED_HMAC_BYTES) == 0;
}
