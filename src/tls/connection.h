/*
 * tls/connection.h - a TLS stream.
 */
#ifndef ED_TLS_CONNECTION_H
#define ED_TLS_CONNECTION_H

#include <openssl/ssl.h>

#include "eddy/stream_ops.h"
#include "tls/bio.h"
#include "tls/config.h"

/* A shutdown that waits, or a reader that sends, on the stack of its task. */
struct ed_tls_sender {
        struct ed_tls *tls; /* NULL: closed meanwhile */
};

struct ed_tls {
        struct eddy_stream stream;
        struct ed_tls_bio bio;
        SSL *ssl;
        eddy_tls_config *config;
        int error;   /* final: all further calls return it */
        bool ended;  /* the peer has sent close_notify */
        bool closed; /* we have sent close_notify */
        bool write_needs_read;
        struct ed_tls_contexts *contexts; /* one reference */
        int64_t verified_ns;              /* when the peer's certificate was verified */
        struct ed_tls_sender *senders[2]; /* the reader, the shutdown; NULL: none */
        eddy_stream_idle_fn *idle;
        void *idle_arg;
        struct ed_tls_alpn alpn; /* the connection's own */
        enum ed_tls_cause cause; /* of 'error', in the handshake */
        struct eddy_tls_fault fault;
        char host[256]; /* a client's; "" else */
        char *route;    /* owned; NULL: "" */
};

extern const struct eddy_stream_ops ed_tls_stream_ops;

/*
 * Convert the failure of OpenSSL's last call on 'tls' (its result was 'result') to -EAGAIN, or to
 * an error, which is kept with its reason.
 */
int ed_tls_error(struct ed_tls *tls, int result);

/* Keep and return the error for a peer that chose a protocol that was not offered (ALPN). */
int ed_tls_not_offered(struct ed_tls *tls);

/* Store as the fault's text that the stream below failed. */
void ed_tls_fault_lower(struct ed_tls *tls, int error);

/* Free everything but the stream below. */
void ed_tls_free(struct ed_tls *tls);

#endif
