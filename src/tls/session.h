/*
 * tls/session.h - a client's sessions, for resumption: by host and route, within one
 * configuration.
 */
#ifndef ED_TLS_SESSION_H
#define ED_TLS_SESSION_H

#include "tls/config.h"

struct ed_tls;

/* OpenSSL's callback for a new session: keeps it. */
int ed_tls_session_on_new(SSL *ssl, SSL_SESSION *session);

/*
 * Resume a session with the host and route of 'tls' if there is one; it is used once (RFC 8446, C.4).
 * 'verified_ns' is the present time, and becomes that of the session's verification.
 */
void ed_tls_session_resume(struct ed_tls *tls);

/*
 * After a handshake of TLS 1.2 that resumed a session: keep the session for another resumption. A
 * server of TLS 1.3 sends new tickets instead.
 */
void ed_tls_session_renew(struct ed_tls *tls);

void ed_tls_sessions_drop(eddy_tls_config *config);

#endif
