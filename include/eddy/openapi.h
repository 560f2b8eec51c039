/*
 * eddy/openapi.h - a document of OpenAPI 3.1 from the routes of an HTTP server, and a page that shows it.
 *
 *     static const struct eddy_http_route_doc show_user_doc = {
 *             .summary = "Show a user",
 *             .tags = "users",
 *             .params = &user_id_fields,
 *             .answer = &user_fields,
 *     };
 *
 *     eddy_http_router_add(router, "GET /users/{id}", show_user, db, &show_user_doc);
 *     eddy_openapi_serve(router, &(struct eddy_openapi_opts){ .title = "Users", .version = "2" });
 *
 * The router then answers "GET /openapi.json" with the document, and "GET /docs" with a page that lists
 * the routes and sends requests to them.
 *
 *     route                     document
 *     "GET /users/{id}"         the operation "get" of the path "/users/{id}"
 *     {path...}                 a parameter as {path}: OpenAPI has no values with slashes
 *     no method                 the operations get, put, post, delete and patch that no other route of the
 *                               path has; get and delete are without a body
 *     another method            left out, if OpenAPI does not have it
 *     params, query             "parameters" with the schemas of their fields (eddy/schema.h); a parameter
 *                               of the path without a field is a string
 *     body, form                "requestBody", as application/json or application/x-www-form-urlencoded
 *     answer, status, answers   "responses"
 *     any input                 also the response 422 as "HTTPValidationError", as FastAPI names the body
 *                               that the server answers (eddy/http_input.h), unless 'answers' has a 422
 *     tables                    "components.schemas"
 *     operation                 "operationId".  Without it: the method and the path, as in
 *                               "get_users_by_id" or "get_files_by_path".  The second of two equal ones
 *                               ends in "_2", in the order in which routes were added
 *
 * Routes whose paths differ only in the names of parameters are one path, with the names of the first.  If
 * two of them have the same method ("GET /a/{x}" and "GET /a/{x...}"), the second is left out.
 */
#ifndef EDDY_OPENAPI_H
#define EDDY_OPENAPI_H

#include "eddy/def.h"
#include "eddy/http_router.h"
#include "eddy/json.h"

EDDY_BEGIN_DECLS

enum { EDDY_OPENAPI_NO_PAGE = 1 << 0 /* eddy_openapi_serve() adds the document only */ };

/* Zero is the default of each option. */
struct eddy_openapi_opts {
        const char *title EDDY_UNSET;       /* NULL: "API" */
        const char *version EDDY_UNSET;     /* of the API; NULL: "1" */
        const char *description EDDY_UNSET; /* Markdown */
        const char *server EDDY_UNSET;    /* the URL before all paths; NULL: the document's host */
        uint32_t flags EDDY_UNSET;        /* EDDY_OPENAPI_* */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Write the document of all routes of a router, and of the routers mounted in it, as a compact JSON text.
 * A router that was mounted in another gives the document of the outermost router.  'opts' may be
 * NULL.  Equal routers and options give equal texts.
 *
 * Suspends: no.  Threads: any, while nothing changes the router.
 * Errors: the error of eddy_http_router_check()
 *         -EMSGSIZE  more than EDDY_SCHEMA_DEFS_MAX tables, or EDDY_JSON_WRITTEN_MAX bytes
 *         -EINVAL    an unknown flag
 *         -ENOMEM
 * Owns: returns '*ret_text' (owned), with a NUL that '*ret_bytes' does not count, until eddy_free().
 */
EDDY_API EDDY_MUST_USE int eddy_openapi_write(const eddy_http_router *router,
                                              const struct eddy_openapi_opts *opts, char **ret_text,
                                              size_t *ret_bytes, struct eddy_json_error *ret_error);

/*
 * Add the routes "GET /openapi.json" and "GET /docs" to a router.  The document has also the routes that
 * are added later.  It is written at its first request, and kept until the router is freed.  Neither route
 * is in the document.  If the router is mounted below "/api", they are "/api/openapi.json" and
 * "/api/docs", and the document has all routes of the outermost router.
 *
 * All clients that pass the router's middleware can read the document.  The page loads nothing from
 * other sites, and its Content-Security-Policy forbids that.  As eddy_http_router_add(), the call keeps
 * its error for eddy_http_router_check().
 *
 * Suspends: no.
 * Errors: those of eddy_http_router_add()
 *         -EINVAL  also: an unknown flag
 * Owns: borrows the texts of 'opts', which may be NULL, until the router is freed.
 */
EDDY_API int eddy_openapi_serve(eddy_http_router *router, const struct eddy_openapi_opts *opts);

EDDY_END_DECLS

#endif
