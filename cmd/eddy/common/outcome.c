/*
 * common/outcome.c - the table from errors to codes.
 */
#include "common/outcome.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "eddy/error.h"

static const struct ed_outcome outcomes[] = {
        /* Lines that are not valid requests. */
        { ED_E_LINE_TOO_LONG, "invalid_request_line", "the line is longer than 64 KiB" },
        { ED_E_LINE_NUL, "invalid_request_line", "the line contains a NUL byte" },
        { EDDY_E_URL_INVALID, "invalid_request_line",
          "the URL is not valid: write http://HOST[:PORT][/PATH] or https://..., and "
          "percent-encode spaces and "
          "bytes that are not ASCII" },
        { EDDY_E_URL_SCHEME, "invalid_request_line",
          "the URL's scheme is not supported: use http or https" },
        { EDDY_E_URL_CREDENTIALS, "invalid_request_line",
          "Basic credentials need a user name without a colon (%3A), no control character, and at "
          "most 4096 bytes of user name and password: change those of the URL" },
        { EDDY_E_HTTP_INVALID_REQUEST, "invalid_request_line", NULL },

        { ED_E_FILE, "file_error", "a file of the request cannot be read" },

        /* Names and connections. */
        { EDDY_E_DNS_NOT_FOUND, "dns_error", NULL },
        { EDDY_E_DNS_NO_ADDRESS, "dns_error", NULL },
        { EDDY_E_DNS_BAD_NAME, "dns_error", NULL },
        { EDDY_E_DNS_FAILED, "dns_error", NULL },
        { -ECONNREFUSED, "connect_error", NULL },
        { -EHOSTUNREACH, "connect_error", NULL },
        { -ENETUNREACH, "connect_error", NULL },
        { -EHOSTDOWN, "connect_error", NULL },
        { -ENETDOWN, "connect_error", NULL },
        { -EADDRNOTAVAIL, "connect_error", NULL },
        { -EMFILE, "connect_error", NULL },
        { -ENFILE, "connect_error", NULL },
        { -ENOBUFS, "connect_error", NULL },

        /* Missing credentials for a proxy are permanent; its other failures may be transient. */
        { EDDY_E_HTTP_PROXY_AUTH, "connect_error", NULL },
        { EDDY_E_HTTP_PROXY_REFUSED, "connect_error", NULL },
        { EDDY_E_HTTP_PROXY_INVALID, "connect_error", NULL },

        /* TLS. */
        { EDDY_E_TLS_EXPIRED, "tls_error", NULL },
        { EDDY_E_TLS_NOT_YET_VALID, "tls_error", NULL },
        { EDDY_E_TLS_WRONG_HOST, "tls_error", NULL },
        { EDDY_E_TLS_UNKNOWN_ISSUER, "tls_error",
          "the certificate's issuer is not trusted: give its certificate by --cacert" },
        { EDDY_E_TLS_SELF_SIGNED, "tls_error",
          "the certificate is self-signed and not trusted: give it by --cacert if you trust it" },
        { EDDY_E_TLS_REVOKED, "tls_error", NULL },
        { EDDY_E_TLS_CRL, "tls_error", NULL },
        { EDDY_E_TLS_BAD_CERTIFICATE, "tls_error", NULL },
        { EDDY_E_TLS_BAD_FILE, "tls_error", NULL },
        { EDDY_E_TLS_ALERT, "tls_error", NULL },
        { EDDY_E_TLS_PROTOCOL, "tls_error", NULL },
        { EDDY_E_HTTP_ALPN, "tls_error", NULL },
        { EDDY_E_TLS_TRUNCATED, "connection_reset", NULL },

        /* Timeouts and broken connections. The lines name the option that set the limit. */
        { EDDY_E_NET_TIMED_OUT, "connect_error", NULL },
        { EDDY_E_HTTP_TIMEOUT_CONNECT, "connect_error", NULL },
        { EDDY_E_HTTP_TIMEOUT_READ, "request_timeout", NULL },
        { -ETIMEDOUT, "request_timeout", NULL },
        { -ECONNRESET, "connection_reset", "the peer reset the connection" },
        { -ECONNABORTED, "connection_reset", NULL },
        { -EPIPE, "connection_reset", "the peer closed the connection" },
        { EDDY_E_HTTP_CLOSED, "connection_reset", NULL },
        { EDDY_E_HTTP_TRUNCATED, "stream_truncated", NULL },

        /* The peer's response is unusable. */
        { EDDY_E_HTTP_INVALID_RESPONSE, "invalid_response", NULL },
        { EDDY_E_HTTP_CODING_UNKNOWN, "invalid_response", NULL },
        { EDDY_E_HTTP_CODING_INVALID, "invalid_response", NULL },
        { EDDY_E_HTTP_TOO_LARGE, "response_too_large", NULL },
        { -ELOOP, "redirect_refused", NULL },
        { EDDY_E_HTTP_STATUS, "redirect_refused", NULL },

        /* The answer is not a success, although its status is. */
        { ED_E_ANSWER_NOT_OK, "answer_not_ok", "--ok does not hold" },
        { ED_E_ANSWER_HAS_ERROR, "answer_has_error", "the body has an error" },
        { ED_E_ANSWER_NOT_JSON, "answer_not_json", "the body is not JSON" },
        { ED_E_ANSWER_NOT_SCHEMA, "answer_not_schema", "--schema does not accept the answer" },
        { ED_E_ANSWER_NOT_ROWS, "answer_not_rows", "the answer cannot be split into rows" },

        /* Limits of the run. */
        { EDDY_E_LIMITER_AMOUNT, "token_estimate_exceeds_limit",
          "the request may need more tokens than --tpm allows in a minute: raise --tpm, or lower "
          "the request's max_tokens" },
        { ED_E_HOSTS, "circuit_open",
          "not sent, because the run has sent requests to 4,096 other hosts: run the same command "
          "again" },
        { ED_E_NO_BASE, "invalid_request_line",
          "the \"url\" begins with /: give --base-url, or write an absolute URL" },

        { ED_E_SHUT, "circuit_open",
          "not sent, because the host takes no requests now: run the same command again later" },
        { ED_E_SPENT, "circuit_open", "not sent, because the quota of its API key is used up" },

        /* Errors of the run. */
        { -ECANCELED, "cancelled", "the run was stopped" },
        { EDDY_E_HTTP_CLIENT_CLOSED, "cancelled", "the run was stopped" },
        { ED_E_DEADLINE, "deadline_exceeded", "the deadline of the run has passed" },
        { -ENOMEM, "out_of_memory", NULL },
};

static const struct ed_outcome outcome_other = { 0, "connect_error", NULL };

/* All codes, in the order of the summary. */
static const char *const codes[] = {
        "invalid_request_line",
        "file_error",
        "tls_error",
        "dns_error",
        "connect_error",
        "connection_reset",
        "request_timeout",
        "stream_truncated",
        "invalid_response",
        "response_too_large",
        "redirect_refused",
        "answer_not_ok",
        "answer_has_error",
        "answer_not_json",
        "answer_not_schema",
        "deadline_exceeded",
        "cancelled",
        "out_of_memory",
        "token_estimate_exceeds_limit",
        "circuit_open",
};

#define CODES ((int) (sizeof(codes) / sizeof(codes[0])))

_Static_assert(CODES <= (int) ED_OUTCOME_CODES_MAX, "every code has a counter");

const struct ed_outcome *ed_outcome_of(int error)
{
        for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
                if (outcomes[i].error == error)
                        return &outcomes[i];
        }
        return &outcome_other;
}

bool ed_outcome_is_line(int error)
{
        return strcmp(ed_outcome_of(error)->code, "invalid_request_line") == 0;
}

const char *ed_outcome_message(int error)
{
        const struct ed_outcome *outcome = ed_outcome_of(error);

        return outcome->message ? outcome->message : eddy_error_text(error);
}

void ed_outcome_fault(const eddy_http_response *response, int error,
                      struct eddy_http_fault *ret_fault)
{
        const char *text = eddy_http_response_fault_text(response);

        if (*text && error == -ECONNRESET)
                snprintf(ret_fault->text, sizeof(ret_fault->text), "%s", text);
        else if (*text && (error == EDDY_E_HTTP_INVALID_RESPONSE || error == EDDY_E_HTTP_TOO_LARGE))
                snprintf(ret_fault->text, sizeof(ret_fault->text), "%s: %s",
                         ed_outcome_message(error), text);
}

int ed_outcome_number(int error)
{
        const char *code = ed_outcome_of(error)->code;

        for (int i = 0; i < CODES; i++) {
                if (strcmp(codes[i], code) == 0)
                        return i;
        }
        return ED_OUTCOME_CODES_MAX - 1;
}

const char *ed_outcome_code(int number)
{
        return number >= 0 && number < CODES ? codes[number] : NULL;
}
