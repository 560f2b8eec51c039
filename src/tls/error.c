/*
 * tls/error.c - OpenSSL's failures as eddy's errors.
 */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <string.h>

#include "base/def.h"
#include "eddy/error.h"
#include "tls/connection.h"

/* The number of alerts of TLS: they are a byte. */
enum { ALERTS = 256 };

static int verdict_error(long verdict)
{
        switch (verdict) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
                return EDDY_E_TLS_EXPIRED;
        case X509_V_ERR_CERT_NOT_YET_VALID:
                return EDDY_E_TLS_NOT_YET_VALID;
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
                return EDDY_E_TLS_WRONG_HOST;
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
                return EDDY_E_TLS_UNKNOWN_ISSUER;
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
                return EDDY_E_TLS_SELF_SIGNED;
        case X509_V_ERR_CERT_REVOKED:
                return EDDY_E_TLS_REVOKED;
        case X509_V_ERR_UNABLE_TO_GET_CRL:
        case X509_V_ERR_CRL_HAS_EXPIRED:
        case X509_V_ERR_CRL_NOT_YET_VALID:
        case X509_V_ERR_CRL_SIGNATURE_FAILURE:
        case X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER:
        case X509_V_ERR_KEYUSAGE_NO_CRL_SIGN:
        case X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION:
        case X509_V_ERR_DIFFERENT_CRL_SCOPE:
                return EDDY_E_TLS_CRL;
        default:
                return EDDY_E_TLS_BAD_CERTIFICATE;
        }
}

static void fault_set(struct ed_tls *tls, const char *text, const char *reason)
{
        snprintf(tls->fault.text, sizeof(tls->fault.text), "%s%s%s", text, *reason ? ": " : "",
                 reason);
}

void ed_tls_fault_lower(struct ed_tls *tls, int error)
{
        fault_set(tls, "the connection failed", eddy_error_text(error));
}

/* Keep an error and its reason. */
static int fail(struct ed_tls *tls, int error, const char *text, const char *reason)
{
        fault_set(tls, text, reason);
        ERR_clear_error();
        return tls->error = error;
}

/*
 * Newer releases of OpenSSL refuse a protocol that was not offered by themselves. The reason that
 * they give is that of any extension; the function that gives it is not.
 */
static bool is_about_alpn(int reason)
{
        const char *function = NULL;

        (void) ERR_peek_error_all(NULL, NULL, &function, NULL, NULL);
        return reason == SSL_R_BAD_EXTENSION && function &&
               strcmp(function, "tls_parse_stoc_alpn") == 0;
}

int ed_tls_not_offered(struct ed_tls *tls)
{
        tls->cause = ED_TLS_NO_PROTOCOL;
        return fail(tls, EDDY_E_TLS_PROTOCOL, "the peer chose a protocol that was not offered", "");
}

/* An error of the protocol: a refused certificate, an alert, or bytes that are not TLS. */
static int protocol_error(struct ed_tls *tls)
{
        long verdict = SSL_get_verify_result(tls->ssl);
        unsigned long code = ERR_peek_error();
        int reason = ERR_GET_REASON(code);
        const char *text = ERR_reason_error_string(code);

        /* The reason may come first: a signature that is wrong. */
        if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_CERTIFICATE_VERIFY_FAILED)
                return fail(tls, verdict_error(verdict), "the peer's certificate was refused",
                            X509_verify_cert_error_string(verdict));
        if (reason == SSL_R_UNEXPECTED_EOF_WHILE_READING)
                return fail(tls, EDDY_E_TLS_TRUNCATED,
                            "the peer closed the connection without a TLS close", "");
        if (ERR_GET_LIB(code) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET &&
            reason < SSL_AD_REASON_OFFSET + ALERTS) {
                if (reason == SSL_AD_REASON_OFFSET + SSL_AD_NO_APPLICATION_PROTOCOL)
                        tls->cause = ED_TLS_NO_PROTOCOL;
                return fail(tls, EDDY_E_TLS_ALERT, "the peer refused the connection",
                            text ? text : "");
        }
        if (is_about_alpn(reason))
                return ed_tls_not_offered(tls);
        if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
                return fail(tls, EDDY_E_TLS_BAD_CERTIFICATE, "the client sent no certificate", "");
        if (reason == SSL_R_HTTP_REQUEST || reason == SSL_R_HTTPS_PROXY_REQUEST)
                tls->cause = ED_TLS_PLAIN_HTTP;
        if (reason == SSL_R_WRONG_VERSION_NUMBER || tls->cause == ED_TLS_PLAIN_HTTP)
                return fail(tls, EDDY_E_TLS_PROTOCOL, "the peer does not speak TLS on this port",
                            "");
        if (reason == ERR_R_MALLOC_FAILURE)
                return fail(tls, -ENOMEM, "no memory", "");
        return fail(tls, EDDY_E_TLS_PROTOCOL, "TLS failed", text ? text : "");
}

int ed_tls_error(struct ed_tls *tls, int result)
{
        switch (SSL_get_error(tls->ssl, result)) {
        case SSL_ERROR_WANT_READ:
        case SSL_ERROR_WANT_WRITE:
                return -EAGAIN;
        case SSL_ERROR_ZERO_RETURN:
                if (tls->bio.read_error == 0) {
                        tls->ended = true;
                        return 0;
                }
                break;
        default:
                break;
        }
        if (tls->bio.read_error < 0)
                return fail(tls, tls->bio.read_error, "the connection failed",
                            eddy_error_text(tls->bio.read_error));
        return protocol_error(tls);
}
