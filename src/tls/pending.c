/*
 * tls/pending.c - see pending.h.
 */
#include "tls/pending.h"

#include <openssl/ssl.h>

bool ed_tls_has_pending(const void *ssl)
{
        return ssl && SSL_pending(ssl) > 0;
}
