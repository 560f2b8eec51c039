/*
 * tls/trust.h - the system's certificates, for a library that uses OpenSSL by itself.
 */
#ifndef ED_TLS_TRUST_H
#define ED_TLS_TRUST_H

#include "base/def.h"

/*
 * Returns the file that SSL_CERT_FILE names, else the first bundle of trusted certificates that the
 * system has; NULL if there is none. Valid for ever.
 */
ED_SHARED const char *ed_tls_trust_file(void);

#endif
