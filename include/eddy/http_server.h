/*
 * eddy/http_server.h - an HTTP/1.1 server: one task per connection, one call
 * of the handler per request.
 */
#ifndef EDDY_HTTP_SERVER_H
#define EDDY_HTTP_SERVER_H

#include "eddy/def.h"
#include "eddy/http_client.h" /* struct eddy_http_header */
#include "eddy/listener.h"

EDDY_BEGIN_DECLS

/* A request and its response; valid during the handler's call. */
typedef struct eddy_http_exchange eddy_http_exchange;

/*
 * Answers one request.  A handler that returns 0 without beginning a response
 * answers 404.  A negative result closes the connection, after a 500 if no
 * response was begun.  Returning before a response is complete also closes the
 * connection.
 *
 * Values that a handler sets (eddy/var.h) and log values that it binds (eddy/log.h) end
 * with its request: the connection's next request begins with the server's values.
 *
 * If the client's connection was reset, or fully closed as far as the server can
 * know, the handler is cancelled: its calls return -ECANCELED, and its result is
 * ignored.  A client that only ended its sending (a half-close) still gets its
 * answer.  EDDY_HTTP_SERVER_FINISH turns these cancels off.
 *
 * Some clients send a whole request and close without waiting for the answer.  On a
 * Unix socket the server knows of the close at once and cancels the handler.  With TCP
 * the handler often runs to its end, because the close looks like a half-close.  A
 * server on a Unix socket that has such clients needs EDDY_HTTP_SERVER_FINISH.
 */
typedef int eddy_http_handler_fn(eddy_http_exchange *exchange, void *arg);

/*
 * The limits of a server.  All zero is the default.  Each limit ends only the
 * connection that exceeds it.  The columns are the limit, its option or value, and the
 * status of the connection's last response or another effect.
 *
 *     connections at once     connections_max        the next one waits in the backlog
 *     bytes of a head         head_bytes_max         431
 *     bytes of a line in it   8,190                  414 (request line), 431
 *     fields                  headers_max            431
 *     bytes of a body         body_bytes_max         413
 *     chunk extensions        256 bytes per chunk,   400
 *                             16 KiB per body
 *     trailers                8,190 bytes, 32 fields 431
 *     time for a handshake    head_timeout_ns        no response
 *     time for a head         head_timeout_ns        408
 *     time between requests   idle_timeout_ns        no response
 *     speed of a body         upload_rate_min        408
 *     speed of a response     download_rate_min      the connection is reset
 *     end of a connection     30 s, 5 s of silence   see "Early answers" below
 *     time of the handler     none: open a scope with a deadline in the handler
 *
 * Speeds count only the time in which the server waits for the client, not the
 * time in which a handler computes or sleeps.  Bytes of a response count when
 * the client's system has acknowledged them.  The server checks speeds once per
 * 'rate_over_ns' of waiting, so a client that stops is disconnected after at most two
 * such periods.  On Unix sockets the system counts whole buffers, so a client that
 * takes less than a buffer in two periods may be disconnected.
 *
 * Lines end in CR LF.  A line that ends in LF alone, and a chunk's size with white space
 * after it, are answered by 400.
 *
 * Early answers.  A handler may answer without reading the request's body, for example
 * 401 or 413.  If the rest of the body is larger than 256 KiB, or is chunked and has not
 * arrived, this answer is the last on the connection.  The server then ends its side of the
 * connection, and reads and drops the bytes that the client still sends, so that the answer
 * also reaches a client that sends its whole body first.  The server closes the connection
 * when the client has closed it, has been silent for 5 seconds, or has sent for 30 seconds.
 * A client that still sends after 30 seconds may lose the answer.  Until the close, the
 * connection counts in connections_max, and a stop waits for it up to 'drain_ns'.  While
 * the handler writes the answer, the body is not read: an answer larger than the system's
 * buffers does not reach a client that sends its whole body first.
 */
enum {
        EDDY_HTTP_SERVER_FINISH = 1 << 0, /* a handler continues if its client is gone */
};

struct eddy_http_server_opts {
        uint32_t connections_max EDDY_UNSET; /* open at once; 0: 10,000 */
        uint32_t head_bytes_max EDDY_UNSET; /* of one request's head; 0: 64 KiB; at most 2^31 - 1 */
        uint32_t headers_max EDDY_UNSET;    /* fields of one request; 0: 128; at most 65,535 */
        /* bytes a second of a request's body; 0: 240; below 0: any */
        int32_t upload_rate_min EDDY_UNSET;
        /* bytes a second of a response; 0: 240; below 0: any */
        int32_t download_rate_min EDDY_UNSET;
        uint32_t flags EDDY_UNSET;          /* EDDY_HTTP_SERVER_* */
        uint64_t body_bytes_max EDDY_UNSET; /* of one request; 0: 16 MiB */
        /* from a request's first byte to the end of its head; 0: 30 s; also limits the time in
         * which the rest of a body that the handler did not read is dropped */
        int64_t head_timeout_ns EDDY_UNSET;
        int64_t idle_timeout_ns EDDY_UNSET; /* between requests; 0: 75 s */
        /* the waiting time over which speeds are averaged; 0: 10 s */
        int64_t rate_over_ns EDDY_UNSET;
        int64_t drain_ns EDDY_UNSET;      /* for requests in progress after a cancel; 0: none */
        eddy_tls_config *tls EDDY_UNSET;  /* https: a server's configuration without a list 'alpn',
                                      borrowed; NULL: http */
        uintptr_t reserved[5] EDDY_UNSET; /* zero */
};

/*
 * Serve connections of 'listener' until cancelled; requests in progress then
 * have 'drain_ns' to finish.  While there are too few descriptors or too little
 * memory for further connections, the server pauses accepting and reports the
 * shortage once (EDDY_REPORT_ACCEPT).  If memory for a request is missing, only its
 * connection is closed.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the server was asked to stop
 *         -ENOMEM     the server could not be started
 *         -EINVAL     a limit is out of range, a time is negative, a flag is unknown,
 *                     'tls' has a list 'alpn', or 'listener' is NULL
 *         and other errors of accepting
 * Owns: borrows 'listener' and 'arg'.
 */
EDDY_API int eddy_http_serve(eddy_listener *listener, const struct eddy_http_server_opts *opts,
                             eddy_http_handler_fn *handler, void *arg);

/*
 * The request.  The functions return:
 *
 *     method     as sent
 *     target     the target of the request line, as sent
 *     path       the target's path, not decoded and without the query; "/" if it is
 *                empty
 *     query      the target's text after '?', or ""
 *     host       host and port as sent: of the target if that is absolute (RFC 9112,
 *                3.2.2), else of the Host field; "" if an HTTP/1.0 request has neither
 *     header     the value of the first header with this name (case-insensitive), or
 *                NULL
 *     header_at  0 after storing header number 'i' in the order received, or -ENOENT
 *                after the last
 *
 * Suspends: no.
 * Owns: strings are valid as long as the exchange, also while its body is read.
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
 * Read some of the request's body.  Returns the number of bytes; 0 at the end of
 * the body.  The first call sends "100 Continue" if the client waits for that.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_TRUNCATED, _INVALID_REQUEST, _TOO_LARGE; -ECONNRESET, ...
 *         EDDY_E_NET_TIMED_OUT  the client sends too slowly, or the kernel's timeout expired
 *         -ECANCELED            no byte was lost: another call continues
 */
EDDY_API EDDY_MUST_USE int64_t eddy_http_exchange_read(eddy_http_exchange *exchange, void *buf,
                                                       size_t bytes);

/* Read all of the body, followed by a NUL; valid during the handler's call.  Suspends: yes. */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_body(eddy_http_exchange *exchange,
                                                   const void **ret_data, size_t *ret_bytes);

/*
 * Send a complete response.  Content-Length, Date and Connection are added.  Statuses 204,
 * 205 and 304 have no body.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_STATE            a response was begun already
 *         EDDY_E_HTTP_INVALID_ANSWER   a status or header that HTTP forbids, or a header that
 *                                      the server writes; nothing was sent.  Unless the
 *                                      handler then sends another answer, the client gets a
 *                                      500, and the reason is reported with the header's
 *                                      name (EDDY_REPORT_MISUSE)
 *         EDDY_E_NET_TIMED_OUT         the client accepts the response too slowly, or the
 *                                      kernel's timeout expired
 *         -ECANCELED, -EPIPE, -ECONNRESET, ...
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_respond(eddy_http_exchange *exchange, int status,
                                                      const struct eddy_http_header *headers,
                                                      size_t headers_count, const void *body,
                                                      size_t body_bytes);

/*
 * Send a response in pieces: begin, write any number of times, end.  'body_bytes'
 * below 0 means an unknown length: the body is chunked, or, for an HTTP/1.0
 * client, ends with the connection.  Writing more or less than 'body_bytes'
 * returns EDDY_E_HTTP_STATE, and the connection is closed.
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

/*
 * Answer 101 (RFC 9110, 7.8) and take the connection's stream from the server.  The
 * request must be HTTP/1.1 with an Upgrade field, and its body must have been read;
 * 'headers' must have an Upgrade field with the new protocol.  "Connection: Upgrade"
 * is added.  '*ret_early' are bytes of the new protocol that have already arrived;
 * process them before those of the stream.  From then on the server does not limit the
 * connection's speed, and does not cancel the handler when the client is gone; a stop
 * of the server still cancels the handler.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_STATE  a response was begun already, the body was not read, or the
 *                            request has no Upgrade
 *         the others of eddy_http_exchange_respond()
 * Owns: returns (owned) '*ret_stream', to be closed by the handler.  '*ret_early' is
 *       valid during the handler's call.
 */
EDDY_API EDDY_MUST_USE int eddy_http_exchange_upgrade(
        eddy_http_exchange *exchange, const struct eddy_http_header *headers, size_t headers_count,
        eddy_stream **ret_stream, const void **ret_early, size_t *ret_early_bytes);

/* Close the connection when the handler returns, without ending the response.  Suspends: no. */
EDDY_API void eddy_http_exchange_abort(eddy_http_exchange *exchange);

EDDY_END_DECLS

#endif
