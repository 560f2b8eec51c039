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

/*
 * The limits of a server.  All zero is the default.  Each limit ends one
 * connection and no other; the status is that of its last response.
 *
 *     connections at once     connections_max        the next one waits in the backlog
 *     bytes of a head         head_bytes_max         431
 *     bytes of a line in it   8,190                  414 (request line), 431
 *     fields                  headers_max            431
 *     bytes of a body         body_bytes_max         413
 *     chunk extensions        256 bytes per chunk,   400
 *                             16 KiB per body
 *     trailers                8,190 bytes, 32 fields 431
 *     time for a head         head_timeout_ns        408
 *     time between requests   idle_timeout_ns        no response
 *     speed of a body         upload_rate_min        408
 *     speed of a response     download_rate_min      the connection is reset
 *     time of the handler     none                   a scope with a deadline in the handler
 *
 * Only time in which the server waits for the client counts towards a speed: a
 * handler that computes or sleeps costs the client nothing.  Bytes of a response
 * count when the client's system has acknowledged them.  Speeds are checked once
 * per 'rate_over_ns' of waiting, so a client that stops is cut within two such
 * periods.
 */
struct eddy_http_server_opts {
        uint32_t connections_max;  /* open at once; 0: 10,000 */
        uint32_t head_bytes_max;   /* of one request's head; 0: 64 KiB; at most 2^31 - 1 */
        uint32_t headers_max;      /* fields of one request; 0: 128; at most 65,535 */
        int32_t upload_rate_min;   /* bytes a second of a request's body; 0: 240; below 0: any */
        int32_t download_rate_min; /* bytes a second of a response; 0: 240; below 0: any */
        uint32_t reserved32;       /* zero */
        uint64_t body_bytes_max;   /* of one request; 0: 16 MiB */
        int64_t head_timeout_ns;   /* from a request's first byte to the end of its head; 0: 30 s;
                                      as long for what the handler left of its body */
        int64_t idle_timeout_ns;   /* between requests; 0: 75 s */
        int64_t rate_over_ns;      /* waiting over which speeds are averaged; 0: 10 s */
        int64_t drain_ns;          /* requests under way get it when cancelled; 0: none */
        uintptr_t reserved[6];     /* zero */
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
 *         -EINVAL  a limit is out of range, or a time is negative
 * Owns: borrows 'listener' and 'arg'.
 */
EDDY_API int eddy_http_serve(eddy_tcp_listener *listener, const struct eddy_http_server_opts *opts,
                             eddy_http_handler_fn *handler, void *arg);

/*
 * The request.  'target' is the target of the request line as sent; 'path' is its
 * path, not decoded and without the query ("/" if it is empty), and 'query' what
 * follows '?', or "".  'host' is host and port as sent: those of an absolute
 * target, else of the Host field, which does not count beside such a target
 * (RFC 9112, 3.2.2); "" if an HTTP/1.0 request has neither.
 * Headers are found by name in any case, the first of several; by number in the
 * order received, -ENOENT past the last.
 *
 * Suspends: no.
 * Owns: strings live as long as the exchange, also while its body is read.
 */
EDDY_API const char *eddy_http_exchange_method(const eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_target(const eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_path(const eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_query(const eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_host(const eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_header(const eddy_http_exchange *exchange,
                                               const char *name);
EDDY_API int eddy_http_exchange_header_at(const eddy_http_exchange *exchange, size_t i,
                                          struct eddy_http_header *ret_header);

/*
 * Read some of the request's body; 0 at its end.  A "100 Continue" that the
 * client waits for is sent by the first call.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_TRUNCATED, _INVALID_REQUEST, _TOO_LARGE; -ECONNRESET, ...
 *         EDDY_E_NET_TIMED_OUT  the client sends too slowly, or the kernel gave it up
 *         -ECANCELED            no byte was lost: another call reads on
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
 *         EDDY_E_NET_TIMED_OUT         the client takes the response too slowly, or the kernel
 *                                      gave it up
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
 * Errors: as eddy_http_exchange_respond()
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
