/*
 * eddy/http_middleware.h - middleware for the routers of an HTTP server: an access log, request
 * identifiers, CORS, limits of rate, time and bodies.
 *
 *     eddy_http_use_trusted_proxies(router, &(struct eddy_http_trusted_proxies_opts){
 *             .networks = "10.0.0.0/8" });
 *     eddy_http_use_request_id(router, NULL);
 *     eddy_http_use_access_log(router, &(struct eddy_http_access_log_opts){ .log = log });
 *     eddy_http_use_rate_limit(router, &(struct eddy_http_rate_limit_opts){ .requests = 600 });
 *     eddy_http_use_timeout(router, EDDY_SEC(10));
 *
 * Each call adds a middleware to a router as eddy_http_router_use() does: the first added is the
 * outermost, and errors are kept for eddy_http_router_check().  The order above is a good one: the log
 * has the address and the identifier, and also the requests that a limit refuses.
 *
 * The calls copy their options and the texts in them.  They borrow the other things in them, such as
 * the log, until the router is freed.
 *
 * Suspends: no.
 * Threads:  as eddy_http_router_use().  The middleware may serve on several threads, except that a log
 *           belongs to one loop.
 */
#ifndef EDDY_HTTP_MIDDLEWARE_H
#define EDDY_HTTP_MIDDLEWARE_H

#include "eddy/def.h"
#include "eddy/http_exchange.h"
#include "eddy/http_forwarded.h"
#include "eddy/http_router.h"
#include "eddy/log.h"

EDDY_BEGIN_DECLS

/* ---- access log -------------------------------------------------------------------- */

enum {
        EDDY_HTTP_ACCESS_NO_PATH = 1 << 0, /* without "path": paths may have names of persons */
};

struct eddy_http_access_log_opts {
        eddy_log *log EDDY_UNSET;         /* borrowed; NULL: no lines */
        uint32_t flags EDDY_UNSET;        /* EDDY_HTTP_ACCESS_* */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Log a line with the message "request" for each request, after its handler has returned and the
 * server has answered an error of the handler.  The level is warning if the status is 500 or above,
 * else info.  The values of the line:
 *
 *     method    the first 32 bytes
 *     path      the first 1,000 bytes, as sent.  The query is left out: it may have secrets
 *     route     the pattern of the route; left out if there is none
 *     status    of the response, by the handler, by the server or by its option 'on_error'.  If
 *               memory is short, the answer of 'on_error' is not seen, and the status is that of
 *               a server without it.  0: the client gets no answer
 *     received  bytes of the request that the server has read, with its head
 *     sent      bytes of the response so far, with its head; with HTTP/2 mostly the body only,
 *               because the head leaves later
 *     ms        time since the request's first byte
 *     client    the client's address (eddy/http_forwarded.h), without its port
 *     error     of the handler, if it returned one
 *     protocol  "HTTP/2.0"; left out with HTTP/1
 *
 * and those that are bound to the request, such as "request_id".
 *
 * Errors: those of eddy_http_router_use()
 */
EDDY_API int eddy_http_use_access_log(eddy_http_router *router,
                                      const struct eddy_http_access_log_opts *opts);

/* ---- request identifiers ----------------------------------------------------------- */

enum {
        EDDY_HTTP_REQUEST_ID_MAX = 128,    /* bytes of an identifier */
        EDDY_HTTP_REQUEST_ID_OWN = 1 << 0, /* flag: ignore the client's identifier */
};

struct eddy_http_request_id_opts {
        const char *header EDDY_UNSET;    /* NULL: "X-Request-Id" */
        uint32_t flags EDDY_UNSET;        /* EDDY_HTTP_REQUEST_ID_* */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Give each request an identifier: that of the client's header if it has 1 to 128 letters, digits and
 * "-_.", else a new one (eddy_uuid_v7()).  The response has it in the same header, and the lines that
 * the handler logs have it as "request_id", unless the task's context is full (eddy_log_bind()).
 * 'opts' may be NULL.
 *
 * Errors: those of eddy_http_router_use()
 *         -EINVAL  also: 'header' is not the name of a header
 */
EDDY_API int eddy_http_use_request_id(eddy_http_router *router,
                                      const struct eddy_http_request_id_opts *opts);

/*
 * Returns the identifier of the request, for example for a request to another service; "" outside of
 * that middleware.
 *
 * Owns: valid until the middleware returns.
 */
EDDY_API const char *eddy_http_exchange_request_id(const eddy_http_exchange *exchange);

/* ---- CORS -------------------------------------------------------------------------- */

enum {
        EDDY_HTTP_CORS_CREDENTIALS = 1 << 0, /* pages may send cookies; not with "*" in a list */
};

/* Lists are separated by commas. */
struct eddy_http_cors_opts {
        /* whose pages may read the responses, such as "https://app.example, http://localhost:3000";
         * "*": all.  NULL: none */
        const char *origins EDDY_UNSET;
        const char *methods EDDY_UNSET; /* NULL: "GET, HEAD, POST, PUT, PATCH, DELETE" */
        const char *headers EDDY_UNSET; /* of requests; NULL: "Content-Type" */
        const char *exposed EDDY_UNSET; /* headers of responses that pages may read; NULL: few */
        int64_t max_age_ns EDDY_UNSET;  /* browsers keep the permission; 0: 10 min; below 0: not */
        uint32_t flags EDDY_UNSET;      /* EDDY_HTTP_CORS_* */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Allow the pages of other origins to read the responses (the protocol CORS of the Fetch standard).  A
 * preflight, OPTIONS with Origin and Access-Control-Request-Method, is answered with 204, and the
 * handler is not called.  The browser, not the server, refuses: requests of other origins are handled,
 * and their responses do not have the header that allows reading.  Responses have "Vary: Origin", unless
 * 'origins' is "*".  The origin "null", of files and sandboxes, cannot be in the list.
 *
 * Errors: those of eddy_http_router_use()
 *         -EINVAL  also: an origin is not one as browsers write it, a name in a list is not valid, or
 *                  "*" is in a list beside other names or with EDDY_HTTP_CORS_CREDENTIALS
 */
EDDY_API int eddy_http_use_cors(eddy_http_router *router, const struct eddy_http_cors_opts *opts);

/* ---- limits ------------------------------------------------------------------------ */

/*
 * Returns the text by which requests are counted, such as the name of a user; NULL: the request has no
 * limit.  The text is valid until the next call.
 */
typedef const char *eddy_http_rate_key_fn(eddy_http_exchange *exchange, void *arg);

struct eddy_http_rate_limit_opts {
        uint32_t requests EDDY_UNSET;          /* of a client in each 'window_ns': 1 or more */
        uint32_t burst EDDY_UNSET;             /* of these, at once; 0: all */
        int64_t window_ns EDDY_UNSET;          /* 0: 1 min; at most 366 days */
        uint32_t clients_max EDDY_UNSET;       /* that are counted, in 16 bytes each; 0: 65,536 */
        uint32_t reserved32 EDDY_UNSET;        /* zero */
        eddy_http_rate_key_fn *key EDDY_UNSET; /* NULL: by eddy_http_exchange_client() */
        void *key_arg EDDY_UNSET;              /* borrowed */
        uintptr_t reserved[4] EDDY_UNSET;      /* zero */
};

/*
 * Answer requests of a client beyond a rate with 429 and Retry-After.  Each client has a bucket that
 * holds 'burst' requests, and refills evenly with 'requests' in each window.  IPv6 addresses with the
 * same first 64 bits count as a single client, and so do all clients on Unix sockets.
 *
 * The memory is fixed.  If more than 'clients_max' clients send at once, some begin with a full bucket,
 * so the limit lets more requests through, never fewer.
 *
 * Errors: those of eddy_http_router_use()
 *         -EINVAL  also: an option is out of range
 */
EDDY_API int eddy_http_use_rate_limit(eddy_http_router *router,
                                      const struct eddy_http_rate_limit_opts *opts);

/*
 * Cancel the next middleware and the handler 'timeout_ns' after their call (eddy/call.h): their calls
 * return -ECANCELED.  The server then answers with 503.  If a response was begun, the exchange ends, and
 * the client sees that the response is not whole.
 *
 * Errors: those of eddy_http_router_use()
 *         -EINVAL  also: 'timeout_ns' is 0 or less
 */
EDDY_API int eddy_http_use_timeout(eddy_http_router *router, int64_t timeout_ns);

/*
 * Limit the bodies of requests to 'bytes_max', below the server's option 'body_bytes_max'.  A larger
 * body whose length the client gives is answered with 413, and the handler is not called.  Other bodies
 * fail in eddy_http_exchange_read() with EDDY_E_HTTP_TOO_LARGE, and the server answers with 413.
 *
 * Errors: those of eddy_http_router_use()
 */
EDDY_API int eddy_http_use_body_limit(eddy_http_router *router, uint64_t bytes_max);

EDDY_END_DECLS

#endif
