/*
 * eddy/http_input.h - a request's body, query and parameters as structs, which tables of fields
 * describe (eddy/fields.h, eddy/json.h, eddy/query.h).
 *
 *     struct user user = { 0 };
 *     int err = eddy_http_exchange_json(exchange, &user_fields, &user);
 *
 *     if (err < 0)
 *             return err;
 *     ...
 *     eddy_fields_fini(&user_fields, &user);
 *
 * If a field is wrong, and the handler returns the error, the client gets a 422 with all wrong fields,
 * in FastAPI's format:
 *
 *     {"detail":[{"type":"missing","loc":["body","name"],"msg":"the field is missing"},
 *                {"type":"range","loc":["body","age"],"msg":"300 is above the maximum 150"}]}
 *
 * 'loc' begins with "body", "query" or "path".  'type' is the name of the error in small letters,
 * "missing" for EDDY_E_FIELD_MISSING, and "extra_forbidden" for EDDY_E_FIELD_UNKNOWN.  A text that
 * is not JSON, or not a query, is answered with a 400 and the reason (application/problem+json).  A
 * body of another type, or with a Content-Encoding, is answered with a 415 and the expected type.
 * The wrong fields of several calls are collected, so a handler can read the query and the body,
 * and then return the first error.
 *
 * If a handler reads a text of another service by a table of fields and returns the error of that
 * read, the client gets a 500, because the request is not at fault.
 */
#ifndef EDDY_HTTP_INPUT_H
#define EDDY_HTTP_INPUT_H

#include "eddy/def.h"
#include "eddy/field_errors.h"
#include "eddy/fields.h"
#include "eddy/http_exchange.h"

EDDY_BEGIN_DECLS

/*
 * Read the body as JSON into the struct at 'out', as eddy_json_read() with EDDY_JSON_REQUEST.  The
 * Content-Type must be application/json, or end in "+json": a page of another site can make a browser
 * send other types without asking.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_CONTENT_TYPE  the request has another content type, or none, or a content
 *                                   coding
 *         those of eddy_http_exchange_body() and eddy_json_read()
 * Owns: returns strings and lists (owned), until eddy_fields_fini().
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_json(eddy_http_exchange *exchange,
                                                   const struct eddy_fields *fields, void *out);

/*
 * Read the body as a form of application/x-www-form-urlencoded, as eddy_query_read() with 'flags'.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_CONTENT_TYPE  the request has another content type, or none, or a content
 *                                   coding
 *         those of eddy_http_exchange_body() and eddy_query_read()
 * Owns: as eddy_http_exchange_json()
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_form_read(eddy_http_exchange *exchange,
                                                        const struct eddy_fields *fields,
                                                        unsigned flags, void *out);

/*
 * Read the query, as eddy_query_read() with 'flags'.
 *
 * Suspends: no.
 * Errors: those of eddy_query_read()
 * Owns: as eddy_http_exchange_json()
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_query_read(eddy_http_exchange *exchange,
                                                         const struct eddy_fields *fields,
                                                         unsigned flags, void *out);

/*
 * Read the parameters of the route (eddy/http_router.h), as eddy_query_read_pairs().  Without a route
 * there are none.
 *
 * Suspends: no.
 * Errors: those of eddy_query_read_pairs()
 * Owns: as eddy_http_exchange_json()
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_params_read(eddy_http_exchange *exchange,
                                                          const struct eddy_fields *fields,
                                                          void *out);

enum eddy_http_input { EDDY_HTTP_BODY, EDDY_HTTP_QUERY, EDDY_HTTP_PATH };

/*
 * Returns the wrong fields that the calls above have found, for a function that answers errors in
 * another form (eddy_http_server_opts.on_error).  NULL: no call has found any.
 *
 * Suspends: no.
 * Owns: valid until the next of these calls, or the end of the request.
 */
EDDY_API const struct eddy_field_errors *eddy_http_exchange_errors(
        const eddy_http_exchange *exchange, enum eddy_http_input input);

EDDY_END_DECLS

#endif
