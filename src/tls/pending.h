/*
 * tls/pending.h - decrypted bytes, for a library that uses OpenSSL by itself.
 */
#ifndef ED_TLS_PENDING_H
#define ED_TLS_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/def.h"

/* Returns whether an SSL of OpenSSL (may be NULL) holds bytes, so its socket may never become readable. */
ED_SHARED bool ed_tls_has_pending(const void *ssl);

/* Returns a number that grows when the library takes bytes from an SSL of OpenSSL. */
ED_SHARED uint64_t ed_tls_taken(const void *ssl);

#endif
