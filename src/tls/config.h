/*
 * tls/config.h - what connections share: trust, certificates, options, sessions.
 */
#ifndef ED_TLS_CONFIG_H
#define ED_TLS_CONFIG_H

#include <openssl/ssl.h>

#include "base/def.h"
#include "base/list.h"
#include "eddy/tls.h"

/* A certificate and its key. */
struct ed_tls_certificate {
        char *cert_file; /* owned; NULL: a client without a certificate */
        char *key_file;  /* owned; NULL: in cert_file */
};

/*
 * The contexts of handshakes, one for each certificate. Never changes, because a handshake on another
 * thread may read it; a reload makes another one.
 */
struct ed_tls_contexts {
        uint32_t refs;
        bool is_slow; /* a private key is too slow for the loop */
        size_t count;
        SSL_CTX *list[EDDY_TLS_CERTIFICATES_MAX];
};

void ed_tls_contexts_unref(struct ed_tls_contexts *contexts);

/* A list of application protocols. */
struct ed_tls_alpn {
        unsigned char *names; /* owned: with their lengths (RFC 7301, 3.1); NULL: none */
        unsigned bytes;
};

/*
 * Convert "h2,http/1.1"; NULL: none. The names are the caller's also after an error.
 *
 * Errors: -EINVAL, -ENOMEM
 */
EDDY_MUST_USE int ed_tls_alpn_init(struct ed_tls_alpn *alpn, const char *list);

/* Lives until its owner and the last connection have released it. */
struct eddy_tls_config {
        uint32_t refs;
        unsigned flags;
        int version_min;
        char *ca_file, *crl_file; /* owned */
        struct ed_tls_alpn alpn;
        struct ed_tls_contexts *contexts; /* one reference */
        struct ed_tls_certificate certificates[EDDY_TLS_CERTIFICATES_MAX];
        size_t certificates_count;
        struct ed_list sessions; /* a client's, latest first */
        uint32_t sessions_count;
        char record[16 << 10]; /* for gathering small pieces: in use only during a call */
};

/* Returns 'config' with another reference, to be dropped by eddy_tls_config_close(). */
ED_SHARED eddy_tls_config *ed_tls_config_ref(eddy_tls_config *config);

/* Returns whether the configuration has a list of protocols. NULL has none. */
static inline bool ed_tls_config_has_alpn(const eddy_tls_config *config)
{
        return config && config->alpn.names;
}

/* Returns whether the configuration is that of a server. */
static inline bool ed_tls_config_is_server(const eddy_tls_config *config)
{
        return config->flags & EDDY_TLS_SERVER;
}

/* The cause of a handshake that has failed, as far as a caller acts on it. */
enum ed_tls_cause {
        ED_TLS_OTHER_CAUSE,
        ED_TLS_NO_PROTOCOL, /* the peer has none of the protocols that were offered */
        ED_TLS_PLAIN_HTTP, /* the client has sent a request of HTTP without TLS, and nothing was sent */
};

/* As eddy_tls_client() and eddy_tls_server(). 'ret_cause' may be NULL. */
ED_SHARED EDDY_MUST_USE int ed_tls_client(eddy_stream *lower, eddy_tls_config *config,
                                          const char *host, const struct eddy_tls_conn_opts *opts,
                                          enum ed_tls_cause *ret_cause, eddy_stream **ret_stream);
ED_SHARED EDDY_MUST_USE int ed_tls_server(eddy_stream *lower, eddy_tls_config *config,
                                          const struct eddy_tls_conn_opts *opts,
                                          enum ed_tls_cause *ret_cause, eddy_stream **ret_stream);

/* Some of struct eddy_tls_info, without a copy: the texts are valid as long as the stream. */
struct ed_tls_brief {
        int version;
        const char *cipher;
        const char *server_name; /* "": the client asked for none */
};

/* Describe the stream, which is one of TLS. */
ED_SHARED void ed_tls_brief(const eddy_stream *stream, struct ed_tls_brief *ret_brief);

/* Returns whether ALPN chose 'protocol' for the stream, which is one of TLS. */
ED_SHARED bool ed_tls_speaks(const eddy_stream *stream, const char *protocol);

/*
 * Before other calls of OpenSSL: in a static program it does not read its configuration file, which
 * may belong to another version and name modules that a static program cannot load.
 */
void ed_tls_openssl_init(void);

/*
 * Store why OpenSSL could not use a file: 'text', the file's name and a reason; 'missing' is the
 * reason if the file does not hold what it should. 'fault' may be NULL.
 */
void ed_tls_fault_of_file(struct eddy_tls_fault *fault, const char *text, const char *name,
                          const char *missing);

/* trust.c: load the trusted certificates and revocation lists of 'config'. On a thread. */
int ed_tls_trust_load(SSL_CTX *context, const eddy_tls_config *config,
                      struct eddy_tls_fault *fault);

#endif
