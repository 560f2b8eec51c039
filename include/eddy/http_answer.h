/*
 * eddy/http_answer.h - whole answers of a handler: a text, JSON, a redirect, an error.
 *
 *     static int show_user(eddy_http_exchange *exchange, void *arg)
 *     {
 *             const char *name = eddy_http_exchange_param(exchange, "name");
 *             struct user *user = find_user(arg, name);
 *
 *             if (!user)
 *                     return eddy_http_exchange_fail(exchange, 404, "there is no user %s", name);
 *             return eddy_http_exchange_respond_json(exchange, 200, &user_fields, user);
 *     }
 *
 * Each call sends a complete response as eddy_http_exchange_respond() does.  To add headers, call
 * eddy_http_exchange_add_header() before.
 */
#ifndef EDDY_HTTP_ANSWER_H
#define EDDY_HTTP_ANSWER_H

#include "eddy/def.h"
#include "eddy/fields.h"
#include "eddy/http_exchange.h"

EDDY_BEGIN_DECLS

enum { EDDY_HTTP_DETAIL_BYTES = 256 /* of the detail of an error, with its NUL */ };

/*
 * Respond with a text in UTF-8, as text/plain.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_exchange_respond()
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_respond_text(eddy_http_exchange *exchange, int status,
                                                           const char *text);

/*
 * Respond with the struct at 'in' as JSON: eddy_json_write() with the table 'fields' (eddy/json.h).  If
 * the struct does not fit its table, nothing is sent, and the reason is reported as for other answers
 * that are not valid (EDDY_REPORT_MISUSE); unless the handler answers otherwise, the client gets a 500.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_INVALID_ANSWER  also: the struct does not fit its table
 *         -ENOMEM
 *         the others of eddy_http_exchange_respond()
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_respond_json(eddy_http_exchange *exchange, int status,
                                                           const struct eddy_fields *fields,
                                                           const void *in);

/*
 * Respond with a redirect to 'url', which is absolute or relative to the request's.  'status' is 301,
 * 302, 303, 307 or 308.  After 303 a client sends GET; after 307 and 308 it repeats the request with
 * its body.  Check a text of the request before you redirect to it: "//evil.example" is another site.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_INVALID_ANSWER  also: another status; 'url' is NULL or empty, or has a
 *                                     character that URLs do not have
 *         the others of eddy_http_exchange_respond()
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_redirect(eddy_http_exchange *exchange, int status,
                                                       const char *url);

/*
 * Respond with an error: a document of application/problem+json (RFC 9457) with the status, its title,
 * and the formatted text as its detail, which the client sees.  A detail of more than
 * EDDY_HTTP_DETAIL_BYTES is cut.  An empty text leaves the detail out.  'status' is 400 or above.
 *
 * To answer an error of a call without a detail, return the error (see eddy_http_error_status()).
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_INVALID_ANSWER  also: 'status' is below 400
 *         the others of eddy_http_exchange_respond()
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_fail(eddy_http_exchange *exchange, int status,
                                                   const char *format, ...) EDDY_PRINTF(3, 4);

EDDY_END_DECLS

#endif
