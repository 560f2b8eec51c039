/*
 * tls/info.c - what is known of a connection and its peer's certificate.
 */
#include <errno.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/calendar.h"
#include "base/def.h"
#include "eddy/time.h"
#include "loop/member.h"
#include "tls/connection.h"

/* Move what was printed to 'bio' to a text, cut if it is longer. */
static void take_text(BIO *bio, char *text, size_t room)
{
        int n = BIO_read(bio, text, (int) room - 1);

        text[n > 0 ? n : 0] = '\0';
        (void) BIO_reset(bio);
}

/* RFC 5280, 4.1.2.5: a certificate without an end is valid until 9999. */
static int64_t time_ns(const ASN1_TIME *at)
{
        struct tm parts;

        int64_t days, seconds, ns;

        if (ASN1_TIME_to_tm(at, &parts) != 1)
                return 0;
        days = ed_date_to_days(parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
        seconds = days * ED_DAY_SECONDS + parts.tm_hour * 3600 + parts.tm_min * 60 + parts.tm_sec;
        if (__builtin_mul_overflow(seconds, EDDY_SEC(1), &ns))
                return seconds < 0 ? INT64_MIN : INT64_MAX;
        return ns;
}

static void print_names(BIO *bio, X509 *certificate)
{
        GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);

        for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
                if (i > 0)
                        BIO_puts(bio, ", ");
                GENERAL_NAME_print(bio, sk_GENERAL_NAME_value(names, i));
        }
        GENERAL_NAMES_free(names);
}

static void describe_certificate(X509 *certificate, struct eddy_tls_info *info)
{
        BIO *bio = BIO_new(BIO_s_mem());
        unsigned char digest[32];
        unsigned bytes = sizeof(digest);

        if (!bio)
                return;
        X509_NAME_print_ex(bio, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
        take_text(bio, info->subject, sizeof(info->subject));
        X509_NAME_print_ex(bio, X509_get_issuer_name(certificate), 0, XN_FLAG_RFC2253);
        take_text(bio, info->issuer, sizeof(info->issuer));
        print_names(bio, certificate);
        take_text(bio, info->names, sizeof(info->names));
        BIO_free(bio);
        info->valid_from_ns = time_ns(X509_get0_notBefore(certificate));
        info->valid_until_ns = time_ns(X509_get0_notAfter(certificate));
        if (X509_digest(certificate, EVP_sha256(), digest, &bytes) == 1)
                for (unsigned i = 0; i < bytes; i++)
                        snprintf(info->fingerprint + (size_t) i * 2, 3, "%02x", digest[i]);
}

bool ed_tls_speaks(const eddy_stream *stream, const char *protocol)
{
        const unsigned char *alpn;
        unsigned bytes;

        SSL_get0_alpn_selected(ed_container_of(stream, const struct ed_tls, stream)->ssl, &alpn,
                               &bytes);
        return bytes > 0 && bytes == strlen(protocol) && memcmp(alpn, protocol, bytes) == 0;
}

void ed_tls_brief(const eddy_stream *stream, struct ed_tls_brief *ret_brief)
{
        const SSL *ssl = ed_container_of(stream, const struct ed_tls, stream)->ssl;
        const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

        ret_brief->version = SSL_version(ssl);
        ret_brief->cipher = SSL_get_cipher_name(ssl);
        ret_brief->server_name = name ? name : "";
}

int eddy_tls_info(const eddy_stream *stream, struct eddy_tls_info *ret_info)
{
        const struct ed_tls *tls;
        const unsigned char *alpn;
        const char *name;
        unsigned alpn_bytes;
        X509 *certificate;
        int err;

        if (!stream || stream->ops != &ed_tls_stream_ops)
                return -EINVAL;
        err = stream->member ? ed_member_check(stream->member) : 0;
        if (err < 0)
                return err;
        tls = ed_container_of(stream, struct ed_tls, stream);
        *ret_info = (struct eddy_tls_info){
                .version = SSL_version(tls->ssl),
                .is_resumed = SSL_session_reused(tls->ssl),
        };
        snprintf(ret_info->cipher, sizeof(ret_info->cipher), "%s", SSL_get_cipher_name(tls->ssl));
        SSL_get0_alpn_selected(tls->ssl, &alpn, &alpn_bytes);
        snprintf(ret_info->alpn, sizeof(ret_info->alpn), "%.*s", (int) alpn_bytes,
                 alpn ? (const char *) alpn : "");
        name = SSL_get_servername(tls->ssl, TLSEXT_NAMETYPE_host_name);
        snprintf(ret_info->server_name, sizeof(ret_info->server_name), "%s", name ? name : "");
        certificate = SSL_get0_peer_certificate(tls->ssl);
        if (certificate)
                describe_certificate(certificate, ret_info);
        return 0;
}
