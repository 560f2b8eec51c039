/*
 * chain.h - chains of certificates with one fault each, and a server of OpenSSL that shows them.
 */
#ifndef ED_TLS_CHAIN_H
#define ED_TLS_CHAIN_H

#include <openssl/ssl.h>
#include <stdint.h>

/* A certificate to be made. Zero or NULL: a good one. */
struct chain_spec {
        const char *name;             /* the common name */
        int from_days, until_days;    /* from now */
        const char *names;            /* subject alternative names; "": none */
        const char *basic;            /* basicConstraints; "": none */
        const char *usage, *extended; /* keyUsage, extendedKeyUsage */
        const char *more_name;        /* another extension, and its value */
        const char *more;
        const char *key;    /* "P-256", "P-192", "ED25519", "RSA1024", "RSA2048" */
        const char *digest; /* of the issuer's signature: "SHA256", "SHA1", "MD5" */
};

struct chain_part {
        X509 *certificate;
        EVP_PKEY *key;
};

enum { CHAIN_SENT_MAX = 160, CHAIN_TRUSTED_MAX = 4, CHAIN_LISTS_MAX = 4 };

/* The certificates of a server, which sends them in this order, and what a client knows. */
struct chain {
        struct chain_part root, middle, leaf;
        X509 *sent[CHAIN_SENT_MAX];
        int sent_count;
        X509 *trusted[CHAIN_TRUSTED_MAX];
        int trusted_count;
        X509_CRL *lists[CHAIN_LISTS_MAX];
        int lists_count;
};

/* Make a certificate, signed by 'issuer' (NULL: by itself). It lives until the program ends. */
struct chain_part chain_part_make(const struct chain_spec *spec, const struct chain_part *issuer);

/* Make a root that is trusted, one below, and a server's that is sent with the one below. */
void chain_make(struct chain *chain, const struct chain_spec *root, const struct chain_spec *middle,
                const struct chain_spec *leaf);

/* Add a list of 'issuer', valid for these days from now; 'revoked' may be NULL. */
void chain_list_add(struct chain *chain, const struct chain_part *issuer, const X509 *revoked,
                    int from_days, int until_days);

/* Write what a client knows: 'ca_file', and 'crl_file' if there are lists. */
void chain_write(const struct chain *chain, const char *ca_file, const char *crl_file);

/* Serve on the loopback, by a thread of its own, until the program ends. Returns the port. */
uint16_t chain_serve(void);

/* End the server, before OpenSSL is cleaned up at the end of the process. */
void chain_stop(void);

/* From now on, show this chain. */
void chain_show(const struct chain *chain);

#endif
