/*
 * test_certificates.c - certificates and chains with one fault each, which must be refused by the
 * error of that fault, and unusual ones that must be accepted. The verdicts are those of curl, which
 * visits the same server, except that curl takes a certificate's common name for a host's name.
 *
 * A key of each kind is made for each certificate; only few are of RSA, which takes long.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chain.h"
#include "tls_test.h"

#define HOST "www.example.com"

typedef void bend_fn(struct chain *chain);

struct visit {
        const char *claim;
        int error;        /* 0: accepted */
        const char *host; /* NULL: HOST */
        struct chain_spec root, middle, leaf;
        bend_fn *bend;     /* changes the chain that was made; NULL: nothing */
        bool curl_accepts; /* although eddy refuses */
};

/* ---- changes of a chain ---------------------------------------------------------- */

static const struct chain_spec good_ca = { .name = "root",
                                           .basic = "critical,CA:TRUE",
                                           .usage = "critical,keyCertSign,cRLSign" };

static void send_leaf_only(struct chain *chain)
{
        chain->sent_count = 1;
}

static void send_root_untrusted(struct chain *chain)
{
        struct chain_spec spec = good_ca;

        chain->sent[chain->sent_count++] = chain->root.certificate;
        spec.name = "another root";
        chain->trusted[0] = chain_part_make(&spec, NULL).certificate;
}

static void trust_another(struct chain *chain)
{
        struct chain_spec spec = good_ca;

        spec.name = "another root";
        chain->trusted[0] = chain_part_make(&spec, NULL).certificate;
}

/* A root of the same name, but with another key. */
static void trust_namesake(struct chain *chain)
{
        chain->trusted[0] = chain_part_make(&good_ca, NULL).certificate;
}

static void trust_namesake_too(struct chain *chain)
{
        chain->trusted[1] = chain->trusted[0];
        trust_namesake(chain);
        chain->trusted_count = 2;
}

static void send_namesake(struct chain *chain)
{
        struct chain_spec spec = good_ca;

        spec.name = "middle";
        chain->sent[1] = chain_part_make(&spec, &chain->root).certificate;
}

static void send_stranger(struct chain *chain)
{
        struct chain_spec spec = good_ca;

        spec.name = "stranger";
        chain->sent[1] = chain_part_make(&spec, NULL).certificate;
}

/* The server's certificate signs itself. */
static void sign_itself(struct chain *chain)
{
        struct chain_spec spec = { .name = "leaf", .names = "DNS:" HOST };

        chain->leaf = chain_part_make(&spec, NULL);
        chain->sent[0] = chain->leaf.certificate;
        chain->sent_count = 1;
}

static void sign_itself_trusted(struct chain *chain)
{
        sign_itself(chain);
        chain->trusted[0] = chain->leaf.certificate;
}

/* The server shows the certificate of its issuer, and has its key. */
static void send_issuer_as_leaf(struct chain *chain)
{
        chain->leaf = chain->middle;
        chain->sent[0] = chain->middle.certificate;
        chain->sent_count = 1;
}

/* A bit of the signature is flipped. */
static void bend_signature(X509 *certificate)
{
        const ASN1_BIT_STRING *signature;

        X509_get0_signature(&signature, NULL, certificate);
        signature->data[signature->length - 1] ^= 1;
}

static void bend_leaf(struct chain *chain)
{
        bend_signature(chain->leaf.certificate);
}

static void bend_middle(struct chain *chain)
{
        bend_signature(chain->middle.certificate);
}

static void sign_by_a_leaf(struct chain *chain)
{
        struct chain_spec spec = { .name = "below", .names = "DNS:" HOST };
        struct chain_part below = chain_part_make(&spec, &chain->leaf);

        chain->sent[2] = chain->middle.certificate;
        chain->sent[1] = chain->leaf.certificate;
        chain->sent[0] = below.certificate;
        chain->sent_count = 3;
        chain->leaf = below;
}

/* A name whose beginning is the host's; a NUL follows. */
static void put_nul(struct chain *chain)
{
        static const char text[] = HOST "\0.evil.example";
        GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
        GENERAL_NAME *name = GENERAL_NAME_new();
        ASN1_IA5STRING *value = ASN1_IA5STRING_new();

        CHECK_EQ(ASN1_STRING_set(value, text, sizeof(text) - 1), 1);
        GENERAL_NAME_set0_value(name, GEN_DNS, value);
        CHECK(sk_GENERAL_NAME_push(names, name) > 0);
        CHECK_EQ(X509_add1_ext_i2d(chain->leaf.certificate, NID_subject_alt_name, names, 0,
                                   X509V3_ADD_REPLACE),
                 1);
        GENERAL_NAMES_free(names);
        CHECK(X509_sign(chain->leaf.certificate, chain->middle.key, EVP_sha256()) > 0);
}

/* Many names; the host's is the last, if it is there. */
static void put_names(struct chain *chain, int n, bool has_host)
{
        size_t room = (size_t) n * 32 + 64, at = 0;
        char *text = malloc(room);
        struct chain_spec spec = { .name = "leaf" };

        CHECK(text != NULL);
        for (int i = 0; i < n; i++)
                at += (size_t) snprintf(text + at, room - at, "%sDNS:n%d.example.com",
                                        i > 0 ? "," : "", i);
        if (has_host)
                snprintf(text + at, room - at, ",DNS:" HOST);
        spec.names = text;
        chain->leaf = chain_part_make(&spec, &chain->middle);
        chain->sent[0] = chain->leaf.certificate;
        free(text);
}

static void put_3000_names(struct chain *chain)
{
        put_names(chain, 3000, false);
}

static void put_3000_names_and_the_host(struct chain *chain)
{
        put_names(chain, 3000, true);
}

static void put_10000_names_and_the_host(struct chain *chain)
{
        put_names(chain, 10000, true);
}

/* Issuers below issuers. */
static void lengthen(struct chain *chain, int n)
{
        struct chain_part issuer = chain->middle;
        struct chain_spec spec = good_ca, leaf = { .name = "leaf", .names = "DNS:" HOST };
        X509 *made[CHAIN_SENT_MAX];
        char name[32];

        for (int i = 0; i < n; i++) {
                snprintf(name, sizeof(name), "middle %d", i);
                spec.name = name;
                issuer = chain_part_make(&spec, &issuer);
                made[i] = issuer.certificate;
        }
        chain->leaf = chain_part_make(&leaf, &issuer);
        chain->sent_count = 0;
        chain->sent[chain->sent_count++] = chain->leaf.certificate;
        for (int i = n; i-- > 0;)
                chain->sent[chain->sent_count++] = made[i];
        chain->sent[chain->sent_count++] = chain->middle.certificate;
}

static void lengthen_by_120(struct chain *chain)
{
        lengthen(chain, 120);
}

static void lengthen_by_20(struct chain *chain)
{
        lengthen(chain, 20);
}

/* -- unusual but good -- */

static void send_in_another_order(struct chain *chain)
{
        lengthen(chain, 3);
        for (int i = 1, j = chain->sent_count - 1; i < j; i++, j--) {
                X509 *one = chain->sent[i];

                chain->sent[i] = chain->sent[j];
                chain->sent[j] = one;
        }
}

static void send_too_many(struct chain *chain)
{
        send_stranger(chain);
        chain->sent[2] = chain->middle.certificate;
        chain->sent[3] = chain->middle.certificate;
        chain->sent[4] = chain->root.certificate;
        chain->sent_count = 5;
}

/* Another certificate of the same name and key, signed by 'by'. */
static X509 *cross_sign(const X509 *certificate, const struct chain_part *by)
{
        static X509 *made; /* reachable: a leak checker finds it */
        int at;

        made = X509_dup(certificate);
        CHECK_EQ(X509_set_issuer_name(made, X509_get_subject_name(by->certificate)), 1);
        at = X509_get_ext_by_NID(made, NID_authority_key_identifier, -1);
        if (at >= 0)
                X509_EXTENSION_free(X509_delete_ext(made, at));
        CHECK(X509_sign(made, by->key, EVP_sha256()) > 0);
        return made;
}

static struct chain_part old_root(int until_days)
{
        struct chain_spec spec = good_ca;

        spec.name = "old root";
        spec.until_days = until_days;
        return chain_part_make(&spec, NULL);
}

/* The issuer has a certificate of an unknown root too. */
static void send_cross_signed(struct chain *chain)
{
        struct chain_part old = old_root(30);

        chain->sent[2] = cross_sign(chain->middle.certificate, &old);
        chain->sent_count = 3;
}

/* The root that the client trusts has a certificate of an older root, which the server sends. */
static void send_root_cross_signed(struct chain *chain)
{
        struct chain_part old = old_root(30);

        chain->sent[2] = cross_sign(chain->root.certificate, &old);
        chain->sent_count = 3;
}

static void send_expired_root(struct chain *chain)
{
        struct chain_part old = old_root(-1);

        chain->sent[2] = cross_sign(chain->root.certificate, &old);
        chain->sent[3] = old.certificate;
        chain->sent_count = 4;
        chain->trusted[1] = old.certificate;
        chain->trusted_count = 2;
}

static void trust_middle(struct chain *chain)
{
        chain->trusted[0] = chain->middle.certificate;
}

static void trust_leaf(struct chain *chain)
{
        chain->trusted[0] = chain->leaf.certificate;
        chain->sent_count = 1;
}

/* -- revocation lists -- */

static void list_both(struct chain *chain)
{
        chain_list_add(chain, &chain->root, NULL, -1, 30);
        chain_list_add(chain, &chain->middle, NULL, -1, 30);
}

static void list_leaf(struct chain *chain)
{
        chain_list_add(chain, &chain->root, NULL, -1, 30);
        chain_list_add(chain, &chain->middle, chain->leaf.certificate, -1, 30);
}

static void list_middle(struct chain *chain)
{
        chain_list_add(chain, &chain->root, chain->middle.certificate, -1, 30);
        chain_list_add(chain, &chain->middle, NULL, -1, 30);
}

static void list_of_the_root_only(struct chain *chain)
{
        chain_list_add(chain, &chain->root, NULL, -1, 30);
}

static void list_of_the_middle_only(struct chain *chain)
{
        chain_list_add(chain, &chain->middle, NULL, -1, 30);
}

static void list_that_has_expired(struct chain *chain)
{
        chain_list_add(chain, &chain->root, NULL, -1, 30);
        chain_list_add(chain, &chain->middle, NULL, -9, -1);
}

static void list_of_the_future(struct chain *chain)
{
        chain_list_add(chain, &chain->root, NULL, -1, 30);
        chain_list_add(chain, &chain->middle, NULL, 1, 30);
}

/* The list has the issuer's name, but another key signed it. */
static void list_of_another(struct chain *chain)
{
        struct chain_part forger = chain->middle;

        forger.key = chain->leaf.key;
        chain_list_add(chain, &chain->root, NULL, -1, 30);
        chain_list_add(chain, &forger, NULL, -1, 30);
}

/* ---- what must be refused ------------------------------------------------------------- */

#define CA_BUT(field, value) .middle = { .field = (value) }
#define NAMES(value)         .leaf = { .names = (value) }

static const struct visit bad[] = {
        { "expired", EDDY_E_TLS_EXPIRED, .leaf = { .until_days = -1 } },
        { "of the future", EDDY_E_TLS_NOT_YET_VALID, .leaf = { .from_days = 1 } },
        { "issuer expired", EDDY_E_TLS_EXPIRED, CA_BUT(until_days, -1) },
        { "issuer of the future", EDDY_E_TLS_NOT_YET_VALID, CA_BUT(from_days, 1) },
        { "root expired", EDDY_E_TLS_EXPIRED, .root = { .until_days = -1 } },
        { "root of the future", EDDY_E_TLS_NOT_YET_VALID, .root = { .from_days = 1 } },

        { "another host", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:www.example.org") },
        { "common name only", EDDY_E_TLS_WRONG_HOST, .leaf = { .name = HOST, .names = "" },
          .curl_accepts = true },
        { "common name beside another host", EDDY_E_TLS_WRONG_HOST,
          .leaf = { .name = HOST, .names = "DNS:www.example.org" } },
        { "without a name", EDDY_E_TLS_WRONG_HOST, .leaf = { .name = "", .names = "" } },
        { "NUL after the host", EDDY_E_TLS_WRONG_HOST, .bend = put_nul },
        { "parent of the host", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:example.com") },
        { "child of the host", EDDY_E_TLS_WRONG_HOST, .host = "example.com" },
        { "end of the host", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:example.com"),
          .host = "notexample.com" },
        { "leading dot", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:.example.com") },
        { "URI", EDDY_E_TLS_WRONG_HOST, NAMES("URI:https://" HOST "/") },
        { "name with a scheme", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:https://" HOST) },
        { "mail address", EDDY_E_TLS_WRONG_HOST, NAMES("email:root@" HOST) },
        { "wildcard alone", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:*"), .host = "localhost" },
        { "wildcard of a top-level domain", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:*.com"),
          .host = "example.com" },
        { "wildcard in the middle", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:a.*.example.com"),
          .host = "a.b.example.com" },
        { "wildcard for two labels", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:*.example.com"),
          .host = "a.b.example.com" },
        { "wildcard for no label", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:*.example.com"),
          .host = "example.com" },
        { "two wildcards", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:*.*.example.com"),
          .host = "a.b.example.com" },
        { "wildcard at the end of a label", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:w*.example.com") },
        { "wildcard at the start of a label", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:*w.example.com") },
        { "wildcard in an international label", EDDY_E_TLS_WRONG_HOST,
          NAMES("DNS:xn--*.example.com"), .host = "xn--bcher-kva.example.com" },
        { "wildcard before an international end", EDDY_E_TLS_WRONG_HOST,
          NAMES("DNS:x*.example.com"), .host = "xn--bcher-kva.example.com" },
        { "address as a name", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:127.0.0.1"), .host = "127.0.0.1" },
        { "wildcard for an address", EDDY_E_TLS_WRONG_HOST, NAMES("DNS:*.0.0.1"),
          .host = "127.0.0.1" },
        { "another address", EDDY_E_TLS_WRONG_HOST, NAMES("IP:127.0.0.2"), .host = "127.0.0.1" },
        { "another address of IPv6", EDDY_E_TLS_WRONG_HOST, NAMES("IP:::2"), .host = "::1" },
        { "address of IPv4 in one of IPv6", EDDY_E_TLS_WRONG_HOST, NAMES("IP:::ffff:127.0.0.1"),
          .host = "127.0.0.1" },
        { "address for a name", EDDY_E_TLS_WRONG_HOST, NAMES("IP:127.0.0.1") },
        { "common name is the address", EDDY_E_TLS_WRONG_HOST,
          .leaf = { .name = "127.0.0.1", .names = "DNS:" HOST }, .host = "127.0.0.1" },
        { "3,000 names of others", EDDY_E_TLS_WRONG_HOST, .bend = put_3000_names },
        { "10,000 names", EDDY_E_TLS_PROTOCOL, .bend = put_10000_names_and_the_host },
        { "the issuer's own certificate", EDDY_E_TLS_BAD_CERTIFICATE, .bend = send_issuer_as_leaf },

        { "signs itself", EDDY_E_TLS_SELF_SIGNED, .bend = sign_itself },
        { "unknown root, which is sent", EDDY_E_TLS_SELF_SIGNED, .bend = send_root_untrusted },
        { "unknown root", EDDY_E_TLS_UNKNOWN_ISSUER, .bend = trust_another },
        { "root of the same name", EDDY_E_TLS_UNKNOWN_ISSUER, .bend = trust_namesake },
        { "issuer missing", EDDY_E_TLS_UNKNOWN_ISSUER, .bend = send_leaf_only },
        { "issuer of the same name", EDDY_E_TLS_UNKNOWN_ISSUER, .bend = send_namesake },
        { "a stranger for the issuer", EDDY_E_TLS_UNKNOWN_ISSUER, .bend = send_stranger },
        { "signature bent", EDDY_E_TLS_BAD_CERTIFICATE, .bend = bend_leaf },
        { "issuer's signature bent", EDDY_E_TLS_BAD_CERTIFICATE, .bend = bend_middle },
        { "120 issuers", EDDY_E_TLS_BAD_CERTIFICATE, .bend = lengthen_by_120 },

        { "issuer is not an authority", EDDY_E_TLS_BAD_CERTIFICATE, CA_BUT(basic, "CA:FALSE") },
        { "issuer may be anything", EDDY_E_TLS_BAD_CERTIFICATE,
          .middle = { .basic = "", .usage = "" } },
        { "issuer may not sign", EDDY_E_TLS_BAD_CERTIFICATE,
          CA_BUT(usage, "critical,digitalSignature") },
        { "root may not sign", EDDY_E_TLS_BAD_CERTIFICATE,
          .root = { .usage = "critical,digitalSignature" } },
        { "issuer is a server", EDDY_E_TLS_BAD_CERTIFICATE, .bend = sign_by_a_leaf },
        { "path too long", EDDY_E_TLS_BAD_CERTIFICATE,
          .root = { .basic = "critical,CA:TRUE,pathlen:0" } },
        { "a client's", EDDY_E_TLS_BAD_CERTIFICATE, .leaf = { .extended = "clientAuth" } },
        { "for code", EDDY_E_TLS_BAD_CERTIFICATE, .leaf = { .extended = "codeSigning" } },
        { "for mail", EDDY_E_TLS_BAD_CERTIFICATE, .leaf = { .extended = "emailProtection" } },
        { "issuer of clients'", EDDY_E_TLS_BAD_CERTIFICATE, CA_BUT(extended, "clientAuth") },
        { "key is for lists", EDDY_E_TLS_BAD_CERTIFICATE, .leaf = { .usage = "critical,cRLSign" } },
        { "unknown critical extension", EDDY_E_TLS_BAD_CERTIFICATE,
          .leaf = { .more_name = "1.2.3.4", .more = "critical,ASN1:UTF8String:x" } },
        { "issuer with an unknown critical extension", EDDY_E_TLS_BAD_CERTIFICATE,
          .middle = { .more_name = "1.2.3.4", .more = "critical,ASN1:UTF8String:x" } },
        { "other names permitted", EDDY_E_TLS_BAD_CERTIFICATE,
          .middle = { .more_name = "nameConstraints",
                      .more = "critical,permitted;DNS:example.org" } },
        { "name excluded", EDDY_E_TLS_BAD_CERTIFICATE,
          .middle = { .more_name = "nameConstraints",
                      .more = "critical,excluded;DNS:example.com" } },
        { "address excluded", EDDY_E_TLS_BAD_CERTIFICATE, .host = "127.0.0.1",
          .middle = { .more_name = "nameConstraints",
                      .more = "critical,excluded;IP:127.0.0.0/255.0.0.0" },
          NAMES("IP:127.0.0.1") },

        { "signed with SHA-1", EDDY_E_TLS_BAD_CERTIFICATE, .leaf = { .digest = "SHA1" } },
        { "issuer signed with SHA-1", EDDY_E_TLS_BAD_CERTIFICATE, CA_BUT(digest, "SHA1") },
        { "signed with MD5", EDDY_E_TLS_BAD_CERTIFICATE, .middle = { .key = "RSA2048" },
          .leaf = { .digest = "MD5" } },
        { "RSA of 1,024 bits", EDDY_E_TLS_BAD_CERTIFICATE, .leaf = { .key = "RSA1024" } },
        { "issuer with RSA of 1,024 bits", EDDY_E_TLS_BAD_CERTIFICATE, CA_BUT(key, "RSA1024") },
        { "issuer with a small curve", EDDY_E_TLS_BAD_CERTIFICATE, CA_BUT(key, "P-192") },

        { "revoked", EDDY_E_TLS_REVOKED, .bend = list_leaf },
        { "issuer revoked", EDDY_E_TLS_REVOKED, .bend = list_middle },
        { "list of the issuer missing", EDDY_E_TLS_CRL, .bend = list_of_the_root_only },
        { "list of the root missing", EDDY_E_TLS_CRL, .bend = list_of_the_middle_only },
        { "list expired", EDDY_E_TLS_CRL, .bend = list_that_has_expired },
        { "list of the future", EDDY_E_TLS_CRL, .bend = list_of_the_future },
        { "list of another", EDDY_E_TLS_CRL, .bend = list_of_another },
};

/* ---- what must be accepted ------------------------------------------------------------ */

static const struct visit good[] = {
        { "plain", 0 },
        { "host in capitals", 0, .host = "WWW.Example.COM" },
        { "name in capitals", 0, NAMES("DNS:WWW.EXAMPLE.COM") },
        { "dot after the host", 0, .host = HOST "." },
        { "second name", 0, NAMES("DNS:example.org,IP:127.0.0.1,DNS:" HOST) },
        { "another common name", 0, .leaf = { .name = "www.example.org", .names = "DNS:" HOST } },
        { "without a subject", 0, .leaf = { .name = "", .names = "critical,DNS:" HOST } },
        { "wildcard", 0, NAMES("DNS:*.example.com") },
        { "wildcard for an international label", 0, NAMES("DNS:*.example.com"),
          .host = "xn--bcher-kva.example.com" },
        { "international label", 0, NAMES("DNS:xn--bcher-kva.example.com"),
          .host = "xn--bcher-kva.example.com" },
        { "wildcard below an international label", 0, NAMES("DNS:*.xn--bcher-kva.example"),
          .host = "www.xn--bcher-kva.example" },
        { "address", 0, NAMES("IP:127.0.0.1"), .host = "127.0.0.1" },
        { "address of IPv6", 0, NAMES("IP:::1"), .host = "::1" },
        { "3,000 names", 0, .bend = put_3000_names_and_the_host },
        { "20 issuers", 0, .bend = lengthen_by_20 },
        { "issuers in another order", 0, .bend = send_in_another_order },
        { "strangers, doubles and the root", 0, .bend = send_too_many },
        { "issuer cross-signed by an unknown root", 0, .bend = send_cross_signed },
        { "root cross-signed by an unknown root", 0, .bend = send_root_cross_signed },
        { "old root expired, new root known", 0, .bend = send_expired_root },
        { "two roots of one name", 0, .bend = trust_namesake_too },
        { "issuer is trusted", 0, .bend = trust_middle },
        { "certificate itself is trusted", 0, .bend = trust_leaf },
        { "signs itself and is trusted", 0, .bend = sign_itself_trusted },
        { "root signed with SHA-1", 0, .root = { .digest = "SHA1" } },
        { "path just long enough", 0, .root = { .basic = "critical,CA:TRUE,pathlen:1" },
          .middle = { .basic = "critical,CA:TRUE,pathlen:0" } },
        { "a server's", 0, .leaf = { .extended = "serverAuth,clientAuth" },
          .middle = { .extended = "serverAuth" } },
        { "name permitted", 0,
          .middle = { .more_name = "nameConstraints",
                      .more = "critical,permitted;DNS:example.com" } },
        { "unknown extension", 0, .leaf = { .more_name = "1.2.3.4", .more = "ASN1:UTF8String:x" } },
        { "RSA of 2,048 bits", 0, .leaf = { .key = "RSA2048" } },
        { "Ed25519", 0, .leaf = { .key = "ED25519" }, .middle = { .key = "ED25519" } },
        { "not revoked", 0, .bend = list_both },
};

/* ---- visits ------------------------------------------------------------------------------ */

static uint16_t port;
static char ca_file[128], crl_file[128];
static bool has_curl;
static const struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG };

/* Run curl without output. Returns the code of its exit. */
static int run_curl(void *arg)
{
        const char **args = arg;
        int status = -1;
        pid_t pid = fork();

        if (pid == 0) {
                int null = open("/dev/null", O_RDWR);

                dup2(null, 1);
                dup2(null, 2);
                execvp(args[0], (char **) (uintptr_t) args);
                _exit(127);
        }
        CHECK(pid > 0);
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static int visit_with_curl(const struct visit *visit)
{
        const char *host = visit->host ? visit->host : HOST;
        char url[300], to[64];
        bool has_lists = access(crl_file, F_OK) == 0;
        const char *args[] = { "curl",
                               "-q",
                               "-s",
                               "--noproxy",
                               "*",
                               "--max-time",
                               "60",
                               "--connect-to",
                               to,
                               "--cacert",
                               ca_file,
                               url,
                               has_lists ? "--crlfile" : NULL,
                               crl_file,
                               NULL };

        snprintf(url, sizeof(url), strchr(host, ':') ? "https://[%s]/" : "https://%s/", host);
        snprintf(to, sizeof(to), "::127.0.0.1:%u", port);
        return eddy_to_thread(run_curl, args);
}

/* Compare curl's verdict. Its codes for certificates: 35, 60, 82 and 83 (see curl(1)). */
static bool curl_agrees(const struct visit *visit)
{
        int code = visit_with_curl(visit);
        bool accepts = code == 0;

        if (!accepts && code != 35 && code != 60 && code != 82 && code != 83) {
                printf("# %s: curl ended with %d\n", visit->claim, code);
                return false;
        }
        if (accepts == (visit->error == 0 || visit->curl_accepts))
                return true;
        printf("# %s: curl %s\n", visit->claim, accepts ? "accepts" : "refuses");
        return false;
}

static int visit_with_eddy(const struct visit *visit)
{
        struct eddy_tls_opts tls_opts = { .ca_file = ca_file };
        struct eddy_tls_fault fault = { "" };
        struct eddy_tls_conn_opts conn_opts = { .ret_fault = &fault };
        eddy_stream *lower, *secure;
        eddy_tls_config *config;
        int err;

        if (access(crl_file, F_OK) == 0)
                tls_opts.crl_file = crl_file;
        CHECK_EQ(eddy_tls_config_new(&tls_opts, &fault, &config), 0);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", port, NULL, &lower), 0);
        err = eddy_tls_client(lower, config, visit->host ? visit->host : HOST, &conn_opts, &secure);
        eddy_stream_close(err < 0 ? lower : secure);
        eddy_tls_config_close(config);
        if (err < 0)
                CHECK(fault.text[0] != '\0');
        if (err != visit->error)
                printf("# %s: %s (%s), expected %s\n", visit->claim, eddy_error_name(err),
                       fault.text, eddy_error_name(visit->error));
        return err;
}

/* Returns the number of wrong verdicts. */
static int visit_all(const struct visit *visits, size_t n)
{
        int wrong = 0;

        for (size_t i = 0; i < n; i++) {
                struct chain chain;

                chain_make(&chain, &visits[i].root, &visits[i].middle, &visits[i].leaf);
                if (visits[i].bend)
                        visits[i].bend(&chain);
                (void) unlink(crl_file);
                chain_write(&chain, ca_file, crl_file);
                chain_show(&chain);
                wrong += visit_with_eddy(&visits[i]) != visits[i].error;
                wrong += has_curl && !curl_agrees(&visits[i]);
        }
        return wrong;
}

static void prepare(void)
{
        const char *version[] = { "curl", "--version", NULL };

        signal(SIGPIPE, SIG_IGN);
        snprintf(ca_file, sizeof(ca_file), "%s/trusted.pem", tls_folder());
        snprintf(crl_file, sizeof(crl_file), "%s/lists.pem", tls_folder());
        port = chain_serve();
        has_curl = run_curl(version) == 0;
        if (!has_curl)
                printf("# curl is not installed: its verdicts are not compared\n");
}

static int visit_bad(void *arg)
{
        size_t n = sizeof(bad) / sizeof(bad[0]);

        CHECK(n >= 45);
        printf("# %zu bad certificates\n", n);
        CHECK_EQ(visit_all(bad, n), 0);
        return 0;
}

/* S1 */
TEST(each_bad_certificate_is_refused_by_its_own_error_as_curl_refuses_it)
{
        prepare();
        CHECK_EQ(eddy_run(visit_bad, NULL, &opts), 0);
        chain_stop();
}

static int visit_good(void *arg)
{
        size_t n = sizeof(good) / sizeof(good[0]);

        printf("# %zu good certificates\n", n);
        CHECK_EQ(visit_all(good, n), 0);
        return 0;
}

TEST(unusual_certificates_that_are_valid_are_accepted)
{
        prepare();
        CHECK_EQ(eddy_run(visit_good, NULL, &opts), 0);
        chain_stop();
}
