/*
 * chain.c - see chain.h.
 */
#include "chain.h"

#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

enum { DAY_S = 86400, KEPT_MAX = 8192 };

/* Objects that live until the program ends. A compiler would drop an array that is only written. */
static void *volatile kept[KEPT_MAX];
static int kept_count;

static void *keep(void *object)
{
        CHECK(object != NULL);
        CHECK(kept_count < KEPT_MAX);
        kept[kept_count++] = object;
        return object;
}

/* ---- certificates ---------------------------------------------------------------- */

static EVP_PKEY *key_make(const char *kind)
{
        if (!kind)
                kind = "P-256";
        if (strncmp(kind, "RSA", 3) == 0)
                return keep(EVP_RSA_gen(strcmp(kind, "RSA1024") == 0 ? 1024 : 2048));
        if (strcmp(kind, "ED25519") == 0)
                return keep(EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"));
        return keep(EVP_EC_gen(kind));
}

static void extension_add(X509 *certificate, X509 *issuer, int nid, const char *value)
{
        X509V3_CTX context;
        X509_EXTENSION *extension;

        if (!value || !*value)
                return;
        X509V3_set_ctx_nodb(&context);
        X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
        extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
        CHECK(extension != NULL);
        CHECK_EQ(X509_add_ext(certificate, extension, -1), 1);
        X509_EXTENSION_free(extension);
}

/* An extension by its dotted number or its name. */
static void extension_add_named(X509 *certificate, const char *name, const char *value)
{
        X509_EXTENSION *extension;

        if (!name)
                return;
        extension = X509V3_EXT_conf(NULL, NULL, name, value);
        CHECK(extension != NULL);
        CHECK_EQ(X509_add_ext(certificate, extension, -1), 1);
        X509_EXTENSION_free(extension);
}

static void name_set(X509_NAME *name, const char *common)
{
        if (*common)
                CHECK_EQ(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                                    (const unsigned char *) common, -1, -1, 0),
                         1);
}

struct chain_part chain_part_make(const struct chain_spec *spec, const struct chain_part *issuer)
{
        static long serial;
        struct chain_part part = { keep(X509_new()), key_make(spec->key) };
        const struct chain_part *by = issuer ? issuer : &part;
        const EVP_MD *digest = EVP_get_digestbyname(spec->digest ? spec->digest : "SHA256");
        X509 *made = part.certificate;
        int until_days = spec->until_days ? spec->until_days : 30;

        CHECK_EQ(X509_set_version(made, X509_VERSION_3), 1);
        CHECK_EQ(ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial), 1);
        X509_gmtime_adj(X509_getm_notBefore(made),
                        (spec->from_days ? spec->from_days : -60) * (long) DAY_S);
        X509_gmtime_adj(X509_getm_notAfter(made), until_days * (long) DAY_S);
        name_set(X509_get_subject_name(made), spec->name);
        CHECK_EQ(X509_set_issuer_name(made, X509_get_subject_name(by->certificate)), 1);
        CHECK_EQ(X509_set_pubkey(made, part.key), 1);
        extension_add(made, by->certificate, NID_subject_key_identifier, "hash");
        if (issuer)
                extension_add(made, by->certificate, NID_authority_key_identifier, "keyid");
        extension_add(made, by->certificate, NID_basic_constraints, spec->basic);
        extension_add(made, by->certificate, NID_key_usage, spec->usage);
        extension_add(made, by->certificate, NID_ext_key_usage, spec->extended);
        extension_add(made, by->certificate, NID_subject_alt_name, spec->names);
        extension_add_named(made, spec->more_name, spec->more);
        if (EVP_PKEY_is_a(by->key, "ED25519"))
                digest = NULL;
        CHECK(X509_sign(made, by->key, digest) > 0);
        return part;
}

/* 'spec', with what it leaves open. */
static struct chain_spec spec_with(const struct chain_spec *spec, const char *name,
                                   const char *names, const char *basic, const char *usage)
{
        struct chain_spec whole = *spec;

        if (!whole.name)
                whole.name = name;
        if (!whole.names)
                whole.names = names;
        if (!whole.basic)
                whole.basic = basic;
        if (!whole.usage)
                whole.usage = usage;
        return whole;
}

void chain_make(struct chain *chain, const struct chain_spec *root, const struct chain_spec *middle,
                const struct chain_spec *leaf)
{
        struct chain_spec spec;

        memset(chain, 0, sizeof(*chain));
        spec = spec_with(root, "root", "", "critical,CA:TRUE", "critical,keyCertSign,cRLSign");
        chain->root = chain_part_make(&spec, NULL);
        spec = spec_with(middle, "middle", "", "critical,CA:TRUE", "critical,keyCertSign,cRLSign");
        chain->middle = chain_part_make(&spec, &chain->root);
        spec = spec_with(leaf, "leaf", "DNS:www.example.com", "critical,CA:FALSE",
                         "critical,digitalSignature");
        chain->leaf = chain_part_make(&spec, &chain->middle);
        chain->sent[0] = chain->leaf.certificate;
        chain->sent[1] = chain->middle.certificate;
        chain->sent_count = 2;
        chain->trusted[0] = chain->root.certificate;
        chain->trusted_count = 1;
}

/* ---- revocation lists -------------------------------------------------------------- */

void chain_list_add(struct chain *chain, const struct chain_part *issuer, const X509 *revoked,
                    int from_days, int until_days)
{
        X509_CRL *list = keep(X509_CRL_new());
        ASN1_TIME *at = ASN1_TIME_new();

        CHECK_EQ(X509_CRL_set_version(list, X509_CRL_VERSION_2), 1);
        CHECK_EQ(X509_CRL_set_issuer_name(list, X509_get_subject_name(issuer->certificate)), 1);
        X509_gmtime_adj(at, from_days * (long) DAY_S);
        CHECK_EQ(X509_CRL_set1_lastUpdate(list, at), 1);
        if (revoked) {
                X509_REVOKED *entry = X509_REVOKED_new();

                CHECK_EQ(X509_REVOKED_set_serialNumber(
                                 entry, (ASN1_INTEGER *) X509_get0_serialNumber(revoked)),
                         1);
                CHECK_EQ(X509_REVOKED_set_revocationDate(entry, at), 1);
                CHECK_EQ(X509_CRL_add0_revoked(list, entry), 1);
        }
        X509_gmtime_adj(at, until_days * (long) DAY_S);
        CHECK_EQ(X509_CRL_set1_nextUpdate(list, at), 1);
        ASN1_TIME_free(at);
        CHECK_EQ(X509_CRL_sort(list), 1);
        CHECK(X509_CRL_sign(list, issuer->key, EVP_sha256()) > 0);
        chain->lists[chain->lists_count++] = list;
}

void chain_write(const struct chain *chain, const char *ca_file, const char *crl_file)
{
        FILE *file = fopen(ca_file, "w");

        CHECK(file != NULL);
        for (int i = 0; i < chain->trusted_count; i++)
                CHECK_EQ(PEM_write_X509(file, chain->trusted[i]), 1);
        CHECK_EQ(fclose(file), 0);
        if (chain->lists_count == 0)
                return;
        file = fopen(crl_file, "w");
        CHECK(file != NULL);
        for (int i = 0; i < chain->lists_count; i++)
                CHECK_EQ(PEM_write_X509_CRL(file, chain->lists[i]), 1);
        CHECK_EQ(fclose(file), 0);
}

/* ---- the server --------------------------------------------------------------------- */

static struct {
        pthread_mutex_t lock;
        SSL_CTX *context;
        int listener;
        pthread_t thread;
} server = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void answer(SSL *ssl)
{
        static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                                   "Connection: close\r\n\r\nok";
        char request[4096];

        if (SSL_accept(ssl) == 1 && SSL_read(ssl, request, sizeof(request)) > 0 &&
            SSL_write(ssl, text, sizeof(text) - 1) > 0)
                (void) SSL_shutdown(ssl);
}

static void *serve(void *arg)
{
        (void) arg;
        for (;;) {
                int fd = accept(server.listener, NULL, NULL);
                SSL *ssl;

                if (fd < 0)
                        return NULL;
                pthread_mutex_lock(&server.lock);
                ssl = SSL_new(server.context);
                pthread_mutex_unlock(&server.lock);
                (void) SSL_set_fd(ssl, fd);
                answer(ssl);
                SSL_free(ssl);
                close(fd);
        }
}

uint16_t chain_serve(void)
{
        struct sockaddr_in address = { .sin_family = AF_INET,
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t bytes = sizeof(address);

        server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        CHECK_EQ(bind(server.listener, (struct sockaddr *) &address, sizeof(address)), 0);
        CHECK_EQ(listen(server.listener, 16), 0);
        CHECK_EQ(getsockname(server.listener, (struct sockaddr *) &address, &bytes), 0);
        CHECK_EQ(pthread_create(&server.thread, NULL, serve, NULL), 0);
        return ntohs(address.sin_port);
}

void chain_stop(void)
{
        shutdown(server.listener, SHUT_RDWR);
        CHECK_EQ(pthread_join(server.thread, NULL), 0);
        close(server.listener);
}

/* A server that shows what others would not. */
void chain_show(const struct chain *chain)
{
        SSL_CTX *context = keep(SSL_CTX_new(TLS_server_method()));

        SSL_CTX_set_security_level(context, 0);
        SSL_CTX_set_mode(context, SSL_MODE_NO_AUTO_CHAIN);
        CHECK_EQ(SSL_CTX_use_certificate(context, chain->sent[0]), 1);
        CHECK_EQ(SSL_CTX_use_PrivateKey(context, chain->leaf.key), 1);
        for (int i = 1; i < chain->sent_count; i++)
                CHECK_EQ(SSL_CTX_add1_chain_cert(context, chain->sent[i]), 1);
        pthread_mutex_lock(&server.lock);
        server.context = context;
        pthread_mutex_unlock(&server.lock);
}
