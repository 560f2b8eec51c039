/*
 * eddy/http_router.h - the routes of an HTTP server: a handler for each method and path, and
 * middleware around handlers.
 *
 *     static int show_user(eddy_http_exchange *exchange, void *arg)
 *     {
 *             const char *id = eddy_http_exchange_param(exchange, "id");
 *             ...
 *     }
 *
 *     eddy_http_router *router;
 *
 *     if (eddy_http_router_new(&router) < 0)
 *             return -ENOMEM;
 *     eddy_http_router_use(router, log_requests, NULL);
 *     eddy_http_router_add(router, "GET /users/{id}", show_user, db, NULL);
 *     eddy_http_router_add(router, "POST /users", make_user, db, &make_user_doc);
 *     eddy_http_router_add(router, "GET /static/{path...}", send_file, NULL, NULL);
 *     err = eddy_http_router_check(router, &text);
 *     if (err == 0)
 *             err = eddy_http_serve(listener, NULL, eddy_http_router_handle, router);
 *     eddy_http_router_free(router);
 *
 * A pattern is a path, or a method, a space and a path.  A pattern without a method is for all methods
 * that have no pattern with the same path.  Each segment of its path, between two slashes, is one of:
 *
 *     users       this text.  "%XX" is decoded; "%7B" and "%7D" are braces
 *     {id}        a parameter: any segment that is not empty
 *     {path...}   last only: the rest of the path, which may be empty or have slashes
 *
 * Each segment of a request's path is decoded, and then compared: a "%2F" is part of its segment, and
 * does not begin the next one.  Letters are compared exactly, and "/users/" is not "/users".  The
 * answer is 400 if the path has a '%' without two hexadecimal digits, %00, or a segment that is, or has
 * between two decoded slashes, "." or "..".
 *
 * If several patterns match, their first segments that differ decide: a text goes before a parameter,
 * and a parameter before the rest of a path, in whatever order they were added.  Patterns of other
 * methods do not count.  Two patterns that match the same requests are an error.
 *
 * The router itself answers these requests; a 404 or 405 has a problem document (RFC 9457):
 *
 *     HEAD       without a pattern: calls the handler of GET; the server sends no body
 *     OPTIONS    without a pattern: 204 with Allow; "OPTIONS *": 204
 *     405        with Allow, if the path has only patterns of other methods
 *     404        if the path has none
 */
#ifndef EDDY_HTTP_ROUTER_H
#define EDDY_HTTP_ROUTER_H

#include "eddy/def.h"
#include "eddy/fields.h"
#include "eddy/http_exchange.h"
#include "eddy/http_input.h"
#include "eddy/http_server.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_HTTP_ROUTE_BYTES_MAX = 1024, /* of a pattern, with the prefixes of mounted routers */
        EDDY_HTTP_ROUTE_PARAMS_MAX = 16,  /* of a pattern */
        EDDY_HTTP_ROUTE_DEPTH_MAX = 64    /* segments of a pattern */
};

typedef struct eddy_http_router eddy_http_router;

/*
 * Make a router without routes.
 *
 * Suspends: no.  Threads: any.
 * Errors: -ENOMEM
 * Owns: returns (owned) '*ret_router', until eddy_http_router_free().
 */
EDDY_API EDDY_MUST_USE int eddy_http_router_new(eddy_http_router **ret_router);

/* Free a router that serves nothing, and the routers mounted in it.  NULL is ignored.  Suspends: no. */
EDDY_API void eddy_http_router_free(eddy_http_router *router);

/*
 * Another answer of a route, for documents.  If 'error' is set, it is also the answer to that
 * error: if the handler returns the error and has begun no response, the client gets the status and
 * the description, as from eddy_http_exchange_fail().
 *
 *     static const struct eddy_http_route_answer errors[] = {
 *             { .status = 404, .description = "there is no such user", .error = EDDY_E_PG_NO_ROW },
 *     };
 */
struct eddy_http_route_answer {
        int status EDDY_UNSET;                       /* 100 to 599; 400 or above with an error */
        const char *description EDDY_UNSET;          /* NULL: the standard reason of the status */
        const struct eddy_fields *fields EDDY_UNSET; /* as JSON; NULL: no body is described */
        int error EDDY_UNSET;                        /* below 0, without 'fields'; 0: none */
        int reserved_int EDDY_UNSET;                 /* zero */
        uintptr_t reserved[2] EDDY_UNSET;            /* zero */
};

enum {
        EDDY_HTTP_ROUTE_HIDDEN = 1 << 0,    /* documents leave the route out */
        EDDY_HTTP_ROUTE_DEPRECATED = 1 << 1 /* documents say that clients should not use it */
};

/*
 * The inputs of a route, by tables of fields (eddy/fields.h).  The router reads them after the middleware
 * and before the handler.  If one is wrong, the handler is not called, and the error is answered
 * like that of a handler: a 422 has the wrong fields of all inputs (eddy/http_input.h).
 *
 *     static const struct eddy_http_route_doc make_user_doc = {
 *             .summary = "Make a user",
 *             .body = &new_user_fields,
 *             .answer = &user_fields,
 *             .status = 201,
 *     };
 *
 *     static int make_user(eddy_http_exchange *exchange, void *arg)
 *     {
 *             const struct user *user = eddy_http_exchange_input(exchange, EDDY_HTTP_BODY);
 *             ...
 *     }
 *
 * A struct begins with zeros, or with a copy of the defaults, in which no member is owned.
 *
 * The members below 'body_defaults' are for documents (eddy/openapi.h), except that the router
 * answers the errors of 'answers'.
 */
struct eddy_http_route_doc {
        const struct eddy_fields *params EDDY_UNSET; /* of the path; NULL: not read */
        const struct eddy_fields *query EDDY_UNSET;  /* NULL: not read */
        const struct eddy_fields *body EDDY_UNSET;   /* as JSON; NULL: not read */
        /* the body as a form, in which an empty value is not given; NULL: not read */
        const struct eddy_fields *form EDDY_UNSET;
        const void *query_defaults EDDY_UNSET; /* a struct; NULL: zeros */
        const void *body_defaults EDDY_UNSET;  /* of 'body' or 'form' */
        const char *summary EDDY_UNSET;        /* a short sentence */
        const char *description EDDY_UNSET;    /* Markdown */
        const char *tags EDDY_UNSET;           /* groups of routes, as in "users, admin" */
        const char *operation EDDY_UNSET;      /* its name for generated clients; NULL: made */
        const struct eddy_fields *answer EDDY_UNSET; /* as JSON; NULL: no body is described */
        const struct eddy_http_route_answer *answers EDDY_UNSET; /* others, with other statuses */
        size_t answers_count EDDY_UNSET;
        int status EDDY_UNSET;            /* of 'answer'; 0: 200 */
        uint32_t flags EDDY_UNSET;        /* EDDY_HTTP_ROUTE_* */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Add a route.  'doc' may be NULL.  The calls that build a router also keep the first error, so a
 * program may add all its routes and then call eddy_http_router_check() once.  A router with an error
 * serves no request: eddy_http_serve() and eddy_http_serve_stream() with eddy_http_router_handle(),
 * and eddy_http_router_handle() itself, return the error, and report its text (EDDY_REPORT_MISUSE)
 * unless the error is -ENOMEM.
 *
 * Add all routes before the router serves.  A router that serves is not changed, and may serve on
 * several threads.
 *
 * Suspends: no.
 * Errors: EDDY_E_HTTP_ROUTE  the pattern is not valid, or matches the same requests as another;
 *                            or 'doc' is not valid: a table is not usable, there are two bodies,
 *                            a status is not valid or is given twice, an answer to an error has
 *                            a status below 400, a table of fields or an error that is not below
 *                            0, or 'params' has a field that is not a parameter of the pattern.
 *                            A mount below a prefix with that parameter removes the last error
 *         EDDY_E_HTTP_STATE  the router was mounted in another
 *         -EINVAL            'pattern' or 'handler' is NULL
 *         -ENOMEM
 * Owns: copies 'pattern'; borrows 'arg' and 'doc', with all that 'doc' points to.
 */
EDDY_API int eddy_http_router_add(eddy_http_router *router, const char *pattern,
                                  eddy_http_handler_fn *handler, void *arg,
                                  const struct eddy_http_route_doc *doc);

/*
 * Put all routes of the router 'sub' below the path 'prefix', such as "/api" or "/teams/{team}": the
 * route "GET /users" becomes "GET /api/users".  Middleware of 'router' encloses that of 'sub', which
 * is called only for the routes of 'sub'.  'sub' is complete: neither it nor a router in it can be
 * changed afterwards.  Its error, if it has one, becomes the error of 'router', and so does that of a
 * later call that tries to change it.
 *
 * Suspends: no.
 * Errors: those of eddy_http_router_add()
 *         EDDY_E_HTTP_ROUTE  also: the prefix is neither "" nor a path that begins with '/' and
 *                            does not end with it, or has the rest of a path
 *         EDDY_E_HTTP_STATE  also: 'sub' was mounted before
 *         -EINVAL            also: 'prefix' or 'sub' is NULL, or 'sub' is 'router'
 * Owns: takes 'sub', except after EDDY_E_HTTP_STATE of 'sub' and -EINVAL.
 */
EDDY_API int eddy_http_router_mount(eddy_http_router *router, const char *prefix,
                                    eddy_http_router *sub);

/* The functions that follow a middleware; valid during its call. */
struct eddy_http_next;

/*
 * Middleware: a function around the handlers of a router.  It calls eddy_http_next(), and may do more
 * before and after that, or answer itself and not call it.  The caller takes the result of middleware
 * as the handler's.  The server answers a result below 0 after all middleware has returned
 * (eddy_http_error_status() returns the status).
 *
 *     static int time_requests(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
 *     {
 *             int64_t before_ns = eddy_now();
 *             int err = eddy_http_next(exchange, next);
 *
 *             eddy_series_observe(arg, (double) (eddy_now() - before_ns) / 1e9);
 *             return err;
 *     }
 */
typedef int eddy_http_middleware_fn(eddy_http_exchange *exchange, struct eddy_http_next *next,
                                    void *arg);

/*
 * Add middleware around all routes of the router, also those added before.  The first added is the
 * outermost.  Middleware is also called for the answers that the router itself gives: for a 404, the
 * middleware of the router that serves; for a 405, or an answer to OPTIONS, the middleware of the
 * first route of that path.
 *
 * Suspends: no.
 * Errors: EDDY_E_HTTP_STATE  the router was mounted in another
 *         -EINVAL            'middleware' is NULL
 *         -ENOMEM
 * Owns: borrows 'arg'.
 */
EDDY_API int eddy_http_router_use(eddy_http_router *router, eddy_http_middleware_fn *middleware,
                                  void *arg);

/*
 * Call the next middleware, or the handler.  Returns its result.
 *
 * Suspends: yes.
 * Errors: those of the next function
 */
EDDY_API EDDY_MUST_USE int eddy_http_next(eddy_http_exchange *exchange,
                                          struct eddy_http_next *next);

/*
 * Returns 0, or the first error of the calls that built the router, and stores a sentence such as
 * "the patterns "GET /users/{id}" and "GET /users/{name}" match the same requests".
 *
 * Suspends: no.
 * Errors: those of eddy_http_router_add()
 * Owns: '*ret_text', which may be NULL, is valid until the router is freed.
 */
EDDY_API EDDY_MUST_USE int eddy_http_router_check(const eddy_http_router *router,
                                                  const char **ret_text);

/*
 * A handler (eddy_http_handler_fn) that calls the handler of the request's route.  'router' is an
 * eddy_http_router, borrowed.  Costs an allocation only if the path has more than 500 bytes.
 *
 * Suspends: yes.
 * Errors: those of the handler, of middleware, of eddy_http_exchange_respond(), of the router
 *         -EINVAL  'router' is NULL
 *         -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_http_router_handle(eddy_http_exchange *exchange, void *router);

/*
 * Returns the value of a parameter of the route, decoded, or NULL if the route has no parameter of
 * this name.
 *
 * Suspends: no.
 * Owns: valid until the handler and the middleware of the route have returned.
 */
EDDY_API const char *eddy_http_exchange_param(const eddy_http_exchange *exchange, const char *name);

/*
 * Returns the pattern of the request's route with the prefixes of mounted routers, such as
 * "GET /api/users/{id}": a label for logs and metrics.  "" if the request has no route.
 *
 * Suspends: no.
 * Owns: valid until the router is freed.
 */
EDDY_API const char *eddy_http_exchange_route(const eddy_http_exchange *exchange);

/*
 * Returns the struct of an input that the route's description names, or NULL.
 *
 * Suspends: no.
 * Owns: valid until the request ends, with its strings and lists.
 */
EDDY_API const void *eddy_http_exchange_input(const eddy_http_exchange *exchange,
                                              enum eddy_http_input input);

static inline void eddy_http_router_auto_release(eddy_http_router **router)
{
        eddy_http_router_free(*router);
}

EDDY_END_DECLS

#endif
