/*
 * eddy/http_server.h - an HTTP/1.1 server: one task per connection, one call
 * of the handler per request.
 */
#ifndef EDDY_HTTP_SERVER_H
#define EDDY_HTTP_SERVER_H

#include "eddy/def.h"
#include "eddy/http_client.h" /* struct eddy_http_header */
#include "eddy/tcp.h"

EDDY_BEGIN_DECLS

/* One request and its response; lives during the handler's call. */
typedef struct eddy_http_exchange eddy_http_exchange;

/*
 * Answers one request.  A negative return closes the connection, after a 500
 * if no response was begun; so does returning before a response is complete.
 * A handler that returns 0 without having begun a response answers 404.
 */
typedef int eddy_http_handler_fn(eddy_http_exchange *exchange, void *arg);

/* All zero is the default. */
struct eddy_http_server_opts {
        uint32_t connections_max; /* open at once; the rest waits in the backlog; 0: 10,000 */
        uint32_t head_bytes_max;  /* of one request's head; 0: 64 KiB */
        uint32_t headers_max;     /* fields of one request; 0: 128 */
        uint32_t reserved32;
        uint64_t body_bytes_max; /* of one request; 0: 16 MiB */
        int64_t head_timeout_ns; /* from a request's first byte to the end of its head; 0: 30 s */
        int64_t idle_timeout_ns; /* between requests; 0: 75 s */
        int64_t drain_ns;        /* requests under way get it when cancelled; 0: none */
        uintptr_t reserved[6];   /* zero */
};

/*
 * Serve connections of 'listener' until cancelled.  Requests under way then
 * get 'drain_ns' to finish.  While descriptors or memory for further
 * connections are short, accepting pauses and goes on later
 * (EDDY_REPORT_ACCEPT, once); a connection without memory for a request is
 * closed, and the server goes on.
 *
 * Suspends: yes.
 * Errors: -ECANCELED, when it was asked to stop; what accepting fails with
 *         -ENOMEM  the server could not be started
 *         -EINVAL  a limit is out of range or a time negative, as for a client
 * Owns: borrows 'listener' and 'arg'.
 */
EDDY_API int eddy_http_serve(eddy_tcp_listener *listener, const struct eddy_http_server_opts *opts,
                             eddy_http_handler_fn *handler, void *arg);

/*
 * The request.  'target' is what stands in the request line; 'path' is its
 * path as sent, without the query, and 'query' what follows '?', or "".
 * Strings live as long as the exchange.
 *
 * Suspends: no.
 */
EDDY_API const char *eddy_http_exchange_method(const eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_target(const eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_path(const eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_query(const eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_header(const eddy_http_exchange *exchange,
                                               const char *name);
EDDY_API int eddy_http_exchange_header_at(const eddy_http_exchange *exchange, size_t i,
                                          struct eddy_http_header *ret_header);

/*
 * Read some of the request's body; 0 at its end.  A "100 Continue" that the
 * client waits for is sent by the first call.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_TRUNCATED, _INVALID_REQUEST, _TOO_LARGE; -ECANCELED, -ECONNRESET, ...
 */
EDDY_API EDDY_MUST_USE int64_t eddy_http_exchange_read(eddy_http_exchange *exchange, void *buf,
                                                       size_t bytes);

/* All of it, with a NUL behind; valid during the handler's call.  Suspends: yes. */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_body(eddy_http_exchange *exchange,
                                                   const void **ret_data, size_t *ret_bytes);

/*
 * Answer in one go.  Content-Length, Date and Connection are added.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_STATE            a response was begun already
 *         EDDY_E_HTTP_INVALID_REQUEST  a status or header that HTTP forbids; nothing was sent
 *         -ECANCELED, -EPIPE, -ECONNRESET, ...
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_respond(eddy_http_exchange *exchange, int status,
                                                      const struct eddy_http_header *headers,
                                                      size_t headers_count, const void *body,
                                                      size_t body_bytes);

/*
 * Answer bit by bit: begin, write any number of times, end.  With 'body_bytes'
 * below 0 the length is not known: the body is chunked, or to an HTTP/1.0
 * client ends with the connection.  Writing more or less than 'body_bytes' is
 * EDDY_E_HTTP_STATE, and the connection is closed.
 *
 * Suspends: yes.
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_begin(eddy_http_exchange *exchange, int status,
                                                    const struct eddy_http_header *headers,
                                                    size_t headers_count, int64_t body_bytes);
EDDY_API EDDY_MUST_USE int eddy_http_exchange_write(eddy_http_exchange *exchange, const void *data,
                                                    size_t bytes);
EDDY_API EDDY_MUST_USE int eddy_http_exchange_end(eddy_http_exchange *exchange);

/* Drop the connection, as it is, when the handler returns.  Suspends: no. */
EDDY_API void eddy_http_exchange_abort(eddy_http_exchange *exchange);

EDDY_END_DECLS

#endif
