/*
 * tls/trust.c - the certificates that a configuration trusts, and its revocation lists.
 *
 * The place where OpenSSL looks for the system's certificates was chosen when OpenSSL was built. A
 * static program may run on another distribution, so the places of the usual ones are here.
 */
#include <errno.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/error.h"
#include "sys/file/plain.h"
#include "tls/config.h"
#include "tls/trust.h"

#define CANNOT_READ "cannot read trusted certificates from"

/* Files with all certificates that a system trusts. A system has one of them, or links to it. */
#define DEBIAN     "/etc/ssl/certs/ca-certificates.crt" /* also Alpine and Arch */
#define RED_HAT    "/etc/pki/tls/certs/ca-bundle.crt"
#define RED_HAT_10 "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"
#define ALPINE     "/etc/ssl/cert.pem"
#define SUSE       "/etc/ssl/ca-bundle.pem"
#define SUSE_NEW   "/var/lib/ca-certificates/ca-bundle.pem"

/* A folder with a file for each certificate, used if no bundle was found. */
#define FOLDER "/etc/ssl/certs"

/* Returns true for names as "9d66eef0.0": OpenSSL finds a certificate by a hash. */
static bool is_certificate_name(const char *name)
{
        return strspn(name, "0123456789abcdef") == 8 && name[8] == '.';
}

/* 'text' begins the reason of a failure; the file's name follows. */
static int file_refuse(const char *text, const char *file, struct eddy_tls_fault *fault)
{
        ed_tls_fault_of_file(fault, text, file, "the file holds no certificate (PEM)");
        return EDDY_E_TLS_BAD_FILE;
}

static int file_load(SSL_CTX *context, const char *text, const char *file,
                     struct eddy_tls_fault *fault)
{
        return SSL_CTX_load_verify_file(context, file) == 1 ? 0 : file_refuse(text, file, fault);
}

static const char *const files[] = { DEBIAN, RED_HAT, RED_HAT_10, ALPINE, SUSE, SUSE_NEW };

/* Load from the first place that the system has. */
static int system_load(SSL_CTX *context, struct eddy_tls_fault *fault)
{
        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
                if (SSL_CTX_load_verify_file(context, files[i]) == 1)
                        return 0;
                if (!ERR_SYSTEM_ERROR(ERR_peek_error()))
                        return file_refuse(CANNOT_READ, files[i], fault);
                ERR_clear_error();
        }
        if (ed_folder_has(FOLDER, is_certificate_name))
                return SSL_CTX_load_verify_dir(context, FOLDER) == 1 ? 0 : -ENOMEM;
        if (fault)
                snprintf(fault->text, sizeof(fault->text), "%s",
                         "the system has no trusted certificates in " DEBIAN ", " RED_HAT
                         ", " RED_HAT_10 ", " ALPINE ", " SUSE ", " SUSE_NEW " or " FOLDER
                         "; install ca-certificates, or name a file in SSL_CERT_FILE");
        return EDDY_E_TLS_BAD_FILE;
}

/* Returns the variable's value, or NULL if it is empty or not set. */
static const char *variable(const char *name)
{
        const char *value = secure_getenv(name);

        return value && *value ? value : NULL;
}

const char *ed_tls_trust_file(void)
{
        const char *file = variable("SSL_CERT_FILE");

        for (size_t i = 0; !file && i < sizeof(files) / sizeof(files[0]); i++) {
                FILE *opened = fopen(files[i], "re");

                if (opened) {
                        fclose(opened);
                        file = files[i];
                }
        }
        return file;
}

/* Load what the options name, else what the environment names, else the system's. */
static int certificates_load(SSL_CTX *context, const eddy_tls_config *config,
                             struct eddy_tls_fault *fault)
{
        const char *file = variable("SSL_CERT_FILE"), *folders = variable("SSL_CERT_DIR");
        int err;

        if (config->ca_file)
                return file_load(context, CANNOT_READ, config->ca_file, fault);
        if (!file && !folders)
                return system_load(context, fault);
        err = file ? file_load(context, CANNOT_READ " SSL_CERT_FILE", file, fault) : 0;
        if (err == 0 && folders && SSL_CTX_load_verify_dir(context, folders) != 1)
                return -ENOMEM;
        return err;
}

int ed_tls_trust_load(SSL_CTX *context, const eddy_tls_config *config, struct eddy_tls_fault *fault)
{
        X509_VERIFY_PARAM *param = SSL_CTX_get0_param(context);
        X509_STORE *store = SSL_CTX_get_cert_store(context);
        X509_LOOKUP *lookup;
        int err;

        /* A trusted certificate ends the chain even if another one has signed it. */
        X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
        err = certificates_load(context, config, fault);
        if (err < 0 || !config->crl_file)
                return err;
        lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
        if (!lookup || X509_load_crl_file(lookup, config->crl_file, X509_FILETYPE_PEM) < 1) {
                ed_tls_fault_of_file(fault, "cannot read revocation lists from", config->crl_file,
                                     "the file holds no revocation list (PEM)");
                return EDDY_E_TLS_BAD_FILE;
        }
        X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
        return 0;
}
