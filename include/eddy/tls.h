/*
 * eddy/tls.h - TLS 1.2 and 1.3 on any stream, by OpenSSL.  In libeddy-tls.
 *
 *     EDDY_AUTO(eddy_tls_config) eddy_tls_config *config = NULL;
 *
 *     err = eddy_tls_config_new(NULL, NULL, &config);
 *     if (err == 0)
 *             err = eddy_tcp_connect("example.org", 443, NULL, &stream);
 *     if (err == 0)
 *             err = eddy_tls_client(stream, config, "example.org", NULL, &secure);
 *
 * Certificates and names are verified by default.  A read returns 0 only if the
 * peer sent close_notify; a connection that ends without it gives
 * EDDY_E_TLS_TRUNCATED.
 */
#ifndef EDDY_TLS_H
#define EDDY_TLS_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/stream.h"

EDDY_BEGIN_DECLS

/* Shared by connections: trust, certificates, options, sessions.  Belongs to one loop. */
typedef struct eddy_tls_config eddy_tls_config;

enum {
        EDDY_TLS_SERVER = 1 << 0,        /* for eddy_tls_server(); else for clients */
        EDDY_TLS_INSECURE = 1 << 1,      /* client: accept any certificate */
        EDDY_TLS_VERIFY_CLIENT = 1 << 2, /* server: require a certificate from clients */
        EDDY_TLS_NO_RESUMPTION = 1 << 3, /* every handshake is a full one */
};

enum { EDDY_TLS_1_2 = 0x0303, EDDY_TLS_1_3 = 0x0304 };

/* Files are in PEM format.  All zero is the default. */
struct eddy_tls_opts {
        unsigned flags EDDY_UNSET;
        int version_min EDDY_UNSET;     /* EDDY_TLS_1_2 (also 0) or EDDY_TLS_1_3 */
        const char *ca_file EDDY_UNSET; /* trusted certificates instead of the system's */
        /* revocation lists, one for each issuer of the chain; certificates on these lists are
         * refused */
        const char *crl_file EDDY_UNSET;
        /* own certificate and its chain; a server must have one */
        const char *cert_file EDDY_UNSET;
        const char *key_file EDDY_UNSET; /* private key; NULL: in 'cert_file' */
        /* protocols by preference, separated by commas: "h2,http/1.1" */
        const char *alpn EDDY_UNSET;
        uintptr_t reserved[6] EDDY_UNSET; /* zero */
};

/* Why a call failed, in words for a log.  Contains no secret. */
struct eddy_tls_fault {
        char text[384];
};

enum { EDDY_TLS_SESSIONS_MAX = 256, EDDY_TLS_CERTIFICATES_MAX = 64 };

/*
 * Make a configuration: read the files and check that key and certificate match.
 * Files are read on another thread.  'opts' and 'ret_fault' may be NULL.
 *
 * The environment variables SSL_CERT_FILE and SSL_CERT_DIR (folders, separated by
 * colons) replace the system's trusted certificates, which are read from the
 * first place that exists: the files of Debian, Red Hat, Alpine and SUSE, then
 * the folder /etc/ssl/certs.  If SSLKEYLOGFILE is set, the secrets of connections
 * are appended to that file.  Set-user-ID programs ignore these variables.
 *
 * Suspends: yes.
 * Errors: EDDY_E_TLS_BAD_FILE  a file is missing, or has the wrong contents; or the system has
 *                              no trusted certificates: the fault names the places
 *         -EINVAL              an option is not valid
 *         -ECANCELED, -ENOMEM
 * Owns: returns (owned) '*ret_config', to be closed by eddy_tls_config_close().
 */
EDDY_API EDDY_MUST_USE int eddy_tls_config_new(const struct eddy_tls_opts *opts,
                                               struct eddy_tls_fault *ret_fault,
                                               eddy_tls_config **ret_config);

/*
 * Add another certificate to a server.  A client that asks for a name (SNI) gets
 * the first certificate that is valid for the name, else the first of all.
 * 'key_file' may be NULL.
 *
 * Suspends: yes.
 * Errors: as eddy_tls_config_new(); -ENOSPC  EDDY_TLS_CERTIFICATES_MAX reached
 */
EDDY_API EDDY_MUST_USE int eddy_tls_config_add(eddy_tls_config *config, const char *cert_file,
                                               const char *key_file,
                                               struct eddy_tls_fault *ret_fault);

/*
 * Read all files again.  Later handshakes use the new contents; existing
 * connections continue.  After an error nothing has changed.
 *
 * Suspends: yes.
 * Errors: as eddy_tls_config_new()
 */
EDDY_API EDDY_MUST_USE int eddy_tls_config_reload(eddy_tls_config *config,
                                                  struct eddy_tls_fault *ret_fault);

/* Close the configuration; connections keep what they need.  NULL is ignored.  Suspends: no. */
EDDY_API void eddy_tls_config_close(eddy_tls_config *config);

/* Options of one connection.  All zero is the default. */
struct eddy_tls_conn_opts {
        /* Bytes that were already read from the stream and belong to the handshake.  A server
         * passes the bytes that followed the client's STARTTLS command.  A client never has such
         * bytes: if some followed the server's answer to STARTTLS, they were injected, and the
         * client must close the connection (RFC 3207, 6). */
        const void *received EDDY_UNSET;
        size_t received_bytes EDDY_UNSET;
        struct eddy_tls_fault *ret_fault EDDY_UNSET; /* filled in on failure; NULL: not wanted */
        /* A client: how the server is reached, for example its port and the proxy.  A session is
         * resumed only by connections with the same configuration, host and route.  Copied; NULL: "" */
        const char *route EDDY_UNSET;
        /* replaces the configuration's list for this connection; NULL: the configuration's */
        const char *alpn EDDY_UNSET;
        uintptr_t reserved[2] EDDY_UNSET; /* zero */
};

/*
 * Do the handshake as a client and verify that the server's certificate is valid
 * for 'host' (a name or an IP address; NULL only with EDDY_TLS_INSECURE).  The
 * host is matched with the certificate's subject alternative names only (RFC
 * 9525).  '*ret_stream' owns 'lower', which must not be used any more.  After an
 * error 'lower' is still the caller's, to be closed.  Put the call in a scope
 * with a deadline.
 *
 * Do not close 'lower' during the call: such a close is refused and reported
 * (EDDY_REPORT_MISUSE).
 *
 * RSA private keys of more than 2,048 bits are used on another thread.
 *
 * Suspends: yes.
 * Errors: EDDY_E_TLS_EXPIRED, _NOT_YET_VALID, _WRONG_HOST, _UNKNOWN_ISSUER, _SELF_SIGNED,
 *         _REVOKED, _CRL, _BAD_CERTIFICATE  the certificate was refused
 *         EDDY_E_TLS_ALERT      the peer refused the connection
 *         EDDY_E_TLS_PROTOCOL   the peer's bytes are not valid TLS, or both sides have no
 *                               version, cipher or protocol in common
 *         EDDY_E_TLS_TRUNCATED  the peer closed the connection during the handshake
 *         -EINVAL               'host' is not valid, or the configuration is a server's
 *         -ECANCELED, -ENOMEM, and the errors of 'lower'
 * Owns: returns (owned) '*ret_stream', to be closed by eddy_stream_close().
 */
EDDY_API EDDY_MUST_USE int eddy_tls_client(eddy_stream *lower, eddy_tls_config *config,
                                           const char *host, const struct eddy_tls_conn_opts *opts,
                                           eddy_stream **ret_stream);

/*
 * Do the handshake as a server.  Like eddy_tls_client(), but without a host.
 *
 * Suspends: yes.
 * Errors: as eddy_tls_client(); -EINVAL  the configuration is a client's
 */
EDDY_API EDDY_MUST_USE int eddy_tls_server(eddy_stream *lower, eddy_tls_config *config,
                                           const struct eddy_tls_conn_opts *opts,
                                           eddy_stream **ret_stream);

/* A connection after its handshake.  A text without a value is "". */
struct eddy_tls_info {
        int version;           /* EDDY_TLS_1_2 or EDDY_TLS_1_3 */
        bool is_resumed;       /* no certificates were exchanged */
        char cipher[48];       /* "TLS_AES_256_GCM_SHA384" */
        char alpn[32];         /* the protocol agreed on */
        char server_name[256]; /* the name that the client asked for (SNI) */
        /* The peer's certificate. */
        char subject[256]; /* RFC 2253 */
        char issuer[256];
        char names[512];        /* subject alternative names, separated by ", " */
        char fingerprint[65];   /* SHA-256, hexadecimal */
        int64_t valid_from_ns;  /* since 1970 */
        int64_t valid_until_ns; /* INT64_MAX: after 2262 */
};

/*
 * Describe a connection.
 *
 * Suspends: no.
 * Errors: -EINVAL  not a stream of eddy_tls_client() or eddy_tls_server()
 *         EDDY_E_RUN_OTHER_LOOP
 */
EDDY_API EDDY_MUST_USE int eddy_tls_info(const eddy_stream *stream, struct eddy_tls_info *ret_info);

/*
 * Why the stream failed after its handshake, in words; "" if it has not failed.
 * Valid until the stream is closed.
 *
 * Suspends: no.
 */
EDDY_API const char *eddy_tls_fault_text(const eddy_stream *stream);

/*
 * Make a private key (ECDSA, P-256) and a self-signed certificate for tests: for
 * 'names', host names and addresses separated by commas, valid from an hour ago
 * until 'valid_ns' from now.  Signatures of such a key vary in length, so a simulated
 * run does not repeat its schedule; use an Ed25519 key there.  Writes both files,
 * which must not exist; only the owner can read 'key_file'.  A client trusts the
 * certificate if 'ca_file' names its file.
 *
 * Suspends: yes.
 * Errors: -EEXIST, -EACCES, ...  a file cannot be made; neither remains
 *         -EINVAL                a name is not valid, or 'valid_ns' is not positive
 *         -ECANCELED, -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_tls_make_certificate(const char *names, int64_t valid_ns,
                                                     const char *cert_file, const char *key_file);

static inline void eddy_tls_config_auto_release(eddy_tls_config **config)
{
        eddy_tls_config_close(*config);
}

EDDY_END_DECLS

#endif
