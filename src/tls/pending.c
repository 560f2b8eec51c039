/*
 * tls/pending.c - see pending.h.
 */
#include "tls/pending.h"

#include <openssl/ssl.h>

bool ed_tls_has_pending(const void *ssl)
{
        return ssl && SSL_pending(ssl) > 0;
}

/* Received bytes grow by at least those that become pending. */
uint64_t ed_tls_taken(const void *ssl)
{
        return BIO_number_read(SSL_get_rbio(ssl)) - (uint64_t) SSL_pending(ssl);
}
