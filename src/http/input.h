/*
 * http/input.h - the wrong fields of a request, and the answer to them (eddy/http_input.h).
 */
#ifndef ED_HTTP_INPUT_H
#define ED_HTTP_INPUT_H

#include "eddy/http_input.h"
#include "http/exchange.h"

/* The wrong fields that were found in a request. */
struct ed_http_wrong {
        struct eddy_field_errors in[EDDY_HTTP_PATH + 1];
};

/*
 * Record the error of a call that has read a wrong request, if the error is not in the list of
 * wrong fields. eddy_http_error_status() then answers the error with a 4xx. Returns 'error'.
 *
 * Suspends: no.
 */
static inline int ed_http_input_failed(eddy_http_exchange *exchange, int error)
{
        exchange->input_error = error;
        exchange->input_detail = NULL;
        return error;
}

/* As ed_http_input_failed(), with a detail for the client, which is a static text. */
static inline int ed_http_input_failed_by(eddy_http_exchange *exchange, int error,
                                          const char *detail)
{
        exchange->input_error = error;
        exchange->input_detail = detail;
        return error;
}

/* The detail of a body whose length is above the limit. */
#define ED_HTTP_INPUT_TOO_LARGE "the body is too large"

/*
 * Check that the body does not have a content coding, because inputs do not decode bodies. If it
 * has one, record the error and add Accept-Encoding to the answer (RFC 9110, 15.5.16).
 *
 * Errors: EDDY_E_HTTP_CONTENT_TYPE
 */
EDDY_MUST_USE int ed_http_input_check_coding(eddy_http_exchange *exchange);

/* Free the list of an exchange. */
void ed_http_wrong_fini(eddy_http_exchange *exchange);

/*
 * Answer the error 'error' of a handler, which is also the error of a field that was found: 422 with
 * all of them, or 400 with the reason if the text has no fields.
 *
 * Suspends: yes.
 * Errors: -ENOENT  no field was found to be wrong in this way; nothing was answered
 *         -ENOMEM, -EMSGSIZE  the list could not be written; nothing was answered
 *         those of eddy_http_exchange_respond()
 */
EDDY_MUST_USE int ed_http_wrong_respond(eddy_http_exchange *exchange, int error);

#endif
