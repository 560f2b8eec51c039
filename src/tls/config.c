/*
 * tls/config.c - reading the options and files of a configuration.
 *
 * All files are read on another thread: the system's trust store takes several milliseconds.
 */
#include "tls/config.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/proverr.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/thread.h"
#include "loop/loop.h"
#include "sys/fault/symbol.h"
#include "sys/file/plain.h"
#include "tls/connection.h"
#include "tls/session.h"

/* A signature with a longer RSA key takes the loop more than a millisecond. */
enum { RSA_BITS_ON_LOOP = 2048, ALPN_BYTES_MAX = 255 };

/* Forward secrecy and authenticated encryption only (RFC 9325, 4.2). */
#define CIPHERS_1_2                                                                                \
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"                               \
        "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"                               \
        "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"

#define NO_KEY "the file holds no private key (PEM)"

static bool error_is(unsigned long error, int lib, int reason)
{
        return ERR_GET_LIB(error) == lib && ERR_GET_REASON(error) == reason;
}

/*
 * Returns why OpenSSL could not use a file, or NULL; 'missing' is the reason if the file does not
 * hold what it should.
 */
static const char *file_reason(const char *missing)
{
        unsigned long error = ERR_peek_error(); /* the first: later ones have general reasons */

        if (ERR_SYSTEM_ERROR(error))
                return eddy_error_text(-ERR_GET_REASON(error));
        if (error_is(error, ERR_LIB_PEM, PEM_R_NO_START_LINE) ||
            error_is(error, ERR_LIB_X509, X509_R_NO_CERTIFICATE_OR_CRL_FOUND) ||
            error_is(error, ERR_LIB_OSSL_DECODER, ERR_R_UNSUPPORTED))
                return missing;
        if (error_is(error, ERR_LIB_PROV, PROV_R_BAD_DECRYPT) ||
            error_is(error, ERR_LIB_PEM, PEM_R_BAD_DECRYPT))
                return "the key is encrypted; give a key without a passphrase";
        if (error_is(error, ERR_LIB_X509, X509_R_KEY_VALUES_MISMATCH) ||
            error_is(error, ERR_LIB_X509, X509_R_KEY_TYPE_MISMATCH) ||
            error_is(error, ERR_LIB_SSL, SSL_R_NO_CERTIFICATE_ASSIGNED))
                return "it is the key of another certificate";
        return ERR_reason_error_string(error);
}

void ed_tls_fault_of_file(struct eddy_tls_fault *fault, const char *text, const char *name,
                          const char *missing)
{
        const char *reason = file_reason(missing);

        if (fault)
                snprintf(fault->text, sizeof(fault->text), "%s %s%s%s", text, name,
                         reason ? ": " : "", reason ? reason : "");
        ERR_clear_error();
}

/* ---- callbacks of OpenSSL ---------------------------------------------------- */

static int choose_alpn(SSL *ssl, const unsigned char **ret_name, unsigned char *ret_bytes,
                       const unsigned char *offered, unsigned offered_bytes, void *arg)
{
        const struct ed_tls *tls = SSL_get_app_data(ssl);
        const struct ed_tls_alpn *alpn = tls->alpn.names ? &tls->alpn : &tls->config->alpn;

        if (!alpn->names)
                return SSL_TLSEXT_ERR_NOACK;
        /* RFC 7301, 3.2: without a common protocol the handshake fails. */
        return SSL_select_next_proto((unsigned char **) ret_name, ret_bytes, alpn->names,
                                     alpn->bytes, offered, offered_bytes) == OPENSSL_NPN_NEGOTIATED
                       ? SSL_TLSEXT_ERR_OK
                       : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static int choose_certificate(SSL *ssl, int *alert, void *arg)
{
        const struct ed_tls *tls = SSL_get_app_data(ssl);
        const struct ed_tls_contexts *contexts = tls->contexts;
        const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

        for (size_t i = 0; name && i < contexts->count; i++) {
                X509 *own = SSL_CTX_get0_certificate(contexts->list[i]);

                if (X509_check_host(own, name, 0, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) != 1)
                        continue;
                SSL_set_SSL_CTX(ssl, contexts->list[i]);
                return SSL_TLSEXT_ERR_OK;
        }
        return SSL_TLSEXT_ERR_OK; /* the first certificate (RFC 6066, 3) */
}

static void log_key(const SSL *ssl, const char *line)
{
        const char *path = secure_getenv("SSLKEYLOGFILE");
        char text[512];
        int n;

        if (!path || !*path)
                return;
        n = snprintf(text, sizeof(text), "%s\n", line);
        if (n > 0 && (size_t) n < sizeof(text))
                ed_file_append(path, text, (size_t) n); /* a debugging aid: a line may be lost */
}

/* ---- one context -------------------------------------------------------------- */

static int set_versions(SSL_CTX *context, const eddy_tls_config *config)
{
        SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                             SSL_OP_CIPHER_SERVER_PREFERENCE);
        SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                          SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        /* OpenSSL returns after messages without data, so that many of them do not hold the loop. */
        SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
        SSL_CTX_set_read_ahead(context, 1);
        if (config->flags & EDDY_TLS_SERVER && SSL_CTX_set_cipher_list(context, CIPHERS_1_2) != 1)
                return -ENOMEM;
        return SSL_CTX_set_min_proto_version(context, config->version_min) == 1 ? 0 : -EINVAL;
}

/* A key that needs a passphrase is refused: nothing here asks on the terminal. */
static int no_passphrase(char *buf, int room, int for_writing, void *arg)
{
        return 0;
}

static int load_certificate(SSL_CTX *context, const struct ed_tls_certificate *certificate,
                            struct eddy_tls_fault *fault)
{
        const char *key = certificate->key_file ? certificate->key_file : certificate->cert_file;

        SSL_CTX_set_default_passwd_cb(context, no_passphrase);
        if (SSL_CTX_use_certificate_chain_file(context, certificate->cert_file) != 1) {
                ed_tls_fault_of_file(fault, "cannot read a certificate from",
                                     certificate->cert_file, "the file holds no certificate (PEM)");
                return EDDY_E_TLS_BAD_FILE;
        }
        /* OpenSSL accepts a key of another type than the certificate's, so check that too. */
        if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1 ||
            SSL_CTX_check_private_key(context) != 1) {
                ed_tls_fault_of_file(fault, "cannot use the private key of", key,
                                     certificate->key_file ? NO_KEY
                                                           : NO_KEY "; give the key's file too");
                return EDDY_E_TLS_BAD_FILE;
        }
        return 0;
}

static void set_sessions(SSL_CTX *context, eddy_tls_config *config)
{
        static const unsigned char name[] = "eddy";

        /* A ticket would outlive the certificate of the client that it speaks for. */
        if (config->flags & (EDDY_TLS_NO_RESUMPTION | EDDY_TLS_VERIFY_CLIENT)) {
                SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
                SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
                (void) SSL_CTX_set_num_tickets(context, 0);
        } else if (config->flags & EDDY_TLS_SERVER) {
                /* Tickets only: the client keeps the state. */
                SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
                (void) SSL_CTX_set_session_id_context(context, name, sizeof(name) - 1);
        } else {
                SSL_CTX_set_session_cache_mode(context,
                                               SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
                SSL_CTX_sess_set_new_cb(context, ed_tls_session_on_new);
        }
}

static int set_roles(SSL_CTX *context, eddy_tls_config *config)
{
        bool is_server = config->flags & EDDY_TLS_SERVER;
        int mode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;

        if (is_server ? !(config->flags & EDDY_TLS_VERIFY_CLIENT)
                      : config->flags & EDDY_TLS_INSECURE)
                mode = SSL_VERIFY_NONE;
        SSL_CTX_set_verify(context, mode, NULL);
        if (is_server) {
                SSL_CTX_set_tlsext_servername_callback(context, choose_certificate);
                SSL_CTX_set_alpn_select_cb(context, choose_alpn, NULL);
        } else if (config->alpn.names &&
                   SSL_CTX_set_alpn_protos(context, config->alpn.names, config->alpn.bytes) != 0) {
                return -ENOMEM;
        }
        if (secure_getenv("SSLKEYLOGFILE"))
                SSL_CTX_set_keylog_callback(context, log_key);
        return 0;
}

static bool needs_trust(const eddy_tls_config *config)
{
        return config->flags & EDDY_TLS_SERVER ? config->flags & EDDY_TLS_VERIFY_CLIENT
                                               : !(config->flags & EDDY_TLS_INSECURE);
}

void ed_tls_openssl_init(void)
{
        if (ed_sys_is_static())
                OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
}

static int context_new(eddy_tls_config *config, const struct ed_tls_certificate *certificate,
                       struct eddy_tls_fault *fault, SSL_CTX **ret_context)
{
        SSL_CTX *context;
        int err;

        ed_tls_openssl_init();
        context = SSL_CTX_new(config->flags & EDDY_TLS_SERVER ? TLS_server_method()
                                                              : TLS_client_method());
        if (!context)
                return -ENOMEM;
        ERR_clear_error();
        err = set_versions(context, config);
        if (err == 0 && needs_trust(config))
                err = ed_tls_trust_load(context, config, fault);
        if (err == 0 && certificate->cert_file)
                err = load_certificate(context, certificate, fault);
        if (err == 0)
                err = set_roles(context, config);
        if (err < 0) {
                SSL_CTX_free(context);
                return err;
        }
        set_sessions(context, config);
        *ret_context = context;
        return 0;
}

static bool is_slow(SSL_CTX *context)
{
        const EVP_PKEY *key = SSL_CTX_get0_privatekey(context);

        return key && EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA &&
               EVP_PKEY_get_bits(key) > RSA_BITS_ON_LOOP;
}

/* ---- loading on a thread ------------------------------------------------------ */

static struct ed_tls_contexts *contexts_new(void)
{
        struct ed_tls_contexts *contexts = ed_alloc_zero(sizeof(*contexts));

        if (contexts)
                contexts->refs = 1;
        return contexts;
}

void ed_tls_contexts_unref(struct ed_tls_contexts *contexts)
{
        if (!contexts || --contexts->refs > 0)
                return;
        for (size_t i = 0; i < contexts->count; i++)
                SSL_CTX_free(contexts->list[i]);
        ed_free(contexts);
}

static void contexts_add(struct ed_tls_contexts *contexts, SSL_CTX *context)
{
        contexts->list[contexts->count++] = context;
        contexts->is_slow |= is_slow(context);
}

struct loading {
        eddy_tls_config *config;
        const struct ed_tls_certificate *certificates; /* 'n' of them */
        size_t n;
        struct eddy_tls_fault *fault;
        struct ed_tls_contexts *contexts;
};

static int load(void *arg)
{
        struct loading *loading = arg;
        int err = 0;

        for (size_t i = 0; i < loading->n && err == 0; i++) {
                SSL_CTX *context;

                err = context_new(loading->config, &loading->certificates[i], loading->fault,
                                  &context);
                if (err == 0)
                        contexts_add(loading->contexts, context);
        }
        return err;
}

/* Load all into '*ret_contexts', a reference. */
static int load_on_thread(eddy_tls_config *config, const struct ed_tls_certificate *certificates,
                          size_t n, struct eddy_tls_fault *fault,
                          struct ed_tls_contexts **ret_contexts)
{
        struct loading loading = { config, certificates, n, fault, contexts_new() };
        int err;

        if (!loading.contexts)
                return -ENOMEM;
        if (fault)
                fault->text[0] = '\0';
        err = eddy_to_thread_named(load, &loading, "tls_load");
        if (err < 0)
                ed_tls_contexts_unref(loading.contexts);
        else
                *ret_contexts = loading.contexts;
        return err;
}

/* ---- the object ---------------------------------------------------------------- */

static int copy_text(const char *text, char **ret_copy)
{
        size_t bytes;

        *ret_copy = NULL;
        if (!text)
                return 0;
        bytes = strlen(text) + 1;
        *ret_copy = ed_alloc(bytes);
        if (!*ret_copy)
                return -ENOMEM;
        memcpy(*ret_copy, text, bytes);
        return 0;
}

int ed_tls_alpn_init(struct ed_tls_alpn *alpn, const char *list)
{
        size_t bytes = list ? strlen(list) : 0, length = 0;

        if (bytes == 0)
                return list ? -EINVAL : 0;
        if (bytes >= ALPN_BYTES_MAX)
                return -EINVAL;
        alpn->names = ed_alloc(bytes + 1);
        if (!alpn->names)
                return -ENOMEM;
        alpn->bytes = (unsigned) bytes + 1;
        memcpy(alpn->names + 1, list, bytes);
        for (size_t i = bytes + 1; i-- > 0;) {
                if (i > 0 && alpn->names[i] != ',') {
                        length++;
                        continue;
                }
                if (length == 0)
                        return -EINVAL;
                alpn->names[i] = (unsigned char) length;
                length = 0;
        }
        return 0;
}

static int options_take(eddy_tls_config *config, const struct eddy_tls_opts *opts)
{
        bool is_server = opts->flags & EDDY_TLS_SERVER;
        int err;

        if (opts->version_min != 0 && opts->version_min != EDDY_TLS_1_2 &&
            opts->version_min != EDDY_TLS_1_3)
                return -EINVAL;
        if ((is_server && !opts->cert_file) || (opts->key_file && !opts->cert_file))
                return -EINVAL;
        config->flags = opts->flags;
        config->version_min = opts->version_min ? opts->version_min : EDDY_TLS_1_2;
        err = ed_tls_alpn_init(&config->alpn, opts->alpn);
        if (err == 0)
                err = copy_text(opts->ca_file, &config->ca_file);
        if (err == 0)
                err = copy_text(opts->crl_file, &config->crl_file);
        if (err == 0)
                err = copy_text(opts->cert_file, &config->certificates[0].cert_file);
        if (err == 0)
                err = copy_text(opts->key_file, &config->certificates[0].key_file);
        config->certificates_count = 1;
        return err;
}

static void certificate_fini(struct ed_tls_certificate *certificate)
{
        ed_free(certificate->cert_file);
        ed_free(certificate->key_file);
}

eddy_tls_config *ed_tls_config_ref(eddy_tls_config *config)
{
        config->refs++;
        return config;
}

void eddy_tls_config_close(eddy_tls_config *config)
{
        if (!config || --config->refs > 0)
                return;
        ed_tls_sessions_drop(config);
        for (size_t i = 0; i < config->certificates_count; i++)
                certificate_fini(&config->certificates[i]);
        ed_tls_contexts_unref(config->contexts);
        ed_free(config->ca_file);
        ed_free(config->crl_file);
        ed_free(config->alpn.names);
        ed_free(config);
}

int eddy_tls_config_new(const struct eddy_tls_opts *opts, struct eddy_tls_fault *ret_fault,
                        eddy_tls_config **ret_config)
{
        static const struct eddy_tls_opts defaults;
        eddy_tls_config *config;
        int err;

        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        config = ed_alloc_zero(sizeof(*config));
        if (!config)
                return -ENOMEM;
        config->refs = 1;
        ed_list_init(&config->sessions);
        err = options_take(config, opts ? opts : &defaults);
        if (err == 0)
                err = load_on_thread(config, config->certificates, 1, ret_fault, &config->contexts);
        if (err < 0) {
                eddy_tls_config_close(config);
                return err;
        }
        *ret_config = config;
        return 0;
}

/* Returns the present contexts and one more, or NULL if there is no memory. */
static struct ed_tls_contexts *contexts_with(const struct ed_tls_contexts *present,
                                             SSL_CTX *context)
{
        struct ed_tls_contexts *contexts = contexts_new();

        if (!contexts)
                return NULL;
        for (size_t i = 0; i < present->count; i++) {
                SSL_CTX_up_ref(present->list[i]);
                contexts_add(contexts, present->list[i]);
        }
        SSL_CTX_up_ref(context);
        contexts_add(contexts, context);
        return contexts;
}

/* Add what was loaded for 'certificate', whose files the configuration takes. */
static int certificate_add(eddy_tls_config *config, const struct ed_tls_certificate *certificate,
                           const struct ed_tls_contexts *loaded)
{
        struct ed_tls_contexts *contexts;

        if (config->certificates_count == EDDY_TLS_CERTIFICATES_MAX)
                return -ENOSPC;
        contexts = contexts_with(config->contexts, loaded->list[0]);
        if (!contexts)
                return -ENOMEM;
        ed_tls_contexts_unref(config->contexts);
        config->contexts = contexts;
        config->certificates[config->certificates_count++] = *certificate;
        return 0;
}

int eddy_tls_config_add(eddy_tls_config *config, const char *cert_file, const char *key_file,
                        struct eddy_tls_fault *ret_fault)
{
        struct ed_tls_certificate certificate = { NULL };
        struct ed_tls_contexts *loaded = NULL;
        int err;

        if (!config || !cert_file || !(config->flags & EDDY_TLS_SERVER))
                return -EINVAL;
        if (config->certificates_count == EDDY_TLS_CERTIFICATES_MAX)
                return -ENOSPC;
        ed_tls_config_ref(config); /* it may be closed meanwhile */
        err = copy_text(cert_file, &certificate.cert_file);
        if (err == 0)
                err = copy_text(key_file, &certificate.key_file);
        if (err == 0)
                err = load_on_thread(config, &certificate, 1, ret_fault, &loaded);
        if (err == 0)
                err = certificate_add(config, &certificate, loaded);
        if (err < 0)
                certificate_fini(&certificate);
        ed_tls_contexts_unref(loaded);
        eddy_tls_config_close(config);
        return err;
}

int eddy_tls_config_reload(eddy_tls_config *config, struct eddy_tls_fault *ret_fault)
{
        struct ed_tls_contexts *loaded = NULL;
        size_t n;
        int err;

        if (!config)
                return -EINVAL;
        ed_tls_config_ref(config); /* it may be closed meanwhile */
        do {
                ed_tls_contexts_unref(loaded);
                loaded = NULL;
                n = config->certificates_count;
                err = load_on_thread(config, config->certificates, n, ret_fault, &loaded);
        } while (err == 0 && n != config->certificates_count); /* another one was added */
        if (err == 0) {
                ed_tls_contexts_unref(config->contexts);
                config->contexts = loaded;
                ed_tls_sessions_drop(config);
        }
        eddy_tls_config_close(config);
        return err;
}
