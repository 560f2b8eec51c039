/*
 * tls/self_signed.c - certificates for tests.
 */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "eddy/error.h"
#include "eddy/thread.h"
#include "eddy/time.h"
#include "eddy/tls.h"
#include "loop/loop.h"
#include "sys/file/plain.h"
#include "tls/config.h"

enum { NAMES_BYTES_MAX = 1024, SERIAL_BYTES = 16, BEFORE_S = 3600 };

struct making {
        const char *names;
        const char *cert_file;
        const char *key_file;
        int64_t now_s;
        int64_t valid_s;
};

/* Convert "a.example,::1" to OpenSSL's "DNS:a.example,IP:::1". */
static int alternative_names(const char *names, char *text, size_t room)
{
        size_t used = 0;

        while (*names) {
                size_t bytes = strcspn(names, ",");
                char name[256];
                ASN1_OCTET_STRING *address;
                int n;

                if (bytes == 0 || bytes >= sizeof(name) ||
                    strspn(names, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-.*:_") < bytes)
                        return -EINVAL;
                memcpy(name, names, bytes);
                name[bytes] = '\0';
                address = a2i_IPADDRESS(name);
                n = snprintf(text + used, room - used, "%s%s:%s", used > 0 ? "," : "",
                             address ? "IP" : "DNS", name);
                ASN1_OCTET_STRING_free(address);
                if (n < 0 || (size_t) n >= room - used)
                        return -EINVAL;
                used += (size_t) n;
                names += bytes + (names[bytes] == ',');
        }
        return used > 0 ? 0 : -EINVAL;
}

static bool add_extension(X509 *certificate, int nid, const char *value)
{
        X509V3_CTX context;
        X509_EXTENSION *extension;
        bool added;

        X509V3_set_ctx_nodb(&context);
        X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
        extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
        added = extension && X509_add_ext(certificate, extension, -1) == 1;
        X509_EXTENSION_free(extension);
        return added;
}

static bool set_serial(X509 *certificate)
{
        unsigned char bytes[SERIAL_BYTES];
        BIGNUM *number;
        bool set;

        if (RAND_bytes(bytes, sizeof(bytes)) != 1)
                return false;
        bytes[0] &= 0x7f; /* positive (RFC 5280, 4.1.2.2) */
        number = BN_bin2bn(bytes, sizeof(bytes), NULL);
        set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
        BN_free(number);
        return set;
}

static bool fill(X509 *certificate, EVP_PKEY *key, const struct making *making, const char *names)
{
        X509_NAME *name = X509_get_subject_name(certificate);

        return X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
               ASN1_TIME_set(X509_getm_notBefore(certificate),
                             (time_t) (making->now_s - BEFORE_S)) &&
               ASN1_TIME_set(X509_getm_notAfter(certificate),
                             (time_t) (making->now_s + making->valid_s)) &&
               X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC,
                                          (const unsigned char *) "eddy test certificate", -1, -1,
                                          0) == 1 &&
               X509_set_issuer_name(certificate, name) == 1 &&
               X509_set_pubkey(certificate, key) == 1 &&
               add_extension(certificate, NID_subject_alt_name, names) &&
               add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
               add_extension(certificate, NID_subject_key_identifier, "hash") &&
               add_extension(certificate, NID_ext_key_usage, "serverAuth,clientAuth") &&
               X509_sign(certificate, key, EVP_sha256()) > 0;
}

/* Returns NULL and sets errno on failure. */
static FILE *file_new(const char *path, unsigned mode)
{
        int fd = ed_file_make(path, mode);

        if (fd < 0)
                errno = -fd;
        return fd < 0 ? NULL : fdopen(fd, "w");
}

/* Write both files, or none. */
static int write_files(const struct making *making, X509 *certificate, EVP_PKEY *key)
{
        FILE *key_file = file_new(making->key_file, 0600), *cert_file;
        bool whole;

        if (!key_file)
                return -errno;
        cert_file = file_new(making->cert_file, 0644);
        if (!cert_file) {
                int err = -errno;

                fclose(key_file);
                remove(making->key_file);
                return err;
        }
        whole = PEM_write_PKCS8PrivateKey(key_file, key, NULL, NULL, 0, NULL, NULL) == 1;
        whole = PEM_write_X509(cert_file, certificate) == 1 && whole;
        whole = fclose(key_file) == 0 && whole;
        whole = fclose(cert_file) == 0 && whole;
        if (whole)
                return 0;
        remove(making->key_file);
        remove(making->cert_file);
        return -EIO;
}

static int make(void *arg)
{
        const struct making *making = arg;
        char names[NAMES_BYTES_MAX];
        EVP_PKEY *key;
        X509 *certificate;
        int err = alternative_names(making->names, names, sizeof(names));

        if (err < 0)
                return err;
        ed_tls_openssl_init();
        key = EVP_EC_gen("P-256");
        certificate = X509_new();
        if (key && certificate && fill(certificate, key, making, names))
                err = write_files(making, certificate, key);
        else
                err = -EINVAL;
        X509_free(certificate);
        EVP_PKEY_free(key);
        ERR_clear_error();
        return err;
}

int eddy_tls_make_certificate(const char *names, int64_t valid_ns, const char *cert_file,
                              const char *key_file)
{
        struct making making = { names, cert_file, key_file, 0, valid_ns / EDDY_SEC(1) };
        struct ed_loop *loop = ed_loop_current;

        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        if (!names || !cert_file || !key_file || valid_ns <= 0)
                return -EINVAL;
        making.now_s = loop->sys->poll->time_of_day(loop->sys) / EDDY_SEC(1);
        return eddy_to_thread_named(make, &making, "tls_make_certificate");
}
